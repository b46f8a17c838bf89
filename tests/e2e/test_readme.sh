#!/usr/bin/env bash
# Every command of the README runs, in its order, in one directory, with a status that it documents.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
readme=$(cd "$(dirname "$0")/../.." && pwd)/README.md

start_sim --ttft 5ms --itl 1ms
mkdir "$work/bin" "$work/dir"
ln -s "$TOOLSTORM" "$work/bin/toolstorm"
export PATH=$work/bin:$PATH
cd "$work/dir"
n=0
while IFS= read -r line; do
    command=${line#\$ }
    command=${command//http:\/\/127.0.0.1:8000\/v1/$url}
    rc=0
    bash -c "$command" >"$work/out" 2>"$work/err" </dev/null || rc=$?
    case $rc in
        0|1|4) ;;
        *) cat "$work/err" >&2; fail "status $rc: $command" ;;
    esac
    n=$((n + 1))
    # The walk "Find the flag" is test_find_the_flag.sh's.
done < <(sed '/^## Find the flag/,/^## Smoke/d' "$readme" |
    awk '/^```console/{c=1;next} /^```/{c=0} c&&/^\$ /')
[ "$n" -ge 12 ] || fail "only $n commands found"

# The table of commands is the program's own.
"$TOOLSTORM" --help | sed -n 's/^  \([a-z]*\)  *\([a-z].*\)/\1|\2/p' >"$work/help"
# shellcheck disable=SC2016
sed -n 's/^| `\([a-z]*\)` | \(.*\) |$/\1|\2/p' "$readme" | tr -d '`' |
    grep -vE '^(leak|no_tool|error|ok)\|' >"$work/table"
diff "$work/help" "$work/table" >&2 || fail "the table of commands differs from --help"
