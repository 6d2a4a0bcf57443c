"""Draws small kernels of rows that TMA gathers and scatters, beside plain accesses of single rows.

SPDX-License-Identifier: Apache-2.0
"""
from draw_sync import Drawn

ROWS = 16
PARAMS = 'kernel @k(%%m: inout gmem f32[16, 64], %%y: inout gmem f32[%d, 64]) %s attr arch = "sm_100a"'


class Rows(Drawn):
    """Threads, or CTAs, that move rows of one array. What waits for a copy comes some time after it, or nowhere; a
    hand-over is an arrival and a wait, or units of a semaphore."""

    def __init__(self, seed):
        super().__init__("rows", seed, 0)
        self.actors = self.pick(1, 2, 2)
        self.lines = [[] for _ in range(self.actors)]
        self.is_grid = self.actors > 1 and self.chance(0.3)
        self.units = 0
        self.waits = [[] for _ in range(self.actors)]
        for _ in range(self.draw.randint(3, 7)):
            self.step(self.draw.randrange(self.actors))
        for actor in range(self.actors):
            self.flush(actor, 0.9)
            self.lines[actor].append("wait_smem_to_gmem 0 read_only")
        self.spoil(0.5, ("barrier_", "semaphore_", "wait_smem"))

    def flush(self, actor, part):
        waits, self.waits[actor] = self.waits[actor], []
        for wait in waits:
            (self.lines[actor] if self.chance(part) else self.waits[actor]).append(wait)

    def step(self, actor):
        if self.actors > 1 and self.chance(0.3):
            self.hand_over(actor, 1 - actor)
        else:
            self.lines[actor] += self.pick(self.gather, self.gather, self.scatter, self.scatter, self.touch_row,
                                           self.touch_row, self.touch_slot, self.fence)(actor)
        self.flush(actor, 0.5)

    def rows(self, may_repeat):
        """Indices of 4 rows. Some lie outside."""
        some = ["(iota dim(0) : i32[4])", "(mul (iota dim(0) : i32[4]), 2)", "(add (iota dim(0) : i32[4]), 2)",
                "(add (mul (iota dim(0) : i32[4]), 2), 1)", "(add (iota dim(0) : i32[4]), %d)" % (ROWS - 2),
                "(sub %d, (iota dim(0) : i32[4]))" % self.pick(3, 7)]
        if may_repeat:
            some += ["(div (iota dim(0) : i32[4]), 2)", "(broadcast 3 : i32[4])", "(sub (iota dim(0) : i32[4]), 2)"]
        return self.draw.choice(some)

    def columns(self):
        return self.pick(0, 0, 32)

    def gather(self, actor):
        barrier = self.barrier()
        self.waits[actor].append("barrier_wait " + barrier)
        return ["tma_gather %%m[:, ds(%d, 32)], %%s[%d], %s, %s" % (self.columns(), self.half(), barrier,
                                                                    self.rows(True))]

    def scatter(self, actor):
        self.waits[actor].append("wait_smem_to_gmem 0" + self.pick("", "", " read_only"))
        return ["tma_scatter %%s[%d], %%m[:, ds(%d, 32)], %s" % (self.half(), self.columns(), self.rows(False))]

    def touch_row(self, _actor):
        row = self.draw.randrange(8)
        return self.draw.choice((["store %%m[%d], (broadcast 3.0 : f32[64])" % row],
                                 ["store %s, (load %%m[%d])" % (self.output(), row)],
                                 ["store %%m[%d, ds(32, 32)], (broadcast 3.0 : f32[32])" % row]))

    def touch_slot(self, _actor):
        half, row = self.half(), self.draw.randrange(4)
        return self.draw.choice((["store %%s[%d], (broadcast 2.0 : f32[4, 32])" % half],
                                 ["store %s[ds(0, 32)], (load %%s[%d, %d])" % (self.output(), half, row)]))

    def fence(self, _actor):
        return [self.pick("commit_smem", "commit_gmem")]

    def hand_over(self, actor, other):
        if self.chance(0.4):
            self.lines[actor] += self.fence(actor)
        if self.is_grid:
            unit, self.units = "%%u[%d]" % self.units, self.units + 1
            self.lines[actor].append("semaphore_signal %s, 1" % unit)
            self.lines[other].append("semaphore_wait %s, 1" % unit)
        else:
            barrier = self.barrier()
            self.lines[actor].append("barrier_arrive " + barrier)
            self.lines[other].append("barrier_wait " + barrier)
        if self.chance(0.3):
            self.lines[other] += self.fence(other)

    def text(self):
        axis = "g" if self.is_grid else "wg"
        head = ("grid(g = %d) threads(wg = 1)" if self.is_grid else "threads(wg = %d)") % self.actors
        out = [PARAMS % (max(self.outputs, 1), head), "{", "  scratch %s : smem f32[2, 4, 32]",
               "  scratch %%b : barrier[%d]" % max(self.barriers, 1)]
        if self.units:
            out.append("  scratch %%u : semaphore[%d] global" % self.units)
        start = ["store %s, (broadcast 1.0 : f32[2, 4, 32])", "commit_smem"]
        if self.is_grid or self.actors == 1:
            out += ["  " + text for text in start]
        else:
            out += ["  if (eq (axis_index wg), 0) {"] + ["    " + text for text in start] + ["  }", "  block_barrier"]
        for actor, lines in enumerate(self.lines):
            out += ["  if (eq (axis_index %s), %d) {" % (axis, actor)] + ["    " + text for text in lines] + ["  }"]
        return "\n".join(out + ["}", ""])
