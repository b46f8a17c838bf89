-- What run :run has kept of its exchanges, with what it takes to judge them again.

-- @many replies: own answers and twins; the rules of transport signs tell how the exchange ended
SELECT r.session, r.round, 0 AS "twin?", r.status, r.end_detail,
       instr(' ' || r.quirks || ' ', ' early_close ') > 0 AS "early_close?",
       (SELECT group_concat(rule, ' ') FROM findings AS f
        WHERE f.run = r.run AND f.session = r.session AND f.round = r.round
          AND f.channel = 'transport') AS ends,
       (SELECT inflate(data, deflated) FROM evidence AS e WHERE e.run = r.run
        AND e.session = r.session AND e.round = r.round AND part = 'headers') AS headers,
       (SELECT inflate(data, deflated) FROM evidence AS e WHERE e.run = r.run
        AND e.session = r.session AND e.round = r.round AND part = 'response') AS response
FROM rounds AS r
WHERE r.run = :run
  AND EXISTS (SELECT 1 FROM evidence AS e WHERE e.run = r.run AND e.session = r.session
              AND e.round = r.round AND part = 'request')
UNION ALL
SELECT r.session, r.round, 1, r.status, r.end_detail,
       instr(' ' || r.quirks || ' ', ' early_close ') > 0,
       (SELECT group_concat(rule, ' ') FROM twin_findings AS f
        WHERE f.run = r.run AND f.session = r.session AND f.round = r.round
          AND f.channel = 'transport'),
       (SELECT inflate(data, deflated) FROM evidence AS e WHERE e.run = r.run
        AND e.session = r.session AND e.round = r.round AND part = 'twin.headers'),
       (SELECT inflate(data, deflated) FROM evidence AS e WHERE e.run = r.run
        AND e.session = r.session AND e.round = r.round AND part = 'twin.response')
FROM twins AS r
WHERE r.run = :run
  AND EXISTS (SELECT 1 FROM evidence AS e WHERE e.run = r.run AND e.session = r.session
              AND e.round = r.round AND part = 'twin.request')
ORDER BY 1, 2
