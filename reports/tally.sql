-- What run :run came to: the figures that its exit status depends on. The
-- upper end is the one that the summary prints.
WITH t AS (
    SELECT count(*) FILTER (WHERE class IN ('leak', 'no_tool')) AS corrupt,
           count(*) FILTER (WHERE class <> 'error') AS judged,
           count(*) FILTER (WHERE class = 'error') AS errors
    FROM sessions WHERE run = :run AND NOT warmup)
SELECT t.corrupt, t.judged, t.errors, r.sessions, r.concurrency, r.peak_in_flight,
       rate_low(t.corrupt, t.judged) AS low, rate_bound(t.corrupt, t.judged) AS high
FROM runs r, t WHERE r.run = :run
