#!/usr/bin/env bash
# labels: slow
# Isolation names exactly the three needed flags of six in 20 of 20 seeds, with about 335 sessions in the
# steps that switch a flag off, although boots differ in their luck.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/sweep_lib.sh"
. "$(dirname "$0")/isolate_lib.sh"

total=0 above=0
for seed in $(seq 101 120); do
    isolate_seed "$seed" "$work/six.json" '"idxk=bf16","graph=on","overlap=1"'
    total=$((total + sessions))
    [ "$sessions" -le 432 ] || above=$((above + 1))
done
echo "mean: $((total / 20)), above 432: $above"
# The mean of twenty scatters by about 25 around its own.
[ "$((total / 20))" -le 385 ] || fail "$((total / 20)) sessions on average"
