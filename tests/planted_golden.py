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
MARKED = WHOLE.replace("//     2 |", "//     1 | kernel @k() {\n//       |        ^~ in this\n//     2 |")
MARKED = MARKED.replace("^~\n//   help", "^~ read\n//   help")
SHORT_MARKED = SHORT.replace("//   help", "//   here: read\n//   1:8-9: in this\n//   help")
OTHER = "// ---- stderr ----\n// grout: 1 error\n"
# A report that differs in one thing: as it is printed, it is what 'shorten' must not call the same.
CHANGES = (("^~", "^~~"), ("|         ^~", "|        ^~"), (":2:9:", ":2:8:"), (":2:9:", ":1:9:"),
           ("    2 |", "    3 |"), ("store %a", "store %c"), ("declare", "define"), ("error", "warning"),
           ("//   help: declare it\n", ""), ("//   help: declare it\n//\n", "//   help: declare it\n"),
           (" ^~\n", " ^~  left\n"), ("verify/k", "verify/l"))
CHANGES_OF_MARKS = (("^~ in", "^~~ in"), (" in this", " in that"), ("    1 |", "    3 |"), ("kernel", "grid"),
                    ("|        ^~ in", "|       ^~ in"), (" read", " write"), (" read", ""),
                    ("//     2 |", "//   ...\n//     2 |"))


def main():
    faults = []
    for text, short in ((WHOLE, SHORT), (WHOLE + WHOLE, SHORT + SHORT), (WHOLE + OTHER, SHORT + OTHER),
                        (MARKED, SHORT_MARKED), (OTHER + "//\n" + WHOLE, OTHER + "//\n" + SHORT), (OTHER, OTHER),
                        ("", "")):
        if run_golden.shorten(text, PATH, SOURCE) != short or run_golden.lengthen(short, PATH, SOURCE) != text:
            faults.append(f"the short form of\n{text}")
    cases = [(WHOLE, SHORT, change) for change in CHANGES]
    cases += [(MARKED, SHORT_MARKED, change) for change in CHANGES_OF_MARKS]
    for whole, right, (old, new) in cases:
        changed = whole.replace(old, new)
        short = run_golden.shorten(changed, PATH, SOURCE)
        if changed == whole or short == right or run_golden.lengthen(short, PATH, SOURCE) != changed:
            faults.append(f"'{new}' for '{old}' is not noticed")
    print("\n".join([*faults, f"golden: {len(cases)} changes, {len(faults)} faults"]))
    return len(faults) > 0


if __name__ == "__main__":
    sys.exit(main())
