"""Tests of verdicts from outside: what decides the verdict and the exit code, what ends a run, what a run reached.

usage: run_verdicts.py --grout PATH [TEST...]     every test by default
"""
import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # the folder is a source tree
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from limit import SECONDS

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
RACE = """  scratch %s : smem i32[1]
  store %s[0], (axis_index wg)
"""
KERNEL = """const N = 4
kernel @k(%x: in gmem i32[N], %y: out gmem i32[N]) {
  store %y, (load %x)
}
"""
# Thread 0 has a fence of its own only if it comes first, as it does under the fair schedule.
FIRST = """const N = 64
kernel @k(%f: inout gmem i32[1], %y: out gmem f32[N]) threads(wg = 3) {
  scratch %s : smem f32[N]
  scratch %ready : barrier[1]
  %w = axis_index wg
  if (eq %w, 0) {
    %old = atomic_exchange %f[0], 1
    store %s, (broadcast 1.0 : f32[N])
    if (eq %old, 0) {
      commit_smem
    }
    barrier_arrive %ready[0]
  }
  if (eq %w, 1) {
    %old = atomic_exchange %f[0], 1
  }
  if (eq %w, 2) {
    barrier_wait %ready[0]
    commit_smem
    copy_smem_to_gmem %s, %y
    wait_smem_to_gmem 0
  }
}
"""
ENDLESS = """kernel @k(%y: out gmem i32[1]) {
  %a = while carry(%s = 0) {
    cond (lt %s, 2147483647)
  } do {
    yield (add %s, 1)
  }
  store %y[0], %a
}
"""
COPIES = """kernel @k(%x: in gmem f32[64], %y: inout gmem f32[64]) {
  scratch %s : smem f32[64]
  scratch %b : barrier[1]
  for %i in 0..300000000 {
    copy_gmem_to_smem %x, %s, %b[0]
  }
}
"""
# Few operations, each after much memory.
MANY = """kernel @k() grid(x = 1000000) {
  scratch %b : semaphore[1048576]
  semaphore_signal %b[5], 1
  semaphore_wait %b[5], 1
}
"""
# A lock, which more schedules reach than any budget holds.
LOCKS = """kernel @k(%lock: inout gmem i32[1], %y: out gmem i32[8]) grid(g = 8) {
  %g = axis_index g
  %old = atomic_exchange %lock[0], %g order(acq_rel)
  if (lt %old, 100) {
    %other = atomic_exchange %lock[0], %old order(acq_rel)
  }
  store %y[%g], %g
}
"""
# A ring of slots, with more of them than steps.
RING = """const STEPS = 3, STAGES = 4
kernel @k(%x: in gmem f32[STEPS, 128], %y: out gmem f32[STEPS, 128]) threads(wg = 2)
{
  scratch %s : smem f32[STAGES, 128]
  scratch %full : barrier[STAGES]
  scratch %free : barrier[STAGES]
  if (eq (axis_index wg), 0) {
    for %i in 0..STEPS {
      if (ge %i, STAGES) {
        barrier_wait %free[%i % STAGES]
      }
      copy_gmem_to_smem %x[%i], %s[%i % STAGES], %full[%i % STAGES]
    }
  } else {
    for %i in 0..STEPS {
      barrier_wait %full[%i % STAGES]
      store %y[%i], (load %s[%i % STAGES])
      // For what loads this slot again.
      if (lt %i, STEPS - STAGES) {
        commit_smem
        barrier_arrive %free[%i % STAGES]
      }
    }
  }
}
"""
# A ring that cp.async fills: no barrier says that no slot was filled again.
SLOTS = """const STEPS = 3, STAGES = 4
kernel @k(%x: in gmem f32[STEPS, 128], %y: out gmem f32[STEPS, 128])
{
  scratch %s : smem f32[STAGES, 128]
  for %i in 0..STEPS {
    async_copy %x[%i], %s[%i % STAGES]
    async_copy_commit_group
    async_copy_wait 0
    store %y[%i], (load %s[%i % STAGES])
  }
}
"""
# Without the last barrier a second turn would be a race.
TURN = """const N = 1
kernel @k(%x: in gmem f32[N, 128], %y: out gmem f32[N, 128]) threads(wg = 2)
{
  scratch %s : smem f32[128]
  for %i in 0..N {
    if (eq (axis_index wg), 0) {
      store %s, (load %x[%i])
    }
    block_barrier
    if (eq (axis_index wg), 1) {
      store %y[%i], (load %s)
    }
    block_barrier
  }
}
"""
# A line that no change of one const reaches, and one that excludes another.
PAIR = """const N = 2, M = 3
require M <= 4, "no more"
kernel @k(%y: out gmem i32[N]) {
  store %y, (broadcast 1 : i32[N])
  if (eq N * M, 20) {
    store %y, (broadcast 2 : i32[N])
  }
}
"""
EITHER = """const N = 4
kernel @k(%y: out gmem i32[N]) {
  if (eq N % 2, 0) {
    store %y, (broadcast 1 : i32[N])
  } else {
    store %y, (broadcast 2 : i32[N])
  }
}
"""
ONCE = """const N = 2
kernel @k(%x: in gmem f32[N, 128], %y: out gmem f32[N, 128]) threads(wg = 2)
{
  scratch %s : smem f32[N, 128]
  scratch %full : barrier[2]
  scratch %done : barrier[1]
  if (eq (axis_index wg), 0) {
    for %i in 0..2 {
      copy_gmem_to_smem %x[%i], %s[%i], %full[%i]
    }
    while {
      %is_done = barrier_test %done[0]
      cond (not %is_done)
    } do {
    }
  } else {
    for %i in 0..2 {
      barrier_wait %full[%i]
      store %y[%i], (load %s[%i])
    }
    barrier_arrive %done[0]
  }
}
"""
grout = None


def run(*words, cwd=None, stdin="", program=None):
    """The command, or a program beside it."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("GROUT_", "CUDA_", "XDG_", "NO_COLOR"))}
    path = os.path.join(os.path.dirname(grout), program) if program else grout
    return subprocess.run([path, *words], input=stdin, capture_output=True, text=True, errors="replace",
                          env=environment, cwd=cwd, timeout=SECONDS, check=False)


def expect(done, code, out="", err=""):
    text = f"exit code {done.returncode}\nstdout: {done.stdout}\nstderr: {done.stderr}"
    assert done.returncode == code, f"expected {code}: {text}"
    assert out in done.stdout and err in done.stderr, f"expected {out!r}, {err!r}: {text}"
    return done


def write(path, text):
    with open(path, "w", encoding="latin-1") as file:
        file.write(text)
    return path


def read_behaviour(name):
    with open(f"{ROOT}/tests/behaviour/strict_fences/{name}.grout", encoding="utf-8") as file:
        return file.read()


# ---- the tests: functions of a folder that is empty at first -----------------------------------------

def test_all_findings_count(folder):
    """Verdict and exit code come from all findings, listed or not; errors are listed first."""
    outputs = ", ".join(f"%z{i}: out gmem i32[4]" for i in range(30))
    kernel = write(f"{folder}/k.grout", f"kernel @k({outputs}) threads(wg = 2) {{\n{RACE}}}\n")
    for options in ([], ["--max-findings", "1"]):
        done = expect(run("check", kernel, *options), 1, "[smem-race]")
        assert done.stdout.index("[smem-race]") < (done.stdout +
                                                   "[output-not-written]").index("[output-not-written]"), done.stdout
        expect(done, 1, "@k: error, 1 error, 30 warnings, ")
        report = json.loads(run("check", kernel, *options, "--format", "json").stdout)
        assert report["verdict"] == "error" and report["findings"][0]["code"] == "smem-race", report["verdict"]
        not_listed = report["coverage"]["kernels"][0]["findings_not_listed"]
        assert len(report["findings"]) + not_listed == 31, (len(report["findings"]), not_listed)
    # A finding that is not listed decides too: here the second error of two.
    two = write(f"{folder}/two.grout", f"kernel @k() threads(wg = 2) {{\n{RACE}  store %s[0], 2\n}}\n")
    expect(run("check", two, "--max-findings", "1"), 1, "past --max-findings")
    # What is silenced takes no place in the list, and --severity decides which are errors.
    off = ["--severity", "output-not-written=off", "--max-findings", "1"]
    expect(run("check", kernel, *off), 1, "@k: error, 1 error, 30 silenced\n")
    other = ["--severity", "smem-race=warning", "--severity", "output-not-written=error", "--max-findings", "1"]
    done = expect(run("check", kernel, *other), 1, "@k: error, 30 errors, 1 warning, 30 past --max-findings")
    assert "[smem-race]" not in done.stdout, done.stdout
    expect(run("check", kernel, "--severity", "smem-race=off", "--max-findings", "1"), 0, "@k: clean, 30 warnings")
    expect(run("check", kernel, "--severity", "smem-race=off", "--max-findings", "1", "--werror"), 1)


def test_warnings_leave_room(folder):
    """More warnings than a list of diagnostics holds: an error that comes after them is shown and decides."""
    unused = "".join(f"  %u{i} = axis_index wg\n" for i in range(30))
    text = f"kernel @k(%y: out gmem i32[2]) threads(wg = 2) {{\n{unused}  store %y[(axis_index wg)], 1\n}}\n"
    kernel = write(f"{folder}/k.grout", text)
    header = "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }\n"
    write(f"{folder}/y.npy", "\x93NUMPY\x01\x00" + chr(len(header)) + "\x00" + header + 8 * "\x00")
    done = expect(run("check", kernel, "--expect-output", f"y={folder}/y.npy"), 1, "[compare-mismatch]")
    assert "11 more not shown" in done.stdout, done.stdout
    # Warnings that are not shown make no kernel invalid.
    done = expect(run("check", kernel, "--format", "json"), 0)
    assert json.loads(done.stdout)["verdict"] == "clean", done.stdout


def get_cpu_seconds():
    """The time of the calls so far: what other processes do at the same time does not count."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def test_ends_in_time(folder):
    """--timeout and --budget bound whatever runs, keep what was found, and are not Ctrl-C."""
    endless = write(f"{folder}/endless.grout", ENDLESS)
    copies = write(f"{folder}/copies.grout", COPIES)
    many = write(f"{folder}/many.grout", MANY)
    for options in (["--timeout", "0.2"], ["--timeout", "0.2", "--explore"], ["--timeout", "0.2", "--advice"],
                    ["--timeout", "0.2", "--minimise"], ["--budget", "0.2"], ["--budget", "0.2", "--explore"],
                    ["--budget", "0.2", "--advice"], ["--budget", "0.2", "--minimise"]):
        # The last finds something first: beside other tests that alone can take a while.
        for kernel, seconds, code in ((endless, "0.2", 3), (many, "0.2", 3), (copies, "1", 1)):
            start = get_cpu_seconds()
            words = [seconds if word == "0.2" else word for word in options]
            done = expect(run("check", kernel, *words), code, f"the time was over ({options[0]})")
            assert "Ctrl-C" not in done.stdout + done.stderr, (done.stdout, done.stderr)
            assert get_cpu_seconds() - start < 5, f"{kernel} {options}: {get_cpu_seconds() - start:.1f} s"
    report = json.loads(run("check", endless, "--timeout", "0.2", "--explore", "--format", "json").stdout)
    assert report["verdict"] == "incomplete", report["verdict"]
    assert report["coverage"]["kernels"][0]["status"] == "timeout", report["coverage"]
    report = json.loads(run("check", endless, "--budget", "0.2", "--format", "json").stdout)
    assert report["coverage"]["kernels"][0]["status"] == "budget", report["coverage"]
    # The time is that of the whole call: the second kernel of a file does not start it anew.
    start = get_cpu_seconds()
    expect(run("check", write(f"{folder}/both.grout", ENDLESS + ENDLESS.replace("@k", "@l")), "--timeout", "1"), 3)
    assert get_cpu_seconds() - start < 1.8, get_cpu_seconds() - start
    # An exploration that --timeout ends is incomplete; what its budget ends is what it has explored.
    locks = write(f"{folder}/locks.grout", LOCKS)
    expect(run("check", locks, "--explore", "--timeout", "0.3"), 3, "schedules explored: the time was over (--timeout)")
    expect(run("check", locks, "--explore", "--budget", "0.3"), 0, "schedules explored: the budget of the exploration")


def test_outputs_spare_inputs(folder):
    """No option writes over a file that the call reads, or that another option writes, under any name."""
    kernel = write(f"{folder}/k.grout", KERNEL)
    npy = lambda name: f"{folder}/{name}.npy"
    expect(run("run", kernel, "--output", f"y={npy('a')}"), 0)
    os.link(npy("a"), npy("hard"))
    os.symlink("a.npy", npy("soft"))
    os.symlink(folder, f"{folder}/here")
    expect(run("check", kernel, "--save-schedule", f"{folder}/s.schedule"), 0)
    expect(run("check", kernel, "--format", "json", "-q"), 0)
    base = write(f"{folder}/base.json", run("check", kernel, "--format", "json").stdout)
    quiet = write(f"{folder}/quiet", "# none\n")
    before = {name: pathlib.Path(f"{folder}/{name}").read_bytes() for name in os.listdir(folder) if name != "here"}
    given = ["--input", f"x={npy('a')}"]
    cases = [
        ["emit", kernel, "-o", kernel],
        ["emit", kernel, "-o", f"{folder}/here/k.grout"],
        ["emit", kernel, "--manifest", kernel],
        ["emit", kernel, "-o", f"{folder}/new.cu", "--manifest", f"{folder}/here/new.cu"],
        ["check", kernel, "--save-schedule", kernel],
        ["check", kernel, "--replay", f"{folder}/s.schedule", "--save-schedule", f"{folder}/here/s.schedule"],
        ["check", kernel, "--baseline", base, "--save-schedule", base],
        ["check", kernel, "--suppress", quiet, "--save-schedule", quiet],
        ["check", kernel, *given, "--save-schedule", npy("hard")],
        ["check", kernel, "--output", f"y={npy('new')}", "--save-schedule", npy("new")],
        ["check", kernel, "--expect-output", f"y={npy('a')}", "--save-schedule", npy("soft")],
    ] + [["run", kernel, *given, "--output", f"y={npy(name)}"]
         for name in ("a", "hard", "soft", "../" + os.path.basename(
        folder) + "/a", "here/a")]
    for case in cases:
        expect(run(*case), 2, "", "would overwrite")
        after = {name: pathlib.Path(f"{folder}/{name}").read_bytes() for name in os.listdir(folder) if name != "here"}
        assert after == before, case
    # The name that a schedule gets by itself: KERNEL.schedule, here a link to the kernel.
    racy = write(f"{folder}/racy.grout",
                 LOCKS.replace("g = 8", "g = 2").replace("%y[%g], %g", "%y[%g + 8 * %late], %g").replace(
        "  store", "  %late = cast (and (eq %g, 0), (eq %old, 1)) : i32\n  store"))
    os.symlink("racy.grout", f"{folder}/k.schedule")
    done = run("check", racy, "--explore", "--input", "lock=zeros", cwd=folder)
    assert "the schedule would overwrite" in done.stdout + done.stderr, (done.stdout, done.stderr)
    assert os.path.getsize(racy) > 100
    # A device is no file that could be lost.
    expect(run("emit", kernel, "-o", "/dev/null", "--manifest", "/dev/null"), 0)


def test_odd_files(folder):
    """A .npy file without an end is not read to the end; a file that cannot be finished leaves nothing."""
    kernel = write(f"{folder}/k.grout", KERNEL)
    os.symlink("/dev/zero", f"{folder}/zero.npy")
    start = time.monotonic()
    expect(run("run", kernel, "--input", f"x={folder}/zero.npy"), 2, "", "[bad-npy]")
    # A header, and then bytes without end.
    expect(run("run", kernel, "--output", f"y={folder}/a.npy"), 0)
    pipe = subprocess.Popen(["cat", f"{folder}/a.npy", "/dev/zero"], stdout=subprocess.PIPE)
    os.symlink("/dev/stdin", f"{folder}/pipe.npy")
    done = subprocess.run([grout, "run", kernel, "--input", f"x={folder}/pipe.npy"], stdin=pipe.stdout,
                          capture_output=True, text=True, timeout=SECONDS, check=False)
    pipe.stdout.close()
    pipe.wait(SECONDS)
    expect(done, 2, "", "[bad-npy]")
    assert time.monotonic() - start < 5, "it read on"
    # As many bytes as the header says, from a pipe.
    with open(f"{folder}/a.npy", "rb") as array:
        done = subprocess.run(f"cat | {grout} run {kernel} --input x={folder}/pipe.npy --output y={folder}/b.npy",
                              shell=True, stdin=array, capture_output=True, text=True, timeout=SECONDS, check=False)
    expect(done, 0)
    assert pathlib.Path(f"{folder}/b.npy").read_bytes() == pathlib.Path(f"{folder}/a.npy").read_bytes()
    # A limit on the size of files.
    large = write(f"{folder}/large.grout", KERNEL.replace("N = 4", "N = 4096"))
    done = subprocess.run(f"ulimit -f 1; {grout} run {large} --output y={folder}/c.npy", shell=True,
                          capture_output=True, text=True, timeout=SECONDS, check=False)
    expect(done, 2, "", "[file-unwritable]")
    assert not [name for name in os.listdir(folder) if name.startswith("c.npy")], os.listdir(folder)


def test_not_reached(folder):
    """The verdict says what the launch did not come to, and which sizes do; nothing if it came to all."""
    small = write(f"{folder}/small.grout", RING)
    done = expect(run("check", small), 0, "  not reached: lines 10, 20-21; %full never came round\n")
    assert f"  to reach more: grout check {small} -D STEPS=9\n" in done.stdout, done.stdout
    more = expect(run("check", small, "-D", "STEPS=5"), 0, "%free never came round\n")
    assert "lines" not in more.stdout, more.stdout
    assert "not reached" not in expect(run("check", small, "-D", "STEPS=9"), 0, "@k: clean").stdout
    report = json.loads(run("check", small, "--format", "json").stdout)
    reached = report["coverage"]["kernels"][0]["not_reached"]
    assert reached == {"lines": [[10, 10], [20, 21]], "barriers_that_never_came_round": ["full"],
                       "buffers_never_filled_again": [], "loops_that_ran_once": [], "proposal": "-D STEPS=9"}, reached
    report = json.loads(run("check", small, "--format", "sarif").stdout)
    assert report["runs"][0]["properties"]["coverage"]["kernels"][0]["not_reached"] == reached, report
    # A run that was cut short says nothing of what it did not reach: it does not know.
    done = expect(run("check", small, "--max-steps", "4"), 3)
    assert "not reached" not in done.stdout, done.stdout
    # Barriers that are used once, a loop of this many turns, and a loop that asks for one phase.
    once = write(f"{folder}/once.grout", ONCE)
    assert "not reached" not in expect(run("check", once), 0, "@k: clean").stdout


def test_used_once(folder):
    """Buffers that were not filled again, and loops that ran once, under every schedule; not those that cannot be."""
    slots = write(f"{folder}/slots.grout", SLOTS)
    schedules = ([], ["--schedule", "random", "--seed", "5"], ["--timing", "eager"], ["--explore"])
    for words in schedules:
        expect(run("check", slots, *words), 0, "  not reached: %s never filled again\n")
        assert "not reached" not in expect(run("check", slots, "-D", "STEPS=5", *words), 0).stdout
    expect(run("check", slots), 0, f"  to reach more: grout check {slots} -D STEPS=5\n")
    reached = json.loads(run("check", slots, "--format", "json").stdout)["coverage"]["kernels"][0]["not_reached"]
    assert reached["buffers_never_filled_again"] == ["s"] and reached["loops_that_ran_once"] == [], reached
    # Each turn has its own place; one copy in a loop that went round.
    own = write(f"{folder}/own.grout", SLOTS.replace("STAGES = 4", "STAGES = STEPS").replace("%i % STAGES", "%i"))
    assert "not reached" not in expect(run("check", own), 0, "@k: clean").stdout
    first = write(f"{folder}/first.grout", SLOTS.replace("    async_copy %x[%i], %s[%i % STAGES]\n", """\
    if (eq %i, 0) {
      async_copy %x[0], %s[0]
    }
""").replace("[%i % STAGES]", "[0]"))
    assert "not reached" not in expect(run("check", first), 0, "@k: clean").stdout
    # Several CTAs: each has its own SMEM, and one that fills a slot again is enough.
    grid = SLOTS.replace("128])\n{",
                         "128]) grid(c = 2)\n{\n  %c = axis_index c").replace("in 0..STEPS", "in %c..STEPS step 2")
    expect(run("check", write(f"{folder}/grid.grout", grid)), 0, "  not reached: %s never filled again\n")
    turn = write(f"{folder}/turn.grout", TURN)
    for words in schedules:
        expect(run("check", turn, *words), 0, "  not reached: the loop at line 5 ran once\n")
        assert "not reached" not in expect(run("check", turn, "-D", "N=2", *words), 0).stdout
    reached = json.loads(run("check", turn, "--format", "json").stdout)["coverage"]["kernels"][0]["not_reached"]
    assert reached["loops_that_ran_once"] == [5] and reached["proposal"] == "-D N=2", reached
    # Two launches of it joined, and its mutant, which the size that is proposed finds.
    assert "not reached" not in expect(run("check", turn, "--sweep", "N=1,2"), 0).stdout
    mutant = write(f"{folder}/mutant.grout", TURN.replace("    block_barrier\n  }\n}", "  }\n}"))
    proposal = expect(run("check", mutant), 0, "ran once").stdout.rpartition(f" {mutant} ")[2].split()
    expect(run("check", mutant, *proposal), 1, "[smem-race]")


def test_proposals(folder):
    """One const by itself, a second size beside the first, or two consts; the smallest that do."""
    pair = write(f"{folder}/pair.grout", PAIR)
    expect(run("check", pair), 0, f"  to reach more: grout check {pair} -D N=5 -D M=4\n")
    assert "not reached" not in expect(run("check", pair, "-D", "N=5", "-D", "M=4"), 0).stdout
    either = write(f"{folder}/either.grout", EITHER)
    done = expect(run("check", either), 0,
                  f"  not reached: line 6\n  to reach more: grout check {either} --sweep N=4,5\n")
    assert "not reached" not in expect(run("check", either, "--sweep", "N=4,5"), 0).stdout, done.stdout
    # After a sweep: its sizes and another one.
    expect(run("check", either, "--sweep", "N=4,6"), 0, f"  to reach more: grout check {either} --sweep N=4,6,7\n")
    # What the call gave stays given.
    text = EITHER.replace("N = 4", "N = 4, M = 1").replace("eq N % 2", "eq (N + M) % 2")
    both = write(f"{folder}/both.grout", text)
    expect(run("check", both, "-D", "M=2"), 0, f"  to reach more: grout check {both} -D M=2 --sweep N=4,5\n")
    # Dead code has no size, and the search for one ends.
    dead = write(f"{folder}/dead.grout", EITHER.replace("eq N % 2, 0", "lt N, 1"))
    start = time.monotonic()
    done = expect(run("check", dead), 0, "  not reached: line 4\n")
    assert "to reach more" not in done.stdout and time.monotonic() - start < 8, done.stdout
    # --budget bounds it too.
    start = time.monotonic()
    expect(run("check", dead, "--budget", "0.1"), 0, "  not reached: line 4\n")
    assert time.monotonic() - start < 1, time.monotonic() - start


def test_mutants_beyond_reach(folder):
    """Mutants of a ring whose mistake the default sizes do not come to: the verdict says so, and the sizes that it
    proposes find them."""
    arrive = "barrier_arrive %free[%i % STAGES]"
    wait = "barrier_wait %free[%i % STAGES]"
    mutations = [(wait, ""), (wait, wait.replace("%i %", "(%i + 1) %")), (wait, wait.replace("free", "full")),
                 (arrive, ""), (arrive, arrive.replace("%i %", "(%i + 1) %")), ("commit_smem", "")]
    sizes = [(2, 2), (3, 2), (3, 3), (4, 2), (4, 4), (5, 3), (6, 6)]
    said = found = 0
    mutants = [(stages, steps, mutation) for mutation in mutations for stages, steps in sizes][:40]
    for stages, steps, (before, after) in mutants:
        assert RING.count(before) == 1, before
        text = RING.replace(before, after).replace("STEPS = 3", f"STEPS = {steps}").replace("STAGES = 4",
                                                                                            f"STAGES = {stages}")
        kernel = write(f"{folder}/mutant.grout", text)
        done = expect(run("check", kernel), 0, "@k: clean")
        if "  not reached: " in done.stdout:
            said += 1
        proposal = done.stdout.rpartition("  to reach more: grout check ")[2].split()[1:]
        # Sizes that reach more may leave something: the next proposal is followed too.
        for _ in range(3):
            if not proposal:
                break
            done = run("check", kernel, *proposal)
            found += done.returncode == 1
            proposal = done.stdout.rpartition("  to reach more: grout check ")[2].split()[1:]
    assert said == len(mutants) and found == len(mutants), f"{len(mutants)} mutants: {said} said, {found} found"


def test_causes_first(folder):
    """What follows from a finding stands under it, in each format; it is a finding of its own where its cause is
    off."""
    kernel = write(f"{folder}/k.grout",
                   pathlib.Path(f"{ROOT}/kernels/bugs/add_tma_one_arrival.grout").read_text(encoding="utf-8"))
    report = json.loads(run("check", kernel, "--format", "json").stdout)
    first, *others = report["findings"]
    assert first["code"] == "barrier-overrun" and "follows_from" not in first, first
    assert len(others) > 5 and {f.get("follows_from") for f in others} == {first["identity"]}, others
    results = json.loads(run("check", kernel, "--format", "sarif").stdout)["runs"][0]["results"]
    assert "properties" not in results[0], results[0]
    assert {r["properties"]["followsFrom"] for r in results[1:]} == {first["identity"]}, results
    text = run("check", kernel).stdout
    assert text.count(": error: ") == 1 and text.count("what follows from it: ") == 1, text
    assert run("check", kernel,
               "-v").stdout.count(": error: ") == sum(f["severity"] == "error" for f in report["findings"])
    text = run("check", kernel, "--severity", "barrier-overrun=off").stdout
    assert ": error: " in text and "[async-not-awaited]" in text, text


def test_strict_fences(folder):
    """The option reaches every checker that a command makes, and no other."""
    text = read_behaviour("by-the-issuer")
    kernel = write(f"{folder}/k.grout", text)
    expect(run("check", kernel), 0, "@k: clean\n")
    done = expect(run("check", kernel, "--strict-fences"), 1, "@k: error, 1 error\n")
    assert "fails under each schedule" in done.stdout, done.stdout
    assert " --strict-fences --schedule fair " in done.stdout, done.stdout
    expect(run("run", kernel, "--check"), 0)
    expect(run("run", kernel, "--check", "--strict-fences"), 1, "[missing-commit-smem]")
    expect(run("check", kernel, "--strict-fences", "--severity", "missing-commit-smem=warning"), 0, "1 warning")
    report = json.loads(run("check", kernel, "--strict-fences", "--format", "json").stdout)
    [found] = report["findings"]
    assert found["severity"] == "error" and found["edit"]["text"] == "commit_smem", found
    assert found["primary"]["line"] < found["related"]["line"], found
    assert "--strict-fences" in report["coverage"]["kernels"][0]["see_it_again"], report["coverage"]
    expect(run("check", kernel, "--strict-fences", "--minimise"), 1, err="minimised missing-commit-smem")
    # Other schedules are judged by the same rule.
    first = [write(f"{folder}/first.grout", FIRST), "--input", "f=zeros", "--strict-fences"]
    expect(run("check", *first, "--no-explore"), 0)
    expect(run("check", *first[:-1], "--explore"), 0)
    expect(run("check", *first, "--explore", cwd=folder), 1, "[missing-commit-smem]")
    # Advice leaves a commit out only if the launch is as strict without it.
    two = write(f"{folder}/two.grout", read_behaviour("by-the-issuer-fixed"))
    assert run("check", two, "--advice").stdout.count("[redundant-commit]") == 2
    assert run("check", two, "--advice", "--strict-fences").stdout.count("[redundant-commit]") == 1


def test_list_replayed(folder):
    """The schedule of a list names its launches, and shows again what only one of them shows."""
    path = f"{ROOT}/tests/behaviour/launches/explored_value.grout"
    kernel = write(f"{folder}/list.grout", "".join(
        line for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines(keepends=True)
        if not line.startswith("//")))
    expect(run("check", kernel), 0, "launch 1 has left to the schedule")
    expect(run("check", kernel, "--explore", cwd=folder), 1, "[out-of-bounds]")
    text = pathlib.Path(f"{folder}/c.schedule").read_text(encoding="utf-8")
    assert "\nlaunch 1\nactors" in text and "kernel" not in text, text
    expect(run("check", kernel, "--replay", f"{folder}/c.schedule"), 1, "[out-of-bounds]")
    write(f"{folder}/bad.schedule", "grout-schedule 1\nlaunch 65\nactors 0\n")
    expect(run("check", kernel, "--replay", f"{folder}/bad.schedule"), 2, "", "'launch' line")


def main(tests):
    global grout
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", required=True, type=os.path.abspath)
    parser.add_argument("tests", nargs="*")
    args = parser.parse_args()
    grout = args.grout
    failures = 0
    for name in args.tests or tests:
        with tempfile.TemporaryDirectory(prefix="grout-verdicts-") as folder:
            os.chdir(folder)  # an exploration writes its schedule where it runs
            try:
                tests[name](folder)
            except AssertionError as error:
                failures += 1
                print(f"{name}: FAILED: {error}")
            os.chdir(ROOT)
    return failures > 0


# It never goes round its ring; the size that does is one of several.
FEW_TURNS = """const %s
kernel @k(%%x: in gmem f32[H, S, D], %%y: out gmem f32[H, S, D]) grid(h = H) threads(wg = 1)
{
  scratch %%s : smem f32[2, B, D]
  scratch %%full : barrier[2]
  %%h = axis_index h
  for %%i in 0..S / B {
    copy_gmem_to_smem %%x[%%h, ds(B * %%i, B)], %%s[%%i %% 2], %%full[%%i %% 2]
    barrier_wait %%full[%%i %% 2]
    store %%y[%%h, ds(B * %%i, B)], (load %%s[%%i %% 2])
    commit_smem
  }
}
"""


def test_proposals_in_any_order(folder):
    """Which const stands first does not matter: each round tries all."""
    for consts in ("S = 16, H = 2, D = 32, B = 8", "H = 2, D = 32, B = 8, S = 16", "B = 8, D = 32, S = 16, H = 2"):
        done = expect(run("check", write(f"{folder}/k.grout", FEW_TURNS % consts)), 0, "@k: clean")
        assert done.stdout.rstrip().endswith(" -D S=24"), done.stdout


# A ring that is right from two slots on: the release comes one turn late. With one slot it hangs.
LATE_RELEASE = """const N = 256, B = 32, STAGES = 4
kernel @ring(%x: in gmem f32[N], %y: out gmem f32[N]) threads(wg = 2)
{
  scratch %s : smem f32[STAGES, B]
  scratch %full : barrier[STAGES]
  scratch %empty : barrier[STAGES]
  if (eq (axis_index wg), 0) {
    for %i in 0..N / B {
      if (ge %i, STAGES) {
        barrier_wait %empty[%i % STAGES]
      }
      copy_gmem_to_smem %x[ds(B * %i, B)], %s[%i % STAGES], %full[%i % STAGES]
    }
  } else {
    for %i in 0..N / B {
      barrier_wait %full[%i % STAGES]
      store %y[ds(B * %i, B)], (load %s[%i % STAGES])
      commit_smem
      if (gt %i, 0) {
        barrier_arrive %empty[(%i - 1) % STAGES]
      }
    }
  }
}
"""


def test_minimise_stays(folder):
    """The smallest size shows the mistake, and the kernel without it is clean there."""
    right, wrong = write(f"{folder}/right.grout", LATE_RELEASE), f"{folder}/wrong.grout"
    write(wrong, LATE_RELEASE.replace("gt %i, 0", "gt %i, 3"))
    expect(run("check", right), 0, "@ring: clean")
    expect(run("check", right, "-D", "STAGES=1"), 1, "[deadlock]")
    done = expect(run("check", wrong, "--minimise"), 1, "[deadlock]")
    words = done.stderr.split(":")[1].split()
    assert "STAGES=2" in words, done.stderr
    expect(run("check", right, *words), 0, "@ring: clean")


if __name__ == "__main__":
    sys.exit(main({name[5:]: function for name, function in globals().items() if name.startswith("test_")}))
