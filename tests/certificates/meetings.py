"""Kernels whose actors all do the same: in each round they write, meet, read what others wrote, and meet.

How they meet, what they write and by what it travels is drawn for each round, or once for a loop.

SPDX-License-Identifier: Apache-2.0
"""
from kernel import World, emit_rounds, parity

WORLDS = ((1, 1, 2), (1, 1, 2), (1, 1, 3), (1, 1, 4), (1, 2, 1), (1, 2, 1), (1, 2, 2), (1, 4, 1), (1, 4, 1), (1, 4, 2),
          (2, 1, 1), (3, 1, 1), (2, 2, 1))


class Meeting:
    """All actors come, then all go on; each then knows what all had done."""

    def __init__(self, kernel, world, loop):
        self.kernel, self.world, self.times = kernel, world, 0
        self.loop = loop  # the index of the loop around it, or None
        kinds = ["block", "block", "named", "barrier", "barrier-split", "mbarrier", "mbarrier-split", "hub"]
        if world.grid > 1:
            kinds = ["semaphores"]
        elif world.cluster > 1:
            kinds = ["cluster", "cluster", "cluster-split", "cluster-object", "cluster-object", "hub", "hub",
                     "hub-object", "hub-object"]
            kinds += ["hub-from"] * 2 if world.threads == 1 and world.axes == 1 else []
        elif kernel.named > 6:
            kinds.remove("named")
        self.kind = kernel.draw.choice(kinds)
        self.declare()

    def declare(self):
        kernel, world = self.kernel, self.world
        arrivals = "" if world.threads == 1 else f" arrivals({world.threads})"
        if self.kind == "named":
            self.name = kernel.add_named()
        elif self.kind.startswith("barrier"):
            self.name = kernel.add_object("b", f"barrier[1]{arrivals}")
        elif self.kind == "cluster-object":
            axes = "cx" if world.axes == 1 else "(cy, cx)"
            self.name = kernel.add_object("b", f"barrier[1] cluster({axes}){arrivals}")
        elif self.kind.startswith("mbarrier"):
            self.name = kernel.add_mbarrier(world.threads)
        elif self.kind == "hub-object":
            self.name = kernel.add_object("b", f"barrier[1] arrivals({world.threads * world.cluster})")
            self.go = kernel.add_object("b", "barrier[1]")
        elif self.kind.startswith("hub"):
            self.name = kernel.add_mbarrier(world.threads * world.cluster)
            self.go = kernel.add_mbarrier(1)
        elif self.kind == "semaphores":
            self.name = kernel.add_object("u", f"semaphore[{world.count * world.count}] global")

    def meet(self, between=None):
        """between: what may be done after the own arrival and before the wait."""
        kernel, kind = self.kernel, self.kind
        turn = self.times if self.loop is None else self.loop
        self.times += 1
        if between and not kind.endswith("split"):
            between()
        if kind in ("block", "cluster", "named"):
            kernel.emit(f"named_barrier_sync {self.name}, {self.world.threads}" if kind == "named" else
                        f"{kind}_barrier")
        elif kind == "cluster-split":
            self.emit_split(["cluster_arrive"], ["cluster_wait"], between)
        elif kind in ("barrier", "barrier-split", "cluster-object"):
            self.emit_split([f"barrier_arrive {self.name}[0]"], [f"barrier_wait {self.name}[0]"], between)
        elif kind.startswith("mbarrier"):
            self.emit_split([f"mbarrier_arrive {self.name}[0]"], [f"mbarrier_wait {self.name}[0], {parity(turn, 1)}"],
                            between)
        elif kind == "hub-object":
            self.emit_hub_object()
        elif kind.startswith("hub"):
            self.emit_hub(turn)
        else:
            count = self.world.count
            other = kernel.name_value("j")
            kernel.emit(f"for {other} in 0..{count} {{", f"semaphore_signal {self.name}[%me * {count} + {other}], 1",
                        "}", f"for {other} in 0..{count} {{",
                        f"semaphore_wait {self.name}[{other} * {count} + %me], 1", "}")

    def emit_split(self, first, last, between):
        self.kernel.emit(*first)
        if between and self.kind.endswith("split"):
            between()
        self.kernel.emit(*last)

    def emit_hub(self, turn):
        """All arrive at one mbarrier; the one that waits there tells all."""
        kernel, world = self.kernel, self.world
        is_far = world.cluster > 1
        kernel.emit(f"mbarrier_arrive {world.refer(self.name, 0) if is_far else self.name}[0]", "if (eq %me, 0) {",
                    f"mbarrier_wait {self.name}[0], {parity(turn, 1)}")
        if self.kind == "hub-from":
            kernel.emit("}", f"mbarrier_arrive {self.go}[0] from_cta(0)")
        elif is_far:
            other = kernel.name_value("j")
            kernel.emit(f"for {other} in 0..{world.cluster} {{", f"mbarrier_arrive {world.refer(self.go, other)}[0]",
                        "}", "}")
        else:
            kernel.emit(f"mbarrier_arrive {self.go}[0]", "}")
        kernel.emit(f"mbarrier_wait {self.go}[0], {parity(turn, 1)}")

    def emit_hub_object(self):
        """The same at barriers, without parities."""
        kernel, world, other = self.kernel, self.world, self.kernel.name_value("j")
        kernel.emit(f"barrier_arrive {world.refer(self.name, 0)}[0]", "if (eq %me, 0) {",
                    f"barrier_wait {self.name}[0]", f"for {other} in 0..{world.cluster} {{",
                    f"barrier_arrive {world.refer(self.go, other)}[0]", "}", "}", f"barrier_wait {self.go}[0]")


class Meetings:
    def __init__(self, kernel):
        self.kernel, draw = kernel, kernel.draw
        grid, cluster, threads = draw.choice(WORLDS)
        axes = 2 if cluster == 4 and draw.random() < 0.4 else 1
        self.world = world = World(kernel, grid, cluster, threads, axes)
        self.rounds = draw.randint(1, 4)
        self.loop, self.is_sending = None, False
        is_loop = draw.random() < 0.5
        self.input = kernel.add_param("x", "in", f"f32[{self.rounds}, {world.count}, 64]")
        self.output = kernel.add_param("y", "out", f"f32[{self.rounds}, {world.count}, 64]")
        ways = [self.share_slots, self.share_slots, self.load_here, self.copy_here, self.add_atomically]
        if grid > 1:
            ways = [self.share_gmem, self.share_gmem, self.share_gmem_by_tma]
        elif cluster > 1:
            ways = [self.read_peers, self.write_peers, self.store_async, self.store_async, self.multicast,
                    self.multicast, self.load_together, self.add_atomically]
            if axes > 1:
                ways = [self.read_peers, self.write_peers, self.store_async, self.multicast, self.add_atomically]
        else:
            ways += [self.scope, self.send_out, self.share_gmem_by_tma]
        first = len(kernel.lines)
        world.emit_indices(kernel)
        start = len(kernel.lines)
        if is_loop:
            way = draw.choice(ways)
            self.objects = {}

            def emit_round(i):
                self.loop = self.turn = i
                way(i)

            emit_rounds(kernel, self.rounds, True, emit_round)
        else:
            self.pool = {}
            for i in range(self.rounds):
                way = draw.choice(ways)
                if way not in self.pool or draw.random() < 0.3:
                    self.pool[way] = [{}, 0]
                self.objects, self.turn = self.pool[way]
                self.pool[way][1] += 1
                way(i)
        if self.is_sending:
            kernel.emit("wait_smem_to_gmem 0")
        is_collective = any(text.endswith("collective {") for _, text in kernel.lines)
        self.is_specialized = world.threads > 1 and not is_collective and draw.random() < 0.4
        if self.is_specialized:
            self.specialize(first)
        self.place_inits(first if self.is_specialized else start)

    def specialize(self, first):
        """The text of all threads as the body of each in a warp_specialize."""
        kernel = self.kernel
        body, kernel.lines = kernel.lines[first:], kernel.lines[:first]
        for i in range(self.world.threads):
            kernel.emit("} partition {" if i else "warp_specialize {")
            kernel.lines += [(depth + 1, text) for depth, text in body]
        kernel.emit("}")

    def place_inits(self, start):
        """In the kernel's own block, or in a branch with a meeting after it."""
        kernel, world, inits = self.kernel, self.world, self.kernel.list_inits()
        if not inits:
            return
        tail, kernel.lines = kernel.lines[start:], kernel.lines[:start]
        if world.threads > 1 and not self.is_specialized:
            kernel.emit("if (eq %w, 0) {", *inits, "}", "cluster_barrier" if world.cluster > 1 else "block_barrier")
        else:
            kernel.emit(*inits)
        kernel.lines += tail

    def get(self, key, make):
        """The object of this way of sharing with this name."""
        if key not in self.objects:
            self.objects[key] = make()
        return self.objects[key]

    def meet(self, key, between=None):
        if self.loop is None and self.kernel.draw.random() < 0.4:
            self.objects.pop(key, None)
        self.linger()
        self.get(key, lambda: Meeting(self.kernel, self.world, self.loop)).meet(between)

    def linger(self):
        """The warps of some threads take their time before a meeting."""
        kernel, world = self.kernel, self.world
        if world.threads == 1 or kernel.draw.random() > 0.15:
            return
        pad = self.get("pad", lambda: kernel.add_object("pad", f"smem i32[{world.threads}, 4]"))
        warp, turn = kernel.name_value("q"), kernel.name_value("z")
        kernel.emit(f"if (ge %w, {kernel.draw.randrange(world.threads)}) {{", f"warp_map({warp}) {{",
                    f"for {turn} in 0..{kernel.draw.randint(2, 30)} {{", f"store {pad}[%w, {warp}], {turn}", "}", "}",
                    "}")

    def add_slots(self, key="slots", count=None):
        return self.get(key, lambda: self.kernel.add_object("s", f"smem f32[{count or self.world.threads}, 64]"))

    def get_mine(self):
        return "%w" if self.world.threads > 1 else "0"

    def get_other(self, name, count):
        """Another index than name's, of count."""
        if count == 1:
            return "0"
        return f"({name} + {self.kernel.draw.randint(1, count - 1)}) % {count}"

    def make_value(self, i):
        return f"(add (load {self.input}[{i}, %me]), {self.kernel.draw.randint(1, 9)}.0)"

    def keep(self, i, ref):
        self.kernel.emit(f"store {self.output}[{i}, %me], (load {ref})")

    def share_slots(self, i):
        slots = self.add_slots()
        self.kernel.emit(f"store {slots}[{self.get_mine()}], {self.make_value(i)}")
        self.meet("full")
        self.keep(i, f"{slots}[{self.get_other('%w', self.world.threads)}]")
        self.meet("free")

    def read_peers(self, i):
        slots = self.add_slots()
        self.kernel.emit(f"store {slots}[{self.get_mine()}], {self.make_value(i)}")
        self.meet("full")
        peer = self.world.refer(slots, self.get_other("%c", self.world.cluster))
        self.keep(i, f"{peer}[{self.get_mine()}]")
        self.meet("free")

    def write_peers(self, i):
        slots = self.add_slots()
        peer = self.world.refer(slots, self.get_other("%c", self.world.cluster))
        self.kernel.emit(f"store {peer}[{self.get_mine()}], {self.make_value(i)}")
        self.meet("full")
        self.keep(i, f"{slots}[{self.get_mine()}]")
        self.meet("free")

    def store_async(self, i):
        kernel, world = self.kernel, self.world
        slots = self.add_slots()
        peer = world.refer(slots, self.get_other("%c", world.cluster))
        if self.get("is-barrier", lambda: world.axes == 1 and kernel.draw.random() < 0.4):
            arrivals = f" arrivals({world.threads})" if world.threads > 1 else ""
            full = self.get("landed", lambda: kernel.add_object("b", f"barrier[1] cluster(cx){arrivals}"))
            kernel.emit(f"async_store_smem {self.make_value(i)}, {peer}[{self.get_mine()}], {full}[0]",
                        f"barrier_arrive {full}[0]", f"barrier_wait {full}[0]")
        else:
            full = self.get("landed", lambda: kernel.add_mbarrier(world.threads))
            lines = [f"mbarrier_expect {full}[0], 256",
                     f"async_store_smem {self.make_value(i)}, {peer}[{self.get_mine()}], {full}[0]"]
            kernel.draw.shuffle(lines)
            kernel.emit(*lines, f"mbarrier_wait {full}[0], {parity(self.turn, 1)}")
        self.keep(i, f"{slots}[{self.get_mine()}]")
        self.meet("free")

    def multicast(self, i):
        """One CTA of each row loads for all."""
        kernel, world = self.kernel, self.world
        tile = self.add_slots("tile", 1)
        full = self.get("landed", lambda: kernel.add_mbarrier(1))
        leader = kernel.draw.randrange(2)
        index = "%c" if world.axes == 1 else "%cx"
        if world.threads > 1:
            kernel.emit("if (eq %w, 0) {")
        kernel.emit(f"mbarrier_expect {full}[0], 256", f"if (eq {index}, {leader}) {{",
                    f"copy_gmem_to_smem {self.input}[{i}, ds({leader}, 1)], {tile}, {full}[0] multicast(cx)", "}")
        if world.threads > 1:
            kernel.emit("}")
        kernel.emit(f"mbarrier_wait {full}[0], {parity(self.turn, 1)}")
        self.keep(i, f"{tile}[0]")
        kernel.emit("commit_smem" if kernel.draw.random() < 0.8 else "commit_smem cluster")
        self.meet("free")

    def load_together(self, i):
        kernel, world = self.kernel, self.world
        tile = self.add_slots("tile", world.cluster)
        full = self.get("landed", lambda: kernel.add_object("b", "barrier[1]"))
        if world.threads > 1:
            kernel.emit("if (eq %w, 0) {")
        kernel.emit(f"copy_gmem_to_smem {self.input}[{i}, ds(0, {world.cluster})], {tile}, {full}[0] "
                    "collective_axes(cx)")
        if world.threads > 1:
            kernel.emit("}")
        kernel.emit(f"barrier_wait {full}[0]")
        self.keep(i, f"{tile}[{self.get_other('%c', world.cluster)}]")
        kernel.emit("commit_smem")
        self.meet("free")

    def load_here(self, i):
        kernel, slots, mine = self.kernel, self.add_slots(), self.get_mine()
        landed = self.get("landed", lambda: kernel.add_object("b", f"barrier[{self.world.threads}]"))
        kernel.emit(f"copy_gmem_to_smem {self.input}[{i}, %me], {slots}[{mine}], {landed}[{mine}]",
                    f"barrier_wait {landed}[{mine}]")
        self.meet("full")
        self.keep(i, f"{slots}[{self.get_other('%w', self.world.threads)}]")
        if kernel.draw.random() < 0.5:
            kernel.emit("commit_smem")
            self.meet("free")
        else:
            self.meet("free")
            kernel.emit("commit_smem")

    def copy_here(self, i):
        kernel, slots = self.kernel, self.add_slots()
        kernel.emit(f"async_copy {self.input}[{i}, %me], {slots}[{self.get_mine()}]", "async_copy_commit_group",
                    "async_copy_wait 0")
        self.meet("full")
        self.keep(i, f"{slots}[{self.get_other('%w', self.world.threads)}]")
        self.meet("free")

    def send_out(self, i):
        """Each sends by TMA what another wrote."""
        kernel, slots = self.kernel, self.add_slots()
        kernel.emit(f"store {slots}[{self.get_mine()}], {self.make_value(i)}", "commit_smem")
        self.meet("full")
        other = self.get_other("%w", self.world.threads)
        kernel.emit(f"copy_smem_to_gmem {slots}[{other}], {self.output}[{i}, %me]", "wait_smem_to_gmem 0 read_only")
        self.is_sending = True
        self.meet("free")

    def share_gmem(self, i):
        slots = self.get("slots", lambda: self.kernel.add_object("g", f"gmem f32[{self.world.count}, 64]"))
        self.kernel.emit(f"store {slots}[%me], {self.make_value(i)}")
        self.meet("full")
        self.keep(i, f"{slots}[{self.get_other('%me', self.world.count)}]")
        self.meet("free")

    def share_gmem_by_tma(self, i):
        kernel, world, mine = self.kernel, self.world, self.get_mine()
        slots = self.get("slots", lambda: kernel.add_object("g", f"gmem f32[{world.count}, 64]"))
        stages = self.add_slots("stages")
        landed = self.get("landed", lambda: kernel.add_object("b", f"barrier[{world.threads}]"))
        is_before = kernel.draw.random() < 0.5
        kernel.emit(f"store {slots}[%me], {self.make_value(i)}")
        if is_before:
            kernel.emit("commit_gmem")
        self.meet("full")
        is_enough = is_before and world.count == world.threads  # all in one CTA
        kernel.emit(*([] if is_enough else ["commit_gmem"]), "commit_smem",
                    f"copy_gmem_to_smem {slots}[{self.get_other('%me', world.count)}], {stages}[{mine}], "
                    f"{landed}[{mine}]", f"barrier_wait {landed}[{mine}]")
        self.keep(i, f"{stages}[{mine}]")
        self.meet("free")

    def add_atomically(self, i):
        """All add to one array, which the first clears before."""
        kernel, world = self.kernel, self.world
        sums = self.get("sums", lambda: kernel.add_object("h", "smem i32[64]"))
        there = world.refer(sums, 0) if world.cluster > 1 else sums
        operation = kernel.draw.choice(("atomic_add", "atomic_max", "atomic_xor"))
        kernel.emit("if (eq %me, 0) {", f"store {sums}, (broadcast {kernel.draw.randrange(3)} : i32[64])", "}")
        self.meet("clear")
        kernel.emit(f"{operation} {there}, (broadcast (add %me, {kernel.draw.randint(1, 5)}) : i32[64])")
        self.meet("full")
        kernel.emit(f"store {self.output}[{i}, %me], (cast (load {there}) : f32)")
        self.meet("free")

    def scope(self, i):
        kernel, world = self.kernel, self.world
        slots = kernel.name_value("t")
        kernel.emit(f"scoped({slots} : smem f32[{world.threads}, 64]) collective {{",
                    f"store {slots}[%w], {self.make_value(i)}")
        self.meet("full")
        self.keep(i, f"{slots}[{self.get_other('%w', world.threads)}]")
        kernel.emit("}")


def draw_meetings(kernel):
    Meetings(kernel)
