#!/usr/bin/env bash
# From the summary line to the damaged bytes: list, show and query agree with the database and with
# each other, and the command that show prints does repeat the request.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
db=(--db "$work/x.db")

start_sim --fault leak.markup=0.4 --ttft 5ms --itl 1ms
status 1 "$TOOLSTORM" run --quiet --base-url "$url" --sessions 20 --concurrency 5 --rounds 2 \
    --context 300 --label first --tag graph=on "${db[@]}"
cp "$work/out" "$work/summary"
corrupt=$(sql "$work/x.db" "SELECT count(*) FROM sessions WHERE class = 'leak'")
[ "$corrupt" -gt 0 ] || fail "nothing was damaged"
grep -q "^CORRUPTION sessions: $corrupt/20 = " "$work/summary" || fail "the first line is wrong"

# The command under the summary works as it stands.
command=$(sed -n 's/^  toolstorm show //p' "$work/summary")
eval "status 0 \"\$TOOLSTORM\" show $command"
grep -q '^session .* of run 1: leak.markup in round' "$work/out" || fail "show does not show it"
grep -q '>>>' "$work/out" || fail "the damage is not marked"
first=$(sql "$work/x.db" "SELECT min(session) FROM sessions WHERE class = 'leak'")
status 0 "$TOOLSTORM" show "${db[@]}"
grep -q "^session $first of run 1" "$work/out" || fail "show without numbers shows another session"
status 0 "$TOOLSTORM" show --all "${db[@]}"
[ "$(grep -c '^session .* of run 1: leak' "$work/out")" -eq "$corrupt" ] || fail "show --all misses some"

# The bytes: what is shown is what is stored, and the request goes out again.
status 0 "$TOOLSTORM" show 1 "$first" --raw "${db[@]}"
grep -q '^+ .* ms .* data: ' "$work/out" || fail "no bytes with times"
status 0 "$TOOLSTORM" show 1 "$first" --curl "${db[@]}"
bash "$work/out" >"$work/answer" || fail "the printed command fails"
grep -q '^data: \[DONE\]' "$work/answer" || fail "the printed command brings no stream"

# One set of figures, whoever prints it.
status 1 "$TOOLSTORM" run --quiet --base-url "$url" --sessions 12 --concurrency 4 --context 300 \
    --output json "${db[@]}"
cp "$work/out" "$work/run.json"
status 0 "$TOOLSTORM" query summary --run 2 --output json "${db[@]}"
cmp "$work/out" "$work/run.json" || fail "run and query print different figures"
status 0 "$TOOLSTORM" list --output json "${db[@]}"
python3 - "$work/out" "$work/run.json" <<'PY' || fail "list and summary differ"
import json, sys
runs = json.load(open(sys.argv[1]))["runs"]
counts = json.load(open(sys.argv[2]))["counts"]
assert len(runs) == 2 and runs[0]["label"] == "first" and runs[0]["tags"] == {"graph": "on"}
for key in ("corrupted", "judged", "rate", "low", "bound", "text"):
    assert runs[1][key] == counts[key], key
PY

# Any statement, in three forms; none can write.
status 0 "$TOOLSTORM" query --sql 'SELECT run, session, class FROM sessions' --output csv "${db[@]}"
{ echo run,session,class; sql "$work/x.db" 'SELECT run, session, class FROM sessions' | tr '|' ','; } |
    cmp - "$work/out" || fail "CSV differs from the database"
status 2 "$TOOLSTORM" query --sql 'DELETE FROM sessions' "${db[@]}"
says "may only read"
for sql in 'PRAGMA journal_mode=DELETE' 'PRAGMA wal_checkpoint' 'BEGIN' "ATTACH '$work/a.db' AS a" VACUUM \
    "VACUUM INTO '$work/a.db'" 'CREATE TEMP TABLE x (a)'; do
    status 2 "$TOOLSTORM" query --sql "$sql" "${db[@]}"
    says 'may only read'
done
[ ! -e "$work/a.db" ] || fail "a statement wrote a file"
status 2 "$TOOLSTORM" query --sql 'SELECT 1; SELECT 2' "${db[@]}"
says "one statement at a time"
status 0 "$TOOLSTORM" query --functions
grep -q '^fisher_midp(x1, n1, x2, n2)' "$work/out" || fail "a function is not listed"
status 0 "$TOOLSTORM" list --tag graph=on "${db[@]}"
[ "$(grep -c '^ *[0-9]' "$work/out")" -eq 1 ] || fail "the tag filter does not filter"
status 2 "$TOOLSTORM" list --reason leak.nosuch "${db[@]}"
says "leak.markup_args"

# A foreign literal names its owner, the owner's round, and whether both ran at one time.
status 1 "$TOOLSTORM" run --quiet --sessions 40 --concurrency 20 --context 200 --sim-ttft 5ms \
    --fault leak.foreign=0.3 --db "$work/foreign.db"
status 0 "$TOOLSTORM" show --reason leak.foreign --db "$work/foreign.db"
tr '\n' ' ' <"$work/out" | tr -s ' ' |
    grep -qE 'belongs to session [0-9]+ \(its (opening|round [0-9]+)\), which (ran|did not run) at the same time' ||
    { cat "$work/out" >&2; fail "the owner of a foreign literal is not named"; }
[ "$(sql "$work/foreign.db" "SELECT count(*) FROM findings WHERE reason = 'leak.foreign' AND
    (owner_session IS NULL OR owner_session = 0 OR owner_session = session)")" = 0 ] || fail "an owner is wrong"
