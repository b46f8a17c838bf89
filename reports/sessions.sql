-- The sessions of one run (:run), by class and reason.
-- :class NULL = the corrupted ones; :reason NULL = any of the class; :limit -1 = all.

-- @many sessions: in the order of their numbers
SELECT session, class, reason, first_bad_round, rounds_played, ramp AS "ramp?", start_us, end_us
FROM sessions
WHERE run = :run AND NOT warmup
  AND class IN (SELECT value FROM json_each(iif(:class IS NULL, '["leak","no_tool"]',
                                                json_array(:class))))
  AND (:reason IS NULL OR reason = :reason)
ORDER BY session LIMIT :limit
