#!/usr/bin/env python3
"""Measures toolstorm against a bare client and other programs, and writes the results down.

Every round starts each client of a workload in turn, against one server on loopback. CPU time is
each client's own. Ratios are taken within a round; what is printed is the median of the rounds.
"""
import argparse
import json
import os
import platform
import re
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
LIMIT_S = 300  # of one client
LATE_MS = 10


class Workload:
    """What the server streams, to how many, and which clients take part."""

    def __init__(self, name, about, spec, sessions, requests, clients, threads=1, **more):
        self.name, self.about, self.spec = name, about, spec
        self.sessions, self.requests = sessions, requests
        self.clients, self.threads = clients, threads
        self.body = more.get("body", 1000)
        self.run_options = more.get("run_options", [])
        self.quick = more.get("quick", True)
        events, rate, _, ttft = (int(n) for n in re.findall(r"\d+", spec))
        self.events, self.rate = events, rate
        self.asked_s = ttft / 1000 + (events - 1) / rate if rate else None


BASE = ["bytes", "decode", "engine", "run"]
WORKLOADS = [
    Workload("saturated", "100 sessions, events as fast as they are taken", "e2000-r0-d1-t0",
             100, 400, ["bytes", "decode", "engine", "trees", "run", "aiohttp"]),
    Workload("paced 1,000", "1,000 sessions, 20 events a second each", "e200-r20-d1-t0",
             1000, 1000, BASE),
    Workload("paced 5,000", "5,000 sessions, 5 events a second each", "e50-r5-d1-t0",
             5000, 5000, BASE, threads=2),
    Workload("paced 10,000", "10,000 sessions, 3 events a second each, 2 workers",
             "e36-r3-d1-t0", 10000, 10000, ["decode", "engine", "run"], threads=2),
    Workload("fast 1,000", "1,000 sessions, 50 events a second each, 1 worker",
             "e400-r50-d1-t0", 1000, 1000, ["decode", "run"]),
    Workload("short", "answers of 5 events, 1,000 sessions", "e5-r0-d1-t0", 1000, 30000, BASE),
    Workload("big deltas", "events of 60 KB, 100 sessions", "e20-r0-d8000-t0", 100, 400,
             ["bytes", "decode", "engine", "run"]),
    Workload("long contexts", "requests of about 200,000 tokens, 20 sessions", "e5-r0-d1-t0", 20, 200,
             ["decode", "engine", "run"], body=800000, run_options=["--context", "200000"]),
    Workload("tls", "1,000 sessions over TLS, 20 events a second each", "e300-r20-d1-t0",
             1000, 1000, ["engine", "engine-tls"]),
    Workload("waiting", "2,000 sessions that wait for their first byte", "e2-r0-d1-t4000",
             2000, 2000, ["engine", "run"]),
    Workload("waiting 200", "200 sessions that wait for their first byte", "e2-r0-d1-t4000",
             200, 200, ["run"]),
    Workload("one", "one session of one round", "e2-r0-d1-t0", 1, 1, ["run"]),
    Workload("peers", "answers of 20 events, 40 clients", "e20-r0-d1-t0", 40, 10000,
             ["engine", "run", "curl", "hey", "aiohttp", "openai-node", "openai-python"]),
]


def fail(text):
    sys.exit(f"bench: {text}")


class Bench:
    def __init__(self, build, tmp):
        self.build, self.tmp = build, tmp
        self.toolstorm = os.path.join(build, "toolstorm")
        self.client = os.path.join(build, "tests", "bench_client")
        self.server = subprocess.Popen([os.path.join(build, "tests", "bench_server")],
                                       stdout=subprocess.PIPE, text=True)
        self.port = int(self.server.stdout.readline())
        self.nginx = self.tls_port = None
        self.body = os.path.join(tmp, "body.json")
        with open(self.body, "w", encoding="utf-8") as f:
            json.dump({"model": "bench", "stream": True,
                       "messages": [{"role": "user", "content": "go"}]}, f)
        self.start_tls()

    def close(self):
        for p in (self.nginx, self.server):
            if p:
                p.terminate()
                p.wait()

    def stats(self):
        url = f"http://127.0.0.1:{self.port}/stats"
        with urllib.request.urlopen(url, timeout=10) as answer:
            return json.load(answer)

    def start_tls(self):
        """A TLS end in front of the server, where nginx and openssl are installed."""
        nginx = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin:/usr/local/sbin")
        if not nginx or not shutil.which("openssl"):
            return
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                        "-keyout", f"{self.tmp}/key.pem", "-out", f"{self.tmp}/cert.pem"],
                       check=True, capture_output=True)
        for _ in range(5):
            with socket.socket() as s:
                s.bind(("127.0.0.1", 0))
                port = s.getsockname()[1]
            with open(f"{self.tmp}/nginx.conf", "w", encoding="utf-8") as f:
                f.write(NGINX.format(tmp=self.tmp, port=port, server=self.port))
            self.nginx = subprocess.Popen(
                [nginx, "-c", f"{self.tmp}/nginx.conf", "-p", self.tmp, "-e", f"{self.tmp}/error.log"],
                stderr=subprocess.DEVNULL)
            for _ in range(50):
                time.sleep(0.05)
                if self.nginx.poll() is not None or os.path.exists(f"{self.tmp}/nginx.pid"):
                    break
            if self.nginx.poll() is None:
                self.tls_port = port
                return
        self.nginx = None

    def find_python(self, module):
        for python in filter(None, (os.environ.get("BENCH_PYTHON"), "/usr/bin/python3",
                                    shutil.which("python3"))):
            if os.path.exists(python) and subprocess.run(
                    [python, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0:
                return python
        return None

    def command(self, name, w):
        """The command line of a client, or None if it is not installed."""
        url = f"http://127.0.0.1:{self.port}/{w.spec}/v1"
        if name in ("bytes", "decode", "engine", "trees", "engine-tls"):
            tls = name == "engine-tls"
            if tls and not self.tls_port:
                return None
            return [self.client, "--mode", name.split("-")[0], "--spec", w.spec, "--port",
                    str(self.tls_port if tls else self.port), "--sessions", str(w.sessions),
                    "--requests", str(w.requests), "--body", str(w.body), "--threads",
                    str(w.threads)] + (["--tls"] if tls else [])
        if name == "run":
            return [self.toolstorm, "run", "--quiet", "--base-url", url, "--model", "bench",
                    "--no-preflight", "--scenario",
                    os.path.join(HERE, "context.json" if w.run_options else "stream.json"),
                    "--context", "0", "--output", "json", "--db", os.path.join(self.tmp, "run.db"),
                    "--concurrency", str(w.sessions), "--sessions", str(w.requests), "--threads",
                    str(w.threads)] + w.run_options
        return self.peer(name, url, w)

    def peer(self, name, url, w):
        n, c = str(w.requests), str(w.sessions)
        node_client = os.path.join(ROOT, "tests/e2e/interop/node_modules/openai/index.mjs")
        if name == "curl":
            return ["curl", "-Z", "--parallel-max", c, "-s", "-o", "/dev/null", "-H",
                    "Content-Type: application/json", "-d", f"@{self.body}",
                    f"{url}/chat/completions?n=[1-{n}]"]
        if name == "hey":
            return shutil.which("hey") and ["hey", "-n", n, "-c", c, "-m", "POST", "-T",
                                            "application/json", "-D", self.body,
                                            f"{url}/chat/completions"]
        if name == "openai-node":
            return (shutil.which("node") and os.path.exists(node_client) and
                    ["node", os.path.join(HERE, "peer_openai.mjs"), node_client, url, c, n])
        script, module = {"aiohttp": ("peer_aiohttp.py", "aiohttp"),
                          "openai-python": ("peer_openai.py", "openai")}[name]
        python = self.find_python(module)
        return python and [python, os.path.join(HERE, script), url, c, n]

    def measure(self, name, w):
        """One run of one client: its figures, or None."""
        command = self.command(name, w)
        if not command:
            return None
        for f in os.listdir(self.tmp):
            if f.startswith("run.db"):
                os.remove(os.path.join(self.tmp, f))
        self.stats()
        with open(os.path.join(self.tmp, "out"), "w+", encoding="utf-8") as out:
            began = time.monotonic()
            p = subprocess.Popen(command, stdout=out, stderr=subprocess.PIPE, text=True)
            watch = Watch(p)
            errors = p.stderr.read()
            _, status, use = os.wait4(p.pid, 0)
            wall = time.monotonic() - began
            rss_kb = watch.end()
            out.seek(0)
            text = out.read()
        p.returncode = os.waitstatus_to_exitcode(status)
        if p.returncode != 0:
            fail(f"{name} failed on '{w.name}' with status {p.returncode}: {errors.strip()[:300]}")
        served = self.stats()
        m = {"wall_s": wall, "user_s": use.ru_utime, "sys_s": use.ru_stime,
             "rss_kb": rss_kb, "requests": served["requests"], "events": served["events"],
             "failed": w.requests - served["requests"], "server_late": served["late"],
             "server_max_late_ms": served["max_late_us"] / 1000}
        own = json.loads(text) if name in ("bytes", "decode", "engine", "trees", "engine-tls") else {}
        for key in ("user_s", "sys_s", "failed", "late_p50_ms", "late_p99_ms", "wall_s"):
            m[key] = own.get(key, m.get(key))
        if name == "run":
            run = json.loads(text)
            m["failed"] = w.requests - run["counts"]["ok"]
            m["late_p99_ms"] = find_key(run, "late_p99_us") / 1000
        m["cpu_s"] = m["user_s"] + m["sys_s"]
        m["us_per_event"] = m["cpu_s"] / m["events"] * 1e6
        m["ms_per_request"] = m["cpu_s"] / m["requests"] * 1e3
        m["pace"] = w.asked_s / m["wall_s"] if w.asked_s else None
        return m


NGINX = """daemon off; worker_processes 1; pid {tmp}/nginx.pid; worker_rlimit_nofile 20000;
events {{ worker_connections 9000; }}
http {{ access_log off; keepalive_requests 1000000;
  client_body_temp_path {tmp}/b; proxy_temp_path {tmp}/p; fastcgi_temp_path {tmp}/f;
  uwsgi_temp_path {tmp}/u; scgi_temp_path {tmp}/s;
  server {{ listen 127.0.0.1:{port} ssl; ssl_certificate {tmp}/cert.pem;
    ssl_certificate_key {tmp}/key.pem;
    location / {{ proxy_pass http://127.0.0.1:{server}; proxy_http_version 1.1;
      proxy_set_header Connection ""; proxy_buffering off; }} }} }}
"""


class Watch:
    """The peak memory of a process, and an end to one that takes too long. What the kernel says of a
    finished child can't be used: it includes the memory of who started it."""

    def __init__(self, process):
        self.process, self.peak_kb, self.over = process, 0, threading.Event()
        self.thread = threading.Thread(target=self.look)
        self.thread.start()

    def look(self):
        began = time.monotonic()
        while not self.over.wait(0.005 if time.monotonic() - began < 1 else 0.1):
            if time.monotonic() - began > LIMIT_S:
                self.process.kill()
            try:
                with open(f"/proc/{self.process.pid}/status", encoding="ascii") as f:
                    found = re.search(r"VmHWM:\s+(\d+)", f.read())
                self.peak_kb = int(found.group(1)) if found else self.peak_kb
            except OSError:
                return

    def end(self):
        self.over.set()
        self.thread.join()
        return self.peak_kb


def find_key(value, key):
    """The first number of this name anywhere in a JSON value."""
    if isinstance(value, dict):
        if isinstance(value.get(key), (int, float)):
            return value[key]
        value = list(value.values())
    for v in value if isinstance(value, list) else []:
        found = find_key(v, key)
        if found is not None:
            return found
    return None


def median(samples, key):
    values = [s[key] for s in samples if s.get(key) is not None]
    return statistics.median(values) if values else None


class Ratio(float):
    """A median of ratios, and the ratio of the least disturbed rounds."""

    def __new__(cls, value, of_least):
        self = super().__new__(cls, value)
        self.of_least = of_least
        return self


class Results:
    def __init__(self):
        self.samples = {}  # (workload, client) -> one dict per round

    def add(self, workload, client, m):
        self.samples.setdefault((workload, client), []).append(m)

    def get(self, workload, client, key):
        return median(self.samples.get((workload, client), []), key)

    def ratio(self, workload, a, b, key="cpu_s"):
        """Median over the rounds of a / b."""
        pairs = zip(self.samples.get((workload, a), []), self.samples.get((workload, b), []))
        values = [x[key] / y[key] for x, y in pairs if x.get(key) and y.get(key)]
        return Ratio(statistics.median(values), self.least(workload, a, key) /
                     self.least(workload, b, key)) if values else None

    def least(self, workload, client, key):
        return min(s[key] for s in self.samples[(workload, client)])


def targets(r):
    """Rows: what, figure, limit, unit; a figure of None was not measured."""
    waiting = [r.get("waiting", "run", "rss_kb"), r.get("one", "run", "rss_kb")]
    per_session = (waiting[0] - waiting[1]) / 2000 if None not in waiting else None
    one = r.get("waiting 200", "run", "rss_kb")
    fast = r.samples.get(("fast 1,000", "run"), [])
    share = statistics.median(s["cpu_s"] / s["wall_s"] for s in fast) if fast else None
    return [
        ("saturated: engine to bare client with the same decoder",
         r.ratio("saturated", "engine", "decode"), "<=", 1.8, "x"),
        ("saturated: engine to engine with a JSON tree per event",
         r.ratio("saturated", "engine", "trees"), "<=", 0.4, "x"),
        ("paced 1,000: run (judge, store) to bare client",
         r.ratio("paced 1,000", "run", "decode"), "<=", 1.7, "x"),
        ("paced 5,000: run (judge, store) to bare client",
         r.ratio("paced 5,000", "run", "decode"), "<=", 1.7, "x"),
        ("10,000 streams, 2 workers: failures", r.get("paced 10,000", "run", "failed"), "<=", 0, ""),
        ("10,000 streams, 2 workers: lateness p99, start-up included",
         r.get("paced 10,000", "run", "late_p99_ms"), "<=", LATE_MS, "ms"),
        ("1,000 x 50 events/s: share of a core", share, "<=", 0.5, ""),
        ("1,000 x 50 events/s: lateness p99", r.get("fast 1,000", "run", "late_p99_ms"), "<=",
         LATE_MS, "ms"),
        ("TLS to plain", r.ratio("tls", "engine-tls", "engine"), "<=", 1.7, "x"),
        ("short requests: engine to bare client", r.ratio("short", "engine", "decode"), "<=", 2.3, "x"),
        ("run to curl -Z", r.ratio("peers", "run", "curl"), "<=", 1.5, "x"),
        ("aiohttp to run, saturated", r.ratio("saturated", "aiohttp", "run"), ">=", 15, "x"),
        ("aiohttp to run, answers of 20 events", r.ratio("peers", "aiohttp", "run"), ">=", 15, "x"),
        ("official Python client to run", r.ratio("peers", "openai-python", "run"), ">=", 40, "x"),
        ("official node client to run", r.ratio("peers", "openai-node", "run"), ">=", 3, "x"),
        ("memory of a waiting session", per_session, "<=", 40, "KB"),
        ("200 waiting sessions", one / 1024 if one else None, "<=", 64, "MB"),
        ("one session: CPU time of the whole command", r.get("one", "run", "ms_per_request"), "<=", 50,
         "ms"),
        ("one session: wall time of the whole command, the fastest",
         min((s["wall_s"] * 1000 for s in r.samples.get(("one", "run"), [])), default=None), "<=", 50,
         "ms"),
    ]


def holds(row):
    _, value, sign, limit, _ = row
    return None if value is None else value <= limit if sign == "<=" else value >= limit


def number(value, digits=3):
    return "-" if value is None else f"{value:.{digits}g}" if value < 1000 else f"{value:,.0f}"


def table_text(r, rounds):
    """The measured tables in Markdown."""
    out = ["# Speed and memory, measured", "",
           f"Written by `scripts/bench.sh` on {time.strftime('%Y-%m-%d', time.gmtime())}: "
           f"{os.cpu_count()} cores shared with other work, {platform.system()} "
           f"{platform.release().split('-')[0]}, libcurl {curl_version()}; medians of {rounds} "
           "interleaved rounds. CPU is the client's own, user + system. *bytes* is a bare epoll client "
           "that counts bytes, *decode* the same with toolstorm's decoder, *engine* toolstorm's HTTP "
           "engine with decoding, *trees* the engine with a JSON tree for each event, *run* the whole "
           "of `toolstorm run` with judge and store.", "", "## Against the targets", "",
           "Ratios are medians of the rounds; behind them, of the least disturbed rounds of both.", "",
           "| what | measured | least | target | |", "|---|---|---|---|---|"]
    for row in targets(r):
        what, value, sign, limit, unit = row
        verdict = {True: "holds", False: "missed", None: "not measured"}[holds(row)]
        word = "at most" if sign == "<=" else "at least"
        least = number(getattr(value, "of_least", None))
        out.append(f"| {what} | {number(value)} {unit} | {least} | {word} {number(limit)} {unit} | "
                   f"{verdict} |")
    out += ["", "![CPU per event](bench.svg)", "", "## All figures"]
    for w in WORKLOADS:
        if not any(key[0] == w.name for key in r.samples):
            continue
        out += ["", f"### {w.name}", "", f"{w.about}; {w.requests:,} requests of {w.events:,} events.", "",
                "| client | CPU/event, us | user | sys | CPU/request, ms | memory, MB | late p50, ms "
                "| late p99, ms | pace | failed |", "|---|---|---|---|---|---|---|---|---|---|"]
        for c in w.clients:
            if (w.name, c) not in r.samples:
                out.append(f"| {c} | not installed | | | | | | | | |")
                continue
            g = lambda key, c=c, w=w: r.get(w.name, c, key)
            per = 1e6 / g("events")
            out.append(f"| {c} | {number(g('us_per_event'))} | {number(g('user_s') * per)} | "
                       f"{number(g('sys_s') * per)} | {number(g('ms_per_request'))} | "
                       f"{number(g('rss_kb') / 1024)} | {number(g('late_p50_ms'))} | "
                       f"{number(g('late_p99_ms'))} | {number(g('pace'))} | {number(g('failed'))} |")
    return "\n".join(out) + "\n"


def curl_version():
    text = subprocess.run(["curl", "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"libcurl/(\S+)", text)
    return found.group(1) if found else "?"


def plot(r):
    """Bars of CPU per event, one group per workload."""
    names = ["saturated", "paced 1,000", "paced 5,000", "short", "peers"]
    colours = {"bytes": "#bbb", "decode": "#888", "engine": "#4a90c2", "trees": "#c9a03f",
               "run": "#1f5f8b"}
    rows, y = [], 30
    for name in names:
        w = next(w for w in WORKLOADS if w.name == name)
        bars = [(c, r.get(name, c, "us_per_event")) for c in w.clients if (name, c) in r.samples]
        if not bars:
            continue
        most = max(v for _, v in bars)
        rows.append(f'<text x="10" y="{y}" font-weight="bold">{name}: {w.about}</text>')
        y += 10
        for c, v in bars:
            width = max(1, 420 * v / most)
            rows.append(f'<text x="110" y="{y + 12}" text-anchor="end">{c}</text>'
                        f'<rect x="118" y="{y + 2}" width="{width:.1f}" height="12" '
                        f'fill="{colours.get(c, "#b5651d")}"/>'
                        f'<text x="{124 + width:.1f}" y="{y + 12}">{number(v)} us</text>')
            y += 17
        y += 24
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="640" height="{y}" '
            f'font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="#fff"/>'
            + "".join(rows) + "</svg>\n")


def write_results(r, rounds, out_dir):
    text = table_text(r, rounds)
    with open(os.path.join(HERE, "notes.md"), encoding="utf-8") as f:
        notes = f.read()
    os.makedirs(out_dir, exist_ok=True)
    with open(os.path.join(out_dir, "bench.md"), "w", encoding="utf-8") as f:
        f.write(text + "\n" + notes)
    with open(os.path.join(out_dir, "bench.svg"), "w", encoding="utf-8") as f:
        f.write(plot(r))
    data = {"rounds": rounds, "cores": os.cpu_count(), "libcurl": curl_version(),
            "targets": [{"what": t[0], "value": t[1], "sign": t[2], "limit": t[3], "unit": t[4],
                         "least": getattr(t[1], "of_least", None),
                         "holds": holds(t)} for t in targets(r)],
            "samples": [{"workload": w, "client": c, "rounds": s} for (w, c), s in r.samples.items()]}
    with open(os.path.join(out_dir, "bench.json"), "w", encoding="utf-8") as f:
        json.dump(data, f, indent=1)
        f.write("\n")
    print(text)


def main():
    p = argparse.ArgumentParser(prog="bench.py", description=__doc__)
    p.add_argument("--build", required=True, help="build directory")
    p.add_argument("--out", default=os.path.join(ROOT, "reports", "samples"))
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--only", default="", help="workloads whose names hold this")
    o = p.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    results = Results()
    with tempfile.TemporaryDirectory(prefix="toolstorm-bench-") as tmp:
        bench = Bench(o.build, tmp)
        try:
            for w in WORKLOADS:
                if o.only not in w.name:
                    continue
                for _ in range(o.rounds):
                    for client in w.clients:
                        m = bench.measure(client, w)
                        if m:
                            results.add(w.name, client, m)
                            print(f"{w.name:14} {client:14} {m['us_per_event']:8.2f} us/event  "
                                  f"{m['ms_per_request']:8.3f} ms/request", file=sys.stderr)
        finally:
            bench.close()
    write_results(results, o.rounds, o.out)


main()
