#!/usr/bin/env bash
# The help texts are what tests/golden/help holds. TOOLSTORM_GOLDEN=update writes them anew.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
golden=$(cd "$(dirname "$0")/../golden" && pwd)/help

commands=$("$TOOLSTORM" --help | sed -n 's/^  \([a-z][a-z]*\) .*/\1/p')
[ "$(wc -l <<<"$commands")" -ge 15 ] || fail "too few commands: $commands"
mkdir "$work/help"
"$TOOLSTORM" --help >"$work/help/toolstorm.txt"
for c in $commands; do
    "$TOOLSTORM" "$c" --help >"$work/help/$c.txt" || fail "$c --help"
    # `help COMMAND` says the same.
    [ "$c" = help ] || "$TOOLSTORM" help "$c" | diff "$work/help/$c.txt" - >&2 || fail "help $c differs"
done
for topic in exit classes scenarios; do
    "$TOOLSTORM" help "$topic" >"$work/help/topic-$topic.txt" || fail "help $topic"
done
if [ "${TOOLSTORM_GOLDEN-}" = update ]; then
    rm -rf "$golden"
    cp -r "$work/help" "$golden"
fi
diff -r "$golden" "$work/help" >&2 || fail "help texts differ from tests/golden/help"
if grep -nE '^.{101,}' "$work"/help/*.txt >&2; then fail "a help line is wider than 100 columns"; fi
