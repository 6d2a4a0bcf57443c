# SPDX-License-Identifier: Apache-2.0
"""Answers of a GPU that is not there, for kernels and tests that ask what they run on."""
from __future__ import annotations

import contextlib
import dataclasses
import sys
import threading
import types
import typing

from .._limits import COUNT32_MAX, read_count
from . import _jax

_LOCK = threading.Lock()
_HERE = threading.local()  # answers: those of the sessions of this thread, the innermost last
_undo: list[typing.Callable[..., typing.Any]] = []
_sessions = 0  # of all threads


@dataclasses.dataclass(frozen=True)
class Gpu:
    """What a device says of itself."""

    core_count: int
    compute_capability: str
    device_kind: str
    shared_memory_per_block_optin: int  # bytes


GPUS = {"a100": Gpu(108, "8.0", "NVIDIA A100-SXM4-80GB", 163 << 10),
        "h100": Gpu(132, "9.0", "NVIDIA H100 80GB HBM3", 227 << 10), "b200": Gpu(148, "10.0", "NVIDIA B200", 227 << 10)}
PLATFORM = "gpu"
_NAMES = ("gpu", "cuda")  # that JAX has for backends of this platform
# What a device that knows nothing of it says in a session that names no GPU: kernels ask for these to choose their
# grid.
_DEFAULTS = {name: getattr(GPUS["h100"], name)
             for name in ("core_count", "compute_capability", "shared_memory_per_block_optin")}


@contextlib.contextmanager
def pretend(sms: int | None, gpu: str | None = None) -> typing.Iterator[None]:
    """In the body devices say, for this thread, that they have this many SMs; None: as many as they know of, or 132.

    gpu: a name of GPUS, which devices then say they are: to everybody but JAX itself, which compiles for what is there.
    """
    global _sessions
    answers = _list_answers(sms, gpu)
    with _LOCK:
        if _sessions == 0:
            _answer_devices()
            _answer_cuda_version()
        if gpu is not None:
            _answer_backends()
        _sessions += 1
    before = _HERE.__dict__.setdefault("answers", [])
    before.append(answers)
    try:
        yield
    finally:
        before.pop()
        with _LOCK:
            _sessions -= 1
            while _sessions == 0 and _undo:
                _undo.pop()()


def _list_answers(sms: int | None, gpu: str | None) -> dict[str, object]:
    if gpu is not None and gpu not in GPUS:
        raise ValueError(f"gpu={gpu!r}: it is one of {', '.join(map(repr, GPUS))}")
    answers = {} if gpu is None else {**dataclasses.asdict(GPUS[gpu]), "platform": PLATFORM}
    return {**answers, **({} if sms is None else {"core_count": read_count("sms", sms, 1, COUNT32_MAX, ", or None")})}


def _get_answer(name: str) -> typing.Any:
    """The one of this thread's innermost session; None: it has none."""
    sessions = getattr(_HERE, "answers", ())
    return sessions[-1].get(name) if sessions else None


def _is_pretending() -> bool:
    return bool(getattr(_HERE, "answers", ()))


def _change(holder: typing.Any, name: str, value: typing.Any) -> None:
    """Sets an attribute until the last session ends."""
    had, before = name in vars(holder), vars(holder).get(name)
    try:
        setattr(holder, name, value)
    except TypeError:
        return  # a device that cannot be changed: the kernel says what it misses
    _undo.append(lambda: setattr(holder, name, before) if had else delattr(holder, name))


# ---- devices --------------------------------------------------------------------------------------------------------

def _answer_devices() -> None:
    import jax
    device = jax.devices()[0]
    for name in (*(field.name for field in dataclasses.fields(Gpu)), "platform"):
        _answer_device(device, name)


def _answer_device(device: typing.Any, name: str) -> None:
    kind = type(device)
    knows = hasattr(device, name)
    own = next((parent.__dict__[name] for parent in kind.__mro__ if name in parent.__dict__), None)

    def answer(self: typing.Any) -> typing.Any:
        given = _get_answer(name)
        # JAX chooses what it compiles by the platform, so it gets the true one.
        if given is not None and (name != "platform" or _jax.is_users(sys._getframe(1).f_code.co_filename)):
            return given
        if _is_pretending() and not knows and name in _DEFAULTS:
            return _DEFAULTS[name]
        if knows and own is not None:
            return own.__get__(self, kind)
        raise AttributeError(f"{kind.__name__!r} object has no attribute {name!r}")

    _change(kind, name, property(answer))


def _answer_cuda_version() -> None:
    """JAX without CUDA has None where kernels ask for the version."""
    answer = types.SimpleNamespace(cuda_runtime_get_version=lambda: 13000)
    holders = [module for name, module in list(sys.modules.items())
               if name in ("jax._src.lib", "jax._src.test_util") or name.startswith("jax.experimental.pallas.ops.")]
    for module in holders:
        if getattr(module, "cuda_versions", answer) is None:
            _change(module, "cuda_versions", answer)


# ---- backends -------------------------------------------------------------------------------------------------------

class _Backend:
    """The backend that is there, under the name of a GPU's."""

    platform, platform_version = PLATFORM, "cuda 13000"

    def __init__(self, real: typing.Any) -> None:
        self._real = real

    def __getattr__(self, name: str) -> typing.Any:
        return getattr(self._real, name)


class _Bridge:
    """jax._src.xla_bridge for JAX' own tests, which ask it what they run on."""

    def __init__(self, real: typing.Any) -> None:
        self._real = real

    def __getattr__(self, name: str) -> typing.Any:
        return getattr(self._real, name)

    def get_backend(self, platform: typing.Any = None) -> typing.Any:
        """The backend, under another name in a session with a GPU."""
        if _get_answer("platform") is None:
            return self._real.get_backend(platform)
        return _Backend(self._real.get_backend(None if platform in _NAMES else platform))

    def local_devices(self, process_index: typing.Any = None, backend: typing.Any = None,
                      host_id: typing.Any = None) -> typing.Any:
        """Devices of the GPU are those that are there."""
        is_gpu = _get_answer("platform") is not None and backend in _NAMES
        return self._real.local_devices(process_index, None if is_gpu else backend, host_id)


def _answer_backends() -> None:
    """The functions of JAX that users ask for platforms. JAX itself does not go by them."""
    import jax
    if not getattr(jax.default_backend, "is_grouts", False):
        _change(jax, "default_backend", _wrap_default_backend(jax.default_backend))
        for name in ("devices", "local_devices", "device_count", "local_device_count"):
            _change(jax, name, _wrap_query(getattr(jax, name)))
    tests = sys.modules.get("jax._src.test_util")
    if tests is not None and not isinstance(tests.xla_bridge, _Bridge):
        _change(tests, "xla_bridge", _Bridge(tests.xla_bridge))
        _answer_cuda_version()


def _wrap_default_backend(real: typing.Any) -> typing.Any:
    def default_backend() -> str:
        return _get_answer("platform") or real()
    default_backend.is_grouts = True  # type: ignore[attr-defined]  # functions take attributes
    return default_backend


def _wrap_query(real: typing.Any) -> typing.Any:
    """A function with a backend= that names the GPU's."""
    def query(*arguments: typing.Any, **keywords: typing.Any) -> typing.Any:
        if _get_answer("platform") is not None:
            arguments = tuple(None if argument in _NAMES else argument for argument in arguments)
            keywords = {name: None if value in _NAMES else value for name, value in keywords.items()}
        return real(*arguments, **keywords)
    return query
