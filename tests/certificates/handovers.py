"""Kernels in which actors hand tiles to others, round by round, through slots that are used again.

Each channel goes from one actor to one or more later ones, so the waits make no circle. What
writes a slot, what reads it, and by what the two sides tell each other is drawn for each channel;
the fences and waits that the memory model asks for between them are there.

SPDX-License-Identifier: Apache-2.0
"""
from kernel import World, emit_parts, emit_rounds_of, mod
from signals import Barrier, Mbarrier, choose_signal

BYTES = 256
WORLDS = ((1, 1, 2), (1, 1, 2), (1, 1, 3), (1, 1, 4), (1, 2, 1), (1, 2, 1), (1, 2, 2), (1, 4, 1), (2, 1, 1), (3, 1, 1),
          (2, 2, 1), (2, 1, 2))


class Channel:
    """One producer, its consumers and the slots between them."""

    def __init__(self, hand, producer, consumers):
        self.hand, self.kernel, self.world = hand, hand.kernel, hand.world
        self.producer, self.consumers = producer, consumers
        draw = self.kernel.draw
        self.slots = draw.randint(1, min(3, hand.rounds))
        ctas = {self.world.get_cta(a) for a in consumers}
        actors = [producer] + consumers
        self.place = "gmem"
        if len({self.world.get_cta(a) for a in actors}) == 1:
            self.place = draw.choice(("own",) * 5 + ("gmem",))
        elif len({self.world.get_cluster(a) for a in actors}) == 1:
            self.place = draw.choice(("peer-source", "peer-source", "gmem"))
            if len(ctas) == 1:
                self.place = draw.choice(("peer-target",) * 3 + (self.place,))
        self.writes = draw.choice({"own": ("store", "tma", "tma-halves", "tma-here", "copy", "copy-arrive"),
                                   "peer-target": ("store", "async-store", "async-store"),
                                   "peer-source": ("store", "tma-here", "copy"),
                                   "gmem": ("store", "tma-store")}[self.place])
        self.reads = {c: draw.choice({"own": ("load", "load", "tma-store", "reduce"),
                                      "peer-target": ("load", "load", "tma-store"), "peer-source": ("load",),
                                      "gmem": ("load", "tma-load", "copy")}[self.place]) for c in consumers}
        self.fence_before = draw.random() < 0.5  # by who hands over, else by who takes
        self.declare()

    def declare(self):
        kernel, hand = self.kernel, self.hand
        if self.place == "gmem":
            self.name = kernel.add_object("g", f"gmem f32[{self.slots}, 64]")
        else:
            self.name = kernel.add_object("s", f"smem f32[{self.slots}, 64]")
        self.stages = {}
        for actor in [self.producer] + self.consumers:
            what = self.writes if actor == self.producer else self.reads[actor]
            if what in ("tma-load", "tma-store", "copy") and self.place == "gmem":
                self.stages[actor] = kernel.add_object("stage", "smem f32[64]")
            if what in ("tma-load", "tma-here"):
                self.stages[actor, "barrier"] = kernel.add_object("landed", "barrier[1]")
        senders, allowed = [self.producer], None
        if self.writes in ("tma", "tma-halves", "copy-arrive"):
            allowed = (Mbarrier,) if self.writes == "tma-halves" else (Barrier, Mbarrier)
        elif self.writes == "async-store":
            allowed = (Mbarrier,) if self.kernel.draw.random() < 0.6 else (Barrier,)
            # The first consumer announces the bytes, and both arrive.
            if allowed == (Mbarrier,) and self.kernel.draw.random() < 0.5:
                senders = senders + self.consumers[:1]
        self.full = choose_signal(kernel, self.world, senders, self.consumers, self.slots, hand.rounds, False,
                                  hand.is_loop, allowed)
        is_announced = self.writes == "async-store" and isinstance(self.full, Mbarrier)
        self.is_told_by_bytes = is_announced and len(senders) == 1
        self.is_told_before = is_announced and len(senders) > 1
        self.free = choose_signal(kernel, self.world, self.consumers, [self.producer], self.slots, hand.rounds, True,
                                  hand.is_loop)
        self.rows = {c: hand.take_row() for c in self.consumers if self.reads[c] != "reduce"}

    def refer(self, i, actor):
        name = self.name
        owner = self.consumers[0] if self.place == "peer-target" else self.producer
        if self.place.startswith("peer") and self.world.get_cta(owner) != self.world.get_cta(actor):
            name = self.world.refer(name, self.world.get_rank(owner))
        return f"{name}[{mod(i, self.slots)}]"

    def is_owner(self, actor):
        owner = self.consumers[0] if self.place == "peer-target" else self.producer
        return self.world.get_cta(owner) == self.world.get_cta(actor)

    def fence(self, actor):
        self.kernel.emit("commit_smem" if self.is_owner(actor) and self.kernel.draw.random() < 0.8
                         else "commit_smem cluster")

    def emit_produce(self, i, value):
        kernel, slot, draw = self.kernel, self.refer(i, self.producer), self.kernel.draw
        self.free.wait(i, self.producer)
        is_async_write = self.writes in ("tma", "tma-halves", "tma-here")
        if is_async_write and self.place != "gmem" and not self.fence_before:
            self.fence(self.producer)
        if self.writes == "store":
            kernel.emit(f"store {slot}, {value}")
        elif self.writes in ("tma", "tma-halves"):
            barrier = self.full.refer(i)
            if isinstance(self.full, Mbarrier):
                kernel.emit(f"mbarrier_expect {barrier}, {BYTES}")
            for part in ("",) if self.writes == "tma" else (", ds(0, 32)", ", ds(32, 32)"):
                kernel.emit(f"copy_gmem_to_smem {self.hand.input}[{i}{part}], {slot[:-1]}{part}], {barrier}")
            return
        elif self.writes == "tma-here":
            landed = self.stages[self.producer, "barrier"]
            kernel.emit(f"copy_gmem_to_smem {self.hand.input}[{i}], {slot}, {landed}[0]", f"barrier_wait {landed}[0]")
        elif self.writes in ("copy", "copy-arrive"):
            kernel.emit(f"async_copy {self.hand.input}[{i}], {slot}")
            if self.writes == "copy-arrive":
                kernel.emit(f"async_copy_arrive {self.full.refer(i)}")
                return
            kernel.emit("async_copy_commit_group", "async_copy_wait 0")
        elif self.writes == "async-store":
            kernel.emit(f"async_store_smem {value}, {slot}, {self.full.refer(i)}")
            if self.is_told_by_bytes:
                target = self.full.refer(i, self.producer, self.world.get_cta(self.consumers[0]))
                kernel.emit(f"mbarrier_expect {target}, {BYTES}")
                return
        else:
            stage = self.stages[self.producer]
            kernel.emit(f"store {stage}, {value}", "commit_smem", f"copy_smem_to_gmem {stage}, {slot}",
                        "wait_smem_to_gmem 0")
        reads = self.reads.values()
        if self.place == "gmem" and "tma-load" in reads and self.fence_before:
            kernel.emit("commit_gmem")
        if self.writes in ("store", "copy") and ("tma-store" in reads or "reduce" in reads) and self.fence_before:
            self.fence(self.producer)
        if draw.random() < 0.1:
            kernel.emit(draw.choice(("commit_smem", "commit_gmem")))
        self.full.notify(i, self.producer)

    def emit_consume(self, i, actor):
        """The value that was read, or None."""
        kernel, slot, what = self.kernel, self.refer(i, actor), self.reads[actor]
        row = f"{self.hand.output}[{self.rows.get(actor)}, {i}]"
        if self.is_told_before and actor == self.consumers[0]:
            kernel.emit(f"mbarrier_expect {self.full.refer(i)}, {BYTES}")
        self.full.wait(i, actor)
        value = None
        if what in ("tma-store", "reduce"):
            if self.writes in ("copy-arrive", "async-store") or self.writes in ("store", "copy") and (
                    not self.fence_before):
                self.fence(actor)
            if what == "reduce":
                kernel.emit(f"copy_smem_to_gmem {slot}, {self.hand.get_total()} reduce(add)")
            else:
                kernel.emit(f"copy_smem_to_gmem {slot}, {row}")
            kernel.emit("wait_smem_to_gmem 0 read_only")
        else:
            if what == "tma-load":
                # Across CTAs the commit has to be here, one before is not enough.
                if not self.fence_before or self.world.get_cta(actor) != self.world.get_cta(self.producer):
                    kernel.emit("commit_gmem")
                stage, landed = self.stages[actor], self.stages[actor, "barrier"]
                kernel.emit("commit_smem", f"copy_gmem_to_smem {slot}, {stage}, {landed}[0]",
                            f"barrier_wait {landed}[0]")
                slot = stage
            elif what == "copy":
                kernel.emit(f"async_copy {slot}, {self.stages[actor]}", "async_copy_commit_group", "async_copy_wait 0")
                slot = self.stages[actor]
            value = kernel.name_value()
            kernel.emit(f"{value} = load {slot}", f"store {row}, {value}")
            if self.writes in ("tma", "tma-halves", "tma-here") and self.fence_before:
                self.fence(actor)
        self.free.notify(i, actor)
        return value


class Handovers:
    def __init__(self, kernel):
        self.kernel = kernel
        draw = kernel.draw
        self.world = World(kernel, *draw.choice(WORLDS))
        self.rounds = draw.randint(1, 5)
        self.is_loop = draw.random() < 0.6
        self.input = kernel.add_param("x", "in", f"f32[{self.rounds}, 64]")
        self.row_count, self.total = 0, None
        actors = sorted(draw.sample(range(self.world.count), min(self.world.count, draw.choice((2, 2, 3, 4)))))
        self.actors = actors
        self.output = f"%y{kernel.number}"
        self.channels = []
        for _ in range(draw.choice((1, 1, 2, 3))):
            at = draw.randrange(len(actors) - 1)
            later = actors[at + 1:]
            consumers = sorted(draw.sample(later, min(len(later), draw.choice((1, 1, 1, 2)))))
            self.channels.append(Channel(self, actors[at], consumers))
        if self.row_count:
            kernel.add_param("y", "out", f"f32[{self.row_count}, {self.rounds}, 64]")
        self.emit_body()

    def take_row(self):
        self.row_count += 1
        return self.row_count - 1

    def get_total(self):
        if self.total is None:
            self.total = self.kernel.add_param("z", "inout", "f32[64]")
        return self.total

    def emit_actor(self, actor):
        kernel = self.kernel
        emit_rounds_of(kernel, self.channels, actor, self.rounds, self.is_loop, lambda i: f"(load {self.input}[{i}])")
        for channel in self.channels:
            if channel.producer == actor:
                channel.free.drain(actor)
            if actor in channel.consumers:
                channel.full.drain(actor)
        if any(channel.reads.get(actor) in ("tma-store", "reduce") for channel in self.channels):
            kernel.emit("wait_smem_to_gmem 0")

    def emit_body(self):
        kernel, world, draw = self.kernel, self.world, self.kernel.draw
        inits = kernel.list_inits()
        used = [a for a in self.actors if any(a == c.producer or a in c.consumers for c in self.channels)]
        if world.grid == world.cluster == 1 and draw.random() < 0.4:
            kernel.launch = f"threads(wg = {world.threads})"
            kernel.emit(*inits)
            emit_parts(kernel, world.threads, used, self.emit_actor)
            return
        late = bool(inits) and (world.threads > 1 or draw.random() < 0.3)
        if not late:
            kernel.emit(*inits)
        world.emit_indices(kernel)
        if late:
            if world.threads > 1:
                kernel.emit("if (eq %w, 0) {", *inits, "}")
            else:
                kernel.emit("if true {", *inits, "}")
            kernel.emit("block_barrier" if world.cluster == 1 else
                        draw.choice(("cluster_barrier", "cluster_barrier", "cluster_barrier order(relaxed)")))
        kernel.emit_branches("%me", [(actor, lambda actor=actor: self.emit_actor(actor)) for actor in used])


def draw_handovers(kernel):
    Handovers(kernel)
