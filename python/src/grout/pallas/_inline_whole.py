# SPDX-License-Identifier: Apache-2.0
"""Loads, stores and copies of whole references in code of inline_mgpu: they stay one operation each, with a mark in
MLIR."""
from __future__ import annotations

import contextlib
import threading
import typing

from . import _jax
from ._errors import UnsupportedError

MARK = "builtin.unrealized_conversion_cast"
_NUMBER = "grout.number"
_LOCK = threading.RLock()  # the functions of JAX that are replaced are everybody's
_COPY_WORDS = frozenset({"swizzle", "gmem_transform", "uniform"})


class Recorder:
    """What whole references code loads, stores and copies. shapes: of those that it is given, the logical shape by
    value.

    records: by the number of a mark its kind, and what belongs to it.
    """

    def __init__(self, refuse: typing.Callable[[str], UnsupportedError]) -> None:
        self._refuse = refuse
        # Logical and physical, by value of MLIR.
        self.shapes: dict[object, tuple[tuple[typing.Any, ...], tuple[typing.Any, ...]]] = {}
        self.records: list[tuple[typing.Any, ...]] = []

    def find(self, ref: typing.Any) -> tuple[object, tuple[object, ...], tuple[int, ...]]:
        """A reference as one of those given, the parts of its dimensions that are meant, and the logical shape of
        that."""
        if ref in self.shapes:
            logical, _ = self.shapes[ref]
            return ref, tuple(slice(0, size) for size in logical), logical
        operation = getattr(ref.owner, "operation", ref.owner)
        if getattr(operation, "name", "") != "memref.subview" or operation.operands[0] not in self.shapes:
            raise self._refuse("a reference that is not a plain part of an argument")
        base = operation.operands[0]
        logical, physical = self.shapes[base]
        offsets, sizes, strides = ([int(number) for number in operation.attributes[name]] for name in
                                   ("static_offsets", "static_sizes", "static_strides"))
        plain = len(logical) - (len(physical) - len(logical))  # dimensions in front that are not tiled
        if any(number < 0 for number in (*offsets, *sizes)) or set(strides) != {1} or \
                offsets[plain:] != [0] * len(offsets[plain:]) or tuple(sizes[plain:]) != tuple(physical[plain:]):
            raise self._refuse("a part of a reference at computed places, or of its tiles")
        dropped = len(sizes) - len(ref.type.shape)
        parts: list[object] = []
        shape: list[int] = []
        for dim, full in enumerate(logical):
            if dim >= plain:
                parts.append(slice(0, full))
                shape.append(full)
            elif sizes[dim] == 1 and dropped:
                dropped -= 1
                parts.append(offsets[dim])
            else:
                parts.append(slice(offsets[dim], sizes[dim]))
                shape.append(sizes[dim])
        return base, tuple(parts), tuple(shape)

    def mark(self, record: tuple[typing.Any, ...], types: typing.Any = (), operands: typing.Any = ()) -> typing.Any:
        """An operation that represents a record."""
        made = _jax.make_mark(types, operands, _NUMBER, len(self.records))
        self.records.append(record)
        return made

    def get(self, operation: typing.Any) -> tuple[typing.Any, ...] | None:
        """The record of a mark."""
        if _NUMBER not in operation.attributes:
            return None
        return self.records[int(operation.attributes[_NUMBER])]

    def load(self, kind: typing.Any, ref: typing.Any, layout: typing.Any, is_signed: typing.Any) -> typing.Any:
        """An array in registers that is loaded of a reference."""
        base, parts, shape = self.find(ref)
        element = ref.type.element_type
        registers = layout.registers_shape(shape)
        count = 1
        for size in registers:
            count *= size
        operation = self.mark(("load", base, parts, shape, layout), [layout.registers_element_type(element)] * count)
        return _jax.arrange(kind, list(operation.results), registers, layout, is_signed)

    def store(self, array: typing.Any, ref: typing.Any) -> None:
        """An array in registers that is stored to a reference."""
        base, parts, shape = self.find(ref)
        if tuple(array.shape) != tuple(shape):
            raise self._refuse(f"a store of an array of {list(array.shape)} to a reference of {list(shape)}")
        self.mark(("store", base, parts, shape, array.layout), operands=list(array.registers.flat))

    def copy(self, source: typing.Any, target: typing.Any, words: typing.Mapping[str, typing.Any]) -> None:
        """A copy by TMA from shared memory to GMEM."""
        left = sorted(set(words) - _COPY_WORDS)
        if left:
            raise self._refuse(f"ctx.async_copy with {', '.join(left)}")
        self.mark(("copy", self.find(source), self.find(target)))

    @contextlib.contextmanager
    def watch(self) -> typing.Iterator[None]:
        """Functions of Mosaic GPU that load and store leave marks in the body."""
        kind = _jax.fragmented_array.FragmentedArray
        tiled = _jax.fragmented_array.WGMMA_LAYOUT

        def load_tiled(cls: type[typing.Any], /, ref: typing.Any, swizzle: typing.Any = None, *,
                       is_signed: typing.Any = None, layout: typing.Any = tiled, **_: typing.Any) -> typing.Any:
            return self.load(cls, ref, layout, is_signed)

        def load_untiled(cls: type[typing.Any], /, ref: typing.Any, *, layout: typing.Any, is_signed: typing.Any = None,
                         **_: typing.Any) -> typing.Any:
            return self.load(cls, ref, layout, is_signed)

        def load_strided(cls: type[typing.Any], /, ref: typing.Any, *, is_signed: typing.Any = None,
                         vec_size: typing.Any = None) -> typing.Any:
            layout = _jax.fragmented_array.WGStridedFragLayout(tuple(ref.type.shape), vec_size) if vec_size else \
                _jax.fragmented_array.WGStridedFragLayout.from_shaped_type(ref.type)
            return self.load(cls, ref, layout, is_signed)

        def store(array: typing.Any, ref: typing.Any, swizzle: typing.Any = None, *, atomic: typing.Any = None,
                  **_: typing.Any) -> None:
            if atomic is not None:
                raise self._refuse("a store with atomic=")
            self.store(array, ref)

        changes = {"load_tiled": classmethod(load_tiled), "load_untiled": classmethod(load_untiled),
                   "load_strided": classmethod(load_strided), "store_tiled": store, "store_untiled": store}
        with _LOCK:
            before = {name: vars(kind)[name] for name in changes if name in vars(kind)}
            try:
                for name in before:
                    setattr(kind, name, changes[name])
                yield
            finally:
                for name, own in before.items():
                    setattr(kind, name, own)


class Context:
    """What code gets for its launch context: copies of whole references, and waits for them."""

    def __init__(self, recorder: Recorder, refuse: typing.Callable[[str], UnsupportedError]) -> None:
        self._recorder, self._refuse = recorder, refuse

    def async_copy(self, *, src_ref: typing.Any, dst_ref: typing.Any, **words: typing.Any) -> None:
        """A copy by TMA."""
        self._recorder.copy(src_ref, dst_ref, words)

    def await_async_copy(self, allow_groups: typing.Any, await_read_only: typing.Any = False,
                         **words: typing.Any) -> None:
        """A wait for copies to GMEM."""
        self._recorder.mark(("wait", int(allow_groups), bool(await_read_only)))
        del words  # who of the warpgroup meets

    def __getattr__(self, name: str) -> typing.Any:
        raise self._refuse(f"a use of its launch context: ctx.{name}")
