"""All executions of a small kernel: which phase each wait observes, whose units it takes, which write each atomic reads.

The search takes one step of one actor, or lets one asynchronous operation end, in every order that makes a difference:
two moments in which each actor has done the same, and each object has seen the same, are one. Accesses of memory are no
steps of the search: no result depends on them in a kernel without races. Each new access is held against all before it
by the rules of order.py.

SPDX-License-Identifier: Apache-2.0
"""
import collections

import order
from order import NOTHING, SCOPES, Access, Fence, Know, bits, join, only_time
from program import ARITHMETIC, NotExpressed
from state import EMPTY_CELL, EMPTY_MEETING, FRESH, Actor, Barrier, Cell, State

STATES_MAX = 60000
Finding = collections.namedtuple("Finding", "kind line related")
FENCES = {"commit_smem", "fence_async_shared", "commit_gmem"}
MEETINGS = {"block_barrier", "named_barrier_sync", "cluster_barrier"}
STEPS = MEETINGS | {
    "barrier_arrive", "barrier_wait", "barrier_test", "mbarrier_init", "mbarrier_invalidate", "mbarrier_arrive",
    "mbarrier_arrive_drop", "mbarrier_expect", "mbarrier_wait", "mbarrier_test", "copy_gmem_to_smem",
    "async_store_smem", "named_barrier_arrive", "cluster_arrive", "cluster_wait", "semaphore_signal",
    "semaphore_wait", "semaphore_read", "atomic_fetch_add", "atomic_exchange", "atomic_cas", "async_copy_arrive"}
SPINS = {"barrier_test", "mbarrier_test", "semaphore_read", "atomic_fetch_add", "atomic_exchange", "atomic_cas"}
UPDATES = {"atomic_add": "add", "atomic_fetch_add": "add", "atomic_max": "max", "atomic_min": "min",
           "atomic_and": "and", "atomic_or": "or", "atomic_xor": "xor"}


class Machine:
    """The search, and what it found: for each Finding the rulings that excuse it, None where there is none."""

    def __init__(self, program):
        self.program = program
        self.findings = {}
        self.index = {}
        self.executions = 0
        self.observed = set()  # pairs of lines of atomics that observation alone puts in order
        self.actor = self.state = None

    # ---- the search ------------------------------------------------------------------------------

    def run(self):
        stack, seen = [self.start()], set()
        while stack:
            state = stack.pop()
            self.advance(state)
            key = state.key()
            if key in seen:
                continue
            seen.add(key)
            if len(seen) > STATES_MAX:
                raise NotExpressed("more than %d states" % STATES_MAX)
            steps = self.find_steps(state)
            if not steps:
                self.finish(state)
            for step in steps:
                other = state.copy()
                step(other)
                stack.append(other)
        return self.findings

    def start(self):
        state = State()
        threads = 1 if self.program.is_specialised else self.program.threads
        for cta in range(self.program.ctas):
            for thread in range(threads):
                state.actors[(cta, thread, -1)] = Actor((cta, thread, -1), 0, {}, NOTHING)
        return state

    def find_steps(self, state):
        steps = []
        for key, actor in state.actors.items():
            if actor.status == "runs" and self.is_enabled(state, actor):
                steps.append(lambda other, key=key: self.step(other, other.actors[key]))
        for item in state.pending:
            steps.append(lambda other, item=item: self.end_operation(other, item))
        return steps

    def finish(self, state):
        self.executions += 1
        stuck = [a for a in state.actors.values() if a.status == "runs"]
        for actor in stuck:
            self.report("deadlock", self.program.code[actor.pc].line, 0)
        if not stuck:
            self.find_leftovers(state)

    def find_leftovers(self, state):
        for key, cell in state.cells.items():
            if key[0] == "semaphore" and cell.value != 0:
                self.report("leftover", 0, 0)
        for key, it in state.barriers.items():
            if self.program.objects[key[2]]["explicit"]:
                continue
            waits = [w for a in state.actors.values() for k, w in a.waits.items() if k == key]
            if it.pending != it.count or any(w < it.phases for w in waits):
                self.report("leftover", 0, 0)
        if any(m.arrived for k, m in state.meetings.items()) or any(
                "cluster" in str(k) for a in state.actors.values() for k in a.round):
            self.report("leftover", 0, 0)

    def report(self, kind, line, related, ruling=None):
        self.findings.setdefault(Finding(kind, line, related), set()).add(ruling)

    # ---- what an actor does alone ------------------------------------------------------------------

    def advance(self, state):
        """Lets each actor do what nobody else can tell from its being done later."""
        moved = True
        while moved:
            moved = False
            for key in list(state.actors):
                actor = state.actors[key]
                while actor.status == "runs" and not self.is_step(state, actor):
                    self.do_alone(state, actor)
                    moved = True

    def is_step(self, state, actor):
        it = self.program.code[actor.pc]
        if it.kind in ("meet", "end"):
            return True
        if it.kind != "op":
            return False
        return it.name in STEPS or any(self.is_fetched(o) for o in it.operands)

    def is_fetched(self, operand):
        return isinstance(operand, dict) and operand.get("object") in self.program.fetched

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
        cta, thread, _ = actor.key
        for number, pc in enumerate(it.entries * 4 if it.kind_of == "warps" else it.entries):
            key = (cta, thread, number) if it.kind_of == "warps" else (cta, number, -2)
            child = Actor(key, pc, dict(actor.env), actor.know, actor.key)
            child.trace = hash((actor.trace, key))
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
            if child.key[1] == parent.key[1]:
                for key, count in child.waits.items():
                    parent.waits[key] = max(parent.waits.get(key, 0), count)
            if child.key[1] == 0 and child.key[2] == -2:
                parent.env.update(child.env)
            child.parent = None
        parent.status = "runs"

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
            starts.append(box["at"] + sum(terms))
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
        if it["space"] == "acc":
            return ("acc",) + actor.key[:2] + (view["object"],), mask, None
        return ("gmem", view["object"]), mask, None

    def access(self, state, actor, where, mode, line, bit, proxy="generic", scope=4, know=None, is_async=False,
               shape=None):
        """Adds an access and holds it against those before. bit: what has to be known for it to be over."""
        place, mask, owner = where
        if mask == 0:
            return
        new = Access(place, mask, mode, proxy, scope, actor.cta, actor.key, bit, know or actor.know, is_async, line,
                     owner, shape)
        if owner in state.ended:
            self.report("exit", line, 0)
        for old in state.accesses:
            if order.is_conflict(old, new):
                self.judge(state, old, new)
        state.accesses += (new,)

    def judge(self, state, old, new):
        if old.shape and old.shape == new.shape and old.thread == new.thread:
            return  # the tensor core runs those of one shape in order (wgmma.fence, wgmma.mma_async)
        if order.is_ordered(old, new, state.fences) or order.is_race_free_atomic(old, new, self.program.cluster):
            if not new.know.causality & old.bit:
                self.observed.add(frozenset((old.line, new.line)))
            return
        ruling = order.find_ruling(old, new, state.fences, self.program.cluster)
        if not ruling and self.is_vouched(state, old, new):
            ruling = "vouched"
        kind = "init" if old.place[0] == "barrier" else "proxy" if order.is_before(old, new) else "race"
        self.report("exit" if new.mode == "end" else kind, old.line, new.line, ruling)

    def is_vouched(self, state, old, new):
        """Whether an engine read or overwrote all of it in between, in order, and is over in time."""
        if old.place[0] != "smem" or old.is_async:
            return False
        shared = old.mask & new.mask
        return any(a.is_async and (a.mode != "r" or old.mode != "r") and a.place == old.place and not shared & ~a.mask
                   and order.is_ordered(old, a, state.fences) and new.know.time & a.bit for a in state.accesses)

    def fence(self, state, actor, it):
        bit = self.event(state, actor, "fence", actor.pc)
        space = "gmem" if it.name == "commit_gmem" else "smem"
        ctas = None if space == "gmem" or it.attrs.get("cluster") else (actor.cta,)
        state.fences += (Fence(space, actor.cta, ctas, bit, actor.know),)
        self.learn(actor, bits(bit))

    # ---- operations of one actor ---------------------------------------------------------------------

    def perform(self, state, actor, it):
        if it.auto_fence:
            self.fence(state, actor, it)
        name = it.name
        if name in ARITHMETIC:
            values = [self.value(actor, o) for o in it.operands]
            actor.env[it.results[0]] = None if None in values else ARITHMETIC[name](*values)
        elif name == "axis_index":
            actor.env[it.results[0]] = self.value(actor, it.operands[0])
        elif name in FENCES:
            self.fence(state, actor, it)
        elif name in ("load", "store", "acc_load", "acc_store") or name in UPDATES:
            self.touch(state, actor, it)
        elif name in ("copy_smem_to_gmem", "async_copy", "wgmma", "wgmma_async"):
            self.start_in_group(state, actor, it)
        elif name in ("commit_group", "async_copy_commit_group"):
            self.close_group(state, actor, "bulk" if name == "commit_group" else "copy")
        elif name in ("wait_smem_to_gmem", "async_copy_wait", "wgmma_wait"):
            mechanism = {"wait_smem_to_gmem": "bulk", "async_copy_wait": "copy", "wgmma_wait": "wgmma"}[name]
            self.wait_for_groups(state, actor, mechanism, self.value(actor, it.operands[0]),
                                 bool(it.attrs.get("read_only")))
        elif it.results and not any(isinstance(o, dict) and "object" in o for o in it.operands):
            actor.env.update((r, None) for r in it.results)  # pure, and no value that decides anything
        else:
            raise NotExpressed(name)

    def touch(self, state, actor, it):
        """A load, a store, or an atomic without a result."""
        name, view = it.name, it.operands[0]
        where = self.find_place(actor, view)
        is_acc = where[0][0] == "acc"
        if is_acc and (name == "load" or "wait" in it.attrs):
            self.wait_for_groups(state, actor, "wgmma", it.attrs.get("wait", 0), False)
        bit = self.event(state, actor, name, actor.pc, where)
        mode = "a" if name in UPDATES else "r" if name in ("load", "acc_load") else "w"
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
            proxy = "async" if it.name == "copy_smem_to_gmem" else "generic"
            mode = "a" if "reduce" in it.attrs else "w"
            source, target = (self.find_place(actor, o) for o in it.operands[:2])
            self.access(state, actor, source, "r", it.line, read, proxy, is_async=True)
            self.access(state, actor, target, mode, it.line, written, proxy, scope=3, is_async=True)
            mechanism = "bulk" if proxy == "async" else "copy"
            closed, opened = state.groups.get((mechanism, actor.lane), ((), ()))
            state.groups[(mechanism, actor.lane)] = (closed, opened + (bit,))
            if mechanism == "bulk" and "no_commit_group" not in it.attrs:
                self.close_group(state, actor, "bulk")

    def start_wgmma(self, state, actor, it, read, written):
        acc = self.find_place(actor, it.operands[0])
        for operand in it.operands[1:]:
            if isinstance(operand, dict) and "object" in operand:
                self.access(state, actor, self.find_place(actor, operand), "r", it.line, read, "async", is_async=True)
        self.access(state, actor, acc, "w", it.line, written, is_async=True, shape=acc)
        closed, _ = state.groups.get(("wgmma", actor.lane), ((), ()))
        state.groups[("wgmma", actor.lane)] = (closed + ((read >> 1,),), ())
        if it.name == "wgmma":
            self.wait_for_groups(state, actor, "wgmma", 1, False)

    def close_group(self, state, actor, mechanism):
        closed, opened = state.groups.get((mechanism, actor.lane), ((), ()))
        state.groups[(mechanism, actor.lane)] = (closed + (opened,), ())

    def wait_for_groups(self, state, actor, mechanism, newest, reads_only):
        """All but the newest groups are over, for who waits: a thread's wait is one of each of its lanes."""
        lanes = [actor.lane] if actor.key[2] >= 0 else [actor.key[:2] + (w,) for w in range(4)]
        over = 0
        for lane in lanes:
            closed, _ = state.groups.get((mechanism, lane), ((), ()))
            for group in closed[:len(closed) - newest] if newest else closed:
                for bit in group:
                    over |= bit << 1 if reads_only else bit << 1 | bit << 2
        self.learn(actor, bits(over))
        actor.trace = hash((actor.trace, over))

    def leave_scope(self, state, actor, it):
        """The bytes of a scope belong to the next one: what this thread has started there has to be over."""
        for made in it.objects:
            if made not in self.program.smem_base:
                continue
            base, _ = self.program.smem_base[made]
            for old in state.accesses:
                if old.is_async and old.place == ("smem", actor.cta, base) and old.thread == actor.key and not (
                        actor.know.causality & old.bit):
                    self.report("exit", old.line, it.line, "time" if actor.know.time & old.bit else None)

    # ---- steps: what others can tell ---------------------------------------------------------------------

    def is_enabled(self, state, actor):
        it = self.program.code[actor.pc]
        if it.kind == "end":
            return True
        if it.name in MEETINGS or it.kind == "meet":
            return actor.stage == 0 or self.is_round_over(state, actor, self.meeting(actor, it))
        if it.name == "cluster_wait":
            return self.is_round_over(state, actor, self.meeting(actor, it))
        if it.name in ("barrier_wait", "mbarrier_wait"):
            return self.is_phase_over(state, actor, it)
        if it.name == "semaphore_wait":
            cell = state.cells.get(self.semaphore(actor, it), EMPTY_CELL)
            return (cell.total if "no_decrement" in it.attrs else cell.value) >= self.value(actor, it.operands[1])
        if it.name in SPINS and it.in_while and actor.pc in actor.spins:
            return self.peek(state, actor, it) != actor.spins[actor.pc]
        return True

    def peek(self, state, actor, it):
        """What an instruction that polls would give now."""
        if it.name.endswith("_test"):
            return self.is_phase_over(state, actor, it)
        if it.name == "semaphore_read":
            return state.cells.get(self.semaphore(actor, it), EMPTY_CELL).value
        return state.cells.get(self.cell(actor, it), EMPTY_CELL).value

    def step(self, state, actor):
        it = self.program.code[actor.pc]
        if it.name in SPINS and it.in_while:
            actor.spins[actor.pc] = self.peek(state, actor, it)
        if it.kind == "end":
            self.end_actor(state, actor)
            return
        if it.name in MEETINGS or it.kind == "meet":
            self.meet(state, actor, it)
            return
        if it.auto_fence:
            self.fence(state, actor, it)
        actor.pc += 1
        actor.pc -= 1  # steps read their own place in the code
        getattr(self, "do_" + it.name, self.do_fetched)(state, actor, it)
        actor.pc += 1

    def do_fetched(self, state, actor, it):
        """Another access of an array that atomics with a result work on."""
        self.perform(state, actor, it)

    # ---- barriers in SMEM ----------------------------------------------------------------------------

    def barrier_key(self, actor, view, cta=None):
        starts, _ = self.find_starts(actor, view)
        return ("barrier", self.find_cta(actor, view) if cta is None else cta, view["object"], starts[0])

    def barrier(self, state, key):
        if key not in state.barriers:
            it = self.program.objects[key[2]]
            state.barriers[key] = FRESH if it["explicit"] else FRESH._replace(
                is_alive=True, count=it["arrivals"], pending=it["arrivals"])
        return state.barriers[key]

    def use(self, state, actor, key, line, bit, know=None, is_async=False, mode="a"):
        """The access of an operation to the barrier itself."""
        self.access(state, actor, (key, 1, key[1]), mode, line, bit, know=know, is_async=is_async)
        if mode == "a" and not self.barrier(state, key).is_alive:
            self.report("init", line, 0)

    def parity_of(self, state, actor, it):
        """(parity that a wait or test stands for, the phase it means or None)"""
        if it.name.startswith("mbarrier"):
            return self.value(actor, it.operands[1]) & 1, None
        count = actor.waits.get(self.barrier_key(actor, it.operands[0]), 0)
        return count & 1, count

    def is_phase_over(self, state, actor, it):
        key = self.barrier_key(actor, it.operands[0])
        phases = self.barrier(state, key).phases
        parity, count = self.parity_of(state, actor, it)
        if count is not None and phases > count + 1:
            self.report("overrun", it.line, 0)  # the hardware has one bit: it cannot tell these phases apart
        return phases & 1 != parity

    def arrive(self, state, actor, key, line, *, count=1, scope=4, releases=True, expects=0, drops=False):
        bit = self.event(state, actor, "arrive", key, count, expects, drops)
        self.use(state, actor, key, line, bit)
        self.learn(actor, bits(bit))
        know = actor.know
        entry = frozenset([(scope, actor.cta, know)]) if releases else frozenset()
        self.change(state, key, line, entry, know.time, bit, count, expects, drops)

    def change(self, state, key, line, entry, time, seen, count, bytes_, drops=False):
        """One operation on a barrier; it completes the phase if nothing is missing any more. A wait makes visible what
        was released during the phase that it observes (PTX ISA, mbarrier.test_wait), not in phases before it."""
        it = self.barrier(state, key)
        if count > it.pending:
            self.report("too-many", line, 0)
        it = it._replace(pending=max(it.pending - count, 0), bytes=it.bytes + bytes_,
                         count=it.count - (count if drops else 0), open_releases=it.open_releases | entry,
                         open_time=it.open_time | time, open_seen=it.open_seen | seen)
        if it.pending == 0 and it.bytes == 0 and it.is_alive:
            it = it._replace(phases=it.phases + 1, pending=it.count, releases=it.open_releases,
                             time=it.time | it.open_time, seen=it.seen | it.open_seen,
                             open_releases=frozenset(), open_time=0, open_seen=0)
        state.barriers[key] = it

    def acquire_phase(self, state, actor, it):
        key = self.barrier_key(actor, it.operands[0])
        bit = self.event(state, actor, "wait", actor.pc, state.barriers[key].phases)
        self.use(state, actor, key, it.line, bit)
        barrier = self.barrier(state, key)
        acquires = it.attrs.get("order") != "relaxed"
        me = (self.scope(it, 4), actor.cta)
        self.learn(actor, Know(0, barrier.time, barrier.seen))
        for scope, cta, know in barrier.releases:
            if acquires and order.is_strong_pair((scope, cta), me, self.program.cluster):
                self.learn(actor, know)
        self.learn(actor, bits(bit))
        if not it.name.startswith("mbarrier"):
            actor.waits[key] = actor.waits.get(key, 0) + 1

    def do_barrier_wait(self, state, actor, it):
        self.acquire_phase(state, actor, it)

    do_mbarrier_wait = do_barrier_wait

    def do_barrier_test(self, state, actor, it):
        result = self.is_phase_over(state, actor, it)
        if result:
            self.acquire_phase(state, actor, it)
        actor.env[it.results[0]] = result
        actor.trace = hash((actor.trace, result))

    do_mbarrier_test = do_barrier_test

    def do_barrier_arrive(self, state, actor, it, expects=0, drops=False):
        view = it.operands[0]
        key = self.barrier_key(actor, view)
        ctas = [key[1]]
        if "from_cta" in it.attrs:
            first, size = actor.cta - actor.cta % self.program.cluster, self.program.cluster
            ctas = [first + r for r in range(size) if r & it.attrs["from_cta"] == actor.cta - first]
        elif not view["cluster"]:
            ctas = self.program.arrival_ctas(view["object"], actor.cta)
        for cta in ctas:
            self.arrive(state, actor, (key[0], cta) + key[2:], it.line, count=it.attrs.get("count", 1),
                        scope=self.scope(it, 4), releases=it.attrs.get("order") != "relaxed", expects=expects,
                        drops=drops)

    do_mbarrier_arrive = do_barrier_arrive

    def do_mbarrier_arrive_drop(self, state, actor, it):
        self.do_barrier_arrive(state, actor, it, drops=True)

    def do_mbarrier_expect(self, state, actor, it):
        self.do_barrier_arrive(state, actor, it, expects=self.value(actor, it.operands[1]))

    def do_mbarrier_init(self, state, actor, it):
        key = self.barrier_key(actor, it.operands[0])
        count = self.value(actor, it.operands[1])
        if self.barrier(state, key).is_alive:
            self.report("init", it.line, 0)
        bit = self.event(state, actor, "init", key, count)
        self.use(state, actor, key, it.line, bit, mode="w")
        self.learn(actor, bits(bit))
        state.barriers[key] = FRESH._replace(is_alive=True, count=count, pending=count)

    def do_mbarrier_invalidate(self, state, actor, it):
        key = self.barrier_key(actor, it.operands[0])
        if not self.barrier(state, key).is_alive:
            self.report("init", it.line, 0)
        bit = self.event(state, actor, "invalidate", key)
        self.use(state, actor, key, it.line, bit, mode="w")
        self.learn(actor, bits(bit))
        state.barriers[key] = FRESH

    # ---- copies that tell a barrier ----------------------------------------------------------------------

    def do_copy_gmem_to_smem(self, state, actor, it):
        source, target, tells = it.operands
        key = self.barrier_key(actor, tells)
        size = self.count_bytes(target)
        if not self.program.objects[key[2]]["explicit"]:
            self.arrive(state, actor, key, it.line, expects=size)
        axes = it.attrs.get("collective_axes", it.attrs.get("multicast", 0))
        ctas = self.program.along(axes, actor.cta) if axes else [actor.cta]
        part = None
        if "collective_axes" in it.attrs:
            part, size = (ctas.index(actor.cta), len(ctas)), size // len(ctas)
        for cta in ctas:
            self.start_copy(state, actor, it, self.find_place(actor, source, part=part),
                            self.find_place(actor, target, cta, part), (key[0], cta) + key[2:], size, "async", "w")

    def start_copy(self, state, actor, it, source, target, key, size, proxy, mode):
        """One asynchronous copy into one CTA. Its end is told to the barrier there."""
        bit = self.event(state, actor, it.name, actor.pc, target, key)
        know = actor.know
        if source:
            self.access(state, actor, source, "r", it.line, bit << 1, proxy, is_async=True)
        self.access(state, actor, target, mode, it.line, bit << 2, proxy, scope=2, is_async=True)
        self.use(state, actor, key, it.line, bit << 2, know=know, is_async=True)
        self.learn(actor, bits(bit))
        state.pending |= {("bytes", key, size, join(only_time(know), bits(bit << 1 | bit << 2)), it.line)}

    def do_async_store_smem(self, state, actor, it):
        _, target, tells = it.operands
        where = self.find_place(actor, target)
        key = self.barrier_key(actor, tells, where[2])
        size = self.count_bytes(target)
        if not self.program.objects[key[2]]["explicit"]:
            self.arrive(state, actor, key, it.line, count=0, releases=False, expects=size)
        self.start_copy(state, actor, it, None, where, key, size, "generic", "a" if "reduce" in it.attrs else "w")

    def do_async_copy_arrive(self, state, actor, it):
        key = self.barrier_key(actor, it.operands[0])
        closed, opened = state.groups.get(("copy", actor.lane), ((), ()))
        over = sum({bit << 1 | bit << 2 for group in closed + (opened,) for bit in group})
        bit = self.event(state, actor, "async arrive", key, over)
        self.use(state, actor, key, it.line, bit << 2, is_async=True)
        self.learn(actor, bits(bit))
        past = only_time(actor.know) if it.attrs.get("order") == "relaxed" else actor.know
        state.pending |= {("arrive", key, 1, join(past, bits(over | bit << 2)), it.line)}

    def end_operation(self, state, item):
        """The end of an asynchronous operation. Its past is its own accesses, and nothing else (PTX ISA, Asynchronous
        Operations); async_copy_arrive without order(relaxed) is an arrive of its thread as well."""
        state.pending -= {item}
        kind, key, amount, over, line = item
        if key[1] in state.ended:
            return
        if not self.barrier(state, key).is_alive:
            self.report("init", line, 0)
        entry = frozenset([(4, key[1], over)])
        self.change(state, key, line, entry, over.time, over.observed, 1 if kind == "arrive" else 0,
                    -amount if kind == "bytes" else 0)

    def count_bytes(self, view):
        size = self.program.objects[view["object"]]["bytes"]
        for box in view["box"]:
            size *= box["extent"]
        return size

    # ---- meetings --------------------------------------------------------------------------------------

    def meeting(self, actor, it):
        if it.kind == "meet":
            return ("meet", actor.cta // self.program.cluster)
        if it.name.startswith("cluster"):
            return ("cluster", actor.cta // self.program.cluster)
        if it.name.startswith("named"):
            return ("named", actor.cta, self.operand_int(actor, it, 0), self.operand_int(actor, it, 1))
        return ("block", actor.cta)

    def operand_int(self, actor, it, index):
        return self.value(actor, it.operands[index])

    def count_missing(self, state, key, it):
        """How many have to come to a meeting."""
        if key[0] == "named":
            return key[3]
        ctas = [key[1]] if key[0] == "block" else range(key[1] * self.program.cluster,
                                                        (key[1] + 1) * self.program.cluster)
        if self.program.is_specialised:
            return len(ctas) * (self.program.threads if it and it.in_part else 1)
        threads = [state.actors[(cta, t, -1)] for cta in ctas for t in range(self.program.threads)]
        return sum(a.status != "ended" or key[0] == "block" for a in threads)

    def come(self, state, actor, it, relaxed=False):
        key = self.meeting(actor, it)
        meeting = state.meetings.get(key, EMPTY_MEETING)
        if actor.key in meeting.arrived or (key[0] == "cluster" and key in actor.round):
            self.report("overrun", it.line, 0)
        bit = self.event(state, actor, "come", key, len(meeting.rounds), relaxed)
        self.learn(actor, bits(bit))
        given = only_time(actor.know) if relaxed else actor.know
        actor.round[key] = len(meeting.rounds)
        state.meetings[key] = meeting._replace(arrived=meeting.arrived | {actor.key}, open=join(meeting.open, given))
        self.close_round(state, key, it)

    def close_round(self, state, key, it):
        meeting = state.meetings[key]
        if meeting.arrived and len(meeting.arrived) >= self.count_missing(state, key, it):
            state.meetings[key] = EMPTY_MEETING._replace(rounds=meeting.rounds + (meeting.open,))

    def is_round_over(self, state, actor, key):
        return key in actor.round and len(state.meetings[key].rounds) > actor.round[key]

    def go(self, state, actor, it, relaxed=False):
        key = self.meeting(actor, it)
        given = state.meetings[key].rounds[actor.round.pop(key)]
        bit = self.event(state, actor, "go", key, relaxed)
        self.learn(actor, only_time(given) if relaxed else given)
        self.learn(actor, bits(bit))

    def meet(self, state, actor, it):
        relaxed = it.attrs.get("order") == "relaxed"
        if actor.stage == 0:
            self.come(state, actor, it, relaxed)
            actor.stage = 1
        else:
            self.go(state, actor, it, relaxed)
            actor.stage = 0
            actor.pc += 1

    def do_cluster_arrive(self, state, actor, it):
        self.come(state, actor, it, it.attrs.get("order") == "relaxed")

    do_named_barrier_arrive = do_cluster_arrive

    def do_cluster_wait(self, state, actor, it):
        self.go(state, actor, it, it.attrs.get("order") == "relaxed")

    # ---- the end ---------------------------------------------------------------------------------------

    def end_actor(self, state, actor):
        actor.status = "ended"
        if actor.parent is not None:
            self.join_parent(state, state.actors[actor.parent])
            return
        key = ("cluster", actor.cta // self.program.cluster)
        if key in state.meetings:
            self.close_round(state, key, None)
        mine = [a for k, a in state.actors.items() if k[0] == actor.cta and k[2] == -1]
        if all(a.status == "ended" for a in mine):
            self.end_cta(state, actor.cta, mine)

    def end_cta(self, state, cta, threads):
        """The SMEM goes away: a write to all of it, behind the ends of all its threads."""
        know = NOTHING
        for thread in threads:
            know = join(know, thread.know)
        state.ended |= {cta}
        for old in state.accesses:
            if old.owner == cta:
                self.judge(state, old, Access(old.place, old.mask, "end", "generic", 4, cta, None, 0, know, False, 0,
                                              cta, None))

    # ---- semaphores and atomics ------------------------------------------------------------------------

    def semaphore(self, actor, it):
        view = it.operands[0]
        starts, _ = self.find_starts(actor, view)
        owner = -1 if self.program.objects[view["object"]]["global"] else actor.cta
        return ("semaphore", owner, view["object"], starts[0])

    def follow(self, cell, me):
        """The chain of observation, as far as it reaches an operation: each link has to be morally strong."""
        if cell.last and not order.is_strong_pair(cell.last, me, self.program.cluster):
            return cell._replace(chain=frozenset(), seen=0)
        return cell

    def acquire(self, actor, cell, me, acquires):
        self.learn(actor, Know(0, cell.time, cell.seen))
        for scope, cta, know in cell.chain:
            if acquires and order.is_strong_pair((scope, cta), me, self.program.cluster):
                self.learn(actor, know)

    def release(self, actor, cell, me, bit, releases):
        chain = cell.chain | ({me + (actor.know,)} if releases else set())
        return cell._replace(chain=merge(chain), last=me, time=cell.time | actor.know.time, seen=cell.seen | bit)

    def do_semaphore_signal(self, state, actor, it):
        key, me = self.semaphore(actor, it), (self.scope(it, 4), actor.cta)
        cell = self.follow(state.cells.get(key, EMPTY_CELL), me)
        units = self.operand_int(actor, it, 1)
        bit = self.event(state, actor, "signal", key, units)
        self.learn(actor, bits(bit))
        cell = self.release(actor, cell, me, bit, it.attrs.get("order") != "relaxed")
        state.cells[key] = cell._replace(value=cell.value + units, total=cell.total + units)

    def do_semaphore_wait(self, state, actor, it):
        key, me = self.semaphore(actor, it), (self.scope(it, 4), actor.cta)
        cell = self.follow(state.cells.get(key, EMPTY_CELL), me)
        bit = self.event(state, actor, "take", key, cell.value)
        self.acquire(actor, cell, me, it.attrs.get("order") != "relaxed")
        self.learn(actor, bits(bit))
        if "no_decrement" not in it.attrs:
            cell = self.release(actor, cell, me, bit, False)
            state.cells[key] = cell._replace(value=cell.value - self.operand_int(actor, it, 1))

    def do_semaphore_read(self, state, actor, it):
        actor.env[it.results[0]] = state.cells.get(self.semaphore(actor, it), EMPTY_CELL).value
        actor.trace = hash((actor.trace, actor.env[it.results[0]]))

    def cell(self, actor, it):
        place, mask, _ = self.find_place(actor, it.operands[0])
        return ("cell", place, mask)

    def update(self, it, old, value):
        if it.name == "atomic_exchange":
            return value
        if None in (old, value):
            return None
        return ARITHMETIC[UPDATES[it.name]](old, value)

    def do_atomic_fetch_add(self, state, actor, it):
        key = self.cell(actor, it)
        where = self.find_place(actor, it.operands[0])
        me = (self.scope(it, 3), actor.cta)
        cell = self.follow(state.cells.get(key, EMPTY_CELL), me)
        values = [self.value(actor, o) for o in it.operands[1:]]
        word = it.attrs.get("order", "relaxed")
        writes = it.name != "atomic_cas" or cell.value == values[0]
        bit = self.event(state, actor, it.name, key, cell.value, writes)
        self.access(state, actor, where, "a", it.line, bit, scope=me[0])
        self.acquire(actor, cell, me, word in ("acquire", "acq_rel"))
        self.learn(actor, bits(bit))
        if it.results:
            actor.env[it.results[0]] = cell.value
        if writes:
            new = values[-1] if it.name == "atomic_cas" else self.update(it, cell.value, values[0])
            state.cells[key] = self.release(actor, cell, me, bit, word in ("release", "acq_rel"))._replace(value=new)

    do_atomic_exchange = do_atomic_cas = do_atomic_fetch_add

    def touch_cells(self, state, actor, it, where, mode, bit):
        """A plain access, or an atomic of many elements, of an array that atomics with a result work on."""
        for key in [k for k in state.cells if k[0] == "cell" and k[1] == where[0] and k[2] & where[1]]:
            cell = state.cells[key]
            if mode == "a":
                me = (self.scope(it, 3), actor.cta)
                cell = self.release(actor, self.follow(cell, me), me, bit, False)
                state.cells[key] = cell._replace(value=self.update(it, cell.value, self.value(actor, it.operands[1])))
            elif mode == "w":
                state.cells[key] = EMPTY_CELL._replace(value=self.value(actor, it.operands[1]))
            elif it.results and key[2] == where[1]:
                actor.env[it.results[0]] = cell.value


def merge(entries):
    """One entry for each scope and CTA."""
    known = {}
    for scope, cta, know in entries:
        known[(scope, cta)] = join(known.get((scope, cta), NOTHING), know)
    return frozenset((scope, cta, know) for (scope, cta), know in known.items())


def take_part(starts, extents, part):
    """The part of a box that one of several CTAs brings: a slice along the first dimension that divides."""
    number, count = part
    for dim, extent in enumerate(extents):
        if extent % count == 0:
            size = extent // count
            return (starts[:dim] + (starts[dim] + number * size,) + starts[dim + 1:],
                    extents[:dim] + (size,) + extents[dim + 1:])
    raise NotExpressed("a collective copy whose box does not divide")
