"""Draws small kernels of scopes, one after another, with copies in flight across their ends.

SPDX-License-Identifier: Apache-2.0
"""
from draw_sync import PARAMS, Drawn


class Waiting(Drawn):
    """Bodies of several actors, whose waits come some time after what they wait for, or never."""

    waits: list[list[str]]
    body: list[str]

    def flush(self, actor, part):
        waits, self.waits[actor] = self.waits[actor], []
        lines = []
        for wait in waits:
            (lines if self.chance(part) else self.waits[actor]).append(wait)
        return lines

    def add_lines(self, indent, lines):
        for actor, its in enumerate(lines):
            if its and self.actors > 1:
                its = ["if (eq (axis_index wg), %d) {" % actor] + ["  " + text for text in its] + ["}"]
            self.body += [indent + text for text in its]


class Scopes(Waiting):
    """Scopes one after another, whose bytes engines may still use when they end: what waits for them stands inside,
    after it, in a later scope, or nowhere."""

    def __init__(self, seed):
        super().__init__("scopes", seed, 1)
        self.actors = self.pick(1, 1, 2)
        self.waits = [[] for _ in range(self.actors)]  # that are still to be written
        self.body = []
        for _ in range(self.draw.randint(2, 4)):
            self.add_lines("  ", [self.flush(actor, 0.4) for actor in range(self.actors)])
            self.add_scope()
        self.add_lines("  ", [self.flush(actor, 0.9) for actor in range(self.actors)])

    def add_scope(self):
        made = self.pick("%s : smem f32[2, 64]", "%s : smem f32[2, 64]", "%s : smem f32[2, 64]", "%t : barrier[1]",
                         "%t : acc f32[64, 64]", "%t : smem i32[64] alias(%own)")
        is_shared = self.actors > 1 and "acc" not in made
        self.body.append("  scoped(%s)%s {" % (made, " collective" if is_shared else ""))
        start = [["store %%s[%d], (broadcast 1.0 : f32[64])" % actor, "commit_smem"] if made[1] == "s" else []
                 for actor in range(self.actors)]
        self.add_lines("    ", [lines + self.flush(actor, 0.3) + (self.use(actor) if lines else [])
                                for actor, lines in enumerate(start)])
        self.body.append("  }")

    def use(self, actor):
        lines = []
        for _ in range(self.pick(0, 1, 1, 2)):
            barrier = self.barrier()
            its, wait = self.pick(
                (["copy_smem_to_gmem %%s[%d], %s" % (actor, self.output())], "wait_smem_to_gmem 0"),
                (["copy_smem_to_gmem %%s[%d], %s" % (actor, self.output())], "wait_smem_to_gmem 0 read_only"),
                (["copy_gmem_to_smem %%x[%d], %%s[%d], %s" % (actor, actor, barrier)], "barrier_wait " + barrier),
                (["async_copy %%x[%d], %%s[%d]" % (actor, actor), "async_copy_commit_group"], "async_copy_wait 0"))
            lines += its
            if self.chance(0.4):
                lines.append(wait)
            else:
                self.waits[actor].append(wait)
        return lines

    def text(self):
        objects = ["  scratch %own : smem f32[64]", "  scratch %%b : barrier[%d]" % max(self.barriers, 1)]
        head = PARAMS % (max(self.outputs, 1), "", "threads(wg = %d)" % self.actors)
        return "\n".join([head, "{"] + objects + self.body + ["}", ""])
