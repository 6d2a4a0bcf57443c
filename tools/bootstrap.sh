#!/bin/sh
# On a Debian that has nothing: installs make and what the build needs, as root or with passwordless sudo, and runs make.
# usage: bootstrap.sh TARGET...     such as demo or test; what a target needs beyond that it installs itself
set -eu
cd "$(dirname "$0")/.."
if [ $# -eq 0 ]; then
    echo "usage: tools/bootstrap.sh TARGET..., such as demo or test" >&2
    exit 2
fi
tools/deps.sh build
exec make --no-print-directory "$@"
