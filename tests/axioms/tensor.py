"""Tensor memory, and the order of its own that tcgen05 asks for (PTX ISA, tcgen05: Memory Consistency Model).

Operations on tensor memory are asynchronous, all of them. That one of them is over is a fact that its actor knows by
its own wait (tcgen05.wait), or by a commit; some pairs of one warp need no such fact. Another actor knows it where a
path of events leads there through two fences: tcgen05.fence::before_thread_sync by an actor that knows it, and
tcgen05.fence::after_thread_sync by the other one. Which operations have these fences is said in docs/blackwell.md:

  before   arrivals at barriers that order the tensor core; the arrival of a commit, for what it tracks and what its
           actor knew; a block barrier, a fork, the end of what was forked
  after    waits for such barriers; a block barrier, the begin of what was forked, a join

The path between the two may be any that leads on in time. What was written in tensor memory has to be seen besides: of
the edges between CTAs the path has only those whose scopes hold both. SMEM is no matter of this order: an MMA reads it
by the async proxy, and is over for it when an edge in time says so.

SPDX-License-Identifier: Apache-2.0
"""
from actor_ops import ActorOps
from order import bits

# What an access of tensor memory is to the pairs that are in order: (role, whose, instruction, sums). For a warp that
# issues to the tensor core: what an MMA adds to, what it reads beside it, what a copy writes; for a thread its loads
# and stores.
SUMS, OPERAND, COPY, MOVE = "sums", "operand", "copy", "move"


def is_pipelined(x, y):
    """Whether both are of one warp, and in the order of their issue (PTX ISA 9.4, Pipelined tcgen05 Instructions): sums
    of one shape at one place; an operand and what overwrites it; a copy and the operand that it brings; loads and
    stores."""
    if x.shape is None or y.shape is None or x.shape[1] != y.shape[1] or x.shape[2] == y.shape[2]:
        return False
    roles = x.shape[0], y.shape[0]
    return (roles in ((OPERAND, SUMS), (OPERAND, COPY), (COPY, OPERAND), (MOVE, MOVE))
            or roles == (SUMS, SUMS) and x.shape[3:] == y.shape[3:])


def follows(x, y):
    """Whether the issuer of y knows that x is over, or need not."""
    return bool((y.tensor if x.mode == "r" else y.seen) & x.bit) or is_pipelined(x, y)


def looks(y):
    """Whether an access looks at what is there: an MMA may add to it."""
    return y.mode == "r" or y.shape[0] == SUMS


def shows(z, y):
    """Whether a read that is over for y shows it what it has read, as far as y looks at that."""
    return bool((y.seen if looks(y) else y.tensor) & z.bit)


def is_behind(x, z, y):
    """Whether y comes after z, and with it after x. A z that reads has to show what x has written, as far as y looks at
    that."""
    return follows(z, y) and (x.mode == "r" or z.mode == "w" or is_pipelined(z, y) or shows(z, y))


def list_followers(x, mask, accesses):
    """Those after x that follow it in the pipeline, on all of these columns."""
    return [z for z in accesses[accesses.index(x) + 1:]
            if is_pipelined(x, z) and z.place == x.place and mask & ~z.mask == 0]


def was_right(z, mask, accesses):
    """Whether z, if it is a read, came after all that had been written in these columns. Else nobody knows what it has
    read, and that it is over says nothing of a write."""
    before = accesses[:accesses.index(z)]
    return z.mode == "w" or all(
        is_tensor_ordered(w, z, before) or is_vouched(w, z, before)
        for w in before if w.mode == "w" and w.place == z.place and w.mask & mask)


def is_vouched(x, y, accesses):
    """Whether a load, or an operand, that follows x is over before y, which writes over it."""
    shared = x.mask & y.mask
    return y.mode == "w" and any(z.mode == "r" and z.place == x.place and shared & ~z.mask == 0 and follows(x, z) and
                                 shows(z, y) and was_right(z, shared, accesses)
                                 for z in accesses[accesses.index(x) + 1:])


def is_tensor_ordered(x, y, accesses):
    """x before y: at once, or after one that follows x in the pipeline, on all columns that the two share."""
    shared = x.mask & y.mask
    return follows(x, y) or any(is_behind(x, z, y) and was_right(z, shared, accesses)
                                for z in list_followers(x, shared, accesses))


class TensorOps(ActorOps):
    """What tcgen05 does, but for the commit, which is a step that others can tell."""

    # ---- the two fences --------------------------------------------------------------------------

    def seal(self, state, actor, bit=0, covers=0):
        """A fence before: at an event that there is, or at a new one."""
        seen = covers | actor.tensor_seen
        covers |= actor.tensor
        if covers == 0:
            return
        if bit == 0:
            bit = self.event(state, actor, "seal")
            self.learn(actor, bits(bit))
        state.seals += ((bit, covers, seen),)

    def admit(self, state, actor):
        """A fence after."""
        for bit, covers, seen in state.seals:
            actor.tensor |= covers if actor.know.time & bit else 0
            actor.tensor_seen |= seen if actor.know.here & bit else 0

    # ---- operations --------------------------------------------------------------------------------

    def list_operations(self, state, key):
        """The bits of those issued so far: MMAs by a lane, loads or stores by a thread."""
        return state.groups.get(key, ((), ()))[0]

    def add_operation(self, state, key, bit):
        state.groups[key] = (self.list_operations(state, key) + (bit,), ())

    def tensor_tcgen05_mma(self, state, actor, it, tables=0):
        acc = it.operands[0]
        if not self.leads(actor, it):
            return
        ctas = self.find_ctas(actor, it)
        bit = self.event(state, actor, it.name, actor.pc,
                         tuple(self.find_place(actor, view) for view in it.operands[:3 + tables]))
        for cta in ctas:
            places = [self.find_place(actor, view, cta) for view in it.operands[:3 + tables]]
            for place in places[1:]:
                is_tensor = place[0][0] == "tmem"
                self.access(state, actor, place, "r", it.line, bit << 1, "tensor" if is_tensor else "async",
                            is_async=True, shape=(OPERAND, actor.lane, bit) if is_tensor else None)
            rows, columns = [box["extent"] for box in acc["box"]][-2:]
            shape = (SUMS, actor.lane, bit, places[0], rows, columns)
            self.access(state, actor, places[0], "w", it.line, bit << 2, "tensor", is_async=True, shape=shape)
        self.learn(actor, bits(bit))
        self.add_operation(state, ("mma", actor.lane), bit)

    def find_ctas(self, actor, it):
        """In whose memory an operation works."""
        return self.program.pair(actor.cta) if "collective_axis" in it.attrs else [actor.cta]

    def leads(self, actor, it):
        """Whether an operation for a pair is issued by the CTA that leads; the other one's is a mistake, and
        nothing."""
        is_right = "collective_axis" not in it.attrs or self.program.pair(actor.cta)[0] == actor.cta
        if not is_right:
            self.report("leader", it.line, 0)
        return is_right

    def tensor_tcgen05_mma_scaled(self, state, actor, it):
        self.tensor_tcgen05_mma(state, actor, it, tables=2)

    def tensor_tcgen05_mma_sp(self, state, actor, it):
        self.tensor_tcgen05_mma(state, actor, it, tables=1)

    def tensor_tcgen05_mma_sp_scaled(self, state, actor, it):
        self.tensor_tcgen05_mma(state, actor, it, tables=3)

    def tensor_async_copy_smem_to_tmem(self, state, actor, it):
        """From SMEM by the async proxy, and over as an MMA is (PTX ISA, tcgen05.cp). For a pair each CTA's from its own
        SMEM to its own tensor memory."""
        if not self.leads(actor, it):
            return
        bit = self.event(state, actor, it.name, actor.pc,
                         tuple(self.find_place(actor, view) for view in it.operands[:2]))
        for cta in self.find_ctas(actor, it):
            source, target = [self.find_place(actor, view, cta) for view in it.operands[:2]]
            self.access(state, actor, source, "r", it.line, bit << 1, "async", is_async=True)
            self.access(state, actor, target, "w", it.line, bit << 2, "tensor", is_async=True,
                        shape=(COPY, actor.lane, bit))
        self.learn(actor, bits(bit))
        self.add_operation(state, ("mma", actor.lane), bit)

    tensor_async_copy_scales_to_tmem = tensor_async_copy_smem_to_tmem
    tensor_async_copy_sparse_metadata_to_tmem = tensor_async_copy_smem_to_tmem

    def start_of_thread(self, state, actor, it, mode):
        where = self.find_place(actor, it.operands[0])
        bit = self.event(state, actor, it.name, actor.pc, where)
        self.access(state, actor, where, mode, it.line, bit << 2, "tensor", is_async=True,
                    shape=(MOVE, actor.key[:2], bit))
        self.learn(actor, bits(bit))
        self.add_operation(state, (mode, actor.key[:2]), bit)
        actor.env.update((r, None) for r in it.results)

    def tensor_async_load_tmem(self, state, actor, it):
        self.start_of_thread(state, actor, it, "r")

    def tensor_async_store_tmem(self, state, actor, it):
        self.start_of_thread(state, actor, it, "w")

    def tensor_wait_load_tmem(self, state, actor, it, mode="r"):
        """For all loads by this thread so far. The wait is an event, so that a state knows whether it was reached."""
        self.learn(actor, bits(self.event(state, actor, it.name, actor.pc)))
        for bit in self.list_operations(state, (mode, actor.key[:2])):
            actor.tensor |= bit << 2
            actor.tensor_seen |= bit << 2

    def tensor_commit_tmem(self, state, actor, it):
        self.tensor_wait_load_tmem(state, actor, it, "w")

    def is_followed(self, old, over, accesses):
        return any(over & z.bit for z in list_followers(old, old.mask, accesses))

    def judge_tensor(self, state, old, new):
        if not is_tensor_ordered(old, new, state.accesses) and not is_vouched(old, new, state.accesses):
            self.report("tensor", old.line, new.line)
