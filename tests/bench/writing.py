"""Writes measured runs of the bench down: bench.json holds them, bench.md and bench.svg show them.

Everything in the second and third comes from the first, so that they can be written again."""
import json
import os
import sys

from million import table as million_table
from plot import plot
from results import Results, holds, pooled, targets
from workloads import WORKLOADS

HERE = os.path.dirname(os.path.abspath(__file__))
COSTS = ["CPU/event, us", "user", "sys", "CPU/request, ms", "memory, MB", "storing, %", "own late p99, ms",
         "failed"]
LATENESS = ["achieved/asked", "late p50, ms", "p99", "worst", "start-up, s", "late in it p50, ms", "p99",
            "worst"]


def number(value, digits=3):
    if value is None:
        return "-"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    text = f"{value:.{digits}g}"
    return f"{value:f}".rstrip("0").rstrip(".") if "e" in text else text


def table(heads, rows):
    return ([f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)] +
            [f"| {' | '.join(row)} |" for row in rows])


def verdict(judged):
    """Of one target over all runs, each True, False or None for not measured."""
    known = [h for h in judged if h is not None]
    if not known:
        return "not measured"
    if len(judged) == 1:
        return "holds" if known[0] else "missed"
    return f"holds {sum(known)} of {len(known)}"


def combined(data):
    """One dict per target, with its value in each run."""
    by_run = [targets(run) for run in data["runs"]]
    out = []
    for of_all, *row in zip(targets(pooled(data["runs"])), *by_run):
        judged = [holds(t) for t in row]
        out.append({"what": of_all.what, "values": [t.value for t in row], "least": of_all.least,
                    "sign": of_all.sign, "limit": of_all.limit, "unit": of_all.unit,
                    "verdict": verdict(judged) if of_all.limit is not None else ""})
    return out


def targets_table(data):
    n = len(data["runs"])
    heads = ["what"] + (["measured"] if n == 1 else [f"run {i + 1}" for i in range(n)]) + ["least", "target", ""]
    rows = []
    for t in combined(data):
        unit = f" {t['unit']}" if t["unit"] else ""
        word = {"<=": "at most", ">=": "at least", "": ""}[t["sign"]]
        rows.append([t["what"]] + [number(v) + (unit if v is not None else "") for v in t["values"]] +
                    [number(t["least"]),
                     f"{word} {number(t['limit'])}{unit}" if t["limit"] is not None else "-", t["verdict"]])
    return table(heads, rows)


def cost_row(r, w, c):
    def g(key):
        return r.get(w.name, c, key)
    if not r.of(w.name, c):
        return [c, "not installed"] + [""] * (len(COSTS) - 1)
    per_event = 1e6 / g("events")
    share = g("store_share")
    return [c] + [number(v) for v in (
        g("us_per_event"), g("user_s") * per_event, g("sys_s") * per_event, g("ms_per_request"),
        g("rss_kb") / 1024, None if share is None else share * 100, g("own_p99_ms"),
        r.get(w.name, c, "failed", max))]


def late_row(r, w, c):
    def g(key):
        return r.get(w.name, c, key)
    return [c] + [number(g(key)) for key in (
        "pace", "late_p50_ms", "late_p99_ms", "late_max_ms", "start_s", "start_p50_ms", "start_p99_ms",
        "start_max_ms")]


def workload_text(r, w):
    fewer = [f"{c} {w.requests_of(c):,}" for c in w.clients
             if w.requests_of(c) != w.requests and r.of(w.name, c)]
    requests = f"{w.requests:,} requests" if w.requests > 1 else "one request"
    if fewer:
        requests += f" ({', '.join(fewer)}, start-up taken out)"
    kept = "; *run* keeps the answers of the first sessions to end (12 MB), for their times" if w.sampled else ""
    out = ["", f"### {w.name}", "", f"{w.about}; {requests} of {w.events:,} events{kept}.", ""]
    out += table(["client"] + COSTS, [cost_row(r, w, c) for c in w.clients])
    if w.rate:
        out += [""] + table(["client"] + LATENESS,
                            [late_row(r, w, c) for c in w.clients if r.of(w.name, c)])
    return out


def once_text(r):
    out = []
    judge, million = r.once.get("judge"), r.once.get("million")
    if judge:
        out += ["", "### judge", "", f"A reply of 30 KB of prose takes {number(judge['prose_ms'])} ms of CPU "
                f"time, the worst reply of 1 MB, nothing but `{judge['worst']}`, {number(judge['worst_ms'])} ms."]
    if million:
        out += ["", "### a million sessions", ""]
        out += ["Wall and CPU time in seconds, and the most memory."]
        # Rows of older measurements name no shape.
        out += [""] + table(*million_table([{"shape": "runs", "what": f"`{m['command']}`"} | m
                                            for m in million]))
    return out


def rounds_text(data):
    n = len(data["runs"])
    rounds = sorted({run["rounds"] for run in data["runs"]})
    words = f"{rounds[0]} interleaved round{'s' if rounds[-1] > 1 else ''}" if len(rounds) == 1 else (
        f"{rounds[0]} to {rounds[-1]} interleaved rounds")
    return f"medians of {words}" + (f" in each of {n} runs" if n > 1 else "")


def markdown(data):
    machine = data["machine"]
    several = len(data["runs"]) > 1
    out = ["# Speed and memory, measured", "",
           f"Written by `scripts/bench.sh` on {data['date']}: {machine['cores']} cores shared with other work, "
           f"{machine['system']}, libcurl {machine['libcurl']}; {rounds_text(data)}. CPU is the client's own, "
           "user + system. *bytes* is a bare epoll client that counts bytes, *decode* the same with "
           "toolstorm's decoder, *engine* toolstorm's HTTP engine with decoding, *trees* the engine with a "
           "JSON tree for each event, *run* the whole of `toolstorm run` with judge and store.", "",
           "Lateness runs from the moment at which the server wrote an event to the one at which the client "
           "handled it; the first event of a stream is not counted. The start-up lasts until every stream "
           "has begun. *own late p99* is what `run` says of itself: from when a socket was known to be "
           "ready. *storing* is the main thread's share of the run's CPU, without start-up, summary and end.",
           "", "## Against the targets", "",
           "Medians of the rounds. *least* is the least of all rounds; for a ratio, the least of the one "
           "client to the least of the other.", ""]
    out += targets_table(data)
    out += ["", "![CPU per event](bench.svg)", "", "## All figures"]
    if several:
        out += ["", "Medians over the rounds of all runs."]
    r = Results(pooled(data["runs"]))
    for w in WORKLOADS:
        if r.samples.get(w.name):
            out += workload_text(r, w)
    return "\n".join(out + once_text(r)) + "\n"


def json_text(value, indent=0):
    """JSON with a line for each list or object that holds no other."""
    inner = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    if not any(isinstance(v, (dict, list)) for v in inner):
        return json.dumps(value)
    pad = " " * (indent + 1)
    if isinstance(value, dict):
        lines = [f"{pad}{json.dumps(k)}: {json_text(v, indent + 1)}" for k, v in value.items()]
        return "{\n" + ",\n".join(lines) + "\n" + " " * indent + "}"
    lines = [pad + json_text(v, indent + 1) for v in value]
    return "[\n" + ",\n".join(lines) + "\n" + " " * indent + "]"


def rounded(value):
    """Six digits are more than was measured."""
    if isinstance(value, dict):
        return {k: rounded(v) for k, v in value.items()}
    if isinstance(value, list):
        return [rounded(v) for v in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def write(data, out_dir):
    """Writes the three files. `data` has date, machine and runs."""
    data = rounded(data)
    data["targets"] = rounded(combined(data))
    with open(os.path.join(HERE, "notes.md"), encoding="utf-8") as f:
        notes = f.read()
    os.makedirs(out_dir, exist_ok=True)
    files = {"bench.json": json_text(data) + "\n", "bench.md": markdown(data) + "\n" + notes,
             "bench.svg": plot(pooled(data["runs"]))}
    for name, text in files.items():
        with open(os.path.join(out_dir, name), "w", encoding="utf-8") as f:
            f.write(text)


def join(paths):
    """The runs of several bench.json files, or of the folders that they are in, as one."""
    joined = {"runs": []}
    for path in paths:
        path = os.path.join(path, "bench.json") if os.path.isdir(path) else path
        try:
            with open(path, encoding="utf-8") as f:
                data = json.load(f)
            joined["runs"] += data["runs"]
            joined |= {key: data[key] for key in ("date", "machine")}
        except (OSError, ValueError) as e:
            sys.exit(f"bench: can't read '{path}': {e}")
        except KeyError as e:
            sys.exit(f"bench: '{path}' holds no runs of this bench: no {e}")
    return joined
