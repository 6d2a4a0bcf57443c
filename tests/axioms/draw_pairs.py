"""Draws small kernels of a pair of CTAs: MMAs of the one that leads, whose accumulators and operands lie in both,
copies that both issue, commits to either or both, and what puts the accesses of the two in order.

SPDX-License-Identifier: Apache-2.0
"""
from draw_tensor import HEAD, TensorClusters


class TensorPairs(TensorClusters):
    """Actors: 2 * CTA + thread, or one thread in each CTA. Those of CTA 0 multiply; now and then another one tries."""

    def choose_shape(self):
        self.draw.seed("tensor pairs %s" % self.seed)
        self.threads = self.pick(1, 1, 2)
        self.actors, self.has_partitions, self.axis = 2 * self.threads, False, "cluster"
        self.lines = [[] for _ in range(self.actors)]
        self.led = self.shared = 0  # barriers of the leader; copies that both CTAs issue

    # ---- accesses ------------------------------------------------------------------------------------

    def work(self, cta):
        way = self.draw.randrange(12)
        if way < 5:
            return self.multiply(cta) if cta == 0 or self.chance(0.04) else self.touch_sums()
        if way < 8:
            return self.touch_sums()
        if way == 8:
            return ["async_store_tmem %p, (broadcast 1.0 : f16[128, 16])"] + self.mostly("commit_tmem")
        if way == 9:
            return self.fill_for_both() if self.chance(0.6) else self.fill(cta)
        if way == 10:
            return ["store %%s[%d], (broadcast 2.0 : f16[16, 16])" % self.slot()] + self.mostly(
                "commit_smem" + self.pick("", "", " cluster"))
        return self.pick(["wait_load_tmem"], ["commit_tmem"], ["commit_smem"])

    def touch_sums(self):
        ref, columns = self.columns()
        if self.chance(0.6):
            self.halves += 1
            part = "%%y[%d, :, ds(0, %d)]" % (self.halves - 1, columns)
            return ["store %s, (async_load_tmem %s)" % (part, ref)] + self.mostly("wait_load_tmem")
        return ["async_store_tmem %s, (broadcast 2.0 : f32[128, %d])" % (ref, columns)] + self.mostly("commit_tmem")

    def multiply(self, cta):
        lines = []
        for _ in range(self.pick(1, 1, 1, 2)):
            lines.append("tcgen05_mma %%t[%d], %s, %%s[%d], %s collective_axis(g)" % (
                self.slot(), self.pick("%a", "%a", "%p"), self.slot(), self.pick("true", "true", "false")))
        if self.chance(0.9):
            lines += self.commit(cta)
        if self.waits[cta] and self.chance(0.75):
            lines.append("barrier_wait " + self.waits[cta].pop())
        return lines

    def commit(self, cta):
        """To both CTAs mostly; each has somebody who waits, now or later."""
        barrier = self.new_commit()
        way = self.draw.randrange(5)
        if way < 3:
            for waits in self.waits:
                waits.append(barrier)
            return ["tcgen05_commit_arrive %s%s" % (barrier, self.pick(
                " collective_axis(g)", " collective_axis(g)", " multicast(g)"))]
        target = self.pick(0, 1)
        self.waits[target].append(barrier)
        if target == cta and way == 3:
            return ["tcgen05_commit_arrive " + barrier]
        return ["tcgen05_commit_arrive %s.cluster(%d)%s" % (barrier[:2], target, barrier[2:])]

    def fill_for_both(self):
        """One thread of each CTA issues it; the leader's barrier has all bytes."""
        self.shared += 1
        barrier, slot = "%%d[%d]" % (self.shared - 1), self.slot()
        source, part = self.pick(("%w", " partitioned(0)"), ("%w", " partitioned(0)"), ("%x", ""))
        line = "copy_gmem_to_smem %s, %%s[%d], %s collective_axes(g) leader_tracked%s" % (source, slot, barrier, part)
        for cta in range(2):
            self.lines[cta * self.threads + self.draw.randrange(self.threads)].append(line)
        self.lines[self.draw.randrange(self.threads)] += ["barrier_wait " + barrier] * self.chance(0.85)
        return []

    def fill(self, cta):
        self.filled += 1
        barrier = "%%l[%d]" % (self.filled - 1)
        lines = ["copy_gmem_to_smem %%x, %%s[%d], %s" % (self.slot(), barrier)]
        if self.chance(0.7):
            return lines + ["barrier_wait " + barrier]
        self.waits[cta].append(barrier)
        return lines

    # ---- hand-overs ------------------------------------------------------------------------------------

    def hand_over(self, actor, other):
        is_near = self.find_cta(actor) == self.find_cta(other)
        if self.waits[self.find_cta(other)] and self.chance(0.35):
            self.lines[other].append("barrier_wait " + self.waits[self.find_cta(other)].pop())
            return
        ways = [self.by_global_semaphore]
        if is_near:
            ways += [self.by_ordering_barrier] * 3 + [self.by_plain_barrier, self.by_mbarrier]
        else:
            ways += [self.by_remote] * 3 + [self.by_cluster_barrier]
            ways += [self.by_leader] * 3 * (self.find_cta(other) == 0)
        self.draw.choice(ways)(actor, other)

    def by_remote(self, actor, other):
        self.explicit += 1
        bar = "%%r[%d]" % (self.explicit - 1)
        self.lines[actor].append("mbarrier_arrive %s.cluster(%d)%s" % (bar, self.find_cta(other), self.order()))
        self.lines[other].append("mbarrier_wait %s, 0%s" % (bar, self.order()))

    def by_leader(self, actor, other):
        """A barrier of both CTAs that counts in the one that leads."""
        self.led += 1
        bar = "%%e[%d]" % (self.led - 1)
        self.lines[actor].append("barrier_arrive %s%s" % (bar, self.order()))
        self.lines[self.draw.randrange(self.threads)].append("barrier_arrive %s%s" % (bar, self.order()))
        self.lines[other].append("barrier_wait %s%s" % (bar, self.order()))

    # ---- the whole ---------------------------------------------------------------------------------------

    def text(self):
        objects = ["%a : smem f16[128, 16] tile(8, 16) swizzle(32)", "%s : smem f16[2, 16, 16] tile(8, 16) swizzle(32)",
                   "%t : tmem f32[2, 128, 32] collective", "%p : tmem f16[128, 16] packed collective"]
        leads = " cluster(g)%s leader_tracked" % self.pick(" orders_tensor_core", " orders_tensor_core", "")
        for count, text in ((self.committed, "%%c : barrier[%d] orders_tensor_core"), (self.plain, "%%b : barrier[%d]"),
                            (self.told, "%%o : barrier[%d] orders_tensor_core"), (self.filled, "%%l : barrier[%d]"),
                            (self.explicit, "%%r : mbarrier[%d]"), (self.shared, "%%d : barrier[%d]"),
                            (self.led, "%%e : barrier[%d]" + leads), (self.semaphores, "%%u : semaphore[%d] global")):
            objects += [text % count] if count else []
        start = ["store %a, (broadcast 1.0 : f16[128, 16])", "store %s, (broadcast 1.0 : f16[2, 16, 16])",
                 "commit_smem",
                 *("async_store_tmem %%t[%d], (broadcast 1.0 : f32[128, 32])" % slot for slot in range(2)),
                 "async_store_tmem %p, (broadcast 1.0 : f16[128, 16])", "commit_tmem",
                 *("mbarrier_init %%r[%d], 1" % i for i in range(self.explicit))]
        # the other thread's stores have to be the leader's in the order of tensor memory
        objects.append("%z : barrier cluster(g) orders_tensor_core arrivals(1)")
        meet = ["barrier_arrive %z", "barrier_wait %z"]
        out = ["kernel @k(%%x: in gmem f16[16, 16], %%w: in gmem f16[32, 16], %%y: inout gmem f32[%d, 128, 32]) "
               "grid(t = 1) cluster(g = 2) threads(wg = %d) attr arch = \"sm_100a\" cluster_exit = %s" % (
                   max(self.halves, 1), self.threads, self.pick("sync", "sync", "none")), "{"]
        out += ["  scratch " + text for text in objects]
        if self.threads == 1:
            out += ["  " + text for text in start + meet]
        else:
            out += ["  if (eq (axis_index wg), 0) {"] + ["    " + text
                                                         for text in start + meet] + ["  }", "  block_barrier"]
        out += ["  cluster_barrier"]
        for actor, lines in enumerate(self.lines):
            out += ["  if (and (eq (axis_index g), %d), (eq (axis_index wg), %d)) {" % (
                actor // self.threads, actor % self.threads)]
            out += ["    " + text for text in lines] + ["  }"]
        return HEAD + "\n".join(out + ["}", ""])
