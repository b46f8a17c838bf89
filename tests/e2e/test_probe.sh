#!/usr/bin/env bash
# wait and probe: endpoints that are ready, become ready, never will be, and are odd.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
here=$(dirname "$0")
soon=(--limit 300ms --every 20ms)

# start_odd FLAGS...: sets $url to the base URL of an endpoint with habits.
start_odd() {
    local fifo=$work/odd.$RANDOM
    mkfifo "$fifo"
    python3 "$here/odd_server.py" "$@" >"$fifo" 2>"$work/odd.err" &
    pids+=($!)
    IFS= read -r url <"$fifo" || { cat "$work/odd.err" >&2; fail "the odd server did not start"; }
}

# --- wrong usage

status 2 "$TOOLSTORM" wait
says "no endpoint: give --base-url or set OPENAI_BASE_URL"
status 2 "$TOOLSTORM" probe
says "no endpoint: give --base-url or set OPENAI_BASE_URL"
status 2 "$TOOLSTORM" wait --base-url http://x --limit soon
says "'--limit soon': expected a time"
status 2 "$TOOLSTORM" probe --base-url http://x --output yaml
says "expected one of text|json"
status 2 "$TOOLSTORM" wait now
says "'now': wait takes no operands"

# --- ready

start_sim
status 0 "$TOOLSTORM" wait --base-url "$url" --limit 60s
grep -qx "ready: sim-1 at ${url%/v1}" "$work/out" || fail "no word of being ready"
[ ! -s "$work/err" ] || fail "chatter although it was ready at once"
OPENAI_BASE_URL=$url status 0 "$TOOLSTORM" wait --limit 60s

# Not yet: the first answers say so; each reason is told once.
start_odd --busy 3
status 0 "$TOOLSTORM" wait --base-url "$url" --no-tool-call --limit 60s --every 20ms
says "waiting: endpoint '${url%/v1}' answers HTTP 503 on /health"
grep -qx "ready: odd at ${url%/v1}" "$work/out" || fail "not ready after the start"

# A port on which somebody listens only later.
start_sim
kill "$sim_pid"
wait "$sim_pid" 2>/dev/null || true
port=${url##*:}
"$TOOLSTORM" wait --base-url "$url" --limit 120s --every 20ms >"$work/late" 2>"$work/late.err" &
waiting=$!
for _ in $(seq 600); do [ -s "$work/late.err" ] && break; pause; done
grep -q "waiting: cannot reach endpoint" "$work/late.err" || fail "no word of waiting"
start_sim --port "${port%/v1}"
wait "$waiting" || { cat "$work/late.err" >&2; fail "not ready although the port opened"; }

# --- never ready

start_sim
kill "$sim_pid"
wait "$sim_pid" 2>/dev/null || true
dead=$url
status 3 "$TOOLSTORM" wait --quiet --base-url "$dead" "${soon[@]}"
says "cannot reach endpoint '${dead%/v1}'"
says "not ready after"
status 3 "$TOOLSTORM" probe --base-url "$dead"
says "cannot reach endpoint '${dead%/v1}'"

start_odd --html
for command in "wait --quiet ${soon[*]}" probe "run --db $work/odd.db"; do
    # shellcheck disable=SC2086
    status 3 "$TOOLSTORM" $command --base-url "$url"
    says "answers text/html for its models; is the base URL right?"
done
status 3 "$TOOLSTORM" wait --quiet --base-url "$url" --model m "${soon[@]}"
says "text/html"
status 3 "$TOOLSTORM" probe --base-url "$url" --model m
says "text/html"

# What came in the place of a list of models; with --model the list is not needed.
while read -r models words; do
    start_odd --models "$models"
    for command in "wait --quiet ${soon[*]}" probe "run --db $work/odd.db"; do
        # shellcheck disable=SC2086
        status 3 "$TOOLSTORM" $command --base-url "$url"
        says "$words"
    done
    for flag in --preflight --no-preflight; do
        status 1 "$TOOLSTORM" run --quiet --base-url "$url" --model m "$flag" --sessions 1 --db "$work/odd.db"
    done
done <<'END'
none answers HTTP 404 for its models; is the base URL right?
moved answers HTTP 302 (redirect to '/sign/in') for its models; is the base URL right?
empty lists no models; name one with --model
END
start_odd --models none
status 3 "$TOOLSTORM" run --base-url "${url}/v2" --db "$work/odd.db"
says "answers HTTP 404 for its models; is the base URL right?"
# A server that answers no question about itself costs seconds, not minutes.
start_odd --models slow
from=$SECONDS
status 1 "$TOOLSTORM" run --quiet --base-url "$url" --model m --sessions 1 --db "$work/odd.db"
[ $((SECONDS - from)) -le 8 ] || fail "questions about the server took $((SECONDS - from)) s"

export SIM_KEY=sk-right
start_sim --api-key-env SIM_KEY
export OPENAI_API_KEY=sk-very-secret
# A refused key is not waited for.
status 3 "$TOOLSTORM" wait --base-url "$url" --limit 60s
says "HTTP 401"
! grep -q "not ready after" "$work/err" || fail "a refused key was waited for"
status 3 "$TOOLSTORM" probe --base-url "$url"
says "HTTP 401"
! grep -q sk-very-secret "$work/err" "$work/out" || fail "the API key was printed"
OPENAI_API_KEY=sk-right status 0 "$TOOLSTORM" wait --base-url "$url" --limit 60s
unset OPENAI_API_KEY

start_sim --model real-model
status 3 "$TOOLSTORM" wait --quiet --base-url "$url" --model wrong-model "${soon[@]}"
says "wrong-model"

# It answers, but its tool calls are damaged, each time in the same way.
start_sim --fault 'leak.markup@round=1,every'
status 3 "$TOOLSTORM" wait --quiet --base-url "$url" "${soon[@]}"
says "not with a right tool call: leak.markup"
status 0 "$TOOLSTORM" wait --quiet --base-url "$url" "${soon[@]}" --no-tool-call

# Ctrl-C ends the waiting, and what a slow answer is waited for.
start_sim --ttft 60s
"$TOOLSTORM" wait --base-url "$url" --limit 1h >"$work/out" 2>"$work/err" &
waiting=$!
metrics() { curl -s "${url%/v1}/metrics" | sed -n 's/^toolstorm_sim_requests_in_flight //p'; }
for _ in $(seq 600); do [ "$(metrics)" = 1 ] && break; pause; done
kill -INT "$waiting"
rc=0
wait "$waiting" || rc=$?
[ "$rc" -eq 130 ] || fail "status $rc after SIGINT, want 130"
says "stopped waiting after"

# --- probe

start_sim --think
status 0 "$TOOLSTORM" probe --base-url "$url"
grep -qE '^server +toolstorm sim [0-9.]+$' "$work/out" || fail "the server is not named"
grep -qE '^  choice_named +yes +take_note' "$work/out" || fail "no row for tool_choice"
grep -qE '^  usage_only_chunk ' "$work/out" || fail "no quirk"
[ ! -s "$work/err" ] || fail "chatter where nobody watches"

start_odd
status 0 "$TOOLSTORM" probe --base-url "$url" --output json
jq -r '.features | to_entries[] | "\(.key) \(.value.answer)"' "$work/out" >"$work/answers"
diff - "$work/answers" >&2 <<'TXT' || fail "the odd server is not seen as it is"
completion yes
stream ignored
usage no
usage_in_stream no
reasoning yes
repeats no
tools yes
tools_in_stream yes
parallel_calls yes
choice_auto yes
choice_required refused
choice_none ignored
choice_named ignored
TXT
jq -e '.max_context == 4096 and .models == ["odd", "second"] and .server == null and
    (.quirks | index("json_for_sse") and index("reasoning_field")) and
    .features.reasoning.detail == "in `reasoning`"' "$work/out" >/dev/null ||
    { cat "$work/out" >&2; fail "wrong facts"; }
status 0 "$TOOLSTORM" probe --base-url "$url"
! grep -q $'\x1b' "$work/out" || fail "a server's control bytes reached the terminal"
