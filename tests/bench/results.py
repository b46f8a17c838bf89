"""What was measured, and how it compares with the targets.

A run of the bench is a dict: {"rounds": N, "samples": {workload: {client: [figures of each round]}},
"once": {"judge": {...}, "million": [...]}}."""
import statistics
from collections import namedtuple

LATE_MS = 10
# `least` is the same of the least disturbed rounds; a limit of None is no target.
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
            ("TLS to plain, a new connection with its request", "connections", "engine-tls", "engine", "",
             None),
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
    name, fast_name = "10,000 streams, 2 workers", "1,000 x 50 events/s"

    def row(what, workload, key, limit, unit, client="run"):
        return Target(what, r.get(workload, client, key), r.get(workload, client, key, min), "<=", limit, unit)

    rows = [Target(f"{name}: failures", r.get(many, "run", "failed", max), None, "<=", 0, "")]
    for what, workload, key, limit in (
            (f"{name}: lateness p99 once they run", many, "late_p99_ms", LATE_MS),
            (f"{name}: while they start, the latest event of those that run", many, "start_max_ms", 50),
            (f"{fast_name}: lateness p99", fast, "late_p99_ms", LATE_MS)):
        rows += [row(what, workload, key, limit, "ms"),
                 row(f"{what}, of the bare client", workload, key, None, "ms", "decode")]
    rows.append(row(f"{fast_name}: share of a core", fast, "core_share", 0.5, ""))
    return rows + [Target(f"{w}: achieved to asked rate", r.get(w, "run", "pace"), None, "", None, "")
                   for w in ("paced 1,000", "paced 5,000", many, fast)]


def costs(r):
    waiting, alone = r.get("waiting", "run", "rss_kb"), r.get("one", "run", "rss_kb")
    few, begun = r.get("waiting 200", "run", "rss_kb"), r.get("waiting, one beginning", "run", "rss_kb")
    cpu_ms = r.get("one", "run", "ms_per_request")
    wall_s = r.get("one", "run", "wall_s", min)
    rows = [Target("memory of a waiting session", (waiting - alone) / 2000 if waiting and alone else None, None,
                   "<=", 40, "KB"),
            Target("200 waiting sessions", few / 1024 if few else None, None, "<=", 64, "MB"),
            Target("memory of a waiting session whose 200,000 tokens others begin with, too",
                   (begun - alone) / 500 if begun and alone else None, None, "", None, "KB"),
            Target("one session: CPU time of the whole command", cpu_ms,
                   r.get("one", "run", "ms_per_request", min), "<=", 50, "ms"),
            Target("one session: wall time of the whole command, the fastest",
                   wall_s * 1000 if wall_s else None, None, "<=", 50, "ms")]
    for w in ("saturated", "paced 1,000", "paced 5,000", "short"):
        shares = r.values(w, "run", "store_share")
        rows.append(Target(f"{w}: storing, share of the run's CPU",
                           statistics.median(shares) * 100 if shares else None,
                           min(shares) * 100 if shares else None, "<=", 2, "%"))
    return rows


def judging(r):
    judge = r.once.get("judge", {})
    return [Target("judge: a reply of 30 KB, CPU", judge.get("prose_ms"), None, "<=", 3, "ms"),
            Target("judge: the worst reply of 1 MB, CPU", judge.get("worst_ms"), None, "", None, "ms"),
            Target("judge: a reply of 1 MB to a quarter of it (linear: 4, quadratic: 16), the worst",
                   judge.get("growth"), None, "<=", 8, "x")]


def million(r):
    rows = r.once.get("million", [])
    out = []
    for words in ("list", "show", "compare", "query", "report --html", "report --md",
                  "report --json", "report --junit"):
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
