# SPDX-License-Identifier: Apache-2.0
"""pytest --grout: suites of others, run in this process and in their own."""
import contextlib
import importlib.metadata
import io
import os
import subprocess
import sys

import pytest

pytest.importorskip("jax")

PLUGIN = [] if any(entry.value == "grout.pytest_plugin"
                   for entry in importlib.metadata.entry_points(group="pytest11")) \
    else ["-p", "grout.pytest_plugin"]

SUITE = """
import numpy, pytest, jax, jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu
from jax import lax

S, X = jax.ShapeDtypeStruct, numpy.arange(128, dtype="float32")

def copy(is_right, number=1.0, size=128):
    def body(x_ref, out, room):
        room[...] = x_ref[...] + number
        if is_right:
            plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(room, out)
        plgpu.wait_smem_to_gmem(0)
    return plgpu.kernel(body, out_type=S((size,), jnp.float32), scratch_types=[plgpu.SMEM((size,), jnp.float32)])

def half():
    def body(x_ref, out):
        out[pl_ds(0, 64)] = x_ref[pl_ds(0, 64)]
    return plgpu.kernel(body, out_type=S((128,), jnp.float32))

from jax.experimental import pallas as pl
pl_ds = pl.ds
"""


class Outcomes:
    """Notes how the tests of a suite end."""

    def __init__(self):
        self.by_test = {}
        self.sections = {}

    def pytest_runtest_logreport(self, report):
        name = report.nodeid.rpartition("::")[2]
        if report.when == "call" or report.outcome != "passed":
            outcome = report.outcome if report.when == "call" or report.skipped else f"error in {report.when}"
            self.by_test[name] = ("x" if hasattr(report, "wasxfail") else "") + outcome
        self.sections[name] = "".join(text for title, text in report.sections if "grout" in title) or \
            self.sections.get(name, "")


def run(folder, text, *options):
    """A suite in this process: how its tests end, and what is printed."""
    path = folder / "test_it.py"
    path.write_text(SUITE + text)
    sys.modules.pop("test_it", None)  # of the run before
    outcomes, printed = Outcomes(), io.StringIO()
    with contextlib.redirect_stdout(printed):
        # without the plugin that collects garbage at the end, which takes longer than a suite
        code = pytest.main([*PLUGIN, "-q", "-p", "no:cacheprovider", "-p", "no:unraisableexception", "--capture=sys",
                            f"--rootdir={folder}", "-c", "/dev/null", "--import-mode=importlib", "--tb=short", *options,
                            str(path)], plugins=[outcomes])
    return outcomes, printed.getvalue(), code


TESTS = """
def test_right():
    assert numpy.asarray(copy(True)(X))[3] == 4

def test_wrong():
    copy(False)(X)

def test_wrong_and_fails():
    copy(False)(X)
    assert False, "mine"

@pytest.mark.xfail(strict=True)
def test_expected():
    copy(False)(X)

@pytest.mark.parametrize("number", (1.0, 2.0))
def test_parameters(number):
    assert numpy.asarray(copy(number == 1, number)(X))[0] == number

@pytest.fixture
def made():
    return copy(True)(X)

@pytest.fixture
def made_wrongly():
    return copy(False)(X)

def test_fixture(made):
    assert numpy.asarray(made)[0] == 1

def test_wrong_fixture(made_wrongly):
    pass

def test_half():
    half()(X)

def test_no_kernel():
    assert jnp.sin(0.0) == 0

def test_unsupported():
    plgpu.kernel(lambda x_ref, out: out.__setitem__(..., lax.rem(x_ref[...], 2.0)), out_type=S((128,), jnp.float32))(X)
"""


def test_a_suite(tmp_path):
    outcomes, text, code = run(tmp_path, TESTS, "--grout")
    assert outcomes.by_test == {
        "test_right": "passed", "test_wrong": "failed", "test_wrong_and_fails": "failed", "test_expected": "xskipped",
        "test_parameters[1.0]": "passed", "test_parameters[2.0]": "failed", "test_fixture": "passed",
        "test_wrong_fixture": "error in setup", "test_half": "passed", "test_no_kernel": "passed",
        "test_unsupported": "failed"}, text
    assert code == 1
    assert "grout: missing-commit-smem" in text and "plgpu.copy_smem_to_gmem(room, out)" in text
    assert "missing-commit-smem" in outcomes.sections["test_wrong_and_fails"] and "mine" in text
    assert "'rem' takes integers" in text
    assert "kernels read" in text and "with errors" in text


def test_the_same_without_the_checker(tmp_path):
    outcomes, text, _ = run(tmp_path, TESTS, "--grout-run")
    # the bytes that TMA may miss are no numbers here
    wrong = {name for name, outcome in outcomes.by_test.items() if outcome != "passed"}
    assert wrong == {"test_wrong_and_fails", "test_expected", "test_parameters[2.0]", "test_unsupported"}, text
    assert "missing-commit-smem" not in text and "checked" not in text


def test_warnings_fail_where_they_are_to(tmp_path):
    tests = """
def test_half():
    half()(X)

def test_right():
    copy(True)(X)
"""
    outcomes, text, _ = run(tmp_path, tests, "--grout", "--grout-warnings")
    assert outcomes.by_test == {"test_right": "passed", "test_half": "failed"}, text
    assert "output-not-written" in text


def test_its_options(tmp_path):
    tests = """
def test_sms():
    assert jax.devices()[0].core_count == 5

def test_slow():
    def body(x_ref, out):
        out[...] = lax.fori_loop(0, 10**8, lambda i, c: c + 1.0, x_ref[...])
    plgpu.kernel(body, out_type=S((128,), jnp.float32))(X)
"""
    outcomes, text, _ = run(tmp_path, tests, "--grout", "--grout-sms", "5", "--grout-timeout", "0.2")
    assert outcomes.by_test == {"test_sms": "passed", "test_slow": "failed"}, text
    assert "incomplete" in text


@pytest.mark.parametrize("option, values", (
    ("--grout-timeout", ("nan", "inf", "-inf", "0", "-1", "1e999", "-0.0", "0x10", "", " ")),
    ("--grout-sms", ("0", "-1", "4294967296", "9" * 30, "1.5", "nan", "0x10", "", "1e3"))))
def test_numbers_that_there_cannot_be(tmp_path, capfd, option, values):
    for value in values:
        code = run(tmp_path, TESTS, "--grout", f"{option}={value}")[2]
        said = capfd.readouterr()
        assert code == pytest.ExitCode.USAGE_ERROR and option in said.err, (value, code, said)


def test_without_the_option_nothing_happens(tmp_path):
    outcomes, text, _ = run(tmp_path, TESTS, "-k", "right or no_kernel")
    assert outcomes.by_test == {"test_right": "failed", "test_no_kernel": "passed"}, text
    assert "grout:" not in text


PLAIN = """
import sys

def test_plain(request):
    is_on = request.config.getoption("--grout")
    assert ("grout.pallas" in sys.modules) >= is_on
    assert is_on or "jax" not in sys.modules
"""


def test_suites_without_jax(tmp_path):
    (tmp_path / "test_it.py").write_text(PLAIN)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run([sys.executable, "-m", "pytest", "-p", "grout.pytest_plugin", "-q", "-p", "no:cacheprovider",
                           "."],
                          cwd=tmp_path, env=env, text=True, capture_output=True, check=False, timeout=120)
    assert done.returncode == 0 and "grout" not in done.stdout, done.stdout
    outcomes, text, code = run(tmp_path, PLAIN, "--grout")
    assert code == 0 and "grout: 0 kernels read, 0 calls checked" in text and \
            outcomes.by_test == {"test_plain": "passed"}


def test_a_severity(tmp_path):
    tests = """
def test_wrong():
    copy(False)(X)

def test_right():
    copy(True)(X)
"""
    outcomes, text, code = run(tmp_path, tests, "--grout", "--grout-severity", "missing-commit-smem=warning")
    assert outcomes.by_test == {"test_wrong": "passed", "test_right": "passed"} and code == 0, text
    assert "0 with errors, 0 incomplete, 1 with a warning in place of an error (--grout-severity)" in text
    # Warnings fail tests where they are to, and another code lowers nothing.
    outcomes, text, _ = run(tmp_path, tests, "--grout", "--grout-warnings", "--grout-severity",
                            "missing-commit-smem=warning")
    assert outcomes.by_test == {"test_wrong": "failed", "test_right": "passed"}
    assert "warning: TMA may read stale bytes" in text and "@body: warning, 1 warning" in text
    outcomes, text, _ = run(tmp_path, tests, "--grout", "--grout-severity", "smem-race=warning")
    assert outcomes.by_test == {"test_wrong": "failed", "test_right": "passed"}


@pytest.mark.parametrize("options, why", [
    (["--grout", "--grout-severity", "missing-commit-smem"], "write CODE=warning or CODE=error"),
    (["--grout", "--grout-severity", "missing-commit-smem=off"], "can be 'error' or 'warning', not 'off'"),
    (["--grout", "--grout-severity", "missing=warning"], "--grout-severity: there is no code 'missing'"),
    (["--grout-run", "--grout-severity", "smem-race=warning"], "goes with --grout")])
def test_severities_that_are_none(tmp_path, capsys, options, why):
    _, _, code = run(tmp_path, "def test_it():\n    pass\n", *options)
    assert code == pytest.ExitCode.USAGE_ERROR and why in capsys.readouterr().err


ASKING = """
IS_GPU = jax.default_backend() == "gpu"

@pytest.mark.skipif(not IS_GPU, reason="no GPU")
def test_needs_a_gpu():
    device, = jax.devices("cuda")
    assert device.platform == "gpu" and device.compute_capability == CAPABILITY and KIND in device.device_kind
    assert jax.devices()[0].core_count == SMS and jax.local_device_count("gpu") == 1
    assert jax.local_devices()[0].shared_memory_per_block_optin == 227 << 10
    assert (copy(True)(X) == X + 1).all()  # JAX itself goes by what is there

def test_of_jax():
    from jax._src import test_util
    assert test_util.is_cuda_compute_capability_at_least(CAPABILITY) == IS_GPU
    assert test_util.test_device_matches(["cuda"]) == IS_GPU
    assert not test_util.is_cuda_compute_capability_at_least("12.0")
"""


@pytest.mark.parametrize("gpu, capability, kind, sms", (("h100", "9.0", "H100", 132), ("b200", "10.0", "B200", 148)))
def test_a_device_that_says_it_is_a_gpu(tmp_path, gpu, capability, kind, sms):
    pytest.importorskip("jax._src.test_util")
    text = ASKING.replace("CAPABILITY", f"'{capability}'").replace("KIND", f"'{kind}'").replace("SMS", str(sms))
    plain, _, _ = run(tmp_path, text, "--grout")
    assert plain.by_test == {"test_needs_a_gpu": "skipped", "test_of_jax": "passed"}
    outcomes, printed, _ = run(tmp_path, text, f"--grout={gpu}")
    assert outcomes.by_test == {"test_needs_a_gpu": "passed", "test_of_jax": "passed"}, printed
    assert "1 kernels read, 1 calls checked" in printed
    import jax
    assert jax.default_backend() == "cpu" and jax.devices()[0].platform == "cpu"


def test_a_device_with_other_sms(tmp_path):
    text = "def test_asks():\n    assert jax.devices()[0].core_count == 7 and jax.default_backend() == 'gpu'\n"
    outcomes, printed, _ = run(tmp_path, text, "--grout=h100", "--grout-sms", "7")
    assert outcomes.by_test == {"test_asks": "passed"}, printed


def test_a_gpu_that_nobody_knows(tmp_path):
    _, _, code = run(tmp_path, "def test_it():\n    pass\n", "--grout=h300")
    assert code == pytest.ExitCode.USAGE_ERROR
