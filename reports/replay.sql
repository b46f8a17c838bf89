-- The request of session :session of run :run that is to be sent again: that of :round; with round
-- 0 the first damaged one, else the last one that was kept.

-- @one watched: the request that is watched
SELECT r.session, r.round, r.class, r.reason, reason_meaning(r.reason) AS meaning,
       inflate(e.data, e.deflated) AS request
FROM rounds AS r JOIN evidence AS e USING (run, session, round)
JOIN sessions AS s USING (run, session)
WHERE r.run = :run AND r.session = :session AND e.part = 'request'
  AND (r.round = :round OR :round = 0)
ORDER BY r.round = s.first_bad_round DESC, r.round DESC LIMIT 1

-- @one known: what there is of the session
SELECT count(*) AS rounds FROM rounds WHERE run = :run AND session = :session
