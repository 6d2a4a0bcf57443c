"""What an actor does by itself: values, forks, plain accesses, fences, and groups of asynchronous operations. Each new
access is held against all before it by the rules of order.py.

SPDX-License-Identifier: Apache-2.0
"""
import collections
import typing

import order
from order import NOTHING, SCOPES, Access, Fence, bits, join
from program import ARITHMETIC, NotExpressed
from state import Actor

Finding = collections.namedtuple("Finding", "kind line related")
FENCES = {"commit_smem", "fence_async_shared", "commit_gmem"}
UPDATES = {"atomic_add": "add", "atomic_fetch_add": "add", "atomic_max": "max", "atomic_min": "min",
           "atomic_and": "and", "atomic_or": "or", "atomic_xor": "xor"}


# Accesses of what indices name or a mask lets through: which operands these are, and what they do.
PICKS = {"masked_load": (None, 1, "r"), "masked_store": (None, 2, "w"), "gather": (1, 2, "r"), "scatter": (1, 3, "w"),
         **{f"atomic_scatter_{update}": (1, 3, "a")
            for update in ("add", "max", "min", "and", "or", "xor", "exchange")}}


# Copies by cp.async whose source is picked likewise; the destination is written whole, zeros where the mask is false.
PICKED_COPIES = {"async_masked_copy": (None, 2), "async_gather": (2, 3)}
# Copies of rows by TMA: which operands are the array and the indices of its rows.
ROWS = {"tma_gather": (0, 3), "tma_scatter": (1, 2)}
LOADS = ("load", "acc_load", "query_cluster_cancel")
WGMMAS = ("wgmma", "wgmma_async", "wgmma_sp", "wgmma_sp_async")
# What these do to their operands by the async proxy.
ASYNC_SIDES = {"copy_smem_to_gmem": {0: "r"}, "copy_gmem_to_smem": {1: "w"},
               "tma_scatter": {0: "r"}, "tma_gather": {1: "w"},
               "copy_gmem_to_smem_im2col": {1: "w"}, "try_cluster_cancel": {0: "w"}, "tcgen05_mma": {1: "r", 2: "r"},
               **{name: {1: "r", 2: "r"} for name in WGMMAS}}


class Past:
    """What the launches before a launch of a list did. known: the bits that it knows when it begins; awaited: those
    that griddepcontrol_wait shows besides; released: what comes before its start, and needs a fence for the async
    proxy; heard: before its griddepcontrol_wait."""

    def __init__(self, accesses=(), events=0, known=0, awaited=0, released=NOTHING, heard=NOTHING):
        self.accesses, self.events, self.known, self.awaited = tuple(accesses), events, known, awaited
        self.released, self.heard = released, heard


def get_own_line(key):
    """Whose program order it is: a partition's is that of its thread, a warp has its own."""
    return key[:2] + (max(key[2], -1),)


class ActorOps:
    """A program, and what was found of it: for each Finding the rulings that excuse it, None where there is none."""

    # Functions of its heirs.
    admit: typing.Any
    is_followed: typing.Any
    judge_tensor: typing.Any
    seal: typing.Any
    touch_cells: typing.Any

    def __init__(self, program, past=None):
        self.program = program
        self.past = past or Past()
        self.findings = {}
        self.index = {("past", number): number for number in range(self.past.events)}
        self.observed = set()  # pairs of lines of atomics that observation alone puts in order

    def report(self, kind, line, related, ruling=None):
        self.findings.setdefault(Finding(kind, line, related), set()).add(ruling)

    # ---- what an actor does alone ------------------------------------------------------------------

    def do_alone(self, state, actor):
        it = self.program.code[actor.pc]
        actor.pc += 1
        if it.kind == "jump":
            actor.pc = it.to
        elif it.kind == "branch":
            if not self.test(actor, it.condition):
                actor.pc = it.to
        elif it.kind == "copy":
            values = [(target, self.value(actor, operand)) for target, operand in it.pairs]
            actor.env.update(values)
        elif it.kind == "spun":
            actor.spins = {pc: v for pc, v in actor.spins.items() if pc < it.first}
        elif it.kind == "fork":
            self.fork(state, actor, it)
        elif it.kind == "enter":
            self.enter_scope(state, actor, it)
        elif it.kind == "leave":
            self.leave_scope(state, actor, it)
        else:
            self.perform(state, actor, it)

    def test(self, actor, condition):
        if isinstance(condition, tuple):
            low, high = actor.env.get(condition[1]), actor.env.get(("high", condition[1]))
            value = None if low is None or high is None else low < high
        else:
            value = self.value(actor, condition)
        if value is None:
            raise NotExpressed("control that depends on data")
        return value

    def value(self, actor, operand):
        if operand is None or isinstance(operand, str) or "object" in operand:
            return None
        if "const" in operand:
            return operand["const"]
        if "float" in operand:
            return operand["float"]
        if "axis" in operand:
            return self.program.place(operand["axis"], actor.key[0], actor.key[1])
        if "sum" in operand:
            return actor.env[operand["sum"][0]] + self.value(actor, operand["sum"][1])
        return actor.env.get(operand["value"])

    def fork(self, state, actor, it):
        actor.pc, actor.status = it.to, "joins"
        self.seal(state, actor)
        cta, thread, _ = actor.key
        for number, pc in enumerate(it.entries * 4 if it.kind_of == "warps" else it.entries):
            key = (cta, thread, number) if it.kind_of == "warps" else (cta, number, -2)
            child = Actor(key, pc, dict(actor.env), actor.know, actor.key)
            child.trace = hash((actor.trace, key))
            child.tensor, child.tensor_seen = actor.tensor, actor.tensor_seen
            self.admit(state, child)
            if it.kind_of == "warps":
                child.env[it.warp] = number
            if key[1] == thread:
                child.waits = dict(actor.waits)
            if key in state.actors:
                child.waits = {**state.actors[key].waits, **child.waits}
            state.actors[key] = child

    def join_parent(self, state, parent):
        children = [a for a in state.actors.values() if a.parent == parent.key]
        if any(a.status != "ended" for a in children):
            return
        for child in children:
            parent.know = join(parent.know, child.know)
            parent.trace = hash((parent.trace, child.trace))
            parent.tensor |= child.tensor
            parent.tensor_seen |= child.tensor_seen
            if child.key[1] == parent.key[1]:
                for key, count in child.waits.items():
                    parent.waits[key] = max(parent.waits.get(key, 0), count)
            if child.key[1] == 0 and child.key[2] == -2:
                parent.env.update(child.env)
            child.parent = None
        parent.status = "runs"
        self.admit(state, parent)

    # ---- events and accesses ---------------------------------------------------------------------------

    def event(self, state, actor, *what):
        """A new event of an actor: its bit. The two bits after it mean that what it starts has read, has written."""
        number = state.counts.get(actor.key, 0)
        state.counts[actor.key] = number + 1
        actor.trace = hash((actor.trace, what))
        return 1 << 3 * self.index.setdefault((actor.key, number), len(self.index))

    def learn(self, actor, know):
        actor.know = join(actor.know, know)

    def find_starts(self, actor, view):
        starts, extents = [], []
        for box in view["box"]:
            terms = [actor.env.get(term) for term in box["terms"]]
            if None in terms:
                raise NotExpressed("an index that depends on data")
            starts.append(box["at"] + sum(terms) // box["packed"])
            extents.append(box["extent"])
        return tuple(starts), tuple(extents)

    def find_cta(self, actor, view):
        """The CTA whose object a reference means."""
        if not view["cluster"]:
            return actor.cta
        rank = 0
        for operand, size in zip(view["cluster"], self.program.sizes("cluster")):
            index = self.value(actor, operand)
            if index is None:
                raise NotExpressed("a place in the cluster that depends on data")
            rank = rank * size + index
        return actor.cta - actor.cta % self.program.cluster + rank

    def find_place(self, actor, view, cta=None, part=None):
        """(place, mask, owner) of a box. part: (number, of how many) takes a slice of it."""
        it = self.program.objects[view["object"]]
        starts, extents = self.find_starts(actor, view)
        if part:
            starts, extents = take_part(starts, extents, part)
        mask, _ = self.program.find_mask(view["object"], starts, extents)
        cta = self.find_cta(actor, view) if cta is None else cta
        if it["space"] == "smem":
            base, shift = self.program.smem_base[view["object"]]
            return ("smem", cta, base), mask << shift, cta
        if it["space"] == "tmem":
            base, shift = self.program.smem_base[view["object"]]
            return ("tmem", cta, base), mask << shift, None
        if it["space"] == "acc":
            return ("acc",) + actor.key[:2] + (view["object"],), mask, None
        return ("gmem", self.program.same.get(view["object"], view["object"])), mask, None

    def access(self, state, actor, where, mode, line, bit, proxy="generic", scope=4, know=None, is_async=False,
               shape=None):
        """Adds an access and holds it against those before. bit: what has to be known for it to be over."""
        place, mask, owner = where
        if mask == 0:
            return
        new = Access(place, mask, mode, proxy, scope, actor.cta, actor.key, bit, know or actor.know, is_async, line,
                     owner, shape, actor.tensor, actor.tensor_seen)
        if owner in state.ended:
            self.report("exit", line, 0)
        for old in state.accesses:
            if order.is_conflict(old, new):
                self.judge(state, old, new)
        state.accesses += (new,)

    def judge(self, state, old, new):
        if old.place[0] == "tmem":
            self.judge_tensor(state, old, new)
            return
        if old.shape and old.shape == new.shape and old.thread == new.thread:
            return  # the tensor core runs those of one shape in order (wgmma.fence, wgmma.mma_async)
        if order.is_ordered(old, new, state.fences) or order.is_race_free_atomic(old, new, self.program.cluster):
            if not new.know.causality & old.bit:
                self.observed.add(frozenset((old.line, new.line)))
            return
        ruling = order.find_ruling(old, new, state.fences, self.program.cluster)
        if not ruling and (self.is_vouched(state, old, new) or self.is_written_over(state, old, new)):
            ruling = "vouched"
        if not ruling and is_queued(state, old, new):
            ruling = "queue"
        kind = "init" if old.place[0] == "barrier" else "proxy" if order.is_before(old, new) else "race"
        self.report("exit" if new.mode == "end" else kind, old.line, new.line, ruling)

    def is_vouched(self, state, old, new):
        """Whether an engine read or overwrote all of it in between, in order, and is over in time; for who looks at it,
        as far as that can be seen."""
        if old.place[0] != "smem" or (old.is_async and old.mode == "r"):
            return False
        shared = old.mask & new.mask
        known = new.know.here if order.looks(new) else new.know.time
        return any(a.is_async and (a.mode != "r" or old.mode != "r") and a.place == old.place and not shared & ~a.mask
                   and order.is_ordered(old, a, state.fences) and known & a.bit and self.was_right(state, a, shared)
                   for a in state.accesses)

    def was_right(self, state, reader, mask):
        """Whether it came after all that had been written there, or writes itself. Else nobody knows what it has
        read."""
        before = state.accesses[:state.accesses.index(reader)]
        return reader.mode != "r" or all(
            order.is_ordered(w, reader, state.fences) or
            order.find_ruling(w, reader, state.fences, self.program.cluster)
            or self.is_vouched(state, w, reader) or self.is_written_over(state, w, reader)
            for w in before if w.mode != "r" and w.place == reader.place and w.mask & mask)

    def is_written_over(self, state, old, new):
        """Whether another write, which new comes after, has taken the place of all of it: in time, which is enough for
        who writes over what an engine has written."""
        shared = old.mask & new.mask
        return old.place[0] == "smem" and any(
            a.mode == "w" and a.place == old.place and not shared & ~a.mask and order.is_ordered(a, new, state.fences)
            and order.find_ruling(old, a, state.fences, self.program.cluster) == "time" for a in state.accesses)

    def fence(self, state, actor, it):
        bit = self.event(state, actor, "fence", actor.pc)
        space = "gmem" if it.name == "commit_gmem" else "smem"
        ctas = None if space == "gmem" or it.attrs.get("cluster") else (actor.cta,)
        state.fences += (Fence(space, actor.cta, ctas, bit, actor.know, get_own_line(actor.key)),)
        self.learn(actor, bits(bit))

    def lacks_own_fence(self, state, actor, it):
        """Whether auto_fence implies a fence before this: it uses SMEM by the async proxy, and the actor itself has
        touched that object by the generic proxy since its last fence."""
        if not self.program.has_auto_fence or it.kind != "op":
            return False
        sides = ASYNC_SIDES.get(it.name, {})
        used = {self.find_place(actor, it.operands[i])[0]: mode for i, mode in sides.items()
                if i < len(it.operands) and isinstance(it.operands[i], dict) and "object" in it.operands[i]}
        fences = [f for f in state.fences if f.space == "smem" and f.thread == get_own_line(actor.key)]
        return any(old.proxy == "generic" and get_own_line(old.thread) == get_own_line(actor.key)
                   and actor.know.causality & old.bit and old.place[0] == "smem" and old.place in used
                   and (old.mode != "r" or used[old.place] != "r")
                   and not any(f.know.causality & old.bit for f in fences) for old in state.accesses)

    def hear_of_grids(self, state, over):
        """The end of earlier grids, known by the bits of their accesses: all is visible, through every proxy (PTX ISA,
        griddepcontrol.wait; and so it is between two grids of a stream)."""
        bit = 1 << 3 * self.index.setdefault(("grids", over), len(self.index))
        fences = tuple(Fence("gmem", cta, None, bit, bits(over), ("grids",)) for cta in range(self.program.ctas))
        state.fences += () if fences[0] in state.fences else fences
        return bits(over | bit)

    def trigger(self, state, actor, it):
        """griddepcontrol.launch_dependents: the first one of a CTA counts, and a release fence before it synchronises
        with the start of the dependent grid (PTX ISA 9.3)."""
        actor.trace = hash((actor.trace, it.name))
        if self.program.releases and actor.cta not in state.triggers:
            is_release = it.attrs.get("order") == "release"
            state.triggers[actor.cta] = (actor.key, actor.know if is_release else NOTHING)

    # ---- operations of one actor ---------------------------------------------------------------------

    def perform(self, state, actor, it):
        if self.lacks_own_fence(state, actor, it):
            self.fence(state, actor, it)
        name = it.name
        if name in ARITHMETIC:
            values = [self.value(actor, o) for o in it.operands]
            actor.env[it.results[0]] = None if None in values else compute(ARITHMETIC[name], values)
        elif name == "iota" and len(it.dims) == 1:
            actor.env[it.results[0]] = tuple(range(it.dims[0]))
        elif name in PICKS:
            self.touch_picks(state, actor, it)
        elif name == "axis_index":
            actor.env[it.results[0]] = self.value(actor, it.operands[0])
        elif name in FENCES:
            self.fence(state, actor, it)
        elif name in LOADS or name in ("store", "acc_store") or name in UPDATES:
            self.touch(state, actor, it)
        elif name == "make_tensor_descriptor":
            where = self.find_place(actor, it.operands[0])
            bit = self.event(state, actor, name, actor.pc, where)
            self.access(state, actor, where, "w", it.line, bit, scope=4)
            self.learn(actor, bits(bit))
        elif name == "tensormap_acquire":
            self.acquire_map(state, actor, it)
        elif name == "griddepcontrol_wait":
            self.learn(actor, join(self.hear_of_grids(state, self.past.awaited), self.past.heard))
            actor.trace = hash((actor.trace, name))
        elif name == "griddepcontrol_launch_dependents":
            self.trigger(state, actor, it)
        elif name in ("copy_smem_to_gmem", "tma_scatter", "async_copy") or name in WGMMAS or name in PICKED_COPIES:
            self.start_in_group(state, actor, it)
        elif name in ("commit_group", "async_copy_commit_group"):
            self.close_group(state, actor, "bulk" if name == "commit_group" else "copy")
        elif name in ("wait_smem_to_gmem", "async_copy_wait", "wgmma_wait"):
            mechanism = {"wait_smem_to_gmem": "bulk", "async_copy_wait": "copy", "wgmma_wait": "wgmma"}[name]
            self.wait_for_groups(state, actor, mechanism, self.value(actor, it.operands[0]),
                                 bool(it.attrs.get("read_only")))
        elif hasattr(self, "tensor_" + name):
            getattr(self, "tensor_" + name)(state, actor, it)
        elif it.results and not any(isinstance(o, dict) and "object" in o for o in it.operands):
            actor.env.update((r, None) for r in it.results)  # pure, and no value that decides anything
        else:
            raise NotExpressed(name)

    def acquire_map(self, state, actor, it):
        """fence.proxy.tensormap::generic.acquire of a slot, which counts as a read of it."""
        where = self.find_place(actor, it.operands[0])
        bit = self.event(state, actor, it.name, actor.pc, where)
        self.access(state, actor, where, "r", it.line, bit, scope=4)
        state.fences += (Fence("map", actor.cta, where[:2], bit, actor.know, get_own_line(actor.key)),)
        self.learn(actor, bits(bit))

    def read_maps(self, state, actor, it, bit):
        """A copy reads the tensor map that it goes by; it has when its source has been read."""
        for operand in it.operands:
            if isinstance(operand, dict) and "map" in operand:
                self.access(state, actor, self.find_place(actor, operand["map"]), "r", it.line, bit, "tensormap",
                            is_async=True)

    def touch(self, state, actor, it):
        """A load, a store, or an atomic without a result."""
        name, view = it.name, it.operands[0]
        where = self.find_place(actor, view)
        is_acc = where[0][0] == "acc"
        if is_acc and (name == "load" or "wait" in it.attrs):
            self.wait_for_groups(state, actor, "wgmma", it.attrs.get("wait", 0), False)
        bit = self.event(state, actor, name, actor.pc, where)
        mode = "a" if name in UPDATES else "r" if name in LOADS else "w"
        self.access(state, actor, where, mode, it.line, bit, scope=self.scope(it, 4))
        self.learn(actor, bits(bit))
        key = (where[0], where[1])
        if mode == "r":
            actor.env[it.results[0]] = state.memory.get(key)
        else:
            for other in [k for k in state.memory if k[0] == key[0] and k[1] & key[1]]:
                del state.memory[other]
            if mode == "w":
                state.memory[key] = self.value(actor, it.operands[1])
        if view["object"] in self.program.fetched:
            self.touch_cells(state, actor, it, where, mode, bit)

    def find_picks(self, actor, it):
        """(place, mask, owner) of what indices along one dimension name, or a mask of single elements lets through."""
        view = it.operands[0]
        at, masked = PICKED_COPIES[it.name] if it.name in PICKED_COPIES else PICKS[it.name][:2]
        dims = [i for i, box in enumerate(view["box"]) if not box["squeezed"]]
        dim = dims[it.attrs.get("dim", 0)]
        lets = self.value(actor, it.operands[masked]) if masked < len(it.operands) else True
        if at is None and len(dims) != 1:
            raise NotExpressed("a mask of several dimensions")
        named = tuple(range(view["box"][dim]["extent"])) if at is None else self.value(actor, it.operands[at])
        if named is None or lets is None:
            raise NotExpressed("indices or a mask that depend on data")
        if not isinstance(named, tuple):  # all of them are one
            named = (named,) * (len(lets) if isinstance(lets, tuple) else 1)
        starts, extents = self.find_starts(actor, view)
        total = 0
        for number, index in enumerate(named):
            if lets[number] if isinstance(lets, tuple) else lets:
                total |= self.program.find_mask(view["object"],
                                                starts[:dim] + (starts[dim] + index,) + starts[dim + 1:],
                                                extents[:dim] + (1,) + extents[dim + 1:])[0]
        place, mask, owner = self.find_place(actor, view)
        whole, _ = self.program.find_mask(view["object"], starts, extents)
        shift = (mask & -mask).bit_length() - (whole & -whole).bit_length() if mask and whole else 0
        return place, total << shift, owner

    def touch_picks(self, state, actor, it):
        where, mode = self.find_picks(actor, it), PICKS[it.name][2]
        bit = self.event(state, actor, it.name, actor.pc, where)
        self.access(state, actor, where, mode, it.line, bit, scope=self.scope(it, 4))
        self.learn(actor, bits(bit))
        if mode != "r":
            for other in [k for k in state.memory if k[0] == where[0] and k[1] & where[1]]:
                del state.memory[other]
        actor.env.update((r, None) for r in it.results)
        if it.operands[0]["object"] in self.program.fetched:
            raise NotExpressed("indices into memory of ordered atomics")

    def scope(self, it, default):
        return SCOPES[it.attrs["scope"]] if "scope" in it.attrs else default

    # ---- groups ------------------------------------------------------------------------------------

    def start_in_group(self, state, actor, it):
        bit = self.event(state, actor, it.name, actor.pc, tuple(actor.env.get(t) for o in it.operands
                                                               if isinstance(o, dict) for b in o.get("box", [])
                                                               for t in b["terms"]))
        read, written = bit << 1, bit << 2
        self.learn(actor, bits(bit))
        if it.name.startswith("wgmma"):
            self.start_wgmma(state, actor, it, read, written)
        else:
            proxy = "async" if it.name in ("copy_smem_to_gmem", "tma_scatter") else "generic"
            mode = "a" if "reduce" in it.attrs else "w"
            self.read_maps(state, actor, it, read)
            source, target = self.find_source(actor, it), self.find_target(actor, it)
            self.access(state, actor, source, "r", it.line, read, proxy, is_async=True)
            self.access(state, actor, target, mode, it.line, written, proxy, scope=3, is_async=True)
            mechanism = "bulk" if proxy == "async" else "copy"
            closed, opened = state.groups.get((mechanism, actor.lane), ((), ()))
            state.groups[(mechanism, actor.lane)] = (closed, opened + (bit,))
            if mechanism == "bulk" and "no_commit_group" not in it.attrs:
                self.close_group(state, actor, "bulk")

    def find_source(self, actor, it):
        """What a copy reads. For an array that nobody writes it does not matter which elements."""
        if it.name in PICKED_COPIES and it.operands[0]["object"] not in self.program.read_only:
            return self.find_picks(actor, it)
        return self.find_place(actor, it.operands[0])

    def find_target(self, actor, it):
        return self.find_rows(actor, it) if it.name in ROWS else self.find_place(actor, it.operands[1])

    def find_rows(self, actor, it):
        """(place, mask, owner) of the rows that indices name. For an array that nobody writes it does not matter
        which."""
        view, indices = (it.operands[i] for i in ROWS[it.name])
        if view["object"] in self.program.read_only:
            return self.find_place(actor, view)
        named = self.value(actor, indices)
        if named is None:
            raise NotExpressed("rows that depend on data")
        starts, extents = self.find_starts(actor, view)
        place, total, owner = self.find_place(actor, view)[0], 0, None
        for row in named if isinstance(named, tuple) else (named,):
            total |= self.program.find_mask(view["object"], (row,) + starts[1:], (1,) + extents[1:])[0]
        return place, total, owner

    def start_wgmma(self, state, actor, it, read, written):
        acc = self.find_place(actor, it.operands[0])
        for operand in it.operands[1:]:
            if isinstance(operand, dict) and "object" in operand:
                self.access(state, actor, self.find_place(actor, operand), "r", it.line, read, "async", is_async=True)
        shape = (acc, "_sp" in it.name)  # an instruction of a sparse a takes another K
        self.access(state, actor, acc, "w", it.line, written, is_async=True, shape=shape)
        closed, _ = state.groups.get(("wgmma", actor.lane), ((), ()))
        state.groups[("wgmma", actor.lane)] = (closed + ((read >> 1,),), ())
        if it.name in ("wgmma", "wgmma_sp"):
            self.wait_for_groups(state, actor, "wgmma", 1, False)

    def close_group(self, state, actor, mechanism):
        closed, opened = state.groups.get((mechanism, actor.lane), ((), ()))
        state.groups[(mechanism, actor.lane)] = (closed + (opened,), ())

    def wait_for_groups(self, state, actor, mechanism, newest, reads_only):
        """All but the newest groups are over, for the one that waits: a thread's wait is one of each of its lanes."""
        lanes = [actor.lane] if actor.key[2] >= 0 else [actor.key[:2] + (w,) for w in range(4)]
        over = 0
        for lane in lanes:
            closed, _ = state.groups.get((mechanism, lane), ((), ()))
            for group in closed[:len(closed) - newest] if newest else closed:
                for bit in group:
                    over |= bit << 1 if reads_only else bit << 1 | bit << 2
        self.learn(actor, bits(over))
        actor.trace = hash((actor.trace, over))

    def enter_scope(self, state, actor, it):
        """SMEM is the CTA's as long as it runs, and so is tensor memory. The next scope may get the bytes of any that
        has ended, of the spaces that it makes objects in: what is in flight there has to be over. What another thread
        has begun in this scope already is not known here."""
        for base, mask in self.program.find_scope_bytes(it.around).items():
            places = [(space, actor.cta, base) for space in it.spaces]
            for old in state.accesses:
                issue = 1 << (old.bit.bit_length() - 1) // 3 * 3
                if old.is_async and old.place in places and old.mask & mask and actor.know.time & issue:
                    self.end_bytes(state, actor, old, it.line)

    def leave_scope(self, state, actor, it):
        """Registers go away with the scope: what this thread's wgmmas add to has to be over."""
        for made in it.objects:
            for old in state.accesses:
                if old.is_async and old.place == ("acc",) + actor.key[:2] + (made,):
                    self.end_bytes(state, actor, old, it.line)

    def end_bytes(self, state, actor, old, line):
        over = actor.know.causality | actor.tensor
        if not over & old.bit and not self.is_followed(old, over, state.accesses):
            self.report("exit", old.line, line, "time" if actor.know.time & old.bit else None)


def compute(function, values):
    """Over scalars, or element by element: scalars go with every element."""
    sizes = {len(value) for value in values if isinstance(value, tuple)}
    if not sizes:
        return function(*values)
    if len(sizes) > 1:
        return None
    count = sizes.pop()
    return tuple(function(*(v[i] if isinstance(v, tuple) else v for v in values)) for i in range(count))


def is_queued(state, old, new):
    """Whether old is the arrival of a commit, and the end of its memory knows a later one by the same lane to be
    over."""
    return new.mode == "end" and old.shape and old.shape[0] == "commit" and any(
        a.shape and a.shape[:2] == old.shape[:2] and a.shape[2] > old.shape[2] and new.know.time & a.bit
        for a in state.accesses)


def take_part(starts, extents, part):
    """The part of a box that one of several CTAs brings: a slice along the first dimension that divides, or the one
    that is named."""
    number, count, *named = part
    for dim, extent in enumerate(extents):
        if extent % count == 0 and named in ([], [dim]):
            size = extent // count
            return (starts[:dim] + (starts[dim] + number * size,) + starts[dim + 1:],
                    extents[:dim] + (size,) + extents[dim + 1:])
    raise NotExpressed("a collective copy whose box does not divide")
