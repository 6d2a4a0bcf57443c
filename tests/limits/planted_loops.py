"""Plants loops over launch sizes and looks at what tools/lint_loops.py says of each.

Closing line: 'planted_loops: N loops, N wrong'.

SPDX-License-Identifier: Apache-2.0
"""
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LINT = os.path.join(ROOT, "tools", "lint_loops.py")

# A body, and whether the lint has to find its loop.
LOOPS = {
    "counts": ("for (uint32_t i = 0; i < plan->cta_count; i++) {\n  sum += i;\n}", True),
    "counts_down": ("while (left->lane_count > 0) {\n  left->lane_count--;\n}", True),
    "without_braces": ("for (uint32_t i = 0; i != launch->grid_size; i++)\n  sum += i;", True),
    "does": ("do {\n  sum++;\n} while (sum < machine->warp_count);", True),
    "of_two": ("for (uint32_t i = 0; is_good && i < plan->threads; i++) {\n  is_good = note(i);\n}", True),
    "product": ("for (uint32_t i = 0; i < 2 * plan->clusters; i++) {\n  sum += i;\n}", True),
    "called": ("for (uint32_t i = 0; i < count_clusters(plan); i++) {\n  sum += i;\n}", True),
    "iterates": ("for (cta = grout_machine__next_cta(machine, NULL); cta != NULL; cta = next(cta)) {\n  sum++;\n}",
                 True),
    "only_says": ("/* goes_on( */\nfor (uint32_t i = 0; i < plan->cta_count; i++) {\n  note(\"goes_on(\");\n}", True),
    "asks": ("for (uint32_t i = 0; i < plan->cta_count && grout_diags__goes_on(diags, \"x\"); i++) {\n  sum += i;\n}",
             False),
    "asks_inside": ("while (i < plan->cta_count) {\n  i += grout_binding__goes_on(binding) ? 1 : size;\n}", False),
    "constant": ("for (uint32_t i = 0; i < plan->cta_count && i < SHOWN_MAX; i++) {\n  sum += i;\n}", False),
    "by_constant": ("for (uint32_t i = 0; i < THREADS; i++) {\n  sum += i;\n}", False),
    "other": ("for (uint32_t i = 0; i < op->block_count; i++) {\n  sum += i;\n}", False),
    "has_row": ("for (uint32_t i = 0; i < machine->shape.cta_count; i++) {\n  sum += i;\n}", False),
    "has_own_row": ("for (uint32_t i = 0; i < plan->lanes; i++) {\n  sum += i;\n}", False),
}
ROWS = "*\tshape.cta_count\t16\tCTAs of a cluster\na.c:has_own_row\tplan->lanes\t4\ta row\n"
UNUSED = "a.c:other\tplan->lanes\t4\tno loop\n"


def look(rows):
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "tools"))
        with open(os.path.join(folder, "tools", "loops.tsv"), "w", encoding="utf-8") as file:
            file.write(rows)
        with open(os.path.join(folder, "a.c"), "w", encoding="utf-8") as file:
            for name, (body, _) in LOOPS.items():
                file.write(f"static void {name}(void) {{\n{body}\n}}\n\n")
        done = subprocess.run([sys.executable, LINT, folder], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def main():
    code, out = look(ROWS)
    found = set(re.findall(r"^a\.c:\d+: (\w+) loops to", out, re.MULTILINE))
    wrong = {name for name, (_, is_found) in LOOPS.items() if is_found != (name in found)}
    if code != 1:
        wrong.add(f"exit code {code}")
    if "no loop is that of 'a.c:other'" not in look(ROWS + UNUSED)[1]:
        wrong.add("a row without a loop")
    if wrong:
        print(out)
    print(f"planted_loops: {len(LOOPS)} loops, {len(wrong)} wrong{''.join(f'; {name}' for name in sorted(wrong))}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
