#!/usr/bin/env bash
# A hook for a server that is a Kubernetes workload.
set -euo pipefail

usage() {
    cat <<'TXT'
usage: kubernetes.sh apply|collect|stop

A hook for `toolstorm sweep` and `toolstorm isolate`. Sets the factors as
environment variables of the workload (graph=on becomes GRAPH=on) and waits for
the rollout. The start's name is set too, so that every repeat is a rollout, even
with the same settings. `collect` reads the variables back from a running pod;
`stop` leaves the workload as it is.

environment:
  WORKLOAD         such as deployment/server or statefulset/server (needed)
  CONTAINER        name of the container, if the pod has several
  NAMESPACE        (default: kubectl's own)
  ROLLOUT_TIMEOUT  (default: 15m)
TXT
}

case "${1-}" in
    apply|collect|stop) ;;
    --help|-h) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
esac

: "${WORKLOAD:?set WORKLOAD, such as deployment/server}"
kubectl=(kubectl)
[ -z "${NAMESPACE-}" ] || kubectl+=(--namespace "$NAMESPACE")
container=()
[ -z "${CONTAINER-}" ] || container=(--container "$CONTAINER")

# The factors that are the server's: those of the client are options of `toolstorm run`.
factors() {
    local name level
    while IFS='=' read -r name level; do
        case " ${TOOLSTORM_CLIENT_FACTORS-} " in *" $name "*) continue ;; esac
        printf '%s=%s\n' "$name" "$level"
    done < <(env | LC_ALL=C sort | sed -n 's/^TOOLSTORM_FACTOR_//p')
}

case $1 in
    apply)
        mapfile -t settings < <(factors)
        "${kubectl[@]}" set env "$WORKLOAD" ${CONTAINER:+--containers="$CONTAINER"} \
            "${settings[@]}" "TOOLSTORM_BOOT=${TOOLSTORM_BOOT:?}"
        "${kubectl[@]}" rollout status "$WORKLOAD" --timeout="${ROLLOUT_TIMEOUT:-15m}"
        ;;
    collect)
        "${kubectl[@]}" exec "$WORKLOAD" "${container[@]}" -- env >"${TMPDIR:-/tmp}/toolstorm-env.$$"
        trap 'rm -f "${TMPDIR:-/tmp}/toolstorm-env.$$"' EXIT
        while IFS='=' read -r name _; do
            sed -n "s/^$name=/$(tr '[:upper:]' '[:lower:]' <<<"$name")=/p" "${TMPDIR:-/tmp}/toolstorm-env.$$"
        done < <(factors)
        ;;
    stop) ;;
esac
