-- The runs of the database, the newest last.
-- :label, :reason, :class, :since are texts or NULL; :tags is a JSON object of
-- wanted tags (value null = any); :limit 0 = all.

-- @many runs: one row a run
WITH chosen AS (
    SELECT * FROM runs AS r
    WHERE (:label IS NULL OR label = :label)
      AND (:since IS NULL OR started >= :since)
      AND NOT EXISTS (
          SELECT 1 FROM json_each(:tags) AS want
          WHERE NOT EXISTS (SELECT 1 FROM run_tags AS t
                            WHERE t.run = r.run AND t.key = want.key
                              AND (want.value IS NULL OR t.value = want.value)))
      AND (:class IS NULL OR EXISTS (
          SELECT 1 FROM sessions AS s
          WHERE s.run = r.run AND s.class = :class AND (:reason IS NULL OR s.reason = :reason)))
    ORDER BY run DESC LIMIT iif(:limit > 0, :limit, -1)
), counts AS (
    SELECT run, count(*) FILTER (WHERE NOT warmup) AS stored,
           count(*) FILTER (WHERE warmup) AS warmups,
           count(*) FILTER (WHERE NOT warmup AND class IN ('leak', 'no_tool')) AS corrupted,
           count(*) FILTER (WHERE NOT warmup AND class <> 'error') AS judged,
           count(*) FILTER (WHERE NOT warmup AND class = 'error') AS errors
    FROM sessions WHERE run IN (SELECT run FROM chosen)
    GROUP BY run
)
SELECT run, started, status,
       why_unfinished(status, sessions - coalesce(warmups, 0) - coalesce(stored, 0)) AS unfinished,
       label, scenario, model, base_url, simulated AS "simulated?",
       concurrency, sessions - coalesce(warmups, 0) AS sessions, coalesce(stored, 0) AS stored,
       coalesce(corrupted, 0) AS corrupted, coalesce(judged, 0) AS judged,
       coalesce(errors, 0) AS errors,
       corrupted * 1.0 / judged AS rate,
       rate_low(corrupted, judged) AS low, rate_bound(corrupted, judged) AS bound,
       CASE WHEN judged > 0 THEN rate_text(corrupted, judged) ELSE 'none judged' END AS text,
       CASE WHEN judged > 0 THEN replace(rate_text(corrupted, judged), ' (95% upper bound)', '')
            ELSE 'none judged' END AS short_text,
       (SELECT json_group_object(key, value) FROM run_tags AS t WHERE t.run = c.run) AS "tags{}",
       (SELECT group_concat(key || '=' || value, ' ')
        FROM (SELECT * FROM run_tags AS t WHERE t.run = c.run ORDER BY key)) AS tag_text
FROM chosen AS c LEFT JOIN counts USING (run)
ORDER BY run
