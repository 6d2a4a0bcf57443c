#!/bin/sh
# All lints; every one runs, and the exit code is 1 if any found a fault. --deep: clang-tidy looks further.
# The functions below are called through 'lint'.
# shellcheck disable=SC2317
set -eu
cd "$(dirname "$0")/.."
deep=
case "${1-}" in
    '') ;;
    --deep) deep=--deep ;;
    *) echo "usage: tools/lint.sh [--deep]" >&2; exit 2 ;;
esac

# Git answers also where another user owns the tree, as in a CI container.
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0="$PWD"
git rev-parse --git-dir >/dev/null || { echo "lint: needs a git tree, to know which files are ours" >&2; exit 2; }

# lint NAME COMMAND...: what it says comes at once, as two may run at a time.
lint() {
    name=$1
    shift
    if said=$("$@" 2>&1); then
        printf 'lint: %s\n%s' "$name" "${said:+$said
}"
    else
        printf 'lint: %s\n%s\nlint: %s: FAILED\n' "$name" "$said" "$name"
        echo "$name" >>"$failed"
    fi
}
# files PATTERN...: what git tracks or could add, and is there.
files() {
    git ls-files -co --exclude-standard "$@" | sort -u | while read -r file; do
        [ ! -e "$file" ] || echo "$file"
    done
}
format() {
    files '*.c' '*.h' | xargs -r -n 40 -P "$(nproc)" clang-format --dry-run -Werror
}
shell() {
    files '*.sh' .ci/run | xargs -r shellcheck
}
tidy() {
    cmake --preset dev >/dev/null && python3 tools/lint_tidy.py ${deep:+"$deep"} build/dev
}
headers() {
    # Builds the target of tests/headers: each public header alone, twice, as C11 and as C++17.
    grep -q 'check_headers:' build/dev/build.ninja || return 0
    cmake --build --preset dev --target check_headers
}
globals() {
    cmake --preset test >/dev/null && cmake --build --preset test && python3 tools/lint_globals.py build/release
}
# python_lint NAME ARGUMENT...: a tool of deps/python_lints.txt; left out where PyPI is out of reach.
python_lint() {
    tool=$1
    shift
    status=0
    folder=$(tools/python_lints.sh) || status=$?
    case $status in
        0) "$folder/$tool" "$@" ;;
        77) echo "lint: $tool: left out" ;;
        *) return "$status" ;;
    esac
}
rooms() {
    # Objects of files that are gone would count as well.
    ninja -C build/release -t cleandead >/dev/null && python3 tools/lint_rooms.py build/release
}

# Two lines of lints that each take one core, side by side; then those that take all cores.
sources() {
    lint "formatting (clang-format)" format
    lint "includes, calls, lengths (tools/lint_sources.py)" python3 tools/lint_sources.py
    lint "operations by their columns (tools/lint_ops.py)" python3 tools/lint_ops.py
    lint "structs that are state (tools/lint_state.py)" python3 tools/lint_state.py
    lint "bounds are listed (tools/lint_limits.py)" python3 tools/lint_limits.py
    lint "loops over launch sizes end (tools/lint_loops.py)" python3 tools/lint_loops.py
    lint "words of findings (tools/lint_sentences.py)" python3 tools/lint_sentences.py
    lint "code in helps (tools/lint_help.py)" python3 tools/lint_help.py
    lint "plain English (tools/lint_english.py)" python3 tools/lint_english.py
    lint "width of pages (tools/lint_pages.py)" python3 tools/lint_pages.py
    lint "shell scripts (shellcheck)" shell
}
scripts() {
    lint "Python (ruff)" python_lint ruff check --quiet --cache-dir build/ruff
    lint "types of the Python package (mypy)" python_lint mypy --no-error-summary -p grout
    lint "types of scripts (tools/lint_types.py)" python_lint python tools/lint_types.py
}

failed=$(mktemp)
trap 'rm -f "$failed"' EXIT
trap 'exit 1' HUP INT TERM
scripts &
sources
wait
lint "clang-tidy" tidy
lint "public headers compile alone" headers
lint "no mutable globals" globals
lint "walls between folders (tools/lint_rooms.py)" rooms

if [ -s "$failed" ]; then
    echo "lint: FAILED: $(paste -s -d ';' "$failed")"
    exit 1
fi
echo "lint: clean"
