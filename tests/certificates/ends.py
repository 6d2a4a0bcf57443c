"""Operations at which a value by itself decides a finding, as ends of a chain from a value that the schedule decides:
each operand that sinks.def says something of. Whether a kernel has a finding is chance; no verdict may promise too
much.

SPDX-License-Identifier: Apache-2.0
"""
WORDS = "u16:0x4444", "u16:0"  # metadata that is one, and that is none
ARCH = ' attr arch = "sm_100a"'


# ---- the chain ----

def add_counter(kernel):
    """Each thread gets its number in the order of coming."""
    kernel.emit(f"%v = atomic_fetch_add {kernel.add_flags('count', 1)}[0], 1")


def add_place(kernel):
    """By way of memory: the first writes its own number."""
    cell = kernel.add_object("cell", "smem i32[1]")
    kernel.emit(f"%turn = atomic_fetch_add {kernel.add_flags('count', 1)}[0], 1",
                "if (eq %turn, 0) {", f"store {cell}[0], %me", "}", "block_barrier", f"%v = load {cell}[0]")


def add_reading(kernel):
    """What a semaphore holds while the other thread signals."""
    units = kernel.add_object("units", "semaphore[1]")
    kernel.emit("%v = if (eq %me, 1) {", f"semaphore_signal {units}[0], 1", f"semaphore_wait {units}[0], 1",
                "yield 0", "} else {", f"%held = semaphore_read {units}[0]", "yield %held", "}")


def add_data(kernel):
    """No chance at all."""
    kernel.emit("%v = add %me, 0")


def emit_step(kernel):
    """%w, 0 or 1."""
    step = kernel.draw.choice(("plain", "plain", "other", "loop", "choice", "memory"))
    if step == "plain":
        kernel.emit("%w = and %v, 1")
    elif step == "other":
        kernel.emit("%w = xor (and %v, 1), 1")
    elif step == "loop":
        kernel.emit("%w = for %i in 0..2 carry(%c = (and %v, 1)) {", "%n = xor %c, 1", "yield %n", "}")
    elif step == "choice":
        kernel.emit("%w = select (eq %v, 0), 1, 0")
    else:
        kept = kernel.add_object("kept", "smem i32[2]")
        kernel.emit(f"store {kept}[%me], (and %v, 1)", f"%w = load {kept}[%me]")


# ---- ends: lines of thread 0, of which %w = 0 makes none a finding, or %w = 1 ----

def end_metadata(kernel):
    a = kernel.add_object("a", "smem f16[64, 32] tile(8, 32) swizzle(64)")
    b = kernel.add_object("b", "smem f16[64, 64] tile(8, 64) swizzle(128)")
    acc = kernel.add_object("acc", "acc f32[64, 64]")
    op = kernel.draw.choice(("wgmma_sp", "wgmma_sp_async"))
    return [f"%e = select (eq %w, 0), {', '.join(WORDS)}", f"{op} {acc}, {a}, {b}, (broadcast %e : u16[64, 4])",
            "wgmma_wait 0"]


def end_tensor_metadata(kernel):
    kernel.launch += ARCH
    a = kernel.add_object("a", "smem i8[128, 64] tile(8, 64) swizzle(64)")
    b = kernel.add_object("b", "smem i8[32, 128] tile(8, 128) swizzle(128)")
    e = kernel.add_object("e", "smem u16[1, 128, 8]")
    acc, meta = kernel.add_object("acc", "tmem i32[128, 32]"), kernel.add_object("meta", "tmem u16[128, 8] metadata")
    read = kernel.add_object("read", "barrier orders_tensor_core")
    return [f"%e = select (eq %w, 0), {', '.join(WORDS)}", f"store {e}[0], (broadcast %e : u16[128, 8])", "commit_smem",
            f"async_copy_sparse_metadata_to_tmem {e}, {meta}",
            f"tcgen05_mma_sp {acc}, {a}, {b}.transpose(1, 0), {meta}, false",
            f"tcgen05_commit_arrive {read}", f"barrier_wait {read}"]


def end_accumulates(kernel):
    """What the accumulator held, which nobody wrote, counts or not."""
    kernel.launch += ARCH
    y = kernel.add_param("y", "out", "f32[128, 32]")
    a = kernel.add_object("a", "smem f16[128, 64] tile(8, 64) swizzle(128)")
    b = kernel.add_object("b", "smem f16[64, 32] tile(8, 32) swizzle(64)")
    acc, read = kernel.add_object("acc", "tmem f32[128, 32]"), kernel.add_object("read", "barrier orders_tensor_core")
    return [f"store {a}, (broadcast 1.0 : f16[128, 64])", f"store {b}, (broadcast 1.0 : f16[64, 32])", "commit_smem",
            f"tcgen05_mma {acc}, {a}, {b}, (eq %w, 1)", f"tcgen05_commit_arrive {read}", f"barrier_wait {read}",
            f"%sums = async_load_tmem {acc}", "wait_load_tmem", f"store {y}, %sums"]


def end_descriptor(kernel):
    """A start, or an extent, that the array has or has not."""
    maps = kernel.add_object("maps", "gmem u64[1, 16]")
    x = kernel.add_param("x", "in", "f32[64, 64]")
    numbers = kernel.draw.choice(("0, 0, 32 - %w * 32, 64", "0, 0, 32 + %w * 64, 64", "%w * 64, 0, 32, 64",
                                  "0, %w, 32, 32", "0, 0, 32, 64 + %w"))
    return [f"%d = make_tensor_descriptor {maps}[0], {x}, {numbers} : f32[32, 64]", f"tensormap_acquire {maps}[0]"]


def end_pixels(kernel):
    x = kernel.add_param("x", "in", "f16[2, 8, 8]")
    s, full = kernel.add_object("s", "smem f16[4, 8]"), kernel.add_object("full", "barrier")
    return [f"copy_gmem_to_smem_im2col {x}[0, 0, ds(0, 8)], {s}, {full}, %w * 70000 pixels(0..0)",
            f"barrier_wait {full}"]


def end_pixel(kernel):
    x = kernel.add_param("x", "in", "f16[2, 8, 8]")
    s, full = kernel.add_object("s", "smem f16[4, 8]"), kernel.add_object("full", "barrier")
    return [f"copy_gmem_to_smem_im2col {x}[0, %w * 100, ds(0, 8)], {s}, {full}, 0 pixels(0..0)", f"barrier_wait {full}"]


def end_bool(kernel):
    """Bytes that another name of the bools has written."""
    flags = kernel.add_object("flags", "smem u8[16]")
    bools = kernel.add_object("bools", f"smem bool[16] alias({flags})")
    how = kernel.draw.choice((f"%is = load {bools}[3]", f"%are = load {bools}", f"%is = masked_load {bools}[3], true",
                              f"%is = gather {bools}, (iota dim(0) : i32[4])"))
    return [f"store {flags}, (broadcast (cast (mul %w, 2) : u8) : u8[16])", how]


def end_promise(kernel):
    return [f"%p = multiple_of {kernel.draw.choice(('%w', '(mul %w, 3)'))}, 2"]


def end_check(kernel):
    return [kernel.draw.choice(('debug_check (eq %w, 0), "it came as {}", %w', 'debug_print "{}", %w'))]


def end_index(kernel):
    x = kernel.add_param("x", "in", "i32[8, 16]")
    s, full = kernel.add_object("s", "smem i32[2, 16]"), kernel.add_object("full", "barrier")
    ready = f"barrier_wait {full}"
    return kernel.draw.choice((
        [f"%n = load {x}[%w * 8, 0]"], [f"%n = load {x}[ds(%w * 7, 2), :]"],
        [f"%n = masked_load {x}[ds(7, 2), :], (eq %w, 1)"],
        [f"%n = gather {x}, (add (iota dim(0) : i32[4]), (broadcast (mul %w, 6) : i32[4])) dim(0)"],
        [f"copy_gmem_to_smem {x}[ds(%w * 7, 2), :], {s}, {full} oob(in_bounds)", ready],
        [f"copy_gmem_to_smem {x}[0, ds(%w, 4)], {s}[0, ds(0, 4)], {full}", ready],
        [f"async_copy {x}[ds(%w * 7, 2), :], {s}", "async_copy_commit_group", "async_copy_wait 0"],
        [f"store {s}[0, ds(%w * 12, 8)], (broadcast 1 : i32[8])"]))


def end_groups(kernel):
    """A promise of neighbours, of indices or of a mask."""
    x, s = kernel.add_param("x", "in", "i32[64]"), kernel.add_object("s", "smem i32[16]")
    line = kernel.draw.choice((
        f"async_gather {x}, {s}, (add (iota dim(0) : i32[16]), (broadcast %w : i32[16])) contiguous(2)",
        (f"async_masked_copy {x}[ds(0, 16)], {s}, (lt (iota dim(0) : i32[16]), (broadcast (add %w, 4) : i32[16])) "
        "contiguous(2)")))
    return [line, "async_copy_commit_group", "async_copy_wait 0"]


def end_scattered(kernel):
    s = kernel.add_object("s", "smem i32[8]")
    return kernel.draw.choice((
        [f"scatter {s}, (broadcast 3 : i32[4]), (mul (iota dim(0) : i32[4]), (broadcast %w : i32[4]))"],
        [f"scatter {s}, (mul (iota dim(0) : i32[4]), (broadcast %w : i32[4])), (iota dim(0) : i32[4])"]))


def end_rows(kernel):
    kernel.launch += ARCH
    x = kernel.add_param("x", "inout", "f32[32, 16]")
    s, full = kernel.add_object("s", "smem f32[8, 16]"), kernel.add_object("full", "barrier")
    rows = "(sub (iota dim(0) : i32[8]), (broadcast %w : i32[8]))"
    kernel.outputs.remove(x[1:])
    return kernel.draw.choice((
        [(f"tma_gather {x}, {s}, {full}, (add (mul (iota dim(0) : i32[8]), (broadcast %w : i32[8])), (broadcast 28 : "
          "i32[8]))"
         " oob(in_bounds)"), f"barrier_wait {full}"],
        [f"store {s}, (cast (iota dim(0) : i32[8, 16]) : f32)", "commit_smem", f"tma_scatter {s}, {x}, {rows}",
         "wait_smem_to_gmem 0"],
        [f"store {s}, (cast (mul (iota dim(0) : i32[8, 16]), (broadcast %w : i32[8, 16])) : f32)", "commit_smem",
         f"tma_scatter {s}, {x}, (broadcast 3 : i32[8])", "wait_smem_to_gmem 0"]))


def end_bytes(kernel):
    """More bytes than come, or as many."""
    x, s = kernel.add_param("x", "in", "i32[64]"), kernel.add_object("s", "smem i32[64]")
    full = kernel.add_mbarrier(1)
    return [f"mbarrier_expect {full}[0], (add 256, (mul %w, 16))", f"copy_gmem_to_smem {x}, {s}, {full}[0]",
            f"mbarrier_wait {full}[0], 0"]


def end_number(kernel):
    """Units, the id of a named barrier and what it counts, a phase."""
    what = kernel.draw.choice(("units", "named", "phase"))
    if what == "units":
        units = kernel.add_object("units", "semaphore[1]")
        return [f"semaphore_signal {units}[0], {kernel.draw.choice(('%w', '(sub 1, (mul %w, 2))'))}"]
    if what == "named":
        return [kernel.draw.choice(("named_barrier_sync (add 12, %w), 1", "named_barrier_sync 3, (add 1, %w)"))]
    full = kernel.add_mbarrier(1)
    return [f"mbarrier_arrive {full}[0]", f"mbarrier_wait {full}[0], %w"]


def end_loop(kernel):
    s = kernel.add_object("s", "smem i32[2]")
    return [kernel.draw.choice(("for %j in 0..(add 2, %w) {", "for %j in (sub 0, %w)..2 {")),
            f"store {s}[%j], 1", "}"]


def end_undefined(kernel):
    """How long a delay is, where nobody may have said it."""
    empty = kernel.add_object("empty", "smem i32[1]")
    return [f"%u = load {empty}[0]", "%n = select (eq %w, 0), 5, %u", "delay %n"]


def end_barrier(kernel):
    full = kernel.add_object("full", "barrier[1]")
    return [f"barrier_arrive {full}[%w]"]


CHAINS = (add_counter, add_counter, add_counter, add_place, add_reading, add_data)
ENDS = (end_metadata, end_tensor_metadata, end_accumulates, end_descriptor, end_pixels, end_pixel, end_bool,
        end_promise, end_check, end_index, end_groups, end_scattered, end_rows, end_bytes, end_number, end_loop,
        end_undefined, end_barrier)


def draw_ends(kernel):
    draw = kernel.draw
    kernel.launch = "threads(wg = 2)"
    kernel.is_certain = kernel.is_right = False
    end = draw.choice(ENDS)
    body = end(kernel)
    kernel.emit("%me = axis_index wg")
    if kernel.inits:
        kernel.emit("if (eq %me, 0) {", *kernel.list_inits(), "}", "block_barrier")
    draw.choice(CHAINS)(kernel)
    emit_step(kernel)
    kernel.emit("if (eq %me, 0) {", *body, "}")
