-- Repeats of one configuration in the whole database, the newest first, without the runs of the JSON
-- list :runs: how much rates scatter from one server start to the next. Runs that ended early, because
-- a test had decided or somebody stopped them, did not end at random and are left out.

-- @many starts: `config` is the same for repeats of one configuration
WITH c AS (
    SELECT r.run, count(*) FILTER (WHERE class IN ('leak', 'no_tool')) AS corrupt,
           count(*) FILTER (WHERE class <> 'error') AS judged
    FROM runs AS r CROSS JOIN sessions USING (run)
    WHERE NOT warmup AND r.status = 'done' AND r.run NOT IN (SELECT value FROM json_each(:runs))
    GROUP BY r.run),
t AS (
    SELECT run, group_concat(key || '=' || value, char(10)) AS tags
    FROM (SELECT * FROM run_tags WHERE key NOT IN ('boot', 'block', 'order') ORDER BY run, key)
    GROUP BY run)
SELECT json_array(r.label, t.tags, r.scenario, r.model, r.rounds, r.context_tokens, r.concurrency,
                  r.sessions, r.temperature, r.max_tokens, r.stream, r.tool_choice) AS config,
       c.corrupt, c.judged
FROM c JOIN runs r USING (run) LEFT JOIN t USING (run)
WHERE c.judged > 0
ORDER BY max(r.started_us) OVER (PARTITION BY r.label, t.tags, r.scenario, r.model, r.rounds,
             r.context_tokens, r.concurrency, r.sessions, r.temperature, r.max_tokens, r.stream,
             r.tool_choice) DESC, config, r.run
