/*
 * origin.h - the place in the source that an origin names, and the order of places.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_RACE_CHECKER_ORIGIN_H
#define GROUT_RACE_CHECKER_ORIGIN_H

#include "grout-internal/events.h"
#include "grout-internal/ir.h"

/* The op's place in the source; 0 for op 0. */
grout_loc_id grout_origin__get_loc(const grout_module *module, const grout_origin *origin);
/* Order in the source: negative if a stands before b. */
int grout_loc__compare(const grout_module *module, grout_loc_id a, grout_loc_id b);
/* The object that an access was about: what its op's operand names; 0 if it names none. */
grout_object_id grout_origin__find_object(const grout_module *module, const grout_origin *origin);
/* Keeps the one that stands last (sign 1) or first (sign -1) in the source. */
void grout_origin__keep(const grout_module *module, grout_origin *kept, const grout_origin *other,
                        int sign);

static inline bool grout_origin__is_same_actor(const grout_origin *a, const grout_origin *b) {
    return a->cta == b->cta && a->thread == b->thread && a->warp == b->warp;
}

#endif
