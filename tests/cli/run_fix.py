"""Tests of 'grout fix' from outside: what it repairs, what it shows, when it writes.

usage: run_fix.py --grout PATH [TEST...]     every test by default
"""
import os
import pty
import subprocess
import sys

sys.dont_write_bytecode = True  # the folder is a source tree
TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, TESTS)
import families
import run_cli
from run_cli import read, run, write

# The commit between the store and the copy is missing. Comments, blank lines and spaces are the user's.
COPY = """// Copies. // expect-error: missing-commit-smem
const N = 64
kernel @copy(%x: in gmem f32[N], %y: out gmem f32[N])
{
  scratch %s : smem f32[N]   // a slot

      store %s, (load %x)   // "// not a comment"
      copy_smem_to_gmem %s, %y
  wait_smem_to_gmem 0
}
"""
COPY_FIXED = COPY.replace("      copy_smem", "      commit_smem\n      copy_smem")
# Two threads: the wait comes after the load that it is for. One line has to move.
QUEUE = """const N = 32
kernel @queue(%x: in gmem f32[N], %y: out gmem f32[N]) threads(wg = 2)
{
  scratch %s : smem f32[N]
  scratch %made : barrier[1]
  if (eq (axis_index wg), 0) {
    store %s, (load %x)
    barrier_arrive %made[0]
  } else {
    %v = load %s
    barrier_wait %made[0] // for the store
    store %y, %v
  }
}
"""
QUEUE_FIXED = QUEUE.replace("    %v = load %s\n    barrier_wait %made[0] // for the store\n",
                            "    barrier_wait %made[0] // for the store\n    %v = load %s\n")
# The barrier hands on tensor memory, and does not say that it orders the tensor core.
COLUMNS = """kernel @columns(%x: in gmem f32[128, 8], %y: out gmem f32[128, 8]) threads(wg = 2)
{
  scratch %t : tmem f32[128, 8]
  scratch %made : barrier // of the columns
  if (eq (axis_index wg), 0) {
    async_store_tmem %t, (load %x)
    commit_tmem
    barrier_arrive %made
  } else {
    barrier_wait %made
    store %y, (async_load_tmem %t)
    wait_load_tmem
  }
}
"""
PAIRS = os.path.join(TESTS, "behaviour", "pairs")
# A slot is filled again only from the third step on.
RING = """const STEPS = 2, SLOTS = 2, N = 32
kernel @ring(%x: in gmem f32[STEPS, N], %y: out gmem f32[STEPS, N]) threads(wg = 2)
{
  scratch %s : smem f32[SLOTS, N]
  scratch %full : barrier[SLOTS]
  scratch %free : barrier[SLOTS]
  if (eq (axis_index wg), 0) {
    for %i in 0..STEPS {
      %slot = rem %i, SLOTS
      if (ge %i, SLOTS) {
      }
      store %s[%slot], (load %x[%i])
      barrier_arrive %full[%slot]
    }
    for %i in 0..SLOTS {
      barrier_wait %free[(rem %i + STEPS, SLOTS)]
    }
  } else {
    for %i in 0..STEPS {
      %slot = rem %i, SLOTS
      barrier_wait %full[%slot]
      store %y[%i], (load %s[%slot])
      barrier_arrive %free[%slot]
    }
  }
}
"""
# A parity that the kernel's own size, one turn of the ring, cannot tell from 0.
PARITY = """const STEPS = 2, SLOTS = 2, N = 32
kernel @ring(%x: in gmem f32[STEPS, N], %y: out gmem f32[STEPS, N]) threads(wg = 2)
{
  scratch %s : smem f32[SLOTS, N]
  scratch %full : mbarrier[SLOTS]
  scratch %free : mbarrier[SLOTS]
  if (eq (axis_index wg), 0) {
    for %i in 0..SLOTS {
      mbarrier_init %full[%i], 1
      mbarrier_init %free[%i], 1
    }
  }
  block_barrier
  if (eq (axis_index wg), 0) {
    for %i in 0..STEPS {
      %slot = rem %i, SLOTS
      mbarrier_wait %free[%slot], (xor (rem (div %i, SLOTS), 2), 1)
      store %s[%slot], (load %x[%i])
      mbarrier_arrive %full[%slot]
    }
  } else {
    for %i in 0..STEPS {
      %slot = rem %i, SLOTS
      mbarrier_wait %full[%slot], 1
      store %y[%i], (load %s[%slot])
      mbarrier_arrive %free[%slot]
    }
  }
}
"""
# Two CTAs write the same bytes: no line in it, put elsewhere, helps.
HOPELESS = """kernel @same(%y: out gmem i32[1]) grid(x = 2)
{
  store %y[0], (axis_index x)
}
"""
CLEAN = """kernel @clean(%y: out gmem i32[1])
{
  store %y[0], 1
}
"""
LONG = CLEAN.replace("store %y[0], 1", "for %i in 0..100000000 {\n    store %y[0], %i\n  }")


def apply_diff(before, diff):
    """The text after a unified difference; each line that it keeps or takes out has to be there."""
    lines, at, out = before.splitlines(keepends=True), 0, []
    for row in diff.splitlines(keepends=True):
        if row.startswith("@@"):
            start = int(row.split("-")[1].split(",")[0]) - 1
            out += lines[at:start]
            at = start
        elif row[0] in " -" and not row.startswith("---"):
            assert lines[at] == row[1:], (lines[at], row)
            out += [lines[at]] if row[0] == " " else []
            at += 1
        elif row[0] == "+" and not row.startswith("+++"):
            out.append(row[1:])
    return "".join(out + lines[at:])


def find_diff(text):
    rows = text.splitlines(keepends=True)
    first = next(i for i, row in enumerate(rows) if row.startswith("--- "))
    return "".join(row for row in rows[first:] if row[0] in " -+@" and not row.startswith("  @"))


def test_writes(folder):
    path = write(f"{folder}/k.grout", COPY)
    run("fix", path).expect(1, "nothing is written: there is nobody to ask (--yes writes)", "")
    assert read(path).decode() == COPY
    shown = run("fix", "--diff", path).expect(1, "+      commit_smem", "")
    assert apply_diff(COPY, find_diff(shown.out)) == COPY_FIXED and read(path).decode() == COPY
    os.chmod(path, 0o640)
    run("fix", "--yes", path).expect(0, "missing-commit-smem at line 8: insert 'commit_smem' before line 8", "")
    assert read(path).decode() == COPY_FIXED and os.stat(path).st_mode & 0o777 == 0o640
    run("fix", path).expect(0, "@copy: clean", "")
    assert sorted(os.listdir(folder)) == ["k.grout"], "a temporary is left"
    run("fix", f"{folder}/none.grout").expect(2, "", "[file-unreadable]")
    run("fix", path, path).expect(2, "", "usage: grout fix")


def test_line_ends(folder):
    path = write(f"{folder}/k.grout", COPY.replace("\n", "\r\n"))
    run("fix", "-y", path).expect(0)
    assert read(path).decode() == COPY_FIXED.replace("\n", "\r\n")
    tabs = COPY.replace("      ", "\t")
    run("fix", "-y", write(path, tabs)).expect(0)
    assert read(path).decode() == COPY_FIXED.replace("      ", "\t")


def test_moves(folder):
    path = write(f"{folder}/k.grout", QUEUE)
    shown = run("fix", "-y", path).expect(0, "move 'barrier_wait %made[0]' from line 11 before line 10", "")
    assert read(path).decode() == QUEUE_FIXED, shown.out
    # A line that stands before what it names: the file is not even valid.
    early = COPY_FIXED.replace("\n\n", "\n      %v = add %w, 1\n      %w = axis_index x\n").replace(
        "f32[N])\n", "f32[N]) grid(x = 1)\n")
    run("fix", "-y", write(path, early)).expect(2, "[unknown-name]", "")
    assert read(path).decode() == early, "what is not about order stays"
    below = QUEUE_FIXED.replace("barrier_arrive %made[0]", "barrier_arrive %made[%n]\n    %n = axis_index x").replace(
        "threads(", "grid(x = 1) threads(")
    run("fix", "-y", write(path, below)).expect(0, "unknown-name at line 8: move", "")


def test_words(folder):
    path = write(f"{folder}/columns.grout", COLUMNS)
    shown = run("fix", path, "--yes", "--arch", "sm_100a").expect(0)
    assert "add 'orders_tensor_core' to line 4" in shown.out, shown.out
    assert read(path).decode() == COLUMNS.replace(": barrier //", ": barrier orders_tensor_core //")


def test_commits(folder):
    """A commit of the tensor core that is missing, or that is for one CTA of a pair."""
    whole = families.read_kernel(os.path.join(PAIRS, "no-commit-fixed.grout"))
    commit = "    tcgen05_commit_arrive %done collective_axis(x)\n"
    for wrong, what in (("", "insert 'tcgen05_commit_arrive %done collective_axis(x)'"),
                        (commit.replace(" collective_axis(x)", ""), "add 'collective_axis(x)'")):
        path = write(f"{folder}/pair.grout", whole.replace(commit, wrong))
        shown = run("fix", path, "--yes", "--arch", "sm_100a").expect(0)
        assert what in shown.out, shown.out
        assert read(path).decode() == whole


def test_stdin(folder):
    done = run("fix", "-", stdin=COPY).expect(0, None, "+      commit_smem")
    assert done.out == COPY_FIXED
    assert run("fix", "-", stdin=COPY_FIXED).expect(0, None, "").out == COPY_FIXED
    run("fix", "--diff", "-", stdin=COPY).expect(1, "+++ <stdin>", "")
    assert run("fix", "-", stdin=HOPELESS).expect(1, None, "no change helps").out == HOPELESS
    assert os.listdir(folder) == []


def test_many_mistakes(folder):
    """Edits that do not touch each other go together: one by one, each would take a run of all."""
    copies = "  store %s, (load %x)\n  copy_smem_to_gmem %s, %y\n  wait_smem_to_gmem 0\n"
    head = "kernel @k(%x: in gmem f32[64], %y: out gmem f32[64])\n{\n  scratch %s : smem f32[64]\n"
    path = write(f"{folder}/many.grout", head + copies * 400 + "}\n")
    done = run("fix", "-y", "-v", path).expect(0, "400 changes, the result is clean", None)
    assert "\n1 change tried\n" in f"\n{done.out}", done.out
    assert read(path).decode() == head + copies.replace("  copy", "  commit_smem\n  copy") * 400 + "}\n"


def test_kernels(folder):
    two = COPY + QUEUE.replace("const N = 32\n", "")
    path = write(f"{folder}/k.grout", two)
    run("fix", "-y", "--kernel", "@queue", path).expect(0)
    assert read(path).decode() == COPY + QUEUE_FIXED.replace("const N = 32\n", "")
    run("fix", "-y", write(path, two)).expect(0, "2 changes, the result is clean")
    assert read(path).decode() == COPY_FIXED + QUEUE_FIXED.replace("const N = 32\n", "")


def test_sizes(folder):
    path = write(f"{folder}/k.grout", RING)
    run("check", path).expect(0)
    for words in (("-D", "STEPS=5"), ("--sweep", "STEPS=2,5,8")):
        run("fix", "-y", *words, write(path, RING)).expect(0, "insert 'barrier_wait %free[%slot]'")
        assert "SLOTS) {\n        barrier_wait %free[%slot]\n      }" in read(path).decode(), read(path).decode()
        run("check", path, "--sweep", "STEPS=2,3,4,5,8").expect(0)


def test_left(folder):
    path = write(f"{folder}/k.grout", HOPELESS)
    run("fix", "-y", path).expect(1, "no change helps; 1 finding is left", "")
    assert read(path).decode() == HOPELESS
    # One of two kernels can be repaired; that is written, and the check says what is left.
    write(path, COPY + HOPELESS)
    run("fix", "-y", path).expect(1, "1 finding is left", "")
    assert read(path).decode() == COPY_FIXED + HOPELESS
    run("fix", "-y", write(path, CLEAN)).expect(0, "@clean: clean", "")
    run("fix", "-y", "--max-steps", "1000", write(path, LONG)).expect(3, "incomplete", "")
    assert read(path).decode() == LONG
    run("fix", "-y", "--max-steps", "1000", write(path, COPY + LONG)).expect(3, "the check of the result is incomplete")


def test_silenced(folder):
    path = write(f"{folder}/k.grout", COPY)
    run("fix", "-y", "--severity", "missing-commit-smem=off", path).expect(0)
    allowed = COPY.replace("%s, %y\n", "%s, %y // allow: missing-commit-smem reviewed\n")
    run("fix", "-y", write(path, allowed)).expect(0)
    assert read(path).decode() == allowed, "an accepted finding is not repaired"


def test_outputs(folder):
    path = write(f"{folder}/k.grout", QUEUE)
    right, wrong = f"{folder}/right.npy", f"{folder}/wrong.npy"
    run("run", write(f"{folder}/fixed.grout", QUEUE_FIXED), "--output", f"y={right}").expect(0)
    run("run", f"{folder}/fixed.grout", "--input", "x=ones", "--output", f"y={wrong}").expect(0)
    run("fix", "--diff", path, "--expect-output", f"y={wrong}").expect(1, "differs from the expected one")
    run("fix", "-y", path, "--expect-output", f"y={right}").expect(0, "the result is clean")
    assert read(path).decode() == QUEUE_FIXED


# Only a part of its steps are in a run that hangs, and none of its reference.
HANGS = """const N = 64

kernel @sum(%x: in gmem f32[N], %y: out gmem f32[1]) threads(wg = 2)
{
  scratch %part : smem f32[1]
  scratch %full : barrier arrivals(2)
  if (eq (axis_index wg), 0) {
    store %part[0], (reduce_sum (load %x))
    barrier_arrive %full
  } else {
    barrier_wait %full
    %sum = for %i in 0..40000 carry(%s = (load %part[0])) {
      yield (mul %s, 1.0)
    }
    store %y[0], %sum
  }
}

kernel @reference(%x: in gmem f32[N], %y: out gmem f32[1])
{
  %sum = for %i in 0..N carry(%s = 0.0) {
    %v = for %j in 0..4000 carry(%w = (load %x[%i])) {
      yield (mul %w, 1.0)
    }
    yield (add %s, %v)
  }
  store %y[0], %sum
}

check @sum against @reference
"""


def test_long_runs(folder):
    path = write(f"{folder}/k.grout", HANGS)
    run("check", path).expect(1, "deadlock")
    run("fix", "-y", path).expect(0, "1 change", "%y equals '@reference', bit for bit")
    assert read(path).decode() == HANGS.replace("barrier arrivals(2)", "barrier")


# A ring with a reference, and what people get wrong in one. Each is mended where it is wrong.
PIPE = """const STEPS = 8, SLOTS = 3, N = 64
const SCALE : f32 = 0.5

kernel @pipe(%x: in gmem f32[STEPS, N], %y: out gmem f32[STEPS, N]) threads(wg = 2)
{
  scratch %s : smem f32[SLOTS, N]
  scratch %out : smem f32[2, N]
  scratch %full : barrier[SLOTS]
  scratch %free : barrier[SLOTS]
  if (eq (axis_index wg), 0) {
    for %i in 0..STEPS {
      %slot = rem %i, SLOTS
      if (ge %i, SLOTS) {
        barrier_wait %free[%slot]
      }
      copy_gmem_to_smem %x[%i], %s[%slot], %full[%slot]
    }
  } else {
    for %i in 0..STEPS {
      %slot = rem %i, SLOTS
      barrier_wait %full[%slot]
      %v = mul (load %s[%slot]), SCALE
      commit_smem
      barrier_arrive %free[%slot]
      wait_smem_to_gmem 1 read_only
      store %out[%i % 2], (add %v, 1.0)
      commit_smem
      copy_smem_to_gmem %out[%i % 2], %y[%i]
    }
    wait_smem_to_gmem 0
  }
}

kernel @reference(%x: in gmem f32[STEPS, N], %y: out gmem f32[STEPS, N])
{
  store %y, (add (mul (load %x), SCALE), 1.0)
}

check @pipe against @reference
"""
LOADS = "for %i in 0..STEPS {\n      %slot = rem %i, SLOTS\n      if"
STORE, COMMIT = "      store %out[%i % 2], (add %v, 1.0)\n", "      commit_smem\n"
PIPE_SLIPS = (("if (ge %i, SLOTS)", "if (ge %i, SLOTS - 1)"), ("if (ge %i, SLOTS)", "if (gt %i, SLOTS)"),
              (LOADS, LOADS.replace("STEPS", "STEPS - 1")),
              ("%s[%slot], %full[%slot]", "%s[%slot], %full[(%i + 1) % SLOTS]"),
              ("%full : barrier[SLOTS]", "%full : barrier[SLOTS] arrivals(2)"),
              ("      wait_smem_to_gmem 1 read_only\n", ""), (STORE + COMMIT, COMMIT + STORE),
              ("(add %v, 1.0)", "(mul %v, 1.0)"), ("%x[%i], %s", "%x[0], %s"), ("%y[%i]", "%y[STEPS - 1 - %i]"))


def test_rings(folder):
    run("check", write(f"{folder}/k.grout", PIPE)).expect(0, "@pipe: clean", "bit for bit")
    for before, after in PIPE_SLIPS:
        assert PIPE.count(before) == 1, before
        path = write(f"{folder}/k.grout", PIPE.replace(before, after))
        run("check", path).expect(1)
        run("fix", "-y", path).expect(0, "1 change", "bit for bit")
        assert read(path).decode() == PIPE, read(path).decode()


# One change of the reference would make the two equal, and none of the kernel does.
STAYS = """const N = 64

kernel @same(%x: in gmem f32[N], %y: out gmem f32[N])
{
  store %y, (load %x)
}

kernel @reference(%x: in gmem f32[N], %y: out gmem f32[N])
{
  store %y, (mul (load %x), -1.0)
}

check @same against @reference
"""


def test_reference_stays(folder):
    path = write(f"{folder}/k.grout", STAYS)
    run("fix", "-y", path).expect(1, "no change helps")
    assert read(path).decode() == STAYS


def test_larger_sizes(folder):
    path = write(f"{folder}/k.grout", PARITY)
    run("fix", "-y", path).expect(0, "the result is clean, also with -D STEPS=3", "")
    run("check", path, "--sweep", "STEPS=1,2,3,5,8").expect(0, "@ring: clean")
    # Sizes that are asked for are joined with larger ones.
    swept = write(f"{folder}/swept.grout", PARITY)
    run("fix", "-y", swept, "--sweep", "STEPS=1,2").expect(0, "the result is clean, also with", "")
    run("check", swept, "--sweep", "STEPS=1,2,3,5,8").expect(0, "@ring: clean")


# A kernel that is right, its reference, and slips of the pen: each is found, in its line.
AGAINST = """const M = 32, N = 64, MT = 8, NT = 16

kernel @scale(%x: in gmem f32[M, N], %y: out gmem f32[M, N]) grid(g = M / MT) threads(wg = 1)
{
  scratch %s : smem f32[2, MT, NT]
  %g = axis_index g
  %bias = broadcast 1.0 : f32[MT, NT]
  for %j in 0..N / NT {
    %slot = rem %j, 2
    store %s[%slot], (load %x[ds(MT * %g, MT), ds(NT * %j, NT)])
    %v = load %s[%slot]
    %w = sub (mul %v, 2.0), %bias
    if (lt %j, N / NT) {
      store %y[ds(MT * %g, MT), ds(NT * %j, NT)], %w
    }
  }
}

kernel @reference(%x: in gmem f32[M, N], %y: out gmem f32[M, N])
{
  store %y, (sub (mul (load %x), 2.0), 1.0)
}

check @scale against @reference
"""
SLIPS = (("sub (mul %v, 2.0), %bias", "add (mul %v, 2.0), %bias"),
         ("sub (mul %v, 2.0), %bias", "sub %bias, (mul %v, 2.0)"),
         ("(mul %v, 2.0)", "(mul %v, -2.0)"),
         ("(mul %v, 2.0)", "(div %v, 2.0)"),
         ("0..N / NT", "0..N / NT - 1"),
         ("0..N / NT", "1..N / NT"),
         ("0..N / NT", "0..N / MT"),
         ("lt %j, N / NT", "le %j, 2"),
         ("rem %j, 2", "rem %j, 1"),
         ("%x[ds(MT * %g, MT)", "%x[ds(NT * %g, MT)"),
         ("%x[ds(MT * %g, MT), ds(NT * %j, NT)", "%x[ds(MT * %g, MT), ds(NT * %g, NT)"),
         ("%y[ds(MT * %g, MT), ds(NT * %j, NT)", "%y[ds(MT * %g, MT), ds(NT * %slot, NT)"))
EQUIVALENT = ("rem %j, 1",)  # one slot will do for a thread that waits for nobody


# Much has one value here: TM, TN and TK, and at one size each may be taken for another one.
EQUAL = """const M = 128, N = 128, K = 192
const TM = 64, TN = 64, TK = 64, STAGES = 2, SKIPPED = 0
const BYTES = 4 * TK * (TM + TN)

kernel @sums(%a: in gmem f32[M, K], %b: in gmem f32[K, N], %c: out gmem f32[M, N])
    grid(m = M / TM, n = N / TN) threads(wg = 2)
{
  scratch %as : smem f32[STAGES, TM, TK]
  scratch %bs : smem f32[STAGES, TK, TN]
  scratch %full : mbarrier[STAGES]
  scratch %empty : mbarrier[STAGES]
  %wg = axis_index wg
  %row = mul (axis_index m), TM
  %col = mul (axis_index n), TN
  if (eq %wg, 0) {
    for %i in 0..STAGES {
      mbarrier_init %full[%i], 1
      mbarrier_init %empty[%i], 1
    }
  }
  block_barrier
  if (eq %wg, 0) {
    for %k in SKIPPED..K / TK {
      %slot = rem %k, STAGES
      mbarrier_wait %empty[%slot], (%k / STAGES + 1) % 2
      mbarrier_expect %full[%slot], BYTES
      copy_gmem_to_smem %a[ds(%row, TM), ds(%k * TK, TK)], %as[%slot], %full[%slot]
      copy_gmem_to_smem %b[ds(%k * TK, TK), ds(%col, TN)], %bs[%slot], %full[%slot]
    }
  } else {
    %sum = for %k in 0..K / TK carry(%v = (broadcast 0.0 : f32[TM, TN])) {
      %slot = rem %k, STAGES
      mbarrier_wait %full[%slot], %k / STAGES % 2
      %next = mma %v, (load %as[%slot]), (load %bs[%slot])
      commit_smem
      mbarrier_arrive %empty[%slot]
      yield %next
    }
    store %c[ds(%row, TM), ds(%col, TN)], %sum
  }
}

kernel @reference(%a: in gmem f32[M, K], %b: in gmem f32[K, N], %c: out gmem f32[M, N])
{
  store %c, (mma (broadcast 0.0 : f32[M, N]), (load %a), (load %b))
}

check @sums against @reference rtol(1e-5)
"""
EQUAL_SLIPS = (("4 * TK * (TM + TN)", "4 * TK * TM"), ("4 * TK * (TM + TN)", "2 * TK * (TM + TN)"),
               ("mul (axis_index n), TN", "mul (axis_index n), 32"))
# One loop has a number where others have consts: what repairs it is right at this size alone.
FIXED = """const N = 64, B = 32

kernel @copy(%x: in gmem f32[N], %y: out gmem f32[N])
{
  for %i in 0..3 {
    store %y[ds(%i * B, B)], (load %x[ds(%i * B, B)])
  }
}

kernel @reference(%x: in gmem f32[N], %y: out gmem f32[N])
{
  store %y, (load %x)
}

check @copy against @reference
"""
# The CTA that comes last adds up. The fair schedule lets CTA 1 come last, another one does not.
TICKETS = """const N = 64, SPLITS = 2

kernel @split(%x: in gmem f32[SPLITS, N], %tickets: inout gmem i32[1] init(zeros), %y: out gmem f32[N])
    grid(split = SPLITS)
{
  scratch %parts : gmem f32[SPLITS, N]
  %split = axis_index split
  store %parts[%split], (mul (load %x[%split]), 2.0)
  %ticket = atomic_fetch_add %tickets[0], 1 order(acq_rel) scope(gpu)
  if (eq %ticket, SPLITS - 1) {
    %sum = for %s in 0..SPLITS carry(%v = (broadcast 0.0 : f32[N])) {
      yield (add %v, (load %parts[%s]))
    }
    store %y, %sum
  }
}

kernel @reference(%x: in gmem f32[SPLITS, N], %tickets: inout gmem i32[1], %y: out gmem f32[N])
{
  %sum = for %s in 0..SPLITS carry(%v = (broadcast 0.0 : f32[N])) {
    yield (add %v, (mul (load %x[%s]), 2.0))
  }
  store %tickets[0], SPLITS
  store %y, %sum
}

check @split against @reference
"""
TICKET_SLIPS = (("if (eq %ticket, SPLITS - 1)", "if (eq %split, SPLITS - 1)"),
                ("if (eq %ticket, SPLITS - 1)", "if (eq %ticket, SPLITS - 2)"),
                ("order(acq_rel) scope(gpu)", "order(acq_rel) scope(cta)"))


# Rings that keep several copies in flight: a repair that waits for each at once would be clean, too.
MBARRIERS = """const N = 256, B = 32, STAGES = 4
kernel @ring(%x: in gmem f32[N], %y: out gmem f32[N]) threads(wg = 3)
{
  scratch %s : smem f32[STAGES, B]
  scratch %full : mbarrier[STAGES]
  scratch %empty : mbarrier[STAGES]
  %wg = axis_index wg
  if (eq %wg, 0) {
    for %i in 0..STAGES {
      mbarrier_init %full[%i], 1
      mbarrier_init %empty[%i], 2
    }
  }
  block_barrier
  if (eq %wg, 0) {
    for %k in 0..N / B {
      %slot = rem %k, STAGES
      mbarrier_wait %empty[%slot], (%k / STAGES + 1) % 2
      mbarrier_expect %full[%slot], B * 4
      copy_gmem_to_smem %x[ds(B * %k, B)], %s[%slot], %full[%slot]
    }
  } else {
    for %k in 0..N / B {
      %slot = rem %k, STAGES
      mbarrier_wait %full[%slot], %k / STAGES % 2
      %v = load %s[%slot]
      commit_smem
      mbarrier_arrive %empty[%slot]
      if (eq %wg, 1) {
        store %y[ds(B * %k, B)], %v
      }
    }
  }
}
"""
GROUPS = """const N = 256, B = 128, STAGES = 3
kernel @groups(%x: in gmem f32[N * 4], %y: out gmem f32[N * 4]) threads(wg = 1)
{
  scratch %s : smem f32[STAGES, B]
  for %k in 0..STAGES - 1 {
    async_copy %x[ds(B * %k, B)], %s[%k]
    async_copy_commit_group
  }
  for %k in 0..N * 4 / B {
    async_copy_wait STAGES - 2
    block_barrier
    store %y[ds(B * %k, B)], (load %s[%k % STAGES])
    block_barrier
    %next = add %k, STAGES - 1
    if (lt %next, N * 4 / B) {
      async_copy %x[ds(B * %next, B)], %s[%next % STAGES]
    }
    async_copy_commit_group
  }
}
"""
SHALLOW = ((MBARRIERS, "(%k / STAGES + 1) % 2", "%k / STAGES % 2"),
           (MBARRIERS, "%empty[%i], 2", "%empty[%i], 1"),
           (GROUPS, "wait STAGES - 2", "wait STAGES - 1"))


def expect_original(folder, right, slips):
    """Each slip is put right as it was."""
    run("check", write(f"{folder}/right.grout", right)).expect(0)
    for before, after in slips:
        assert right.count(before) == 1, before
        path = write(f"{folder}/k.grout", right.replace(before, after))
        run("check", path).expect(1)
        run("fix", "-y", path).expect(0, "1 change")
        assert read(path).decode() == right, (after, read(path).decode())


def test_other_sizes(folder):
    expect_original(folder, EQUAL, EQUAL_SLIPS)
    path = write(f"{folder}/fixed.grout", FIXED)
    run("fix", "-y", path).expect(0, "1 change, the result is clean, but not with -D N=128")
    run("check", path).expect(0)
    run("check", path, "-D", "N=128").expect(1)


def test_other_schedules(folder):
    expect_original(folder, TICKETS, TICKET_SLIPS)


def test_keeps_depth(folder):
    for right, before, after in SHALLOW:
        run("check", write(f"{folder}/right.grout", right)).expect(0)
        path = write(f"{folder}/k.grout", right.replace(before, after))
        run("check", path).expect(1)
        run("fix", "-y", path).expect(0, "asynchronous operations of a CTA are in flight at once, before the change")
        assert read(path).decode() == right, read(path).decode()


def find_changed(before, after):
    """The numbers of the lines that differ."""
    return [number for number, pair in enumerate(zip(before.split("\n"), after.split("\n"))) if pair[0] != pair[1]]


def test_values(folder):
    run("check", write(f"{folder}/k.grout", AGAINST)).expect(0, "@scale: clean", "bit for bit")
    for before, after in SLIPS:
        assert AGAINST.count(before) == 1 or before.startswith("%"), before
        wrong = AGAINST.replace(before, after, 1)
        path = write(f"{folder}/k.grout", wrong)
        if after in EQUIVALENT:
            run("check", path).expect(0, "@scale: clean", "bit for bit")
            continue
        run("check", path).expect(1, "of-bounds" if "0..N / MT" in after else "compare-mismatch")
        run("fix", "-y", path).expect(0, "1 change", "bit for bit")
        changed, right = (find_changed(wrong, text) for text in (read(path).decode(), AGAINST))
        assert changed == right, (after, read(path).decode())


def answer(path, text):
    """Runs the command on a terminal of its own, types the answer; exit code and what it showed."""
    main, side = pty.openpty()
    process = subprocess.Popen([run_cli.grout, "fix", path], stdin=side, stdout=side, stderr=side)
    os.close(side)
    os.write(main, text.encode())
    shown = b""
    try:
        while data := os.read(main, 4096):
            shown += data
    except OSError:
        pass  # the other side is closed
    os.close(main)
    return process.wait(), shown.decode()


def test_asks(folder):
    path = write(f"{folder}/k.grout", COPY)
    for text in ("n\n", "\n", "later\n"):
        code, shown = answer(path, text)
        assert code == 1 and "write it? [y/N]" in shown and read(path).decode() == COPY, shown
        assert "\033[32m+      commit_smem\033[0m" in shown, shown
    code, shown = answer(path, "y\n")
    assert code == 0 and "@copy: " in shown and read(path).decode() == COPY_FIXED, shown


if __name__ == "__main__":
    tests = {name[5:]: function for name, function in globals().items() if name.startswith("test_")}
    sys.exit(run_cli.main(tests))
