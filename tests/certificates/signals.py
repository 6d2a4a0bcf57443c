"""How some actors tell others that a round is done: the two halves of a handover.

A Signal has senders and receivers. In round i a sender notifies; a receiver waits for it in round i
(a slot is full), or slots rounds later (a slot is free again, and in the first rounds it always was).

SPDX-License-Identifier: Apache-2.0
"""
import typing

from kernel import add, mod, parity


class Signal:
    declare: typing.Any  # a function of its heirs

    def __init__(self, kernel, world, senders, receivers, slots, rounds, is_late):
        self.kernel, self.world = kernel, world
        self.senders, self.receivers = senders, receivers
        self.slots, self.rounds = slots, rounds
        self.is_late = is_late  # waited for slots rounds later
        self.declare()

    def notify(self, i, sender):
        raise NotImplementedError

    def await_round(self, i, receiver):
        """Waits for what the senders did in round i."""
        raise NotImplementedError

    def wait(self, i, receiver):
        if not self.is_late:
            self.await_round(i, receiver)
        elif not isinstance(i, int):
            if self.slots < self.rounds:
                self.kernel.emit(f"if (ge {i}, {self.slots}) {{")
                self.await_round(add(i, -self.slots), receiver)
                self.kernel.emit("}")
        elif i >= self.slots:
            self.await_round(i - self.slots, receiver)

    def drain(self, receiver):
        """After the last round: what has not been waited for."""
        for i in range(max(0, self.rounds - self.slots), self.rounds) if self.is_late else ():
            self.await_round(i, receiver)


def refer_far(signal, i, sender, cta):
    """The element of round i: the own one, or to the sender that of the CTA with this number."""
    name, world = signal.name, signal.world
    if cta is not None and (cta != world.get_cta(sender) or signal.kernel.draw.random() < 0.2) and world.cluster > 1:
        name = world.refer(name, cta % world.cluster)
    return f"{name}[{mod(i, signal.slots)}]"


class Barrier(Signal):
    """barrier_arrive and barrier_wait, on barriers in the CTAs of the receivers; all in one cluster."""

    def declare(self):
        arrivals = "" if len(self.senders) == 1 else f" arrivals({len(self.senders)})"
        self.name = self.kernel.add_object("b", f"barrier[{self.slots}]{arrivals}")

    def refer(self, i, sender=None, cta=None):
        return refer_far(self, i, sender, cta)

    def notify(self, i, sender):
        for cta in sorted({self.world.get_cta(r) for r in self.receivers}):
            self.kernel.emit(f"barrier_arrive {self.refer(i, sender, cta)}")

    def await_round(self, i, receiver):
        self.kernel.emit(f"barrier_wait {self.refer(i)}")


class Mbarrier(Signal):
    """mbarriers in the CTAs of the receivers; all in one cluster."""

    def declare(self):
        self.name = self.kernel.add_mbarrier(len(self.senders), self.slots)

    def refer(self, i, sender=None, cta=None):
        return refer_far(self, i, sender, cta)

    def notify(self, i, sender):
        for cta in sorted({self.world.get_cta(r) for r in self.receivers}):
            self.kernel.emit(f"mbarrier_arrive {self.refer(i, sender, cta)}")

    def await_round(self, i, receiver):
        self.kernel.emit(f"mbarrier_wait {self.refer(i)}, {parity(i, self.slots)}")

    def wait(self, i, receiver):
        before = 1 if self.is_late else 0
        self.kernel.emit(f"mbarrier_wait {self.refer(i)}, {parity(i, self.slots, before)}")

    def drain(self, receiver):
        if self.kernel.draw.random() < 0.3:
            super().drain(receiver)


class Semaphore(Signal):
    """One semaphore for each pair; anywhere."""

    def declare(self):
        is_here = len({self.world.get_cta(a) for a in self.senders + self.receivers}) == 1
        pairs = len(self.senders) * len(self.receivers)
        is_global = not is_here or self.kernel.draw.random() < 0.5
        self.name = self.kernel.add_object("u", f"semaphore[{pairs}]{' global' if is_global else ''}")
        self.units = self.kernel.draw.choice((1, 1, 2))

    def refer(self, sender, receiver):
        return f"{self.name}[{self.senders.index(sender) * len(self.receivers) + self.receivers.index(receiver)}]"

    def notify(self, i, sender):
        for receiver in self.receivers:
            self.kernel.emit(f"semaphore_signal {self.refer(sender, receiver)}, {self.units}")

    def await_round(self, i, receiver):
        for sender in self.senders:
            self.kernel.emit(f"semaphore_wait {self.refer(sender, receiver)}, {self.units}")


class Named(Signal):
    """named_barrier_arrive and named_barrier_sync, one for each slot; rounds are written one by one."""

    def declare(self):
        self.first = self.kernel.add_named(self.slots)
        self.count = len(self.senders) + len(self.receivers)

    def notify(self, i, sender):
        self.kernel.emit(f"named_barrier_arrive {self.first + int(mod(i, self.slots))}, {self.count}")

    def await_round(self, i, receiver):
        self.kernel.emit(f"named_barrier_sync {self.first + int(mod(i, self.slots))}, {self.count}")


class Flag(Signal):
    """A counter for each sender, added to with release and polled with acquire; anywhere."""

    def declare(self):
        self.name = self.kernel.add_flags(self.kernel.name_value("flag")[1:] + "_", len(self.senders))
        self.kernel.is_certain = False

    def notify(self, i, sender):
        old = self.kernel.name_value("old")
        self.kernel.emit(f"{old} = atomic_fetch_add {self.name}[{self.senders.index(sender)}], 1 order(release)",
                         f"store {self.kernel.get_junk(self.world.count)}[{sender}], {old}")

    def await_round(self, i, receiver):
        for sender in range(len(self.senders)):
            now = self.kernel.name_value("now")
            self.kernel.emit("while {", f"{now} = atomic_fetch_add {self.name}[{sender}], 0 order(acquire)",
                             f"cond (lt {now}, {add(i, 1)})", "} do {", "}")


def choose_signal(kernel, world, senders, receivers, slots, rounds, is_late, is_loop, allowed=None):
    """A signal of any kind that can stand here."""
    actors = senders + receivers
    kinds = [Semaphore, Semaphore] + ([Flag] if kernel.draw.random() < 0.1 else [])
    if len({world.get_cta(a) for a in actors}) == 1:
        kinds += [Barrier, Barrier, Mbarrier, Mbarrier, Mbarrier]
        # Two who sync would wait for each other too.
        if kernel.named + slots <= 7 and (slots == 1 or not is_loop) and len(receivers) == 1:
            kinds += [Named, Named]
    elif len({world.get_cluster(a) for a in actors}) == 1:
        kinds += [Barrier] * 2 + [Mbarrier] * 3
    if allowed is not None:
        kinds = [k for k in kinds if k in allowed]
    return kernel.draw.choice(kinds)(kernel, world, senders, receivers, slots, rounds, is_late)
