# SPDX-License-Identifier: Apache-2.0
"""Every operation, with its attributes and references, through the builder: the kernels of the repository, parsed,
built again and compared."""
import functools
import pathlib
import runpy
import typing

import pytest

import grout
from grout._arrays import dtype_text
from grout._library import ffi, lib, text_of
from grout.builder import Builder, Expr, Object, Ref, Value, ds
from grout.builder._operations import TABLE
from grout.builder._values import value_operand

pytestmark = pytest.mark.library

ROOT = pathlib.Path(__file__).resolve().parents[2]
read_list = runpy.run_path(str(ROOT / "tests" / "kernel_lists.py"))["read"]
FOLDERS = ("tests/ops", "tests/differential", "tests/differential/ptx", "kernels")


def enum_text(kind, value, prefix):
    return ffi.typeof(kind).elements[value][len(prefix):].lower()


def list_attrs(module, op):
    found = [lib.grout_module_find_attr(module, op, attr) for attr in range(lib.GROUT_ATTR_COUNT)]
    return [attr for attr in found if attr != ffi.NULL]


class Rebuilding:
    """A parsed module, made again by a builder, kernel by kernel and block by block."""

    def __init__(self, module):
        self.m = module._symbolic
        self.b = Builder("rebuilt", checks=False)
        self.values, self.consts, self.axes = {}, {}, []

    def string(self, number):
        return text_of(lib.grout_module_get_string(self.m, number))

    def expr(self, number):
        expr = lib.grout_module_get_expr(self.m, number)
        if expr.kind == lib.GROUT_EXPR_NAME:
            return self.consts[expr.constant]
        if expr.kind in (lib.GROUT_EXPR_UNARY, lib.GROUT_EXPR_BINARY):
            operator = enum_text("grout_expr_operator", expr.operator_, "GROUT_EXPR_")
            return self.b.expr(operator, *(self.expr(part) for part in (expr.a, expr.b) if part))
        if expr.kind == lib.GROUT_EXPR_BOOL:
            return bool(expr.u.integer)
        if expr.kind == lib.GROUT_EXPR_TYPED:
            return self.b.typed(expr.u.number, dtype_text(expr.dtype))
        if expr.dtype != lib.GROUT_DTYPE_NONE:
            return Expr(self.b, lib.grout_build_element(self.b._pointer, expr.dtype, expr.u.bits))
        return expr.u.integer if expr.kind == lib.GROUT_EXPR_INT else expr.u.number

    def exprs(self, array, count):
        return tuple(self.expr(array[i]) for i in range(count))

    def index(self, index):
        if index.kind == lib.GROUT_INDEX_ALL:
            return slice(None)
        start = self.operand(index.start)
        return start if index.kind == lib.GROUT_INDEX_AT else ds(start, self.expr(index.size))

    def step(self, ref, step):
        indices = [lib.grout_module_get_index(self.m, step, i) for i in range(step.count)]
        if step.kind == lib.GROUT_REF_INDEX:
            return ref._slice(tuple(map(self.index, indices)))
        if step.kind == lib.GROUT_REF_CLUSTER:
            return ref.cluster(*map(self.index, indices))
        if step.kind == lib.GROUT_REF_BITCAST:
            return ref.bitcast(dtype_text(step.dtype))
        sizes = [self.expr(index.size) for index in indices]
        return ref.reshape(*sizes) if step.kind == lib.GROUT_REF_RESHAPE else ref.transpose(*sizes)

    def operand(self, operand):
        if operand.kind == lib.GROUT_OPERAND_EXPR:
            return self.expr(operand.id)
        if operand.kind == lib.GROUT_OPERAND_STRING:
            return self.string(operand.id)
        if operand.kind == lib.GROUT_OPERAND_AXIS:
            return self.axes[operand.id - 1]
        if operand.kind == lib.GROUT_OPERAND_VALUE:
            return self.values[operand.id]
        ref = lib.grout_module_get_ref(self.m, operand.id)
        made = self.values[ref.base]
        if isinstance(made, Value):
            made = Ref(self.b, value_operand(made.id), made.id)
        for i in range(ref.step_count):
            made = self.step(made, lib.grout_module_get_ref_step(self.m, ref, i))
        return made

    def operands(self, op):
        return [self.operand(lib.grout_module_get_operand(self.m, op, i)[0]) for i in range(op.operand_count)]

    def attrs(self, op):
        found = {}
        for attr in list_attrs(self.m, op):
            info = lib.grout_attr_get_info(attr.attr)
            found[text_of(info.text)] = {
                lib.GROUT_ARGUMENT_FLAG: lambda attr: True,
                lib.GROUT_ARGUMENT_INT: lambda attr: self.expr(attr.expr),
                lib.GROUT_ARGUMENT_AXES: lambda attr: [axis for i, axis in enumerate(self.axes) if attr.axes >> i & 1],
                lib.GROUT_ARGUMENT_CHOICE: lambda attr: text_of(lib.grout_choice_get_info(attr.choice).text),
                lib.GROUT_ARGUMENT_DIMS: lambda attr: [(attr.dims >> 4 * i & 15) - 1 for i in range(8)
                                                       if attr.dims >> 4 * i & 15],
                lib.GROUT_ARGUMENT_RANGES: lambda attr: [
                    tuple(map(self.expr, (r.low, r.high, r.step))) for r in attr.ranges[0:attr.range_count]],
            }[info.argument](attr)
        return found

    def object(self, number):
        it = lib.grout_module_get_object(self.m, number)
        kind = "MBARRIER" if it.is_explicit else ("ARRAY", "BARRIER", "SEMAPHORE")[it.kind]
        space = enum_text("grout_space", it.space, "GROUT_SPACE_").upper() if kind == "ARRAY" else ""
        return Object(kind, space, dtype_text(it.type.dtype) if space else "", self.exprs(it.type.dims, it.type.rank),
                      self.exprs(it.tile, it.tile_rank), it.infers_tile, self.expr(it.swizzle) if it.swizzle else None,
                      self.exprs(it.transpose, it.transpose_rank), self.string(it.layout) if it.layout else None,
                      self.values[it.alias] if it.alias else None,
                      self.expr(it.alias_start) if it.alias_start else None,
                      self.expr(it.arrivals) if it.arrivals else None,
                      tuple([axis for i, axis in enumerate(self.axes) if group >> i & 1]
                            for group in it.cluster_groups[0:it.cluster_group_count]),
                      it.is_global and kind == "SEMAPHORE", it.orders_tensor_core, it.is_packed, it.is_padded,
                      it.is_scales and not it.is_split, it.is_metadata, it.is_collective, it.is_leader_tracked,
                      it.is_split)

    def name(self, value):
        return self.string(lib.grout_module_get_value(self.m, value).name) or None

    def plain(self, op, text):
        operands = self.operands(op)
        if op.box:
            operands[0] = self.step(Ref(self.b, value_operand(operands[0].id), operands[0].id),
                                    lib.grout_module_get_box(self.m, op))
        type_ = lib.grout_module_get_written_type(self.m, op)
        kind = {}
        if type_ != ffi.NULL:
            kind["dtype"] = dtype_text(type_.dtype)
            if type_.is_array:
                kind["shape"] = self.exprs(type_.dims, type_.rank)
        result = self.b.op(text, *operands, name=self.name(op.first_result) if op.result_count else None, **kind,
                           **self.attrs(op))
        if op.result_count:
            self.values[op.first_result] = result

    def scratch(self, op):
        number = lib.grout_module_get_value(self.m, op.first_result).object
        self.values[op.first_result] = self.b.scratch(self.name(op.first_result), self.object(number))

    def carries(self, op, block, lead):
        return {self.name(block.first_arg + lead[1] + i) or f"c{i}":
                self.operand(lib.grout_module_get_operand(self.m, op, lead[0] + i)[0])
                for i in range(op.operand_count - lead[0])}

    def results(self, op, region):
        self.values.update(zip(range(op.first_result, op.first_result + op.result_count), region.results))

    def region(self, op, text):
        first = lib.grout_module_get_block(self.m, op.first_block)
        args = range(first.first_arg, first.first_arg + first.arg_count)
        operands = self.operands(op)
        region: typing.Any
        if text == "for":
            region = self.b.for_(*operands[:3], carry=self.carries(op, first, (3, 1)), name=self.name(args[0]),
                                 **self.attrs(op))
        elif text == "while":
            region = self.b.while_(self.carries(op, first, (0, 0)))
        elif text == "if":
            region = self.b.if_(operands[0])
        elif text == "scoped":
            region = self.b.scoped({self.name(arg): self.object(lib.grout_module_get_value(self.m, arg).object)
                                    for arg in args}, collective=bool(op.attr_count))
        else:
            region = self.b.warp_map(self.name(args[0])) if text == "warp_map" else self.b.warp_specialize()
        with region as entered:
            self.values.update(zip(args, entered if isinstance(entered, tuple) else (entered,)))
            self.block(op.first_block, region)
            for i in range(1, op.block_count):
                if text == "warp_specialize":
                    region.partition()
                if text != "if":
                    self.block(op.first_block + i, region)
        if text == "if" and op.block_count == 2:
            with region.else_() as other:
                self.block(op.first_block + 1, other)
        if op.result_count:
            self.results(op, region)

    def block(self, number, region):
        at = lib.grout_module_get_block(self.m, number).first
        while at:
            op = lib.grout_module_get_op(self.m, at)
            text = text_of(lib.grout_op_get_info(op.opcode).text)
            if text in TABLE:
                self.plain(op, text)
            elif text in ("yield", "cond"):
                operands = self.operands(op)
                (region.yield_ if text == "yield" else region.do)(*operands)
            else:
                self.scratch(op) if text == "scratch" else self.region(op, text)
            at = op.next

    def kernel(self, number):
        it = lib.grout_module_get_kernel(self.m, number)
        axes = {"grid": {}, "cluster": {}, "threads": {}}
        for axis in it.axes[0:it.axis_count]:
            axes[enum_text("grout_axis_kind", axis.kind, "GROUT_AXIS_")][self.string(axis.name)] = self.expr(axis.size)
        self.axes = [name for sizes in axes.values() for name in sizes]
        leaves = enum_text("grout_cluster_exit", it.cluster_exit, "GROUT_CLUSTER_EXIT_")
        with self.b.kernel(self.string(it.name), **axes, cluster_exit=None if leaves == "unwritten" else leaves,
                           auto_fence=it.auto_fence if it.has_auto_fence else None,
                           arch=enum_text("grout_arch", it.arch, "GROUT_ARCH_") if it.has_arch else None,
                           partition_warps=list(it.partition_warps)[:it.partition_count]):
            for i in range(it.param_count):
                self.param(lib.grout_module_get_param(self.m, it, i))
            self.block(it.body, None)

    def param(self, param):
        name = self.name(param.value)
        if param.direction == lib.GROUT_DIRECTION_SCALAR:
            self.values[param.value] = self.b.scalar(name, dtype_text(param.dtype))
            return
        object_ = lib.grout_module_get_object(self.m, param.object)
        type_ = object_.type
        self.values[param.value] = self.b.array(name, enum_text("grout_direction", param.direction, "GROUT_DIRECTION_"),
                                                dtype_text(type_.dtype), *self.exprs(type_.dims, type_.rank),
                                                packed=object_.is_packed)

    def module(self):
        for number in range(1, lib.grout_module_get_const_count(self.m)):
            const = lib.grout_module_get_const(self.m, number)
            self.consts[number] = self.b.const(self.string(const.name), self.expr(const.expr))
        for number in range(1, lib.grout_module_get_kernel_count(self.m)):
            self.kernel(number)
        return self.b.finish()


def walk(m, block):
    """The operations of a block, and of those in it."""
    at = lib.grout_module_get_block(m, block).first
    while at:
        op = lib.grout_module_get_op(m, at)
        yield op
        for inner in range(op.block_count):
            yield from walk(m, op.first_block + inner)
        at = op.next


def list_ops(module):
    """What stands in it, op by op: name, attributes, kinds of operands."""
    found, m = [], module._symbolic
    kernels = map(functools.partial(lib.grout_module_get_kernel, m), range(1, lib.grout_module_get_kernel_count(m)))
    for op in (op for kernel in kernels for op in walk(m, kernel.body)):
        attrs = [(attr.attr, attr.choice, attr.axes, attr.dims, attr.range_count)
                 for attr in list_attrs(m, op)]
        kinds = [lib.grout_module_get_operand(m, op, i).kind for i in range(op.operand_count)]
        found.append((text_of(lib.grout_op_get_info(op.opcode).text), sorted(attrs), kinds, op.result_count))
    return found


def test_every_operation_is_built_as_its_test_writes_it():
    seen = set()
    for path in sorted(path for folder in FOLDERS for path in ROOT.glob(f"{folder}/*.*")):
        if path.suffix not in (".grout", ".each"):
            continue
        module = grout.load_module(path) if path.suffix == ".grout" else grout.parse(read_list(str(path)))
        rebuilding = Rebuilding(module)
        with rebuilding.b.at((path.name, 1)):
            built = rebuilding.module()
        assert list_ops(built) == list_ops(module), path.name
        assert str(grout.parse(str(built))) == str(built), path.name
        seen.update(text for text, *_ in list_ops(built))
    assert sorted(set(TABLE) - seen) == []
