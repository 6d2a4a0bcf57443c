"""Draws small kernels of launch control: requests by several actors, whose answers come by the async proxy, queries,
and what puts them in order.

The grid has one cluster, so every answer is that there is nothing left: no value decides what is done.

SPDX-License-Identifier: Apache-2.0
"""
from draw_sync import Drawn

HEAD = "// drawn\n// run: --arch sm_100a\n"
KEPT = ("arrive", "wait %", "expect", "signal", "block_barrier", "cluster_barrier", "named", "try_cluster")


class Cancels(Drawn):
    """Actors are threads of a CTA, or one thread in each of two CTAs. They take turns, mostly."""

    def __init__(self, seed):
        super().__init__("cancels", seed, 0)
        self.is_cluster = self.chance(0.5)
        if self.is_cluster:
            self.actors, self.lines = 2, [[], []]
        self.mbarriers = self.semaphores = self.rounds = 0
        self.waits = []  # of (actor or None, line) that stand somewhere later
        turn = self.draw.randrange(self.actors)
        for _ in range(self.draw.randint(4, 9)):
            if self.chance(0.35):
                other = self.draw.choice([a for a in range(self.actors) if a != turn])
                self.hand_over(turn, other)
                turn = other
            else:
                self.work(turn if self.chance(0.9) else self.draw.randrange(self.actors))
        for actor, line in self.waits:
            if self.chance(0.8):
                self.lines[turn if actor is None else actor].append(line)
        if self.chance(0.5):
            self.spoil(1.0, KEPT)

    def order(self):
        return self.pick("", "", "", "", " order(relaxed)")

    def slot(self):
        return "%%r[%d]" % self.half()

    def new_mbarrier(self):
        self.mbarriers += 1
        return "%%q[%d]" % (self.mbarriers - 1)

    # ---- requests and answers ------------------------------------------------------------------------

    def work(self, actor):
        way = self.draw.randrange(10)
        if way < 4:
            self.ask(actor)
        elif way < 7:
            self.lines[actor].append("store %s, (broadcast (query_cluster_cancel %s) : i32[4])" % (
                self.output(), self.slot()))
        elif way < 9:
            self.lines[actor].append("commit_smem" + self.pick("", " cluster" if self.is_cluster else ""))
        elif self.waits:
            whose, line = self.waits.pop(0)
            self.lines[actor if whose is None else whose].append(line)

    def ask(self, actor):
        if self.chance(0.6):
            self.lines[actor].append("commit_smem")
        if not self.is_cluster:
            barrier = self.barrier()
            self.lines[actor].append("try_cluster_cancel %s, %s" % (self.slot(), barrier))
            self.wait_now_or_later(actor, None, "barrier_wait %s%s" % (barrier, self.order()))
            return
        barrier = self.new_mbarrier()
        gets = range(2) if self.chance(0.75) else [actor]
        for other in gets:
            self.lines[other].append("mbarrier_expect %s, 16" % barrier)
        self.lines[actor].append("try_cluster_cancel %s, %s%s" % (
            self.slot(), barrier, " multicast(g)" if len(gets) == 2 else ""))
        for other in gets:
            self.wait_now_or_later(other, other, "mbarrier_wait %s, 0%s" % (barrier, self.order()))

    def wait_now_or_later(self, actor, whose, line):
        if self.chance(0.7):
            self.lines[actor].append(line)
        else:
            self.waits.append((whose, line))

    # ---- hand-overs ------------------------------------------------------------------------------------

    def hand_over(self, actor, other):
        ways = (self.by_remote, self.by_remote, self.by_meeting, self.by_semaphore)
        if not self.is_cluster:
            ways = (self.by_barrier, self.by_barrier, self.by_block, self.by_name, self.by_semaphore)
        self.draw.choice(ways)(actor, other)

    def by_barrier(self, actor, other):
        barrier = self.barrier()
        self.lines[actor].append("barrier_arrive %s%s" % (barrier, self.order()))
        self.lines[other].append("barrier_wait %s%s" % (barrier, self.order()))

    def by_remote(self, actor, other):
        barrier = self.new_mbarrier()
        self.lines[actor].append("mbarrier_arrive %s.cluster(%d)%s" % (barrier, other, self.order()))
        self.lines[other].append("mbarrier_wait %s, 0%s" % (barrier, self.order()))

    def by_meeting(self, _actor, _other):
        text = "cluster_barrier" + self.order()
        for lines in self.lines:
            lines.append(text)

    def by_block(self, _actor, _other):
        for lines in self.lines:
            lines.append("block_barrier")

    def by_name(self, actor, other):
        self.rounds += 1
        for each in (actor, other):
            self.lines[each].append("named_barrier_sync %d, 2" % self.rounds)

    def by_semaphore(self, actor, other):
        unit = "%%u[%d]" % self.semaphores
        self.semaphores += 1
        self.lines[actor].append("semaphore_signal %s, 1%s" % (unit, self.order()))
        self.lines[other].append("semaphore_wait %s, 1%s" % (unit, self.order()))

    # ---- the whole ---------------------------------------------------------------------------------------

    def text(self):
        head = "grid(t = 1) cluster(g = 2)" if self.is_cluster else "threads(wg = %d)" % self.actors
        head += ' attr arch = "sm_100a"'
        if self.is_cluster:
            head += " cluster_exit = %s" % self.pick("sync", "sync", "none")
        out = ["kernel @k(%%y: inout gmem i32[%d, 4]) %s" % (max(self.outputs, 1), head), "{",
               "  scratch %r : smem i32[2, 4]"]
        for count, text in ((self.barriers, "  scratch %%b : barrier[%d]"),
                            (self.mbarriers, "  scratch %%q : mbarrier[%d]"),
                            (self.semaphores, "  scratch %%u : semaphore[%d] global")):
            out += [text % count] if count else []
        out += ["  mbarrier_init %%q[%d], 1" % i for i in range(self.mbarriers)]
        out += ["  cluster_barrier"] if self.is_cluster else []
        for actor, lines in enumerate(self.lines):
            axis = "g" if self.is_cluster else "wg"
            out += ["  if (eq (axis_index %s), %d) {" % (axis, actor)] + ["    " + text for text in lines] + ["  }"]
        return HEAD + "\n".join(out + ["}", ""])
