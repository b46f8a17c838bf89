-- The bytes that were kept of one session (:session of :run), in and out.
SELECT round, part, size, inflate(data, deflated) AS data
FROM evidence WHERE run = :run AND session = :session
ORDER BY round, part
