# SPDX-License-Identifier: Apache-2.0
"""Answers of a GPU that is not there, for kernels that ask it while they are traced."""
from __future__ import annotations

import contextlib
import sys
import threading
import types
import typing

SMS = 132  # of an H100

_LOCK = threading.Lock()
_HERE = threading.local()  # answers: those of the sessions of this thread, the innermost last
_undo: typing.List[typing.Callable] = []
_sessions = 0  # of all threads


@contextlib.contextmanager
def pretend(sms: typing.Optional[int]) -> typing.Iterator[None]:
    """Devices have so many SMs in the body, for this thread; None: those that do not know are said to have 132.

    Kernels ask for core_count to choose their grid, and for the version of CUDA.
    """
    global _sessions  # pylint: disable=global-statement
    with _LOCK:
        if _sessions == 0:
            _answer("core_count", SMS)
            _answer("compute_capability", "9.0")
            _answer_cuda_version()
        _sessions += 1
    before = _HERE.__dict__.setdefault("answers", [])
    before.append({} if sms is None else {"core_count": sms})
    try:
        yield
    finally:
        before.pop()
        with _LOCK:
            _sessions -= 1
            while _sessions == 0 and _undo:
                _undo.pop()()


def _answer(name: str, default) -> None:
    import jax  # pylint: disable=import-outside-toplevel
    device = jax.devices()[0]
    kind = type(device)
    knows = hasattr(device, name)
    own = next((parent.__dict__[name] for parent in kind.__mro__ if name in parent.__dict__), None)
    before = kind.__dict__.get(name)

    def answer(self):
        answers = getattr(_HERE, "answers", ())
        if answers and name in answers[-1]:
            return answers[-1][name]
        if answers and not knows:
            return default
        if knows and own is not None:
            return own.__get__(self, kind)
        raise AttributeError(f"{kind.__name__!r} object has no attribute {name!r}")

    try:
        setattr(kind, name, property(answer))
    except TypeError:
        return  # a device that cannot be changed: the kernel says what it misses
    _undo.append(lambda: setattr(kind, name, before) if before is not None else delattr(kind, name))


def _answer_cuda_version() -> None:
    """JAX without CUDA has None where kernels ask for the version."""
    answer = types.SimpleNamespace(cuda_runtime_get_version=lambda: 13000)
    holders = [module for name, module in list(sys.modules.items())
               if name == "jax._src.lib" or name.startswith("jax.experimental.pallas.ops.")]
    for module in holders:
        if getattr(module, "cuda_versions", answer) is None:
            setattr(module, "cuda_versions", answer)
            _undo.append(lambda module=module: setattr(module, "cuda_versions", None))
