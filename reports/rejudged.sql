-- What run :run comes to by the rules of its rejudging :number; NULL = the newest one.

-- @do drop_replies: the scratch tables of an earlier report
DROP TABLE IF EXISTS temp.rejudged_reply

-- @do drop_sessions: likewise
DROP TABLE IF EXISTS temp.rejudged_session

-- @do reply_table: the replies whose bytes were kept, with their new verdicts
CREATE TEMP TABLE rejudged_reply (session INTEGER, round INTEGER, final INTEGER, class TEXT,
                                  reason TEXT, PRIMARY KEY (session, round)) WITHOUT ROWID

-- @do replies_kept: the same
INSERT INTO temp.rejudged_reply
SELECT session, round, final, class, reason FROM rejudgements
WHERE run = :run AND NOT twin
  AND number = coalesce(:number, (SELECT max(number) FROM rejudgings WHERE run = :run))

-- @do sessions: a session's verdict is that of its first damaged round, by the new verdict where
-- there is one, else by its own; a session of which nothing was kept stays as it was
CREATE TEMP TABLE rejudged_session AS
WITH f AS (
    SELECT r.session, count(*) AS rounds, count(j.session) AS judged, max(j.final) AS final,
           min(r.round) FILTER (WHERE coalesce(j.class, r.class) <> 'ok') AS now_round
    FROM rounds AS r LEFT JOIN temp.rejudged_reply AS j USING (session, round)
    WHERE r.run = :run AND r.session IN (SELECT session FROM temp.rejudged_reply)
    GROUP BY r.session)
SELECT s.session, s.warmup, s.class AS was_class, s.reason AS was,
       s.first_bad_round AS was_round, coalesce(f.rounds, s.rounds_played) AS rounds,
       coalesce(f.judged, 0) AS judged,
       iif(f.session IS NULL, s.first_bad_round, coalesce(f.now_round, 0)) AS now_round,
       CASE WHEN f.session IS NULL THEN s.class ELSE coalesce(j.class, r.class, 'ok') END
           AS now_class,
       CASE WHEN f.session IS NULL THEN s.reason
            ELSE coalesce(j.reason, r.reason,
                          CASE WHEN s.class = 'ok' THEN s.reason
                               WHEN f.final THEN 'ok.done' ELSE 'ok.maxrounds' END) END AS now
FROM sessions AS s LEFT JOIN f USING (session)
LEFT JOIN rounds AS r ON r.run = :run AND r.session = f.session AND r.round = f.now_round
LEFT JOIN temp.rejudged_reply AS j ON j.session = f.session AND j.round = f.now_round
WHERE s.run = :run

-- @one rejudging: by which rules
SELECT j.run, j.number, j.started, j.version, j.judge_version, j.strict AS "strict?", j.rules_file,
       r.judge_version AS was_judge_version, r.version AS was_version, r.on_damage,
       coalesce((SELECT value = 'yes' FROM run_settings WHERE run = :run AND key = 'strict'), 0)
           AS "was_strict?",
       (SELECT value FROM run_settings WHERE run = :run AND key = 'rules') AS was_rules_file,
       (SELECT value FROM run_settings WHERE run = :run AND key = 'keep') AS keep
FROM rejudgings AS j JOIN runs AS r USING (run)
WHERE j.run = :run
  AND j.number = coalesce(:number, (SELECT max(number) FROM rejudgings WHERE run = :run))

-- @one kept: of how many sessions the bytes are there; warm-up left out
SELECT count(*) AS sessions, count(*) FILTER (WHERE judged = rounds) AS wholly,
       count(*) FILTER (WHERE judged BETWEEN 1 AND rounds - 1) AS partly,
       count(*) FILTER (WHERE judged = 0) AS not_at_all,
       coalesce(sum(rounds), 0) AS rounds, coalesce(sum(judged), 0) AS rounds_kept,
       (SELECT count(*) FROM rejudgements AS j WHERE j.run = :run AND j.twin AND j.number =
        coalesce(:number, (SELECT max(number) FROM rejudgings WHERE run = :run))) AS twins_kept
FROM rejudged_session WHERE NOT warmup

-- @one rates: of the kept sessions, and of all if what was not kept stays as it was
WITH t AS (
    SELECT count(*) FILTER (WHERE judged AND was_class IN ('leak', 'no_tool')) AS was_corrupted,
           count(*) FILTER (WHERE judged AND was_class <> 'error') AS was_judged,
           count(*) FILTER (WHERE judged AND now_class IN ('leak', 'no_tool')) AS corrupted,
           count(*) FILTER (WHERE judged AND now_class <> 'error') AS judged,
           count(*) FILTER (WHERE judged AND now_class = 'error') AS errors,
           count(*) FILTER (WHERE now_class IN ('leak', 'no_tool')) AS run_corrupted,
           count(*) FILTER (WHERE now_class <> 'error') AS run_judged,
           count(*) FILTER (WHERE was_class IN ('leak', 'no_tool')) AS run_was_corrupted,
           count(*) FILTER (WHERE was_class <> 'error') AS run_was_judged,
           count(*) FILTER (WHERE now_class IN ('leak', 'no_tool')
                              AND was_class NOT IN ('leak', 'no_tool')) AS newly_corrupted,
           count(*) FILTER (WHERE was_class <> 'ok' AND now_class = 'ok') AS newly_right,
           count(*) FILTER (WHERE was_class <> 'ok' AND now = 'ok.maxrounds' AND rounds <
                            (SELECT rounds FROM runs WHERE run = :run)) AS cut_short
    FROM rejudged_session WHERE NOT warmup)
SELECT *, rate_low(corrupted, judged) AS low, rate_bound(corrupted, judged) AS bound,
       CASE WHEN was_judged > 0 THEN rate_text(was_corrupted, was_judged)
            ELSE 'none judged' END AS was_text,
       CASE WHEN judged > 0 THEN rate_text(corrupted, judged) ELSE 'none judged' END AS text,
       CASE WHEN run_was_judged > 0 THEN rate_text(run_was_corrupted, run_was_judged)
            ELSE 'none judged' END AS run_was_text,
       CASE WHEN run_judged > 0 THEN rate_text(run_corrupted, run_judged)
            ELSE 'none judged' END AS run_text
FROM t

-- @many moves: which verdicts on replies became which
SELECT was, now, count(*) AS replies FROM (
    SELECT r.reason AS was, j.reason AS now
    FROM temp.rejudged_reply AS j JOIN rounds AS r USING (session, round) WHERE r.run = :run
    UNION ALL
    SELECT t.reason, j.reason FROM twins AS t JOIN rejudgements AS j USING (run, session, round)
    WHERE t.run = :run AND j.twin
      AND j.number = coalesce(:number, (SELECT max(number) FROM rejudgings WHERE run = :run)))
WHERE was <> now GROUP BY was, now ORDER BY replies DESC, was, now

-- @many replies: each verdict that changes, and what decided
SELECT j.session, j.round, j.twin AS "twin?", coalesce(t.reason, r.reason) AS was, j.reason AS now,
       j.channel, j.call, j."offset", j.length, j.rule, j.note
FROM rejudgements AS j LEFT JOIN rounds AS r USING (run, session, round)
LEFT JOIN twins AS t ON j.twin AND t.run = j.run AND t.session = j.session AND t.round = j.round
WHERE j.run = :run
  AND j.number = coalesce(:number, (SELECT max(number) FROM rejudgings WHERE run = :run))
  AND coalesce(t.reason, r.reason) <> j.reason
ORDER BY j.session, j.round, j.twin

-- @many sessions: each session whose verdict or first damaged round changes
SELECT session, warmup AS "warmup?", was, was_round, now, now_round, judged = rounds AS "whole?"
FROM rejudged_session WHERE was <> now OR was_round <> now_round ORDER BY session
