"""Which findings a drawn graph has, by docs/memory_model.md, and graphs around the phases of one barrier.

SPDX-License-Identifier: Apache-2.0
"""
from graphs import Event, get_cluster, get_cta

WRITES = {"g": ("store", "tma-store"), "s": ("store", "tma-load", "copy", "async-store")}


def reach(events, edges, is_edge):
    """For each event the set of those before it, as bits, along the edges that is_edge takes."""
    before, last, incoming = [0] * len(events), {}, {}
    for source, target, is_strong in edges:
        if is_edge(target, is_strong):
            incoming.setdefault(target, []).append(source)
    for event in events:
        known = incoming.get(event.index, [])
        if event.actor in last:
            known = known + [last[event.actor]]
        for source in known:
            before[event.index] |= before[source] | 1 << source
        last[event.actor] = event.index
    return before


class Oracle:
    def __init__(self, graph):
        self.graph, self.events = graph, graph.events
        self.memory = reach(self.events, graph.edges, lambda target, is_strong: is_strong)
        self.time = reach(self.events, graph.edges, lambda target, is_strong: True)
        # In time, but not by the completion of an async store, which says nothing of what its issuer did.
        self.told = reach(self.events, graph.edges,
                          lambda target, is_strong: is_strong or self.events[target].tag is None)

    @staticmethod
    def is_before(known, x, y):
        return x.index == y.index or bool(known[y.index] >> x.index & 1)

    def has_commit(self, space, home, x, y, known_of_x, known_of_commit):
        """A commit for this memory on the way from x to y."""
        for event in self.events:
            if space == "g":
                is_commit = event.tag == "commit_gmem"
            else:
                is_commit = event.tag == "commit_smem" and get_cta(event.actor) == home or (
                    event.tag == "commit_smem cluster" and get_cluster(event.actor) == home >> 1)
            if is_commit and self.is_before(known_of_x, x, event) and self.is_before(known_of_commit, event, y):
                return True
        return False

    def name_race(self, space, home, x, y, kinds):
        """The code and place of two accesses in no order."""
        writes = [kind in WRITES[space] for kind in kinds]
        if all(writes):
            primary = x if x.line > y.line else y
        else:
            primary = x if writes[0] else y
        if space == "g":
            return ("gmem-race", primary.line)
        reader = x if kinds[0] == "load" else y
        is_far = [get_cta(event.actor) != home for event in (x, y)]
        if set(kinds) == {"tma-load", "load"} and not any(is_far) or (
                set(kinds) == {"async-store", "load"} and get_cta(reader.actor) == home):
            return ("async-not-awaited", reader.line)
        if is_far[0] != is_far[1] and writes[is_far.index(True)]:
            return ("cluster-smem-reuse", (x if is_far[0] else y).line)
        return ("smem-race", primary.line)

    def judge_pair(self, space, home, x, y, kinds):
        """None if the two are in order, a code and a line, or a line alone that is left open."""
        first, second = kinds
        race = lambda: self.name_race(space, home, x, y, kinds)
        is_async = second in ("tma-load", "tma-store")
        waits = [e for e in self.events if e.tag and e.tag[0] == first and e.index > x.index
                 and (e.tag[1] in (None, x.index)) and (e.tag[1] is not None or e.actor == x.actor)]
        if first in ("load", "store"):
            if self.is_before(self.memory, x, y):
                if not is_async or space == "g" and first == "load":
                    return None
                if self.has_commit(space, home, x, y, self.memory, self.memory):
                    return None
                code = "missing-commit-gmem" if space == "g" else "missing-commit-smem"
                return (code + ("-war" if first == "load" else ""), y.line)
            return ("insufficient-scope", y.line) if self.is_before(self.told, x, y) else race()
        if first in ("copy", "async-store"):
            if self.is_before(self.time, waits[0], y):
                if not is_async or space == "g" or (
                        self.has_commit(space, home, waits[0], y, self.time, self.memory)):
                    return None
                if self.has_commit(space, home, waits[0], y, self.time, self.time):
                    return y.line
                return ("missing-commit-smem", y.line)
            if space == "g":
                return ("gmem-race", y.line)
            return ("async-not-awaited", y.line) if self.is_before(self.time, x, y) else race()
        if first == "tma-load":
            if self.is_before(self.time, waits[0], y):
                return None
            if space == "g":
                return ("gmem-race", y.line)
            return ("async-not-awaited", y.line) if self.is_before(self.time, x, y) else race()
        if space == "s":
            if self.is_before(self.time, waits[0], y):
                return None
            return ("smem-source-reuse", y.line) if self.is_before(self.time, x, y) else race()
        full = [wait for wait in waits if "read_only" not in wait.text][0]
        if self.is_before(self.memory, full, y):
            if is_async and get_cta(x.actor) != get_cta(y.actor) and not (
                    self.has_commit(space, home, full, y, self.memory, self.memory)):
                return ("missing-commit-gmem", y.line)
            return None
        if self.is_before(self.told, full, y):
            return ("insufficient-scope", y.line)
        return ("gmem-write-not-visible", y.line) if self.is_before(self.time, x, y) else race()


def judge(graph):
    kernel, oracle = graph.kernel, Oracle(graph)
    kernel.expected = set()
    for (space, pair), ((x, first), (y, second)) in graph.accesses.items():
        if first in WRITES[space] or second in WRITES[space]:
            found = oracle.judge_pair(space, graph.places[pair], x, y, (first, second))
            if isinstance(found, int):
                kernel.unsure.add(found)
            elif found:
                kernel.expected.add(found)


def judge_phases(kernel):
    """One thread arrives for each phase of a barrier, the others wait for all; who else tells whom is drawn. An
    arrival that does not know of all waits for the phase before it is an overrun. A thread whose first wait knows
    of the second arrival comes too late, which is said of it and nothing else."""
    draw = kernel.draw
    threads, phases = draw.choice((2, 3, 4)), draw.randint(2, 5)
    kernel.launch = f"threads(wg = {threads})"
    events, edges, pending = [], [], []

    def add(actor, text):
        text += draw.choice(("", " order(relaxed)"))
        events.append(Event(len(events), actor, text, None))
        return events[-1]

    arrivals, waits, notes = [], {t: [] for t in range(1, threads)}, 0
    while len(arrivals) < phases or pending or any(len(of) < phases for of in waits.values()):
        choice = draw.random()
        if choice < 0.2 and len(arrivals) < phases:
            arrivals.append(add(0, "barrier_arrive %p[0]"))
        elif choice < 0.55:
            thread = draw.randrange(1, threads)
            if len(waits[thread]) < len(arrivals):
                wait = add(thread, "barrier_wait %p[0]")
                edges.append((arrivals[len(waits[thread])].index, wait.index, True))
                waits[thread].append(wait)
        elif choice < 0.75 and len(arrivals) < phases or choice < 0.6:
            a, b = draw.sample(range(threads), 2)
            if draw.random() < 0.6:
                a, b = draw.randrange(1, threads), 0
            pending.append((add(a, f"barrier_arrive %b[{notes}]").index, b, notes))
            notes += 1
        elif pending:
            source, actor, note = pending.pop(draw.randrange(len(pending)))
            edges.append((source, add(actor, f"barrier_wait %b[{note}]").index, True))
    kernel.scratch.append("scratch %p : barrier[1]")
    if notes:
        kernel.scratch.append(f"scratch %b : barrier[{notes}]")
    kernel.emit("%me = axis_index wg")
    for actor in range(threads):
        kernel.emit(f"if (eq %me, {actor}) {{")
        for event in events:
            if event.actor == actor:
                event.line = len(kernel.lines) + kernel.count_head() + 1
                kernel.emit(event.text)
        kernel.emit("}")
    known = reach(events, edges, lambda target, is_strong: True)
    late = {thread for thread, of in waits.items() if known[of[0].index] >> arrivals[1].index & 1}
    kernel.expected = {("barrier-skipped-phase", waits[thread][0].line) for thread in late}
    kernel.expected |= {("barrier-overrun", arrivals[p + 1].line) for p in range(phases - 1)
                        if not all(known[arrivals[p + 1].index] >> of[p].index & 1
                                   for thread, of in waits.items() if thread not in late)}
