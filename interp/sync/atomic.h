/*
 * atomic.h - locations that atomics with an order have touched: what their releases handed over.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_ATOMIC_H
#define GROUT_INTERP_ATOMIC_H

#include "memory.h"

/* An element, by its bytes: an object of a CTA may have many names. In GMEM the array, UINT32_MAX
 * as owner, and the byte in the array; else 0, the CTA that has it, and the byte in the memory of
 * that CTA. */
typedef struct grout_location {
    grout_object_id object;
    uint32_t owner;
    int64_t offset;
    uint32_t bytes;
} grout_location;

/* How an op is ordered: as written, or by its default. */
typedef struct grout_sync {
    uint8_t order, scope; /* grout_choice, never NONE */
} grout_sync;

static inline bool grout_sync__releases(uint32_t order) {
    return order == GROUT_CHOICE_ORDER_RELEASE || order == GROUT_CHOICE_ORDER_ACQ_REL;
}
static inline bool grout_sync__acquires(uint32_t order) {
    return order == GROUT_CHOICE_ORDER_ACQUIRE || order == GROUT_CHOICE_ORDER_ACQ_REL;
}

void grout_atomic__begin(grout_machine *machine);
/* The one element of a box that lies inside. */
grout_location grout_atomic__get_location(const grout_cta *cta, const grout_box *box);
/* An atomic reads a location and acquires what earlier ones released, as far as orders and scopes
 * allow. */
void grout_atomic__acquire(const grout_cta *cta, uint32_t actor, const grout_location *location,
                           grout_sync sync);
/* An atomic has written it. Earlier releases stay: their sequence goes on. */
void grout_atomic__release(const grout_cta *cta, uint32_t actor, const grout_location *location,
                           grout_sync sync);
/* A plain store ends the sequences of all elements of a box. */
void grout_atomic__forget(const grout_cta *cta, const grout_box *box);
void grout_atomic__end_cta(grout_machine *machine, uint32_t cta);
void grout_atomic__end_scope(grout_machine *machine, uint32_t cta, const grout_object_id *objects,
                             uint32_t count);
uint64_t grout_atomic__hash(const grout_machine *machine, uint64_t hash);

#endif
