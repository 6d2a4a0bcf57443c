"""Rows by TMA that go from thread to thread through GMEM: each gathers what the one before it has scattered, adds one,
and scatters it to rows of its own, which may lie between those of others.

SPDX-License-Identifier: Apache-2.0
"""

COUNT = 8  # rows of a turn


def name_rows(kernel, first, step):
    """Indices first, first + step, ..; or the same from the last one on."""
    if kernel.draw.random() < 0.5:
        return f"(add (mul (iota dim(0) : i32[{COUNT}]), {step}), {first})"
    return f"(sub {first + (COUNT - 1) * step}, (mul (iota dim(0) : i32[{COUNT}]), {step}))"


class Rows:
    """threads hand on rounds of rows. The rows of round r and thread t begin at a place of their own: side by side, or
    woven into each other."""

    def __init__(self, kernel):
        draw, self.kernel = kernel.draw, kernel
        self.threads, self.rounds = draw.choice((2, 2, 3)), draw.choice((1, 2, 3))
        self.places = (self.threads + 1) * self.rounds
        self.is_woven = draw.random() < 0.5
        kernel.launch = f'threads(wg = {self.threads}) attr arch = "sm_100a"'
        self.array = kernel.add_param("m", "inout", f"f32[{self.places * COUNT}, 16]")
        self.slots = kernel.add_object("s", f"smem f32[{self.threads}, 2, {COUNT}, 16]")
        self.full = kernel.add_object("b", f"barrier[{self.threads}]")
        self.told = kernel.add_object("h", f"barrier[{self.threads}, {self.rounds}]")
        kernel.emit("%w = axis_index wg")
        kernel.emit_branches("%w", [(t, lambda t=t: self.emit_actor(t)) for t in range(self.threads)])

    def rows(self, thread, turn):
        place = thread * self.rounds + turn
        return name_rows(self.kernel, *((place, self.places) if self.is_woven else (place * COUNT, 1)))

    def emit_actor(self, thread):
        for turn in range(self.rounds):
            self.emit_turn(thread, turn)
        if self.kernel.draw.random() < 0.5:
            self.kernel.emit("wait_smem_to_gmem 0 read_only")

    def emit_turn(self, thread, turn):
        kernel, came, goes = self.kernel, f"{self.slots}[{thread}, 0]", f"{self.slots}[{thread}, 1]"
        if thread > 0:
            kernel.emit(f"barrier_wait {self.told}[{thread - 1}, {turn}]", "commit_gmem")
        if turn > 0:
            kernel.emit("commit_smem")
        kernel.emit(f"tma_gather {self.array}, {came}, {self.full}[{thread}], {self.rows(thread, turn)}",
                    f"barrier_wait {self.full}[{thread}]")
        if turn > 0:
            kernel.emit("wait_smem_to_gmem 0 read_only")
        kernel.emit(f"store {goes}, (add (load {came}), 1.0)", "commit_smem",
                    f"tma_scatter {goes}, {self.array}, {self.rows(thread + 1, turn)}", "wait_smem_to_gmem 0")
        if thread + 1 < self.threads:
            kernel.emit(f"barrier_arrive {self.told}[{thread}, {turn}]")


def draw_rows(kernel):
    Rows(kernel)
