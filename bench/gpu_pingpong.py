#!/usr/bin/env python3
# gpu_pingpong.py - what edges between two CTAs cost where nothing has to travel: a matmul as plainly written, and
# relaxed.
# SPDX-License-Identifier: Apache-2.0
"""usage: bench/gpu_pingpong.py GROUT [M,N,K]

bench/gemm_pingpong.grout arrives and waits across two CTAs with the default order. Its relaxed form has every order as
weak as it may be; the script makes it of the same text, and 'grout check' has to find it clean. Both get random
normal operands and are timed in turn, three times each; medians. Exit code 77 without a GPU or torch.
"""

import os
import re
import statistics
import subprocess
import sys
import tempfile

from gpu_timing import find_torch, time_grout

KERNEL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "gemm_pingpong.grout")
REPEATS = 20
# What stands at the end of each operation in the relaxed form.
RELAXED = [(r"mbarrier_wait %free\[", "order(relaxed)"), (r"mbarrier_expect %full\[", "order(relaxed)"),
           (r"mbarrier_wait %full\[", "scope(cta)"), (r"mbarrier_arrive %free\b", "order(relaxed)")]


def relax(text):
    for operation, words in RELAXED:
        text, count = re.subn(rf"^( *{operation}.*)$", rf"\1 {words}", text, flags=re.M)
        assert count > 0, operation
    return text


def main():
    if len(sys.argv) < 2:
        print(__doc__)
        return 2
    size = sys.argv[2] if len(sys.argv) > 2 else "8192,8192,8192"
    defines = list(map("{}={}".format, "MNK", size.split(",")))
    with tempfile.TemporaryDirectory() as folder:
        relaxed = os.path.join(folder, "relaxed.grout")
        with open(KERNEL, encoding="utf-8") as source, open(relaxed, "w", encoding="utf-8") as out:
            out.write(relax(source.read()))
        for path in (KERNEL, relaxed):
            subprocess.run([sys.argv[1], "check", "-q", "--werror", path, "-D", "K=320"], check=True, timeout=60)
        find_torch()
        times = [[time_grout(sys.argv[1], path, "ab", defines, REPEATS) for path in (KERNEL, relaxed)]
                 for _ in range(3)]
    if any(one is None for pair in times for one in pair):
        return 1
    plain, weak = map(statistics.median, zip(*times))
    m, n, k = map(int, size.split(","))
    print(f"{size}: as written {plain:.1f} us ({2.0 * m * n * k / plain / 1e6:.0f} TFLOP/s), relaxed {weak:.1f} us,"
          f" ratio {weak / plain:.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
