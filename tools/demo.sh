#!/bin/sh
# The main job on real input: checks a kernel and runs it on two .npy files, shows what a bug looks
# like, and shows the CUDA.
# usage: demo.sh [GROUT]     the command; build/release/bin/grout by default
set -eu
cd "$(dirname "$0")/.."
grout=${1:-build/release/bin/grout}
out=build/demo

step() {
    printf '\n== %s\n' "$1"
}
show() {
    printf '$ %s\n' "$(echo "grout $*" | sed 's/  */ /g')"
    "$grout" "$@"
}

mkdir -p "$out"
rm -f "$out"/*

step "1. Two arrays of 4000 x 120 f32"
python3 tools/demo_npy.py write "$out/a.npy" "$out/b.npy"

step "2. Check the TMA elementwise add on them, and write c.npy"
show check kernels/add_tma.grout \
    --input a="$out/a.npy" --input b="$out/b.npy" --output c="$out/c.npy"
python3 tools/demo_npy.py verify "$out/a.npy" "$out/b.npy" "$out/c.npy"

step "3. The same kernel with its commit dropped: what the checker says"
status=0
show check kernels/bugs/add_tma_no_commit.grout || status=$?
if [ "$status" -ne 1 ]; then
    echo "demo: expected exit code 1 (a finding), got $status" >&2
    exit 1
fi
echo "(exit code 1, as it should be: the kernel has a bug)"

step "4. The CUDA of the correct kernel, from the last wait of its loop on: the commit is there"
show emit kernels/add_tma.grout --to cuda -o "$out/add_tma.cu"
# The line of the kernel stands over its CUDA as a comment.
sed -n '/\/\/ wait_smem_to_gmem 0 read_only/,$p' "$out/add_tma.cu" >"$out/shown"
grep -q 'grout_commit_smem(' "$out/shown" || { echo "demo: $out/add_tma.cu has no commit there" >&2; exit 1; }
cat "$out/shown"
rm "$out/shown"

printf '\nThe demo is done. Left in %s/: a.npy, b.npy, c.npy and\n%s\n' "$out" "$PWD/$out/add_tma.cu"
