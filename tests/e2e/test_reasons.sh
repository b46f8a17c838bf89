#!/usr/bin/env bash
# Every reason that the simulated endpoint can produce is found and named right, alone and mixed, at
# concurrency 1 and 64, streamed and whole: ledger and store agree to the reason.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

# limits NAME: time limits under which it shows, and nothing else does on a busy machine.
limits() {
    case $1 in
        error.stall*) echo --ttft-timeout 2s --idle-timeout 2s ;;
        error.timeout*) echo --timeout 2s ;;
    esac
}

# agree NAME FLAGS...: one run; what was done to each session is what was stored.
agree() {
    local name=$1 rc=0 bounds
    shift
    read -ra bounds <<<"$(limits "$name")"
    rm -f "$work"/run.*
    "$TOOLSTORM" run --quiet --sim-ttft 1ms --sim-itl 0 --context 200 --max-errors 100% "${bounds[@]}" \
        --db "$work/run.db" --ledger "$work/run.jsonl" "$@" >"$work/out" 2>"$work/err" </dev/null || rc=$?
    case $rc in 0|1|3|4) ;; *) cat "$work/err" >&2; fail "$name: status $rc" ;; esac
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
    # A repeated call needs a chain; a missing one needs several in one turn.
    scenarios=(chain parallel)
    case $reason in
        no_tool.repeat_call) scenarios=(chain) ;;
        no_tool.missing_calls) scenarios=(parallel) ;;
    esac
    for scenario in "${scenarios[@]}"; do
        same=(--scenario "$scenario" --rounds 4 --fault "$reason=0.4")
        agree "$reason alone, $scenario" "${same[@]}" --sessions 8 --concurrency 1 --seed 3
        agree "$reason in a crowd, $scenario" "${same[@]}" --sessions 64 --concurrency 64
        [ -z "$whole" ] ||
            agree "$reason whole, $scenario" "${same[@]}" --sessions 32 --concurrency 32 --no-stream
    done
    case $reason in
        error.stall|error.timeout|error.too_large) ;; # slow in numbers
        *) mixed+=(--fault "$reason=0.02") ;;
    esac
done
agree "all mixed" --scenario parallel --rounds 3 --sessions 600 --concurrency 64 "${mixed[@]}"
agree "all mixed, alone" --scenario parallel --rounds 3 --sessions 60 --concurrency 1 "${mixed[@]}"
agree "all mixed, a chain" --rounds 4 --sessions 600 --concurrency 64 "${mixed[@]}"
agree "all mixed, long payloads" --scenario payload --sessions 200 --concurrency 64 "${mixed[@]}"
agree "all mixed, many tools" --scenario manytools --sessions 200 --concurrency 64 "${mixed[@]}"

# Rules that can hit nothing are named before the run looks clean; the others are not.
idle() { # TEXT FLAGS...
    local text=$1
    shift
    status 0 "$TOOLSTORM" run --quiet --sessions 6 --concurrency 3 --db :memory: "$@"
    grep -qF "$text" "$work/err" || { cat "$work/err" >&2; fail "no warning: $*"; }
}
idle "it takes a reply in which several calls are due" --fault no_tool.missing_calls
idle "it takes a reply in which a call is due in a stream" --fault leak.call_index --no-stream
idle "it takes a reply in which the answer is a stream" --fault error.sse --no-stream
for condition in round=9 stream=0 'inflight>3' 'session>6' 'session%4=7' factor.idxk=bf16 'request>18'; do
    idle "'leak.markup@$condition' can hit nothing in this run: its conditions never hold" \
        --fault "leak.markup@$condition" --rounds 3
done
for rule in leak.markup@round=2 leak.markup@stream=1 'leak.markup@inflight>2' 'leak.markup@session=6' \
    leak.markup@factor.idxk=bf16 'leak.markup@request>17' leak.call_index leak.value leak.soup; do
    "$TOOLSTORM" run --quiet --sessions 6 --concurrency 3 --rounds 3 --db :memory: --tag idxk=bf16 --fault "$rule" \
        >"$work/out" 2>"$work/err" </dev/null || true
    if grep -q 'can hit nothing' "$work/err"; then fail "$rule: a warning for nothing"; fi
done

# Where no call may be made, one clean text is the whole session; a call is damage. Warm-up counts
# nowhere.
status 0 "$TOOLSTORM" run --quiet --sessions 6 --warmup 2 --concurrency 3 --tool-choice none --db "$work/none.db"
[ "$(sql "$work/none.db" "SELECT DISTINCT reason, rounds_played FROM sessions")" = "ok.done|1" ] ||
    fail "--tool-choice none: $(sql "$work/none.db" "SELECT reason, rounds_played FROM sessions")"
grep -qF ' 8 sessions of 3 rounds (2 of them to' "$work/out" || { cat "$work/out" >&2; fail "warm-up"; }
"$TOOLSTORM" list --db "$work/none.db" --output json | jq -e '.runs[0] | .sessions == 6 and .stored == 6' >/dev/null ||
    fail "list counts the warm-up"
status 1 "$TOOLSTORM" run --quiet --sessions 2 --tool-choice none --fault leak.call_extra --db "$work/extra.db"
[ "$(sql "$work/extra.db" "SELECT DISTINCT reason FROM sessions")" = "leak.call_extra" ] || fail "a call where none is allowed"
