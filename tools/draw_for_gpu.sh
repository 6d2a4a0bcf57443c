#!/bin/sh
# Draws 500 kernels with their inputs and what they have to leave, for a GPU machine without a build:
# build/gpu-random.tar.gz, which tests/differential/gpu/random_on_gpu.py reads there.
#
# usage: tools/draw_for_gpu.sh CHECK_RANDOM [FIRST]     CHECK_RANDOM: of an optimised build (preset test)
set -eu
check_random=$(realpath "$1")
first=${2:-1}
cd "$(dirname "$0")/.."
folder=build/gpu-random

rm -rf "$folder"
mkdir -p "$folder"
"$check_random" table "$first" 310 1 "write=$folder"
# Of every other seed: the even ones have halves of whole numbers, whose sums are exact in any order.
even=$((first + first % 2))
for kind in values copies wgmma groups updates; do
    "$check_random" "$kind" "$even" 38 2 "write=$folder"
done
tar -czf build/gpu-random.tar.gz -C build gpu-random
ls -l build/gpu-random.tar.gz
