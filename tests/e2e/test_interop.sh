#!/usr/bin/env bash
# Servers and clients that are not ours: aimock is judged as its own ledger says, openai-mock-api as
# its prepared replies say, and the official OpenAI client and the AI SDK talk to the simulated
# endpoint.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
interop=$(dirname "$0")/interop
node=$("$interop/setup.sh")

start_sim
for client in openai aisdk; do
    timeout 60 "$node" "$interop/$client.mjs" "$url" >"$work/client" 2>&1 ||
        { cat "$work/client" >&2; fail "client $client"; }
done

# start_server NAME ARGUMENTS...: sets $url to the base URL of a server that is not ours.
start_server() {
    local name=$1
    shift
    mkfifo "$work/$name"
    "$node" "$interop/$name.mjs" "$@" >"$work/$name" 2>"$work/$name.err" &
    pids+=($!)
    IFS= read -r url <"$work/$name" || { cat "$work/$name.err" >&2; fail "$name did not start"; }
}

start_server aimock "$work/ledger"

# judge_aimock FLAGS...: one run; how aimock behaved, beside how it was judged, with counts.
judge_aimock() {
    rm -f "$work"/aimock.db*
    status 1 "$TOOLSTORM" run --quiet --base-url "$url" --model any --no-preflight --rounds 3 \
        --context 400 --sessions 60 --concurrency 12 --db "$work/aimock.db" "$@"
    jq -r '"\(.canary)|\(.kind)"' "$work/ledger" | sort >"$work/kinds"
    sql "$work/aimock.db" "SELECT canary, reason FROM sessions" | sort >"$work/reasons"
    [ "$(wc -l <"$work/reasons")" -eq 60 ] || fail "sessions are missing"
    join -t '|' "$work/kinds" "$work/reasons" | cut -d'|' -f2,3 | sort | uniq -c | sed 's/^ *//'
}

# What a cut looks like depends on the form: aimock ends a whole body early too.
judge_aimock >"$work/table"
diff - "$work/table" >&2 <<'TXT' || fail "aimock, streamed, is not judged as it behaved"
6 altered|leak.value
6 cut|error.cut
6 http500|error.http
6 markup|leak.markup
6 prose|no_tool.prose
30 right|ok.done
TXT
judge_aimock --seed 2 --no-stream >"$work/table"
grep -v '^6 cut' "$work/table" | diff - <(cat <<'TXT'
6 altered|leak.value
6 http500|error.http
6 markup|leak.markup
6 prose|no_tool.prose
30 right|ok.done
TXT
) >&2 || fail "aimock, whole, is not judged as it behaved"

start_server openai-mock-api
export MOCK_KEY=interop

# judge_prepared FLAGS...: one run; what each mark was answered with, and how that was judged. Says
# which pairs occur, not how often: the marks are drawn.
judge_prepared() {
    rm -f "$work"/prepared.db*
    status 1 "$TOOLSTORM" run --quiet --base-url "$url" --api-key-env MOCK_KEY --model any \
        --no-preflight --strict --scenario "$(dirname "$0")/../data/scenario-gauges.json" \
        --sessions 80 --concurrency 16 --max-errors 60% --db "$work/prepared.db" "$@"
    [ "$(sql "$work/prepared.db" "SELECT count(*) FROM sessions")" -eq 80 ] || fail "sessions are missing"
    sql "$work/prepared.db" "SELECT DISTINCT CASE
            WHEN canary GLOB '[0-9]*' THEN 'right' WHEN canary GLOB '[A-D]*' THEN 'indexed'
            WHEN canary GLOB '[E-H]*' THEN 'altered' WHEN canary GLOB '[J-N]*' THEN 'markup'
            WHEN canary GLOB '[P-S]*' THEN 'prose' ELSE 'unknown' END, round, r.reason, r.status, quirks
        FROM rounds r JOIN sessions USING (run, session)" | LC_ALL=C sort
}

# The second call of a turn has no index in its chunk: it must not be taken for more of the first.
judge_prepared >"$work/table"
diff - "$work/table" >&2 <<'TXT' || fail "openai-mock-api, streamed, is not judged as it behaved"
altered|1|leak.value|200|finish_stop_with_calls missing_index no_usage odd_content_type whole_call_chunk
indexed|1|ok.done|200|finish_stop_with_calls no_usage odd_content_type whole_call_chunk
indexed|2|ok.done|200|no_usage odd_content_type
markup|1|leak.markup|200|no_usage odd_content_type
prose|1|no_tool.prose|200|no_usage odd_content_type
right|1|ok.done|200|finish_stop_with_calls missing_index no_usage odd_content_type whole_call_chunk
right|2|ok.done|200|no_usage odd_content_type
unknown|1|error.http|400|
TXT
judge_prepared --no-stream >"$work/table"
diff - "$work/table" >&2 <<'TXT' || fail "openai-mock-api, whole, is not judged as it behaved"
altered|1|leak.value|200|finish_stop_with_calls
indexed|1|ok.done|200|finish_stop_with_calls
indexed|2|ok.done|200|
markup|1|leak.markup|200|
prose|1|no_tool.prose|200|
right|1|ok.done|200|finish_stop_with_calls
right|2|ok.done|200|
unknown|1|error.http|400|
TXT
