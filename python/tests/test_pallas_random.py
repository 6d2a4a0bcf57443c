# SPDX-License-Identifier: Apache-2.0
"""Random Pallas kernels: the first ones. 'python pallas_random.py FIRST COUNT' tries more."""
import pytest

pytest.importorskip("jax")
import pallas_random  # noqa: E402


@pytest.mark.parametrize("first", [0, 8])
def test_random_kernels(first):
    for seed in range(first, first + 8):
        pallas_random.try_case(seed)
