"""Draws launch lists in which threads of a grid let the next one begin, with a release or without.

SPDX-License-Identifier: Apache-2.0
"""
from draw_sync import Launches

TRIGGER = "griddepcontrol_launch_dependents"


class Releases(Launches):
    """Both threads may run launch_dependents, in an order or in none, and the next grid has fences of its own."""

    def __init__(self, seed):
        super().__init__(seed + 1000000)  # other lists than those of the kind 'launches'
        self.dependent = [False] + [self.chance(0.95) for _ in range(self.launches - 1)]

    def touch(self, actor):
        lines = super().touch(actor)
        if self.chance(0.25):
            lines.insert(self.draw.randint(0, len(lines)), "commit_gmem")
        if self.chance(0.15):
            lines = ["copy_gmem_to_smem %%m[%d], %%s[0], %%f%d" % (actor, actor), "barrier_wait %%f%d" % actor] + lines
        return lines

    def draw_launch(self, number):
        self.outputs = 0
        lines = [[line for _ in range(self.draw.randint(0, 2)) for line in self.touch(actor)] for actor in range(2)]
        if number > 0 and self.chance(0.3):
            waiter = self.pick(0, 1)
            lines[waiter].insert(self.draw.randint(0, len(lines[waiter])), "griddepcontrol_wait")
        if self.chance(0.6):
            teller, order = self.pick(0, 1), self.pick("", "", "", " order(relaxed)")
            lines[teller].append("barrier_arrive %b" + order)
            lines[1 - teller].insert(self.pick(0, len(lines[1 - teller])), "barrier_wait %b" + order)
        for actor in self.pick((0,), (1,), (0, 1), (0, 1)):
            for _ in range(self.pick(1, 1, 1, 2)):
                at = len(lines[actor]) if self.chance(0.7) else self.draw.randint(0, len(lines[actor]))
                lines[actor].insert(at, TRIGGER + self.pick(" order(release)", " order(release)", " order(release)",
                                                            ""))
        return lines
