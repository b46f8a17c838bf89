#!/usr/bin/env bash
# Shell scripts are shellcheck-clean, and each of scripts/ has --help.
set -euo pipefail
cd "$(dirname "$0")/../.."
find scripts tests .ci -name '*.sh' -print0 | xargs -0 shellcheck -x .ci/run
for s in scripts/*.sh; do
    "$s" --help | grep -q '^usage: ' || { echo "$s has no --help" >&2; exit 1; }
done
