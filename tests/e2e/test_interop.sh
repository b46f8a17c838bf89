#!/usr/bin/env bash
# A server and a client that are not ours: aimock is judged as its own ledger says, and the official
# OpenAI client talks to the simulated endpoint.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
interop=$(dirname "$0")/interop
node=$("$interop/setup.sh")

start_sim
"$node" "$interop/openai.mjs" "$url" >"$work/openai.out" 2>&1 || { cat "$work/openai.out" >&2; fail "openai client"; }

mkfifo "$work/aimock"
"$node" "$interop/aimock.mjs" "$work/ledger" >"$work/aimock" 2>"$work/aimock.err" &
pids+=($!)
IFS= read -r url <"$work/aimock" || { cat "$work/aimock.err" >&2; fail "aimock did not start"; }

# judge_aimock FLAGS...: one run; how aimock behaved, beside how it was judged, with counts.
judge_aimock() {
    rm -f "$work"/aimock.db*
    status 1 "$TOOLSTORM" run --quiet --base-url "$url" --model any --no-preflight --rounds 3 \
        --context 400 --sessions 60 --concurrency 12 --db "$work/aimock.db" "$@"
    jq -r '"\(.canary)|\(.kind)"' "$work/ledger" | sort >"$work/kinds"
    sql "$work/aimock.db" "SELECT canary, reason FROM sessions" | sort >"$work/reasons"
    [ "$(wc -l <"$work/reasons")" -eq 60 ] || fail "sessions are missing"
    join -t '|' "$work/kinds" "$work/reasons" | cut -d'|' -f2,3 | sort | uniq -c | sed 's/^ *//'
}

# What a cut looks like depends on the form: aimock ends a whole body early too.
judge_aimock >"$work/table"
diff - "$work/table" >&2 <<'TXT' || fail "aimock, streamed, is not judged as it behaved"
6 altered|leak.value
6 cut|error.cut
6 http500|error.http
6 markup|leak.markup
6 prose|no_tool.prose
30 right|ok.done
TXT
judge_aimock --seed 2 --no-stream >"$work/table"
grep -v '^6 cut' "$work/table" | diff - <(cat <<'TXT'
6 altered|leak.value
6 http500|error.http
6 markup|leak.markup
6 prose|no_tool.prose
30 right|ok.done
TXT
) >&2 || fail "aimock, whole, is not judged as it behaved"
