#!/usr/bin/env bash
# Damage that takes load, a prompt, or a server's cached state: replay tells them apart.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
db=$work/r.db
faults=(--fault 'leak.markup=0.1@inflight>4' --fault 'leak.value=0.1')

rc=0
"$TOOLSTORM" run --quiet --db "$db" --sessions 80 --concurrency 20 --rounds 3 --context 200 --keep all \
    --sim-ttft 120ms --sim-itl 0 "${faults[@]}" >"$work/out" 2>"$work/err" </dev/null || rc=$?
[ "$rc" -eq 1 ] || { cat "$work/err" >&2; fail "status $rc"; }
first() { sql "$db" "SELECT min(session) FROM sessions WHERE reason LIKE '$1'"; }

# expect CAUSE ALONE FRESH CROWD: the last answer, corrupted among judged each way. "all/12": on a
# machine that stands still for a moment one or two may have been sent when the crowd was not there.
expect() {
    jq -e --arg cause "$1" --arg counts "$2 $3 $4" \
        'def some($all): if . == null then "-"
             elif $all and .corrupted >= .judged - 2 then "all/\(.judged)"
             else "\(.corrupted)/\(.judged)" end;
         .cause == $cause and ([(.alone, .fresh | some(false)),
             (.crowd | some($counts | contains("all")))] | join(" ")) == $counts' "$work/out" >/dev/null ||
        { cat "$work/out" >&2; fail "want $*"; }
}

status 1 "$TOOLSTORM" replay 1 "$(first leak.markup)" --db "$db" --times 12 -o json
expect load 0/12 0/12 all/12
status 1 "$TOOLSTORM" replay 1 "$(first leak.value)" --db "$db" --times 12 -o json
expect prompt 12/12 12/12 12/12
status 0 "$TOOLSTORM" replay 1 "$(first ok.%)" --db "$db" --times 4 -o json
expect "not seen again" 0/4 0/4 0/4
status 0 "$TOOLSTORM" replay 1 "$(first leak.markup)" --db "$db" --times 4 --alone -o json
expect "not seen again" 0/4 0/4 -
# A crowd too small for the fault, and one that is large enough.
status 0 "$TOOLSTORM" replay 1 "$(first leak.markup)" --db "$db" --times 4 --crowd 2 -o json
expect "not seen again" - - 0/4
status 1 "$TOOLSTORM" replay 1 "$(first leak.markup)" --db "$db" --times 4 --crowd 10
grep -q 'crowd  [34]/4 = .*10 others in flight' "$work/out" || { cat "$work/out" >&2; fail "crowd of 10"; }

# A server with a damaged prefix in its cache: the very bytes that it has seen come back damaged.
start_sim "${faults[@]}"
cat >"$work/cache.py" <<'PY'
import http.server, sys, urllib.request
class Proxy(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        if b"(Copy " in body:
            request = urllib.request.Request(sys.argv[1] + "/chat/completions", body, {
                "content-type": "application/json",
                "x-toolstorm-session": self.headers["x-toolstorm-session"]})
            with urllib.request.urlopen(request) as answer:
                kind, text = answer.headers["content-type"], answer.read()
        else:
            kind, text = "text/event-stream", (b'data: {"choices":[{"index":0,"delta":{"content":'
                b'"<tool_call>{\\"name\\":"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n')
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
    def log_message(self, *args): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
print(f"http://127.0.0.1:{server.server_port}/v1", flush=True)
server.serve_forever()
PY
mkfifo "$work/proxy"
python3 "$work/cache.py" "$url" >"$work/proxy" 2>"$work/proxy.err" &
pids+=("$!")
IFS= read -r proxy <"$work/proxy" || fail "the proxy did not start"
status 1 "$TOOLSTORM" replay 1 "$(first leak.markup)" --db "$db" --times 12 --alone --base-url "$proxy" -o json
expect "poisoned cache state" 12/12 0/12 -

# Nobody there, nothing kept, nothing meant.
status 3 "$TOOLSTORM" replay 1 1 --db "$db" --times 2 --alone --base-url http://127.0.0.1:1/v1
grep -q 'not judged: error.connect' "$work/out" || fail "why nothing could be judged"
status 2 "$TOOLSTORM" replay 1 999 --db "$db"
says "run 1 has no session 999"
status 2 "$TOOLSTORM" replay 1 --db "$db"
says "replay needs a run and a session"
status 2 "$TOOLSTORM" replay 1 1 --db "$db" --round 9
says "for that round"

# A captured conversation begins every session: its bytes are sent, its tools are on offer, and the run
# can be staged again from what was stored.
cat >"$work/captured.jsonl" <<'JSON'
{"request":{"messages":[{"role":"user","content":"hello"}]}}
{"request":{"messages":[{"role":"system",  "content":"You are an agent {{x}}."},{"role":"user","content":"list"},{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{\"path\": \".\"}"}}]},{"role":"tool","tool_call_id":"c1","content":"a.c"}],"tools":[{"type":"function","function":{"name":"ls","parameters":{"type":"object"}}}]}}
JSON
rm -f "$db"*
rc=0
"$TOOLSTORM" run --quiet --history "$work/captured.jsonl" --db "$db" --sessions 40 --concurrency 20 --context 200 \
    --keep all --sim-ttft 120ms --sim-itl 0 --fault 'leak.markup=0.2@inflight>4' >"$work/out" 2>"$work/err" </dev/null || rc=$?
[ "$rc" -eq 1 ] || { cat "$work/err" >&2; fail "--history: status $rc"; }
status 0 "$TOOLSTORM" show 1 "$(first ok.%)" --db "$db" --raw --round 1
grep -qF '"messages":[{"role":"system",  "content":"You are an agent {{x}}."},' "$work/out" || fail "the captured bytes"
status 1 "$TOOLSTORM" replay 1 "$(first leak.markup)" --db "$db" --times 8 -o json
expect load 0/8 0/8 all/8
status 0 "$TOOLSTORM" export 1 --db "$db" --out "$work/cases.jsonl"
status 0 "$TOOLSTORM" judge -q "$work/cases.jsonl"
jq -e '.asked.tools | map(.function.name) == ["ls", "fetch_berth_ledger"]' "$work/cases.jsonl" >/dev/null || fail "tools"
status 2 "$TOOLSTORM" run --history "$work/cache.py" --db "$db"
says "no messages: expected a request body"
