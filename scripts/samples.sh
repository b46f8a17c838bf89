#!/usr/bin/env bash
# Makes reports/samples anew: what `toolstorm report` writes of the demo.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
    cat <<'TXT'
usage: scripts/samples.sh

Runs scripts/demo.sh and writes its HTML, Markdown and JSON report to
reports/samples/demo.html, demo.md and demo.json.
TXT
}

case "${1-}" in
    "") ;;
    --help|-h) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
esac

db=build/samples/demo.db
mkdir -p build/samples
rm -f "$db"*
scripts/demo.sh --db "$db"
build/release/toolstorm report --db "$db" --transcripts 8 --html reports/samples/demo.html \
    --md reports/samples/demo.md --json reports/samples/demo.json
