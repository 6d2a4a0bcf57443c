#!/bin/sh
# Builds a fresh Debian in build/fresh, copies a clean clone of HEAD into it, and runs there what README.md tells a
# newcomer to run, line by line: the lines between its marks 'begin commands' and 'end'.
# usage: check_fresh.sh [SUITE [NUMBER]]     bookworm (12, the default) or trixie (13); how many of the lines, all by default
# Needs root, debootstrap and git; see fresh_debian.sh.
set -eu
suite=${1:-bookworm}
cd "$(dirname "$0")/.."
. tools/fresh_debian.sh

# The commands, one a line, without the comments beside them.
commands=$(git show HEAD:README.md | sed -n '/<!-- begin commands -->/,/<!-- end -->/{s/^    //; t command; d; :command; s/  *#.*//; p}' |
    head -n "${2:-1000}")
if [ -z "$commands" ]; then
    echo "check-fresh: README.md has no lines between 'begin commands' and 'end'" >&2
    exit 2
fi
if ! git rev-parse --verify --quiet HEAD >/dev/null; then
    echo "check-fresh: needs git and a commit, to clone it" >&2
    exit 2
fi
if [ -n "$(git status --porcelain)" ]; then
    echo "check-fresh: note: it tests the last commit; the working tree differs from it" >&2
fi

start=$(date +%s)
make_fresh check-fresh "$suite"
git clone --quiet --no-hardlinks "file://$PWD" "$root/root/grout"

# A line ends the check if it fails. None of them reads the list of the others.
echo "$commands" >"$fresh/commands"
while read -r command <&3; do
    echo "check-fresh: $command ($(($(date +%s) - start)) s so far)"
    in_fresh "cd /root/grout && $command"
done 3<"$fresh/commands"
echo "check-fresh: passed in a fresh Debian ($suite), $(($(date +%s) - start)) s"
