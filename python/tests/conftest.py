# SPDX-License-Identifier: Apache-2.0
"""What the tests share: kernels of the repository by name."""
import collections
import os
import pathlib
import signal

import pytest

import grout

# XLA makes what the tests compare with: it is not to be fast, but to come soon.
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
# A process in the background ignores it, and grout ignores what is ignored when it starts.
signal.signal(signal.SIGINT, signal.default_int_handler)
ROOT = pathlib.Path(__file__).resolve().parents[2]


def pytest_addoption(parser):
    parser.addoption("--each", type=int, default=1, metavar="N", help="run each N-th test of a file alone")
    parser.addoption("--few", type=int, default=1, metavar="N", help="run each N-th case of a test with many alone")


def pytest_collection_modifyitems(config, items):
    each, few, numbers, left_out = config.getoption("--each"), config.getoption("--few"), collections.Counter(), set()
    for item in items:
        function = (item.path, getattr(item, "originalname", item.name))
        numbers[item.path] += 1
        numbers[function] += 1
        if numbers[item.path] % each != 1 % each or numbers[function] % few != 1 % few:
            left_out.add(item)
    if left_out:
        config.hook.pytest_deselected(items=list(left_out))
        items[:] = [item for item in items if item not in left_out]


def pytest_configure(config):
    config.addinivalue_line("markers", "library: looks at the library below the package, which is the same for each "
                            "Python: CI runs it with one of them")


@pytest.fixture(scope="session")
def kernels():
    """The folder of kernels."""
    return ROOT / "kernels"


@pytest.fixture(scope="session")
def add_one(kernels):
    return grout.load(kernels / "add_one.grout", kernel="add_one_smem")


COUNT = """const N = 64, R = 100000
kernel @count(%x: in gmem i32[N] init(zeros), %y: out gmem i32[N])
{
  %sum = for %i in 0..R carry(%acc = (load %x)) {
    %next = add %acc, 1
    yield %next
  }
  store %y, %sum
}
"""


@pytest.fixture(scope="session")
def slow():
    """A kernel that takes some seconds, unless R is small."""
    return grout.load(COUNT)

