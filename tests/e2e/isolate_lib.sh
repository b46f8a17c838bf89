# isolate_lib.sh - one search against the simulated endpoint. Sourced after sweep_lib.sh.
# shellcheck shell=bash disable=SC2154

cat >"$work/isolate.json" <<JSON
{"name": "needed", "hook": "$hooks/simulated.sh",
 "factors": {"cache": ["on", "off"], "idxk": ["bf16", "fp8"], "concurrency": [16, 1], "graph": ["on", "off"],
             "overlap": [1, 0]},
 "run": {"rounds": 2, "context": 200}}
JSON

# Only the first start, the baseline, is damaged.
cat >"$work/lost-hook.sh" <<SH
#!/usr/bin/env bash
case \$1 in apply) [ -e "$work/lost-began" ] && export SIM_FAULTS=; touch "$work/lost-began" ;; esac
export SIM_FAULTS=\${SIM_FAULTS//@boot=base/}
exec "$hooks/simulated.sh" "\$@"
SH
chmod +x "$work/lost-hook.sh"
sed "s|$hooks/simulated.sh|$work/lost-hook.sh|" "$work/isolate.json" >"$work/lost.json"

# isolate_seed N: the search with this seed names exactly the set, within its budget of sessions.
isolate_seed() {
    local sessions budget=700
    export SIM_FAULTS='leak.markup=0.15@factor.idxk=bf16,factor.graph=on,factor.overlap=1,inflight>1,luck=0.3'
    SIM_OPTIONS="--ttft 5ms --seed $1" status 0 "$TOOLSTORM" isolate --quiet --db "$work/seed-$1.db" \
        --output json "$work/isolate.json" -- --seed "$1"
    if ! grep -qF '"needed":[["idxk=bf16","graph=on","overlap=1","concurrency=16"]]' "$work/out"; then
        cat "$work/out" >&2
        fail "seed $1: not the set"
    fi
    # Four of five flags are needed: each takes about 70 clean sessions at a baseline of 15 %, more
    # where luck makes the baseline look milder.
    sessions=$(sql "$work/seed-$1.db" "SELECT count(*) FROM sweep_starts JOIN sessions USING (run)
        WHERE step LIKE '%=%' AND step NOT LIKE '%:%'")
    echo "seed $1: $sessions sessions in the steps of the flags"
    [ "$sessions" -le "$budget" ] || fail "seed $1: $sessions sessions"
    no_server
}
