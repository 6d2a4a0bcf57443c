"""Coverage: for each name of Pallas' Mosaic GPU, of its lax primitives and of Gluon the kernel here that says the
same. Holds every line of coverage.def to what it promises, and writes docs/coverage.md from it:

- a kernel of state YES has the words of its line, checks clean, and compiles to a cubin (--cubin);
- what its GPU column says stands in docs/gpu_results.md, in a section whose machine is that GPU;
- no line is OPEN: what is missing is LATER, and says what it belongs to;
- a kernel of state CHECKED has the words of its line, checks clean, and compiles for sm_100a unless its note says
otherwise; there is no GPU of it here;
- a name of state BLACKWELL is refused, with the reason;
- every tested line has CUDA for sm_100a: from its kernel, or from another one that says the words, unless one of them
is
  of Hopper alone; the page says which;
- docs/coverage.md is as it would be written.

usage: coverage.py --grout PATH [--cubin | --blackwell | --update | --gpu LOG]

--cubin compiles the kernels that no other test compiles, which needs NVRTC; without one the exit code is 77.
--blackwell has NVRTC and ptxas compile all that the column sm_100a names: minutes, by hand.
--update writes docs/coverage.md.
--gpu runs each kernel of state YES on the GPU of this machine, compares with the CPU, and prints the lines for
docs/gpu_results.md; everything goes to LOG.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import ast
import collections
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the folder is a source tree
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import families
import kernel_lists
from limit import SECONDS

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
# Where the kernels of families and lists are files.
FOLDER = tempfile.TemporaryDirectory(prefix="grout-coverage-")
TREE = families.lay_out(os.path.join(FOLDER.name, "tree"))
PAGE = os.path.join(ROOT, "docs", "coverage.md")
RESULTS = os.path.join(ROOT, "docs", "gpu_results.md")

Row = collections.namedtuple("Row", "surface section state name words test gpu note")
STATES = {"YES": "yes", "CHECKED": "checked on the CPU", "OPEN": "not yet", "LATER": "later", "HOST": "host",
          "BLACKWELL": "Blackwell"}
TESTED = ("YES", "CHECKED")
GPUS = ("NO", "H100", "H200")
SURFACES = {
    "PALLAS": ("Pallas, Mosaic GPU", {
        "1.1": "Entry points, types, meshes, specs", "1.2": "Data movement",
        "1.3": "Barriers, semaphores, atomics, multimem", "1.4": "Matrix units", "1.5": "Helpers",
        "1.6": "`pl.*` and `jax.*` in kernels"}),
    "LAX": ("lax primitives in kernels of Pallas", {
        "2.1": "Element by element", "2.2": "Casts", "2.3": "Shapes and reductions", "2.4": "Control flow",
        "2.5": "On single warps"}),
    "GLUON": ("Triton Gluon", {
        "1.1": "Layouts", "1.2": "mbarrier", "1.3": "`async_copy`", "1.4": "Proxy fences", "1.5": "TMA",
        "1.6": "Clusters", "1.7": "wgmma", "1.8": "Tensor memory", "1.9": "Cluster launch control",
        "1.10": "Warp specialisation", "1.11": "Shared memory"}),
}
INTRODUCTION = """# Coverage

What a kernel of Pallas' Mosaic GPU (JAX 0.10.2) or of Triton Gluon can say, and the kernel of this repository that
says the same. This page is written by `tests/coverage/coverage.py --update` from `tests/coverage/coverage.def`. A test
holds every line to what it promises: the kernel of a line has the words of grout that are named, checks clean and
compiles for sm_90a, that of a line which is checked on the CPU for sm_100a unless a remark says otherwise; a GPU that is named has run it and agreed with the CPU, see [gpu_results.md](gpu_results.md).

The column sm_100a: *CUDA*, the kernel of the line is emitted for sm_100a, or that which is named, since the line's own
multiplies as Hopper does; *Hopper alone*, a word of the line is an operation or a memory that only sm_90a has. ptxas takes the CUDA
(`coverage.py --blackwell`); no GPU of Blackwell has run it.

*yes*: the kernel says it. *not yet*: nothing says it. *later*: nothing says it, and the remark says what it belongs to.
*host*: a helper of the host language; a kernel has nothing to say. *Blackwell*: hardware of sm_100a; the parser refuses
the words for sm_90a and says why.
"""


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def read_rows():
    text = read(os.path.join(HERE, "coverage.def")).partition("// clang-format off\n")[2]
    string = r'"(?:[^"\\]|\\.)*"'
    line = re.compile(rf"GROUT_COVERAGE\((\w+), ({string}), (\w+), ({string}), ({string}),\s*({string}), (\w+), "
                      rf"({string})\)\n")
    rows, end = [], 0
    for match in line.finditer(text):
        if text[end:match.start()].strip():
            sys.exit(f"coverage.def: not understood: {text[end:match.start()].strip()[:200]}")
        fields = [ast.literal_eval(field) if field[0] == '"' else field for field in match.groups()]
        rows.append(Row(fields[0], fields[1], fields[2], fields[3], fields[4].split(), *fields[5:]))
        end = match.end()
    if text[end:].replace("// clang-format on", "").strip() != "#undef GROUT_COVERAGE":
        sys.exit(f"coverage.def: not understood: {text[end:][:200]}")
    return rows


def strip_comments(text):
    return re.sub(r"//.*", "", text.partition("// ---- ")[0])


def find_source(test):
    """The same kernel in the file that people write."""
    path, _, kernel = test.partition("@")
    return f"{kernel_lists.find_source(path)}@{kernel}"


def find_kernel(test):
    """The comments in front of a kernel and its text without comments, or None."""
    path, _, name = test.partition("@")
    text = read(os.path.join(TREE, path))
    head = re.search(rf"^((?://.*\n)*)kernel @{name}\b", text, re.M)
    body = re.search(rf"^kernel @{name}\b.*?(?=^kernel @|\Z)", strip_comments(text), re.M | re.S)
    return (head.group(1), body.group(0)) if head and body else None


def has_word(text, word):
    return re.search(rf"(?<![\w@%]){re.escape(word)}(?!\w)", text) is not None


def list_machines():
    """For each GPU the text of the sections of gpu_results.md that ran on it."""
    machines = collections.defaultdict(str)
    for section in re.split(r"^## ", read(RESULTS), flags=re.M)[1:]:
        machine = re.search(r"^Machine:.*$", section, re.M)
        for gpu in GPUS[1:]:
            if machine is not None and gpu in machine.group(0):
                machines[gpu] += section
    return machines


def check_columns(rows, machines):
    """What the table alone, the tests' text and gpu_results.md say."""
    for row in rows:
        if row.surface not in SURFACES or row.section not in SURFACES[row.surface][1]:
            yield row, f"there is no section {row.surface} {row.section}"
        elif row.state not in STATES or row.gpu not in GPUS:
            yield row, f"there is no state {row.state}, or no GPU {row.gpu}"
        elif (row.state in TESTED) != (row.test != "") or (row.state in (*TESTED, "BLACKWELL")) != (row.words != []):
            yield row, "a line of state YES or CHECKED has words and a test, one of BLACKWELL words, the others neither"
        elif row.state == "LATER" and row.note == "":
            yield row, "the remark has to say what it belongs to"
        elif row.state == "OPEN":
            yield row, "nothing says it: it needs a test, or the state LATER and what it belongs to"
        elif row.gpu != "NO" and (row.state != "YES" or f"`{find_source(row.test)}`" not in machines[row.gpu]):
            yield row, f"docs/gpu_results.md has no section of an {row.gpu} that names `{find_source(row.test)}`"
        elif row.state in TESTED:
            found = find_kernel(row.test)
            missing = [] if found is None else [word for word in row.words if not has_word(found[1], word)]
            if found is None:
                yield row, f"{row.test}: there is no such kernel"
            elif missing:
                yield row, f"{row.test} does not say {', '.join(missing)}"
    for surface, (_, sections) in SURFACES.items():
        for section in sections:
            if not any(row.surface == surface and row.section == section for row in rows):
                yield Row(surface, section, "", "", [], "", "", ""), "the section has no line"
    names = collections.Counter((row.surface, row.section, row.name) for row in rows)
    for row in rows:
        if names[row.surface, row.section, row.name] > 1:
            yield row, "there are two lines of this name"


def call(*command):
    return subprocess.run(command, cwd=TREE, capture_output=True, text=True, timeout=SECONDS, check=False)


def run_kernel(grout, test, *command):
    """Calls grout with a command for one kernel; what it wrote if the exit code is not 0."""
    path, _, name = test.partition("@")
    done = call(grout, command[0], path, "--kernel", "@" + name, *command[1:])
    return "" if done.returncode == 0 else f"exit code {done.returncode}\n{done.stdout[-1500:]}{done.stderr[-1500:]}"


def for_each(items, function):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(zip(items, pool.map(function, items)))


def list_tests(rows, states=("YES",)):
    return sorted({row.test for row in rows if row.state in states})


def find_externs(test):
    """The C file of the functions that the test calls, by its line '// EXTERN: C-FILE'; None: it calls none."""
    path = os.path.join(TREE, test.partition("@")[0])
    line = re.search(r"^// EXTERN: (\S+)$", read(path), re.MULTILINE)
    return os.path.join(os.path.dirname(path), line.group(1)) if line else None


def make_externs(test, folder):
    """Options that name a library of these functions."""
    source = find_externs(test)
    if source is None:
        return []
    library = os.path.join(folder, re.sub(r"\W", "-", test) + ".so")
    subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-o", library, source], check=True, timeout=SECONDS)
    return ["--extern", library]


def check_clean(grout, rows):
    with tempfile.TemporaryDirectory(prefix="grout-coverage-") as folder:
        def check(test):
            return run_kernel(grout, test, "check", "-q", *make_externs(test, folder))
        for test, wrong in for_each(list_tests(rows, TESTED), check):
            if wrong:
                yield next(row for row in rows if row.test == test), f"{test} does not check clean: {wrong}"


# tests/unit/gpu_backend/check_emit_compile.c and check_emit_tensor.c (kernels/ in unit/emit_tensor_whole) compile every
# kernel of these, and each that an op comes with; those of tests/differential for Blackwell nobody.
COMPILED = ("kernels", "tests/differential", "tests/ops")


def is_compiled(test):
    path, _, name = test.partition("@")
    first = re.search(r"^kernel @(\w+)", read(os.path.join(TREE, path)), re.M).group(1)
    folder = os.path.dirname(path)
    return folder in COMPILED and (folder != "tests/ops" or name == first)


def check_cubins(grout, rows):
    """Those that no other test compiles."""
    with tempfile.TemporaryDirectory(prefix="grout-coverage-") as folder:
        def emit(test):
            place = os.path.join(folder, re.sub(r"\W", "-", test))
            return run_kernel(grout, test, "emit", "--to", "cubin", "-q", "-o", place)
        for test, wrong in for_each([test for test in list_tests(rows, TESTED) if not is_compiled(test)], emit):
            if wrong:
                yield next(row for row in rows if row.test == test), f"{test} does not compile: {wrong}"


def get_key(row):
    return row.surface, row.section, row.name


def list_hopper_words():
    """Operations and memories that only Hopper has."""
    operations = re.findall(r"^GROUT_HARDWARE\((\w+),\s+HOPPER", read(os.path.join(ROOT, "include/grout/ops.def")),
                            re.M)
    spaces = re.findall(r'^GROUT_SPACE\(\w+,\s+"(\w+)".*\bHOPPER,$',
                        read(os.path.join(ROOT, "include/grout/spaces.def")), re.M)
    return {operation.lower() for operation in operations} | set(spaces)


def write_for_blackwell(test, folder):
    """A copy of the file whose kernel of that name is for sm_100a."""
    path, _, name = test.partition("@")
    text = read(os.path.join(TREE, path))
    head = re.search(rf"^kernel @{name}\b[^{{]*(?={{)", text, re.M)
    copy = os.path.join(folder, re.sub(r"\W", "-", test) + ".grout")
    word = "" if "attr arch" in head.group(0) else 'attr arch = "sm_100a" '
    with open(copy, "w", encoding="utf-8") as file:
        file.write(text[:head.end()] + word + text[head.end():])
    return copy


def emit_for_blackwell(grout, test, form):
    """'' if there is CUDA of the kernel for sm_100a, else what was said."""
    externs = find_externs(test)
    with tempfile.TemporaryDirectory(prefix="grout-coverage-") as folder:
        copy = write_for_blackwell(test, folder) + "@" + test.partition("@")[2]
        return run_kernel(grout, copy, "emit", "--to", form, "-q", "-o", os.path.join(folder, "emitted"),
                          *(["--extern", externs] if externs else []))


def list_other_kernels(hopper):
    """FILE@KERNEL and text of every kernel that a test compiles and that says no word of Hopper, those for sm_100a
    first."""
    kernels = []
    for folder in (*COMPILED, "tests/coverage"):
        for path in sorted(os.listdir(os.path.join(TREE, folder))):
            text = strip_comments(read(os.path.join(TREE, folder, path))) if path.endswith(".grout") else ""
            for match in re.finditer(r"^kernel @(\w+)\b.*?(?=^kernel @|\Z)", text, re.M | re.S):
                kernels.append((f"{folder}/{path}@{match.group(1)}", match.group(0)))
    others = [kernel for kernel in kernels if not any(has_word(kernel[1], word) for word in hopper)]
    return sorted(others, key=lambda kernel: "attr arch" not in kernel[1])


def derive_blackwell(grout, rows, form="cuda"):
    """By row: the kernel whose CUDA for sm_100a says it, "HOPPER", or what is missing."""
    tests = dict(for_each(list_tests(rows, TESTED), lambda test: emit_for_blackwell(grout, test, form)))
    hopper, made, found = list_hopper_words(), {}, {}
    others = list_other_kernels(hopper)
    for row in rows:
        said = tests.get(row.test) if row.state in TESTED else None
        if said is None:
            continue
        if said == "":
            found[get_key(row)] = (row.test, "")
        elif hopper & set(row.words):
            found[get_key(row)] = ("HOPPER", "" if "[unsupported-arch]" in said else said)
        else:
            for test, text in others:
                if all(has_word(text, word) for word in row.words):
                    made[test] = made[test] if test in made else emit_for_blackwell(grout, test, form)
                    if made[test] == "":
                        found[get_key(row)] = (test, "")
                        break
            else:
                found[get_key(row)] = ("", f"{row.test} has no CUDA for sm_100a, and no other kernel says it: {said}")
    return found


def check_blackwell(rows, blackwell):
    for row in rows:
        wrong = blackwell.get(get_key(row), ("", ""))[1]
        if wrong:
            yield row, wrong


def check_refused(grout, rows):
    """Each word of Blackwell stands where an operation stands, and the error names the word and the hardware."""
    for row in rows:
        for word in row.words if row.state == "BLACKWELL" else ():
            with tempfile.NamedTemporaryFile("w", suffix=".grout", encoding="utf-8") as file:
                file.write(f"kernel @k(%x: out gmem f32[4]) {{\n  {word} %x\n}}\n")
                file.flush()
                done = call(grout, "check", file.name)
            if done.returncode != 2 or f"'{word}' is of Blackwell" not in done.stdout + done.stderr:
                yield row, f"'{word}' is not refused: {done.stdout}{done.stderr}"


def print_page(rows, blackwell):
    lines = [INTRODUCTION]
    lines += ["| | " + " | ".join(STATES.values()) + " | run on a GPU |", "|---|" + "---:|" * (len(STATES) + 1)]
    for surface, (title, _) in SURFACES.items():
        own = [row for row in rows if row.surface == surface]
        counts = [sum(row.state == state for row in own) for state in STATES] + [sum(row.gpu != "NO" for row in own)]
        lines.append(f"| {title} | " + " | ".join(str(count) for count in counts) + " |")
    for surface, (title, sections) in SURFACES.items():
        lines += ["", f"## {title}"]
        for section, heading in sections.items():
            lines += ["", f"### {heading}", "", "| name | | in grout | GPU | sm_100a | remark |",
                      "|---|---|---|---|---|---|"]
            for row in rows:
                if (row.surface, row.section) == (surface, section):
                    lines.append(print_row(row, blackwell.get(get_key(row), ("", ""))[0]))
    return "\n".join(lines) + "\n"


def link(test):
    path, _, kernel = find_source(test).partition("@")
    return f"[@{kernel}](../{path})"


def print_row(row, blackwell):
    words = " ".join(f"`{word}`" for word in row.words)
    words += f": {link(row.test)}" if row.test else ""
    cuda = {"": "", row.test: "CUDA", "HOPPER": "Hopper alone"}.get(blackwell) if row.test else ""
    cells = (row.name, STATES[row.state], words, "" if row.gpu == "NO" else row.gpu,
             f"CUDA: {link(blackwell)}" if cuda is None else cuda, row.note)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def check_page(rows, blackwell):
    if not os.path.exists(PAGE) or read(PAGE) != print_page(rows, blackwell):
        yield Row("", "", "", "docs/coverage.md", [], "", "", ""), "is not what coverage.def says: coverage.py --update"


def run_on_gpu(grout, rows, log):
    """The lines for docs/gpu_results.md; whether all agreed."""
    failed = []
    with open(log, "w", encoding="utf-8") as file, tempfile.TemporaryDirectory(prefix="grout-coverage-") as folder:
        for test in list_tests(rows):
            options = " ".join(re.findall(r"^// same: (.*)$", find_kernel(test)[0], re.M)).split()
            if find_externs(test) is not None:
                options += [*make_externs(test, folder), "--extern", find_externs(test)]
            wrong = run_kernel(grout, test, "run", "--device", "cuda", "--compare", "cpu", *options)
            file.write(f"{test} {' '.join(options)}: {wrong or 'equal'}\n")
            print(f"- `{test}`" if not wrong else f"FAILED {test}: {wrong}", flush=True)
            failed += [test] if wrong else []
    print(f"{len(list_tests(rows)) - len(failed)} of {len(list_tests(rows))} equal to the CPU")
    return not failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", required=True)
    parser.add_argument("--cubin", action="store_true")
    parser.add_argument("--blackwell", action="store_true")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--gpu", metavar="LOG")
    arguments = parser.parse_args()
    arguments.grout = os.path.abspath(arguments.grout)
    rows = read_rows()
    if arguments.gpu:
        return 0 if run_on_gpu(arguments.grout, rows, arguments.gpu) else 1
    if arguments.blackwell:
        blackwell = derive_blackwell(arguments.grout, rows, "cubin")
        wrong = list(check_blackwell(rows, blackwell))
        for row, what in wrong:
            print(f"{row.surface} {row.section} {row.name}: {what}")
        print(f"{len(blackwell)} names for sm_100a, {len(wrong)} wrong")
        return 1 if wrong else 0
    blackwell = {} if arguments.cubin else derive_blackwell(arguments.grout, rows)
    if arguments.update:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(print_page(rows, blackwell))
    if arguments.cubin:
        if "nvrtc: none (" in call(arguments.grout, "doctor").stdout:
            print("no NVRTC here")
            return 77
        wrong = list(check_cubins(arguments.grout, rows))
    else:
        wrong = list(check_columns(rows, list_machines()))
        wrong += list(check_blackwell(rows, blackwell)) + list(check_page(rows, blackwell))
        wrong += list(check_refused(arguments.grout, rows))
        wrong += list(check_clean(arguments.grout, rows)) if not wrong else []
    for row, what in wrong:
        print(f"{row.surface} {row.section} {row.name}: {what}".strip())
    counts = collections.Counter(row.state for row in rows)
    print(", ".join(f"{count} {STATES[state]}" for state, count in counts.items()) + f"; {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
