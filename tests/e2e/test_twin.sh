#!/usr/bin/env bash
# Twins: each request in both forms, one judged session. Overload: sent again only if asked.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
common=(run --quiet --sessions 40 --concurrency 10 --rounds 3 --context 200 --seed 4 --sim-itl 0)
faults=(--fault 'leak.markup=30%@stream=1,every' --fault 'no_tool.empty=30%@stream=0,every')

own="SELECT s.session, s.class, s.reason, s.first_bad_round, s.rounds_played, r.round, r.reason, r.finish
    FROM sessions s JOIN rounds r USING (run, session) ORDER BY s.session, r.round"

# twins NAME FLAGS...: a run with twins gives the same session rows as the same run without.
twins() {
    local name=$1
    shift
    status 1 "$TOOLSTORM" "${common[@]}" "${faults[@]}" "$@" --db "$work/$name.alone.db"
    status 1 "$TOOLSTORM" "${common[@]}" "${faults[@]}" "$@" --db "$work/$name.db" --twin
    diff <(sql "$work/$name.alone.db" "$own") <(sql "$work/$name.db" "$own") >&2 ||
        fail "$name: the twin changed a session"
    [ "$(sql "$work/$name.alone.db" 'SELECT count(*) FROM twins')" = 0 ] || fail "twins nobody asked for"
    # Every round has its twin, and they are never in flight at the same time.
    [ "$(sql "$work/$name.db" 'SELECT count(*) FROM rounds LEFT JOIN twins t USING (run, session, round)
        WHERE t.session IS NULL OR t.sent_us < rounds.done_us')" = 0 ] || fail "$name: rounds without a twin"
    [ "$(sql "$work/$name.db" 'SELECT peak_in_flight FROM runs')" = 10 ] || fail "$name: not 10 in flight"
}

# The rules hit by form: which one is the session's own decides its class.
twins stream --keep all
[ "$(sql "$work/stream.db" "SELECT group_concat(DISTINCT class) FROM (SELECT class FROM sessions ORDER BY 1)")" = \
    leak,ok ] || fail "streamed sessions have other classes"
[ "$(sql "$work/stream.db" "SELECT group_concat(DISTINCT class) FROM (SELECT class FROM twins ORDER BY 1)")" = \
    no_tool,ok ] || fail "whole twins have other classes"
twins whole --no-stream
[ "$(sql "$work/whole.db" "SELECT group_concat(DISTINCT class) FROM (SELECT class FROM sessions ORDER BY 1)")" = \
    no_tool,ok ] || fail "whole sessions have other classes"

# The findings stand where they belong, and each names a damaged answer.
[ "$(sql "$work/stream.db" "SELECT count(*) FROM findings WHERE reason <> 'leak.markup' AND class = 'leak'")" = 0 ] ||
    fail "a twin's finding among the session's own"
[ "$(sql "$work/stream.db" "SELECT count(*) FROM twins t WHERE class <> 'ok' AND NOT EXISTS
    (SELECT 1 FROM twin_findings f WHERE f.session = t.session AND f.round = t.round AND f.reason = t.reason)")" = 0 ] ||
    fail "a damaged twin without a finding"

# Evidence of a pair is whole: with --keep all of every round, else where either form is damaged.
parts() {
    sql "$1" "SELECT count(DISTINCT session || '.' || round) FROM evidence WHERE part = '$2'"
}
all=$(sql "$work/stream.db" "SELECT count(*) FROM rounds")
[ "$(parts "$work/stream.db" response)" = "$all" ] || fail "--keep all kept less"
[ "$(parts "$work/stream.db" twin.response)" = "$all" ] || fail "--keep all kept less of twins"
either=$(sql "$work/whole.db" "SELECT count(*) FROM rounds r JOIN twins t USING (run, session, round)
    WHERE r.class <> 'ok' OR t.class <> 'ok'")
[ "$either" -gt 5 ] || fail "too few damaged pairs"
for part in request headers response arrivals; do
    [ "$(parts "$work/whole.db" "$part")" = "$either" ] || fail "evidence of $part is missing"
    [ "$(parts "$work/whole.db" "twin.$part")" = "$either" ] || fail "evidence of twin.$part is missing"
done

# The summary shows the pairs, all of them, and the JSON says the same.
status 1 "$TOOLSTORM" "${common[@]}" "${faults[@]}" --twin --db "$work/text.db"
grep -qE '^  leak.markup +(ok|no_tool.empty) +[0-9]+$' "$work/out" || fail "no pairs in the summary"
status 1 "$TOOLSTORM" "${common[@]}" "${faults[@]}" --twin --db "$work/json.db" --output json
[ "$(jq '[.twins[].rounds] | add' "$work/out")" = "$(sql "$work/json.db" 'SELECT count(*) FROM twins')" ] ||
    fail "the pairs do not add up"
first=$(sql "$work/json.db" "SELECT session FROM sessions WHERE class = 'leak' ORDER BY session LIMIT 1")
status 0 "$TOOLSTORM" show 1 "$first" --db "$work/json.db"
grep -qE '; twin (ok|no_tool)\.[a-z]+' "$work/out" || fail "show says nothing of the twin"
status 0 "$TOOLSTORM" show 1 "$first" --db "$work/json.db" --raw
grep -qE "^== round [0-9], twin's response: " "$work/out" || fail "show --raw leaves the twin out"

# --- overload

# Without being asked nothing is sent again.
status 3 "$TOOLSTORM" "${common[@]}" --sessions 6 --fault 'error.overload@round=2' --db "$work/no.db"
[ "$(sql "$work/no.db" "SELECT count(*), max(overload_retries) FROM rounds WHERE reason = 'error.overload'")" = \
    '6|0' ] || fail "overload is not an error, or was tried again"
# Once is enough where the endpoint recovers; it is counted apart, and waited for.
status 0 "$TOOLSTORM" "${common[@]}" --sessions 6 --fault 'error.overload@round=2' --retry-overload 2 --db "$work/yes.db"
grep -q '6 requests were sent again after the endpoint said that it was overloaded' "$work/out" ||
    fail "no word about requests sent again"
[ "$(sql "$work/yes.db" "SELECT sum(overload_retries), sum(retries), sum(overload_retries > 0 AND round <> 2)
    FROM rounds")" = '6|0|0' ] || fail "overload is counted wrongly"
[ "$(sql "$work/yes.db" "SELECT count(*) FROM rounds a JOIN rounds b USING (run, session)
    WHERE a.round = 1 AND b.round = 2 AND b.sent_us - a.done_us < 1000000")" = 0 ] ||
    fail "Retry-After of one second was not waited for"
# An endpoint that stays overloaded gets no more than it was asked for.
status 3 "$TOOLSTORM" "${common[@]}" --sessions 4 --fault 'error.overload@round=1,every' --retry-overload 1 \
    --db "$work/stays.db"
[ "$(sql "$work/stays.db" "SELECT count(*), min(overload_retries), max(overload_retries) FROM rounds
    WHERE reason = 'error.overload'")" = '4|1|1' ] || fail "overload that stays is not an error"

# Ctrl-C does not wait for Retry-After.
start_sim --fault 'error.overload@round=1,every'
"$TOOLSTORM" run --quiet --base-url "$url" --model sim-1 --no-preflight --retry-overload 20 --sessions 50 \
    --db "$work/int.db" >"$work/out" 2>"$work/err" &
pid=$!
requests() { curl -s "${url%/v1}/metrics" | sed -n 's/^toolstorm_sim_requests_total //p'; }
for _ in $(seq 600); do [ "$(requests)" -ge 10 ] && break; pause; done
kill -INT "$pid"
rc=0
wait "$pid" || rc=$?
[ "$rc" -eq 130 ] || { cat "$work/err" >&2; fail "status $rc after SIGINT, want 130"; }
[ "$(requests)" -lt 60 ] || fail "it went on sending"
