"""Drawn kernels with many of something: CTAs, units, phases, copies in flight. A mistake stands far from where it
shows.

usage: check_crowds.py --grout PATH KIND FIRST COUNT        KIND: readers, totals, phases, stores, copies, waits

readers: up to 5,200 CTAs use the same bytes and tell the last one, which writes them when it has heard of all.
With a mistake it has not heard of some, drawn from all.
totals: signals and waits of up to 2^31 - 1 units. What the semaphore cannot count is an error.
phases: up to 5,000 phases of an mbarrier. With a mistake nobody waits for one of them, drawn from all, or somebody
may wait when the next one is over.
stores: up to 1,700 copies of TMA to GMEM in flight, of which a wait leaves some. With a mistake the bytes of one
that may be in flight are written.
copies: the same with groups of cp.async, and a read.
waits: up to 600 waits for such copies, and another CTA that has heard of one of them. With a mistake it has not, or by
an edge that carries no memory.

Right kernels are clean; of those with a mistake the code is known. A kernel that differs is printed. Closing line:
'N passed, N failed, N mistakes'.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import os
import random
import sys

sys.dont_write_bytecode = True  # the folder is a source tree
import checking

UNITS_MAX = 2**31 - 1  # that a semaphore holds
TOTAL_MAX = 2**32 - 1  # that a GPU counts in a launch, for waits that take none


def check(grout, text, options):
    """Exit code, codes of the findings."""
    code, report, words = checking.check(grout, text, options)
    return code, {words} if report is None else {finding["code"] for finding in report["findings"]}


def draw_schedule(draw):
    return ["--schedule", draw.choice(("fair", "random")), "--timing", draw.choice(("lazy", "eager", "random")),
            "--seed", str(draw.randrange(1000))]


def draw_size(draw, most):
    """Small, around a power of two, anything, or as many as there may be."""
    around = 2 ** draw.randint(3, 12) + draw.randint(-2, 2)
    return max(4, min(most, draw.choice((draw.randint(4, 40), around, draw.randint(40, most), most))))


def readers(draw):
    size = draw_size(draw, 5200)
    is_mistake = draw.random() < 0.5
    untold = draw.choice((0, 1, size // 2, size - 2, draw.randrange(size - 1)))
    is_atomic = draw.random() < 0.3
    use = "atomic_add %m[0], 1 scope(gpu)" if is_atomic else "store %y[%g], (load %m[0])"
    tell = ["semaphore_signal %u[0], 1"]
    if is_mistake:
        tell = [f"if (ne %g, {untold}) {{", "  " + tell[0], "}"]
    lines = [
        f"kernel @k(%m: inout gmem i32[1], %y: out gmem i32[{size}]) grid(g = {size})", "{",
        "  scratch %u : semaphore[1] global",
        "  %g = axis_index g",
        f"  if (eq %g, {size - 1}) {{",
        f"    semaphore_wait %u[0], {size - 1 - is_mistake}",
        "    store %m[0], 1",
        "    store %y[%g], 1",
        "  } else {",
        *(["    store %y[%g], 0"] if is_atomic else []),
        f"    {use}",
        *("    " + line for line in tell),
        "  }",
        "}"]
    return lines, {"gmem-race"} if is_mistake else set(), draw_schedule(draw)


def totals(draw):
    """One thread, so that what is there at each signal is known."""
    lines = ["kernel @k(%y: out gmem i32[1])", "{", "  scratch %u : semaphore[1] global"]
    looks = draw.random() < 0.5
    wanted, units, total = set(), 0, 0
    for _ in range(draw.randint(1, 12)):
        step = draw.choice((UNITS_MAX, UNITS_MAX - draw.randrange(3), UNITS_MAX // 2 + draw.randint(-1, 1), 1, 2))
        lines.append(f"  semaphore_signal %u[0], {step}")
        if units + step > UNITS_MAX:
            wanted.add("semaphore-range")
        else:
            units, total = units + step, total + step
        if units > 0 and draw.random() < 0.7:
            taken = draw.choice((units, units, draw.randint(1, units)))
            lines.append(f"  semaphore_wait %u[0], {taken}")
            units -= taken
        if looks and draw.random() < 0.3:
            lines.append(f"  semaphore_wait %u[0], {draw.randint(1, min(total, UNITS_MAX))} no_decrement")
    if looks:
        lines.append("  semaphore_wait %u[0], 1 no_decrement")
        wanted |= {"semaphore-range"} if total > TOTAL_MAX else set()
    if units > 0:
        lines.append(f"  semaphore_wait %u[0], {units}")
    return [*lines, "  store %y[0], 1", "}"], wanted, draw_schedule(draw)


def phases(draw):
    """A thread arrives, the other one waits, and both meet. The mbarrier keeps all its phases open while the thread
    that never waits for it is there."""
    size = draw_size(draw, 5000)
    mistake = draw.choice((None, None, "unseen", "late"))
    where = draw.choice((0, 1, size // 2, draw.randrange(size - 2)))
    wait, meet = ["mbarrier_wait %x[0], %i % 2"], ["block_barrier"]
    here = [f"if ({{}} %i, {where}) {{{{", "  mbarrier_wait %x[0], %i % 2", "}}"]
    if mistake == "unseen":
        wait = [line.format("ne") for line in here]
    elif mistake == "late":  # for all that anybody knows, the next phase has begun when it waits for this one
        wait, meet = [line.format("ne") for line in here], [*meet, "if (eq %w, 1) {",
                                                            *("  " + line.format("eq") for line in here), "}"]
    lines = [
        f"kernel @k(%y: out gmem i32[{size}]) threads(wg = 2)", "{",
        "  scratch %x : mbarrier[1]",
        "  %w = axis_index wg",
        "  if (eq %w, 0) {", "    mbarrier_init %x[0], 1", "  }",
        "  block_barrier",
        f"  for %i in 0..{size} {{",
        "    if (eq %w, 0) {",
        "      store %y[%i], %i",
        "      mbarrier_arrive %x[0]",
        "    } else {",
        *("      " + line for line in wait),
        "    }",
        *("    " + line for line in meet),
        "  }",
        "  block_barrier",
        "  if (eq %w, 0) {", "    mbarrier_invalidate %x[0]", "  }",
        "}"]
    wanted = {"unseen": {"barrier-unobserved-phase"}, "late": {"barrier-overrun"}, None: set()}[mistake]
    return lines, wanted, draw_schedule(draw)


def draw_flight(draw, most):
    """How many are in flight, how many a wait leaves, and which is used after it: one that is over, or (a mistake)
    one that need not be."""
    size = draw_size(draw, most)
    left = draw.choice((0, 1, size // 2, size - 1, draw.randrange(size)))
    is_mistake = left > 0 and draw.random() < 0.5
    used = draw.randrange(size - left, size) if is_mistake else draw.randrange(size - left)
    return size, left, is_mistake, used


def stores(draw):
    size, left, is_mistake, used = draw_flight(draw, 1700)
    lines = [
        f"kernel @k(%y: out gmem i32[{size}, 32])", "{",
        f"  scratch %s : smem i32[{size}, 32]",
        f"  for %i in 0..{size} {{",
        "    store %s[%i], (broadcast %i : i32[32])",
        "  }",
        "  commit_smem",
        f"  for %i in 0..{size} {{",
        "    copy_smem_to_gmem %s[%i], %y[%i]",
        "  }",
        f"  wait_smem_to_gmem {left} read_only",
        f"  store %s[{used}], (broadcast 7 : i32[32])",
        "  wait_smem_to_gmem 0",
        "}"]
    return lines, {"smem-source-reuse"} if is_mistake else set(), draw_schedule(draw)


def copies(draw):
    size, left, is_mistake, used = draw_flight(draw, 400)
    lines = [
        f"kernel @k(%x: in gmem i32[{size}, 128], %y: out gmem i32[128])", "{",
        f"  scratch %s : smem i32[{size}, 128]",
        f"  for %i in 0..{size} {{",
        "    async_copy %x[%i], %s[%i]",
        "    async_copy_commit_group",
        "  }",
        f"  async_copy_wait {left}",
        f"  store %y, (load %s[{used}])",
        "  async_copy_wait 0",
        "}"]
    return lines, {"async-not-awaited"} if is_mistake else set(), draw_schedule(draw)


def waits(draw):
    """One CTA writes and waits, often, and tells another one in between, which reads some of it when much more has been
    written. With a mistake the edge carries no memory, or what is read is written later."""
    size = draw_size(draw, 600)
    told = draw.randrange(size - 1)
    mistake = draw.choice((None, None, "relaxed", "later"))
    read = draw.randrange(told + 1, size) if mistake == "later" else draw.randrange(told + 1)
    order = " order(relaxed)" if mistake == "relaxed" else ""
    late = draw.choice((0, 100 * size))
    lines = [
        f"kernel @k(%y: out gmem i32[{size}, 32], %z: out gmem i32[32], %t: out gmem i32[1]) grid(g = 2)", "{",
        "  scratch %u : semaphore[1] global",
        "  scratch %s : smem i32[32]",
        "  if (eq (axis_index g), 0) {",
        "    store %s, (broadcast 1 : i32[32])",
        "    commit_smem",
        f"    for %i in 0..{size} {{",
        "      copy_smem_to_gmem %s, %y[%i]",
        "      wait_smem_to_gmem 0",
        f"      if (eq %i, {told}) {{", f"        semaphore_signal %u[0], 1{order}", "      }",
        "    }",
        "  } else {",
        "    store %t[0], 0",
        f"    for %i in 0..{late} {{", "      store %t[0], %i", "    }",
        "    semaphore_wait %u[0], 1",
        f"    store %z, (load %y[{read}])",
        "  }",
        "}"]
    wanted = {"relaxed": {"insufficient-scope"}, "later": {"gmem-race"}, None: set()}[mistake]
    return lines, wanted, draw_schedule(draw)


KINDS = {"readers": readers, "totals": totals, "phases": phases, "stores": stores, "copies": copies, "waits": waits}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", required=True, type=os.path.abspath)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    arguments = parser.parse_args()
    failed = mistakes = 0
    for seed in range(arguments.first, arguments.first + arguments.count):
        lines, wanted, options = KINDS[arguments.kind](random.Random(seed))
        source = "\n".join(lines) + "\n"
        code, found = check(arguments.grout, source, options)
        mistakes += bool(wanted)
        is_good = found == wanted and code in (0, 1)
        if not is_good:
            failed += 1
            print(f"seed {seed}, {' '.join(options)}: exit code {code}, found {sorted(found)}, wanted "
                  f"{sorted(wanted)}\n{source}")
    print(f"{arguments.count - failed} passed, {failed} failed, {mistakes} mistakes")
    return failed > 0 or mistakes in (0, arguments.count)


sys.exit(main())
