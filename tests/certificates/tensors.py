"""Kernels in which threads hand tensor memory of Blackwell to others, round by round.

Each channel goes from one thread to one or two later ones. Its slots are written by stores or by MMAs,
read by loads, and in some handed back with what the reader has stored there in between. A barrier that
hands tensor memory on orders the tensor core.

SPDX-License-Identifier: Apache-2.0
"""
from kernel import Hand, emit_parts, mod, parity

COLUMNS = 16
SCALES = "f8e8m0[1, 1, 32, 16]"
WRITES = ("store", "mma", "mma", "mma-twice", "mma-mixed", "store-mma", "copy-mma", "over", "scaled", "sparse")


class Channel:
    """One producer, its consumers and the slots between them."""

    def __init__(self, hand, producer, consumers):
        self.hand, self.kernel = hand, hand.kernel
        self.producer, self.consumers = producer, consumers
        draw = self.kernel.draw
        self.slots = draw.randint(1, min(3, hand.rounds))
        self.writes = draw.choice(WRITES)
        self.stores_back = len(consumers) == 1 and draw.random() < 0.3  # and reads it once more
        self.is_explicit = draw.random() < 0.5
        self.name = self.kernel.add_object("t", f"tmem f32[{self.slots}, 128, {COLUMNS}]")
        self.read = self.name if draw.random() < 0.7 else self.add_other_name()
        self.full, self.free = self.add_barrier(1), self.add_barrier(len(consumers))
        if self.writes == "over":  # a product, and its terms over it, which another product reads
            self.sums = self.kernel.add_object("t", f"tmem f32[{self.slots}, 128, {COLUMNS}]")
            self.terms = self.kernel.add_object("t", f"tmem f16[{2 * self.slots}, 128, {COLUMNS}] packed "
                                                     f"alias({self.sums})")
            self.summed = self.add_barrier(1)
        elif self.writes == "copy-mma":
            self.copied = self.add_barrier(1)
        if self.writes == "scaled":
            self.tables = [self.add_table("f8e8m0", 4, "scales") for _ in range(2)]
        elif self.writes == "sparse":
            self.tables = [self.add_table("u16", 8, "metadata")]
        self.rows = {consumer: hand.take_row() for consumer in consumers}

    def add_barrier(self, arrivals):
        if self.is_explicit:
            return self.kernel.add_mbarrier(arrivals, self.slots)
        return self.kernel.add_object("b", f"barrier[{self.slots}] arrivals({arrivals}) orders_tensor_core")

    def add_other_name(self):
        """What the consumers call it: the same columns."""
        return self.kernel.add_object("t", f"tmem f32[{self.slots}, 128, {COLUMNS}] alias({self.name})")

    def name_operands(self):
        for name in {"store": (), "scaled": ("a8", "b8", "scales"), "sparse": ("kept", "whole", "codes"),
                     "mma-mixed": ("a", "b", "a2", "b2"), "copy-mma": ("a", "b", "start")}.get(self.writes, ("a", "b")):
            self.hand.get(name)

    def add_table(self, dtype, columns, layout):
        return self.kernel.add_object("u", f"tmem {dtype}[{self.slots}, 128, {columns}] {layout}")

    def refer(self, name, i):
        return f"{name}[{mod(i, self.slots)}]"

    def arrive(self, name, i):
        self.kernel.emit(f"{'mbarrier' if self.is_explicit else 'barrier'}_arrive {self.refer(name, i)}")

    def wait(self, name, i):
        phase = f", {parity(i, self.slots)}" * self.is_explicit
        self.kernel.emit(f"{'mbarrier' if self.is_explicit else 'barrier'}_wait {self.refer(name, i)}{phase}")

    def wait_for_free(self, i):
        element = self.refer(self.free, i)
        if self.is_explicit:
            self.kernel.emit(f"mbarrier_wait {element}, {parity(i, self.slots, 1)}")
        elif not isinstance(i, int):
            if self.hand.rounds > self.slots:
                self.kernel.emit(f"if (ge {i}, {self.slots}) {{", f"barrier_wait {element}", "}")
        elif i >= self.slots:
            self.kernel.emit(f"barrier_wait {element}")

    def emit_produce(self, i, value):
        kernel, slot = self.kernel, self.refer(self.name, i)
        self.wait_for_free(i)
        if self.writes.startswith("store"):
            kernel.emit(f"async_store_tmem {slot}, {value}", "commit_tmem")
        if self.writes == "store":
            self.arrive(self.full, i)
            return
        if self.writes == "over":
            self.emit_over(i)
        elif self.writes in ("scaled", "sparse"):
            self.emit_with_tables(i)
        else:
            self.emit_products(i)
        kernel.emit(f"tcgen05_commit_arrive {self.refer(self.full, i)}")

    def emit_products(self, i):
        hand, kernel, slot = self.hand, self.kernel, self.refer(self.name, i)
        product = f"tcgen05_mma {slot}, {hand.get('a')}, {hand.get('b')}"
        if self.writes == "copy-mma":
            kernel.emit(f"async_copy_smem_to_tmem {hand.get('start')}, {slot}",
                        f"tcgen05_commit_arrive {self.refer(self.copied, i)}")
            self.wait(self.copied, i)  # no order of issue holds between a copy and a product that adds to it
        kernel.emit(product + (", true" if self.writes in ("store-mma", "copy-mma") else ", false"))
        if self.writes == "mma-twice":
            kernel.emit(product)
        elif self.writes == "mma-mixed":
            kernel.emit(f"tcgen05_mma {slot}, {hand.get('a2')}, {hand.get('b2')}")

    def emit_over(self, i):
        """The terms take the columns of the sums that they come from: slot 2 s of 16 bits lies in slot s of 32."""
        hand, kernel, sums = self.hand, self.kernel, self.refer(self.sums, i)
        slot, value = mod(i, self.slots), kernel.name_value()
        kernel.emit(f"tcgen05_mma {sums}, {hand.get('a')}, {hand.get('b')}, false",
                    f"tcgen05_commit_arrive {self.refer(self.summed, i)}")
        self.wait(self.summed, i)
        kernel.emit(f"{value} = async_load_tmem {sums}", "wait_load_tmem")
        terms = f"{self.terms}[(add {slot}, {slot})]"
        kernel.emit(f"async_store_tmem {terms}, (cast {value} : f16)", "commit_tmem",
                    f"tcgen05_mma {self.refer(self.name, i)}, {terms}, {hand.get('b')}, false")

    def emit_with_tables(self, i):
        """What the tensor core reads beside the operands comes before each product, and has slots as the sums have."""
        hand, tables = self.hand, [self.refer(table, i) for table in self.tables]
        if self.writes == "scaled":
            for table in tables:
                self.kernel.emit(f"async_copy_scales_to_tmem {hand.get('scales')}, {table}")
            op, a, b = "tcgen05_mma_scaled", "a8", "b8"
        else:
            self.kernel.emit(f"async_copy_sparse_metadata_to_tmem {hand.get('codes')}, {tables[0]}")
            op, a, b = "tcgen05_mma_sp", "kept", "whole"
        self.kernel.emit(f"{op} {self.refer(self.name, i)}, {hand.get(a)}, {hand.get(b)}.transpose(1, 0), "
                         f"{', '.join(tables)}, false")

    def emit_consume(self, i, actor):
        """The value that was read."""
        kernel, slot = self.kernel, self.refer(self.read, i)
        self.wait(self.full, i)
        value = kernel.name_value()
        kernel.emit(f"{value} = async_load_tmem {slot}", "wait_load_tmem")
        if self.stores_back:
            kernel.emit(f"async_store_tmem {slot}, (add {value}, 1.0)", "commit_tmem")
            value = kernel.name_value()
            kernel.emit(f"{value} = async_load_tmem {slot}", "wait_load_tmem")
        self.arrive(self.free, i)
        kernel.emit(f"store {self.hand.output}[{self.rows[actor]}, {i}], {value}")
        return value

    def drain(self):
        """The last phases that hand slots back."""
        for i in range(max(0, self.hand.rounds - self.slots), self.hand.rounds):
            if not self.is_explicit:
                self.kernel.emit(f"barrier_wait {self.refer(self.free, i)}")


# What each is, and its values.
OPERANDS = {
    "a": (f"f16[128, {COLUMNS}] tile(8, {COLUMNS}) swizzle(32)", "(cast (load %x[0]) : f16)"),
    "b": (f"f16[{COLUMNS}, {COLUMNS}] tile(8, {COLUMNS}) swizzle(32)", f"(cast (load %x[0, ds(0, {COLUMNS})]) : f16)"),
    "a2": (f"bf16[128, {COLUMNS}] tile(8, {COLUMNS}) swizzle(32)", "(cast (load %x[0]) : bf16)"),
    "b2": (f"bf16[{COLUMNS}, {COLUMNS}] tile(8, {COLUMNS}) swizzle(32)",
           f"(cast (load %x[0, ds(0, {COLUMNS})]) : bf16)"),
    "start": (f"f32[128, {COLUMNS}] tile(8, {COLUMNS}) swizzle(64)", "(load %x[0])"),
    "a8": ("f8e4m3[128, 128] tile(8, 128) swizzle(128)", "(cast (broadcast 1.0 : f32[128, 128]) : f8e4m3)"),
    "b8": (f"f8e5m2[{COLUMNS}, 128] tile(8, 128) swizzle(128)",
           f"(cast (broadcast 2.0 : f32[{COLUMNS}, 128]) : f8e5m2)"),
    "scales": (SCALES, "(cast (broadcast 2.0 : f32[1, 1, 32, 16]) : f8e8m0)"),
    "kept": ("f16[128, 64] tile(8, 64) swizzle(128)", "(broadcast 1.0 : f16[128, 64])"),
    "whole": (f"f16[{COLUMNS}, 128] tile(8, 64) swizzle(128)", f"(broadcast 2.0 : f16[{COLUMNS}, 128])"),
    "codes": ("u16[1, 128, 8]", "(broadcast 0x4444 : u16[1, 128, 8])"),
}


class Tensors(Hand):
    def __init__(self, kernel):
        self.kernel = kernel
        draw = kernel.draw
        self.threads = draw.randint(2, 4)
        self.rounds = draw.randint(1, 4)
        self.is_loop = draw.random() < 0.6
        self.input = kernel.add_param("x", "in", f"f32[{self.rounds}, 128, {COLUMNS}]")
        self.output = f"%y{kernel.number}"
        self.operands = {}
        self.channels = []
        for _ in range(draw.choice((1, 1, 2, 3))):
            producer = draw.randrange(self.threads - 1)
            later = range(producer + 1, self.threads)
            consumers = sorted(draw.sample(later, min(len(later), draw.choice((1, 1, 2)))))
            self.channels.append(Channel(self, producer, consumers))
        kernel.add_param("y", "out", f"f32[{self.row_count}, {self.rounds}, 128, {COLUMNS}]")
        self.emit_body()

    def get(self, name):
        """An array in SMEM that the tensor core reads: those that are asked for are filled at the start."""
        if name not in self.operands:
            self.operands[name] = self.kernel.add_object("s", "smem " + OPERANDS[name][0])
        return self.operands[name]

    def read_input(self, i):
        return f"(load {self.input}[{i}])"

    def emit_start(self):
        """What the channels have named."""
        for name, operand in self.operands.items():
            self.kernel.emit(f"store {operand}, {OPERANDS[name][1].replace('%x', self.input)}")
        self.kernel.emit(*["commit_smem"] * bool(self.operands), *self.kernel.list_inits())

    def list_used(self):
        for channel in self.channels:  # the operands, before the start fills them
            channel.name_operands()
        return [a for a in range(self.threads)
                if any(a == c.producer or a in c.consumers for c in self.channels)]

    def emit_body(self):
        kernel = self.kernel
        kernel.launch = f'threads(wg = {self.threads}) attr arch = "sm_100a"'
        used = self.list_used()
        if kernel.draw.random() < 0.4:
            self.emit_start()
            emit_parts(kernel, self.threads, used, self.emit_actor)
            return
        kernel.emit("%w = axis_index wg", "if (eq %w, 0) {")
        self.emit_start()
        kernel.emit("}", "block_barrier")
        kernel.emit_branches("%w", [(actor, lambda actor=actor: self.emit_actor(actor)) for actor in used])


def draw_tensors(kernel):
    Tensors(kernel)
