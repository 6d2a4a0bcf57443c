# SPDX-License-Identifier: Apache-2.0
"""Answers of a GPU that is not there, for kernels that ask it while they are traced."""
from __future__ import annotations

import contextlib
import sys
import types
import typing

SMS = 132  # of an H100


@contextlib.contextmanager
def pretend(sms: typing.Optional[int]) -> typing.Iterator[None]:
    """Devices have so many SMs in the body; None: those that do not know are said to have 132.

    Kernels ask for core_count to choose their grid, and for the version of CUDA.
    """
    undo: typing.List[typing.Callable] = []
    for name, value in (("core_count", SMS if sms is None else sms), ("compute_capability", "9.0")):
        _answer(name, value, name == "core_count" and sms is not None, undo)
    _answer_cuda_version(undo)
    try:
        yield
    finally:
        for step in reversed(undo):
            step()


def _answer(name: str, value, overrides: bool, undo) -> None:
    import jax  # pylint: disable=import-outside-toplevel
    device = jax.devices()[0]
    kind = type(device)
    if hasattr(device, name) and not overrides:
        return
    before = kind.__dict__.get(name)
    try:
        setattr(kind, name, property(lambda self: value))
    except TypeError:
        return  # a device that cannot be changed: the kernel says what it misses
    undo.append(lambda: setattr(kind, name, before) if before is not None else delattr(kind, name))


def _answer_cuda_version(undo) -> None:
    """JAX without CUDA has None where kernels ask for the version."""
    answer = types.SimpleNamespace(cuda_runtime_get_version=lambda: 13000)
    holders = [module for name, module in list(sys.modules.items())
               if name == "jax._src.lib" or name.startswith("jax.experimental.pallas.ops.")]
    for module in holders:
        if getattr(module, "cuda_versions", answer) is None:
            setattr(module, "cuda_versions", answer)
            undo.append(lambda module=module: setattr(module, "cuda_versions", None))
