#!/usr/bin/env bash
# Exported exchanges are judged as the run judged them, whatever was wrong with them; hosts are masked;
# keys are nowhere.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
db=$work/r.db

faults=()
for reason in $("$TOOLSTORM" help faults | sed -n 's/^  \([a-z_]*\.[a-z0-9_]*\)  *[a-zA-Z].*/\1/p' | sort -u); do
    case $reason in
        error.stall|error.timeout|error.too_large) ;; # slow, or large in the file
        *) faults+=(--fault "$reason=0.03") ;;
    esac
done
limits=(--ttft-timeout 1s --idle-timeout 400ms --timeout 3s)
n=0
for scenario in parallel chain payload manytools; do
    for form in --stream --no-stream; do
        rc=0
        rm -f "$db"*
        OPENAI_API_KEY=sk-very-secret "$TOOLSTORM" run --quiet --db "$db" --sessions 150 --concurrency 30 \
            --scenario "$scenario" --rounds 3 --context 200 --sim-ttft 1ms --sim-itl 0 --max-errors 100% \
            "$form" "${limits[@]}" "${faults[@]}" >"$work/out" 2>"$work/err" </dev/null || rc=$?
        case $rc in 0|1|3) ;; *) cat "$work/err" >&2; fail "$scenario: status $rc" ;; esac
        status 0 "$TOOLSTORM" export 1 --db "$db" --out "$work/cases.jsonl"
        want=$(sql "$db" "SELECT count(*) FROM rounds WHERE class <> 'ok'")
        [ "$(wc -l <"$work/cases.jsonl")" -eq "$want" ] || fail "$scenario: not every damaged round"
        status 0 "$TOOLSTORM" judge -q "$work/cases.jsonl"
        grep -qF "$want cases, $want with an expectation, 0 not as expected" "$work/err" ||
            { cat "$work/out" "$work/err" >&2; fail "$scenario $form: other verdicts"; }
        grep -q 'very-secret' "$work/cases.jsonl" && fail "a key was written"
        n=$((n + want))
    done
done
[ "$n" -gt 300 ] || fail "only $n cases"

# One session: what was kept of it. --keep all keeps good rounds, and they are judged good.
rm -f "$db"*
status 0 "$TOOLSTORM" run --quiet --db "$db" --sessions 2 --rounds 3 --keep all --sim-ttft 1ms --sim-itl 0
status 0 "$TOOLSTORM" export 1 2 --db "$db" --anonymize
cp "$work/out" "$work/cases.jsonl"
[ "$(wc -l <"$work/cases.jsonl")" -eq 3 ] || fail "three rounds of session 2"
grep -q '127\.0\.0\.1' "$work/cases.jsonl" && fail "--anonymize leaves the host"
grep -q '://HOST/' "$work/cases.jsonl" || fail "--anonymize writes HOST"
jq -e '.request.messages | length > 1' "$work/cases.jsonl" >/dev/null || fail "the request is missing"
status 0 "$TOOLSTORM" judge -q "$work/cases.jsonl"

status 2 "$TOOLSTORM" export 1 --db "$db"
says "kept no bytes of a damaged round"
status 2 "$TOOLSTORM" export 7 --db "$db"
status 2 "$TOOLSTORM" export --db "$db"
says "export needs a run"

# A limit of evidence: sessions are kept whole until it is reached, and what is dropped is counted.
rm -f "$db"*
status 0 "$TOOLSTORM" run --quiet --db "$db" --sessions 60 --concurrency 10 --rounds 3 --keep all \
    --context 20000 --evidence-limit 4 --sim-ttft 1ms --sim-itl 0
kept=$(sql "$db" "SELECT count(*) FROM (SELECT DISTINCT session, round FROM evidence)")
total=$(sql "$db" "SELECT count(*) FROM rounds")
bytes=$(sql "$db" "SELECT sum(size) FROM evidence WHERE part <> 'arrivals'")
if [ "$bytes" -gt $((4 << 20)) ] || [ "$bytes" -lt $((3 << 20)) ]; then fail "$bytes bytes kept"; fi
grep -q "evidence dropped: $((total - kept)) exchanges with [0-9.]* MiB were not stored" "$work/out" ||
    { cat "$work/out" >&2; fail "what was dropped is not said"; }
[ "$(sql "$db" "SELECT count(*) FROM (SELECT session FROM evidence WHERE part = 'request' GROUP BY session
                HAVING count(*) <> 3)")" -eq 0 ] || fail "half a session was kept"
