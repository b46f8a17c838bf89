#!/usr/bin/env bash
# The smoke test after a deploy: does this running server corrupt tool calls under load?
set -euo pipefail

usage() {
    cat <<'TXT'
usage: scripts/smoke.sh --base-url URL [options] [-- options of `toolstorm run`]

Waits until the server is healthy, answers and makes a right tool call; then
plays tool-calling sessions until a sequential test has decided between an
acceptable rate of corruption (1%) and one to catch (10%). A healthy server
passes after 31 clean sessions: half a minute to three minutes, as it is fast.

  --base-url URL     the server, with or without /v1 (default: OPENAI_BASE_URL)
  --model NAME       (default: the first that the server lists)
  --ready-limit TIME how long to wait for it (default: 60s)
  --time-limit SECS  end the whole test after so long (default: 600)
  --p0 RATE          acceptable rate (default: 1%)
  --p1 RATE          rate to catch (default: 10%)
  --concurrency N    sessions in flight (default: 16)
  --rounds N         requests in a session (default: 3)
  --junit FILE       JUnit XML for the CI system
  --summary FILE     Markdown, appended (default: GITHUB_STEP_SUMMARY if it is set)
  --db FILE          keep the sessions and the evidence (default: a file that is
                     deleted if the test passes)

exit status: 0 pass, 1 corruption above the limit, 2 wrong usage, 3 the server is
not ready or fails too many requests, 4 undecided, 124 time limit

environment: TOOLSTORM, the program (default: toolstorm); OPENAI_API_KEY
TXT
}

fail() { echo "smoke.sh: $*" >&2; exit 2; }

program=${TOOLSTORM:-toolstorm}
url=${OPENAI_BASE_URL-} model='' ready=60s limit=600 p0=1% p1=10% concurrency=16 rounds=3
junit='' summary=${GITHUB_STEP_SUMMARY-} db=''
while [ $# -gt 0 ]; do
    case $1 in
        --help|-h) usage; exit 0 ;;
        --) shift; break ;;
        --*) [ $# -ge 2 ] || fail "$1 needs a value" ;;
    esac
    case $1 in
        --base-url) url=$2 ;;
        --model) model=$2 ;;
        --ready-limit) ready=$2 ;;
        --time-limit) limit=$2 ;;
        --p0) p0=$2 ;;
        --p1) p1=$2 ;;
        --concurrency) concurrency=$2 ;;
        --rounds) rounds=$2 ;;
        --junit) junit=$2 ;;
        --summary) summary=$2 ;;
        --db) db=$2 ;;
        *) fail "unknown argument '$1'; --help lists them" ;;
    esac
    shift 2
done
[ -n "$url" ] || fail "no server: give --base-url or set OPENAI_BASE_URL"

work=$(mktemp -d)
keep=yes
if [ -z "$db" ]; then
    db=$work/smoke.db
    keep=no
fi
endpoint=(--base-url "$url")
[ -z "$model" ] || endpoint+=(--model "$model")

add_summary() { [ -z "$summary" ] || cat >>"$summary"; }

# A JUnit file with one test case that failed, for what happens before there are sessions.
write_failed_junit() {
    [ -n "$junit" ] || return 0
    local text=${1//&/&amp;}
    text=${text//</&lt;}
    text=${text//>/&gt;}
    text=${text//\"/&quot;}
    cat >"$junit" <<XML
<?xml version="1.0" encoding="UTF-8"?>
<testsuites><testsuite name="toolstorm smoke" tests="1" failures="0" errors="1">
<testcase classname="toolstorm" name="ready"><error message="$text"/></testcase>
</testsuite></testsuites>
XML
}

status=0
timeout "$limit" "$program" wait "${endpoint[@]}" --limit "$ready" --quiet 2>"$work/err" || status=$?
if [ "$status" -ne 0 ]; then
    message=$(tail -n 1 "$work/err")
    [ "$status" -ne 124 ] || message="the time limit of $limit s is over"
    echo "${message:-not ready}" >&2
    write_failed_junit "${message:-not ready}"
    printf '### toolstorm smoke test: NOT READY\n\n%s\n' "${message:-not ready}" | add_summary
    rm -rf "$work"
    exit "$status"
fi

# --foreground, so that Ctrl-C reaches the program; it stores what it has and ends by itself.
timeout --foreground -s INT "$limit" "$program" run "${endpoint[@]}" --until decided \
    --p0 "$p0" --p1 "$p1" --sessions 122 --concurrency "$concurrency" --rounds "$rounds" \
    --label smoke --db "$db" "$@" || status=$?
case $status in
    0) word=PASS ;;
    1) word='CORRUPTED TOOL CALLS' ;;
    3) word='TOO MANY ERRORS' ;;
    4) word=UNDECIDED ;;
    *) word="ENDED WITH STATUS $status" ;;
esac

if [ -f "$db" ] && [ "$status" -ne 2 ] && [ "$status" -ne 5 ]; then
    run=$("$program" query --db "$db" --output csv --sql 'SELECT max(run) AS run FROM runs' | tail -n 1)
    [ -z "$junit" ] || "$program" report --db "$db" --junit "$junit" "$run"
    {
        printf '### toolstorm smoke test: %s\n\n' "$word"
        "$program" report --db "$db" --md - "$run"
    } >"$work/summary.md"
    add_summary <"$work/summary.md"
else
    write_failed_junit "$word"
fi
echo "smoke test: $word"
if [ "$keep" = no ] && [ "$status" -ne 0 ]; then
    echo "the evidence is in $db"
else
    rm -rf "$work"
fi
exit "$status"
