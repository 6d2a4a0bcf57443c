#!/usr/bin/env python3
# gpu_hopper.py - all that is claimed of kernels/ on an H100 or H200, in one command of about eight minutes.
# SPDX-License-Identifier: Apache-2.0
"""usage: bench/gpu_hopper.py GROUT [OUT]         from the project's folder

First every kernel of kernels/ against the CPU (tests/differential/gpu/kernels_on_gpu.py), then, one after the other,
the speed of a ping-pong matmul as written and relaxed, of attention forward and backward beside cuDNN, of a matmul of
8-bit floats beside cuBLAS, and of the matmuls of bf16. Each step is a process with a time limit, and a step that fails
stops no other. All output goes to OUT (default $OUT, else build/gpu_hopper), the last lines of each step to
stdout. Exit code 0: every step is as expected.
"""

import os
import signal
import subprocess
import sys
import time

BEST = "BN=128,WGS=3,REGS=160,PRODUCER_REGS=32"  # of attention with D = 64
MATMUL = "8192,8192,8192"
# name, seconds, command after the interpreter; GROUT and LOG become the paths of both
STEPS = [
    ("compare", 100,
     ["tests/differential/gpu/kernels_on_gpu.py", "GROUT", "--jobs", "14", "--budget", "80", "--log", "LOG"]),
    ("pingpong", 200, ["bench/gpu_pingpong.py", "GROUT", MATMUL]),
    ("attention", 60, ["bench/gpu_attention.py", "GROUT", "kernels/attention_hopper.grout", "16384,8,128,0,BN=176",
                       "16384,8,128,1,BN=128", f"16384,8,64,0,{BEST}", f"16384,8,64,1,{BEST}"]),
    ("fp8", 45, ["bench/gpu_fp8.py", "GROUT", "kernels/matmul_hopper_fp8.grout", MATMUL]),
    ("backward", 150, ["bench/gpu_attention_backward.py", "GROUT", "16384,8,128,0", "16384,8,128,1", "16384,8,64,0",
                      "16384,8,64,1", "16384,8,256,0", "16384,8,256,1"]),
    ("matmul", 100,
     ["bench/gpu_matmul.py", "GROUT", "kernels/matmul_hopper_pingpong.grout", MATMUL, MATMUL + ",STAGES=6",
                    "8192,8192,512", "8192,8192,512,STAGES=6"]),
    ("cluster", 60, ["bench/gpu_matmul.py", "GROUT", "kernels/matmul_hopper_cluster.grout", MATMUL]),
]


def run_step(name, seconds, words, grout, out):
    log = os.path.join(out, name + ".log")
    places = {"GROUT": grout, "LOG": os.path.join(out, name + "_cases.log")}
    command = [sys.executable, *(places.get(word, word) for word in words)]
    start = time.monotonic()
    with open(log, "w", encoding="utf-8") as file, \
            subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT, start_new_session=True) as process:
        try:
            code = process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # its children, too: they would disturb the next step
            code = 124
    with open(log, encoding="utf-8") as file:
        lines = file.read().splitlines()
    print(f"== {name}: exit {code}, {time.monotonic() - start:.0f} s")
    print("\n".join(line[:200] for line in lines[-8:]), flush=True)
    return code == 0


def main():
    grout = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else ""
    if not os.access(grout, os.X_OK):
        print(__doc__)
        return 2
    out = sys.argv[2] if len(sys.argv) > 2 else os.environ.get("OUT", os.path.join("build", "gpu_hopper"))
    os.makedirs(out, exist_ok=True)
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    results = [run_step(*step, grout, out) for step in STEPS]
    print(f"{sum(results)} of {len(results)} steps as expected")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
