"""Kernels in which threads hand tensor memory of Blackwell to others, round by round.

Each channel goes from one thread to one or two later ones. Its slots are written by stores or by MMAs,
read by loads, and in some handed back with what the reader has stored there in between. A barrier that
hands tensor memory on orders the tensor core.

SPDX-License-Identifier: Apache-2.0
"""
from kernel import emit_rounds, mod, parity

COLUMNS = 16


class Channel:
    """One producer, its consumers and the slots between them."""

    def __init__(self, hand, producer, consumers):
        self.hand, self.kernel = hand, hand.kernel
        self.producer, self.consumers = producer, consumers
        draw = self.kernel.draw
        self.slots = draw.randint(1, min(3, hand.rounds))
        self.writes = draw.choice(("store", "mma", "mma", "mma-twice", "store-mma"))
        self.stores_back = len(consumers) == 1 and draw.random() < 0.3  # and reads it once more
        self.is_explicit = draw.random() < 0.5
        self.name = self.kernel.add_object("t", f"tmem f32[{self.slots}, 128, {COLUMNS}]")
        self.full, self.free = self.add_barrier(1), self.add_barrier(len(consumers))
        self.rows = {consumer: hand.take_row() for consumer in consumers}

    def add_barrier(self, arrivals):
        if self.is_explicit:
            return self.kernel.add_mbarrier(arrivals, self.slots)
        return self.kernel.add_object("b", f"barrier[{self.slots}] arrivals({arrivals}) orders_tensor_core")

    def refer(self, name, i):
        return f"{name}[{mod(i, self.slots)}]"

    def arrive(self, name, i):
        self.kernel.emit(f"{'mbarrier' if self.is_explicit else 'barrier'}_arrive {self.refer(name, i)}")

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
        product = f"tcgen05_mma {slot}, {self.hand.a}, {self.hand.b}"
        kernel.emit(product + (", true" if self.writes == "store-mma" else ", false"))
        if self.writes == "mma-twice":
            kernel.emit(product)
        kernel.emit(f"tcgen05_commit_arrive {self.refer(self.full, i)}")

    def emit_consume(self, i, actor):
        """The value that was read."""
        kernel, slot, element = self.kernel, self.refer(self.name, i), self.refer(self.full, i)
        if self.is_explicit:
            kernel.emit(f"mbarrier_wait {element}, {parity(i, self.slots)}")
        else:
            kernel.emit(f"barrier_wait {element}")
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


class Tensors:
    def __init__(self, kernel):
        self.kernel = kernel
        draw = kernel.draw
        self.threads = draw.randint(2, 4)
        self.rounds = draw.randint(1, 4)
        self.is_loop = draw.random() < 0.6
        self.input = kernel.add_param("x", "in", f"f32[{self.rounds}, 128, {COLUMNS}]")
        self.row_count = 0
        self.output = f"%y{kernel.number}"
        self.a = kernel.add_object("s", f"smem f16[128, {COLUMNS}] tile(8, {COLUMNS}) swizzle(32)")
        self.b = kernel.add_object("s", f"smem f16[{COLUMNS}, {COLUMNS}] tile(8, {COLUMNS}) swizzle(32)")
        self.channels = []
        for _ in range(draw.choice((1, 1, 2, 3))):
            producer = draw.randrange(self.threads - 1)
            later = range(producer + 1, self.threads)
            consumers = sorted(draw.sample(later, min(len(later), draw.choice((1, 1, 2)))))
            self.channels.append(Channel(self, producer, consumers))
        kernel.add_param("y", "out", f"f32[{self.row_count}, {self.rounds}, 128, {COLUMNS}]")
        self.emit_body()

    def take_row(self):
        self.row_count += 1
        return self.row_count - 1

    def emit_actor(self, actor):
        kernel = self.kernel

        def emit_round(i):
            values = [channel.emit_consume(i, actor) for channel in self.channels if actor in channel.consumers]
            for channel in self.channels:
                if channel.producer == actor:
                    value = kernel.draw.choice(values) if values else f"(load {self.input}[{i}])"
                    channel.emit_produce(i, f"(add {value}, {actor + 1}.0)")

        emit_rounds(kernel, self.rounds, self.is_loop, emit_round)
        for channel in self.channels:
            if channel.producer == actor:
                channel.drain()

    def emit_start(self):
        self.kernel.emit(f"store {self.a}, (cast (load {self.input}[0]) : f16)",
                         f"store {self.b}, (cast (load {self.input}[0, ds(0, {COLUMNS})]) : f16)", "commit_smem",
                         *self.kernel.list_inits())

    def emit_body(self):
        kernel = self.kernel
        kernel.launch = f'threads(wg = {self.threads}) attr arch = "sm_100a"'
        used = [a for a in range(self.threads)
                if any(a == c.producer or a in c.consumers for c in self.channels)]
        if kernel.draw.random() < 0.4:
            self.emit_start()
            for thread in range(self.threads):
                kernel.emit("warp_specialize {" if thread == 0 else "} partition {")
                if thread in used:
                    self.emit_actor(thread)
                else:
                    kernel.emit("delay 1")
            kernel.emit("}")
            return
        kernel.emit("%w = axis_index wg", "if (eq %w, 0) {")
        self.emit_start()
        kernel.emit("}", "block_barrier")
        kernel.emit_branches("%w", [(actor, lambda actor=actor: self.emit_actor(actor)) for actor in used])


def draw_tensors(kernel):
    Tensors(kernel)
