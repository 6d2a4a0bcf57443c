"""Kernels around the phases of one barrier, of which it is known who overruns it and who comes too late.

SPDX-License-Identifier: Apache-2.0
"""
from graphs import Event
from oracle import reach


def draw_phases(kernel):
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
    kernel.is_right = not kernel.expected
