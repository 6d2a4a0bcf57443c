#!/bin/sh
# Prints the path of a Python that is MINIMUM or later, with a pip or with what makes one: the oldest such on PATH or
# among pyenv's; else Debian 13's, unpacked into build/python3.13 (deps/python3.13.txt), which the system does not notice.
# usage: newer_python.sh [--debian] MINIMUM     as newer_python.sh 3.12; --debian: do not look for another one
# Exits 77 with the reason where there is none to be had.
set -eu
search=yes
if [ "${1-}" = --debian ]; then
    search=
    shift
fi
minimum=${1:?usage: newer_python.sh [--debian] MINIMUM}
cd "$(dirname "$0")/.."
. tools/debian_mirror.sh
here=$PWD/build/python3.13
python=$here/root/usr/bin/python3.13

give_up() {
    echo "newer_python: $1" >&2
    exit 77
}

# Its version and path, if it serves. A shim of pyenv may start nothing, and Debian's Python may lack pip and ensurepip.
probe() {
    "$1" -c '
import ctypes, importlib.util, ssl, sys, venv
minimum = tuple(map(int, sys.argv[1].split(".")))
if sys.version_info[:2] >= minimum and any(map(importlib.util.find_spec, ("pip", "ensurepip"))):
    print("%d.%d" % sys.version_info[:2], sys.executable)' "$minimum" 2>/dev/null || true
}

find_here() {
    {
        echo "$PATH" | tr : '\n' | while read -r folder; do
            ls -d "$folder"/python3 "$folder"/python3.[0-9] "$folder"/python3.[0-9][0-9] 2>/dev/null || true
        done
        ls -d "${PYENV_ROOT:-${HOME:-/}/.pyenv}"/versions/*/bin/python3 2>/dev/null || true
    } | while read -r candidate; do
        probe "$candidate"
    done | sort -s -V -k 1,1 | head -n 1 | cut -d ' ' -f 2-
}

# apt with lists, packages and a state of its own; keys, proxies and passwords are the machine's.
write_settings() {
    mkdir -p "$here/apt/lists/partial" "$here/apt/cache/archives/partial"
    : >"$here/apt/status"
    cat >"$here/apt/debian.sources" <<END
Types: deb
URIs: $1
Suites: trixie
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
END
    cat >"$here/apt/apt.conf" <<END
Dir::State "$here/apt";
Dir::State::Lists "$here/apt/lists";
Dir::State::Status "$here/apt/status";
Dir::Cache "$here/apt/cache";
Dir::Etc::SourceList "$here/apt/debian.sources";
Dir::Etc::SourceParts "/dev/null";
Dir::Etc::Preferences "/dev/null";
Dir::Etc::PreferencesParts "/dev/null";
Acquire::Languages "none";
APT::Sandbox::User "";
APT::Get::Assume-Yes "true";
APT::Install-Recommends "false";
END
}

# Debian's python3.13 as it is finds the system's C library, which is older. So this one names its own, and the
# libraries of compiled wheels before they are looked for. gcc takes -Wl,-rpath where patchelf breaks the file.
make_launcher() {
    libraries=$(dirname "$1")
    echo 'int Py_BytesMain(int count, char **words); int main(int count, char **words) { return Py_BytesMain(count, words); }' |
        cc -x c -o "$python" - -x none -Wl,--dynamic-linker="$1" -Wl,-rpath="$libraries" -Wl,--disable-new-dtags \
            -Wl,--no-as-needed -Wl,--allow-shlib-undefined \
            "$libraries/libpython3.13.so.1.0" "$libraries/libstdc++.so.6" "$libraries/libgcc_s.so.1"
}

unpack() {
    for tool in apt-get dpkg-deb cc flock; do
        command -v "$tool" >/dev/null || give_up "no Python $minimum here, and no $tool to unpack Debian 13's"
    done
    mirror=$(find_mirror)
    [ -n "$mirror" ] || give_up "no Python $minimum here, and apt names no mirror of Debian"
    rm -rf "$here/apt"
    write_settings "$mirror"
    APT_CONFIG=$here/apt/apt.conf
    export APT_CONFIG
    # Words of the list are packages, one each.
    # shellcheck disable=SC2046
    if ! { apt-get update --error-on=any && apt-get install --download-only $(sed 's/#.*//' deps/python3.13.txt); } \
        >"$here/log" 2>&1; then
        give_up "Debian 13's Python is out of reach: $(grep -E '^[EW]:' "$here/log" | head -n 1), see $here/log"
    fi
    rm -rf "$here/root"
    mkdir -p "$here/root"
    for package in "$here"/apt/cache/archives/*.deb; do
        dpkg-deb -x "$package" "$here/root"
    done
    rm -rf "$here/apt"
    mkdir -p "$here/root/usr/bin"
    make_launcher "$(echo "$here"/root/usr/lib/*/ld-linux*.so.*)"
    # Where this Python looks first; Debian's pip is a wheel, for ensurepip, which looks for it in the system.
    "$python" -m zipfile -e "$here"/root/usr/share/python-wheels/pip-*.whl "$here/root/usr/lib/python3/dist-packages"
}

found=
[ -z "$search" ] || found=$(find_here)
if [ -z "$found" ]; then
    case $minimum in
        3.? | 3.1[0-3]) ;;
        *) give_up "no Python $minimum here, and Debian 13 has 3.13" ;;
    esac
    mkdir -p "$here"
    exec 9>"$here/lock"
    flock 9
    if [ -z "$(probe "$python")" ]; then
        unpack
        [ -n "$(probe "$python")" ] || give_up "Debian 13's Python does not start: $python"
    fi
    found=$python
fi
echo "$found"
