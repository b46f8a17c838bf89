#!/usr/bin/env bash
# A hook for a server that is a service of docker compose.
set -euo pipefail

usage() {
    cat <<'TXT'
usage: compose.sh apply|collect|stop

A hook for `toolstorm sweep` and `toolstorm isolate`. Recreates the service with
the factors in the environment; the compose file passes them on:
    services:
      server:
        environment:
          - TOOLSTORM_FACTOR_GRAPH
        command: ["/opt/serve.sh"]
`collect` reads them back from the running container.

environment:
  SERVICE       name of the service (default: server)
  COMPOSE_FILE  as docker compose knows it
TXT
}

service=${SERVICE:-server}
case "${1-}" in
    apply)
        docker compose up --detach --force-recreate --no-deps "$service" ;;
    collect)
        docker compose exec -T "$service" env | LC_ALL=C sort |
            while IFS='=' read -r name level; do
                case $name in
                    TOOLSTORM_FACTOR_*)
                        name=${name#TOOLSTORM_FACTOR_}
                        echo "$(tr '[:upper:]' '[:lower:]' <<<"$name")=$level" ;;
                esac
            done ;;
    stop)
        docker compose stop "$service" ;;
    --help|-h) usage ;;
    *) usage >&2; exit 2 ;;
esac
