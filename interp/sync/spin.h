/*
 * spin.h - actors that look again and again for what has not come.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_SPIN_H
#define GROUT_INTERP_SPIN_H

#include "machine.h"

#include <string.h>

/* Something that others can see has happened: actors that go round are let out at the next choice.
 */
static inline void grout_spin__change(grout_machine *machine) {
    machine->run.spin.changes++;
    machine->run.spin.hands += machine->run.spin.changer != machine->run.facts.current;
    machine->run.spin.changer = machine->run.facts.current;
    machine->run.spin.polls = 0;
}

/* An actor has looked, by an op that changed nothing: a load, a test, an atomic that left its
 * element as it was. */
void grout_spin__note(const grout_cta *cta, uint32_t actor, const grout_inst *inst);

/*
 * Before a look, in a run whose decisions are recorded or replayed: whether its actor has looked
 * here before, with the same values, and has changed nothing since. It has then gone round for
 * nothing. The events of the look say so. read: what it will find, of this size; 0 if that decides
 * nothing but whether the loop goes on.
 */
bool grout_spin__begin_look(const grout_cta *cta, uint32_t actor, const grout_inst *inst,
                            const void *read, size_t size);
static inline void grout_spin__forget_looks(grout_thread *thread) {
    if (thread->looked[0] != 0) {
        memset(thread->looked, 0, sizeof thread->looked);
    }
}

/* Under pct: an actor has come to the end of a turn of a while, and to a scheduling point. It is
 * lowered if it goes round. */
void grout_spin__note_turn(const grout_cta *cta, uint32_t actor, const grout_inst *inst);
void grout_spin__note_point(const grout_cta *cta, uint32_t actor, const grout_inst *inst);

/* Lets out those that went round. */
void grout_spin__wake(grout_machine *machine);
/* If something has happened since they did. Before each choice. */
static inline void grout_spin__let_out(grout_machine *machine) {
    if (machine->run.spin.has_parked && machine->run.spin.parked_at != machine->run.spin.changes) {
        grout_spin__wake(machine);
    }
}

/* Before a look: whether its actor goes round until something happens, and is blocked in it. */
static inline bool grout_spin__stops(const grout_cta *cta, uint32_t actor) {
    grout_thread *own = grout_cta__thread(cta, actor);
    if (own->is_spinning) {
        (void)grout_cta__block(cta, actor, GROUT_THREAD_BLOCKED_SPIN, 0, 0);
    }
    return own->is_spinning != 0;
}

/* The same on the way back of a while: it is blocked there if it has made a turn without a look. */
static inline bool grout_spin__stops_turn(const grout_cta *cta, uint32_t actor) {
    grout_thread *own = grout_cta__thread(cta, actor);
    if (own->is_spinning == 1) {
        own->is_spinning = 2;
        return false;
    }
    return grout_spin__stops(cta, actor);
}

/*
 * A test has been false. Returns whether its actor blocks on what it asks for: it goes round, or it
 * seems to, because it has tested so often in a row while no actor did anything else.
 */
#define GROUT_POLLS_MAX 100000u
bool grout_spin__gives_up(const grout_cta *cta, uint32_t actor);

#endif
