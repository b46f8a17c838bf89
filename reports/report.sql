-- What the runs of the JSON list :runs came to, told apart by configuration: what `report` draws
-- and tells. A configuration is a label with its tags; boot, block and order only tell repeats
-- apart.
-- Corrupted = leak + no_tool; judged = corrupted + ok. Warm-up sessions count nowhere.

-- @do drop_config: the scratch tables of an earlier report
DROP TABLE IF EXISTS temp.report_config

-- @do drop_round: likewise
DROP TABLE IF EXISTS temp.report_round

-- @do config: which run belongs to which configuration
CREATE TEMP TABLE report_config AS
WITH tagged AS (
    SELECT run, coalesce(label, '') AS label, started_us,
           (SELECT group_concat(key || '=' || value, ' ')
            FROM (SELECT key, value FROM run_tags AS t
                  WHERE t.run = r.run AND key NOT IN ('boot', 'block', 'order') ORDER BY key))
               AS tags
    FROM runs AS r WHERE run IN (SELECT value FROM json_each(:runs))
), first AS (
    SELECT *, min(run) OVER (PARTITION BY label, tags) AS first FROM tagged
), numbered AS (
    SELECT *, dense_rank() OVER (ORDER BY first) AS config FROM first
)
SELECT run, config, label, coalesce(tags, '') AS tags,
       CASE WHEN label = '' AND tags IS NULL THEN 'unnamed'
            WHEN label = '' THEN tags
            WHEN (SELECT count(DISTINCT config) FROM numbered AS o WHERE o.label = n.label) > 1
            THEN label || ' ' || coalesce(tags, '(no tags)')
            ELSE label END AS name
FROM numbered AS n

-- @do rounds: one pass over the rounds that count, in the order in which they were sent. Times
-- count from when a request should have been sent.
CREATE TEMP TABLE report_round AS
SELECT c.config, r.run, r.session, r.round, r.class, r.in_flight_start AS in_flight,
       row_number() OVER (PARTITION BY r.run ORDER BY r.sent_us, r.session) AS ordinal,
       coalesce(r.sent_us, 0) AS sent_us, coalesce(r.done_us, r.sent_us, 0) AS done_us,
       r.class IN ('leak', 'no_tool') AS bad, r.class <> 'error' AS judged,
       CASE WHEN r.class <> 'error' AND u.stream
            THEN r.first_token_us - coalesce(r.scheduled_us, r.sent_us) END AS ttft,
       CASE WHEN r.class <> 'error' AND r.token_events > 1 AND r.last_token_us > r.first_token_us
            THEN (r.last_token_us - r.first_token_us) * 1.0 / (r.token_events - 1) END AS itl,
       CASE WHEN r.class <> 'error' THEN r.done_us - coalesce(r.scheduled_us, r.sent_us) END
           AS whole
FROM temp.report_config AS c JOIN rounds AS r USING (run) JOIN sessions AS s USING (run, session)
JOIN runs AS u USING (run)
WHERE NOT s.warmup AND r.sent_us IS NOT NULL

-- @one about: what is reported
WITH c AS (
    SELECT count(*) AS finished,
           count(*) FILTER (WHERE class IN ('leak', 'no_tool')) AS corrupted,
           count(*) FILTER (WHERE class <> 'error') AS judged,
           count(*) FILTER (WHERE class = 'leak') AS leak,
           count(*) FILTER (WHERE class = 'no_tool') AS no_tool,
           count(*) FILTER (WHERE class = 'error') AS error,
           count(*) FILTER (WHERE class = 'ok') AS ok
    FROM temp.report_config JOIN sessions USING (run) WHERE NOT warmup
)
SELECT (SELECT count(*) FROM temp.report_config) AS runs,
       (SELECT count(DISTINCT config) FROM temp.report_config) AS configs,
       (SELECT min(started) FROM runs JOIN temp.report_config USING (run)) AS first_started,
       (SELECT max(started) FROM runs JOIN temp.report_config USING (run)) AS last_started,
       (SELECT max(simulated) FROM runs JOIN temp.report_config USING (run)) AS "simulated?",
       (SELECT group_concat(DISTINCT version) FROM runs JOIN temp.report_config USING (run))
           AS version,
       (SELECT count(DISTINCT config) FROM temp.report_config JOIN sessions USING (run)
        WHERE NOT warmup AND class IN ('leak', 'no_tool')) AS corrupted_configs,
       (SELECT count(DISTINCT config) FROM temp.report_config JOIN sessions USING (run)
        WHERE NOT warmup AND class <> 'error') AS judged_configs,
       finished, corrupted, judged, leak, no_tool, error, ok,
       corrupted * 1.0 / judged AS rate, rate_low(corrupted, judged) AS low,
       rate_bound(corrupted, judged) AS bound, percent_text(corrupted, judged) AS percent,
       iif(judged > 0, rate_text(corrupted, judged), 'none judged') AS text,
       printf('CORRUPTION sessions: %d/%d = %s  (leak=%d no_tool=%d error=%d ok=%d)', corrupted,
              judged, percent_text(corrupted, judged), leak, no_tool, error, ok) AS headline
FROM c

-- @many configs: one row a configuration, the earliest first; the interval takes sessions as
-- independent
WITH c AS (
    SELECT config, count(*) AS finished,
           count(*) FILTER (WHERE class IN ('leak', 'no_tool')) AS corrupted,
           count(*) FILTER (WHERE class <> 'error') AS judged,
           count(*) FILTER (WHERE class = 'leak') AS leak,
           count(*) FILTER (WHERE class = 'no_tool') AS no_tool,
           count(*) FILTER (WHERE class = 'error') AS error,
           count(*) FILTER (WHERE class = 'ok') AS ok,
           count(*) FILTER (WHERE NOT ramp AND class IN ('leak', 'no_tool')) AS steady_corrupted,
           count(*) FILTER (WHERE NOT ramp AND class <> 'error') AS steady_judged
    FROM temp.report_config LEFT JOIN sessions USING (run) WHERE NOT warmup
    GROUP BY config
), r AS (
    SELECT config, name, c.label, tags, count(*) AS runs, json_group_array(run) AS run_list,
           count(DISTINCT coalesce(b.value, 'run ' || run)) AS starts,
           group_concat(DISTINCT scenario) AS scenario, group_concat(DISTINCT model) AS model,
           group_concat(DISTINCT base_url) AS base_url, max(simulated) AS simulated,
           min(concurrency) AS concurrency_min, max(concurrency) AS concurrency_max,
           min(min(concurrency, sessions)) AS reachable, min(peak_in_flight) AS peak_in_flight,
           min(run) AS first_run
    FROM temp.report_config AS c JOIN runs USING (run)
    LEFT JOIN (SELECT run, value FROM run_tags WHERE key = 'boot') AS b USING (run)
    GROUP BY config
)
SELECT config, name, label, tags, runs, run_list AS "run_list{}", starts, scenario, model, base_url,
       simulated AS "simulated?", concurrency_max AS concurrency, peak_in_flight,
       coalesce(finished, 0) AS finished, coalesce(corrupted, 0) AS corrupted,
       coalesce(judged, 0) AS judged, coalesce(leak, 0) AS leak, coalesce(no_tool, 0) AS no_tool,
       coalesce(error, 0) AS error, coalesce(ok, 0) AS ok,
       corrupted * 1.0 / judged AS rate, rate_low(corrupted, judged) AS low,
       rate_bound(corrupted, judged) AS bound, percent_text(corrupted, judged) AS percent,
       iif(judged > 0, rate_text(corrupted, judged), 'none judged') AS text,
       steady_corrupted, steady_judged,
       iif(steady_judged > 0, rate_text(steady_corrupted, steady_judged), 'none judged')
           AS steady_text, first_run
FROM r LEFT JOIN c USING (config) ORDER BY config

-- @one worst: the configuration with the highest rate
SELECT config, name, corrupted, judged, rate_text(corrupted, judged) AS text
FROM (SELECT config, name, count(*) FILTER (WHERE class IN ('leak', 'no_tool')) AS corrupted,
             count(*) FILTER (WHERE class <> 'error') AS judged
      FROM temp.report_config JOIN sessions USING (run) WHERE NOT warmup GROUP BY config)
WHERE judged > 0 ORDER BY corrupted * 1.0 / judged DESC, config LIMIT 1

-- @many runs: one row a run, in order
SELECT c.config, c.name, run, started, status, r.label, scenario, model, base_url, sessions,
       concurrency, peak_in_flight, rounds, context_tokens, max_tokens, temperature, seed,
       stream AS "stream?", tool_choice, on_damage, threads, version, judge_version,
       simulated AS "simulated?", wall_us, command, coalesce(n.finished, 0) AS finished,
       coalesce(n.corrupted, 0) AS corrupted, coalesce(n.judged, 0) AS judged,
       coalesce(n.error, 0) AS error, n.corrupted * 1.0 / n.judged AS rate,
       rate_low(n.corrupted, n.judged) AS low, rate_bound(n.corrupted, n.judged) AS bound,
       percent_text(n.corrupted, n.judged) AS percent,
       iif(n.judged > 0, rate_text(n.corrupted, n.judged), 'none judged') AS text,
       (SELECT group_concat(key || '=' || value, ' ')
        FROM (SELECT * FROM run_tags AS t WHERE t.run = c.run ORDER BY key)) AS tags
FROM temp.report_config AS c JOIN runs AS r USING (run) LEFT JOIN (
    SELECT run, count(*) AS finished,
           count(*) FILTER (WHERE class IN ('leak', 'no_tool')) AS corrupted,
           count(*) FILTER (WHERE class <> 'error') AS judged,
           count(*) FILTER (WHERE class = 'error') AS error
    FROM sessions WHERE NOT warmup GROUP BY run) AS n USING (run)
ORDER BY run

-- @many axes: tags that tell configurations apart, the one with the fewest values last
SELECT key, count(DISTINCT value) AS "values"
FROM temp.report_config JOIN run_tags USING (run) WHERE key NOT IN ('boot', 'block', 'order')
GROUP BY key HAVING count(DISTINCT value) > 1 ORDER BY count(DISTINCT value) DESC, key

-- @many matrix: every configuration by those tags: the last axis across, the others down
WITH axes AS (
    SELECT key, row_number() OVER (ORDER BY count(DISTINCT value), key DESC) AS number
    FROM temp.report_config JOIN run_tags USING (run) WHERE key NOT IN ('boot', 'block', 'order')
    GROUP BY key HAVING count(DISTINCT value) > 1
), placed AS (
    SELECT c.config, a.number, a.key || '=' || coalesce(t.value, '-') AS word
    FROM (SELECT config, min(run) AS run FROM temp.report_config GROUP BY config) AS c
    CROSS JOIN axes AS a LEFT JOIN run_tags AS t ON t.run = c.run AND t.key = a.key
), cells AS (
    SELECT config, max(iif(number = 1, word, NULL)) AS across,
           group_concat(iif(number > 1, word, NULL), ' ') AS down
    FROM (SELECT * FROM placed ORDER BY config, number DESC) GROUP BY config
), c AS (
    SELECT config, count(*) FILTER (WHERE class IN ('leak', 'no_tool')) AS corrupted,
           count(*) FILTER (WHERE class <> 'error') AS judged
    FROM temp.report_config JOIN sessions USING (run) WHERE NOT warmup GROUP BY config
)
SELECT coalesce(down, '') AS down, across, sum(corrupted) AS corrupted, sum(judged) AS judged,
       sum(corrupted) * 1.0 / sum(judged) AS rate,
       percent_text(sum(corrupted), sum(judged)) AS percent,
       iif(sum(judged) > 0, rate_text(sum(corrupted), sum(judged)), 'none judged') AS text
FROM cells JOIN c USING (config) GROUP BY down, across ORDER BY down, across

-- @many reasons: sessions by reason and configuration, all but the good ones; share of the finished
SELECT c.config, c.name, class, reason, count(*) AS sessions, f.finished,
       percent_text(count(*), f.finished) AS share_text, count(*) * 1.0 / f.finished AS share,
       reason_meaning(reason) AS meaning
FROM temp.report_config AS c JOIN sessions USING (run) JOIN (
    SELECT config, count(*) AS finished FROM temp.report_config JOIN sessions USING (run)
    WHERE NOT warmup GROUP BY config) AS f USING (config)
WHERE NOT warmup AND class <> 'ok'
GROUP BY c.config, class, reason
ORDER BY CASE class WHEN 'leak' THEN 1 WHEN 'no_tool' THEN 2 ELSE 3 END,
         sum(count(*)) OVER (PARTITION BY reason) DESC, reason, c.config

-- @many first_bad: the first damaged round, among the sessions that began it clean. A session that
-- ended in an error was not judged in its last round.
WITH exposure AS (
    SELECT config, name,
           CASE WHEN first_bad_round > 0 AND class <> 'error' THEN first_bad_round
                WHEN class = 'error' THEN rounds_played - 1 ELSE rounds_played END AS played,
           CASE WHEN class IN ('leak', 'no_tool') THEN first_bad_round END AS bad,
           count(*) AS n
    FROM temp.report_config JOIN sessions USING (run) WHERE NOT warmup
    GROUP BY 1, 2, 3, 4
), places AS (
    SELECT config, name, value AS bin
    FROM (SELECT config, name, max(played) AS last, sum(n) FILTER (WHERE bad > 0) AS bad
          FROM exposure GROUP BY config) AS e
    JOIN (WITH RECURSIVE n (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 40)
          SELECT value FROM n) ON value <= last
    WHERE e.bad > 0
), counted AS (
    SELECT config, name, bin,
           (SELECT coalesce(sum(n), 0) FROM exposure AS e
            WHERE e.config = p.config AND e.bad = p.bin) AS corrupted,
           (SELECT sum(n) FROM exposure AS e
            WHERE e.config = p.config AND e.played >= p.bin) AS judged
    FROM places AS p
)
SELECT config, name, bin, CAST(bin AS TEXT) AS bin_text, corrupted, judged,
       corrupted * 1.0 / judged AS rate, rate_low(corrupted, judged) AS low,
       rate_bound(corrupted, judged) AS bound, rate_text(corrupted, judged) AS text
FROM counted WHERE judged > 0 ORDER BY config, bin

-- @many in_flight: damaged among judged replies by how many were in flight when they were asked for
WITH w AS (SELECT max(1, (max(in_flight) + 7) / 8) AS width FROM temp.report_round)
SELECT c.config, c.name, bin,
       iif(width = 1, bin + 1, (bin * width + 1) || '–' || ((bin + 1) * width)) AS bin_text,
       corrupted, judged, corrupted * 1.0 / judged AS rate, rate_low(corrupted, judged) AS low,
       rate_bound(corrupted, judged) AS bound, rate_text(corrupted, judged) AS text
FROM (SELECT config, (max(in_flight, 1) - 1) / (SELECT width FROM w) AS bin, sum(bad) AS corrupted,
             sum(judged) AS judged FROM temp.report_round GROUP BY 1, 2), w
JOIN (SELECT DISTINCT config, name FROM temp.report_config) AS c USING (config)
WHERE judged > 0 AND config IN (SELECT config FROM temp.report_round WHERE bad)
ORDER BY config, bin

-- @many ordinal: damaged among judged replies by how many requests the run had sent before
WITH w AS (SELECT max(1, (max(ordinal) + 7) / 8) AS width FROM temp.report_round)
SELECT c.config, c.name, bin,
       iif(width = 1, bin + 1, (bin * width + 1) || '–' || ((bin + 1) * width)) AS bin_text,
       corrupted, judged, corrupted * 1.0 / judged AS rate, rate_low(corrupted, judged) AS low,
       rate_bound(corrupted, judged) AS bound, rate_text(corrupted, judged) AS text
FROM (SELECT config, (ordinal - 1) / (SELECT width FROM w) AS bin, sum(bad) AS corrupted,
             sum(judged) AS judged FROM temp.report_round GROUP BY 1, 2), w
JOIN (SELECT DISTINCT config, name FROM temp.report_config) AS c USING (config)
WHERE judged > 0 AND config IN (SELECT config FROM temp.report_round WHERE bad)
ORDER BY config, bin

-- @many timeline: of the runs with damage, the first six: forty slices of time, how many requests
-- were sent in each and were in flight at its end, and how many damaged replies and errors ended in
-- it
WITH RECURSIVE number (slice) AS (SELECT 0 UNION ALL SELECT slice + 1 FROM number WHERE slice < 39),
chosen AS (
    SELECT run, config, max(1, (max(done_us) + 40) / 40) AS width FROM temp.report_round
    GROUP BY run HAVING sum(bad) > 0 ORDER BY run LIMIT 6
), sent AS (
    SELECT run, sent_us / width AS slice, count(*) AS requests
    FROM temp.report_round JOIN chosen USING (run) GROUP BY 1, 2
), ended AS (
    SELECT run, done_us / width AS slice, count(*) AS replies, sum(bad) AS corrupted,
           sum(NOT judged) AS errors
    FROM temp.report_round JOIN chosen USING (run) GROUP BY 1, 2
)
SELECT config, (SELECT name FROM temp.report_config AS c WHERE c.run = h.run) AS name, run, slice,
       slice * width AS from_us, (slice + 1) * width AS to_us, coalesce(requests, 0) AS requests,
       sum(coalesce(requests, 0) - coalesce(replies, 0)) OVER (PARTITION BY run ORDER BY slice)
           AS in_flight,
       coalesce(corrupted, 0) AS corrupted, coalesce(errors, 0) AS errors
FROM chosen AS h CROSS JOIN number LEFT JOIN sent USING (run, slice)
LEFT JOIN ended USING (run, slice)
ORDER BY run, slice

-- @many latency: quantiles in microseconds by configuration; none where too few rounds carry them
-- (59 for the 95th, 299 for the 99th). Rounds that ended in an error are left out.
WITH q AS (
    SELECT config, quantiles(ttft, 0, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1) AS ttft,
           quantiles(itl, 0, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1) AS itl,
           quantiles(whole, 0, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1) AS whole
    FROM temp.report_round GROUP BY config
), metric (number, metric, config, q) AS (
    SELECT 1, 'ttft', config, ttft FROM q UNION ALL SELECT 2, 'itl', config, itl FROM q
    UNION ALL SELECT 3, 'round', config, whole FROM q
), counted AS (SELECT *, json_extract(q, '$[8]') AS n FROM metric)
SELECT metric, config, name, n, json_extract(q, '$[0]') AS min_us,
       CASE WHEN n >= 59 THEN round(json_extract(q, '$[1]'), 1) END AS p5_us,
       round(json_extract(q, '$[2]'), 1) AS p25_us, round(json_extract(q, '$[3]'), 1) AS p50_us,
       round(json_extract(q, '$[4]'), 1) AS p75_us,
       CASE WHEN n >= 59 THEN round(json_extract(q, '$[5]'), 1) END AS p95_us,
       CASE WHEN n >= 299 THEN round(json_extract(q, '$[6]'), 1) END AS p99_us,
       json_extract(q, '$[7]') AS max_us
FROM counted JOIN (SELECT DISTINCT config, name FROM temp.report_config) USING (config)
WHERE n > 0 ORDER BY number, config

-- @many damaged: the corrupted sessions, at most 2000: the first of each reason in front
SELECT config, name, run, session, class, reason, round, reason_meaning(reason) AS meaning,
       in_flight_start AS in_flight, sent_us, rule, channel, note, excerpt, excerpt_offset,
       "offset", length
FROM (SELECT s.*, c.config, c.name, s.first_bad_round AS round,
             row_number() OVER (PARTITION BY c.config, reason ORDER BY run, session) AS place
      FROM temp.report_config AS c JOIN sessions AS s USING (run)
      WHERE NOT warmup AND class IN ('leak', 'no_tool'))
LEFT JOIN (SELECT run, session, round, in_flight_start, sent_us FROM rounds)
    USING (run, session, round)
LEFT JOIN (SELECT run, session, min(number) AS number, round, reason FROM findings
           WHERE level <> 'suspect' GROUP BY run, session, round, reason)
    USING (run, session, round, reason)
LEFT JOIN (SELECT run, session, number, rule, channel, note, excerpt, excerpt_offset, "offset",
                  length FROM findings) USING (run, session, number)
ORDER BY iif(place = 1, 0, 1), run, session LIMIT 2000

-- @many settings: every option and its value in force, those for files and terminals left out, and
-- the runs that had it
SELECT key, value, json_group_array(run) AS "runs{}", count(*) AS n,
       (SELECT count(*) FROM temp.report_config) AS of_runs
FROM (SELECT run, key, value FROM temp.report_config JOIN run_settings USING (run)
      WHERE key NOT IN ('db', 'junit', 'ledger', 'output', 'quiet', 'dry-run') ORDER BY run)
GROUP BY key, value ORDER BY key, min(run)

-- @many server: what the servers said of themselves
SELECT json_group_array(run) AS "runs{}", server_json AS "said{}", min(run) AS first
FROM (SELECT run, server_json FROM temp.report_config JOIN runs USING (run)
      WHERE coalesce(server_json, '') NOT IN ('', '{}') ORDER BY run)
GROUP BY server_json ORDER BY min(run)

-- @many quirks: habits of the servers that clients survive
SELECT q.key AS quirk, sum(q.value) AS rounds, sum(n) AS of_rounds, quirk_meaning(q.key) AS meaning
FROM (SELECT run, word_counts(quirks) AS words, count(*) AS n FROM temp.report_config
      JOIN rounds USING (run) GROUP BY run), json_each(words) AS q
GROUP BY q.key ORDER BY sum(q.value) DESC, q.key

-- @many facts: further figures that the runs left
SELECT run, key, value FROM temp.report_config JOIN run_facts USING (run) ORDER BY run, key

-- @many warnings: what limits the conclusions, the gravest first
WITH t AS (
    SELECT c.config, c.name, run, u.sessions, u.concurrency, u.status, u.peak_in_flight,
           min(u.concurrency, u.sessions) AS reachable, u.simulated, u.late_p99_us,
           (SELECT count(*) FROM sessions AS s WHERE s.run = c.run) AS stored,
           (SELECT count(*) FROM sessions AS s WHERE s.run = c.run AND NOT warmup
            AND class = 'error') AS error,
           (SELECT count(*) FROM sessions AS s WHERE s.run = c.run AND NOT warmup
            AND class <> 'error') AS judged,
           (SELECT count(*) FROM sessions AS s WHERE s.run = c.run AND NOT warmup
            AND class IN ('leak', 'no_tool')) AS corrupted
    FROM temp.report_config AS c JOIN runs AS u USING (run)
)
SELECT 1 AS gravity, 'simulated' AS warning, 'These replies come from the simulated endpoint, '
       || 'which damages sessions as it is told: they say nothing about a real server.' AS text
FROM t WHERE simulated GROUP BY 1
UNION ALL
SELECT 2, 'none_judged', printf('Run %s: no session could be judged, every one that finished ended '
       || 'in an error.', group_concat(run, ', ')) FROM t WHERE judged = 0 AND error > 0
       GROUP BY 1 HAVING count(*) > 0
UNION ALL
SELECT 3, 'unfinished', printf('Run %d: %d of %d sessions finished.', run, stored, sessions)
FROM t WHERE stored < sessions AND coalesce(status, '') <> 'decided'
UNION ALL
SELECT 4, 'errors', printf('Run %d: %d of %d sessions ended in an error and were not judged: %s if '
       || 'all of them were clean, %s if all were corrupted.', run, error, judged + error,
       rate_text(corrupted, judged + error), rate_text(corrupted + error, judged + error))
FROM t WHERE judged > 0 AND error * 50 > judged + error
UNION ALL
SELECT 5, 'concurrency', printf('Run %d: %d in flight at most, %d asked for: it says nothing about '
       || '%d.', run, peak_in_flight, reachable, reachable)
FROM t WHERE peak_in_flight < reachable
UNION ALL
SELECT 6, 'not_seen', printf('%s: not seen at %d in flight; higher loads, longer contexts and '
       || 'other settings may still show it.', name, max(coalesce(peak_in_flight, concurrency)))
FROM t GROUP BY config HAVING sum(corrupted) = 0 AND sum(judged) > 0
UNION ALL
SELECT 7, 'few_sessions', printf('%s %s: with %d sessions at concurrency %d the load falls as '
       || 'sessions end, and a bug of load may switch itself off: take --sessions %d.',
       iif(count(*) = 1, 'Run', 'Runs'), group_concat(run, ', '), sessions, concurrency,
       4 * concurrency)
FROM (SELECT * FROM t ORDER BY run) WHERE sessions < 4 * concurrency AND concurrency > 1
GROUP BY sessions, concurrency
UNION ALL
SELECT 8, 'late', printf('Run %d: the client itself was late (p99 %.1f ms): its timing figures are '
       || 'not to be trusted.', run, late_p99_us / 1e3) FROM t WHERE late_p99_us > 20000
ORDER BY 1, 3

-- @do drop_rounds_again: the scratch tables
DROP TABLE temp.report_round

-- @do drop_config_again: the scratch tables
DROP TABLE temp.report_config
