"""Each form of a family makes the program that is meant, and each mistake in one is refused; so with lists of kernels.

usage: planted_families.py

SPDX-License-Identifier: Apache-2.0
"""
import os
import sys
import tempfile

sys.dont_write_bytecode = True  # the folder is a source tree
import families
import kernel_lists

KERNEL = """// family: topic
// source: PTX ISA 9.1, "one"
kernel @k(%m: inout gmem f32[64]) threads(wg = 2)  <kernel>
    attr cluster_exit = sync
{
  if (eq (axis_index wg), 0) {
    store %m, (load %m)                            <store>
    barrier_arrive %b[0]                           <arrive>
  } else {                                         <else>
    barrier_wait %b[0]                             <wait>
  }
}

"""
BASE = """base: nothing is changed
  ordered, a reason
"""
ALL = "  without <kernel>, <store>, <arrive>, <else>, <wait>\n"
# paragraph: the lines of its program, or a part of what is said of it.
FORMS = (
    ("p: all of it\n  ordered, a reason | \"two\"\n", """// litmus: topic: all of it
// ruling: ordered, a reason
// source: PTX ISA 9.1, "two"
// expect: clean
kernel @k(%m: inout gmem f32[64]) threads(wg = 2)
    attr cluster_exit = sync
{
  if (eq (axis_index wg), 0) {
    store %m, (load %m)
    barrier_arrive %b[0]
  } else {
    barrier_wait %b[0]
  }
}
"""),
    ("""p: each change
  gmem-race at <store> with <wait>, a reason
  source: a book
  run: --arch sm_100a
  without <else>
  before <store>: for %i in 0..2 {
                    yield
                  }
  <arrive>: ... order(relaxed)
  after <wait>: block_barrier
""", """// litmus: topic: each change
// ruling: gmem-race, a reason
// source: a book
// run: --arch sm_100a
kernel @k(%m: inout gmem f32[64]) threads(wg = 2)
    attr cluster_exit = sync
{
  if (eq (axis_index wg), 0) {
    for %i in 0..2 {
      yield
    }
    store %m, (load %m)  // expect-error: gmem-race
    barrier_arrive %b[0] order(relaxed)
    barrier_wait %b[0]  // expect-note: gmem-race
    block_barrier
  }
}
"""),
    ("""p: a range
  gmem-race warned at <wait>
  <store>..<else>: delay 1
""", """// litmus: topic: a range
// ruling: gmem-race
// source: PTX ISA 9.1, "one"
kernel @k(%m: inout gmem f32[64]) threads(wg = 2)
    attr cluster_exit = sync
{
  if (eq (axis_index wg), 0) {
    delay 1
    barrier_wait %b[0]  // expect-warning: gmem-race
  }
}
"""),
)
# The same of a family of tests/behaviour.
FORMS_OF_BEHAVIOUR = (
    ("""p: what it is about, in
    more than a line
  gmem-race at <store> with <wait>
  run: --arch sm_100a
  holds: every-schedule
  without <else>
""", """// what it is about, in more than a line
// run: --arch sm_100a
// expect-holds: every-schedule
kernel @k(%m: inout gmem f32[64]) threads(wg = 2)
    attr cluster_exit = sync
{
  if (eq (axis_index wg), 0) {
    store %m, (load %m)  // expect-error: gmem-race
    barrier_arrive %b[0]
    barrier_wait %b[0]  // expect-note: gmem-race
  }
}
"""),
    ("""p: nothing is wrong
  clean
  without <arrive>..<wait>
""", """// nothing is wrong
// expect: clean
kernel @k(%m: inout gmem f32[64]) threads(wg = 2)
    attr cluster_exit = sync
{
  if (eq (axis_index wg), 0) {
    store %m, (load %m)
  }
}
"""),
)
MISTAKES = (
    ("p: what\n  ordered\n  <stores>: delay 1\n", "there is no <stores>"),
    ("p: what\n  ordered\n  without <store>\n  <store>: delay 1\n", "changed twice"),
    ("p: what\n  ordered\n  without <arrive>..<else>, <else>\n", "changed twice"),
    ("p: what\n  ordered\n  before <store>: a\n  before <store>: b\n", "said twice"),
    ("p: what\n  gmem-race at <store>\n  <store>: delay 1\n", "the ruling names it"),
    ("p: what\n  ordered\n  <wait>..<store>: delay 1\n", "begins after it ends"),
    ("p: what\n  ordered\n  with <store>: delay 1\n", "is no change"),
    ("p: what\n  ordered\n  without store\n", "names no line"),
    ("p: what\n  Ordered it is\n", "is no ruling"),
    ("p: what\n", "no ruling"),
    ("p: what\n    and more\n", "no ruling"),
    ("base: what\n  ordered\n", "are two programs"),
)


# A family of a kernel that is a file, and the end of its program.
OF_FILE = """// family
// of: kernels/add_one.grout
<grid>: kernel @add_one_smem(%x: in gmem f32[N], %y: out gmem f32[N]) grid(x = N / B)
<first>: %first = mul (axis_index x), B @2
<add>: store %ys, (add (load %xs), 1.0)
<commit>: commit_smem

p: each change
  missing-commit-smem at <first>
  <grid>: kernel @k(%x: in gmem f32[N], %y: out gmem f32[N])
    grid(x = N / B)
  <add>: if (eq %first, 0) {
    ...
    }
  without <commit>
"""
END_OF_FILE = """
kernel @k(%x: in gmem f32[N], %y: out gmem f32[N])
    grid(x = N / B)
{
  scratch %xs : smem f32[B]
  scratch %ys : smem f32[B]
  scratch %full : barrier[1]

  %first = mul (axis_index x), B  // expect-error: missing-commit-smem
  copy_gmem_to_smem %x[ds(%first, B)], %xs, %full[0]
  barrier_wait %full[0]
  if (eq %first, 0) {
    store %ys, (add (load %xs), 1.0)
  }
  copy_smem_to_gmem %ys, %y[ds(%first, B)]
  wait_smem_to_gmem 0
}
"""
MISTAKES_OF_FILE = (
    ("<commit>: commit_smem", "<commit>: commit_tmem", "0 lines read"),
    ("<commit>: commit_smem", "<commit>: commit_smem @2", "1 lines read"),
    ("(axis_index x), B @2", "(axis_index x), B", "2 lines read"),
    ("<commit>: ", "<add>: ", "is two lines"),
    ("<commit>: commit_smem", "commit_smem  <commit>", "is no label"),
)


def find_faults_of_files():
    (program,) = make(OF_FILE)
    if not (program.text.startswith("// each change\nconst N") and program.text.endswith(END_OF_FILE)):
        yield f"{OF_FILE}is\n{program.text}"
    for old, new, expected in MISTAKES_OF_FILE:
        yield from find_refusal(OF_FILE.replace(old, new), expected)


def find_refusal(text, expected):
    """What is wrong if the text is not refused, or for another reason."""
    try:
        make(text)
        yield f"{text}is not refused"
    except families.FamilyError as error:
        if expected not in str(error):
            yield f"{text}is refused for another reason than {expected}: {error}"


def list_forms():
    """Each paragraph of FORMS with its family, and the program that it is."""
    last = "last: what\n  ordered\n" + ALL
    for paragraph, expected in FORMS:
        yield KERNEL + BASE + paragraph + last, expected
    kernel = "// family\n" + KERNEL.partition('"one"\n')[2]
    for paragraph, expected in FORMS_OF_BEHAVIOUR:
        yield kernel + BASE + paragraph + last, expected


def make(text):
    return families.Family(text, "folder/some.family").make_programs()


def find_faults():
    for text, expected in list_forms():
        _, program, _ = make(text)
        if program.text != expected:
            yield f"{text}is\n{program.text}"
    for paragraph, expected in MISTAKES:
        yield from find_refusal(KERNEL + BASE + paragraph + "last: what\n  ordered\n" + ALL, expected)
    for text, expected in ((KERNEL + BASE, "no program names"), (KERNEL, "no program"),
                           (KERNEL.replace("<arrive>", "<store>") + BASE, "is two lines")):
        yield from find_refusal(text, expected)


def find_faults_of_the_tree(stage):
    """What the scripts that ask for files get is what there is."""
    programs = families.list_programs(stage)
    with tempfile.TemporaryDirectory(prefix="grout-families-") as folder:
        families.lay_out(folder)
        laid_out = list(families.find_kernels([os.path.join(folder, families.FOLDERS[stage])], folder))
    with tempfile.TemporaryDirectory(prefix="grout-families-") as folder:
        found = list(families.find_kernels([os.path.join(families.ROOT, families.FOLDERS[stage])], folder))
    if not len(programs) == len(set(laid_out)) == len(set(found)):
        yield f"{stage}: {len(programs)} programs, {len(laid_out)} laid out, {len(found)} found"


# Lists of kernels (kernel_lists.py): the text, and what it means.
LISTS = (
    ("""const N = 4

each T, S: f16 " in f32" | f32 ""
  // of <T>
  kernel @copy_<T>()
  {
    each OP from 2: add sub
      store %out[<#>], (<OP> <T>:1)
      store %all[<#>], 1<S>
  }
// the end
""", """const N = 4

// of f16
kernel @copy_f16()
{
  store %out[2], (add f16:1)
  store %all[2], 1 in f32
  store %out[3], (sub f16:1)
  store %all[3], 1 in f32
}

// of f32
kernel @copy_f32()
{
  store %out[2], (add f32:1)
  store %all[2], 1
  store %out[3], (sub f32:1)
  store %all[3], 1
}
// the end
"""),
    ("each T: a b\n  <#> <T>\n", "0 a\n\n1 b\n"),
)
WRONG_LISTS = (
    ("each T: f16\nkernel @k()\n", "has no lines"),
    ("each T: f16\n  kernel @<S>()\n", "in no 'each' of that name"),
    ("each T, S: f16 f32 | f16\n  <T> <S>\n", "are not words for T, S"),
)


def find_faults_of_lists():
    for text, expected in LISTS:
        if kernel_lists.expand(text) != expected:
            yield f"{text}is\n{kernel_lists.expand(text)}"
    for text, expected in WRONG_LISTS:
        try:
            kernel_lists.expand(text)
            yield f"not refused: {text}"
        except kernel_lists.ListError as error:
            if expected not in str(error):
                yield f"{text}is refused for another reason: {error}"


def main():
    faults = [*find_faults(), *find_faults_of_files(), *find_faults_of_lists(),
              *(fault for stage in families.STAGES for fault in find_faults_of_the_tree(stage))]
    forms = len(FORMS + FORMS_OF_BEHAVIOUR + LISTS) + 1
    mistakes = len(MISTAKES + MISTAKES_OF_FILE + WRONG_LISTS)
    print("\n".join([*faults, f"families: {forms} forms, {mistakes} mistakes, {len(faults)} faults"]))
    return len(faults) > 0


if __name__ == "__main__":
    sys.exit(main())
