#!/usr/bin/env bash
# What `run` stored is what the endpoint did, session by session, at concurrency 1 and 200.
# labels: threads
set -euo pipefail
. "$(dirname "$0")/lib.sh"

# compare NAME FLAGS...: runs with a ledger; stored damaged sessions and ledger must be the same.
compare() {
    local name=$1
    shift
    status 1 "$TOOLSTORM" run --quiet --sim-ttft 5ms --sim-itl 1ms --context 300 --rounds 3 \
        --db "$work/$name.db" --ledger "$work/$name.jsonl" "$@"
    jq -r '"\(.session)|\(.round)|\(.reason)"' "$work/$name.jsonl" | sort -n >"$work/want"
    sql "$work/$name.db" "SELECT session, first_bad_round, reason FROM sessions
                          WHERE class <> 'ok' ORDER BY session" | sort -n >"$work/got"
    [ -s "$work/want" ] || fail "$name: nothing was damaged"
    diff "$work/want" "$work/got" >&2 || fail "$name: ledger and store differ"
}

compare one --sessions 60 --concurrency 1 --fault leak.markup=0.15
compare crowd --sessions 800 --concurrency 200 --fault 'leak.markup=0.15@inflight>1'
compare mixed --sessions 800 --concurrency 200 --fault leak.value=0.05 --fault leak.call_json=0.05 \
    --fault no_tool.prose=0.05 --fault error.cut=0.05 --fault leak.foreign=0.05 --fault error.http=0.02
compare whole --sessions 400 --concurrency 100 --no-stream --fault leak.markup=0.1 \
    --fault no_tool.empty=0.05 --fault leak.call_schema=0.05

# The first line of the summary names exactly the ledger's count.
status 1 "$TOOLSTORM" run --quiet --sessions 40 --concurrency 40 --rounds 3 --db "$work/a.db" \
    --ledger "$work/a.jsonl" --fault leak.markup=0.15
n=$(wc -l <"$work/a.jsonl")
grep -qE "^CORRUPTION sessions: $n/40 = [0-9.]+%  \(leak=$n no_tool=0 error=0 ok=$((40 - n))\)$" "$work/out" ||
    { cat "$work/out" >&2; fail "summary does not say $n/40"; }

# Without faults nothing is found.
status 0 "$TOOLSTORM" run --quiet --sessions 40 --concurrency 40 --rounds 3 --db "$work/b.db"
grep -qF 'CORRUPTION sessions: 0/40 = 0%  (leak=0 no_tool=0 error=0 ok=40)' "$work/out" ||
    { cat "$work/out" >&2; fail "a clean run is not clean"; }
