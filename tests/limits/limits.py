"""Reaches the limits of tools/limits.tsv: a kernel at the limit, and one beyond it.

usage: limits.py --grout PATH [--slow] [NAME...]      NAME: of a function of LIMITS, as the table names it; all without
one

Each kernel has the exit code that is wanted, and what it prints has the words that are. Closing line: 'limits: N
kernels, N wrong'.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # the folder is a source tree
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from limit import SECONDS

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CLEAN, FINDING, USAGE, INCOMPLETE = 0, 1, 2, 3


def kernel(head, *lines):
    return "\n".join([f"kernel @k({head}", "{", *("  " + line for line in lines), "}"]) + "\n"


# Each yields (text or path, options, exit code, words that stand in the answer).


def late_waits():
    """More than 1,024 pairs of phases are open, and more than 4,096 phases go by before the wait."""
    for arrives, late in ((300, 3000), (1500, 4000), (6000, 12000)):
        text = kernel("%m: inout gmem i32[1], %y: out gmem i32[1]) threads(wg = 2)",
                      "scratch %b : barrier[1]", "if (eq (axis_index wg), 0) {", "  store %m[0], 1",
                      f"  for %i in 0..{arrives} {{", "    barrier_arrive %b[0]", "  }", "} else {",
                      f"  for %i in 0..{late} {{", "    store %y[0], %i", "  }", "  barrier_wait %b[0]",
                      "  store %y[0], (load %m[0])", "}")
        yield text, [], FINDING, "barrier-overrun"


def bulk_waits():
    """The reader has heard of the first wait by an edge without memory; many more waits go by before it reads."""
    for waits in (5, 20, 300):
        text = kernel("%y: inout gmem i32[512, 32]) grid(g = 2)", "scratch %u : semaphore[1] global",
                      "scratch %s : smem i32[32]", "if (eq (axis_index g), 0) {", "  store %s, (broadcast 1 : i32[32])",
                      "  commit_smem", "  copy_smem_to_gmem %s, %y[0]", "  wait_smem_to_gmem 0",
                      "  semaphore_signal %u[0], 1 order(relaxed)", f"  for %i in 0..{waits} {{",
                      "    copy_smem_to_gmem %s, %y[%i + 1]", "    wait_smem_to_gmem 0", "  }", "} else {",
                      f"  for %i in 0..{200 * waits} {{", "    store %y[511, 0], %i", "  }",
                      "  semaphore_wait %u[0], 1", "  store %y[510], (load %y[0])", "}")
        yield text, [], FINDING, "insufficient-scope"


def findings():
    text = kernel("%y: inout gmem i32[64]) grid(g = 2)", *(f"store %y[{i}], (axis_index g)" for i in range(30)))
    yield text, [], FINDING, "30 errors, 10 past --max-findings"
    yield text, ["--max-findings", "40"], FINDING, r"30 errors\n"


def blocked():
    """Threads of many CTAs wait, each for another one."""
    for ctas in (30, 100, 260):
        text = kernel(f"%y: out gmem i32[{ctas}]) grid(g = {ctas})", f"scratch %u : semaphore[{ctas}] global",
                      "%g = axis_index g", "semaphore_wait %u[%g], 1",
                      f"semaphore_signal %u[(rem (add %g, 1), {ctas})], 1", "store %y[%g], 1")
        yield text, [], FINDING, f"{ctas - 1} more threads wait here"
        yield text, ["--format", "json"], FINDING, '"code": ?"deadlock"'


def wraps():
    """Products that may wrap, of which the last one does."""
    for count in (100, 127, 128, 200):
        lines = ["%b = load %n[0]"]
        for i in range(count):
            factor = 300 if i < count - 1 else 1 << 24
            lines += [f"%m{i} = mul %b, {factor}", f"%i{i} = div %m{i}, 1000000000", f"store %y[0], (load %x[%i{i}])"]
        text = kernel("%n: in gmem i32[1] init([300]), %x: in gmem i32[64] init(arange), %y: out gmem i32[1]) "
                      "threads(wg = 1)", *lines)
        yield text, [], FINDING, "index-overflow"
        yield text.replace(str(1 << 24), "301"), [], CLEAN, "clean"


def circles():
    """However many wait for two that wait for each other, or for one whom nobody serves, the report begins there."""
    for ctas in (3, 40, 250):
        lines = ["scratch %a : semaphore[1] global", "scratch %b : semaphore[2] global", "%g = axis_index g",
                 f"if (lt %g, {ctas}) {{", "  semaphore_wait %a[0], 1", "} else {", f"  if (eq %g, {ctas}) {{",
                 "    semaphore_wait %b[0], 1", "    semaphore_signal %b[1], 1", "  } else {",
                 "    semaphore_wait %b[1], 1", "    semaphore_signal %b[0], 1", f"    semaphore_signal %a[0], {ctas}",
                 "  }", "}", "store %y[%g], 1"]
        head = f"%y: out gmem i32[{ctas + 2}]) grid(g = {ctas + 2})"
        yield kernel(head, *lines), [], FINDING, "waits at line 13 for CTA"
        # The first of the two has nothing to wait for, and the other one's unit is never there.
        lines[7] = "    store %y[%g], 2"
        lines[8] = "    semaphore_wait %b[0], 1"
        yield kernel(head, *lines), [], FINDING, r"grout:\d+:\d+: error: no thread can run: %b\["


def loops():
    names = "abcdef"
    text = kernel("%y: inout gmem i32[1]) grid(g = 2)", *(f"for %{name} in 0..2 {{" for name in names),
                  "store %y[0], %f", *"}}}}}}")
    yield text, [], FINDING, "%a=0, %b=0, %c=0, %d=0\n"


def prints():
    for count, words in ((1000, "999"), (1001, r"\.\.\.")):
        yield kernel(f"%y: out gmem i32[{count}])", f"%v = iota dim(0) : i32[{count}]", 'debug_print "{}", %v',
                     "store %y, %v"), ["run"], CLEAN, words


def steps():
    text = kernel("%y: out gmem i32[1])", "for %i in 0..1000 {", "  store %y[0], %i", "}")
    yield text, ["--max-steps", "4000"], CLEAN, "clean"
    yield text, ["--max-steps", "500"], INCOMPLETE, "step-limit"


def thread_bytes():
    for count, code, words in ((200, CLEAN, "clean"),
                               (260, INCOMPLETE, "limit thread-bytes: the values of a thread take")):
        lines = [f"%v{i} = load %x" for i in range(count)] + [f"store %y, %v{i}" for i in range(count)]
        text = kernel("%x: in gmem f64[1048576], %y: out gmem f64[1048576])", *lines)
        if code != CLEAN:  # those that fit take 2 GiB to run
            yield text, [], code, words


def polls():
    text = kernel("%y: inout gmem i32[1])", "%n = while carry(%i = 0) {", "  %v = load %y[0]", "  cond (eq %v, 0)",
                  "} do {", "  yield (add %i, 1)", "}", "store %y[0], %n")
    yield text, ["--input", "y=zeros"], FINDING, "this loop"
    yield text, ["--input", "y=ones"], CLEAN, "clean"


def phase_bytes():
    """Bytes that one phase of an mbarrier waits for."""
    for sizes, code, words in ((([524288, 524287]), FINDING, "deadlock|barrier-tx-mismatch"),
                               (([524288, 524288]), FINDING, "barrier-tx-mismatch")):
        text = kernel("%y: out gmem i32[1])", "scratch %b : mbarrier[1]", "mbarrier_init %b[0], 2",
                      *(f"mbarrier_expect %b[0], {size}" for size in sizes), "mbarrier_wait %b[0], 0", "store %y[0], 1")
        yield text, [], code, words


def residents():
    for ctas, code, words in ((264, CLEAN, "clean"), (265, FINDING, "264 CTAs fit on the GPU at once")):
        text = kernel(f"%y: out gmem i32[{ctas}]) grid(g = {ctas})", "scratch %u : semaphore[1] global",
                      f"if (eq (axis_index g), {ctas - 1}) {{", f"  semaphore_signal %u[0], {ctas}", "}",
                      "semaphore_wait %u[0], 1", "store %y[(axis_index g)], 1")
        yield text, [], code, words


def residents_most():
    text = kernel("%y: out gmem i32[1]) grid(g = 65537)", "scratch %u : semaphore[1] global",
                  "if (eq (axis_index g), 65536) {",
                  "  semaphore_signal %u[0], 65537", "}", "semaphore_wait %u[0], 1")
    yield text, ["--resident", "1000000"], FINDING, "65536 CTAs fit on the GPU at once"


def stores():
    """200 stores that engines may not see yet, and 200 copies in flight."""
    commits = ["commit_smem", "commit_gmem"]
    for lines, code, words in ((commits, CLEAN, "clean"), (commits[1:], FINDING, "missing-commit-smem")):
        text = kernel("%x: inout gmem i32[200, 32], %y: out gmem i32[200, 32])", "scratch %s : smem i32[200, 32]",
                      "for %i in 0..200 {", "  store %s[%i], (broadcast %i : i32[32])",
                      "  store %x[%i], (broadcast %i : i32[32])", "}", *lines, "for %i in 0..200 {",
                      "  copy_smem_to_gmem %s[%i], %y[%i]", "}", "wait_smem_to_gmem 0")
        for timing in ("lazy", "eager", "random"):
            yield text, ["--timing", timing], code, words


def wgmmas():
    yield os.path.join(ROOT, "tests/behaviour/wgmma/registers-in-flight.grout"), [], CLEAN, "clean"


def tcgen05():
    text = kernel('%a: in gmem bf16[128, 64], %b: in gmem bf16[64, 64], %c: out gmem f32[128, 64]) threads(wg = 1) '
                  'attr arch = "sm_100a"',
                  "scratch %as : smem bf16[128, 64] tile(8, 64) swizzle(128)",
                  "scratch %bs : smem bf16[64, 64] tile(8, 64) swizzle(128)", "scratch %full : barrier arrivals(2)",
                  "scratch %done : barrier orders_tensor_core", "scratch %acc : tmem f32[128, 64]",
                  "copy_gmem_to_smem %a, %as, %full", "copy_gmem_to_smem %b, %bs, %full", "barrier_wait %full",
                  "for %i in 0..200 {", "  tcgen05_mma %acc, %as, %bs, (gt %i, 0)", "}", "tcgen05_commit_arrive %done",
                  "{wait}", "%v = async_load_tmem %acc", "wait_load_tmem", "store %c, %v")
    yield text.replace("{wait}", "barrier_wait %done"), [], CLEAN, "clean"
    yield text.replace("  {wait}\n", ""), [], FINDING, "error"


def threads():
    text = kernel("%y: out gmem i32[300]) grid(g = 300)", "store %y[(axis_index g)], 1")
    yield text, ["--threads", "300"], CLEAN, "clean"
    yield text, ["--explore", "--threads", "300"], CLEAN, "clean"


def explored():
    text = kernel("%m: inout gmem i32[1], %y: out gmem i32[4]) grid(g = 4)",
                  "%v = atomic_exchange %m[0], (axis_index g) scope(gpu)", "if (eq %v, 0) {",
                  "  store %y[(axis_index g)], %v", "}", "if (ne %v, 0) {", "  store %y[(axis_index g)], 1",
                  "}")
    yield text, ["--explore", "--budget", "0.001"], None, "every schedule|schedules? explored|the time was over"


def second_look():
    """What a check tries by itself is bounded by operations: ten CTAs have more orders than fit."""
    text = kernel("%m: inout gmem i32[1], %y: out gmem i32[10]) grid(g = 10)",
                  "%v = atomic_exchange %m[0], (axis_index g) scope(gpu)", "if (eq %v, 0) {",
                  "  store %y[(axis_index g)], 1", "} else {", "  store %y[(axis_index g)], 2", "}")
    yield text, [], CLEAN, r"holds for the \d+ schedules explored, 4 of them random"
    yield text, ["--no-explore"], CLEAN, "this schedule"


def file_size():
    for size, code, words in ((64 << 20, CLEAN, "clean"), ((64 << 20) + 1, USAGE, "more than 67108864 bytes")):
        text = kernel("%y: out gmem i32[1])", "store %y[0], 1")
        yield text + "\n" * (size - len(text)), [], code, words


def launch_sizes():
    for threads_, code in ((8, CLEAN), (9, USAGE)):
        yield kernel(f"%y: out gmem i32[1]) threads(wg = {threads_})", "if (eq (axis_index wg), 0) {",
                     "  store %y[0], 1", "}"), \
            [], code, "clean" if code == CLEAN else "8"
    for ctas, code in ((16, CLEAN), (32, USAGE)):
        yield kernel(f"%y: out gmem i32[32]) cluster(c = {ctas})",
                     "store %y[(axis_index c)], 1"), ["--arch", "any"], code, \
            "clean" if code == CLEAN else "16"


def named_barriers():
    for number, code in ((12, CLEAN), (13, USAGE)):
        yield kernel("%y: out gmem i32[1]) threads(wg = 2)", f"named_barrier_sync {number}, 2",
                     "if (eq (axis_index wg), 0) {", "  store %y[0], 1",
                     "}"), [], code, "clean" if code == CLEAN else "has 0 to 12"


def sizes():
    def array(shape):
        return kernel(f"%y: inout gmem i32[{shape}])", "commit_gmem")
    yield kernel("%y: out gmem i32[1048576])", "store %y, (broadcast 1 : i32[1048576])"), [], CLEAN, "clean"
    yield kernel("%y: out gmem i32[1048577])", "store %y, (broadcast 1 : i32[1048577])"), [], USAGE, "1048576"
    yield array(", ".join(["1"] * 8)), [], CLEAN, "clean"
    yield array(", ".join(["1"] * 9)), [], USAGE, "8"
    yield array("2147483648"), [], USAGE, "2147483647"
    yield array("2147483647, 129"), [], USAGE, "1099511627776"
    yield kernel("%y: out gmem i32[1])", "scratch %s : smem i8[2147483647, 3]",
                 "store %y[0], 1"), [], USAGE, "4294967296"
    yield kernel("%y: out gmem i32[1])", "scratch %u : semaphore[1048576] global", "store %y[0], 1"), [], CLEAN, "clean"
    yield kernel("%y: out gmem i32[1])", "scratch %u : semaphore[1048577] global",
                 "store %y[0], 1"), [], USAGE, "1048576"


def unroll():
    for count, code in ((256, CLEAN), (257, USAGE)):
        yield kernel("%y: out gmem i32[1])", f"for %i in 0..{count} unroll({count}) {{", "  store %y[0], %i",
                     "}"), [], code, \
            "clean" if code == CLEAN else "256"


def externs():
    for length, code in ((1024, INCOMPLETE), (1025, USAGE)):
        body = "mov.b32 $0, $1;" + " " * (length - 15)
        yield kernel("%y: out gmem i32[1])", f'%v = inline_ptx "moved", "{body}", 1 : i32',
                     "store %y[0], %v"), [], code, \
            "ptx-function-missing" if code != USAGE else "1024"


def launches():
    for count, code in ((64, CLEAN), (65, USAGE)):
        text = kernel("%y: inout gmem i32[1])", "store %y[0], 1") + "launch @k(%y)\n" * count
        yield text, [], code, "clean" if code == CLEAN else "a launch list has more than 64 launches"


def run_lines():
    for count, code in ((4096, CLEAN), (4097, USAGE)):
        text = "// expect: clean\n" + "// run: --seed 1\n" * count + kernel("%y: out gmem i32[1])", "store %y[0], 1")
        yield text, ["--expect"], code, "kernel.grout: ok" if code == CLEAN \
            else r"4098:9: error: the file has 4097 '// run:' lines"


def check_values():
    for count, code in ((8, CLEAN), (9, USAGE)):
        words = " ".join(["{}"] * count)
        yield kernel("%y: out gmem i32[1])", f'debug_check (eq 1, 1), "{words}"' + ", 1" * count,
                     "store %y[0], 1"), [], code, \
            "clean" if code == CLEAN else "8"


def delays():
    for time_, code in ((1000000000, CLEAN), (1000000001, USAGE)):
        yield kernel("%y: out gmem i32[1])", f"delay {time_}", "store %y[0], 1"), [], code, \
            "clean" if code == CLEAN else "1000000000"


def rivals():
    """Atomics in no order, whose pairs are too many to compare: seconds."""
    for ctas, words in ((40, "redundant-barrier"), (24000, r"clean")):
        text = kernel(f"%m: inout gmem i32[1], %y: out gmem i32[{ctas}]) grid(g = {ctas})", "%g = axis_index g",
                      "%v = atomic_exchange %m[0], %g scope(gpu)", "block_barrier", "store %y[%g], %v")
        yield text, ["--advice", "--input", "m=zeros"], CLEAN, words


def more_steps():
    """2^31 operations, whatever --max-steps says: minutes."""
    text = kernel("%y: out gmem i32[1])", "for %j in 0..4 {", "  for %i in 0..2147483647 {", "    store %y[0], %i",
                  "  }", "}")
    yield text, ["run", "--max-steps", "9000000000"], INCOMPLETE, "a run has at most 2147483648 operations"


LIMITS = (late_waits, bulk_waits, findings, blocked, wraps, circles, loops, prints, steps, thread_bytes, polls,
          phase_bytes, residents, stores, wgmmas, tcgen05, threads, explored, second_look, file_size, launch_sizes,
          named_barriers, sizes, unroll, externs, launches, run_lines, check_values, delays)
SLOW = (rivals, more_steps, residents_most)


def call(grout, text, options):
    """Exit code, what is printed."""
    with tempfile.TemporaryDirectory() as folder:
        path = text
        if "\n" in text:
            path = os.path.join(folder, "kernel.grout")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        command = options[:1] if options[:1] == ["run"] else ["check"]
        done = subprocess.run([grout, *command, path, *[word for word in options if word != "run"]],
                              capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False)
    return done.returncode, done.stdout + done.stderr


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", required=True, type=os.path.abspath)
    parser.add_argument("--slow", action="store_true")
    parser.add_argument("--times", action="store_true", help="say how long each takes")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    count = wrong = 0
    for limit in SLOW if arguments.slow else LIMITS:
        if arguments.names and limit.__name__ not in arguments.names:
            continue
        start = time.monotonic()
        for text, options, wanted, words in limit():
            code, answer = call(arguments.grout, text, options)
            count += 1
            if (wanted is not None and code != wanted) or not re.search(words, answer):
                wrong += 1
                print(f"{limit.__name__}, {' '.join(options)}: exit code {code}, not {wanted}, with "
                      f"'{words}'\n{text[:600].strip()}\n{answer[:1200]}")
        if arguments.times:
            print(f"{limit.__name__}: {time.monotonic() - start:.1f} s")
    print(f"limits: {count} kernels, {wrong} wrong")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
