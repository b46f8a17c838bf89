#!/usr/bin/env bash
# The page in a browser: no complaint, no request, the right marks at the right places, transcripts that
# open, dark mode, 360 pixels. Screenshots stay in $TOOLSTORM_SHOTS, or in shots/ beside the program.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
if ! CHROMIUM=$(command -v chromium); then
    echo "no chromium: scripts/install.sh --test" >&2
    exit 1
fi
export CHROMIUM
node=$("$here/interop/setup.sh")
db=$work/r.db shots=${TOOLSTORM_SHOTS:-$(dirname "$TOOLSTORM")/shots}
mkdir -p "$shots"

# play LABEL SEED FLAGS...: a small run of a configuration
play() {
    local label=$1 seed=$2 rc=0
    shift 2
    "$TOOLSTORM" run --quiet --db "$db" --sessions 80 --concurrency 20 --rounds 3 --context 200 \
        --sim-ttft 2ms --sim-itl 0 --label "$label" --seed "$seed" --tag "boot=$label$seed" "$@" \
        >/dev/null 2>"$work/err" </dev/null || rc=$?
    case $rc in 0|1) ;; *) cat "$work/err" >&2; fail "run $label: status $rc" ;; esac
}
for seed in 1 2; do
    play bf16-graph "$seed" --tag idxk=bf16 --tag graph=on --fault 'leak.markup=0.1@inflight>1' \
        --fault 'leak.value=0.05' --fault 'no_tool.prose=0.03' --fault 'error.cut=0.03'
    play bf16-eager "$seed" --tag idxk=bf16 --tag graph=off
    play fp8-graph "$seed" --tag idxk=fp8 --tag graph=on --fault 'leak.special_token=0.03'
    play fp8-eager "$seed" --tag idxk=fp8 --tag graph=off
done
status 0 "$TOOLSTORM" report --db "$db" --html "$work/r.html" --json "$work/r.json"

# The same with a reply and a label that try to break it, and a line of a megabyte.
cp "$db" "$work/h.db"
session=$(sql "$db" "SELECT min(session) FROM sessions WHERE run = 1 AND class = 'leak'")
sqlite3 "$work/h.db" "
    UPDATE runs SET label = '<script>alert(1)</script>' || char(8238) || replace(hex(zeroblob(100)), '0', 'w')
    WHERE run = 1;
    UPDATE findings SET note = '<img src=http://127.0.0.1:1/x onerror=alert(2)>' WHERE run = 1;
    UPDATE evidence SET deflated = 0, data = CAST('data: ' || json_object('choices', json_array(json_object(
           'index', 0, 'delta', json_object('content', '</pre><script>alert(3)</script><style>*{display:none}'
           || char(8238) || replace(hex(zeroblob(524288)), '0', 'x'))))) || char(10, 10) AS BLOB)
    WHERE run = 1 AND session = $session AND part = 'response';"
status 0 "$TOOLSTORM" report --db "$work/h.db" --html "$work/h.html"
"$node" "$here/interop/page.mjs" "$work/r.html" "$work/r.json" "$work/h.html" "$shots" >&2
[ "$(find "$shots" -name '*.png' -size +10k | wc -l)" -ge 5 ] || fail "screenshots are missing"
