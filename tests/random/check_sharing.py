"""Drawn kernels whose threads and CTAs share what has a state of its own: barriers of unequal
histories, and registers.

usage: check_sharing.py --grout PATH KIND FIRST COUNT        KIND: multicast, collective, registers

multicast: before each round the mbarriers of the CTAs have had phases and lives of different
numbers; one CTA sends to all. collective: the same with barriers, scopes of different numbers of
rounds, and two producers in any order. Right kernels are clean for every schedule; of those with a
mistake the code is known. In some the CTAs call the destination by different names.
registers: threads that take and give registers and wait for each other. All orders are tried on a
model: --explore has to find the deadlock exactly if there is one, and a run that claims every
schedule must not be wrong. Where no decrease happens after an increase, and there is no deadlock,
every run has to claim it.

A kernel that differs is printed. Closing line: 'N passed, N failed, N mistakes'.
"""
import argparse
import os
import random
import sys
import typing

sys.dont_write_bytecode = True  # the folder is a source tree
import checking

COLUMNS = 64


def check(grout, text, options):
    """Exit code, codes of the errors, whether the verdict is for every schedule."""
    code, report, words = checking.check(grout, text, options)
    if report is None:
        return code, {words}, False
    kernels = report.get("coverage", {}).get("kernels", [])
    return (code, {f["code"] for f in report["findings"] if f["severity"] == "error"},
            bool(kernels) and all(k["holds_for_every_schedule"] for k in kernels))


def draw_schedule(draw):
    return ["--schedule", draw.choice(("fair", "random")), "--timing", draw.choice(("lazy", "eager", "random")),
            "--seed", str(draw.randrange(1000))]


class Text:
    def __init__(self):
        self.lines = []
        self.depth = 1

    def add(self, line):
        self.depth -= line.startswith("}")
        self.lines.append("  " * self.depth + line)
        self.depth += line.endswith("{")

    def finish(self, head, scratch):
        return "\n".join([head + " {", *("  " + line for line in scratch), *self.lines, "}"]) + "\n"


# ---- mbarriers -----------------------------------------------------------------------------------


class Multicast:
    def __init__(self, seed):
        draw = self.draw = random.Random(seed)
        self.ctas = draw.randint(2, 4)
        self.rounds = draw.randint(1, 3)
        self.phases = [0] * self.ctas  # of the present life
        self.has_mistake = draw.random() < 0.4
        self.victim = draw.randrange(self.ctas)
        self.text = Text()
        self.wanted = {"async-not-awaited"} if self.has_mistake else set()

    def wait(self, cta):
        self.text.add(f"mbarrier_wait %b[0], {self.phases[cta] % 2}")
        self.phases[cta] += 1

    def live(self, cta):
        """Phases and lives that only this CTA's mbarrier has."""
        text = self.text
        steps = [self.draw.choice(("copy", "arrive", "life")) for _ in range(self.draw.randint(0, 3))]
        if not steps:
            return
        text.add(f"if (eq %me, {cta}) {{")
        for step in steps:
            if step == "copy":
                text.add(f"mbarrier_expect %b[0], {COLUMNS * 4}")
                text.add(f"copy_gmem_to_smem %x[{self.rounds}], %s[{self.rounds}], %b[0]")
                self.wait(cta)
            elif step == "arrive":
                text.add("mbarrier_arrive %b[0]")
                self.wait(cta)
            else:
                text.add("mbarrier_invalidate %b[0]")
                text.add("mbarrier_init %b[0], 1")
                self.phases[cta] = 0
        text.add("}")

    def round(self, number):
        text, sender = self.text, self.draw.randrange(self.ctas)
        for cta in range(self.ctas):
            self.live(cta)
        text.add(f"mbarrier_expect %b[0], {COLUMNS * 4}")
        text.add("cluster_barrier")
        text.add(f"if (eq %me, {sender}) {{")
        text.add(f"copy_gmem_to_smem %x[{number}], %s[{number}], %b[0] multicast(cx)")
        text.add("}")
        for cta in range(self.ctas):
            is_wrong = self.has_mistake and number == self.rounds - 1 and cta == self.victim
            text.add(f"if (eq %me, {cta}) {{")
            if is_wrong:
                text.add(f"store %y[%me, {number}], (load %s[{number}])")
            self.wait(cta)
            if not is_wrong:
                text.add(f"store %y[%me, {number}], (load %s[{number}])")
            text.add("}")
        text.add("cluster_barrier")

    def run(self, grout):
        self.text.add("mbarrier_init %b[0], 1")
        self.text.add("%me = axis_index cx")
        for number in range(self.rounds):
            self.round(number)
        self.source = self.text.finish(
            f"kernel @k(%x: in gmem f32[{self.rounds + 1}, {COLUMNS}], %y: out gmem f32[{self.ctas}, {self.rounds}, "
            f"{COLUMNS}]) cluster(cx = {self.ctas})",
            [f"scratch %s : smem f32[{self.rounds + 1}, {COLUMNS}]", "scratch %b : mbarrier[1]"])
        code, codes, holds = check(grout, self.source, draw_schedule(self.draw))
        if codes == {"cluster-smem-reuse"}:  # the read came before the issue
            codes = {"async-not-awaited"}
        return codes == self.wanted and code == (1 if self.wanted else 0) and holds == (not self.wanted), codes


# ---- barriers ------------------------------------------------------------------------------------


class Collective:
    def __init__(self, seed):
        draw = self.draw = random.Random(seed)
        self.ctas = draw.choice((2, 4))
        self.threads = draw.randint(1, 2)
        self.rounds = draw.randint(1, 3)
        self.mistake = draw.choice(("source", "destination")) if draw.random() < 0.4 else None
        self.victim = draw.randrange(self.ctas)
        self.text = Text()
        self.names = random.Random(-seed - 1)  # its own: kernels stay as they are drawn
        self.has_names = self.names.random() < 0.4

    def copy(self, source, destination):
        """The copy; with names each CTA has one of its own for the destination."""
        for cta in range(self.ctas if self.has_names else 1):
            name = self.names.choice(("%s", "%t", "%u.bitcast(f32)")) if self.has_names else "%s"
            if self.has_names:
                self.text.add(f"if (eq %me, {cta}) {{")
            self.text.add(f"copy_gmem_to_smem %x[{source}], {name}[{destination}], %b[%w] collective_axes(cx)")
            if self.has_names:
                self.text.add("}")

    def add_own(self, cta, thread):
        """Phases that only this CTA's barrier has."""
        for _ in range(self.draw.randint(0, 2)):
            self.text.add(f"if (and (eq %me, {cta}), (eq %w, {thread})) {{")
            self.text.add(f"copy_gmem_to_smem %x[0], %own[{thread}], %b[{thread}]")
            self.text.add(f"barrier_wait %b[{thread}]")
            self.text.add("}")

    def round(self, number):
        text, last = self.text, number == self.rounds - 1
        for cta in range(self.ctas):
            for thread in range(self.threads):
                self.add_own(cta, thread)
        text.add("cluster_barrier")
        source = destination = f"%w * {self.rounds} + {number}"
        if last and self.mistake:
            text.add(f"%wrong = eq %me, {self.victim}")
            text.add(f"%place = select %wrong, (%w + {self.rounds * self.threads}), ({source})")
            source = "%place" if self.mistake == "source" else source
            destination = "%place" if self.mistake == "destination" else destination
        self.copy(source, destination)
        text.add("barrier_wait %b[%w]")
        text.add(f"store %y[%me, %w, {number}], (load %s[{destination}])")

    def run(self, grout):
        boxes = (self.rounds + 1) * self.threads
        self.text.add("%me = axis_index cx")
        self.text.add("%w = axis_index wg")
        for number in range(self.rounds):
            self.round(number)
        self.source = self.text.finish(
            f"kernel @k(%x: in gmem f32[{boxes}, 32, {COLUMNS}], %y: out gmem f32[{self.ctas}, {self.threads}, "
            f"{self.rounds}, 32, {COLUMNS}]) cluster(cx = {self.ctas}) threads(wg = {self.threads}) "
            "attr cluster_exit = sync",
            [f"scratch %s : smem f32[{boxes}, 32, {COLUMNS}]", f"scratch %own : smem f32[2, 32, {COLUMNS}]",
             *(f"scratch %{name} : smem {dtype}[{boxes}, 32, {COLUMNS}] alias(%s)" for name, dtype in
               (("t", "f32"), ("u", "u32")) if self.has_names), "scratch %b : barrier[2]"])
        code, codes, holds = check(grout, self.source, draw_schedule(self.draw))
        self.wanted = {"collective-divergence"} if self.mistake else set()
        codes.discard("uninitialised-read")  # of the part that went elsewhere
        return codes == self.wanted and code == (1 if self.wanted else 0) and holds == (not self.wanted), codes


# ---- registers -----------------------------------------------------------------------------------


class Registers:
    def __init__(self, seed):
        draw = self.draw = random.Random(seed)
        self.threads = draw.randint(3, 4)
        self.entry = 65536 // (128 * self.threads) // 8 * 8
        self.programs = [[("set", draw.choice((24, 96)))]]
        for _ in range(1, self.threads):
            program = [("set", draw.choice(range(self.entry + 24, 241, 24)))]
            if draw.random() < 0.6:
                program.append(("set", 24))
            self.programs.append(program)
        self.edges = draw.randint(0, 2)
        for edge in range(self.edges):
            giver, taker = draw.sample(range(self.threads), 2)
            for thread, what in ((giver, "arrive"), (taker, "wait")):
                at = draw.randint(0, len(self.programs[thread]))
                self.programs[thread].insert(at, (what, edge))
        self.wanted = {"deadlock"} if self.can_hang() else set()

    def step(self, state, thread):
        """The state after the thread's next step, or None if it waits."""
        places, held, free, arrived = state
        what, value = self.programs[thread][places[thread]]
        if what == "set":
            if value - held[thread] > free:
                return None
            free -= value - held[thread]
            held = held[:thread] + (value,) + held[thread + 1:]
        elif what == "arrive":
            arrived |= 1 << value
        elif not arrived >> value & 1:
            return None
        return places[:thread] + (places[thread] + 1,) + places[thread + 1:], held, free, arrived

    def can_hang(self):
        first = ((0,) * self.threads, (self.entry,) * self.threads, 0, 0)
        seen, todo = {first}, [first]
        while todo:
            state = todo.pop()
            left = [t for t in range(self.threads) if state[0][t] < len(self.programs[t])]
            after = [s for s in (self.step(state, t) for t in left) if s]
            if left and not after:
                return True
            new = [s for s in after if s not in seen]
            seen.update(new)
            todo += new
        return False

    def has_late_decrease(self):
        """Whether a decrease happens after an increase: in its thread, or by way of a barrier."""
        told, is_late = {}, False
        for _ in range(self.edges + 1):  # as often as news may still go from thread to thread
            for program in self.programs:
                held, knows = self.entry, False
                for what, value in program:
                    if what == "set":
                        is_late |= value < held and knows
                        knows |= value > held
                        held = value
                    elif what == "arrive":
                        told[value] = knows
                    else:
                        knows |= told.get(value, False)
        return is_late

    def run(self, grout):
        text, held = Text(), [self.entry] * self.threads
        text.add("%w = axis_index wg")
        for thread, program in enumerate(self.programs):
            text.add(f"if (eq %w, {thread}) {{")
            for what, value in program:
                if what == "set":
                    text.add(f"set_max_registers {value} {'increase' if value > held[thread] else 'decrease'}")
                    held[thread] = value
                else:
                    text.add(f"barrier_{what} %b[{value}]")
            text.add("}")
        text.add("store %y[%w], %w")
        self.source = text.finish(f"kernel @k(%y: out gmem i32[{self.threads}]) threads(wg = {self.threads})",
                                  ["scratch %b : barrier[2]"])
        code, codes, holds = check(grout, self.source, draw_schedule(self.draw))
        if codes == {"register-budget"}:  # this many are never there
            return code == 2 and bool(self.wanted), codes
        if holds and codes != self.wanted or not (holds or self.wanted or self.has_late_decrease()):
            return False, codes
        code, codes, _ = check(grout, self.source, ["--explore", "--budget", "20"])
        return codes == self.wanted and code == (1 if self.wanted else 0), codes


KINDS: dict[str, typing.Any] = {"multicast": Multicast, "collective": Collective, "registers": Registers}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", required=True, type=os.path.abspath)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    arguments = parser.parse_args()
    failed = mistakes = 0
    for seed in range(arguments.first, arguments.first + arguments.count):
        drawn = KINDS[arguments.kind](seed)
        is_good, found = drawn.run(arguments.grout)
        mistakes += bool(drawn.wanted)
        if not is_good:
            failed += 1
            print(f"seed {seed}: found {sorted(found)}, wanted {sorted(drawn.wanted)}\n{drawn.source}")
    print(f"{arguments.count - failed} passed, {failed} failed, {mistakes} mistakes")
    return failed > 0 or mistakes in (0, arguments.count)


sys.exit(main())
