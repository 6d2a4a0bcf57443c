"""All executions of a small kernel: which phase each wait observes, whose units it takes, what each atomic reads.

The search takes one step of one actor, or lets one asynchronous operation end, in every order that makes a difference:
two moments in which each actor has done the same, and each object has seen the same, are one. Accesses of memory are no
steps of the search: no result depends on them in a kernel without races.

SPDX-License-Identifier: Apache-2.0
"""
from order import NOTHING, Know, join
from program import NotExpressed
from state import EMPTY_CELL, Actor, State
from sync_ops import SyncOps

STATES_MAX = 60000
MEETINGS = {"block_barrier", "named_barrier_sync", "cluster_barrier"}
STEPS = MEETINGS | {
    "barrier_arrive", "barrier_wait", "barrier_test", "mbarrier_init", "mbarrier_invalidate", "mbarrier_arrive",
    "mbarrier_arrive_drop", "mbarrier_expect", "mbarrier_expect_drop", "mbarrier_wait", "mbarrier_test",
    "copy_gmem_to_smem",
    "copy_gmem_to_smem_im2col", "tma_gather", "try_cluster_cancel", "async_store_smem",
    "named_barrier_arrive", "cluster_arrive", "cluster_wait", "semaphore_signal",
    "semaphore_wait", "semaphore_read", "atomic_fetch_add", "atomic_exchange", "atomic_cas", "async_copy_arrive",
    "tcgen05_commit_arrive"}
SPINS = {"barrier_test", "mbarrier_test", "semaphore_read", "atomic_fetch_add", "atomic_exchange", "atomic_cas"}


class Machine(SyncOps):
    """The search through the executions of a program."""

    # ---- the search ------------------------------------------------------------------------------

    def run(self):
        self.done, self.learnt = set(), NOTHING  # in any execution: accesses, and what actors knew at their ends
        self.over = 0  # what they knew by the ends of grids
        self.released = None  # in every execution, to the next grid
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
        state.accesses = self.past.accesses
        know = self.hear_of_grids(state, self.past.known) if self.past.known else NOTHING
        know = join(know, self.past.released._replace(here=0))
        threads = 1 if self.program.is_specialised else self.program.threads
        for cta in range(self.program.ctas):
            for thread in range(threads):
                state.actors[(cta, thread, -1)] = Actor((cta, thread, -1), 0, {}, know)
        return state

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
        if it.name == "griddepcontrol_launch_dependents":
            return self.program.releases
        return it.name in STEPS or any(self.is_fetched(o) for o in it.operands)

    def is_fetched(self, operand):
        return isinstance(operand, dict) and operand.get("object") in self.program.fetched

    def find_steps(self, state):
        steps = []
        for key, actor in state.actors.items():
            if actor.status == "runs" and self.is_enabled(state, actor):
                steps.append(lambda other, key=key: self.step(other, other.actors[key]))
        for item in state.pending:
            steps.append(lambda other, item=item: self.end_operation(other, item))
        return steps

    def finish(self, state):
        stuck = [a for a in state.actors.values() if a.status == "runs"]
        for actor in stuck:
            self.report("deadlock", self.program.code[actor.pc].line, 0)
        if not stuck:
            self.find_leftovers(state)
        self.done.update(state.accesses[len(self.past.accesses):])
        for actor in state.actors.values():
            self.learnt = join(self.learnt, actor.know)
            for fence in state.fences:
                if fence.thread == ("grids",) and actor.know.time & fence.bit:
                    self.over |= fence.know.causality
        released = NOTHING
        for _, know in state.triggers.values():
            released = join(released, know)
        self.released = Know(*map(int.__and__, self.released or released, released))

    def find_leftovers(self, state):
        for key, cell in state.cells.items():
            if key[0] == "semaphore" and cell.value != 0:
                self.report("leftover", 0, 0)
        for key, it in state.barriers.items():
            if self.program.objects[key[2]]["explicit"]:
                continue
            waits = [w for a in state.actors.values() for k, w in a.waits.items() if k == key]
            # An mbarrier of the CTA ends with it, whatever its phase; that of a scope is handed on.
            is_missed = any(w < it.phases for w in waits) if key[2] in self.program.scoped else (
                it.phases > 0 and key[2] not in self.program.awaited)
            if it.pending != it.count or is_missed:
                self.report("leftover", 0, 0)
        if any(m.arrived for k, m in state.meetings.items()) or any(
                "cluster" in str(k) for a in state.actors.values() for k in a.round):
            self.report("leftover", 0, 0)

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
        if self.lacks_own_fence(state, actor, it):
            self.fence(state, actor, it)
        getattr(self, "do_" + it.name, self.do_fetched)(state, actor, it)
        actor.pc += 1

    def do_fetched(self, state, actor, it):
        """Another access of an array that atomics with a result work on."""
        self.perform(state, actor, it)
