-- One session (:session of :run): its verdict, its rounds, what was found in them.

-- @one run: the run it belongs to
SELECT run, label, scenario, model, base_url, dialect, seed, concurrency, max_tokens,
       stream AS "stream?", simulated AS "simulated?", started,
       why_unfinished(status, status = 'interrupted') AS unfinished,
       (SELECT value FROM run_settings WHERE run = :run AND key = 'api-key-env') AS api_key_env
FROM runs WHERE run = :run

-- @one session: what it came to
SELECT session, class, reason, reason_meaning(reason) AS meaning, first_bad_round, rounds_played,
       ramp AS "ramp?", warmup AS "warmup?", canary, start_order, start_us, end_us
FROM sessions WHERE run = :run AND session = :session

-- @many rounds: one row a round
SELECT round, class, reason, reason_meaning(reason) AS meaning, sent_us,
       first_token_us - coalesce(scheduled_us, sent_us) AS ttft_us,
       done_us - coalesce(scheduled_us, sent_us) AS round_us, max_gap_us, token_events,
       prompt_tokens, completion_tokens, cached_tokens, reasoning_tokens, in_flight_start,
       in_flight_max, finish, status, reused AS "reused?", retries, budget AS "budget?",
       request_bytes, response_bytes, quirks, end_detail, error_text, overload_retries,
       (SELECT reason FROM twins AS t WHERE t.run = :run AND t.session = :session
               AND t.round = r.round) AS twin_reason,
       EXISTS (SELECT 1 FROM evidence AS e WHERE e.run = :run AND e.session = :session
               AND e.round = r.round) AS "kept?"
FROM rounds AS r WHERE run = :run AND session = :session ORDER BY round

-- @many findings: every sign of damage, the deciding ones first
SELECT f.round, f.class, f.reason, reason_meaning(f.reason) AS meaning, level, channel, call,
       "offset", length, rule, note, owner_session, owner_round,
       (SELECT CASE WHEN o.start_us <= m.end_us AND m.start_us <= o.end_us THEN 1 ELSE 0 END
        FROM sessions AS o, sessions AS m WHERE o.run = :run AND o.session = f.owner_session
          AND m.run = :run AND m.session = :session) AS owner_overlaps,
       excerpt, excerpt_offset, f.reason = r.reason AS "decided?"
FROM findings AS f JOIN rounds AS r USING (run, session, round)
WHERE run = :run AND session = :session
ORDER BY f.round, f.number
