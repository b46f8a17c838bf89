#!/usr/bin/env bash
# Installs, builds, and shows the main job: a damaged configuration, a clean one, their comparison.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
    cat <<'TXT'
usage: scripts/demo.sh [--db FILE]

Installs what is needed, builds toolstorm, and runs it against its own simulated
endpoint: once with damaged replies, once clean, then compares the two.
TXT
}

db=
case "${1-}" in
    "") ;;
    --db) db=${2:?--db needs a file} ;;
    --help|-h) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
esac

scripts/install.sh
built=$({ cmake --preset release && cmake --build --preset release -- -j "$(nproc)"; } 2>&1) || {
    echo "$built" >&2
    exit 1
}
toolstorm=build/release/toolstorm

if [ -z "$db" ]; then
    db=$(mktemp -d)/demo.db
fi

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
# Exit status 1 means that corruption was found, and 4 that the data can't tell: both are shown here.
shown() {
    printf '$ %s\n' "$*"
    "$@" || case $? in 1|4) ;; *) exit 1 ;; esac
}

# play LABEL BLOCK FLAGS...: 40 sessions of 3 rounds, all in flight at once, on a fresh endpoint.
play() {
    local label=$1 block=$2
    shift 2
    shown "$toolstorm" run --sessions 40 --concurrency 40 --rounds 3 --label "$label" \
        --tag "block=$block" --db "$db" "$@"
}
faults=(--fault 'leak.markup=0.15@inflight>1' --fault 'leak.value=0.05@inflight>1')

say "1. A damaged configuration: it leaks tool-call markup and alters values, under load only"
play damaged 1 "${faults[@]}"

say "2. The same sessions on a clean configuration"
play clean 1

say "3. Both once more, in the other order: one run each could be luck"
play clean 2 --quiet --seed 2 | head -n 2
play damaged 2 --quiet "${faults[@]}" --seed 2 | head -n 2

say "4. May one say that they differ?"
shown "$toolstorm" compare damaged clean --db "$db"

say "Next"
printf '%s\n' "The runs are in $db." \
    "Against your own server:" \
    "  $toolstorm run --base-url http://HOST:PORT/v1 --sessions 160 --concurrency 40"
