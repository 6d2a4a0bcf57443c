# SPDX-License-Identifier: Apache-2.0
"""All that grout.pallas knows of the inside of JAX, but where its series differ.

Pallas has no public form of its kernels: what is read here are private names, which move from release to release. Where
series of JAX differ, _series.py has both.
"""
from __future__ import annotations

import contextlib
import os
import sys
import types
import typing

import numpy

from ..builder._places import make_frame
from . import _series
from ._series import VERSION, open_jaxpr

try:
    import jax
    from jax._src import callback as jax_callback
    from jax._src import config as jax_config
    from jax._src import core, dispatch, dtypes, source_info_util
    from jax._src.interpreters import mlir, partial_eval
    from jax._src.lax import lax as jax_lax
    from jax._src.pallas import core as pallas_core
    from jax._src.pallas import mpmd, pallas_call
    from jax._src.pallas import primitives as pallas_primitives
    from jax._src.pallas.mosaic_gpu import core as gpu
    from jax._src.pallas.mosaic_gpu import lowering as gpu_lowering
    from jax._src.state import indexing
    from jax._src.state import types as state_types
    from jax.experimental.mosaic import gpu as mosaic
    from jax.experimental.mosaic.gpu import fragmented_array, tcgen05
    from jax.experimental.mosaic.gpu import utils as mosaic_utils
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import builtin as builtin_dialect
    from jaxlib.mlir.dialects import func as func_dialect
except ModuleNotFoundError as missing:
    if missing.name and missing.name.split(".")[0] == "absl":
        raise ImportError("grout.pallas: absl-py is missing, which Pallas needs and jax does not bring: pip install "
                          "absl-py") from missing
    raise ImportError(f"grout.pallas: JAX {VERSION} lacks {missing.name}; {_series.SAY_TESTED}") from missing

# Others take these from here, JAX' own too.
__all__ = ["InterpretGPUParams", "KERNEL_PRIMITIVES", "VERSION", "builtin_dialect", "core", "dispatch", "dtypes",
           "fragmented_array", "func_dialect", "gpu", "gpu_lowering", "indexing", "ir", "jax", "jax_callback",
           "jax_config", "jax_lax", "mlir", "mosaic", "mosaic_utils", "mpmd", "open_jaxpr", "pallas_call",
           "pallas_core", "pallas_primitives", "partial_eval", "source_info_util", "state_types", "tcgen05"]

InterpretGPUParams = _series.find_interpret_params()

KERNEL_PRIMITIVES = (mpmd.mpmd_map_p, pallas_call.pallas_call_p)
_JAX = os.path.dirname(jax.__file__) + os.sep
# Kernels that JAX ships: their lines are what the user wants to see.
_KERNELS = os.path.join(_JAX, "experimental", "pallas", "ops") + os.sep
_LIBRARY = os.path.dirname(os.__file__) + os.sep  # Python's own modules, but not the packages that lie below them
# What runs the user's tests, whose frames say nothing.
_RUNNERS = tuple(os.sep + name + os.sep for name in ("_pytest", "pytest", "pluggy"))
_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_PIPELINE = os.path.join(_JAX, "_src", "pallas", "mosaic_gpu", "pipeline.py")


# The body of a pallas_call writes references, but JAX does not count that as an effect.
if hasattr(pallas_primitives, "jaxpr_call_p"):
    partial_eval.dce_rules.setdefault(pallas_primitives.jaxpr_call_p, _series.keep)


def read_check(tree: typing.Any, operands: typing.Any) -> tuple[typing.Any, str]:
    """What is true where a check fails, and its text."""
    error = jax.tree.unflatten(tree, operands)
    (predicate,), (metadata,), (payload,) = (list(part.values()) for part in
                                             (error._pred, error._metadata, error._payload))
    return predicate, jax.tree.unflatten(metadata, payload).fmt_string


# For JAX they have no effects: a hint, and the body of a pallas_call, which writes references all the same.
HINTS = ("async_prefetch", "jaxpr_call")
HIDING = ("run_scoped", "core_map", "mpmd_map")  # what is done inside of them to barriers alone is no effect of theirs


def _hides_effects(equation: typing.Any, is_inside: bool = False) -> bool:
    """Whether it does something to objects that live inside of it alone: its own effects do not say so."""
    if equation.primitive.name in HINTS:
        return True
    is_inside = is_inside or equation.primitive.name in HIDING
    return any(is_inside and partial_eval.has_effects(nested) or _hides_effects(nested, is_inside)
               for inner in core.jaxprs_in_params(equation.params) for nested in open_jaxpr(inner)[0].eqns)


def drop_dead(jaxpr: typing.Any, dropped: int | None = None) -> typing.Any:
    """The jaxpr without what computes values that nothing uses: JAX traces more than a kernel needs.

    dropped: a result that is not wanted either, and is gone.
    """
    if dropped is not None:
        jaxpr = jaxpr.replace(outvars=[*jaxpr.outvars[:dropped], *jaxpr.outvars[dropped + 1:]],
                              debug_info=jaxpr.debug_info.with_unknown_names())
    used = {variable for variable in jaxpr.outvars if isinstance(variable, core.Var)}
    kept = []
    with jax_config.enable_checks(False):  # they want the axes of the kernel to be bound
        for equation in reversed(jaxpr.eqns):
            wanted = [variable in used for variable in equation.outvars]
            if _hides_effects(equation):
                reads, left = [True] * len(equation.invars), equation
            elif equation.primitive in partial_eval.dce_rules:
                reads, left = _series.apply_dce(partial_eval.dce_rules[equation.primitive], wanted, equation)
            else:
                is_kept = any(wanted) or partial_eval.has_effects(equation)
                reads, left = [is_kept] * len(equation.invars), equation if is_kept else None
            used.update(variable for variable, is_read in zip(equation.invars, reads)
                        if is_read and isinstance(variable, core.Var))
            if left is not None:
                kept.append(left)
    return jaxpr.replace(eqns=kept[::-1])


def list_written(jaxpr: typing.Any) -> set[object]:
    """Which of a jaxpr's variables are references that it writes."""
    variables = [*jaxpr.constvars, *jaxpr.invars]
    found = [effect.input for effect in jaxpr.effects
             if isinstance(effect, (state_types.WriteEffect, state_types.AccumEffect))]
    return {variables[place] if isinstance(place, int) else place for place in found}


def forget_effects() -> None:
    """After an exception of a callback, which JAX would raise once more when Python ends."""
    with contextlib.suppress(Exception):
        dispatch.runtime_tokens.block_until_ready()
    dispatch.runtime_tokens.clear()


def is_users(file: str) -> bool:
    """Whether a file is the user's: not JAX', but for the kernels that it ships, not Python's and not ours."""
    if file.startswith(_KERNELS):
        return True
    if file.startswith((_JAX, _HERE, "<frozen")) or any(name in file for name in _RUNNERS):
        return False
    return not file.startswith(_LIBRARY) or "site-packages" in file


def list_callers() -> list[tuple[str, int, int, int]]:
    """The frames of the user's code that runs now, the innermost first, as list_frames has them."""
    found: list[tuple[str, int, int, int]] = []
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None and not (found and frame.f_code.co_filename.startswith(_HERE)):
        if is_users(frame.f_code.co_filename):
            found.append(make_frame(frame)[:4])
        frame = frame.f_back
    return found


def is_of_pipeline(equation: typing.Any) -> bool:
    """Whether JAX' pipelines make an equation themselves, not the body that they call. Those of a pallas_call have no
    frame inside of that call."""
    traceback = equation.source_info.traceback
    for code in traceback.raw_frames()[0] if traceback is not None else ():
        if code.co_filename.startswith((_PIPELINE, _HERE)):
            return True
        if is_users(code.co_filename):
            return False
    return False


def list_frames(equation: typing.Any) -> list[tuple[str, int, int, int]]:
    """Where an equation was traced, the innermost frame first: file, line, column from 1, length.

    Frames of JAX are left out, but for the kernels that it ships, and so is what called grout.
    """
    traceback = equation.source_info.traceback
    if traceback is None:
        return []
    found = []
    codes, offsets = traceback.raw_frames()
    for code, offset in zip(codes, offsets):
        if code.co_filename.startswith(_HERE):
            break
        if not is_users(code.co_filename):
            continue
        frame = source_info_util.raw_frame_to_frame(code, offset)
        length = frame.end_column - frame.start_column if frame.end_line == frame.start_line else 1
        found.append((frame.file_name, frame.start_line, frame.start_column + 1, max(length, 1)))
    return found


# ---- code of inline_mgpu --------------------------------------------------------------------------------------------

ARCH = (9, 0)  # what code for lanes is written for


@contextlib.contextmanager
def open_mlir(arch: typing.Any = ARCH) -> typing.Iterator[typing.Any]:
    """A context of MLIR with a module in it."""
    context = mlir.make_ir_context()
    mosaic.dialect.register_dialect(context)
    context.load_all_available_dialects()
    with context, ir.Location.unknown(context):
        module = ir.Module.create()
        i32 = ir.IntegerType.get_signless(32)
        for name, number in zip(("major", "minor"), arch):
            module.operation.attributes[f"mosaic_gpu.arch_{name}"] = ir.IntegerAttr.get(i32, number)
        with ir.InsertionPoint(module.body):
            yield module


def make_mlir_function(types: typing.Any) -> typing.Any:
    """The block of an empty function with arguments of these types, in the module that is open."""
    top = ir.InsertionPoint.current.block
    while top.owner.name != "builtin.module":
        top = top.owner.operation.block
    with ir.InsertionPoint(top):
        made = func_dialect.FuncOp(f"code{len(list(top.operations))}", ir.FunctionType.get(types, []))
    return made.add_entry_block()


def mlir_type(dtype: str) -> typing.Any:
    """The type of MLIR for an element type of grout."""
    return mosaic_utils.dtype_to_ir_type(_dtype_of(dtype))


def _dtype_of(dtype: str) -> typing.Any:
    from .._arrays import NAMES
    return jax.numpy.dtype(NAMES[dtype][0])


def memref_type(kind: typing.Any, space: str, shape: typing.Any, dtype: str) -> typing.Any:
    """The type of a reference, as its RefType lets it lie."""
    shape = tuple(shape)
    for transform in kind.transforms:
        if hasattr(transform, "tiling"):
            shape = tuple(mosaic.tile_shape(shape, tuple(transform.tiling)))
    memory = ir.Attribute.parse("#gpu.address_space<workgroup>") if space == "smem" else None
    return ir.MemRefType.get(shape, mlir_type(dtype), memory_space=memory)


def make_fragments(values: list[typing.Any], layout: typing.Any, shape: typing.Any, dtype: str) -> typing.Any:
    """An array in registers, as code for lanes gets it."""
    return arrange(fragmented_array.FragmentedArray, values, layout.registers_shape(shape), layout,
                   mosaic_utils.is_signed(_dtype_of(dtype)))


def arrange(kind: typing.Any, values: list[typing.Any], shape: typing.Any, layout: typing.Any,
            is_signed: typing.Any) -> typing.Any:
    """Registers as an array of a layout."""
    registers = numpy.empty(len(values), object)
    registers[:] = values
    return kind(_registers=registers.reshape(shape), _layout=layout, _is_signed=is_signed)


def make_mark(types: typing.Any, operands: typing.Any, name: str, number: int) -> typing.Any:
    """An operation without a meaning of its own, which carries a number."""
    made = builtin_dialect.UnrealizedConversionCastOp(list(types), list(operands))
    made.attributes[name] = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), number)
    return made


def vector_of(layout: typing.Any, shape: typing.Any) -> tuple[int, int]:
    """How many elements a register of a layout has, and how far they are from each other, counted row by row."""
    if not hasattr(layout, "tiling"):
        return layout.vec_size, 1
    strides = [1]
    for size in reversed(shape[1:]):
        strides.insert(0, strides[0] * size)
    return layout.vector_length, layout.tiling.tile_strides(tuple(strides))[layout.vector_dim]


def make_stand_in(refuse: typing.Any) -> typing.Any:
    """What code gets for something that it may be given and must not use. refuse(name) makes the error."""
    class StandIn:
        """Refuses every use."""

        def __getattr__(self, name: str) -> typing.Any:
            raise refuse(name)
    return StandIn()
