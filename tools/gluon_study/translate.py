"""Translates kernels of Gluon to grout: a sketch for scalars, loops, shared memory, mbarriers, TMA, wgmma, partitions
and arithmetic on arrays. What it does not know it refuses, with the place in the Python.

usage: translate.py FILE CALL     as trace.py

Prints one module a launch. The launch decides what is a constant: the shapes of descriptors, integers, the grid.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import os
import re
import trace

import counterparts
import ttgir

ELEMENTS = {"f16": "f16", "bf16": "bf16", "f32": "f32", "f64": "f64", "i1": "bool", "i8": "i8", "i16": "i16",
            "i32": "i32", "i64": "i64", "f8E4M3FN": "f8e4m3", "f8E5M2": "f8e5m2"}
COMPARED = {"slt": "lt", "sle": "le", "sgt": "gt", "sge": "ge", "eq": "eq", "ne": "ne",
            "olt": "lt", "ole": "le", "ogt": "gt", "oge": "ge", "oeq": "eq", "une": "ne"}
BOX = 256  # the most elements of a dimension that one copy of TMA takes
VALUE = r"%[\w.$-]+(?:#\d+)?"


class Refused(Exception):
    """What the sketch does not know, at an operation."""


def shape_of(text):
    """Extents and element type of '2x32x64xf32'."""
    parts = text.split("x")
    if parts[-1] not in ELEMENTS:
        raise Refused(f"the element type {parts[-1]}")
    return [int(extent) for extent in parts[:-1]], ELEMENTS[parts[-1]]


def array_type(text):
    extents, element = shape_of(text)
    return f"{element}[{', '.join(map(str, extents))}]"


def spelled(name):
    """The name of a value, as grout writes names: '%step#1' becomes '%step_r1'."""
    name = re.sub(r"\W", "_", name[1:].replace("#", "_r"))
    return "%" + name if name[0].isalpha() else "%v" + name


class Ref:
    """A place in shared memory: an array of scratch, its indices, and views of it."""

    def __init__(self, base, barrier=False, index="", views=""):
        self.base, self.barrier, self.index, self.views = base, barrier, index, views

    def __str__(self):
        return self.base + (self.index or ("[0]" if self.barrier else "")) + self.views

    def at(self, index):
        if self.index or self.views:
            raise Refused("an index into a part of a buffer")
        return Ref(self.base, self.barrier, f"[{index}]")

    def part(self, slices):
        inner = self.index[1:-1]
        return Ref(self.base, self.barrier, "[" + ", ".join(([inner] if inner else []) + slices) + "]")

    def transposed(self):
        return Ref(self.base, self.barrier, self.index, self.views + ".transpose(1, 0)")


class Pointer:
    """Pointers to elements of an array: the parameter, and the text of the index or indices."""

    def __init__(self, array, index=None):
        self.array, self.index = array, index


class Accumulator:
    """An accumulator of grout, and the value of TTGIR that it holds now."""

    def __init__(self, name):
        self.name, self.holds = name, None


def accumulators(func):
    """For each value that a wgmma adds to or gives, in any round of a loop: one name for all of its chain; and the
    type of each chain."""
    parent, types, made = {}, {}, set()

    def root(name):
        while parent.get(name, name) != name:
            name = parent[name]
        return name

    def join(left, right):
        if right in made:  # what a load or a constant gives begins a chain, and may begin several
            parent[root(left)] = root(right)

    for op in func.walk():
        if op.name in ("ttng.warp_group_dot", "ttng.warp_group_dot_wait"):
            made.update(results(op))
        elif op.name == "scf.for":
            made.update(results(op) + [name for name, _ in carries(op)])
    for op in func.walk():
        if op.name == "ttng.warp_group_dot":
            types[op.results[0]] = re.search(r"-> tensor<([^,]*), ", op.rest)[1]
            join(op.results[0], re.findall(VALUE, op.rest)[2])
        elif op.name == "ttng.warp_group_dot_wait":
            for result, value in zip(results(op), re.findall(VALUE, op.rest)):
                join(result, value)
        elif op.name == "scf.for":
            ends = re.findall(VALUE, op.regions[0][-1].rest) if results(op) else []
            for result, (name, init), end in zip(results(op), carries(op), ends):
                join(result, name)
                join(name, end)
                join(name, init)
    types = {root(name): array_type(text) for name, text in types.items()}
    return lambda name: root(name) if root(name) in types else None, types


def results(op):
    """The results of an operation, '%x:2' taken apart."""
    names = []
    for name in op.results:
        name, _, count = name.partition(":")
        names += [f"{name}#{i}" for i in range(int(count))] if count else [name]
    return names


def carries(op):
    found = re.search(r"iter_args\((.*?)\) ->", op.rest)
    return re.findall(rf"({VALUE}) = ({VALUE})", found[1]) if found else []


class Kernel:
    """One kernel on its way: `values` says what each value of TTGIR is in grout."""

    def __init__(self, launch, module, aliases):
        self.launch, self.aliases = launch, aliases
        self.func = next(op for op in module.walk() if op.name == "tt.func")
        self.root, self.types = accumulators(self.func)
        self.values, self.sums, self.scratch, self.lines, self.depth = {}, {}, [], [], 1
        self.reads, self.writes, self.arrays, self.blocks, self.warps = set(), set(), {}, {}, [4]
        self.place = None

    # Text.

    def line(self, text):
        at = f"  // {os.path.basename(self.place[0])}:{self.place[1]}" if self.place else ""
        self.lines.append("  " * self.depth + text + at)

    def define(self, result, text):
        self.line(f"{spelled(result)} = {text}")
        self.values[result] = spelled(result)

    def use(self, name):
        """The text of a value; of an accumulator that of a load from it."""
        if self.root(name):
            found = self.sums[self.root(name)]
            if found.holds != name:
                raise Refused(f"{name}, which its accumulator no longer holds")
            return f"(acc_load {found.name})"
        if name not in self.values:
            raise Refused(f"the value {name}")
        return self.values[name]

    def guarded(self, condition, write):
        """What `write` writes, in an 'if' where the predicate is no constant."""
        if self.use(condition) == "true":
            write()
        else:
            self.line(f"if {self.use(condition)} {{")
            self.depth += 1
            write()
            self.depth -= 1
            self.lines.append("  " * self.depth + "}")

    # The frame.

    def parameters(self):
        """Gives each parameter of the function its meaning in this launch."""
        for name, kind in re.findall(r"(%[\w.]+): (!tt\.\w+<[^>]*>|\w+)", self.func.rest):
            first, _, part = name[1:].partition(".")
            value = self.launch.values[first]
            if kind.startswith("!tt.tensordesc"):
                block = re.search(r"<([\dx]+\w+),", kind)[1]
                padding = " oob(nan)" if value.padding == "nan" else ""
                if tuple(value.strides) != value.base.stride():
                    raise Refused(f"strides of {name}")
                self.arrays[name] = (value.shape, shape_of(block)[1])
                self.values[name] = f"%{first}_d"
                extents, element = shape_of(block)
                self.blocks[name] = extents
                box = ", ".join(str(min(extent, BOX)) for extent in extents)
                self.line(f"%{first}_d = tensor_descriptor %{first}{padding} : {element}[{box}]")
            elif part:
                what, at = part.split(".")
                self.values[name] = str({"shape": value.shape, "stride": value.strides}[what][int(at)])
            elif kind.startswith("!tt.ptr"):
                self.arrays[name] = ((value.numel(), ), shape_of(re.search(r"<(\w+)", kind)[1])[1])
                self.values[name] = Pointer(name)
            elif isinstance(value, int):
                self.values[name] = str(value)
            else:
                raise Refused(f"the parameter {name}, {kind}")

    def text(self):
        """The module."""
        self.parameters()
        self.block(self.func.regions[0])
        params = []
        for name, (extents, element) in self.arrays.items():
            read, written = name in self.reads, name in self.writes
            way = "inout" if read and written else "out" if written else "in"
            params.append(f"{name}: {way} gmem {element}[{', '.join(map(str, extents))}]")
        grid = ", ".join(f"{axis} = {extent}" for axis, extent in zip("xyz", self.launch.grid))
        warps = f" attr partition_warps = {self.warps}" if set(self.warps) != {4} else ""
        head = [f"kernel @{self.launch.kernel}({', '.join(params)})",
                f"    grid({grid}) threads(wg = {len(self.warps)}){warps}", "{"]
        return "\n".join(head + self.scratch + self.lines + ["}"])

    def block(self, ops):
        for op in ops:
            self.place = op.place
            try:
                self.operation(op)
            except Refused as what:
                if str(what).startswith("at "):
                    raise
                raise Refused(f"at {':'.join(map(str, op.place or ['?']))}: {op.name}: {what}") from None

    def operation(self, op):
        how = getattr(self, op.name.replace(".", "_"), None)
        dialect, _, name = op.name.partition(".")
        if how:
            how(op, re.findall(VALUE, op.rest))
        elif dialect == "arith" and name in counterparts.BINARY:
            left, right = re.findall(VALUE, op.rest)
            self.define(op.results[0], f"{counterparts.BINARY[name]} {self.use(left)}, {self.use(right)}")
        elif dialect == "arith" and name in counterparts.CASTS:
            to = re.search(r" to (?:tensor<([^,]*), |(\w+)$)", op.rest)
            element = shape_of(to[1] or to[2])[1]
            self.define(op.results[0], f"cast {self.use(re.findall(VALUE, op.rest)[0])} : {element}")
        else:
            raise Refused("an operation that the sketch does not know")

    # Scalars and control flow.

    def tt_return(self, op, names):
        pass

    ttg_warp_return = ttg_warp_yield = tt_return

    def arith_constant(self, op, names):
        dense = re.match(r"dense<(.*)> : tensor<([^,]*),", op.rest)
        text = dense[1] if dense else op.rest.split(" : ")[0]
        number = repr(float(text)) if re.fullmatch(r"-?\d+\.\d+e[+-]\d+", text) else text
        self.values[op.results[0]] = f"(broadcast {number} : {array_type(dense[2])})" if dense else number

    def arith_cmpi(self, op, names):
        word = COMPARED.get(op.rest.split(" ")[0].rstrip(","))
        if not word:
            raise Refused("an unsigned comparison")
        self.define(op.results[0], f"{word} {self.use(names[0])}, {self.use(names[1])}")

    arith_cmpf = arith_cmpi

    def arith_select(self, op, names):
        self.define(op.results[0], "select " + ", ".join(self.use(name) for name in names))

    def tt_get_program_id(self, op, names):
        axis = op.rest[0]
        if "xyz".index(axis) >= len(self.launch.grid):
            self.values[op.results[0]] = "0"
        else:
            self.define(op.results[0], f"axis_index {axis}")

    def tt_get_num_programs(self, op, names):
        at = "xyz".index(op.rest[0])
        self.values[op.results[0]] = str(self.launch.grid[at] if at < len(self.launch.grid) else 1)

    def body(self, ops, bring=lambda name: None):
        """The operations of a region between braces, and its yield."""
        self.depth += 1
        self.block(ops)
        if ops and ops[-1].name == "scf.yield":
            given = [name for name in re.findall(VALUE, ops[-1].rest.split(" : ")[0]) if not bring(name)]
            if given:
                self.line("yield " + ", ".join(self.use(name) for name in given))
        self.depth -= 1

    def scf_yield(self, op, names):
        pass  # body() writes it

    def scf_for(self, op, names):
        index, low, high, step = re.match(rf"({VALUE}) = ({VALUE}) to ({VALUE}) step ({VALUE})", op.rest).groups()
        plain, chains = [], []
        for result, (name, init) in zip(results(op), carries(op)):
            (chains if self.root(name) else plain).append((result, name, init))
        for _, name, init in chains:
            self.accumulate(name, init)
            self.sums[self.root(name)].holds = name
        carry = ""
        if plain:
            carry = " carry(" + ", ".join(f"{spelled(name)} = {self.use(init)}" for _, name, init in plain) + ")"
        gives = ", ".join(spelled(result) for result, _, _ in plain)
        head = f"{gives} = " if gives else ""
        stride = self.use(step)
        if not stride.isdigit():
            raise Refused("a step that is not a constant")
        self.line(f"{head}for {spelled(index)} in {self.use(low)}..{self.use(high)} step {stride}{carry} {{")
        self.values[index] = spelled(index)
        self.values.update({name: spelled(name) for _, name, _ in plain})
        self.body(op.regions[0], self.held)
        self.lines.append("  " * self.depth + "}")
        self.values.update({result: spelled(result) for result, _, _ in plain})
        for result, _, _ in chains:
            self.sums[self.root(result)].holds = result

    def scf_if(self, op, names):
        if any(self.root(result) for result in results(op)):
            raise Refused("an accumulator that a branch chooses")
        gives = ", ".join(spelled(result) for result in results(op))
        self.line((f"{gives} = " if gives else "") + f"if {self.use(names[0])} {{")
        self.body(op.regions[0])
        if len(op.regions) > 1:
            self.lines.append("  " * self.depth + "} else {")
            self.body(op.regions[1])
        self.lines.append("  " * self.depth + "}")
        self.values.update({result: spelled(result) for result in results(op)})

    def ttg_warp_specialize(self, op, names):
        if op.results:
            raise Refused("results")
        captured = re.findall(VALUE, op.rest.split(")")[0])
        self.line("warp_specialize {")
        self.body(op.regions[0])
        for head, region in zip(op.heads[1:], op.regions[1:]):
            self.lines.append("  " * self.depth + "} partition {")
            inner = re.findall(rf"({VALUE}): ", head)
            self.values.update({name: self.values[outer] for name, outer in zip(inner, captured)})
            self.blocks.update({name: self.blocks[outer]
                                for name, outer in zip(inner, captured) if outer in self.blocks})
            self.reads, outside_reads = set(), self.reads
            self.writes, outside_writes = set(), self.writes
            self.body(region)
            to = dict(zip(inner, captured))
            self.reads = outside_reads | {to.get(name, name) for name in self.reads}
            self.writes = outside_writes | {to.get(name, name) for name in self.writes}
            self.warps.append(int(re.search(r"num_warps\((\d+)\)", head)[1]))
        self.lines.append("  " * self.depth + "}")

    # Shared memory.

    def encoding(self, text):
        """tile(..) and swizzle(..) of '128x64xf16, #shared, ..'."""
        dims, alias = [part.strip() for part in text.split(",")[:2]]
        layout = self.aliases[alias[1:]]
        extents = shape_of(dims)[0]
        if "swizzled_shared" in layout and "maxPhase = 1," in layout:
            return ""
        found = re.match(r"#ttg.nvmma_shared<\{swizzlingByteWidth = (\d+), transposed = false, elementBitWidth = (\d+)",
                         layout)
        if not found:
            raise Refused(f"the layout {layout}")
        swizzle, bits = int(found[1]), int(found[2])
        if swizzle == 0:
            return ""
        return f" tile({extents[-2]}, {swizzle * 8 // bits}) swizzle({swizzle})"

    def ttg_local_alloc(self, op, names):
        memory = re.search(r"!ttg\.memdesc<(.*)>", op.rest)[1]
        dims = memory.split(",")[0]
        name, result = spelled(op.results[0]), op.results[0]
        barrier = dims.endswith("i64")
        if barrier:
            extents = shape_of(dims)[0]
            self.scratch.append(f"  scratch {name} : mbarrier[{extents[0] if len(extents) > 1 else 1}]")
        else:
            self.scratch.append(f"  scratch {name} : smem {array_type(dims)}{self.encoding(memory)}")
        self.values[result] = Ref(name, barrier)
        if names:
            self.line(f"store {self.values[result]}, {self.use(names[0])}")

    def ttg_memdesc_index(self, op, names):
        self.values[op.results[0]] = self.use(names[0]).at(self.use(names[1]))

    def ttg_memdesc_trans(self, op, names):
        if "order = array<i32: 1, 0>" not in op.rest:
            raise Refused("another order")
        self.values[op.results[0]] = self.use(names[0]).transposed()

    def ttg_local_load(self, op, names):
        self.define(op.results[0], f"load {self.use(names[0])}")

    def ttg_local_store(self, op, names):
        self.line(f"store {self.use(names[1])}, {self.use(names[0])}")

    # mbarriers, TMA, fences.

    def ttng_init_barrier(self, op, names):
        self.line(f"mbarrier_init {self.use(names[0])}, " + re.search(r", (\d+) :", op.rest)[1])

    def ttng_inval_barrier(self, op, names):
        self.line(f"mbarrier_invalidate {self.use(names[0])}")

    def ttng_barrier_expect(self, op, names):
        size = re.search(r", (\d+), %", op.rest)[1]
        self.guarded(names[1], lambda: self.line(f"mbarrier_expect {self.use(names[0])}, {size}"))

    def ttng_arrive_barrier(self, op, names):
        count = int(re.search(r", (\d+)", op.rest)[1])
        text = f"mbarrier_arrive {self.use(names[0])}" + (f" count({count})" if count > 1 else "")
        if len(names) > 1:
            self.guarded(names[1], lambda: self.line(text))
        else:
            self.line(text)

    def ttng_wait_barrier(self, op, names):
        self.guarded(names[2], lambda: self.line(f"mbarrier_wait {self.use(names[0])}, {self.use(names[1])}"))

    def boxes(self, op, seen, smem, text):
        """The line that `text` makes of a box and its place in shared memory; for a block of several boxes, in a
        loop."""
        found = re.match(rf"({VALUE})\[(.*?)\]", op.rest)
        seen.add(found[1])
        name, starts = self.use(found[1]), [self.use(start) for start in re.findall(VALUE, found[2])]
        block = self.blocks[found[1]]
        wide = [dim for dim, extent in enumerate(block) if extent > BOX]
        if not wide:
            self.line(text(f"{name}[{', '.join(starts)}]", smem))
            return
        if len(wide) > 1 or smem.views:
            raise Refused("a block of boxes in two dimensions, or of a view")
        self.line(f"for %part in 0..{block[wide[0]] // BOX} {{")
        self.depth += 1
        self.line(f"%within = mul %part, {BOX}")
        self.line(f"%start = add %within, {starts[wide[0]]}")
        starts[wide[0]] = "%start"
        part = smem.part([f"ds(%within, {BOX})" if dim in wide else ":" for dim in range(len(block))])
        self.line(text(f"{name}[{', '.join(starts)}]", part))
        self.depth -= 1
        self.lines.append("  " * self.depth + "}")

    def ttng_async_tma_copy_global_to_local(self, op, names):
        if "multicast" in op.rest:
            raise Refused("multicast")
        into, barrier, condition = re.findall(VALUE, op.rest.split("]", 1)[1])[:3]
        self.guarded(condition, lambda: self.boxes(
            op, self.reads, self.use(into), lambda box, smem: f"copy_gmem_to_smem {box}, {smem}, {self.use(barrier)}"))

    def ttng_async_tma_copy_local_to_global(self, op, names):
        source = re.findall(VALUE, op.rest.split("]", 1)[1])[0]
        self.boxes(op, self.writes, self.use(source), lambda box, smem: f"copy_smem_to_gmem {smem}, {box}")

    def ttng_async_tma_store_wait(self, op, names):
        count = re.search(r"pendings = (\d+)", op.rest)[1]
        self.line(f"wait_smem_to_gmem {count}" + (" read_only" if "read_only" in op.rest else ""))

    def ttng_fence_async_shared(self, op, names):
        if "bCluster = true" in op.rest:
            raise Refused("the scope of a cluster")
        self.line("fence_async_shared")

    # Arrays in registers, and pointers to elements.

    def result_type(self, op):
        return array_type(re.search(r"tensor<([\dx]+(?:!tt\.ptr<)?\w+)[^-]*$", op.rest)[1].replace("!tt.ptr<", ""))

    def reshaped(self, op, names, word):
        """An array or the indices of pointers, by an operation that takes the shape of the result."""
        value = self.use(names[0])
        if not isinstance(value, Pointer):
            self.define(op.results[0], f"{word} {value} : {self.result_type(op)}")
        elif value.index is None:
            self.values[op.results[0]] = value
        else:
            self.define(op.results[0], f"{word} {value.index} : {re.sub('^[^[]*', 'i32', self.result_type(op))}")
            self.values[op.results[0]] = Pointer(value.array, spelled(op.results[0]))

    def tt_splat(self, op, names):
        self.reshaped(op, names, "broadcast")

    tt_broadcast = tt_splat

    def tt_expand_dims(self, op, names):
        self.reshaped(op, names, "reshape")

    def tt_make_range(self, op, names):
        start = int(re.search(r"start = (\d+)", op.rest)[1])
        self.define(op.results[0], f"iota dim(0) : {self.result_type(op)}")
        if start:
            raise Refused("a range that does not begin with 0")

    def ttg_convert_layout(self, op, names):
        self.values[op.results[0]] = self.use(names[0])  # grout finds the layouts itself

    def tt_addptr(self, op, names):
        pointer, by = self.use(names[0]), self.use(names[1])
        if pointer.index is None:
            self.values[op.results[0]] = Pointer(pointer.array, by)
        else:
            self.define(op.results[0], f"add {pointer.index}, {by}")
            self.values[op.results[0]] = Pointer(pointer.array, spelled(op.results[0]))

    def tt_load(self, op, names):
        pointer = self.use(names[0])
        self.reads.add(pointer.array)
        mask = f", {self.use(names[1])}" if len(names) > 1 else ""
        if len(names) > 2:
            raise Refused("a value for where the mask is false")
        if "tensor<" in op.rest:
            self.define(op.results[0], f"gather {pointer.array}, {pointer.index}{mask}")
        elif mask:
            self.define(op.results[0], f"masked_load {pointer.array}[{pointer.index or 0}]{mask}")
        else:
            self.define(op.results[0], f"load {pointer.array}[{pointer.index or 0}]")

    def tt_store(self, op, names):
        pointer = self.use(names[0])
        self.writes.add(pointer.array)
        mask = f", {self.use(names[2])}" if len(names) > 2 else ""
        if "tensor<" in op.rest:
            self.line(f"scatter {pointer.array}, {pointer.index}, {self.use(names[1])}{mask}")
        else:
            word = "masked_store" if mask else "store"
            self.line(f"{word} {pointer.array}[{pointer.index or 0}], {self.use(names[1])}{mask}")

    def ttg_async_copy_global_to_local(self, op, names):
        pointer = self.use(names[0])
        self.reads.add(pointer.array)
        mask = f", {self.use(names[2])}" if len(names) > 2 else ""
        self.line(f"async_gather {pointer.array}, {self.use(names[1])}, {pointer.index}{mask}")

    def ttg_async_commit_group(self, op, names):
        self.line("async_copy_commit_group")

    def ttg_async_wait(self, op, names):
        self.line("async_copy_wait " + re.search(r"num = (\d+)", op.rest)[1])

    # wgmma.

    def held(self, name):
        """Whether a value is in an accumulator; it has to be there still."""
        chain = self.root(name)
        if chain and self.sums[chain].holds != name:
            raise Refused(f"{name}, which its accumulator no longer holds")
        return chain is not None

    def accumulate(self, name, value):
        """Makes the accumulator of a chain that begins with a value, if there is none yet, and brings it the value."""
        chain = self.root(name)
        if self.root(value) == chain and chain in self.sums:
            return self.held(value)
        if chain not in self.sums:
            text = f"%acc{len(self.sums) or ''}"
            self.sums[chain] = Accumulator(text)
            self.scratch.append(f"  scratch {text} : acc {self.types[chain]}")
        self.line(f"acc_store {self.sums[chain].name}, {self.use(value)}")
        return True

    def ttng_warp_group_dot(self, op, names):
        left, right, into = names[:3]
        self.accumulate(op.results[0], into)
        found = self.sums[self.root(op.results[0])]
        use = f", {self.use(names[3])}" if len(names) > 3 and self.use(names[3]) != "true" else ""
        self.line(f"wgmma_async {found.name}, {self.use(left)}, {self.use(right)}{use}")
        if "isAsync = true" not in op.rest:
            self.line("wgmma_wait 0")
        found.holds = op.results[0]

    def ttng_warp_group_dot_wait(self, op, names):
        self.line("wgmma_wait " + re.search(r"pendings = (\d+)", op.rest)[1])
        for result, value in zip(results(op), names):
            if self.root(result):
                self.held(value)
                self.sums[self.root(result)].holds = result
            else:
                self.values[result] = self.values[value]


def translate(launch):
    """The module in grout of one launch."""
    (module, ) = ttgir.parse(launch.text)
    return Kernel(launch, module, ttgir.aliases(launch.text)).text()


def main():
    parser = argparse.ArgumentParser(description="grout's text of the Gluon kernels that a call launches")
    parser.add_argument("file")
    parser.add_argument("call")
    args = parser.parse_args()
    for launch in trace.trace(args.file, args.call):
        try:
            print(translate(launch))
        except Refused as what:
            raise SystemExit(f"{launch.kernel}: {what}") from what


if __name__ == "__main__":
    main()
