/*
 * semaphore.h - counting semaphores: signals in a queue, each with the clocks it released, and
 * waits that take the oldest units.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_SEMAPHORE_H
#define GROUT_INTERP_SEMAPHORE_H

#include "machine.h"

#define GROUT_SEMAPHORE_UNITS_MAX INT32_MAX

/* Which semaphore: its number in the plan, and the CTA that has it (any, if it is global). */
typedef struct grout_semaphore_key {
    uint32_t element;
    uint32_t cta;
} grout_semaphore_key;

/* What a signal or wait is about. */
typedef struct grout_semaphore_op {
    grout_semaphore_key key;
    uint32_t units;
    bool no_decrement;
    uint8_t order, scope; /* grout_choice, written or not: never NONE */
} grout_semaphore_op;

void grout_semaphore__begin(grout_machine *machine);
uint32_t grout_semaphore__get_units(const grout_machine *machine, grout_semaphore_key key);
/* Whether a wait would go on. */
bool grout_semaphore__has(const grout_machine *machine, const grout_semaphore_op *op);
/* Adds units and wakes the actors that wait for them; a fault if they are too many to count. */
void grout_semaphore__signal(const grout_cta *cta, uint32_t actor, const grout_inst *inst,
                             const grout_semaphore_op *op);
/* Takes or looks at units that are there. */
void grout_semaphore__take(const grout_cta *cta, uint32_t actor, const grout_inst *inst,
                           const grout_semaphore_op *op);
/* The current state of a semaphore; all zero if it has not been used. */
grout_semaphore_fact grout_semaphore__get_fact(const grout_machine *machine,
                                               grout_semaphore_key key);

/* The CTA ends, or (objects: of a scope) some of its semaphores; the launch ends for global ones:
 * a fault for each that is not zero, then they are gone. */
void grout_semaphore__end_cta(grout_machine *machine, uint32_t cta);
void grout_semaphore__end_scope(grout_machine *machine, uint32_t cta,
                                const grout_object_id *objects, uint32_t count);
void grout_semaphore__end_launch(grout_machine *machine);
/* Appends the semaphores of a CTA, or (UINT32_MAX) the global ones, to
 * machine->scratch[GROUT_SCRATCH_SEMAPHORE_FACTS]; false without memory. */
bool grout_semaphore__add_facts(grout_machine *machine, uint32_t cta);
/* Where one is among them; UINT32_MAX: nowhere. */
uint32_t grout_semaphore__find_fact(const grout_machine *machine, grout_semaphore_key key);
uint64_t grout_semaphore__hash(const grout_machine *machine, uint64_t hash);

#endif
