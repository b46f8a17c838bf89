-- How long sessions took and how many tokens they used, from the newest finished run.

-- @one pace: of one session
WITH r AS (SELECT run, label, concurrency, scenario, rounds, context_tokens FROM runs
           WHERE status IS NOT NULL AND EXISTS (SELECT 1 FROM sessions s WHERE s.run = runs.run)
           ORDER BY started_us DESC LIMIT 1)
SELECT r.run, r.scenario, r.rounds, r.context_tokens, r.concurrency,
       (SELECT avg(end_us - start_us) FROM sessions s WHERE s.run = r.run) AS session_us,
       (SELECT sum(coalesce(prompt_tokens, 0) + coalesce(completion_tokens, 0)) FROM rounds o
        WHERE o.run = r.run) * 1.0 / (SELECT count(*) FROM sessions s WHERE s.run = r.run) AS tokens
FROM r
