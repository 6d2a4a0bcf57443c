#!/bin/sh
# Prints the folder of ruff and mypy, which it installs into build/python-lints where the versions of deps/python_lints.txt
# are not there yet: with these it needs no network.
# usage: python_lints.sh
# Exits 77 with the reason where PyPI is out of reach, or Python makes no virtual environments.
# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/.."
wanted=deps/python_lints.txt
here=$PWD/build/python-lints
log=$PWD/build/python-lints.log

give_up() {
    echo "python_lints: $1, see build/python-lints.log" >&2
    exit 77
}

if ! cmp -s "$wanted" "$here/installed.txt"; then
    rm -rf "$here"
    mkdir -p build
    python3 -m venv "$here" >"$log" 2>&1 || give_up "Python makes no virtual environment"
    "$here/bin/pip" --disable-pip-version-check --no-input install --no-deps --no-compile --retries 1 --timeout 15 -r "$wanted" \
        >"$log" 2>&1 || give_up "PyPI has not given what $wanted lists"
    cp "$wanted" "$here/installed.txt"
fi
echo "$here/bin"
