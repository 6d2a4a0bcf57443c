"""Tensor memory, and the order of its own that tcgen05 asks for (PTX ISA, tcgen05: Memory Consistency Model).

Operations on tensor memory are asynchronous, all of them. That one of them has been issued, or is over, is a fact that
its actor knows: over by the actor's own wait (tcgen05.wait), or by a commit. Another actor knows it where a path of
events leads there through two fences: tcgen05.fence::before_thread_sync by an actor that knows it, and
tcgen05.fence::after_thread_sync by the other one. Which operations have these fences is said in docs/blackwell.md:

  before   arrivals at barriers that order the tensor core; the arrival of a commit, for what it tracks and what its
           actor knew; a block barrier, a fork, the end of what was forked
  after    waits for such barriers; a block barrier, the begin of what was forked, a join

The path between the two may be any that leads on in time. SMEM is no matter of this order: an MMA reads it by the
async proxy, and is over for it when an edge in time says so.

SPDX-License-Identifier: Apache-2.0
"""
from actor_ops import ActorOps
from order import bits

# The instruction's kind, by the element type of its operands: pipelines are of one kind.
KINDS = {"f16": "f16", "bf16": "f16", "f32": "tf32", "f8e4m3": "f8f6f4", "f8e5m2": "f8f6f4", "f6e2m3": "f8f6f4",
         "f6e3m2": "f8f6f4", "f4e2m1": "f8f6f4", "i8": "i8", "u8": "i8"}


def find_issue(bit):
    """The bit of the instruction itself, of any of its three."""
    return 1 << (bit.bit_length() - 1) // 3 * 3


COPY = "copy"  # the shape of what a copy writes


def is_pipelined(x, y):
    """Whether both are instructions that the tensor core carries out in the order of their issue: MMAs with the same
    accumulator, shape and kind, or a copy to tensor memory and an MMA (PTX ISA, Pipelined tcgen05 Instructions)."""
    if x.shape == COPY:
        return y.shape not in (None, COPY)
    return x.shape is not None and x.shape == y.shape


def follows(x, y):
    """Whether the issuer of y knows that x is over, or that it was issued, where that is enough."""
    return bool(y.tensor & (x.bit | find_issue(x.bit) if is_pipelined(x, y) else x.bit))


def is_tensor_ordered(x, y, accesses):
    """x before y: at once, or behind an MMA that follows x in the pipeline, on all columns that the two share."""
    shared = x.mask & y.mask
    return follows(x, y) or any(is_pipelined(x, z) and z.place == x.place and shared & ~z.mask == 0 and
                                follows(x, z) and follows(z, y) for z in accesses)


class TensorOps(ActorOps):
    """What tcgen05 does, but for the commit, which is a step that others can tell."""

    # ---- the two fences --------------------------------------------------------------------------

    def seal(self, state, actor, bit=0, covers=0):
        """A fence before: at an event that there is, or at a new one."""
        covers |= actor.tensor
        if covers == 0:
            return
        if bit == 0:
            bit = self.event(state, actor, "seal")
            self.learn(actor, bits(bit))
        state.seals += ((bit, covers),)

    def admit(self, state, actor):
        """A fence after."""
        for bit, covers in state.seals:
            if actor.know.time & bit:
                actor.tensor |= covers

    # ---- operations --------------------------------------------------------------------------------

    def list_operations(self, state, key):
        """The bits of those issued so far: MMAs by a lane, loads or stores by a thread."""
        return state.groups.get(key, ((), ()))[0]

    def add_operation(self, state, key, bit):
        state.groups[key] = (self.list_operations(state, key) + (bit,), ())

    def find_kind(self, view):
        dtype = self.program.objects[view["object"]]["dtype"] if "object" in view else ""
        return KINDS.get(dtype, dtype)

    def tensor_tcgen05_mma(self, state, actor, it, tables=0):
        acc, a = it.operands[:2]
        if not self.leads(actor, it):
            return
        ctas = self.find_ctas(actor, it)
        bit = self.event(state, actor, it.name, actor.pc,
                         tuple(self.find_place(actor, view) for view in it.operands[:3 + tables]))
        for cta in ctas:
            places = [self.find_place(actor, view, cta) for view in it.operands[:3 + tables]]
            for place in places[1:]:
                is_tensor = place[0][0] == "tmem"
                # A shape of its own, which no other access has: it is one of an MMA.
                self.access(state, actor, place, "r", it.line, bit << 1, "tensor" if is_tensor else "async",
                            is_async=True, shape=("read", bit) if is_tensor else None)
            rows, columns = [box["extent"] for box in acc["box"]][-2:]
            shape = (places[0], rows, columns, it.name, self.find_kind(a), *map(self.find_kind, it.operands[3:4]))
            self.access(state, actor, places[0], "w", it.line, bit << 2, "tensor", is_async=True, shape=shape)
        self.learn(actor, bits(bit))
        actor.tensor |= bit
        self.add_operation(state, ("mma", actor.lane), bit)

    def find_ctas(self, actor, it):
        """In whose memory an operation works."""
        return self.program.pair(actor.cta) if "collective_axis" in it.attrs else [actor.cta]

    def leads(self, actor, it):
        """Whether an operation for a pair is issued by the CTA that leads; the other one's is a mistake, and nothing."""
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
        """From SMEM by the async proxy, and over as an MMA is (PTX ISA, tcgen05.cp). For a pair each CTA's from its own SMEM
        to its own tensor memory."""
        if not self.leads(actor, it):
            return
        bit = self.event(state, actor, it.name, actor.pc, tuple(self.find_place(actor, view) for view in it.operands[:2]))
        for cta in self.find_ctas(actor, it):
            source, target = [self.find_place(actor, view, cta) for view in it.operands[:2]]
            self.access(state, actor, source, "r", it.line, bit << 1, "async", is_async=True)
            self.access(state, actor, target, "w", it.line, bit << 2, "tensor", is_async=True, shape=COPY)
        self.learn(actor, bits(bit))
        actor.tensor |= bit
        self.add_operation(state, ("mma", actor.lane), bit)

    tensor_async_copy_scales_to_tmem = tensor_async_copy_smem_to_tmem
    tensor_async_copy_sparse_metadata_to_tmem = tensor_async_copy_smem_to_tmem

    def start_of_thread(self, state, actor, it, mode):
        where = self.find_place(actor, it.operands[0])
        bit = self.event(state, actor, it.name, actor.pc, where)
        self.access(state, actor, where, mode, it.line, bit << 2, "tensor", is_async=True)
        self.learn(actor, bits(bit))
        self.add_operation(state, (mode, actor.key[:2]), bit)
        actor.env.update((r, None) for r in it.results)

    def tensor_async_load_tmem(self, state, actor, it):
        self.start_of_thread(state, actor, it, "r")

    def tensor_async_store_tmem(self, state, actor, it):
        self.start_of_thread(state, actor, it, "w")

    def tensor_wait_load_tmem(self, state, actor, it, mode="r"):
        """Of all loads by this thread so far. The wait is an event, so that a state knows whether it was reached."""
        self.learn(actor, bits(self.event(state, actor, it.name, actor.pc)))
        for bit in self.list_operations(state, (mode, actor.key[:2])):
            actor.tensor |= bit << 2

    def tensor_commit_tmem(self, state, actor, it):
        self.tensor_wait_load_tmem(state, actor, it, "w")

    def judge_tensor(self, state, old, new):
        if not is_tensor_ordered(old, new, state.accesses):
            self.report("tensor", old.line, new.line)
