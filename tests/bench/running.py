"""Runs the bench's server and one client at a time against it, and says what the client cost."""
import glob
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.request

import lateness
from workloads import SAMPLED, SLOW, Workload

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
LIMIT_S = 300  # of one client
OWN = ("bytes", "decode", "engine", "trees", "engine-tls")  # clients that report about themselves
RUN_STATUSES = (0, 1, 3, 4)  # of toolstorm run: sessions went wrong, which the figures show

NGINX = """daemon off; worker_processes 1; pid {tmp}/nginx.pid; worker_rlimit_nofile 20000;
events {{ worker_connections 9000; }}
http {{ access_log off; keepalive_requests 1000000;
  client_body_temp_path {tmp}/b; proxy_temp_path {tmp}/p; fastcgi_temp_path {tmp}/f;
  uwsgi_temp_path {tmp}/u; scgi_temp_path {tmp}/s;
  server {{ listen 127.0.0.1:{port} ssl; ssl_protocols TLSv1.2 TLSv1.3; ssl_certificate {tmp}/cert.pem;
    ssl_certificate_key {tmp}/key.pem;
    location / {{ proxy_pass http://127.0.0.1:{server}; proxy_http_version 1.1;
      proxy_set_header Connection ""; proxy_buffering off; }} }} }}
"""


def fail(text):
    sys.exit(f"bench: {text}")


def main_thread_s(pid):
    """CPU time of a process's main thread, to the nanosecond; None where the kernel does not say."""
    try:
        with open(f"/proc/{pid}/schedstat", encoding="ascii") as f:
            return int(f.read().split()[0]) / 1e9
    except OSError:
        return None


class Watch:
    """The peak memory of a process, what its main thread had taken when it started others, and an end to
    one that takes too long. What the kernel says of a finished child's memory can't be used: it includes
    the memory of who started it."""

    def __init__(self, process):
        self.process, self.over = process, threading.Event()
        self.peak_kb, self.alone_s = 0, None
        self.thread = threading.Thread(target=self.look)
        self.thread.start()

    def look(self):
        began = time.monotonic()
        while not self.over.wait(0.005 if time.monotonic() - began < 1 else 0.1):
            if time.monotonic() - began > LIMIT_S:
                self.process.kill()
            try:
                with open(f"/proc/{self.process.pid}/status", encoding="ascii") as f:
                    text = f.read()
            except OSError:
                return
            found = re.search(r"VmHWM:\s+(\d+)", text)
            self.peak_kb = int(found.group(1)) if found else self.peak_kb
            if self.alone_s is None and int(re.search(r"Threads:\s+(\d+)", text).group(1)) > 1:
                self.alone_s = main_thread_s(self.process.pid)

    def end(self):
        self.over.set()
        self.thread.join()


def finished(process):
    """Waits for a process: its use of resources, and the CPU time of its main thread."""
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    main_s = main_thread_s(process.pid)
    _, status, use = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return use, main_s


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


class Bench:
    def __init__(self, build, tmp):
        self.tmp = tmp
        self.toolstorm = os.path.join(build, "toolstorm")
        self.client = os.path.join(build, "tests", "bench_client")
        self.server = subprocess.Popen([os.path.join(build, "tests", "bench_server")],
                                       stdout=subprocess.PIPE, text=True)
        self.port = int(self.server.stdout.readline())
        self.nginx = self.tls_port = None
        self.db = os.path.join(tmp, "run.db")
        self.body = os.path.join(tmp, "body.json")
        with open(self.body, "w", encoding="utf-8") as f:
            json.dump({"model": "bench", "stream": True,
                       "messages": [{"role": "user", "content": "go"}]}, f)
        self.start_tls()
        self.query_s, self.end_s = self.least_of_nothing()
        self.first = {}  # by slow client, (user, sys) of its start and one request

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

    def command(self, name, w, n=None):
        """The command line of a client, or None if it is not installed; `n`: requests, if not all."""
        url = f"http://127.0.0.1:{self.port}/{w.spec}/v1"
        if name in OWN:
            tls = name == "engine-tls"
            if tls and not self.tls_port:
                return None
            return [self.client, "--mode", name.split("-")[0], "--spec", w.spec, "--port",
                    str(self.tls_port if tls else self.port), "--sessions", str(w.sessions),
                    "--requests", str(w.requests), "--body", str(w.body), "--threads",
                    str(w.threads)] + (["--tls"] if tls else [])
        if name == "run":
            return [self.toolstorm, "run", "--quiet", "--base-url", url, "--model", "bench",
                    "--no-preflight", "--scenario", os.path.join(HERE, w.scenario),
                    "--context", str(w.context), "--output", "json", "--db", self.db,
                    "--concurrency", str(w.sessions), "--sessions", str(w.requests), "--threads",
                    str(w.threads)] + (SAMPLED if w.sampled else [])
        return peer(name, url, w.sessions if n is None else n, n or w.requests_of(name), self.body)

    def summary_s(self):
        """CPU time of the summary at the end of the run in the database."""
        p = subprocess.Popen([self.toolstorm, "query", "summary", "--run", "1", "--db", self.db],
                             stdout=subprocess.DEVNULL)
        use, _ = finished(p)
        return use.ru_utime + use.ru_stime

    def least_of_nothing(self):
        """The same of a run of next to nothing, and what its main thread takes from its start-up to its end:
        that of every run, whatever it stores. The answer waits, so that start-up's end is seen."""
        nothing = Workload("nothing", "", "e2-r0-d1-t200", 1, 1, [])
        ends = []
        for _ in range(3):
            p = subprocess.Popen(self.command("run", nothing), stdout=subprocess.DEVNULL)
            watch = Watch(p)
            _, main_s = finished(p)
            watch.end()
            if p.returncode:
                fail(f"{self.toolstorm} can't play one session")
            if None not in (watch.alone_s, main_s):
                ends.append(main_s - watch.alone_s)
        return min(self.summary_s() for _ in range(3)), min(ends, default=None)

    def start_of(self, name, w):
        """What a slow client costs before its requests count: its CPU time with one, user and sys."""
        if name not in SLOW:
            return 0.0, 0.0
        if (name, w.name) not in self.first:
            p = subprocess.Popen(self.command(name, w, 1), stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
            use, _ = finished(p)
            self.first[(name, w.name)] = use.ru_utime, use.ru_stime
        return self.first[(name, w.name)]

    def measure(self, name, w):
        """One run of one client: its figures, or None."""
        command = self.command(name, w)
        if not command:
            return None
        for f in glob.glob(self.db + "*"):
            os.remove(f)
        start_user_s, start_sys_s = self.start_of(name, w)
        self.stats()
        with open(os.path.join(self.tmp, "out"), "w+", encoding="utf-8") as out:
            began = time.monotonic()
            p = subprocess.Popen(command, stdout=out, stderr=subprocess.PIPE, text=True)
            watch = Watch(p)
            errors = p.stderr.read()
            use, main_s = finished(p)
            wall = time.monotonic() - began
            watch.end()
            out.seek(0)
            text = out.read()
        if p.returncode not in (RUN_STATUSES if name == "run" else (0,)):
            fail(f"{name} failed on '{w.name}' with status {p.returncode}: {errors.strip()[:300]}")
        served, asked = self.stats(), w.requests_of(name)
        if not served["requests"]:
            fail(f"{name} sent nothing on '{w.name}': {errors.strip()[:300]}")
        m = {"wall_s": wall, "user_s": use.ru_utime - start_user_s,
             "sys_s": use.ru_stime - start_sys_s, "rss_kb": watch.peak_kb,
             "requests": served["requests"], "events": served["events"],
             "failed": asked - served["requests"], "server_late": served["late"],
             "server_max_late_ms": served["max_late_us"] / 1000}
        if name in OWN:
            own = json.loads(text)
            m |= {k: v for k, v in own.items() if k not in ("client", "requests", "rss_kb")}
        m["cpu_s"] = m["user_s"] + m["sys_s"]
        if name == "run":
            self.add_run(m, json.loads(text), asked, watch.alone_s, main_s)
        m["core_share"] = m["cpu_s"] / m["wall_s"]
        m["us_per_event"] = m["cpu_s"] / m["events"] * 1e6
        m["ms_per_request"] = m["cpu_s"] / m["requests"] * 1e3
        if w.stream_s and m.get("stream_s"):
            m["pace"] = w.stream_s / m["stream_s"]
        return m

    def add_run(self, m, summary, asked, alone_s, main_s):
        """What `toolstorm run` says of itself, and what its database holds. The main thread stores; before
        that it reads its rules, at the end it makes the summary and leaves."""
        m["failed"] = asked - summary["counts"]["ok"]
        m["own_p99_ms"] = find_key(summary, "late_p99_us") / 1000
        m |= lateness.of_run(self.db)
        if None not in (alone_s, main_s, self.end_s):
            summary_s = max(0.0, self.summary_s() - self.query_s)
            m["store_s"] = max(0.0, main_s - alone_s - self.end_s - summary_s)
            m["store_share"] = m["store_s"] / m["cpu_s"]


def find_python(module):
    for python in filter(None, (os.environ.get("BENCH_PYTHON"), "/usr/bin/python3",
                                shutil.which("python3"))):
        if os.path.exists(python) and subprocess.run(
                [python, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0:
            return python
    return None


def find_node(modules):
    """The node that came with the packages, or the machine's."""
    own = glob.glob(os.path.join(modules, "node-linux-*", "bin", "node"))
    return own[0] if own else shutil.which("node")


def peer(name, url, clients, requests, body):
    """The command line of another program, or None if it is not installed."""
    n, c = str(requests), str(clients)
    modules = os.path.join(ROOT, "tests", "e2e", "interop", "node_modules")
    if name == "curl":
        return shutil.which("curl") and ["curl", "-Z", "--parallel-max", c, "-s", "-o", "/dev/null", "-H",
                                         "Content-Type: application/json", "-d", f"@{body}",
                                         f"{url}/chat/completions?n=[1-{n}]"]
    if name == "hey":
        return shutil.which("hey") and ["hey", "-n", n, "-c", c, "-m", "POST", "-T", "application/json",
                                        "-D", body, f"{url}/chat/completions"]
    if name == "openai-node":
        client = os.path.join(modules, "openai", "index.mjs")
        node = find_node(modules)
        return (node and os.path.exists(client) and
                [node, os.path.join(HERE, "peer_openai.mjs"), client, url, c, n])
    script, module = {"aiohttp": ("peer_aiohttp.py", "aiohttp"), "httpx": ("peer_httpx.py", "httpx"),
                      "openai-python": ("peer_openai.py", "openai")}[name]
    python = find_python(module)
    return python and [python, os.path.join(HERE, script), url, c, n]
