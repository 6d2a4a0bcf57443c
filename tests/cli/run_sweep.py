"""Tests of 'grout check --sweep' from outside: one report of several sizes.

usage: run_sweep.py --grout PATH [TEST...]     every test by default
"""
import json
import os
import pathlib
import sys

sys.dont_write_bytecode = True  # the folder is a source tree
import run_cli
import run_verdicts as verdicts
from run_verdicts import RING, expect, run, write

# A slot is written again before it was read, once there are more steps than slots.
RACY = """const STEPS = 8, SLOTS = 3
kernel @k(%x: in gmem f32[STEPS, 8], %y: out gmem f32[STEPS, 8]) threads(wg = 2)
{
  scratch %q : smem f32[SLOTS, 8]
  scratch %made : barrier[STEPS]
  for %i in 0..STEPS {
    if (eq (axis_index wg), 0) {
      store %q[%i % SLOTS], (load %x[%i])
      barrier_arrive %made[%i]
    } else {
      barrier_wait %made[%i]
      store %y[%i], (load %q[%i % SLOTS])
    }
  }
}
"""
# Two branches that no size takes together.
PARITY = """const N = 4
kernel @k(%y: out gmem i32[N]) {
  if (eq N % 2, 0) {
    store %y, (broadcast 1 : i32[N])
  } else {
    store %y, (broadcast 2 : i32[N])
  }
}
"""
ENDLESS = """const N = 2147483647
kernel @k(%y: out gmem i32[1]) {
  %a = while carry(%s = 0) {
    cond (lt %s, N)
  } do {
    yield (add %s, 1)
  }
  store %y[0], %a
}
"""
TWO = """const N = 2
kernel @a(%y: out gmem i32[N]) {
  store %y, (broadcast 1 : i32[N])
}
kernel @b(%y: out gmem i32[N]) threads(wg = 2) {
  scratch %s : smem i32[4]
  store %s[N - 1], (axis_index wg)
  store %y, (broadcast (axis_index wg) : i32[N])
}
"""


def report_of(*words, code):
    """The JSON report, which the schema describes."""
    report = json.loads(expect(run("check", *words, "--format", "json"), code).stdout)
    with open(f"{verdicts.ROOT}/docs/grout-report-1.schema.json", encoding="utf-8") as file:
        schema = json.load(file)
    run_cli.check_schema(report, schema, schema)
    return report


# ---- the tests: functions of a folder that is empty at first -----------------------------------------

def test_findings(folder):
    """A finding comes once, with its sizes, as the smallest of them shows it; the others are in the summary."""
    kernel = write(f"{folder}/k.grout", RACY)
    done = expect(run("check", kernel, "--sweep", "STEPS=9,2,4,8"), 1, "@k: error, 1 error\n")
    assert done.stdout.count("[smem-race]") == 1, done.stdout
    assert "  at STEPS=4; STEPS=8; STEPS=9\n" in done.stdout, done.stdout
    again = f"grout check {kernel} -D STEPS=4 --schedule fair --timing lazy"
    assert f"see it again: {again}\n" in done.stdout and done.stdout.count("see it again") == 1, done.stdout
    lines = ["  STEPS=2: clean; threads(wg=2); holds for every schedule and timing", "  STEPS=4: error; threads(wg=2)",
             "  STEPS=8: error; threads(wg=2)", "  STEPS=9: error; threads(wg=2)"]
    assert "\n".join(lines) + "\n  covered: 4 of 4 sizes; inputs %x: ints; fair schedule" in done.stdout, done.stdout
    assert "launches" not in done.stdout, done.stdout
    # The command shows the same finding.
    words = again.split()[1:]
    assert done.stdout.split("\n", 1)[0] == expect(run(*words), 1).stdout.split("\n", 1)[0]
    # Several: every combination, the last one fastest; the others by -D.
    done = expect(run("check", kernel, "--sweep", "STEPS=3,2", "--sweep", "SLOTS=2,1", "-q"), 1)
    assert "  at STEPS=2, SLOTS=1; STEPS=3, SLOTS=1; STEPS=3, SLOTS=2\n" in done.stdout, done.stdout
    assert "@k" not in done.stdout, done.stdout
    done = expect(run("check", kernel, "--sweep", "STEPS=8,2", "-D", "SLOTS=8"), 0,
                  "  covered: 2 of 2 sizes; SLOTS=8 (-D); inputs %x: ints; fair schedule, lazy timing\n"
                  "  holds for every schedule and timing of these 2 launches with these inputs\n")
    # At most this many are listed, and all count; what is silenced is counted.
    expect(run("check", kernel, "--sweep", "STEPS=2,8", "--severity", "smem-race=off"), 0, "@k: clean, 1 silenced")
    lowered = run("check", kernel, "--sweep", "STEPS=2,8", "--severity", "smem-race=warning")
    assert "STEPS=8: warning; " in expect(lowered, 0, "@k: warning, 1 warning").stdout, lowered.stdout
    two = write(f"{folder}/two.grout", RACY.replace("  for", "  store %q[0, 0], 1.0\n  for"))
    done = expect(run("check", two, "--sweep", "STEPS=2,8", "--max-findings", "1"), 1, " past --max-findings\n")
    assert done.stdout.count(": error: ") == 1, done.stdout
    # A file of two kernels: a report for each.
    both = write(f"{folder}/both.grout", TWO)
    done = expect(run("check", both, "--sweep", "N=2,3"), 1, "@a: clean\n")
    assert "@b: error, 2 errors" in done.stdout and "--kernel @b -D N=2" in done.stdout, done.stdout
    expect(run("check", both, "--sweep", "N=2,3", "--kernel", "@a"), 0, "of these 2 launches")


def test_formats(folder):
    """JSON, SARIF and annotations say the same."""
    kernel = write(f"{folder}/k.grout", RACY)
    words = [kernel, "--sweep", "STEPS=2,4,8"]
    report = report_of(*words, code=1)
    assert report["verdict"] == "error" and len(report["findings"]) == 1, report
    finding = report["findings"][0]
    assert finding["sizes"] == ["STEPS=4", "STEPS=8"] and "-D STEPS=4" in finding["see_it_again"], finding
    sizes = [(s["binding"], s["verdict"], s["holds_for_every_schedule"]) for s in report["sweep"]]
    assert sizes == [({"STEPS": 2}, "clean", True), ({"STEPS": 4}, "error", False),
                     ({"STEPS": 8}, "error", False)], sizes
    whole = report["coverage"]["kernels"]
    assert len(whole) == 1 and whole[0]["launches"] == 3 and not whole[0]["holds_for_every_schedule"], whole
    assert report["coverage"]["defines"] == {}, report["coverage"]
    sarif = json.loads(expect(run("check", *words, "--format", "sarif"), 1).stdout)["runs"][0]
    assert sarif["properties"]["sweep"] == report["sweep"], sarif
    assert sarif["results"][0]["properties"]["sizes"] == ["STEPS=4", "STEPS=8"], sarif
    assert sarif["results"][0]["message"]["text"].endswith("\n\nat STEPS=4, STEPS=8"), sarif
    notes = expect(run("check", *words, "--format", "github"), 1).stdout.split("\n")
    assert notes[0].startswith("::error file=") and notes[0].endswith("%0Aat STEPS=4; STEPS=8"), notes
    # All of it again, clean: the promise is that of all launches.
    report = report_of(kernel, "--sweep", "STEPS=2,3", "-D", "SLOTS=4", code=0)
    assert report["coverage"]["kernels"][0]["holds_for_every_schedule"] is True, report
    assert report["coverage"]["defines"] == {"SLOTS": 4}, report


def test_coverage(folder):
    """'not reached' names what no size reached, and nothing if a size is missing or wrong."""
    kernel = write(f"{folder}/k.grout", PARITY)
    expect(run("check", kernel, "--sweep", "N=4,6"), 0, "  not reached: line 6\n")
    report = report_of(kernel, "--sweep", "N=4,6", code=0)
    assert report["coverage"]["kernels"][0]["not_reached"]["lines"] == [[6, 6]], report
    expect(run("check", kernel, "--sweep", "N=3,5"), 0, "  not reached: line 4\n")
    assert "not reached" not in expect(run("check", kernel, "--sweep", "N=4,5"), 0, "@k: clean").stdout
    ring = write(f"{folder}/ring.grout", RING)
    expect(run("check", ring, "--sweep", "STEPS=3,4"), 0, "  not reached: lines 10, 20-21; %full never came round\n")
    expect(run("check", ring, "--sweep", "STEPS=3,5"), 0, "  not reached: %free never came round\n")
    assert "not reached" not in expect(run("check", ring, "--sweep", "STEPS=3,9"), 0).stdout
    assert "not reached" not in expect(run("check", ring, "--sweep", "STEPS=0,3"), 2).stdout


def test_bad_sizes(folder):
    """An invalid size, or one that an input does not fit, is an error that names it; the others are run."""
    kernel = write(f"{folder}/k.grout", RACY)
    done = expect(run("check", kernel, "--sweep", "STEPS=8,0,2"), 2, "[bad-dimension]")
    assert "  at STEPS=0\n" in done.stdout and "[smem-race]" in done.stdout, done.stdout
    assert "  STEPS=0: invalid\n  STEPS=2: clean;" in done.stdout, done.stdout
    report = report_of(kernel, "--sweep", "STEPS=8,0,2", code=2)
    assert report["verdict"] == "invalid" and [s["verdict"] for s in report["sweep"]] == ["invalid", "clean", "error"]
    # No size at all.
    done = expect(run("check", kernel, "--sweep", "STEPS=0,-1"), 2, "  at STEPS=-1\n")
    assert "  at STEPS=0\n" in done.stdout, done.stdout
    assert report_of(kernel, "--sweep", "STEPS=0", code=2)["verdict"] == "invalid"
    # A file binds STEPS; the sweep wins, and its shape fits one size only.
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 8), }\n"
    array = write(f"{folder}/x.npy", "\x93NUMPY\x01\x00" + chr(len(header)) + "\x00" + header + 64 * "\x00")
    done = expect(run("check", kernel, "--sweep", "STEPS=2,4", "--input", f"x={array}"), 2, "  STEPS=2: clean;")
    assert "[shape-conflict]\n" in done.stdout + done.stderr, (done.stdout, done.stderr)
    assert "\n  at STEPS=4\n" in done.stdout + done.stderr and "  STEPS=4: invalid\n" in done.stdout, done.stdout


def test_usage(folder):
    """What --sweep does not take."""
    kernel = write(f"{folder}/k.grout", RACY)
    for value in ("STEPS", "STEPS=", "=3", "STEPS=2,,3", "STEPS=2,", "STEPS=x", "STEPS=2,2", "STEPS=16,0x10",
                  "STEPS=nan"):
        expect(run("check", kernel, "--sweep", value), 2, "", "[bad-option]")
    expect(run("check", kernel, "--sweep", "STEPS=2,2"), 2, "", "--sweep gives STEPS the value 2 twice")
    expect(run("check", kernel, "--sweep", "STEPS=2", "--sweep", "STEPS=3"), 2, "", "two --sweep of STEPS")
    expect(run("check", kernel, "--sweep", "STEPS=2", "-D", "STEPS=3"), 2, "", "-D STEPS=3 and --sweep STEPS")
    done = expect(run("check", kernel, "--sweep", "STEPZ=2,3"), 2)
    text = done.stdout + done.stderr
    assert text.count("--sweep gives 'STEPZ'") == 1 and "did you mean 'STEPS'?" in text, text
    many = ",".join(str(i) for i in range(1, 34))
    expect(run("check", kernel, "--sweep", f"STEPS={many}", "--sweep", f"SLOTS={many}"), 2, "", "more than 1024 sizes")
    for option in (["--output", f"y={folder}/y.npy"], ["--inout", "y=a.npy:b.npy"], ["--minimise"],
                   ["--replay", f"{folder}/k.schedule"], ["--save-schedule", f"{folder}/k.schedule"]):
        expect(run("check", kernel, "--sweep", "STEPS=2", *option), 2, "", f"{option[0]} is for one run")
        expect(run("check", kernel, "--seeds", "2", *option), 2, "", f"{option[0]} is for one run, and --seeds")
    assert os.listdir(folder) == ["k.grout"], os.listdir(folder)
    expect(run("run", kernel, "--sweep", "STEPS=2"), 2, "", "it is an option of 'grout check'")


def test_time(folder):
    """--budget and --timeout are for all sizes together; what is not run is listed."""
    kernel = write(f"{folder}/k.grout", ENDLESS)
    for option in ("--budget", "--timeout"):
        done = expect(run("check", kernel, "--sweep", "N=1,2147483647,2147483646,2", option, "0.3"), 3,
                      "@k: incomplete\n  N=1: clean;")
        over = f"the time was over ({option})"
        incomplete = f"  N=2147483646: incomplete; one CTA of one thread; the run is incomplete: {over}\n"
        assert incomplete in done.stdout, done.stdout
        assert f"  N=2147483647: not run: {over}\n  covered: 3 of 4 sizes" in done.stdout, done.stdout
        assert "holds for every schedule and timing of" not in done.stdout, done.stdout
    report = report_of(kernel, "--sweep", "N=1,2147483647,2147483646", "--budget", "0.3", code=3)
    assert report["verdict"] == "incomplete" and "(--budget)" in report["sweep"][2]["not_run"], report
    # What was found before stays.
    racy = write(f"{folder}/racy.grout", ENDLESS.replace("[1])", "[1]) threads(wg = 2)")
                 .replace("store %y[0], %a", "store %y[0], (add %a, (axis_index wg))"))
    expect(run("check", racy, "--sweep", "N=1,2147483647", "--budget", "0.3"), 1, "[gmem-race]")


def test_schedules(folder):
    """--explore, --expect and other options go with a sweep."""
    kernel = write(f"{folder}/k.grout", RACY)
    marked = write(f"{folder}/marked.grout",
                   RACY.replace("(load %x[%i])\n", "(load %x[%i]) // expect-error: smem-race\n"))
    expect(run("--all-timings", "--seeds", "2", marked, "--sweep", "STEPS=2,8", program="grout-expect"), 0, ": ok")
    expect(run("check", marked, "--expect", "--sweep", "STEPS=2,3"), 1, "is expected, but was not found")
    expect(run("check", marked, "--expect", "--sweep", "STEPS=0,8"), 1, "bad-dimension is not expected")
    line = write(f"{folder}/line.grout",
                 "// run: --sweep STEPS=2,8\n" + pathlib.Path(marked).read_text(encoding="utf-8"))
    expect(run("check", line, "--expect"), 0, ": ok")
    expect(run("check", line, "--expect", "-D", "STEPS=2"), 1, "-D STEPS=2 and --sweep STEPS")
    done = expect(run("check", kernel, "--sweep", "STEPS=2,8", "--schedule", "random", "--seed", "3"), 1,
                  "random schedule")
    assert "-D STEPS=8 --schedule random --timing lazy --seed 3\n" in done.stdout, done.stdout
    locks = write(f"{folder}/locks.grout", "const G = 2\n" + verdicts.LOCKS.replace("g = 8", "g = G"))
    done = expect(run("check", locks, "--sweep", "G=1,2", "--explore", "--input", "lock=zeros", cwd=folder), 0,
                  "@k: clean")
    assert "  holds for every schedule of these 2 launches with these inputs" in done.stdout, done.stdout
    # A schedule of each size: none takes the file of another.
    lost = verdicts.LOCKS.replace("g = 8", "g = G").replace("%y[%g], %g", "%y[%g + 8 * %late], %g").replace(
        "  store", "  %late = cast (and (eq %g, 0), (eq %old, 1)) : i32\n  store")
    lost = write(f"{folder}/lost.grout", "const G = 2\n" + lost)
    done = expect(run("check", lost, "--sweep", "G=1,2,3", "--explore", "--input", "lock=zeros", cwd=folder), 1)
    assert "--replay k.G-2.schedule" in done.stdout and os.path.exists(f"{folder}/k.G-2.schedule"), done.stdout


if __name__ == "__main__":
    tests = {name[5:]: function for name, function in globals().items() if name.startswith("test_")}
    sys.exit(verdicts.main(tests))
