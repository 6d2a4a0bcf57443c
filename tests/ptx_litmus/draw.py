"""Draws programs in PTX: a few threads, a few places, and all that may order them.

A program is parts with barriers between. In each part a thread does some operations; all threads of the launch come to
the barriers. Every value that is written is new, and every value that is read goes to a place of its own in the array,
so that who read what is known from one run.

SPDX-License-Identifier: Apache-2.0
"""
import collections

SCOPES = ("cta", "cluster", "gpu", "sys")
BLOCK = 64
LOG = 128  # the first word of the array that is a log
LOG_WORDS = 64  # of a thread
PLACES = 4  # the first words
DATA, FLAGS = (0, 1), (2, 3)  # what they are used for mostly

# kind: ld, st, atom, red, fence, arrive, wait, lanes, bar, cluster. sem, scope: as written, "weak" or "". value: what
# is written, or added. log: where what it reads is, or None. spins: it reads until the value is not 0, and 'log + 1'
# has how often. name: its mark.
Op = collections.namedtuple("Op", "kind name place sem scope value log spins", defaults=(None, "", "", 0, None, False))
# shape: (grid, cluster). threads: (CTA, number in the block). parts[i][j]: of thread j. meets[i]: after part i,
# ("bar",), ("lanes",), ("cluster", "release" or "relaxed"). arrivals: at the mbarrier of CTA 0.
Program = collections.namedtuple("Program", "shape threads parts meets arrivals")

SHAPES = [((1, 1), [(0, 0), (0, 1), (0, 32), (0, 33)]),
          ((2, 2), [(0, 0), (0, 32), (1, 0), (1, 1)]),
          ((2, 1), [(0, 0), (0, 1), (1, 0), (1, 32)]),
          ((4, 2), [(0, 0), (1, 0), (2, 0), (3, 0)])]


class Drawer:
    def __init__(self, random):
        self.random = random
        self.is_careful = random.random() < 0.6  # few weak accesses and narrow scopes, so that some runs have no race
        self.stores = 0
        self.adds = collections.Counter()
        self.reds = set()
        self.logs = collections.Counter()
        self.names = 0
        self.written = collections.defaultdict(set)  # place: threads that write a flag there without a condition

    def name(self):
        self.names += 1
        return "e%d" % self.names

    def log(self, thread, words=1):
        at = LOG + thread * LOG_WORDS + self.logs[thread]
        self.logs[thread] += words
        return at

    def scope(self):
        return self.random.choice(SCOPES[2:] if self.is_careful and self.random.random() < 0.9 else SCOPES)

    def sem(self, *words):
        """One of these, the first one seldom."""
        return words[0] if self.random.random() < (0.12 if self.is_careful else 0.3) else self.random.choice(words[1:])

    def store_value(self):
        self.stores += 1
        return self.stores << 8

    def add_value(self, place):
        bit = self.adds[place]
        self.adds[place] += 1
        return 1 << bit if bit < 8 else None

    def place(self, sem):
        """Weak accesses are of data, others of flags, mostly."""
        if self.random.random() < (0.05 if self.is_careful else 0.2):
            return self.random.randrange(PLACES)
        return self.random.choice(DATA if sem == "weak" else FLAGS)

    def draw_write(self, thread):
        r = self.random
        kind = r.choice(("data", "data", "data", "st", "st", "atom", "red", "exch"))
        sem = "weak" if kind == "data" else self.sem("relaxed", "release", "release", "relaxed")
        place = self.place(sem)
        if kind in ("data", "st"):
            self.written[place].add(thread)
            return Op("st", self.name(), place, sem, "" if sem == "weak" else self.scope(), self.store_value())
        if kind == "exch":
            return Op("exch", self.name(), place, r.choice(("relaxed", "acquire", "release", "acq_rel")), self.scope(),
                      self.store_value(), self.log(thread))
        value = self.add_value(place)
        if value is None or (kind == "red" and place in self.reds):
            return None
        self.written[place].add(thread)
        if kind == "red":
            self.reds.add(place)
            return Op("red", self.name(), place, r.choice(("relaxed", "release")), self.scope(), value)
        return Op("atom", self.name(), place, r.choice(("relaxed", "acquire", "release", "acq_rel")), self.scope(),
                  value, self.log(thread))

    def draw_read(self, thread):
        r = self.random
        sem = "weak" if r.random() < 0.45 else self.sem("relaxed", "acquire", "acquire", "relaxed")
        place = self.place(sem)
        scope = "" if sem == "weak" else self.scope()
        waits = any(other < thread for other in self.written[place]) and r.random() < 0.8
        return Op("ld", self.name(), place, sem, scope, 0, self.log(thread, 2), waits)

    def draw_op(self, thread, arrivers):
        r = self.random
        what = r.random()
        if what < 0.4:
            return self.draw_write(thread)
        if what < 0.8:
            return self.draw_read(thread)
        if what < 0.92 or not arrivers:
            return Op("fence", self.name(), None, r.choice(("acq_rel", "acq_rel", "acquire", "release", "sc")),
                      self.scope())
        if thread > max(arrivers):
            return Op("wait", self.name(), None, r.choice(("acquire", "acquire", "relaxed")), r.choice(SCOPES[:2]))
        return None


def draw_meet(random, shape):
    kinds = [("bar",), ("lanes",),
             ("bar",)] + ([("cluster", "release"), ("cluster", "relaxed")] if shape[1] > 1 else [])
    return random.choice(kinds)


def draw(random):
    """A program. A thread waits for flags that threads before it write, so that none waits for ever."""
    shape, threads = random.choice(SHAPES)
    threads = threads[:random.choice((2, 3, 3, 4, 4))] if shape[0] == 1 else threads
    drawer = Drawer(random)
    local = [i for i, (cta, _) in enumerate(threads) if cta < shape[1]]
    arrivers = sorted(random.sample(local[:-1], random.randint(1, len(local) - 1))) \
        if len(local) > 1 and random.random() < 0.4 else []
    parts, meets = [], []
    for _ in range(random.choice((1, 1, 2, 2, 3))):
        part = []
        for thread in range(len(threads)):
            ops = (drawer.draw_op(thread, arrivers) for _ in range(random.randint(0, 4)))
            part.append([op for op in ops if op is not None])
        parts.append(part)
        meets.append(draw_meet(random, shape))
    meets = meets[:-1]
    for thread in arrivers:
        place = random.randint(0, len(parts[0][thread]))
        parts[0][thread].insert(place, Op("arrive", drawer.name(), None,
                                          random.choice(("release", "release", "relaxed")), random.choice(SCOPES[:2])))
    waiters = [(i, cta) for i, (cta, _) in enumerate(threads) if cta == 0]
    parts = [[[op for op in ops if op.kind != "wait" or any(thread == i for i, _ in waiters)]
              for thread, ops in enumerate(part)] for part in parts]
    return Program(shape, threads, parts, meets, len(arrivers))


# ---- as PTX

HEAD = """// PTX ISA 9.1, 8 'Memory Consistency Model'.
// launch: grid %d cluster %d block %d
// expect: ordered

.version 8.7
.target sm_90a
.address_size 64

.visible .entry k(.param .u64 data)
{
    .reg .pred %%p<4>;
    .reg .b32 %%r<8>, %%t, %%c, %%n;
    .reg .b64 %%d, %%rd<4>;
    .shared .align 8 .b64 bar;
    ld.param.u64 %%d, [data];
    mov.u32 %%t, %%tid.x;
    mov.u32 %%c, %%ctaid.x;
    mad.lo.u32 %%n, %%c, %d, %%t;
    mov.u32 %%r6, bar;
    mapa.shared::cluster.u32 %%r7, %%r6, 0;
    setp.ne.u32 %%p0, %%n, 0;
    @!%%p0 mbarrier.init.shared.b64 [bar], %d;
    barrier.cluster.arrive.release.aligned;
    barrier.cluster.wait.acquire.aligned;
"""


def words(op):
    return "weak" if op.sem == "weak" else "%s.%s" % (op.sem, op.scope)


def print_op(op, out):
    mark = " // " + op.name
    at = None if op.place is None else "[%%d+%d]" % (4 * op.place)
    if op.kind == "st":
        out.append("st.%s.global.u32 %s, %d;%s" % (words(op), at, op.value, mark))
    elif op.kind == "ld":
        out += ["mov.u32 %r1, 0;", "l%s:" % op.name, "ld.%s.global.u32 %%r0, %s;%s" % (words(op), at, mark),
                "add.u32 %r1, %r1, 1;"]
        if op.spins:
            out += ["setp.eq.u32 %p1, %r0, 0;", "@%%p1 bra l%s;" % op.name]
        out.append("st.global.u32 [%%d+%d], %%r1;" % (4 * op.log + 4))
    elif op.kind in ("atom", "exch"):
        out.append("atom.%s.global.%s %%r0, %s, %d;%s" % (
            words(op), "add.u32" if op.kind == "atom" else "exch.b32", at, op.value, mark))
    elif op.kind == "red":
        out.append("red.%s.global.add.u32 %s, %d;%s" % (words(op), at, op.value, mark))
    elif op.kind == "fence":
        out.append("fence.%s;%s" % (words(op), mark))
    elif op.kind == "arrive":
        out.append("mbarrier.arrive.%s.shared::cluster.b64 _, [%%r7];%s" % (words(op), mark))
    elif op.kind == "wait":
        out += ["l%s:" % op.name, "mbarrier.try_wait.parity.%s.shared::cta.b64 %%p1, [bar], 0;%s" % (words(op), mark),
                "@!%%p1 bra l%s;" % op.name]
    if op.log is not None:
        out.append("st.global.u32 [%%d+%d], %%r0;" % (4 * op.log))


MEETS = {"bar": ["bar.sync 0;"], "lanes": ["bar.warp.sync -1;"]}


def print_program(program):
    (grid, cluster), out = program.shape, []
    for i, part in enumerate(program.parts):
        for j, (cta, number) in enumerate(program.threads):
            label = "after_%d_%d" % (i, j)
            out += ["setp.ne.u32 %%p0, %%n, %d;" % (cta * BLOCK + number), "@%%p0 bra %s;" % label]
            for op in part[j]:
                print_op(op, out)
            out.append(label + ":")
        meet = program.meets[i] if i < len(program.meets) else None
        if meet is not None:
            out += MEETS.get(meet[0]) or \
                ["barrier.cluster.arrive.%s.aligned;" % meet[1], "barrier.cluster.wait.acquire.aligned;"]
    out += ["barrier.cluster.arrive.aligned;", "barrier.cluster.wait.aligned;", "ret;"]
    return HEAD % (grid, cluster, BLOCK, BLOCK, max(program.arrivals, 1)) + \
        "".join(("%s\n" if line.endswith(":") else "    %s\n") % line for line in out) + "}\n"
