"""Draws small kernels of tensor memory: MMAs, commits, loads and stores by a few actors, and what puts them in order.

The actors take turns: who has the turn works, waits for its own work mostly, and hands the turn on by a way that may or
may not order the tensor core. Now and then somebody works out of turn.

SPDX-License-Identifier: Apache-2.0
"""
from draw_sync import Drawn

HEAD = "// drawn\n// run: --arch sm_100a\n"
KEPT = ("arrive", "wait %", "mbarrier", "signal", "semaphore", "block_barrier", "named", "warp_map")


class Tensors(Drawn):
    """lines[actor]; before and after: what the thread does around its partitions, if it has any."""

    def __init__(self, seed):
        super().__init__("tensors", seed, 0)
        self.has_partitions = self.chance(0.25)
        self.halves = self.committed = self.told = self.plain = self.explicit = self.semaphores = self.names_used = 0
        self.waits = []  # (commit's barrier) that nobody has waited for yet
        self.extra = [[], []]  # before and after the partitions
        turn = self.draw.randrange(self.actors)
        if self.has_partitions:
            for lines in self.extra:
                for _ in range(self.pick(0, 0, 1, 2)):
                    lines += self.work(lines)
        for _ in range(self.draw.randint(3, 8)):
            if self.chance(0.38):
                other = self.draw.choice([a for a in range(self.actors) if a != turn])
                self.hand_over(turn, other)
                turn = other
            else:
                actor = turn if self.chance(0.93) else self.draw.randrange(self.actors)
                self.lines[actor] += self.work(self.lines[actor])
        for barrier in self.waits:
            if self.chance(0.8):
                self.lines[turn].append("barrier_wait " + barrier)
        if self.chance(0.55):
            self.spoil(1.0, KEPT)

    # ---- accesses --------------------------------------------------------------------------------

    def slot(self):
        return self.pick(0, 0, 0, 1)

    def columns(self):
        """(reference in tensor memory, its columns): of a whole slot mostly."""
        slot = self.slot()
        if self.chance(0.8):
            return "%%t[%d]" % slot, 32
        return "%%t[%d, :, ds(%d, 16)]" % (slot, self.pick(0, 16)), 16

    def mma(self):
        acc, columns = self.columns()
        use = self.pick("true", "true", "false")
        if columns == 16 and self.chance(0.3):
            return "tcgen05_mma %s, %%t[%d, :, ds(%d, 8)], %%f.transpose(1, 0), %s" % (
                acc, self.slot(), self.pick(0, 8, 16), use)
        b = "%%s[%d]" % self.slot() + ("[:, ds(0, 16)]" if columns == 16 else "")
        return "tcgen05_mma %s, %s, %s, %s" % (acc, self.pick("%a", "%a", "%p"), b, use)

    def new_commit(self):
        self.committed += 1
        return "%%c[%d]" % (self.committed - 1)

    def work(self, own):
        """One access, and mostly what waits for it."""
        way = self.draw.randrange(13)
        if way < 5:
            return self.multiply()
        if way < 8:
            ref, columns = self.columns()
            self.halves += 1
            part = "%%y[%d, :, ds(0, %d)]" % (self.halves - 1, columns)
            return ["store %s, (async_load_tmem %s)" % (part, ref)] + self.mostly("wait_load_tmem")
        if way < 10:
            ref, columns = self.columns()
            return ["async_store_tmem %s, (broadcast 2.0 : f32[128, %d])" % (ref, columns)] + self.mostly("commit_tmem")
        if way == 10:
            return ["async_store_tmem %p, (broadcast 1.0 : f16[128, 16])"] + self.mostly("commit_tmem")
        if way == 11:
            return ["store %%s[%d], (broadcast 2.0 : f16[16, 32])" % self.slot()] + self.mostly("commit_smem")
        return self.pick(["wait_load_tmem"], ["commit_tmem"], ["commit_smem"])

    def mostly(self, text):
        return [text] if self.chance(0.85) else []

    def multiply(self):
        lines = [self.mma() for _ in range(self.pick(1, 1, 1, 2))]
        if self.chance(0.9):
            barrier = self.new_commit()
            lines.append("tcgen05_commit_arrive " + barrier)
            self.waits.append(barrier)
        if not self.has_partitions and self.chance(0.15):
            lines = ["warp_map(%%w) { if (eq %%w, %d) { %s } }" % (self.pick(0, 2), "\n".join(lines))]
        if self.waits and self.chance(0.75):
            lines.append("barrier_wait " + self.waits.pop())
        return lines

    # ---- hand-overs --------------------------------------------------------------------------------

    def hand_over(self, actor, other):
        if self.waits and self.chance(0.35):  # the commit itself is the way
            self.lines[other].append("barrier_wait " + self.waits.pop())
            return
        ways = [self.by_ordering_barrier] * 4 + [self.by_plain_barrier, self.by_mbarrier]
        if not self.has_partitions:
            ways += [self.by_block, self.by_name, self.by_semaphore]
        self.draw.choice(ways)(actor, other)

    def order(self):
        return self.pick("", "", "", "", " order(relaxed)")

    def by_ordering_barrier(self, actor, other):
        self.told += 1
        self.lines[actor].append("barrier_arrive %%o[%d]%s" % (self.told - 1, self.order()))
        self.lines[other].append("barrier_wait %%o[%d]%s" % (self.told - 1, self.order()))

    def by_plain_barrier(self, actor, other):
        self.plain += 1
        self.lines[actor].append("barrier_arrive %%b[%d]%s" % (self.plain - 1, self.order()))
        self.lines[other].append("barrier_wait %%b[%d]%s" % (self.plain - 1, self.order()))

    def by_mbarrier(self, actor, other):
        self.explicit += 1
        self.lines[actor].append("mbarrier_arrive %%r[%d]%s" % (self.explicit - 1, self.order()))
        self.lines[other].append("mbarrier_wait %%r[%d], 0%s" % (self.explicit - 1, self.order()))

    def by_block(self, _actor, _other):
        for lines in self.lines:
            lines.append("block_barrier")

    def by_name(self, actor, other):
        self.names_used += 1
        self.lines[actor].append("named_barrier_sync %d, 2" % self.names_used)
        self.lines[other].append("named_barrier_sync %d, 2" % self.names_used)

    def by_semaphore(self, actor, other):
        self.semaphores += 1
        self.lines[actor].append("semaphore_signal %%u[%d], 1%s" % (self.semaphores - 1, self.order()))
        self.lines[other].append("semaphore_wait %%u[%d], 1%s" % (self.semaphores - 1, self.order()))

    # ---- the whole -----------------------------------------------------------------------------------

    def text(self):
        objects = ["%a : smem f16[128, 16] tile(8, 16) swizzle(32)", "%s : smem f16[2, 16, 32] tile(8, 16) swizzle(32)",
                   "%f : smem f32[16, 8] tile(8, 8) swizzle(32)", "%t : tmem f32[2, 128, 32]",
                   "%p : tmem f16[128, 16] packed"]
        for count, text in ((self.committed, "%%c : barrier[%d] orders_tensor_core"), (self.plain, "%%b : barrier[%d]"),
                            (self.told, "%%o : barrier[%d] orders_tensor_core"), (self.explicit, "%%r : mbarrier[%d]"),
                            (self.semaphores, "%%u : semaphore[%d]")):
            objects += [text % count] if count else []
        start = ["store %a, (broadcast 1.0 : f16[128, 16])", "store %s, (broadcast 1.0 : f16[2, 16, 32])",
                 "store %f, (broadcast 1.0 : f32[16, 8])", "commit_smem",
                 *("async_store_tmem %%t[%d], (broadcast 1.0 : f32[128, 32])" % slot for slot in range(2)),
                 "async_store_tmem %p, (broadcast 1.0 : f16[128, 16])", "commit_tmem"]
        inits = ["mbarrier_init %%r[%d], 1" % i for i in range(self.explicit)]
        start = inits + start
        out = ["kernel @k(%%y: inout gmem f32[%d, 128, 32]) threads(wg = %d)" % (max(self.halves, 1), self.actors), "{"]
        out += ["  scratch " + text for text in objects]
        return HEAD + "\n".join(out + (self.specialise(start) if self.has_partitions else self.divide(start)) + ["}", ""])

    def divide(self, start):
        out = ["  if (eq (axis_index wg), 0) {"] + ["    " + text for text in start] + ["  }", "  block_barrier"]
        for actor, lines in enumerate(self.lines):
            out += ["  if (eq (axis_index wg), %d) {" % actor] + ["    " + text for text in lines] + ["  }"]
        return out

    def specialise(self, start):
        out = ["  " + text for text in start + self.extra[0]]
        for actor, lines in enumerate(self.lines):
            out += ["  warp_specialize {" if actor == 0 else "  } partition {"] + ["    " + text for text in lines]
        return out + ["  }"] + ["  " + text for text in self.extra[1]]
