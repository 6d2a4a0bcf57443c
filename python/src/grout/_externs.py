# SPDX-License-Identifier: Apache-2.0
"""Functions of Python that kernels call: extern_elementwise, and what inline_ptx names for the CPU."""
from __future__ import annotations

import itertools
import typing

from ._library import ffi, lib, text_of
from ._watch import Watch, enter_callback


def _make_reader(dtype: int) -> typing.Callable[[object], object]:
    """What makes a Python number of an element."""
    info = lib.grout_dtype_get_info(dtype)
    if info.class_ == lib.GROUT_CLASS_FLOAT:
        return lambda element: lib.grout_element_to_double(dtype, element)
    size, is_signed = info.bytes, info.class_ == lib.GROUT_CLASS_SINT
    if info.class_ == lib.GROUT_CLASS_BOOL:
        return lambda element: ffi.buffer(element, 1)[:] != b"\0"
    return lambda element: int.from_bytes(ffi.buffer(element, size)[:], "little", signed=is_signed)


def _make_writer(dtype: int) -> typing.Callable[[typing.Any, object], None]:
    """What puts a Python number into an element; integers wrap, as those of kernels do."""
    info = lib.grout_dtype_get_info(dtype)
    if info.class_ == lib.GROUT_CLASS_FLOAT:
        return lambda value, out: lib.grout_element_from_double(dtype, float(value), out)
    if info.class_ == lib.GROUT_CLASS_BOOL:
        return lambda value, out: ffi.memmove(out, b"\1" if value else b"\0", 1)
    size, mask = info.bytes, (1 << info.bits) - 1

    def write(value: typing.Any, out: typing.Any) -> None:
        ffi.memmove(out, (value.__index__() & mask).to_bytes(size, "little"), size)

    return write


def _make_call(signature: typing.Any, function: typing.Callable[..., object], watch: Watch) -> typing.Any:
    """The callback for one function, with the element types of its first call in the text. Once the run has ended, by
    what a callback of it raised, the function is called no more."""
    readers = [_make_reader(signature.operands[k]) for k in range(signature.operand_count)]
    write = _make_writer(signature.result)
    # An element of four bits that a function is given has a byte, as every element in registers.

    def call(_: typing.Any, arguments: typing.Any, result: typing.Any) -> bool:
        if not watch.look():
            return False
        enter_callback(watch)
        write(function(*[read(arguments[i]) for i, read in enumerate(readers)]), result)
        return True

    return ffi.callback("_Bool(void *, const void *const *, void *)", call, error=False, onerror=watch.take_error)


def make_externs(bound: typing.Any, functions: typing.Mapping[str, typing.Callable[..., typing.Any]],
                 watch: Watch) -> tuple[typing.Any, list[tuple[typing.Any, typing.Any]], int]:
    """The functions that the module calls and that are given, in C; what keeps them alive; their number."""
    signature, keep = ffi.new("grout_extern_signature *"), []
    for index in itertools.count():
        if not lib.grout_externs_find(bound, index, signature):
            break
        function = functions.get(text_of(signature.name))
        if function is not None:
            keep.append((signature.name, _make_call(signature, function, watch)))
    array = ffi.new("grout_extern[]", max(len(keep), 1))
    for number, (name, call) in enumerate(keep):
        array[number].name, array[number].call = name, call
    return array, keep, len(keep)
