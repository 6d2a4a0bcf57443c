# SPDX-License-Identifier: Apache-2.0
"""Semaphores: those of a kernel are grout's own. Those that plgpu.alloc_semaphore makes outside are elements of an
array that kernels share, and what is done to them is what JAX lowers it to: atomics, and loops of those who wait."""
from __future__ import annotations

import typing

from ._rules import rule
from ._values import Val, View, index
from ._views import at_object, to_val

if typing.TYPE_CHECKING:
    from ._importer import Importer

FROM_OUTSIDE = "i32"  # the element type of a View of semaphores that are made outside


def _find(importer: Importer, equation: typing.Any, view: View, transforms: typing.Any) -> typing.Any:
    """The semaphore, and the attributes that its operations have; those of a kernel have a scope of their own."""
    at = at_object(importer, view, transforms)
    scope = equation.params.get("memory_scope", "sys")
    return at, {"scope": scope} if view.dtype == FROM_OUTSIDE else {}


@rule("semaphore_signal")
def import_semaphore_signal(importer: Importer, equation: typing.Any, *operands: typing.Any) -> None:
    """Adds units."""
    ref, transforms, count, device, core_index = equation.params["args_tree"].unflatten(operands)
    if device is not None:
        raise importer.unsupported("device_id=: a semaphore of another device; grout models one device")
    if core_index is not None:
        raise importer.unsupported("core_index= has no counterpart on a GPU")
    at, attributes = _find(importer, equation, ref, transforms)
    count = importer.operand(to_val(importer, count))
    if attributes:
        importer.builder.op("atomic_fetch_add", at, count, order="release", **attributes)
    else:
        importer.builder.op("semaphore_signal", at, count)


@rule("semaphore_signal_parallel")
def import_semaphore_signal_parallel(importer: Importer, equation: typing.Any, *operands: typing.Any) -> None:
    """Adds units to several, in no order."""
    del equation, operands
    raise importer.unsupported("signals to several devices; grout models one device")


@rule("semaphore_wait")
def import_semaphore_wait(importer: Importer, equation: typing.Any, *operands: typing.Any) -> None:
    """Takes units, or looks for them."""
    ref, transforms, count, decrement = equation.params["args_tree"].unflatten(operands)
    keeps = isinstance(decrement, Val) and decrement.is_const and not decrement.const or decrement is False
    at, attributes = _find(importer, equation, ref, transforms)
    count = to_val(importer, count)
    if not attributes:
        how: dict[str, typing.Any] = {"no_decrement": True} if keeps else {}
        importer.builder.op("semaphore_wait", at, importer.operand(count), **how)
    elif keeps:
        _look(importer, at, count, attributes)
    else:
        _take(importer, at, count, attributes)


def _read(importer: Importer, at: typing.Any, attributes: typing.Mapping[str, str]) -> Val:
    return importer.op("atomic_fetch_add", FROM_OUTSIDE, (), at, 0, order="acquire", **attributes)


def _name_carries(importer: Importer, *names: str) -> list[str]:
    importer.carry_count += 1
    return [f"{name}_{importer.carry_count}" for name in names]


def _look(importer: Importer, at: typing.Any, count: Val, attributes: typing.Any) -> None:
    """Until there are as many units."""
    units, = _name_carries(importer, "units")
    loop = importer.builder.while_({units: _read(importer, at, attributes).built})
    with loop as held:
        loop.do(importer.arith("lt", Val(FROM_OUTSIDE, (), held), count).built)
        loop.yield_(_read(importer, at, attributes).built)


def _take(importer: Importer, at: typing.Any, count: Val, attributes: typing.Any) -> None:
    """Until the units that are expected are there, and have been lessened: no fewer are expected than are wanted."""
    def exchange(expected: Val) -> Val:
        left = importer.arith("sub", expected, count)
        return importer.op("atomic_cas", FROM_OUTSIDE, (), at, importer.operand(expected), importer.operand(left),
                           order="acquire", **attributes)

    expected, held = _name_carries(importer, "expected", "held")
    loop = importer.builder.while_({expected: importer.operand(count), held: exchange(count).built})
    with loop as carries:
        wanted, found = (Val(FROM_OUTSIDE, (), value) for value in carries)
        loop.do(importer.arith("ne", found, wanted).built)
        wanted = importer.arith("max", found, count)
        loop.yield_(importer.operand(wanted), exchange(wanted).built)


@rule("semaphore_read")
def import_semaphore_read(importer: Importer, equation: typing.Any, *operands: typing.Any) -> typing.Any:
    """The number of units."""
    ref, transforms = equation.params["args_tree"].unflatten(operands)
    at, attributes = _find(importer, equation, ref, transforms)
    return _read(importer, at, attributes) if attributes else importer.op("semaphore_read", "i32", (), at)


@rule("get_global")
def import_get_global(importer: Importer, equation: typing.Any) -> typing.Any:
    """A semaphore of the launch: each place of the program has its own."""
    from ._objects import declare_global
    return declare_global(importer, equation.outvars[0].aval)


def declare_param(importer: Importer, name: str, shape: typing.Any) -> View:
    """Semaphores from outside."""
    count = 1
    for size in shape:
        count *= int(size)
    ref = importer.builder.array(name, "inout", FROM_OUTSIDE, count)
    return View("semaphore", ref, tuple(shape), FROM_OUTSIDE, offset=index(0))
