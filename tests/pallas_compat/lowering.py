"""Asks JAX to lower the kernels of a test for a GPU, which needs none: whether its own lowering takes them.

SPDX-License-Identifier: Apache-2.0
"""
import jax
import jax.experimental.pallas.mosaic_gpu as plgpu


class Lowered(Exception):
    """The first kernel of a test was lowered, and that is all that is asked."""


def _lower(answers, make, *args, **kwargs):
    """In place of plgpu.kernel: the kernel is lowered where it is called, and the answer noted; unittest hides
    errors."""
    if not args:
        return lambda body: _lower(answers, make, body, **kwargs)
    kernel = make(*args, **{name: value for name, value in kwargs.items() if name != "interpret"})

    def call(*arrays):
        try:
            jax.jit(kernel).trace(*arrays).lower(lowering_platforms=("cuda",))
        except Exception as error:
            answers.append(f"{type(error).__name__}: {error}")
            raise
        answers.append("")
        raise Lowered

    return call


def run_call(item):
    """A pytest_runtest_call: item.compat["lowering"] is '' where JAX lowers the first kernel, or JAX' error; it is
    missing where no kernel was called."""
    make, answers = plgpu.kernel, []
    own = lambda *args, **kwargs: _lower(answers, make, *args, **kwargs)
    places = [(module, name) for module in (plgpu, item.module) for name in ("kernel", "_kernel")
              if vars(module).get(name) is make]
    for module, name in places:
        setattr(module, name, own)
    try:
        return (yield)
    finally:
        for module, name in places:
            setattr(module, name, make)
        if answers:
            item.compat["lowering"] = answers[0]
