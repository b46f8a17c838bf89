#!/usr/bin/env bash
# labels: slow
# Isolation names exactly the settings that the damage needs in 20 of 20 seeds.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/sweep_lib.sh"
. "$(dirname "$0")/isolate_lib.sh"

for seed in $(seq 101 120); do
    isolate_seed "$seed"
done
