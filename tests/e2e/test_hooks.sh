#!/usr/bin/env bash
# Hooks that fail, hang, lie or print nonsense: the start is marked, the sweep goes on or stops as told,
# what the hook said is kept, and nothing is left running.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/sweep_lib.sh"

# hook.sh ACTION: the simulated endpoint's hook, after what $work/before.sh does.
cat >"$work/hook.sh" <<SH
#!/usr/bin/env bash
set -euo pipefail
action=\$1
. "$work/before.sh"
exec "$hooks/simulated.sh" "\$action"
SH
chmod +x "$work/hook.sh"
plan() {
    cat >"$work/$1.json" <<JSON
{"name": "$1", "hook": "./hook.sh", "blocks": 1, "factors": {"graph": ["on", "off"], "idxk": ["bf16", "fp8"]},
 "limits": {"apply": 20, "collect": 1, "stop": 20, "ready": 1},
 "run": {"sessions": 4, "rounds": 1, "context": 0, "concurrency": 2} ${2-}}
JSON
}
starts() { sql "$db" "SELECT group_concat(state, ' ') FROM (SELECT * FROM sweep_starts ORDER BY start)"; }
# sweep STATUS NAME [ARGUMENTS...]
sweep() {
    local want=$1 name=$2
    shift 2
    db=$work/$name.db
    status "$want" "$TOOLSTORM" sweep --quiet --db "$db" "$@" "$work/$name.json"
    no_server
}
expect_starts() { [ "$(starts)" = "$1" ] || { cat "$work/err" >&2; fail "starts are: $(starts); want: $1"; }; }

# A good hook, for comparison. Nothing corrupts: 4.
: >"$work/before.sh"
plan good
sweep 4 good
expect_starts 'done done done done'

# apply fails for one configuration.
cat >"$work/before.sh" <<'SH'
if [ "$action" = apply ] && [ "$TOOLSTORM_FACTOR_GRAPH$TOOLSTORM_FACTOR_IDXK" = onfp8 ]; then
    echo "cannot allocate: out of memory" >&2
    exit 7
fi
SH
plan failing
sweep 3 failing
case "$(starts)" in *failed) ;; *) fail "did not stop at the failure: $(starts)" ;; esac
grep -qF 'the hook'"'"'s apply: exit status 7; it said: cannot allocate: out of memory' "$work/err" || { cat "$work/err" >&2; fail "message"; }
plan failing2 ', "on_hook_failure": "go-on"'
sweep 3 failing2
[ "$(starts | tr ' ' '\n' | sort | uniq -c | tr -s ' ' | paste -sd,)" = " 3 done, 1 failed" ] || fail "$(starts)"
[ "$(sql "$db" "SELECT CAST(output AS TEXT) FROM hook_calls WHERE failed")" = "cannot allocate: out of memory" ] || fail "output kept"
grep -qF 'not played' "$work/out" || { cat "$work/out" >&2; fail "the failed cell is not in the table"; }
grep -qF 'out of memory' "$work/out" || fail "the result does not say why"
# The option goes before the plan's word; a cured hook fills the gap.
sweep 3 failing2 --on-hook-failure stop
: >"$work/before.sh"
sweep 4 failing2 --resume
[ "$(sql "$db" "SELECT count(DISTINCT place) FROM sweep_starts WHERE state = 'done' AND sweep = 2")" = 4 ] || fail "not filled"

# collect hangs, with a child that would outlive it: both are ended after the limit.
cat >"$work/before.sh" <<SH
if [ "\$action" = collect ] && [ "\$TOOLSTORM_FACTOR_GRAPH" = off ]; then
    tail -f /dev/null --pid=$$ &
    echo \$! >>"$work/hanging"
    wait
fi
SH
plan hanging ', "on_hook_failure": "go-on"'
sweep 3 hanging
[ "$(sql "$db" "SELECT count(*) FROM hook_calls WHERE failed AND end = 'took longer than 1 s'")" = 2 ] || fail "hanging"
while read -r child; do
    wait_until "the end of the hook's child" gone "$child"
done <"$work/hanging"

# collect says that something else is in force: the cell is refused and no session played.
cat >"$work/before.sh" <<'SH'
if [ "$action" = collect ]; then
    echo "idxk=bf16"
    exit 0
fi
SH
plan lying ', "on_hook_failure": "go-on"'
sweep 3 lying
[ "$(sql "$db" "SELECT count(*) FROM sweep_starts WHERE state = 'refused' AND run IS NULL
    AND detail = 'idxk=bf16 is in force, idxk=fp8 was asked for'")" = 2 ] || fail "lies"
# What it did not name is said to be unverified.
[ "$(sql "$db" "SELECT count(*) FROM sweep_starts WHERE state = 'done' AND detail = 'not verified: graph'")" = 2 ] ||
    fail "unverified"
grep -qF 'not verified: graph' "$work/out" || fail "the result does not say what was not verified"

# A server that never gets ready.
cat >"$work/before.sh" <<'SH'
if [ "$action" = apply ]; then
    echo "base_url=http://127.0.0.1:9/v1"
    exit 0
fi
SH
plan unready
sweep 3 unready
expect_starts failed
grep -qF 'not ready: ' "$work/err" || { cat "$work/err" >&2; fail "not ready"; }

# An address that is none.
sed -i 's|http://127.0.0.1:9/v1|nonsense://x|' "$work/before.sh"
plan nonsense
sweep 3 nonsense
expect_starts failed
grep -qF 'the base_url that the hook printed' "$work/err" || { cat "$work/err" >&2; fail "address"; }

# stop fails: the run counts, and the sweep stops, for the server may still be there.
cat >"$work/before.sh" <<'SH'
if [ "$action" = stop ]; then
    "$TOOLSTORM" --version >/dev/null
    [ ! -s "$SIM_STATE/pid" ] || "${BASH_SOURCE[1]%/*}/real-stop.sh"
    exit 5
fi
SH
printf '#!/bin/sh\nexec "%s/simulated.sh" stop\n' "$hooks" >"$work/real-stop.sh"
chmod +x "$work/real-stop.sh"
plan unstopped
sweep 3 unstopped
expect_starts 'done'
grep -qF "the hook's stop: exit status 5" "$work/err" || { cat "$work/err" >&2; fail "stop"; }

# No such hook, or one that may not be run: a usage error at once.
: >"$work/before.sh"
plan missing
sed -i 's|./hook.sh|./no-such-hook.sh|' "$work/missing.json"
sweep 2 missing
says "no-such-hook.sh': No such file"
chmod -x "$work/hook.sh"
plan forbidden
sweep 2 forbidden
says "Permission denied"
chmod +x "$work/hook.sh"

# All sessions end in errors: nothing can be judged, and that is no clean cell.
cat >"$work/before.sh" <<'SH'
[ "$TOOLSTORM_FACTOR_GRAPH" = on ] || export SIM_FAULTS='error.http=1@request>3,every'
SH
plan errors ', "on_hook_failure": "go-on"'
sweep 3 errors
[ "$(sql "$db" "SELECT count(*) FROM sweep_starts WHERE state = 'failed' AND detail LIKE 'no session could be judged%'")" = 2 ] ||
    { starts; cat "$work/err" >&2; fail "errors"; }

# What a hook sees.
cat >"$work/before.sh" <<SH
env | grep '^TOOLSTORM_' | sort >"$work/seen.\$action"
SH
cat >"$work/seen.json" <<'JSON'
{"name": "seen", "hook": "./hook.sh", "blocks": 1, "endpoint": "http://127.0.0.1:9",
 "factors": {"graph": ["on"], "Chunked-Prefill.size": [512], "concurrency": [3]},
 "run": {"sessions": 3, "rounds": 1, "context": 0}}
JSON
sweep 4 seen
for line in TOOLSTORM_FACTOR_GRAPH=on TOOLSTORM_FACTOR_CHUNKED_PREFILL_SIZE=512 TOOLSTORM_FACTOR_CONCURRENCY=3 \
    TOOLSTORM_BOOT=seen-1-1 TOOLSTORM_BLOCK=1 TOOLSTORM_SWEEP=seen TOOLSTORM_CLIENT_FACTORS=CONCURRENCY \
    TOOLSTORM_ENDPOINT=http://127.0.0.1:9; do
    grep -qxF "$line" "$work/seen.apply" || { cat "$work/seen.apply" >&2; fail "not seen: $line"; }
done
[ "$(sql "$db" 'SELECT concurrency FROM runs')" = 3 ] || fail "the factor did not set the option"

# Without a hook: factors that are options of run, against one running endpoint.
start_sim --ttft 5ms
echo '{"factors": {"rounds": [1, 2], "stream": ["on", "off"]}, "blocks": 1}' >"$work/plain.json"
sweep 4 plain
db=$work/plain2.db
status 4 "$TOOLSTORM" sweep --quiet --db "$db" "$work/plain.json" -- --base-url "$url" --sessions 5 --context 0
[ "$(sql "$db" "SELECT group_concat(rounds || stream, ' ') FROM (SELECT * FROM runs ORDER BY rounds, stream)")" = '10 11 20 21' ] ||
    fail "options as factors"
grep -qF 'no hook restarted the server' "$work/out" || fail "one server"
[ "$(sql "$db" "SELECT count(*) FROM run_tags WHERE key = 'boot'")" = 0 ] || fail "a boot that nobody knows"
[ "$(sql "$work/plain.db" "SELECT count(DISTINCT value) FROM run_tags WHERE key = 'boot'")" = 4 ] || fail "built-in boots"

# Cells that can't be compared are shown all the same: the server names another model for one of them.
cat >"$work/before.sh" <<'SH'
[ "$TOOLSTORM_FACTOR_GRAPH" = on ] || export SIM_OPTIONS='--model another'
SH
plan unlike
sweep 4 unlike
grep -qF "no cell was compared with the baseline: unlike runs: 'model'" "$work/out" || { cat "$work/out" >&2; fail "unlike"; }
