# sweep_lib.sh - what the tests of sweeps share. Sourced after lib.sh.
# shellcheck shell=bash disable=SC2034,SC2154

hooks=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../scripts/hooks" && pwd)
export TOOLSTORM SIM_STATE=$work/sim SIM_OPTIONS='--ttft 5ms' SIM_FAULTS=

# The endpoint that a hook started outlives a test that fails.
end_server() { "$hooks/simulated.sh" stop >/dev/null 2>&1 || true; }
trap 'end_server; cleanup' EXIT

# wait_until WHAT COMMAND...: until the command succeeds.
wait_until() {
    local what=$1
    shift
    for _ in $(seq 600); do
        if "$@" >/dev/null 2>&1; then return; fi
        pause
    done
    fail "never happened: $what"
}

# gone PID: it has ended, whether or not anybody has collected it.
gone() {
    case $(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) in
        ''|Z*) true ;;
        *) false ;;
    esac
}

# no_server: nothing that the hook started is left.
no_server() { [ ! -s "$SIM_STATE/pid" ] || fail "a server was left behind"; }
