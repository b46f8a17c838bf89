#!/usr/bin/env bash
# The speed measurements without measuring: what is written of runs whose figures are known, and how late
# a run was according to a database in which that is known. TOOLSTORM_GOLDEN=update writes anew what the
# report on two runs is.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
tests=$(cd "$(dirname "$0")/.." && pwd)
bench=$tests/bench/bench.py
quiet=$tests/data/bench-quiet noisy=$tests/data/bench-noisy

# --- one run -------------------------------------------------------------------------------------
status 0 python3 "$bench" --out "$work/one" --join "$quiet"
has() { grep -qF -- "$1" "$work/out" || fail "not in the report: $1"; }
has 'medians of 2 interleaved rounds.'
# 0.24 to 0.16 and 0.32 to 0.2 seconds: the median of 1.5 and 1.6, and the least of both.
has '| saturated: engine to bare client with the same decoder | 1.55 x | 1.5 | at most 1.8 x | holds |'
# 20 and 24 ms a request with a quarter of the requests, to 0.8 and 1 ms.
has '| aiohttp to run, saturated | 24.5 x | 25 | at least 15 x | holds |'
has '| 10,000 streams, 2 workers: lateness p99 once they run | 6 ms | 6 | at most 10 ms | holds |'
has '| paced 10,000: achieved to asked rate | 0.998 | - | - |  |'
# (50,240 - 10,240) KB / 2,000
has '| memory of a waiting session | 20 KB | - | at most 40 KB | holds |'
# (35,240 - 10,240) KB / 500
has '| memory of a waiting session whose 200,000 tokens others begin with, too | 50 KB | - | - |  |'
has '| official node client to run | - | - | at least 3 x | not measured |'
[ -s "$work/one/bench.json" ] || fail "no JSON"
grep -qF -- "$(head -n 1 "$tests/bench/notes.md")" "$work/one/bench.md" || fail "no notes in the report"

# --- two runs, one of them disturbed -------------------------------------------------------------
status 0 python3 "$bench" --out "$work/two" --join "$work/one" "$noisy/bench.json"
has 'medians of 2 interleaved rounds in each of 2 runs.'
has '| saturated: engine to bare client with the same decoder | 1.55 x | 2.35 x | 1.5 | at most 1.8 x | holds 1 of 2 |'
has '| aiohttp to run, saturated | 24.5 x | 24.5 x | 25 | at least 15 x | holds 2 of 2 |'
[ "$(jq -r '.runs | length' "$work/two/bench.json")" = 2 ] || fail "runs"
[ "$(jq -c '.targets[0] | [.values, .limit, .verdict]' "$work/two/bench.json")" = \
    '[[1.55,2.35],1.8,"holds 1 of 2"]' ] || fail "targets in JSON"
golden=$tests/golden/bench
if [ "${TOOLSTORM_GOLDEN-}" = update ]; then
    mkdir -p "$golden"
    cp "$work/out" "$golden/two.md"
    cp "$work/two/bench.svg" "$golden/two.svg"
fi
diff "$golden/two.md" "$work/out" >&2 || fail "the report differs from tests/golden/bench"
diff "$golden/two.svg" "$work/two/bench.svg" >&2 || fail "the plot differs from tests/golden/bench"
python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' "$work/two/bench.svg" || fail "SVG"

# What was written once is written the same again.
cp -r "$work/two" "$work/again"
status 0 python3 "$bench" --out "$work/again" --join "$work/again"
diff -r "$work/two" "$work/again" >&2 || fail "written differently the second time"

# --- mistakes ------------------------------------------------------------------------------------
status 1 python3 "$bench" --out "$work/none" --join "$work/nowhere"
grep -q "can't read '$work/nowhere'" "$work/err" || fail "no such file"
echo '{"rounds": 3}' >"$work/other.json"
status 1 python3 "$bench" --out "$work/none" --join "$work/other.json"
grep -q "holds no runs of this bench" "$work/err" || fail "another file"
status 1 python3 "$bench" --out "$work/none" --build "$work" --only nothing-of-this-name
grep -q "no workload has 'nothing-of-this-name'" "$work/err" || fail "no such workload"
script=$tests/../scripts/bench.sh
for words in '--runs 0' '--rounds x' '--join' 'folder'; do
    # shellcheck disable=SC2086
    status 2 "$script" $words
done

# --- lateness ------------------------------------------------------------------------------------
# Two streams of three events each; the run's clock is 1,000,000 us behind the server's. The first event
# of each is left out, the quickest arrival (50 us) is the zero, and the start ends at 3,000 us.
db=$work/late.db
sqlite3 "$db" <<'SQL'
CREATE TABLE rounds (run, session, round, class, sent_us, first_byte_us, first_token_us, last_token_us);
CREATE TABLE evidence (run, session, round, part, deflated, data);
INSERT INTO rounds VALUES (1, 1, 1, 'ok', 1000, 1100, 1100, 5550), (1, 2, 1, 'ok', 2000, 3000, 3000, 6450),
                          (1, 3, 1, 'error', 9000, 9100, NULL, NULL);
INSERT INTO evidence VALUES
    (1, 1, 1, 'response', 0, 'id: 0000000001001000
data: {}

id: 0000000001002000
id: 0000000001005500
'), (1, 1, 1, 'arrivals', 0, '[[31,100],[52,1850],[73,4550]]'),
    (1, 2, 1, 'response', 0, 'id: 0000000001002900
id: 0000000001006000
id: 0000000001006100
'), (1, 2, 1, 'arrivals', 0, '[[21,1000],[63,4450]]');
UPDATE evidence SET data = CAST(data AS BLOB);
SQL
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$tests/bench python3 - "$db" <<'PY' || fail "lateness"
import sys

import lateness

got = lateness.of_run(sys.argv[1])
want = {"start_s": 0.003, "stream_s": (4450 + 3450) / 2 / 1e6,
        "start_n": 1, "start_p50_ms": 0.8, "start_p99_ms": 0.8, "start_max_ms": 0.8,
        "late_n": 3, "late_p50_ms": 0.3, "late_p99_ms": 0.4, "late_max_ms": 0.4}
assert got == want, f"{got} is not {want}"
PY
[ -z "$(find "$tests/bench" -name __pycache__)" ] || fail "the tree is not clean"
