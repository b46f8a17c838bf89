#!/usr/bin/env bash
# Every command of the README's walk and of scripts/README.md runs, in its order, and the walk ends with
# the right set named, in far less than ten minutes.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/sweep_lib.sh"
scripts=$(cd "$hooks/.." && pwd)

mkdir "$work/bin" "$work/dir"
ln -s "$TOOLSTORM" "$work/bin/toolstorm"
ln -s "$scripts" "$work/dir/scripts"
export PATH=$work/bin:$PATH
cd "$work/dir"
n=0 began=$SECONDS
while IFS= read -r line; do
    rc=0
    # In this shell: later commands need what earlier ones export.
    eval "${line#\$ }" >"$work/out" 2>"$work/err" </dev/null || rc=$?
    case $rc in
        0|1|4) ;;
        *) cat "$work/err" >&2; fail "status $rc: $line" ;;
    esac
    n=$((n + 1))
    case $line in
        *'isolate --quiet'*)
            tr '\n' ' ' <"$work/out" | tr -s ' ' |
                grep -qF 'Needed: idxk=bf16 AND graph=on AND overlap=1 AND concurrency=16.' ||
                { cat "$work/out" >&2; fail "not the set"; } ;;
        *'toolstorm sweep'*)
            tr '\n' ' ' <"$work/out" | tr -s ' ' |
                grep -qF 'must come together: idxk=bf16 AND graph=on AND overlap=1 AND concurrency=16' ||
                { cat "$work/out" >&2; fail "not the set by likelihood"; } ;;
    esac
done < <(sed -n '/^## Find the flag/,/^## Smoke/p' "$scripts/../README.md" | cat - "$scripts/README.md" |
    awk '/^```console/{c=1;next} /^```/{c=0} c&&/^\$ /')
[ "$n" -ge 6 ] || fail "only $n commands found"
[ $((SECONDS - began)) -lt 600 ] || fail "took $((SECONDS - began)) s"
no_server

# Every hook is in its table.
for file in "$hooks"/*.sh; do
    grep -qF "${file#"$scripts"/}" "$scripts/README.md" || fail "not in the README: $file"
done
