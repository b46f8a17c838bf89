-- What the runs of the JSON list :runs came to, told apart by configuration: what `report` draws
-- and tells. A configuration is a label with its tags; boot, block and order only tell repeats
-- apart.
-- Corrupted = leak + no_tool; judged = corrupted + ok. Warm-up sessions count nowhere.

-- @do drop_config: the scratch tables of an earlier report
DROP TABLE IF EXISTS temp.report_config

-- @do drop_tally: likewise
DROP TABLE IF EXISTS temp.report_tally

-- @do drop_count: likewise
DROP TABLE IF EXISTS temp.report_count

-- @do drop_profile: likewise
DROP TABLE IF EXISTS temp.report_profile

-- @do drop_order: likewise
DROP TABLE IF EXISTS temp.report_order

-- @do config_table: which run belongs to which configuration, in the order in which both are read
CREATE TEMP TABLE report_config (
    config INTEGER, run INTEGER UNIQUE, label TEXT, tags TEXT, name TEXT,
    PRIMARY KEY (config, run)) WITHOUT ROWID

-- @do config: the same
INSERT INTO temp.report_config
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
), shared AS (
    SELECT label, count(DISTINCT config) AS configs FROM numbered GROUP BY label
)
SELECT config, run, label, coalesce(tags, '') AS tags,
       CASE WHEN label = '' AND tags IS NULL THEN 'unnamed'
            WHEN label = '' THEN tags
            WHEN configs > 1 THEN label || ' ' || coalesce(tags, '(no tags)')
            ELSE label END AS name
FROM numbered JOIN shared USING (label)

-- @do tally: one pass over the sessions, in the order of their index: how many of a run ended
-- alike, and the first of them. Every count of sessions below is a sum of these.
CREATE TEMP TABLE report_tally AS
SELECT c.config, c.run, s.class, s.reason, s.warmup, s.ramp, s.first_bad_round, s.rounds_played,
       count(*) AS n, min(s.session) AS first
FROM temp.report_config AS c CROSS JOIN sessions AS s USING (run)
GROUP BY c.config, c.run, s.class, s.reason, s.warmup, s.ramp, s.first_bad_round, s.rounds_played

-- @do count_table: what each run came to; `stored` and `warmups` count what else is stored;
-- `unfinished` says why it did not finish
CREATE TEMP TABLE report_count (
    config INTEGER, run INTEGER UNIQUE, unfinished TEXT, stored INTEGER, warmups INTEGER,
    finished INTEGER, corrupted INTEGER, judged INTEGER, leak INTEGER, no_tool INTEGER,
    error INTEGER, ok INTEGER, steady_corrupted INTEGER, steady_judged INTEGER,
    PRIMARY KEY (config, run)) WITHOUT ROWID

-- @do count: the same
INSERT INTO temp.report_count
SELECT config, run,
       (SELECT why_unfinished(status, sessions - coalesce(sum(n), 0)) FROM runs AS r
        WHERE r.run = c.run),
       coalesce(sum(n), 0),
       coalesce(sum(n) FILTER (WHERE warmup), 0),
       coalesce(sum(n) FILTER (WHERE NOT warmup), 0),
       coalesce(sum(n) FILTER (WHERE NOT warmup AND class IN ('leak', 'no_tool')), 0),
       coalesce(sum(n) FILTER (WHERE NOT warmup AND class <> 'error'), 0),
       coalesce(sum(n) FILTER (WHERE NOT warmup AND class = 'leak'), 0),
       coalesce(sum(n) FILTER (WHERE NOT warmup AND class = 'no_tool'), 0),
       coalesce(sum(n) FILTER (WHERE NOT warmup AND class = 'error'), 0),
       coalesce(sum(n) FILTER (WHERE NOT warmup AND class = 'ok'), 0),
       coalesce(sum(n) FILTER (WHERE NOT warmup AND NOT ramp AND class IN ('leak', 'no_tool')), 0),
       coalesce(sum(n) FILTER (WHERE NOT warmup AND NOT ramp AND class <> 'error'), 0)
FROM temp.report_config AS c LEFT JOIN temp.report_tally USING (config, run) GROUP BY config, run

-- @do profile: one pass over the rounds, in the order of their keys; those that were sent and don't
-- warm up count. Times count from when a request should have been sent; those of rounds that could
-- not be judged are left out.
CREATE TEMP TABLE report_profile AS
SELECT c.config,
       round_profile(
           r.run, r.sent_us, coalesce(r.done_us, r.sent_us),
           r.class <> 'error', r.class IN ('leak', 'no_tool'), r.in_flight_start,
           CASE WHEN u.stream THEN r.first_token_us - coalesce(r.scheduled_us, r.sent_us) END,
           CASE WHEN r.token_events > 1 AND r.last_token_us > r.first_token_us
                THEN (r.last_token_us - r.first_token_us) * 1.0 / (r.token_events - 1) END,
           r.done_us - coalesce(r.scheduled_us, r.sent_us))
       FILTER (WHERE r.sent_us IS NOT NULL AND (
           c.warmups = 0 OR NOT EXISTS (
               SELECT 1 FROM sessions AS s
               WHERE s.run = r.run AND s.session = r.session AND s.warmup))) AS profile,
       word_counts_by(r.run, r.quirks) AS quirks
FROM temp.report_count AS c CROSS JOIN runs AS u USING (run) CROSS JOIN rounds AS r USING (run)
GROUP BY c.config

-- @do order: of each run its slices of time, and its rounds in the order of sending, a letter each
CREATE TEMP TABLE report_order AS
SELECT config, json_extract(value, '$.run') AS run, json_extract(value, '$.rounds') AS rounds,
       json_extract(value, '$.damaged') AS damaged, json_extract(value, '$.width_us') AS width_us,
       json_extract(value, '$.slices') AS slices, json_extract(value, '$.order') AS letters
FROM temp.report_profile, json_each(profile, '$.runs')

-- @one about: what is reported
WITH c AS (
    SELECT coalesce(sum(finished), 0) AS finished, coalesce(sum(corrupted), 0) AS corrupted,
           coalesce(sum(judged), 0) AS judged, coalesce(sum(leak), 0) AS leak,
           coalesce(sum(no_tool), 0) AS no_tool, coalesce(sum(error), 0) AS error,
           coalesce(sum(ok), 0) AS ok
    FROM temp.report_count
), r AS (
    SELECT min(started) AS first_started, max(started) AS last_started, max(simulated) AS simulated,
           group_concat(DISTINCT version) AS version
    FROM temp.report_config CROSS JOIN runs USING (run)
)
SELECT (SELECT count(*) FROM temp.report_config) AS runs,
       (SELECT count(unfinished) FROM temp.report_count) AS unfinished,
       (SELECT count(DISTINCT config) FROM temp.report_config) AS configs,
       first_started, last_started, simulated AS "simulated?", version,
       (SELECT count(DISTINCT config) FROM temp.report_count WHERE corrupted > 0)
           AS corrupted_configs,
       (SELECT count(DISTINCT config) FROM temp.report_count WHERE judged > 0) AS judged_configs,
       finished, corrupted, judged, leak, no_tool, error, ok,
       corrupted * 1.0 / judged AS rate, rate_low(corrupted, judged) AS low,
       rate_bound(corrupted, judged) AS bound, percent_text(corrupted, judged) AS percent,
       iif(judged > 0, rate_text(corrupted, judged), 'none judged') AS text,
       printf('CORRUPTION sessions: %d/%d = %s  (leak=%d no_tool=%d error=%d ok=%d)', corrupted,
              judged, percent_text(corrupted, judged), leak, no_tool, error, ok) AS headline
FROM c, r

-- @many configs: one row a configuration, the earliest first; the interval takes sessions as
-- independent
WITH c AS (
    SELECT config, sum(finished) AS finished, sum(corrupted) AS corrupted, sum(judged) AS judged,
           sum(leak) AS leak, sum(no_tool) AS no_tool, sum(error) AS error, sum(ok) AS ok,
           sum(steady_corrupted) AS steady_corrupted, sum(steady_judged) AS steady_judged
    FROM temp.report_count GROUP BY config HAVING sum(finished) > 0
), r AS (
    SELECT config, name, c.label, tags, count(*) AS runs, count(n.unfinished) AS unfinished,
           json_group_array(run) AS run_list,
           count(DISTINCT coalesce(b.value, 'run ' || run)) AS starts,
           group_concat(DISTINCT scenario) AS scenario, group_concat(DISTINCT model) AS model,
           group_concat(DISTINCT base_url) AS base_url, max(simulated) AS simulated,
           min(concurrency) AS concurrency_min, max(concurrency) AS concurrency_max,
           min(min(concurrency, sessions)) AS reachable, min(peak_in_flight) AS peak_in_flight,
           min(run) AS first_run
    FROM temp.report_config AS c CROSS JOIN runs USING (run)
    JOIN temp.report_count AS n USING (config, run)
    LEFT JOIN (SELECT run, value FROM run_tags WHERE key = 'boot') AS b USING (run)
    GROUP BY config
)
SELECT config, name, label, tags, runs, unfinished, run_list AS "run_list{}", starts, scenario,
       model, base_url, simulated AS "simulated?", concurrency_max AS concurrency, peak_in_flight,
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
FROM (SELECT config, name, sum(corrupted) AS corrupted, sum(judged) AS judged
      FROM temp.report_config JOIN temp.report_count USING (config, run) GROUP BY config)
WHERE judged > 0 ORDER BY corrupted * 1.0 / judged DESC, config LIMIT 1

-- @many runs: one row a run, in order. It took as long as its last session, if its own end is not
-- known.
SELECT c.config, c.name, run, started, status, u.unfinished, r.label, scenario, model, base_url,
       sessions, concurrency, peak_in_flight, rounds, context_tokens, max_tokens, temperature, seed,
       stream AS "stream?", tool_choice, on_damage, threads, version, judge_version,
       simulated AS "simulated?", wall_us,
       coalesce(wall_us, (SELECT max(end_us) FROM sessions AS s WHERE s.run = c.run)) AS took_us,
       command, u.stored, coalesce(n.finished, 0) AS finished,
       coalesce(n.corrupted, 0) AS corrupted, coalesce(n.judged, 0) AS judged,
       coalesce(n.error, 0) AS error, n.corrupted * 1.0 / n.judged AS rate,
       rate_low(n.corrupted, n.judged) AS low, rate_bound(n.corrupted, n.judged) AS bound,
       percent_text(n.corrupted, n.judged) AS percent,
       iif(n.judged > 0, rate_text(n.corrupted, n.judged), 'none judged') AS text,
       (SELECT group_concat(key || '=' || value, ' ')
        FROM (SELECT * FROM run_tags AS t WHERE t.run = c.run ORDER BY key)) AS tags
FROM temp.report_config AS c JOIN runs AS r USING (run)
JOIN temp.report_count AS u USING (run)
LEFT JOIN (SELECT * FROM temp.report_count WHERE finished > 0) AS n USING (run)
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
    SELECT config, sum(corrupted) AS corrupted, sum(judged) AS judged
    FROM temp.report_count GROUP BY config HAVING sum(finished) > 0
)
SELECT coalesce(down, '') AS down, across, sum(corrupted) AS corrupted, sum(judged) AS judged,
       sum(corrupted) * 1.0 / sum(judged) AS rate,
       percent_text(sum(corrupted), sum(judged)) AS percent,
       iif(sum(judged) > 0, rate_text(sum(corrupted), sum(judged)), 'none judged') AS text
FROM cells JOIN c USING (config) GROUP BY down, across ORDER BY down, across

-- @many reasons: sessions by reason and configuration, all but the good ones; share of the finished
SELECT t.config, c.name, class, reason, sum(n) AS sessions, f.finished,
       percent_text(sum(n), f.finished) AS share_text, sum(n) * 1.0 / f.finished AS share,
       reason_meaning(reason) AS meaning
FROM temp.report_tally AS t JOIN temp.report_config AS c USING (run)
JOIN (SELECT config, sum(finished) AS finished FROM temp.report_count GROUP BY config) AS f
    ON f.config = t.config
WHERE NOT warmup AND class <> 'ok'
GROUP BY t.config, class, reason
ORDER BY CASE class WHEN 'leak' THEN 1 WHEN 'no_tool' THEN 2 ELSE 3 END,
         sum(sum(n)) OVER (PARTITION BY reason) DESC, reason, t.config

-- @many first_bad: the first damaged round, among the sessions that began it clean. A session that
-- ended in an error was not judged in its last round.
WITH exposure AS (
    SELECT config, name,
           CASE WHEN first_bad_round > 0 AND class <> 'error' THEN first_bad_round
                WHEN class = 'error' THEN rounds_played - 1 ELSE rounds_played END AS played,
           CASE WHEN class IN ('leak', 'no_tool') THEN first_bad_round END AS bad,
           sum(n) AS n
    FROM temp.report_tally JOIN temp.report_config USING (config, run) WHERE NOT warmup
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
WITH load AS (
    SELECT config, json_extract(value, '$[0]') AS in_flight, json_extract(value, '$[1]') AS bad,
           json_extract(value, '$[2]') AS judged
    FROM temp.report_profile, json_each(profile, '$.in_flight')
), w AS (SELECT max(1, (max(in_flight) + 7) / 8) AS width FROM load)
SELECT c.config, c.name, bin,
       iif(width = 1, bin + 1, (bin * width + 1) || '–' || ((bin + 1) * width)) AS bin_text,
       corrupted, judged, corrupted * 1.0 / judged AS rate, rate_low(corrupted, judged) AS low,
       rate_bound(corrupted, judged) AS bound, rate_text(corrupted, judged) AS text
FROM (SELECT config, (max(in_flight, 1) - 1) / (SELECT width FROM w) AS bin, sum(bad) AS corrupted,
             sum(judged) AS judged FROM load GROUP BY 1, 2), w
JOIN (SELECT DISTINCT config, name FROM temp.report_config) AS c USING (config)
WHERE judged > 0 AND config IN (SELECT config FROM load WHERE bad > 0)
ORDER BY config, bin

-- @many ordinal: damaged among judged replies by how many requests the run had sent before
WITH RECURSIVE number (bin) AS (SELECT 0 UNION ALL SELECT bin + 1 FROM number WHERE bin < 7),
w AS (SELECT max(1, (max(rounds) + 7) / 8) AS width FROM temp.report_order),
piece AS (
    SELECT config, bin, substr(letters, bin * width + 1, width) AS letters
    FROM w JOIN number JOIN temp.report_order ON bin * width < rounds
)
SELECT c.config, c.name, bin,
       iif(width = 1, bin + 1, (bin * width + 1) || '–' || ((bin + 1) * width)) AS bin_text,
       corrupted, judged, corrupted * 1.0 / judged AS rate, rate_low(corrupted, judged) AS low,
       rate_bound(corrupted, judged) AS bound, rate_text(corrupted, judged) AS text
FROM (SELECT config, bin, sum(length(letters) - length(replace(letters, 'd', ''))) AS corrupted,
             sum(length(replace(letters, 'e', ''))) AS judged FROM piece GROUP BY 1, 2), w
JOIN (SELECT DISTINCT config, name FROM temp.report_config) AS c USING (config)
WHERE judged > 0 AND config IN (SELECT config FROM temp.report_order WHERE damaged > 0)
ORDER BY config, bin

-- @many timeline: of the runs with damage, the first six: forty slices of time, how many requests
-- were sent in each and were in flight at its end, and how many damaged replies and errors ended in
-- it
WITH chosen AS (
    SELECT * FROM temp.report_order WHERE damaged > 0 ORDER BY run LIMIT 6
), slice AS (
    SELECT config, run, width_us, key AS slice, json_extract(value, '$[0]') AS requests,
           json_extract(value, '$[1]') AS replies, json_extract(value, '$[2]') AS corrupted,
           json_extract(value, '$[3]') AS errors
    FROM chosen, json_each(slices)
)
SELECT config, (SELECT name FROM temp.report_config AS c WHERE c.run = s.run) AS name, run, slice,
       slice * width_us AS from_us, (slice + 1) * width_us AS to_us, requests,
       sum(requests - replies) OVER (PARTITION BY run ORDER BY slice) AS in_flight,
       corrupted, errors
FROM slice AS s ORDER BY run, slice

-- @many latency: quantiles in microseconds by configuration; none where too few rounds carry them
-- (59 for the 95th, 299 for the 99th). Rounds that ended in an error are left out.
WITH q AS (
    SELECT config, json_extract(profile, '$.ttft') AS ttft, json_extract(profile, '$.itl') AS itl,
           json_extract(profile, '$.whole') AS whole
    FROM temp.report_profile
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
WITH first AS (
    SELECT run, first AS session
    FROM (SELECT run, first, row_number() OVER (PARTITION BY config, reason ORDER BY run, first)
                 AS place
          FROM temp.report_tally WHERE NOT warmup AND class IN ('leak', 'no_tool'))
    WHERE place = 1
), chosen AS (
    SELECT run, session, max(front) AS front
    FROM (SELECT run, session, 1 AS front FROM first
          UNION ALL
          SELECT * FROM (SELECT s.run, s.session, 0
                         FROM temp.report_config AS c CROSS JOIN sessions AS s USING (run)
                         WHERE NOT warmup AND class IN ('leak', 'no_tool')
                         ORDER BY s.run, s.session LIMIT 2000))
    GROUP BY run, session ORDER BY front DESC, run, session LIMIT 2000
)
SELECT c.config, c.name, s.run, s.session, s.class, s.reason, s.first_bad_round AS round,
       reason_meaning(s.reason) AS meaning, r.in_flight_start AS in_flight, r.sent_us, f.rule,
       f.channel, f.note, f.excerpt, f.excerpt_offset, f."offset", f.length
FROM chosen AS d CROSS JOIN temp.report_config AS c USING (run)
CROSS JOIN sessions AS s USING (run, session)
LEFT JOIN rounds AS r ON r.run = s.run AND r.session = s.session AND r.round = s.first_bad_round
LEFT JOIN findings AS f ON f.run = s.run AND f.session = s.session AND f.number = (
    SELECT min(number) FROM findings AS o
    WHERE o.run = s.run AND o.session = s.session AND o.round = s.first_bad_round
      AND o.reason = s.reason AND o.level <> 'suspect')
ORDER BY d.front DESC, s.run, s.session

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
SELECT q.key AS quirk, sum(q.value) AS rounds, sum(json_extract(by_run.value, '$[1]')) AS of_rounds,
       quirk_meaning(q.key) AS meaning
FROM temp.report_profile, json_each(quirks) AS by_run, json_each(by_run.value, '$[2]') AS q
GROUP BY q.key ORDER BY sum(q.value) DESC, q.key

-- @many facts: further figures that the runs left
SELECT run, key, value FROM temp.report_config JOIN run_facts USING (run) ORDER BY run, key

-- @many warnings: what limits the conclusions, the gravest first
WITH t AS (
    SELECT c.config, c.name, run, u.sessions, u.concurrency, u.status, u.peak_in_flight,
           min(u.concurrency, u.sessions) AS reachable, u.simulated, u.late_p99_us,
           n.unfinished, n.stored, n.error, n.judged, n.corrupted
    FROM temp.report_config AS c CROSS JOIN runs AS u USING (run)
    JOIN temp.report_count AS n USING (run)
)
SELECT 1 AS gravity, 'simulated' AS warning, 'These replies come from the simulated endpoint, '
       || 'which damages sessions as it is told: they say nothing about a real server.' AS text
FROM t WHERE simulated GROUP BY 1
UNION ALL
SELECT 2, 'none_judged', printf('Run %s: no session could be judged, every one that finished ended '
       || 'in an error.', group_concat(run, ', ')) FROM t WHERE judged = 0 AND error > 0
       GROUP BY 1 HAVING count(*) > 0
UNION ALL
SELECT 3, 'unfinished', printf('Run %d did not finish: %s; its figures are those of the %d of %d '
       || 'sessions that did.', run, unfinished, stored, sessions)
FROM t WHERE unfinished IS NOT NULL
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

-- @do drop_order_again: the scratch tables
DROP TABLE temp.report_order

-- @do drop_profile_again: the scratch tables
DROP TABLE temp.report_profile

-- @do drop_count_again: the scratch tables
DROP TABLE temp.report_count

-- @do drop_tally_again: the scratch tables
DROP TABLE temp.report_tally

-- @do drop_config_again: the scratch tables
DROP TABLE temp.report_config
