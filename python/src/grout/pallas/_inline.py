# SPDX-License-Identifier: Apache-2.0
"""plgpu.inline_mgpu: code that writes MLIR for the lanes of a warpgroup, read as what it does to arrays."""
from __future__ import annotations

import inspect
import math
import typing

import numpy

from ..builder import ds
from . import _mlir
from ._arithmetic import cast, cast_bits
from ._errors import UnsupportedError
from ._inline_effects import Effects, Memory
from ._lanes import LANES, Word, of, resize_places, source, split_place, uniform, whole
from ._lift import Lifter, Source
from ._rules import rule
from ._values import Val, View, dtype_of, index, is_bool, is_int
from ._views import apply

if typing.TYPE_CHECKING:
    from ._importer import Importer
    from ._mlir import Reader

# By the qualified name of the function that inline_mgpu wraps: what it means.
INLINE: dict[str, typing.Callable[..., typing.Any]] = {}


def register_inline(name: str, function: typing.Callable[..., typing.Any]) -> None:
    """Says what a function that plgpu.inline_mgpu wraps does: function(builder, *operands) -> values or None.

    name is module.qualname of that function; operands are grout.builder values and references. Variables that it closes
    over come as keyword arguments, those that function has parameters for.
    """
    INLINE[name] = function


def _list_closed_over(code: typing.Any, known: typing.Any) -> dict[str, object]:
    """The variables of code that known asks for by name."""
    wanted = inspect.signature(known).parameters
    takes_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in wanted.values())
    variables = inspect.getclosurevars(code).nonlocals if inspect.isfunction(code) else {}
    return {name: value for name, value in variables.items()
            if takes_all or name in wanted and wanted[name].kind is wanted[name].KEYWORD_ONLY}


def _name_of(function: typing.Any) -> str:
    return f"{getattr(function, '__module__', '')}.{getattr(function, '__qualname__', function)}"


@rule("inline_mgpu")
def import_inline(importer: Importer, equation: typing.Any, *operands: typing.Any) -> typing.Any:
    """As somebody has registered it, else as its code is."""
    params = equation.params
    function = params["mgpu_fn"]
    count = len(params["flat_arg_types"])
    transforms = params["pytree_ref_transforms"].unflatten(list(operands[count:]))
    given = [apply(importer, operand, at or ()) if isinstance(operand, View) else operand
             for operand, at in zip(operands[:count], transforms)]
    known = INLINE.get(_name_of(function))
    wide = next((aval.shape for aval in (variable.aval for variable in equation.outvars) if aval.shape), ())
    if importer.warps and wide:
        raise importer.unsupported("inline_mgpu in a single-warp context only supports scalar return types. Got "
                                   f"shape={tuple(wide)}.")
    if known is None:
        try:
            return Body(importer, equation, given).run()
        except UnsupportedError as error:
            raise importer.unsupported(f"{_name_of(function)}: {error.message}") from error
    results = known(importer.builder, *[operand.ref if isinstance(operand, View) else importer.operand(operand)
                                        for operand in given], **_list_closed_over(function, known))
    results = () if results is None else results if isinstance(results, (tuple, list)) else (results,)
    return [Val(dtype_of(variable.aval.dtype), variable.aval.shape, result)
            for variable, result in zip(equation.outvars, results)]


def writes_tensor_fence(equation: typing.Any) -> bool:
    """Whether the function of an inline_mgpu writes a tcgen05.fence. One that cannot be run is refused where it
    stands."""
    params = equation.params
    if INLINE.get(_name_of(params["mgpu_fn"])) is not None:
        return False
    given = []
    for variable in equation.invars[:len(params["flat_arg_types"])]:
        aval = getattr(variable.aval, "inner_aval", variable.aval)
        space = "other" if aval is not variable.aval else "registers"
        try:
            given.append((space, tuple(aval.shape), dtype_of(aval.dtype)))
        except UnsupportedError:
            given.append((space, (), ""))
    try:
        with _mlir.Written(params, given) as written:
            return "tcgen05.fence" in str(written.block.owner)
    except UnsupportedError:
        return False


class Body:
    """One call of inline_mgpu: what its function writes, and what that is in grout."""

    def __init__(self, importer: Importer, equation: typing.Any, given: typing.Sequence[typing.Any]) -> None:
        self.importer, self.params, self.given = importer, equation.params, given
        self._results = [variable.aval for variable in equation.outvars]
        self.sources: list[Source] = []
        self.lifter = Lifter(importer, self.sources)
        self.memory = Memory(importer, self)
        self._views: dict[object, View] = {}  # by value of MLIR
        self._pending: dict[int, tuple[View, list[numpy.ndarray[typing.Any, typing.Any]]]] = {}
        self.recorder: typing.Any = None  # while it runs
        self._written: typing.Any = None
        self._warpgroup: Word | None = None
        self._places: dict[tuple[str, str], Word] = {}

    def run(self) -> list[typing.Any]:
        """The results."""
        effects = Effects(self.importer, self)
        with _mlir.Written(self.params, self._list_arguments()) as written:
            self.recorder, self._written = written.recorder, written
            reader = _mlir.Reader(self._find_place, effects.do, effects.do_ptx)
            for argument, operand in zip(written.arguments, self.given):
                self._bind(reader, argument, operand)
            reader.read(written.block)
            self.memory.flush()
            return [self._take_result(reader, fragments, aval)
                    for fragments, aval in zip(written.results, self._results)]

    def _list_arguments(self) -> list[typing.Any]:
        """For each argument its shape, its type, and where it lies; 'registers' for an array."""
        return [(operand.kind, operand.shape, operand.dtype) if isinstance(operand, View) else
                ("registers", operand.shape, operand.dtype) for operand in self.given]

    # ---- arguments --------------------------------------------------------------------------------------------------

    def _bind(self, reader: Reader, argument: typing.Any, operand: typing.Any) -> None:
        if isinstance(operand, View):
            if argument.values:
                self._views[argument.values[0]] = operand
            return
        is_splat = not argument.vectors
        number = self._add_source(Source(operand, operand.shape, is_splat=is_splat))
        for value, places in zip(argument.values, argument.places):
            kind = _mlir.describe(value.type)[0]
            reader.values[value] = tuple(of(source(number, kind, place)) for place in places)

    def _add_source(self, made: Source) -> int:
        self.sources.append(made)
        return len(self.sources) - 1

    @property
    def warpgroup(self) -> Word:
        """The index of the thread in its CTA."""
        if self._warpgroup is None:
            threads = self.importer.source.threads
            self._warpgroup = whole(0) if threads is None or threads[1] == 1 else \
                of(source(self._add_source(Source(self.importer.axis(threads[0]), ())), "i32", 0))
        return self._warpgroup

    def _find_place(self, name: str, dimension: str) -> Word:
        """The id of a block, or the size of the grid."""
        if name == "warpgroup":
            return self.warpgroup
        key = (name, dimension)
        if key not in self._places:
            self._places[key] = self._make_place(name, "xyz".index(dimension))
        return self._places[key]

    def _make_place(self, name: str, dimension: int) -> Word:
        threads = self.importer.source.threads
        if name == "gpu.block_dim":
            return whole(LANES * (threads[1] if threads else 1) if dimension == 0 else 1)
        own, size = self.importer.find_block(dimension)
        if name == "gpu.grid_dim":
            return whole(size)
        if name != "gpu.block_id":
            raise _mlir.refuse(f"'{name}'")
        return whole(own.const) if own.is_const else of(source(self._add_source(Source(own, ())), "i32", 0))

    # ---- results ----------------------------------------------------------------------------------------------------

    def _take_result(self, reader: Reader, fragments: typing.Any, aval: typing.Any) -> Val:
        dtype, shape = dtype_of(aval.dtype), tuple(aval.shape)
        columns, targets = [], []
        for value, places in zip(fragments.values, fragments.places):
            words = reader.of(value)
            columns += [word.node for word in words]
            targets += list(places)
        made = self.lifter.lift(columns, numpy.stack(targets), shape)
        return self.fit(made, dtype, shape)

    def fit(self, made: Val, dtype: str, shape: typing.Any) -> Val:
        """With the sign and the shape that it is to have."""
        if is_bool(dtype) != is_bool(made.dtype):
            made = cast(self.importer, made, dtype)
        made = cast_bits(self.importer, made, dtype) if is_int(made.dtype) else made
        if made.dtype != dtype:
            raise UnsupportedError(f"inline_mgpu gives {made.dtype} for {dtype}")
        return self.importer.broadcast(made, shape) if shape and not made.shape else made

    def as_index(self, value: Val) -> Val:
        """As an i32."""
        return cast(self.importer, value, "i32")

    # ---- whole references -------------------------------------------------------------------------------------------

    def take(self, ref: typing.Any, parts: typing.Any) -> typing.Any:
        """A part of a reference, as the builder takes it."""
        view = self._views[ref]
        if view.word > 1:
            raise _mlir.refuse("a load or store of elements of less than 4 bits")
        if view.padded:
            return view.ref.at[0]
        if all(isinstance(part, slice) and (part.start, part.stop) == (0, size)
               for part, size in zip(parts, view.shape)):
            return view.ref
        return view.ref.at[tuple(ds(part.start, part.stop) if isinstance(part, slice) else part for part in parts)]

    def load_whole(self, values: typing.Any, ref: typing.Any, parts: typing.Any, shape: typing.Any,
                   layout: typing.Any) -> list[typing.Any]:
        """The registers of an array that is loaded."""
        loaded = self.importer.op("load", self._views[ref].dtype, tuple(shape), self.take(ref, parts))
        number = self._add_source(Source(loaded, tuple(shape)))
        noted = self._written.note(layout, tuple(shape), values)
        kind = _mlir.describe(values[0].type)[0]
        return [tuple(of(source(number, kind, place)) for place in places) for places in noted.places]

    def store_whole(self, registers: typing.Any, ref: typing.Any, parts: typing.Any, shape: typing.Any,
                    layout: typing.Any) -> None:
        """An array in registers to a reference."""
        columns = [word.node for words in registers for word in words]
        places = self._written.find_places(layout, tuple(shape))
        targets = numpy.stack([place for row in places for place in row])
        made = self.fit(self.lifter.lift(columns, targets, tuple(shape)), self._views[ref].dtype, tuple(shape))
        made = self.importer.broadcast(made, shape) if made.is_const else made
        self.importer.builder.op("store", self.take(ref, parts), made.built)

    # ---- elements of references -------------------------------------------------------------------------------------

    def plain_view(self, ref: typing.Any) -> View:
        """The reference that a value of MLIR represents, element by element."""
        view = self._views.get(ref)
        if view is None:
            raise _mlir.refuse(f"a load or store of a part of a reference: {ref.type}")
        if view.undo or view.word > 1:
            raise _mlir.refuse("loads or stores of single elements of a reference in tiles")
        return view

    def add_pending(self, view: View) -> int:
        """A source that is going to be loaded, when it is known which elements are taken."""
        number = self._add_source(Source(Val(view.dtype, view.shape), view.shape))
        self._pending[number] = (view, [])
        return number

    def take_pending(self, number: int, places: list[Word], kind: str) -> Word:
        """An element of it, in each lane."""
        view, taken = self._pending[number]
        flat = numpy.zeros(LANES, numpy.int64)
        for size, place in zip(view.shape, places):
            own = place.node.lanes.astype(numpy.int64)
            if (own >= size).any():
                raise _mlir.refuse(f"a load beyond an array of {list(view.shape)}")
            flat = flat * size + own
        taken.append(flat)
        return of(source(number, kind, flat))

    def load_pending(self, number: int) -> None:
        """Loads the box of elements that are taken."""
        view, taken = self._pending.pop(number)
        start, shape = _find_box(numpy.unique(numpy.concatenate(taken)), view.shape)
        part = view.ref.at[tuple(_mlir_box(start, shape))] if view.shape else view.ref.at[0]
        value = self.importer.op("load", view.dtype, shape, part)
        self.sources[number] = Source(value, view.shape, start)

    def load_at(self, view: View, places: list[Word], kind: str) -> Word:
        """One element, at places that are the same in all lanes."""
        value = self.importer.op("load", view.dtype, (), self._at(view, places))
        return of(source(self._add_source(Source(value, ())), kind, 0))

    def _at(self, view: View, places: list[Word]) -> typing.Any:
        found = []
        for place in places:
            known = uniform(place.node)
            found.append(known if known is not None else
                         self.importer.operand(self.as_index(self.lifter.lift_scalar(place.node))))
        return view.ref.at[tuple(found)] if found else view.ref.at[0]

    def store_all(self, view: View, values: list[Word], places: list[list[Word]]) -> None:
        """Stores of single elements that follow each other."""
        if any(place.node.is_const and uniform(place.node) is None for row in places for place in row):
            self._store_box(view, values, places)
            return
        for value, row in zip(values, places):
            made = self.fit(self.lifter.lift_scalar(value.node), view.dtype, ())
            self.importer.builder.op("store", self._at(view, row), self.importer.builder.typed(made.const, made.dtype)
                                     if made.is_const else made.built)

    def _store_box(self, view: View, values: typing.Any, places: typing.Any) -> None:
        rows = []
        for row in places:
            if any(not place.node.is_const for place in row):
                raise _mlir.refuse("a store at places that are partly computed")
            rows.append(numpy.ravel_multi_index([place.node.lanes.astype(numpy.int64) for place in row], view.shape))
        flat = numpy.stack(rows)
        start, shape = _find_box(numpy.unique(flat), view.shape)
        targets = resize_places(flat, view.shape, start, shape)
        made = self.fit(self.lifter.lift([value.node for value in values], targets, shape), view.dtype, shape)
        self.importer.builder.op("store", view.ref.at[tuple(_mlir_box(start, shape))], self.importer.broadcast(
            made, shape).built if made.is_const else made.built)


    # ---- by some lanes ----------------------------------------------------------------------------------------------

    def _find_masked(self, view: View, places: list[Word], mask: Word) -> typing.Any:
        """The part of a reference that lanes touch, one element each, which of it, and its shape."""
        parts, shape = [], []
        flat = numpy.zeros(LANES, numpy.int64)
        for place in places:
            found = split_place(place.node)
            if found is None:
                raise _mlir.refuse("a load or store of some lanes at places that are not the sum of one number and "
                                   "their own")
            least, size = int(found[1].min()), int(numpy.ptp(found[1])) + 1
            start = index(least)
            for node in found[0]:
                start = self.importer.arith("add", start, self.as_index(self.lifter.lift_scalar(node)))
            operand = self.importer.operand(start)
            parts.append(ds(operand, size) if size > 1 else operand)
            shape += [size] * (size > 1)
            flat = flat * size + found[1] - least
        if not shape or len(numpy.unique(flat)) != math.prod(shape):
            raise _mlir.refuse("a load or store of some lanes that is not a box of a reference")
        truth = self.lifter.lift([mask.node], flat[None], tuple(shape))
        return view.ref.at[tuple(parts)], truth, flat, tuple(shape)

    def load_masked(self, view: View, places: list[Word], kind: str, mask: Word) -> Word:
        """An element in each lane for which the mask is true."""
        part, truth, flat, shape = self._find_masked(view, places, mask)
        value = self.importer.op("masked_load", view.dtype, shape, part, truth.built)
        return of(source(self._add_source(Source(value, shape)), kind, flat))

    def store_masked(self, view: View, places: list[Word], value: Word, mask: Word) -> None:
        """Writes an element in each lane for which the mask is true."""
        part, truth, flat, shape = self._find_masked(view, places, mask)
        made = self.fit(self.lifter.lift([value.node], flat[None], shape), view.dtype, shape)
        made = self.importer.broadcast(made, shape) if made.is_const else made
        self.importer.builder.op("masked_store", part, made.built, truth.built)


def _find_box(flat: numpy.ndarray[typing.Any, typing.Any],
              shape: typing.Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Start and size of the box that these elements are."""
    places = numpy.unravel_index(flat, shape) if shape else ()
    start = tuple(int(place.min()) for place in places)
    sizes = tuple(int(place.max()) - own + 1 for place, own in zip(places, start))
    if math.prod(sizes) != len(flat):
        raise _mlir.refuse("loads or stores of elements that are not a box of a reference")
    return start, sizes


def _mlir_box(start: typing.Any, shape: typing.Any) -> typing.Any:
    return [ds(first, size) for first, size in zip(start, shape)]
