"""Draws small kernels around one way to synchronise each: flags of atomics, rings of phases, warps, CTAs of a cluster.

SPDX-License-Identifier: Apache-2.0
"""
import random
import typing

STORE = "store %%s[%d], (broadcast 2.0 : f32[64])"
PARAMS = "kernel @k(%%x: in gmem f32[2, 64], %%m: inout gmem f32[2, 64], %%y: inout gmem f32[%d, 64]%s) %s"


class Drawn:
    """What all of them share: a source of chance, the outputs so far, and the lines of each actor."""

    text: typing.Any  # a function of its heirs

    def __init__(self, kind, seed, actors):
        self.draw = random.Random("%s %d" % (kind, seed))
        self.outputs = self.names = self.barriers = 0
        self.actors = actors or self.draw.choice((2, 2, 3))
        self.lines = [[] for _ in range(self.actors)]

    def chance(self, part):
        return self.draw.random() < part

    def pick(self, *choices):
        return self.draw.choice(choices)

    def half(self):
        return self.pick(0, 0, 0, 1)

    def output(self):
        self.outputs += 1
        return "%%y[%d]" % (self.outputs - 1)

    def name(self):
        self.names += 1
        return "%%v%d" % self.names

    def barrier(self):
        self.barriers += 1
        return "%%b[%d]" % (self.barriers - 1)

    def touch_gmem(self):
        return self.pick("store %%m[%d], (broadcast 3.0 : f32[64])" % self.half(),
                         "store %s, (load %%m[%d])" % (self.output(), self.half()),
                         "store %s, (load %%m[%d])" % (self.output(), self.half()),
                         "atomic_add %%m[%d], (broadcast 1.0 : f32[64])" % self.half())

    def spoil(self, part, kept=()):
        """Leaves out a line of one actor, or changes its place with the next one."""
        lines = self.draw.choice(self.lines)
        if len(lines) < 2 or not self.chance(part):
            return
        at = self.draw.randrange(len(lines) - 1)
        if self.chance(0.5) and not any(word in lines[at] for word in kept):
            del lines[at]
        else:
            lines[at], lines[at + 1] = lines[at + 1], lines[at]

    def join(self, head, axis, start, more=""):
        out = [PARAMS % (max(self.outputs, 1), more, head), "{"] + start
        for actor, lines in enumerate(self.lines):
            out += ["  if (eq (axis_index %s), %d) {" % (axis, actor)] + ["    " + text for text in lines] + ["  }"]
        return "\n".join(out + ["}", ""])


class Flags(Drawn):
    """Atomics that read, write and may order; what was read decides what is touched."""

    def __init__(self, seed):
        super().__init__("flags", seed, 0)
        self.is_grid = self.chance(0.6)
        for actor in range(self.actors):
            for _ in range(self.draw.randint(2, 4)):
                self.lines[actor] += self.step()

    def word(self):
        order = self.pick("", " order(relaxed)", " order(acquire)", " order(release)", " order(acq_rel)",
                          " order(acq_rel)")
        return order + self.pick("", "", "", " scope(cta)", " scope(gpu)")

    def step(self):
        if self.chance(0.4):
            return [self.touch_gmem()]
        flag, name = self.pick(0, 0, 1), self.name()
        read = self.pick("atomic_exchange %%flag[%d], 1", "atomic_fetch_add %%flag[%d], 1",
                         "atomic_fetch_add %%flag[%d], 0", "atomic_cas %%flag[%d], 0, 1",
                         "atomic_cas %%flag[%d], 1, 2") % flag + self.word()
        if self.chance(0.12):
            return ["while {", "  %s = atomic_fetch_add %%flag[%d], 0%s" % (name, flag, self.word()),
                    "  cond (eq %s, 0)" % name, "} do {", "}"]
        lines = ["%s = %s" % (name, read)]
        if self.chance(0.65):
            lines += ["if (eq %s, %d) {" % (name, self.pick(0, 1, 1, 2)), "  " + self.touch_gmem(), "}"]
        return lines

    def text(self):
        axis = "g" if self.is_grid else "wg"
        head = ("grid(g = %d)" if self.is_grid else "threads(wg = %d)") % self.actors
        return self.join(head, axis, [], ", %flag: inout gmem i32[2]")


class Rings(Drawn):
    """A slot that is filled and emptied for some rounds, by barriers or by mbarriers with their parities."""

    def __init__(self, seed):
        super().__init__("rings", seed, 0)
        self.is_explicit, self.is_tma = self.chance(0.5), self.chance(0.5)
        self.slots, self.steps = self.pick(1, 1, 2), self.draw.randint(2, 3)
        self.fill_lines()
        for _ in range(self.pick(0, 1, 1, 2)):
            self.spoil(1.0)

    def fill_lines(self):
        for step in range(self.steps):
            slot, turn = step % self.slots, step // self.slots
            self.produce(slot, turn)
            for consumer in range(1, self.actors):
                self.consume(consumer, slot, turn)

    def wait(self, barrier, parity):
        order = self.pick("", "", "", "", " order(relaxed)")
        if self.is_explicit and self.chance(0.06):
            parity = 1 - parity
        if self.chance(0.15):
            return self.spin(barrier, parity)
        return ["mbarrier_wait %s, %d%s" % (barrier, parity, order) if self.is_explicit else
                "barrier_wait %s%s" % (barrier, order)]

    def spin(self, barrier, parity):
        name = self.name()
        test = "mbarrier_test %s, %d" % (barrier, parity) if self.is_explicit else "barrier_test %s" % barrier
        return ["while { %s = %s cond (not %s) } do { }" % (name, test, name)]

    def arrive(self, barrier):
        return ["%s %s%s" % ("mbarrier_arrive" if self.is_explicit else "barrier_arrive", barrier,
                             self.pick("", "", "", "", " order(relaxed)"))]

    def produce(self, slot, turn):
        lines = self.lines[0]
        if turn > 0:
            lines += self.wait("%%free[%d]" % slot, (turn - 1) & 1)
        full = "%%full[%d]" % slot
        if not self.is_tma:
            lines += [STORE % slot] + self.arrive(full)
            return
        if self.is_explicit:
            lines.append("mbarrier_expect %s, %s" % (full, self.pick("256", "(sub 256, (mul 0, (axis_index wg)))")))
        lines.append("copy_gmem_to_smem %%x[%d], %%s[%d], %s" % (slot, slot, full))

    def consume(self, consumer, slot, turn):
        lines = self.lines[consumer]
        lines += self.wait("%%full[%d]" % slot, turn & 1)
        lines.append("store %s, (load %%s[%d])" % (self.output(), slot))
        if self.is_tma and self.chance(0.9):
            lines.append("commit_smem")
        lines += self.arrive("%%free[%d]" % slot)

    def text(self):
        word = "mbarrier[%d]" % self.slots if self.is_explicit else "barrier[%d]" % self.slots
        arrivals = "" if self.is_explicit else " arrivals(%d)" % (self.actors - 1)
        start = ["  scratch %s : smem f32[2, 64]", "  scratch %%full : %s" % word,
                 "  scratch %%free : %s%s" % (word, arrivals), "  if (eq (axis_index wg), 0) {",
                 "    store %s, (broadcast 1.0 : f32[2, 64])", "    commit_smem"]
        if self.is_explicit:
            for slot in range(self.slots):
                start += ["    mbarrier_init %%full[%d], 1" % slot,
                          "    mbarrier_init %%free[%d], %d" % (slot, self.actors - 1)]
        return self.join("threads(wg = %d)" % self.actors, "wg", start + ["  }", "  block_barrier"])


class Warps(Drawn):
    """The warps of one thread, and the thread after them."""

    def __init__(self, seed):
        super().__init__("warps", seed, 3)
        self.rounds = 0
        self.after = []
        for actor in range(self.actors):
            for _ in range(self.draw.randint(1, 3)):
                self.step(actor)
            if self.chance(0.5):
                self.lines[actor].append("wait_smem_to_gmem 0 read_only")
        for _ in range(self.draw.randint(1, 3)):
            self.after.append(self.pick(STORE % self.half(), "store %s, (load %%s[%d])" % (self.output(), self.half()),
                                        "copy_smem_to_gmem %%s[%d], %%m[%d]" % (self.half(), self.half()),
                                        "wait_smem_to_gmem 0 read_only", "wait_smem_to_gmem 1", "commit_smem"))
        if self.chance(0.9):
            self.after.append("wait_smem_to_gmem 0 read_only")
        self.spoil(0.4, ("arrive", "wait %b"))

    def step(self, actor):
        place = "%%s[%d, %d]" % (self.half(), self.pick(0, 0, 1))
        way = self.draw.randrange(8)
        if way == 0:
            self.lines[actor].append("store %s, 2.0" % place)
        elif way == 1:
            self.lines[actor].append("store %s, (load %s)" % (self.output()[:-1] + ", 0]", place))
        elif way == 2:
            self.lines[actor].append("commit_smem")
        elif way == 3:
            self.lines[actor].append("copy_smem_to_gmem %%s[%d], %%m[%d]" % (self.half(), self.half()))
        elif way == 4:
            self.lines[actor].append(self.pick("wait_smem_to_gmem 0", "wait_smem_to_gmem 1 read_only"))
        elif way == 5:
            barrier = self.barrier()
            self.lines[actor].append("copy_gmem_to_smem %%x[0], %%s[%d], %s" % (self.half(), barrier))
            self.lines[self.draw.randrange(self.actors)].append("barrier_wait %s" % barrier)
        elif way == 7:
            self.rounds += 1
            name = self.pick("named_barrier_arrive", "named_barrier_sync")
            self.lines[actor].append("%s %d, 64 lanes" % (name, self.rounds))
            self.lines[(actor + 1) % self.actors].append("named_barrier_sync %d, 64 lanes" % self.rounds)
        else:
            barrier = self.barrier()
            self.lines[actor].append("barrier_arrive %s%s" % (barrier, self.pick("", "", " order(relaxed)")))
            self.lines[(actor + 1) % self.actors].append("barrier_wait %s" % barrier)

    def text(self):
        out = [PARAMS % (max(self.outputs, 1), "", "threads(wg = 1)"), "{", "  scratch %s : smem f32[2, 64]"]
        if self.barriers:
            out.append("  scratch %%b : barrier[%d]" % self.barriers)
        out += ["  store %s, (broadcast 1.0 : f32[2, 64])", "  commit_smem", "  warp_map(%w) {"]
        for actor, lines in enumerate(self.lines):
            out += ["    if (eq %%w, %d) {" % actor] + ["      " + text for text in lines] + ["    }"]
        return "\n".join(out + ["  }"] + ["  " + text for text in self.after] + ["}", ""])


class Clusters(Drawn):
    """Two CTAs that meet, halves of a meeting, cluster barriers, and copies that both issue."""

    def __init__(self, seed):
        super().__init__("clusters", seed, 2)
        for _ in range(self.draw.randint(3, 7)):
            self.step()
        self.spoil(0.6, ("arrive", "wait", "cluster_barrier", "collective"))

    def step(self):
        actor = self.draw.randrange(2)
        half = self.half()
        way = self.draw.randrange(9)
        if way < 3:
            self.lines[actor].append(self.pick(
                STORE % half, "store %%s.cluster(%d)[%d], (broadcast 4.0 : f32[64])" % (1 - actor, half),
                "store %s, (load %%s[%d])" % (self.output(), half),
                "store %s, (load %%s.cluster(%d)[%d])" % (self.output(), 1 - actor, half)))
        elif way == 3:
            self.lines[actor].append(self.pick("commit_smem", "commit_smem cluster", "commit_gmem", self.touch_gmem()))
        elif way == 4:
            for each in range(2):
                self.lines[each].append("cluster_arrive%s" % self.pick("", "", "", " order(relaxed)"))
            if self.chance(0.5):
                self.lines[actor].append(STORE % half)
            for each in range(2):
                self.lines[each].append("cluster_wait%s" % self.pick("", "", "", " order(relaxed)"))
        elif way == 5:
            self.meet_at_a_barrier()
        elif way == 6:
            self.copy_together()
        elif way == 7:
            self.store_to_peer(actor)
        else:
            self.lines[actor] += ["copy_smem_to_gmem %%s[%d], %%m[%d]" % (half, self.half()),
                                  self.pick("wait_smem_to_gmem 0", "wait_smem_to_gmem 0 read_only")]

    def meet_at_a_barrier(self):
        barrier = self.barrier()
        for each in range(2):
            word = self.pick("", "", " order(relaxed)", " scope(cta)")
            self.lines[each].append("barrier_arrive %s%s" % (barrier, word))
        for each in range(2):
            self.lines[each].append("barrier_wait %s%s" % (barrier, self.pick("", "", "", " order(relaxed)")))

    def copy_together(self):
        barrier = self.barrier().replace("%b", "%c")
        for each in range(2):
            self.lines[each].append("copy_gmem_to_smem %%x, %%s, %s collective_axes(g)" % barrier)
        for each in range(2):
            self.lines[each].append("barrier_wait %s" % barrier)

    def store_to_peer(self, actor):
        barrier = self.barrier()
        self.lines[actor].append("async_store_smem (broadcast 5.0 : f32[64]), %%s.cluster(%d)[%d], %s" % (
            1 - actor, self.half(), barrier))
        for each in range(2):
            self.lines[each].append("barrier_arrive %s" % barrier)
        for each in range(2):
            self.lines[each].append("barrier_wait %s" % barrier)

    def text(self):
        start = ["  scratch %s : smem f32[2, 64]"]
        if self.barriers:
            start += ["  scratch %%b : barrier[%d] cluster(g)" % self.barriers,
                      "  scratch %%c : barrier[%d]" % self.barriers]
        start += ["  store %s, (broadcast 1.0 : f32[2, 64])", "  commit_smem", "  cluster_barrier"]
        return self.join("cluster(g = 2) attr cluster_exit = %s" % self.pick("sync", "sync", "none"), "g", start)


class Launches(Drawn):
    """Two or three grids, which may overlap, and a wait somewhere, or none."""

    def __init__(self, seed):
        super().__init__("launches", seed, 2)
        self.launches = self.pick(2, 2, 3)
        self.texts = [self.draw_launch(number) for number in range(self.launches)]
        self.dependent = [False] + [self.chance(0.85) for _ in range(self.launches - 1)]

    def touch(self, actor):
        """Mostly each thread its own half: races within a grid are drawn elsewhere."""
        half = actor if self.chance(0.9) else 1 - actor
        return self.pick(["store %%m[%d], (broadcast 3.0 : f32[64])" % half],
                         ["store %%y[%d], (load %%m[%d])" % (self.next_output(), half)],
                         ["atomic_add %%m[%d], (broadcast 1.0 : f32[64])" % half],
                         ["async_copy %%m[%d], %%s[0]" % half, "async_copy_commit_group", "async_copy_wait 0"],
                         ["store %s[1], (broadcast 2.0 : f32[64])", "commit_smem",
                          "copy_smem_to_gmem %%s[1], %%m[%d]" % half, "wait_smem_to_gmem 0"])

    def next_output(self):
        self.outputs += 1
        return self.outputs - 1

    def draw_launch(self, number):
        """The lines of both threads, with a barrier that one may hand the wait on by."""
        self.outputs = 0
        lines = [[line for _ in range(self.draw.randint(0, 2)) for line in self.touch(actor)] for actor in range(2)]
        waiter = self.pick(0, 0, 1)
        if number > 0 and self.chance(0.85):
            at = self.draw.randint(0, len(lines[waiter])) if self.chance(0.35) else 0
            lines[waiter].insert(at, "griddepcontrol_wait")
            if self.chance(0.7):
                order = self.pick("", "", " order(relaxed)")
                lines[waiter].insert(at + 1, "barrier_arrive %b" + order)
                lines[1 - waiter].insert(0, "barrier_wait %b" + order)
        lines[self.pick(0, 1)].insert(0, "griddepcontrol_launch_dependents")
        return lines

    def text(self):
        out, head = [], "(%m: inout gmem f32[2, 64], %y: inout gmem f32[4, 64]"
        for number, lines in enumerate(self.texts):
            head_of_it = head.replace("%y", "%%y%d" % number) + ") threads(wg = 2)"
            out += ["kernel @k%d%s" % (number, head_of_it), "{"]
            out += ["  scratch %%s%d : smem f32[2, 64]" % actor for actor in range(2)]
            uses_barrier = any("%b" in line for one in lines for line in one)
            out += ["  scratch %b : barrier"] if uses_barrier else []
            out += ["  scratch %%f%d : barrier" % actor for actor, own in enumerate(lines)
                    if any("%%f%d" % actor in line for line in own)]
            for actor, own in enumerate(lines):
                out += ["  if (eq (axis_index wg), %d) {" % actor]
                out += ["    " + line.replace("%y", "%%y%d" % number).replace("%s", "%%s%d" % actor) for line in own]
                out += ["  }"]
            out += ["}", ""]
        for number, is_dependent in enumerate(self.dependent):
            out += ["launch @k%d(%%m, %%y%d)%s" % (number, number, " dependent" if is_dependent else "")]
        return "\n".join(out + [""])


KINDS = {"launches": Launches, "flags": Flags, "rings": Rings, "warps": Warps, "clusters": Clusters}
