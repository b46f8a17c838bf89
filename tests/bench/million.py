#!/usr/bin/env python3
"""Makes a database of many synthetic sessions out of a small real one, and times the commands that
read it: wall time, CPU time and memory of each."""
import argparse
import json
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

CLASSES = [("ok", "ok.done", 0.90), ("leak", "leak.markup", 0.05), ("leak", "leak.value", 0.03),
           ("no_tool", "no_tool.prose", 0.015), ("error", "error.cut", 0.005)]


def columns(db, table):
    return [row[1] for row in db.execute(f"PRAGMA table_info({table})")]


def copy_rows(db, table, rows):
    """Inserts dicts that have the table's columns."""
    names = columns(db, table)
    marks = ",".join("?" * len(names))
    db.executemany(f"INSERT INTO {table} VALUES ({marks})", ([r[n] for n in names] for r in rows))


def first_row(db, table):
    row = db.execute(f"SELECT * FROM {table} LIMIT 1").fetchone()
    return dict(zip(columns(db, table), row))


def pick(rng):
    x = rng.random()
    for cls, reason, share in CLASSES:
        x -= share
        if x < 0:
            return cls, reason
    return CLASSES[0][:2]


def fill(path, runs, per_run):
    """Run 1 of the database is the pattern; it becomes `runs` runs of `per_run` sessions."""
    db = sqlite3.connect(path)
    db.execute("PRAGMA synchronous=OFF")
    pattern = {t: first_row(db, t) for t in ("runs", "sessions", "rounds", "findings")}
    rng = random.Random(1)
    for t in ("sessions", "rounds", "findings", "evidence"):
        db.execute(f"DELETE FROM {t}")
    for run in range(1, runs + 1):
        if run > 1:
            copy_rows(db, "runs", [pattern["runs"] | {"run": run, "uid": f"synthetic{run:05}"}])
            db.execute("INSERT INTO run_settings SELECT ?, key, value FROM run_settings WHERE run = 1",
                       (run,))
        label = f"arm-{'ab'[run % 2]}"
        db.execute("UPDATE runs SET label = ?, sessions = ? WHERE run = ?", (label, per_run, run))
        sessions, rounds, findings = [], [], []
        for k in range(1, per_run + 1):
            cls, reason = pick(rng)
            bad = 0 if cls == "ok" else 1
            sessions.append(pattern["sessions"] | {
                "run": run, "session": k, "class": cls, "reason": reason, "first_bad_round": bad,
                "start_order": k, "start_us": k * 1000, "end_us": k * 1000 + rng.randrange(10 ** 6)})
            rounds.append(pattern["rounds"] | {"run": run, "session": k, "class": cls,
                                               "reason": reason, "sent_us": k * 1000})
            if bad and cls != "error":
                findings.append(pattern["findings"] | {"run": run, "session": k, "class": cls,
                                                       "reason": reason})
        copy_rows(db, "sessions", sessions)
        copy_rows(db, "rounds", rounds)
        copy_rows(db, "findings", findings)
        db.commit()
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()


def peak_kb(pid, stop, out):
    while not stop.is_set():
        try:
            with open(f"/proc/{pid}/status", encoding="ascii") as f:
                for line in f:
                    if line.startswith("VmHWM:"):
                        out[0] = int(line.split()[1])
        except OSError:
            return
        stop.wait(0.01)


def measure(command):
    began = time.monotonic()
    p = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    stop, peak = threading.Event(), [0]
    watcher = threading.Thread(target=peak_kb, args=(p.pid, stop, peak))
    watcher.start()
    errors = p.stderr.read()
    _, status, use = os.wait4(p.pid, 0)
    stop.set()
    watcher.join()
    p.returncode = os.waitstatus_to_exitcode(status)
    if p.returncode not in (0, 1, 4):
        sys.exit(f"million: {' '.join(command)}: {errors.strip()}")
    return {"command": " ".join(command[1:]).replace(command[-1], "FILE"),
            "wall_s": round(time.monotonic() - began, 2),
            "cpu_s": round(use.ru_utime + use.ru_stime, 2), "memory_mb": round(peak[0] / 1024, 1)}


def main():
    p = argparse.ArgumentParser(prog="million.py", description=__doc__)
    p.add_argument("--toolstorm", required=True)
    p.add_argument("--sessions", type=int, default=1000000)
    p.add_argument("--runs", type=int, default=20)
    p.add_argument("--keep", help="leave the database here, or use the one that is there")
    o = p.parse_args()
    with tempfile.TemporaryDirectory(prefix="toolstorm-million-") as tmp:
        path = o.keep or os.path.join(tmp, "million.db")
        if not os.path.exists(path):
            subprocess.run([o.toolstorm, "run", "--quiet", "--sessions", "10", "--rounds", "2",
                            "--label", "arm-b", "--fault", "leak.markup=0.5", "--db", path],
                           stdout=subprocess.DEVNULL, check=False)
            fill(path, o.runs, o.sessions // o.runs)
        tool = [o.toolstorm]
        rows = [measure(tool + c + ["--db", path]) for c in (
            ["list"], ["compare", "arm-a", "arm-b"], ["compare", "1", "2"], ["show", "7"],
            ["show", "7", "40000"], ["query", "summary", "--run", "7"],
            ["query", "--sql", "SELECT class, count(*) FROM sessions GROUP BY class"],
            ["report", "--html", os.devnull, "arm-a", "arm-b"], ["report", "--md", os.devnull])]
    for r in rows:
        print(f"{r['wall_s']:8.2f} s wall {r['cpu_s']:8.2f} s CPU {r['memory_mb']:8.1f} MB  {r['command']}",
              file=sys.stderr)
    print(json.dumps(rows, indent=1))


main()
