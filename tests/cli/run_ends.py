#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What ends a call: --timeout and signals, whatever it does then (docs/cli.md, "What ends a call").

usage: run_ends.py --grout PATH [TEST...]     every test by default

A call may take CPU_SECONDS of processor beyond its time. That is far more than it takes, so that a slow machine fails
no test, and far less than the work that is cut. tests/hostile/ends.py ends each command in each phase.
"""
import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # the folder is a source tree
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import run_cli
from limit import SECONDS

grout = None
INCOMPLETE, TERMINATED = 3, 143
CPU_SECONDS = 10
SCHEMA = os.path.join(run_cli.DOCS, "grout-report-1.schema.json")
STORE = "kernel @k(%x: in gmem i32[16384], %y: out gmem i32[16384])\n{\n  store %y, (load %x)\n}\n"


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def get_cpu_seconds():
    """The time of the calls so far: what other processes do at the same time does not count."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def end(words, code, part, begun=None, **how):
    """Runs grout to its end, or sends SIGTERM once begun() is true: exit code, and a part of what it says."""
    process = subprocess.Popen([grout, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **how)
    if begun is not None:
        begun(process)
        process.send_signal(signal.SIGTERM)
    out = process.communicate(timeout=SECONDS)[0]
    assert process.returncode == code, (words, process.returncode, out)
    assert part in out, (words, out)
    return out


def catches(process):
    """Waits until the process notes SIGTERM: an earlier one would end it at once."""
    mask = 1 << signal.SIGTERM - 1
    while True:
        with open(f"/proc/{process.pid}/status", encoding="utf-8") as file:
            caught = [line for line in file if line.startswith("SigCgt:")]
        if caught and int(caught[0].split()[1], 16) & mask:
            return
        time.sleep(0.005)


def test_pipes(folder):
    """A pipe without a writer, a writer that says nothing, a pipe without a reader, and one that is not read."""
    pipe, npy, kernel = f"{folder}/pipe", f"{folder}/pipe.npy", write(f"{folder}/k.grout", STORE)
    os.mkfifo(pipe)
    os.mkfifo(npy)
    for words in (["check", pipe], ["run", pipe], ["fix", pipe], ["emit", pipe], ["fmt", pipe],
                  ["check", "--expect", pipe], ["check", "--minimise", pipe], ["check", "--sweep", "N=1,2", pipe],
                  ["check", kernel, "--input", f"x={npy}"], ["check", kernel, "--suppress", pipe],
                  ["check", kernel, "--baseline", pipe], ["check", kernel, "--replay", pipe]):
        name = npy if npy in words[-1] else pipe
        end([*words, "--timeout", "0.1"], INCOMPLETE, f"error: the time was over while '{name}' was read [time-limit]")
    end(["check", pipe], TERMINATED, f"error: interrupted while '{pipe}' was read [interrupted]", catches)
    silent, kept = os.pipe()
    end(["check", "-", "--timeout", "0.1"], INCOMPLETE, "the time was over while '-' was read", stdin=silent)
    end(["check", "-"], TERMINATED, "interrupted while '-' was read", catches, stdin=silent)
    os.close(silent)
    os.close(kept)
    words = ["run", kernel, "--output", f"y={npy}", "--timeout", "0.1"]
    end(words, INCOMPLETE, f"the time was over while '{npy}' was written")
    reader = os.open(npy, os.O_RDONLY | os.O_NONBLOCK)
    # What is not read does not fit into the pipe.
    large = write(f"{folder}/large.grout", STORE.replace("16384", "1048576"))
    # The run itself has to end in time, on a busy machine too.
    end([*words[:1], large, *words[2:-1], "3"], INCOMPLETE, f"the time was over while '{npy}' was written")
    os.close(reader)
    # A writer that comes late is waited for.
    late = subprocess.Popen([grout, "check", pipe, "--timeout", str(SECONDS)], stdout=subprocess.PIPE, text=True)
    catches(late)
    write(pipe, STORE)
    assert "@k: clean" in late.communicate(timeout=SECONDS)[0]


def test_fix(folder):
    """Proposals are made beside the findings, so that a long file takes no longer than it takes to read it."""
    lines = 100000
    text = 'require 1 == 1, "a"\n' * lines + "kernel @k(%x: in gmem f32[64], %y: out gmem f32[64])\n{\n}\n"
    start = get_cpu_seconds()
    end(["fix", "--diff", "--budget", "0.5", write(f"{folder}/k.grout", text)], 1, "1 finding is left")
    assert get_cpu_seconds() - start < CPU_SECONDS, get_cpu_seconds() - start


def test_searches(folder):
    """No change helps, and there are some to try for each line: of many warnings, and of a text with many errors."""
    lines = 300
    head = "kernel @k(%y: inout gmem i32[64])\n{\n"
    warnings = head + "".join(f"  scratch %u{i} : semaphore[1] global\n" for i in range(lines)) \
        + "".join(f"  semaphore_signal %u{i}[0], 1\n" for i in range(lines)) + "}\n"
    errors = head + "".join(f"  stor{i} %y[0], 1\n" for i in range(10 * lines)) + "}\n"
    for name, text, code, part in (("warnings", warnings, 1, "the time was over (--budget, --timeout)"),
                                   ("errors", errors, 2, "unknown-op")):
        start, wall = get_cpu_seconds(), time.monotonic()
        end(["fix", "--diff", "--budget", "0.5", write(f"{folder}/{name}.grout", text)], code, part)
        assert time.monotonic() - wall >= 0.5, name  # it has searched
        assert get_cpu_seconds() - start < CPU_SECONDS, (name, get_cpu_seconds() - start)


def test_inputs(folder):
    """Arrays take long to make: those of the launch, and a scratch of the kernel."""
    size = 64 << 20
    param = write(f"{folder}/param.grout", f"kernel @k(%x: in gmem f8e4m3[{size}], %y: out gmem f8e4m3[1])\n"
                  "{\n  store %y[0], (load %x[0])\n}\n")
    scratch = write(f"{folder}/scratch.grout", "kernel @k(%y: out gmem f8e4m3[1])\n{\n"
                    f"  scratch %x : gmem f8e4m3[{size}] init(randn(1))\n  store %y[0], (load %x[0])\n}}\n")
    for words, part in (([param, "--input", "x=randn:1"], "the time was over while the inputs were made"),
                        ([param, "--input", "x=7"], "the time was over while the inputs were made"),
                        ([scratch], "the time was over (--timeout)")):
        for command in ("check", "run"):
            for seconds in (0.02, 0.05, 0.1):  # a busy machine needs the first to start the process
                start = get_cpu_seconds()
                out = end([command, *words, "--timeout", str(seconds)], INCOMPLETE, "the time was over")
                assert "1 kernel was not begun" in out or words[0] == scratch, out
                assert get_cpu_seconds() - start < CPU_SECONDS / 10, (words, get_cpu_seconds() - start)
                if part in out:
                    break
            assert part in out, (words, out)


def test_results(folder):
    """So long it takes to write an array in another type, and to compare it with a file."""
    size = 32 << 20
    kernel = write(f"{folder}/k.grout", f"kernel @k(%y: out gmem f8e4m3[{size}])\n{{\n  store %y[0], 1.0\n}}\n")
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({size},), }}".ljust(117) + "\n"
    with open(f"{folder}/y.npy", "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode())
        file.truncate(file.tell() + 4 * size)
    for words in (["--output", f"y={folder}/z.npy:f64"], ["--expect-output", f"y={folder}/y.npy"]):
        start = get_cpu_seconds()
        end(["run", kernel, *words, "--timeout", "0.3"], INCOMPLETE, "the time was over")
        assert get_cpu_seconds() - start < CPU_SECONDS / 5, (words, get_cpu_seconds() - start)
    assert not os.path.exists(f"{folder}/z.npy")


def get_memory(words):
    """MiB that a call takes at most, and its exit code. AddressSanitizer keeps what was freed, unless it is not to."""
    process = subprocess.Popen([grout, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               env={**os.environ, "ASAN_OPTIONS": "quarantine_size_mb=0"})
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_maxrss // 1024, process.returncode


def test_memory(folder):
    """Launches in a row take no more than one and its arguments; the copies for those that overlap count."""
    size = 128  # MiB of arrays
    text = f"const N = {size << 17}\nkernel @k(%x: in gmem f32[N], %y: inout gmem f32[N])\n{{\n" \
        "  store %y[0], (load %x[0])\n}\n"
    kernel = write(f"{folder}/k.grout", text)
    alone, code = get_memory(["check", kernel])
    assert code == 0, code
    row, code = get_memory(["check", kernel, "--repeat", "3", "--max-memory", f"{2 * size}M"])
    assert code == 0 and row < alone + 1.5 * size, (code, alone, row)
    text = text.replace("{\n", "{\n  griddepcontrol_wait\n")
    overlap = write(f"{folder}/list.grout", text + "launch @k(%x, %y)\nlaunch @k(%x, %y) dependent\n")
    end(["check", overlap, "--max-memory", f"{2 * size}M"], INCOMPLETE, "out-of-memory")
    end(["check", overlap, "--max-memory", f"{6 * size}M"], 0, "@k: clean")


def test_reports(folder):
    """A report holds its findings as text: a log of SARIF takes no more than JSON, but for what a tree of one takes."""
    text = "".join(f"kernel @k{i}(%y: inout gmem i32[4]) grid(g = 2)\n{{\n  store %y[0], (axis_index g)\n}}\n"
                   for i in range(3000))
    kernel = write(f"{folder}/k.grout", text)
    words = ["check", "--no-explore", "--format"]
    taken = {form: get_memory([*words, form, kernel]) for form in ("json", "sarif")}
    assert all(code == 1 for _, code in taken.values()), taken
    assert taken["sarif"][0] < 1.5 * taken["json"][0], taken


# The first kernel goes on for ever, with a small N it does not.
ENDLESS = ("const N = 2000000000\nkernel @a(%y: inout gmem i32[1])\n{\n  for %i in 0..N {\n    store %y[0], %i\n  "
           "}\n}\nkernel @b(%y: inout gmem i32[1])\n{\n  store %y[0], N\n}\nkernel @c(%y: inout gmem i32[1])\n{\n  "
           "store %y[0], N\n}\n")
LAUNCHES = "launch @b(%y)\nlaunch @a(%y)\nlaunch @c(%y)\n"


def report(words, code, begun=None):
    """The JSON of a check, by its schema."""
    with open(SCHEMA, encoding="utf-8") as file:
        schema = json.load(file)
    process = subprocess.Popen([grout, "check", "--format", "json", *words], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    if begun is not None:
        begun(process)
        process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=SECONDS)
    assert process.returncode == code, (words, process.returncode, out, err)
    found = json.loads(out)
    run_cli.check_schema(found, schema, schema)
    return found


def works(process):
    """Waits until the process is in the run that does not end."""
    catches(process)
    run_cli.wait_for_work(process)


def test_not_begun(folder):
    """The kernels that the end came before have their names in every form of a report."""
    kernel, over = write(f"{folder}/k.grout", ENDLESS), "the time was over (--timeout)"
    words = [kernel, "--timeout", "0.3"]
    found = report(words, INCOMPLETE)
    assert found["verdict"] == "incomplete" and found["findings"] == [], found
    assert found["coverage"]["not_begun"] == {"because": over, "kernels": ["b", "c"]}, found
    assert [(entry["kernel"], entry["status"]) for entry in found["coverage"]["kernels"]] == [("a", "timeout")], found
    said = f"2 kernels were not begun: @b, @c; {over}"
    out = end(["check", *words], INCOMPLETE, said)
    assert "@a: incomplete" in out and "@b:" not in out, out
    end(["check", *words, "--format", "github"], INCOMPLETE,
        f"::error file={kernel},line=8,col=8,endColumn=10,title=not-begun::{said}\n")
    page = f"{folder}/page.html"
    end(["check", *words, "--html", page], INCOMPLETE, said)
    with open(page, encoding="utf-8") as file:
        assert f"<h3>2 kernels were not begun</h3>\n<p>{over}</p>\n" in (text := file.read()) and \
                "<p>@b, @c</p>" in text, text
    sarif = subprocess.run([grout, "check", *words, "--format", "sarif"], capture_output=True, text=True, check=False)
    run, = json.loads(sarif.stdout)["runs"]
    notification = {"level": "error", "message": {"text": said}}
    assert run["invocations"] == [{"executionSuccessful": False, "toolExecutionNotifications": [notification]}], run
    assert run["properties"]["coverage"]["not_begun"]["kernels"] == ["b", "c"], run
    # All have begun, and one is cut: nothing more is said.
    assert "not_begun" not in report([*words, "--kernel", "a"], INCOMPLETE)["coverage"]
    assert "not_begun" not in report([*words, "-D", "N=4"], 0)["coverage"]
    # Many have their names in the report, and the first of them in the words.
    many = write(f"{folder}/many.grout",
                 ENDLESS + "".join(f"kernel @k{i}(%y: inout gmem i32[1])\n{{\n}}\n" for i in range(2000)))
    words = [kernel, "--timeout", "1.5"]  # it has to be read by then, on a busy machine too
    found = report([many, *words[1:]], INCOMPLETE)["coverage"]["not_begun"]["kernels"]
    assert found == ["b", "c", *(f"k{i}" for i in range(2000))], found
    end(["check", many, *words[1:]], INCOMPLETE,
        f"2002 kernels were not begun: @b, @c, @k0, @k1, @k2, @k3, @k4, @k5, ...; {over}")
    # A signal, and a launch of a list that does not come to its end.
    found = report([kernel], TERMINATED, works)["coverage"]["not_begun"]
    assert found == {"because": "Ctrl-C or another signal ended the run", "kernels": ["b", "c"]}, found
    listed = write(f"{folder}/list.grout", ENDLESS + LAUNCHES)
    found = report([listed, *words[1:]], INCOMPLETE)["coverage"]
    assert found["not_begun"] == {"because": over, "kernels": ["c"]}, found
    found = report([listed, "--max-steps", "1000"], INCOMPLETE)["coverage"]["not_begun"]
    assert found == {"because": "a launch before did not come to its end", "kernels": ["c"]}, found


def test_not_begun_sizes(folder):
    """So it is in a sweep, for each size; --budget is for all of its sizes and kernels together."""
    kernel = write(f"{folder}/k.grout", ENDLESS)
    for option in ("--budget", "--timeout"):
        over, words = f"the time was over ({option})", [kernel, "--sweep", "N=4,2000000000,2000000001", option, "0.3"]
        found = report(words, INCOMPLETE)
        first, second, third = found["sweep"]
        assert "not_begun" not in first and first["verdict"] == "clean", found
        assert second["not_begun"] == {"because": over, "kernels": ["b", "c"]} and \
                second["verdict"] == "incomplete", found
        assert "not_begun" not in third and third["not_run"] == over, found
        out = end(["check", *words], INCOMPLETE, "@b: incomplete\n  N=4: clean; one CTA of one thread")
        assert f"  N=2000000000: not run: {over}\n  N=2000000001: not run: {over}\n" in out, out


# Each CTA leaves a part and takes a ticket, in any order; the last one adds up.
PARTS = """const CTAS = 9, N = 16384

kernel @k(%x: in gmem f32[CTAS, N], %next: inout gmem i32[1] init(zeros), %y: out gmem f32[N]) grid(x = CTAS)
{
  scratch %parts : gmem f32[CTAS, N]
  %me = axis_index x
  for %i in 0..N / 64 {
    store %parts[%me, ds(%i * 64, 64)], (load %x[%me, ds(%i * 64, 64)])
  }
  %ticket = atomic_fetch_add %next[0], 1 order(acq_rel)
  if (eq %ticket, CTAS - 1) {
    store %y, (reduce_sum (load %parts) dim(0))
    store %next[0], 0
  }
}

kernel @reference(%x: in gmem f32[CTAS, N], %y: out gmem f32[N])
{
  for %i in 0..N / 8 {
    store %y[ds(%i * 8, 8)], (reduce_sum (load %x[:, ds(%i * 8, 8)]) dim(0))
  }
}

check @k against @reference
"""


def test_compared(folder):
    """The budget of an exploration ends schedules, not the comparison with the reference that comes after it."""
    kernel = write(f"{folder}/k.grout", PARTS)
    for budget in ("0.6", "0.9", "1.2"):
        out = end(["check", kernel, "--kernel", "@k", "--explore", "--budget", budget, "--no-proposals"], 0,
                  "the budget of the exploration was over")
        assert "@k: clean\n" in out, out


TESTS = {name[5:]: function for name, function in globals().items() if name.startswith("test_")}


def main():
    global grout
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", required=True)
    parser.add_argument("tests", nargs="*", metavar="TEST")
    options = parser.parse_args()
    grout = os.path.abspath(options.grout)
    for name in options.tests or TESTS:
        with tempfile.TemporaryDirectory() as folder:
            TESTS[name](folder)
        print(f"{name}: ok")


if __name__ == "__main__":
    main()
