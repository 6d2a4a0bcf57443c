"""Kernels whose findings are known: pairs of accesses under a drawn graph of who tells whom.

Eight actors (two clusters of two CTAs of two threads), of which some act. A list of events, each by
one actor, is drawn in an order in which it can run, so nothing deadlocks: accesses, in pairs to a
place of their own; commits; and notes from one actor to another by a barrier, an mbarrier or a
semaphore of their own, some relaxed or of a narrow scope. Which pairs docs/memory_model.md orders
follows from the graph, and with it code and line of every finding.

SPDX-License-Identifier: Apache-2.0
"""
from kernel import World

ACTORS = 8
ACCESSES = ("load", "store", "tma-load", "tma-store", "copy")
SCOPES = ("cta", "cluster", "gpu", "sys")


def get_cta(actor):
    return actor >> 1


def get_cluster(actor):
    return actor >> 2


def covers(scope, a, b):
    return scope in ("gpu", "sys") or (get_cta(a) == get_cta(b) if scope == "cta" else
                                       get_cluster(a) == get_cluster(b))


class Event:
    """tag: a commit's name, or which access this waits for."""

    def __init__(self, index, actor, text, tag):
        self.index, self.actor, self.text, self.tag, self.line = index, actor, text, tag, 0


class Graph:
    def __init__(self, kernel):
        self.kernel, self.draw = kernel, kernel.draw
        self.events, self.edges = [], []  # edges: from, to, whether memory travels
        self.pending, self.late = [], []  # waits to come for notes, and for accesses
        self.counts = {"b": 0, "m": 0, "u": 0}
        draw = self.draw
        self.actors = draw.sample(range(ACTORS), draw.choice((2, 3, 4, 4, 8)))
        self.pairs = draw.choice((1, 1, 2, 3, 5))
        self.places = [get_cta(draw.choice(self.actors)) for _ in range(self.pairs)]  # of the pairs in SMEM
        self.accesses = {}  # (space, pair): the events and kinds of the first and the second
        self.draw_events(draw.randint(5, draw.choice((40, 120))))

    def add(self, actor, text, tag=None):
        self.events.append(Event(len(self.events), actor, text, tag))
        return len(self.events) - 1

    def add_wait(self, actor, text, tag):
        """The wait for an access."""
        index = self.add(actor, text, tag)
        if tag[0] == "async-store":
            self.edges.append((tag[1], index, False))

    def draw_events(self, steps):
        plan = [(space, pair) for pair in range(self.pairs) for space in "gs" for _ in range(2)]
        self.draw.shuffle(plan)
        at = set(self.draw.sample(range(steps + len(plan)), len(plan)))
        for step in range(steps + len(plan)):
            if step in at:
                self.draw_access(*plan.pop(0))
                continue
            choice = self.draw.random()
            if self.late and self.draw.random() < 0.1:
                self.add_wait(*self.late.pop(self.draw.randrange(len(self.late))))
            elif choice < 0.25:
                commit = self.draw.choice(("commit_smem", "commit_smem cluster", "commit_gmem", "commit_gmem"))
                self.add(self.draw.choice(self.actors), commit, commit)
            elif choice < 0.62:
                self.draw_note()
            elif self.pending:
                self.take_note(self.pending.pop(self.draw.randrange(len(self.pending))))
        for note in self.pending:
            self.take_note(note)
        for wait in self.late:
            self.add_wait(*wait)

    def take_note(self, note):
        source, actor, text, is_strong = note
        self.edges.append((source, self.add(actor, text), is_strong))

    def draw_access(self, space, pair):
        draw, number = self.draw, self.kernel.number
        is_first = (space, pair) not in self.accesses
        if space == "g":
            actor, ref = draw.choice(self.actors), f"%m{number}[{pair}]"
            kind = draw.choice(ACCESSES)
        else:
            home = self.places[pair]
            actor, ref = draw.choice([a for a in self.actors if get_cta(a) == home]), f"%s[{pair}]"
            kind = draw.choice(ACCESSES + ("async-store", "async-store"))
            if kind == "async-store" or kind in ("load", "store") and draw.random() < 0.4:
                actor = draw.choice([a for a in self.actors if get_cluster(a) == get_cluster(actor)])
                ref = f"%s.cluster({home & 1})[{pair}]"
        slot = pair * 2 + (0 if is_first else 1) + (0 if space == "g" else 2 * self.pairs)
        source, target = (ref, f"%t[{slot}]") if space == "g" else (f"%z{number}[{slot}]", ref)
        text = {"load": f"store %y{number}[{slot}], (load {ref})",
                "store": f"store {ref}, (broadcast {slot}.0 : f32[64])",
                "async-store": f"async_store_smem (broadcast 3.0 : f32[64]), {ref}, %sm[{slot}]",
                "copy": f"async_copy {source}, {target}\nasync_copy_commit_group",
                "tma-load": f"copy_gmem_to_smem {source}, {target}, %tb[{slot}]",
                "tma-store": f"copy_smem_to_gmem {target}, {source}"}[kind]
        index = self.add(actor, text)
        self.accesses.setdefault((space, pair), []).append((self.events[index], kind))
        self.draw_waits(kind, index, actor, slot, self.places[pair])

    def draw_waits(self, kind, index, actor, slot, home):
        draw = self.draw
        is_soon = draw.random() < 0.6
        if kind == "async-store":
            waiter = draw.choice([a for a in self.actors if get_cta(a) == home])
            order = draw.choice(("", " order(relaxed)"))
            text = f"mbarrier_expect %sm[{slot}], 256\nmbarrier_wait %sm[{slot}], 0{order}"
            wait = (waiter, text, (kind, index))
        elif kind == "tma-load":
            wait = (actor, f"barrier_wait %tb[{slot}]", (kind, index))
        elif kind == "copy":
            wait = (actor, "async_copy_wait 0", (kind, None))
        elif kind == "tma-store":
            wait = (actor, "wait_smem_to_gmem 0", (kind, None))
        else:
            return
        if is_soon and kind == "tma-store" and draw.random() < 1 / 3:
            self.add_wait(actor, wait[1] + " read_only", (kind, None))
        elif is_soon:
            self.add_wait(*wait)
        if not is_soon or kind in ("copy", "tma-store"):
            self.late.append(wait)

    def draw_note(self):
        """One actor tells another what it knows; the wait comes later."""
        draw = self.draw
        a, b = draw.sample(self.actors, 2)
        if draw.random() < 0.3 and a ^ 1 in self.actors:
            b = a ^ 1
        relaxed = " order(relaxed)"
        if get_cta(a) == get_cta(b) and draw.random() < 0.7:
            name = f"%b[{self.count('b')}]"
            tell, learn = draw.choice(("", "", "", relaxed)), draw.choice(("", "", "", "", relaxed))
            is_strong = not tell and not learn
            notify, wait = f"barrier_arrive {name}{tell}", f"barrier_wait {name}{learn}"
        elif get_cluster(a) == get_cluster(b) and draw.random() < 0.5:
            number = self.count("m")
            tell = draw.choice(("", "", "", relaxed, " scope(cta)", " scope(cluster)"))
            learn = draw.choice(("", "", "", relaxed, " scope(cta)"))
            is_strong = relaxed not in (tell, learn) and (get_cta(a) == get_cta(b) or "cta" not in tell + learn)
            notify = f"mbarrier_arrive %mb[{number}].cluster({get_cta(b) & 1}){tell}"
            wait = f"mbarrier_wait %mb[{number}], 0{learn}"
        else:
            name = f"%u[{self.count('u')}]"
            scopes = [draw.choice(s if draw.random() < 0.5 else ("sys",)) for s in (SCOPES, SCOPES[1:])]
            orders = [draw.choice(("", "", "", "", relaxed)) for _ in range(2)]
            is_strong = not any(orders) and all(covers(scope, a, b) for scope in scopes)
            words = [o + (f" scope({s})" if s != "sys" else "") for o, s in zip(orders, scopes)]
            notify, wait = f"semaphore_signal {name}, 1{words[0]}", f"semaphore_wait {name}, 1{words[1]}"
        self.pending.append((self.add(a, notify), b, wait, is_strong))

    def count(self, kind):
        self.counts[kind] += 1
        return self.counts[kind] - 1

    def emit(self):
        kernel, slots = self.kernel, 4 * self.pairs
        World(kernel, 2, 2, 2)
        for name, rows in zip("myz", (self.pairs, slots, slots)):
            kernel.add_param(name, "inout", f"f32[{rows}, 64]")
        kernel.scratch += [f"scratch %s : smem f32[{self.pairs}, 64]", f"scratch %t : smem f32[{slots}, 64]",
                           f"scratch %tb : barrier[{slots}]", f"scratch %sm : mbarrier[{slots}]"]
        kernel.scratch += [f"scratch {name} : {what}" for name, count, what in (
            ("%b", self.counts["b"], f"barrier[{self.counts['b']}]"),
            ("%mb", self.counts["m"], f"mbarrier[{self.counts['m']}]"),
            ("%u", self.counts["u"], f"semaphore[{self.counts['u']}] global")) if count]
        kernel.emit("if (eq (axis_index wg), 0) {", f"for %i in 0..{slots} {{", "mbarrier_init %sm[%i], 1", "}")
        if self.counts["m"]:
            kernel.emit(f"for %i in 0..{self.counts['m']} {{", "mbarrier_init %mb[%i], 1", "}")
        kernel.emit(f"store %s, (broadcast 0.0 : f32[{self.pairs}, 64])",
                    f"store %t, (broadcast 0.0 : f32[{slots}, 64])", "commit_smem", "}", "cluster_barrier",
                    "%me = add (add (mul (axis_index g), 4), (mul (axis_index cx), 2)), (axis_index wg)")
        for actor in range(ACTORS):
            if actor in self.actors:
                kernel.emit(f"if (eq %me, {actor}) {{")
                for event in self.events:
                    if event.actor == actor:
                        event.line = len(kernel.lines)
                        kernel.emit(*event.text.split("\n"))
                kernel.emit("}")
        head = kernel.count_head()
        for event in self.events:
            event.line += head + 1
