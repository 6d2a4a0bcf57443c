"""Draws small kernels of tensor memory: MMAs, commits, loads and stores by a few actors, and what puts them in order.

The actors take turns: the one that has the turn works, waits for its own work mostly, and hands the turn on by a way
that may or may not order the tensor core. Now and then somebody works out of turn.

SPDX-License-Identifier: Apache-2.0
"""
from draw_scopes import Waiting
from draw_sync import Drawn

HEAD = "// drawn\n// run: --arch sm_100a\n"
KEPT = ("arrive", "wait %", "mbarrier", "signal", "semaphore", "block_barrier", "named", "warp_map")


class Tensors(Drawn):
    """lines[actor]; before and after: what the thread does around its partitions, if it has any."""

    def __init__(self, seed):
        super().__init__("tensors", seed, 0)
        self.seed = seed
        self.choose_shape()
        self.halves = self.committed = self.told = self.plain = self.explicit = self.semaphores = self.names_used = 0
        self.filled = 0
        self.waits = [[], []]  # for each CTA: barriers of commits that nobody has waited for yet
        self.extra = [[], []]  # before and after the partitions
        turn = self.draw.randrange(self.actors)
        if self.has_partitions:
            for lines in self.extra:
                for _ in range(self.pick(0, 0, 1, 2)):
                    lines += self.work(0)
        for _ in range(self.draw.randint(3, 8)):
            if self.chance(0.38):
                other = self.draw.choice([a for a in range(self.actors) if a != turn])
                self.hand_over(turn, other)
                turn = other
            else:
                actor = turn if self.chance(0.93) else self.draw.randrange(self.actors)
                self.lines[actor] += self.work(self.find_cta(actor))
        for cta, barriers in enumerate(self.waits):
            for barrier in barriers:
                if self.chance(0.8):
                    self.lines[turn if self.find_cta(turn) == cta
                               else self.threads * cta].append("barrier_wait " + barrier)
        if self.chance(0.55):
            self.spoil(1.0, KEPT)
        self.has_auto_fence = self.chance(0.2)

    def choose_shape(self):
        self.has_partitions = self.chance(0.25)
        self.axis = None

    threads = 2  # of each CTA, where there are two

    def find_cta(self, actor):
        return actor // self.threads if self.axis else 0

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
        if self.chance(0.18):  # a copy, in the same queue
            return self.pick(*2 * ("async_copy_smem_to_tmem %a, %p",),
                             "async_copy_smem_to_tmem %s, %s" % ("%q" if columns == 32 else "%h", acc))
        use = self.pick("true", "true", "false")
        if columns == 16 and self.chance(0.3):
            return "tcgen05_mma %s, %%t[%d, :, ds(%d, 8)], %%f.transpose(1, 0), %s" % (
                acc, self.slot(), self.pick(0, 8, 16), use)
        if columns == 16 and self.chance(0.2):  # of another kind
            return "tcgen05_mma %s, %%i, %%f.transpose(1, 0), %s" % (acc, use)
        if self.chance(0.12):  # of another type, and the same kind
            return "tcgen05_mma %s, %%e, %%g%s, %s" % (acc, "[:, ds(0, 16)]" if columns == 16 else "", use)
        b = "%%s[%d]" % self.slot() + ("[:, ds(0, 16)]" if columns == 16 else "")
        return "tcgen05_mma %s, %s, %s, %s" % (acc, self.pick("%a", "%a", "%p"), b, use)

    def new_commit(self):
        self.committed += 1
        return "%%c[%d]" % (self.committed - 1)

    def work(self, cta):
        """One access, and mostly what waits for it."""
        way = self.draw.randrange(13)
        if way < 5:
            return self.multiply(cta)
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
        if way == 11 and self.chance(0.3):
            return self.fill(cta)
        if way == 11:
            return ["store %%s[%d], (broadcast 2.0 : f16[16, 32])" % self.slot()] + self.mostly("commit_smem")
        return self.pick(["wait_load_tmem"], ["commit_tmem"], ["commit_smem"])

    def fill(self, cta):
        """A TMA load of an operand; it counts as work of its CTA that somebody waits for, as an MMA does."""
        self.filled += 1
        barrier = "%%l[%d]" % (self.filled - 1)
        lines = ["copy_gmem_to_smem %%x, %%s[%d], %s" % (self.slot(), barrier)]
        if self.chance(0.7):
            return lines + ["barrier_wait " + barrier]
        self.waits[cta].append(barrier)
        return lines

    def mostly(self, text):
        return [text] if self.chance(0.85) else []

    def multiply(self, cta):
        lines = [self.mma() for _ in range(self.pick(1, 1, 1, 2))]
        if self.chance(0.9):
            barrier = self.new_commit()
            lines.append("tcgen05_commit_arrive " + barrier)
            self.waits[cta].append(barrier)
        if not self.has_partitions and self.chance(0.15):
            lines = ["warp_map(%%w) { if (eq %%w, %d) { %s } }" % (self.pick(0, 2), "\n".join(lines))]
        if self.waits[cta] and self.chance(0.75):
            lines.append("barrier_wait " + self.waits[cta].pop())
        return lines

    # ---- hand-overs --------------------------------------------------------------------------------

    def hand_over(self, actor, other):
        if self.waits[0] and self.chance(0.35):  # the commit itself is the way
            self.lines[other].append("barrier_wait " + self.waits[0].pop())
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
                            (self.told, "%%o : barrier[%d] orders_tensor_core"), (self.filled, "%%l : barrier[%d]"),
                            (self.explicit, "%%r : mbarrier[%d]"),
                            (self.semaphores, "%%u : semaphore[%d]" + (" global" if self.axis else ""))):
            objects += [text % count] if count else []
        objects += ["%e : smem bf16[128, 16] tile(8, 16) swizzle(32)", "%g : smem bf16[16, 32] tile(8, 16) swizzle(32)"]
        objects += ["%q : smem f32[128, 32] tile(8, 32) swizzle(128)", "%h : smem f32[128, 16] tile(8, 16) swizzle(64)",
                    "%i : smem f32[128, 8] tile(8, 8) swizzle(32)"]
        start = ["store %q, (broadcast 1.0 : f32[128, 32])", "store %h, (broadcast 1.0 : f32[128, 16])",
                 "store %a, (broadcast 1.0 : f16[128, 16])", "store %s, (broadcast 1.0 : f16[2, 16, 32])",
                 "store %e, (broadcast 1.0 : bf16[128, 16])", "store %g, (broadcast 1.0 : bf16[16, 32])",
                 "store %f, (broadcast 1.0 : f32[16, 8])", "store %i, (broadcast 1.0 : f32[128, 8])", "commit_smem",
                 *("async_store_tmem %%t[%d], (broadcast 1.0 : f32[128, 32])" % slot for slot in range(2)),
                 "async_store_tmem %p, (broadcast 1.0 : f16[128, 16])", "commit_tmem"]
        inits = ["mbarrier_init %%r[%d], 1" % i for i in range(self.explicit)]
        start = inits + start
        head = "threads(wg = %d)" % self.actors if self.axis is None else "%s(g = 2) threads(wg = 2)" % self.axis
        head += " attr auto_fence = 1" if self.has_auto_fence else ""
        out = ["kernel @k(%%x: in gmem f16[16, 32], %%y: inout gmem f32[%d, 128, 32]) %s" % (
            max(self.halves, 1), head), "{"]
        out += ["  scratch " + text for text in objects]
        return HEAD + "\n".join(out + (self.specialise(start) if self.has_partitions else self.divide(start)) +
                                ["}", ""])

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


class Pipelines(Drawn):
    """A matmul in three threads: one fills slots, one multiplies into accumulators in turn, one reads these."""

    def __init__(self, seed):
        super().__init__("pipelines", seed, 3)
        self.slots, self.accumulators = self.pick(1, 1, 2), self.pick(1, 2)
        self.tiles, self.steps = self.pick((1, 2), (2, 1), (2, 1), (1, 3))
        self.is_explicit, self.by_warp = self.chance(0.4), self.chance(0.3)
        self.ordering = {name: self.chance(0.93) for name in ("ready", "given")}
        for tile in range(self.tiles):
            for step in range(self.steps):
                self.fill(tile * self.steps + step)
                self.multiply(tile, tile * self.steps + step, step)
            self.read(tile)
        for _ in range(self.pick(0, 0, 1, 1, 2)):
            self.spoil(1.0, ("warp_map",))

    def wait(self, name, slot, turn):
        order = self.pick("", "", "", "", "", " order(relaxed)")
        if self.is_explicit:
            return "mbarrier_wait %%%s[%d], %d%s" % (name, slot, turn & 1, order)
        return "barrier_wait %%%s[%d]%s" % (name, slot, order)

    def arrive(self, name, slot):
        word = "mbarrier_arrive" if self.is_explicit else "barrier_arrive"
        return "%s %%%s[%d]%s" % (word, name, slot, self.pick("", "", "", "", " order(relaxed)"))

    def fill(self, step):
        slot, turn = step % self.slots, step // self.slots
        lines = self.lines[0]
        if turn > 0:
            lines.append(self.wait("free", slot, turn - 1))
        if self.is_explicit:
            lines.append("mbarrier_expect %%full[%d], 4096" % slot)
        lines.append("copy_gmem_to_smem %%x, %%a[%d], %%full[%d]" % (slot, slot))

    def multiply(self, tile, number, step):
        slot, at = number % self.slots, tile % self.accumulators
        lines = self.lines[1]
        if step == 0 and tile >= self.accumulators:
            lines.append(self.wait("given", at, tile // self.accumulators - 1))
        lines.append(self.wait("full", slot, number // self.slots))
        tells = ["tcgen05_mma %%t[%d], %%a[%d], %%b, %s" % (at, slot, "true" if step else "false"),
                 "tcgen05_commit_arrive %%free[%d]" % slot]
        if step == self.steps - 1:
            tells.append("tcgen05_commit_arrive %%ready[%d]" % at)
        if self.by_warp:
            tells = ["warp_map(%%w) { if (eq %%w, 1) { %s } }" % "\n".join(tells)]
        lines += tells

    def read(self, tile):
        at = tile % self.accumulators
        self.lines[2] += [self.wait("ready", at, tile // self.accumulators),
                          "store %s, (async_load_tmem %%t[%d])" % (self.output(), at), "wait_load_tmem",
                          self.arrive("given", at)]

    def text(self):
        word = "mbarrier" if self.is_explicit else "barrier"
        objects = ["%%a : smem f16[%d, 128, 16] tile(8, 16) swizzle(32)" % self.slots,
                   "%b : smem f16[16, 32] tile(8, 16) swizzle(32)", "%%t : tmem f32[%d, 128, 32]" % self.accumulators]
        counts = {"full": self.slots, "free": self.slots, "ready": self.accumulators, "given": self.accumulators}
        inits = []
        for name, count in counts.items():
            orders = not self.is_explicit and (name in ("free", "ready") or name == "given" and self.ordering[name])
            objects.append("%%%s : %s[%d]%s" % (name, word, count, " orders_tensor_core" if orders else ""))
            inits += ["mbarrier_init %%%s[%d], 1" % (name, i) for i in range(count) if self.is_explicit]
        start = inits + ["store %b, (broadcast 1.0 : f16[16, 32])", "commit_smem"]
        out = ["kernel @k(%%x: in gmem f16[128, 16], %%y: inout gmem f32[%d, 128, 32]) threads(wg = 3)" % self.outputs,
               "{"]
        out += ["  scratch " + text for text in objects] + ["  if (eq (axis_index wg), 0) {"]
        out += ["    " + text for text in start] + ["  }", "  block_barrier"]
        for actor, lines in enumerate(self.lines):
            out += ["  if (eq (axis_index wg), %d) {" % actor] + ["    " + text for text in lines] + ["  }"]
        return HEAD + "\n".join(out + ["}", ""])


class TensorScopes(Waiting):
    """Scopes one after another that take the same columns, with work in flight across their ends."""

    TYPES = (("f32", 128, 32, ""), ("f32", 128, 16, ""), ("f32", 64, 32, ""), ("f16", 128, 32, " packed"),
             ("f16", 128, 32, ""))

    def __init__(self, seed):
        super().__init__("tensor scopes", seed, 1)
        self.actors = self.pick(1, 1, 2)
        self.waits = [[] for _ in range(self.actors)]  # that are still to be written
        self.body = []
        for number in range(self.draw.randint(2, 4)):
            self.add_lines("  ", [self.flush(actor, 0.6) for actor in range(self.actors)])
            self.add_scope("%%i%d" % number)
        self.add_lines("  ", [self.flush(actor, 0.9) for actor in range(self.actors)])

    def add_scope(self, name):
        if self.chance(0.25):
            self.add_smem(name)
            return
        dtype, rows, columns, packed = self.pick(*self.TYPES)
        self.body.append("  scoped(%s : tmem %s[%d, %d]%s)%s {" % (
            name, dtype, rows, columns, packed, " collective" if self.actors > 1 else ""))
        turn = self.draw.randrange(self.actors)
        for actor in [turn] if self.chance(0.8) else range(self.actors):
            lines = [[] for _ in range(self.actors)]
            lines[actor] = self.flush(actor, 0.3) + self.use(actor, name, dtype, rows, columns)
            self.add_lines("    ", lines)
        self.body.append("  }")

    def add_smem(self, name):
        """A scope that takes no columns."""
        self.body.append("  scoped(%s : smem f32[32])%s {" % (name, " collective" if self.actors > 1 else ""))
        turn = self.draw.randrange(self.actors)
        lines = [[] for _ in range(self.actors)]
        lines[turn] = ["store %s, (broadcast 1.0 : f32[32])" % name, "commit_smem",
                       "copy_smem_to_gmem %s, %s[0]" % (name, self.output())]
        if self.chance(0.5):
            lines[turn].append("wait_smem_to_gmem 0 read_only")
        else:
            self.waits[turn].append("wait_smem_to_gmem 0")
        self.add_lines("    ", lines)
        self.body.append("  }")

    def use(self, actor, name, dtype, rows, columns):
        part, width = name, columns
        if self.chance(0.4):
            width = columns // 2
            part = "%s[:, ds(%d, %d)]" % (name, self.pick(0, width), width)
        lines = []
        store = "async_store_tmem %s, (broadcast 1.0 : %s[%d, %d])" % (part, dtype, rows, width)
        load = "store %s, (cast (async_load_tmem %s) : f32)" % (
            self.output() + "[ds(0, %d), ds(0, %d)]" % (rows, width), part)
        if dtype == "f32":
            load = load.replace("(cast ", "").replace(" : f32)", "")
        for its, wait in ((store, "commit_tmem"), (load, "wait_load_tmem"))[:self.pick(1, 2, 2)]:
            lines.append(its)
            if self.chance(0.75):
                lines.append(wait)
            else:
                self.waits[actor].append(wait)
        if name == part and dtype == "f32" and rows == 128 and self.chance(0.5):
            barrier = self.barrier()
            lines += ["tcgen05_mma %s, %%a, %%s[:, ds(0, %d)], true" % (name, columns),
                      "tcgen05_commit_arrive " + barrier]
            if self.chance(0.6):
                lines.append("barrier_wait " + barrier)
            else:
                self.waits[actor].append("barrier_wait " + barrier)
        return lines

    def text(self):
        objects = ["%a : smem f16[128, 16] tile(8, 16) swizzle(32)", "%s : smem f16[16, 32] tile(8, 16) swizzle(32)",
                   "%%b : barrier[%d] orders_tensor_core" % max(self.barriers, 1)]
        start = ["store %a, (broadcast 1.0 : f16[128, 16])", "store %s, (broadcast 1.0 : f16[16, 32])", "commit_smem"]
        out = ["kernel @k(%%y: inout gmem f32[%d, 128, 32]) threads(wg = %d)" % (max(self.outputs, 1), self.actors),
               "{"]
        out += ["  scratch " + text for text in objects]
        if self.actors > 1:
            start = ["if (eq (axis_index wg), 0) {"] + ["  " + text for text in start] + ["}", "block_barrier"]
        return HEAD + "\n".join(out + ["  " + text for text in start] + self.body + ["}", ""])


class TensorClusters(Tensors):
    """The same by two threads in each of two CTAs, which have tensor memory of their own: what puts accesses of one in
    order may lead through the other one."""

    def __init__(self, seed):
        super().__init__(seed)

    def choose_shape(self):
        self.draw.seed("tensor clusters %s" % self.seed)
        self.actors, self.has_partitions = 4, False  # actor: 2 * CTA + thread
        self.lines = [[] for _ in range(4)]
        self.axis = self.pick("cluster", "cluster", "grid")

    def hand_over(self, actor, other):
        is_near = actor // 2 == other // 2
        if is_near and self.waits[actor // 2] and self.chance(0.35):
            self.lines[other].append("barrier_wait " + self.waits[actor // 2].pop())
            return
        ways = [self.by_global_semaphore]
        if is_near:
            ways += [self.by_ordering_barrier] * 3 + [self.by_plain_barrier, self.by_mbarrier]
        elif self.axis == "cluster":
            ways += [self.by_remote] * 3 + [self.by_cluster_barrier]
        self.draw.choice(ways)(actor, other)

    def by_global_semaphore(self, actor, other):
        self.semaphores += 1
        unit = "%%u[%d]" % (self.semaphores - 1)
        self.lines[actor].append("semaphore_signal %s, 1%s" % (unit, self.order()))
        self.lines[other].append("semaphore_wait %s, 1%s" % (unit, self.order()))

    def by_remote(self, actor, other):
        self.explicit += 1
        bar = "%%r[%d]" % (self.explicit - 1)
        self.lines[actor].append("mbarrier_arrive %s.cluster(%d)%s" % (bar, other // 2, self.order()))
        self.lines[other].append("mbarrier_wait %s, 0%s" % (bar, self.order()))

    def by_cluster_barrier(self, _actor, _other):
        for lines in self.lines:
            lines.append("cluster_barrier")

    def divide(self, start):
        out = ["  if (eq (axis_index wg), 0) {"] + ["    " + text for text in start] + ["  }", "  block_barrier"]
        out += ["  cluster_barrier"] if self.axis == "cluster" else []
        for actor, lines in enumerate(self.lines):
            out += ["  if (and (eq (axis_index g), %d), (eq (axis_index wg), %d)) {" % (actor // 2, actor % 2)]
            out += ["    " + text for text in lines] + ["  }"]
        return out
