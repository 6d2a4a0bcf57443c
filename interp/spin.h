/*
 * spin.h - actors that look for something that never comes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_SPIN_H
#define GROUT_INTERP_SPIN_H

#include "machine.h"

/* An actor has looked, by an op that changed nothing: a load, a test, an atomic that left its
 * element as it was. To be told of each while nothing else happens. */
void grout_spin__note(grout_machine *machine, uint32_t thread, const grout_inst *inst);

/* Wakes those that go round. */
void grout_spin__wake(grout_machine *machine);

/* Something has happened. */
static inline void grout_spin__reset(grout_machine *machine) {
    machine->run.polls = 0;
    machine->spin.looks = 0;
    machine->spin.compares = 0;
    if (machine->spin.has_parked) {
        grout_spin__wake(machine);
    }
}

/* Before a look: whether its actor goes round until something happens, and is blocked in it. */
static inline bool grout_spin__stops(grout_machine *machine, uint32_t thread) {
    grout_thread *own = grout_machine__thread(machine, thread);
    if (own->is_spinning) {
        (void)grout_machine__block(machine, thread, GROUT_THREAD_BLOCKED_SPIN, 0, 0);
    }
    return own->is_spinning != 0;
}

/*
 * A test has been false. Whether its actor blocks on what it asks for: because it goes round, or
 * has tested so often in a row, with nothing else done by anybody, that this is what it looks like.
 */
#define GROUT_POLLS_MAX 100000u
static inline bool grout_spin__gives_up(grout_machine *machine, uint32_t thread) {
    grout_thread *own = grout_machine__thread(machine, thread);
    if (++machine->run.polls > GROUT_POLLS_MAX) {
        own->is_spinning = 1;
        machine->spin.has_parked = true;
    }
    return own->is_spinning != 0;
}

#endif
