#!/usr/bin/env bash
# Sessions that begin with the same long text keep it once: what they send, what becomes of them and
# what is stored are as if each had its own.
# labels: threads
set -euo pipefail
. "$(dirname "$0")/lib.sh"
scenarios=$(dirname "$0")/../../scenarios

jq '.name = "shared" | .context.shared = true' "$scenarios/chain.json" >"$work/shared.json"
jq -nc '{request: {messages: [range(1500) | {role: (if . % 2 == 0 then "user" else "assistant" end),
    content: "What was said as number \(.): \"ja\", nein, доброе."}]}}' >"$work/captured.json"
faults=(--fault leak.markup=0.15 --fault leak.value=0.15 --fault no_tool.prose=0.1 --fault error.cut=0.1
    --fault error.http=0.1)

# requests NAME: lines [session, round, form, request], as stored.
requests() {
    "$TOOLSTORM" query --db "$work/$1.db" --output json --sql "
        SELECT session, round, part, CAST(inflate(data, deflated) AS TEXT) AS text FROM evidence
        WHERE part IN ('request', 'twin.request') ORDER BY session, round, part" |
        jq -c '.[]' >"$work/$1.requests"
}

# ledger NAME: it agrees with the store.
ledger() {
    jq -r '"\(.session)|\(.round)|\(.reason)"' "$work/$1.jsonl" | sort -n >"$work/want"
    sql "$work/$1.db" "SELECT session, first_bad_round, reason FROM sessions
                       WHERE class <> 'ok' ORDER BY session" | sort -n >"$work/got"
    [ "$(cut -d'|' -f3 "$work/got" | sort -u | wc -l)" -eq 5 ] || fail "$1: too few kinds of damage"
    diff "$work/want" "$work/got" >&2 || fail "$1: ledger and store differ"
}

# play NAME FLAGS...: every request holds what it should.
play() {
    local name=$1 session
    shift
    status 1 "$TOOLSTORM" run --quiet --sessions 60 --concurrency 20 --rounds 3 --context 30000 --seed 6 \
        --keep all --sim-itl 0 --max-errors 1 --db "$work/$name.db" --ledger "$work/$name.jsonl" "${faults[@]}" "$@"
    requests "$name"
    [ "$(jq -s 'map(select(.part == "request")) | length' "$work/$name.requests")" = \
        "$(sql "$work/$name.db" 'SELECT count(*) FROM rounds')" ] || fail "$name: not all requests were kept"
    # 64 KB in common are the least that is kept once.
    jq -se 'map(.text[:65536]) | unique | length == 1 and (.[0] | length == 65536)' "$work/$name.requests" \
        >"$work/out" || fail "$name: too little in common"
    # A round's messages begin with those of the round before, byte for byte.
    jq -se 'map(select(.part == "request") | {session, at: .text | split("],\"tools\":")[0]})
        | group_by(.session) | all(.[]; . as $s | all(range(1; length); . as $i | $s[$i].at | startswith($s[$i - 1].at)))' \
        "$work/$name.requests" >"$work/out" || fail "$name: a history changed on its way"
    # What is printed for a session alone is written in one piece.
    for session in 1 2 31 60; do
        "$TOOLSTORM" run --dry-run --model sim-1 --sessions 60 --rounds 3 --context 30000 --seed 6 --only "$session" "$@" |
            jq -c . >"$work/alone"
        jq -rs --argjson s "$session" 'map(select(.session == $s and .round == 1 and .part == "request"))[0].text' \
            "$work/$name.requests" | jq -c . | cmp "$work/alone" - >&2 || fail "$name: session $session sent other bytes"
    done
}

play context --scenario "$work/shared.json"
ledger context
play threads --scenario "$work/shared.json" --threads 4
ledger threads
cmp "$work/context.requests" "$work/threads.requests" >&2 || fail "more threads send other requests"
play whole --scenario "$work/shared.json" --no-stream
ledger whole
play history --history "$work/captured.json"
ledger history
jq -se 'all(.[]; .text | contains("What was said as number 1499: \\\"ja\\\", nein, доброе."))' \
    "$work/history.requests" >"$work/out" || fail "the captured conversation is not in every request"

# A twin's request is its round's in the other form.
play twin --scenario "$work/shared.json" --twin
jq -se 'group_by([.session, .round]) | length > 60 and all(.[]; length == 2 and
    (map(.text | fromjson | del(.stream, .stream_options)) | .[0] == .[1]) and
    (map(.text | fromjson | .stream) | sort == [false, true]))' "$work/twin.requests" >"$work/out" ||
    fail "twins ask for something else"
