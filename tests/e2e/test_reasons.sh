#!/usr/bin/env bash
# Every reason that the simulated endpoint can produce is found and named right, alone and mixed, at
# concurrency 1 and 64, streamed and whole: ledger and store agree to the reason.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

limits=(--ttft-timeout 1s --idle-timeout 400ms --timeout 3s)

# agree NAME FLAGS...: one run; what was done to each session is what was stored.
try() { (agree "$@") || echo "BAD $1"; }
agree() {
    local name=$1 rc=0
    shift
    rm -f "$work"/run.*
    "$TOOLSTORM" run --quiet --sim-ttft 1ms --sim-itl 0 --context 200 --max-errors 100% "${limits[@]}" \
        --db "$work/run.db" --ledger "$work/run.jsonl" "$@" >"$work/out" 2>"$work/err" </dev/null || rc=$?
    case $rc in 0|1|3) ;; *) cat "$work/err" >&2; fail "$name: status $rc" ;; esac
    touch "$work/run.jsonl"
    jq -r '"\(.session)|\(.round)|\(.reason)"' "$work/run.jsonl" | sort -n >"$work/want"
    sql "$work/run.db" "SELECT session, first_bad_round, reason FROM sessions
                        WHERE class <> 'ok' ORDER BY session" | sort -n >"$work/got"
    [ -s "$work/want" ] || fail "$name: nothing was damaged"
    diff "$work/want" "$work/got" >&2 || fail "$name: ledger (<) and store (>) differ"
}

reasons=$("$TOOLSTORM" help faults | sed -n 's/^  \([a-z_]*\.[a-z0-9_]*\)  *[a-zA-Z].*/\1/p' | sort -u)
[ "$(wc -l <<<"$reasons")" -ge 33 ] || fail "too few reasons: $reasons"
mixed=()
for reason in $reasons; do
    case $reason in
        leak.call_index|error.sse|error.cut) whole= ;; # streams alone
        *) whole=yes ;;
    esac
    try "$reason alone" --scenario parallel --rounds 3 --sessions 8 --concurrency 1 --fault "$reason=0.4" --seed 3
    try "$reason in a crowd" --scenario parallel --rounds 3 --sessions 64 --concurrency 64 --fault "$reason=0.3"
    if [ "$whole" ]; then
        try "$reason whole" --scenario parallel --rounds 3 --sessions 32 --concurrency 32 --no-stream \
            --fault "$reason=0.3"
    fi
    case $reason in
        no_tool.missing_calls) ;;
        *) try "$reason in a chain" --rounds 4 --sessions 32 --concurrency 32 --fault "$reason=0.3" ;;
    esac
    case $reason in
        error.stall|error.timeout|error.too_large) ;; # slow in numbers
        *) mixed+=(--fault "$reason=0.02") ;;
    esac
done
try "all mixed" --scenario parallel --rounds 3 --sessions 600 --concurrency 64 "${mixed[@]}"
try "all mixed, alone" --scenario parallel --rounds 3 --sessions 60 --concurrency 1 "${mixed[@]}"
try "all mixed, long payloads" --scenario payload --sessions 200 --concurrency 64 "${mixed[@]}"
try "all mixed, many tools" --scenario manytools --sessions 200 --concurrency 64 "${mixed[@]}"
