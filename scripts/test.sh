#!/usr/bin/env bash
# Installs, builds and runs every test. The last line is "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
    cat <<'TXT'
usage: scripts/test.sh [--label REGEX]

Installs what is needed, builds with sanitizers, and runs every test that a
change must pass: unit, case files, end to end, lint, under ASan and UBSan; what
has threads under TSan as well. With --label only tests of that label.
TXT
}

label='unit|cases|e2e|lint|fuzz'
case "${1-}" in
    "") ;;
    --label) label=${2:?--label needs a regular expression} ;;
    --help|-h) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
esac

scripts/install.sh --test
jobs=$(nproc)
passed=0 failed=0

# Counts the results of one CTest run.
count() {
    local tests failures
    tests=$(sed -n 's/.*<testsuite[^>]* tests="\([0-9]*\)".*/\1/p;s/^\s*tests="\([0-9]*\)".*/\1/p' "$1" | head -n 1)
    failures=$(sed -n 's/^\s*failures="\([0-9]*\)".*/\1/p' "$1" | head -n 1)
    passed=$((passed + tests - failures))
    failed=$((failed + failures))
}

# suite PRESET LABELS: builds a preset and runs its tests of these labels.
suite() {
    echo "== $1: build"
    if ! cmake --preset "$1" >/dev/null || ! cmake --build --preset "$1" -- -j "$jobs" | tail -n 20; then
        failed=$((failed + 1))
        return
    fi
    if [ -z "$2" ]; then
        passed=$((passed + 1))
        return
    fi
    echo "== $1: tests ($2)"
    local results=$PWD/build/$1/results.xml
    ctest --test-dir "build/$1" -L "$2" -LE slow -j "$jobs" --no-tests=ignore --timeout 600 \
        --output-on-failure --output-junit "$results" || true
    count "$results"
}

suite dev "$label"
if [ -z "${1-}" ]; then
    suite tsan threads
    suite clang ""
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
