# SPDX-License-Identifier: Apache-2.0
"""PTX that is hostile: what ends its parsing and its run, how much memory both take, launches that there cannot be."""
import os
import signal
import subprocess
import sys
import threading
import time

import numpy
import pytest

import grout
from test_ptx import ADD, BEGINNING, run_ptx

pytestmark = pytest.mark.library

LOOP = BEGINNING + ".visible .entry k(.param .u64 x) { L: bra L; }"
KEEP = BEGINNING + """.visible .entry k(.param .u64 x)
{
  .reg .b32 %r<2>; .reg .b64 %rd<2>;
  ld.param.u64 %rd0, [x]; mov.u32 %r0, 7; st.global.b32 [%rd0], %r0;
  ret;
}
"""


def write_entries(count, lines=1):
    body = "add.u32 %r1, %r1, %r2; " * lines
    return BEGINNING + "".join(
        f".visible .entry k{number}(.param .u64 x) {{ .reg .b32 %r<4>; .shared .b8 s{number}[64]; {body} ret; }}\n"
        for number in range(count))


def interrupt(after, call):
    """How long after Ctrl-C a call ends."""
    timer = threading.Timer(after, os.kill, (os.getpid(), signal.SIGINT))
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        timer.start()
        call()
        time.sleep(30)
    return time.monotonic() - start - after


# ---- ends

@pytest.mark.parametrize("find_races", [False, True])
def test_ctrl_c_ends_a_run(find_races):
    module = grout.ptx.parse(LOOP)
    took = [interrupt(0.1, lambda: module.run(numpy.zeros(4, "float32"), grid=64, block=256, find_races=find_races))
            for _ in range(3)]
    assert min(took) < 1
    grout.ptx.parse(KEEP).run(numpy.zeros(4, "int32"))


def test_ctrl_c_ends_the_parsing():
    text = write_entries(4000, 40)
    assert min(interrupt(0.05, lambda: [grout.ptx.parse(text) for _ in range(20)]) for _ in range(3)) < 1


def test_a_time_that_is_over():
    start = time.monotonic()
    with pytest.raises(grout.RunError, match=r"^k: the time was over \(timeout\); the run did not reach its end"):
        grout.ptx.parse(LOOP).run(numpy.zeros(4, "float32"), timeout=0.1)
    with pytest.raises(grout.RunError,
                       match="^many.ptx: the time was over .timeout.; the text was not read to its end"):
        grout.ptx.parse(write_entries(20000, 20), "many.ptx", timeout=0.01)
    assert time.monotonic() - start < 10


def test_steps_are_over():
    with pytest.raises(grout.RunError) as caught:
        grout.ptx.parse(LOOP).run(numpy.zeros(4, "float32"), max_steps=10000)
    assert caught.value.diagnostics[0].code == "limit-reached"


def test_progress():
    seen = []

    def progress(state):
        seen.append(state)
        if len(seen) == 3:
            raise ZeroDivisionError("enough")

    with pytest.raises(ZeroDivisionError, match="enough"):
        grout.ptx.parse(LOOP).run(numpy.zeros(4, "float32"), grid=5, progress=progress)
    assert len(seen) == 3 and isinstance(seen[0], grout.Progress)
    assert seen[2].steps > seen[1].steps and seen[2].seconds > seen[1].seconds
    assert (seen[2].ctas_done, seen[2].ctas_total) == (0, 5)


# ---- memory

@pytest.mark.parametrize("find_races", [False, True])
def test_memory_of_a_run(find_races):
    module, x = grout.ptx.parse(KEEP), numpy.zeros(1 << 16, "int32")
    stats = module.run(x, find_races=find_races)
    assert stats.peak_bytes > (16 * x.nbytes if find_races else 1000)
    arrays = 2 * x.nbytes  # a byte of each says whether it has a value
    for less in (1, arrays // 2, arrays, arrays + stats.peak_bytes // 2):
        x[:] = 1
        with pytest.raises(MemoryError):
            module.run(x, find_races=find_races, max_memory=less)
        assert x[0] == 1
    module.run(x, find_races=find_races, max_memory=2 * (arrays + stats.peak_bytes))
    assert x[0] == 7


def test_memory_of_parsing():
    text = write_entries(1000)
    with pytest.raises(MemoryError, match="max_memory"):
        grout.ptx.parse(text, max_memory=len(text))
    assert len(grout.ptx.parse(text, max_memory=200 * len(text))) == 1000


def test_a_large_grid_takes_no_memory():
    x = numpy.zeros(4, "int32")
    module = grout.ptx.parse(KEEP)
    small = module.run(x, grid=64).peak_bytes
    with pytest.raises(grout.RunError, match="time was over"):
        module.run(x, grid=(64, 512, 512), timeout=0.2)
    assert module.run(x, grid=5000).peak_bytes <= 2 * small


def test_many_entries():
    """What a text of many entries costs is linear; baseline: a quadratic search for names, a minute for 50,000."""
    text, times = write_entries(20000), []
    for part in (write_entries(5000), text):
        start = time.monotonic()
        module = grout.ptx.parse(part)
        times.append(time.monotonic() - start)
    assert times[1] < 12 * times[0] + 1
    start = time.monotonic()
    module["k19999"].run(numpy.zeros(4, "int32"))
    assert time.monotonic() - start < 2 and len(module) == 20000


# ---- launches that there cannot be

SIZES = {"grid": (2 ** 31, 2 ** 32 - 1, (1, 65536), (1, 1, 65536)),
         "block": (1025, 2 ** 31, 2 ** 32 - 1, (32, 32, 2), (1, 1, 65)),
         "cluster": (17, 2 ** 32 - 1, (3, 2, 3), (1, 3)), "shared_bytes": (2 ** 20, 2 ** 32 - 1)}


@pytest.mark.parametrize("name, value", [(name, value) for name, values in SIZES.items() for value in values])
def test_sizes_of_a_launch(name, value):
    x = numpy.zeros(4, "int32")
    with pytest.raises(grout.GroutError) as caught:
        grout.ptx.parse(KEEP).run(x, **{name: value})
    assert caught.value.diagnostics and x[0] == 0


def test_arguments_of_a_launch():
    add, x = grout.ptx.parse(ADD), numpy.zeros(4, "float32")
    for given in ((x, x, 4), (x, x, 4, 0.5, 1), (x, x, 2 ** 32, 0.5), (x, x, -2 ** 31 - 1, 0.5), (x, x, 10 ** 400, 0.5),
                  (x, x, float("nan"), "text"), (x, None, 4, 0.5), (None, x, 4, 0.5), (x, x, x, 0.5), (x, x, b"1", 0.5),
                  (x, x, numpy.float64(4), 0.5), (x, x, 4, 10 ** 400), (x, x[::2], 4, 0.5),
                  (x, x.astype(object), 4, 0.5), (x, x[1:], 4, 0.5), ({}, x, 4, 0.5)):
        with pytest.raises((grout.GroutError, TypeError, ValueError, OverflowError)):
            add.run(*given)
    for given in ((numpy.zeros(0, "float32"), x, 4, 0.5), (x, numpy.zeros(2, "float32"), 4, 0.5), (0, 0, 4, 0.5),
                  (2 ** 63, 2 ** 64 - 1, 4, 0.5)):  # what lies outside of the arrays is a mistake of the run
        with pytest.raises(grout.RunError):
            add.run(*given, block=32)


TEXTS = {
    "a variable for a parameter": ".global .b8 g[4];\n.func f(.param .b32 a) { ret; }\n.entry k() { call f, (g); ret; "
    "}",
    "a variable for a result": ".global .b8 g[4];\n.extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 "
    "b);\n"
                               ".entry k() { .param .b64 a; call (g), vprintf, (a, a); ret; }",
    "CTAs for one multiprocessor": ".entry k() .minnctapersm 4194304 { ret; }",
    "threads": ".entry k() .maxntid 4294967295, 4294967295, 4294967295 { ret; }",
    "registers": ".entry k() { .reg .b32 %r<4294967295>; ret; }",
    "shared memory": ".entry k() { .shared .b8 s[9223372036854775807]; ret; }",
    "constants": ".const .b8 c[18446744073709551615];\n.entry k() { ret; }",
    "a width": ".entry k() { .reg .b32 %r<4>; .shared .b8 s[64]; ld.shared.b128 %r1, [s]; ret; }"}


@pytest.mark.parametrize("name", TEXTS)
def test_texts_that_reach_too_far(name):
    """In a process of its own: some were killed by a signal."""
    code = (f"import grout\ntry:\n  print(grout.ptx.parse({BEGINNING + TEXTS[name]!r}).run(block=64, "
            "max_steps=100000))\nexcept grout.GroutError as error:\n  print(error)\n")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=False,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))})
    assert done.returncode == 0 and done.stdout.strip(), (done.returncode, done.stderr)


@pytest.mark.parametrize("text", ["", "\0", BEGINNING + "\0", "\ud800", BEGINNING + "// \udcff\n.entry k() { ret; }",
                                  b"\xff\xfe", ".version " + "9" * 10000, BEGINNING + ".entry k() {" + "{" * 100000,
                                  BEGINNING + ".entry k() { .reg .b32 %r; mov.b32 %r, " + "(" * 100000 + "1;"],
                         ids=range(9))
def test_no_text_is_too_odd(text):
    try:
        grout.ptx.parse(text)
    except grout.GroutError as error:
        assert error.diagnostics


def test_what_is_no_text():
    for value in (None, 1, [], numpy.zeros(4), object()):
        with pytest.raises(TypeError):
            grout.ptx.parse(value)


# ---- a kernel as PTX

def test_a_kernel_as_ptx_within_bounds(add_one):
    endless = grout.load("kernel @k(%y: inout gmem i32[1] init(zeros))\n{\n  for %i in 0..2000000000 {\n"
                         "    atomic_add %y[0], %i\n  }\n}\n")
    run_ptx(add_one, numpy.zeros(512, "float32"))  # NVRTC is loaded
    start = time.monotonic()
    with pytest.raises(grout.RunError, match="the time was over"):
        run_ptx(endless, timeout=3)
    assert time.monotonic() - start < 20
    with pytest.raises(MemoryError):
        run_ptx(endless, max_memory=1000)
    with pytest.raises(ZeroDivisionError):
        run_ptx(endless, progress=lambda _: 1 // 0)
    assert interrupt(1, lambda: run_ptx(endless)) < 10
