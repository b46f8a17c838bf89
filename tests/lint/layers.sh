#!/usr/bin/env bash
# The rules of the source tree that a compiler does not check. Run in the project's root.
set -euo pipefail
cd "$(dirname "$0")/../.."
status=0
complain() { echo "$*" >&2; status=1; }

# Third-party headers have one home each.
home() {
    local where
    where=$(grep -rlE "#include <([a-z0-9]+/)?$1>" src | xargs -r -n 1 dirname | sort -u)
    [ "$where" = "$2" ] || complain "<$1> belongs to $2 alone, found in: ${where:-nowhere}"
}
home cJSON.h src/base
home pcre2.h src/base
home curl.h src/wire
home sqlite3.h src/store
home zlib.h src/store

# Layers that measure do not print.
hits=$(grep -rnE '\b(printf|fprintf|puts|fputs|perror)\(' src/wire src/judge src/stats src/chat src/scenario src/load || true)
[ -z "$hits" ] || complain "output call in a measuring layer:"$'\n'"$hits"

# judge and stats read no clock and start no thread.
hits=$(grep -rnE '\b(clock_[a-z]+_us|time|gettimeofday|pthread_create)\(' src/judge src/stats || true)
[ -z "$hits" ] || complain "clock or thread in a pure layer:"$'\n'"$hits"

# Banned calls.
hits=$(grep -rnE '\b(strcpy|strcat|sprintf|gets|strtok|atoi|atof|rand|srand)\(' src || true)
[ -z "$hits" ] || complain "banned call:"$'\n'"$hits"

# Markup and the names of model families and servers are data.
hits=$(grep -rniE 'deepseek|qwen|kimi|hermes|minimax|harmony|vllm|sglang|ollama|<tool_call|\[TOOL_CALLS' src --include='*.[ch]' || true)
[ -z "$hits" ] || complain "a family's or server's name, or markup, in the source:"$'\n'"$hits"

# Headers include the few project headers whose structs they hold by value, and no more.
for f in src/*/*.h; do
    n=$(grep -c '^#include ".*\.h"' "$f" || true)
    [ "$n" -le 5 ] || complain "$f includes $n project headers"
done

# No header over 200 lines, no source over 500; tables are exempt.
for f in src/*/*.h; do
    n=$(wc -l <"$f"); [ "$n" -le 200 ] || complain "$f has $n lines"
done
for f in src/*/*.c; do
    n=$(wc -l <"$f")
    [ "$n" -le 500 ] || case $f in *_table.c|*_options.c) ;; *) complain "$f has $n lines" ;; esac
done
exit $status
