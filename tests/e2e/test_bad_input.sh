#!/usr/bin/env bash
# Bad input: one clear line, the documented exit status, and nothing lost.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
db=(--db "$work/x.db")

status 2 "$TOOLSTORM" run --sesions 3
says "unknown option '--sesions'; did you mean '--sessions'?"
status 2 "$TOOLSTORM" run --sessions 0
says "'--sessions 0': expected a whole number from 1 to 10000000"
status 2 "$TOOLSTORM" run --rounds
says "'--rounds' needs a value: N"
status 2 "$TOOLSTORM" runn
says "unknown command 'runn'; did you mean 'run'?"
status 2 "$TOOLSTORM" run --scenario nosuch "${db[@]}"
says "'nosuch'"
printf '{"name": "x", "steps": 3}' >"$work/bad.json"
status 2 "$TOOLSTORM" run --scenario "$work/bad.json" "${db[@]}"
says "bad.json"
printf 'not json' >"$work/text.json"
status 2 "$TOOLSTORM" run --scenario "$work/text.json" "${db[@]}"
says "not JSON: line 1"
status 2 "$TOOLSTORM" run --fault leak.nosuch=0.1 "${db[@]}"
says "leak.nosuch"
status 2 "$TOOLSTORM" run --tag novalue "${db[@]}"
says "'--tag novalue': expected KEY=VALUE"
status 2 "$TOOLSTORM" run --header secretvalue "${db[@]}"
says "'--header '"
grep -q secretvalue "$work/err" && fail "what may be a secret was printed"
status 2 "$TOOLSTORM" run --extra-body '[1]' "${db[@]}"
says "'--extra-body': expected a JSON object"
for member in '"stream":true' '"messages":[]' '"tools":[]' '"tool_choice":"none"' '"model":"m"' '"n":2'; do
    status 2 "$TOOLSTORM" run --extra-body "{\"top_k\":1,$member}" "${db[@]}"
    says "'--extra-body': '$(cut -d'"' -f2 <<<"$member")' is not for it"
done
says "one answer is judged for each request"
status 2 "$TOOLSTORM" run --tool-choice no_such_tool "${db[@]}"
says "a tool of scenario 'chain': "
# Nothing is accepted and ignored.
status 2 "$TOOLSTORM" run --certify 5% --sessions 10 "${db[@]}"
says "leave out --sessions"
status 2 "$TOOLSTORM" run --sessions 10 --min-sessions 11 "${db[@]}"
says "'--min-sessions 11': only 10 are played"
status 2 "$TOOLSTORM" run --model '' "${db[@]}"
says "'--model': expected a name"
status 2 "$TOOLSTORM" run --api-key-file "$work/nokey" "${db[@]}"
says "nokey': No such file"
status 2 "$TOOLSTORM" run --api-key-env NO_SUCH_KEY "${db[@]}"
says "'--api-key-env NO_SUCH_KEY': no such environment variable"
status 2 "$TOOLSTORM" run --http2 "${db[@]}"
says "--base-url"
case $(curl --version) in
*libcurl/7.88.*)
    for command in "run ${db[*]}" probe wait; do
        # shellcheck disable=SC2086
        status 2 "$TOOLSTORM" $command --http2 --base-url http://127.0.0.1:9/v1
        says "'--http2' without TLS: libcurl 7.88"
    done
    ;;
esac
status 3 "$TOOLSTORM" run --base-url http://localhost --unix-socket "$work/no.sock" "${db[@]}"
says "no.sock"
status 2 "$TOOLSTORM" plan --from 10% --to 5% --certify 1%
says "'--from' and '--certify' are two questions"
status 2 "$TOOLSTORM" plan --to 5%
says "'--to' needs '--from'"
while IFS='|' read -r function arguments words; do
    status 2 "$TOOLSTORM" stat "$function" "$arguments"
    says "$words"
done <<'END'
clopper_pearson|{"x":11,"n":10,"conf":0.95}|argument 'x' is not usable: 11 of 'n' 10
wilson|{"x":1,"n":10,"conf":1.5}|argument 'conf' is not usable
fisher_midp|{"x1":1,"n1":2,"x2":4,"n2":3}|argument 'x2' is not usable
cmh|{"tables":[[1,2,3,4],[5,4,1,2]]}|in row 2
END
# Whoever has read enough is not told about it.
got=0
"$TOOLSTORM" help faults 2>"$work/err" | true || got=${PIPESTATUS[0]}
case $got in 0 | 141) ;; *) fail "a broken pipe: status $got" ;; esac
[ ! -s "$work/err" ] || fail "a broken pipe is talked about"
status 2 "$TOOLSTORM" run --base-url 'ftp://x' "${db[@]}"
says "ftp://x"

# A port where nobody listens: taken and given back by a short-lived endpoint.
start_sim
dead=$url
kill "$sim_pid"
wait "$sim_pid" 2>/dev/null || true
status 3 "$TOOLSTORM" run --base-url "$dead" "${db[@]}"
says "cannot reach endpoint"

start_sim --model real-model
status 3 "$TOOLSTORM" run --base-url "${url%/v1}/nowhere" --model m "${db[@]}"
says "HTTP 404"
status 3 "$TOOLSTORM" run --base-url "$url" --model wrong-model "${db[@]}"
says "wrong-model"

export SIM_KEY=sk-right
start_sim --api-key-env SIM_KEY
OPENAI_API_KEY=sk-very-secret status 3 "$TOOLSTORM" run --base-url "$url" "${db[@]}"
says "HTTP 401"
grep -q sk-very-secret "$work/err" "$work/out" && fail "the API key was printed"
OPENAI_API_KEY=sk-right status 0 "$TOOLSTORM" run --quiet --base-url "$url" --sessions 2 "${db[@]}" \
    --header 'X-Team: topsecretvalue' --tag a=b
grep -aqE 'sk-right|topsecretvalue' "$work/x.db" "$work/out" "$work/err" && fail "a secret was stored"

# HTML with status 200.
python3 - "$work/port" <<'PY' &
import http.server, sys
class H(http.server.BaseHTTPRequestHandler):
    def answer(self):
        self.rfile.read(int(self.headers.get('Content-Length', 0)))
        body = b'<html><body>Welcome to the router</body></html>'
        self.send_response(200)
        self.send_header('Content-Type', 'text/html')
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    do_GET = do_POST = answer
    def log_message(self, *a): pass
s = http.server.ThreadingHTTPServer(('127.0.0.1', 0), H)
open(sys.argv[1] + '.new', 'w').write(str(s.server_address[1]))
import os
os.rename(sys.argv[1] + '.new', sys.argv[1])
s.serve_forever()
PY
pids+=($!)
for _ in $(seq 200); do [ -e "$work/port" ] && break; pause; done
status 3 "$TOOLSTORM" run --base-url "http://127.0.0.1:$(cat "$work/port")/v1" --model m "${db[@]}"
says "text/html"

# Databases that can't be used.
status 5 "$TOOLSTORM" run --sessions 1 --db /nonexistent/dir/x.db
says "/nonexistent/dir/x.db"
printf 'this is no database, just text that is long enough to be looked at' >"$work/no.db"
status 2 "$TOOLSTORM" run --sessions 1 --db "$work/no.db"
says "no.db"
# Somebody else's database stays as it is, to the byte, whatever its journal.
for mode in delete wal; do
    sqlite3 "$work/other-$mode.db" "PRAGMA journal_mode=$mode; CREATE TABLE mine (a); INSERT INTO mine VALUES (1)" >/dev/null
    sum=$(sha256sum <"$work/other-$mode.db")
    for command in "run --sessions 1" list; do
        # shellcheck disable=SC2086
        status 2 "$TOOLSTORM" $command --db "$work/other-$mode.db"
        says "belongs to another program"
    done
    [ "$(sha256sum <"$work/other-$mode.db")" = "$sum" ] || fail "$mode: another program's database was changed"
    left=$(find "$work" -name "other-$mode.db-*")
    [ -z "$left" ] || fail "left behind: $left"
done
status 2 "$TOOLSTORM" list --db "$work/missing.db"
says "missing.db"
[ ! -e "$work/missing.db" ] || fail "list made a database"
status 2 "$TOOLSTORM" show 99 1 "${db[@]}"
says "99"
status 2 "$TOOLSTORM" judge "$work/nosuch.jsonl"
says "nosuch.jsonl"
printf '{"id": 3}\n' >"$work/case.jsonl"
status 2 "$TOOLSTORM" judge "$work/case.jsonl"
says "line 1"

# A full disk loses nothing that was stored before, and says so.
status 5 bash -c "ulimit -f 200; exec \"$TOOLSTORM\" run --quiet --sessions 5000 --concurrency 50 --keep all --db \"$work/full.db\""
says "full.db"
[ "$(sqlite3 "$work/full.db" 'PRAGMA integrity_check')" = ok ] || fail "the database is broken"
status 5 bash -c "\"$TOOLSTORM\" list ${db[*]} >/dev/full"
says "standard output"

# An output file that is the database would destroy it.
for words in "run --quiet --sessions 1 --junit" "report 1 --json" "export 1 --out"; do
    # shellcheck disable=SC2086
    status 2 "$TOOLSTORM" $words "$work/x.db" "${db[@]}"
    says "is the database"
done
[ "$(sqlite3 "$work/x.db" 'PRAGMA integrity_check')" = ok ] || fail "the database is broken"
status 2 "$TOOLSTORM" report 1 --json "$work/same" --md "$work/same" "${db[@]}"
says "is given to two forms"
OPENAI_API_KEY=$'sk-a\r\nX-More: y' status 2 "$TOOLSTORM" run --base-url "$url" --sessions 1 "${db[@]}"
says "holds a line break"
status 2 "$TOOLSTORM" run --sessions 1 --label $'\xff\xfe' "${db[@]}"
says "expected text in UTF-8"
