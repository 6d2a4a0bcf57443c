#!/bin/sh
# Builds a source of the folder above against an installed grout with nothing but pkg-config, and runs it.
# usage: run.sh LIBRARY_FOLDER SOURCE PROGRAM COMPILER [--static] [FLAG...]
set -eu

library_dir=$1
source=$2
program=$3
compiler=$4
shift 4
static=
if [ "${1:-}" = --static ]; then
    static=--static
    shift
fi

export PKG_CONFIG_PATH="$library_dir/pkgconfig"
# Word splitting is what pkg-config's output is made for.
# shellcheck disable=SC2046
"$compiler" -std=c11 "$@" $(pkg-config --cflags grout) "$(dirname "$0")/../$source" -o "$program" \
    $(pkg-config --libs $static grout) -Wl,-rpath,"$library_dir"
exec "$program"
