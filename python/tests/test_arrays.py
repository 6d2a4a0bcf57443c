# SPDX-License-Identifier: Apache-2.0
"""Arrays of NumPy, ml_dtypes, JAX and torch: without copies, and what is refused."""
import numpy
import pytest

import grout

COPY = "const N = 8\nkernel @copy(%x: in gmem {0}[N], %y: out gmem {0}[N])\n{{\n  store %y, (load %x)\n}}\n"
NUMPY = {"bool": "bool", "i8": "int8", "u8": "uint8", "i16": "int16", "u16": "uint16", "i32": "int32", "u32": "uint32",
         "i64": "int64", "u64": "uint64", "f16": "float16", "f32": "float32", "f64": "float64"}
ML_DTYPES = {"bf16": "bfloat16", "f8e4m3": "float8_e4m3fn", "f8e5m2": "float8_e5m2", "f8e8m0": "float8_e8m0fnu",
             "f6e2m3": "float6_e2m3fn", "f6e3m2": "float6_e3m2fn"}


def copy_kernel(dtype):
    return grout.load(COPY.format(dtype))


@pytest.mark.parametrize("dtype", NUMPY)
def test_numpy(dtype):
    x = (numpy.arange(8) % 2 if dtype == "bool" else numpy.arange(8)).astype(NUMPY[dtype])
    y = copy_kernel(dtype).run(x)
    assert y.dtype == x.dtype and (y == x).all()


@pytest.mark.parametrize("dtype", ML_DTYPES)
def test_ml_dtypes(dtype):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = numpy.array([0.5, 1, 2, 4, 1, 2, 4, 2], "float32").astype(getattr(ml_dtypes, ML_DTYPES[dtype]))
    y = copy_kernel(dtype).run(x)
    assert y.dtype == x.dtype and y.tobytes() == x.tobytes()


def test_raw_bytes_of_small_floats():
    raw = numpy.arange(8, dtype="uint16")
    out = numpy.empty(8, "uint16")
    copy_kernel("bf16").run(raw, out)
    assert (out == raw).all()


def test_two_elements_in_a_byte():
    raw = numpy.arange(4, dtype="uint8")
    y = copy_kernel("u4").run(raw)
    assert y.dtype == numpy.uint8 and (y == raw).all()
    with pytest.raises(grout.ArgumentError, match="2 elements in a byte: pass the bytes, uint8 of shape"):
        copy_kernel("u4").run(numpy.arange(8, dtype="uint8"), N=8)


def test_arrays_are_used_where_they_lie():
    big = numpy.zeros(32, "float32")
    x = big[8:16]  # contiguous, at an offset
    x[:] = 3
    out = big[24:]
    copy_kernel("f32").run(x, out)
    assert (big[24:] == 3).all() and not big[16:24].any()


@pytest.mark.parametrize("make, why", [
    (lambda: numpy.zeros(8, "float64"), "the elements are f64, not f32"),
    (lambda: numpy.zeros(8, "complex64"), "the elements are complex64, not f32"),
    (lambda: numpy.zeros(8, ">f4"), "byte order"),
    (lambda: numpy.zeros((8, 1), "float32"), "the shape is .8, 1., not .8,.: it has 1 dimension"),
    (lambda: numpy.zeros(16, "float32")[::2], "the strides are .8,. bytes"),
    (lambda: numpy.zeros(33, "uint8")[1:].view("float32"), "an address that is not a multiple of 4"),
    (lambda: numpy.zeros(8, object), "its elements are Python objects .object."),
    (lambda: numpy.zeros(8, [("a", "f4"), ("b", object)]), "its elements are Python objects"),
    (lambda: [0.0] * 8, "a list is not an array"),
    (lambda: "text", "a str is not an array"),
])
def test_other_arrays_are_refused(make, why):
    with pytest.raises(grout.ArgumentError, match=f"@copy, %x.*{why}"):
        copy_kernel("f32").run(make())


def test_shapes_have_to_agree():
    kernel = grout.load("const N = 8\nkernel @k(%x: in gmem f32[N, 4], %y: out gmem f32[N])\n{\n"
                        "  store %y, (reduce_sum (load %x) dim(1))\n}\n")
    with pytest.raises(grout.ArgumentError, match="dimension 1, 4, is 4"):
        kernel.run(numpy.zeros((8, 5), "float32"))
    with pytest.raises(grout.ArgumentError, match="const N is 8 by dimension 0 of %x and 9 by dimension 0 of %y"):
        kernel.run(numpy.zeros((8, 4), "float32"), numpy.zeros(9, "float32"))
    with pytest.raises(grout.ArgumentError, match="dimension 0, N, is 16"):
        kernel.run(numpy.zeros((8, 4), "float32"), N=16)


def test_read_only_outputs_are_refused():
    y = numpy.zeros(8, "float32")
    y.flags.writeable = False
    x = numpy.ones(8, "float32")
    with pytest.raises(grout.ArgumentError, match="%y.*read-only"):
        copy_kernel("f32").run(x, y)
    x.flags.writeable = False
    assert (copy_kernel("f32").run(x) == 1).all()


def test_objects_with_an_array_inside():
    class Wrapped:
        def __init__(self, array):
            self.__array_interface__ = array.__array_interface__
            self.array = array

    class Exporter:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **keywords):
            return self.array.__dlpack__(**keywords)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    x = numpy.arange(8, dtype="float32")
    assert (copy_kernel("f32").run(Wrapped(x)) == x).all()
    assert (copy_kernel("f32").run(Exporter(x)) == x).all()


def test_torch():
    torch = pytest.importorskip("torch")
    x = torch.arange(8, dtype=torch.bfloat16)
    y = torch.empty(8, dtype=torch.bfloat16)
    assert copy_kernel("bf16").run(x, y) is y and torch.equal(x, y)
    with pytest.raises(grout.ArgumentError, match="strides"):
        copy_kernel("bf16").run(torch.zeros(16, dtype=torch.bfloat16)[::2])
    with pytest.raises(grout.ArgumentError, match="read-only"):
        copy_kernel("f32").run(torch.zeros(8), torch.zeros(8, requires_grad=True))
    with pytest.raises(grout.ArgumentError, match="device 'meta'"):
        copy_kernel("f32").run(torch.zeros(8, device="meta"))


def test_jax():
    jax = pytest.importorskip("jax")
    x = jax.numpy.arange(8, dtype="bfloat16")
    y = copy_kernel("bf16").run(x)
    assert y.tobytes() == numpy.asarray(x).tobytes()
    assert grout._arrays.view_of(x).address == x.unsafe_buffer_pointer()
    with pytest.raises(grout.ArgumentError, match="read-only"):
        copy_kernel("bf16").run(x, x + 1)
