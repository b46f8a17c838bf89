"""What the bench measures: what the server streams, to how many, and which clients take part."""
import re

# Clients that take so many times fewer requests; what they cost before the first is taken out.
SLOW = {"aiohttp": 5, "httpx": 20, "openai-python": 20, "openai-node": 5}
# A part of the answers is kept with its arrival times, of which lateness is known afterwards.
SAMPLED = ["--keep", "all", "--evidence-limit", "12"]


class Workload:
    def __init__(self, name, about, spec, sessions, requests, clients, threads=1, **more):
        self.name, self.about, self.spec = name, about, spec
        self.sessions, self.requests = sessions, requests
        self.clients, self.threads = clients, threads
        self.body = more.get("body", 1000)
        self.context = more.get("context", 0)
        self.scenario = more.get("scenario", "stream.json")
        self.sampled = more.get("sampled", False)
        events, rate, _, ttft = (int(n) for n in re.findall(r"\d+", spec))
        self.events, self.rate = events, rate
        self.stream_s = (events - 1) / rate if rate else None  # as asked, from first to last event
        self.least_s = ttft / 1000 + (self.stream_s or 0)  # no client can be quicker

    def requests_of(self, client):
        return max(self.requests // SLOW.get(client, 1), min(self.sessions, self.requests))


BASE = ["bytes", "decode", "engine", "run"]
WORKLOADS = [
    Workload("saturated", "100 sessions, events as fast as they are taken", "e2000-r0-d1-t0",
             100, 400, ["bytes", "decode", "engine", "trees", "run", "aiohttp"]),
    Workload("paced 1,000", "1,000 sessions, 20 events a second each", "e200-r20-d1-t0",
             1000, 1000, ["decode", "engine", "run"]),
    Workload("paced 5,000", "5,000 sessions, 5 events a second each, 2 workers", "e100-r5-d1-t0",
             5000, 5000, ["decode", "engine", "run"], threads=2),
    Workload("paced 10,000", "10,000 sessions, 3 events a second each, 2 workers",
             "e30-r3-d1-t0", 10000, 10000, ["decode", "engine", "run"], threads=2, sampled=True),
    Workload("fast 1,000", "1,000 sessions, 50 events a second each, 1 worker",
             "e400-r50-d1-t0", 1000, 1000, ["decode", "run"], sampled=True),
    Workload("short", "answers of 5 events, 1,000 sessions", "e5-r0-d1-t0", 1000, 30000, BASE),
    Workload("big deltas", "events of 60 KB, 100 sessions", "e20-r0-d8000-t0", 100, 400, BASE),
    Workload("long contexts", "requests of about 200,000 tokens, 20 sessions", "e5-r0-d1-t0", 20, 200,
             ["decode", "engine", "run"], body=800000, context=200000, scenario="context.json"),
    Workload("tls", "1,000 connections with and without TLS, four requests each, 20 events a second",
             "e100-r20-d1-t0", 1000, 4000, ["engine", "engine-tls"]),
    Workload("connections", "1,000 new connections, an answer of 2 events after 2 seconds each",
             "e2-r1-d1-t2000", 1000, 1000, ["decode", "engine", "engine-tls"]),
    Workload("waiting", "2,000 sessions that wait for their first byte", "e2-r0-d1-t3000",
             2000, 2000, ["engine", "run"]),
    Workload("waiting 200", "200 sessions that wait for their first byte", "e2-r0-d1-t3000",
             200, 200, ["run"]),
    Workload("waiting, one beginning", "500 sessions that wait, all begun by the same 200,000 tokens",
             "e2-r0-d1-t6000", 500, 500, ["run"], context=200000, scenario="beginning.json"),
    Workload("one", "one session of one round", "e2-r0-d1-t0", 1, 1, ["run"]),
    Workload("peers", "answers of 20 events, 40 clients", "e20-r0-d1-t0", 40, 10000,
             ["engine", "run", "curl", "hey", "aiohttp", "httpx", "openai-node", "openai-python"]),
]
