"""Goldens that are written short (run_golden.py) hold what the whole ones hold: each change of a report is noticed.

usage: planted_golden.py

SPDX-License-Identifier: Apache-2.0
"""
import sys

sys.dont_write_bytecode = True  # the folder is a source tree
import run_golden

PATH = "verify/k.grout"
SOURCE = "kernel @k() {\n  store %a, %b\n}\n"
SHORT = f"// {PATH}:2:9-10: error: no '%a' [unknown-name]\n//   help: declare it\n"
WHOLE = (f"// {PATH}:2:9: error: no '%a' [unknown-name]\n//     2 |   store %a, %b\n//       |         ^~\n"
         "//   help: declare it\n//\n")
OTHER = "// ---- stderr ----\n// grout: 1 error\n"
# A report that differs in one thing: as it is printed, it is what 'shorten' must not call the same.
CHANGES = (("^~", "^~~"), ("|         ^~", "|        ^~"), (":2:9:", ":2:8:"), (":2:9:", ":1:9:"),
           ("    2 |", "    3 |"), ("store %a", "store %c"), ("declare", "define"), ("error", "warning"),
           ("//   help: declare it\n", ""), ("//   help: declare it\n//\n", "//   help: declare it\n"),
           (" ^~\n", " ^~  left\n"), ("verify/k", "verify/l"))


def main():
    faults = []
    for text, short in ((WHOLE, SHORT), (WHOLE + WHOLE, SHORT + SHORT), (WHOLE + OTHER, SHORT + OTHER),
                        (OTHER + "//\n" + WHOLE, OTHER + "//\n" + SHORT), (OTHER, OTHER), ("", "")):
        if run_golden.shorten(text, PATH, SOURCE) != short or run_golden.lengthen(short, PATH, SOURCE) != text:
            faults.append(f"the short form of\n{text}")
    for old, new in CHANGES:
        changed = WHOLE.replace(old, new)
        short = run_golden.shorten(changed, PATH, SOURCE)
        if changed == WHOLE or short == SHORT or run_golden.lengthen(short, PATH, SOURCE) != changed:
            faults.append(f"'{new}' for '{old}' is not noticed")
    print("\n".join([*faults, f"golden: {len(CHANGES)} changes, {len(faults)} faults"]))
    return len(faults) > 0


if __name__ == "__main__":
    sys.exit(main())
