#!/usr/bin/env bash
# A hook for plans whose server is the simulated endpoint: for trying sweeps out, and for their tests.
set -euo pipefail

usage() {
    cat <<'TXT'
usage: simulated.sh apply|collect|stop

A hook for `toolstorm sweep` and `toolstorm isolate`: starts the simulated
endpoint on a free port of this machine, with every TOOLSTORM_FACTOR_NAME=LEVEL
as a setting that fault rules may ask about (factor.name=level), and prints
base_url=URL. `stop` ends the process that `apply` started, and no other.

environment:
  TOOLSTORM       the program (default: toolstorm)
  SIM_FAULTS      fault rules, one a line (`toolstorm help faults`)
  SIM_OPTIONS     further options of `toolstorm sim`, separated by blanks
  SIM_STATE       folder for the process number and the log
                  (default: /tmp/toolstorm-sim-USERID)
TXT
}

program=${TOOLSTORM:-toolstorm}
state=${SIM_STATE:-/tmp/toolstorm-sim-$(id -u)}

# The settings as part of the start's name: idxk=bf16+graph=on+...
boot_name() {
    local line name
    env | LC_ALL=C sort | while IFS= read -r line; do
        case $line in
            TOOLSTORM_FACTOR_*=*)
                name=${line#TOOLSTORM_FACTOR_}
                printf '%s=%s+' "$(printf '%s' "${name%%=*}" | tr '[:upper:]' '[:lower:]')" "${line#*=}"
                ;;
        esac
    done
    printf '%s\n' "${SIM_BOOT:-${TOOLSTORM_BOOT:-boot}}"
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

stop() {
    local pid
    [ -s "$state/pid" ] || return 0
    pid=$(cat "$state/pid")
    kill "$pid" 2>/dev/null || true
    for _ in $(seq 200); do
        running || break
        read -rt 0.05 <> <(:) || true
    done
    rm -f "$state/pid" "$state/url"
}

apply() {
    local options=() rule boot
    stop
    mkdir -p "$state"
    while IFS= read -r rule; do
        [ -z "$rule" ] || options+=(--fault "$rule")
    done <<<"${SIM_FAULTS-}"
    # shellcheck disable=SC2206 # words are meant
    options+=(${SIM_OPTIONS-})
    boot=$(boot_name)
    printf '%s\n' "$boot" >"$state/boot"
    : >"$state/url"
    "$program" sim --quiet --for 4h --boot "$boot" "${options[@]}" >"$state/url" 2>"$state/log" </dev/null &
    echo $! >"$state/pid"
    for _ in $(seq 200); do
        [ ! -s "$state/url" ] || break
        running || { cat "$state/log"; exit 1; }
        read -rt 0.05 <> <(:) || true
    done
    [ -s "$state/url" ] || { echo "the simulated endpoint did not start"; exit 1; }
    echo "base_url=$(cat "$state/url")"
}

# What the running endpoint was started with.
collect() { tr '+' '\n' <"$state/boot" | grep '=' || true; }

case "${1-}" in
    apply) apply ;;
    stop) stop ;;
    collect) collect ;;
    --help|-h) usage ;;
    *) usage >&2; exit 2 ;;
esac
