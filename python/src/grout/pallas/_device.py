# SPDX-License-Identifier: Apache-2.0
"""Answers of a GPU that is not there, for kernels that ask it while they are traced."""
from __future__ import annotations

import contextlib
import dataclasses
import re
import sys
import threading
import types
import typing

SMS = 132  # of an H100

_LOCK = threading.Lock()
_HERE = threading.local()  # answers: those of the sessions of this thread, the innermost last
_undo: typing.List[typing.Callable] = []
_sessions = 0  # of all threads


@dataclasses.dataclass(frozen=True)
class Device:
    """What kernels are told of their device. sms: how many SMs it has; None: what it says, or 132. capability: its compute
    capability, such as '8.0'; None: what it says, or '9.0'."""

    sms: typing.Optional[int] = None
    capability: typing.Optional[str] = None

    def __post_init__(self):
        if self.capability is not None and not re.fullmatch(r"\d+\.\d", self.capability):
            raise ValueError(f"capability={self.capability!r}: it is a compute capability, such as '8.0'")

    @property
    def answers(self) -> typing.Dict[str, object]:
        """By the name that JAX has for it."""
        given = {"core_count": self.sms, "compute_capability": self.capability}
        return {name: value for name, value in given.items() if value is not None}


@contextlib.contextmanager
def pretend(device: Device) -> typing.Iterator[None]:
    """Devices answer this in the body, for this thread.

    Kernels ask for core_count to choose their grid, for the compute capability and for the version of CUDA.
    """
    global _sessions  # pylint: disable=global-statement
    with _LOCK:
        if _sessions == 0:
            _answer("core_count", SMS)
            _answer("compute_capability", "9.0")
            _answer_cuda_version()
        _sessions += 1
    before = _HERE.__dict__.setdefault("answers", [])
    before.append(device.answers)
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
