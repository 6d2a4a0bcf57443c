# SPDX-License-Identifier: Apache-2.0
"""What a kernel is built of: constant expressions, values, references, and the objects that they refer to."""
from __future__ import annotations

import dataclasses
import typing

from .._arrays import dtype_text
from .._library import ffi, lib

if typing.TYPE_CHECKING:
    from ._builder import Builder

# Operators of Python: of a value the operation, of a constant expression the operator.
BINARY = {"add": ("add", "ADD"), "sub": ("sub", "SUB"), "mul": ("mul", "MUL"), "truediv": ("div", "DIV"),
          "mod": ("rem", "REM"), "lshift": ("shl", "SHL"), "rshift": ("shr", "SHR"), "and": ("and", None),
          "or": ("or", None), "xor": ("xor", None), "pow": ("pow", None)}
COMPARE = ("eq", "ne", "lt", "le", "gt", "ge")
UNARY = {"neg": ("neg", "NEG"), "abs": ("abs", None), "invert": ("not", None)}


class _Operand:
    """What takes part in operators. They are those of the IR: '/' and '%' of integers round towards zero."""

    __slots__ = ("builder",)
    __hash__ = object.__hash__
    __array_ufunc__ = None  # NumPy leaves its operators to these

    def __bool__(self) -> typing.NoReturn:
        raise TypeError("a kernel's value has no truth while the kernel is built: use Builder.if_, or select")

    def __iter__(self) -> typing.NoReturn:
        raise TypeError(f"a {type(self).__name__} cannot be iterated over")


def _add_operators(cls: type[_Operand]) -> None:
    def set_binary(python: str, name: str, operator: str | None, reflected: bool) -> None:
        def method(self: typing.Any, other: object) -> typing.Any:
            swap = isinstance(self, Expr) and isinstance(other, Value)
            first: typing.Any = other if swap else self  # whose builder is asked
            operands = (other, self) if reflected else (self, other)
            if operator is None or swap or isinstance(first, Value) or isinstance(other, Value):
                return first.builder.op(name, *operands) if _fits(operands) else NotImplemented
            return self.builder.expr(operator, *operands) if _fits(operands) else NotImplemented
        method.__name__ = f"__{'r' if reflected else ''}{python}__"
        setattr(cls, method.__name__, method)

    for python, (name, operator) in BINARY.items():
        set_binary(python, name, operator, False)
        set_binary(python, name, operator, True)
    for name in COMPARE:
        set_binary(name, name, name.upper(), False)

    def set_unary(python: str, name: str, operator: str | None) -> None:
        def method(self: typing.Any) -> typing.Any:
            if operator is not None and isinstance(self, Expr):
                return self.builder.expr(operator, self)
            return self.builder.op(name, self)
        method.__name__ = f"__{python}__"
        setattr(cls, method.__name__, method)

    for python, (name, operator) in UNARY.items():
        set_unary(python, name, operator)


def _fits(operands: typing.Iterable[object]) -> bool:
    return all(isinstance(operand, (Value, Expr, Ref, bool, int, float)) or hasattr(operand, "__index__") or
               hasattr(operand, "__float__") for operand in operands)


class Expr(_Operand):
    """A constant expression: known when the kernel is bound to sizes."""

    __slots__ = ("id",)

    def __init__(self, builder: Builder, number: int) -> None:
        self.builder, self.id = builder, number

    def __repr__(self) -> str:
        return f"<grout.builder.Expr {self.id}>"

    if typing.TYPE_CHECKING:  # _add_operators makes them; with a value of the kernel they are a Value
        @typing.overload
        def _of_two(self, other: Expr | float) -> Expr: ...
        @typing.overload
        def _of_two(self, other: Value) -> Value: ...
        def _of_two(self, other: typing.Any) -> typing.Any: ...

        def _of_one(self) -> Expr: ...

        __add__ = __sub__ = __mul__ = __truediv__ = __mod__ = __lshift__ = __rshift__ = _of_two
        __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rmod__ = __rlshift__ = __rrshift__ = _of_two
        __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = _of_two  # type: ignore[assignment]  # no bool
        __neg__ = _of_one


class Value(_Operand):
    """A scalar, or an array in registers. dtype and shape are known while the kernel is built."""

    __slots__ = ("id",)

    def __init__(self, builder: Builder, number: int) -> None:
        self.builder, self.id = builder, number

    @property
    def dtype(self) -> str | None:
        """'f32'; None: not known yet."""
        return self.builder._type_of(self.id)[1]

    @property
    def shape(self) -> tuple[int, ...] | None:
        """With the consts at their default values; () of a scalar. None: not known yet."""
        return self.builder._type_of(self.id)[2]

    def __getitem__(self, indices: typing.Any) -> Value:
        """A slice of an array in registers."""
        part = self.builder._index(value_operand(self.id), indices)
        return self.builder.op("slice", Ref(self.builder, part, self.id))

    def __repr__(self) -> str:
        return f"<grout.builder.Value {self.dtype}{list(self.shape) if self.shape else ''}>"

    if typing.TYPE_CHECKING:  # _add_operators makes them
        def _of_two(self, other: object) -> Value: ...

        def _of_one(self) -> Value: ...

        __add__ = __sub__ = __mul__ = __truediv__ = __mod__ = __lshift__ = __rshift__ = __and__ = __or__ = _of_two
        __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rmod__ = __rlshift__ = __rrshift__ = _of_two
        __rand__ = __ror__ = __xor__ = __rxor__ = __pow__ = __rpow__ = _of_two
        __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = _of_two  # type: ignore[assignment]  # no bool
        __neg__ = __abs__ = __invert__ = _of_one


_add_operators(Expr)
_add_operators(Value)


@dataclasses.dataclass(frozen=True)
class Ds:
    """A slice by its start, which may be a value, and its size, which is constant."""

    start: object
    size: object


def ds(start: object, size: object) -> Ds:
    """ref.at[ds(start, size)]: this many elements from start on."""
    return Ds(start, size)


class _At:
    __slots__ = ("_ref",)

    def __init__(self, ref: Ref) -> None:
        self._ref = ref

    def __getitem__(self, indices: typing.Any) -> Ref:
        return self._ref._slice(indices)

    def __iter__(self) -> typing.NoReturn:  # indices have no end that Python would see
        raise TypeError("a part of an array cannot be iterated over while the kernel is built: use Builder.for_")


class Ref:
    """An array in memory, or a part of one. ref[..] loads, ref[..] = value stores, ref.at[..] is the part itself."""

    __slots__ = ("builder", "operand", "base")

    def __init__(self, builder: Builder, operand: typing.Any, base: int) -> None:
        self.builder, self.operand, self.base = builder, operand, base

    def _slice(self, indices: typing.Any) -> typing.Any:  # of the same class
        return type(self)(self.builder, self.builder._index(self.operand, indices), self.base)

    def __iter__(self) -> typing.NoReturn:
        raise TypeError(f"a {type(self).__name__} cannot be iterated over while the kernel is built: use Builder.for_")

    @property
    def at(self) -> _At:
        """ref.at[0, ds(start, 64)]: the part of it, without an access."""
        return _At(self)

    def __getitem__(self, indices: typing.Any) -> Value:
        return self.builder.op("load", self if indices is Ellipsis else self._slice(indices))

    def __setitem__(self, indices: typing.Any, value: object) -> None:
        self.builder.op("store", self if indices is Ellipsis else self._slice(indices), value)

    def load(self) -> Value:
        """All of it."""
        return self[...]

    def store(self, value: object) -> None:
        """Into all of it."""
        self[...] = value

    def transpose(self, *permutation: int) -> Ref:
        """Its dimensions in another order; without numbers the reverse of theirs."""
        dims = permutation or tuple(reversed(range(len(self.shape or ()))))
        return Ref(self.builder, self.builder._change_ref("transpose", self.operand, len(dims),
                                                          ffi.new("uint32_t[]", dims)), self.base)

    def cluster(self, *place: object) -> Ref:
        """The same in the CTA at this place of the cluster."""
        operands = ffi.new("grout_operand[]", [self.builder._operand(index) for index in place])
        return type(self)(self.builder, self.builder._change_ref("cluster_ref", self.operand, len(place), operands),
                          self.base)

    def bitcast(self, dtype: str) -> Ref:
        """Its bytes as elements of another type."""
        return Ref(self.builder, self.builder._change_ref("bitcast_ref", self.operand, self.builder._dtype(dtype)),
                   self.base)

    def reshape(self, *dims: object) -> Ref:
        """Its elements with other dimensions."""
        return Ref(self.builder, self.builder._change_ref("reshape_ref", self.operand, len(dims),
                                                          self.builder._exprs(dims)), self.base)

    @property
    def dtype(self) -> str | None:
        """'f32'; None of what has no elements, or where it is not known yet."""
        return self.builder._ref_type(self)[0]

    @property
    def shape(self) -> tuple[int, ...] | None:
        """With the consts at their default values. None: not known yet."""
        return self.builder._ref_type(self)[1]

    def __repr__(self) -> str:
        return f"<grout.builder.{type(self).__name__} {self.dtype or ''}{list(self.shape or ())}>"


class Barrier(Ref):
    """A barrier, an mbarrier or an array of them: barrier.at[i] is one."""

    __slots__ = ("is_explicit",)

    def __init__(self, builder: Builder, operand: typing.Any, base: int, is_explicit: bool | None = None) -> None:
        super().__init__(builder, operand, base)
        self.is_explicit = builder._explicit.get(base, False) if is_explicit is None else is_explicit

    def _op(self, name: str, *operands: object, **attrs: typing.Any) -> typing.Any:
        return self.builder.op(("mbarrier_" if self.is_explicit else "barrier_") + name, self, *operands, **attrs)

    # One of an array of barriers, where an array of numbers is loaded.
    def __getitem__(self, indices: typing.Any) -> Barrier:  # type: ignore[override]  # it is no number
        return self._slice(indices)

    def init(self, count: object) -> None:
        """mbarrier_init: this many arrivals complete a phase."""
        self._op("init", count)

    def expect(self, count: object) -> None:
        """mbarrier_expect: the phase waits for this many bytes; it arrives too."""
        self._op("expect", count)

    def arrive(self, **attrs: object) -> None:
        """barrier_arrive or mbarrier_arrive."""
        self._op("arrive", **attrs)

    def wait(self, *parity: object, **attrs: object) -> None:
        """barrier_wait; of an mbarrier mbarrier_wait, with the parity of the phase."""
        self._op("wait", *parity, **attrs)

    def test(self, *parity: object, **attrs: object) -> Value:
        """Whether the phase is complete."""
        return self._op("test", *parity, **attrs)


@dataclasses.dataclass(frozen=True)
class Object:
    """What a scratch is made of: see smem, acc, gmem, barrier, mbarrier and semaphore."""

    kind: str
    space: str = ""
    dtype: str = ""
    dims: tuple[object, ...] = ()
    tile: tuple[object, ...] = ()
    infers_tile: bool = False
    swizzle: object = None
    transpose: tuple[object, ...] = ()
    layout: str | None = None
    alias: Ref | None = None
    alias_start: object = None
    arrivals: object = None
    cluster: tuple[tuple[str, ...], ...] = ()
    is_global: bool = False
    orders_tensor_core: bool = False
    is_packed: bool = False
    is_padded: bool = False
    is_scales: bool = False
    is_metadata: bool = False
    is_collective: bool = False
    is_leader_tracked: bool = False
    is_split_scales: bool = False


@dataclasses.dataclass(frozen=True)
class BarrierObject(Object):
    """What a scratch that is a barrier is made of."""


def smem(dtype: str, *dims: object, tile: str | typing.Sequence[object] = (), swizzle: object = None,
         transpose: typing.Sequence[int] = (), layout: str | None = None, alias: Ref | None = None,
         alias_start: object = None, padded: bool = False) -> Object:
    """An array in shared memory. tile: its dimensions, or 'infer'. padded: TMA makes it of a packed parameter."""
    infers = tile == "infer"
    return Object("ARRAY", "SMEM", dtype, dims, () if infers else tuple(tile), infers, swizzle, tuple(transpose),
                  layout, alias, alias_start, is_padded=padded)


def acc(dtype: str, *dims: object) -> Object:
    """An accumulator of wgmma."""
    return Object("ARRAY", "ACC", dtype, dims)


def tmem(dtype: str, *dims: object, packed: bool = False, scales: bool = False, split_scales: bool = False,
         metadata: bool = False, collective: bool = False, alias: Ref | None = None,
         alias_start: object = None) -> Object:
    """An array in tensor memory, on Blackwell. packed: several elements in a column of 32 bits; scales: of blocks of
    the operands of tcgen05_mma_scaled; split_scales: those of b for a pair with 64 rows in each CTA; metadata: which
    elements the a of a tcgen05_mma_sp keeps. collective: both CTAs of a pair have it. alias: another array in tensor
    memory whose cells it has, from column alias_start on."""
    return Object("ARRAY", "TMEM", dtype, dims, alias=alias, alias_start=alias_start, is_packed=packed,
                  is_scales=scales, is_split_scales=split_scales, is_metadata=metadata, is_collective=collective)


def gmem(dtype: str, *dims: object) -> Object:
    """A scratch array in global memory, of which the launch has one."""
    return Object("ARRAY", "GMEM", dtype, dims)


def barrier(count: object = 1, arrivals: object = None, cluster: typing.Sequence[tuple[str, ...]] = (),
            orders_tensor_core: bool = False, leader_tracked: bool = False) -> BarrierObject:
    """barrier[count] arrivals(n). cluster: sets of axes. orders_tensor_core: of Blackwell, for tensor memory too.
    leader_tracked: arrives count in the CTA that has index 0 along the axis alone."""
    return BarrierObject("BARRIER", dims=(count,), arrivals=arrivals, cluster=tuple(cluster),
                         orders_tensor_core=orders_tensor_core, is_leader_tracked=leader_tracked)


def mbarrier(count: object = 1, two_ctas: bool = False) -> BarrierObject:
    """mbarrier[count], which the kernel initialises and whose parities it knows. two_ctas: of a pair of CTAs."""
    return BarrierObject("MBARRIER", dims=(count,), is_leader_tracked=two_ctas)


def semaphore(count: object = 1, is_global: bool = False) -> Object:
    """semaphore[count]; is_global: of the launch."""
    return Object("SEMAPHORE", dims=(count,), is_global=is_global)


def value_operand(value: int) -> typing.Any:
    """A value as an operand."""
    return ffi.new("grout_operand *", {"kind": lib.GROUT_OPERAND_VALUE, "id": value})[0]


def read_type(type_: typing.Any) -> tuple[str, str | None, tuple[int, ...] | None]:
    """Kind, element type and dimensions of a grout_type."""
    kind = ffi.typeof("grout_type_kind").elements[type_.kind][len("GROUT_TYPE_"):].lower()
    if kind == "none":
        return kind, None, None
    dtype = dtype_text(type_.dtype) if type_.dtype != lib.GROUT_DTYPE_NONE else None
    return kind, dtype, tuple(type_.dims[i] for i in range(type_.rank))

