"""Kernels in which one tile of SMEM goes from access to access: threads and engines write it, read it and fill it
again, and each access comes after one or more before it, by an edge that may be too weak for it.

A verdict has most to weigh in such a chain: one that has read a write vouches for it to the next, an
engine that is done is a fact in time that relaxed edges carry too, and a store that was not committed is
none. Nothing here is right or wrong by construction; what counts is that a verdict which is said to hold
does hold.

SPDX-License-Identifier: Apache-2.0
"""

COLUMNS = 16
WRITES = ("store", "store", "tma-load", "tma-load", "async-copy")
# What the tile holds: operands of a product, or sums that the tensor core begins with.
READS = {"f16": ("load", "load", "tma-store", "product", "product"),
         "f32": ("load", "tma-store", "reduce", "sums", "sums")}
LAYOUTS = {"f16": f"tile(8, {COLUMNS}) swizzle(32)", "f32": f"tile(8, {COLUMNS}) swizzle(64)"}


class Relay:
    def __init__(self, kernel):
        self.kernel, draw = kernel, kernel.draw
        kernel.is_right = False
        self.is_blackwell = draw.random() < 0.6
        self.dtype = "f32" if self.is_blackwell and draw.random() < 0.3 else "f16"
        self.rows = 128 if self.is_blackwell else 64
        self.threads = draw.choice((2, 2, 3, 4))
        self.count = draw.randint(3, 6)
        self.draw_accesses()
        kernel.launch = f"threads(wg = {self.threads})" + ' attr arch = "sm_100a"' * self.is_blackwell
        self.input = kernel.add_param("x", "in", f"{self.dtype}[{self.count}, {self.rows}, {COLUMNS}]")
        self.output = kernel.add_param("y", "inout", f"{self.dtype}[{self.count}, {self.rows}, {COLUMNS}]")
        self.sums = kernel.add_param("z", "inout", f"f32[{self.count}, {self.rows}, {COLUMNS}]")
        kernel.options += ["--input", f"{self.output[1:]}=zeros", "--input", f"{self.sums[1:]}=zeros"]
        self.tile = kernel.add_object("s", f"smem {self.dtype}[{self.rows}, {COLUMNS}] {LAYOUTS[self.dtype]}")
        self.other = kernel.add_object("o", f"smem f16[{COLUMNS}, {COLUMNS}] {LAYOUTS['f16']}")
        self.done = [kernel.add_object("b", "barrier[1]" + self.say_tensor_order(k, 0.7)) for k in range(self.count)]
        self.own = [kernel.add_object("c", "barrier[1]" + self.say_tensor_order(k, 1)) for k in range(self.count)]
        self.products = [self.add_sums() if self.is_by_tensor_core(k) else None for k in range(self.count)]
        self.waited = [set() for _ in range(self.threads)]
        self.emit_body()

    def add_sums(self):
        return self.kernel.add_object("t", f"tmem f32[128, {COLUMNS}]" if self.is_blackwell else
                                      f"acc f32[64, {COLUMNS}]")

    def draw_accesses(self):
        """What each does: the first one writes."""
        draw = self.kernel.draw
        self.actors = [draw.randrange(self.threads) for _ in range(self.count)]
        self.kinds = [draw.choice(WRITES)]
        while len(self.kinds) < self.count:
            # After a write mostly a read.
            is_read = draw.random() < (0.85 if self.kinds[-1] in WRITES else 0.35)
            self.kinds.append(draw.choice(READS[self.dtype] if is_read else WRITES))
        self.before = [self.draw_before(k) for k in range(self.count)]

    def draw_before(self, k):
        """The accesses that the k-th one waits for."""
        draw = self.kernel.draw
        before = {k - 1} if k and draw.random() < 0.85 else set()
        if k > 1 and (not before or draw.random() < 0.3):
            before.add(draw.randrange(k - 1))
        return sorted(before)

    def is_by_tensor_core(self, k):
        return self.kinds[k] in ("product", "sums")

    def say_tensor_order(self, k, chance):
        """A barrier that a commit of the tensor core arrives at has to order it."""
        if not self.is_blackwell or not self.is_by_tensor_core(k):
            return ""
        is_said = self.is_told_by_engine(k) or self.kernel.draw.random() < chance
        return " orders_tensor_core" if is_said else ""

    def maybe(self, chance, *texts):
        if self.kernel.draw.random() < chance:
            self.kernel.emit(*texts)

    def say_order(self, chance):
        return " order(relaxed)" if self.kernel.draw.random() < chance else ""

    def wait(self, k, actor):
        if k not in self.waited[actor]:
            self.waited[actor].add(k)
            self.kernel.emit(f"barrier_wait {self.done[k]}[0]{self.say_order(0.15)}")

    def emit_access(self, k):
        """Waits, the access, and how others hear that it is done."""
        actor = self.actors[k]
        for earlier in self.before[k]:
            if self.actors[earlier] != actor or self.is_told_by_engine(earlier):
                self.wait(earlier, actor)
        self.maybe(0.4, "commit_smem")
        getattr(self, "emit_" + self.kinds[k].replace("-", "_"))(k)

    def has_waiter(self, k):
        """Whether somebody waits for the k-th access before one of his own."""
        return any(k in self.before[j] and (self.actors[j] != self.actors[k] or self.is_told_by_engine(k))
                   for j in range(self.count))

    def is_told_by_engine(self, k):
        return self.kinds[k] not in ("store", "load", "tma-store", "reduce") and k % 2 == 0

    def arrive(self, k, relaxed):
        self.kernel.emit(f"barrier_arrive {self.done[k]}[0]{self.say_order(relaxed)}")

    def emit_store(self, k):
        self.kernel.emit(f"store {self.tile}, (add (load {self.input}[{k}]), {k}.0)")
        self.maybe(0.7, "commit_smem")
        self.arrive(k, 0.1)

    def emit_load(self, k):
        self.kernel.emit(f"store {self.output}[{k}], (load {self.tile})")
        self.maybe(0.7, "commit_smem")
        self.arrive(k, 0.3)

    def emit_tma_load(self, k):
        target = (self.done if self.is_told_by_engine(k) else self.own)[k]
        self.kernel.emit(f"copy_gmem_to_smem {self.input}[{k}], {self.tile}, {target}[0]")
        if not self.is_told_by_engine(k):
            self.maybe(0.9, f"barrier_wait {target}[0]")
            self.arrive(k, 0.4)

    def emit_async_copy(self, k):
        self.kernel.emit(f"async_copy {self.input}[{k}], {self.tile}")
        if self.is_told_by_engine(k):
            self.kernel.emit(f"async_copy_arrive {self.done[k]}[0]")
            return
        self.kernel.emit("async_copy_commit_group")
        self.maybe(0.9, "async_copy_wait 0")
        self.maybe(0.7, "commit_smem")
        self.arrive(k, 0.2)

    def emit_tma_store(self, k):
        kernel, ending = self.kernel, " reduce(add)" * (self.kinds[k] == "reduce")
        kernel.emit(f"copy_smem_to_gmem {self.tile}, {self.output}[{k}]{ending}")
        self.maybe(0.9, "wait_smem_to_gmem 0" + self.kernel.draw.choice((" read_only", " read_only", "")))
        self.arrive(k, 0.4)

    emit_reduce = emit_tma_store

    def emit_product(self, k):
        if self.is_blackwell:
            self.kernel.emit(f"tcgen05_mma {self.products[k]}, {self.tile}, {self.other}, false")
            self.emit_commit(k)
        else:
            self.emit_wgmma(k)

    def emit_sums(self, k):
        self.kernel.emit(f"async_copy_smem_to_tmem {self.tile}, {self.products[k]}")
        self.emit_commit(k)

    def emit_commit(self, k):
        kernel, told = self.kernel, (self.done if self.is_told_by_engine(k) else self.own)[k]
        if self.is_told_by_engine(k):
            kernel.emit(f"tcgen05_commit_arrive {self.done[k]}[0]", f"tcgen05_commit_arrive {self.own[k]}[0]")
            return
        kernel.emit(f"tcgen05_commit_arrive {told}[0]", f"barrier_wait {told}[0]")
        self.arrive(k, 0.4)

    def emit_wgmma(self, k):
        self.kernel.emit(f"wgmma_async {self.products[k]}, {self.tile}, {self.other}")
        self.maybe(0.9, "wgmma_wait 0")
        self.arrive(k, 0.4)

    def emit_results(self, k):
        """What the tensor core made of the tile, at the end of the thread that asked for it."""
        kernel, value = self.kernel, self.kernel.name_value()
        if not self.is_blackwell:
            kernel.emit("wgmma_wait 0", f"store {self.sums}[{k}], (acc_load {self.products[k]})")
            return
        if self.is_told_by_engine(k):
            kernel.emit(f"barrier_wait {self.own[k]}[0]")
        kernel.emit(f"{value} = async_load_tmem {self.products[k]}", "wait_load_tmem",
                    f"store {self.sums}[{k}], {value}")

    def emit_actor(self, actor):
        mine = [k for k in range(self.count) if self.actors[k] == actor]
        for k in mine:
            self.emit_access(k)
        for k in mine:
            if all(k not in waited for waited in self.waited) and not self.has_waiter(k):
                self.wait(k, actor)
        if any(self.kinds[k] in ("tma-store", "reduce") for k in mine):
            self.kernel.emit("wait_smem_to_gmem 0")
        for k in mine:
            if self.is_by_tensor_core(k):
                self.emit_results(k)

    def emit_body(self):
        kernel = self.kernel
        kernel.emit("%w = axis_index wg", "if (eq %w, 0) {",
                    f"store {self.other}, (broadcast 1.0 : f16[{COLUMNS}, {COLUMNS}])", "commit_smem", "}",
                    "block_barrier")
        kernel.emit_branches("%w", [(actor, lambda actor=actor: self.emit_actor(actor)) for actor in range(self.threads)
                                    if actor in self.actors])


def draw_relays(kernel):
    Relay(kernel)
