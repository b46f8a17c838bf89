-- What it takes to stage a stored run (:run) again: its conversations, its judge, its endpoint.

-- @one run: as it was asked for
SELECT run, label, scenario, scenario_text, seed, rounds, context_tokens, max_tokens, concurrency,
       base_url, dialect, model, stream AS "stream?", simulated AS "simulated?",
       (SELECT CAST(value AS INTEGER) FROM run_settings WHERE run = :run AND key = 'sessions')
       + coalesce((SELECT CAST(value AS INTEGER) FROM run_settings
                   WHERE run = :run AND key = 'warmup'), 0) AS n_sessions,
       coalesce((SELECT value = 'yes' FROM run_settings WHERE run = :run AND key = 'strict'), 0)
           AS "strict?",
       (SELECT value FROM run_settings WHERE run = :run AND key = 'rules') AS rules,
       (SELECT value FROM run_settings WHERE run = :run AND key = 'fault') AS faults,
       coalesce((SELECT value = 'yes' FROM run_settings WHERE run = :run AND key = 'sim-think'), 0)
           AS "sim_think?"
FROM runs WHERE run = :run

-- @many tags: which configuration it was
SELECT key || '=' || value AS tag, key, value FROM run_tags WHERE run = :run ORDER BY key
