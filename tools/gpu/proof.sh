#!/bin/bash
# proof.sh - tools/gpu/proof on a machine with a Hopper GPU, from the root of the repository.
#
# Built beforehand (there need be no compiler):
#   cmake -S tools/gpu -B build/proof -G Ninja && cmake --build build/proof
#   build/proof/proof --cache build/proof-cache --compile-only
# OUT, if set, is a folder for the whole report.
set -u -o pipefail
out=${OUT:-build}
nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem,power.draw --format=csv,noheader
uname -r
which gcc cmake nvcc ninja cuobjdump
# The cache asks for a directory that is its user's own, which a copied one may not be.
cache=$(mktemp -d)
cp build/proof-cache/*.grc "$cache" 2>/dev/null
run() { timeout 300 build/proof/proof --cache "$cache" "$@"; }
run 2>&1 | tee "$out/proof.txt"
status=$?
if [ "$status" = 2 ]; then
    nvrtc=$(find / -name 'libnvrtc.so.1[23]' -not -path '/proc/*' 2>/dev/null | head -1)
    echo "trying NVRTC $nvrtc"
    run --nvrtc "$nvrtc" 2>&1 | tee "$out/proof.txt"
    status=$?
fi
timeout 120 python3 tools/gpu/peers.py 2>&1 | tee "$out/peers.txt"
if [ -f build/proof/add.cubin ]; then
    cuobjdump --dump-sass build/proof/add.cubin >"$out/add.sass" 2>&1
fi
nvidia-smi --query-gpu=clocks.sm,clocks.mem,power.draw,temperature.gpu --format=csv,noheader
exit "$status"
