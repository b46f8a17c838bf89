-- Exchanges of run :run that can be judged again elsewhere: of :session all that were kept, with
-- :session 0 the damaged ones of every session.

-- @many rounds: what was sent, what came, how it was judged
SELECT r.run, r.session, r.round, r.class, r.reason, reason_meaning(r.reason) AS meaning, r.status,
       r.reused AS "reused?", r.end_detail,
       (SELECT inflate(data, deflated) FROM evidence AS e WHERE e.run = r.run
        AND e.session = r.session AND e.round = r.round AND part = 'request') AS request,
       (SELECT inflate(data, deflated) FROM evidence AS e WHERE e.run = r.run
        AND e.session = r.session AND e.round = r.round AND part = 'headers') AS headers,
       (SELECT inflate(data, deflated) FROM evidence AS e WHERE e.run = r.run
        AND e.session = r.session AND e.round = r.round AND part = 'response') AS response,
       (SELECT f.reason FROM findings AS f WHERE f.run = r.run AND f.session = r.session
        AND f.round = r.round AND f.class = 'error' ORDER BY number LIMIT 1) AS transport
FROM rounds AS r
WHERE r.run = :run AND (:session <> 0 OR r.class <> 'ok')
  AND r.session BETWEEN :session AND iif(:session = 0, 9223372036854775807, :session)
  AND EXISTS (SELECT 1 FROM evidence AS e
              WHERE e.run = r.run AND e.session = r.session AND e.round = r.round)
ORDER BY r.session, r.round
