# SPDX-License-Identifier: Apache-2.0
"""Mistakes in building raise at their line; findings show the lines of Python."""
import inspect
import pathlib
import sys

import pytest

import grout
from grout.builder import Builder, barrier, smem


def line_of(mark):
    """The number of the line of this file that ends in the mark."""
    lines = pathlib.Path(__file__).read_text(encoding="utf-8").split("\n")
    return next(number for number, line in enumerate(lines, 1) if line.endswith(f"# {mark}"))


def store_into(xs, value):
    xs[...] = value  # stores


def build_race():
    b = Builder("race")
    with b.kernel("race"):
        x = b.array("x", "in", "f32", 64)
        y = b.array("y", "out", "f32", 64)
        xs = b.scratch("xs", smem("f32", 64))
        full = b.scratch("full", barrier(1))
        b.copy_gmem_to_smem(x, xs, full.at[0])
        full[0].wait()
        store_into(xs, xs[...] + 1.0)  # calls
        b.copy_smem_to_gmem(xs, y)  # copies
        b.wait_smem_to_gmem(0)
    return b.finish()["race"]


def test_a_finding_shows_the_lines_of_python():
    report = build_race().check()
    finding, = report.findings
    assert finding.code == "missing-commit-smem"
    assert (finding.place.file, finding.place.line) == (__file__, line_of("copies"))
    assert finding.related.line == line_of("stores")
    called = [note.place.line for note in finding.notes if note.message == "called from here"]
    assert called == [line_of("calls")]  # frames around the builder's own say nothing
    assert "    xs[...] = value  # stores\n" in str(finding) and "called from here" in str(finding)
    assert "^" in str(finding) and finding.repair and finding.edit is None  # it would be a line of text


def test_a_finding_shows_those_that_called():
    def outer(depth, build):
        return outer(depth - 1, build) if depth else build()

    b = Builder("deep")
    with pytest.raises(grout.KernelError) as raised:
        with b.kernel("deep"):
            x = b.array("x", "in", "f32", 4)
            outer(11, lambda: b.add(x, x))
    notes = [note.message for note in raised.value.diagnostics[0].notes if note.message.startswith("called")]
    assert len(notes) == 8 and notes[:7] == ["called from here"] * 7
    assert notes[7] == "called from here, and 5 frames around it"


def test_places_may_be_given():
    b = Builder("given")
    with pytest.raises(grout.KernelError) as raised:
        with b.kernel("given"):
            x = b.array("x", "in", "f32", 64)
            with b.at(("model.py", 12, 5, 3), ("train.py", 40)):
                b.neg(x)
    diagnostic, = raised.value.diagnostics
    assert str(diagnostic.place) == "model.py:12:5"
    assert [str(note.place) for note in diagnostic.notes if note.place] == ["train.py:40"]


def make_builder():
    return Builder("made")


def test_a_builder_that_was_made_deeper_knows_its_callers():
    b = make_builder()
    with pytest.raises(grout.KernelError) as raised:
        with b.kernel("made"):
            x = b.array("x", "out", "f32", 64)
            store_into(x, 1.0)  # made
    called, = [note for note in raised.value.diagnostics[0].notes if note.message == "called from here"]
    assert called.place.line == line_of("made")


MISTAKES = [
    ("operand-kind", lambda b, x, y, v, n: b.add(x, 1.0)),
    ("builder", lambda b, x, y, v, n: b.load(1.0)),
    ("operand-kind", lambda b, x, y, v, n: b.barrier_wait(x)),
    ("type-mismatch", lambda b, x, y, v, n: v + n),
    ("shape-mismatch", lambda b, x, y, v, n: v + v[0:8]),
    ("builder", lambda b, x, y, v, n: b.fma(v, v)),
    ("builder", lambda b, x, y, v, n: b.axis_index("q")),
    ("builder", lambda b, x, y, v, n: b.array("1 2", "in", "f32", 4)),
]


@pytest.mark.parametrize("code,mistake", MISTAKES, ids=range(len(MISTAKES)))
def test_a_mistake_raises_at_its_line(code, mistake):
    b = Builder("wrong")
    kernel = b.kernel("wrong")
    kernel.__enter__()
    x, y = b.array("x", "in", "f32", 64), b.array("y", "out", "f32", 64)
    n = b.scalar("n", "i32")
    v = x[...]
    with b.for_(4):
        pass
    loop = b.for_(4)
    loop.__enter__()
    with pytest.raises(grout.KernelError) as raised:
        mistake(b, x, y, v, n)
    diagnostic = raised.value.diagnostics[0]
    assert diagnostic.code == code
    assert (diagnostic.place.file, diagnostic.place.line) == (__file__, inspect.getsourcelines(mistake)[1])
    assert "mistake(b, x, y, v, n)" in str(diagnostic)
    with pytest.raises(grout.KernelError, match="has failed before"):
        b.neg(v)


@pytest.mark.skipif(sys.version_info < (3, 10),
                    reason="the end of a with has the line of its last statement before 3.10")
def test_an_end_is_judged_at_its_with():
    b = Builder("end")
    with pytest.raises(grout.KernelError, match="1 carried values yields 0") as raised:
        with b.kernel("end"):
            with b.for_(4, carry={"s": 0}):  # ends
                pass
    assert raised.value.diagnostics[0].place.line == line_of("ends")


def test_what_only_the_verifier_sees_has_its_line_too():
    b = Builder("late")
    with b.kernel("late"):
        x = b.array("x", "in", "f32", 64)
        x[0] = 0.0  # writes
    with pytest.raises(grout.KernelError) as raised:
        b.finish()
    assert raised.value.diagnostics[0].place.line == line_of("writes")


ARGUMENTS = [
    (TypeError, "no attribute 'fast'; it has: approx", lambda b, v: b.exp(v, fast=True)),
    (ValueError, "it is one of cta, cluster, gpu, sys", lambda b, v: b.atomic_add(v, 1, scope="all")),
    (ValueError, "not an element type", lambda b, v: b.cast(v, dtype="float")),
    (TypeError, "is not a number", lambda b, v: b.add(v, None)),
    (TypeError, "has no truth", lambda b, v: 1 if v > 0 else 2),
    (TypeError, "where a constant has to", lambda b, v: b.broadcast(v, dtype="f32", shape=(v,))),
    (TypeError, "write ds", lambda b, v: v[v:]),
    (ValueError, "another builder", lambda b, v: Builder("other").neg(v)),
    (ValueError, "no operation 'for'", lambda b, v: b.op("for", v)),
    (ValueError, "'in', 'out' or 'inout'", lambda b, v: b.array("z", "up", "f32", 4)),
    (TypeError, "cannot be iterated", lambda b, v: list(v)),
    (TypeError, "cannot be iterated", lambda b, v: list(b.scratch("more", smem("f32", 4)))),
    (TypeError, "cannot be iterated", lambda b, v: list(b.scratch("more", smem("f32", 4)).at)),
    (TypeError, "has no type", lambda b, v: b.neg(v, dtype="f32")),
]


@pytest.mark.parametrize("error,said,wrong", ARGUMENTS, ids=range(len(ARGUMENTS)))
def test_wrong_arguments_change_nothing(error, said, wrong):
    b = Builder("wrong")
    with b.kernel("wrong"):
        v = b.scalar("n", "f32")
        with pytest.raises(error, match=said):
            wrong(b, v)
        b.neg(v)
    assert "neg %n" in str(b.finish())


def test_a_body_that_raised_has_no_end():
    b = Builder("left")
    with pytest.raises(ZeroDivisionError):
        with b.kernel("left"):
            raise ZeroDivisionError
    with pytest.raises(grout.KernelError, match="has left a body"):
        b.finish()


def test_a_finished_builder_is_done():
    b = Builder("done")
    with b.kernel("done"):
        n = b.scalar("n", "i32")
    assert b.finish() is not None
    with pytest.raises(grout.KernelError, match="finished"):
        b.neg(n)


def build_with_a_require():
    b = Builder("large")
    N = b.const("N", 4)
    b.require(N > 32, "N is large")
    with b.kernel("large"):
        y = b.array("y", "out", "i32", N)
        y[...] = b.iota(dim=0, dtype="i32", shape=(N,))
        assert y.shape is None  # no sizes without values that fit
    return b


def test_defaults_that_do_not_fit_may_stay():
    with pytest.raises(grout.KernelError, match="N is large"):
        build_with_a_require().finish()
    assert len(build_with_a_require().finish(verify=False)["large"].run(values={"N": 40})) == 40


def test_unchecked_calls_are_judged_at_the_end():
    b = Builder("late", checks=False)
    with b.kernel("late"):
        x = b.array("x", "in", "f32", 64)
        b.add(x, 1.0)  # late
    with pytest.raises(grout.KernelError) as raised:
        b.finish()
    assert raised.value.diagnostics[0].place.line == line_of("late")
