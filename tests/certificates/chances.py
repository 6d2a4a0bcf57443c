"""Values that depend on the schedule, and what may become of them: a division without a quotient, a choice of
something undefined. Whether a kernel has a finding is chance; only that no verdict promises too much is asked for.

SPDX-License-Identifier: Apache-2.0
"""


def add_counter(kernel):
    """Each actor gets its number in the order of coming."""
    counter = kernel.add_flags("count", 1)
    kernel.emit(f"%v = atomic_fetch_add {counter}[0], {kernel.draw.choice((0, '%me', 1))}")


def add_exchange(kernel):
    """A cell that nobody, or one actor before all others, has written."""
    cell = kernel.add_object("cell", "gmem i32[1]")
    if kernel.draw.random() < 0.5:
        kernel.emit("if (eq %me, 0) {", f"store {cell}[0], 3", "}", kernel.meeting)
    kernel.emit("%v = if (eq %me, 0) {", f"%old = atomic_exchange {cell}[0], 1",
                kernel.draw.choice(("yield %old", "yield 4")), "} else {",
                f"%seen = atomic_fetch_add {cell}[0], 0", "yield %seen", "}")


def add_reading(kernel):
    """What a semaphore holds while another actor signals and waits."""
    units = kernel.add_object("units", "semaphore[1]" + (" global" if kernel.is_grid else ""))
    kernel.emit("%v = if (eq %me, 0) {", f"semaphore_signal {units}[0], 1", f"semaphore_wait {units}[0], 1",
                "yield 5", "} else {", f"%held = semaphore_read {units}[0]", "yield %held", "}")


def add_updates(kernel):
    """Two updates in no order, and what they leave: of two kinds it is chance too, and no output that all runs
    share."""
    cell = kernel.add_flags("cell", 1)
    one, other = (kernel.draw.choice(("atomic_add", "atomic_max", "atomic_min", "atomic_xor")) for _ in range(2))
    if one != other:
        kernel.outputs.remove(cell[1:])
    kernel.emit("if (eq %me, 0) {", f"{one} {cell}[0], {kernel.draw.choice((0, 1, 2))}", "} else {",
                f"{other} {cell}[0], {kernel.draw.choice((0, 1, 2))}", "}", kernel.meeting, f"%v = load {cell}[0]")


def add_data(kernel):
    """No chance at all."""
    kernel.emit("%v = add %me, 1")


def end_as_divisor(kernel):
    return [f"%r = {kernel.draw.choice(('div', 'rem', 'cdiv'))} 10, %w"]


def end_as_dividend(kernel):
    return [f"%r = {kernel.draw.choice(('div', 'rem', 'cdiv'))} %w, {kernel.draw.choice((7, 8, -1))}"]


def end_as_kept_out(kernel):
    """A quotient that is not used where there is none, or where there is one."""
    return [f"%q = {kernel.draw.choice(('div', 'rem', 'cdiv'))} 10, %w",
            f"%r = select ({kernel.draw.choice(('eq', 'eq', 'ne'))} %w, 0), 9, %q"]


def end_as_choice(kernel):
    empty = kernel.add_object("empty", "smem i32[2]")
    first = [f"store {empty}[%t], 6"] if kernel.draw.random() < 0.4 else []
    return first + [f"%u = load {empty}[%t]", f"%r = select ({kernel.draw.choice(('eq', 'ne', 'lt'))} %w, 1), %u, 9"]


def end_as_value(_):
    return ["%r = add %w, 1"]


def draw_chances(kernel):
    draw = kernel.draw
    kernel.is_grid = draw.random() < 0.3
    kernel.launch = "cluster(g = 2)" if kernel.is_grid else "threads(wg = 2)"
    kernel.meeting = "cluster_barrier" if kernel.is_grid else "block_barrier"
    kernel.is_certain = kernel.is_right = False
    places = kernel.add_object("places", "gmem i32[2]")
    kernel.emit(f"%me = axis_index {'g' if kernel.is_grid else 'wg'}", "%t = add %me, 0",
                *["commit_smem"] * draw.randrange(3))
    draw.choice((add_counter, add_counter, add_exchange, add_reading, add_updates, add_data))(kernel)
    step = draw.choice(("add %v, 0", "add %v, 0", "sub %v, 1", "mul %v, 3", "max %v, 1", "xor %v, 1"))
    kernel.emit(f"%w = {step}")
    lines = draw.choice((end_as_divisor, end_as_divisor, end_as_dividend, end_as_kept_out, end_as_choice, end_as_choice,
                         end_as_value))(kernel)
    if draw.random() < 0.3:
        lines = lines + [f"store {places}[%me], %r", kernel.meeting, f"%z = load {places}[(%me + 1) % 2]",
                         f"store {places}[%me], (add %z, 0)"] if draw.random() < 0.5 else lines + [
                             'debug_print "{}", %r']
    else:
        lines = lines + [f"store {places}[%me], %r"]
    kernel.emit(*lines)
