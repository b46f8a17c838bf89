#!/usr/bin/env bash
# A hook for a server that is a systemd unit: an environment drop-in and a restart.
set -euo pipefail

usage() {
    cat <<'TXT'
usage: systemd.sh apply|collect|stop

A hook for `toolstorm sweep` and `toolstorm isolate`. Writes the factors as
environment variables (graph=on becomes GRAPH=on) into a runtime drop-in of the
unit and restarts it; the unit's command line uses them, as in
    ExecStart=/opt/serve.sh ${GRAPH} ${OVERLAP}
`stop` stops the unit and takes the drop-in away, so that the next start is the
unit's own.

environment:
  UNIT          name of the unit (needed)
  SYSTEMD_USER  1 for a unit of the user (systemctl --user)
  RESTART_AFTER 1: `stop` starts the unit again as it was
TXT
}

case "${1-}" in
    apply|collect|stop) ;;
    --help|-h) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
esac

: "${UNIT:?set UNIT to the name of the unit}"
command -v systemctl >/dev/null || { echo "this host has no systemd"; exit 1; }
control=(systemctl) folder=/run/systemd/system/$UNIT.d
if [ "${SYSTEMD_USER-}" = 1 ]; then
    control+=(--user)
    folder=${XDG_RUNTIME_DIR:?}/systemd/user/$UNIT.d
fi
file=$folder/90-toolstorm.conf

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
        mkdir -p "$folder"
        {
            echo '[Service]'
            # Quotes and percent signs have a meaning in unit files.
            factors | sed 's/["\\]/\\&/g; s/%/%%/g; s/.*/Environment="&"/'
        } >"$file"
        "${control[@]}" daemon-reload
        "${control[@]}" restart "$UNIT"
        ;;
    collect)
        pid=$("${control[@]}" show --property=MainPID --value "$UNIT")
        [ "$pid" -gt 0 ] || { "${control[@]}" status --no-pager "$UNIT" || true; exit 1; }
        # What the running process really has.
        while IFS='=' read -r name _; do
            tr '\0' '\n' <"/proc/$pid/environ" | sed -n "s/^$name=/$(tr '[:upper:]' '[:lower:]' <<<"$name")=/p"
        done < <(factors)
        ;;
    stop)
        "${control[@]}" stop "$UNIT"
        rm -f "$file"
        "${control[@]}" daemon-reload
        [ "${RESTART_AFTER-}" != 1 ] || "${control[@]}" start "$UNIT"
        ;;
esac
