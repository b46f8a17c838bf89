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

# The same without load as a flag: three of six flags are needed.
cat >"$work/six.json" <<JSON
{"name": "six", "hook": "$hooks/simulated.sh",
 "factors": {"cache": ["on", "off"], "idxk": ["bf16", "fp8"], "spec": ["on", "off"], "graph": ["on", "off"],
             "chunked": [1, 0], "overlap": [1, 0]},
 "run": {"rounds": 2, "context": 200, "concurrency": 16}}
JSON

# isolate_seed N PLAN SET: the search with this seed names exactly the set; $sessions is set to the judged
# sessions of the steps that switch a flag off.
isolate_seed() {
    export SIM_FAULTS='leak.markup=0.15@factor.idxk=bf16,factor.graph=on,factor.overlap=1,inflight>1,luck=0.3'
    SIM_OPTIONS="--ttft 5ms --seed $1" status 0 "$TOOLSTORM" isolate --quiet --db "$work/seed-$1.db" \
        --output json "$2" -- --seed "$1"
    grep -qF "\"needed\":[[$3]]" "$work/out" || { cat "$work/out" >&2; fail "seed $1: not the set"; }
    sessions=$(sqlite3 :memory: "SELECT sum(json_extract(value, '\$.judged'))
        FROM json_each(CAST(readfile('$work/out') AS TEXT), '\$.steps')
        WHERE json_extract(value, '\$.step') NOT LIKE '%:%'")
    echo "seed $1: $sessions sessions in the steps without a flag"
    no_server
}
