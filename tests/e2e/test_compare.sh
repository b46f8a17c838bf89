#!/usr/bin/env bash
# compare and plan, by their words, figures and exit statuses.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
db=(--db "$work/c.db")

play() { # LABEL SEED FLAGS...
    local label=$1 seed=$2 rc=0
    shift 2
    "$TOOLSTORM" run --quiet --sessions 60 --concurrency 30 --rounds 3 --context 200 --sim-ttft 1ms \
        --sim-itl 0 --label "$label" --seed "$seed" "${db[@]}" "$@" >/dev/null 2>"$work/err" || rc=$?
    case $rc in 0|1) ;; *) cat "$work/err" >&2; fail "run ended with $rc" ;; esac
}
bad=(--fault leak.markup=0.3)
play broken 1 "${bad[@]}"; play fine 1
play fine 2; play broken 2 "${bad[@]}"
play fine2 1; play fine2 2

status 0 "$TOOLSTORM" compare broken fine "${db[@]}"
grep -q '^A to B: IMPROVED' "$work/out" || { cat "$work/out" >&2; fail "no improvement seen"; }
status 1 "$TOOLSTORM" compare fine broken "${db[@]}"
grep -q '^A to B: REGRESSED' "$work/out" || fail "no regression seen"
grep -q 'baseline not reproduced' "$work/out" && fail "a clean baseline weakens a regression"
hint=$(grep -o 'toolstorm show .*' "$work/out") || fail "no session to look at"
# shellcheck disable=SC2086
status 0 "$TOOLSTORM" ${hint#toolstorm }
status 4 "$TOOLSTORM" compare fine fine2 "${db[@]}"
grep -q 'NOTHING REPRODUCED' "$work/out" || fail "two clean arms say something"
status 0 "$TOOLSTORM" compare 1 2 3 "${db[@]}"
grep -q 'after Holm' "$work/out" || fail "three arms without Holm"
status 2 "$TOOLSTORM" compare fine "${db[@]}"
says "two configurations"
status 2 "$TOOLSTORM" compare fine nobody "${db[@]}"
says "labels and tags in the database: broken, fine, fine2"
play slow 1 --concurrency 5
status 2 "$TOOLSTORM" compare fine slow "${db[@]}"
says "say --varying concurrency"
status 4 "$TOOLSTORM" compare fine slow --varying concurrency "${db[@]}"
for words in 'no difference' 'same' 'fixed'; do
    for pair in 'broken fine' 'fine broken' 'fine fine2'; do
        # shellcheck disable=SC2086
        "$TOOLSTORM" compare $pair "${db[@]}" >"$work/out" || true
        grep -qF "$words" "$work/out" && fail "compare says '$words'"
        grep -qE 'p=0\.0*([^0-9]|$)' "$work/out" && fail "compare says that p is zero"
    done
done

status 0 "$TOOLSTORM" compare broken fine "${db[@]}" --output json
jq -e '.comparisons[0].verdict == "IMPROVED" and .arms[0].judged == 120 and
       (.arms[0].starts | length) == 2 and .comparisons[0].paired_blocks' "$work/out" >/dev/null ||
    { cat "$work/out" >&2; fail "json"; }
# Text, Markdown and JSON show the counts that the store holds.
x=$(sql "$work/c.db" "SELECT count(*) FROM sessions JOIN runs USING (run) WHERE label = 'broken' AND class <> 'ok'")
[ "$(jq '.arms[0].corrupt' "$work/out")" = "$x" ] || fail "json and store differ"
"$TOOLSTORM" compare broken fine "${db[@]}" --output md | grep -qF "$x/120" || fail "md and store differ"
"$TOOLSTORM" compare broken fine "${db[@]}" | grep -qF "$x/120" || fail "text and store differ"

plan() { "$TOOLSTORM" plan --db "$work/none.db" --output json "$@"; }
[ "$(plan --certify 1% | jq .sessions)" = 299 ] || fail "plan --certify"
[ "$(plan --from 15% --to 3% --power 90% | jq .sessions_per_arm)" = 111 ] || fail "plan --from --to"
[ "$(plan --from 15% --to 7.5% | jq .sessions_per_arm)" = 273 ] || fail "plan at 80 %"
[ "$(plan --from 15% --to 3% --power 90% | jq .sessions_per_arm_with_noise)" = 139 ] || fail "plan with noise"
[ "$(plan --equivalent 3pp --at 5% --power 90% | jq .sessions_per_arm)" = 1143 ] || fail "plan --equivalent"
[ "$(plan --detect 10% --against 1% --power 95% | jq .clean_to_pass)" = 31 ] || fail "plan --detect"
status 2 "$TOOLSTORM" plan
says "plan needs"
status 2 "$TOOLSTORM" plan --from 15%
says "needs '--to'"
"$TOOLSTORM" plan --from 15% --to 3% "${db[@]}" | grep -q 'of load at concurrency' || fail "plan does not use the database"

# A run that ends when it is decided.
status 0 "$TOOLSTORM" run --quiet --until decided --sessions 200 --concurrency 10 --context 200 \
    --sim-ttft 1ms --sim-itl 0 "${db[@]}" --label until-fine
n=$(sql "$work/c.db" "SELECT count(*) FROM sessions JOIN runs USING (run) WHERE label = 'until-fine'")
((n >= 31 && n <= 60)) || fail "the test took $n sessions, 31 are needed"
status 1 "$TOOLSTORM" run --quiet --until decided --sessions 200 --concurrency 10 --context 200 \
    --sim-ttft 1ms --sim-itl 0 "${db[@]}" --label until-broken "${bad[@]}"
status 4 "$TOOLSTORM" run --quiet --until decided --sessions 20 --concurrency 10 --context 200 \
    --sim-ttft 1ms --sim-itl 0 "${db[@]}" --label until-short
status 0 "$TOOLSTORM" run --quiet --certify 5% --concurrency 20 --context 200 --sim-ttft 1ms --sim-itl 0 \
    "${db[@]}" --label certified
grep -q '0/59' "$work/out" || fail "--certify 5% does not play 59 sessions"
