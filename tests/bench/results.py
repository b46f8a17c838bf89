"""What was measured, and how it compares with the targets.

A run of the bench is a dict: {"rounds": N, "samples": {workload: {client: [figures of each round]}},
"once": {"judge": {...}, "million": [...]}}."""
import statistics
from collections import namedtuple

LATE_MS = 10
# `least` is the same ratio of the least disturbed rounds; a limit of None is no target.
Target = namedtuple("Target", "what value least sign limit unit")


class Results:
    def __init__(self, run):
        self.samples, self.once = run["samples"], run.get("once", {})

    def of(self, workload, client):
        return self.samples.get(workload, {}).get(client, [])

    def values(self, workload, client, key):
        return [s[key] for s in self.of(workload, client) if s.get(key) is not None]

    def get(self, workload, client, key, middle=statistics.median):
        values = self.values(workload, client, key)
        return middle(values) if values else None

    def ratio(self, workload, a, b):
        """(median over the rounds of a / b, least a / least b), of the CPU time of a request."""
        key = "ms_per_request"
        pairs = list(zip(self.values(workload, a, key), self.values(workload, b, key)))
        if not pairs:
            return None, None
        return (statistics.median(x / y for x, y in pairs),
                self.get(workload, a, key, min) / self.get(workload, b, key, min))


def pooled(runs):
    """All rounds of several runs as one run; what is measured once is the last run's."""
    samples = {}
    for run in runs:
        for workload, clients in run["samples"].items():
            for client, rounds in clients.items():
                samples.setdefault(workload, {}).setdefault(client, []).extend(rounds)
    return {"rounds": sum(run["rounds"] for run in runs), "samples": samples,
            "once": next((run["once"] for run in reversed(runs) if run.get("once")), {})}


def ratios(r):
    paced = "run (judge, store) to bare client"
    rows = [("saturated: engine to bare client with the same decoder", "saturated", "engine", "decode",
             "<=", 1.8),
            ("saturated: engine to engine with a JSON tree per event", "saturated", "engine", "trees",
             "<=", 0.4),
            (f"paced 1,000: {paced}", "paced 1,000", "run", "decode", "<=", 1.7),
            (f"paced 5,000: {paced}", "paced 5,000", "run", "decode", "<=", 1.7),
            ("TLS to plain", "tls", "engine-tls", "engine", "<=", 1.7),
            ("short requests: engine to bare client", "short", "engine", "decode", "<=", 2.3),
            ("run to curl -Z", "peers", "run", "curl", "<=", 1.5),
            ("aiohttp to run, saturated", "saturated", "aiohttp", "run", ">=", 15),
            ("aiohttp to run, answers of 20 events", "peers", "aiohttp", "run", ">=", 15),
            ("official Python client to run", "peers", "openai-python", "run", ">=", 40),
            ("httpx, which the official Python client is made of, to run", "peers", "httpx", "run", ">=", 40),
            ("official node client to run", "peers", "openai-node", "run", ">=", 3)]
    return [Target(what, *r.ratio(workload, a, b), sign, limit, "x")
            for what, workload, a, b, sign, limit in rows]


def streams(r):
    many, fast = "paced 10,000", "fast 1,000"
    name = "10,000 streams, 2 workers"
    share = [s["cpu_s"] / s["wall_s"] for s in r.of(fast, "run")]
    rows = [(f"{name}: failures", r.get(many, "run", "failed", max), "<=", 0, ""),
            (f"{name}: lateness p99 once they run", r.get(many, "run", "late_p99_ms"), "<=", LATE_MS, "ms"),
            (f"{name}: while they start, the latest event of those that run",
             r.get(many, "run", "start_max_ms"), "<=", 50, "ms"),
            ("1,000 x 50 events/s: share of a core", statistics.median(share) if share else None, "<=", 0.5, ""),
            ("1,000 x 50 events/s: lateness p99", r.get(fast, "run", "late_p99_ms"), "<=", LATE_MS, "ms")]
    rows += [(f"{w}: achieved to asked rate", r.get(w, "run", "pace"), "", None, "")
             for w in ("paced 1,000", "paced 5,000", many, fast)]
    return [Target(what, value, None, sign, limit, unit) for what, value, sign, limit, unit in rows]


def percent(value):
    return None if value is None else value * 100


def costs(r):
    waiting = [r.get("waiting", "run", "rss_kb"), r.get("one", "run", "rss_kb")]
    per_session = (waiting[0] - waiting[1]) / 2000 if None not in waiting else None
    few = r.get("waiting 200", "run", "rss_kb")
    wall = r.get("one", "run", "wall_s", min)
    rows = [("memory of a waiting session", per_session, 40, "KB"),
            ("200 waiting sessions", few / 1024 if few else None, 64, "MB"),
            ("one session: CPU time of the whole command", r.get("one", "run", "ms_per_request"), 50, "ms"),
            ("one session: wall time of the whole command, the fastest",
             wall * 1000 if wall else None, 50, "ms")]
    rows += [(f"{w}: storing, share of the run's CPU", percent(r.get(w, "run", "store_share")), 2, "%")
             for w in ("saturated", "paced 1,000", "paced 5,000", "short")]
    return [Target(what, value, None, "<=", limit, unit) for what, value, limit, unit in rows]


def judging(r):
    judge = r.once.get("judge", {})
    return [Target("judge: a reply of 30 KB, CPU", judge.get("prose_ms"), None, "<=", 3, "ms"),
            Target("judge: the worst reply of 1 MB, CPU", judge.get("worst_ms"), None, "<=", 100, "ms")]


def million(r):
    rows = r.once.get("million", [])
    out = []
    for words in ("list", "compare", "report --html", "query"):
        wall = [m["wall_s"] for m in rows if f"{m['command']} ".startswith(f"{words} ")]
        out.append(Target(f"1,000,000 sessions: `{words}`, wall time", max(wall, default=None), None, "<=", 5,
                          "s"))
    memory = max((m["memory_mb"] for m in rows), default=None)
    return out + [Target("1,000,000 sessions: memory, the worst command", memory, None, "<=", 300, "MB")]


def targets(run):
    r = Results(run)
    return ratios(r) + streams(r) + costs(r) + judging(r) + million(r)


def holds(t):
    if t.value is None or t.limit is None:
        return None
    return t.value <= t.limit if t.sign == "<=" else t.value >= t.limit
