# SPDX-License-Identifier: Apache-2.0
"""Runs Pallas kernels on grout: inside of a session JAX lowers them to calls of the interpreter."""
from __future__ import annotations

import dataclasses
import functools
import threading
import typing

import numpy

from .._diagnostics import GroutError, KernelError
from .._launch import read_run_options
from .._report import Report
from .._severity import read_levels
from . import _jax, _series
from ._errors import UnsupportedError
from ._held import ORDER, Held, order_kernels, to_numbers
from ._host import make_output, pack, unpack
from ._importer import Imported, Options, import_kernel
from ._sources import is_mosaic_gpu, make_source

mlir = _jax.mlir
UNCHECKED = ("interpret= asks for races to be raised (detect_races=True), and a session without check=True looks for "
             "none")


@dataclasses.dataclass
class Call:
    """One run of a kernel. report: with check=True."""

    imported: Imported
    report: Report | None = None


class Session:
    """What a 'with grout.pallas.interpret()' gives: the kernels that JAX lowered in it, and their calls.

    error: the first exception of a kernel, as grout raised it; JAX shows its text inside one of its own.
    """

    def __init__(self, check: bool, run_options: typing.Mapping[str, typing.Any], options: Options, only_import: bool,
                 on_report: typing.Callable[[Report], object] | None = None) -> None:
        self.kernels: list[Imported] = []
        self.raises_races = False  # where JAX' interpret= asks for it
        self.calls: list[Call] = []
        self.error: BaseException | None = None
        self._check, self._run_options, self._options = check, dict(run_options), options
        read_run_options(self._run_options)
        if check:
            read_levels(self._run_options.get("severity"))
        self._only_import, self._on_report = only_import, on_report
        self.held = Held()
        self._lock = threading.Lock()
        # Where kernels are called, by their jaxprs: JAX forgets it on the way. The jaxprs are kept, as keys.
        self._callers: dict[int, tuple[object, tuple[typing.Any, ...]]] = {}

    def note_caller(self, params: typing.Any) -> None:
        """A kernel is being traced. JAX does so again while it lowers, when nobody calls any more."""
        jaxpr = _find_jaxpr(params)
        if id(jaxpr) not in self._callers:
            self._callers[id(jaxpr)] = jaxpr, tuple(_jax.list_callers())

    @property
    def reports(self) -> list[Report]:
        """Those of the calls so far, in their order."""
        return [call.report for call in self.calls if call.report is not None]

    def _import(self, primitive: typing.Any, params: typing.Any, frames: typing.Any) -> Imported:
        imported = import_kernel(make_source(primitive, params, frames), self._options)
        if imported.raises_races and not self._check and not self._only_import:
            imported.notes[UNCHECKED] = 1
        _refuse_unfit(imported, self._run_options.get("arch"))
        with self._lock:
            self.kernels.append(imported)
        return imported

    def lower(self, ctx: typing.Any, primitive: typing.Any, nodes: typing.Any, params: typing.Any) -> typing.Any:
        """The lowering of a kernel: what the results are."""
        _, frames = self._callers.get(id(_find_jaxpr(params)), (None, ()))
        imported = self._import(primitive, params, frames)
        avals, avals_in = ctx.avals_out, list(map(to_numbers, ctx.avals_in))

        def call(*arrays: typing.Any) -> typing.Any:
            return self._guard(imported, arrays, avals)

        tokens = ctx.tokens_in  # of JAX' interpret=, and of semaphores from outside
        is_ordered = tokens is not None and ORDER in tokens.effects()
        results, token, _ = _jax.jax_callback.emit_python_callback(
            ctx, call, tokens.get(ORDER) if is_ordered else None, list(nodes), avals_in, avals, has_side_effect=True)
        if tokens is not None and tokens.effects():
            ctx.set_tokens_out(tokens.update_tokens(mlir.TokenSet({ORDER: token})) if is_ordered else tokens)
        return results

    def _guard(self, imported: Imported, arrays: typing.Any, avals: typing.Any) -> typing.Any:
        if self._only_import:
            return [numpy.zeros(aval.shape, aval.dtype) for aval in avals]
        try:
            arrays = [self.held.find(array) if number in imported.semaphores else array
                      for number, array in enumerate(arrays)]
            return self._call(imported, arrays, avals)
        except BaseException as error:
            with self._lock:
                self.error = self.error or error
            raise

    def _call(self, imported: Imported, arrays: typing.Any, avals: typing.Any) -> typing.Any:
        by_name: dict[str, numpy.ndarray[typing.Any, typing.Any]] = {}
        for number, (name, array) in enumerate(zip(imported.inputs, arrays)):
            array = numpy.array(array) if number in imported.changed else array
            by_name[name] = pack(array.reshape(-1) if number in imported.semaphores else array)
        for name, aval in zip(imported.outputs, avals):
            if name not in by_name:
                by_name[name] = make_output(aval.shape, aval.dtype)
        call = Call(imported)
        options = dict(self._run_options)
        if self._check:
            call.report = imported.kernel.check(values=by_name, writes=True, **options)
        else:
            imported.kernel.run(values=by_name, **options)
        for number in imported.semaphores:
            arrays[number][...] = by_name[imported.inputs[number]].reshape(arrays[number].shape)
        with self._lock:
            self.calls.append(call)
        if call.report is not None and self._on_report is not None:
            self._on_report(call.report)
        if call.report is not None and self.raises_races and imported.raises_races and call.report.verdict == "error":
            raise RuntimeError(f"{call.report}\nnote: on_race='raise' of the kernel's interpret= makes this an "
                               "exception")
        return [unpack(by_name[name], aval.shape, aval.dtype) for name, aval in zip(imported.outputs, avals)]


# What grout has no layout or no tensor map for: JAX' lowering may have one.
_UNFIT = frozenset({"tma-box", "tma-layout", "tile-conflict"})


def _refuse_unfit(imported: Imported, arch: str | None) -> None:
    """Says of a kernel that is read, and that grout cannot lay out, that it is not supported, before anything runs."""
    try:
        imported.module._bind({}, arch)  # kept for the run
    except KernelError as error:
        if any(said.code in _UNFIT for said in error.diagnostics):
            raise UnsupportedError(f"grout has no layout for what @{imported.name} does:\n{error}") from error


def _find_jaxpr(params: typing.Any) -> typing.Any:
    return params["jaxprs"][0] if "jaxprs" in params else params["jaxpr"]


# The session of the code that is running. Its value is part of the keys of JAX' caches: what is compiled inside of a
# session is not used outside of it.
_STATE = _jax.jax_config.config_ext.Config("grout_pallas_session", None, include_in_jit_key=True,
                                           include_in_trace_context=True)
_LOCK = threading.Lock()
_hooked: list[object] = []


def _hook_allocations() -> None:
    """plgpu.alloc_semaphore gives zeros another type, which no other type does outside of a kernel."""
    primitive = _jax.jax_lax.to_edtype_p
    entry = mlir._lowerings[primitive]
    original = getattr(entry, "rule", entry)

    def lower(ctx: typing.Any, *nodes: typing.Any, **params: typing.Any) -> typing.Any:
        session = _STATE.value
        if session is None or not _series.is_semaphore(params["edtype"]):
            return original(ctx, *nodes, **params)
        return session.held.lower_allocation(ctx, *nodes)

    mlir.register_lowering(primitive, lower)


def _hook(primitive: typing.Any) -> None:
    bind = primitive.bind

    def bind_and_note(*arguments: typing.Any, **params: typing.Any) -> typing.Any:
        session = _STATE.value
        if session is not None and is_mosaic_gpu(primitive, params):
            session.note_caller(params)
        return bind(*arguments, **params)

    primitive.bind = bind_and_note
    entry = mlir._lowerings[primitive]
    original = getattr(entry, "rule", entry)

    def lower(ctx: typing.Any, *nodes: typing.Any, **params: typing.Any) -> typing.Any:
        session = _STATE.value
        if session is None or not is_mosaic_gpu(primitive, params):
            return original(ctx, *nodes, **params)
        return session.lower(ctx, primitive, nodes, params)

    mlir.register_lowering(primitive, lower)
    _hooked.append(primitive)


def _is_ours(primitive: typing.Any, params: typing.Any) -> bool:
    return _STATE.value is not None and is_mosaic_gpu(primitive, params)


def enter(session: Session) -> typing.Any:
    """Kernels run in this session from here on. What leave() takes comes back."""
    with _LOCK:
        if not _hooked:
            for primitive in _jax.KERNEL_PRIMITIVES:
                _hook(primitive)
                order_kernels(primitive, functools.partial(_is_ours, primitive))
            _hook_allocations()
    return _STATE.swap_local(session)


def leave(before: typing.Any) -> None:
    """As it was before enter()."""
    _STATE.set_local(before)


def find_cause(session: Session, error: BaseException) -> BaseException | None:
    """The exception of grout that caused one that JAX raised."""
    if session.error is not None and not isinstance(error, (GroutError, UnsupportedError)):
        return session.error
    return None
