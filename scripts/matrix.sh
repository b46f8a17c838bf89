#!/usr/bin/env bash
# A sweep, or an isolation, without writing a plan file.
set -euo pipefail

usage() {
    cat <<'TXT'
usage: scripts/matrix.sh --factor NAME=LEVEL,LEVEL... [options] [-- options of `toolstorm run`]

Makes a plan of its arguments and gives it to `toolstorm sweep`: every
combination of the levels, interleaved in blocks, each on a fresh server start
that the hook brings about. The first level of each factor is the baseline.

  --factor NAME=L1,L2   a factor and its levels (repeatable); one that is named
                        like an option of `toolstorm run` (concurrency, context,
                        rounds, stream...) sets that option
  --hook FILE           executable that applies a configuration; see
                        scripts/README.md and scripts/hooks/
  --endpoint URL        the server (default: what the hook prints as base_url=,
                        else OPENAI_BASE_URL)
  --blocks N            how often each cell is played (default: 4)
  --cells WHICH         full (default) or one-at-a-time
  --exclude N=L,M=L     leave these combinations out (repeatable)
  --isolate             find the factors that the damage needs, taken together,
                        instead of playing all cells
  --name NAME           how the database calls it (default: matrix)
  --print-plan          print the plan and do nothing
  --dry-run --resume --quiet --db FILE --output FORM --on-hook-failure WORD
                        as for `toolstorm sweep`

example:
  scripts/matrix.sh --factor graph=on,off --factor concurrency=64,1 \
      --hook ./restart.sh -- --sessions 40 --rounds 3

environment: TOOLSTORM, the program (default: toolstorm)
TXT
}

fail() { echo "matrix.sh: $*" >&2; exit 2; }

json_string() {
    local s=${1//\\/\\\\}
    printf '"%s"' "${s//\"/\\\"}"
}

# "a=x,b=y" as a JSON object.
json_object() {
    local pair comma=
    local -a pairs
    IFS=, read -ra pairs <<<"$1"
    printf '{'
    for pair in "${pairs[@]}"; do
        [[ $pair == *=* ]] || fail "'$pair': expected NAME=LEVEL"
        printf '%s%s: %s' "$comma" "$(json_string "${pair%%=*}")" "$(json_string "${pair#*=}")"
        comma=', '
    done
    printf '}'
}

# "name=a,b" as a member.
json_factor() {
    local level comma=
    local -a levels
    IFS=, read -ra levels <<<"${1#*=}"
    printf '%s: [' "$(json_string "${1%%=*}")"
    for level in "${levels[@]}"; do
        printf '%s%s' "$comma" "$(json_string "$level")"
        comma=', '
    done
    printf ']'
}

factors=() excludes=() pass=() hook='' endpoint='' blocks=4 cells=full name=matrix
command=sweep print_plan=no
while [ $# -gt 0 ]; do
    case $1 in
        --factor|--hook|--endpoint|--blocks|--cells|--exclude|--name|--db|--output|--on-hook-failure)
            [ $# -ge 2 ] || fail "$1 needs a value" ;;
    esac
    case $1 in
        --factor) [[ $2 == ?*=?* ]] || fail "'--factor $2': expected NAME=LEVEL,LEVEL"
                  factors+=("$2"); shift ;;
        --exclude) excludes+=("$2"); shift ;;
        --hook) hook=$2; shift ;;
        --endpoint) endpoint=$2; shift ;;
        --blocks) [[ $2 =~ ^[1-9][0-9]*$ ]] || fail "'--blocks $2': expected a number"
                  blocks=$2; shift ;;
        --cells) cells=$2; shift ;;
        --name) name=$2; shift ;;
        --isolate) command=isolate ;;
        --print-plan) print_plan=yes ;;
        --dry-run|--resume|--quiet) pass+=("$1") ;;
        --db|--output|--on-hook-failure) pass+=("$1" "$2"); shift ;;
        --help|-h) usage; exit 0 ;;
        --) shift; break ;;
        *) fail "unknown argument '$1'; --help lists them" ;;
    esac
    shift
done
[ ${#factors[@]} -gt 0 ] || fail "no --factor was given"

write_plan() {
    local one comma=
    printf '{"name": %s, "blocks": %s, "cells": %s' "$(json_string "$name")" "$blocks" \
        "$(json_string "$cells")"
    [ -z "$endpoint" ] || printf ', "endpoint": %s' "$(json_string "$endpoint")"
    if [ -n "$hook" ]; then
        [[ $hook != */* ]] || hook=$(realpath -- "$hook")
        printf ', "hook": %s' "$(json_string "$hook")"
    fi
    printf ',\n "factors": {'
    for one in "${factors[@]}"; do
        printf '%s' "$comma"
        json_factor "$one"
        comma=', '
    done
    printf '}'
    comma=
    if [ ${#excludes[@]} -gt 0 ]; then
        printf ',\n "exclude": ['
        for one in "${excludes[@]}"; do
            printf '%s' "$comma"
            json_object "$one"
            comma=', '
        done
        printf ']'
    fi
    printf '}\n'
}

if [ "$print_plan" = yes ]; then
    write_plan
    exit 0
fi
plan=$(mktemp)
trap 'rm -f "$plan"' EXIT
write_plan >"$plan"
"${TOOLSTORM:-toolstorm}" "$command" "${pass[@]}" "$plan" -- "$@"
