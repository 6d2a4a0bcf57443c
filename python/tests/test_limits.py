# SPDX-License-Identifier: Apache-2.0
"""Numbers, flags and texts of every function: what they may be, and what is said of any other."""
import decimal
import fractions
import functools
import inspect

import numpy
import pytest

import grout
from grout import builder

NAN, INF = float("nan"), float("inf")
HUGE = 10 ** 5000  # of more digits than Python writes
PTX = (".version 8.0\n.target sm_90a\n.address_size 64\n"
       ".visible .entry k(.param .u32 n) { ret; }\n.visible .entry other(.param .u32 n) { ret; }\n")
NO_COUNTS = [(value, TypeError) for value in (NAN, INF, 1.0, "1", b"1", True, False, numpy.bool_(True), [1], {}, 1j,
                                              numpy.float32(1), decimal.Decimal(1), fractions.Fraction(1))]
NO_SECONDS = [(value, TypeError) for value in ("1", b"1", True, numpy.bool_(True), [1], {}, 1j, decimal.Decimal(1))]
NO_SECONDS += [(value, ValueError)
               for value in (NAN, INF, -INF, 0, 0.0, -0.0, -1, -1e-9, HUGE, -HUGE, numpy.float32("nan"))]
NO_FLAGS = [(value, TypeError) for value in (0, 1, 1.0, "True", None, [], NAN)]
NO_TEXTS = [(value, TypeError) for value in (1, None, b"k", 1.5, [])] + [("a\0b", ValueError), ("\0", ValueError)]


def list_bad_counts(least, bits, is_optional=False):
    """What is no whole number from least to the largest of this many bits."""
    outside = [(value, ValueError) for value in (least - 1, -1, -HUGE, HUGE, 1 << bits, -(1 << bits), numpy.int64(-1))]
    return NO_COUNTS + ([] if is_optional else [(None, TypeError)]) + outside


@functools.lru_cache(None)
def make(what):
    """What is called."""
    kernel = grout.load("kernel @k(%x: in gmem f32[4], %y: out gmem f32[4])\n{\n  store %y, (load %x)\n}\n")
    entry = grout.ptx.parse(PTX)["k"]
    one = numpy.zeros(4, "float32")
    box = functools.partial(grout.ptx.TensorMap, numpy.zeros((8, 8), "float32"))
    return {"run": kernel.run, "check": kernel.check, "emit": kernel.emit, "entry": functools.partial(entry.run, 1),
            "parse_ptx": functools.partial(grout.ptx.parse, PTX),
            "launch": functools.partial(kernel.launch, one, one),
            "map_box": lambda size: box(box=(size, 4)).encode(0),
            "map_strides": lambda size: box(box=(4, 4), element_strides=(size, 1)).encode(0)}[what]


RUN = {"seed": (0, 64), "sms": (0, 32), "resident": (0, 32), "threads": (1, 32), "max_steps": (0, 64),
       "max_memory": (0, 64)}
COUNTS = [("run", name, *bounds) for name, bounds in RUN.items()]
COUNTS += [("check", name, *bounds) for name, bounds in RUN.items()]
COUNTS += [("check", "max_findings", 1, 64)]
COUNTS += [("entry", name, 0, bits) for name, bits in (("seed", 64), ("max_steps", 64), ("max_memory", 64),
                                                       ("shared_bytes", 32))]
COUNTS += [("entry", name, 1, 32) for name in ("grid", "block", "cluster")]
COUNTS += [("parse_ptx", "max_memory", 0, 64)]
SECONDS = [(what, "timeout") for what in ("run", "check", "entry", "parse_ptx")]
FLAGS = [("run", "non_finite"), ("run", "full_arrays"), ("run", "find_races"), ("check", "non_finite"),
         ("check", "full_arrays"), ("check", "strict_fences"), ("check", "writes"), ("check", "explore"),
         ("entry", "find_races"), ("emit", "watchdog"), ("emit", "lineinfo"), ("emit", "debug_checks"),
         ("launch", "fills_outputs"), ("launch", "dependent"), ("launch", "debug_checks")]
TEXTS = [("emit", "extern_source"), ("launch", "extern_source"), ("parse_ptx", "name")]


def refuse(call, name, values, **more):
    """Each of the values is refused, by name and with what is allowed."""
    for value, error in values:
        with pytest.raises(error) as caught:
            call(**{name: value}, **more)
        assert f"{name}=" in str(caught.value) and "it is " in str(caught.value), (value, str(caught.value))
        assert len(str(caught.value)) < 300


@pytest.mark.parametrize("what, name, least, bits", COUNTS, ids=lambda value: str(value))
def test_counts(what, name, least, bits):
    is_optional = name == "cluster"
    if name in ("grid", "block", "cluster"):
        values = [pair for pair in list_bad_counts(least, bits, is_optional) if pair[0] != [1]]
    else:
        values = list_bad_counts(least, bits)
    refuse(make(what), name, values)


def test_repeat():
    refuse(make("check"), "repeat",
           NO_COUNTS + [(0, ValueError), (-1, ValueError), (HUGE, ValueError), (65, ValueError)])


def test_seeds():
    refuse(make("check"), "seeds", NO_COUNTS + [(-1, ValueError), (HUGE, ValueError), (1025, ValueError)])


def test_workspace_sets():
    refuse(make("launch"), "workspace_sets",
           NO_COUNTS + [(0, ValueError), (-1, ValueError), (HUGE, ValueError), (17, ValueError)])


@pytest.mark.parametrize("what, name", SECONDS)
def test_seconds(what, name):
    refuse(make(what), name, NO_SECONDS)


@pytest.mark.parametrize("what, name", FLAGS)
def test_flags(what, name):
    refuse(make(what), name, NO_FLAGS)


@pytest.mark.parametrize("what, name", TEXTS)
def test_texts(what, name):
    refuse(make(what), name, [pair for pair in NO_TEXTS if pair[0] is not None or what == "parse_ptx"])


def test_every_number_is_tried():
    """A parameter that is added is added here, too."""
    tried = {(what, name) for what, name, *_ in COUNTS + SECONDS + FLAGS + TEXTS}
    tried |= {("check", "repeat"), ("check", "seeds"), ("launch", "workspace_sets")}
    of_another_kind = {"values", "arch", "schedule", "timing", "numerics", "severity", "progress", "print", "externs",
                       "device", "extern_source", "nvrtc", "stream", "text"}
    for what in ("run", "check", "emit", "launch", "entry", "parse_ptx"):
        call = make(what)
        function = call.func if isinstance(call, functools.partial) else call
        for name, parameter in inspect.signature(function).parameters.items():
            if parameter.kind in (parameter.KEYWORD_ONLY, parameter.POSITIONAL_OR_KEYWORD):
                assert (what, name) in tried or name in of_another_kind, (what, name)


def test_sizes_of_ptx():
    run = make("entry")
    for sizes in ((), (1, 1, 1, 1), []):
        with pytest.raises(ValueError, match="grid: it is a whole number"):
            run(grid=sizes)
    for size, error in list_bad_counts(1, 32):
        with pytest.raises(error, match="block="):
            run(block=(1, size))
    for call, name in ((make("map_box"), "box"), (make("map_strides"), "element_strides")):
        for size, error in list_bad_counts(1, 32):
            with pytest.raises(error, match=f"{name}="):
                call(size)


def test_what_is_allowed():
    """NumPy's numbers are numbers; the largest ones do not count as errors."""
    run, check, entry = make("run"), make("check"), make("entry")
    one = numpy.ones(4, "float32")
    for seconds in (numpy.float32(60), 60, numpy.int64(60), fractions.Fraction(60), 1e300):
        run(one, timeout=seconds)
        entry(timeout=seconds)
    assert (run(one, seed=numpy.uint64(2 ** 64 - 1), sms=numpy.int8(3), max_memory=2 ** 64 - 1,
                timeout=None) == 1).all()
    assert check(one, non_finite=numpy.bool_(True), repeat=numpy.int64(2), max_findings=2 ** 64 - 1).is_clean
    entry(seed=2 ** 64 - 1, grid=(numpy.int32(2), 1), block=numpy.uint8(2), max_memory=2 ** 64 - 1)


def test_the_message():
    with pytest.raises(ValueError) as caught:
        make("run")(timeout=-2)
    assert str(caught.value) == "timeout=-2: it is a number of seconds above 0, or None for no limit"
    with pytest.raises(TypeError) as caught:
        make("run")(seed="7")
    assert str(caught.value) == "seed='7': it is a whole number from 0 to 18446744073709551615"
    with pytest.raises(ValueError) as caught:
        make("run")(sms=HUGE)
    assert str(caught.value) == "sms=<a int>: it is a whole number from 0 to 4294967295"
    with pytest.raises(TypeError) as caught:
        make("run")(seed="7" * 1000)
    assert "7777.." in str(caught.value)

    class Silent:
        def __repr__(self):
            raise RuntimeError

    with pytest.raises(TypeError, match="<a Silent>"):
        make("run")(seed=Silent())


@pytest.mark.parametrize("name", ["schedule", "timing", "numerics"])
def test_words(name):
    for value in ("none", "", "lazy\0", "\ud800", "x" * 10 ** 6, 1, None, b"lazy", "pct:", "pct:0", "pct:-1", "pct:1\0",
                  "pct:" + "9" * 5000, "pct:٣", "pct:1.5", "replay", "random:1"):
        with pytest.raises((ValueError, TypeError), match=name):
            make("run")(**{name: value})


def test_codes_of_severity():
    for code in ("none", "missing-commit-smem-war\0x", 1, None, "\ud800"):
        with pytest.raises((ValueError, TypeError), match="severity"):
            make("check")(severity={code: "warning"})


@pytest.mark.parametrize("what", ["const", "kernel", "array", "scratch"])
def test_names_of_the_builder(what):
    def build(name):
        b = builder.Builder("names")
        if what == "const":
            b.const(name, 1)
        with b.kernel(name if what == "kernel" else "k"):
            if what == "array":
                b.array(name, "in", "f32", 4)
            if what == "scratch":
                b.scratch(name, builder.smem("f32", 4))
        return b.finish()

    for value, error in NO_TEXTS:
        with pytest.raises(error):
            build(value)
    for name in ("\ud800", "a b", "", "%x", "k\n}", "é"):
        try:
            build(name)
        except (grout.GroutError, ValueError):
            continue
        raise AssertionError(name)
