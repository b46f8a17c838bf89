#!/usr/bin/env bash
# Isolation names exactly the settings that the damage needs, in three seeds; its refusals.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/sweep_lib.sh"
. "$(dirname "$0")/isolate_lib.sh"

for seed in 1 2 3; do
    isolate_seed "$seed" "$work/isolate.json" '"idxk=bf16","graph=on","overlap=1","concurrency=16"'
done

# The same search once more from the store; its evidence in words.
status 0 "$TOOLSTORM" isolate --resume --quiet --db "$work/seed-3.db" "$work/isolate.json" -- --seed 3
grep -qE 'idxk=fp8 +0/[0-9]+: below [0-9.]+% .*clean: idxk=bf16 is needed' "$work/out" || fail "evidence"
grep -qF 'Assumption: switching a flag on never hides the damage' "$work/out" || fail "assumption"
grep -qE 'control: all on +[0-9]+/[0-9]+ +still corrupts' "$work/out" || fail "controls"
grep -qE 'alone: .* corrupts: confirmed' "$work/out" || fail "confirmation"
status 0 "$TOOLSTORM" isolate --resume --quiet --db "$work/seed-3.db" --output md "$work/isolate.json" -- --seed 3
grep -q '^| 1 | baseline: all on |' "$work/out" || fail "Markdown"

# What it would cost.
status 0 "$TOOLSTORM" isolate --dry-run "$work/isolate.json"
grep -qF '5 flags, at most' "$work/out" || fail "dry run"

# A baseline that is clean, or damaged too seldom, is refused.
SIM_FAULTS='' status 4 "$TOOLSTORM" isolate --db "$work/clean.db" "$work/isolate.json"
grep -qF 'Refused: with all flags on, 0/160' "$work/out" || { cat "$work/out" >&2; fail "no refusal"; }
no_server

# Damage that no flag is needed for.
SIM_FAULTS='leak.markup=0.5' status 4 "$TOOLSTORM" isolate --db "$work/always.db" "$work/isolate.json"
grep -qF 'No flag is needed' "$work/out" || { cat "$work/out" >&2; fail "needs none"; }

# Two independent causes are both named.
SIM_FAULTS='leak.markup=0.4@factor.graph=on
leak.value=0.4@factor.idxk=bf16,factor.overlap=1' \
    status 0 "$TOOLSTORM" isolate --db "$work/two.db" --output json "$work/isolate.json"
if ! grep -qF '"needed":[["idxk=bf16","overlap=1"],["graph=on"]]' "$work/out" &&
    ! grep -qF '"needed":[["graph=on"],["idxk=bf16","overlap=1"]]' "$work/out"; then
    cat "$work/out" >&2
    fail "two causes"
fi

# Damage that goes away while the search runs is noticed by a control.
SIM_FAULTS='leak.markup=0.6@boot=base' status 4 "$TOOLSTORM" isolate --db "$work/lost.db" "$work/lost.json"
grep -qF 'Stopped: with all flags on the damage no longer shows' "$work/out" || { cat "$work/out" >&2; fail "lost"; }

# Factors of more than two levels are for sweeps.
echo '{"factors": {"a": [1, 2, 3]}}' >"$work/three.json"
status 2 "$TOOLSTORM" isolate --db "$work/none.db" "$work/three.json"
says "two levels"
