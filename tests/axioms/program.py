"""A kernel as axioms_export prints it, made flat: one list of instructions with jumps, which the actors of the launch
walk through. Also what is static of it: which bytes a box of an object covers, and where the CTAs lie in their cluster.

SPDX-License-Identifier: Apache-2.0
"""
import operator

DIRECTION_IN = 0  # grout_direction
IGNORED = {"scratch", "tensor_descriptor", "set_max_registers", "debug_print", "layout_cast", "iota"}


class NotExpressed(Exception):
    """The program has something that the judge has no relation for. It never guesses instead."""


def divide(a, b):
    """As C does: towards zero, and 0 for a division by zero."""
    if b == 0:
        return 0
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


ARITHMETIC = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "min": min, "max": max,
    "and": operator.and_, "or": operator.or_, "xor": operator.xor, "shl": operator.lshift, "shr": operator.rshift,
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
    "neg": operator.neg, "abs": abs, "cast": lambda a: a, "broadcast": lambda a: a, "div": divide,
    "not": lambda a: not a if isinstance(a, bool) else ~a, "cdiv": lambda a, b: -divide(-a, b),
    "rem": lambda a, b: a - b * divide(a, b), "select": lambda c, a, b: a if c else b,
}


class Instruction:
    """One step of an actor. For jumps and forks, 'to' says where; the rest is as the exporter wrote it."""

    def __init__(self, kind, op=None, to=None, **more):
        self.kind = kind  # "op", "jump", "branch", "copy", "fork", "meet", "enter", "leave", "spun", "end"
        self.name = op["op"] if op else kind
        self.line = op["line"] if op else 0
        self.operands = op["operands"] if op else []
        self.results = op["results"] if op else []
        self.attrs = op["attrs"] if op else {}
        self.dims = op.get("dims") if op else None
        self.to = to
        self.in_while = False
        self.in_part = False
        for name, value in more.items():
            setattr(self, name, value)


class Program:
    """The flat code, and the shape of the launch."""

    def __init__(self, exported, same=None):
        """same: for an object, the one that an earlier launch of the list has for it."""
        self.same = same or {}
        self.ctas, self.cluster, self.threads = exported["ctas"], exported["cluster"], exported["threads"]
        self.exit_sync, self.has_auto_fence = exported["exit_sync"], exported["auto_fence"]
        self.axes = exported["axes"]
        self.objects = {int(k): v for k, v in exported["objects"].items()}
        self.code = []
        self.scopes = []  # the objects of those around
        self.scoped = find_scoped(exported["body"], set())
        self.awaited = find_awaited(exported["body"], set())
        self.while_depth = 0
        self.part_depth = 0
        self.masks = {}
        self.releases = has_release(exported["body"])
        self.is_specialised = has_op(exported["body"], "warp_specialize")
        self.fetched = find_fetched(exported["body"], set())
        self.smem_base = {**find_overlaps(self.objects, "smem", count_bytes),
                          **find_overlaps(self.objects, "tmem", count_columns)}
        self.moved = find_moved(self.objects, self.smem_base)
        self.read_only = {param["object"] for param in exported["params"] if param["direction"] == DIRECTION_IN}
        for param in exported["params"]:
            if not param["object"]:
                raise NotExpressed("a scalar parameter")
        ops = exported["body"]["ops"]
        last_init = max((i for i, op in enumerate(ops) if op["op"] == "mbarrier_init"), default=-1)
        for index, op in enumerate(ops):
            self.flatten_op(op)
            if index == last_init:
                self.emit("meet")
        if self.exit_sync:
            self.emit("op", {"op": "cluster_barrier", "line": 0, "operands": [], "results": [], "attrs": {}})
        self.emit("end")

    # ---- code ------------------------------------------------------------------------------------

    def emit(self, kind, op=None, **more):
        instruction = Instruction(kind, op, **more)
        instruction.in_while = self.while_depth > 0
        instruction.in_part = self.part_depth > 0
        self.code.append(instruction)
        return instruction

    def flatten_block(self, block, targets):
        """The block's code; its yield goes to the values of targets."""
        for op in block["ops"]:
            if op["op"] == "yield":
                self.emit("copy", pairs=list(zip(targets, op["operands"])))
            elif op["op"] == "cond":
                return op["operands"][0]
            else:
                self.flatten_op(op)
        return None

    def flatten_op(self, op):
        if op["op"] in IGNORED and op["op"] != "iota":
            return
        region = op.get("region")
        if region is None:
            self.emit("op", op)
        else:
            {"for": self.flatten_for, "while": self.flatten_while, "if": self.flatten_if,
             "scoped": self.flatten_scope, "warp_map": self.flatten_warps,
             "warp_specialize": self.flatten_parts}[op["op"]](op)

    def flatten_for(self, op):
        (index, *carries) = [value for value, _ in op["blocks"][0]["args"]]
        low, high, step, *initial = op["operands"]
        self.emit("copy", pairs=[(index, low), (("high", index), high)] + list(zip(carries, initial)))
        head = len(self.code)
        test = self.emit("branch", condition=("below", index))
        self.flatten_block(op["blocks"][0], carries)
        self.emit("copy", pairs=[(index, {"sum": (index, step)})])
        self.emit("jump", to=head)
        test.to = len(self.code)
        self.emit("copy", pairs=list(zip(op["results"], [{"value": c} for c in carries])))

    def flatten_while(self, op):
        carries = [value for value, _ in op["blocks"][0]["args"]]
        self.emit("copy", pairs=list(zip(carries, op["operands"])))
        self.while_depth += 1
        head = len(self.code)
        condition = self.flatten_block(op["blocks"][0], [])
        test = self.emit("branch", condition=condition)
        self.flatten_block(op["blocks"][1], carries)
        self.emit("jump", to=head)
        self.while_depth -= 1
        test.to = len(self.code)
        self.emit("spun", first=head)
        self.emit("copy", pairs=list(zip(op["results"], [{"value": c} for c in carries])))

    def flatten_if(self, op):
        test = self.emit("branch", condition=op["operands"][0])
        self.flatten_block(op["blocks"][0], op["results"])
        jump = self.emit("jump")
        test.to = len(self.code)
        if len(op["blocks"]) > 1:
            self.flatten_block(op["blocks"][1], op["results"])
        jump.to = len(self.code)

    def flatten_scope(self, op):
        if op["attrs"].get("collective"):
            self.emit("op", {"op": "block_barrier", "line": op["line"], "operands": [], "results": [], "attrs": {}})
        made = [it for _, it in op["blocks"][0]["args"]]
        spaces = {self.find_space(it) for it in made if not self.objects[it]["alias"]} & {"smem", "tmem"}
        if spaces:
            self.emit("enter", op, around=set().union(*self.scopes), spaces=spaces)
        self.scopes.append(made)
        self.flatten_block(op["blocks"][0], op["results"])
        self.scopes.pop()
        self.emit("leave", op, objects=made)

    def find_space(self, made):
        it = self.objects[made]
        return "smem" if it["kind"] == "barrier" else it["space"] if it["kind"] == "array" else None

    def flatten_warps(self, op):
        fork = self.emit("fork", op, kind_of="warps", warp=op["blocks"][0]["args"][0][0])
        fork.entries = [len(self.code)]
        self.flatten_block(op["blocks"][0], [])
        self.emit("end")
        fork.to = len(self.code)

    def flatten_parts(self, op):
        fork = self.emit("fork", op, kind_of="parts", results_of=op["results"])
        fork.entries = []
        self.part_depth += 1
        for block in op["blocks"]:
            fork.entries.append(len(self.code))
            self.flatten_block(block, op["results"] if len(fork.entries) == 1 else [])
            self.emit("end")
        self.part_depth -= 1
        fork.to = len(self.code)

    # ---- the launch --------------------------------------------------------------------------------

    def sizes(self, kind):
        return [axis["size"] for axis in self.axes if axis["kind"] == kind]

    def place(self, axis_index, cta, thread):
        """The index of a thread along one axis."""
        axis = self.axes[axis_index]
        number = {"grid": cta // self.cluster, "cluster": cta % self.cluster, "threads": thread}[axis["kind"]]
        for later in self.axes[axis_index + 1:]:
            if later["kind"] == axis["kind"]:
                number //= later["size"]
        return number % axis["size"]

    def along(self, axes, cta):
        """The CTAs of the cluster that differ from one only along these axes (bit i: axis i), itself included."""
        first = cta - cta % self.cluster
        return [other for other in range(first, first + self.cluster)
                if all(self.place(i, cta, 0) == self.place(i, other, 0) for i, axis in enumerate(self.axes)
                       if axis["kind"] == "cluster" and not axes >> i & 1)]

    def arrival_ctas(self, object_id, cta):
        """The CTAs in which one arrive on a barrier counts."""
        ctas = {cta}
        for axes in self.objects[object_id]["groups"]:
            ctas.update(self.along(axes, cta))
        return sorted(ctas)[:1] if self.objects[object_id]["led"] else sorted(ctas)

    def pair(self, cta):
        """The CTAs of a pair, the one that leads first: they differ in the lowest bit of the rank."""
        first = cta - cta % self.cluster % 2
        return [first, first + 1]

    # ---- bytes -------------------------------------------------------------------------------------

    def find_scope_bytes(self, around):
        """For each base in SMEM the bytes of scopes that have ended, or have not begun, when those around are open."""
        masks = {}
        for made in sorted(self.scoped - around) + sorted(self.scoped & around):
            if made in self.smem_base:
                base, shift = self.smem_base[made]
                dims = self.objects[made]["dims"]
                mask = self.find_mask(made, tuple(0 for _ in dims), tuple(dims))[0] << shift
                masks[base] = masks.get(base, 0) & ~mask if made in around else masks.get(base, 0) | mask
        return masks

    def find_mask(self, object_id, starts, extents):
        """The bytes of a box as bits, counted from the start of the object, and whether all of it lies inside. What
        tiles and swizzles do inside an object is a permutation of its bytes, so it changes no overlap of the object
        with itself; where the bytes have another name too, it does."""
        key = (object_id, starts, extents)
        if key not in self.masks:
            dims, size = self.objects[object_id]["dims"], self.objects[object_id]["bytes"]
            inside = all(0 <= s and s + e <= d for s, e, d in zip(starts, extents, dims))
            is_whole = all(s == 0 and e == d for s, e, d in zip(starts, extents, dims))
            if object_id in self.moved and not is_whole:
                raise NotExpressed("a part of a tiled array that has another name")
            mask = mask_columns if self.objects[object_id]["space"] == "tmem" else mask_box
            unit = self.objects[object_id] if mask is mask_columns else size
            self.masks[key] = (mask(dims, starts, extents, unit), inside)
        return self.masks[key]


def mask_box(dims, starts, extents, size):
    if not dims:
        return (1 << size) - 1
    low = [max(s, 0) for s in starts]
    high = [min(s + e, d) for s, e, d in zip(starts, extents, dims)]
    if any(end <= start for start, end in zip(low, high)):
        return 0
    mask, pitch = ((1 << (high[-1] - low[-1]) * size) - 1) << low[-1] * size, dims[-1] * size
    for start, end, d in reversed(list(zip(low[:-1], high[:-1], dims[:-1]))):
        mask = sum(mask << i * pitch for i in range(start, end))
        pitch *= d
    return mask


TMEM_LANES, TMEM_BITS = 128, 32


def count_packed(it):
    """Elements in a column of one lane."""
    return TMEM_BITS // (8 * it["bytes"]) if it["packed"] or it["metadata"] else 1


def mask_columns(dims, starts, extents, it):
    """A box in tensor memory, with two bits for a column: a reference has all rows. Those of 128 rows take all lanes.
    For 64 rows the first half of the columns has the first 16 of each 32 lanes, and the second half the 16 beside."""
    rows, packed = dims[-2], count_packed(it)
    first, count, width = (n // packed for n in (starts[-1], extents[-1], dims[-1]))
    if it["scales"]:  # 32 rows and four of a row are a column
        first, count, width = (n * rows // TMEM_LANES for n in (first, count, width))
    if rows == TMEM_LANES or it["scales"]:
        return mask_box(dims[:-2] + [2 * width], starts[:-2] + (2 * first,), extents[:-2] + (2 * count,), 1)
    half, mask = width // 2, 0
    for column in range(first, first + count):
        at = 2 * (column % half) + column // half
        mask |= mask_box(dims[:-2] + [2 * half], starts[:-2] + (at,), extents[:-2] + (1,), 1)
    return mask


def count_columns(it):
    """(first, end) of what an array takes of tensor memory, in halves of columns."""
    cells = 1
    for dim in it["dims"]:
        cells *= dim
    first = it["offset"] // (TMEM_LANES * TMEM_BITS // 8)
    return 2 * first, 2 * (first + cells // count_packed(it) // TMEM_LANES)


def count_bytes(it):
    size = it["bytes"]
    for dim in it["dims"]:
        size *= dim
    return it["offset"], it["offset"] + size


def has_op(block, name):
    return any(op["op"] == name or any(has_op(b, name) for b in op.get("blocks", [])) for op in block["ops"])


def has_release(block):
    """Whether some launch_dependents releases."""
    return any(op["op"] == "griddepcontrol_launch_dependents" and op["attrs"].get("order") == "release" or
               any(has_release(b) for b in op.get("blocks", [])) for op in block["ops"])


def find_scoped(block, found):
    """The objects that scopes make."""
    for op in block["ops"]:
        if op.get("region") == "scoped" or op["op"] == "scoped":
            found.update(made for _, made in op["blocks"][0]["args"])
        for inner in op.get("blocks", []):
            find_scoped(inner, found)
    return found


def find_awaited(block, found):
    """The barriers that some operation waits on, or tests."""
    for op in block["ops"]:
        if op["op"] in ("barrier_wait", "barrier_test"):
            found.add(op["operands"][0]["object"])
        for inner in op.get("blocks", []):
            find_awaited(inner, found)
    return found


def find_fetched(block, found):
    """The arrays that some operation reads and writes at once with a result: their order is part of an execution."""
    for op in block["ops"]:
        if op["op"] in ("atomic_fetch_add", "atomic_exchange", "atomic_cas"):
            found.add(op["operands"][0]["object"])
        for inner in op.get("blocks", []):
            find_fetched(inner, found)
    return found


def find_overlaps(objects, space, measure):
    """For each array of a CTA's memory the one that represents all whose bytes it shares, and its distance from that:
    scopes use bytes again."""
    spans = []
    for key, it in objects.items():
        if it["kind"] == "array" and it["space"] == space:
            spans.append(measure(it) + (key,))
    base, end = {}, -1
    for low, high, key in sorted(spans):
        if low >= end:
            first = (low, key)
        base[key] = (first[1], low - first[0])
        end = max(end, high)
    return base


def find_moved(objects, base):
    """Tiled arrays whose bytes have another name."""
    named = {base[key][0] for key, it in objects.items() if it["alias"]}
    return {key for key, it in objects.items() if base.get(key, (None,))[0] in named and not it["plain"]}
