# SPDX-License-Identifier: Apache-2.0
"""Functions of Python that kernels call."""
import numpy
import pytest

import grout

TEXT = """const N = 5
kernel @k(%x: in gmem {dtype}[N] init(ones), %y: out gmem {dtype}[N])
{{
  store %y, (extern_elementwise "f", (load %x), 3 : {dtype})
}}
"""
TYPES = {"i8": "int8", "u8": "uint8", "i32": "int32", "u64": "uint64", "f16": "float16", "f32": "float32",
         "f64": "float64"}


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("call", ["run", "check"])
def test_values(dtype, call):
    seen = []

    def f(x, n):
        seen.append(n)
        return x + n

    kernel = grout.load(TEXT.format(dtype=dtype))
    x = numpy.arange(5).astype(TYPES[dtype])
    if call == "check":
        assert kernel.check(x, externs={"f": f, "unused": None}).is_clean
    else:
        assert (kernel.run(x, externs={"f": f}) == x + 3).all()
    assert seen and set(seen) == {3}


def test_integers_wrap():
    x = numpy.array([127, 1, 1, 1, -128], "int8")
    assert (grout.load(TEXT.format(dtype="i8")).run(x, externs={"f": lambda x, n: x + n}) == x + numpy.int8(3)).all()


def test_bools():
    kernel = grout.load("kernel @k(%x: in gmem i32[4], %y: out gmem bool[4])\n{\n"
                        "  store %y, (extern_elementwise \"odd\", (load %x) : bool)\n}\n")
    x = numpy.arange(4, dtype="int32")
    assert (kernel.run(x, externs={"odd": lambda x: x % 2 == 1}) == (x % 2 == 1)).all()


def test_a_function_that_is_not_given():
    with pytest.raises(grout.RunError) as caught:
        grout.load(TEXT.format(dtype="f32")).run()
    assert caught.value.diagnostics[0].code == "extern-missing"


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_exceptions_come_out(error):
    def f(x, n):
        raise error

    with pytest.raises(error):
        grout.load(TEXT.format(dtype="f32")).run(externs={"f": f})


def test_a_result_of_another_type():
    with pytest.raises((TypeError, AttributeError)):
        grout.load(TEXT.format(dtype="i32")).run(externs={"f": lambda x, n: "text"})
