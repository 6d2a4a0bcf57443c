# SPDX-License-Identifier: Apache-2.0
"""What the lanes of a warpgroup hold, while code for single lanes is read: elements of arguments, and what becomes of
them.

A Node is one element in each lane: an element of a source, a constant, or an operation on nodes. Integers are also
known bit by bit, since code packs several elements in a register, and takes them apart with shifts and masks.
"""
from __future__ import annotations

import typing

import numpy

LANES = 128
WARP = 32


def width_of(kind: str) -> int:
    """How many bits an element of this type has: 'i32', 'bf16', 'f8e4m3'."""
    if kind == "bf16":
        return 16
    return int(kind[1:].partition("e")[0])


def is_whole(kind: str) -> bool:
    """Whether it is an integer; these have no sign."""
    return kind[0] == "i"


class Node:
    """One element in each lane.

    op: 'source', whose number is in attrs, with the element of it in each lane (index); 'const', with the bits in each
    lane; 'opaque', which code may compute and must not use; else an operation on args.
    """

    __slots__ = ("op", "kind", "args", "attrs", "lanes")

    def __init__(self, op: str, kind: str, args: typing.Any = (), attrs: typing.Any = (),
                 lanes: typing.Any = None) -> None:
        self.op, self.kind, self.args, self.attrs, self.lanes = op, kind, tuple(args), tuple(attrs), lanes

    @property
    def is_const(self) -> bool:
        """Whether it is known in each lane."""
        return self.op == "const"


def source(number: int, kind: str, index: typing.Any) -> Node:
    """An element of a source: of which place, counted row by row, in each lane."""
    return Node("source", kind, attrs=(number,), lanes=numpy.broadcast_to(numpy.asarray(index, numpy.int64), LANES))


def const(bits: typing.Any, kind: str) -> Node:
    """The same bits in each lane, or an array of those of each."""
    mask = (1 << width_of(kind)) - 1
    if isinstance(bits, int):
        bits &= mask
    lanes = numpy.broadcast_to(numpy.asarray(bits, numpy.uint64), LANES) & numpy.uint64(mask)
    return Node("const", kind, lanes=lanes)


def uniform(node: Node) -> int | None:
    """The bits of a constant that is the same in all lanes."""
    return int(node.lanes[0]) if node.is_const and (node.lanes == node.lanes[0]).all() else None


def is_uniform(node: Node) -> bool:
    """Whether all lanes have the same."""
    if node.lanes is not None:
        return bool((node.lanes == node.lanes[0]).all())
    return bool(node.args) and all(map(is_uniform, node.args))


def split_place(node: Node) -> tuple[list[Node], numpy.ndarray[typing.Any, typing.Any]] | None:
    """A place as what all lanes have alike, to be added, and a number for each lane; None: it is no such sum."""
    if node.is_const:
        return [], node.lanes.astype(numpy.int64)
    if is_uniform(node):
        return [node], numpy.zeros(LANES, numpy.int64)
    if node.op != "add":
        return None
    one, other = map(split_place, node.args)
    return None if one is None or other is None else (one[0] + other[0], one[1] + other[1])


# ---- bits -----------------------------------------------------------------------------------------------------------

# A bit is False, True, (node, number), ("not", bit) or (operation, bit, bit).


def not_bit(bit: typing.Any) -> typing.Any:
    """The other one."""
    if isinstance(bit, bool):
        return not bit
    return bit[1] if bit[0] == "not" else ("not", bit)


def and_bits(a: typing.Any, b: typing.Any) -> typing.Any:
    """Both."""
    if isinstance(a, bool):
        return b if a else False
    if isinstance(b, bool):
        return a if b else False
    if a == b:
        return a
    return False if a == not_bit(b) else ("and", a, b)


def or_bits(a: typing.Any, b: typing.Any) -> typing.Any:
    """One of them."""
    if isinstance(a, bool):
        return True if a else b
    if isinstance(b, bool):
        return True if b else a
    if a == b:
        return a
    return True if a == not_bit(b) else ("or", a, b)


def xor_bits(a: typing.Any, b: typing.Any) -> typing.Any:
    """One of them alone."""
    if isinstance(a, bool):
        return not_bit(b) if a else b
    if isinstance(b, bool):
        return not_bit(a) if b else a
    if a == b:
        return False
    if a == not_bit(b):
        return True
    return ("xor", a, b)


BITWISE = {"and": and_bits, "or": or_bits, "xor": xor_bits}


class Word:
    """A register of one lane, in each lane: as an element, or by its bits, the lowest first."""

    __slots__ = ("kind", "_node", "_bits")

    def __init__(self, kind: str, node: Node | None = None, bits: typing.Any = None) -> None:
        self.kind, self._node, self._bits = kind, node, None if bits is None else tuple(bits)

    @property
    def node(self) -> Node:
        """As an element."""
        if self._node is None:
            self._node = _join(self._bits, self.kind)
        return self._node

    @property
    def bits(self) -> tuple[typing.Any, ...]:
        """By its bits."""
        if self._bits is None:
            assert self._node is not None
            value = uniform(self._node)
            count = width_of(self.kind)
            self._bits = tuple((self._node, k) for k in range(count)) if value is None else \
                tuple(bool(value >> k & 1) for k in range(count))
        return self._bits

    def as_kind(self, kind: str) -> Word:
        """The same bits as another type."""
        return self if kind == self.kind else Word(kind, bits=self.bits)


def of(node: Node) -> Word:
    """A register with this element."""
    return Word(node.kind, node)


def whole(value: int, kind: str = "i32") -> Word:
    """A register with this number in all lanes."""
    return of(const(value, kind))


def _join(bits: typing.Any, kind: str) -> Node:
    """The element that has these bits."""
    if not is_whole(kind):
        held = _of_one(bits)
        if held is not None and held.kind == kind:
            return held
        held = _join(bits, f"i{len(bits)}")
        return _as_kind(held, kind)
    held = _of_one(bits)
    if held is not None:
        return _as_kind(held, kind)
    known = _fold_bits(bits, kind)
    if known is not None:
        return known
    if kind == "i1":
        return _join_truth(bits[0])
    return _join_parts(bits, kind)


def _as_kind(node: Node, kind: str) -> Node:
    """The bits of a node as another type."""
    if node.kind == kind:
        return node
    if node.is_const:
        return Node("const", kind, lanes=node.lanes)
    return _as_kind(node.args[0], kind) if node.op == "bitcast" else Node("bitcast", kind, (node,))


def _whole(node: Node) -> Node:
    """The bits of a node as an integer."""
    return _as_kind(node, f"i{width_of(node.kind)}")


def _of_one(bits: typing.Any) -> Node | None:
    """The node of which these are all the bits, in their order."""
    first = bits[0]
    if isinstance(first, bool) or not isinstance(first[0], Node):
        return None
    node = first[0]
    return node if width_of(node.kind) == len(bits) and all(bit == (node, k) for k, bit in enumerate(bits)) else None


def _fold_bits(bits: typing.Any, kind: str) -> Node | None:
    """A constant, where all bits are known in each lane."""
    total = numpy.zeros(LANES, numpy.uint64)
    for k, bit in enumerate(bits):
        value = _bit_of_lanes(bit)
        if value is None:
            return None
        total |= value.astype(numpy.uint64) << numpy.uint64(k)
    return const(total, kind)


def _bit_of_lanes(bit: typing.Any) -> numpy.ndarray[typing.Any, typing.Any] | None:
    if isinstance(bit, bool):
        return numpy.full(LANES, bit)
    head = bit[0]
    if isinstance(head, Node):
        return (head.lanes >> numpy.uint64(bit[1]) & numpy.uint64(1)).astype(bool) if head.is_const else None
    parts = [part for part in map(_bit_of_lanes, bit[1:]) if part is not None]
    if len(parts) < len(bit) - 1:
        return None
    if head == "not":
        return ~parts[0]
    return {"and": numpy.bitwise_and, "or": numpy.bitwise_or, "xor": numpy.bitwise_xor}[head](*parts)


def _join_truth(bit: typing.Any) -> Node:
    """A bool."""
    head = bit[0]
    if isinstance(head, Node):
        if head.kind == "i1":
            return head
        held = _whole(head)
        zero = const(0, held.kind)
        return Node("ne", "i1", (Node("and", held.kind, (held, const(1 << bit[1], held.kind))), zero))
    return Node(head, "i1", [_join_truth(part) for part in bit[1:]])


def _join_parts(bits: typing.Any, kind: str) -> Node:
    """An integer of bits that come from several places: each place is shifted and masked, and all are put together."""
    spread = _sign_extended(bits, kind)
    if spread is not None:
        return spread
    count, ones = width_of(kind), 0
    masks: dict[typing.Any, typing.Any] = {}
    deeper: dict[typing.Any, typing.Any] = {}
    for k, bit in enumerate(bits):
        if isinstance(bit, bool):
            ones |= bit << k
            continue
        plain, is_turned = (bit[1], True) if bit[0] == "not" else (bit, False)
        if isinstance(plain[0], Node):
            key = (plain[0], plain[1] - k)
            mask, turned = masks.get(key, (0, 0))
            masks[key] = (mask | 1 << k, turned | is_turned << k)
        else:
            deeper.setdefault((plain[0], is_turned), {})[k] = plain
    parts = [_place(node, shift, mask, turned, kind) for (node, shift), (mask, turned) in masks.items()]
    for (operation, is_turned), found in deeper.items():
        sides = [_join([found[k][side] if k in found else False for k in range(count)], kind) for side in (1, 2)]
        part = Node(operation, kind, sides)
        if is_turned:
            part = Node("xor", kind, (part, const(sum(1 << k for k in found), kind)))
        parts.append(part)
    if ones:
        parts.append(const(ones, kind))
    result = parts[0]
    for part in parts[1:]:
        result = Node("or", kind, (result, part))
    return result


def _sign_extended(bits: typing.Any, kind: str) -> Node | None:
    """An integer of less bits whose highest one is repeated."""
    first = bits[0]
    if isinstance(first, bool) or not isinstance(first[0], Node) or first[1] != 0:
        return None
    node = first[0]
    own = width_of(node.kind)
    if own >= len(bits) or own == 1 or any(bit != (node, min(k, own - 1)) for k, bit in enumerate(bits)):
        return None
    return Node("sext", kind, (_whole(node),))


def _place(node: Node, shift: int, mask: int, turned: int, kind: str) -> Node:
    """The bits of a node that a mask has, moved down by shift."""
    held = _whole(node)
    own, count = width_of(held.kind), width_of(kind)
    if shift > 0:
        held = Node("shru", held.kind, (held, const(shift, held.kind)))
    if own != count:
        held = Node("zext" if own < count else "trunc", kind, (held,))
    if shift < 0:
        held = Node("shl", kind, (held, const(-shift, kind)))
    present = ((1 << own) - 1 >> shift if shift > 0 else (1 << own) - 1 << -shift) & (1 << count) - 1
    if mask != present:
        held = Node("and", kind, (held, const(mask, kind)))
    return Node("xor", kind, (held, const(turned, kind))) if turned else held


# ---- other lanes ----------------------------------------------------------------------------------------------------

def permute(node: Node, lanes: numpy.ndarray[typing.Any, typing.Any], known: dict[int, Node] | None = None) -> Node:
    """What another lane has: in lane i that of lanes[i]."""
    known = {} if known is None else known
    found = known.get(id(node))
    if found is None:
        found = Node(node.op, node.kind, [permute(part, lanes, known) for part in node.args], node.attrs,
                     None if node.lanes is None else node.lanes[lanes])
        known[id(node)] = found
    return found


def gather_leaves(node: Node, found: dict[int, Node] | None = None) -> list[Node]:
    """The sources that an element is made of."""
    found = {} if found is None else found
    if id(node) not in found:
        found[id(node)] = node
        for part in node.args:
            gather_leaves(part, found)
    return [part for part in found.values() if part.op == "source"]


def resize_places(flat: numpy.ndarray[typing.Any, typing.Any], shape: typing.Any, start: typing.Any,
                  part: typing.Any) -> numpy.ndarray[typing.Any, typing.Any]:
    """Places in an array, counted row by row, as places in a part of it."""
    if not len(shape):
        return flat
    return numpy.ravel_multi_index([place - first for place, first in zip(numpy.unravel_index(flat, shape), start)],
                                   part)
