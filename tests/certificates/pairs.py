"""Kernels in which the two CTAs of a pair hand tensor memory on, round by round.

Both run the same text. A thread of the one that leads multiplies for both; what reads the sums, and what feeds the
operands, are threads of both. Whom an arrival has to reach follows from who writes next: the leader alone where only
its MMAs write a slot, both where each CTA stores first.

SPDX-License-Identifier: Apache-2.0
"""
import typing

from kernel import Hand, add, emit_parts, mod, parity

COLUMNS = 32
ROW_BYTES = 2 * COLUMNS
# What each is, and its values: operands of products with tables beside them, the same in both CTAs.
OPERANDS = {
    "a8": ("f8e4m3[128, 128] tile(8, 128) swizzle(128)", "(cast (broadcast 1.0 : f32[128, 128]) : f8e4m3)"),
    "b8": (f"f8e5m2[{COLUMNS // 2}, 128] tile(8, 128) swizzle(128)",
           f"(cast (broadcast 2.0 : f32[{COLUMNS // 2}, 128]) : f8e5m2)"),
    "scales": ("f8e8m0[1, 1, 32, 16]", "(cast (broadcast 2.0 : f32[1, 1, 32, 16]) : f8e8m0)"),
    "kept": ("f16[128, 64] tile(8, 64) swizzle(128)", "(broadcast 1.0 : f16[128, 64])"),
    "whole": (f"f16[{COLUMNS // 2}, 128] tile(8, 64) swizzle(128)", f"(broadcast 2.0 : f16[{COLUMNS // 2}, 128])"),
    "codes": ("u16[1, 128, 8]", "(broadcast 0x4444 : u16[1, 128, 8])"),
}
NEEDS = {"scaled": ("a8", "b8", "scales"), "sparse": ("kept", "whole", "codes")}


class Ring:
    """Elements of one barrier, and who hears of an arrival: "own" CTA, the "leader", or "both"."""

    def __init__(self, pair, slots, arrivals, hears):
        self.pair, self.kernel, self.slots, self.hears = pair, pair.kernel, slots, hears
        self.is_explicit = pair.is_explicit
        self.is_shared = self.is_explicit and hears == "leader" and pair.kernel.draw.random() < 0.5
        if self.is_explicit:
            count = arrivals if hears == "own" or self.is_shared else 2 * arrivals
            self.name = self.kernel.add_mbarrier(count, slots)
            if self.is_shared:
                self.kernel.scratch[-1] += " two_ctas"
        else:
            words = {"own": "", "leader": " cluster(g) leader_tracked", "both": " cluster(g)"}[hears]
            what = f"barrier[{slots}] arrivals({arrivals}) orders_tensor_core{words}"
            self.name = self.kernel.add_object("b", what)

    def refer(self, i, cta=None):
        place = "" if cta is None else f".cluster({cta})"
        return f"{self.name}{place}[{mod(i, self.slots)}]"

    def arrive(self, i):
        if not self.is_explicit:
            self.kernel.emit(f"barrier_arrive {self.refer(i)}")
            return
        heard = {"own": (None,), "leader": (None if self.is_shared else 0,), "both": (0, 1)}
        ctas: typing.Any = heard[self.hears]
        self.kernel.emit(*(f"mbarrier_arrive {self.refer(i, cta)}" for cta in ctas))

    def wait(self, i, before=0):
        """For the phase of round i; with before for the one before it, which the first rounds do not have."""
        kernel = self.kernel
        if self.is_explicit:
            kernel.emit(f"mbarrier_wait {self.refer(i)}, {parity(i, self.slots, before)}")
        elif not before or isinstance(i, int) and i >= self.slots:
            kernel.emit(f"barrier_wait {self.refer(i)}")
        elif not isinstance(i, int) and self.pair.rounds > self.slots:
            kernel.emit(f"if (ge {i}, {self.slots}) {{", f"barrier_wait {self.refer(i)}", "}")

    def commit(self, i):
        """The tensor core's arrival in both CTAs, in one of three ways."""
        way = self.pair.telling
        if way == "each":
            self.kernel.emit(*(f"tcgen05_commit_arrive {self.refer(i, cta)}" for cta in (0, 1)))
        else:
            self.kernel.emit(f"tcgen05_commit_arrive {self.refer(i)} {way}(g)")

    def drain(self):
        if not self.is_explicit:
            for i in range(max(0, self.pair.rounds - self.slots), self.pair.rounds):
                self.wait(i)


class Feed:
    """Slots of an operand that a thread of both CTAs loads, each half of it, and the MMAs of the leader read."""

    def __init__(self, pair, thread):
        self.pair, self.kernel, self.thread = pair, pair.kernel, thread
        self.slots = self.kernel.draw.randint(1, min(2, pair.rounds))
        self.name = self.kernel.add_object(
            "s", f"smem f16[{self.slots}, 128, {COLUMNS}] tile(8, {COLUMNS}) swizzle({ROW_BYTES})")
        if pair.is_explicit:
            self.full = self.kernel.add_mbarrier(1, self.slots)
            self.kernel.scratch[-1] += " two_ctas"
        else:
            self.full = self.kernel.add_object("b", f"barrier[{self.slots}]")
        self.read = Ring(pair, self.slots, 1, "own")
        self.is_shared = not pair.is_explicit and self.kernel.draw.random() < 0.3  # all of the box comes to both

    def refer(self, i):
        return f"{self.name}[{mod(i, self.slots)}]"

    def emit_copy(self, i):
        full = f"{self.full}[{mod(i, self.slots)}]"
        self.read.wait(i, 1)
        if self.pair.is_explicit:
            self.kernel.emit(f"mbarrier_expect {full}, {128 * ROW_BYTES}",
                             f"copy_gmem_to_smem {self.pair.fed}[{i}, ds(%top, 128)], {self.refer(i)}, {full}")
            return
        rows, part = (", ds(0, 128)", "") if self.is_shared else ("", " partitioned(0)")
        self.kernel.emit(f"copy_gmem_to_smem {self.pair.fed}[{i}{rows}], {self.refer(i)}, {full} collective_axes(g) "
                         f"leader_tracked{part}")

    def wait(self, i):
        full = f"{self.full}[{mod(i, self.slots)}]"
        self.kernel.emit(f"mbarrier_wait {full}, {parity(i, self.slots)}" if self.pair.is_explicit
                         else f"barrier_wait {full}")


class Channel:
    """Slots of tensor memory from one thread of both CTAs to later ones."""

    def __init__(self, pair, producer, consumers):
        self.pair, self.kernel = pair, pair.kernel
        self.producer, self.consumers = producer, consumers
        draw = self.kernel.draw
        self.slots = draw.randint(1, min(3, pair.rounds))
        self.writes = draw.choice(("mma", "mma", "mma-twice", "store-mma", "a-mma", "store", "scaled", "sparse"))
        self.stores_back = len(consumers) == 1 and draw.random() < 0.3
        self.readers = draw.choice(((0, 1), (0, 1), (0,), (1,)))  # CTAs that read; the others arrive all the same
        self.name = self.add_tmem("f32")
        has_own_writes = self.writes in ("store", "store-mma", "a-mma")
        hears = "own" if self.writes == "store" else "both" if has_own_writes else "leader"
        self.full, self.free = Ring(pair, self.slots, 1, "own"), Ring(pair, self.slots, len(consumers), hears)
        if self.writes in ("store-mma", "a-mma"):
            self.told = Ring(pair, self.slots, 1, "leader")
        if self.writes == "a-mma":
            self.a = self.add_tmem("f16", " packed")
        self.feed = None
        if self.writes.startswith("mma") and draw.random() < 0.6:
            self.feed = Feed(pair, draw.randint(0, producer))
        if self.writes == "scaled":
            self.tables = [self.add_tmem("f8e8m0", " scales", 4) for _ in range(2)]
        elif self.writes == "sparse":
            self.tables = [self.add_tmem("u16", " metadata", 8)]
        for name in NEEDS.get(self.writes, ()):
            pair.add_operand(name)
        self.rows = {consumer: pair.take_row() for consumer in consumers}

    def add_tmem(self, dtype, words="", columns=COLUMNS):
        return self.kernel.add_object("t", f"tmem {dtype}[{self.slots}, 128, {columns}]{words} collective")

    def refer(self, name, i):
        return f"{name}[{mod(i, self.slots)}]"

    def emit_produce(self, i, value):
        kernel, slot = self.kernel, self.refer(self.name, i)
        if self.feed and self.feed.thread == self.producer:
            self.feed.emit_copy(i)
        if self.writes in ("store", "store-mma", "a-mma"):
            self.free.wait(i, 1)
            target, value = (self.refer(self.a, i), f"(cast {value} : f16)") if self.writes == "a-mma" \
                else (slot, value)
            kernel.emit(f"async_store_tmem {target}, {value}", "commit_tmem")
            (self.full if self.writes == "store" else self.told).arrive(i)
        if self.writes != "store":
            kernel.emit("if (eq %c, 0) {")
            self.emit_product(i, slot)
            kernel.emit("}")

    def emit_product(self, i, slot):
        if self.writes in ("store-mma", "a-mma"):
            self.told.wait(i)
        else:
            self.free.wait(i, 1)
        if self.feed:
            self.feed.wait(i)
        if self.writes in NEEDS:
            self.emit_with_tables(i, slot)
        else:
            self.emit_plain(i, slot)
        if self.feed:
            self.feed.read.commit(i)
        self.full.commit(i)

    def emit_plain(self, i, slot):
        a = self.refer(self.a, i) if self.writes == "a-mma" else self.feed.refer(i) if self.feed else self.pair.a
        product = f"tcgen05_mma {slot}, {a}, {self.pair.b}, "
        self.kernel.emit(product + ("true" if self.writes == "store-mma" else "false") + " collective_axis(g)")
        if self.writes == "mma-twice":
            self.kernel.emit(product + "true collective_axis(g)")

    def emit_with_tables(self, i, slot):
        """The tables of both CTAs come before each product, from the SMEM of each."""
        a, b, source = (self.pair.operands[name] for name in NEEDS[self.writes])
        op, what = {"scaled": ("tcgen05_mma_scaled", "scales"),
                    "sparse": ("tcgen05_mma_sp", "sparse_metadata")}[self.writes]
        tables = [self.refer(table, i) for table in self.tables]
        self.kernel.emit(*(f"async_copy_{what}_to_tmem {source}, {table} collective_axis(g)" for table in tables),
                         f"{op} {slot}, {a}, {b}.transpose(1, 0), {', '.join(tables)}, false collective_axis(g)")

    def emit_consume(self, i, actor):
        kernel, slot, value = self.kernel, self.refer(self.name, i), None
        self.full.wait(i)
        is_for_both = len(self.readers) == 2
        if not is_for_both:
            kernel.emit(f"if (eq %c, {self.readers[0]}) {{")
        value = kernel.name_value()
        kernel.emit(f"{value} = async_load_tmem {slot}", "wait_load_tmem")
        if self.stores_back:
            kernel.emit(f"async_store_tmem {slot}, (add {value}, 1.0)", "commit_tmem")
            value = kernel.name_value()
            kernel.emit(f"{value} = async_load_tmem {slot}", "wait_load_tmem")
        store = f"store {self.pair.output}[{self.rows[actor]}, {i}, %c], {value}"
        if not is_for_both:
            kernel.emit(store, "}")
        self.free.arrive(i)
        if is_for_both:
            kernel.emit(store)
        return value if is_for_both else None

    def drain(self):
        """The last phases that hand slots back."""
        if self.feed and self.feed.thread == self.producer:
            self.feed.read.drain()
        if self.free.hears == "leader" and not self.free.is_explicit:
            self.kernel.emit("if (eq %c, 0) {")
            self.free.drain()
            self.kernel.emit("}")
        else:
            self.free.drain()


class Feeder:
    """A thread that feeds the channel of a later one, as a channel that it produces."""

    def __init__(self, feed):
        self.feed, self.producer, self.consumers = feed, feed.thread, []

    def emit_produce(self, i, _value):
        self.feed.emit_copy(i)

    def drain(self):
        self.feed.read.drain()


class Pairs(Hand):
    def __init__(self, kernel):
        self.kernel = kernel
        draw = kernel.draw
        self.threads, self.rounds = draw.randint(2, 4), draw.randint(1, 4)
        self.is_loop, self.is_explicit = draw.random() < 0.6, draw.random() < 0.5
        self.telling = draw.choice(("collective_axis", "multicast", "each"))
        self.input = kernel.add_param("x", "in", f"f32[{self.rounds}, 256, {COLUMNS}]")
        self.fed = kernel.add_param("f", "in", f"f16[{self.rounds}, 256, {COLUMNS}]")
        self.output = f"%y{kernel.number}"
        self.a = kernel.add_object("s", f"smem f16[128, {COLUMNS}] tile(8, {COLUMNS}) swizzle({ROW_BYTES})")
        self.b = kernel.add_object("s", f"smem f16[{COLUMNS}, {COLUMNS // 2}] tile(8, {COLUMNS // 2}) swizzle(32)")
        self.channels, self.operands = [], {}
        for _ in range(draw.choice((1, 1, 2))):
            producer = draw.randrange(self.threads - 1)
            later = range(producer + 1, self.threads)
            self.channels.append(Channel(self, producer, sorted(draw.sample(later, min(len(later),
                                                                                       draw.choice((1, 1, 2)))))))
        self.channels += [Feeder(c.feed) for c in self.channels if c.feed and c.feed.thread != c.producer]
        kernel.add_param("y", "out", f"f32[{self.row_count}, {self.rounds}, 2, 128, {COLUMNS}]")
        self.emit_body()

    def read_input(self, i):
        return f"(load {self.input}[{add(i, 0)}, ds(%top, 128)])"

    def add_operand(self, name):
        if name not in self.operands:
            self.operands[name] = self.kernel.add_object("s", "smem " + OPERANDS[name][0])

    def emit_start(self):
        self.kernel.emit(*(f"store {operand}, {OPERANDS[name][1]}" for name, operand in self.operands.items()))
        self.kernel.emit(f"store {self.a}, (cast (load {self.input}[0, ds(%top, 128)]) : f16)",
                         f"store {self.b}, (cast (load {self.input}[0, ds(0, {COLUMNS}), ds(0, {COLUMNS // 2})]) : "
                         "f16)",
                         "commit_smem", *self.kernel.list_inits())

    def emit_body(self):
        kernel = self.kernel
        kernel.launch = (f'grid(t = 1) cluster(g = 2) threads(wg = {self.threads}) attr arch = "sm_100a" '
                         "cluster_exit = sync")
        used = [a for a in range(self.threads)
                if any(a == c.producer or a in c.consumers for c in self.channels)]
        kernel.emit("%c = axis_index g", "%top = mul %c, 128")
        if kernel.draw.random() < 0.4:
            self.emit_start()
            kernel.emit("cluster_barrier")
            emit_parts(kernel, self.threads, used, self.emit_actor)
            return
        kernel.emit("%w = axis_index wg", "if (eq %w, 0) {")
        self.emit_start()
        kernel.emit("}", "cluster_barrier")
        kernel.emit_branches("%w", [(actor, lambda actor=actor: self.emit_actor(actor)) for actor in used])


def draw_pairs(kernel):
    Pairs(kernel)
