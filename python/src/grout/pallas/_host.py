# SPDX-License-Identifier: Apache-2.0
"""Arrays of JAX on the host, which have a byte for each element, as grout takes them: some types lie closer there."""
from __future__ import annotations

import typing

import numpy

from ._values import WORDS, lay_out

NIBBLES = ("float4_e2m1fn", "int4", "uint4")  # two elements in a byte, the first in the low bits


def _join(array: typing.Any, count: int, word: typing.Any) -> numpy.ndarray[typing.Any, typing.Any]:
    """Neighbours of the last dimension, as many as `count`, in one word each."""
    bits = 8 * numpy.dtype(word).itemsize // count
    codes = array.view(numpy.uint8).astype(word) & word((1 << bits) - 1)
    codes = codes.reshape(*array.shape[:-1], array.shape[-1] // count, count)
    return numpy.bitwise_or.reduce(codes << (bits * numpy.arange(count)).astype(word), axis=-1)


def pack(array: typing.Any) -> numpy.ndarray[typing.Any, typing.Any]:
    """An input."""
    shape = numpy.shape(array)
    array = numpy.ascontiguousarray(array).reshape(numpy.shape(array) or (1,))
    if array.dtype.name in WORDS:
        return _join(array, lay_out(array.dtype, array.shape)[2], numpy.uint16)
    if array.dtype.name in NIBBLES and shape == ():
        array = numpy.concatenate([array, array])  # the other element of its byte
    if array.dtype.name in NIBBLES and array.shape[-1] % 2 == 0:
        return _join(array, 2, numpy.uint8)
    return array


def make_output(shape: typing.Sequence[int], dtype: typing.Any) -> numpy.ndarray[typing.Any, typing.Any]:
    """Room for an output."""
    is_nibble = numpy.dtype(dtype).name in NIBBLES
    shape = tuple(shape) or ((2,) if is_nibble else (1,))
    if is_nibble and shape[-1] % 2 == 0:
        return numpy.empty((*shape[:-1], shape[-1] // 2), numpy.uint8)
    return numpy.empty(shape, dtype)


def unpack(array: numpy.ndarray[typing.Any, typing.Any], shape: typing.Sequence[int],
           dtype: typing.Any) -> numpy.ndarray[typing.Any, typing.Any]:
    """An output, as JAX has it."""
    dtype = numpy.dtype(dtype)
    if array.dtype == numpy.uint8 and dtype.name in NIBBLES:
        codes = numpy.stack([array & 15, array >> 4], axis=-1)
        if dtype.name == "int4":
            codes = ((codes ^ 8).astype(numpy.int8) - 8).view(numpy.uint8)
        array = codes.view(dtype) if shape else codes.view(dtype)[..., 0]
    return array.reshape(shape)
