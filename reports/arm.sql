-- One arm of a comparison: the runs whose numbers stand in the JSON list :runs.

-- @do counts: what each run came to; all that is stored, warm-up too, tells whether it finished
CREATE TEMP TABLE counts AS
SELECT run, count(*) AS stored,
       count(*) FILTER (WHERE NOT warmup AND class IN ('leak', 'no_tool')) AS corrupt,
       count(*) FILTER (WHERE NOT warmup AND class <> 'error') AS judged,
       count(*) FILTER (WHERE NOT warmup AND class = 'error') AS errors,
       sum(rounds_played) FILTER (WHERE NOT warmup AND class = 'ok') AS ok_rounds,
       count(*) FILTER (WHERE NOT warmup AND class = 'ok') AS ok
FROM sessions WHERE run IN (SELECT value FROM json_each(:runs))
GROUP BY run HAVING count(*) FILTER (WHERE NOT warmup) > 0;

-- @many starts: one row per server start, in the order in which they ran
SELECT coalesce(max(boot.value), '') AS boot, coalesce(max(block.value), '') AS block,
       min(r.started_us) AS started_us, json_group_array(r.run) AS "runs{}",
       sum(c.corrupt) AS corrupt, sum(c.judged) AS judged, sum(c.errors) AS errors
FROM counts c JOIN runs r USING (run)
LEFT JOIN run_tags boot ON boot.run = r.run AND boot.key = 'boot'
LEFT JOIN run_tags block ON block.run = r.run AND block.key = 'block'
GROUP BY coalesce(boot.value, 'run ' || r.run) ORDER BY min(r.started_us), min(r.run);

-- @one total: all of them together
SELECT count(*) AS runs, count(why_unfinished(r.status, r.sessions - stored)) AS unfinished,
       sum(corrupt) AS corrupt, sum(judged) AS judged, sum(errors) AS errors,
       sum(ok_rounds) * 1.0 / nullif(sum(ok), 0) AS rounds_when_ok,
       (SELECT group_concat(seed) FROM (SELECT DISTINCT seed FROM runs
        WHERE run IN (SELECT value FROM json_each(:runs)) ORDER BY seed)) AS seeds,
       (SELECT group_concat(version) FROM (SELECT DISTINCT version FROM runs
        WHERE run IN (SELECT value FROM json_each(:runs)) ORDER BY version)) AS versions
FROM counts JOIN runs AS r USING (run);

-- @many reasons: sessions by reason, the damaged ones
SELECT reason, count(*) AS sessions FROM sessions
WHERE NOT warmup AND class IN ('leak', 'no_tool') AND run IN (SELECT value FROM json_each(:runs))
GROUP BY reason ORDER BY reason;

-- @one worst: a damaged session to look at
SELECT run, session, reason FROM sessions
WHERE NOT warmup AND class IN ('leak', 'no_tool') AND run IN (SELECT value FROM json_each(:runs))
ORDER BY run, session LIMIT 1;

-- @do drop: the scratch table
DROP TABLE temp.counts
