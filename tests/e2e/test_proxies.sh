#!/usr/bin/env bash
# The same verdicts through nginx, session by session: plain, TLS and HTTP/2, buffering and not,
# compressed, and through an HTTP proxy's request form. All of it on unix sockets, without a port.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

command -v nginx >/dev/null || fail "no nginx; scripts/install.sh --test installs it"

faults=(--fault leak.markup=0.15 --fault leak.value=0.1 --fault no_tool.prose=0.1
        --fault error.cut=0.1 --fault error.sse=0.1 --fault error.http=0.05)

openssl req -x509 -newkey rsa:2048 -nodes -keyout "$work/key.pem" -out "$work/cert.pem" -days 2 \
    -subj /CN=localhost -addext subjectAltName=DNS:localhost 2>/dev/null

# server SOCKET LISTEN-WORDS PORT LINES...: one nginx server in front of the simulated endpoint.
server() {
    local socket=$1 words=$2 port=$3
    shift 3
    echo "server { listen unix:$work/$socket $words; server_name localhost;"
    echo "ssl_certificate $work/cert.pem; ssl_certificate_key $work/key.pem;"
    echo "location / { proxy_pass http://127.0.0.1:$port; proxy_http_version 1.1;"
    echo 'proxy_set_header Connection "";'
    printf '%s\n' "$@" "} }"
}

start_nginx() {
    {
        echo "daemon off; worker_processes 1; pid $work/nginx.pid; error_log $work/nginx.err;"
        echo "events { worker_connections 1024; }"
        echo "http { access_log off; client_max_body_size 50m;"
        for temp in client_body proxy fastcgi uwsgi scgi; do echo "${temp}_temp_path $work/$temp;"; done
        cat "$work/servers"
        echo "}"
    } >"$work/nginx.conf"
    nginx -c "$work/nginx.conf" -e "$work/nginx.err" 2>"$work/nginx.out" &
    nginx_pid=$!
    pids+=("$nginx_pid")
    for _ in $(seq 100); do
        [ -S "$work/socket" ] && return
        kill -0 "$nginx_pid" 2>/dev/null || break
        pause
    done
    cat "$work/nginx.out" "$work/nginx.err" >&2
    fail "nginx did not start"
}

# through NAME LISTEN-WORDS "NGINX LINES" RUN-FLAGS...
through() {
    local name=$1 words=$2 lines=$3 rc=0
    shift 3
    rm -f "$work"/run.* "$work/socket"
    # a pause between chunks, so that what was sent before a cut is on its way when it comes
    start_sim --ttft 2ms --itl 1ms --ledger "$work/run.jsonl" "${faults[@]}"
    local port=${url##*:}
    server socket "$words" "${port%%/*}" "$lines" >"$work/servers"
    start_nginx
    "$TOOLSTORM" run --quiet --sessions 80 --concurrency 20 --rounds 3 --context 300 \
        --max-errors 100% --db "$work/run.db" --unix-socket "$work/socket" "$@" \
        >"$work/out" 2>"$work/err" </dev/null || rc=$?
    [ "$rc" -eq 1 ] || { cat "$work/out" "$work/err" >&2; fail "$name: status $rc"; }
    kill "$nginx_pid" "$sim_pid"
    wait "$nginx_pid" "$sim_pid" 2>/dev/null || true
    jq -r '"\(.session)|\(.round)|\(.reason)"' "$work/run.jsonl" | sort -n >"$work/want"
    sql "$work/run.db" "SELECT session, first_bad_round, reason FROM sessions
                        WHERE class <> 'ok' ORDER BY session" | sort -n >"$work/got"
    [ "$(wc -l <"$work/want")" -ge 10 ] || fail "$name: too little was damaged"
    diff "$work/want" "$work/got" >&2 || fail "$name: ledger (<) and store (>) differ"
}

off="proxy_buffering off;"
on="proxy_buffering on; proxy_buffers 4 4k; proxy_buffer_size 4k;"
zip="gzip on; gzip_min_length 1; gzip_types text/event-stream application/json;"

through "plain, not buffering" "" "$off" --base-url http://localhost
through "plain, buffering" "" "$on" --base-url http://localhost
through "TLS, not buffering" ssl "$off" --base-url https://localhost/v1 --cacert "$work/cert.pem"
through "TLS, buffering" ssl "$on" --base-url https://localhost/v1 --cacert "$work/cert.pem"
through "TLS, whole replies" ssl "$on" --base-url https://localhost --cacert "$work/cert.pem" --no-stream \
    --extra-body '{"top_p":1}'
through "TLS, compressed" ssl "$off $zip" --base-url https://localhost -k
through "whole and compressed" "" "$on $zip" --base-url http://localhost --no-stream

# libcurl 7.88 drops what came before a stream's reset where streams share a connection, so that
# cuts can't be told from silence there
faults=(--fault leak.markup=0.15 --fault leak.value=0.1 --fault no_tool.prose=0.1)
through "TLS, HTTP/2" "ssl http2" "$off" --base-url https://localhost --cacert "$work/cert.pem" --http2

# a certificate that nobody vouches for is refused, in words
start_sim --ttft 2ms
port=${url##*:}
rm -f "$work/socket"
server socket ssl "${port%%/*}" "$off" >"$work/servers"
start_nginx
status 3 "$TOOLSTORM" run --quiet --sessions 2 --db :memory: --unix-socket "$work/socket" \
    --base-url https://localhost
says "certificate"
echo "ok"
