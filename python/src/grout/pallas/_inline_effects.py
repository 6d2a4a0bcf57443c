# SPDX-License-Identifier: Apache-2.0
"""What code of inline_mgpu does beside arithmetic: barriers, fences, waits, and loads and stores of single elements."""
from __future__ import annotations

import re
import typing

from . import _mlir
from ._inline_whole import MARK
from ._lane_arithmetic import binary, invert
from ._lanes import LANES, Node, Word, gather_leaves, is_uniform, uniform, whole
from ._mlir import read_attribute, refuse

if typing.TYPE_CHECKING:
    from ._importer import Importer
    from ._mlir import Reader

TENSOR_FENCES = ("the kernel runs tcgen05.fence by hand: each of its barriers that threads arrive on is taken to order "
                 "the tensor core, and whether the fences stand where they have to is not looked at")
VOTES = ("a vote of the lanes of a warp is taken over the whole warpgroup: that its warps go different ways is not "
         "looked at")


def add_gap(importer: Importer, gap: str) -> None:
    """Something that the verdict does not cover."""
    if gap not in importer.gaps:
        importer.gaps.append(gap)


class Effects:
    """What one piece of code does, in the order in which it does it. body: the _inline.Body whose code it is."""

    def __init__(self, importer: Importer, body: typing.Any) -> None:
        self.importer, self.builder, self.body = importer, importer.builder, body

    def do(self, reader: Reader, operation: typing.Any) -> typing.Any:
        """An operation of MLIR that is no arithmetic: its results."""
        function = _OPERATIONS.get(operation.name)
        if function is None:
            raise refuse(f"the operation '{operation.name}'")
        if self.body.memory.mask is not None and operation.name not in _OF_SOME_LANES:
            raise refuse(f"the operation '{operation.name}' of some lanes")
        if operation.name not in ("memref.load", "memref.store", "nvvm.vote.sync"):
            self.body.memory.flush()
        return function(self, reader, operation)

    def do_ptx(self, words: typing.Sequence[str], operands: typing.Sequence[Word], text: str) -> None:
        """An instruction of PTX that is no arithmetic."""
        self.body.memory.flush()
        if self.body.memory.mask is not None:
            raise refuse(f"the PTX instruction '{text}' of some lanes")
        name = ".".join(words)
        for pattern, function in _INSTRUCTIONS:
            if re.fullmatch(pattern, name):
                function(self, name, operands)
                return
        raise refuse(f"the PTX instruction '{text}'")

    # ---- operands ---------------------------------------------------------------------------------------------------

    def number(self, word: Word) -> typing.Any:
        """What all lanes have, for the builder: a number, or a value."""
        known = uniform(word.node)
        if known is not None:
            return known
        value = self.body.lifter.lift_scalar(word.node)
        return self.importer.operand(self.body.as_index(value))

    def count(self, word: Word, what: str) -> int:
        """A number that is known now."""
        known = uniform(word.node)
        if known is None:
            raise refuse(f"{what} that is computed")
        return known

    # ---- what is done -----------------------------------------------------------------------------------------------

    def named_barrier(self, operation: str, number: Word, count: Word) -> None:
        """bar.sync or bar.arrive."""
        lanes = self.count(count, "a named barrier with a number of threads")
        threads = self.importer.source.threads[1] if self.importer.source.threads else 1
        is_whole = not self.importer.warps  # one warp alone waits for the others
        if is_whole and lanes == LANES and operation == "sync" and (threads == 1 or self._is_own(number.node)):
            return  # the lanes of one thread meet
        known = uniform(number.node)
        if known == 0 and operation == "sync" and lanes == LANES * threads:
            self.builder.op("block_barrier")
            return
        if known is not None and known <= threads:
            raise refuse(f"the named barrier {known}: in JAX' lowering number 0 is that of the CTA, and those to "
                         f"{threads} are those of its warpgroups")
        # grout counts those that are left behind them
        own = known - threads - 1 if known is not None \
            else self.number(binary("sub", number, whole(threads + 1, number.kind)))
        self.builder.op(f"named_barrier_{operation}", own, lanes, lanes=True)

    def _is_own(self, number: Node) -> bool:
        """Whether each warpgroup has a barrier of its own: its index, and a number that is the same for all."""
        if number.op == "add":
            sides = [side for side in number.args if uniform(side) is None]
            return len(sides) == 1 and self._is_own(sides[0])
        if number.op == "and" and number.args[1].is_const:
            mask = uniform(number.args[1])
            return mask is not None and mask & 15 == 15 and self._is_own(number.args[0])
        return number is self.body.warpgroup.node or number.op in ("zext", "trunc", "bitcast") and \
            self._is_own(number.args[0])

    def commit(self, shared: bool = True, gmem: bool = False, cluster: bool = False) -> None:
        """fence.proxy.async."""
        if shared:
            how: dict[str, typing.Any] = {"cluster": True} if cluster else {}
            self.builder.op("fence_async_shared", **how)
        if gmem:
            self.builder.op("commit_gmem")

    def tensor_fence(self) -> None:
        """tcgen05.fence: see Importer.fences_tensor_core."""
        add_gap(self.importer, TENSOR_FENCES)


def _barrier(effects: typing.Any, reader: Reader, operation: typing.Any) -> None:
    operands = list(operation.operands)
    if not operands:
        effects.builder.op("block_barrier")
        return
    number = reader.scalar(operands[0])
    count = reader.scalar(operands[1]) if len(operands) > 1 else None
    if count is None:
        raise refuse(f"'{operation.name}' without a number of threads")
    effects.named_barrier("arrive" if operation.name.endswith("arrive") else "sync", number, count)


def _fence_proxy(effects: typing.Any, _: typing.Any, operation: typing.Any) -> None:
    kind = read_attribute(operation.attributes["kind"])
    space = read_attribute(operation.attributes["space"]) if "space" in operation.attributes else ""
    if kind == "async.shared":
        effects.commit(cluster=space == "cluster")
    elif kind in ("async", "async.global"):
        effects.commit(shared=kind == "async", gmem=True)
    else:
        raise refuse(f"nvvm.fence.proxy {kind}")


def _tensor_wait(effects: typing.Any, _: typing.Any, operation: typing.Any) -> None:
    kind = read_attribute(operation.attributes["kind"])
    effects.builder.op({"load": "wait_load_tmem", "store": "commit_tmem"}[kind])


def _vote(effects: typing.Any, *_: typing.Any) -> None:
    add_gap(effects.importer, VOTES)


def _load(effects: typing.Any, reader: Reader, operation: typing.Any) -> typing.Any:
    operands = list(operation.operands)
    kind = _mlir.describe(operation.results[0].type)[0]
    return (effects.body.memory.load(operands[0], [reader.scalar(place) for place in operands[1:]], kind),)


def _store(effects: typing.Any, reader: Reader, operation: typing.Any) -> None:
    value, ref, *places = operation.operands
    effects.body.memory.store(ref, [reader.scalar(place) for place in places], reader.scalar(value))


def _whole(effects: typing.Any, reader: Reader, operation: typing.Any) -> typing.Any:
    """A load, store or copy of a whole reference."""
    record = effects.body.recorder.get(operation)
    if record is None:
        raise refuse(f"the operation '{operation.name}'")
    kind, *rest = record
    if kind == "load":
        return effects.body.load_whole(list(operation.results), *rest)
    if kind == "store":
        effects.body.store_whole([reader.of(operand) for operand in operation.operands], *rest)
    elif kind == "copy":
        (source, parts, _), (target, places, _) = rest
        effects.builder.op("copy_smem_to_gmem", effects.body.take(source, parts), effects.body.take(target, places))
    else:
        effects.builder.op("wait_smem_to_gmem", rest[0], **({"read_only": True} if rest[1] else {}))
    return None


def _if(effects: typing.Any, reader: Reader, operation: typing.Any) -> None:
    """Where all lanes go one way a branch; else loads and stores have masks."""
    word = reader.scalar(operation.operands[0])
    if list(operation.results) or _list_opaque(word.node):
        raise refuse("'scf.if' of one lane, or with a result")
    regions = [region for region in operation.regions if list(region)]
    if not is_uniform(word.node):
        for region, taken in zip(regions, (word, invert(word))):
            effects.body.memory.flush()
            outer = effects.body.memory.mask
            effects.body.memory.mask = taken if outer is None else binary("and", outer, taken)
            reader.read(next(iter(region)))
            effects.body.memory.mask = outer
        return
    value = effects.body.lifter.lift_scalar(word.node)
    with effects.builder.if_(effects.importer.operand(value)) as branch:
        reader.read(next(iter(regions[0])))
        effects.body.memory.flush()
    if len(regions) > 1:
        with branch.else_():
            reader.read(next(iter(regions[1])))
            effects.body.memory.flush()


def _list_opaque(node: Node) -> list[Node]:
    found: dict[int, Node] = {}
    gather_leaves(node, found)
    return [part for part in found.values() if part.op == "opaque"]


_OF_SOME_LANES = ("memref.load", "memref.store", "scf.if")


def _plain(name: str, **attributes: typing.Any) -> typing.Any:
    """An operation without operands."""
    return lambda effects, *_: effects.builder.op(name, **attributes) and None


def _wait_groups(name: str, **attributes: typing.Any) -> typing.Any:
    def wait(effects: typing.Any, _: typing.Any, operation: typing.Any) -> None:
        number = int(operation.attributes["n" if "n" in operation.attributes else "group"])
        effects.builder.op(name, number, **attributes)
    return wait


def _nothing(*_: typing.Any) -> None:
    """The lanes of a warp, which are one here."""


_OPERATIONS: dict[str, typing.Callable[..., typing.Any]] = {
    "gpu.barrier": _barrier, "nvvm.barrier0": _barrier, "nvvm.barrier": _barrier, "nvvm.barrier.arrive": _barrier,
    "nvvm.bar.warp.sync": _nothing, "nvvm.fence.proxy": _fence_proxy, "nvvm.tcgen05.wait": _tensor_wait,
    "nvvm.tcgen05.fence": lambda effects, *_: effects.tensor_fence(), "nvvm.vote.sync": _vote,
    "nvvm.griddepcontrol.wait": _plain("griddepcontrol_wait"),
    "nvvm.griddepcontrol.launch.dependents": _plain("griddepcontrol_launch_dependents"),
    "nvvm.cp.async.commit.group": _plain("async_copy_commit_group"),
    "nvvm.cp.async.wait.group": _wait_groups("async_copy_wait"),
    "nvvm.cp.async.bulk.commit.group": _plain("commit_group"),
    "memref.load": _load, "memref.store": _store, "scf.if": _if, MARK: _whole,
}


# ---- PTX ------------------------------------------------------------------------------------------------------------

def _ptx_barrier(effects: typing.Any, name: str, operands: typing.Any) -> None:
    operation = "arrive" if "arrive" in name else "sync"
    if len(operands) == 1 and operation == "sync" and uniform(operands[0].node) == 0:
        effects.builder.op("block_barrier")
    elif len(operands) != 2:
        raise refuse(f"the PTX instruction '{name}' without a number of threads")
    else:
        effects.named_barrier(operation, *operands)


def _ptx_fence(effects: typing.Any, name: str, _: typing.Any) -> None:
    scope = name.rpartition("::")[2] if "::" in name else ""
    if not scope:
        space = name.rpartition("async")[2]
        effects.commit(shared=space != ".global", gmem=True)
    else:
        effects.commit(cluster=scope == "cluster")


def _ptx_count(operation: str, **attributes: typing.Any) -> typing.Any:
    return lambda effects, name, operands: effects.builder.op(
        operation, effects.count(operands[0] if operands else whole(0), "a number of groups"), **attributes) and None


def _ptx_plain(operation: str) -> typing.Any:
    return lambda effects, *_: effects.builder.op(operation) and None


def _ptx_wait_all(effects: typing.Any, *_: typing.Any) -> None:
    effects.builder.op("async_copy_commit_group")
    effects.builder.op("async_copy_wait", 0)


# The fences of a slot of answers of launch control. The reader publishes its load before it tells; the thread that asks
# again has nothing to add to that.
_RELEASE = r"fence\.proxy\.async::generic\.release\.sync_restrict::shared::cta\.cluster"
_ACQUIRE = r"fence\.proxy\.async::generic\.acquire\.sync_restrict::shared::cluster\.cluster"

_INSTRUCTIONS: typing.Sequence[tuple[str, typing.Callable[..., typing.Any]]] = (
    (r"(bar|barrier)(\.cta)?\.(sync|arrive)(\.aligned)?", _ptx_barrier),
    (r"bar\.warp\.sync", lambda *_: None),
    (r"fence\.proxy\.async(\.global|\.shared::cta|\.shared::cluster)?", _ptx_fence),
    (_RELEASE, _ptx_plain("commit_smem")),
    (_ACQUIRE, lambda *_: None),
    (r"tcgen05\.wait::ld\.sync\.aligned", _ptx_plain("wait_load_tmem")),
    (r"tcgen05\.wait::st\.sync\.aligned", _ptx_plain("commit_tmem")),
    (r"tcgen05\.fence::(before|after)_thread_sync", lambda effects, *_: effects.tensor_fence()),
    (r"griddepcontrol\.wait", _ptx_plain("griddepcontrol_wait")),
    (r"griddepcontrol\.launch_dependents", _ptx_plain("griddepcontrol_launch_dependents")),
    (r"cp\.async\.commit_group", _ptx_plain("async_copy_commit_group")),
    (r"cp\.async\.wait_group", _ptx_count("async_copy_wait")),
    (r"cp\.async\.wait_all", _ptx_wait_all),
    (r"cp\.async\.bulk\.commit_group", _ptx_plain("commit_group")),
    (r"cp\.async\.bulk\.wait_group", _ptx_count("wait_smem_to_gmem")),
    (r"cp\.async\.bulk\.wait_group\.read", _ptx_count("wait_smem_to_gmem", read_only=True)),
    (r"nanosleep\.u32",
     lambda effects, name, operands: effects.builder.op("delay", effects.number(operands[0])) and None),
)


# ---- elements of references -----------------------------------------------------------------------------------------

class Memory:
    """Loads and stores of single elements by all lanes: those that follow each other become one, of a box."""

    def __init__(self, importer: Importer, body: typing.Any) -> None:
        self.importer, self.body = importer, body
        self._loads: dict[object, int] = {}  # by reference the number of the source
        self._stores: list[tuple[object, Word, list[Word]]] = []
        self.mask: Word | None = None  # which lanes do it

    def load(self, ref: typing.Any, places: list[Word], kind: str) -> Word:
        """An element of a reference in each lane."""
        self._write()
        view = self.body.plain_view(ref)
        if self.mask is not None:
            return self.body.load_masked(view, places, kind, self.mask)
        if any(not place.node.is_const for place in places):
            return self._load_one(view, places, kind)
        if ref not in self._loads:
            self._loads[ref] = self.body.add_pending(view)
        return self.body.take_pending(self._loads[ref], places, kind)

    def _load_one(self, view: typing.Any, places: typing.Any, kind: str) -> Word:
        """The element at places that all lanes have alike."""
        self.flush()
        return self.body.load_at(view, places, kind)

    def store(self, ref: typing.Any, places: list[Word], value: Word) -> None:
        """Writes an element of a reference in each lane."""
        self._read()
        if self.mask is not None:
            self.body.store_masked(self.body.plain_view(ref), places, value, self.mask)
            return
        if self._stores and self._stores[0][0] != ref:
            self._write()
        self._stores.append((ref, value, places))

    def flush(self) -> None:
        """Builds what has been collected."""
        self._read()
        self._write()

    def _read(self) -> None:
        for number in self._loads.values():
            self.body.load_pending(number)
        self._loads.clear()

    def _write(self) -> None:
        stores, self._stores = self._stores, []
        if stores:
            self.body.store_all(self.body.plain_view(stores[0][0]), [value for _, value, _ in stores],
                                [places for _, _, places in stores])
