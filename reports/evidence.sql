-- The bytes that were kept of one session (:session of :run), as they were sent and received.
SELECT round, part, size, inflate(data, deflated) AS data
FROM evidence WHERE run = :run AND session = :session
ORDER BY round, part
