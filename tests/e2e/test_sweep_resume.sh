#!/usr/bin/env bash
# A sweep that is killed in every state of a start, and gone on with, has the same rows in the end as
# one that was left in peace; no boot is mixed, no server is left.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/sweep_lib.sh"

# What is hit depends on the settings alone: one name for all boots, no condition on load.
export SIM_BOOT=same SIM_FAULTS='leak.markup=0.4@factor.graph=on
no_tool.prose=0.1'

# The hook stops at a gate where the test wants it to.
cat >"$work/hook.sh" <<SH
#!/usr/bin/env bash
set -euo pipefail
if [ -e "$work/gate.\$1" ]; then
    echo \$\$ >"$work/at.tmp"
    mv "$work/at.tmp" "$work/at.\$1"
    while [ -e "$work/gate.\$1" ]; do read -rt 0.02 <> <(:) || true; done
fi
exec "$hooks/simulated.sh" "\$@"
SH
chmod +x "$work/hook.sh"
cat >"$work/plan.json" <<JSON
{"name": "again", "hook": "$work/hook.sh", "blocks": 2,
 "factors": {"graph": ["on", "off"], "idxk": ["bf16", "fp8"]},
 "run": {"sessions": 30, "rounds": 2, "context": 200, "concurrency": 8, "warmup": 3}}
JSON

rows() {
    sql "$1" "SELECT place, block, cell, session, class, reason, first_bad_round, warmup
        FROM sweep_starts JOIN sessions USING (run) WHERE state = 'done' ORDER BY place, session"
}
summary() { "$TOOLSTORM" sweep --resume --quiet --db "$1" --output md "$work/plan.json" | grep '^|'; }

# 1: the plan is right here; the sweep without any disturbance.
"$TOOLSTORM" sweep --quiet --db "$work/peace.db" "$work/plan.json" >"$work/out" 2>"$work/err" || true
[ "$(sql "$work/peace.db" "SELECT count(*) FROM sweep_starts WHERE state = 'done'")" = 8 ] || fail "undisturbed"
rows "$work/peace.db" >"$work/want"
[ "$(wc -l <"$work/want")" = 264 ] || fail "rows of the undisturbed sweep"
summary "$work/peace.db" >"$work/want.md"

db=$work/killed.db
begun='' last=0
go_on() {
    [ -z "$begun" ] || last=$(sql "$db" 'SELECT max(start) FROM sweep_starts')
    # shellcheck disable=SC2086 # nothing at the first time
    "$TOOLSTORM" sweep $begun --quiet --db "$db" "$work/plan.json" >"$work/out" 2>"$work/err" &
    pid=$!
    pids+=("$pid")
    begun=--resume
}
kill_it() {
    kill -KILL "$pid"
    wait "$pid" 2>/dev/null || true
}

# killed_in ACTION STATE: killed while the hook is in this action; the start's state is then as named.
killed_in() {
    local hook_pid
    wait_until "the hook's $1" test -e "$work/at.$1"
    kill_it
    hook_pid=$(cat "$work/at.$1")
    [ "$(sql "$db" 'SELECT state FROM sweep_starts ORDER BY start DESC LIMIT 1')" = "$2" ] ||
        fail "state while killed in $1"
    rm "$work/gate.$1" "$work/at.$1"
    wait_until "end of the hook" gone "$hook_pid"
}

touch "$work/gate.apply"
go_on
killed_in apply starting

# While it ends what the last kill left behind.
touch "$work/gate.stop"
go_on
killed_in stop starting

touch "$work/gate.collect"
go_on
killed_in collect starting

# When the run is over, and the server is being stopped.
touch "$work/gate.collect"
go_on
wait_until "the hook's collect" test -e "$work/at.collect"
touch "$work/gate.stop"
rm "$work/gate.collect" "$work/at.collect"
killed_in stop stopping

# Killed while sessions run.
playing() {
    [ "$(sql "$db" "SELECT count(*) FROM sweep_starts JOIN sessions USING (run)
        WHERE state = 'running' AND start > $last")" -ge "$1" ]
}
for many in 1 12; do
    SIM_OPTIONS='--ttft 150ms' go_on
    wait_until "sessions" playing "$many"
    kill_it
done

# Stopped by Ctrl-C while sessions run: the server is stopped, the status says so.
SIM_OPTIONS='--ttft 150ms' go_on
wait_until "sessions" playing 3
kill -INT "$pid"
rc=0
wait "$pid" || rc=$?
[ "$rc" = 130 ] || { cat "$work/err" >&2; fail "status $rc after SIGINT"; }
grep -qF 'the same command with --resume goes on' "$work/err" || fail "no word about going on"
no_server

# To the end.
go_on
wait "$pid" || true
rows "$db" >"$work/got"
cmp "$work/got" "$work/want" || fail "other rows than without kills"
summary "$db" >"$work/got.md"
cmp "$work/got.md" "$work/want.md" || fail "another result than without kills"
no_server

[ "$(sql "$db" "SELECT count(*) FROM sweep_starts WHERE state NOT IN ('done', 'abandoned', 'interrupted')")" = 0 ] ||
    fail "a start without an end"
[ "$(sql "$db" "SELECT count(*) FROM sweep_starts WHERE state = 'abandoned'")" = 4 ] || fail "abandoned starts"
[ "$(sql "$db" "SELECT count(*) FROM sweep_starts WHERE state = 'interrupted'")" = 1 ] || fail "interrupted starts"
[ "$(sql "$db" "SELECT count(*) FROM runs WHERE status = 'running'")" = 0 ] || fail "a run without an end"
[ "$(sql "$db" "SELECT count(*) FROM (SELECT value FROM run_tags WHERE key = 'boot' GROUP BY value HAVING count(*) > 1)")" = 0 ] ||
    fail "two runs on one boot"
[ "$(sqlite3 "$db" 'PRAGMA integrity_check')" = ok ] || fail "the database is broken"

# An isolation that is killed ends with the same steps, too.
cat >"$work/isolate.json" <<JSON
{"name": "again", "hook": "$work/hook.sh", "factors": {"graph": ["on", "off"], "idxk": ["bf16", "fp8"]},
 "run": {"rounds": 2, "context": 200, "concurrency": 8}}
JSON
export SIM_FAULTS='leak.markup=0.4@factor.graph=on'
steps() { sql "$1" "SELECT s.place, s.cell, s.step FROM sweep_starts s WHERE state = 'done' ORDER BY place"; }
status 0 "$TOOLSTORM" isolate --quiet --db "$work/peace2.db" "$work/isolate.json"
cp "$work/out" "$work/want"
db=$work/killed2.db
"$TOOLSTORM" isolate --quiet --db "$db" "$work/isolate.json" >"$work/out" 2>&1 &
pid=$!
pids+=("$pid")
done_steps() { [ "$(sql "$db" "SELECT count(*) FROM sweep_starts WHERE state = 'done'")" -ge 2 ]; }
wait_until "two steps" done_steps
kill_it
status 0 "$TOOLSTORM" isolate --resume --quiet --db "$db" "$work/isolate.json"
cmp "$work/out" "$work/want" || { diff "$work/out" "$work/want" >&2; fail "another search than without a kill"; }
[ "$(steps "$db")" = "$(steps "$work/peace2.db")" ] || fail "other steps than without a kill"
no_server
