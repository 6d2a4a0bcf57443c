"""Draws pairs of CTAs as draw_pairs.py does, where the fences of tcgen05 and memory go from one CTA to the other by
different
ways: edges that order the tensor core and are relaxed, or for the CTA alone, beside edges that carry memory and have no
fence. Some of them hear of a reader alone, or of an MMA by another thread's commit.

SPDX-License-Identifier: Apache-2.0
"""
from draw_pairs import TensorPairs


class TensorWays(TensorPairs):
    """The fences of an actor's own, before or after the two ways, make a right one of them now and then."""

    def choose_shape(self):
        super().choose_shape()
        self.draw.seed("tensor ways %s" % self.seed)
        self.looks = 0  # at operands in SMEM, by threads

    def work(self, cta):
        if not self.chance(0.12):
            return super().work(cta)
        self.looks += 1
        return ["store %%v[%d], (load %%s[%d])" % (self.looks - 1, self.slot())]

    def hand_over(self, actor, other):
        if self.threads == 2 and self.chance(0.25):
            self.tell_of_reader()
            return
        if self.find_cta(actor) == self.find_cta(other) or self.chance(0.3):
            super().hand_over(actor, other)
            return
        if self.find_cta(other) == 0 and self.chance(0.3):
            self.hand_over_read(actor, other)
            return
        ways = [self.by_fences, self.pick(self.by_cluster_barrier, self.by_memory)]
        if self.chance(0.4):
            ways.reverse()
        self.lines[actor] += self.touch_sums() if self.chance(0.5) else self.work(self.find_cta(actor))
        self.fence(actor, 0.25)
        for way in ways[:self.pick(1, 2, 2, 2, 2)]:
            way(actor, other)
        self.fence(other, 0.25)
        self.lines[other] += self.touch_sums() if self.chance(0.5) else self.work(self.find_cta(other))

    def fence(self, actor, chance):
        """A barrier on which it arrives itself."""
        if self.chance(chance):
            self.told += 1
            self.lines[actor] += ["barrier_arrive %%o[%d]" % (self.told - 1), "barrier_wait %%o[%d]" % (self.told - 1)]

    def by_fences(self, actor, other):
        weak = self.pick(" order(relaxed)", " order(relaxed)", " scope(cta)")
        self.explicit += 1
        bar = "%%r[%d]" % (self.explicit - 1)
        self.lines[actor].append("mbarrier_arrive %s.cluster(%d)%s" % (bar, self.find_cta(other), weak))
        self.lines[other].append("mbarrier_wait %s, 0" % bar)

    def by_memory(self, actor, other):
        self.plain += 1
        bar = "%%b[%d]" % (self.plain - 1)
        self.lines[actor].append("barrier_arrive %s.cluster(%d)" % (bar, self.find_cta(other)))
        self.lines[other].append("barrier_wait %s" % bar)

    # ---- readers -------------------------------------------------------------------------------------

    def hand_over_read(self, actor, other):
        """Sums that the actor has stored and loaded, to which the leader adds."""
        slot = self.slot()
        self.halves += 1
        self.lines[actor] += ["async_store_tmem %%t[%d], (broadcast 2.0 : f32[128, 32])" % slot, "commit_tmem",
                              "store %%y[%d], (async_load_tmem %%t[%d])" % (self.halves - 1,
                                                                            slot)] + self.mostly("wait_load_tmem")
        self.pick(self.by_fences, self.by_fences, self.by_remote)(actor, other)
        self.lines[other] += ["tcgen05_mma %%t[%d], %%a, %%s[%d], true collective_axis(g)" % (slot, self.slot()),
                              *self.commit(0)]

    def tell_of_reader(self):
        """An operand that TMA brings to CTA 1, an MMA that reads it, and a thread of CTA 1 that loads it when it has
        heard of the
        MMA: by its own commit, or by one of the leader's other thread, which has waited for it."""
        leaders, others = self.pick([0, 1], [1, 0]), self.pick([2, 3], [3, 2])
        slot = self.slot()
        self.filled += 1
        full = "%%l[%d]" % (self.filled - 1)
        self.lines[others[0]] += ["copy_gmem_to_smem %%x, %%s[%d], %s" % (slot, full), "barrier_wait " + full]
        self.by_memory(others[0], leaders[0])
        self.lines[leaders[0]].append(
            "tcgen05_mma %%t[%d], %%a, %%s[%d], true collective_axis(g)" % (self.slot(), slot))
        if self.chance(0.6):
            one = self.new_commit()
            self.lines[leaders[0]].append("tcgen05_commit_arrive " + one)
            self.lines[leaders[1]].append("barrier_wait " + one)
            leaders.reverse()
        told = self.new_commit()
        self.lines[leaders[0]].append("tcgen05_commit_arrive %s.cluster(1)%s" % (told[:2], told[2:]))
        self.looks += 1
        self.lines[others[1]] += ["barrier_wait " + told, "store %%v[%d], (load %%s[%d])" % (self.looks - 1, slot)]

    def text(self):
        text = super().text()
        return text.replace(") grid(", ", %%v: inout gmem f16[%d, 16, 16]) grid(" % self.looks, 1) if self.looks \
            else text
