#!/usr/bin/env bash
# A sweep over a server that leaks only with three settings and load: boots of varying luck, a rate
# that drifts. It finds the main effects, the trend and the set, and what it prints is what it stored.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/sweep_lib.sh"

export SIM_FAULTS='leak.markup=0.2@factor.idxk=bf16,factor.graph=on,factor.overlap=1,inflight>1,luck=0.3,drift=1.3/200'
cat >"$work/plan.json" <<JSON
{"name": "find", "hook": "$hooks/simulated.sh", "blocks": 4,
 "factors": {"idxk": ["bf16", "fp8"], "graph": ["on", "off"], "overlap": [1, 0], "concurrency": [16, 1]},
 "run": {"sessions": 40, "rounds": 2, "context": 200, "warmup": 2}}
JSON
db=$work/sweep.db

# What it would do, without doing it.
status 0 "$TOOLSTORM" sweep --dry-run --db "$db" "$work/plan.json"
grep -qF '16 cells, 4 blocks: 64 server starts, 2688 sessions' "$work/out" || fail "dry run"
grep -qE '^ *1 +1 ' "$work/out" || fail "no schedule"
[ ! -e "$db" ] || fail "a dry run made a database"
no_server

status 0 "$TOOLSTORM" sweep --db "$db" "$work/plan.json"
no_server
grep -qF 'start 64 of 64, ' "$work/err" || fail "no word about how far it is"
grep -qE 'so far [0-9]+/[0-9]+.*(min|s) left' "$work/err" || fail "no rate so far, or no time left"
cp "$work/out" "$work/text"

for effect in 'idxk=fp8 against idxk=bf16' 'graph=off against graph=on' 'overlap=0 against overlap=1'; do
    grep -qF "$effect: IMPROVED" "$work/text" || { cat "$work/text" >&2; fail "effect not found: $effect"; }
done
grep -qF 'The rate rises with log2(concurrency)' "$work/text" || { cat "$work/text" >&2; fail "no trend"; }
grep -q 'idxk=bf16 AND graph=on' "$work/text" || fail "no set"

# Every start has a boot of its own, every block each cell once, and pairs of blocks are mirrored.
[ "$(sql "$db" "SELECT count(DISTINCT value) FROM run_tags WHERE key = 'boot'")" = 64 ] || fail "boots"
[ "$(sql "$db" 'SELECT count(*) FROM (SELECT DISTINCT block, cell FROM sweep_starts)')" = 64 ] || fail "blocks"
[ "$(sql "$db" 'SELECT count(*) FROM sweep_starts a JOIN sweep_starts b ON a.block = 1 AND b.block = 2
    AND a.place + b.place = 33 WHERE a.cell <> b.cell')" = 0 ] || fail "the second block mirrors the first"
# Warm-up sessions are stored and not counted.
[ "$(sql "$db" 'SELECT count(*) FROM sessions WHERE warmup')" = 128 ] || fail "warm-up"
[ "$(sql "$db" 'SELECT count(*) FROM sessions WHERE NOT warmup')" = 2560 ] || fail "sessions"
# What hooks said is kept.
[ "$(sql "$db" "SELECT count(*) FROM hook_calls WHERE action = 'apply' AND NOT failed
    AND CAST(output AS TEXT) LIKE 'base_url=http://%'")" = 64 ] || fail "hook output"

# Once more from the store, in each form.
status 0 "$TOOLSTORM" sweep --resume --quiet --db "$db" "$work/plan.json"
cmp -s "$work/out" "$work/text" || fail "the result printed again differs"
status 0 "$TOOLSTORM" sweep --resume --quiet --db "$db" --output md "$work/plan.json"
# shellcheck disable=SC2016 # backquotes of Markdown
grep -qF '| `idxk` | `graph` | `overlap` | `concurrency` | sessions |' "$work/out" || fail "Markdown"
status 0 "$TOOLSTORM" sweep --resume --quiet --db "$db" --output json "$work/plan.json"
corrupt=$(sql "$db" "SELECT count(*) FROM sessions WHERE NOT warmup AND class IN ('leak', 'no_tool')")
[ "$(sqlite3 :memory: "SELECT sum(json_extract(value, '\$.counts.corrupt'))
    FROM json_each(CAST(readfile('$work/out') AS TEXT), '\$.cells')")" = "$corrupt" ] || fail "JSON counts"
# compare pools the same runs by their tags.
status 0 "$TOOLSTORM" compare --db "$db" --output json idxk=bf16,graph=on,overlap=1,concurrency=16 \
    idxk=fp8,graph=on,overlap=1,concurrency=16
grep -qF '"paired_blocks":true' "$work/out" || { cat "$work/out" >&2; fail "compare by tags"; }
grep -qF '"verdict":"IMPROVED"' "$work/out" || { cat "$work/out" >&2; fail "compare by tags"; }

# A plan that has changed is not gone on with.
sed 's/"overlap": \[1, 0\]/"overlap": [0, 1]/' "$work/plan.json" >"$work/changed.json"
status 2 "$TOOLSTORM" sweep --resume --db "$db" "$work/changed.json"
says "has changed"
status 2 "$TOOLSTORM" sweep --resume --db "$db" "$work/plan.json" -- --sessions 50
says "has changed"
sed 's/"find"/"other"/' "$work/plan.json" >"$work/other.json"
status 2 "$TOOLSTORM" sweep --resume --db "$db" "$work/other.json"
says "there is no sweep 'other'"

# Mistakes are found before anything starts.
bad() {
    printf '%s' "$1" >"$work/bad.json"
    status 2 "$TOOLSTORM" sweep --db "$work/none.db" "$work/bad.json"
    says "$2"
    [ ! -e "$work/none.db" ] || fail "a bad plan made a database: $1"
}
bad '{"factors": {"a": [1, 2]}, "run": {"sesions": 3}}' "'--sessions'"
bad '{"factors": {"rounds": [1, "many"]}}' "'--rounds many'"
bad '{"factors": {"stream": [1, "perhaps"]}}' "neither on nor off"
bad '{"factors": {"a": [1, 2]}, "run": {"scenario": "nowhere"}}' "nowhere"
bad '{"factors": {"a": []}}' "factors.a"
status 2 "$TOOLSTORM" sweep --db "$work/none.db"
says "sweep needs a plan file"
