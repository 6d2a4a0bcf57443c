#!/bin/sh
# Runs every fuzz target of the preset dev, all at once, until each has had a processor for SECONDS.
# usage: fuzz.sh SECONDS [NAME...]
# New inputs go to build/fuzz/corpus/NAME; an input that fails goes to build/fuzz/failures, and the
# command to run it again is printed. It starts from the inputs that were made for it and from some of the tests'
# kernels, others each time: ten for each second, since to try them all takes the slowest target minutes.
set -eu
cd "$(dirname "$0")/.."
seconds=${1:?usage: fuzz.sh SECONDS [NAME...]}
shift
build=build/fuzz
programs=build/dev/bin

cmake --preset dev >/dev/null
cmake --build --preset dev --target fuzzers

if [ $# -eq 0 ]; then
    for list in "$programs"/fuzz_*.corpus; do
        [ -e "$list" ] || { echo "fuzz: no targets"; exit 0; }
        name=$(basename "$list" .corpus)
        set -- "$@" "${name#fuzz_}"
    done
fi
mkdir -p "$build/failures"
[ $# -le "$(nproc)" ] || seconds=$((seconds * $# / $(nproc)))

# What goes into texts of PTX: the words of the tables, as they stand there, and some more.
make_ptx_dictionary() {
    cat tests/fuzz/ptx.dict
    sed -n -e 's/^PTX_OP([^"]*\("[^"]*"\).*/\1/p' -e 's/^PTX_SPECIAL([^"]*\("[^"]*"\).*/\1/p' \
        -e 's/^PTX_\(WORD\|TYPE\)([^"]*"\([^"]*\)".*/".\2"/p' ptx/text/ptx_*.def
}

# fuzz_one NAME: its output in build/fuzz/NAME.log.
fuzz_one() {
    mkdir -p "$build/corpus/$1"
    dictionary=tests/fuzz/grout.dict
    case $1 in
        ptx*)
            dictionary=$build/$1.dict
            make_ptx_dictionary >"$dictionary"
            ;;
    esac
    folders="$build/corpus/$1"
    kernels=
    while read -r folder; do
        case $folder in
            */tests/fuzz/*) [ ! -d "$folder" ] || folders="$folders $folder" ;;
            *) kernels="$kernels $folder" ;;
        esac
    done <"$programs/fuzz_$1.corpus"
    # shellcheck disable=SC2086
    [ -z "$kernels" ] || find $kernels -type f | shuf -n $((seconds * 10)) | paste -sd, >"$build/$1.seeds"
    # The folders' names hold no blanks. The timeout is for an input that never ends: see tests/limit.py.
    # shellcheck disable=SC2086
    "$programs/fuzz_$1" $folders ${kernels:+-seed_inputs="@$build/$1.seeds"} -dict="$dictionary" -max_total_time="$seconds" \
        -max_len=65536 -timeout=1500 -rss_limit_mb=2048 -artifact_prefix="$build/failures/$1-" \
        >"$build/$1.log" 2>&1 </dev/null
}

pids=
for name in "$@"; do
    fuzz_one "$name" &
    pids="$pids $!"
done
status=0
for pid in $pids; do
    if wait "$pid"; then
        echo "fuzz: $1: nothing found ($(grep -o '^Done [0-9]* runs' "$build/$1.log" || echo 'no count'))"
    else
        echo "fuzz: $1: FAILED; see $build/$1.log"
        tail -n 40 "$build/$1.log"
        echo "fuzz: run it again: $programs/fuzz_$1 $build/failures/$1-..."
        status=1
    fi
    shift
done
exit $status
