"""Kernels whose outcome is a GPU's choice: what tests of phases in flight say, and polls of them, what atomics return,
which semaphore wait takes which unit, in which order engines are done.

Each actor makes a small number of what it has heard; all meet, and actor 0 makes one number of all: the outcome. For
each number that there may be a line asks that it is not this one. So the findings of an exploration are the outcomes
that it has seen, and the array %y has the outcome of one run.

SPDX-License-Identifier: Apache-2.0
"""
import sys
import typing

sys.dont_write_bytecode = True  # the folder is a source tree
from kernel import Kernel, World

# The grid, the cluster, the threads of a CTA.
WORLDS = ((1, 1, 1), (1, 1, 2), (1, 1, 2), (1, 1, 2), (1, 1, 3), (1, 2, 1), (1, 2, 1), (1, 2, 2), (2, 1, 1), (2, 1, 1),
          (3, 1, 1), (2, 1, 2))
CELLS, WIDTH = 4, 32
LARGEST = {1: 64, 2: 12, 3: 6, 4: 4}  # numbers that an actor may make, by how many actors there are
UPDATES = ("add", "max", "min", "and", "or", "xor")


class Bell:
    """An mbarrier that one actor may arrive on, and that actors of one CTA look at."""

    def __init__(self, name, ringer, rank, arrivals):
        self.name, self.ringer, self.rank, self.arrivals = name, ringer, rank, arrivals


class Choices:
    """What the actors of a kernel do, and what each hears: values from 0 to below a radix."""

    rung: dict[typing.Any, typing.Any]

    def __init__(self, kernel):
        self.kernel, self.draw = kernel, kernel.draw
        self.world = World(kernel, *self.draw.choice(WORLDS))
        self.is_one_cta = self.world.grid * self.world.cluster == 1
        self.cells = self.add_cells()
        self.inits = []
        self.bells = [self.add_bell() for _ in range(self.draw.choice((1, 2)))]
        self.units = self.sums = self.source = self.input = self.shared = None
        self.post = self.draw_post()
        self.load = self.draw_load()
        self.flag = self.draw_flag()
        kernel.has_arrays = False  # atomics of several elements
        self.told = []  # of the actor at hand: (value, radix)
        self.closing = []  # of the actor at hand: what it does before the meeting
        self.flying = []  # mbarriers of the actor at hand that an engine rings

    @property
    def count(self):
        return self.world.count

    def get_reach(self, name, rank):
        """An object of the CTA that has this place in the cluster, as the actor at hand names it."""
        is_own = self.world.cluster == 1 or self.world.get_rank(self.actor) == rank
        return name if is_own else self.world.refer(name, rank)

    # ---- objects ----

    def add_cells(self):
        if self.is_one_cta and self.draw.random() < 0.4:
            return self.kernel.add_object("d", f"smem i32[{CELLS}]")
        return self.kernel.add_flags("d", CELLS)

    def add_bell(self):
        """Adds a bell of a CTA; its ringer is an actor of the same cluster, in each cluster the same."""
        arrivals = self.draw.choice((1, 1, 1, 2))
        rank = self.draw.randrange(self.world.cluster)
        bell = Bell(self.kernel.add_object("m", "mbarrier"),
                    self.draw.randrange(self.world.cluster * self.world.threads), rank,
                    arrivals)
        self.inits.append(f"mbarrier_init {bell.name}, {arrivals}")
        return bell

    def draw_post(self):
        """(sender, receiver, mbarrier, destination) of bytes that an actor stores into a peer's memory, or None."""
        if self.world.cluster == 1 or self.draw.random() < 0.4:
            return None
        sender, receiver = self.draw.sample(range(self.world.cluster * self.world.threads), 2)
        if self.world.get_rank(sender) == self.world.get_rank(receiver):
            return None
        bell = self.add_own_bell()
        return sender, receiver, bell, self.kernel.add_object("s", f"smem i32[{WIDTH}]")

    def draw_load(self):
        """(actor, mbarrier, destination) of a copy whose mbarrier all threads of the CTA look at, or None."""
        if self.world.threads == 1 or self.draw.random() < 0.5:
            return None
        actor = self.draw.randrange(self.world.cluster * self.world.threads)
        return actor, self.add_own_bell(), self.kernel.add_object("s", f"smem i32[{WIDTH}]")

    def draw_flag(self):
        """(setter, looker): cell 2 becomes 1, and an actor looks at it until it is; or None."""
        if self.count == 1 or self.draw.random() < 0.75:
            return None
        return self.draw.sample(range(self.count), 2)

    def get_shared(self):
        self.shared = self.shared or self.kernel.add_object("z", "gmem i32[1]")
        return self.shared

    def add_own_bell(self, arrivals=1):
        """One that an engine rings, for the actor at hand."""
        name = self.kernel.add_object("e", "mbarrier")
        self.inits.append(f"mbarrier_init {name}, {arrivals}")
        return name

    def get_units(self):
        self.units = self.units or self.kernel.add_object("u", "semaphore[2]" + ("" if self.is_one_cta else " global"))
        return self.units

    def get_input(self):
        self.input = self.input or self.kernel.add_param("x", "in", f"i32[{WIDTH}]")
        return self.input

    # ---- what an actor hears ----

    def tell(self, text, radix, is_bool=False):
        value, number = self.kernel.name_value("v"), self.kernel.name_value("n")
        self.kernel.emit(f"{value} = {text}")
        self.kernel.emit(f"{number} = select {value}, 1, 0" if is_bool else f"{number} = rem {value}, {radix}")
        self.told.append((number, radix))
        return value

    def emit_atomic(self):
        draw, cell = self.draw, f"{self.cells}[{self.draw.choice((0, 0, 0, 1))}]"
        order = draw.choice(("", "", "", " order(acq_rel)", " order(acquire)"))
        what = draw.choice(("add", "add", "add", "exchange", "exchange", "cas", "update", "store", "look", "fetch",
                            "array"))
        if what == "update":
            self.kernel.emit(f"atomic_{draw.choice(UPDATES)} {cell}, {draw.randint(1, 3)}")
        elif what == "store":
            self.kernel.emit(f"{self.kernel.name_value('o')} = atomic_exchange {cell}, {draw.randint(1, 3)}")
        elif what == "array" and draw.random() < 0.5:
            many, start = self.kernel.name_value("many"), draw.choice((0, 1))
            self.kernel.has_arrays = True
            self.kernel.emit(f"{many} = atomic_fetch_add {self.cells}[ds({start}, 2)], (broadcast 1 : i32[2])")
            self.tell(f"reduce_sum {many}", 4)
        elif what == "cas":
            self.tell(f"atomic_cas {cell}, {draw.choice((0, 0, 1))}, {draw.randint(1, 3)}{order}", 4)
        elif what == "exchange":
            self.tell(f"atomic_exchange {cell}, {draw.randint(1, 3)}{order}", 4)
        elif what == "fetch":
            self.tell(f"atomic_fetch_{draw.choice(UPDATES[1:])} {cell}, {draw.randint(1, 3)}{order}", 4)
        else:
            self.tell(f"atomic_fetch_add {cell}, {0 if what == 'look' else 1}{order}", draw.choice((2, 4)))

    def list_own_bells(self):
        return [bell for bell in self.bells if bell.ringer == self.actor % (self.world.cluster * self.world.threads)]

    def emit_arrivals(self, bell, count):
        self.kernel.emit(*[f"mbarrier_arrive {self.get_reach(bell.name, bell.rank)}"] * count)

    def emit_ring(self):
        own = self.list_own_bells()
        if not own:
            self.emit_plain_atomic()
            return
        bell = self.draw.choice(own)
        self.emit_arrivals(bell, 1)
        self.rung[bell] = self.rung.get(bell, 0) + 1

    def emit_last_rings(self):
        """Mostly nobody waits in vain. What an answer has decided is not counted."""
        for bell in self.list_own_bells():
            if self.draw.random() < 0.85:
                self.emit_arrivals(bell, max(0, bell.arrivals - self.rung.get(bell, 0)))

    def emit_test(self):
        """Tests a bell in the own CTA. Parity 1 is true until the phase is over, and after the next one."""
        near = [bell for bell in self.bells if bell.rank == self.world.get_rank(self.actor)]
        if not near:
            self.emit_atomic()
            return
        self.emit_look(f"mbarrier_test {self.draw.choice(near).name}, {self.draw.choices((0, 1), (12, 1))[0]}")

    def emit_look(self, test):
        """A test once, in a loop of few turns, or until it is true."""
        kernel, draw, how = self.kernel, self.draw, self.draw.random()
        if how < 0.6:
            value = self.tell(test, 2, True)
            if draw.random() < 0.35:
                self.emit_if(value)
        elif how < 0.92:
            many, seen, more, is_so = (kernel.name_value(stem) for stem in ("many", "seen", "more", "is"))
            kernel.emit(f"{many} = for %i in 0..2 carry({seen} = 0) {{", f"{is_so} = {test}",
                        f"{more} = add {seen}, (select {is_so}, 1, 0)", f"yield {more}", "}")
            self.told.append((many, 3))
        else:
            many, seen, more, is_so = (kernel.name_value(stem) for stem in ("many", "seen", "more", "is"))
            kernel.emit(f"{many} = while carry({seen} = 0) {{", f"{is_so} = {test}", f"cond (not {is_so})", "} do {",
                        f"{more} = min (add {seen}, 1), 2", f"yield {more}", "}")
            self.told.append((many, 3))

    def emit_if(self, condition):
        """What is done goes by an answer."""
        rung, kernel = dict(self.rung), self.kernel
        kernel.emit(f"if {condition} {{" if self.draw.random() < 0.6 else f"if (not {condition}) {{")
        self.draw.choice((self.emit_ring, self.emit_plain_atomic, self.emit_signal))()
        kernel.emit("}")
        if self.draw.random() < 0.8:
            self.rung = rung

    def emit_plain_atomic(self):
        self.kernel.emit(f"atomic_{self.draw.choice(UPDATES[:2])} {self.cells}[{self.draw.choice((0, 0, 1))}], "
                         f"{self.draw.randint(1, 3)}")

    def emit_wait(self):
        """Mostly for somebody else."""
        own = self.list_own_bells() if self.draw.random() < 0.9 else []
        near = [bell for bell in self.bells if bell.rank == self.world.get_rank(self.actor) and bell not in own]
        if near:
            self.kernel.emit(f"mbarrier_wait {self.draw.choice(near).name}, 0")

    # ---- semaphores ----

    def emit_signal(self):
        self.kernel.emit(f"semaphore_signal {self.get_units()}[0], {self.draw.choice((1, 1, 2))}")

    def emit_semaphore(self):
        units, draw = self.get_units(), self.draw
        what = draw.random()
        if what < 0.4:
            self.emit_signal()
        elif what < 0.92:
            self.tell(f"semaphore_read {units}[0]", 4)
        else:
            self.kernel.emit(f"semaphore_wait {units}[0], 1")

    # ---- looking until something is there ----

    def emit_flag(self):
        """The looker waits for cell 2, and may hear what it found in cell 0 in its last turn but one."""
        kernel = self.kernel
        last, old, now, is_set = (kernel.name_value(stem) for stem in ("last", "old", "now", "set"))
        kernel.emit(f"{last} = while carry({old} = 0) {{", f"{now} = atomic_fetch_add {self.cells}[0], 0",
                    f"{is_set} = atomic_fetch_add {self.cells}[2], 0", f"cond (lt {is_set}, 1)", "} do {")
        if self.draw.random() < 0.3:
            kernel.emit(f"if (eq {now}, {self.draw.randint(1, 3)}) {{", f"atomic_add {self.cells}[1], 1", "}")
        kernel.emit(f"yield {now}", "}")
        if self.draw.random() < 0.4:
            self.tell(f"add {last}, 0", 4)

    def emit_post(self):
        """Bytes for a peer, whose mbarrier expects them."""
        _, receiver, bell, into = self.post
        self.kernel.emit(f"async_store_smem (broadcast 1 : i32[{WIDTH}]), "
                         f"{self.get_reach(into, self.world.get_rank(receiver))}, {bell}")
        self.has_posted = True

    # ---- engines ----

    def emit_copy(self):
        """Bytes that TMA brings, or cp.async, and looks at their barrier while they are on their way."""
        kernel, draw = self.kernel, self.draw
        into = kernel.add_object("s", f"smem i32[{WIDTH}]")
        if draw.random() < 0.7:
            bell = self.add_own_bell()
            kernel.emit(f"mbarrier_expect {bell}, {4 * WIDTH}",
                        f"copy_gmem_to_smem {self.get_input()}, {into}, {bell}{draw.choice(('', ' oob(in_bounds)'))}")
        else:
            bell = self.add_own_bell()
            kernel.emit(f"async_copy {self.get_input()}, {into}", f"async_copy_arrive {bell}")
        self.flying.append(bell)
        self.closing.append(f"mbarrier_wait {bell}, 0")

    def emit_load(self):
        _, bell, into = self.load
        self.kernel.emit(f"mbarrier_expect {bell}, {4 * WIDTH}",
                         f"copy_gmem_to_smem {self.get_input()}, {into}, {bell}")
        self.has_loaded = True

    def emit_look_at_copy(self):
        if self.sees_load and self.draw.random() < 0.6:
            self.emit_look(f"mbarrier_test {self.load[1]}, 0")
            return
        if self.is_receiver and self.draw.random() < 0.5:
            self.emit_look(f"mbarrier_test {self.post[2]}, 0")
            return
        if not self.flying:
            self.emit_copy()
        self.emit_look(f"mbarrier_test {self.draw.choice(self.flying)}, 0")

    def emit_barrier(self):
        """A barrier that counts its phases: arrive and look, by oneself."""
        name = self.kernel.add_object("b", "barrier[1]")
        into = self.kernel.add_object("s", f"smem i32[{WIDTH}]")
        self.kernel.emit(f"copy_gmem_to_smem {self.get_input()}, {into}, {name}[0]")
        value = self.tell(f"barrier_test {name}[0]", 2, True)
        if self.draw.random() < 0.3:
            self.emit_if(value)
        self.kernel.emit(f"if (not {value}) {{", f"barrier_wait {name}[0]", "}")

    def emit_reduction(self):
        """Integers that TMA combines with what is there, in whatever order. The outcome is what they leave."""
        kernel = self.kernel
        if self.sums is None:
            self.sums = kernel.add_flags("g", WIDTH)
            self.source = kernel.add_object("q", f"smem i32[{WIDTH}]")
        for _ in range(self.draw.choice((1, 1, 2))):
            kernel.emit(f"copy_smem_to_gmem {self.source}, {self.sums} "
                        f"reduce({self.draw.choice(('add', 'add', 'max', 'xor'))})")
        self.closing.append("wait_smem_to_gmem 0")

    # ---- the kernel ----

    def emit_actor(self, actor):
        kernel, draw = self.kernel, self.draw
        self.actor, self.told, self.closing, self.flying = actor, [], [], []
        self.rung = {}
        in_cluster = actor % (self.world.cluster * self.world.threads)
        is_sender = self.post is not None and in_cluster == self.post[0]
        self.is_receiver = self.post is not None and in_cluster == self.post[1]
        self.has_posted = not is_sender
        self.has_loaded = self.load is None or in_cluster != self.load[0]
        self.sees_load = self.load is not None and self.world.get_rank(self.load[0]) == self.world.get_rank(in_cluster)
        acts = (self.emit_atomic, self.emit_ring, self.emit_test, self.emit_semaphore, self.emit_look_at_copy,
                self.emit_barrier, self.emit_reduction, self.emit_wait)
        if not self.has_loaded:
            self.emit_load()
            self.closing.append(f"mbarrier_wait {self.load[1]}, 0")
        for _ in range(draw.randint(1, 3 if self.count < 3 else 2)):
            draw.choices(acts, self.weights)[0]()
            if not self.has_posted and draw.random() < 0.5:
                self.emit_post()
            if self.flag and actor == self.flag[0] and not self.rung.get("flag") and draw.random() < 0.5:
                kernel.emit(f"atomic_add {self.cells}[2], 1")
                self.rung["flag"] = 1
            if self.is_receiver and draw.random() < 0.4:
                self.emit_look(f"mbarrier_test {self.post[2]}, 0")
        if self.flag and actor == self.flag[0] and not self.rung.get("flag"):
            kernel.emit(f"atomic_add {self.cells}[2], 1")
        self.emit_last_rings()
        if not self.has_posted:
            self.emit_post()
        if self.is_receiver:
            self.closing.append(f"mbarrier_wait {self.post[2]}, 0")
        if self.flag and actor == self.flag[1]:
            self.emit_flag()
        kernel.emit(*self.closing)
        value, radix = "0", 1
        for number, its_radix in self.told:
            value, radix = f"(add {value}, (mul {number}, {radix}))", radix * its_radix
        radix, value = min(radix, LARGEST[self.count]), f"(rem {value}, {min(radix, LARGEST[self.count])})"
        number = kernel.name_value("own")
        kernel.emit(f"{number} = add {value}, 0", f"store {self.results}[{actor}], {number}")
        if radix > 1:
            self.emit_consequence(number, radix)
        self.radices.append(radix)

    def emit_consequence(self, number, radix):
        """Seldom a number has one: a wait in vain, or a store that races with another one."""
        kernel, draw = self.kernel, self.draw
        what = draw.random()
        if what < 0.05:
            never = self.add_own_bell()
            kernel.emit(f"if (eq {number}, {draw.randrange(radix)}) {{", f"mbarrier_wait {never}, 0", "}")
        elif what < 0.12 and self.count > 1:
            kernel.emit(f"if (eq {number}, {draw.randrange(radix)}) {{", f"store {self.get_shared()}[0], {self.actor}",
                        "}")

    def emit_meeting(self):
        kernel, world = self.kernel, self.world
        if world.grid > 1:
            ends = kernel.add_object("ends", "semaphore[1] global")
            kernel.emit("if (ne %me, 0) {", f"semaphore_signal {ends}[0], 1", "} else {",
                        f"semaphore_wait {ends}[0], {world.count - 1}", "}")
        else:
            kernel.emit("cluster_barrier" if world.cluster > 1 else "block_barrier")

    def emit_outcome(self):
        kernel = self.kernel
        kernel.emit("if (eq %me, 0) {")
        value, radix = "0", 1
        for actor, its_radix in enumerate(self.radices):
            value, radix = f"(add {value}, (mul (load {self.results}[{actor}]), {radix}))", radix * its_radix
        if self.sums:
            value, radix = f"(add {value}, (mul (rem (load {self.sums}[0]), 4), {radix}))", radix * 4
        kernel.emit(f"%outcome = add {value}, 0", f"store {self.outcome}[0], %outcome",
                    *[f'debug_check (ne %outcome, {number}), "it is {number}"' for number in range(radix)], "}")
        kernel.outcome = self.outcome[1:]

    def emit(self):
        kernel, world = self.kernel, self.world
        self.weights = [self.draw.choice((0, 1, 1, 3)) for _ in range(8)]
        self.weights[0] += 1
        self.outcome = kernel.add_param("y", "inout", "i32[1]")
        kernel.options += ["--input", f"{self.outcome[1:]}={NO_OUTCOME}"]
        self.results = kernel.add_object("r", f"gmem i32[{world.count}]")
        self.radices = []
        world.emit_indices(kernel)
        start = len(kernel.lines)
        kernel.emit_branches("%me", [(actor, lambda actor=actor: self.emit_actor(actor))
                                     for actor in range(world.count)])
        body, kernel.lines = kernel.lines[start:], kernel.lines[:start]
        self.emit_start()
        kernel.lines += body
        self.emit_meeting()
        self.emit_outcome()

    def emit_start(self):
        """What one thread of each CTA makes before all others."""
        kernel, world = self.kernel, self.world
        lines = list(self.inits)
        if self.cells[1:] not in kernel.outputs:
            lines.append(f"store {self.cells}, (broadcast 0 : i32[{CELLS}])")
        if self.source:
            lines += [f"store {self.source}, (broadcast 1 : i32[{WIDTH}])", "commit_smem"]
        if self.post:
            lines += [f"if (eq %c, {world.get_rank(self.post[1])}) {{", f"mbarrier_expect {self.post[2]}, {4 * WIDTH}",
                      "}"]
        kernel.emit(*["if (eq %w, 0) {"] * (world.threads > 1), *lines, *["}"] * (world.threads > 1),
                    "cluster_barrier" if world.cluster > 1 else "block_barrier")


NO_OUTCOME = 1000000  # what %y has where actor 0 did not come to the end


def draw_choices(kernel):
    kernel.is_certain = False
    Choices(kernel).emit()


def draw_kernel(number):
    kernel = Kernel(number)
    draw_choices(kernel)
    return kernel
