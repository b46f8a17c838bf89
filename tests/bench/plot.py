"""Bars of CPU time per event, one group per workload, as SVG."""
from html import escape

from results import Results
from workloads import WORKLOADS

GROUPS = ["saturated", "paced 1,000", "paced 5,000", "short", "peers"]
# In the order of the bars: what it is called, and whose colour it has.
NAMES = {"bytes": ("bare client, counts bytes", "bare"), "decode": ("bare client, decodes", "bare"),
         "engine": ("toolstorm's engine", "ours"), "run": ("toolstorm run", "ours"),
         "trees": ("engine, a tree per event", "ours"), "curl": ("curl -Z", "other"),
         "hey": ("hey", "other"), "aiohttp": ("aiohttp", "other"), "httpx": ("httpx", "other"),
         "openai-node": ("openai on Node", "other"), "openai-python": ("openai on Python", "other")}
COLOURS = {"bare": "#8a929a", "ours": "#2b6f9e", "other": "#c2703a"}
WIDTH, LABELS, BARS = 720, 190, 380
ROW, BAR = 20, 13


def text(x, y, words, more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}"{more}>{escape(words)}</text>'


def value_text(us, run_us):
    words = f"{us:.3g} us" if us < 100 else f"{us:,.0f} us"
    if run_us and us != run_us:
        words += f" ({us / run_us:.2g} x)" if us / run_us < 100 else f" ({us / run_us:,.0f} x)"
    return words


def group(r, w, y):
    """A workload's bars from `y` down: (lines, the y below)."""
    bars = [(c, r.get(w.name, c, "us_per_event")) for c in NAMES if r.of(w.name, c)]
    if not bars:
        return [], y
    most, run_us = max(us for _, us in bars), r.get(w.name, "run", "us_per_event")
    lines = [text(12, y + 14, f"{w.name}: {w.about}", ' font-weight="bold"')]
    top = y + 24
    for i, (c, us) in enumerate(bars):
        at, width = top + i * ROW, max(1, BARS * us / most)
        name, whose = NAMES[c]
        bold = ' font-weight="bold"' if c == "run" else ""
        lines += [text(LABELS - 8, at + 14, name, f' text-anchor="end"{bold}'),
                  f'<rect x="{LABELS}" y="{at + 4}" width="{width:.1f}" height="{BAR}" '
                  f'fill="{COLOURS[whose]}"/>',
                  text(LABELS + width + 6, at + 14, value_text(us, run_us), bold)]
    bottom = top + len(bars) * ROW
    lines.append(f'<path d="M{LABELS - 0.5} {top}V{bottom}" stroke="#555"/>')
    return lines, bottom + 18


def plot(run):
    r = Results(run)
    title = "CPU time of the client per event"
    lines = [text(12, 26, title, ' font-size="16" font-weight="bold"'),
             text(12, 46, "Each group has a scale of its own; in brackets, against toolstorm run.")]
    y = 62
    for name in GROUPS:
        more, y = group(r, next(w for w in WORKLOADS if w.name == name), y)
        lines += more
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}" width="{WIDTH}" '
            f'height="{y}" font-family="sans-serif" font-size="12.5" fill="#222" role="img">\n'
            f"<title>{title}</title>\n"
            f'<rect width="{WIDTH}" height="{y}" rx="6" fill="#fff"/>\n' + "\n".join(lines) + "\n</svg>\n")
