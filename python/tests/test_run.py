# SPDX-License-Identifier: Apache-2.0
"""Runs: values, arrays that are made and given, what goes wrong."""
import numpy
import pytest

import grout


def test_outputs_are_made_or_given(add_one):
    x = numpy.arange(512, dtype="float32")
    y = add_one.run(x)
    assert isinstance(y, numpy.ndarray) and y.dtype == x.dtype and (y == x + 1).all()
    out = numpy.empty(512, "float32")
    assert add_one.run(x, y=out) is out and (out == x + 1).all()
    assert (add_one.run(x=x, N=512, B=32) == x + 1).all()


def test_several_outputs_have_names():
    kernel = grout.load("kernel @k(%x: in gmem i32[4], %y: out gmem i32[4], %z: inout gmem i32[4] init(7))\n{\n"
                        "  store %y, (add (load %x), 1)\n  store %z, (add (load %z), 2)\n}\n")
    x, z = numpy.arange(4, dtype="int32"), numpy.zeros(4, "int32")
    results = kernel.run(x, z=z)
    assert (results.y == x + 1).all() and results.z is z and (z == 2).all()
    assert (kernel.run(x=x).z == 9).all()  # of what its init says


def test_no_output():
    kernel = grout.load("kernel @k(%x: in gmem i32[4])\n{\n  %v = load %x\n}\n")
    assert kernel.run(numpy.zeros(4, "int32")) is None


@pytest.mark.parametrize("device", ["cpu", "ptx"])
def test_inputs_are_not_made_up(device):
    kernel = grout.load("kernel @k(%x: in gmem i32[4], %n: i32, %z: inout gmem i32[4] init(ones), "
                        "%y: out gmem i32[4])\n{\n  store %y, (add (load %x), (broadcast %n : i32[4]))\n}\n")
    x = numpy.zeros(4, "int32")
    with pytest.raises(grout.ArgumentError, match=r"@k, %x: in i32\[4\]: no array is given, and it has no init"):
        kernel.run(n=3, device=device)
    with pytest.raises(grout.ArgumentError, match="@k, %n: i32: no value is given"):
        kernel.run(x, device=device)
    assert kernel.check().is_clean
    assert (kernel.run(x, n=3).y == 3).all()


@pytest.mark.parametrize("value", [3, 3.0, numpy.float32(3), numpy.array(3, "float32")])
def test_scalars(value):
    kernel = grout.load("kernel @k(%s: f32, %y: out gmem f32[4])\n{\n  store %y, (broadcast %s : f32[4])\n}\n")
    assert (kernel.run(s=value) == 3).all()


@pytest.mark.parametrize("dtype, value, fits", [("i32", -1, True), ("i32", 1 << 31, False), ("u8", 255, True),
                                                ("u8", -1, False), ("u8", 256, False), ("i64", 1.5, False),
                                                ("i32", numpy.int64(7), True), ("f64", "1", False)])
def test_scalars_have_to_fit(dtype, value, fits):
    kernel = grout.load(f"kernel @k(%s: {dtype}, %y: out gmem "
                        f"{dtype}[2])\n{{\n  store %y, (broadcast %s : {dtype}[2])\n}}\n")
    if fits:
        assert (kernel.run(s=value) == value).all()
    else:
        with pytest.raises(grout.ArgumentError, match="@k, %s: "):
            kernel.run(s=value)


def test_lines_of_debug_print(capsys):
    kernel = grout.load("kernel @k(%y: out gmem f32[2])\n{\n  debug_print \"x is {}\", 3\n  store %y, (broadcast 1.0 : "
                        "f32[2])\n}\n")
    kernel.run()
    assert capsys.readouterr().out == "CTA 0, thread 0: x is 3\n"
    lines = []
    kernel.run(print=lines.append)
    kernel.check(print=lines.append)
    kernel.run(print=None)
    assert lines == ["CTA 0, thread 0: x is 3"] * 2 and capsys.readouterr().out == ""


def test_a_deadlock_is_an_error(kernels):
    kernel = grout.load(kernels / "bugs" / "missing_arrive.grout")
    with pytest.raises(grout.RunError, match="deadlock"):
        kernel.run(numpy.zeros((8, 256), "float32"))


def test_a_failed_debug_check_is_an_error():
    kernel = grout.load("kernel @k(%n: i32, %y: out gmem i32[2])\n{\n  debug_check (lt %n, 3), \"n is {}\", %n\n"
                        "  store %y, (broadcast %n : i32[2])\n}\n")
    assert (kernel.run(n=2) == 2).all()
    with pytest.raises(grout.RunError, match="n is 3") as caught:
        kernel.run(n=3)
    assert caught.value.diagnostics[0].code == "debug-check-failed"


def test_limits(slow):
    with pytest.raises(grout.RunError, match="max_steps"):
        slow.run(max_steps=10)
    with pytest.raises(grout.RunError, match="timeout"):
        slow.run(R=1 << 30, timeout=0.05)
    with pytest.raises((grout.RunError, MemoryError)):
        slow.run(max_memory=1)


def test_memory_of_a_long_kernel():
    """What the kernel is bound in counts: the arrays and the machine take next to nothing."""
    body = "".join(f"  %v{i} = add %v0, {i}\n" for i in range(1, 20000))
    kernel = grout.parse(f"kernel @k(%y: inout gmem i32[4] init(zeros))\n{{\n  %v0 = load %y[0]\n{body}}}\n")["k"]
    assert kernel.check(max_memory=1000000).verdict == "incomplete"
    with pytest.raises(MemoryError, match="max-memory"):
        kernel.run(max_memory=1000000)
    assert kernel.check(max_memory=400 << 20).is_clean


def test_the_same_for_every_number_of_threads(add_one):
    x = numpy.arange(1 << 14, dtype="float32")
    assert (add_one.run(x, threads=2) == x + 1).all()
    assert add_one.check(x, threads=2).is_clean


def test_an_output_has_bytes_of_its_own():
    kernel = grout.load("kernel @k(%x: in gmem i32[4], %y: out gmem i32[4])\n{\n  store %y, (add (load %x), 1)\n}\n")
    x = numpy.zeros(8, "int32")
    with pytest.raises(grout.ArgumentError, match="%y: .*bytes in common with %x"):
        kernel.run(x[:4], x[3:7])
    assert (kernel.run(x[:4], x[4:]) == 1).all()


def test_a_matmul_has_the_values_of_numpy(kernels):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    kernel = grout.load(kernels / "matmul_hopper.grout")
    generator = numpy.random.default_rng(0)
    operands = {}
    for param in kernel.params:
        if param.direction == "in":
            operands[param.name] = param
    a, b = list(operands.values())[:2]
    assert {a.dtype, b.dtype} <= {"bf16", "f16"}
    element = {"bf16": ml_dtypes.bfloat16, "f16": numpy.float16}[a.dtype]
    left = generator.integers(-3, 4, (256, 256)).astype(element)
    right = generator.integers(-3, 4, (256, 256)).astype(element)
    result = kernel.run(left, right)
    expected = (left.astype("float32") @ right.astype("float32")).astype(element).astype("float32")
    assert (numpy.asarray(result).astype("float32") == expected).all()


def test_a_list_of_another_length_gives_way():
    kernel = grout.load("const B = 2\nkernel @k(%n: in gmem i32[B] init([3, 4]), %y: out gmem i32[B])\n"
                        "{\n  store %y, (load %n)\n}\n")
    assert kernel.run().tolist() == [3, 4]
    assert kernel.run(numpy.array([5, 6, 7], numpy.int32)).tolist() == [5, 6, 7]
    with pytest.raises(grout.GroutError, match="n"):
        kernel.run(B=3)
    with pytest.raises(grout.GroutError, match="bad-init"):
        kernel.check(B=3).expect_clean()
