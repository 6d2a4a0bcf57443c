"""Persistent kernels by launch control: clusters that go on with others that have not begun. Which one gets which tile
is chance, so no verdict holds for every schedule; what each tile becomes is not.

SPDX-License-Identifier: Apache-2.0
"""


def emit_tile(kernel, output, tile, part):
    kernel.emit(f"store {output}[{tile}, {part}], (add {tile}, {kernel.draw.randrange(9)})")


def emit_loop(kernel, body):
    """body(turn) for each tile of the actor, which ends with the next one as %next."""
    kernel.emit("%last, %count = while carry(%tile = (axis_index t), %k = 0) {", "cond (ge %tile, 0)", "} do {")
    body()
    kernel.emit("yield %next, (add %k, 1)", "}")


def draw_for_threads(kernel):
    """One thread asks, all of the CTA read. With fewer slots than two it asks when all have read the answer before."""
    draw = kernel.draw
    threads, slots, tiles = draw.choice((1, 1, 2, 3)), draw.randrange(1, 4), draw.randrange(1, 10)
    kernel.launch = f'grid(t = {tiles}) threads(wg = {threads}) attr arch = "sm_100a"'
    output = kernel.add_param("y", "out", f"i32[{tiles}, {threads}]")
    answers, got = kernel.add_object("r", f"smem i32[{slots}, 4]"), kernel.add_object("b", f"barrier[{slots}]")
    used = kernel.add_object("u", f"barrier[{slots}] arrivals({threads})")
    asks_late = draw.random() < 0.4
    is_published = draw.random() < 0.8 or tiles == 1

    def ask(slot):
        kernel.emit("if (eq %me, 0) {", f"if (ge %k, {slots}) {{", f"barrier_wait {used}[{slot}]", "}",
                    f"try_cluster_cancel {answers}[{slot}], {got}[{slot}]", "}")

    def body():
        kernel.emit(f"%slot = rem %k, {slots}")
        if not asks_late:
            ask("%slot")
        emit_tile(kernel, output, "%tile", "%me")
        if asks_late:
            ask("%slot")
        kernel.emit(f"barrier_wait {got}[%slot]", f"%next = query_cluster_cancel {answers}[%slot]",
                    *["commit_smem"] * is_published, f"barrier_arrive {used}[%slot]")

    kernel.emit("%me = axis_index wg")
    emit_loop(kernel, body)
    kernel.emit("if (eq %me, 0) {", f"for %i in (max (sub %count, {slots}), 0)..%count {{", f"%old = rem %i, {slots}",
                f"barrier_wait {used}[%old]", "}", "}")
    kernel.is_right = is_published


def draw_for_cluster(kernel):
    """CTA 0 asks for its cluster by a multicast, when it has heard of every CTA."""
    draw = kernel.draw
    size, tiles = draw.choice((2, 2, 4)), draw.randrange(1, 7)
    kernel.launch = f'grid(t = {tiles}) cluster(g = {size}) attr arch = "sm_100a"'
    output = kernel.add_param("y", "out", f"i32[{tiles}, {size}]")
    answers = kernel.add_object("r", draw.choice(("smem u8[16]", "smem i32[4]", "smem u64[2]")))
    got, used = kernel.add_object("b", "mbarrier"), kernel.add_object("u", "mbarrier")

    def body():
        kernel.emit(f"mbarrier_expect {got}, 16", "if (eq %me, 0) {", f"mbarrier_wait {used}, (rem (add %k, 1), 2)",
                    f"try_cluster_cancel {answers}, {got} multicast(g)", "}")
        emit_tile(kernel, output, "%tile", "%me")
        kernel.emit(f"mbarrier_wait {got}, (rem %k, 2)", f"%next = query_cluster_cancel {answers}", "commit_smem",
                    f"mbarrier_arrive {used}.cluster(0)")

    kernel.emit("%me = axis_index g", f"mbarrier_init {got}, 1", f"mbarrier_init {used}, {size}", "cluster_barrier")
    emit_loop(kernel, body)
    kernel.emit("if (eq %me, 0) {", f"mbarrier_wait {used}, (rem (add %count, 1), 2)", "}")


def draw_cancels(kernel):
    kernel.is_certain = False
    (draw_for_cluster if kernel.draw.random() < 0.3 else draw_for_threads)(kernel)
