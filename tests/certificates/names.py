"""Flags in SMEM that have several names: aliases at some byte, and views by bitcast and reshape. Who sets a flag and
who polls it call it differently. A location is its bytes: a flag that only has the index, or the name, of another one
orders nothing.

SPDX-License-Identifier: Apache-2.0
"""
from kernel import World

WORLDS = ((1, 2), (1, 2), (1, 3), (1, 4), (2, 1), (2, 2))
WORDS = 64
START = 128  # bytes: an alias begins at a multiple of them


class Name:
    """One name of the flags: what stands before the index, and the index of a word by it."""

    def __init__(self, kernel, bytes_):
        draw = kernel.draw
        self.first, self.row, self.view = 0, 0, ""
        self.dtype = draw.choice(("i32", "u32"))
        kind = draw.choice(("bytes", "alias", "alias", "alias", "rows", "bitcast", "reshape"))
        self.name = bytes_
        if kind == "alias":
            self.first = draw.choice((0, START // 4))
            count = WORDS - self.first
            at = f", {4 * self.first}" if self.first or draw.random() < 0.3 else ""
            self.name = kernel.add_object("flags", f"smem {self.dtype}[{count}] alias({bytes_}{at})")
        elif kind == "rows":
            self.row = 16
            self.name = kernel.add_object("flags", f"smem {self.dtype}[4, 16] alias({bytes_})")
        elif kind == "bitcast":
            self.view = f".bitcast({self.dtype})"
        elif kind == "reshape":
            self.row, self.view = 32, ".reshape(2, 32)"
        if kind in ("bytes", "reshape"):
            self.dtype = "u32"

    def refer(self, world, word, rank):
        """The word's element; rank: of the CTA whose flags they are, None for the own one."""
        name = self.name if rank is None else world.refer(self.name, rank)
        word -= self.first
        index = f"{word // self.row}, {word % self.row}" if self.row else f"{word}"
        return f"{name}{self.view}[{index}]"


class Hand:
    """Data that one actor stores and another one reads, and the word by which the one tells the other."""

    def __init__(self, kernel, world, number, names, rows):
        draw = kernel.draw
        self.kernel, self.world, self.number, self.rows = kernel, world, number, rows
        self.producer, self.consumer = draw.sample(range(world.count), 2)
        self.word = 40 + number
        self.sets, self.polls = draw.choice(names), draw.choice(names)
        self.data = kernel.add_object("data", "gmem f32[64]" if world.cluster > 1 else "smem f32[64]")
        self.line, self.code = None, "gmem-race" if world.cluster > 1 else "smem-race"

    def get_rank(self, actor):
        """The flags are the consumer's."""
        owner = self.world.get_rank(self.consumer)
        return None if owner == self.world.get_rank(actor) else owner

    def emit_set(self, word):
        kernel, draw = self.kernel, self.kernel.draw
        update = draw.choice(("atomic_exchange", "atomic_fetch_add", "atomic_fetch_or"))
        kernel.emit(f"{kernel.name_value('old')} = {update} "
                    f"{self.sets.refer(self.world, word, self.get_rank(self.producer))}, "
                    "1 order(release)")

    def emit_produce(self, is_wrong):
        """Wrong: the word that the other polls is set before the data is there, and another one after it."""
        if is_wrong:
            self.emit_set(self.word)
        self.line = len(self.kernel.lines)
        self.kernel.emit(f"store {self.data}, (broadcast {self.number + 1}.0 : f32[64])")
        self.emit_set(self.word - 4 if is_wrong else self.word)

    def emit_consume(self, output):
        kernel = self.kernel
        now = kernel.name_value("now")
        kernel.emit("while {",
                    f"{now} = atomic_fetch_add {self.polls.refer(self.world, self.word, None)}, 0 order(acquire)",
                    f"cond (eq {now}, 0)", "} do {", "}", f"store {output}[{self.number}], (load {self.data})")


def draw_names(kernel):
    draw = kernel.draw
    cluster, threads = draw.choice(WORLDS)
    world = World(kernel, 1, cluster, threads)
    count = draw.randint(1, 3)
    bytes_ = kernel.add_object("bytes", f"smem u32[{WORDS}]")
    names = [Name(kernel, bytes_) for _ in range(draw.randint(2, 4))]
    output = kernel.add_param("y", "out", f"f32[{count}, 64]")
    hands = [Hand(kernel, world, number, names, count) for number in range(count)]
    wrong = draw.randrange(count) if draw.random() < 0.3 else None
    world.emit_indices(kernel)
    clears = f"store {bytes_}, (broadcast 0 : u32[{WORDS}])"
    kernel.emit(*(["if (eq %w, 0) {", clears, "}"] if threads > 1 else [clears]),
                "cluster_barrier" if cluster > 1 else "block_barrier")

    def make_body(actor):
        def body():
            for hand in hands:  # in one order everywhere, so nobody waits in a circle
                if hand.producer == actor:
                    hand.emit_produce(hand.number == wrong)
                elif hand.consumer == actor:
                    hand.emit_consume(output)
        return body

    used = sorted({actor for hand in hands for actor in (hand.producer, hand.consumer)})
    kernel.emit_branches("%me", [(actor, make_body(actor)) for actor in used])
    kernel.is_certain = False
    kernel.is_right = wrong is None
    bad = [(hand.code, kernel.count_head() + hand.line + 1) for hand in hands if hand.number == wrong]
    kernel.expected = set(bad)
