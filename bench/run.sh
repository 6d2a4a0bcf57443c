#!/bin/sh
# Runs every benchmark of FOLDER; says first on what machine.
# usage: run.sh FOLDER     where bench_* and grout are, e.g. build/release/bin
set -eu
folder=${1:?usage: run.sh FOLDER}

echo "machine: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores; $(uname -sr)"
echo "date: $(date -u +%F); grout $(git rev-parse --short HEAD 2>/dev/null || echo 'outside git')"
for program in "$folder"/bench_*; do
    [ -x "$program" ] || { echo "bench: no programs in $folder" >&2; exit 1; }
    printf '\n%s\n' "${program##*/}"
    "$program"
done
