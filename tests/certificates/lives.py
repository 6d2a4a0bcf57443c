"""Small kernels around one idea each: an mbarrier's life, tests, tickets, locks, counters, warps.

SPDX-License-Identifier: Apache-2.0
"""
from kernel import World, parity


def draw_life(kernel):
    """An mbarrier is made, used, ended, and made again for another number of arrivals."""
    draw = kernel.draw
    cluster = draw.choice((1, 1, 2, 4))
    threads = draw.choice((2, 3)) if cluster == 1 else draw.choice((1, 2))
    world = World(kernel, 1, cluster, threads)
    lives = draw.randint(1, 3)
    kernel.add_param("y", "out", f"f32[{lives}, {world.count}, 64]")
    bar = kernel.add_object("m", "mbarrier[1]")
    slots = kernel.add_object("s", f"smem f32[{threads}, 64]")
    world.emit_indices(kernel)
    meet = "block_barrier" if cluster == 1 else "cluster_barrier"
    mine = "%w" if threads > 1 else "0"
    maker = draw.randrange(threads)
    only = f"if (eq %w, {maker}) {{" if threads > 1 else "if true {"
    for life in range(lives):
        phases = draw.randint(1, 3)
        is_far = cluster > 1 and draw.random() < 0.6
        kernel.emit(only, f"mbarrier_init {bar}[0], {threads}", "}",
                    meet if meet == "block_barrier" or draw.random() < 0.7 else "cluster_barrier order(relaxed)")
        kernel.emit(f"store {slots}[{mine}], (broadcast (cast (add %me, {life}) : f32) : f32[64])")
        for phase in range(phases):
            to = world.refer(bar, f"(%c + 1) % {cluster}") if is_far else bar
            # In its last phase all may leave it: no phase comes after.
            drop = "_drop" if phase == phases - 1 and draw.random() < 0.3 else ""
            kernel.emit(f"mbarrier_arrive{drop} {to}[0]", f"mbarrier_wait {bar}[0], {phase % 2}")
            if phase == 0:
                if is_far:
                    source = f"{world.refer(slots, f'(%c + {cluster - 1}) % {cluster}')}[{mine}]"
                else:
                    source = f"{slots}[{'(%w + 1) % ' + str(threads) if threads > 1 else '0'}]"
                kernel.emit(f"store %y{kernel.number}[{life}, %me], (load {source})")
            if is_far:
                # The next phase's arrivals have to know that this one is complete over there.
                kernel.emit("cluster_barrier")
        kernel.emit(meet)
        if life + 1 < lives or draw.random() < 0.5:
            kernel.emit(only, f"mbarrier_invalidate {bar}[0]", "}")


def emit_expect(kernel, full, rounds):
    """Bytes and an arrival; now and then who makes it leaves with the last one."""
    if kernel.draw.random() < 0.5:
        kernel.emit(f"if (eq %i, {rounds - 1}) {{", f"mbarrier_expect_drop {full}[0], 256", "} else {",
                    f"mbarrier_expect {full}[0], 256", "}")
    else:
        kernel.emit(f"mbarrier_expect {full}[0], 256")


def draw_tests(kernel):
    """A phase is asked for before it is waited for: what the answer decides does not matter here."""
    draw = kernel.draw
    rounds = draw.randint(1, 3)
    is_explicit = draw.random() < 0.6
    kernel.launch = "threads(wg = 2)"
    kernel.is_certain = False
    x = kernel.add_param("x", "in", f"f32[{rounds}, 64]")
    y = kernel.add_param("y", "out", f"f32[{rounds}, 64]")
    slot = kernel.add_object("s", "smem f32[64]")
    full = kernel.add_object("full", "mbarrier[1]" if is_explicit else "barrier[1]")
    free = kernel.add_object("free", "barrier[1]")
    kernel.emit("%w = axis_index wg")
    if is_explicit:
        kernel.emit("if (eq %w, 0) {", f"mbarrier_init {full}[0], 1", "}", "block_barrier")
    word = "mbarrier" if is_explicit else "barrier"
    by_tma = draw.random() < 0.5
    polls = draw.random() < 0.3
    kernel.emit("if (eq %w, 0) {", f"for %i in 0..{rounds} {{")
    if by_tma:
        kernel.emit("commit_smem")
        if is_explicit:
            emit_expect(kernel, full, rounds)
        kernel.emit(f"copy_gmem_to_smem {x}[%i], {slot}, {full}[0]")
    else:
        kernel.emit(f"store {slot}, (load {x}[%i])", f"{word}_arrive {full}[0]")
    kernel.emit(f"barrier_wait {free}[0]", "}", "} else {", f"for %i in 0..{rounds} {{")
    operands = f"{full}[0]" + (", " + parity("%i", 1) if is_explicit else "")
    if polls:
        kernel.emit("while {", f"%is = {word}_test {operands}", "cond (not %is)", "} do {", "}")
    else:
        kernel.emit(f"%is = {word}_test {operands}", "if (not %is) {", f"{word}_wait {operands}", "}")
    kernel.emit(f"store {y}[%i], (load {slot})")
    kernel.emit(f"barrier_arrive {free}[0]", "}", "}")


def draw_tickets(kernel):
    """CTAs draw numbers; the one that draws a number does its part of the work, the same for any CTA."""
    draw = kernel.draw
    workers, parts = draw.randint(2, 4), draw.randint(1, 6)
    kernel.launch = f"grid(g = {workers})"
    kernel.is_certain = False
    x = kernel.add_param("x", "in", f"f32[{parts}, 64]")
    y = kernel.add_param("y", "out", f"f32[{parts}, 64]")
    next_part = kernel.add_flags("next", 1)
    order = draw.choice(("", " order(acq_rel)"))
    kernel.emit(f"%first = atomic_fetch_add {next_part}[0], 1{order}",
                "%last = while carry(%t = %first) {", f"cond (lt %t, {parts})", "} do {",
                f"store {y}[%t], (mul (load {x}[%t]), 2.0)",
                f"%next = atomic_fetch_add {next_part}[0], 1{order}", "yield %next", "}")


def draw_last(kernel):
    """Each CTA leaves its part, and the one that comes last adds up."""
    draw = kernel.draw
    count = draw.randint(2, 4)
    is_cluster = draw.random() < 0.3
    count = 2 if is_cluster else count
    kernel.launch = f"cluster(g = {count})" if is_cluster else f"grid(g = {count})"
    kernel.is_certain = False
    y = kernel.add_param("y", "out", "i32[64]")
    counter = kernel.add_flags("count", 1)
    parts = kernel.add_object("p", f"gmem i32[{count}, 64]")
    kernel.emit("%g = axis_index g", f"store {parts}[%g], (broadcast (add %g, {draw.randrange(9)}) : i32[64])",
                f"%old = atomic_fetch_add {counter}[0], 1 order(acq_rel)", f"if (eq %old, {count - 1}) {{",
                f"%sum = for %i in 0..{count} carry(%s = (broadcast 0 : i32[64])) {{",
                f"yield (add %s, (load {parts}[%i]))", "}", f"store {y}, %sum", "}")


def draw_flagged(kernel):
    """Data and a flag; who sees the flag set reads the data. Right if the flag releases and acquires."""
    draw = kernel.draw
    kernel.is_certain = False
    data = kernel.add_object("m", "gmem f32[64]")
    copy = kernel.add_object("c", "gmem f32[64]")
    olds = kernel.add_object("o", "gmem i32[2]")
    flag = kernel.add_flags("flag", 1)
    kernel.launch = "grid(g = 2)"
    sets = draw.choice(("exchange", "exchange", "fetch_add", "cas", "max"))
    order, seen = draw.choice((" order(release)", " order(release)", "")), draw.choice((" order(acquire)",) * 2 + ("",))
    kernel.is_right = bool(order and seen) and sets != "max"
    sets = {"exchange": f"%was = atomic_exchange {flag}[0], 1{order}",
            "fetch_add": f"%was = atomic_fetch_add {flag}[0], 1{order}",
            "cas": f"%was = atomic_cas {flag}[0], 0, 1{order}", "max": f"atomic_max {flag}[0], 1"}[sets]
    delays = [draw.randrange(4) for _ in range(2)]
    kernel.emit("%g = axis_index g", "if (eq %g, 0) {", *["commit_gmem"] * delays[0],
                f"store {data}, (broadcast 1.0 : f32[64])", sets)
    if sets.startswith("%"):
        kernel.emit(f"store {olds}[0], %was")
    look = draw.choice((f"atomic_fetch_add {flag}[0], 0", f"atomic_cas {flag}[0], 1, 1"))
    kernel.emit("} else {", *["commit_gmem"] * delays[1], f"%old = {look}{seen}", f"store {olds}[1], %old",
                "if (eq %old, 1) {", f"store {copy}, (load {data})", "}", "}")


def draw_lock(kernel):
    """A lock around plain additions."""
    draw = kernel.draw
    kernel.is_certain = False
    kernel.launch = f"grid(g = {draw.randint(2, 3)})"
    sums = kernel.add_param("m", "inout", "i32[64]")
    lock = kernel.add_flags("lock", 1)
    kernel.emit("while {", f"%old = atomic_cas {lock}[0], 0, 1 order(acquire)", "cond (ne %old, 0)", "} do {", "}",
                f"store {sums}, (add (load {sums}), (add (axis_index g), 1))",
                f"%was = atomic_exchange {lock}[0], 0 order(release)",
                "if (ne %was, 1) {", f"store {sums}[0], -99", "}")


def draw_crowd(kernel):
    """Two to four CTAs of a grid or a cluster, or threads: how many, and along which axis."""
    count = kernel.draw.randint(2, 4)
    axis, kernel.launch = kernel.draw.choice((("g", f"grid(g = {count})"), ("cx", f"cluster(cx = {count})"),
                                              ("wg", f"threads(wg = {count})")))
    return count, axis


def draw_lookers(kernel):
    """Units that several look at and one takes in the end, when the others have answered."""
    draw = kernel.draw
    count, axis = draw_crowd(kernel)
    units = draw.randint(1, 3)
    slots = kernel.add_object("m", "gmem f32[64]")
    y = kernel.add_param("y", "out", f"f32[{count}, 64]")
    ready = kernel.add_object("u", "semaphore[1] global")
    done = kernel.add_object("d", f"semaphore[{count}] global")
    kernel.emit(f"%me = axis_index {axis}", "if (eq %me, 0) {", f"store {slots}, (broadcast 3.0 : f32[64])",
                f"semaphore_signal {ready}[0], {units}", f"store {y}[0], (broadcast 1.0 : f32[64])")
    kernel.emit(*[f"semaphore_wait {done}[{i}], 1" for i in range(1, count)])
    kernel.emit(f"semaphore_wait {ready}[0], {units}", f"store {slots}, (broadcast 4.0 : f32[64])", "} else {",
                f"semaphore_wait {ready}[0], {units} no_decrement", f"store {y}[%me], (load {slots})",
                f"semaphore_signal {done}[%me], 1", "}")


def draw_gathering(kernel):
    """Several signal one semaphore, one takes all their units at once."""
    draw = kernel.draw
    count, axis = draw_crowd(kernel)
    rounds = draw.randint(1, 3)
    parts = kernel.add_object("p", f"gmem f32[{count}, 64]")
    y = kernel.add_param("y", "out", f"f32[{rounds}, {count}, 64]")
    arrived = kernel.add_object("u", "semaphore[1] global")
    go = kernel.add_object("v", f"semaphore[{count}] global")
    kernel.emit(f"%me = axis_index {axis}", f"for %i in 0..{rounds} {{",
                f"store {parts}[%me], (broadcast (cast (add %me, %i) : f32) : f32[64])",
                f"semaphore_signal {arrived}[0], 1", "if (eq %me, 0) {", f"semaphore_wait {arrived}[0], {count}",
                f"for %j in 0..{count} {{", f"store {y}[%i, %j], (load {parts}[%j])", f"semaphore_signal {go}[%j], 1",
                "}", "}", f"semaphore_wait {go}[%me], 1", "}")


def draw_contest(kernel):
    """Several waits take the units of one semaphore, in any order; all of one signal, or of several."""
    draw = kernel.draw
    count = draw.randint(2, 4)
    rounds = draw.randint(1, 3) if count == 2 else 1  # a fast one could take another's unit of the round before
    axis, kernel.launch = draw.choice((("g", f"grid(g = {count})"), ("wg", f"threads(wg = {count})")))
    is_one = draw.random() < 0.5
    kernel.is_certain = is_one or count == 2
    x = kernel.add_param("x", "in", f"f32[{rounds}, 64]")
    y = kernel.add_param("y", "out", f"f32[{rounds}, {count}, 64]")
    slot = kernel.add_object("g", "gmem f32[64]")
    ready = kernel.add_object("u", "semaphore[1] global")
    done = kernel.add_object("d", f"semaphore[{count}] global")
    signals = [f"semaphore_signal {ready}[0], {count - 1}"] if is_one else (
        [f"semaphore_signal {ready}[0], 1"] * (count - 1))
    kernel.emit(f"%me = axis_index {axis}", f"for %i in 0..{rounds} {{", "if (eq %me, 0) {",
                f"store {slot}, (load {x}[%i])", *signals, f"store {y}[%i, 0], (load {slot})")
    kernel.emit(*[f"semaphore_wait {done}[{i}], 1" for i in range(1, count)])
    kernel.emit("} else {", f"semaphore_wait {ready}[0], 1", f"store {y}[%i, %me], (load {slot})",
                f"semaphore_signal {done}[%me], 1", "}", "}")


def draw_reader(kernel):
    """A look at a semaphore decides whether there is something else to do before the wait."""
    draw = kernel.draw
    kernel.is_certain = False
    axis, kernel.launch = draw.choice((("g", "grid(g = 2)"), ("wg", "threads(wg = 2)")))
    rounds, polls = draw.randint(1, 3), draw.random() < 0.3
    x = kernel.add_param("x", "in", f"f32[{rounds}, 64]")
    y = kernel.add_param("y", "out", f"f32[{rounds}, 64]")
    slot = kernel.add_object("g", "gmem f32[64]")
    spare = kernel.add_object("h", "gmem i32[64]")
    full = kernel.add_object("u", "semaphore[1] global")
    free = kernel.add_object("v", "semaphore[1] global")
    kernel.emit(f"%me = axis_index {axis}", f"for %i in 0..{rounds} {{", "if (eq %me, 0) {",
                f"store {slot}, (load {x}[%i])", f"semaphore_signal {full}[0], 1", f"semaphore_wait {free}[0], 1",
                "} else {")
    if polls:
        kernel.emit("while {", f"%n = semaphore_read {full}[0]", "cond (lt %n, 1)", "} do {", "}")
    else:
        kernel.emit(f"%n = semaphore_read {full}[0]", "if (lt %n, 1) {", f"store {spare}, (broadcast %i : i32[64])",
                    "}")
    kernel.emit(f"semaphore_wait {full}[0], 1", f"store {y}[%i], (load {slot})", f"semaphore_signal {free}[0], 1",
                "}", "}")


def draw_histogram(kernel):
    """Atomics or reductions into the same sums, or both, which is only warned of; nobody reads them."""
    draw = kernel.draw
    adds, copies = draw.choice(((1, 0), (0, 1), (1, 1)))
    kernel.is_right = not (adds and copies)
    count = draw.randint(2, 4)
    kernel.launch = f"grid(g = {count}) threads(wg = 2)"
    sums = kernel.add_param("h", "inout", "i32[64]")
    ones = kernel.add_object("s", "smem i32[64]")
    landed = kernel.add_object("b", "barrier[1]")
    kernel.emit("%w = axis_index wg", "if (eq %w, 0) {", f"store {ones}, (broadcast 1 : i32[64])", "commit_smem",
                f"barrier_arrive {landed}[0]", *[f"atomic_add {sums}, (broadcast 2 : i32[64])"] * adds,
                "} else {", f"barrier_wait {landed}[0]", f"for %i in 0..{draw.randint(1, 3)} {{",
                *[f"copy_smem_to_gmem {ones}, {sums} reduce(add)"] * copies, "}", "wait_smem_to_gmem 0", "}")


def draw_warps(kernel):
    """Four warps load for their thread, and wait for each other."""
    draw = kernel.draw
    rounds = draw.randint(1, 3)
    x = kernel.add_param("x", "in", f"f32[{rounds}, 4, 64]")
    y = kernel.add_param("y", "out", f"f32[{rounds}, 4, 64]")
    tile = kernel.add_object("s", "smem f32[4, 64]")
    is_explicit = draw.random() < 0.5
    full = kernel.add_object("full", "mbarrier[1]" if is_explicit else "barrier[1] arrivals(4)")
    way = draw.choice(("load", "send", "flag"))
    if is_explicit:
        kernel.emit(f"mbarrier_init {full}[0], 4")
    kernel.emit(f"for %i in 0..{rounds} {{", "warp_map(%w) {")
    if is_explicit:
        emit_expect(kernel, full, rounds)
    kernel.emit(f"copy_gmem_to_smem {x}[%i, ds(%w, 1)], {tile}[ds(%w, 1)], {full}[0]", "}")
    kernel.emit(f"mbarrier_wait {full}[0], {parity('%i', 1)}" if is_explicit else f"barrier_wait {full}[0]")
    if way == "load":
        kernel.emit(f"store {y}[%i], (load {tile})", "commit_smem")
    elif way == "send":
        kernel.emit("warp_map(%w) {", f"copy_smem_to_gmem {tile}[%w], {y}[%i, %w]", "wait_smem_to_gmem 0 read_only",
                    "}")
    else:
        ready = kernel.add_object("u", "semaphore[1]")
        kernel.emit("warp_map(%w) {", "if (eq %w, 0) {", f"semaphore_signal {ready}[0], 3", "} else {",
                    f"semaphore_wait {ready}[0], 1", f"copy_smem_to_gmem {tile}[%w], {y}[%i, %w]", "}", "}",
                    "wait_smem_to_gmem 0 read_only", f"store {y}[%i, 0], (load {tile}[0])", "commit_smem")
    kernel.emit("}", "wait_smem_to_gmem 0")


def draw_lives(kernel):
    kernel.draw.choice((draw_life, draw_life, draw_life, draw_tests, draw_tests, draw_tickets, draw_last, draw_lock,
                        draw_flagged, draw_lookers, draw_gathering, draw_contest, draw_contest, draw_reader,
                        draw_histogram, draw_warps))(kernel)
