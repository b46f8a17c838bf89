-- Sweep :sweep: its cells, and every server start. Only starts that were played to their end count.

-- @one sweep: what was planned
SELECT sweep, kind, name, started, version, plan AS "plan{}" FROM sweeps WHERE sweep = :sweep;

-- @do counts: what each run came to
CREATE TEMP TABLE counts AS
SELECT run, count(*) FILTER (WHERE class IN ('leak', 'no_tool')) AS corrupt,
       count(*) FILTER (WHERE class <> 'error') AS judged,
       count(*) FILTER (WHERE class = 'error') AS errors
FROM sessions WHERE NOT warmup AND run IN (SELECT run FROM sweep_starts WHERE sweep = :sweep)
GROUP BY run;

-- @many cells: one row a configuration
WITH done AS (
    SELECT cell, count(*) AS starts, json_group_array(run) AS runs, sum(corrupt) AS corrupt,
           sum(judged) AS judged, sum(errors) AS errors
    FROM (SELECT * FROM sweep_starts WHERE sweep = :sweep AND state = 'done' ORDER BY place)
    JOIN counts USING (run) GROUP BY cell),
why AS (
    SELECT cell, reason, count(*) AS n FROM sweep_starts JOIN sessions USING (run)
    WHERE sweep = :sweep AND state = 'done' AND NOT warmup AND class IN ('leak', 'no_tool')
    GROUP BY cell, reason)
SELECT c.cell, c.name, c.levels AS "levels{}", c.baseline AS "baseline?",
       coalesce(d.starts, 0) AS starts,
       (SELECT count(*) FROM sweep_starts s WHERE s.sweep = :sweep AND s.cell = c.cell
        AND s.state <> 'done') AS not_played,
       coalesce(d.runs, '[]') AS "runs{}", coalesce(d.corrupt, 0) AS corrupt,
       coalesce(d.judged, 0) AS judged, coalesce(d.errors, 0) AS errors,
       (SELECT json_group_object(reason, n) FROM why WHERE why.cell = c.cell) AS "reasons{}",
       (SELECT group_concat(reason || ' ' || n, ', ')
        FROM (SELECT * FROM why WHERE why.cell = c.cell ORDER BY n DESC, reason)) AS reason_text
FROM sweep_cells c LEFT JOIN done d USING (cell) WHERE c.sweep = :sweep ORDER BY c.cell;

-- @many starts: one row a server start, in the order in which they were tried
SELECT s.start, s.place, s.block, s.cell, s.step, s.boot, s.state, s.detail, s.run, n.corrupt,
       n.judged, n.errors, r.concurrency, r.simulated AS "simulated?", s.started_us, s.ended_us
FROM sweep_starts s LEFT JOIN counts n USING (run) LEFT JOIN runs r USING (run)
WHERE s.sweep = :sweep ORDER BY s.start;

-- @do drop: the scratch table
DROP TABLE temp.counts
