/*
 * flying.h - the flights of a CTA by what they read and write, and by the op that issued them,
 * where a walk through all of them takes long.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * It follows from the list of the CTA (flight.h): a snapshot does not have it. An index has the
 * first flights of the list, up to the one that was the last at its latest search; a search first
 * adds the rest.
 */
#ifndef GROUT_INTERP_FLYING_H
#define GROUT_INTERP_FLYING_H

#include "areas.h"
#include "flight.h"

/* With fewer flights in the CTA, a walk is faster. */
enum { GROUT_FLYING_MIN = 64 };
/* A copy is a member of 'sides' for what it reads, and another one for what it writes. */
enum { GROUT_FLYING_SIDES = 2 };

typedef struct grout_flying_index {
    grout_areas areas;
    uint32_t last; /* flight of the list up to which all have been looked at; 0: none has */
} grout_flying_index;

typedef struct grout_flying {
    grout_flying_index sides; /* of TMA copies: tma_order.c */
    grout_flying_index ops;   /* of all flights, each the member of its number: scope_flights.c */
    bool is_off;              /* there was no memory for them: they are not tried again */
} grout_flying;

static inline uint32_t grout_flying__get_member(uint32_t flight, uint32_t side) {
    return flight * GROUT_FLYING_SIDES + side;
}
static inline uint32_t grout_flying__get_flight(uint32_t member) {
    return member / GROUT_FLYING_SIDES;
}

/* That of a CTA; NULL: it has few flights, or there is no memory. */
grout_flying *grout_flying__find(const grout_cta *cta);
/* The first flight of the CTA's list that an index has not looked at; 0: none. */
uint32_t grout_flying__get_first_new(const grout_cta *cta, const grout_flying_index *index);
/* There is no memory for it: it is empty from now on, and not found. */
void grout_flying__turn_off(grout_flying *flying);
/* A flight leaves the list of the CTA; asked before it does. */
void grout_flying__remove(const grout_cta *cta, uint32_t index);
/* The flights of all CTAs have become others. */
void grout_flying__forget(grout_machine *machine);
void grout_flying__free(grout_machine *machine);

#endif
