#!/usr/bin/env bash
# Installs the Debian packages that building (and with --test, testing) needs, each by name.
set -euo pipefail

usage() {
    cat <<'TXT'
usage: scripts/install.sh [--test]

Installs what toolstorm needs to build; with --test also what its tests need.
Does nothing where everything is there. Needs root or sudo for what is missing.
TXT
}

build=(ca-certificates cmake gcc git libc6-dev libcjson-dev libcurl4-openssl-dev libevent-dev
       libpcre2-dev libsqlite3-dev libssl-dev ninja-build pkg-config zlib1g-dev)
test=(chromium clang clang-format curl fish jq libclang-rt-14-dev mandoc nginx-light openssl procps
      python3 shellcheck sqlite3 zsh)

packages=("${build[@]}")
case "${1-}" in
    "") ;;
    --test) packages+=("${test[@]}") ;;
    --help|-h) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
esac

missing=()
for p in "${packages[@]}"; do
    dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q '^install ok installed' || missing+=("$p")
done
if [ "${1-}" = --test ] && ! { command -v node && command -v npm; } >/dev/null 2>&1; then
    missing+=(nodejs npm)
fi
[ ${#missing[@]} -eq 0 ] && exit 0

run=()
[ "$(id -u)" -eq 0 ] || run=(sudo)
export DEBIAN_FRONTEND=noninteractive
echo "installing: ${missing[*]}"
"${run[@]}" apt-get update -qq
"${run[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
