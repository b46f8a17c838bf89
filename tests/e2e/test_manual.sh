#!/usr/bin/env bash
# The manual page and the completions hold every command and every option that --help shows, and the
# tools that read them find nothing wrong.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

for topic in man completions-bash completions-zsh completions-fish; do
    status 0 "$TOOLSTORM" help "$topic"
    cp "$work/out" "$work/$topic"
done
mandoc -T lint -W error "$work/man" || fail "the manual page"
mandoc -T utf8 "$work/man" | sed 's/.\x08//g' >"$work/page"
bash -n "$work/completions-bash"
zsh -n "$work/completions-zsh"
fish -n "$work/completions-fish"

n=0
commands=$("$TOOLSTORM" --help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' | grep -vx help)
for command in $commands; do
    grep -qE "^toolstorm $command " "$work/page" || fail "the manual page lacks '$command'"
    part=$(sed -n "/^    $command)\$/,/^        esac ;;\$/p" "$work/completions-bash")
    zsh_part=$(sed -n "/^    $command)/,/;;\$/p" "$work/completions-zsh")
    for option in $("$TOOLSTORM" "$command" --help | sed -n 's/^  \(-., \)\?--\([a-z0-9-]*\).*/\2/p'); do
        grep -qE -- "(^|[ ,])--$option( |\$)" "$work/page" || fail "the manual page lacks $command --$option"
        grep -qE -- " --${option}[ ']" <<<"$part" || fail "bash lacks $command --$option"
        grep -qE -- "'\*?--$option\[" <<<"$zsh_part" || fail "zsh lacks $command --$option"
        grep -qE -- "_from $command' -l $option( |\$)" "$work/completions-fish" ||
            fail "fish lacks $command --$option"
        n=$((n + 1))
    done
done
[ "$n" -gt 150 ] || fail "only $n options were found"

# What a user gets who presses the key.
# complete LINE...: bash's answer to the words, the last one unfinished.
complete_words() {
    bash -c 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _toolstorm
             printf "%s\n" "${COMPREPLY[@]}"' bash "$work/completions-bash" "$@"
}
is() { [ "$1" = "$2" ] || fail "completed to '$1', want '$2'"; }
is "$(complete_words toolstorm rep | paste -sd' ')" "report replay"
is "$(complete_words toolstorm run --on-da)" "--on-damage"
is "$(complete_words toolstorm run --no-st)" "--no-stream"
is "$(complete_words toolstorm run --keep '' | paste -sd' ')" "damaged all none"
is "$(complete_words toolstorm list --output j)" "json"
is "$(cd "$work" && complete_words toolstorm report --html pa)" "page"
is "$(complete_words toolstorm run --sessions '')" ""
is "$(fish -c "source $work/completions-fish; complete -C 'toolstorm run --keep '" | cut -f1 | sort | paste -sd' ')" \
    "all damaged none"
is "$(fish -c "source $work/completions-fish; complete -C 'toolstorm show --cu'" | cut -f1)" "--curl"
