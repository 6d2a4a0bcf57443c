#!/bin/sh
# Builds ../consumer.c against an installed grout with nothing but pkg-config, and runs it.
# usage: run.sh LIBRARY_FOLDER PROGRAM COMPILER [--static] [FLAG...]
set -eu

library_dir=$1
program=$2
compiler=$3
shift 3
static=
if [ "${1:-}" = --static ]; then
    static=--static
    shift
fi

export PKG_CONFIG_PATH="$library_dir/pkgconfig"
# Word splitting is what pkg-config's output is made for.
# shellcheck disable=SC2046
"$compiler" -std=c11 "$@" $(pkg-config --cflags grout) "$(dirname "$0")/../consumer.c" -o "$program" \
    $(pkg-config --libs $static grout) -Wl,-rpath,"$library_dir"
exec "$program"
