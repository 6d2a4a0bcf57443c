# SPDX-License-Identifier: Apache-2.0
"""Runs a function that writes MLIR for Mosaic GPU, and reads what it has written, operation by operation.

Registers of lanes are tuples of Words, one for each element of a vector. What is no arithmetic is an effect, and
EFFECTS of _inline_effects.py say what it is in grout.
"""
from __future__ import annotations

import typing

import numpy

from . import _jax
from . import _lane_arithmetic as arithmetic
from ._errors import UnsupportedError
from ._inline_ptx import Reader as PtxReader
from ._inline_whole import Context, Recorder
from ._lanes import LANES, WARP, Node, Word, const, of, permute, uniform, whole, width_of

_FLOATS = {"f8E4M3FN": "f8e4m3", "f8E5M2": "f8e5m2", "f8E8M0FNU": "f8e8m0", "f4E2M1FN": "f4e2m1"}
INDEX = "i64"
PLAIN = ("f16", "bf16", "f32", "f64")


def refuse(what: str) -> UnsupportedError:
    """To be raised: code does something that has no counterpart."""
    return UnsupportedError(f"the code of an inline_mgpu has {what}, which grout does not read: say what the function "
                            "does with grout.pallas.register_inline")


def describe(mlir_type: typing.Any) -> tuple[str, int]:
    """An MLIR type as the type of elements, and how many a register has."""
    text = str(mlir_type)
    if text.startswith("vector<"):
        parts = text[len("vector<"):-1].split("x")
        sizes = [int(part) for part in parts[:-1]]
        return describe(parts[-1])[0], int(numpy.prod(sizes))
    if text == "index":
        return INDEX, 1
    text = _FLOATS.get(text, text)
    if text in PLAIN or text in _FLOATS.values() or text[0] in "i" and text[1:].isdigit():
        return text, 1
    raise refuse(f"a value of type {text}")


class Struct(tuple[typing.Any, ...]):
    """Several registers as one value of MLIR."""


def read_attribute(attribute: typing.Any) -> str:
    """An attribute, without the dialect's sugar: 'add' of #arith.kind<add>, and of #arith<kind add> as older ones
    print."""
    text = str(attribute)
    return text.rpartition("<")[2].rstrip(">").split()[-1].strip('"') if "<" in text else text


_BINARY = {"arith.addi": "add", "arith.subi": "sub", "arith.muli": "mul", "arith.divsi": "divs", "arith.divui": "divu",
           "arith.remsi": "rems", "arith.remui": "remu", "arith.andi": "and", "arith.ori": "or", "arith.xori": "xor",
           "arith.shli": "shl", "arith.shrsi": "shrs", "arith.shrui": "shru", "arith.maxsi": "maxs",
           "arith.maxui": "maxu", "arith.minsi": "mins", "arith.minui": "minu", "arith.addf": "add",
           "arith.subf": "sub", "arith.mulf": "mul", "arith.divf": "div", "arith.maximumf": "max",
           "arith.minimumf": "min", "math.atan2": "atan2", "math.powf": "pow",
           "llvm.add": "add", "llvm.sub": "sub", "llvm.mul": "mul", "llvm.and": "and", "llvm.or": "or",
           "llvm.xor": "xor", "llvm.shl": "shl", "llvm.lshr": "shru", "llvm.ashr": "shrs", "llvm.fadd": "add",
           "llvm.fsub": "sub", "llvm.fmul": "mul", "llvm.fdiv": "div"}
_UNARY = {"arith.negf": "neg", "math.absf": "abs", "math.absi": "abs", "math.exp2": "exp2", "math.exp": "exp",
          "math.log": "log", "math.log2": "log2", "math.log1p": "log1p", "math.sin": "sin", "math.cos": "cos",
          "math.tanh": "tanh", "math.sqrt": "sqrt", "math.rsqrt": "rsqrt", "math.cbrt": "cbrt", "math.floor": "floor",
          "math.ceil": "ceil", "math.roundeven": "round", "math.erf": "erf", "math.ctpop": "popcount",
          "math.ctlz": "clz"}
_CONVERSIONS = {"arith.sitofp": "itof", "arith.uitofp": "utof", "arith.fptosi": "ftoi", "arith.fptoui": "ftou",
                "arith.extf": "ftof", "arith.truncf": "ftof"}
_RESIZES = {"arith.extsi": True, "arith.extui": False, "arith.trunci": False, "arith.index_cast": True,
            "arith.index_castui": False, "llvm.sext": True, "llvm.zext": False, "llvm.trunc": False}
_WHOLE_TESTS = {"eq": "eq", "ne": "ne", "slt": "lts", "sle": "les", "sgt": "gts", "sge": "ges", "ult": "ltu",
                "ule": "leu", "ugt": "gtu", "uge": "geu"}
_WHOLE_NUMBERS = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
_FLOAT_TESTS = {"oeq": "eq", "une": "ne", "ogt": "gt", "oge": "ge", "olt": "lt", "ole": "le"}
_FLOAT_NUMBERS = ("false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une",
                  "uno", "true")


class Reader:
    """Reads the operations of a block. places: what represents the ids of blocks and the sizes of the grid, by the name
    of the operation and the dimension. effect(reader, operation) does what is no arithmetic, and says what it gives."""

    def __init__(self, places: typing.Callable[[str, str], Word], effect: typing.Callable[..., typing.Any],
                 ptx_effect: typing.Callable[..., typing.Any]) -> None:
        self.values: dict[object, tuple[typing.Any, ...]] = {}
        self.places, self.effect, self._ptx_effect = places, effect, ptx_effect

    def of(self, value: typing.Any) -> tuple[typing.Any, ...]:
        """The words of a value."""
        if value not in self.values:
            raise refuse(f"a value of type {value.type} that nothing has made")
        return self.values[value]

    def scalar(self, value: typing.Any) -> Word:
        """The one word of a value."""
        words = self.of(value)
        if len(words) != 1:
            raise refuse(f"a vector where a number is meant: {value.type}")
        return words[0]

    def read(self, block: typing.Any) -> None:
        """All operations of a block, in their order."""
        for operation in list(block.operations):
            operation = operation.operation
            if operation.name in ("func.return", "scf.yield"):
                continue
            result = self._step(operation)
            if result is not None:
                results = result if isinstance(result, list) else [result]
                self.values.update(zip(operation.results, results))

    def _step(self, operation: typing.Any) -> typing.Any:
        name = operation.name
        if name in _BINARY:
            return self.each(operation, lambda a, b: arithmetic.binary(_BINARY[name], a, b))
        if name in _UNARY:
            return self.each(operation, lambda a: arithmetic.unary(_UNARY[name], a))
        if name in _CONVERSIONS:
            kind = describe(operation.results[0].type)[0]
            return self.each(operation, lambda a: arithmetic.unary(_CONVERSIONS[name], a, kind))
        if name in _RESIZES:
            kind = describe(operation.results[0].type)[0]
            return self.each(operation, lambda a: arithmetic.resize(a, kind, _RESIZES[name]))
        function = _READERS.get(name)
        return self.effect(self, operation) if function is None else function(self, operation)

    def each(self, operation: typing.Any, function: typing.Any) -> tuple[typing.Any, ...]:
        """A function of the words of all operands, element by element."""
        return tuple(function(*words) for words in zip(*map(self.of, operation.operands)))

    def asm(self, operation: typing.Any) -> typing.Any:
        """llvm.inline_asm."""
        results = list(operation.results)
        text = str(results[0].type) if results else ""
        if text.startswith("!llvm.struct"):
            kinds = [describe(part.strip())[0] for part in text[text.index("(") + 1:text.rindex(")")].split(",")]
        else:
            kinds = [describe(results[0].type)[0]] if text and text != "!llvm.void" else []
        operands = []
        for operand in operation.operands:
            words = self.of(operand)
            operands.append(words[0] if len(words) == 1 else Word(f"i{sum(width_of(word.kind) for word in words)}",
                                                                  bits=arithmetic.join(words)))
        asm = _plain(operation.attributes["asm_string"])
        found = PtxReader(self._ptx_effect).run(asm, _plain(operation.attributes["constraints"]), operands, kinds)
        if text.startswith("!llvm.struct"):
            return Struct((word,) for word in found)
        return tuple(found) if found else None


def _plain(attribute: typing.Any) -> str:
    return attribute.value if hasattr(attribute, "value") else str(attribute).strip('"')


def _integers(operation: typing.Any, name: str) -> list[int]:
    """The numbers of an attribute."""
    return [int(number) for number in operation.attributes[name]]


# ---- single operations ----------------------------------------------------------------------------------------------

def _read_constant(reader: Reader, operation: typing.Any) -> typing.Any:
    del reader
    kind, count = describe(operation.results[0].type)
    attribute = operation.attributes["value"]
    if count == 1 and hasattr(attribute, "value") and not hasattr(attribute, "is_splat"):
        return (_number(attribute.value, kind),)
    if attribute.is_splat:
        return (_number(attribute.get_splat_value().value, kind),) * count
    return tuple(_number(value, kind) for value in attribute)


def _number(value: typing.Any, kind: str) -> Word:
    """A number as an element of this type."""
    if kind[0] == "i":
        return whole(int(value), kind)
    from ._arithmetic import numpy_dtype
    raw = numpy.array([value], numpy.float64).astype(numpy_dtype(kind))
    return of(const(int(raw.view(f"u{raw.itemsize}")[0]), kind))


def _read_cmpi(reader: Reader, operation: typing.Any) -> typing.Any:
    name = _predicate(operation, _WHOLE_NUMBERS)
    return reader.each(operation, lambda a, b: arithmetic.binary(_WHOLE_TESTS[name], a, b))


def _read_cmpf(reader: Reader, operation: typing.Any) -> typing.Any:
    name = _predicate(operation, _FLOAT_NUMBERS)
    if name not in _FLOAT_TESTS:
        raise refuse(f"arith.cmpf {name}")
    return reader.each(operation, lambda a, b: arithmetic.binary(_FLOAT_TESTS[name], a, b, "i1"))


def _predicate(operation: typing.Any, names: typing.Any) -> str:
    attribute = operation.attributes["predicate"]
    return names[attribute.value] if hasattr(attribute, "value") else read_attribute(attribute)


def _read_select(reader: Reader, operation: typing.Any) -> typing.Any:
    condition, yes, no = map(reader.of, operation.operands)
    if len(condition) == 1:
        condition = condition * len(yes)
    return tuple(arithmetic.select(*words) for words in zip(condition, yes, no))


def _read_bitcast(reader: Reader, operation: typing.Any) -> typing.Any:
    kind, count = describe(operation.results[0].type)
    words = arithmetic.split(arithmetic.join(reader.of(operation.operands[0])), kind)
    if len(words) != count:
        raise refuse(f"{operation.name} to {operation.results[0].type}")
    return tuple(words)


def _read_fma(reader: Reader, operation: typing.Any) -> typing.Any:
    return reader.each(operation, lambda a, b, c: of(Node("fma", a.kind, (a.node, b.node, c.node))))


def _read_broadcast(reader: Reader, operation: typing.Any) -> typing.Any:
    words = reader.of(operation.operands[0])
    count = describe(operation.results[0].type)[1]
    if count % len(words):
        raise refuse(f"{operation.name} to {operation.results[0].type}")
    return words * (count // len(words))


def _at(reader: Reader, operation: typing.Any, dynamic: typing.Any, name: str = "static_position") -> int:
    """The place in a vector that an operation names."""
    places = list(_integers(operation, name)) if name in operation.attributes else []
    places = [place for place in places if place >= 0]
    for operand in dynamic:
        number = uniform(reader.scalar(operand).node)
        if number is None:
            raise refuse(f"{operation.name} at a place that is computed")
        places.append(number)
    if len(places) > 1:
        raise refuse(f"{operation.name} of several dimensions")
    return places[0] if places else 0


def _read_extract(reader: Reader, operation: typing.Any) -> typing.Any:
    operands = list(operation.operands)
    return (reader.of(operands[0])[_at(reader, operation, operands[1:])],)


def _read_insert(reader: Reader, operation: typing.Any) -> typing.Any:
    operands = list(operation.operands)
    words = list(reader.of(operands[1]))
    words[_at(reader, operation, operands[2:])] = reader.scalar(operands[0])
    return tuple(words)


def _read_insert_element(reader: Reader, operation: typing.Any) -> typing.Any:
    target, word, place = operation.operands
    words = list(reader.of(target))
    words[_at(reader, operation, [place])] = reader.scalar(word)
    return tuple(words)


def _read_shuffle(reader: Reader, operation: typing.Any) -> typing.Any:
    words = reader.of(operation.operands[0]) + reader.of(operation.operands[1])
    return tuple(words[place] for place in _integers(operation, "mask"))


def _read_strided_slice(reader: Reader, operation: typing.Any) -> typing.Any:
    offsets, sizes, strides = (_integers(operation, name) for name in ("offsets", "sizes", "strides"))
    if len(offsets) != 1:
        raise refuse(f"{operation.name} of several dimensions")
    return reader.of(operation.operands[0])[offsets[0]::strides[0]][:sizes[0]]


def _read_insert_strided_slice(reader: Reader, operation: typing.Any) -> typing.Any:
    offsets, strides = _integers(operation, "offsets"), _integers(operation, "strides")
    if len(offsets) != 1 or strides != [1]:
        raise refuse(f"{operation.name} of several dimensions")
    part, whole_words = (reader.of(operand) for operand in operation.operands)
    return whole_words[:offsets[0]] + part + whole_words[offsets[0] + len(part):]


def _read_from_elements(reader: Reader, operation: typing.Any) -> typing.Any:
    return tuple(reader.scalar(operand) for operand in operation.operands)


def _read_to_elements(reader: Reader, operation: typing.Any) -> typing.Any:
    return [(word,) for word in reader.of(operation.operands[0])]


def _read_poison(reader: Reader, operation: typing.Any) -> typing.Any:
    del reader
    text = str(operation.results[0].type)
    if text.startswith("!llvm.struct"):
        count = text.count(",") + 1
        return Struct([None] * count)
    kind, count = describe(operation.results[0].type)
    return (of(Node("opaque", kind, attrs=("a value that is not set",))),) * count


def _read_extract_value(reader: Reader, operation: typing.Any) -> typing.Any:
    return reader.of(operation.operands[0])[_integers(operation, "position")[0]]


def _read_insert_value(reader: Reader, operation: typing.Any) -> typing.Any:
    struct = list(reader.of(operation.operands[0]))
    struct[_integers(operation, "position")[0]] = reader.of(operation.operands[1])
    return Struct(struct)


def _read_vector_reduction(reader: Reader, operation: typing.Any) -> typing.Any:
    name = {"add": "add", "mul": "mul", "and": "and", "or": "or", "xor": "xor", "maximumf": "max", "minimumf": "min",
            "maxsi": "maxs", "minsi": "mins", "maxui": "maxu", "minui": "minu"}.get(
                read_attribute(operation.attributes["kind"]))
    if name is None or len(operation.operands) != 1:
        raise refuse(f"vector.reduction {operation.attributes['kind']}")
    words = reader.of(operation.operands[0])
    result = words[0]
    for word in words[1:]:
        result = arithmetic.binary(name, result, word)
    return (result,)


def _read_dimension(operation: typing.Any) -> str:
    name = read_attribute(operation.attributes["dimension"])
    if name not in ("x", "y", "z"):
        raise refuse(f"{operation.name} {name}")
    return name


def _read_thread_id(reader: Reader, operation: typing.Any) -> typing.Any:
    """The lanes of a thread are those of one warpgroup: its number is in the bits above theirs."""
    if _read_dimension(operation) != "x":
        return (whole(0, INDEX),)
    lanes = const(numpy.arange(LANES), "i8")
    own = reader.places("warpgroup", "x").bits
    return (Word(INDEX, bits=[(lanes, k) for k in range(7)] + list(own)[:width_of(INDEX) - 7] +
                 [False] * max(width_of(INDEX) - 7 - len(own), 0)),)


def _read_place(reader: Reader, operation: typing.Any) -> typing.Any:
    word = reader.places(operation.name, _read_dimension(operation))
    return (arithmetic.resize(word, INDEX),)


def _read_special_register(reader: Reader, operation: typing.Any) -> typing.Any:
    name = operation.name.rpartition("sreg.")[2]
    kind = describe(operation.results[0].type)[0]
    if name == "laneid":
        return (of(const(numpy.arange(LANES) % WARP, kind)),)
    special = {"tid": "thread", "ctaid": "gpu.block_id", "nctaid": "gpu.grid_dim", "ntid": "gpu.block_dim"}
    base, _, dimension = name.partition(".")
    if base not in special or base == "tid":
        raise refuse(operation.name)
    return (arithmetic.resize(reader.places(special[base], dimension), kind),)


def _read_shuffle_of_lanes(reader: Reader, operation: typing.Any) -> typing.Any:
    operands = list(operation.operands)
    words = reader.of(operands[1])
    offset, clamp = (uniform(reader.scalar(operand).node) for operand in operands[2:4])
    kind = read_attribute(operation.attributes["kind"])
    if "return_value_and_is_valid" in operation.attributes or offset is None or clamp is None:
        raise refuse(operation.name)
    lanes = numpy.arange(LANES)
    own, base = lanes % WARP, lanes - lanes % WARP
    segment = clamp >> 8 & 31
    low, high = own & segment, own & segment | clamp & 31 & ~segment
    wanted = {"bfly": own ^ offset, "up": own - offset, "down": own + offset,
              "idx": low | offset & ~segment}[kind]
    is_inside = wanted >= high if kind == "up" else wanted <= high
    return tuple(of(permute(word.node, base + numpy.where(is_inside, wanted, own))) for word in words)


def _read_vote(reader: Reader, operation: typing.Any) -> typing.Any:
    """A vote of the lanes of a warp is taken over all four, and the verdict says so."""
    if read_attribute(operation.attributes["kind"]) not in ("any", "all"):
        raise refuse(f"nvvm.vote.sync {operation.attributes['kind']}")
    word = reader.scalar(operation.operands[1])
    name = "or" if read_attribute(operation.attributes["kind"]) == "any" else "and"
    lanes = numpy.arange(LANES)
    for step in (64, 32, 16, 8, 4, 2, 1):
        word = of(Node(name, "i1", (word.node, permute(word.node, lanes ^ step))))
    reader.effect(reader, operation)
    return (word,)


def _read_elect(reader: Reader, operation: typing.Any) -> typing.Any:
    del reader, operation
    return (of(Node("opaque", "i1", attrs=("the choice of one lane",))),)


def _read_if(reader: Reader, operation: typing.Any) -> typing.Any:
    """Nothing is to be read of an empty one."""
    if all(inner.operation.name == "scf.yield" for region in operation.regions for block in region
           for inner in block.operations) and not list(operation.results):
        return None
    return reader.effect(reader, operation)


_READERS: dict[str, typing.Callable[..., typing.Any]] = {
    "arith.constant": _read_constant, "llvm.mlir.constant": _read_constant, "arith.cmpi": _read_cmpi,
    "arith.cmpf": _read_cmpf, "arith.select": _read_select, "llvm.select": _read_select, "arith.bitcast": _read_bitcast,
    "vector.bitcast": _read_bitcast, "llvm.bitcast": _read_bitcast, "math.fma": _read_fma, "llvm.intr.fma": _read_fma,
    "vector.broadcast": _read_broadcast, "vector.splat": _read_broadcast, "vector.extract": _read_extract,
    "vector.extractelement": _read_extract, "llvm.extractelement": _read_extract, "vector.insert": _read_insert,
    "vector.insertelement": _read_insert, "llvm.insertelement": _read_insert_element, "vector.shuffle": _read_shuffle,
    "llvm.shufflevector": _read_shuffle, "vector.extract_strided_slice": _read_strided_slice,
    "vector.insert_strided_slice": _read_insert_strided_slice, "vector.from_elements": _read_from_elements,
    "vector.to_elements": _read_to_elements, "vector.reduction": _read_vector_reduction,
    "llvm.mlir.undef": _read_poison, "llvm.mlir.poison": _read_poison, "ub.poison": _read_poison,
    "llvm.extractvalue": _read_extract_value, "llvm.insertvalue": _read_insert_value,
    "llvm.inline_asm": lambda reader, operation: reader.asm(operation),
    "gpu.thread_id": _read_thread_id, "gpu.block_id": _read_place, "gpu.grid_dim": _read_place,
    "gpu.block_dim": _read_place, "nvvm.shfl.sync": _read_shuffle_of_lanes, "nvvm.vote.sync": _read_vote,
    "nvvm.elect.sync": _read_elect, "scf.if": _read_if,
    "memref.subview": lambda *_: None,  # who uses it finds what it is a part of
    **{f"nvvm.read.ptx.sreg.{name}": _read_special_register for name in
       ("laneid", *(f"{base}.{dim}" for base in ("ctaid", "nctaid", "ntid") for dim in "xyz"))},
}


# ---- running the function -------------------------------------------------------------------------------------------

class Registers:
    """Values of MLIR that hold an array, and of each element of each the place in it by lane.

    vectors: whether the array is spread over lanes; a single value is not. A reference has one value, and no places.
    """

    def __init__(self, values: typing.Any, places: typing.Any, vectors: bool) -> None:
        self.values, self.places, self.vectors = list(values), list(places), vectors


class Written:
    """What the function of an inline_mgpu writes, in a context of MLIR that is open inside of 'with'.

    given: of each argument its kind, shape and type; 'registers' for an array. Then block is what was written,
    arguments and results are Registers.
    """

    def __init__(self, params: typing.Any, given: typing.Sequence[tuple[typing.Any, ...]]) -> None:
        self._params, self._given = params, given
        self.block: typing.Any = None
        self.arguments: list[typing.Any] = []
        self.results: list[typing.Any] = []
        self.recorder = Recorder(refuse)
        self._known: dict[object, list[typing.Any]] = {}

    def __enter__(self) -> Written:
        self._context = _jax.open_mlir()
        self._context.__enter__()
        try:
            self._write()
        except BaseException:
            self._context.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *error: typing.Any) -> typing.Any:
        return self._context.__exit__(*error)

    def _write(self) -> None:
        kinds = list(self._params["flat_arg_types"])
        types = [self._list_types(kind, *given) for kind, given in zip(kinds, self._given)]
        self.block = _jax.make_mlir_function([one for part in types for one in part])
        values = iter(self.block.arguments)
        taken = [[next(values) for _ in part] for part in types]
        with _jax.ir.InsertionPoint(self.block):
            objects = [self._wrap(kind, own, *given) for kind, own, given in zip(kinds, taken, self._given)]
            returned = self._call(objects)
        for result, kind in zip(returned, self._params["flat_ret_ty"]):
            if result.layout != kind.layout.to_mgpu():
                raise UnsupportedError("the function of an inline_mgpu returns an array in the layout "
                                       f"{result.layout}, and {kind.layout} is declared")
            self.results.append(self.note(result.layout, tuple(kind.shape), list(result.registers.flat)))

    def _list_types(self, kind: typing.Any, space: str, shape: typing.Any, dtype: str) -> list[typing.Any]:
        if space != "registers":
            return [_jax.memref_type(kind, space, shape, dtype)] if space in ("smem", "gmem") and shape is not None \
                else []
        layout, element = kind.to_mgpu(), _jax.mlir_type(dtype)
        return [layout.registers_element_type(element)] * int(numpy.prod(layout.registers_shape(tuple(shape)),
                                                                         dtype=int))

    def _wrap(self, kind: typing.Any, values: list[typing.Any], space: str, shape: typing.Any,
              dtype: str) -> typing.Any:
        """What the function gets for an argument."""
        if space != "registers":
            self.arguments.append(Registers(values, [], False))
            self.recorder.shapes.update((value, (tuple(shape), tuple(value.type.shape))) for value in values)
            return values[0] if values else _jax.make_stand_in(lambda name: refuse(
                f"a use of a reference to {space}: .{name}"))
        layout = kind.to_mgpu()
        self.arguments.append(self.note(layout, tuple(shape), values))
        return _jax.make_fragments(values, layout, tuple(shape), dtype)

    def _call(self, objects: list[typing.Any]) -> list[typing.Any]:
        function = self._params["mgpu_fn"]
        arguments = _jax.jax.tree.unflatten(self._params["pytree_args"], objects)
        try:
            with self.recorder.watch():
                result = function(Context(self.recorder, refuse), *arguments)
        except UnsupportedError:
            raise
        except Exception as error:
            raise UnsupportedError(f"the function of an inline_mgpu ends with {type(error).__name__}: "
                                   f"{error}") from error
        leaves, tree = _jax.jax.tree.flatten(result, is_leaf=lambda leaf: hasattr(leaf, "registers"))
        if tree != self._params["pytree_ret_ty"]:
            raise UnsupportedError("the function of an inline_mgpu returns something else than its return_type")
        return leaves

    def note(self, layout: typing.Any, shape: typing.Any, values: list[typing.Any]) -> Registers:
        """With the places of all elements."""
        if not values[0].type or not str(values[0].type).startswith("vector<"):
            return Registers(values, [[numpy.zeros(LANES, numpy.int64)]] * len(values), False)
        return Registers(values, self.find_places(layout, shape), True)

    def find_places(self, layout: typing.Any, shape: typing.Any) -> list[typing.Any]:
        """For each register of a layout, the places of its elements."""
        key = (layout, shape)
        if key not in self._known:
            self._known[key] = list(list_places(layout, shape))
        return self._known[key]


def list_places(layout: typing.Any, shape: typing.Any) -> typing.Iterator[list[numpy.ndarray[typing.Any, typing.Any]]]:
    """For each register of a layout, the places of its elements, counted row by row, in each lane: the layout writes
    code for the first one, and that is run."""
    block = _jax.make_mlir_function([])
    reader = Reader(lambda name, dimension: whole(0), lambda reader, operation: None, lambda *_: None)
    with _jax.ir.InsertionPoint(block):
        indices = [tuple(place) for place in layout.thread_idxs(shape)]
    reader.read(block)
    count, step = _jax.vector_of(layout, shape)
    registers = int(numpy.prod(layout.registers_shape(shape), dtype=int))
    if len(indices) != registers:
        raise refuse(f"an array in the layout {layout}, whose places are not those of its registers")
    for index in indices:
        first = numpy.zeros(LANES, numpy.int64)
        for size, place in zip(shape, index):
            first = first * size + reader.scalar(place).node.lanes.astype(numpy.int64)
        yield [first + number * step for number in range(count)]
