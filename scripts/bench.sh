#!/usr/bin/env bash
# Measures speed and memory against a bare client and other programs.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
    cat <<'TXT'
usage: scripts/bench.sh [--quick] [--only WORD] [--out DIR]

Builds the release preset and measures it: CPU per event and per request, memory,
lateness, each against a bare client and the other programs that are installed
(curl, hey, aiohttp, the official clients), all in turn and as medians of five
rounds. Takes about a quarter of an hour; --quick takes one round. --only measures
the workloads whose names hold WORD. Writes bench.json, bench.md and bench.svg to
reports/samples, or to DIR. Everything runs on loopback.
TXT
}

rounds=5 only='' out=reports/samples
while [ $# -gt 0 ]; do
    case $1 in
        --quick) rounds=1 ;;
        --only) only=${2:?--only needs a word}; shift ;;
        --out) out=${2:?--out needs a directory}; shift ;;
        --help|-h) usage; exit 0 ;;
        *) usage >&2; exit 2 ;;
    esac
    shift
done

build=${TOOLSTORM_BUILD:-build/release}
if [ -z "${TOOLSTORM_BUILD-}" ]; then
    cmake --preset release >/dev/null
fi
cmake --build "$build" --target toolstorm bench_server bench_client
python3 tests/bench/bench.py --build "$build" --out "$out" --rounds "$rounds" --only "$only"
