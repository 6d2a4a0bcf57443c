"""Draws small kernels: a few accesses by up to three actors, and what may or may not put them in order.

A kernel is drawn as one run of it: step after step some actor does something, and a hand-over is drawn as the arrival
of one actor and the wait of another, so most kernels come to their end. Then a line may be left out or change places
with the next one: that makes the mistakes.

SPDX-License-Identifier: Apache-2.0
"""
import random
import re

import draw_cancels
import draw_pairs
import draw_peers
import draw_releases
import draw_rows
import draw_scopes
import draw_sync
import draw_tensor
import draw_ways

# Those that take turns; the others are drawn where they are asked for, so that a seed stays the kernel that it was.
KINDS = ("threads", "partitions", "cluster", "grid", "line") + tuple(draw_sync.KINDS)
OTHERS = {"scopes": draw_scopes.Scopes, "rows": draw_rows.Rows, "tensors": draw_tensor.Tensors,
          "pipelines": draw_tensor.Pipelines, "tensor-scopes": draw_tensor.TensorScopes,
          "tensor-clusters": draw_tensor.TensorClusters, "tensor-pairs": draw_pairs.TensorPairs,
          "tensor-ways": draw_ways.TensorWays, "cancels": draw_cancels.Cancels, "peers": draw_peers.Peers,
          "releases": draw_releases.Releases}
# Without these a kernel may not end, or is not legal.
KEPT = ("arrive", "wait %b", "wait %r", "signal", "block_barrier", "cluster_barrier", "acc", "named")
ORDERS = ("", "", "", " order(relaxed)")


class Drawer:
    """One kernel. lines[actor] are its operations."""

    def __init__(self, kind, seed):
        self.draw = random.Random("%s %d" % (kind, seed))
        self.kind = kind
        self.actors = 1 if kind == "line" else 2 if kind == "cluster" else self.draw.choice((2, 2, 3))
        self.lines = [[] for _ in range(self.actors)]
        self.barriers = self.semaphores = self.outputs = self.mbarriers = 0
        self.rounds = 0
        self.uses_wgmma = kind in ("threads", "line") and self.draw.random() < 0.4
        for _ in range(self.draw.randint(3, 8)):
            self.step()
        for actor in range(self.actors):
            self.finish(actor)
        if self.draw.random() < 0.6:
            self.spoil()
        self.has_auto_fence = self.may_have_auto_fence() and self.draw.random() < 0.6
        self.is_started_with_fence = not self.has_auto_fence or self.draw.random() < 0.4

    def emit(self, actor, text):
        self.lines[actor].append(text)

    def half(self):
        return self.draw.choice((0, 0, 0, 1))

    def order(self):
        return self.draw.choice(ORDERS)

    # ---- accesses --------------------------------------------------------------------------------

    def step(self):
        actor = self.draw.randrange(self.actors)
        if self.actors > 1 and self.draw.random() < 0.42:
            other = self.draw.choice([a for a in range(self.actors) if a != actor])
            self.hand_over(actor, other)
        else:
            self.draw.choice(self.find_choices())(actor)

    def find_choices(self):
        choices = [self.load, self.store, self.store, self.load_gmem, self.store_gmem, self.tma_store, self.fence,
                   self.wait_for_stores, self.tma_load, self.copy, self.wait_for_copies, self.atomic]
        if self.uses_wgmma:
            choices += [self.wgmma, self.wgmma, self.store_operand, self.wait_for_wgmma, self.load_operand]
        if self.kind == "cluster":
            choices += [self.store_peer, self.store_peer, self.load_peer, self.store_async, self.multicast]
        if self.kind == "grid":
            choices += [self.store_and_add]
        return choices

    def output(self):
        self.outputs += 1
        return "%%y[%d]" % (self.outputs - 1)

    def load(self, actor):
        self.emit(actor, "store %s, (load %%s[%d])" % (self.output(), self.half()))

    def store(self, actor):
        self.emit(actor, "store %%s[%d], (broadcast 2.0 : f32[64])" % self.half())

    def load_gmem(self, actor):
        self.emit(actor, "store %s, (load %%m[%d])" % (self.output(), self.half()))

    def store_gmem(self, actor):
        self.emit(actor, "store %%m[%d], (broadcast 3.0 : f32[64])" % self.half())

    def atomic(self, actor):
        scope = self.draw.choice(("", "", " scope(cta)"))
        self.emit(actor, "atomic_add %%m[%d], (broadcast 1.0 : f32[64])%s" % (self.half(), scope))

    def load_peer(self, actor):
        self.emit(actor, "store %s, (load %%s.cluster(%d)[%d])" % (self.output(), 1 - actor, self.half()))

    def store_peer(self, actor):
        self.emit(actor, "store %%s.cluster(%d)[%d], (broadcast 2.0 : f32[64])" % (1 - actor, self.half()))

    def fence(self, actor):
        cluster = " cluster" if self.kind == "cluster" and self.draw.random() < 0.5 else ""
        self.emit(actor, self.draw.choice(("commit_smem" + cluster, "commit_smem" + cluster, "commit_gmem")))

    def tma_store(self, actor):
        reduce = self.draw.choice(("", "", "", " reduce(add)"))
        self.emit(actor, "copy_smem_to_gmem %%s[%d], %%m[%d]%s" % (self.half(), self.half(), reduce))

    def store_and_add(self, actor):
        """A store and an addition by one actor, each waited for, and an addition by another one: it may be atomic with
        the newer of the two copies only."""
        half = self.half()
        copy = "copy_smem_to_gmem %%s[%d], %%m[%d]" % (self.half(), half)
        for text in (copy, copy + " reduce(add)"):
            self.emit(actor, text)
            self.emit(actor, "wait_smem_to_gmem 0")
        other = self.draw.choice([a for a in range(self.actors) if a != actor])
        self.by_semaphore(actor, other)
        self.emit(other, self.draw.choice((copy + " reduce(add)",
                                           "atomic_add %%m[%d], (broadcast 1.0 : f32[64])" % half)))

    def wait_for_stores(self, actor):
        self.emit(actor, "wait_smem_to_gmem %d%s" % (self.draw.choice((0, 0, 1)),
                                                     self.draw.choice(("", " read_only"))))

    def tma_load(self, actor):
        barrier = self.new_barrier()
        source = self.draw.choice(("%x", "%x", "%m"))
        self.emit(actor, "copy_gmem_to_smem %s[%d], %%s[%d], %s" % (source, self.half(), self.half(), barrier))
        self.wait_somewhere(actor, barrier)

    def wait_somewhere(self, actor, barrier):
        """A wait by an actor that can see the barrier, at once or after a step in between."""
        waiter = actor if self.kind in ("cluster", "grid", "line") else self.draw.randrange(self.actors)
        if self.draw.random() < 0.35:
            self.step()
        self.emit(waiter, "barrier_wait %s%s" % (barrier, self.order()))

    def copy(self, actor):
        self.emit(actor, "async_copy %%m[%d], %%s[%d]" % (self.half(), self.half()))
        if self.draw.random() < 0.25 and self.kind != "partitions":
            barrier = self.new_barrier()
            self.emit(actor, "async_copy_arrive %s" % barrier)
            self.wait_somewhere(actor, barrier)
        self.emit(actor, "async_copy_commit_group")

    def wait_for_copies(self, actor):
        self.emit(actor, "async_copy_wait %d" % self.draw.choice((0, 0, 1)))

    def wgmma(self, actor):
        self.emit(actor, "wgmma_async %%acc, %%a[%d], %%a[%d]" % (self.half(), self.half()))

    def wait_for_wgmma(self, actor):
        self.emit(actor, "wgmma_wait %d" % self.draw.choice((0, 0, 1)))

    def store_operand(self, actor):
        self.emit(actor, "store %%a[%d], (broadcast 1.0 : f16[64, 64])" % self.half())

    def load_operand(self, actor):
        barrier = self.new_barrier()
        self.emit(actor, "copy_gmem_to_smem %%xa, %%a[%d], %s" % (self.half(), barrier))
        self.wait_somewhere(actor, barrier)

    def store_async(self, actor):
        barrier = self.new_mbarrier()
        self.emit(1 - actor, "mbarrier_expect %s, 256" % barrier)
        self.emit(actor, "async_store_smem (broadcast 4.0 : f32[64]), %%s.cluster(%d)[%d], %s" % (
            1 - actor, self.half(), barrier))
        self.emit(1 - actor, "mbarrier_wait %s, 0%s" % (barrier, self.order()))

    def multicast(self, actor):
        barrier = self.new_mbarrier()
        for other in range(2):
            self.emit(other, "mbarrier_expect %s, 256" % barrier)
        self.emit(actor, "copy_gmem_to_smem %%x[%d], %%s[%d], %s multicast(g)" % (self.half(), self.half(), barrier))
        for other in range(2):
            self.emit(other, "mbarrier_wait %s, 0%s" % (barrier, self.order()))

    # ---- hand-overs --------------------------------------------------------------------------------

    def new_barrier(self):
        self.barriers += 1
        return "%%b[%d]" % (self.barriers - 1)

    def new_mbarrier(self):
        self.mbarriers += 1
        return "%%r[%d]" % (self.mbarriers - 1)

    def hand_over(self, actor, other):
        if self.draw.random() < 0.3:
            self.fence(actor)
        ways = {"threads": (self.by_barrier, self.by_barrier, self.by_name, self.by_block, self.by_semaphore),
                "partitions": (self.by_barrier,), "grid": (self.by_semaphore,),
                "cluster": (self.by_remote, self.by_remote, self.by_meeting, self.by_semaphore)}[self.kind]
        self.draw.choice(ways)(actor, other)
        if self.draw.random() < 0.2:
            self.fence(other)

    def by_barrier(self, actor, other):
        barrier = self.new_barrier()
        self.emit(actor, "barrier_arrive %s%s" % (barrier, self.order()))
        self.emit(other, "barrier_wait %s%s" % (barrier, self.order()))

    def by_name(self, actor, other):
        self.rounds += 1
        if self.rounds > 11:
            return
        name = self.draw.choice(("named_barrier_arrive", "named_barrier_sync"))
        for each, text in ((actor, name), (other, "named_barrier_sync")):
            computed = "(sub %d, (axis_index wg))" % (self.rounds + each)
            self.emit(each, "%s %s, %s" % (text, self.draw.choice(("%d" % self.rounds, computed)),
                                           self.draw.choice(("2", "256 lanes"))))

    def by_block(self, _actor, _other):
        for each in range(self.actors):
            self.emit(each, "block_barrier")

    def by_semaphore(self, actor, other):
        unit = "%%u[%d]" % self.semaphores
        self.semaphores += 1
        scopes = ("", "", "", " scope(cluster)", " scope(cta)", " scope(gpu)")
        self.emit(actor, "semaphore_signal %s, 1%s%s" % (unit, self.order(), self.draw.choice(scopes)))
        self.emit(other, "semaphore_wait %s, 1%s%s" % (unit, self.order(), self.draw.choice(scopes)))

    def by_remote(self, actor, other):
        is_explicit = self.draw.random() < 0.6
        barrier = self.new_mbarrier() if is_explicit else self.new_barrier()
        face, parity = ("mbarrier", ", 0") if is_explicit else ("barrier", "")
        scope = self.draw.choice(("", "", "", " scope(cta)", " scope(cluster)"))
        self.emit(actor, "%s_arrive %s.cluster(%d)%s%s" % (face, barrier, other, self.order(), scope))
        self.emit(other, "%s_wait %s%s%s" % (face, barrier, parity, self.order()))

    def by_meeting(self, _actor, _other):
        for each in range(2):
            self.emit(each, "cluster_barrier%s" % self.order())

    def may_have_auto_fence(self):
        """What async_copy has started is written when it is waited for, and no judge knows by which wait."""
        return self.kind in ("threads", "partitions", "grid") and not any(
            text.startswith("async_copy %") for lines in self.lines for text in lines)

    # ---- the whole -----------------------------------------------------------------------------------

    def finish(self, actor):
        if self.uses_wgmma and actor == 0:
            self.emit(actor, "%used = load %acc")
        for text in ("wait_smem_to_gmem 0 read_only", "async_copy_wait 0") + (
                ("wgmma_wait 0",) if self.uses_wgmma else ()):
            if self.draw.random() < 0.93:
                self.emit(actor, text)

    def spoil(self):
        lines = self.lines[self.draw.randrange(self.actors)]
        if len(lines) < 2:
            return
        at = self.draw.randrange(len(lines) - 1)
        if self.draw.random() < 0.5 and not any(w in lines[at] for w in KEPT):
            del lines[at]
        else:
            lines[at], lines[at + 1] = lines[at + 1], lines[at]

    def text(self):
        head = {"threads": "threads(wg = %d)", "partitions": "threads(wg = %d)", "cluster": "cluster(g = %d)",
                "grid": "grid(g = %d)", "line": "grid(g = %d)"}[self.kind] % self.actors
        if self.has_auto_fence:
            head += " attr auto_fence = 1"
        if self.kind == "cluster":
            head += " attr cluster_exit = %s" % self.draw.choice(("sync", "sync", "none"))
        out = ["kernel @k(%x: in gmem f32[2, 64], %xa: in gmem f16[64, 64], %m: inout gmem f32[2, 64],",
               "    %%y: inout gmem f32[%d, 64]) %s" % (max(self.outputs, 1), head), "{",
               "  scratch %s : smem f32[2, 64]"]
        for count, text in ((self.barriers, "  scratch %%b : barrier[%d]"),
                            (self.mbarriers, "  scratch %%r : mbarrier[%d]"),
                            (self.semaphores, "  scratch %%u : semaphore[%d] global")):
            if count:
                out.append(text % count)
        return "\n".join(out + self.start() + self.bodies() + ["}", ""])

    def start(self):
        """SMEM has values, which every actor may touch by either proxy."""
        inits = ["  mbarrier_init %%r[%d], 1" % i for i in range(self.mbarriers)]
        writes = ["store %s, (broadcast 1.0 : f32[2, 64])"]
        objects = []
        if self.uses_wgmma:
            objects = ["  scratch %a : smem f16[2, 64, 64] tile(8, 64) swizzle(128)",
                       "  scratch %acc : acc f32[64, 64]"]
            writes.append("store %a, (broadcast 1.0 : f16[2, 64, 64])")
        if self.is_started_with_fence:
            writes.append("commit_smem")
        if self.kind != "threads":
            meets = ["  cluster_barrier"] if self.kind == "cluster" else []
            return objects + inits + ["  " + w for w in writes] + meets
        return objects + ["  if (eq (axis_index wg), 0) {"] + ["    " + w for w in writes] + ["  }", "  block_barrier"]

    def bodies(self):
        if self.kind == "line":
            return ["  " + text for text in self.lines[0]]
        if self.kind == "partitions":
            out = []
            for actor, lines in enumerate(self.lines):
                out += ["  warp_specialize {" if actor == 0 else "  } partition {"] + ["    " + text for text in lines]
            return out + ["  }"]
        axis = "wg" if self.kind == "threads" else "g"
        out = []
        for actor, lines in enumerate(self.lines):
            out += ["  if (eq (axis_index %s), %d) {" % (axis, actor)] + ["    " + t for t in lines] + ["  }"]
        return out


def give_another_name(text, seed, name, line, other):
    """In some kernels the bytes of an array have another name, and any access may use it: nothing else changes."""
    draw = random.Random("%d names" % seed)
    at = text.find(line)
    if at < 0 or draw.randrange(4):
        return text
    end = text.index("\n", at) + 1
    alias = text[at:end].replace(name + " ", other + " ").replace("\n", f" alias({name})\n")
    return text[:end] + alias + re.sub(name + r"\b", lambda it: draw.choice((it.group(), other)), text[end:])


def make_table(text, seed):
    """In some kernels barriers are those of a table with two rows, each in one of the rows: nothing else changes."""
    draw = random.Random("%d tables" % seed)
    for name in re.findall(r"  scratch (%\w+) : m?barrier\[\d+\]", text):
        uses = re.findall(re.escape(name) + r"\b(?:\[(\d+)\])?", text)[1:]
        if not uses or "" in uses or draw.randrange(4):
            continue
        rows = {use: draw.randrange(2) for use in sorted(set(uses))}
        head, declared, rest = text.partition("  scratch %s : " % name)
        declaration, end, body = rest.partition("\n")
        body = re.sub(re.escape(name) + r"\[(\d+)\]",
                      lambda it, name=name, rows=rows: "%s[%d%s%s]" % (name, rows[it.group(1)],
                                                                       draw.choice((", ", "][")), it.group(1)), body)
        text = head + declared + declaration.replace("barrier[", "barrier[2, ") + end + body
    return text


def draw(kind, seed):
    if kind in OTHERS:
        return give_another_name(OTHERS[kind](seed).text(), seed, "%t", "  scratch %t : tmem ", "%also")
    drawer = draw_sync.KINDS[kind](seed) if kind in draw_sync.KINDS else Drawer(kind, seed)
    return make_table(give_another_name(drawer.text(), seed, "%s", "  scratch %s : ", "%too"), seed)
