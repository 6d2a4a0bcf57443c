/*
 * barrier.h - mbarriers: arrivals, bytes, phases, and the clocks that travel with them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_BARRIER_H
#define GROUT_INTERP_BARRIER_H

#include "machine.h"

/* Hardware keeps 20 bits of bytes due (PTX ISA 9.1, 'Tx-count of mbarrier object'). */
#define GROUT_PHASE_BYTES_MAX ((1 << 20) - 1)

/* Arrivals of one op on one element. */
typedef struct grout_arrival {
    uint32_t element;
    uint32_t count;
    bool by_copy;
    int64_t bytes; /* of a copy */
} grout_arrival;

static inline uint32_t grout_barrier__get_arrivals(const grout_machine *machine, uint32_t element) {
    return machine->plan->elements[element].arrivals;
}
/* The phase that the next arrival belongs to. */
static inline uint32_t grout_barrier__get_phase(const grout_machine *machine, uint32_t element) {
    return (uint32_t)(grout_machine__barrier(machine, element)->arrived /
                      grout_barrier__get_arrivals(machine, element));
}
/* All arrivals of the phase are in: its bytes alone may be missing, and those an engine can bring.
 */
static inline bool grout_barrier__is_full(const grout_machine *machine, uint32_t element,
                                          uint32_t phase) {
    return grout_machine__barrier(machine, element)->arrived >=
           ((uint64_t)phase + 1) * grout_barrier__get_arrivals(machine, element);
}

grout_barrier_fact grout_barrier__get_fact(const grout_machine *machine, uint32_t element);
/* A thread arrives. Returns the record of the phase (valid until it completes), 0 without memory.
 */
uint32_t grout_barrier__arrive(grout_machine *machine, uint32_t thread, const grout_inst *inst,
                               const grout_arrival *arrival);
/* Bytes announced by arrivals have landed. */
void grout_barrier__land(grout_machine *machine, uint32_t element, uint32_t record, int64_t bytes);
/* The thread has waited for a phase that is complete: event, then acquire. */
void grout_barrier__observe(grout_machine *machine, uint32_t thread, const grout_inst *inst,
                            uint32_t element);
/* A new life of the element. */
void grout_barrier__reset(grout_machine *machine, uint32_t element);

#endif
