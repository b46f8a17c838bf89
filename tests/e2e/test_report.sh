#!/usr/bin/env bash
# Reports of one database: all forms say the same to the digit, whatever replies hold stays text, and
# a large run stays small and quick.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
db=$work/r.db

# play LABEL FLAGS...: a small run of a configuration
play() {
    local label=$1 rc=0
    shift
    "$TOOLSTORM" run --quiet --db "$db" --sessions 60 --concurrency 20 --rounds 3 --context 200 \
        --sim-ttft 1ms --sim-itl 0 --label "$label" "$@" >"$work/out" 2>"$work/err" </dev/null || rc=$?
    case $rc in 0|1) ;; *) cat "$work/err" >&2; fail "run $label: status $rc" ;; esac
}
play damaged --tag graph=on --tag boot=1 --fault 'leak.markup=0.2@inflight>1' --fault 'error.cut=0.1' \
    --junit "$work/run.xml"
play clean --tag graph=off --tag boot=2
play damaged --tag graph=on --tag boot=3 --seed 2 --fault 'leak.value=0.2'

status 0 "$TOOLSTORM" report --db "$db" --html "$work/r.html" --md "$work/r.md" --json "$work/r.json" \
    --jsonl "$work/r.jsonl" --csv "$work/r.csv" --junit "$work/r.xml" --prom "$work/r.prom"
jq -e '.configs | length == 2' "$work/r.json" >/dev/null || fail "two configurations"

# The store's own count is what JSON says.
sql "$db" "SELECT count(*) FILTER (WHERE class IN ('leak', 'no_tool')),
                  count(*) FILTER (WHERE class <> 'error'), count(*) FILTER (WHERE class = 'error')
           FROM sessions JOIN runs USING (run) GROUP BY label ORDER BY min(run)" >"$work/want"
jq -r '.configs[] | "\(.corrupted)|\(.judged)|\(.error)"' "$work/r.json" | diff "$work/want" - ||
    fail "JSON differs from the store"
[ "$(jq '.configs[0].corrupted' "$work/r.json")" -gt 5 ] || fail "nothing was damaged"

# Every other form holds JSON's figures, digit by digit.
for i in 0 1; do
    c=$(jq ".configs[$i]" "$work/r.json")
    get() { jq -r ".$1" <<<"$c"; }
    text=$(get text) name=$(get name)
    case $text in ""|null) fail "no rate" ;; esac
    row=$(grep -F "| $name | " "$work/r.md" | head -n 1)
    case $row in *"| $text | $(get error) |"*) ;; *) fail "Markdown says '$row', JSON '$text'" ;; esac
    [ "$(grep -cF ">$text<" "$work/r.html")" -ge 2 ] || fail "the page lacks '$text' as chart and table"
    jq -se --argjson c "$c" 'map(select(.kind == "configuration" and .config == $c.config))[0]
        | del(.kind) == $c' "$work/r.jsonl" >/dev/null || fail "JSONL differs"
    line=$(sed -n "$((i + 2))p" "$work/r.csv")
    case $line in
        *",$(get finished),$(get corrupted),$(get judged),$(get leak),$(get no_tool),$(get error),$(get ok),$(get rate),$(get low),$(get bound),\"$(get percent)\",\"$text\"") ;;
        *) fail "CSV says '$line'" ;;
    esac
    for pair in judged_sessions=judged corrupted_sessions=corrupted corruption_ratio=rate \
        corruption_ratio_low=low corruption_ratio_high=bound; do
        grep -qxF "toolstorm_${pair%=*}{configuration=\"$name\"} $(get "${pair#*=}")" "$work/r.prom" ||
            fail "metrics lack ${pair%=*} of $name"
    done
    for class in leak no_tool error ok; do
        grep -qxF "toolstorm_sessions{configuration=\"$name\",class=\"$class\"} $(get $class)" \
            "$work/r.prom" || fail "metrics lack $class of $name"
    done
done
[ "$(grep -c '"kind":"session"' "$work/r.jsonl")" -eq 180 ] || fail "JSONL lacks sessions"

# JUnit: the attributes are the counts of the elements, and of the run.
python3 - "$work/r.xml" "$work/r.json" "$work/run.xml" <<'PY' || fail "JUnit differs"
import json, sys, xml.etree.ElementTree as ET
root, report = ET.parse(sys.argv[1]).getroot(), json.load(open(sys.argv[2]))
suites = root.findall("testsuite")
assert len(suites) == len(report["runs"]) == 3
for suite, run in zip(suites, report["runs"]):
    cases = suite.findall("testcase")
    count = lambda tag: sum(c.find(tag) is not None for c in cases)
    assert int(suite.get("tests")) == len(cases) == run["finished"]
    assert int(suite.get("failures")) == count("failure") == run["corrupted"]
    assert int(suite.get("errors")) == count("error") == run["error"]
    assert suite.find("properties/property").get("value") == run["text"]
assert int(root.get("tests")) == 180
assert int(root.get("failures")) == report["about"]["corrupted"]
one = ET.parse(sys.argv[3]).getroot().findall("testsuite")
assert len(one) == 1 and one[0].get("failures") == suites[0].get("failures")
PY

# The verdict's words are those of compare.
status 0 "$TOOLSTORM" compare --db "$db" damaged clean -o json
verdict=$(jq -r '.comparisons[0].verdict' "$work/out")
grep -qF "**$verdict**" "$work/r.md" || fail "Markdown lacks the verdict $verdict"
grep -qF "$verdict" "$work/r.html" || fail "the page lacks the verdict $verdict"

# Which runs: by number, label and tag; what is unknown is named.
status 0 "$TOOLSTORM" report --db "$db" --json - 2
jq -e '.about.runs == 1 and .runs[0].label == "clean" and .comparison == null' "$work/out" >/dev/null ||
    fail "run 2 alone"
status 0 "$TOOLSTORM" report --db "$db" --json - graph=on
jq -e '.about.runs == 2 and .about.configs == 1' "$work/out" >/dev/null || fail "by tag"
status 0 "$TOOLSTORM" report --db "$db" clean
grep -q '^## Tool calls under load' "$work/out" || fail "Markdown is the default"
status 2 "$TOOLSTORM" report --db "$db" nowhere
says "no run is 'nowhere'"
status 5 "$TOOLSTORM" report --db "$db" --html "$work/no/such/folder.html"

# Replies, labels and notes that try to be more than text.
session=$(sql "$db" "SELECT session FROM sessions WHERE run = 1 AND class = 'leak' ORDER BY 1 LIMIT 1")
sqlite3 "$db" "
    UPDATE runs SET label = '<script>alert(1)</script>\"''&' || char(8238) WHERE run = 1;
    UPDATE findings SET note = '<img src=x onerror=alert(2)>' || char(8238) || char(27) || '[31m',
           excerpt = CAST('\`\`\`\`' || char(10) || '</pre><script>alert(3)</script>' AS BLOB)
    WHERE run = 1 AND session = $session;
    UPDATE evidence SET deflated = 0, data = CAST('data: ' || json_object('choices', json_array(json_object(
           'index', 0, 'delta', json_object('content', '<script>alert(4)</script>' || char(8238, 8294)
           || '</pre></details>' || replace(hex(zeroblob(524288)), '0', 'x'))))) || char(10, 10)
           AS BLOB)
    WHERE run = 1 AND session = $session AND part = 'response';"
status 0 "$TOOLSTORM" report --db "$db" --html "$work/h.html" --md "$work/h.md" --junit "$work/h.xml" \
    --json "$work/h.json" --prom "$work/h.prom" --csv "$work/h.csv" --transcripts 2000
grep -qiE '<script|<img|onerror=alert\(2\)>' "$work/h.html" && fail "markup of a reply in the page"
grep -qF '&lt;script&gt;alert(4)' "$work/h.html" || fail "the reply is not in the page"
python3 - "$work" <<'PY' || fail "a hostile reply does harm"
import re, sys, xml.etree.ElementTree as ET
work = sys.argv[1]
for name in ("h.html", "h.md", "h.xml"):
    text = open(f"{work}/{name}", encoding="utf-8").read()
    bad = re.findall("[\u0000-\u0008\u000b-\u001f\u200b-\u200f\u202a-\u202e\u2066-\u2069]", text)
    assert not bad, (name, bad[:3])
ET.parse(f"{work}/h.xml")
page = open(f"{work}/h.html", encoding="utf-8").read()
assert len(page) < 1_000_000 and max(map(len, page.split("\n"))) < 100_000
assert page.count("<details") == page.count("</details>") and page.count("<pre") == page.count("</pre>")
md = open(f"{work}/h.md", encoding="utf-8").read()
assert "`````" in md
assert not re.search(r"(?<!\\)<script", re.sub(r"(`{3,})\n.*?\n\1\n", "", md, flags=re.S))
PY

# A run that was killed before anything came back: every form says so in numbers that are some.
cp "$db" "$work/none.db"
sqlite3 "$work/none.db" "DELETE FROM sessions; DELETE FROM rounds; DELETE FROM findings; DELETE FROM evidence;
    UPDATE runs SET status = 'running', wall_us = NULL, cpu_us = NULL, peak_in_flight = NULL, late_p99_us = NULL"
status 0 "$TOOLSTORM" report --db "$work/none.db" --html "$work/n.html" --md "$work/n.md" --junit "$work/n.xml" \
    --json "$work/n.json" --prom "$work/n.prom" --csv "$work/n.csv"
"$TOOLSTORM" list --db "$work/none.db" >"$work/n.list"
"$TOOLSTORM" report --db "$work/none.db" >"$work/n.text" || true
grep -nE '9,?223,?372|[^a-z]-?nan[^a-z]|[^a-z]inf[^a-z]' "$work"/n.* && fail "a figure that is none"

# Ten thousand sessions: under 5 MB in under 5 s.
rm -f "$work"/big.db*
rc=0
"$TOOLSTORM" run --quiet --db "$work/big.db" --sessions 10000 --concurrency 200 --rounds 2 --context 100 \
    --sim-ttft 0 --sim-itl 0 --fault 'leak.markup=0.15' >/dev/null 2>&1 </dev/null || rc=$?
[ "$rc" -eq 1 ] || fail "the large run: status $rc"
start=$SECONDS
status 0 "$TOOLSTORM" report --db "$work/big.db" --html "$work/big.html"
[ $((SECONDS - start)) -le 5 ] || fail "the large report took $((SECONDS - start)) s"
[ "$(stat -c %s "$work/big.html")" -lt 5000000 ] || fail "the large report has $(stat -c %s "$work/big.html") bytes"
