-- What a run came to, for its exit status: one row. Warm-up sessions do not count.
WITH counts AS (
    SELECT count(*) FILTER (WHERE class IN ('leak', 'no_tool')) AS corrupt,
           count(*) FILTER (WHERE class <> 'error') AS judged,
           count(*) FILTER (WHERE class = 'error') AS errors
    FROM sessions WHERE run = :run AND NOT warmup
)
SELECT corrupt, judged, errors, sessions, concurrency, coalesce(peak_in_flight, 0) AS peak,
       coalesce(rate_low(corrupt, judged), 0) AS low,
       coalesce(rate_bound(corrupt, judged), 1) AS high
FROM runs, counts WHERE run = :run
