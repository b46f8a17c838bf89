#!/usr/bin/env bash
# judge: cases, saved bodies, directories, logs of pairs; what was asked, bad lines, statuses, the
# summary. rejudge: the same bytes bring the same verdicts, other rules bring others, both are kept.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
cd "$work"

# got FILTER WANT: the JSON lines of the last command, through jq.
got() {
    local have
    have=$(jq -r "$1" out | tr '\n' ' ')
    [ "$have" = "$2 " ] || fail "$1: got '$have', want '$2'"
}

# --- inputs: one tool, a right call, a leaked call, a text, a stream and a cut one

cat >tools.json <<'JSON'
[{"type": "function", "function": {"name": "book_berth", "parameters": {"type": "object",
  "properties": {"berth": {"type": "string"}}, "required": ["berth"]}}}]
JSON
body() { # CONTENT ARGUMENTS (of a call; - = none)
    jq -cn --arg content "$1" --arg args "$2" '{choices: [{index: 0, finish_reason:
        (if $args == "-" then "stop" else "tool_calls" end), message: ({role: "assistant",
        content: $content} + if $args == "-" then {} else {tool_calls: [{id: "call_1",
        type: "function", function: {name: "book_berth", arguments: $args}}]} end)}]}'
}
chunk() { jq -cn --arg text "$1" --argjson why "$2" \
    '{choices: [{index: 0, delta: {content: $text}, finish_reason: $why}]}'; }
mkdir bodies
body "" '{"berth": "N-4"}' >bodies/call.json
body $'Gladly.\n<tool_call>\n{"name": "book_berth", "arguments": {"berth": "N-4"}}' - >bodies/leak.json
printf 'data: %s\n\ndata: %s\n\ndata: [DONE]\n\n' "$(chunk 'It is ' null)" "$(chunk 'free.' '"stop"')" \
    >bodies/text.sse
printf 'data: %s\n\n' "$(chunk 'It is' null)" >bodies/zcut.sse

# --- bodies, one by one

status 0 "$TOOLSTORM" judge bodies/call.json
got .reason ok.done
got .file bodies/call.json
status 1 "$TOOLSTORM" judge bodies/leak.json
got .reason leak.markup
status 0 "$TOOLSTORM" judge bodies/text.sse
"$TOOLSTORM" judge - <bodies/text.sse >out || fail "standard input"
got .file -
# Nothing but failed exchanges: nothing was judged, so nothing is clean.
status 3 "$TOOLSTORM" judge bodies/zcut.sse
got .reason error.cut

# What was asked for: a whole body where a stream was wanted is a quirk, and the other way round.
status 0 "$TOOLSTORM" judge --stream bodies/call.json
got '.quirks | index("json_for_sse") != null' true
status 0 "$TOOLSTORM" judge --no-stream bodies/text.sse
got '.quirks | index("sse_for_json") != null' true
status 2 "$TOOLSTORM" judge --stream --no-stream bodies/call.json
says "one of them at a time"
status 3 "$TOOLSTORM" judge --status 503 bodies/call.json
got .class error

# Tools and demands.
status 1 "$TOOLSTORM" judge --tools tools.json --tool-expected bodies/text.sse
got .reason no_tool.prose
status 1 "$TOOLSTORM" judge --tools tools.json --tool-choice none bodies/call.json
got .reason leak.call_extra
status 1 "$TOOLSTORM" judge --tools tools.json --asked '{"expect_args": {"berth": "N-5"}}' bodies/call.json
got .reason leak.value
body "" '{"pier": 4}' >wrong.json
status 0 "$TOOLSTORM" judge wrong.json
status 1 "$TOOLSTORM" judge --tools tools.json wrong.json
got .reason leak.call_schema
jq -n --slurpfile t tools.json '{model: "m", messages: [], tools: $t[0]}' >request.json
status 1 "$TOOLSTORM" judge --tools request.json wrong.json
status 2 "$TOOLSTORM" judge --tools bodies/text.sse wrong.json
says "'--tools bodies/text.sse'"
status 2 "$TOOLSTORM" judge --asked '{"expect_arg": 1}' wrong.json
says "'asked.expect_arg' is unknown"
status 2 "$TOOLSTORM" judge --asked '[]' wrong.json
says "expected a JSON object"

# --- a directory: files in the order of their names, hidden ones left out

touch bodies/.hidden
jq -cn '{id: "c1", response: "", expect: {class: "error"}}' >bodies/cases.jsonl
status 1 "$TOOLSTORM" judge bodies
got '"\(.file | ltrimstr("bodies/")):\(.line)=\(.class)"' \
    "call.json:null=ok cases.jsonl:1=error leak.json:null=leak text.sse:null=ok zcut.sse:null=error"
status 1 "$TOOLSTORM" judge --quiet bodies
got .file "bodies/leak.json bodies/zcut.sse"
mkdir empty
status 2 "$TOOLSTORM" judge empty
says "there is no file in 'empty'"
status 2 "$TOOLSTORM" judge bodies nosuch
says "nosuch"
: >none.jsonl
status 2 "$TOOLSTORM" judge none.jsonl
says "hold no reply"
status 2 "$TOOLSTORM" judge
says "needs a file"

# --- logs

pair() { # USER_TEXT BODY_FILE FILTER
    jq -cn --arg user "$1" --slurpfile t tools.json --slurpfile body "$2" "
        {id: \"r\", request: {messages: [{role: \"user\", content: \$user}], tools: \$t[0]},
         response: \$body[0]} | $3"
}
{
    pair "Book N-4." bodies/call.json '.'
    pair "Book N-4." bodies/leak.json '.'
    pair "What does <tool_call> mean?" bodies/leak.json '.'
    pair "Book N-4." bodies/leak.json '.request.messages += [{role: "assistant", content: "<tool_call>"}]'
    echo 'not JSON'
    pair "Book N-4." bodies/call.json '{request: {body: (.request | tojson)}, response: {status: 200, body: (.response | tojson)}}'
    jq -cn --slurpfile t tools.json --rawfile text bodies/text.sse '{request: {messages: [],
        stream: true, tools: $t[0], tool_choice: "required"}, response: $text}'
} >log.jsonl
status 1 "$TOOLSTORM" judge log.jsonl
got '"\(.line)=\(.reason // "skipped")"' \
    "1=ok.done 2=leak.markup 3=ok.done 4=leak.markup 5=skipped 6=ok.done 7=no_tool.prose"
says "1 lines could not be used"
status 2 "$TOOLSTORM" judge --strict-input log.jsonl
says "'log.jsonl' line 5: not JSON"
# Strict: what the prompt excuses counts.
status 1 "$TOOLSTORM" judge --strict log.jsonl
got 'select(.line == 3) | .reason' leak.markup

# Other names, on standard input, without the ending.
jq -c '{in: {q: .request}, out: {a: .response, code: 200}}' <(grep -v '^not' log.jsonl) >other
status 2 "$TOOLSTORM" judge other.jsonl
cp other other.jsonl
status 2 "$TOOLSTORM" judge other.jsonl
says "'other.jsonl' line 1: neither a case nor a request"
status 1 "$TOOLSTORM" judge --request-field in.q --response-field out.a --status-field out.code other
[ "$(wc -l <out)" -eq 6 ] || fail "not all of the renamed pairs were read"
status 2 "$TOOLSTORM" judge --request-field in.q --response-field out.nosuch other
says "none of 6 lines could be used"
status 2 "$TOOLSTORM" judge --request-field in.q --response-field out.nosuch --strict-input other
says "line 1: 'out.nosuch': no response is there"

# Schemas that no regular expression engine reads leave names and markup to judge.
pair "Book N-4." bodies/leak.json '.request.tools[0].function.parameters.properties.berth.pattern = "("' >odd.jsonl
status 1 "$TOOLSTORM" judge odd.jsonl
got .reason leak.markup
says "arguments are not checked"

# --- the summary

status 1 "$TOOLSTORM" judge --summary log.jsonl bodies
grep -qF 'CORRUPTION replies: 4/9 = 44.4%  (leak=3 no_tool=1 error=2 ok=5)' out || fail "headline"
grep -qE '^  rate +4/9 = 44.4% \[13.6, 78.8\]' out || { cat out >&2; fail "rate"; }
grep -qE '^  leak.markup +3 +27.3%' out || fail "reasons"
grep -qF 'log.jsonl line 5: not JSON' out || fail "the bad line is not named"
grep -qF '>>><tool_call><<<' out || fail "no excerpt"
[ "$(grep -c '^  leak.markup log.jsonl' out)" -eq 2 ] || fail "not two examples"
status 1 "$TOOLSTORM" judge --summary --output json --excerpts 1 log.jsonl bodies
got '"\(.corrupted)/\(.judged) \(.replies) \(.files) \(.skipped) \(.classes.error)"' "4/9 11 6 1 2"
got '.skipped_lines[0].line' 5
got '.examples[] | select(.class != "error" and .reason == "leak.markup") | .excerpt[.from:.to]' "<tool_call>"
got '.text' "4/9 = 44.4% [13.6, 78.8]"

# --- cases: an expectation that is met is no damage

jq -cn --rawfile r bodies/leak.json '{id: "a", response: $r, expect: {class: "leak"}}' >met.jsonl
status 0 "$TOOLSTORM" judge met.jsonl
jq -c '.expect.class = "ok"' met.jsonl >missed.jsonl
status 1 "$TOOLSTORM" judge missed.jsonl
got '"\(.as_expected) \(.expected.class)"' "false ok"
jq -c 'del(.expect)' met.jsonl >bare.jsonl
status 1 "$TOOLSTORM" judge bare.jsonl
[ ! -s err ] || fail "chatter about expectations that there are not"

# --- rejudge

sim=(--sim-ttft 1ms --sim-itl 0ms --context 200 --sessions 40 --concurrency 10 --rounds 3)
faults=(--fault leak.markup=0.2 --fault leak.value=0.2 --fault error.cut=0.1 --fault error.http=0.1
    --fault no_tool.prose=0.2)
db=(--db x.db)
verdicts() { sql x.db "SELECT session, round, class, reason FROM rounds UNION ALL
    SELECT session, first_bad_round, class, reason FROM sessions"; }

status 1 "$TOOLSTORM" run --quiet "${sim[@]}" "${faults[@]}" --max-errors 1 --twin --keep all "${db[@]}"
verdicts >before
status 0 "$TOOLSTORM" rejudge 1 "${db[@]}"
rounds=$(sql x.db "SELECT (SELECT count(*) FROM rounds) + (SELECT count(*) FROM twins)")
grep -qx "rejudging 1 of run 1: all $rounds kept replies get the verdict that they had" out ||
    fail "the same judge judges otherwise"
[ "$(sql x.db "SELECT count(*) FROM rejudgements")" -eq "$rounds" ] || fail "not all were stored"

# So does every reason that there is, from its bytes alone.
mapfile -t reasons < <("$TOOLSTORM" help faults |
    sed -n 's/^  \([a-z_]*\.[a-z0-9_]*\)  *[a-zA-Z].*/\1/p' | grep -v too_large | sort -u)
[ "${#reasons[@]}" -ge 32 ] || fail "too few reasons: ${reasons[*]}"
each=()
for i in "${!reasons[@]}"; do each+=(--fault "${reasons[i]}@session%${#reasons[@]}=$i"); done
for form in --stream --no-stream; do
    status 1 "$TOOLSTORM" run --quiet --sim-ttft 1ms --sim-itl 0ms --context 200 --concurrency 20 \
        --sessions $((2 * ${#reasons[@]})) --idle-timeout 1s --ttft-timeout 1s --timeout 4s \
        --max-errors 1 --twin --keep all $form "${each[@]}" --db each.db
done
for run in 1 2; do
    status 0 "$TOOLSTORM" rejudge $run --db each.db
    grep -qE "^rejudging 1 of run $run: all [0-9]+ kept replies get the verdict" out ||
        { cat out >&2; fail "the same bytes bring another verdict"; }
done
[ "$(sql each.db "SELECT count(DISTINCT reason) FROM rejudgements")" -ge 32 ] ||
    fail "not every reason was judged again"

# Another rule: right answers are called damage, and the run's own verdicts stay.
cat >seals.json <<'JSON'
{"name": "seals", "about": "bare seals", "leaks": ["1ZHP0-3YCP4"], "clean": ["a rail-side shed"],
 "rules": [{"id": "seal", "role": "special", "near": ["@start"], "match": "^[0-9A-Z]{5}-[0-9A-Z]{5}\\z"}]}
JSON
ends=$(sql x.db "SELECT count(*) FROM sessions WHERE reason = 'ok.done'")
[ "$ends" -gt 0 ] || fail "no session ended well"
status 1 "$TOOLSTORM" rejudge 1 --rules seals.json "${db[@]}"
grep -qE "^  ok.done +-> leak.special_token +[0-9]+$" out || fail "no verdict changed"
verdicts | cmp - before || fail "the run's own verdicts were touched"
[ "$(sql x.db "SELECT count(DISTINCT number) FROM rejudgements WHERE run = 1")" -eq 2 ] ||
    fail "the first rejudging is gone"
[ "$(sql x.db "SELECT length(rules) FROM rejudgings WHERE number = 2")" -eq "$(wc -c <seals.json)" ] ||
    fail "the rules were not kept"
[ -z "$(sql x.db "SELECT rules FROM rejudgings WHERE number = 1")" ] || fail "rules from nowhere"
status 1 "$TOOLSTORM" rejudge 1 --rules seals.json --output json "${db[@]}"
got '.rates.newly_corrupted' "$ends"
got '.rates.corrupted - .rates.was_corrupted' "$ends"
got '[.replies[] | select(.twin == false and .was == "ok.done" and .now == "leak.special_token" and .rule == "seal")] | length' "$ends"
got '"\(.kept.wholly) \(.kept.not_at_all) \(.rejudging.number)"' "40 0 3"
status 0 "$TOOLSTORM" query rejudged rates --run 1 --output csv "${db[@]}"

# The other way round: the run's rules called it damage, today's do not. Only damage was kept.
status 1 "$TOOLSTORM" run --quiet "${sim[@]}" "${faults[@]}" --max-errors 1 --rules seals.json "${db[@]}"
status 0 "$TOOLSTORM" rejudge 2 "${db[@]}"
grep -q '^rejudging 1 of run 2: all ' out || fail "the run's own rules are not taken"
grep -qF 'with --keep damaged' out || fail "what was not kept is not said"
status 0 "$TOOLSTORM" rejudge 2 --rules '' "${db[@]}"
grep -qE "^  leak.special_token +-> ok.done +$ends$" out || fail "not each false alarm is gone"
mv seals.json gone.json
status 2 "$TOOLSTORM" rejudge 2 "${db[@]}"
says "the run was judged with further rules: cannot open 'seals.json'"
status 2 "$TOOLSTORM" rejudge 2 --rules bodies/text.sse "${db[@]}"
says "bodies/text.sse"
[ "$(sql x.db "SELECT count(*) FROM rejudgings WHERE run = 2")" -eq 2 ] || fail "half a rejudging"

# Nothing was kept; nothing is there.
status 1 "$TOOLSTORM" run --quiet "${sim[@]}" --fault leak.markup --keep none "${db[@]}"
status 4 "$TOOLSTORM" rejudge 3 "${db[@]}"
grep -q 'no reply was kept' out || fail "no word that nothing was kept"
status 2 "$TOOLSTORM" rejudge 9 "${db[@]}"
says "there is no run 9"
status 2 "$TOOLSTORM" rejudge "${db[@]}"
says "needs the number of a run"
status 2 "$TOOLSTORM" rejudge 1x "${db[@]}"
says "'1x'"
status 2 "$TOOLSTORM" rejudge 1 --strict --no-strict "${db[@]}"
says "one of them at a time"
status 2 "$TOOLSTORM" rejudge 1 --db nosuch.db
[ ! -e nosuch.db ] || fail "rejudge made a database"
