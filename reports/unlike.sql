-- What is not the same in all runs of the JSON list :runs, although a comparison needs it to be.

-- @many settings: name as the option is called, and the values
WITH r AS (SELECT * FROM runs WHERE run IN (SELECT value FROM json_each(:runs))),
v (name, value) AS (
    SELECT 'scenario', scenario FROM r
    UNION ALL SELECT 'scenario-text', scenario_text FROM r
    UNION ALL SELECT 'model', model FROM r
    UNION ALL SELECT 'rounds', rounds FROM r
    UNION ALL SELECT 'context', context_tokens FROM r
    UNION ALL SELECT 'concurrency', concurrency FROM r
    UNION ALL SELECT 'max-tokens', max_tokens FROM r
    UNION ALL SELECT 'temperature', coalesce(temperature, 'server default') FROM r
    UNION ALL SELECT 'tool-choice', tool_choice FROM r
    UNION ALL SELECT 'stream', iif(stream, 'yes', 'no') FROM r
    UNION ALL SELECT 'on-damage', on_damage FROM r
    UNION ALL SELECT 'strict', coalesce(s.value, 'no') FROM r LEFT JOIN run_settings s
              ON s.run = r.run AND s.key = 'strict'
    UNION ALL SELECT 'judge', judge_version FROM r)
SELECT name, iif(name = 'scenario-text', 'several versions', group_concat(DISTINCT value)) AS "values"
FROM v GROUP BY name HAVING count(DISTINCT value) > 1 ORDER BY name
