#!/bin/sh
# Installs the packages of deps/debian.txt that are missing, as root or with passwordless sudo.
# usage: deps.sh [build|test|ci]     up to and including that section; ci (all) by default
# Without rights it prints the command and exits 2.
set -eu
cd "$(dirname "$0")/.."
last=${1:-ci}

wanted=$(awk -v last="$last" '
    { sub(/#.*/, "") }
    /^\[/ { if (found) exit; section = $1; if (section == "[" last "]") found = 1; next }
    NF { print $1 }' deps/debian.txt)

if ! command -v dpkg-query >/dev/null; then
    echo "deps: no dpkg here; these are the Debian names of what is needed:" >&2
    echo "$wanted" | tr '\n' ' ' >&2
    echo >&2
    exit 2
fi

missing=
for package in $wanted; do
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$state" = installed ] || missing="$missing $package"
done
if [ -z "$missing" ]; then
    echo "deps: all packages are installed"
    exit 0
fi

sudo=
if [ "$(id -u)" -ne 0 ]; then
    if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
        sudo="sudo -n"
    else
        echo "deps: packages are missing; install them with" >&2
        echo "    sudo apt-get install --no-install-recommends$missing" >&2
        exit 2
    fi
fi

# What follows is one word a package.
# shellcheck disable=SC2086
install() {
    echo "+ ${sudo:+$sudo }apt-get install -y --no-install-recommends$missing"
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $missing >/dev/null
}
update() {
    echo "+ ${sudo:+$sudo }apt-get update"
    $sudo apt-get update -qq
}
# The lists are fetched only where they are absent (no candidate) or too old (the download fails).
# shellcheck disable=SC2086
if ! apt-get install -s --no-install-recommends $missing >/dev/null 2>&1; then
    update
    install
elif ! install; then
    update
    install
fi
