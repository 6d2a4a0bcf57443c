# SPDX-License-Identifier: Apache-2.0
"""Random Pallas kernels, right by construction, beside the same steps in NumPy.

usage: pallas_random.py [FIRST [COUNT]]

A kernel is a list of steps that change some arrays of integers and floats: arithmetic, branches, loops, shared memory,
TMA in and out, exchanges between threads. All of it is exact, so that results are compared bit for bit, and the
checker has to find nothing.
"""
import random
import sys
import time

import jax
import jax.numpy as jnp
import numpy
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

SIZE, INTS, FLOATS, ROOMS = 64, 3, 2, 2
INT, FLOAT = numpy.int32, numpy.float32


class OnJax:
    """How steps act in a kernel."""

    def __init__(self, rooms, mine, is_alone):
        self.lib, self.rooms, self.mine, self.is_alone = jnp, rooms, mine, is_alone

    def store(self, room, start, value):
        self.rooms[self.mine, room, pl.ds(start, value.shape[0])] = value

    def load(self, room, start, size):
        return self.rooms[self.mine, room, pl.ds(start, size)]

    branch = staticmethod(lambda truth, yes, no, values: lax.cond(truth, yes, no, values))
    switch = staticmethod(lambda number, cases, values: lax.switch(number, cases, values))
    loop = staticmethod(lambda low, high, body, values: lax.fori_loop(low, high, body, values))
    repeat = staticmethod(lambda goes_on, body, values: lax.while_loop(goes_on, body, values))
    divide, remainder = staticmethod(lax.div), staticmethod(lax.rem)

    def scoped(self, value):
        if not self.is_alone:  # threads allocate together, and only where all of them come
            return value

        def body(room):
            room[...] = value
            return room[...]
        return pl.run_scoped(body, plgpu.SMEM((SIZE,), value.dtype))


class OnNumpy:
    """How they act outside."""

    lib = numpy

    def __init__(self):
        self.rooms = numpy.zeros((ROOMS, SIZE), INT)

    def store(self, room, start, value):
        self.rooms[room, start:start + value.shape[0]] = value

    def load(self, room, start, size):
        return self.rooms[room, start:start + size].copy()

    branch = staticmethod(lambda truth, yes, no, values: (yes if truth else no)(values))
    switch = staticmethod(lambda number, cases, values: cases[min(max(int(number), 0), len(cases) - 1)](values))
    divide = staticmethod(lambda a, b: numpy.trunc(a.astype("f8") / b.astype("f8")).astype(INT))
    remainder = staticmethod(lambda a, b: numpy.fmod(a, b).astype(INT))
    scoped = staticmethod(lambda value: value)

    @staticmethod
    def loop(low, high, body, values):
        for turn in range(int(low), int(high)):
            values = body(INT(turn), values)
        return values

    @staticmethod
    def repeat(goes_on, body, values):
        while goes_on(values):
            values = body(values)
        return values


# A step takes (on, values) and gives values: a tuple of INTS arrays of int32 and FLOATS of float32, and the thread's
# number.

def _put(values, place, value):
    return (*values[:place], value, *values[place + 1:])


def arithmetic(rng, _):
    a, b, out = (rng.randrange(INTS) for _ in range(3))
    name = rng.choice(("add", "subtract", "multiply", "maximum", "minimum", "bitwise_and", "bitwise_or", "bitwise_xor"))
    return lambda on, values: _put(values, out, getattr(on.lib, name)(values[a], values[b]))


def division(rng, _):
    a, b, out, name = rng.randrange(INTS), rng.randrange(INTS), rng.randrange(INTS), rng.choice(("divide", "remainder"))
    return lambda on, values: _put(values, out, getattr(on, name)(values[a], (values[b] & INT(63)) + INT(1)))


def with_constant(rng, _):
    a, out, number = rng.randrange(INTS), rng.randrange(INTS), INT(rng.choice((0, 1, 2, -1, -7, 2**31 - 1, -2**31)))
    name = rng.choice(("add", "multiply", "maximum", "bitwise_xor"))
    return lambda on, values: _put(values, out, getattr(on.lib, name)(values[a], number))


def of_floats(rng, _):
    a, b, out = (INTS + rng.randrange(FLOATS) for _ in range(3))
    name = rng.choice(("maximum", "minimum", "add", "subtract", "multiply"))

    def step(on, values):  # small whole numbers stay exact
        value = getattr(on.lib, name)(values[a], values[b])
        small = on.lib.where(on.lib.abs(value) < FLOAT(4096), value, FLOAT(3))
        return _put(values, out, small)
    return step


def from_ints(rng, _):
    a, out = rng.randrange(INTS), INTS + rng.randrange(FLOATS)
    return lambda on, values: _put(values, out, (values[a] & INT(1023)).astype(FLOAT) - FLOAT(500))


def choose(rng, _):
    a, b, c, out = (rng.randrange(INTS) for _ in range(4))
    name = rng.choice(("less", "less_equal", "equal", "not_equal", "greater"))
    return lambda on, values: _put(values, out,
                                   on.lib.where(getattr(on.lib, name)(values[a], values[b]), values[c], values[a]))


def turn_round(rng, _):
    a, by = rng.randrange(INTS + FLOATS), 8 * rng.randrange(1, 8)
    return lambda on, values: _put(values, a, on.lib.concatenate([values[a][by:], values[a][:by]]))


def reduce(rng, _):
    a, out, name = rng.randrange(INTS), rng.randrange(INTS), rng.choice(("max", "min", "sum"))
    return lambda on, values: _put(values, out,
                                   values[out] + getattr(on.lib, name)(values[a] & INT(0xffff)).astype(INT))


def reduce_rows(rng, _):
    a, out, axis = rng.randrange(INTS), rng.randrange(INTS), rng.randrange(2)

    def step(on, values):
        rows = on.lib.max(values[a].reshape(8, 8), axis)
        spread = on.lib.broadcast_to(rows[:, None] if axis else rows[None, :], (8, 8)).reshape(SIZE)
        return _put(values, out, spread)
    return step


def through_memory(rng, _):
    a, out, room = rng.randrange(INTS), rng.randrange(INTS), rng.randrange(ROOMS)
    size, by = rng.choice((8, 16, 32)), rng.randrange(8)

    def step(on, values):
        on.store(room, 0, values[a])
        start = (values[out][by] & INT(1)) * INT(size)
        part = on.load(room, start, size)
        on.store(room, start, part + INT(by))
        return _put(values, out, on.load(room, 0, SIZE))
    return step


def through_scope(rng, _):
    a = rng.randrange(INTS + FLOATS)
    return lambda on, values: _put(values, a, on.scoped(values[a]))


def branch(rng, depth):
    a, yes, no = rng.randrange(INTS), steps(rng, depth + 1), steps(rng, depth + 1)
    return lambda on, values: on.branch((values[a][3] & INT(1)) == 0, lambda v: run(on, yes, v),
                                        lambda v: run(on, no, v), values)


def switch(rng, depth):
    a, cases = rng.randrange(INTS), [steps(rng, depth + 1) for _ in range(3)]
    return lambda on, values: on.switch(values[a][5] & INT(3), [lambda v, c=c: run(on, c, v) for c in cases], values)


def loop(rng, depth):
    a, inner, is_known = rng.randrange(INTS), steps(rng, depth + 1), rng.random() < 0.5
    low, out, turns = rng.randrange(2), rng.randrange(INTS), rng.randrange(4)

    def step(on, values):
        def body(i, v):
            v = run(on, inner, v)
            return _put(v, out, v[out] + INT(1) * i)
        return on.loop(INT(low), INT(turns) if is_known else values[a][7] & INT(3), body, values)
    return step


def repeat(rng, depth):
    a, inner = rng.randrange(INTS), steps(rng, depth + 1)

    def step(on, values):
        left = values[a][9] & INT(3)
        return on.repeat(lambda v: v[0] > 0, lambda v: (v[0] - INT(1), run(on, inner, v[1])), (left, values))[1]
    return step


PLAIN = (arithmetic, arithmetic, division, with_constant, of_floats, from_ints, choose, turn_round, reduce, reduce_rows,
         through_memory, through_scope)
REGIONS = (branch, switch, loop, repeat)


def steps(rng, depth=0):
    """Some steps, with regions inside down to a depth."""
    kinds = PLAIN + (REGIONS if depth < 2 else ())
    return [rng.choice(kinds)(rng, depth) for _ in range(rng.randrange(1, 4 if depth else 9))]


def run(on, chosen, values):
    """One after the other."""
    for step in chosen:
        values = step(on, values)
    return values


class Case:
    """A random kernel: phases of steps, each after a load by TMA and before an exchange and a store."""

    def __init__(self, seed):
        rng = random.Random(seed)
        self.ctas, self.threads = rng.choice((1, 1, 2)), rng.choice((1, 1, 2))
        self.phases = [steps(rng) for _ in range(rng.randrange(1, 4))]
        self.exchanged = [rng.randrange(INTS) for _ in self.phases]
        self.loaded = [rng.randrange(INTS) for _ in self.phases]
        numbers = numpy.random.default_rng(seed)
        rows = self.ctas, self.threads, len(self.phases)
        self.x = numbers.integers(-2**31, 2**31, (*rows, SIZE)).astype(INT)
        self.y = numbers.integers(-50, 50, (self.ctas, self.threads, FLOATS, SIZE)).astype(FLOAT)

    def expect(self):
        """Outputs of integers and floats."""
        ints = numpy.zeros((*self.x.shape[:3], INTS, SIZE), INT)
        floats = numpy.zeros(self.y.shape, FLOAT)
        for cta in range(self.ctas):
            on = [OnNumpy() for _ in range(self.threads)]
            values = [(*[numpy.full(SIZE, 5 + n, INT) for n in range(INTS)], *self.y[cta, t])
                      for t in range(self.threads)]
            for phase, chosen in enumerate(self.phases):
                values = [run(on[t], chosen, _put(v, self.loaded[phase], self.x[cta, t, phase])) for t, v in
                          enumerate(values)]
                place = self.exchanged[phase]
                given = [v[place] for v in values]
                values = [_put(v, place, given[-1 - t]) for t, v in enumerate(values)]
                for t, v in enumerate(values):
                    ints[cta, t, phase] = v[:INTS]
            for t, v in enumerate(values):
                floats[cta, t] = v[INTS:]
        return ints, floats

    def make(self):
        """The kernel."""
        def body(x_ref, y_ref, ints, floats, rooms, desk, full, met):
            cta, mine = lax.axis_index("cta"), lax.axis_index("wg")
            on = OnJax(rooms, mine, self.threads == 1)
            for room in range(ROOMS):
                on.store(room, 0, jnp.zeros(SIZE, INT))
            values = (*[jnp.full(SIZE, 5 + n, INT) for n in range(INTS)],
                      *[y_ref[cta, mine, n] for n in range(FLOATS)])
            for phase, chosen in enumerate(self.phases):
                plgpu.commit_smem()
                plgpu.copy_gmem_to_smem(x_ref.at[cta, mine, phase], desk.at[mine, 0], full.at[mine])
                plgpu.barrier_wait(full.at[mine])
                values = run(on, chosen, _put(values, self.loaded[phase], desk[mine, 0]))
                place = self.exchanged[phase]
                desk[mine, 1] = values[place]
                plgpu.barrier_arrive(met)
                plgpu.barrier_wait(met)
                values = _put(values, place, desk[self.threads - 1 - mine, 1])
                plgpu.barrier_arrive(met)
                plgpu.barrier_wait(met)
                for number in range(INTS):
                    desk[mine, 2 + number] = values[number]
                plgpu.commit_smem()
                plgpu.copy_smem_to_gmem(desk.at[mine, pl.ds(2, INTS)], ints.at[cta, mine, phase])
                plgpu.wait_smem_to_gmem(0)
            for number in range(FLOATS):
                floats[cta, mine, number] = values[INTS + number]

        shapes = [jax.ShapeDtypeStruct((*self.x.shape[:3], INTS, SIZE), INT), jax.ShapeDtypeStruct(self.y.shape, FLOAT)]
        return plgpu.kernel(body, out_type=shapes, grid=(self.ctas,), grid_names=("cta",), num_threads=self.threads,
                            thread_name="wg", scratch_types=[
                                plgpu.SMEM((self.threads, ROOMS, SIZE), INT),
                                plgpu.SMEM((self.threads, 2 + INTS, SIZE), INT),
                                plgpu.Barrier(num_barriers=self.threads), plgpu.Barrier(num_arrivals=self.threads)])


def try_case(seed):
    """Raises an AssertionError where something is wrong."""
    import grout.pallas
    case = Case(seed)
    with numpy.errstate(over="ignore"):
        wanted = case.expect()
    report = grout.pallas.check(case.make())(case.x, case.y)
    assert report.verdict == "clean" and not report.findings, f"seed {seed}: {report}"
    for got, want in zip(report.result, wanted):
        got = numpy.asarray(got)
        assert numpy.array_equal(got, want), f"seed {seed}: at {numpy.argwhere(got != want)[0]}"
    return report


def main(arguments):
    first, count = (list(map(int, arguments)) + [0, 1000][len(arguments):])[:2]
    begin, wrong = time.process_time(), 0
    for seed in range(first, first + count):
        try:
            try_case(seed)
        except Exception as error:
            wrong += 1
            print(f"seed {seed}: {str(error)[:2000]}", flush=True)
    print(f"{count} kernels, {wrong} wrong, {time.process_time() - begin:.0f} s")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
