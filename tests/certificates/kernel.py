"""The text of a drawn kernel: parameters, objects and lines, and small expressions over a round's number.

SPDX-License-Identifier: Apache-2.0
"""
import random
import typing


class Kernel:
    """One kernel of a file that holds several: the names of its parameters end in its number.

    is_right: there is no mistake in it by construction. is_certain: no value that the schedule
    decides decides anything, so a run without a finding of order holds for every schedule.
    expected: the pairs of code and line of the text that a run has to find, or None where no
    oracle knows; unsure: lines that the oracle leaves open."""

    def __init__(self, number):
        self.number = number
        self.draw = random.Random(number)
        self.family = ""
        self.params, self.outputs, self.options = [], [], []
        self.launch = ""
        self.scratch, self.lines = [], []
        self.depth = 1
        self.is_right = self.is_certain = True
        self.expected, self.unsure = None, set()
        self.names = 0
        self.inits = []  # of mbarriers: the element and its arrivals
        self.named = 0  # named barriers in use
        self.junk = None

    @property
    def name(self):
        return f"k{self.number}"

    def name_value(self, stem="v"):
        self.names += 1
        return f"%{stem}{self.names}"

    def add_param(self, stem, direction, dtype):
        name = f"%{stem}{self.number}"
        self.params.append(f"{name}: {direction} gmem {dtype}")
        if direction != "in":
            self.outputs.append(name[1:])
        return name

    def add_flags(self, stem, count):
        """An i32 array that begins at zero."""
        name = self.add_param(stem, "inout", f"i32[{count}]")
        self.options += ["--input", f"{name[1:]}=zeros"]
        return name

    def add_object(self, stem, what):
        name = self.name_value(stem)
        self.scratch.append(f"scratch {name} : {what}")
        return name

    def add_mbarrier(self, arrivals, count=1):
        """count mbarriers; who lays out the kernel places their inits."""
        name = self.add_object("m", f"mbarrier[{count}]")
        self.inits += [(f"{name}[{i}]", arrivals) for i in range(count)]
        return name

    def list_inits(self):
        return [f"mbarrier_init {element}, {arrivals}" for element, arrivals in self.inits]

    def add_named(self, count=1):
        """The first of this many named barriers."""
        self.named += count
        return self.named - count

    def get_junk(self, actors):
        """An array for results that nobody needs."""
        self.junk = self.junk or self.add_object("junk", f"gmem i32[{actors}]")
        return self.junk

    def emit(self, *texts):
        for text in texts:
            if text == "}" or text.startswith("} "):
                self.depth -= 1
            self.lines.append((self.depth, text))
            if text.endswith("{"):
                self.depth += 1

    def emit_branches(self, value, bodies):
        """bodies: what each value of the index does, by a function without parameters."""
        for index, body in bodies:
            self.emit(f"if (eq {value}, {index}) {{")
            body()
            self.emit("}")

    def make_text(self):
        head = f"kernel @{self.name}({', '.join(self.params)})"
        lines = [head, "    " + self.launch, "{"] if self.launch else [head, "{"]
        lines += ["  " + line for line in self.scratch]
        lines += ["  " * depth + text for depth, text in self.lines]
        return "\n".join(lines) + "\n}\n"

    def count_head(self):
        """How many lines of the text stand before the first of self.lines."""
        return 2 + bool(self.launch) + len(self.scratch)


# A round is a number, where rounds are written one by one, or the name of a loop's index.

def mod(i, n):
    if n == 1:
        return "0"
    return str(i % n) if isinstance(i, int) else f"{i} % {n}"


def parity(i, n, before=0):
    """The parity of the phase that round i of n elements completes, or of the one before it."""
    if isinstance(i, int):
        return str((i // n + before) % 2)
    turn = i if n == 1 else f"{i} / {n}"
    return f"({turn} + 1) % 2" if before else f"{turn} % 2"


def add(i, n):
    if isinstance(i, int):
        return str(i + n)
    return f"({i} + {n})" if n >= 0 else f"({i} - {-n})"


def emit_rounds(kernel, count, is_loop, body):
    """body(i) count times: in a loop, or written one by one."""
    if is_loop:
        index = kernel.name_value("i")
        kernel.emit(f"for {index} in 0..{count} {{")
        body(index)
        kernel.emit("}")
    else:
        for i in range(count):
            body(i)


def emit_rounds_of(kernel, channels, actor, rounds, is_loop, read_input):
    """In each round what the actor gets through channels, and what it makes of that, or of read_input(i), for
    others."""
    def emit_round(i):
        values = [channel.emit_consume(i, actor) for channel in channels if actor in channel.consumers]
        values = [value for value in values if value]
        for channel in channels:
            if channel.producer == actor:
                value = kernel.draw.choice(values) if values else read_input(i)
                channel.emit_produce(i, f"(add {value}, {actor + 1}.0)")

    emit_rounds(kernel, rounds, is_loop, emit_round)


class Hand:
    """Channels between actors, by rounds; each consumer has a row of the output. Its heirs set kernel, channels, rounds
    and is_loop, and say what is read of the input in round i (read_input)."""

    kernel: typing.Any
    channels: typing.Any
    rounds: int
    is_loop: bool
    read_input: typing.Any
    row_count = 0

    def take_row(self):
        self.row_count += 1
        return self.row_count - 1

    def emit_actor(self, actor):
        emit_rounds_of(self.kernel, self.channels, actor, self.rounds, self.is_loop, self.read_input)
        for channel in self.channels:
            if channel.producer == actor:
                channel.drain()


def emit_parts(kernel, threads, used, body):
    """body(thread) as the partitions of a warp_specialize; those that nothing uses have nothing to do."""
    for thread in range(threads):
        kernel.emit("warp_specialize {" if thread == 0 else "} partition {")
        if thread in used:
            body(thread)
        else:
            kernel.emit("delay 1")
    kernel.emit("}")


class World:
    """The actors of a launch: a grid of clusters of CTAs of threads."""

    def __init__(self, kernel, grid, cluster, threads, axes=1):
        self.grid, self.cluster, self.threads = grid, cluster, threads
        self.axes = axes
        parts = []
        if grid > 1:
            parts.append(f"grid(g = {grid})")
        if cluster > 1:
            parts.append(f"cluster(cx = {cluster})" if axes == 1 else f"cluster(cy = 2, cx = {cluster // 2})")
        if threads > 1 or not parts or kernel.draw.random() < 0.3:
            parts.append(f"threads(wg = {threads})")
        if cluster > 1:
            parts.append("attr cluster_exit = sync")
        kernel.launch = " ".join(parts)
        self.count = grid * cluster * threads

    def emit_indices(self, kernel):
        """%g, %c, %w and %me, where there are any."""
        terms = []
        if self.grid > 1:
            kernel.emit("%g = axis_index g")
            terms.append(("%g", self.cluster * self.threads))
        if self.cluster > 1:
            if self.axes == 1:
                kernel.emit("%c = axis_index cx")
            else:
                kernel.emit("%cy = axis_index cy", "%cx = axis_index cx",
                            f"%c = add (mul %cy, {self.cluster // 2}), %cx")
            terms.append(("%c", self.threads))
        if self.threads > 1:
            kernel.emit("%w = axis_index wg")
            terms.append(("%w", 1))
        value = ""
        for name, factor in terms:
            term = name if factor == 1 else f"(mul {name}, {factor})"
            value = f"(add {value}, {term})" if value else term
        if not value:
            value = "(axis_index wg)" if "threads" in kernel.launch else "0"
        kernel.emit(f"%me = add {value}, 0")

    def get_cta(self, actor):
        return actor // self.threads

    def get_cluster(self, actor):
        return actor // self.threads // self.cluster

    def get_rank(self, actor):
        """The place of an actor's CTA in its cluster."""
        return self.get_cta(actor) % self.cluster

    def refer(self, name, rank):
        """The object of the CTA with this place in the cluster, a number or an expression."""
        if self.axes == 1:
            return f"{name}.cluster({rank})"
        if isinstance(rank, int):
            return f"{name}.cluster({rank // (self.cluster // 2)}, {rank % (self.cluster // 2)})"
        half = self.cluster // 2
        return f"{name}.cluster(({rank}) / {half}, ({rank}) % {half})"
