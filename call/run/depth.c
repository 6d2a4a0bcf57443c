/* depth.c - counts what is in flight.
 * SPDX-License-Identifier: Apache-2.0 */
#include "depth.h"

/* A number of a table that is 1 at first. NULL without memory. */
static uint32_t *get(grout_lookup *lookup, uint64_t key) {
    uint32_t *number = grout_lookup__at(lookup, key);
    if (number != NULL && *number == 0) {
        *number = 1;
    }
    return number;
}

/* One more of an operation than there ever was. */
static bool add_to_sum(grout_depth *depth, uint32_t cta) {
    uint32_t *sum = get(&depth->sums, cta);
    if (sum == NULL) {
        return false;
    }
    ++*sum;
    depth->deepest = *sum - 1 > depth->deepest ? *sum - 1 : depth->deepest;
    return true;
}

static bool observe(void *self, const grout_event *event) {
    grout_depth *depth = self;
    const uint64_t key = (uint64_t)event->origin.cta << 32 | (uint64_t)event->origin.op;
    uint32_t *now = get(&depth->now, key), *most = get(&depth->most, key);
    if (now == NULL || most == NULL) {
        return false;
    }
    if (event->kind == GROUT_EVENT_COMPLETE) {
        *now -= *now > 1 ? 1 : 0;
        return true;
    }
    if (++*now <= *most) {
        return true;
    }
    *most = *now;
    return add_to_sum(depth, event->origin.cta);
}

void grout_depth__init(grout_depth *depth) {
    *depth = (grout_depth){.observer = {.self = depth,
                                        .interest = UINT64_C(1) << GROUT_EVENT_ISSUE |
                                                    UINT64_C(1) << GROUT_EVENT_COMPLETE,
                                        .event = observe}};
}

void grout_depth__deinit(grout_depth *depth) {
    grout_lookup__deinit(&depth->now);
    grout_lookup__deinit(&depth->most);
    grout_lookup__deinit(&depth->sums);
}
