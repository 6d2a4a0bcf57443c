# SPDX-License-Identifier: Apache-2.0
"""Every operation as a method, from the library's table of operations: nothing here names one."""
from __future__ import annotations

import functools
import keyword
import typing

from .._library import ffi, lib, text_of
from .._limits import read_text

if typing.TYPE_CHECKING:
    from ._builder import Builder


class Operation(typing.NamedTuple):
    """One line of the table."""

    opcode: int
    text: str
    syntax: str
    doc: str
    letters: str
    attrs: dict[str, int]  # by name, the number of its bit
    is_typed: bool
    has_result: bool

    @property
    def is_of_blackwell(self) -> bool:
        """Whether no hardware before has it."""
        return lib.grout_op_get_generation(self.opcode) == lib.GROUT_GENERATION_BLACKWELL


def _read(opcode: int) -> Operation:
    info = lib.grout_op_get_info(opcode)
    attrs = {text_of(lib.grout_attr_get_info(attr).text): attr for attr in range(lib.GROUT_ATTR_COUNT)
             if info.attrs >> attr & 1}
    return Operation(opcode, text_of(info.text), text_of(info.syntax), text_of(info.doc), text_of(info.operands), attrs,
                     bool(info.typed), info.results > 0)


def _is_plain(opcode: int) -> bool:
    return lib.grout_op_get_info(opcode).shape == lib.GROUT_SHAPE_PLAIN


# By mnemonic. Those with regions, and what declares objects, are methods of Builder with arguments of their own.
TABLE: dict[str, Operation] = {operation.text: operation for operation in
                                      map(_read, filter(_is_plain, range(1, lib.GROUT_OP_COUNT)))}


def method_name(text: str) -> str:
    """'and_' for 'and', which is a word of Python."""
    return text + "_" if keyword.iskeyword(text) else text


def _make_method(operation: Operation) -> typing.Callable[..., typing.Any]:
    def method(self: typing.Any, *operands: object, **options: typing.Any) -> typing.Any:
        return self.op(operation.text, *operands, **options)

    shown = operation.syntax.replace("op", operation.text, 1)
    attrs = f"\n\nAttributes: {', '.join(operation.attrs)}." if operation.attrs else ""
    typed = "\n\nIts type: dtype=, and shape= of an array." if operation.is_typed else ""
    method.__name__ = method_name(operation.text)
    method.__qualname__ = f"Operations.{method.__name__}"
    method.__doc__ = f"{shown}\n\n{operation.doc[:1].upper()}{operation.doc[1:]}.{attrs}{typed}"
    return method


class Operations:
    """A method for each operation without regions, in the operands of its form ('grout ops NAME').

    Operands are values, references, constant expressions and numbers; texts and axes are str. Attributes are
    keywords: a flag is True, a set of axes a tuple of names, a choice its word. name= names the result.
    """

    def op(self, text: str, *operands: object, dtype: str | None = None, shape: typing.Sequence[object] | None = None,
           name: str | None = None, **attrs: typing.Any) -> typing.Any:
        """The operation of this name."""
        raise NotImplementedError

    if typing.TYPE_CHECKING:
        def __getattr__(self: typing.Any, name: str) -> typing.Callable[..., typing.Any]:
            """A method of the table."""


for _operation in TABLE.values():
    setattr(Operations, method_name(_operation.text), _make_method(_operation))


class Arguments:
    """A grout_build_op_args, and what it points to. builder: makes operands and constant expressions."""

    def __init__(self, builder: Builder, operation: Operation, operands: typing.Sequence[object], dtype: str | None,
                 shape: typing.Sequence[object] | None, attrs: typing.Mapping[str, object]) -> None:
        self.builder, self.operation = builder, operation
        texts = [ffi.new("char[]", read_text("operand", operand)) for operand in operands if isinstance(operand, str)]
        values = [builder._operand(operand) for operand in operands if not isinstance(operand, str)]
        self.keep = [texts, ffi.new("grout_operand[]", values)]
        self.pointer = ffi.new("grout_build_op_args *", {"operands": self.keep[1], "operand_count": len(values)})
        if len(texts) > len([letter for letter in operation.letters if letter in "tx"]):
            syntax = operation.syntax.replace("op", operation.text, 1)
            raise TypeError(f"'{operation.text}' takes fewer texts: {syntax}")
        for member, text in zip(("text", "ptx"), texts):
            setattr(self.pointer, member, text)
        if dtype is not None:
            self.pointer.type_dtype = builder._dtype(dtype)
        if shape is not None:
            dims = builder._exprs(shape)
            self.keep.append(dims)
            self.pointer.type_rank, self.pointer.type_dims = len(shape), dims
        if not operation.is_typed and (dtype is not None or shape is not None):
            raise TypeError(f"'{operation.text}' has no type: its operands say it")
        self._add_attrs(attrs)

    def _add_attrs(self, attrs: typing.Mapping[str, object]) -> None:
        choices: list[int] = []
        numbers: dict[int, int] = {}
        for name, value in attrs.items():
            if name not in self.operation.attrs:
                known = ", ".join(self.operation.attrs) or "none"
                raise TypeError(f"'{self.operation.text}' has no attribute '{name}'; it has: {known}")
            if value is None or value is False:
                continue
            attr = self.operation.attrs[name]
            self.pointer.attrs |= 1 << attr
            self._add_attr(attr, name, value, choices, numbers)
        if choices:
            self._keep("choices", "grout_choice[]", choices)
            self.pointer.choice_count = len(choices)
        if numbers:  # in the order of the table
            self._keep("attr_values", "grout_expr_id[]", [numbers[attr] for attr in sorted(numbers)])

    def _keep(self, member: str, kind: str, items: typing.Any) -> None:
        array = ffi.new(kind, items)
        self.keep.append(array)
        setattr(self.pointer, member, array)

    def _add_attr(self, attr: int, name: str, value: typing.Any, choices: list[int], numbers: dict[int, int]) -> None:
        argument = lib.grout_attr_get_info(attr).argument
        if argument == lib.GROUT_ARGUMENT_INT:
            numbers[attr] = self.builder._expr(value)
        elif argument == lib.GROUT_ARGUMENT_AXES:
            self.pointer.attr_axes = self.builder._axes((value,) if isinstance(value, str) else value)
        elif argument == lib.GROUT_ARGUMENT_CHOICE:
            word = read_text("value", value)
            known = _list_choices(attr)
            if word.decode() not in known:
                raise ValueError(f"{name}={value!r}: it is one of {', '.join(known)}")
            choices.append(known[word.decode()])
        elif argument == lib.GROUT_ARGUMENT_DIMS:
            self.pointer.attr_dims = sum((int(dim) + 1) << 4 * i for i, dim in enumerate(value))
        elif argument == lib.GROUT_ARGUMENT_RANGES:
            ranges = [tuple(self.builder._expr(number) for number in (*range_, 1)[:3]) for range_ in value]
            self._keep("attr_ranges", "grout_written_range[]", ranges)
            self.pointer.attr_range_count = len(ranges)


@functools.lru_cache(None)
def _list_choices(attr: int) -> dict[str, int]:
    """The words of an attribute, in order, and their numbers."""
    infos = {number: lib.grout_choice_get_info(number) for number in range(1, lib.GROUT_CHOICE_COUNT)}
    return {text_of(info.text): number for number, info in infos.items() if info.attr == attr}
