"""Every kernel of kernels/ on the GPU and on the CPU, at the awkward sizes of tests/references and at larger ones. For
a machine with an H100 or H200.

usage: kernels_on_gpu.py GROUT [--jobs 12] [--log FILE] [--only TEXT] [--budget SECONDS] [--emit]
       from the project's folder; --emit compiles to cubin instead of running (needs NVRTC only)

Kernels with a wgmma run with exact numerics, and those of NORMAL with random normal numbers: the results have to be
equal bit for bit, but for kernels whose comment '// same: OPTION...' gives a tolerance. Once the budget is spent, the
rest is left out, and counts as failed.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # the folder is a source tree
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))),
                                "references"))
import references

SECONDS = 60  # of one run
# Sums in one order, whatever the numbers are.
NORMAL = ("matmul_hopper", "matmul_hopper_async", "matmul_hopper_cluster", "matmul_hopper_union", "matmul_hopper_ws",
          "matmul_hopper_partitions", "matmul_hopper_epilogue", "matmul_hopper_pingpong", "matmul_stream_k",
          "matmul_ragged", "matmul_grouped", "matmul_ragged_transposed")
MATMULS = ("M=1000 N=520 K=712", "M=520 N=1000 K=1032")
LARGER = {
    **dict.fromkeys(("matmul_hopper", "matmul_hopper_ws", "matmul_hopper_cluster", "matmul_hopper_pingpong",
                     "matmul_hopper_partitions", "matmul_hopper_epilogue", "matmul_stream_k"), MATMULS),
    "matmul_hopper_fp8": ("M=1000 N=520 K=720",), "matmul_hopper_blocks": ("M=1000 N=520 K=720",),
    "matmul_hopper_mixed": ("M=1000 N=520 K=720",), "matmul_sparse": ("M=1000 N=520 K=720",),
    "matmul_ragged": ("TOTAL=1000 N=320 K=520",),
    "matmul_grouped": ("TOTAL=1000 N=328 K=520", "TOTAL=3000 N=136 K=72 SMS=5"),
    "matmul_moe_gather": ("TOKENS=1000 SLOTS=2000 N=520 K=264",),
    "matmul_ragged_transposed": ("TOTAL=1000 M=520 N=328", "TOTAL=3000 M=264 N=520 SMS=5"),
    "attention_hopper": ("S=1000 SK=1300 HEADS=4 GROUP=2 CAUSAL=1", "S=1000 SK=900 D=128 BN=176"),
    "attention_hopper_backward":
        ("S=1000 SK=1300 HEADS=4 GROUP=2 CAUSAL=1", "S=1000 SK=900 D=128",
         "S=900 SK=1000 D=128 HEADS=4 GROUP=4 CAUSAL=1"),
    "attention_hopper_backward_wide": ("S=1000 SK=1300 HEADS=4 GROUP=2 CAUSAL=1", "S=900 SK=800"),
    "attention_hopper_backward_rows@attention_backward_rows": ("S=1000 HEADS=3 D=128", "S=1000 D=256"),
    "attention_hopper_backward_rows@attention_backward_queries": ("S=1000 HEADS=3 D=128",),
    "scan": ("N=655360",), "rms_norm": ("R=1000 C=1024",), "layer_norm": ("R=999 C=1024 THREADS=3",),
    "softmax": ("R=1000 C=256",), "histogram": ("N=65536 BINS=256",), "add_tma": ("X=1000 Y=1000",),
    "transpose@transpose_f32": ("M=1000 N=520",), "transpose@transpose_bf16": ("M=1000 N=520",),
}


def get_own(text, kernel):
    """The options of the '// same:' comment of a kernel; those above the first kernel are that one's."""
    own = ""
    for line in text.split("\n"):
        same, found = re.match(r"// same: (.*)", line), re.match(r"kernel @(\w+)", line)
        own += same.group(1) + " " if same else ""
        if found and kernel in ("", found.group(1)):
            return own.split()
        own = "" if found else own
    raise ValueError(kernel)


def find_cases(only):
    """The arguments of 'grout run' of each case."""
    for name, _, inputs, _, _, sizes in references.CASES:
        path, _, kernel = name.partition("@")
        if "/" in path:
            continue  # a kernel of the tests, with types in place of others
        with open(f"kernels/{path}.grout", encoding="utf-8") as file:
            text = file.read()
        own = get_own(text, kernel)
        options = (["--kernel", "@" + kernel] if kernel else []) + own
        if "wgmma" in text and "--rtol" not in own:
            options += ["--numerics", "exact"]
        if path in NORMAL:
            for seed, (array, words) in enumerate(inputs.items(), 1):
                options += [] if words == "offsets" else ["--input", f"{array}=randn:{seed}"]
        for defines in ["", *sizes, *LARGER.get(name, ())]:
            if re.search(r"=[a-z]", defines):
                continue  # other types in the text
            case = [f"kernels/{path}.grout", *options, *(word for define in defines.split() for word in ("-D", define))]
            if only in " ".join(case):
                yield case


def run(grout, case, is_emitted, end):
    if time.monotonic() > end:
        return 125, "left out: the budget is spent"
    if is_emitted:
        kept = [word for i, word in enumerate(case) if word in ("-D", "--kernel") or case[i - 1] in ("-D", "--kernel")]
        command = [grout, "emit", case[0], "--to", "cubin", "-o", "/dev/null", *kept]
    else:
        command = [grout, "run", *case, "--device", "cuda", "--compare", "cpu"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
        return done.returncode, done.stdout + done.stderr
    except subprocess.TimeoutExpired:
        return 124, f"it did not end in {SECONDS} s"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("grout")
    parser.add_argument("--jobs", type=int, default=12)
    parser.add_argument("--log", default="kernels_on_gpu.log")
    parser.add_argument("--only", default="")
    parser.add_argument("--budget", type=float, default=600)
    parser.add_argument("--emit", action="store_true")
    arguments = parser.parse_args()
    failed, left_out, start = 0, 0, time.monotonic()
    cases = list(find_cases(arguments.only))
    with open(arguments.log, "w",
              encoding="utf-8") as log, concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        jobs = [(case, pool.submit(run, arguments.grout, case, arguments.emit, start + arguments.budget))
                for case in cases]
        for case, job in jobs:
            code, output = job.result()
            log.write(f"$ {' '.join(case)}\n{output}[exit {code}]\n\n")
            if "[gpu-missing]" in output and "compute capability" in output:
                left_out += 1  # it is for another GPU
            elif code != 0:
                failed += 1
                print(f"FAILED  {' '.join(case)} (exit {code}): {' '.join(output.split())[:300]}", flush=True)
    print(f"kernels_on_gpu: {len(cases)} cases, {left_out} for another GPU, {failed} failed, "
          f"{time.monotonic() - start:.0f} s")
    return 1 if failed or left_out == len(cases) else 0


if __name__ == "__main__":
    sys.exit(main())
