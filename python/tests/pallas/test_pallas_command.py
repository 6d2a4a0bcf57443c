# SPDX-License-Identifier: Apache-2.0
"""python -m grout.pallas: arguments, exit codes, outputs."""
import os
import subprocess
import sys

import numpy
import pytest

pytest.importorskip("jax")

import grout
from grout.pallas.__main__ import main

PROGRAM = """
import types
import jax, jax.numpy as jnp
from jax import lax
from jax.experimental.pallas import mosaic_gpu as plgpu

def _kernel(x, is_right):
    def body(x_ref, out, room):
        room[...] = x_ref[...] + 1
        if is_right:
            plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(room, out)
        plgpu.wait_smem_to_gmem(0)
    return plgpu.kernel(body, out_type=jax.ShapeDtypeStruct(x.shape, x.dtype), scratch_types=[
        plgpu.SMEM(x.shape, x.dtype)])(x)

def right(x):
    return _kernel(x, True)

def wrong(x):
    return _kernel(x, False)

def scaled(x, number):
    return _kernel(x * number, True)

def twice(x):
    return right(right(x))

def per_sm(x):
    def body(out):
        out[lax.axis_index("i")] = lax.axis_index("i")
    count = jax.devices()[0].core_count
    return plgpu.kernel(body, out_type=jax.ShapeDtypeStruct((count,), jnp.int32), grid=(count,), grid_names=("i",))()

def refused(x):
    return plgpu.kernel(lambda x_ref, out: out.__setitem__(..., lax.rem(x_ref[...], 2.0)),
                        out_type=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)

space = types.SimpleNamespace(inner=right)
"""


@pytest.fixture
def program(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "program.py").write_text(PROGRAM)
    sys.modules.pop("program", None)
    numpy.save(tmp_path / "x.npy", numpy.arange(64, dtype="float32"))
    return tmp_path


@pytest.mark.parametrize("function, arguments, code", (
    ("program.py:right", ["f32[64]"], 0), ("program:right", ["f16[2, 32]"], 0),
    ("program.py:space.inner", ["i32[64]"], 0), ("program.py:right", ["x.npy"], 0),
    ("program.py:right", ["bf16[64]"], 0), ("program.py:right", ["u8[64]"], 0),
    ("program.py:scaled", ["f32[64]", "3"], 0), ("program.py:scaled", ["f32[64]", "0.5"], 0),
    ("program.py:twice", ["f32[64]"], 0), ("program.py:wrong", ["f32[64]"], 1), ("program.py:refused", ["f32[64]"], 2)))
def test_check(program, capsys, function, arguments, code):
    assert main(["check", function, *arguments]) == code
    said = capsys.readouterr()
    if code == 0:
        assert "clean" in said.out
    elif code == 1:
        assert "missing-commit-smem" in said.out and "program.py:12" in said.out
    else:
        assert "'rem' takes integers" in said.err and "program.py:36" in said.err


def test_dump(program, capsys):
    assert main(["dump", "program.py:twice", "f32[64]"]) == 0
    text = capsys.readouterr().out
    assert text.count("kernel @") == 2
    assert main(["dump", "program.py:right", "f32[64]", "-o", "out.grout"]) == 0
    assert capsys.readouterr().out == ""
    loaded = grout.load("out.grout")
    assert loaded.check(numpy.ones(64, "float32")).is_clean
    assert sorted(path.name for path in program.iterdir() if path.name.startswith("out")) == ["out.grout"]
    assert main(["dump", "program.py:per_sm", "f32[1]", "--sms", "5"]) == 0
    assert "grid(i = 5)" in capsys.readouterr().out


def test_emit(program, capsys):
    assert main(["-o", "out.cu", "emit", "program.py:right", "f32[64]", "--wgmma", "documented"]) == 0
    assert "__global__" in (program / "out.cu").read_text()
    assert capsys.readouterr().out == ""


def test_the_numbers_of_check_have_a_seed(program, capsys):
    (program / "show.py").write_text("""
def show(x, y):
    print(x[:16].tolist(), y.dtype)
    return x
""")
    assert main(["check", "show.py:show", "u8[64]", "bool[4]", "--seed", "3"]) == 0
    first = capsys.readouterr().out
    assert main(["check", "show.py:show", "u8[64]", "bool[4]", "--seed", "3"]) == 0
    assert capsys.readouterr().out == first and "no kernel for Mosaic GPU" in first and "bool" in first
    assert main(["check", "show.py:show", "u8[64]", "bool[4]", "--seed", "4"]) == 0
    assert capsys.readouterr().out != first


class Executed:
    """What a pickle runs when it is read."""

    def __reduce__(self):
        return os._exit, (99,)


@pytest.mark.parametrize("arguments, words", (
    (["check", "program.py", "f32[64]"], "not a FUNCTION"), (["check", "nothing.py:f"], "no file 'nothing.py'"),
    (["check", "program.py:nothing"], "has no 'nothing'"), (["check", "no.such.module:f"], "cannot import"),
    (["check", "program.py:right", "f99[64]"], "no element type 'f99'"),
    (["check", "program.py:right", "much"], "not an ARGUMENT"),
    (["check", "program.py:right", "nothing.npy"], "nothing.npy"),
    (["dump", "program.py:right", "f32[64]", "-o", "no/such/folder"], "cannot write"),
    (["dump", "program.py:right", "f32[64]", "--sms", "0"], "--sms=0: it is a whole number from 1"),
    (["dump", "program.py:right", "f32[64]", "--sms", "-1"], "--sms=-1"),
    (["dump", "program.py:right", "f32[64]", "--sms", "4294967296"], "--sms=4294967296"),
    (["check", "program.py:right", "f32[64]", "--seed", "-1"], "--seed=-1: it is a whole number from 0"),
    (["check", "program.py:right", "f32[1000000000000,1000000000000]"], "no memory for"),
    (["check", "program.py:right", "f32[99999999999999999999]"], "no memory for"),
    (["check", "program.py:right", "objects.npy"], "cannot read 'objects.npy'"),
    (["check", "program.py:right", "archive.npy"], "it is an archive"),
    (["check", "program.py:right", "empty.npy"], "cannot read 'empty.npy'"),
    (["check", "program.py:right", "huge.npy"], "cannot read 'huge.npy'"),
    (["check", "program.py:right"], "missing 1 required positional argument")))
def test_mistakes_end_with_2(program, capsys, arguments, words):
    numpy.save(program / "objects.npy", numpy.array([Executed()], object), allow_pickle=True)
    with open(program / "archive.npy", "wb") as file:
        numpy.savez(file, x=numpy.zeros(64, "float32"))
    (program / "empty.npy").write_bytes(b"")
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1152921504606846975, 64)}\n"
    (program / "huge.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    assert main(arguments) == 2
    said = capsys.readouterr()
    assert words in said.err and not said.out


def test_usage(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["chekc"])
    assert stop.value.code == 2
    with pytest.raises(SystemExit) as stop:
        main(["--help"])
    assert stop.value.code == 0 and "matmul.py:matmul" in capsys.readouterr().out


def test_it_runs_as_a_command(program):
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, "-m", "grout.pallas", "check", "program.py:wrong", "f32[64]"], env=env,
                          cwd=program, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 1 and "missing-commit-smem" in done.stdout, done


def test_a_severity(program, capsys):
    words = ["check", "program.py:wrong", "f32[64]", "--severity"]
    assert main([*words, "missing-commit-smem=warning"]) == 0
    printed = capsys.readouterr().out
    assert ": warning: TMA may read stale bytes" in printed and "@body: warning, 1 warning" in printed
    assert main([*words, "smem-race=warning"]) == 1
    assert main([*words, "missing-commit-smem=off"]) == 2
    assert "--severity: 'missing-commit-smem' can be 'error' or 'warning', not 'off'" in capsys.readouterr().err
