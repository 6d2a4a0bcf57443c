#!/bin/sh
# Debian 13's Python, as tools/newer_python.sh unpacks it: it starts, has what tests need, uses no library of the system,
# makes a virtual environment with its pip, and is not unpacked twice. Exits 77 where Debian's packages are out of reach.
# usage: check_newer_python.sh WORK
# SPDX-License-Identifier: Apache-2.0
set -eu
work=${1:?usage: check_newer_python.sh WORK}
cd "$(dirname "$0")/../.."
fail() {
    echo "check_newer_python: $1"
    exit 1
}

status=0
python=$(tools/newer_python.sh --debian 3.12) || status=$?
[ "$status" -eq 0 ] || exit "$status"
before=$(stat -c %i "$python")
[ "$(tools/newer_python.sh --debian 3.12)" = "$python" ] || fail "the second answer is another one"
[ "$(stat -c %i "$python")" = "$before" ] || fail "it is unpacked twice"

rm -rf "$work"
"$python" -m venv --without-pip "$work"
env -i PATH=/usr/bin:/bin "$work/bin/python" - "$python" <<'END' || fail "it lacks something"
import bz2, ctypes, lzma, os, sqlite3, ssl, sys, zlib
assert sys.version_info >= (3, 12), sys.version
assert os.path.realpath(sys.executable) == os.path.realpath(sys.argv[1]), sys.executable
root = sys.argv[1].partition("/usr/bin/")[0]
ctypes.CDLL("libstdc++.so.6")
maps = {line.split()[-1] for line in open("/proc/self/maps", encoding="utf-8") if ".so" in line}
assert len(maps) > 5 and all(path.startswith(root) for path in maps), sorted(maps)
END
"$python" -m pip --version >/dev/null || fail "it has no pip"

# A Python that Debian 13 does not have: the reason is said, the status is that of a skipped test, and ours stays.
status=0
said=$(tools/newer_python.sh --debian 99.0 2>&1) || status=$?
[ "$status" -eq 77 ] || fail "Python 99.0: exit $status: $said"
case $said in
    newer_python:*99.0*) ;;
    *) fail "no reason: $said" ;;
esac
[ "$("$python" -c 'print(1)')" = 1 ] || fail "it is gone"
