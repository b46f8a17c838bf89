#!/usr/bin/env bash
# A hook for a server that is a plain process of this user: SGLang, vLLM or llama.cpp. Copy it, and put
# your command line in.
set -euo pipefail

usage() {
    cat <<'TXT'
usage: process.sh apply|collect|stop

A hook for `toolstorm sweep` and `toolstorm isolate`. Turns the factors into
flags of the server, starts it in a session of its own, and ends what it
started. The factors that it knows:

  graph=on|off      CUDA graphs or eager mode           (SGLang, vLLM)
  overlap=1|0       the overlap or asynchronous scheduler (SGLang, vLLM)
  prefix=on|off     prefix cache                        (SGLang, vLLM)
  kv=TYPE           type of the KV cache                (all)
  slots=N           sequences in one batch              (all)

A factor that is none of them is an error: it would be without effect.

environment:
  SERVER   sglang, vllm or llama.cpp (default: sglang)
  MODEL    model name or path (needed)
  PARSER   tool-call parser of the server, if it needs one
  PORT     (default: 30000)
  EXTRA    further flags, separated by blanks
  STATE    folder for the process number and the log
           (default: /tmp/toolstorm-server-USERID)
TXT
}

server=${SERVER:-sglang}
port=${PORT:-30000}
state=${STATE:-/tmp/toolstorm-server-$(id -u)}
words=()

sglang_flag() {
    case $1=$2 in
        graph=on|overlap=1|prefix=on) ;;
        graph=off) words+=(--disable-cuda-graph) ;;
        overlap=0) words+=(--disable-overlap-schedule) ;;
        prefix=off) words+=(--disable-radix-cache) ;;
        kv=*) words+=(--kv-cache-dtype "$2") ;;
        slots=*) words+=(--max-running-requests "$2") ;;
        *) return 1 ;;
    esac
}

vllm_flag() {
    case $1=$2 in
        graph=on) ;;
        graph=off) words+=(--enforce-eager) ;;
        overlap=1) words+=(--async-scheduling) ;;
        overlap=0) words+=(--no-async-scheduling) ;;
        prefix=on) words+=(--enable-prefix-caching) ;;
        prefix=off) words+=(--no-enable-prefix-caching) ;;
        kv=*) words+=(--kv-cache-dtype "$2") ;;
        slots=*) words+=(--max-num-seqs "$2") ;;
        *) return 1 ;;
    esac
}

llama_flag() {
    case $1=$2 in
        kv=*) words+=(--cache-type-k "$2" --cache-type-v "$2") ;;
        slots=*) words+=(--parallel "$2") ;;
        *) return 1 ;;
    esac
}

base_command() {
    : "${MODEL:?set MODEL to the model to serve}"
    case $server in
        sglang)
            words=(python3 -m sglang.launch_server --model-path "$MODEL" --host 127.0.0.1 --port "$port")
            [ -z "${PARSER-}" ] || words+=(--tool-call-parser "$PARSER") ;;
        vllm)
            words=(vllm serve "$MODEL" --host 127.0.0.1 --port "$port" --enable-auto-tool-choice)
            [ -z "${PARSER-}" ] || words+=(--tool-call-parser "$PARSER") ;;
        llama.cpp)
            words=(llama-server --model "$MODEL" --host 127.0.0.1 --port "$port" --jinja) ;;
        *) echo "SERVER=$server: expected sglang, vllm or llama.cpp"; exit 2 ;;
    esac
    # shellcheck disable=SC2206 # words are meant
    words+=(${EXTRA-})
}

# Calls "$1 name level" for every factor that is the server's.
each_factor() {
    local name level
    while IFS='=' read -r name level; do
        case " ${TOOLSTORM_CLIENT_FACTORS-} " in *" $name "*) continue ;; esac
        "$1" "$(tr '[:upper:]' '[:lower:]' <<<"$name")" "$level"
    done < <(env | LC_ALL=C sort | sed -n 's/^TOOLSTORM_FACTOR_//p')
}

add_flag() {
    local known=0
    case $server in
        sglang) sglang_flag "$1" "$2" || known=$? ;;
        vllm) vllm_flag "$1" "$2" || known=$? ;;
        *) llama_flag "$1" "$2" || known=$? ;;
    esac
    [ "$known" -eq 0 ] || { echo "$server has no flag for the factor $1=$2: add it to $0"; exit 2; }
}

# An ended process that nobody has collected yet does not run.
running() {
    local pid life=
    [ -s "$state/pid" ] || return 1
    pid=$(cat "$state/pid")
    if [ -r "/proc/$pid/stat" ]; then
        life=$(sed 's/.*) //' "/proc/$pid/stat" 2>/dev/null) || true
    elif [ ! -d /proc/self ]; then
        life=$(ps -o stat= -p "$pid") || true
    fi
    case $life in ''|Z*) return 1 ;; esac
}

# The server and its children, which are one session.
stop() {
    local pid
    [ -s "$state/pid" ] || return 0
    pid=$(cat "$state/pid")
    kill -- "-$pid" 2>/dev/null || true
    for _ in $(seq 240); do
        running || break
        read -rt 0.25 <> <(:) || true
    done
    kill -KILL -- "-$pid" 2>/dev/null || true
    rm -f "$state/pid"
}

apply() {
    mkdir -p "$state"
    stop
    base_command
    each_factor add_flag
    setsid "${words[@]}" >"$state/log" 2>&1 </dev/null &
    echo $! >"$state/pid"
    echo "started: ${words[*]}"
    echo "base_url=http://127.0.0.1:$port/v1"
}

stands() { grep -qxF -- "$1" "$state/running"; }

# A factor is in force if its flags stand in the command line of the process that runs; a level
# without flags, if those of the opposite level do not.
check_flag() {
    local word opposite=
    words=()
    add_flag "$1" "$2"
    for word in "${words[@]}"; do
        stands "$word" || { echo "$1=another"; return 0; }
    done
    if [ ${#words[@]} -eq 0 ]; then
        case $2 in on) opposite=off ;; 1) opposite=0 ;; esac
        add_flag "$1" "$opposite"
        for word in "${words[@]}"; do
            ! stands "$word" || { echo "$1=$opposite"; return 0; }
        done
    fi
    echo "$1=$2"
}

collect() {
    running || { echo "the server does not run; the end of its log:"; tail -n 5 "$state/log"; exit 1; }
    tr '\0' '\n' <"/proc/$(cat "$state/pid")/cmdline" >"$state/running"
    each_factor check_flag
}

case "${1-}" in
    apply) apply ;;
    collect) collect ;;
    stop) stop ;;
    --help|-h) usage ;;
    *) usage >&2; exit 2 ;;
esac
