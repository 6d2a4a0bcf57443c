"""Choices that a GPU has: what they may lead to is found, and no verdict claims more than all of them show.

Draws small kernels by their number. A thread does something wrong (it stores out of bounds, or waits for nobody) if
what it has seen is one drawn row of values. Whether it may see these is found here, without grout:

    tests       copies in flight land at any time; threads test their mbarriers, go round until a test is true, or wait
    places      relaxed atomics of one to three elements; each element has one order, and nothing orders two elements
    turns       threads that go round until a flag says something, and may count their turns
    clusters    launch control, which may say that no cluster is left

Asked for is:

- if an interleaving leads to it, --explore finds it (but for counts of turns, where it says that it has not tried
each), and so does check alone where there are few schedules; if none does,
  no run finds anything;
- if a GPU may do it, no clean verdict holds for every schedule, whether an interleaving shows it or not;
- else --explore gets to its end: the verdict holds for every interleaving, and for every schedule if one place alone is
  a matter of chance;
- the same from a random first schedule, whatever it is;
- random schedules with random timing give more than one answer: of the outcomes of tests that are possible they show a
share.

usage: choices.py --grout PATH [--first N] [--count N] [--kind KIND] [--keep FOLDER]

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import collections
import itertools
import os
import random
import sys
import tempfile

sys.dont_write_bytecode = True  # the folder is a source tree

from running import Crash, call

SEEDS = 6  # of random schedules
FEW = 150  # schedules that a check goes through by itself
BUDGET = "20"
SHARE = 0.3  # of the outcomes of tests that random timing has to show
IGNORED = ("output-not-written", "unused-result", "not-reached", "step-limit")
OTHER_EXPLORERS = (["--explore", "--budget", "5", "--timing", "random", "--seed", "3"],
                   ["--explore", "--budget", "5", "--timing", "eager"])


class Case:
    """The text of a kernel, and whether an interleaving, and a GPU, may do what it asks for.

    is_ended: there are so few schedules that each can be tried; is_one_place: the order at one place alone is chance;
    is_near: an exploration comes to it."""

    def __init__(self, kind, text, in_order, on_gpu, is_ended=True, is_one_place=False, is_near=True):
        self.kind, self.text = kind, text
        self.in_order, self.on_gpu = in_order, on_gpu
        self.is_ended, self.is_one_place, self.is_near = is_ended, is_one_place, is_near


def all_of(conditions):
    """One condition of several, as a text."""
    text = conditions[0]
    for condition in conditions[1:]:
        text = f"(and {text}, {condition})"
    return text


def pick(draw, possible, others):
    """A row that may be seen, one that only others know of, or one that nobody may see."""
    choice = draw.random()
    more = sorted(others - possible)
    if choice < 0.45 and more:
        return draw.choice(more)
    if choice < 0.75:
        return draw.choice(sorted(possible))
    row = list(draw.choice(sorted(possible | others)))
    at = draw.randrange(len(row))
    row[at] = (not row[at]) if isinstance(row[at], bool) else row[at] + draw.choice((1, 2))
    return tuple(row)


# ---- copies in flight --------------------------------------------------------------------------------

NOTE = 2  # the barrier by which one thread tells the other


class Tests:
    """What threads do with copies in flight. Steps are (what, barrier): "issue", "test", "spin" until a test is true,
    "wait", "tell" and "hear".

    is_explicit: mbarriers, which a thread may test again when they are complete; else barriers, of which a wait or a
    test that is true takes the phase, and nothing is asked of a phase that comes never."""

    def __init__(self, draw):
        self.is_explicit = draw.random() < 0.7
        self.barriers = list(range(draw.choice((1, 1, 2))))
        self.threads = [self.draw_steps(draw, t) for t in range(draw.choice((1, 1, 2, 2)))]
        if len(self.threads) == 2 and draw.random() < 0.4:
            teller = draw.randrange(2)
            self.insert(draw, teller, ("tell", NOTE))
            self.insert(draw, 1 - teller, ("hear", NOTE))

    def draw_steps(self, draw, thread):
        """Thread 0 issues each copy, and waits for it; it asks for nothing before."""
        steps = [(draw.choice(("test", "test", "test", "spin", "wait")), draw.choice(self.barriers))
                 for _ in range(draw.choice((1, 2, 2, 3)))]
        if thread == 0:
            for b in self.barriers:
                first = min([i for i, (_, of) in enumerate(steps) if of == b] or [len(steps)])
                steps.insert(draw.randint(0, first), ("issue", b))
            steps += [("wait", b) for b in self.barriers]
        return steps

    def insert(self, draw, thread, step):
        """Nobody hears of anything before all copies are on their way."""
        steps = self.threads[thread]
        first = 0 if thread else max(i for i, (what, _) in enumerate(steps) if what == "issue") + 1
        steps.insert(draw.randint(first, len(steps)), step)

    def go_through(self):
        """By thread the rows of answers that it may get."""
        rows = [set() for _ in self.threads]
        start = (tuple(0 for _ in self.threads), frozenset(), frozenset(), frozenset(), tuple(() for _ in self.threads))
        seen, todo = set(), [start]
        while todo:
            state = todo.pop()
            if state not in seen:
                seen.add(state)
                todo += self.list_next(state, rows)
        return rows

    def list_next(self, state, rows):
        places, issued, landed, taken, answers = state
        out = [(places, issued, landed | {b}, taken, answers) for b in issued - landed if b != NOTE]
        for t, steps in enumerate(self.threads):
            if places[t] == len(steps):
                rows[t].add(answers[t])
                continue
            what, b = steps[places[t]]
            is_taken = not self.is_explicit and (t, b) in taken
            is_there = b in (issued if what == "hear" else landed)
            if what in ("wait", "spin", "hear") and not is_there and not is_taken:
                continue
            is_yes = is_there and not is_taken
            gone = places[:t] + (places[t] + 1,) + places[t + 1:]
            got = answers if what != "test" else answers[:t] + (answers[t] + (is_yes,),) + answers[t + 1:]
            now_issued = issued | {b} if what in ("issue", "tell") else issued
            now_taken = taken | {(t, b)} if what in ("test", "wait", "spin") and is_there else taken
            out.append((gone, now_issued, landed, now_taken, got))
        return out


class TestText:
    """The lines of a thread of Tests; conditions: what its tests said, if that is a drawn row."""

    def __init__(self, tests, thread, row):
        self.tests, self.thread, self.row = tests, thread, row
        self.lines, self.conditions, self.count = [], [], 10 * thread
        self.taken_by = {b: [] for b in tests.barriers}  # tests that may have taken the phase; None: something has
        for step in tests.threads[thread]:
            self.add(*step)

    def name(self):
        self.count += 1
        return f"%a{self.count}"

    def add(self, what, b):
        face, phase = ("mbarrier", ", 0") if self.tests.is_explicit else ("barrier", "")
        if what == "issue":
            self.lines += [f"mbarrier_expect %b[{b}], 256"] * self.tests.is_explicit
            self.lines.append(f"copy_gmem_to_smem %x[ds({64 * b}, 64)], %s[{b}], %b[{b}]")
        elif what in ("tell", "hear"):
            self.lines.append("mbarrier_arrive %d[1]" if what == "tell" else "mbarrier_wait %d[1], 0")
        elif what == "test":
            name = self.name()
            self.lines.append(f"{name} = {face}_test %b[{b}]{phase}")
            if self.row is not None:
                self.conditions.append(name if self.row[len(self.conditions)] else f"(not {name})")
            if self.taken_by[b] is not None:
                self.taken_by[b].append(name)
        else:
            self.add_waiting(what, b, face, phase)

    def add_waiting(self, what, b, face, phase):
        """A wait, or turns until a test is true; for a phase that the thread may have taken, only if it has not."""
        name = self.name()
        lines = [f"{face}_wait %b[{b}]{phase}"] if what == "wait" else [
            "while {", f"  {name} = {face}_test %b[{b}]{phase}", f"  cond (not {name})", "} do {", "}"]
        if not self.tests.is_explicit:
            takers, self.taken_by[b] = self.taken_by[b], None
            if takers is None:
                return
            for taker in takers:
                lines = [f"if (not {taker}) {{", *("  " + line for line in lines), "}"]
        self.lines += lines

    def end(self, draw):
        if not self.conditions:
            return self.lines
        condition = all_of(self.conditions)
        if draw.random() < 0.5:
            return self.lines + [f"store %y[(select {condition}, 100, {self.thread})], 1"]
        return self.lines + [f"if (not {condition}) {{", "  mbarrier_arrive %d[0]", "}", "mbarrier_wait %d[0], 0",
                             f"store %y[{self.thread}], 1"]


def draw_tests(draw):
    tests = Tests(draw)
    rows = tests.go_through()
    able = [t for t, steps in enumerate(tests.threads) if any(what == "test" for what, _ in steps)]
    wrong = draw.choice(able) if able else None
    row = None if wrong is None else pick(draw, rows[wrong], set())
    body = ["if (eq %me, 0) {"]
    body += [f"  mbarrier_init %b[{b}], 1" for b in tests.barriers if tests.is_explicit]
    body += ["  mbarrier_init %d[0], 1", "  mbarrier_init %d[1], 1", "}", "block_barrier"]
    for t in range(len(tests.threads)):
        lines = TestText(tests, t, row if t == wrong else None).end(draw)
        body += [f"if (eq %me, {t}) {{", *("  " + line for line in lines), "}"]
    text = [f"kernel @k(%x: in gmem f32[128], %y: inout gmem i32[4]) threads(wg = {len(tests.threads)})", "{",
            "  scratch %s : smem f32[2, 64]",
            f"  scratch %b : {'mbarrier' if tests.is_explicit else 'barrier'}[{len(tests.barriers)}]",
            "  scratch %d : mbarrier[2]", "  %me = axis_index wg", *("  " + line for line in body), "}"]
    is_possible = wrong is not None and row in rows[wrong]
    return Case("tests", text, is_possible, is_possible, is_one_place=len(tests.threads) == 1)


# ---- places ------------------------------------------------------------------------------------------


def apply(held, operation):
    """What the element holds then."""
    kind, _, value = operation
    return {"exchange": value, "fetch_add": held + value}[kind]


def interleave(threads):
    """The rows of what all operations return, one thread after another, in every order of these."""
    start = (tuple(0 for _ in threads), (0, 0, 0), tuple(() for _ in threads))
    rows, seen, todo = set(), set(), [start]
    while todo:
        state = todo.pop()
        if state in seen:
            continue
        seen.add(state)
        places, memory, results = state
        if all(place == len(steps) for place, steps in zip(places, threads)):
            rows.add(sum(results, ()))
        for t, steps in enumerate(threads):
            if places[t] < len(steps):
                operation = steps[places[t]]
                at = operation[1]
                held = memory[:at] + (apply(memory[at], operation),) + memory[at + 1:]
                todo.append((places[:t] + (places[t] + 1,) + places[t + 1:], held,
                             results[:t] + (results[t] + (memory[at],),) + results[t + 1:]))
    return rows


def join_places(threads):
    """The same where nothing orders two elements: each has an order of its own."""
    order = [(t, i) for t, steps in enumerate(threads) for i in range(len(steps))]
    of_places = []
    for place in range(3):
        kept = [[operation for operation in steps if operation[1] == place] for steps in threads]
        names = [(t, i) for t, i in order if threads[t][i][1] == place]
        of_places.append([dict(zip(names, row)) for row in interleave(kept)])
    rows = set()
    for parts in itertools.product(*of_places):
        found = {name: value for part in parts for name, value in part.items()}
        rows.add(tuple(found[name] for name in order))
    return rows


def draw_operation(draw, places):
    kind = draw.choice(("exchange", "fetch_add", "fetch_add"))
    return kind, draw.randrange(places), draw.randint(1, 2) if kind == "exchange" else draw.choice((0, 0, 1))


def draw_operations(draw):
    """The operations of each CTA, and the rows they may return; more often those that a GPU alone may return."""
    wants_more = draw.random() < 0.6
    for _ in range(20):
        ctas, places = draw.choice((2, 2, 3)), draw.choice((1, 2, 2, 3))
        longest = 3 if ctas == 2 else 2
        threads = [[draw_operation(draw, places) for _ in range(draw.randint(1, longest))] for _ in range(ctas)]
        in_order, on_gpu = interleave(threads), join_places(threads)
        if on_gpu - in_order or not wants_more:
            break
    return threads, in_order, on_gpu


def draw_places(draw):
    threads, in_order, on_gpu = draw_operations(draw)
    ctas, row = len(threads), pick(draw, in_order, on_gpu)
    body, at = [], 0
    for g, steps in enumerate(threads):
        body.append(f"if (eq %g, {g}) {{")
        for kind, place, value in steps:
            body += [f"  %o{at} = atomic_{kind} %f[{place}], {value}", f"  store %r[{at}], %o{at}"]
            at += 1
        body += ["  semaphore_signal %u[0], 1" if g else f"  semaphore_wait %u[0], {ctas - 1}"]
        if g == 0:
            collect = len(body)
        body.append("}")
    conditions = [f"(eq (load %r[{i}]), {value})" for i, value in enumerate(row)]
    body.insert(collect, f"  store %y[(select {all_of(conditions)}, 100, 0)], 1")
    text = [f"kernel @k(%f: inout gmem i32[3] init(zeros), %y: inout gmem i32[4]) grid(g = {ctas})", "{",
            f"  scratch %r : gmem i32[{at}]", "  scratch %u : semaphore[1] global", "  %g = axis_index g",
            *("  " + line for line in body), "}"]
    used = {place for steps in threads for _, place, _ in steps}
    return Case("places", text, row in in_order, row in on_gpu, is_one_place=len(used) == 1)


# ---- turns -------------------------------------------------------------------------------------------


def draw_flag(draw):
    """A CTA goes round until another one has set a flag. What it reads then is there if both name an order."""
    value, is_ordered = draw.randint(1, 3), draw.random() < 0.5
    words = draw.choice((("release", "acquire"), ("acq_rel", "acq_rel"))) if is_ordered else draw.choice(
        (("relaxed", "acquire"), ("release", "relaxed"), ("relaxed", "relaxed")))
    before = ["%p = atomic_fetch_add %f[0], 0"] if draw.random() < 0.4 else []
    body = ["if (eq %g, 0) {", "  store %data, (broadcast 1 : i32[4])",
            f"  %o = atomic_exchange %f[0], {value} order({words[0]}) scope(gpu)", "} else {",
            *("  " + line for line in before), "  while {",
            f"    %now = atomic_fetch_add %f[0], 0 order({words[1]}) scope(gpu)", f"    cond (ne %now, {value})",
            "  } do {", "    delay 10", "  }", "  %r = load %data", "  store %y, %r", "}"]
    return body, not is_ordered, True


def draw_reset(draw):
    """The receiver puts something else in its flag before it goes round: it waits for ever if the sender was there
    first, unless that waits until it hears of it."""
    value, is_told = draw.randint(1, 3), draw.random() < 0.5
    asks = ["while {", "  %go = atomic_fetch_add %f[1], 0 order(acquire) scope(gpu)", "  cond (ne %go, 1)", "} do {",
            "  delay 10", "}"] if is_told else []
    tells = ["%q = atomic_exchange %f[1], 1 order(release) scope(gpu)"] if is_told else []
    body = ["if (eq %g, 0) {", *("  " + line for line in asks), "  store %data, (broadcast 1 : i32[4])",
            f"  %o = atomic_exchange %f[0], {value} order(release) scope(gpu)", "} else {",
            f"  %p = atomic_exchange %f[0], {draw.choice((0, value + 1))} order(relaxed) scope(gpu)",
            *("  " + line for line in tells), "  while {",
            "    %now = atomic_fetch_add %f[0], 0 order(acquire) scope(gpu)", f"    cond (ne %now, {value})",
            "  } do {", "    delay 10", "  }", "  %r = load %data", "  store %y, %r", "}"]
    return body, not is_told, True


def draw_count(draw):
    """The same with a count of the turns: any number of them is possible."""
    turns = draw.randint(0, 6)
    body = ["if (eq %g, 0) {", "  %o = atomic_exchange %f[0], 1", "} else {", "  %n = while carry(%k = 0) {",
            "    %now = atomic_fetch_add %f[0], 0", "    cond (ne %now, 1)", "  } do {", "    yield (add %k, 1)", "  }",
            f"  store %y[(select (eq %n, {turns}), 100, 0)], 1", "}"]
    return body, True, turns < 3


def draw_tickets(draw):
    """Each CTA draws a ticket and goes round until it is called."""
    who, ticket = draw.randrange(2), draw.randint(0, 2)
    body = ["%mine = atomic_fetch_add %f[0], 1", "while {",
            "  %now = atomic_fetch_add %f[1], 0 order(acquire) scope(gpu)", "  cond (ne %now, %mine)", "} do {", "}",
            "%sum = load %data[0]", "store %data[0], (add %sum, 1)",
            f"store %y[(select (and (eq %g, {who}), (eq %mine, {ticket})), 100, %g)], 1",
            "%then = atomic_fetch_add %f[1], 1 order(release) scope(gpu)"]
    return body, ticket < 2, True


def draw_turns(draw):
    form = draw.choice((draw_flag, draw_flag, draw_reset, draw_count, draw_tickets))
    body, is_wrong, is_near = form(draw)
    text = [("kernel @k(%f: inout gmem i32[2] init(zeros), %data: inout gmem i32[4] init(zeros), "
            "%y: inout gmem i32[4] init(zeros)) grid(g = 2)"), "{", "  %g = axis_index g",
            *("  " + line for line in body), "}"]
    return Case("turns", text, is_wrong, is_wrong, is_one_place=form is draw_flag, is_near=is_near)


# ---- launch control ----------------------------------------------------------------------------------


def draw_clusters(draw):
    clusters = draw.choice((1, 2, 2, 3))
    wants_none = draw.random() < 0.5
    condition = f"(and (eq %g, 0), ({'lt' if wants_none else 'ge'} %next, 0))"
    text = [f'kernel @k(%y: inout gmem i32[4]) grid(g = {clusters}) attr arch = "sm_100a"', "{",
            "  scratch %answer : smem u32[4]", "  scratch %b : barrier[1]", "  %g = axis_index g",
            "  try_cluster_cancel %answer, %b[0]", "  barrier_wait %b[0]", "  %next = query_cluster_cancel %answer",
            "  commit_smem", f"  store %y[(select {condition}, 100, %g)], 1", "}"]
    is_possible = wants_none or clusters > 1
    return Case("clusters", text, is_possible, is_possible, is_ended=False)


KINDS = {"tests": (draw_tests, 40), "places": (draw_places, 35), "turns": (draw_turns, 15),
         "clusters": (draw_clusters, 10)}


def draw_case(number, kind=None):
    draw = random.Random(f"choices {number}")
    drawn = draw.choices(list(KINDS), [weight for _, weight in KINDS.values()])[0]
    return KINDS[kind or drawn][0](draw)


# ---- judging -----------------------------------------------------------------------------------------


class Said:
    def __init__(self, report):
        facts = report["coverage"]["kernels"][0]
        self.holds = facts["holds_for_every_schedule"]
        self.holds_in_order = self.holds or facts.get("holds_for_every_interleaving", False)
        self.schedules = facts["schedules_explored"]
        self.because = facts.get("because", "")
        self.codes = {finding["code"] for finding in report["findings"] if finding["code"] not in IGNORED}


def judge_run(case, said, how):
    """What no run may say."""
    faults = []
    if said.codes and not case.in_order:
        faults.append(f"{sorted(said.codes)} with {how}, and no interleaving leads to it")
    if not said.codes and said.holds and case.on_gpu:
        faults.append(f"clean for every schedule with {how}, and a GPU may do it")
    if not said.codes and said.holds_in_order and case.in_order:
        faults.append(f"clean for every interleaving with {how}, and one leads to it")
    return faults


def judge_explored(case, said, how):
    faults = judge_run(case, said, how)
    if case.in_order and case.is_near and not said.codes and (case.kind != "turns" or said.holds_in_order):
        faults.append(f"not found with {how} ({said.schedules} schedules)")
    if case.is_ended and not case.in_order and not said.holds_in_order:
        faults.append(f"not tried to the end with {how} ({said.schedules} schedules; {said.because})")
    if case.is_ended and not case.on_gpu and case.is_one_place and not said.holds:
        faults.append(f"one place is chance, and the verdict does not hold for every schedule with {how}")
    return faults


def check(grout, case, number, folder, tally):
    """The faults of a case, as sentences."""
    path = os.path.join(folder, "drawn.grout")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(case.text) + "\n")
    saving = ["--save-schedule", os.path.join(folder, "found")]
    explored = Said(call(grout, path, ["--explore", "--budget", BUDGET, *saving]))
    faults = judge_explored(case, explored, "--explore")
    from_elsewhere = ["--explore", "--budget", BUDGET, "--schedule", "random", "--seed", str(number % 1000)]
    faults += judge_explored(case, Said(call(grout, path, from_elsewhere + saving)), " ".join(from_elsewhere))
    alone = Said(call(grout, path, []))
    judging = judge_explored if explored.schedules <= FEW else judge_run
    faults += judging(case, alone, "check")
    for options in OTHER_EXPLORERS:
        faults += judge_run(case, Said(call(grout, path, options + saving)), " ".join(options))
    is_shown = False
    for seed in range(1, SEEDS + 1):
        options = ["--schedule", "random", "--timing", "random", "--seed", str(seed), "--no-explore"]
        said = Said(call(grout, path, options))
        faults += judge_run(case, said, " ".join(options))
        is_shown |= bool(said.codes)
    tally[case.kind] += 1
    tally["wrong in an interleaving"] += case.in_order
    tally["wrong on a GPU alone"] += case.on_gpu and not case.in_order
    tally["certified"] += explored.holds and not explored.codes
    tally["tests that may go wrong"] += case.kind == "tests" and case.in_order
    tally["of these shown by random timing"] += case.kind == "tests" and case.in_order and is_shown
    return faults


def keep_case(case, number, faults, folder):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, f"choices_{number}.grout"), "w", encoding="utf-8") as file:
        file.write("".join(f"// {fault}\n" for fault in faults) + "\n".join(case.text) + "\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", required=True)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--kind", choices=KINDS)
    parser.add_argument("--keep")
    arguments = parser.parse_args()
    tally, wrong = collections.Counter(), 0
    with tempfile.TemporaryDirectory(prefix="grout-choices-") as folder:
        for number in range(arguments.first, arguments.first + arguments.count):
            case = draw_case(number, arguments.kind)
            try:
                faults = check(os.path.abspath(arguments.grout), case, number, folder, tally)
            except Crash as crash:
                faults = [str(crash)]
            if faults:
                wrong += 1
                print(f"case {number} ({case.kind}): {faults[0]}" + (
                    f" and {len(faults) - 1} more" if len(faults) > 1 else ""), flush=True)
                if arguments.keep:
                    keep_case(case, number, faults, arguments.keep)
    possible, shown = tally["tests that may go wrong"], tally["of these shown by random timing"]
    if possible > 20 and shown < SHARE * possible:
        wrong += 1
        print(f"random timing shows {shown} of {possible} outcomes of tests")
    print(", ".join(f"{count} {what}" for what, count in tally.items()))
    print(f"choices: {arguments.count} kernels, {wrong} faults")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
