#!/usr/bin/env python3
"""Measures toolstorm against a bare client and other programs, and writes the results down.

Every round starts each client of a workload in turn, against one server on loopback. CPU time is
each client's own. Ratios are taken within a round; what is printed is the median of the rounds."""
import sys

sys.dont_write_bytecode = True  # the source tree stays clean

import argparse  # noqa: E402
import os  # noqa: E402
import platform  # noqa: E402
import re  # noqa: E402
import resource  # noqa: E402
import subprocess  # noqa: E402
import tempfile  # noqa: E402
import time  # noqa: E402

import once  # noqa: E402
from running import ROOT, Bench  # noqa: E402
from workloads import WORKLOADS  # noqa: E402
from writing import join, markdown, write  # noqa: E402

BESIDE_S = 0.7  # a client takes this long beside what the server makes it wait, as a first guess
ONCE = {"judge": 10, "million": 300}  # what is measured once in a run, and seconds as a first guess


def say(words):
    print(words, file=sys.stderr, flush=True)


class Clock:
    """How much is left, from what was measured so far."""

    def __init__(self, plan, extras, runs):
        """`plan`: (workload, client) of one run, in order; `extras`: names of ONCE."""
        self.guess = {(w.name, c): w.least_s + BESIDE_S for w, c in plan}
        self.guess |= {(None, name): ONCE[name] for name in extras}
        self.left = {key: 0 for key in self.guess}
        for w, c in plan:
            self.left[(w.name, c)] += runs
        for name in extras:
            self.left[(None, name)] += runs

    def done(self, key, took_s):
        self.guess[key] = took_s
        self.left[key] -= 1

    def text(self):
        left_s = sum(self.guess[key] * n for key, n in self.left.items())
        return f"about {left_s / 60:.0f} min left" if left_s > 90 else f"about {left_s:.0f} s left"


def machine():
    text = subprocess.run(["curl", "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"libcurl/(\S+)", text)
    return {"cores": os.cpu_count(), "libcurl": found.group(1) if found else "?",
            "system": f"{platform.system()} {platform.release().split('-')[0]}"}


def measure_run(bench, plan, extras, o, clock):
    """One run of the bench: see results.py."""
    run = {"rounds": o.rounds, "samples": {}, "once": {}}
    for w, client in plan:
        began = time.monotonic()
        m = bench.measure(client, w)
        clock.done((w.name, client), time.monotonic() - began)
        if not m:
            continue
        run["samples"].setdefault(w.name, {}).setdefault(client, []).append(m)
        say(f"{w.name:14} {client:14} {m['us_per_event']:10.2f} us/event {m['ms_per_request']:9.3f} "
            f"ms/request  {clock.text()}")
    for name in extras:
        began = time.monotonic()
        run["once"][name] = once.judge(o.build) if name == "judge" else once.million(bench.toolstorm)
        clock.done((None, name), time.monotonic() - began)
        say(f"{name:14} {'':14} {'':32}  {clock.text()}")
    return run


def measure(o):
    """All runs; what there is after each is written."""
    workloads = [w for w in WORKLOADS if o.only in w.name]
    plan = [(w, c) for w in workloads for _ in range(o.rounds) for c in w.clients]
    extras = [name for name in ONCE if o.only in name]
    if not plan and not extras:
        sys.exit(f"bench: no workload has '{o.only}' in its name")
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    data = {"date": time.strftime("%Y-%m-%d", time.gmtime()), "machine": machine(), "runs": []}
    clock = Clock(plan, extras, o.runs)
    say(f"{len(plan) * o.runs} measurements, {clock.text()}")
    for i in range(o.runs):
        if o.runs > 1:
            say(f"run {i + 1} of {o.runs}")
        with tempfile.TemporaryDirectory(prefix="toolstorm-bench-") as tmp:
            bench = Bench(o.build, tmp)
            try:
                data["runs"].append(measure_run(bench, plan, extras, o, clock))
            finally:
                bench.close()
        write(data, o.out)
    return data


def main():
    p = argparse.ArgumentParser(prog="bench.py", description=__doc__)
    p.add_argument("--build", help="build directory")
    p.add_argument("--out", default=os.path.join(ROOT, "reports", "samples"))
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--runs", type=int, default=1)
    p.add_argument("--only", default="", help="workloads whose names hold this")
    p.add_argument("--join", nargs="+", metavar="FILE",
                   help="measure nothing, write down the runs of these bench.json files or their folders")
    o = p.parse_args()
    if not o.join and not o.build:
        p.error("--build or --join is needed")
    if o.join:
        data = join(o.join)
        write(data, o.out)
    else:
        data = measure(o)
    print(markdown(data))


main()
