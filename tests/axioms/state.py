"""A moment of an execution: where the actors are, what each synchronising object holds, and every access so far.

SPDX-License-Identifier: Apache-2.0
"""
import collections

from order import NOTHING

# A barrier in SMEM. releases: (scope, CTA, Know) of the arrivals of the newest complete phase,
# open_releases of the open one; time and seen: what arrivals hand on through relaxed edges and by observation; here:
# what those of its own CTA do, and engines.
Barrier = collections.namedtuple(
    "Barrier",
    "is_alive count pending bytes phases releases time seen here open_releases open_time open_seen open_here")
# A location of atomics or a semaphore: the read-modify-writes so far as one chain of observation.
# here: pairs of a CTA, and what its operations hand on to each other.
Cell = collections.namedtuple("Cell", "value total chain last time seen here", defaults=(frozenset(),))
# A barrier where threads meet: those of the open round, and what each complete round hands on: to all, and within a
# CTA (here, as of a cell).
Meeting = collections.namedtuple("Meeting", "arrived open rounds here", defaults=(frozenset(),))

FRESH = Barrier(False, 0, 0, 0, 0, frozenset(), 0, 0, 0, frozenset(), 0, 0, 0)
EMPTY_CELL = Cell(0, 0, frozenset(), None, 0, 0)
EMPTY_MEETING = Meeting(frozenset(), NOTHING, ())


class Actor:
    """A thread, a partition or a warp: key = (CTA, thread, warp); warp is -1 outside warp_map, -2 in a partition."""

    __slots__ = ("key", "pc", "env", "know", "waits", "spins", "status", "parent", "trace", "round", "stage",
                 "tensor", "tensor_seen")

    def __init__(self, key, pc, env, know, parent=None):
        self.key, self.pc, self.env, self.know, self.parent = key, pc, env, know, parent
        self.waits = {}  # barrier: phases it has waited for
        self.spins = {}  # instruction of a loop that polls: what it gave last
        self.status = "runs"  # "joins", "ended"
        self.trace = hash(key)  # represents all that it has done
        self.round = {}  # meeting: the round in which it came
        self.stage = 0  # of an instruction with two steps
        self.tensor = self.tensor_seen = 0  # what it knows of tensor memory, see tensor.py

    def copy(self):
        other = Actor.__new__(Actor)
        for name in Actor.__slots__:
            setattr(other, name, getattr(self, name))
        other.env, other.waits, other.spins = dict(self.env), dict(self.waits), dict(self.spins)
        other.round = dict(self.round)
        return other

    @property
    def cta(self):
        return self.key[0]

    @property
    def lane(self):
        """Who keeps its groups: a thread issues by the lane of its warp 0."""
        return (self.key[0], self.key[1], max(self.key[2], 0))


class State:
    """Copied at each step of the search; what is inside the dictionaries never changes."""

    def __init__(self):
        self.actors, self.counts = {}, {}
        self.barriers, self.cells, self.meetings = {}, {}, {}
        self.groups = {}  # (mechanism, lane): (closed groups, open group)
        self.pending = frozenset()  # ends of asynchronous operations that a barrier hears of
        self.accesses, self.fences = (), ()
        self.seals = ()  # (bit, what it covers) of fences before a synchronisation, see tensor.py
        self.memory = {}
        self.triggers = {}  # CTA: whose launch_dependents was its first, and what it released
        self.ended = frozenset()  # CTAs

    def copy(self):
        other = State.__new__(State)
        for name, value in self.__dict__.items():
            setattr(other, name, dict(value) if isinstance(value, dict) else value)
        other.actors = {key: actor.copy() for key, actor in self.actors.items()}
        return other

    def key(self):
        """Two moments with one key have the same future."""
        return (tuple(sorted((k, a.pc, a.trace, a.stage, a.status, tuple(sorted(a.spins.items())))
                             for k, a in self.actors.items())),
                frozenset(self.barriers.items()), frozenset(self.cells.items()), frozenset(self.meetings.items()),
                self.pending, self.ended, frozenset(self.triggers.items()))
