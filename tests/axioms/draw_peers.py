"""Draws kernels in which engines fill the SMEM of two CTAs, and what they have written goes from thread to thread,
within the CTA and to the other one, by every form of edge: somebody looks at it, or fills it again.

SPDX-License-Identifier: Apache-2.0
"""
import random

from draw_sync import PARAMS, Drawn

WORDS = ("", "", " order(relaxed)", " scope(cta)", " scope(cluster)")
THREADS = 2  # of a CTA


class Peers(Drawn):
    """A tile of two halves in each of two CTAs, and what each thread does with them, one after another."""

    def __init__(self, seed):
        super().__init__("peers", seed, 2 * THREADS)
        self.fulls = self.signals = 0
        self.again = random.Random("again %d" % seed)
        for _ in range(self.draw.randint(1, 2)):
            self.relay()
        for _ in range(self.draw.randint(0, 2)):
            self.draw.choice((self.fill, self.hand_over, self.use))()
        self.spoil(0.15, ("arrive", "wait %", "signal", "cluster", "copy_gmem", "semaphore"))

    def actor(self, cta=None):
        return self.draw.choice([a for a in range(self.actors) if cta in (None, a // THREADS)])

    def full(self):
        self.fulls += 1
        return "%%f[%d]" % (self.fulls - 1)

    # ---- engines ---------------------------------------------------------------------------------------

    def relay(self):
        """A half is filled, one thread after another hears of it, and the last one uses it."""
        half, fulls = self.half(), self.fulls
        knows = self.fill(half)
        cta = knows // THREADS
        for _ in range(self.pick(1, 1, 2, 3)):
            other = self.draw.choice([a for a in range(self.actors) if a != knows])
            self.hand_over(knows, other)
            knows = other
        peer = "" if cta == knows // THREADS else ".cluster(%d)" % cta
        if self.fulls > fulls and self.again.random() < 0.3:  # the next phase of the barrier that counted the bytes
            self.lines[knows].append("barrier_arrive %%f%s[%d]" % (peer, fulls))
        self.lines[knows] += self.pick((), (), ("commit_smem",), ("commit_smem cluster",))
        self.lines[knows].append(self.say_use(peer, half))

    def fill(self, half=None):
        """Returns a thread that has waited for it, of the CTA whose half it is."""
        half = self.half() if half is None else half
        return self.draw.choice((self.load, self.load, self.copy, self.copy_counted,
                                 self.store_to_peer))(self.actor(), half)

    def wait(self, actor, barrier):
        """By the thread itself, by the other one of its CTA, or by both."""
        both = {actor, self.actor(actor // THREADS)}
        waits = sorted(both if self.chance(0.7) else {self.actor(actor // THREADS)})
        for each in waits:
            self.lines[each].append("barrier_wait %s%s" % (barrier, self.pick("", "", "", " order(relaxed)")))
        return waits[-1]

    def load(self, actor, half):
        barrier = self.full()
        self.lines[actor].append("copy_gmem_to_smem %%x[%d], %%s[%d], %s" % (half, half, barrier))
        return self.wait(actor, barrier)

    def copy(self, actor, half):
        self.lines[actor] += ["async_copy %%x[%d], %%s[%d]" % (half, half), "async_copy_commit_group",
                              "async_copy_wait 0"]
        return actor

    def copy_counted(self, actor, half):
        barrier = self.full()
        self.lines[actor] += ["async_copy %%x[%d], %%s[%d]" % (half, half),
                              "async_copy_arrive %s%s" % (barrier, self.pick("", " order(relaxed)"))]
        return self.wait(actor, barrier)

    def store_to_peer(self, actor, half):
        """The arrival is the receiver's own, so that its phase is not over before."""
        barrier, other = self.full(), 1 - actor // THREADS
        waits = self.actor(other)
        self.lines[actor].append("async_store_smem (broadcast 5.0 : f32[64]), %%s.cluster(%d)[%d], %s" % (
            other, half, barrier))
        self.lines[actor].append("barrier_arrive %s.cluster(%d)[%s" % (barrier.split("[")[0], other,
                                                                       barrier.split("[")[1]))
        self.lines[waits].append("barrier_wait %s" % barrier)
        return waits

    # ---- edges ----------------------------------------------------------------------------------------

    def hand_over(self, one=None, other=None):
        one = self.actor() if one is None else one
        other = self.draw.choice([a for a in range(self.actors) if a != one]) if other is None else other
        way = self.draw.randrange(8)
        if way == 0:
            for each in range(self.actors):
                self.lines[each].append("cluster_arrive%s" % self.pick("", " order(relaxed)"))
            for each in range(self.actors):
                self.lines[each].append("cluster_wait%s" % self.pick("", "", " order(relaxed)"))
        elif way == 1:
            self.signals += 1
            self.lines[one].append("semaphore_signal %%q[%d], 1%s" % (self.signals - 1, self.draw.choice(WORDS)))
            self.lines[other].append("semaphore_wait %%q[%d], 1%s" % (self.signals - 1, self.draw.choice(WORDS)))
        else:
            self.arrive(one, other)

    def arrive(self, one, other):
        self.barriers += 1
        number, cta = self.barriers - 1, other // THREADS
        peer = "" if one // THREADS == cta else ".cluster(%d)" % cta
        self.lines[one].append("barrier_arrive %%b%s[%d]%s" % (peer, number, self.draw.choice(WORDS)))
        self.lines[other].append("barrier_wait %%b[%d]%s" % (number, self.draw.choice(WORDS)))

    # ---- uses -----------------------------------------------------------------------------------------

    def say_use(self, peer, half):
        """Mostly a look."""
        if self.chance(0.8):
            return "store %s, (load %%s%s[%d])" % (self.output(), peer, half)
        return "store %%s%s[%d], (broadcast 2.0 : f32[64])" % (peer, half)

    def use(self):
        actor, half = self.actor(), self.half()
        cta = actor // THREADS
        way = self.draw.randrange(7)
        if way < 3:
            self.lines[actor].append("store %s, (load %%s.cluster(%d)[%d])" % (self.output(), 1 - cta, half))
        elif way == 3:
            self.lines[actor].append("store %s, (load %%s[%d])" % (self.output(), half))
        elif way == 4:
            self.lines[actor].append(self.pick("commit_smem", "commit_smem cluster"))
        elif way == 5:
            self.lines[actor] += ["copy_smem_to_gmem %%s[%d], %s" % (half, self.output()),
                                  "wait_smem_to_gmem 0 read_only"]
        else:
            self.lines[actor].append("store %%s%s[%d], (broadcast 2.0 : f32[64])" % (
                self.pick("", ".cluster(%d)" % (1 - cta)), half))

    def text(self):
        head = "cluster(g = 2) threads(wg = %d) attr cluster_exit = sync" % THREADS
        out = [PARAMS % (max(self.outputs, 1), "", head), "{", "  scratch %s : smem f32[2, 64]"]
        for made, count in (("%%b : barrier[%d]", self.barriers), ("%%f : barrier[%d]", self.fulls),
                            ("%%q : semaphore[%d] global", self.signals)):
            out += ["  scratch " + made % count] if count else []
        for actor, lines in enumerate(self.lines):
            place = "and (eq (axis_index g), %d), (eq (axis_index wg), %d)" % divmod(actor, THREADS)
            out += ["  if (%s) {" % place] + ["    " + text for text in lines] + ["  }"]
        return "\n".join(out + ["}", ""])
