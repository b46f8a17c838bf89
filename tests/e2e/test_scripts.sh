#!/usr/bin/env bash
# The scripts: their help, their mistakes, the smoke test against good and bad servers, the matrix, and
# the example hooks with stand-ins for the programs that they call.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/sweep_lib.sh"
scripts=$(cd "$hooks/.." && pwd)

for script in "$scripts"/*.sh "$hooks"/*.sh; do
    status 0 "$script" --help
    grep -q '^usage: ' "$work/out" || fail "no usage: $script --help"
    status 2 "$script" --no-such-option
done

# --- smoke.sh ------------------------------------------------------------------------------------
smoke() {
    local want=$1
    shift
    status "$want" "$scripts/smoke.sh" --base-url "$url" --junit "$work/junit.xml" --summary "$work/summary.md" "$@"
}
start_sim --ttft 5ms
smoke 0
grep -q 'smoke test: PASS' "$work/out" || fail "pass"
grep -q '^### toolstorm smoke test: PASS' "$work/summary.md" || fail "summary"
grep -q 'failures="0" errors="0"' "$work/junit.xml" || fail "JUnit of a pass"
smoke 0 --db "$work/smoke.db" --concurrency 8 -- --context 100
[ "$(sql "$work/smoke.db" 'SELECT status, concurrency, context_tokens FROM runs')" = 'decided|8|100' ] || fail "options"

rm "$work/summary.md"
start_sim --ttft 5ms --fault 'leak.markup=0.4'
smoke 1
grep -q 'CORRUPTED TOOL CALLS' "$work/summary.md" || fail "summary of a failure"
grep -q '<failure' "$work/junit.xml" || fail "JUnit of a failure"
evidence=$(sed -n 's/^the evidence is in //p' "$work/out")
[ -s "$evidence" ] || fail "no evidence was kept"
rm -r "$(dirname "$evidence")"

url=http://127.0.0.1:9/v1
smoke 3 --ready-limit 1s
grep -q '<error message="' "$work/junit.xml" || fail "JUnit of a server that is not ready"
grep -q 'NOT READY' "$work/summary.md" || fail "summary of a server that is not ready"
status 2 "$scripts/smoke.sh"
grep -q 'no server' "$work/err" || fail "no server"

# --- matrix.sh -----------------------------------------------------------------------------------
status 0 "$scripts/matrix.sh" --factor graph=on,off --factor 'name=a"b\c,d' --hook ./restart.sh \
    --exclude graph=off,name=d --print-plan
cat >"$work/want" <<JSON
{"name": "matrix", "blocks": 4, "cells": "full", "hook": "$PWD/restart.sh",
 "factors": {"graph": ["on", "off"], "name": ["a\"b\\\\c", "d"]},
 "exclude": [{"graph": "off", "name": "d"}]}
JSON
cmp "$work/out" "$work/want" || { cat "$work/out" >&2; fail "plan"; }
export SIM_FAULTS='leak.markup=0.5@factor.graph=on'
status 0 "$scripts/matrix.sh" --factor graph=on,off --hook "$hooks/simulated.sh" --blocks 2 --quiet \
    --db "$work/matrix.db" -- --sessions 40 --rounds 1 --context 0
grep -qF 'graph=off against graph=on: IMPROVED' "$work/out" || { cat "$work/out" >&2; fail "matrix"; }
status 0 "$scripts/matrix.sh" --factor graph=on,off --factor idxk=a,b --hook "$hooks/simulated.sh" --isolate --quiet \
    --db "$work/matrix.db" -- --rounds 1 --context 0
grep -qF 'Needed: graph=on.' "$work/out" || { cat "$work/out" >&2; fail "matrix --isolate"; }
for mistake in '--factor graph' '--blocks x --factor a=1' '--exclude a --factor a=1 --print-plan' '--blocks 2'; do
    # shellcheck disable=SC2086 # words are meant
    status 2 "$scripts/matrix.sh" $mistake
done

# --- example hooks -------------------------------------------------------------------------------
mkdir "$work/bin"
stand_in() {
    cat >"$work/bin/$1"
    chmod +x "$work/bin/$1"
}
export PATH=$work/bin:$PATH TOOLSTORM_FACTOR_GRAPH=off TOOLSTORM_FACTOR_OVERLAP=1 TOOLSTORM_BOOT=b-1 \
    TOOLSTORM_FACTOR_CONCURRENCY=64 TOOLSTORM_CLIENT_FACTORS=CONCURRENCY

# A plain process: flags by factor, what runs is read back, only what was started is ended.
stand_in vllm <<'SH'
#!/usr/bin/env bash
while :; do read -rt 1 <> <(:) || true; done
SH
export SERVER=vllm MODEL=some/model STATE=$work/process
status 0 "$hooks/process.sh" apply
grep -qF 'vllm serve some/model' "$work/out" || fail "process: command"
grep -qF -- '--enforce-eager --async-scheduling' "$work/out" || { cat "$work/out" >&2; fail "process: flags"; }
grep -qx 'base_url=http://127.0.0.1:30000/v1' "$work/out" || fail "process: address"
pids+=("$(cat "$STATE/pid")")
status 0 "$hooks/process.sh" collect
[ "$(sort "$work/out" | paste -sd' ')" = 'graph=off overlap=1' ] || { cat "$work/out" >&2; fail "process: collect"; }
TOOLSTORM_FACTOR_GRAPH=on status 0 "$hooks/process.sh" collect
grep -qx 'graph=off' "$work/out" || fail "process: collect tells another setting"
TOOLSTORM_FACTOR_NEW=1 status 2 "$hooks/process.sh" apply
grep -qF 'no flag for the factor new=1' "$work/out" || fail "process: a factor without effect"
status 0 "$hooks/process.sh" apply
server=$(cat "$STATE/pid")
status 0 "$hooks/process.sh" stop
gone "$server" || fail "process: the server lives"
status 1 "$hooks/process.sh" collect
status 0 "$hooks/process.sh" stop
SERVER=sglang status 0 "$hooks/process.sh" --help

# systemd, where there is none.
stand_in hidden </dev/null
without_systemd() { PATH=$work/only "$@"; }
mkdir "$work/only"
for tool in bash env cat; do ln -s "$(command -v $tool)" "$work/only/"; done
UNIT=server.service status 1 without_systemd "$hooks/systemd.sh" apply
grep -qF 'this host has no systemd' "$work/out" || fail "systemd: message"
# systemd, with a stand-in: the drop-in, the restart, what the process has.
stand_in systemctl <<SH
#!/usr/bin/env bash
echo "\$*" >>"$work/calls"
case "\$*" in *MainPID*) echo \$PPID ;; esac
SH
export UNIT=server.service SYSTEMD_USER=1 XDG_RUNTIME_DIR=$work/run
GRAPH=off OVERLAP=1 TOOLSTORM_FACTOR_ODD='50% "x"' status 0 "$hooks/systemd.sh" apply
cat >"$work/want" <<'CONF'
[Service]
Environment="GRAPH=off"
Environment="ODD=50%% \"x\""
Environment="OVERLAP=1"
CONF
cmp "$work/run/systemd/user/server.service.d/90-toolstorm.conf" "$work/want" || fail "systemd: drop-in"
grep -qx -- '--user restart server.service' "$work/calls" || fail "systemd: restart"
GRAPH=off OVERLAP=0 status 0 "$hooks/systemd.sh" collect
[ "$(paste -sd' ' "$work/out")" = 'graph=off overlap=0' ] || { cat "$work/out" >&2; fail "systemd: collect"; }
status 0 "$hooks/systemd.sh" stop
[ ! -e "$work/run/systemd/user/server.service.d/90-toolstorm.conf" ] || fail "systemd: the drop-in is left"

# docker compose and Kubernetes, with stand-ins.
stand_in docker <<SH
#!/usr/bin/env bash
echo "\$*" >>"$work/calls"
case "\$*" in *exec*) echo TOOLSTORM_FACTOR_GRAPH=off; echo PATH=/bin ;; esac
SH
SERVICE=llm status 0 "$hooks/compose.sh" apply
grep -qx 'compose up --detach --force-recreate --no-deps llm' "$work/calls" || fail "compose: apply"
SERVICE=llm status 0 "$hooks/compose.sh" collect
[ "$(cat "$work/out")" = graph=off ] || fail "compose: collect"
status 0 "$hooks/compose.sh" stop
stand_in kubectl <<SH
#!/usr/bin/env bash
echo "\$*" >>"$work/calls"
case "\$*" in *exec*) echo GRAPH=on; echo OVERLAP=1; echo OTHER=2 ;; esac
SH
export WORKLOAD=deployment/llm NAMESPACE=models
status 0 "$hooks/kubernetes.sh" apply
grep -qx -- '--namespace models set env deployment/llm GRAPH=off OVERLAP=1 TOOLSTORM_BOOT=b-1' "$work/calls" ||
    { cat "$work/calls" >&2; fail "kubernetes: set env"; }
grep -qx -- '--namespace models rollout status deployment/llm --timeout=15m' "$work/calls" || fail "kubernetes: rollout"
status 0 "$hooks/kubernetes.sh" collect
[ "$(paste -sd' ' "$work/out")" = 'graph=on overlap=1' ] || fail "kubernetes: collect"
status 0 "$hooks/kubernetes.sh" stop
