"""What is measured once in a run of the bench: the judge alone, and the reports of a million sessions."""
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
MB_REPLY = "1 MB of "
MILLION_OPTIONS = ["--shape", "runs"]  # the other shapes take minutes; notes.md has them


def judge(build):
    """CPU time of judging a reply of prose and the worst of 1 MB, as the quality program measures it."""
    done = subprocess.run([os.path.join(build, "tests", "quality_program"), "time"], capture_output=True,
                          text=True, check=False)
    found = re.findall(r"^  (.+?) +([\d.]+) (ms|times) +\(at most", done.stdout, re.MULTILINE)
    times = {what: float(ms) for what, ms, unit in found if unit == "ms"}
    growth = [float(n) for _, n, unit in found if unit == "times"]
    worst = max((what for what in times if what.startswith(MB_REPLY)), key=times.get, default=None)
    if not worst or "30 KB of prose" not in times:
        sys.exit(f"bench: the quality program measured no times: {done.stderr.strip()[:300]}")
    return {"prose_ms": times["30 KB of prose"], "worst_ms": times[worst], "worst": worst[len(MB_REPLY):],
            "growth": max(growth)}


def rows_of(value):
    """Every measured command anywhere in what million.py prints."""
    if isinstance(value, dict):
        if "command" in value and "wall_s" in value:
            return [value]
        value = list(value.values())
    return [row for v in value for row in rows_of(v)] if isinstance(value, list) else []


def million(toolstorm):
    done = subprocess.run([sys.executable, os.path.join(HERE, "million.py"), "--toolstorm", toolstorm] +
                          MILLION_OPTIONS,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    if done.returncode:
        sys.exit(f"bench: million.py failed with status {done.returncode}")
    return [{k: row[k] for k in ("shape", "what", "command", "wall_s", "cpu_s", "memory_mb")}
            for row in rows_of(json.loads(done.stdout))]
