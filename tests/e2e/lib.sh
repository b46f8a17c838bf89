# lib.sh - what the end-to-end tests share. Sourced; the test has `set -euo pipefail`.
# shellcheck shell=bash

: "${TOOLSTORM:?path of the program to test}"
work=$(mktemp -d)
pids=()
unset OPENAI_BASE_URL OPENAI_API_KEY http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY

cleanup() {
    local p
    for p in "${pids[@]}"; do
        kill "$p" 2>/dev/null || true
        wait "$p" 2>/dev/null || true
    done
    rm -rf "$work"
}
trap cleanup EXIT

fail() { echo "FAILED: $*" >&2; exit 1; }

# status N COMMAND...: the command ends with exactly this status. Output in $work/out and $work/err.
status() {
    local want=$1 got=0
    shift
    "$@" >"$work/out" 2>"$work/err" </dev/null || got=$?
    if [ "$got" -ne "$want" ]; then
        cat "$work/out" "$work/err" >&2
        fail "status $got, want $want: $*"
    fi
}

# says TEXT: the last command's standard error is one line that holds this text.
says() {
    grep -qF -- "$1" "$work/err" || { cat "$work/err" >&2; fail "no such message: $1"; }
    [ "$(grep -c '^toolstorm: ' "$work/err")" -eq 1 ] || { cat "$work/err" >&2; fail "not one line"; }
}

# A pause between two looks at something that another process is about to do.
pause() { read -rt 0.05 <> <(:) || true; }

# shellcheck disable=SC2034
# start_sim ARGUMENTS...: sets $url to the base URL of a simulated endpoint, $sim_pid to its process.
start_sim() {
    local fifo=$work/sim.$RANDOM
    mkfifo "$fifo"
    "$TOOLSTORM" sim --quiet --for 300s "$@" >"$fifo" 2>"$work/sim.err" &
    sim_pid=$!
    pids+=("$sim_pid")
    IFS= read -r url <"$fifo" || { cat "$work/sim.err" >&2; fail "the simulated endpoint did not start"; }
}

# sql DB QUERY: rows, columns separated by '|'.
sql() { sqlite3 -readonly "$1" "$2"; }
