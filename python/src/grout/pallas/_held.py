# SPDX-License-Identifier: Apache-2.0
"""Semaphores of plgpu.alloc_semaphore on the host, where they live from one kernel to the next.

JAX passes them to kernels as an array that kernels change in place, which is no value of JAX. Inside of a session that
array holds a number of their own instead, and their units are kept here.
"""
from __future__ import annotations

import threading
import typing

import numpy

from .._diagnostics import GroutError
from . import _jax, _series

core = _jax.core
ORDER = _jax.jax_callback._OrderedIOEffect


class Held:
    """The semaphores of a session."""

    def __init__(self) -> None:
        self._units: dict[int, numpy.ndarray[typing.Any, typing.Any]] = {}
        self._lock = threading.Lock()

    def make(self, shape: typing.Sequence[int]) -> numpy.ndarray[typing.Any, typing.Any]:
        """Makes new ones, without units: the array that represents them."""
        with self._lock:
            number = len(self._units) + 1
            self._units[number] = numpy.zeros(shape, "int32")
        return numpy.full(shape, number, "int32")

    def find(self, array: typing.Any) -> numpy.ndarray[typing.Any, typing.Any]:
        """The units of those that an array represents."""
        numbers = numpy.unique(numpy.asarray(array))
        with self._lock:
            units = self._units.get(int(numbers[0])) if numbers.size == 1 else None
        if units is None:
            raise GroutError("semaphores that were not made in this session: call plgpu.alloc_semaphore inside of it, "
                             "in the function that JAX compiles")
        return units

    def lower_allocation(self, ctx: typing.Any, node: typing.Any) -> typing.Any:
        """Makes semaphores of zeros: the array that represents them."""
        aval, = map(to_numbers, ctx.avals_out)
        results, _, _ = _jax.jax_callback.emit_python_callback(
            ctx, lambda _: [self.make(aval.shape)], None, [node], [aval], [aval], has_side_effect=True)
        return results


def order_kernels(primitive: typing.Any, is_ours: typing.Callable[[object], bool]) -> None:
    """Kernels of semaphores from outside run in the order of the program: no value says so. is_ours(parameters):
    whether a kernel is read here."""
    original, original_check = primitive.abstract_eval, core.custom_typechecks.get(primitive)

    def add_order(avals: typing.Any, params: typing.Any, effects: typing.Any) -> typing.Any:
        is_ordered = is_ours(params) and any(_series.is_semaphore(getattr(aval, "dtype", None)) for aval in avals)
        return {*effects, ORDER} if is_ordered else effects

    def abstract_eval(*avals: typing.Any, **params: typing.Any) -> typing.Any:
        results, effects = original(*avals, **params)
        return results, add_order(avals, params, effects)

    def check(context: typing.Any, *atoms: typing.Any, **params: typing.Any) -> typing.Any:
        results, effects = original_check(context, *atoms, **params)
        return results, add_order([atom.aval for atom in atoms], params, effects)

    primitive.abstract_eval = abstract_eval
    if original_check is not None:
        core.custom_typechecks[primitive] = check


def to_numbers(aval: typing.Any) -> typing.Any:
    """What JAX passes for an operand."""
    return core.ShapedArray(aval.shape, numpy.dtype("int32")) if _series.is_semaphore(aval.dtype) else aval
