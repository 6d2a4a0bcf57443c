#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The rule of races.py about relaxed mbarriers, by itself: a fault that is there only because an arrival or a wait is
relaxed is no difference, since the PTX of a kernel with engines has them for the CTA; any other fault still is one.

usage: relaxed_rule.py --grout PATH

The machine is left out: it finds no race here. So this needs no NVRTC.
"""
import argparse
import os
import sys
import tempfile

sys.dont_write_bytecode = True  # the folder is a source tree
import races
import tree
from comparing import AGREES, DIFFERS

TEXT = """kernel @k(%y: out gmem i32[64]) threads(wg = 2)
{
  scratch %s : smem i32[64]
  scratch %b : barrier[1]
  if (eq (axis_index wg), 0) {
    store %s, (broadcast 1 : i32[64])
    barrier_arrive %b[0]ORDER
  } else {
    WAIT
    store %y, (load %s)
  }
}
"""
WAIT = "barrier_wait %b[0]"
# (what it is, the order of the arrival, what the reader does, what becomes of it)
CASES = (("an arrival that releases", "", WAIT, AGREES),
         ("a relaxed arrival", " order(relaxed)", WAIT, AGREES),
         ("a relaxed arrival of a scope", " order(relaxed) scope(cta)", WAIT, AGREES),
         ("a relaxed arrival and no wait", " order(relaxed)", "store %y[0], 2", DIFFERS),
         ("no wait", "", "store %y[0], 2", DIFFERS))
# (a line, the line as the PTX has it)
LINES = (("barrier_arrive %b[0] order(relaxed)", "barrier_arrive %b[0] scope(cta)"),
         ("barrier_wait %b[0] order(relaxed) scope(cluster)", "barrier_wait %b[0] scope(cluster)"),
         ("cluster_barrier order(relaxed)", "cluster_barrier order(relaxed)"),
         ("semaphore_signal %u[0], 1 order(relaxed)", "semaphore_signal %u[0], 1 order(relaxed)"))


class NoReasons:
    """alone.txt without a line."""
    of_names = {}

    def get(self, _judged, _codes):
        return ""


def get_strong(line):
    return races.RELAXED.sub(races.make_strong, line)


def check_case(arguments, folder, case):
    what, order, wait, wanted = case
    path = os.path.join(folder, "k.grout")
    text = TEXT.replace("ORDER", order).replace("WAIT", wait)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    result = races.compare(arguments, next(tree.judge_kernels(arguments, folder, path, text, [])))
    has_rule = "Relaxed operations" in result.why
    is_right = result.what == wanted and has_rule == (wanted == AGREES and "relaxed" in order)
    print(f"{what}: {result.what}, {result.why}: {'right' if is_right else 'WRONG'}")
    return is_right and os.listdir(folder) == ["k.grout"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", required=True)
    arguments = parser.parse_args()
    arguments.grout = os.path.abspath(arguments.grout)
    arguments.seconds, arguments.reasons = 60, NoReasons()
    races.search = lambda *_: ("", "")
    is_right = all(get_strong(line) == strong for line, strong in LINES)
    with tempfile.TemporaryDirectory() as folder:
        results = [check_case(arguments, folder, case) for case in CASES]
    return 0 if is_right and all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
