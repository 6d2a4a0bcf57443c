# SPDX-License-Identifier: Apache-2.0
"""What represents the variables of a jaxpr: values, views of references, cells."""
from __future__ import annotations

import dataclasses
import typing

import numpy

from .._arrays import FROM_NAME
from ._errors import UnsupportedError

CLASS = {"b": "bool", "i": "int", "u": "int", "f": "float"}


def dtype_of(dtype: typing.Any) -> str:
    """'f32' for float32."""
    name = getattr(dtype, "name", str(dtype))
    if name not in FROM_NAME:
        raise UnsupportedError(f"there is no element type for {name}")
    return FROM_NAME[name]


# Types of JAX whose elements lie several in one of grout's, the first in the lowest bits: codes of sparse metadata.
WORDS = {"uint2": ("u16", 8)}


def lay_out(dtype: typing.Any, shape: typing.Any) -> tuple[str, tuple[int, ...], int]:
    """What an array of JAX is declared as: its element type, its dimensions, and how many elements lie in one."""
    shape = tuple(map(int, shape))
    name = getattr(dtype, "name", str(dtype))
    if name not in WORDS:
        return dtype_of(dtype), shape, 1
    word, count = WORDS[name]
    if not shape or shape[-1] % count:
        raise UnsupportedError(f"{name}{list(shape)}: {count} elements make a {word}, so the last dimension has to be "
                               f"a multiple of {count}")
    return word, (*shape[:-1], shape[-1] // count), count


def count_bytes(dtype: typing.Any, count: int) -> int:
    """Bytes that this many elements take in memory: of those of less than 8 bits several lie in one."""
    import jax
    return -(-jax.dtypes.itemsize_bits(dtype) * count // 8)


PACKED = ("i4", "u4", "f4e2m1")  # types of which memory has two elements in a byte


def dims_of_scalar(dtype: str) -> tuple[int]:
    """An array that holds one element: of two in a byte it has both."""
    return (2,) if dtype in PACKED else (1,)


def is_bool(dtype: str) -> bool:
    """For an element type in a text of grout."""
    return dtype == "bool"


def is_int(dtype: str) -> bool:
    """For an element type in a text of grout."""
    return dtype[0] in "iu"


def is_float(dtype: str) -> bool:
    """For an element type in a text of grout."""
    return dtype != "bool" and not is_int(dtype)


class Val:
    """A scalar or an array in registers: what the builder made, or a constant that is not built until it is used.

    source: the accumulator that it was read from. truth: the bool that this integer was cast from.
    """

    __slots__ = ("dtype", "shape", "built", "const", "truth")

    def __init__(self, dtype: str, shape: typing.Any = (), built: typing.Any = None, const: typing.Any = None,
                 truth: Val | None = None) -> None:
        self.dtype, self.shape, self.built, self.const, self.truth = dtype, tuple(shape), built, const, truth

    @property
    def is_const(self) -> bool:
        """Whether its value is known now."""
        return self.const is not None

    def __repr__(self) -> str:
        return f"<Val {self.dtype}{list(self.shape)} {self.const if self.is_const else ''}>"


def const(value: typing.Any, dtype: str) -> Val:
    """A constant scalar."""
    if is_bool(dtype):
        return Val(dtype, const=bool(value))
    return Val(dtype, const=int(value) if is_int(dtype) else float(value))


def index(value: int) -> Val:
    """A constant that is an index."""
    return Val("i32", const=int(value))


@dataclasses.dataclass
class View:
    """A reference: an array in memory or a part of it, a barrier, a semaphore, an accumulator.

    ref: what the builder knows it as; a part of it once parts is applied. undo: the transforms that lead from the
    physical shape of a tiled object to the logical one that ref has. offset: of barriers and semaphores, which lie in
    one dimension here. members: of a union its views.
    """

    kind: str  # gmem, smem, barrier, semaphore, acc, union
    ref: typing.Any
    shape: tuple[int, ...]
    dtype: str = ""
    undo: tuple[object, ...] = ()
    offset: Val | None = None
    members: dict[object, View] | None = None
    rows: Val | None = None  # indices of the rows that are meant, of all of them
    padded: bool = False  # a scalar, which lies in an array of one element
    word: int = 1  # elements of JAX in one of grout, along the last dimension
    number: int = -1  # of a barrier: how many are declared before it
    strides: tuple[int, ...] | None = None  # of barriers and semaphores; None: those of all of them
    trail: typing.Any = None  # of a part of an array in shared memory: how it was made (_reshape.Trail)
    lies_as: tuple[int, ...] | None = None  # the dimensions of ref, where shape is of another rank
    # Of elements of 4 bits (_packed.py): the dimensions of what ref has, where that is not what is meant; in which
    # order they are seen; which of those loaded are meant.
    stored: tuple[int, ...] | None = None
    turn: tuple[int, ...] = ()
    pick: typing.Any = None

    def but(self, **changes: typing.Any) -> View:
        """The same with other members."""
        return dataclasses.replace(self, **changes)


@dataclasses.dataclass
class Cell:
    """A reference of run_state that is no accumulator: its value, known while the body is walked."""

    value: Val
    depth: int


def after_region(results: typing.Any, built: typing.Any) -> list[typing.Any]:
    """What a region yields, by what its body computed."""
    return [Val(result.dtype, result.shape, value) for result, value in zip(results, built)]


def splat_of(array: numpy.ndarray[typing.Any, typing.Any]) -> typing.Any:
    """The element that all of an array are, or None. Bits are compared: a NaN is like itself, and -0.0 is not like
    0.0."""
    flat = numpy.ascontiguousarray(array).reshape(-1)
    if not flat.size:
        return None
    bits = flat.view(numpy.uint8).reshape(flat.size, -1)
    return flat[0].item() if (bits == bits[0]).all() else None
