#!/usr/bin/env bash
# A run that is stopped, by Ctrl-C or by force, keeps every finished session.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

start_sim --ttft 20ms --itl 5ms
# wait_for_sessions DB N: until so many sessions are committed.
wait_for_sessions() {
    for _ in $(seq 600); do
        n=$(sqlite3 -readonly "$1" 'SELECT count(*) FROM sessions' 2>/dev/null || echo 0)
        [ "$n" -ge "$2" ] && return
        pause
    done
    fail "no $2 sessions came"
}

"$TOOLSTORM" run --quiet --base-url "$url" --sessions 100000 --concurrency 20 --rounds 2 \
    --context 200 --db "$work/int.db" >"$work/out" 2>"$work/err" &
pid=$!
wait_for_sessions "$work/int.db" 30
kill -INT "$pid"
rc=0
wait "$pid" || rc=$?
[ "$rc" -eq 130 ] || { cat "$work/err" >&2; fail "status $rc after SIGINT, want 130"; }
stored=$(sql "$work/int.db" 'SELECT count(*) FROM sessions')
grep -qE "^CORRUPTION sessions: 0/$stored = " "$work/out" || { cat "$work/out" >&2; fail "no partial summary"; }
[ "$(sql "$work/int.db" 'SELECT status FROM runs')" = interrupted ] || fail "the run is not marked"
[ "$(sql "$work/int.db" 'SELECT count(*) FROM sessions WHERE rounds_played < 2')" = 0 ] ||
    fail "an unfinished session was stored"
"$TOOLSTORM" report --db "$work/int.db" | grep -qF 'The run did not finish: it was interrupted.' ||
    fail "the report of an interrupted run does not say so"

"$TOOLSTORM" run --quiet --base-url "$url" --sessions 100000 --concurrency 20 --rounds 2 \
    --context 200 --db "$work/kill.db" >"$work/out" 2>"$work/err" &
pid=$!
wait_for_sessions "$work/kill.db" 30
kill -KILL "$pid"
wait "$pid" 2>/dev/null || true
[ "$(sqlite3 "$work/kill.db" 'PRAGMA integrity_check')" = ok ] || fail "the database is broken"
n=$(sql "$work/kill.db" 'SELECT count(*) FROM sessions')
[ "$n" -ge 30 ] || fail "sessions were lost"
[ "$(sql "$work/kill.db" 'SELECT count(*) FROM sessions s WHERE rounds_played <>
    (SELECT count(*) FROM rounds r WHERE r.run = s.run AND r.session = s.session)')" = 0 ] ||
    fail "a session was stored in part"
status 0 "$TOOLSTORM" list --db "$work/kill.db"

# Every form says in words that the run did not finish; it took as long as its last session did.
grep -qF 'did not finish: it was killed, or' "$work/out" || fail "the list does not say it"
status 0 "$TOOLSTORM" report --db "$work/kill.db" --html "$work/k.html" --md "$work/k.md" --json "$work/k.json" \
    --junit "$work/k.xml" --jsonl "$work/k.jsonl" --csv "$work/k.csv" --prom "$work/k.prom"
for form in html md json xml jsonl; do
    grep -q 'it was killed, or is still going on' "$work/k.$form" || fail "$form does not say it"
done
grep -qF 'unfinished' "$work/k.csv" || fail "CSV does not count it"
grep -q '^toolstorm_unfinished_runs.* 1$' "$work/k.prom" || fail "the metrics do not count it"
"$TOOLSTORM" show 1 1 --db "$work/kill.db" | grep -qF 'the run did not finish' || fail "show does not say it"
python3 - "$work/k.xml" "$(sql "$work/kill.db" 'SELECT max(end_us) FROM sessions')" "$n" <<'PY' || fail "JUnit differs"
import sys, xml.etree.ElementTree as ET
suite = ET.parse(sys.argv[1]).getroot().find("testsuite")
assert abs(float(suite.get("time")) - int(sys.argv[2]) / 1e6) < 0.00051, suite.get("time")
assert int(suite.get("tests")) == len(suite.findall("testcase")) == int(sys.argv[3])
assert suite.find("system-err").text.endswith(f" {sys.argv[3]} of 100000 sessions did.")
PY
