"""What an event knows of the events before it, and the rules by which two accesses are in order.

An event is a bit: each instruction has three, one for itself, one for 'what it started has read', one for 'what it
started has written'. The order is kept as sets of bits, one set for each relation:

  causality   base causality order (PTX ISA, Causality Order): program order and 'synchronizes', closed
  time        the same, with edges that are relaxed or out of scope as well: what has happened, not what is visible
  here        time, but of these edges only those within a CTA
  observed    causality, and in front of it one step of observation order (Causality Order, second way)

The end of an asynchronous operation is an event whose past is empty: it is in order with the operation's own accesses
and not with what its thread did before (PTX ISA, Asynchronous Operations).

SPDX-License-Identifier: Apache-2.0
"""
import collections

Know = collections.namedtuple("Know", "causality time observed here")
NOTHING = Know(0, 0, 0, 0)
SCOPES = {"cta": 1, "cluster": 2, "gpu": 3, "sys": 4}


def join(a, b):
    return Know(a.causality | b.causality, a.time | b.time, a.observed | b.observed, a.here | b.here)


def bits(these):
    return Know(these, these, these, these)


def only_time(know, is_same_cta):
    """What a relaxed edge hands on, within a CTA or to another one."""
    return Know(0, know.time, 0, know.here if is_same_cta else 0)


# One access to memory. 'bit' is what has to be known for it to be over; issue: what was known when it began.
# mode: "r", "w", "a" (atomic, with a scope), "end" (the memory goes away). tensor: what its issuer knew of tensor
# memory; seen: of that, what edges have brought that are in 'here'.
Access = collections.namedtuple("Access",
                                "place mask mode proxy scope cta thread bit know is_async line owner shape tensor seen",
                                defaults=(0, 0))
# A proxy fence: for which memory ("gmem", "smem"; "map": of the tensormap proxy, whose 'ctas' are a place and a mask),
# executed in which CTA, for the SMEM of which CTAs (None: all), its
# bit, what it knew, and in whose program order it is.
Fence = collections.namedtuple("Fence", "space cta ctas bit know thread")


def reaches(scope, cta, other, cluster):
    """Whether a scope, of an operation of one CTA, includes the threads of another."""
    return {1: cta == other, 2: cta // cluster == other // cluster}.get(scope, True)


def is_strong_pair(a, b, cluster):
    """Morally strong, of two (scope, CTA)."""
    return reaches(a[0], a[1], b[1], cluster) and reaches(b[0], b[1], a[1], cluster)


def is_conflict(x, y):
    return x.place == y.place and x.mask & y.mask and not (x.mode == "r" and y.mode == "r")


def is_race_free_atomic(x, y, cluster):
    """Atomics that are morally strong: in each other's scope, by one proxy (PTX ISA, Morally strong operations)."""
    is_same = x.proxy == y.proxy or x.place[0] == "barrier"  # it is one object for all that arrive
    return x.mode == "a" and y.mode == "a" and is_same and is_strong_pair(
        (x.scope, x.cta), (y.scope, y.cta), cluster)


def find_fences(x, y, fences):
    """The proxy fences for the memory of y that lie on the way to the start of y."""
    return [f for f in fences if f.space == y.place[0] and (f.ctas is None or y.owner in f.ctas)
            and y.know.causality & f.bit]


def has_fence(x, y, fences, relation="causality"):
    """Whether one of them comes after x. In global memory it has to be one of the CTA that starts y: a proxy fence
    takes effect in the thread block that executes it."""
    return any(getattr(f.know, relation) & x.bit and (f.space == "smem" or f.cta == y.cta)
               for f in find_fences(x, y, fences))


def is_before(x, y):
    """x before y in base causality order (or by observation, for what is atomic)."""
    known = y.know.observed if x.mode == "a" else y.know.causality
    return bool(known & x.bit)


def is_performed_alike(x, y):
    """Same proxy, same thread block (PTX ISA, Proxy-preserved base causality order). What is done to SMEM is done in
    the CTA that owns it, whichever CTA started it."""
    return x.proxy == y.proxy and (x.proxy == "generic" or x.owner is not None or x.cta == y.cta)


def needs_fence(x, y):
    """Completion of an asynchronous operation brings an implicit fence towards the generic proxy."""
    return y.proxy == "async" and not is_performed_alike(x, y)


def is_acquired(x, y, fences):
    """Whether the thread that goes by a tensor map has acquired it after x (PTX ISA, fence.proxy.tensormap: it orders
    what was done to these bytes by the generic proxy before what the tensormap proxy does later)."""
    return any(f.space == "map" and f.ctas[0] == x.place and f.ctas[1] & x.mask and f.cta == y.cta
               and y.know.causality & f.bit and f.know.causality & x.bit for f in fences)


def is_ordered(x, y, fences):
    if y.proxy == "tensormap" and x.proxy == "generic":
        return is_before(x, y) and (x.mode == "r" or is_acquired(x, y, fences))
    return is_before(x, y) and (not needs_fence(x, y) or has_fence(x, y, fences))


# The rulings of docs/memory_model.md by which grout takes accesses for ordered that PTX's words do not order.

def is_over_in_time(x):
    """Whether that x is over is a fact about one place, which an edge in time carries."""
    return x.is_async and (x.mode == "r" or x.place[0] != "gmem") or x.place[0] == "barrier"


def looks(y):
    """Whether an access looks at what is there."""
    return y.mode in ("r", "a")


def is_known_in_time(x, y, fences):
    """Whether y knows x to be over, as far as it has to: what an engine has written, and y looks at, has to be seen. An
    edge between CTAs shows it only if its scopes hold both."""
    relation = "here" if x.mode != "r" and x.place[0] == "smem" and looks(y) else "time"
    return getattr(y.know, relation) & x.bit and (not needs_fence(x, y) or has_fence(x, y, fences, relation))


def hears_of_end(x, y, fences):
    """Whether y knows in time that the grid of x has ended."""
    return any(f.thread == ("grids",) and f.know.time & x.bit and y.know.time & f.bit for f in fences)


def find_ruling(x, y, fences, cluster):
    """The ruling by which two accesses are in order after all, or None."""
    if x.place[0] == "barrier" and x.proxy == "tensor" and y.mode == "end" and x.cta == x.owner:
        return "drained"
    if is_over_in_time(x) and is_known_in_time(x, y, fences):
        return "time"
    if x.thread[0] == "launch" and hears_of_end(x, y, fences):
        return "grid"
    if x.place[0] == "gmem" and x.mode == "r" and (is_before(x, y) or x.is_async and y.know.time & x.bit):
        return "gmem-read"
    return None
