# SPDX-License-Identifier: Apache-2.0
"""The steps of JAX' tutorial on matmuls for Blackwell, as its test file has them
(tests/pallas/mgpu_examples_test.py)."""
import functools
import importlib.util
import os

import numpy as np

from . import Prepared, case, get_tests_folder
from .jax_matmul import small_whole

FILE = "mgpu_examples_test.py"
ORIGIN = "JAX' tutorial blackwell_matmul"


@functools.cache
def _load():
    path = os.path.join(get_tests_folder(), FILE)
    spec = importlib.util.spec_from_file_location("mgpu_examples_test", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# One cluster makes four tiles in steps 4 to 6, so it comes back to each accumulator.
@case("tutorial_0", ORIGIN, "step 0: a matmul, 128 x 128 x 64 tiles", step=0, tile_n=128)
@case("tutorial_1", ORIGIN, "step 1: warps that load and multiply", step=1, tile_n=128)
@case("tutorial_2", ORIGIN, "step 2: sums stored piece by piece", step=2, tile_n=128)
@case("tutorial_3", ORIGIN, "step 3: by pairs of CTAs", step=3)
@case("tutorial_4", ORIGIN, "step 4: persistent", step=4)
@case("tutorial_5", ORIGIN, "step 5: a thread that stores, two accumulators", step=5)
@case("tutorial_6", ORIGIN, "step 6: tiles in snakes", step=6, grid_minor_dim=0, grid_tile_width=2)
def make_step(step, tile_n=64, **config):
    """a @ b."""
    module = _load()
    config = module.TuningConfig(tile_m=128, tile_n=tile_n, tile_k=64, max_concurrent_steps=2, **config)
    rng = np.random.default_rng(5)
    a, b = small_whole(rng, (512, 256), np.float16), small_whole(rng, (256, 256), np.float16)
    return Prepared(lambda a, b: getattr(module, f"matmul{step}")(a, b, config), (a, b),
                    lambda: [(a.astype(np.float32) @ b.astype(np.float32)).astype(np.float16)], sms=2)
