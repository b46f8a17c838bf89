#!/usr/bin/env bash
# The same verdicts whatever stands in between: TLS, buffering and gzip, HTTP/2, a client
# certificate, a unix socket, a forward proxy.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
export PATH=$PATH:/usr/sbin

# A CA, a server and a client certificate by it, and a CA that signed nothing.
tls() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \
        -subj "/CN=$1" -keyout "$work/$1.key" -out "$work/$1.pem" 2>/dev/null
}
signed() {
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "/CN=$1" \
        -keyout "$work/$1.key" -out "$work/$1.csr" 2>/dev/null
    openssl x509 -req -in "$work/$1.csr" -CA "$work/ca.pem" -CAkey "$work/ca.key" -CAcreateserial \
        -days 2 -extfile <(echo "subjectAltName=IP:127.0.0.1") -out "$work/$1.pem" 2>/dev/null
}
tls ca
tls stranger
signed server
signed client

jq '.name = "shared" | .context.shared = true' "$(dirname "$0")/../../scenarios/chain.json" >"$work/shared.json"
start_sim --scenario "$work/shared.json" --seed 5 --fault leak.markup=10% --fault leak.value=10% --fault leak.call_json=5% \
    --fault no_tool.prose=10% --fault no_tool.empty=5% --fault error.http=4% --fault error.sse=4% \
    --fault error.body=4% --fault leak.utf8=5% --fault leak.special_token=5% \
    --tokens-per-chunk 2
upstream=${url#http://}
upstream=${upstream%/v1}

free_ports() {
    python3 -c 'import socket, sys
s = [socket.socket() for _ in range(int(sys.argv[1]))]
for x in s: x.bind(("127.0.0.1", 0))
print(*[x.getsockname()[1] for x in s])' "$1"
}

# Ports are free when they are chosen, not reserved: another process may take one, so again.
start_nginx() {
    local try
    for try in 1 2 3 4 5; do
        read -r buffering plain mutual hasty forward <<<"$(free_ports 5)"
        write_config
        nginx -p "$work" -c nginx.conf -e "$work/error.log" 2>>"$work/nginx.err" &
        nginx_pid=$!
        for _ in $(seq 100); do
            if (exec 3<>"/dev/tcp/127.0.0.1/$forward") 2>/dev/null; then
                pids+=("$nginx_pid")
                return
            fi
            kill -0 "$nginx_pid" 2>/dev/null || break
            pause
        done
        kill "$nginx_pid" 2>/dev/null || true
        wait "$nginx_pid" 2>/dev/null || true
    done
    cat "$work/nginx.err" "$work/error.log" >&2
    fail "nginx did not start in $try tries"
}

write_config() {
    local user=""
    [ "$(id -u)" -ne 0 ] || user="user root;"
    cat >"$work/nginx.conf" <<CONF
$user
daemon off;
worker_processes 1;
pid $work/nginx.pid;
events { worker_connections 512; }
http {
    log_format short '\$server_port \$server_protocol \$status';
    access_log off;
    client_max_body_size 64m;
    client_body_temp_path $work/body;
    proxy_temp_path $work/proxy;
    fastcgi_temp_path $work/fastcgi;
    uwsgi_temp_path $work/uwsgi;
    scgi_temp_path $work/scgi;
    ssl_certificate $work/server.pem;
    ssl_certificate_key $work/server.key;
    proxy_http_version 1.1;
    proxy_set_header Connection "";
    upstream sim { server $upstream; keepalive 64; }
    server {
        listen 127.0.0.1:$buffering ssl;
        access_log $work/buffering.log short;
        gzip on;
        gzip_types text/event-stream application/json;
        gzip_proxied any;
        gzip_min_length 1;
        proxy_buffering on;
        location / { proxy_pass http://sim; }
    }
    server {
        listen 127.0.0.1:$plain ssl http2;
        listen unix:$work/sock;
        access_log $work/plain.log short;
        proxy_buffering off;
        location / { proxy_pass http://sim; }
    }
    server {
        listen 127.0.0.1:$mutual ssl;
        access_log $work/mutual.log short;
        ssl_client_certificate $work/ca.pem;
        ssl_verify_client on;
        location / { proxy_pass http://sim; }
    }
    server {
        listen 127.0.0.1:$hasty ssl http2;
        keepalive_requests 2;
        http2_body_preread_size 0;
        proxy_buffering off;
        location / { proxy_pass http://sim; }
    }
    server {
        listen 127.0.0.1:$forward;
        access_log $work/forward.log short;
        proxy_buffering off;
        location / { proxy_pass http://\$http_host\$request_uri; }
    }
}
CONF
}
start_nginx

# rows NAME FLAGS...: a run; what it found goes to NAME.rows.
rows() {
    local name=$1
    shift
    status 1 "$TOOLSTORM" run --quiet --sessions 80 --concurrency 16 --rounds 3 --context "${context:-200}" \
        --seed 3 --no-preflight --max-errors 1 --db "$work/$name.db" "$@"
    sql "$work/$name.db" "
        SELECT s.session, s.class, s.reason, s.first_bad_round, r.round, r.reason, r.finish,
               r.status, r.quirks, f.reason, f.channel, f.offset, f.length, hex(f.excerpt)
        FROM sessions s JOIN rounds r ON r.run = s.run AND r.session = s.session
        LEFT JOIN findings f ON f.run = r.run AND f.session = r.session AND f.round = r.round
        ORDER BY s.session, r.round, f.number" >"$work/$name.rows"
}

# same NAME FLAGS...: the run finds what the direct one did.
same() {
    rows "$@"
    diff "$work/direct.rows" "$work/$1.rows" >&2 || fail "'$1' gives other rows than a direct run"
}

rows direct --base-url "$url"
[ "$(cut -d'|' -f3 "$work/direct.rows" | sort -u | wc -l)" -ge 9 ] || fail "too few kinds of damage"

same buffering --base-url "https://127.0.0.1:$buffering" --cacert "$work/ca.pem"
same plain --base-url "https://127.0.0.1:$plain/v1" --cacert "$work/ca.pem"
grep -q '^[0-9]* HTTP/1.1 200' "$work/plain.log" || fail "HTTP/1.1 was not spoken"
# A stream that breaks off is reset in HTTP/2, and what stood before the break may be lost with it:
# which error it was depends on the moment.
rows http2 --base-url "https://127.0.0.1:$plain/v1" --cacert "$work/ca.pem" --http2
vague() { sed -E 's/^([0-9]+)\|error\|.*/\1|error/' "$1" | sort -u; }
diff <(vague "$work/direct.rows") <(vague "$work/http2.rows") >&2 || fail "HTTP/2 gives other verdicts"
grep -q '^[0-9]* HTTP/2.0 200' "$work/plain.log" || fail "HTTP/2 was not spoken"
# Long requests, of which all sessions share the most.
long=(--scenario "$work/shared.json")
context=30000 rows long --base-url "$url" "${long[@]}"
context=30000 rows long_tls --base-url "https://127.0.0.1:$buffering" --cacert "$work/ca.pem" "${long[@]}"
diff "$work/long.rows" "$work/long_tls.rows" >&2 || fail "long requests over TLS give other rows"
context=30000 rows long_http2 --base-url "https://127.0.0.1:$plain/v1" --cacert "$work/ca.pem" --http2 "${long[@]}"
diff <(vague "$work/long.rows") <(vague "$work/long_http2.rows") >&2 || fail "long requests over HTTP/2 give other verdicts"
# A server that gives up its connections while requests are still being sent: sessions are lost by it, and
# that is what is said of them.
context=200000 rows hasty --base-url "https://127.0.0.1:$hasty/v1" --cacert "$work/ca.pem" --http2 "${long[@]}"
[ "$(sql "$work/hasty.db" "SELECT DISTINCT reason FROM rounds WHERE end_detail LIKE '%died%'")" = error.connect ] ||
    fail "no connection was lost, or something else is said of it"
[ "$(sql "$work/hasty.db" "SELECT count(*) FROM rounds WHERE end_detail LIKE '%callback%'")" = 0 ] ||
    fail "our own refusal to repeat a request is called an error of the server"
same mutual --base-url "https://127.0.0.1:$mutual/v1" --cacert "$work/ca.pem" \
    --cert "$work/client.pem" --key "$work/client.key"
same socket --base-url "http://gateway.invalid/v1" --unix-socket "$work/sock"

# A forward proxy, from the flag and from the environment.
same forward --base-url "$url" --proxy "http://127.0.0.1:$forward"
seen=$(wc -l <"$work/forward.log")
[ "$seen" -ge 80 ] || fail "the proxy was passed by: $seen requests"
http_proxy=http://127.0.0.1:$forward same environment --base-url "$url"
[ "$(wc -l <"$work/forward.log")" -ge $((seen + 80)) ] || fail "the environment's proxy was passed by"

# A SOCKS proxy; with socks5h it resolves the name.
mkfifo "$work/socks"
python3 "$(dirname "$0")/socks.py" "$work/socks.log" >"$work/socks" 2>"$work/socks.err" &
pids+=($!)
IFS= read -r socks <"$work/socks" || { cat "$work/socks.err" >&2; fail "the SOCKS proxy did not start"; }
same socks5 --base-url "$url" --proxy "socks5://$socks"
[ "$(sort -u "$work/socks.log")" = 127.0.0.1 ] || fail "the SOCKS proxy was passed by"
same socks5h --base-url "http://gateway.invalid:${upstream##*:}" --proxy "socks5h://$socks"
grep -qx gateway.invalid "$work/socks.log" || fail "the name did not reach the SOCKS proxy"
ALL_PROXY=socks5://$socks same all_proxy --base-url "$url"

# Certificates that are not trusted: no run, and nothing sent.
bad() {
    status 3 "$TOOLSTORM" run --quiet --base-url "https://127.0.0.1:$plain/v1" --db "$work/bad.db" "$@"
    says "cannot reach endpoint"
    says "certificate"
}
before=$(wc -l <"$work/plain.log")
bad
bad --cacert "$work/stranger.pem"
bad --cacert "$work/nosuch.pem"
[ "$(wc -l <"$work/plain.log")" -eq "$before" ] || fail "a request went to a server that is not trusted"
status 3 "$TOOLSTORM" run --quiet --base-url "https://127.0.0.1:$mutual/v1" --model sim-1 \
    --cacert "$work/ca.pem" --db "$work/bad.db"
says "HTTP 400"

# --insecure works, and says what it means, even to those who want quiet.
same insecure --base-url "https://127.0.0.1:$plain/v1" --insecure
grep -q 'warning: --insecure' "$work/err" || fail "no warning about --insecure"

# wait and probe take the same flags.
status 0 "$TOOLSTORM" wait --quiet --base-url "https://127.0.0.1:$buffering" --cacert "$work/ca.pem" \
    --limit 60s --every 10ms
status 3 "$TOOLSTORM" wait --quiet --base-url "https://127.0.0.1:$buffering" --limit 50ms --every 10ms
says "certificate"
start_sim
status 0 "$TOOLSTORM" probe --quiet --base-url "$url" --proxy "http://127.0.0.1:$forward" --output json
jq -e '.server == "toolstorm sim" and (.server_header | startswith("nginx"))' "$work/out" >/dev/null ||
    fail "the probe did not see the gateway"
