-- What one run (:run) came to: the summary that it prints at its end.
-- Corrupted = leak + no_tool; judged = corrupted + ok. Errors could not be judged and stand apart;
-- warm-up sessions count nowhere.

-- @do drop_scan: the scratch tables of an earlier report
DROP TABLE IF EXISTS temp.round_scan

-- @do drop_tally: likewise
DROP TABLE IF EXISTS temp.session_tally

-- @do tally: one pass over the sessions, in the order of their index: how many ended alike. Every
-- count of sessions below is a sum of these.
CREATE TEMP TABLE session_tally AS
SELECT class, reason, warmup, ramp, first_bad_round, rounds_played, count(*) AS n
FROM sessions WHERE run = :run
GROUP BY class, reason, warmup, ramp, first_bad_round, rounds_played

-- @do scan: one pass over the rounds. Times count from when a request should have been sent.
CREATE TEMP TABLE round_scan AS
SELECT count(*) AS exchanges,
       count(*) FILTER (WHERE finish = 'length') AS capped,
       count(*) FILTER (WHERE retries > 0) AS retried,
       count(*) FILTER (WHERE overload_retries > 0) AS overload_retried,
       count(*) FILTER (WHERE reused) AS reused,
       count(*) FILTER (WHERE budget AND class IN ('leak', 'no_tool')) AS budget,
       max(in_flight_max) AS in_flight_max,
       count(prompt_tokens) AS prompt_said,
       quantiles(prompt_tokens, 0, 0.5, 1) AS prompt,
       sum(prompt_tokens) AS prompt_total,
       count(completion_tokens) AS completion_said,
       sum(completion_tokens) AS completion_total,
       sum(reasoning_tokens) AS reasoning_total,
       sum(cached_tokens) AS cached_total,
       sum(token_events) AS token_events,
       word_counts(quirks) AS quirks,
       quantiles(CASE WHEN timed AND streamed THEN first_token_us - coalesce(scheduled_us, sent_us)
                 END, 0.5, 0.95, 0.99, 1) AS ttft,
       quantiles(CASE WHEN timed AND token_events > 1 AND last_token_us > first_token_us
                 THEN (last_token_us - first_token_us) * 1.0 / (token_events - 1) END,
                 0.5, 0.95, 0.99, 1) AS itl,
       quantiles(CASE WHEN timed AND token_events > 1 THEN max_gap_us END,
                 0.5, 0.95, 0.99, 1) AS gap,
       quantiles(CASE WHEN timed THEN done_us - coalesce(scheduled_us, sent_us) END,
                 0.5, 0.95, 0.99, 1) AS round
FROM (SELECT *, class <> 'error' AS timed, (SELECT stream FROM runs WHERE run = :run) AS streamed
      FROM rounds
      WHERE run = :run
        AND (NOT EXISTS (SELECT 1 FROM temp.session_tally WHERE warmup)
             OR session NOT IN (SELECT session FROM sessions WHERE run = :run AND warmup)))

-- @one run: what was run
SELECT run, uid, started, status, label, scenario, model, base_url, dialect,
       simulated AS "simulated?", version, judge_version, seed, sessions, concurrency, rounds,
       context_tokens, max_tokens, threads, temperature, stream AS "stream?", tool_choice,
       on_damage, command,
       (SELECT json_group_object(key, value) FROM run_tags WHERE run = :run) AS "tags{}",
       wall_us, cpu_us
FROM runs WHERE run = :run

-- @one counts: how many sessions were corrupted
WITH c AS (
    SELECT coalesce(sum(n), 0) AS stored,
           coalesce(sum(n) FILTER (WHERE warmup), 0) AS warmup,
           coalesce(sum(n) FILTER (WHERE NOT warmup AND class IN ('leak', 'no_tool')), 0)
               AS corrupted,
           coalesce(sum(n) FILTER (WHERE NOT warmup AND class <> 'error'), 0) AS judged,
           coalesce(sum(n) FILTER (WHERE NOT warmup AND class = 'leak'), 0) AS leak,
           coalesce(sum(n) FILTER (WHERE NOT warmup AND class = 'no_tool'), 0) AS no_tool,
           coalesce(sum(n) FILTER (WHERE NOT warmup AND class = 'error'), 0) AS error,
           coalesce(sum(n) FILTER (WHERE NOT warmup AND class = 'ok'), 0) AS ok,
           coalesce(sum(n) FILTER (WHERE NOT warmup AND NOT ramp
                                     AND class IN ('leak', 'no_tool')), 0) AS steady_corrupted,
           coalesce(sum(n) FILTER (WHERE NOT warmup AND NOT ramp AND class <> 'error'), 0)
               AS steady_judged
    FROM temp.session_tally
)
SELECT (SELECT sessions FROM runs WHERE run = :run) AS asked, stored, warmup,
       corrupted, judged, leak, no_tool, error, ok,
       corrupted * 1.0 / judged AS rate,
       percent_text(corrupted, judged) AS percent,
       rate_low(corrupted, judged) AS low,
       rate_high(corrupted, judged) AS high,
       rate_bound(corrupted, judged) AS bound,
       rate_text(corrupted, judged) AS text,
       printf('CORRUPTION sessions: %d/%d = %s  (leak=%d no_tool=%d error=%d ok=%d)', corrupted,
              judged, percent_text(corrupted, judged), leak, no_tool, error, ok) AS headline,
       steady_corrupted, steady_judged,
       rate_low(steady_corrupted, steady_judged) AS steady_low,
       rate_bound(steady_corrupted, steady_judged) AS steady_bound,
       rate_text(steady_corrupted, steady_judged) AS steady_text,
       rate_text(corrupted, judged + error) AS errors_clean_text,
       rate_text(corrupted + error, judged + error) AS errors_corrupt_text
FROM c

-- @many reasons: sessions by reason, the worst class first; share of all finished sessions
SELECT class, reason, sum(n) AS sessions,
       sum(n) * 1.0 / sum(sum(n)) OVER () AS share,
       percent_text(sum(n), sum(sum(n)) OVER ()) AS share_text,
       reason_meaning(reason) AS meaning
FROM temp.session_tally WHERE NOT warmup
GROUP BY class, reason
ORDER BY CASE class WHEN 'leak' THEN 1 WHEN 'no_tool' THEN 2 WHEN 'error' THEN 3 ELSE 4 END,
         sessions DESC, reason

-- @many first_bad: in which round sessions were first corrupted, among those that began it clean.
-- A session that ended in an error was not judged in its last round.
WITH exposure AS (
    SELECT CASE WHEN first_bad_round > 0 AND class <> 'error' THEN first_bad_round
                WHEN class = 'error' THEN rounds_played - 1 ELSE rounds_played END AS played,
           CASE WHEN class IN ('leak', 'no_tool') THEN first_bad_round END AS bad,
           sum(n) AS n
    FROM temp.session_tally WHERE NOT warmup
    GROUP BY 1, 2
), bad_rounds AS (
    SELECT bad AS round, sum(n) AS sessions FROM exposure WHERE bad > 0 GROUP BY bad
)
SELECT round, sessions, at_risk, rate_text(sessions, at_risk) AS text
FROM (SELECT round, sessions,
             (SELECT sum(n) FROM exposure WHERE played >= b.round) AS at_risk
      FROM bad_rounds AS b)
ORDER BY round

-- @many latency: quantiles in microseconds; none where too few rounds carry them (59 for the 95th,
-- 299 for the 99th). Rounds that ended in an error are left out.
WITH metric(number, name, q) AS (
    SELECT 1, 'ttft', ttft FROM round_scan
    UNION ALL SELECT 2, 'itl', itl FROM round_scan
    UNION ALL SELECT 3, 'gap', gap FROM round_scan
    UNION ALL SELECT 4, 'round', round FROM round_scan
), counted AS (SELECT *, json_extract(q, '$[4]') AS n FROM metric)
SELECT name, n, round(json_extract(q, '$[0]'), 1) AS p50_us,
       CASE WHEN n >= 59 THEN round(json_extract(q, '$[1]'), 1) END AS p95_us,
       CASE WHEN n >= 299 THEN round(json_extract(q, '$[2]'), 1) END AS p99_us,
       json_extract(q, '$[3]') AS max_us
FROM counted WHERE n > 0 ORDER BY number

-- @one tokens: as the server counted them; NULL where it said nothing
SELECT exchanges, prompt_said, json_extract(prompt, '$[0]') AS prompt_min,
       json_extract(prompt, '$[1]') AS prompt_median, json_extract(prompt, '$[2]') AS prompt_max,
       prompt_total, completion_said, completion_total, reasoning_total, cached_total,
       token_events, completion_total * 1e6 / wall_us AS completion_per_second
FROM round_scan, runs WHERE run = :run

-- @one load: what was in flight, and what it cost the client
SELECT concurrency, min(concurrency, sessions) AS reachable, peak_in_flight,
       (SELECT coalesce(sum(n), 0) FROM temp.session_tally WHERE ramp) AS ramp_sessions,
       wall_us, cpu_us, late_p99_us, threads, exchanges, reused, retried,
       overload_retried
FROM runs, round_scan WHERE run = :run

-- @many quirks: habits of the server that clients survive
SELECT q.key AS quirk, q.value AS rounds, exchanges AS of_rounds,
       quirk_meaning(q.key) AS meaning
FROM round_scan, json_each(round_scan.quirks) AS q
ORDER BY q.value DESC, q.key

-- @many twins: requests that were sent in both forms, by what came of each; damaged pairs first
SELECT streamed, whole, count(*) AS rounds, count(DISTINCT session) AS sessions
FROM (SELECT r.session,
             CASE iif(n.stream, r.class, t.class) WHEN 'ok' THEN 'ok'
                  ELSE iif(n.stream, r.reason, t.reason) END AS streamed,
             CASE iif(n.stream, t.class, r.class) WHEN 'ok' THEN 'ok'
                  ELSE iif(n.stream, t.reason, r.reason) END AS whole
      FROM twins AS t CROSS JOIN rounds AS r USING (run, session, round) JOIN runs AS n USING (run)
           JOIN sessions AS s USING (run, session)
      WHERE run = :run AND NOT s.warmup)
GROUP BY streamed, whole
ORDER BY (streamed = 'ok') + (whole = 'ok'), rounds DESC, streamed, whole

-- @many damaged: the corrupted sessions that come first
SELECT session, reason, first_bad_round AS round FROM sessions
WHERE run = :run AND class IN ('leak', 'no_tool') AND NOT warmup
ORDER BY session LIMIT 5

-- @many facts: further figures that the run left
SELECT key, value FROM run_facts WHERE run = :run ORDER BY key

-- @many warnings: what limits the conclusions, the gravest first
WITH c AS (
    SELECT coalesce(sum(n), 0) AS stored,
           coalesce(sum(n) FILTER (WHERE class = 'error'), 0) AS error,
           coalesce(sum(n) FILTER (WHERE class IN ('leak', 'no_tool')), 0) AS corrupted,
           coalesce(sum(n) FILTER (WHERE class <> 'error'), 0) AS judged
    FROM temp.session_tally WHERE NOT warmup
), r AS (
    SELECT *, min(concurrency, sessions) AS reachable,
           (SELECT coalesce(sum(n), 0) FROM temp.session_tally WHERE warmup) AS warmup_sessions
    FROM runs WHERE run = :run
), suspects AS (
    SELECT count(DISTINCT session) AS n
    FROM findings JOIN sessions USING (run, session)
    WHERE run = :run AND findings.level = 'suspect' AND sessions.class = 'ok'
)
SELECT 'none_judged' AS warning, 'no session could be judged: every one that finished ended in an '
       || 'error' AS text FROM c WHERE judged = 0 AND error > 0
UNION ALL
SELECT 'unfinished', printf('the run did not finish: %s; the figures are those of the %d of %d '
       || 'sessions that did', why, stored + warmup_sessions, sessions)
FROM (SELECT *, why_unfinished(status, sessions - stored - warmup_sessions) AS why FROM c, r)
WHERE why IS NOT NULL
UNION ALL
SELECT 'unfinished', printf('%d of %d sessions finished: the run was decided before the rest',
       stored + warmup_sessions, sessions)
FROM c, r WHERE status = 'decided' AND stored + warmup_sessions < sessions
UNION ALL
SELECT 'errors', printf('%d of %d sessions ended in an error and were not judged: %s if all of '
       || 'them were clean, %s if all were corrupted', error, judged + error,
       rate_text(corrupted, judged + error), rate_text(corrupted + error, judged + error))
FROM c WHERE judged > 0 AND error * 50 > judged + error
UNION ALL
SELECT 'concurrency', printf('%d in flight at most, %d asked for: this says nothing about %d',
       peak_in_flight, reachable, reachable)
FROM r WHERE peak_in_flight < reachable
UNION ALL
SELECT 'not_seen', printf('not seen at %d in flight; higher loads, longer contexts and other '
       || 'settings may still show it', coalesce(peak_in_flight, concurrency))
FROM c, r WHERE corrupted = 0 AND judged > 0
UNION ALL
SELECT 'few_sessions', printf('with %d sessions at concurrency %d the load falls as sessions end, '
       || 'and a bug of load may switch itself off: take --sessions %d', sessions, concurrency,
       4 * concurrency)
FROM r WHERE sessions < 4 * concurrency AND concurrency > 1
UNION ALL
SELECT 'capped', printf('%d of %d replies ran into max_tokens%s', capped, exchanges,
       CASE WHEN max_tokens > 0 THEN printf(' (%d)', max_tokens) ELSE '' END)
FROM round_scan, r WHERE capped > 0
UNION ALL
SELECT 'budget', printf('%d damaged %s cut by max_tokens, which may be all that is wrong with %s',
       budget, iif(budget = 1, 'reply was', 'replies were'), iif(budget = 1, 'it', 'them'))
FROM round_scan WHERE budget > 0
UNION ALL
SELECT 'suspects', printf('%d clean %s text that looks like damage but was not counted (--strict '
       || 'counts it)', n, iif(n = 1, 'session holds', 'sessions hold'))
FROM suspects WHERE n > 0
UNION ALL
SELECT 'retried', printf('%d %s sent again after a kept-alive connection died before any answer',
       retried, iif(retried = 1, 'request was', 'requests were'))
FROM round_scan WHERE retried > 0
UNION ALL
SELECT 'overload_retried', printf('%d %s sent again after the endpoint said that it was overloaded '
       || '(--retry-overload)', overload_retried,
       iif(overload_retried = 1, 'request was', 'requests were'))
FROM round_scan WHERE overload_retried > 0
UNION ALL
SELECT 'late', printf('the client itself was late (p99 %.1f ms): timing figures are not to be '
       || 'trusted; give it more --threads or fewer sessions', late_p99_us / 1e3)
FROM r WHERE late_p99_us > 20000
UNION ALL
SELECT 'cpu', printf('the client used %.0f %% of its %d threads: timing figures are not to be '
       || 'trusted', 100.0 * cpu_us / wall_us / threads, threads)
FROM r WHERE threads > 0 AND wall_us > 500000 AND cpu_us > 0.9 * wall_us * threads
