#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes build/gpu-faults.tar.gz of build/gpu-bundle (tools/gpu_bundle.sh), whose libraries it takes, and of grout-planted
# (cmake --preset test && cmake --build build/release --target grout_planted): the program, the kernels, the lists of fields
# and planted.py. On a machine with a GPU, NVRTC and Python:
#     tar xzf gpu-faults.tar.gz && sh gpu-faults/run.sh OUT SECONDS [RESULTS]
# (faults that RESULTS has are left out on the GPU), which writes OUT/gpu.tsv, what the GPU says of each fault, and OUT/ptx.tsv, what the PTX emulator says.
set -eu
cd "$(dirname "$0")/../../.."
folder=build/gpu-faults
rm -rf "$folder"
mkdir -p "$folder/tests" "$folder/gpu_backend/plan"
cp build/release/bin/grout-planted build/gpu-bundle/*.so* "$folder/"
cp gpu_backend/plan/bits.def "$folder/gpu_backend/plan/"
cp -R kernels "$folder/kernels"
cp -R tests/differential tests/ops tests/families.py tests/kernel_lists.py "$folder/tests/"
python3 tests/kernel_lists.py "$folder/tests/differential"
cat > "$folder/run.sh" <<'RUN'
#!/bin/sh
set -u
out=$1
seconds=$2
known=${3:+--but $(realpath "$3")}
cd "$(dirname "$0")"
export LD_LIBRARY_PATH="$PWD:${LD_LIBRARY_PATH:-}"
planted="python3 tests/differential/planted/planted.py --root . --grout ./grout-planted --seconds $seconds"
# shellcheck disable=SC2086
$planted --device cuda --jobs 6 $known --results "$out/gpu.tsv" > "$out/gpu.log" 2>&1 &
$planted --device ptx --jobs 10 --results "$out/ptx.tsv" > "$out/ptx.log" 2>&1 &
nvidia-smi -L > "$out/device.log"
wait
tail -n 1 "$out/gpu.log" "$out/ptx.log"
RUN
tar czf build/gpu-faults.tar.gz -C build gpu-faults
du -h build/gpu-faults.tar.gz
