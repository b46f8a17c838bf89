#!/usr/bin/env bash
# A seed repeats a run; any number of threads and any chunking gives the same rows.
# labels: threads
set -euo pipefail
. "$(dirname "$0")/lib.sh"

rows() {
    local name=$1
    shift
    status 1 "$TOOLSTORM" run --quiet --sessions 60 --concurrency 30 --rounds 3 --context 300 \
        --sim-ttft 1ms --sim-itl 0 --db "$work/$name.db" --seed 9 --fault leak.markup=0.1 \
        --fault leak.value=0.1 --fault no_tool.prose=0.1 "$@"
    sql "$work/$name.db" "
        SELECT s.session, s.class, s.reason, s.first_bad_round, s.canary, r.round, r.class, r.reason,
               r.finish, r.status, f.reason, f.channel, f.offset, f.length, hex(f.excerpt)
        FROM sessions s JOIN rounds r ON r.run = s.run AND r.session = s.session
        LEFT JOIN findings f ON f.run = r.run AND f.session = r.session AND f.round = r.round
        ORDER BY s.session, r.round, f.reason, f.offset" >"$work/$name.rows"
    [ -s "$work/$name.rows" ] || fail "$name: no rows"
}

rows one --threads 1
rows again --threads 1
rows four --threads 4
rows split --threads 2 --sim-split 3
for other in again four split; do
    diff "$work/one.rows" "$work/$other.rows" >&2 || fail "'$other' gives other rows"
done

# --only plays one of them the same way.
status 1 "$TOOLSTORM" run --quiet --sessions 60 --rounds 3 --context 300 --seed 9 --db "$work/only.db" \
    --only "$(cut -d'|' -f1,2 "$work/one.rows" | grep 'leak' | head -n 1 | cut -d'|' -f1)" \
    --fault leak.markup=0.1 --fault leak.value=0.1 --fault no_tool.prose=0.1
[ "$(sql "$work/only.db" 'SELECT count(*) FROM sessions')" = 1 ] || fail "--only played more than one"
