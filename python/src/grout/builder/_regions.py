# SPDX-License-Identifier: Apache-2.0
"""Regions of a kernel: 'with' statements."""
from __future__ import annotations

import types
import typing

from .._library import ffi, lib
from .._limits import read_text
from ._values import Object, Ref, Value

if typing.TYPE_CHECKING:
    from ._builder import Builder


class Region:
    """A region that 'with' opens and closes. results: what its bodies yield, after its end."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self._yields: tuple[typing.Any, ...] = ()
        self._result_count = 0
        self._results: tuple[Value, ...] | None = None

    def _begin(self) -> typing.Any:
        raise NotImplementedError

    def __enter__(self) -> typing.Any:
        self._builder._enter()
        entered = self._begin()
        self._builder._judge()
        return entered

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: types.TracebackType | None) -> None:
        if error is not None:
            self._builder._abandon()
            return
        self._builder._enter()
        self._end()
        self._builder._judge()

    def _end(self) -> None:
        self._result_count = self._result_count or len(self._yields)
        first = lib.grout_build_end(self._builder._pointer, len(self._yields), self._take_yields())
        self._results = tuple(Value(self._builder, first + i) for i in range(self._result_count)) if first else ()

    def _take_yields(self) -> typing.Any:
        operands = ffi.new("grout_operand[]", [self._builder._operand(value) for value in self._yields])
        self._yields = ()
        return operands

    def yield_(self, *values: object) -> None:
        """What the body yields, at its end: the carries of the next turn, the results."""
        self._yields = values

    @property
    def results(self) -> tuple[Value, ...]:
        """What it yields, once it is closed."""
        if self._results is None:
            raise RuntimeError("the region is not closed")
        return self._results


class _Carrying(Region):
    def __init__(self, builder: Builder, carry: typing.Mapping[str, object] | None) -> None:
        super().__init__(builder)
        self._carry = dict(carry or {})

    def _make_carries(self) -> tuple[int, typing.Any, typing.Any, list[typing.Any]]:
        names = [ffi.new("char[]", read_text("name", name)) for name in self._carry]
        inits = [self._builder._operand(value) for value in self._carry.values()]
        return len(names), ffi.new("char *[]", names), ffi.new("grout_operand[]", inits), names

    def _get_carries(self) -> tuple[Value, ...]:
        return tuple(Value(self._builder, lib.grout_build_carry(self._builder._pointer, i))
                     for i in range(len(self._carry)))


class Loop(_Carrying):
    """A for: 'with' gives its index, or with carries a tuple of the index and the carries."""

    def __init__(self, builder: Builder, bounds: typing.Sequence[object], carry: typing.Mapping[str, object] | None,
                 name: str | None, unroll: object) -> None:
        super().__init__(builder, carry)
        self._bounds, self._name, self._unroll = bounds, name, unroll

    def _begin(self) -> typing.Any:
        builder = self._builder
        low, high, step = map(builder._operand, self._bounds)
        count, names, inits, keep = self._make_carries()
        name = ffi.new("char[]", read_text("name", self._name)) if self._name else ffi.NULL
        index = Value(builder, lib.grout_build_for(builder._pointer, name, low, high, step, count, names, inits))
        del keep
        if self._unroll is not None:
            lib.grout_build_unroll(builder._pointer, builder._expr(self._unroll))
        return (index, *self._get_carries()) if count else index


class While(_Carrying):
    """A while: 'with' gives the carries; do(condition) ends its first body."""

    def _begin(self) -> typing.Any:
        count, names, inits, keep = self._make_carries()
        lib.grout_build_while(self._builder._pointer, count, names, inits)
        del keep
        carries = self._get_carries()
        return carries[0] if count == 1 else carries

    def do(self, condition: object) -> None:
        """What follows is done while the condition holds."""
        self._builder._enter()
        lib.grout_build_do(self._builder._pointer, self._builder._operand(condition))
        self._builder._judge()


class Branch(Region):
    """An if. Its else_() may follow at once; with results it has to."""

    def __init__(self, builder: Builder, condition: object) -> None:
        super().__init__(builder)
        self._condition = condition

    def _begin(self) -> Branch:
        lib.grout_build_if(self._builder._pointer, self._builder._operand(self._condition))
        return self

    def _end(self) -> None:
        self._builder._waiting = self  # for an else

    def close(self) -> None:
        """No else follows."""
        super()._end()

    @property
    def results(self) -> tuple[Value, ...]:
        """What its bodies yield, once it is closed."""
        if self._builder._waiting is self:
            self._builder._enter()
            self._builder._judge()
        return super().results

    def else_(self) -> Else:
        """with branch.else_(): directly after the body of the if."""
        return Else(self)


class Else(Region):
    """The second body of an if."""

    def __init__(self, branch: Branch) -> None:
        super().__init__(branch._builder)
        self._branch = branch

    def __enter__(self) -> Else:
        builder = self._builder
        if builder._waiting is not self._branch:
            raise RuntimeError("an else comes directly after its if")
        builder._waiting = None
        builder._enter()
        count = len(self._branch._yields)
        lib.grout_build_else(builder._pointer, count, self._branch._take_yields())
        builder._judge()
        return self

    def _end(self) -> None:
        super()._end()
        self._branch._results = self._results


class Scope(Region):
    """A scope: 'with' gives its objects, one or a tuple."""

    def __init__(self, builder: Builder, objects: typing.Mapping[str, Object], collective: bool) -> None:
        super().__init__(builder)
        self._objects, self._collective = dict(objects), collective

    def _begin(self) -> typing.Any:
        builder = self._builder
        names = [ffi.new("char[]", read_text("name", name)) for name in self._objects]
        keep: list[typing.Any] = []
        made = [builder._make_object(object_, keep) for object_ in self._objects.values()]
        values = ffi.new("grout_value_id[]", max(len(made), 1))
        lib.grout_build_scoped(builder._pointer, self._collective, len(made), ffi.new("char *[]", names),
                               ffi.new("grout_build_object[]", [object_[0] for object_ in made]), values)
        refs: list[Ref] = [builder._make_ref(value, object_)
                                  for value, object_ in zip(values, self._objects.values())]
        return refs[0] if len(refs) == 1 else tuple(refs)


class WarpMap(Region):
    """A warp_map: 'with' gives the index of the warp."""

    def __init__(self, builder: Builder, name: str | None) -> None:
        super().__init__(builder)
        self._name = name

    def _begin(self) -> Value:
        name = ffi.new("char[]", read_text("name", self._name)) if self._name else ffi.NULL
        return Value(self._builder, lib.grout_build_warp_map(self._builder._pointer, name))


class Specialized(Region):
    """A warp_specialize: partition() begins each further body."""

    def _begin(self) -> Specialized:
        lib.grout_build_warp_specialize(self._builder._pointer)
        return self

    def partition(self) -> None:
        """What follows is for the next partition."""
        self._builder._enter()
        count = len(self._yields)
        self._result_count = self._result_count or count
        lib.grout_build_partition(self._builder._pointer, count, self._take_yields())
        self._builder._judge()
