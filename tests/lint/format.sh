#!/usr/bin/env bash
# Every source file stands as clang-format writes it.
set -euo pipefail
cd "$(dirname "$0")/../.."
find src tests -name '*.[ch]' -print0 | xargs -0 clang-format --dry-run -Werror
