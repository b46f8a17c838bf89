#!/usr/bin/env bash
# Measures speed and memory against a bare client and other programs.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
    cat <<'TXT'
usage: scripts/bench.sh [--quick] [--rounds N] [--runs N] [--only WORD] [--out DIR]
       scripts/bench.sh --join [--out DIR] DIR...

Builds the release preset and measures it: CPU per event and per request, memory,
lateness, each against a bare client and the other programs that are installed
(curl, hey, aiohttp, httpx, the official clients), all in turn and as medians of
five rounds, or --rounds N. Takes about a quarter of an hour; --quick takes one
round. --only measures the workloads whose names hold WORD. Everything runs on
loopback.

Writes bench.json, bench.md and bench.svg to reports/samples, or to DIR. --runs N
measures everything N times over, and the table says in how many of the runs each
target held; --join makes the same of runs that were measured before, from the
bench.json files in the folders named.
TXT
}

rounds=5 runs=1 only='' out=reports/samples join=''
dirs=()
while [ $# -gt 0 ]; do
    case $1 in
        --quick) rounds=1 ;;
        --rounds) rounds=${2:?--rounds needs a number}; shift ;;
        --runs) runs=${2:?--runs needs a number}; shift ;;
        --only) only=${2:?--only needs a word}; shift ;;
        --out) out=${2:?--out needs a directory}; shift ;;
        --join) join=1 ;;
        --help|-h) usage; exit 0 ;;
        -*) usage >&2; exit 2 ;;
        *) dirs+=("$1") ;;
    esac
    shift
done
[[ $rounds =~ ^[1-9][0-9]*$ && $runs =~ ^[1-9][0-9]*$ ]] || { usage >&2; exit 2; }

if [ -n "$join" ]; then
    [ ${#dirs[@]} -gt 0 ] || { usage >&2; exit 2; }
    exec python3 tests/bench/bench.py --out "$out" --join "${dirs[@]}"
fi
[ ${#dirs[@]} -eq 0 ] || { usage >&2; exit 2; }
build=${TOOLSTORM_BUILD:-build/release}
if [ -z "${TOOLSTORM_BUILD-}" ]; then
    cmake --preset release >/dev/null
fi
cmake --build "$build" --target toolstorm bench_server bench_client quality_program
python3 tests/bench/bench.py --build "$build" --out "$out" --rounds "$rounds" --runs "$runs" --only "$only"
