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

/* An operation that is in no table has an engine of its own. */
static uint64_t get_key(const grout_depth *depth, const grout_origin *origin) {
    const grout_op *op = grout_module_get_op(depth->module, origin->op);
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    const uint64_t engine =
        sync != NULL ? sync->object : (uint64_t)GROUT_SYNC_OBJECT_GRIDS + 1 + op->opcode;
    return (uint64_t)origin->cta << 32 | (uint64_t)origin->thread << 24 | engine;
}

static bool observe(void *self, const grout_event *event) {
    grout_depth *depth = self;
    const uint64_t key = get_key(depth, &event->origin);
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

void grout_depth__init(grout_depth *depth, const grout_module *module) {
    *depth = (grout_depth){.observer = {.self = depth,
                                        .interest = UINT64_C(1) << GROUT_EVENT_ISSUE |
                                                    UINT64_C(1) << GROUT_EVENT_COMPLETE,
                                        .event = observe},
                           .module = module};
}

void grout_depth__deinit(grout_depth *depth) {
    grout_lookup__deinit(&depth->now);
    grout_lookup__deinit(&depth->most);
    grout_lookup__deinit(&depth->sums);
}
