"""What others can tell: barriers and the copies that arrive at them, meetings, the end of a CTA, semaphores, atomics.

SPDX-License-Identifier: Apache-2.0
"""
import order
from actor_ops import ROWS, UPDATES
from order import NOTHING, Access, Know, bits, join, only_time
from program import ARITHMETIC
from state import EMPTY_CELL, EMPTY_MEETING, FRESH
from tensor import TensorOps


class SyncOps(TensorOps):
    """The synchronising operations, each as one step. Their methods have the name of the operation after 'do_'."""

    # ---- barriers in SMEM ----------------------------------------------------------------------------

    def barrier_key(self, actor, view, cta=None):
        starts, _ = self.find_starts(actor, view)
        cta = self.find_cta(actor, view) if cta is None else cta
        return ("barrier", self.find_keeper(view["object"], cta), view["object"], starts)

    def is_of_pair(self, object_id):
        return self.program.objects[object_id]["led"] and self.program.objects[object_id]["explicit"]

    def find_keeper(self, object_id, cta):
        """The CTA whose mbarrier it is: that of a pair is the leader's."""
        return self.program.pair(cta)[0] if self.is_of_pair(object_id) else cta

    def is_left_out(self, actor, view):
        """Whether an operation on the mbarrier of a pair is the leader's alone, and this is the other CTA."""
        return self.find_keeper(view["object"], actor.cta) != actor.cta

    def barrier(self, state, key):
        if key not in state.barriers:
            it = self.program.objects[key[2]]
            state.barriers[key] = FRESH if it["explicit"] else FRESH._replace(
                is_alive=True, count=it["arrivals"], pending=it["arrivals"])
        return state.barriers[key]

    def use(self, state, actor, key, line, bit, know=None, is_async=False, mode="a", proxy="generic", shape=None):
        """The access of an operation to the barrier itself."""
        self.access(state, actor, (key, 1, key[1]), mode, line, bit, proxy, know=know, is_async=is_async, shape=shape)
        if mode == "a" and not self.barrier(state, key).is_alive:
            self.report("init", line, 0)

    def parity_of(self, state, actor, it):
        """(parity that a wait or test names, the phase it means or None)"""
        if it.name.startswith("mbarrier"):
            return self.value(actor, it.operands[1]) & 1, None
        count = actor.waits.get(self.barrier_key(actor, it.operands[0]), 0)
        return count & 1, count

    def is_phase_over(self, state, actor, it):
        if self.is_left_out(actor, it.operands[0]):
            return True
        key = self.barrier_key(actor, it.operands[0])
        phases = self.barrier(state, key).phases
        parity, count = self.parity_of(state, actor, it)
        if count is not None and phases > count + 1:
            self.report("overrun", it.line, 0)  # the hardware has one bit: it cannot tell these phases apart
        return phases & 1 != parity

    def orders_tensor_core(self, key):
        it = self.program.objects[key[2]]
        return it["explicit"] or it["orders"]

    def arrive(self, state, actor, key, line, *, count=1, scope=4, releases=True, expects=0, drops=False):
        bit = self.event(state, actor, "arrive", key, count, expects, drops)
        if self.orders_tensor_core(key):
            self.seal(state, actor, bit)
        self.use(state, actor, key, line, bit)
        self.learn(actor, bits(bit))
        know = actor.know
        entry = frozenset([(scope, actor.cta, know)]) if releases else frozenset()
        weak = only_time(know, actor.cta == key[1])
        self.change(state, key, line, entry, weak._replace(observed=bit), count, expects, drops)

    def change(self, state, key, line, entry, weak, count, bytes_, drops=False):
        """One operation on a barrier; it completes the phase if nothing is missing any more. A wait makes visible what
        was released during the phase that it observes (PTX ISA, mbarrier.test_wait), not in phases before it."""
        it = self.barrier(state, key)
        if count > it.pending:
            self.report("too-many", line, 0)
        it = it._replace(pending=max(it.pending - count, 0), bytes=it.bytes + bytes_,
                         count=it.count - (count if drops else 0), open_releases=it.open_releases | entry,
                         open_time=it.open_time | weak.time, open_seen=it.open_seen | weak.observed,
                         open_here=it.open_here | weak.here)
        if it.pending == 0 and it.bytes == 0 and it.is_alive:
            it = it._replace(phases=it.phases + 1, pending=it.count, releases=it.open_releases,
                             time=it.time | it.open_time, seen=it.seen | it.open_seen,
                             here=it.here | it.open_here, open_releases=frozenset(), open_time=0, open_seen=0,
                             open_here=0)
        state.barriers[key] = it

    def acquire_phase(self, state, actor, it):
        key = self.barrier_key(actor, it.operands[0])
        bit = self.event(state, actor, "wait", actor.pc, state.barriers[key].phases)
        self.use(state, actor, key, it.line, bit)
        barrier = self.barrier(state, key)
        acquires = it.attrs.get("order") != "relaxed"
        me = (self.scope(it, 4), actor.cta)
        self.learn(actor, Know(0, barrier.time, barrier.seen, barrier.here))
        for scope, cta, know in barrier.releases:
            if acquires and order.is_strong_pair((scope, cta), me, self.program.cluster):
                self.learn(actor, know)
        self.learn(actor, bits(bit))
        if self.orders_tensor_core(key):
            self.admit(state, actor)
        if not it.name.startswith("mbarrier"):
            actor.waits[key] = actor.waits.get(key, 0) + 1

    def do_barrier_wait(self, state, actor, it):
        if not self.is_left_out(actor, it.operands[0]):
            self.acquire_phase(state, actor, it)

    do_mbarrier_wait = do_barrier_wait

    def do_barrier_test(self, state, actor, it):
        result = self.is_phase_over(state, actor, it)
        if result and not self.is_left_out(actor, it.operands[0]):
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
            ctas = self.program.arrival_ctas(view["object"], key[1])
        if self.is_of_pair(view["object"]):  # the leader says for both how many bytes come
            expects *= 0 if self.is_left_out(actor, view) else 2
        for cta in ctas:
            self.arrive(state, actor, (key[0], cta) + key[2:], it.line, count=it.attrs.get("count", 1),
                        scope=self.scope(it, 4), releases=it.attrs.get("order") != "relaxed", expects=expects,
                        drops=drops)

    do_mbarrier_arrive = do_barrier_arrive

    def do_mbarrier_arrive_drop(self, state, actor, it):
        self.do_barrier_arrive(state, actor, it, drops=True)

    def do_mbarrier_expect(self, state, actor, it):
        self.do_barrier_arrive(state, actor, it, expects=self.value(actor, it.operands[1]))

    def do_mbarrier_expect_drop(self, state, actor, it):
        self.do_barrier_arrive(state, actor, it, expects=self.value(actor, it.operands[1]), drops=True)

    def do_mbarrier_init(self, state, actor, it):
        key = self.barrier_key(actor, it.operands[0])
        if self.is_left_out(actor, it.operands[0]):
            return
        count = self.value(actor, it.operands[1]) * (2 if self.program.objects[key[2]]["led"] else 1)
        if self.barrier(state, key).is_alive:
            self.report("init", it.line, 0)
        bit = self.event(state, actor, "init", key, count)
        self.use(state, actor, key, it.line, bit, mode="w")
        self.learn(actor, bits(bit))
        state.barriers[key] = FRESH._replace(is_alive=True, count=count, pending=count)

    def do_mbarrier_invalidate(self, state, actor, it):
        key = self.barrier_key(actor, it.operands[0])
        if self.is_left_out(actor, it.operands[0]):
            return
        if not self.barrier(state, key).is_alive:
            self.report("init", it.line, 0)
        bit = self.event(state, actor, "invalidate", key)
        self.use(state, actor, key, it.line, bit, mode="w")
        self.learn(actor, bits(bit))
        state.barriers[key] = FRESH

    # ---- copies that tell a barrier ----------------------------------------------------------------------

    def do_copy_gmem_to_smem(self, state, actor, it):
        source, target, tells = it.operands[:3]
        key = self.barrier_key(actor, tells)
        size = self.count_bytes(target)
        axes = it.attrs.get("collective_axes", it.attrs.get("multicast", 0))
        ctas = self.program.along(axes, actor.cta) if axes else [actor.cta]
        is_led = "leader_tracked" in it.attrs  # the barrier of the leader counts the bytes of both CTAs of a pair
        if not self.program.objects[key[2]]["explicit"] and not (is_led and actor.cta != ctas[0]):
            self.arrive(state, actor, key, it.line, expects=size * (len(ctas) if is_led else 1))
        part = taken = None
        if "partitioned" in it.attrs:  # each keeps the part that it loads
            dims = [i for i, box in enumerate(source["box"]) if not box["squeezed"]]
            part, ctas = (ctas.index(actor.cta), len(ctas), dims[it.attrs["partitioned"]]), [actor.cta]
        elif "collective_axes" in it.attrs:
            part = taken = (ctas.index(actor.cta), len(ctas))
            size //= len(ctas)
        for cta in ctas:
            keeper = self.program.pair(cta)[0] if is_led else self.find_keeper(key[2], cta)
            self.start_copy(state, actor, it, self.find_rows(actor, it) if it.name in ROWS else
                            self.find_place(actor, source, part=part),
                            self.find_place(actor, target, cta, taken), (key[0], keeper) + key[2:], size, "async", "w")

    do_tma_gather = do_copy_gmem_to_smem
    # of an array that nobody writes
    do_copy_gmem_to_smem_im2col = do_copy_gmem_to_smem

    def start_copy(self, state, actor, it, source, target, key, size, proxy, mode):
        """One asynchronous copy into one CTA. Its end is reported to the barrier there."""
        bit = self.event(state, actor, it.name, actor.pc, target, key)
        know = actor.know
        self.read_maps(state, actor, it, bit << 1)
        if source:
            self.access(state, actor, source, "r", it.line, bit << 1, proxy, is_async=True)
        self.access(state, actor, target, mode, it.line, bit << 2, proxy, scope=2, is_async=True)
        self.use(state, actor, key, it.line, bit << 2, know=know, is_async=True)
        self.learn(actor, bits(bit))
        weak = only_time(know, actor.cta == key[1])
        state.pending |= {("bytes", key, size, join(weak, bits(bit << 1 | bit << 2)), it.line)}

    def do_try_cluster_cancel(self, state, actor, it):
        """16 bytes by the async proxy to each CTA that gets the answer (PTX ISA, clusterlaunchcontrol.try_cancel).
        Where all CTAs issue it, each expects the bytes on its own barrier, and the first one asks."""
        target, tells = it.operands
        key = self.barrier_key(actor, tells)
        size = self.count_bytes(target)
        if not self.program.objects[key[2]]["explicit"]:
            self.arrive(state, actor, key, it.line, expects=size)
        axes = it.attrs.get("collective_axes", it.attrs.get("multicast", 0))
        ctas = self.program.along(axes, actor.cta) if axes else [actor.cta]
        for cta in [] if "collective_axes" in it.attrs and actor.cta != ctas[0] else ctas:
            self.start_copy(state, actor, it, None, self.find_place(actor, target, cta), (key[0], cta) + key[2:], size,
                            "async", "w")

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
        past = only_time(actor.know, actor.cta == key[1]) if it.attrs.get("order") == "relaxed" else actor.know
        state.pending |= {("arrive", key, 1, join(past, bits(over | bit << 2)), it.line)}

    def do_tcgen05_commit_arrive(self, state, actor, it):
        """An arrival when the MMAs of the lane so far are over, with a fence before it, and with nothing else that its
        actor did (PTX ISA, tcgen05.commit)."""
        view = it.operands[0]
        if not self.leads(actor, it):
            return
        axes = it.attrs.get("collective_axis", it.attrs.get("multicast", 0))
        ctas = self.program.along(axes, actor.cta) if axes else [self.find_cta(actor, view)]
        issued = sum(self.list_operations(state, ("mma", actor.lane)))
        over = issued << 1 | issued << 2
        number = ("commit", actor.lane, len(self.list_operations(state, ("commit", actor.lane))))
        for cta in ctas:
            key = self.barrier_key(actor, view, cta)
            bit = self.event(state, actor, "commit", key, over)
            self.use(state, actor, key, it.line, bit << 2, is_async=True, proxy="tensor", shape=number)
            self.seal(state, actor, bit << 2, over)
            know = join(only_time(actor.know, actor.cta == cta), bits(over | bit << 2))
            state.pending |= {("arrive", key, 1, know, it.line)}
            self.learn(actor, bits(bit))
        self.add_operation(state, ("commit", actor.lane), bit)

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
        self.change(state, key, line, entry, over, 1 if kind == "arrive" else 0, -amount if kind == "bytes" else 0)

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
            count = self.operand_int(actor, it, 1)
            return ("named", actor.cta, self.operand_int(actor, it, 0),
                    count // 32 if "lanes" in it.attrs else 4 * count)
        return ("block", actor.cta)

    def operand_int(self, actor, it, index):
        return self.value(actor, it.operands[index])

    def count_missing(self, state, key, it):
        """How many have to come to a meeting; warps to a named barrier."""
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
        if key[0] == "block":
            self.seal(state, actor, bit)
        given = only_time(actor.know, False) if relaxed else actor.know
        actor.round[key] = len(meeting.rounds)
        state.meetings[key] = meeting._replace(arrived=meeting.arrived | {actor.key}, open=join(meeting.open, given),
                                               here=add_here(meeting.here, actor))
        self.close_round(state, key, it)

    def close_round(self, state, key, it):
        meeting = state.meetings[key]
        come = len(meeting.arrived)
        if key[0] == "named":
            come = sum(1 if warp >= 0 else 4 for _, _, warp in meeting.arrived)
        if meeting.arrived and come >= self.count_missing(state, key, it):
            state.meetings[key] = EMPTY_MEETING._replace(rounds=meeting.rounds + ((meeting.open, meeting.here),))

    def is_round_over(self, state, actor, key):
        return key in actor.round and len(state.meetings[key].rounds) > actor.round[key]

    def go(self, state, actor, it, relaxed=False):
        key = self.meeting(actor, it)
        given, here = state.meetings[key].rounds[actor.round.pop(key)]
        bit = self.event(state, actor, "go", key, relaxed)
        self.learn(actor, only_time(given, False) if relaxed else given)
        self.learn(actor, NOTHING._replace(here=get_here(here, actor)))
        self.learn(actor, bits(bit))
        if key[0] == "block":
            self.admit(state, actor)

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
            self.seal(state, actor)
            self.join_parent(state, state.actors[actor.parent])
            return
        key = ("cluster", actor.cta // self.program.cluster)
        if key in state.meetings:
            self.close_round(state, key, None)
        mine = [a for k, a in state.actors.items() if k[0] == actor.cta and k[2] == -1]
        if all(a.status == "ended" for a in mine):
            self.end_cta(state, actor.cta, mine)

    def end_cta(self, state, cta, threads):
        """The SMEM goes away: a write to all of it, after the ends of all its threads."""
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
        return ("semaphore", owner, view["object"], starts)

    def follow(self, cell, me):
        """The chain of observation, as far as it reaches an operation: each link has to be morally strong."""
        if cell.last and not order.is_strong_pair(cell.last, me, self.program.cluster):
            return cell._replace(chain=frozenset(), seen=0)
        return cell

    def acquire(self, actor, cell, me, acquires):
        self.learn(actor, Know(0, cell.time, cell.seen, get_here(cell.here, actor)))
        for scope, cta, know in cell.chain:
            if acquires and order.is_strong_pair((scope, cta), me, self.program.cluster):
                self.learn(actor, know)

    def release(self, actor, cell, me, bit, releases):
        chain = cell.chain | ({me + (actor.know,)} if releases else set())
        return cell._replace(chain=merge(chain), last=me, time=cell.time | actor.know.time, seen=cell.seen | bit,
                             here=add_here(cell.here, actor))

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


def get_here(entries, actor):
    """What the operations of the actor's own CTA hand on."""
    return dict(entries).get(actor.cta, 0)


def add_here(entries, actor):
    return frozenset({**dict(entries), actor.cta: get_here(entries, actor) | actor.know.here}.items())


def merge(entries):
    """One entry for each scope and CTA."""
    known = {}
    for scope, cta, know in entries:
        known[(scope, cta)] = join(known.get((scope, cta), NOTHING), know)
    return frozenset((scope, cta, know) for (scope, cta), know in known.items())
