# SPDX-License-Identifier: Apache-2.0
"""The builder: modules, kernels, objects, and what every operation does before and after it is added."""
from __future__ import annotations

import contextlib
import types
import typing

from .._allow import read_python_allowances
from .._arrays import dtype_number, scalar_bytes
from .._diagnostics import Diags, KernelError, make_diagnostic
from .._kernel import Module
from .._library import ffi, lib
from .._limits import read_text
from ._operations import TABLE, Arguments, Operations
from ._places import Frame, Places, encode_file
from ._regions import Branch, Loop, Scope, Specialized, WarpMap, While
from ._values import Barrier, BarrierObject, Ds, Expr, Object, Ref, Value, read_type, value_operand

DIRECTIONS = {"in": "IN", "out": "OUT", "inout": "INOUT"}
NO_TYPE = ("none", None, None)
Axes = typing.Mapping[str, object]  # sizes by names, in their order


def _make_slice(start: typing.Any, size: typing.Any) -> typing.Any:
    return ffi.new("grout_build_index *", {"kind": lib.GROUT_INDEX_SLICE, "start": start, "size": size})[0]


def _names(names: typing.Iterable[str]) -> tuple[typing.Any, list[typing.Any]]:
    """An array of C strings, and what it points to."""
    keep = [ffi.new("char[]", read_text("a name", name)) for name in names]
    return ffi.new("char *[]", keep), keep


class _KernelRegion:
    """The body of a kernel, from its 'with' on."""

    def __init__(self, builder: Builder, name: str, axes: typing.Any, attrs: typing.Any) -> None:
        self._builder, self._name, self._axes, self._attrs = builder, name, axes, attrs

    def __enter__(self) -> None:
        builder = self._builder
        builder._places.reach_here()
        builder._enter()
        lib.grout_builder_kernel(builder._pointer, read_text("name", self._name))
        builder._axis_names = []
        for kind, sizes in self._axes:
            for name, size in dict(sizes or {}).items():
                builder._axis_names.append((name, kind))
                lib.grout_build_axis(builder._pointer, getattr(lib, f"GROUT_AXIS_{kind}"), read_text("name", name),
                                     builder._expr(size))
        self._set_attrs()
        builder._judge()

    def _set_attrs(self) -> None:
        pointer = self._builder._pointer
        arch, cluster_exit, auto_fence, warps = self._attrs
        if arch is not None:
            arch_out = ffi.new("grout_arch *")
            if not isinstance(arch, str) or "\0" in arch or not lib.grout_arch_find(read_text("arch", arch), arch_out):
                raise ValueError(f"arch={arch!r}: it is 'sm_90a', 'sm_100a', 'sm_103a' or 'sm_110a'")
            lib.grout_build_arch(pointer, arch_out[0])
        if cluster_exit is not None:
            lib.grout_build_cluster_exit(pointer, getattr(lib, f"GROUT_CLUSTER_EXIT_{cluster_exit.upper()}"))
        if auto_fence is not None:
            lib.grout_build_auto_fence(pointer, auto_fence)
        if warps:
            lib.grout_build_partition_warps(pointer, len(warps), ffi.new("uint32_t[]", list(warps)))

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: types.TracebackType | None) -> None:
        if error is not None:
            self._builder._abandon()
            return
        self._builder._enter()
        lib.grout_builder_end_kernel(self._builder._pointer)
        self._builder._judge(asks=False)


class Builder(Operations):
    """Builds a module with its kernels.

    Operations are methods with the names of the table (Operations); what a value or a reference is asked for goes by
    operators. Each call is judged at once: with checks=False only at the end, which is faster for large kernels.
    """

    def __init__(self, name: str = "built", checks: bool = True, surface: str = "text") -> None:
        pointer = lib.grout_builder_new(read_text("name", name))
        if pointer == ffi.NULL:
            raise MemoryError("grout: no memory for a builder")
        self.name = name
        self._pointer = ffi.gc(pointer, lib.grout_builder_free)
        self._places = Places(self._pointer)
        self._checks = checks
        self._waiting: Branch | None = None  # for its else
        self._types = None  # the module as inferred last
        self._is_stale = True
        self._error: KernelError | None = None
        self._explicit: dict[int, bool] = {}  # by value of a barrier
        self._axis_names: list[tuple[str, str]] = []
        lib.grout_builder_surface(self._pointer, getattr(lib, f"GROUT_SURFACE_{surface.upper()}"))
        lib.grout_builder_inline(self._pointer, True)

    # ---- around each call -------------------------------------------------------------------------------------------

    def _enter(self) -> None:
        """Before something is built."""
        if self._error is not None:
            raise KernelError(f"the builder has failed before: {self._error}", self._error.diagnostics)
        self._places.set()
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            waiting.close()

    def _abandon(self) -> None:
        """An exception has left a body: there is no end for it."""
        self._error = self._error or KernelError("an exception has left a body")

    def _fail(self, error: KernelError) -> typing.NoReturn:
        self._error = error
        raise error

    def _judge(self, asks: bool = True) -> None:
        """After something is built: raises what is wrong with it."""
        self._is_stale = True
        if lib.grout_builder_is_failed(self._pointer):
            mistake = lib.grout_builder_get_mistake(self._pointer)
            if mistake == ffi.NULL:
                raise MemoryError("grout: no memory to build")
            diags = Diags()
            for file, text in self._places.sources.items():
                if text:
                    lib.grout_diags_add_source(diags.list, encode_file(file), text, len(text))
            diagnostic = make_diagnostic(mistake, diags.list)
            self._fail(KernelError(str(diagnostic), [diagnostic]))
        if self._checks and asks:
            self._infer()

    def _infer(self) -> None:
        if not self._is_stale or self._pointer is None:
            return
        diags = Diags()
        inferred = lib.grout_builder_infer(self._pointer, diags.list)
        self._types = ffi.gc(inferred, lib.grout_module_free) if inferred != ffi.NULL else None
        self._is_stale = False
        if lib.grout_diags_has_errors(diags.list):
            try:
                diags.fail(KernelError)
            except KernelError as error:
                self._error = error
                raise

    def _type_of(self, value: int) -> tuple[str, str | None, tuple[int, ...] | None]:
        """Kind, element type and shape of a value."""
        if self._pointer is not None and self._error is None:
            self._infer()
        return read_type(lib.grout_module_get_type(self._types, value)[0]) if self._types is not None else NO_TYPE

    def _ref_type(self, ref: Ref) -> tuple[str | None, tuple[int, ...] | None]:
        """Element type and shape of a reference."""
        _, dtype, shape = self._type_of(ref.base)
        if self._types is None or ref.operand.kind == lib.GROUT_OPERAND_VALUE:
            return dtype, shape
        kind, found, shape = read_type(
            lib.grout_module_get_operand_type(self._types, ffi.new("grout_operand *", ref.operand)))
        return (dtype, None) if kind == "none" else (found, shape)

    # ---- arguments for the library ----------------------------------------------------------------------------------

    def _dtype(self, dtype: str) -> int:
        number = dtype_number(str(dtype))
        if number == lib.GROUT_DTYPE_NONE:
            raise ValueError(f"'{dtype}' is not an element type; they are those of docs/language.md, such as 'f32'")
        return number

    def _expr(self, value: typing.Any) -> int:
        """A constant expression."""
        if isinstance(value, Expr):
            if value.builder is not self:
                raise ValueError("a constant of another builder")
            return value.id
        if isinstance(value, (Value, Ref)):
            raise TypeError(f"{value!r} stands where a constant has to: it is known when the kernel runs")
        if isinstance(value, bool):
            return lib.grout_build_bool(self._pointer, value)
        if hasattr(value, "__index__"):
            return lib.grout_build_int(self._pointer, value.__index__())
        if hasattr(value, "__float__"):
            return lib.grout_build_float(self._pointer, float(value))
        raise TypeError(f"a {type(value).__name__} is not a number")

    def _exprs(self, values: typing.Iterable[object]) -> typing.Any:
        return ffi.new("grout_expr_id[]", [self._expr(value) for value in values])

    def _operand(self, value: object) -> typing.Any:
        """An operand: a value, a reference, a constant or a number."""
        if isinstance(value, (Value, Ref)) and value.builder is not self:
            raise ValueError("a value of another builder")
        if isinstance(value, Value):
            return value_operand(value.id)
        if isinstance(value, Ref):
            return value.operand
        return ffi.new("grout_operand *", {"kind": lib.GROUT_OPERAND_EXPR, "id": self._expr(value)})[0]

    def _axes(self, names: typing.Iterable[str]) -> int:
        known = [name for name, _ in self._axis_names]
        missing = [name for name in names if name not in known]
        if missing:
            raise ValueError(f"the kernel has no axis '{missing[0]}'; it has: {', '.join(known) or 'none'}")
        return sum(1 << known.index(name) for name in names)

    def _make_index(self, index: typing.Any) -> typing.Any:
        if isinstance(index, Ds):
            return _make_slice(self._operand(index.start), self._expr(index.size))
        if not isinstance(index, slice):
            return ffi.new("grout_build_index *", {"kind": lib.GROUT_INDEX_AT, "start": self._operand(index)})[0]
        if index == slice(None):
            return ffi.new("grout_build_index *", {"kind": lib.GROUT_INDEX_ALL})[0]
        if index.step is not None or index.stop is None or any(isinstance(end, Value)
                                                               for end in (index.start, index.stop)):
            raise TypeError("a slice has constant ends and no step: write ds(start, size) for one that starts at a "
                            "value")
        if index.start is None or isinstance(index.start, int) and index.start == 0:
            return _make_slice(self._operand(0), self._expr(index.stop))
        return _make_slice(self._operand(index.start), self._expr(index.stop - index.start))

    def _index(self, base: typing.Any, indices: typing.Any) -> typing.Any:
        """The operand of a reference to a part."""
        indices = indices if isinstance(indices, tuple) else (indices,)
        if indices and indices[-1] is Ellipsis:
            indices = indices[:-1]
        self._enter()
        made = ffi.new("grout_build_index[]", [self._make_index(index) for index in indices])
        operand = lib.grout_build_part_ref(self._pointer, base, len(indices), made)
        self._judge(asks=False)
        return operand

    def _change_ref(self, what: str, operand: typing.Any, *arguments: object) -> typing.Any:
        self._enter()
        changed = getattr(lib, f"grout_build_{what}")(self._pointer, operand, *arguments)
        self._judge(asks=False)
        return changed

    @contextlib.contextmanager
    def at(self, *frames: typing.Any) -> typing.Iterator[None]:
        """with b.at(("model.py", 12), ("train.py", 40)): what is built comes from there, the innermost frame first.

        A frame is a file and a line, and then perhaps a column from 1 and a length, in bytes, and whether it is made
        inside of what the line calls. For importers, which know the places of what they translate.
        """
        before, self._places.given = self._places.given, tuple(Frame(*frame) for frame in frames)
        try:
            yield
        finally:
            self._places.given = before

    # ---- modules ----------------------------------------------------------------------------------------------------

    def const(self, name: str, value: object) -> Expr:
        """const NAME = value: what a caller may give another value."""
        self._enter()
        made = Expr(self, lib.grout_build_const(self._pointer, read_text("name", name), self._expr(value)))
        self._judge(asks=False)
        return made

    def expr(self, operator: str, *operands: object) -> Expr:
        """A constant expression: 'ADD', 'CDIV', 'MIN' and so on, of one or two others."""
        self._enter()
        if not hasattr(lib, f"GROUT_EXPR_{operator.upper()}"):
            raise ValueError(f"there is no operator '{operator}' of constant expressions")
        a, b = [*(self._expr(operand) for operand in operands), 0][:2]
        made = Expr(self, lib.grout_build_expr(self._pointer, getattr(lib, f"GROUT_EXPR_{operator.upper()}"), a, b))
        self._judge(asks=False)
        return made

    def typed(self, value: float, dtype: str) -> Expr:
        """A number as an element of this type: other operands need not say it."""
        self._enter()
        bits = int.from_bytes(scalar_bytes(value, dtype), "little")
        made = Expr(self, lib.grout_build_element(self._pointer, self._dtype(dtype), bits))
        self._judge(asks=False)
        return made

    def require(self, condition: object, text: str | None = None) -> None:
        """require condition, "text"."""
        self._enter()
        lib.grout_build_require(self._pointer, self._expr(condition),
                                ffi.NULL if text is None else read_text("text", text))
        self._judge(asks=False)

    def launch(self, kernel: str, *arguments: str, dependent: bool = False) -> None:
        """A line of the launch list."""
        self._enter()
        names, keep = _names(arguments)
        lib.grout_build_launch(self._pointer, read_text("kernel", kernel), names, len(arguments), dependent)
        self._judge(asks=False)
        del keep

    def finish(self, verify: bool = True) -> Module:
        """The module. The builder is done.

        It is bound with the consts at their defaults, and verified: what is wrong raises. verify=False leaves that to
        check, run and emit, for kernels that are legal with other values alone.
        """
        self._enter()
        if verify:
            self._infer()
        diags = Diags()
        symbolic = lib.grout_builder_close(self._pointer, diags.list)
        self._pointer = None
        self._error = KernelError("it is finished")
        if symbolic == ffi.NULL:
            diags.fail(KernelError)
        module = Module._of_pointer(symbolic, self.name)
        module.python_sources = dict(self._places.sources)
        module.allowances = tuple(rule for file, text in self._places.sources.items()
                                  for rule in read_python_allowances(text.decode("utf-8", "replace"), file))
        if verify:
            module._bind({}, "any")
        return module

    # ---- kernels and what they declare ------------------------------------------------------------------------------

    def kernel(self, name: str, grid: Axes | None = None, cluster: Axes | None = None,
               threads: Axes | int | Expr | None = None, cluster_exit: str | None = None,
               auto_fence: bool | None = None, partition_warps: typing.Sequence[int] = (),
               arch: str | None = None) -> _KernelRegion:
        """with b.kernel("k", grid={"x": 4}, threads={"wg": 2}): the body. Axes are by name and in their order."""
        if isinstance(threads, (int, Expr)):
            threads = {"wg": threads}
        return _KernelRegion(self, name, (("GRID", grid), ("CLUSTER", cluster), ("THREADS", threads)),
                             (arch, cluster_exit, auto_fence, tuple(partition_warps)))

    def array(self, name: str, direction: str, dtype: str, *dims: object, packed: bool = False) -> Ref:
        """A parameter: direction is 'in', 'out' or 'inout'. packed: of 6 or 4 bits, which TMA expands."""
        if direction not in DIRECTIONS:
            raise ValueError(f"direction={direction!r}: it is 'in', 'out' or 'inout'")
        self._enter()
        value = lib.grout_build_param_array(self._pointer, read_text("name", name),
                                            getattr(lib, f"GROUT_DIRECTION_{DIRECTIONS[direction]}"),
                                            self._dtype(dtype), len(dims), self._exprs(dims))
        if packed:
            lib.grout_build_param_packed(self._pointer, value)
        self._judge()
        return Ref(self, value_operand(value), value)

    def scalar(self, name: str, dtype: str) -> Value:
        """A parameter that is a number."""
        self._enter()
        value = Value(self, lib.grout_build_param_scalar(self._pointer, read_text("name", name), self._dtype(dtype)))
        self._judge()
        return value

    def init(self, target: Ref | Value, kind: str, *arguments: object) -> None:
        """init(..) of a parameter or a scratch: what it holds unless the caller brings something else.

        kind is a word of docs/language.md, such as 'randn' with its seed, or 'value' or 'list' with the numbers.
        """
        self._enter()
        number = getattr(lib, f"GROUT_GENERATOR_{kind.upper()}", None)
        if number is None:
            raise ValueError(f"there is no '{kind}' in init(..)")
        lib.grout_build_init(self._pointer, target.base if isinstance(target, Ref) else target.id, number,
                             len(arguments), self._exprs(arguments))
        self._judge()

    def _make_object(self, object_: Object, keep: list[typing.Any]) -> typing.Any:
        """A grout_build_object; keep: what it points to."""
        kind = object_.kind.replace("MBARRIER", "BARRIER")
        made = ffi.new("grout_build_object *", {"kind": getattr(lib, f"GROUT_OBJECT_{kind}"),
                                                "is_explicit": object_.kind == "MBARRIER",
                                                "is_global": object_.is_global, "infers_tile": object_.infers_tile,
                                                "orders_tensor_core": object_.orders_tensor_core,
                                                "is_packed": object_.is_packed, "is_padded": object_.is_padded,
                                                "is_scales": object_.is_scales,
                                                "is_split_scales": object_.is_split_scales,
                                                "is_metadata": object_.is_metadata,
                                                "is_collective": object_.is_collective,
                                                "is_leader_tracked": object_.is_leader_tracked})
        keep.append(made)
        if object_.space:
            made.space, made.dtype = getattr(lib, f"GROUT_SPACE_{object_.space}"), self._dtype(object_.dtype)
        for member, count, values in (("dims", "rank", object_.dims), ("tile", "tile_rank", object_.tile),
                                      ("transpose", "transpose_rank", object_.transpose)):
            exprs = self._exprs(values)
            keep.append(exprs)
            setattr(made, count, len(values))
            setattr(made, member, exprs)
        for member in ("swizzle", "alias_start", "arrivals"):
            if getattr(object_, member) is not None:
                setattr(made, member, self._expr(getattr(object_, member)))
        if object_.alias is not None:
            made.alias = object_.alias.base
        if object_.layout is not None:
            layout = ffi.new("char[]", read_text("layout", object_.layout))
            keep.append(layout)
            made.layout = layout
        groups = ffi.new("uint8_t[]", [self._axes(group) for group in object_.cluster])
        keep.append(groups)
        made.cluster_group_count, made.cluster_groups = len(object_.cluster), groups
        return made

    def _make_ref(self, value: int, object_: Object) -> Ref:
        operand = value_operand(value)
        if object_.kind in ("BARRIER", "MBARRIER"):
            self._explicit[value] = object_.kind == "MBARRIER"
            return Barrier(self, operand, value)
        return Ref(self, operand, value)

    @typing.overload
    def scratch(self, name: str, object_: BarrierObject) -> Barrier: ...
    @typing.overload
    def scratch(self, name: str, object_: Object) -> Ref: ...
    def scratch(self, name: str, object_: Object) -> Ref:
        """An object of the kernel: b.scratch("xs", smem("f32", 64, 64))."""
        self._enter()
        keep: list[typing.Any] = []
        value = lib.grout_build_scratch(self._pointer, read_text("name", name), self._make_object(object_, keep))
        self._judge()
        return self._make_ref(value, object_)

    # ---- operations -------------------------------------------------------------------------------------------------

    def op(self, text: str, *operands: object, dtype: str | None = None, shape: typing.Sequence[object] | None = None,
           name: str | None = None, **attrs: typing.Any) -> typing.Any:
        """The operation of this name ('grout ops'), with its operands and attributes; its result, if it has one."""
        if text not in TABLE:
            raise ValueError(f"there is no operation '{text}' without regions")
        operation = TABLE[text]
        self._enter()
        arguments = Arguments(self, operation, operands, dtype, shape, attrs)
        result = lib.grout_build_op(self._pointer, operation.opcode, arguments.pointer)
        if name is not None and result:
            lib.grout_build_name(self._pointer, result, read_text("name", name))
        self._judge()
        if not operation.has_result:
            return None
        is_descriptor = lib.grout_op_get_info(operation.opcode).makes_descriptor
        return Ref(self, value_operand(result), result) if is_descriptor else Value(self, result)

    # ---- regions ----------------------------------------------------------------------------------------------------

    def for_(self, *bounds: object, carry: typing.Mapping[str, object] | None = None,
             name: str | None = None, unroll: object = None) -> Loop:
        """with b.for_(n) as i, or for_(low, high, step=1). carry: first values by name."""
        low, high, step = {1: (0, *bounds, 1), 2: (*bounds, 1), 3: bounds}[len(bounds)]
        return Loop(self, (low, high, step), carry, name, unroll)

    def while_(self, carry: typing.Mapping[str, object]) -> While:
        """loop = b.while_({"i": 0}); with loop as i: loop.do(i < n); loop.yield_(i + 1)."""
        return While(self, carry)

    def if_(self, condition: object) -> Branch:
        """with b.if_(condition): .., and then 'with branch.else_(): ..'."""
        return Branch(self, condition)

    def scoped(self, objects: typing.Mapping[str, Object], collective: bool = False) -> Scope:
        """with b.scoped({"xs": smem("f32", 64)}) as xs: objects that end with the body."""
        return Scope(self, objects, collective)

    def warp_map(self, name: str | None = None) -> WarpMap:
        """with b.warp_map() as warp: each warp by itself."""
        return WarpMap(self, name)

    def warp_specialize(self) -> Specialized:
        """with b.warp_specialize() as part: ..; part.partition(); .."""
        return Specialized(self)

    def warpgroup(self, index: typing.Any) -> Branch:
        """with b.warpgroup(0): what this thread of the kernel alone does."""
        names = [name for name, kind in self._axis_names if kind == "THREADS"]
        if len(names) != 1:
            raise ValueError("the kernel has no axis of threads: b.kernel(.., threads=2)")
        # by name: a value that says which thread it is, as the author would write it
        return Branch(self, self.op("axis_index", names[0]) == index)

    def __repr__(self) -> str:
        return f"<grout.builder.Builder {self.name!r}>"
