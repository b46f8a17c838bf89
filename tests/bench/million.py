#!/usr/bin/env python3
"""Makes databases of a million synthetic sessions out of a small real one, in several shapes, and times
the commands that read them: wall time, CPU time and peak memory of each, and the worst of each shape."""
import argparse
import glob
import json
import os
import re
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")

# Runs, rounds a session, share of damaged sessions in thousandths, whether their bytes are kept.
SHAPES = {
    "runs": (20, 1, 95, False),
    "one": (1, 1, 95, False),
    "many": (2000, 1, 95, False),
    "evidence": (20, 1, 100, True),
    "rounds": (20, 3, 95, False),
}
ABOUT = {
    "runs": "20 runs of 50,000 sessions of one round",
    "one": "one run of 1,000,000",
    "many": "2,000 runs of 500",
    "evidence": "20 runs of 50,000, a tenth damaged, with evidence",
    "rounds": "20 runs of 50,000, up to three rounds each",
}
ERRORS = 5  # thousandths
AS_THEY_WERE = 20  # so many sessions of a run are those of the pattern: `export` stages them again
FAULTS = ["leak.markup=0.12", "leak.value=0.12", "no_tool.prose=0.12", "error.cut=0.12"]
SHIPPED = "`query`, the slowest of the shipped reports, for one run"
TIMES = ["scheduled_us", "sent_us", "first_byte_us", "first_token_us", "last_token_us", "done_us"]


def columns(db, table):
    return [row[1] for row in db.execute(f"PRAGMA table_info({table})")]


def make_pattern(toolstorm, path, rounds):
    """A real run: its sessions are what the synthetic ones are copies of."""
    command = [toolstorm, "run", "--quiet", "--sessions", "300", "--concurrency", "20", "--context", "200",
               "--rounds", str(rounds), "--sim-ttft", "1ms", "--sim-itl", "1ms", "--label", "arm-b",
               "--max-errors", "1", "--db", path]
    for fault in FAULTS:
        command += ["--fault", fault]
    run = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if run.returncode not in (0, 1):
        sys.exit(f"million: the pattern: {run.stderr.strip()}")


def copy_pattern(db, evidence):
    """The pattern moves to temporary tables."""
    for table in ("sessions", "rounds", "findings", "evidence"):
        db.execute(f"CREATE TEMP TABLE p_{table} AS SELECT * FROM {table}")
        db.execute(f"DELETE FROM main.{table}")
    if not evidence:
        db.execute("DELETE FROM p_evidence")
    for kind, where in (("ok", "class = 'ok'"), ("error", "class = 'error'"),
                        ("bad", "class IN ('leak', 'no_tool')")):
        db.execute(f"CREATE TEMP TABLE pool_{kind} AS SELECT row_number() OVER (ORDER BY session) - 1 "
                   f"AS place, session FROM p_sessions WHERE {where}")
    db.execute("CREATE INDEX temp.p_by_session ON p_sessions (session)")
    db.execute("CREATE INDEX temp.pr_by_session ON p_rounds (session, round)")
    db.execute("CREATE INDEX temp.pf_by_session ON p_findings (session, number)")
    db.execute("CREATE INDEX temp.pe_by_session ON p_evidence (session, round, part)")
    for kind in ("ok", "error", "bad"):
        db.execute(f"CREATE INDEX temp.by_place_{kind} ON pool_{kind} (place)")
    # Which pattern a session copies, when it starts, and how much slower it is than the pattern.
    db.execute("CREATE TEMP TABLE map (session INTEGER PRIMARY KEY, pattern INT, start INT, factor REAL)")


# Fixed, and well mixed enough: which session is damaged must not follow its number.
MIX = "((k * 2654435761 + :run * 40503 + ((k * 40503 + :run * 977) % 65521) * 31) >> {}) % {}"


def fill_map(db, run, n, damaged):
    sizes = {kind: db.execute(f"SELECT count(*) FROM pool_{kind}").fetchone()[0]
             for kind in ("ok", "error", "bad")}
    db.execute("DELETE FROM map")
    db.execute(f"""
        WITH RECURSIVE n (k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < :n),
        h AS (SELECT k, {MIX.format(9, 1000)} AS lot, {MIX.format(7, 9973)} AS pick,
                     {MIX.format(5, 1009)} AS jitter FROM n)
        INSERT INTO map
        SELECT k, CASE WHEN k <= {AS_THEY_WERE} THEN k
                       WHEN lot < :damaged
                       THEN (SELECT session FROM pool_bad WHERE place = pick % {sizes["bad"]})
                       WHEN lot < :damaged + {ERRORS}
                       THEN (SELECT session FROM pool_error WHERE place = pick % {sizes["error"]})
                       ELSE (SELECT session FROM pool_ok WHERE place = pick % {sizes["ok"]}) END,
               k * 1000 + jitter * 37, 0.5 + jitter * 0.002 FROM h""",
               {"n": n, "run": run, "damaged": damaged})


def insert(db, table, pattern, changes):
    """Rows of the pattern for every session of the map, some columns changed; pattern columns are p."""
    names = columns(db, table)
    values = ", ".join(changes.get(name, f'p."{name}"') for name in names)
    quoted = ", ".join(f'"{name}"' for name in names)
    db.execute(f"INSERT INTO main.{table} ({quoted}) SELECT {values} FROM map AS m CROSS JOIN p_sessions AS s "
               f"ON s.session = m.pattern CROSS JOIN {pattern} AS p ON p.session = m.pattern")


def fill(path, shape, n_sessions):
    """Run 1 of the database is the pattern; it becomes the runs of the shape."""
    runs, _, damaged, evidence = SHAPES[shape]
    per_run = n_sessions // runs
    db = sqlite3.connect(path)
    db.execute("PRAGMA synchronous=OFF")
    copy_pattern(db, evidence)
    names = ", ".join(c for c in columns(db, "runs") if c not in ("run", "uid"))
    for run in range(1, runs + 1):
        if run > 1:
            db.execute(f"INSERT INTO runs (run, uid, {names}) SELECT ?, 'synthetic' || ?, {names} FROM runs "
                       "WHERE run = 1", (run, run))
            for table in ("run_settings", "run_facts"):
                db.execute(f"INSERT INTO {table} SELECT ?, key, value FROM {table} WHERE run = 1", (run,))
        db.execute("UPDATE runs SET label = ?, sessions = ?, started_us = started_us + ?, simulated = 0 "
                   "WHERE run = ?", (f"arm-{'ab'[run % 2]}", per_run, run * 10 ** 9, run))
        fill_map(db, run, per_run, damaged)

        def at(column):
            return f"m.start + CAST((p.{column} - s.start_us) * m.factor AS INT)"

        own = {"run": str(run), "session": "m.session"}
        insert(db, "sessions", "p_sessions", own | {"start_order": "m.session", "start_us": "m.start",
                                                    "end_us": at("end_us")})
        insert(db, "rounds", "p_rounds", own | {c: at(c) for c in TIMES})
        insert(db, "findings", "p_findings", own)
        insert(db, "evidence", "p_evidence", own)
        db.commit()
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()


def named_queries(run, session):
    """Every file of reports/, whole, with all the parameters that it names."""
    values = {"runs": f"[{run},2]" if run > 1 else "[1]", "session": str(session), "number": "1", "round": "1",
              "limit": "-1" , "sweep": "1", "tags": "{}"}
    for file in sorted(glob.glob(os.path.join(ROOT, "reports", "*.sql"))):
        name = os.path.basename(file)[:-4]
        with open(file, encoding="utf-8") as f:
            wanted = sorted(set(re.findall(r":([a-z]+)", f.read())))
        binds = []
        for word in wanted:
            if word in values:
                binds += ["--bind", f"{word}={values[word]}"]
        yield ["query", name, "--run", str(run)] + binds


def commands(path, out):
    """(what it is, the words of the command)"""
    db = sqlite3.connect(path)
    runs = db.execute("SELECT count(*) FROM runs").fetchone()[0]
    run = min(7, runs)
    first, last = db.execute("SELECT min(session), max(session) FROM sessions WHERE run = ? AND class = 'leak'",
                             (run,)).fetchone()
    kept = db.execute("SELECT EXISTS (SELECT 1 FROM evidence)").fetchone()[0]
    db.close()
    yield "`list`", ["list"]
    yield "`list --reason`", ["list", "--reason", "no_tool.prose"]
    if runs > 1:
        yield "`compare` of two labels, all runs", ["compare", "arm-a", "arm-b"]
        yield "`compare` of two runs", ["compare", "1", "2"]
    yield "`show` of a run's first damaged session", ["show", str(run)]
    yield "`show` of one session", ["show", str(run), str(last)]
    if kept:
        yield "`export` of one session", ["export", str(run), str(first)]
    yield ("`query --sql`, counts by class",
           ["query", "--sql", "SELECT class, count(*) FROM sessions GROUP BY class"])
    yield ("`query --sql`, medians by reason",
           ["query", "--sql", "SELECT reason, quantile(end_us - start_us, 0.5) FROM sessions GROUP BY reason"])
    yield "`query --sql`, all sessions as CSV", ["query", "--sql", "SELECT * FROM sessions", "-o", "csv"]
    for query in named_queries(run, last):
        yield SHIPPED, query
    yield ("`query report` of all runs",
           ["query", "report", "--bind", "runs=[" + ",".join(map(str, range(1, runs + 1))) + "]"])
    for form in ("html", "md", "json", "jsonl", "csv", "junit", "prom"):
        yield f"`report --{form}` of all runs", ["report", f"--{form}", out]


def run_once(tool, command, path):
    began = time.monotonic()
    p = subprocess.Popen([tool] + command + ["--db", path], stdout=subprocess.DEVNULL,
                         stderr=subprocess.PIPE, text=True)
    errors = p.stderr.read()
    _, status, use = os.wait4(p.pid, 0)
    wall = time.monotonic() - began
    p.returncode = os.waitstatus_to_exitcode(status)
    if p.returncode not in (0, 1, 4):
        sys.exit(f"million: {' '.join(command)}: status {p.returncode}: {errors.strip()}")
    return wall, use.ru_utime + use.ru_stime, use.ru_maxrss / 1024


def measure(tool, what, command, path, repeats):
    """Medians; memory is the most, and not less than this program's own (a child begins as its copy)."""
    runs = [run_once(tool, command, path) for _ in range(repeats)]
    words = [os.path.basename(c) if c.startswith("/tmp/") else c if len(c) < 60 else c[:57] + "..."
             for c in command]
    return {"what": what, "command": " ".join(words),
            "wall_s": round(statistics.median(r[0] for r in runs), 2),
            "cpu_s": round(statistics.median(r[1] for r in runs), 2),
            "memory_mb": round(max(r[2] for r in runs), 1)}


def table(rows):
    """Head and body: a row a command, a column a shape with wall and CPU time in seconds, at last the
    most memory of all. `rows` are what measure() gives, each with its shape."""
    shapes = list(dict.fromkeys(r["shape"] for r in rows))
    body = []
    for what in dict.fromkeys(r["what"] for r in rows):
        cells = []
        for shape in shapes:
            slowest = max((r for r in rows if r["what"] == what and r["shape"] == shape),
                          key=lambda r: r["wall_s"], default=None)
            name = f" ({slowest['command'].split()[1]})" if what == SHIPPED and slowest else ""
            cells.append(f"{slowest['wall_s']:.2f} / {slowest['cpu_s']:.2f}{name}" if slowest else "-")
        body.append([what] + cells + [f"{max(r['memory_mb'] for r in rows if r['what'] == what):.0f}"])
    return ["command"] + [ABOUT[s] for s in shapes] + ["memory, MB"], body


def main():
    p = argparse.ArgumentParser(prog="million.py", description=__doc__)
    p.add_argument("--toolstorm", required=True)
    p.add_argument("--sessions", type=int, default=1000000)
    p.add_argument("--shape", action="append", choices=list(SHAPES), help="only this one (repeatable)")
    p.add_argument("--only", default="", help="only commands that hold this text")
    p.add_argument("--repeats", type=int, default=1, help="of each command; medians are printed")
    p.add_argument("--table", action="store_true", help="print Markdown instead of JSON")
    p.add_argument("--keep", help="leave the databases in this folder, or use those that are there")
    o = p.parse_args()
    results, everything = {}, []
    with tempfile.TemporaryDirectory(prefix="toolstorm-million-") as tmp:
        for shape in o.shape or SHAPES:
            path = os.path.join(o.keep or tmp, f"{shape}.db")
            if not os.path.exists(path):
                make_pattern(o.toolstorm, path, SHAPES[shape][1])
                fill(path, shape, o.sessions)
            size = os.path.getsize(path) / 1e6
            print(f"{shape}: {ABOUT[shape]}, {size:.0f} MB", file=sys.stderr)
            rows = []
            for what, command in commands(path, os.path.join(tmp, "out")):
                if o.only in " ".join(command):
                    r = {"shape": shape} | measure(o.toolstorm, what, command, path, o.repeats)
                    rows.append(r)
                    print(f"{r['wall_s']:8.2f} s wall {r['cpu_s']:8.2f} s CPU {r['memory_mb']:8.1f} MB  "
                          f"{r['command']}", file=sys.stderr)
            everything += rows
            results[shape] = {"about": ABOUT[shape], "database_mb": round(size, 1), "commands": rows}
            if not o.keep:
                os.remove(path)
    if not o.table:
        print(json.dumps(results, indent=1))
        return
    head, body = table(everything)
    for row in [head, ["---"] * len(head)] + body:
        print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
