"""Tests of results from outside: arrays against files and who wrote what differs, and the files of schedules, and
progress.

usage: run_results.py --grout PATH [TEST...]     every test by default
"""
import fcntl
import json
import os
import pathlib
import pty
import signal
import struct
import subprocess
import sys
import termios
import time

sys.dont_write_bytecode = True  # the folder is a source tree
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import run_cli
import run_verdicts as verdicts
from run_verdicts import expect, run, write

# Four CTAs of two threads, each of which writes eight elements.
TILES = """const N = 64
const B = 16
kernel @k(%x: in gmem f32[N] init(arange), %y: out gmem f32[N]) grid(b = N / B) threads(wg = 2) {
  %at = add (mul (axis_index b), B), (mul (axis_index wg), B / 2)
  store %y[ds(%at, B / 2)], (add (load %x[ds(%at, B / 2)]), 1)
}
"""
# Who writes %y last depends on when the copy lands.
LATE = """kernel @k(%y: out gmem f32[64]) {
  scratch %s : smem f32[64]
  store %s, (broadcast 1.0 : f32[64])
  commit_smem
  copy_smem_to_gmem %s, %y
  store %y, (broadcast 2.0 : f32[64])
  wait_smem_to_gmem 0
}
"""
# The CTA that takes the lock last writes out of bounds, or at a place that nothing else writes: CTA 0 and CTA 1 each in
# a schedule of its own.
ORDERS = """kernel @k(%lock: inout gmem i32[1] init(zeros), %y: out gmem i32[8]) grid(g = 3) {
  %g = axis_index g
  %old = atomic_fetch_add %lock[0], 1 order(acq_rel)
  %late = eq %old, 2
  if (and %late, (eq %g, 0)) {
    store %y[%g + 8], 1
  }
  if (and %late, (eq %g, 1)) {
    store %y[%g + 9], 1
  }
  store %y[%g], %g
}
"""
# Takes long at N, and shows a race from 1000 turns on: with --minimise it gets smaller step by step.
SLOW = """const N = 60000
kernel @k(%y: out gmem i32[2]) threads(wg = 2) {
  scratch %s : smem i32[1]
  commit_smem
  %w = axis_index wg
  for %i in 0..N {
    RACE
    if (eq %i, 123456789) {
      store %y[0], 1
    }
  }
  commit_smem
  store %y[%w], %w
}
"""
RACE = """if (gt %i, 1000) {
      store %s[0], %w
    }"""


def write_floats(path, values):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(values)},), }}\n".encode()
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header +
                   struct.pack(f"<{len(values)}f", *values))
    return path


def report_of(*words, code):
    """The JSON report, which the schema describes."""
    report = json.loads(expect(run(*words, "--format", "json"), code).stdout)
    with open(f"{verdicts.ROOT}/docs/grout-report-1.schema.json", encoding="utf-8") as file:
        schema = json.load(file)
    run_cli.check_schema(report, schema, schema)
    return report


# ---- the tests: functions of a folder that is empty at first -----------------------------------------

def test_difference(folder):
    """How far, where, whose CTAs, and the last write; above a verdict that says it too."""
    kernel = write(f"{folder}/k.grout", TILES)
    right = [float(i + 1) for i in range(64)]
    own = write_floats(f"{folder}/own.npy", right[:16] + [v + 2 for v in right[16:32]] + right[32:])
    done = expect(run("check", kernel, "--expect-output", f"y={own}"), 1, "16 of 64 elements differ [compare-mismatch]")
    for words in (("the largest difference is 2, at [16]; the largest relative to the expected value is 0.105, at "
                  "[16]\n"), "all that differ lie in '%y'[16:32], and every element there differs\n",
                  "CTA (b=1), one of 4, wrote them and nothing else\n",
                  "the last write of '%y'[16], by CTA (b=1), thread wg=0\n",
                  f"\n@k: clean of races, but %y differs from '{own}'\n"):
        assert words in done.stdout, (words, done.stdout)
    assert done.stdout.index("[compare-mismatch]") < done.stdout.index("\n@k:"), done.stdout
    report = report_of("check", kernel, "--expect-output", f"y={own}", code=1)
    assert report["verdict"] == "error", report["verdict"]
    facts = report["findings"][0]["difference"]
    assert facts["differing"] == 16 and facts["box"] == [[16, 32]] and facts["largest"] == {"value": 2.0, "at": [16]}
    assert facts["ctas"] == [{"cta": "CTA (b=1)", "elements_written": 16, "elements_differing": 16}], facts
    assert facts["last_write"]["where"] == "CTA (b=1), thread wg=0" and facts["last_write"]["place"]["line"] == 5, facts
    assert facts["against"] == own and facts["ctas_writing"] == 4 and facts["unwritten"] == 0, facts
    log = json.loads(run("check", kernel, "--expect-output", f"y={own}", "--format", "sarif").stdout)
    assert log["runs"][0]["results"][0]["properties"]["difference"] == facts, log["runs"][0]["results"]
    # Parts of tiles, and NaN and infinity in words.
    odd = list(right)
    odd[3], odd[40], odd[9], odd[61] = float("nan"), float("inf"), 12.0, 0.0
    odd = write_floats(f"{folder}/odd.npy", odd)
    done = expect(run("check", kernel, "--expect-output", f"y={odd}"), 1, "'%y'[3:62], which has 59 elements\n")
    for words in (("the largest difference is 62, at [61]; the largest relative to the expected value is 0.167, at "
                  "[9]\n"),
                  "1 element is a number where NaN is expected; 1 element is infinite on one side, or with the other",
                  "CTA (b=0), CTA (b=2), CTA (b=3), 3 of 4, wrote them\n",
                  "the last write of '%y'[3], by CTA (b=0), thread wg=0\n"):
        assert words in done.stdout, (words, done.stdout)
    one = write_floats(f"{folder}/one.npy", [0.0] + right[1:])
    done = expect(run("check", kernel, "--expect-output", f"y={one}"), 1,
                  "one of 4, wrote them, and 15 that do not differ\n")
    assert "relative" not in done.stdout and "lie in" not in done.stdout, done.stdout
    # Within a tolerance there is nothing to say.
    assert "@k: clean\n" in expect(run("check", kernel, "--expect-output", f"y={own}", "--atol", "2"), 0).stdout


def test_words(folder):
    """What nothing wrote, what a copy that lands late wrote, and the verdict's line in other reports."""
    kernel = write(f"{folder}/k.grout", TILES)
    right = write_floats(f"{folder}/right.npy", [float(i + 1) for i in range(64)])
    half = write(f"{folder}/half.grout", TILES.replace("grid(b = N / B)", "grid(b = N / B / 2)"))
    done = expect(run("check", half, "--expect-output", f"y={right}"), 1, "nothing wrote 32 of them\n")
    assert "the last write" not in done.stdout, done.stdout
    assert f"@k: clean of races, 1 warning, but %y differs from '{right}'\n" in done.stdout, done.stdout
    # An asynchronous write counts from when it lands.
    late = write(f"{folder}/late.grout", LATE)
    zeros = write_floats(f"{folder}/zeros.npy", [0.0] * 64)
    for timing, value, line in (("lazy", 1, 5), ("eager", 2, 6)):
        report = report_of("run", late, "--timing", timing, "--expect-output", f"y={zeros}", code=1)
        facts = report["findings"][0]["difference"]
        assert facts["largest"]["value"] == value and facts["last_write"]["place"]["line"] == line, (timing, facts)
    done = expect(run("check", late, "--expect-output", f"y={zeros}"), 1)
    assert f", and %y differs from '{zeros}'\n" in done.stdout and "@k: error, 1 error" in done.stdout, done.stdout
    # --explore compares what the last schedule left, --sweep each size.
    done = expect(run("check", kernel, "--expect-output", f"y={zeros}", "--explore"), 1,
                  "all that the CTAs wrote differs\n")
    assert f"@k: clean of races, but %y differs from '{zeros}'\n" in done.stdout, done.stdout
    done = expect(run("check", kernel, "--expect-output", f"y={zeros}", "--sweep", "B=16,32"), 1,
                  "@k: clean of races, but its results differ\n")
    assert f"  B=16: clean of races, but %y differs from '{zeros}'; grid(b=4)" in done.stdout, done.stdout
    assert "holds for every schedule" in done.stdout, done.stdout


def test_schedules(folder):
    """A file for each schedule that shows a finding, named by the report; none is lost."""
    kernel = write(f"{folder}/k.grout", ORDERS)
    words = ["check", kernel, "--explore", "--severity", "output-not-written=off"]
    done = expect(run(*words, cwd=folder), 1, "@k: error, 2 errors")
    assert sorted(os.listdir(folder)) == ["k.2.schedule", "k.grout", "k.schedule"], os.listdir(folder)
    assert "replaced" not in done.stderr, done.stderr
    for name, _line in (("k.schedule", 0), ("k.2.schedule", 1)):
        assert done.stdout.count(f"--replay {name} ") == 1, done.stdout
    places = [line for line in done.stdout.splitlines() if "[out-of-bounds]" in line]
    assert len(places) == 2 and places[0] != places[1], places
    for name, place in zip(("k.schedule", "k.2.schedule"), places):
        again = expect(run("check", kernel, "--replay", name, cwd=folder), 1, place)
        assert [line for line in again.stdout.splitlines() if "[out-of-bounds]" in line] == [place], again.stdout
    # The same files again are no news, another schedule in their place is.
    assert "replaced" not in expect(run(*words, cwd=folder), 1).stderr
    write(f"{folder}/k.2.schedule", "grout-schedule 1\nkernel @k\n")
    expect(run(*words, cwd=folder), 1, "", "replaced the schedule in k.2.schedule\n")
    # What is no schedule stays; the first file is written all the same.
    write(f"{folder}/k.2.schedule", "mine")
    done = run(*words, cwd=folder)
    assert "the schedule would overwrite 'k.2.schedule', which is not a schedule" in done.stdout + done.stderr, done
    assert pathlib.Path(f"{folder}/k.2.schedule").read_text(encoding="utf-8") == "mine"
    assert "--replay k.schedule" in done.stdout and "--replay k.2.schedule" not in done.stdout, done.stdout
    # --save-schedule gives the name; the number goes before the extension.
    done = expect(run(*words, "--save-schedule", f"{folder}/v1.0/a", cwd=folder), 2)
    os.mkdir(f"{folder}/v1.0")
    for name, second in (("a", "a.2"), ("b.txt", "b.2.txt")):
        done = expect(run(*words, "--save-schedule", f"{folder}/v1.0/{name}"), 1, f"--replay {folder}/v1.0/{name} ")
        assert f"--replay {folder}/v1.0/{second} " in done.stdout, done.stdout
    assert sorted(os.listdir(f"{folder}/v1.0")) == ["a", "a.2", "b.2.txt", "b.txt"]
    # Two kernels in one file, each with a schedule to save.
    both = write(f"{folder}/both.grout",
                 TILES.replace("const", "const", 1) + TILES.split("\n", 2)[2].replace("@k", "@l"))
    expect(run("check", both, "--save-schedule", f"{folder}/s"), 0, "", f"wrote {folder}/s.2\n")
    assert "kernel @k\n" in pathlib.Path(f"{folder}/s").read_text(encoding="utf-8")
    assert "kernel @l\n" in pathlib.Path(f"{folder}/s.2").read_text(encoding="utf-8")


def run_on_terminal(words, until, columns=100):
    """Output on a terminal that is so wide, and the exit code. Sends Ctrl-C once the text is there."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # what is ignored here, grout ignores too
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    process = subprocess.Popen([verdicts.grout, *words], stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs)
    os.close(theirs)
    out, is_sent, end = "", False, time.monotonic() + verdicts.SECONDS
    while time.monotonic() < end:
        try:
            data = os.read(ours, 65536)
        except OSError:  # Linux: the other side is closed
            data = b""
        if not data:
            break
        out += data.decode(errors="replace")
        if until in out and not is_sent:
            process.send_signal(signal.SIGINT)
            is_sent = True
    os.close(ours)
    return out, process.wait(timeout=verdicts.SECONDS)


def count_turns(kernel, seconds):
    """Turns of the kernel's loop that take about so long on this machine, in this build."""
    turns = 100000
    while True:
        start = time.monotonic()
        expect(run("check", kernel, "-D", f"N={turns}", "-q"), 0)
        passed = time.monotonic() - start
        if passed > seconds / 8:
            return int(turns * seconds / passed)
        turns *= 2


def test_progress(folder):
    """What takes long says on the terminal how far it is; Ctrl-C ends it with what is known."""
    locks = write(f"{folder}/locks.grout", verdicts.LOCKS.replace("g = 8", "g = 12").replace("i32[8]", "i32[12]"))
    # Late enough that shrinking it takes longer than the first line does to come.
    racy = write(f"{folder}/racy.grout", SLOW.replace("RACE", RACE).replace("1000", "30000"))
    calm = write(f"{folder}/calm.grout", SLOW.replace("RACE", "%z = add %i, 1"))
    shrunk = "minimising: trial "
    cases = [(["check", locks, "--explore", "--input", "lock=zeros", "--budget", "60"], " schedules run, 0 fail, ",
              "schedules explored: Ctrl-C or another signal ended the run"),
             (["check", racy, "--minimise", "--budget", "60"], shrunk, "minimised smem-race in "),
             (["check", calm, "--advice", "-D", f"N={count_turns(calm, 3)}", "--budget", "60"], "looking for advice",
              "Ctrl-C or another signal ended"),
             (["check", calm, "--sweep", "N=1,20000000,30000000", "--budget", "60"], "size 2 of 3 (N=20000000)",
              "  N=30000000: not run: ")]
    for words, until, result in cases:
        out, code = run_on_terminal(words, until)
        lines = out.replace("\r\n", "\n")
        assert code == 130, (words, code, out)
        assert f"\r{until}" in lines or until == " schedules run, 0 fail, ", (words, out)
        assert result in lines and until in lines, (words, result, out)
        # The line is wiped before anything else is written, and never wraps.
        assert "\r\x1b[K" in lines and "left\n" not in lines, (words, out)
    narrow, _ = run_on_terminal(cases[0][0], " schedules run", columns=30)
    drawn = [part.split("\x1b[K")[0] for part in narrow.split("\r") if " schedules run" in part]
    assert drawn and all(len(part) < 30 for part in drawn), drawn
    # Without a terminal there is no line.
    assert "size" not in expect(run("check", calm, "--sweep", "N=1,300000", "--timeout", "3", "-q"), 0).stderr


if __name__ == "__main__":
    sys.exit(verdicts.main({name[5:]: function for name, function in globals().items() if name.startswith("test_")}))
