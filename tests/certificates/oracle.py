"""Which findings a drawn graph has, by docs/memory_model.md.

SPDX-License-Identifier: Apache-2.0
"""
import re

from graphs import Graph, get_cluster, get_cta

WRITES = {"g": ("store", "tma-store"), "s": ("store", "tma-load", "copy", "async-store")}


def get_value(event):
    """What a write leaves in each element; None: rows of an input, which no other write leaves."""
    number = re.search(r"broadcast (\d+)\.0 ", event.text)
    if number:
        return int(number.group(1))
    return 0 if event.text.startswith("copy_smem_to_gmem") else None  # of SMEM that nobody has written since the start


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
        # Nothing of it travels through another cluster.
        near = [edge for edge in graph.edges if get_cluster(self.events[edge[0]].actor)
                == get_cluster(self.events[edge[1]].actor)]
        self.near = reach(self.events, near, lambda target, is_strong: is_strong)
        self.time = reach(self.events, graph.edges, lambda target, is_strong: True)
        # What an engine has written to the memory of a CTA: relaxed edges carry it within a CTA.
        seen = [(source, target, is_strong or get_cta(self.events[source].actor) == get_cta(self.events[target].actor))
                for source, target, is_strong in graph.edges]
        self.seen = reach(self.events, seen, lambda target, is_strong: is_strong)
        # In time, but not by the completion of an async store, which says nothing of what its issuer did.
        self.told = reach(self.events, graph.edges,
                          lambda target, is_strong: is_strong or self.events[target].tag is None)

    @staticmethod
    def is_before(known, x, y):
        return x.index == y.index or bool(known[y.index] >> x.index & 1)

    def has_commit(self, space, home, x, y, known_of_x, known_of_commit):
        """A commit for this memory on the way from x to y; for GMEM one of the CTA of y."""
        if space == "g":
            known_of_commit = self.near
        for event in self.events:
            if space == "g":
                is_commit = event.tag == "commit_gmem" and get_cta(event.actor) == get_cta(y.actor)
            else:
                is_commit = event.tag == "commit_smem" and get_cta(event.actor) == home or (
                    event.tag == "commit_smem cluster" and get_cluster(event.actor) == home >> 1)
            if is_commit and self.is_before(known_of_x, x, event) and self.is_before(known_of_commit, event, y):
                return True
        return False

    def name_race(self, space, home, x, y, kinds):
        """The code and place of two accesses in no order. Two writes may leave one value."""
        code, line = self.name_conflict(space, home, x, y, kinds)
        values = [get_value(event) for event in (x, y)]
        if not all(kind in WRITES[space] for kind in kinds) or values[0] is None or values[0] != values[1]:
            return code, line
        return line if "tma-store" in kinds \
            else ("same-value-race", line)  # races of others may have a part in an array

    def name_conflict(self, space, home, x, y, kinds):
        writes = [kind in WRITES[space] for kind in kinds]
        if all(writes):
            primary = x if x.line > y.line else y
        else:
            primary = x if writes[0] else y
        if space == "g":
            return ("gmem-race", primary.line)
        reader = x if kinds[0] == "load" else y
        is_far = [get_cta(event.actor) != home for event in (x, y)]
        if set(kinds) in ({"tma-load", "load"}, {"async-store", "load"}):
            return ("async-not-awaited", reader.line)  # whose barrier it is has no part in it
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
                if space == "s" and second not in WRITES["s"] and not self.is_before(self.seen, waits[0], y):
                    return ("insufficient-scope", y.line)
                known = self.time if second in WRITES["s"] else self.seen  # a slot is given back
                if not is_async or space == "g" or self.has_commit(space, home, waits[0], y, known, self.memory):
                    return None
                if self.has_commit(space, home, waits[0], y, known, self.time):
                    return y.line
                return ("missing-commit-smem", y.line)
            if space == "g":
                return ("gmem-race", y.line)
            return ("async-not-awaited", y.line) if self.is_before(self.time, x, y) else race()
        if first == "tma-load":
            if self.is_before(self.time, waits[0], y):
                if space == "s" and second not in WRITES["s"] and not self.is_before(self.seen, waits[0], y):
                    return ("insufficient-scope", y.line)
                return None
            if space == "g":
                return ("gmem-race", y.line)
            return ("async-not-awaited", y.line) if self.is_before(self.time, x, y) else race()
        if space == "s":
            if self.is_before(self.time, waits[0], y):
                return None
            return ("smem-source-reuse", y.line) if self.is_before(self.time, x, y) else race()
        full = next(wait for wait in waits if "read_only" not in wait.text)
        if self.is_before(self.memory, full, y):
            if is_async and get_cta(x.actor) != get_cta(y.actor) and not (
                    self.has_commit(space, home, full, y, self.memory, self.memory)):
                return ("missing-commit-gmem", y.line)
            return None
        if self.is_before(self.told, full, y):
            return ("insufficient-scope", y.line)
        return ("gmem-write-not-visible", y.line) if self.is_before(self.time, x, y) else race()


def draw_graphs(kernel):
    graph = Graph(kernel)
    graph.emit()
    oracle = Oracle(graph)
    kernel.expected = set()
    for (space, pair), ((x, first), (y, second)) in graph.accesses.items():
        if first in WRITES[space] or second in WRITES[space]:
            found = oracle.judge_pair(space, graph.places[pair], x, y, (first, second))
            if isinstance(found, int):
                kernel.unsure.add(found)
            elif found:
                kernel.expected.add(found)
    kernel.is_right = not kernel.expected and not kernel.unsure
