"""The command of a script that draws texts by their number and judges each.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import collections
import os
import sys
import tempfile

sys.dont_write_bytecode = True  # the folder is a source tree


def tell(what, number, faults, keep, text):
    """Prints the first fault of a text, and keeps the text under what it is, with all of them. Whether there is one."""
    if faults:
        print(f"{what} {number}: {faults[0]}" + (f" and {len(faults) - 1} more" if len(faults) > 1 else ""), flush=True)
        if keep:
            os.makedirs(keep, exist_ok=True)
            with open(os.path.join(keep, f"{what}_{number}.grout"), "w", encoding="utf-8") as file:
                file.write(text + "".join(f"// {fault}\n" for fault in faults))
    return bool(faults)


def main(name, what, check, count, least=0.0):
    """Judges the texts that the command line asks for: check(grout, number, folder, tally, keep) says whether there is
    a fault. name: of the script. what: they are, which check counts in the tally. least: the share of the numbers that
    it has to count. The exit code."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", required=True)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--count", type=int, default=count)
    parser.add_argument("--keep")
    arguments = parser.parse_args()
    tally, faults = collections.Counter(), 0
    with tempfile.TemporaryDirectory(prefix=f"grout-{name}-") as folder:
        for number in range(arguments.first, arguments.first + arguments.count):
            faults += check(os.path.abspath(arguments.grout), number, folder, tally, arguments.keep)
    print(", ".join(f"{count} {what}" for what, count in tally.items()))
    print(f"{name}: {tally[what]} {what}, {faults} faults")
    return 1 if faults or tally[what] < least * arguments.count else 0
