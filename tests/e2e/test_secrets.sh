#!/usr/bin/env bash
# An endpoint that sends the API key and the headers' values back: they are stored and printed
# nowhere, wherever they stood.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
export OPENAI_API_KEY='sk-9fK2/zQ+w7"pLm' # JSON and URLs write some of these bytes in other ways
team='4711-topsecret' odd='Zxcv8 quoted\stuff'

# clean FILE WHERE: none of the secrets, nor the start of one, as it is or as JSON writes it.
clean() {
    local secret
    for secret in 'sk-9fK2' 'w7"pLm' 'w7\"pLm' '4711-tops' 'Zxcv8' 'quoted'; do
        grep -aqF -- "$secret" "$1" && { grep -aF -- "$secret" "$1" | head -c 2000 >&2
                                         fail "$place: '$secret' in $2"; }
    done
    return 0
}

# serve PLACE: sets $url.
serve() {
    local fifo=$work/echo.$RANDOM
    mkfifo "$fifo"
    python3 "$(dirname "$0")/echo_server.py" "$1" >"$fifo" &
    pids+=($!)
    IFS= read -r url <"$fifo"
}

for place in content pieces reasoning name id args finish error header body http; do
    serve "$place"
    db=$work/$place.db
    preflight=--preflight
    case $place in body | http) preflight=--no-preflight ;; esac
    got=0
    "$TOOLSTORM" run --base-url "$url" --db "$db" --sessions 3 --rounds 2 --keep all --on-damage keep \
        --header "X-Team: $team" --header "X-Odd: $odd" "$preflight" >"$work/out" 2>"$work/err" || got=$?
    [ "$got" -eq 0 ] || [ "$got" -eq 1 ] || [ "$got" -eq 3 ] || [ "$got" -eq 4 ] || {
        cat "$work/err" >&2
        fail "$place: status $got"
    }
    [ "$(sql "$db" 'SELECT count(*) FROM sessions')" -eq 3 ] || fail "$place: sessions"
    clean "$work/out" "summary"
    clean "$work/err" "messages"
    sqlite3 -readonly "$db" .dump >"$work/dump"
    clean "$work/dump" "the database"
    "$TOOLSTORM" query --output json --db "$db" --sql \
        "SELECT part, CAST(inflate(data, deflated) AS TEXT) FROM evidence" \
        >"$work/evidence" 2>"$work/err" || { cat "$work/err" >&2; fail "$place: query"; }
    [ "$(wc -c <"$work/evidence")" -gt 1000 ] || fail "$place: no evidence"
    clean "$work/evidence" "evidence"
    for shown in "show 1 1" "show 1 1 --raw" "show 1 1 --curl" "show 1 1 --output json" "export 1" \
        "report 1" "query errors" "rejudge 1"; do
        # shellcheck disable=SC2086
        "$TOOLSTORM" $shown --db "$db" >"$work/shown" 2>&1 || true
        [ -s "$work/shown" ] || fail "$place: $shown printed nothing"
        clean "$work/shown" "$shown"
    done
    for asked in probe "wait --limit 1s"; do
        # shellcheck disable=SC2086
        timeout 60 "$TOOLSTORM" $asked --base-url "$url" --header "X-Team: $team" --header "X-Odd: $odd" \
            >"$work/shown" 2>&1 || true
        [ -s "$work/shown" ] || fail "$place: $asked printed nothing"
        clean "$work/shown" "$asked"
    done
done

# What is not secret stays, and stays where it was.
db=$work/content.db
said=$(sql "$db" "SELECT excerpt FROM findings WHERE reason = 'leak.value' LIMIT 1")
stars() { printf '%*s' "$1" '' | tr ' ' '*'; }
[ "$said" = "<tool_call>$(stars ${#team}) $(stars ${#odd}) Bearer $(stars ${#OPENAI_API_KEY})" ] ||
    fail "excerpt: $said"
