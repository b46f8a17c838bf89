#!/usr/bin/env bash
# Shards that were played apart and merged are the run that one machine would have stored; databases of
# several machines become one.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

options=(--quiet --sessions 60 --rounds 3 --context 200 --seed 9 --label split --tag graph=on
    --sim-ttft 2ms --sim-itl 1ms --keep all --fault leak.markup=0.1 --fault leak.value=0.1
    --fault no_tool.prose=0.1 --fault error.cut=0.05)

status 1 "$TOOLSTORM" run "${options[@]}" --concurrency 12 --db "$work/whole.db"
for k in 1 2 3; do
    "$TOOLSTORM" run "${options[@]}" --concurrency 4 --shard "$k/3" --db "$work/$k.db" \
        >"$work/out.$k" 2>"$work/err.$k" || [ $? -eq 1 ] || fail "shard $k"
done
cp "$work/1.db" "$work/1.copy"

# Without one of them nothing is made, unless it is asked for.
status 2 "$TOOLSTORM" merge --db "$work/merged.db" "$work/1.db" "$work/3.db"
says "shard 2/3 of run 'split' is missing"
[ ! -e "$work/merged.db" ] || fail "a database was left"
status 0 "$TOOLSTORM" merge --partial --db "$work/merged.db" "$work/3.db" "$work/1.db"
[ "$(cat "$work/out")" = "$work/3.db: 1 new run, 20 new sessions
$work/1.db: 0 new runs, 20 new sessions" ] || { cat "$work/out" >&2; fail "what it says"; }
status 0 "$TOOLSTORM" query summary warnings --db "$work/merged.db" --output csv
grep -qF 'it was merged without all of its shards; the figures are those of the 40 of 60 sessions' "$work/out" ||
    { cat "$work/out" >&2; fail "nothing says that a shard is missing"; }
status 0 "$TOOLSTORM" merge --db "$work/merged.db" "$work/2.db"
cmp "$work/1.db" "$work/1.copy" || fail "a file that was merged was changed"

# answers DB: what reports say that does not depend on time.
answers() {
    local db=$1 section
    for section in counts reasons first_bad quirks damaged twins; do
        "$TOOLSTORM" query summary "$section" --db "$db" --output json |
            jq 'walk(if type == "object" then del(.steady_corrupted, .steady_judged, .steady_low, .steady_bound, .steady_text) else . end)'
    done
    "$TOOLSTORM" query --db "$db" --output csv --sql "SELECT s.session, s.start_order, s.class, s.reason,
            s.first_bad_round, s.rounds_played, s.canary, r.round, r.class, r.reason, r.finish,
            r.prompt_tokens, r.completion_tokens, r.quirks, f.reason, f.channel, f.offset, hex(f.excerpt)
        FROM sessions s JOIN rounds r USING (run, session)
        LEFT JOIN findings f USING (run, session, round) ORDER BY 1, 8, 15, 17"
    "$TOOLSTORM" query --db "$db" --output csv --sql "SELECT session, round, part, size FROM evidence
        WHERE part IN ('request', 'response') ORDER BY 1, 2, 3"
    "$TOOLSTORM" query --db "$db" --output csv --sql "SELECT status, label, sessions, concurrency, rounds,
        seed, model, scenario FROM runs"
    "$TOOLSTORM" query --db "$db" --output csv --sql "SELECT key, value FROM run_settings
        WHERE key <> 'db' ORDER BY 1"
    "$TOOLSTORM" query --db "$db" --output csv --sql 'SELECT key, value FROM run_tags'
}
answers "$work/whole.db" >"$work/want"
[ "$(wc -l <"$work/want")" -gt 300 ] || fail "too little to compare"
answers "$work/merged.db" | diff "$work/want" - >&2 || fail "the merged run is another"

# Sessions can be shown, and judged again from their settings.
status 0 "$TOOLSTORM" show 1 17 --db "$work/merged.db"
status 0 "$TOOLSTORM" rejudge 1 --db "$work/merged.db"
status 0 "$TOOLSTORM" report 1 --db "$work/merged.db" --html "$work/page.html"
grep -qF 'each played by a client of its own' "$work/page.html" || fail "the report does not say it was joined"

# A second time, nothing.
sql "$work/merged.db" .dump >"$work/before"
status 0 "$TOOLSTORM" merge --db "$work/merged.db" "$work/2.db" "$work/1.db" "$work/3.db"
grep -qv '0 new runs, 0 new sessions' "$work/out" && { cat "$work/out" >&2; fail "something came twice"; }
sql "$work/merged.db" .dump | diff "$work/before" - >&2 || fail "a second merge changed something"

# Runs that have nothing to do with each other stand side by side, and compare.
status 1 "$TOOLSTORM" run "${options[@]}" --concurrency 12 --label other --db "$work/other.db"
status 0 "$TOOLSTORM" merge --db "$work/all.db" "$work/merged.db" "$work/other.db" --quiet
[ ! -s "$work/out" ] || fail "--quiet is not"
[ "$(sql "$work/all.db" 'SELECT group_concat(run || label) FROM (SELECT * FROM runs ORDER BY run)')" = 1split,2other ] || fail "two runs"
"$TOOLSTORM" compare split other --db "$work/all.db" >"$work/out" 2>"$work/err" || [ $? -eq 4 ] || fail compare

# Shards that were played into one file.
for k in 1 2; do
    "$TOOLSTORM" run "${options[@]}" --concurrency 6 --shard "$k/2" --db "$work/same.db" >/dev/null 2>&1 || [ $? -eq 1 ]
done
status 0 "$TOOLSTORM" merge --db "$work/out.db" "$work/same.db"
answers "$work/out.db" | diff "$work/want" - >&2 || fail "shards of one file"

# Files that can't be merged: one line, and the database as it was.
refused() {
    local want=$1 text=$2
    shift 2
    status "$want" "$TOOLSTORM" merge --db "$work/merged.db" "$@"
    says "$text"
    sql "$work/merged.db" .dump | diff "$work/before" - >&2 || fail "a refused merge changed something"
}
"$TOOLSTORM" run "${options[@]}" --concurrency 4 --shard 1/3 --db "$work/twice.db" >/dev/null 2>&1 || [ $? -eq 1 ]
refused 2 "session 1 is in run 1" "$work/other.db" "$work/twice.db"
refused 2 "leave it out" "$work/other.db" "$work/merged.db"
refused 2 "No such file" "$work/other.db" "$work/nothing.db"
refused 2 "is not a database" "$work/other.db" "$TOOLSTORM"
sqlite3 "$work/foreign.db" 'CREATE TABLE t (a)'
refused 2 "belongs to another program" "$work/foreign.db"
refused 2 "expected the databases to merge"
"$TOOLSTORM" run --quiet --sessions 200 --concurrency 50 --context 4000 --sim-ttft 0 --sim-itl 0 --keep all \
    --db "$work/big.db" >/dev/null 2>&1
status 5 bash -c "ulimit -f 1200; exec \"$TOOLSTORM\" merge --db \"$work/merged.db\" \"$work/big.db\""
says "cannot write database"
sql "$work/merged.db" .dump | diff "$work/before" - >&2 || fail "a full disk changed something"

# A killed shard is resumed and merged anew.
options[2]=600
"$TOOLSTORM" run "${options[@]}" --concurrency 4 --shard 1/2 --db "$work/a.db" >/dev/null 2>&1 &
pid=$!
pids+=("$pid")
until [ "$(sql "$work/a.db" 'SELECT count(*) FROM sessions' 2>/dev/null || echo 0)" -ge 5 ]; do pause; done
kill -KILL "$pid"
wait "$pid" 2>/dev/null || true
status 0 "$TOOLSTORM" merge --partial --db "$work/late.db" "$work/a.db"
"$TOOLSTORM" run "${options[@]}" --concurrency 4 --shard 2/2 --db "$work/b.db" >/dev/null 2>&1 || [ $? -eq 1 ]
"$TOOLSTORM" run "${options[@]}" --concurrency 4 --shard 1/2 --db "$work/a.db" --resume >/dev/null 2>&1 || [ $? -eq 1 ]
status 0 "$TOOLSTORM" merge --db "$work/late.db" "$work/b.db" "$work/a.db"
[ "$(sql "$work/late.db" 'SELECT status || (SELECT count(*) FROM sessions) FROM runs')" = done600 ] ||
    fail "a shard that was gone on with"
