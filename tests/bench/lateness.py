"""How late `toolstorm run` handled what it kept, from its database: the answers' bytes hold the moment
at which the server wrote each event, and the arrival times are kept with them.

The run's clock and the server's are the same but for their zero; the quickest arrival of all counts as
not late, so that every figure is too small by what that one took (tens of microseconds)."""
import json
import re
import sqlite3
import zlib

STAMP = re.compile(rb"^id: (\d{16})$", re.MULTILINE)


def quantile(ordered, q):
    return ordered[min(len(ordered) - 1, int(q * len(ordered)))]


def figures(prefix, late_us):
    if not late_us:
        return {}
    late_us.sort()
    return {f"{prefix}_n": len(late_us), f"{prefix}_p50_ms": quantile(late_us, 0.5) / 1000,
            f"{prefix}_p99_ms": quantile(late_us, 0.99) / 1000, f"{prefix}_max_ms": late_us[-1] / 1000}


def read_events(raw, arrivals):
    """(stamp, arrival) of each event behind the first; arrivals are [bytes there, microseconds]."""
    at, events = 0, []
    for found in STAMP.finditer(raw):
        while at < len(arrivals) and arrivals[at][0] <= found.start():
            at += 1
        if at < len(arrivals):
            events.append((int(found.group(1)), arrivals[at][1]))
    return events[1:]


def part(row):
    return zlib.decompress(row[1]) if row[0] else bytes(row[1])


def of_run(path):
    """The figures of the only run of a database: those of its rounds, and, where evidence was kept, lateness
    while the first streams were being started and afterwards."""
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    start_us, stream_us = db.execute("SELECT max(first_byte_us), avg(last_token_us - first_token_us) "
                                     "FROM rounds WHERE class <> 'error'").fetchone()
    kept = db.execute("SELECT r.sent_us, a.deflated, a.data, b.deflated, b.data FROM rounds r "
                      "JOIN evidence a USING (run, session, round) JOIN evidence b USING (run, session, round) "
                      "WHERE a.part = 'response' AND b.part = 'arrivals' AND r.class <> 'error'")
    gaps = []  # (arrival, arrival - stamp)
    for sent_us, *parts in kept:
        events = read_events(part(parts[:2]), json.loads(part(parts[2:])))
        gaps += [(sent_us + at, sent_us + at - stamp) for stamp, at in events if stamp]
    db.close()
    m = {"start_s": (start_us or 0) / 1e6, "stream_s": (stream_us or 0) / 1e6}
    least = min((gap for _, gap in gaps), default=0)
    m |= figures("start", [gap - least for at, gap in gaps if at < start_us])
    return m | figures("late", [gap - least for at, gap in gaps if at >= start_us])
