#!/usr/bin/env bash
# A run that is killed or interrupted, and gone on with, has the rows of one that was left in peace.
# labels: threads
set -euo pipefail
. "$(dirname "$0")/lib.sh"

options=(--quiet --sessions 200 --concurrency 5 --rounds 3 --context 200 --seed 9 --label again
    --sim-ttft 8ms --sim-itl 1ms --warmup 4 --fault leak.markup=0.1 --fault leak.value=0.1
    --fault no_tool.prose=0.1 --fault error.cut=0.05)

rows() {
    sql "$1" "SELECT s.session, s.start_order, s.warmup, s.class, s.reason, s.first_bad_round,
            s.rounds_played, s.canary, r.round, r.class, r.reason, r.finish, f.reason, f.offset
        FROM sessions s JOIN rounds r USING (run, session)
        LEFT JOIN findings f USING (run, session, round) ORDER BY 1, 9, 13, 14"
}
ledger() { jq -r '"\(.session)|\(.round)|\(.reason)"' "$1" | sort -u; }

# begin DB: a run in the background.
begin() {
    "$TOOLSTORM" run "${options[@]}" --db "$1" --ledger "$1.jsonl" >"$work/run.out" 2>"$work/run.err" &
    pid=$!
    pids+=("$pid")
}
# wait_for_sessions DB N
wait_for_sessions() {
    for _ in $(seq 1200); do
        [ "$(sql "$1" 'SELECT count(*) FROM sessions' 2>/dev/null || echo 0)" -ge "$2" ] && return
        pause
    done
    fail "no $2 sessions came"
}
# stop SIGNAL: ends it and waits.
stop() {
    kill -"$1" "$pid"
    wait "$pid" 2>/dev/null || true
}

status 1 "$TOOLSTORM" run "${options[@]}" --db "$work/peace.db" --ledger "$work/peace.jsonl"
head -n 2 "$work/out" >"$work/want.head"
rows "$work/peace.db" >"$work/want"
ledger "$work/peace.jsonl" >"$work/want.ledger"

# Killed twice, wherever it may be then, and interrupted once.
db=$work/killed.db
begin "$db"
wait_for_sessions "$db" $((RANDOM % 20 + 1))
stop KILL
for signal in KILL INT; do
    n=$(sql "$db" 'SELECT count(*) FROM sessions')
    options+=(--resume)
    begin "$db"
    unset 'options[-1]'
    wait_for_sessions "$db" $((n + RANDOM % 20 + 1))
    stop "$signal"
done
stored=$(sql "$db" 'SELECT count(*) FROM sessions')
[ "$stored" -lt 204 ] || fail "it was over before it was stopped"
[ "$(sql "$db" 'SELECT status FROM runs')" = interrupted ] || fail "not interrupted"
cpu=$(sql "$db" 'SELECT cpu_us IS NULL FROM runs')
[ "$cpu" = 1 ] || fail "the CPU time of a killed part is made up"
status 1 "$TOOLSTORM" run "${options[@]}" --resume --db "$db" --ledger "$db.jsonl"
head -n 2 "$work/out" | diff "$work/want.head" - >&2 || fail "the summary is another"
grep -qF "resumed (3): at " "$work/out" || { cat "$work/out" >&2; fail "nothing says that it was resumed"; }
tr -s '\n ' ' ' <"$work/out" | grep -qF "when $stored of 204 sessions were stored and the run had been interrupted" ||
    { cat "$work/out" >&2; fail "not when it was resumed"; }
rows "$db" | diff "$work/want" - >&2 || fail "rows of the resumed run"
ledger "$db.jsonl" | diff "$work/want.ledger" - >&2 || fail "the endpoint did something else"
[ "$(sql "$db" 'SELECT count(*) || status FROM runs')" = 1done ] || fail "it is not one run that is done"
[ "$(sql "$db" 'SELECT count(*) FROM run_facts')" = 3 ] || fail "facts"
# Its time is what was played, part behind part.
[ "$(sql "$db" 'SELECT max(end_us) <= wall_us AND min(start_us) >= 0 FROM sessions JOIN runs USING (run)')" = 1 ] ||
    fail "sessions lie outside the time that the run took"
[ "$(sql "$db" 'SELECT count(DISTINCT start_order) FROM sessions')" = 204 ] || fail "places"

# Once more: nothing is left, and nothing changes.
sql "$db" .dump >"$work/before"
status 1 "$TOOLSTORM" run "${options[@]}" --resume --db "$db"
head -n 2 "$work/out" | diff "$work/want.head" - >&2 || fail "the summary of a run that was over"
sql "$db" .dump | diff "$work/before" - >&2 || fail "a run that was over was changed"

# Other options are refused by name; nothing is written.
refused() {
    local text=$1
    shift
    status 2 "$TOOLSTORM" run "${options[@]}" --resume --db "$db" "$@"
    says "$text"
}
refused "'--seed 8': run 1 was begun with '--seed 9'" --seed 8
refused "'--tag a=b': run 1 was begun without it" --tag a=b
echo '[{"role":"user","content":"hello"}]' >"$work/h.json"
refused "'--history $work/h.json': run 1 was begun without it" --history "$work/h.json"
refused "there is no run with label 'other' in '$db' to go on with" --label other
refused "there is no run with label 'again' and shard 1/2 in '$db' to go on with" --shard 1/2
sql "$db" .dump | diff "$work/before" - >&2 || fail "a refusal changed something"
status 2 "$TOOLSTORM" run --quiet --resume --db "$work/nothing.db"
says "cannot open database '$work/nothing.db'"
[ ! -e "$work/nothing.db" ] || fail "a database was made"

# A run that may be going on is left alone.
begin "$work/live.db"
wait_for_sessions "$work/live.db" 1
kill -STOP "$pid"
rc=0
"$TOOLSTORM" run "${options[@]}" --resume --db "$work/live.db" >"$work/out" 2>"$work/err" || rc=$?
kill -CONT "$pid"
wait "$pid" || true
[ "$rc" = 5 ] || fail "status $rc, want 5: a run that is going on"
says "run 1 may be going on"
rows "$work/live.db" | diff "$work/want" - >&2 || fail "the run that was going on was disturbed"

# A sequential test counts what was stored, and ends where it would have ended.
options=(--quiet --sessions 120 --concurrency 4 --rounds 2 --context 100 --seed 3 --sim-ttft 5ms
    --sim-itl 1ms --until decided --fault leak.markup=0.05)
rc=0
"$TOOLSTORM" run "${options[@]}" --db "$work/whole.db" >"$work/out" 2>"$work/err" || rc=$?
db=$work/decided.db
begin "$db"
wait_for_sessions "$db" 8
stop KILL
status "$rc" "$TOOLSTORM" run "${options[@]}" --resume --db "$db"
fact="SELECT value FROM run_facts WHERE key = 'sequential test'"
[ "$(sql "$db" "$fact")" = "$(sql "$work/whole.db" "$fact")" ] || fail "the test came to something else"
status "$rc" "$TOOLSTORM" run "${options[@]}" --resume --db "$db"
