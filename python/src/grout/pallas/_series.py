# SPDX-License-Identifier: Apache-2.0
"""Where series of JAX differ inside, as far as kernels are read: this is the one place that asks for a version.

Each function says what the difference is. It asks what JAX has, not which number it has, where that can be seen.
"""
from __future__ import annotations

import re
import typing
import warnings

from .. import _tested

TESTED = tuple(_tested.JAX)
OLDEST = (0, 10)
SAY_TESTED = f"tested are {_tested.name_all()}"


def _read_numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version)[:2])


def _read_version() -> str:
    try:
        import jax
    except ImportError as error:
        raise ImportError("grout.pallas: JAX is missing: pip install 'grout-gpu[pallas]', or jax and "
                          "absl-py") from error
    version = jax.__version__
    if _read_numbers(version) < OLDEST:
        raise ImportError(f"grout.pallas: JAX {version} is too old: {SAY_TESTED}. Try: pip install 'jax>={TESTED[0]}'")
    if _read_numbers(version) not in map(_read_numbers, TESTED):
        warnings.warn(f"grout.pallas is not tested with JAX {version}, and tries: {SAY_TESTED}", stacklevel=5)
    return version


VERSION = _read_version()
NUMBERS = _read_numbers(VERSION)

from jax._src import core  # noqa: E402  (after the message that JAX is missing)

# ---- jaxprs ---------------------------------------------------------------------------------------------------------

# Since 0.12 a jaxpr has the values of its constants itself, and there is no ClosedJaxpr around it.
_ClosedJaxpr = getattr(core, "ClosedJaxpr", ())


def open_jaxpr(jaxpr: typing.Any) -> tuple[typing.Any, typing.Sequence[typing.Any]]:
    """A jaxpr, and the values of its constvars where it has them."""
    if _ClosedJaxpr and isinstance(jaxpr, _ClosedJaxpr) and hasattr(jaxpr, "jaxpr"):
        return jaxpr.jaxpr, jaxpr.consts
    return jaxpr, getattr(jaxpr, "consts", ())


def list_inputs(jaxpr: typing.Any) -> list[typing.Any]:
    """All variables that a jaxpr gets from outside. Those without values of what it closes over are constvars before
    0.12, and the first invars since then."""
    return [*jaxpr.constvars, *jaxpr.invars]


def list_allocated(jaxpr: typing.Any, const_count: int) -> tuple[list[typing.Any], list[str | None]]:
    """For the jaxpr of a run_scoped: the variables of what it allocates, and the names of the body's parameters.

    const_count: how many values it closes over, which come first.
    """
    variables = list_inputs(jaxpr)[const_count:]
    names = list(getattr(jaxpr.debug_info, "arg_names", None) or [])[-len(variables):] if variables else []
    return variables, names + [None] * (len(variables) - len(names))


def apply_dce(function: typing.Any, wanted: typing.Sequence[bool], equation: typing.Any) -> typing.Any:
    """Calls a DCE rule: which operands are read, and the equation that is left. Since 0.12 rules ask which references
    are read later, too: here all are."""
    if NUMBERS >= (0, 12):
        return function(wanted, [True] * len(equation.invars), equation)
    return function(wanted, equation)


def keep(*arguments: typing.Any) -> typing.Any:
    """A DCE rule of an equation that stays whatever is wanted of it."""
    equation = arguments[-1]
    return [True] * len(equation.invars), equation


def count_scan(params: typing.Any) -> tuple[int, int]:
    """How many consts and how many carries a scan has: two numbers, or a tree since 0.11."""
    if "num_consts" in params:
        return params["num_consts"], params["num_carry"]
    shape = params["ft_in"]
    consts, carry, _ = shape.update([None] * len(params["jaxpr"].invars)).unpack()
    return len(list(consts)), len(list(carry))


# ---- primitives -----------------------------------------------------------------------------------------------------

def name_of(primitive: typing.Any) -> str:
    """What a primitive is called. Some were called like their variable before 0.12: 'wgmma_accumulator_deref_p'."""
    name = primitive.name
    return name[:-2] if name.endswith("_p") else name


def find_number(equation: typing.Any, operands: typing.Any) -> typing.Any:
    """The number n of a wait or of registers: an operand in 0.10, a parameter since 0.11."""
    return operands[0] if operands else int(equation.params["n"])


# A copy or a store that brings bytes to a barrier with orders_tensor_core=True arrives once, as such a barrier counts,
# since 0.12. Before, every lane of the warpgroup arrives.
BYTES_ARRIVE_ONCE = NUMBERS >= (0, 12)

# With predicate=False of copy_gmem_to_smem the arrival is made all the same before 0.12, with no bytes; since then it
# is not made.
PREDICATED_COPY_ARRIVES = NUMBERS < (0, 12)


def raises_races(interpret: typing.Any) -> bool:
    """Whether parameters of JAX' interpreter ask that a race is an exception. on_race is of 0.12; before, a race was
    noted."""
    return bool(getattr(interpret, "detect_races", False)) and getattr(interpret, "on_race", None) == "raise"


def is_semaphore(dtype: typing.Any) -> bool:
    """Whether an element type is that of semaphores; JAX has several."""
    from jax._src.pallas import core as pallas_core
    return isinstance(dtype, (pallas_core.AbstractSemaphoreTy, pallas_core.Semaphore, pallas_core.BarrierSemaphore)) \
        or "emaphore" in type(dtype).__name__


def _find_im2col() -> typing.Any:
    """What plgpu.im2col_ref makes of a reference, since 0.12."""
    from jax._src.pallas.mosaic_gpu import core as gpu
    return getattr(gpu, "Im2ColTransform", None)


Im2ColTransform = _find_im2col()


def find_interpret_params() -> typing.Any:
    """The parameters of JAX' interpreter for GPUs, which 0.10.0 and 0.10.1 lack."""
    try:
        from jax._src.pallas.mosaic_gpu.interpret.params import InterpretGPUParams
        return InterpretGPUParams
    except ImportError:
        return ()
