/* depth.c - counts what is in flight.
 * SPDX-License-Identifier: Apache-2.0 */
#include "depth.h"

#include "alloc.h"

#include <string.h>

static bool reserve(grout_depth *depth, uint32_t cta) {
    if (cta < depth->capacity) {
        return true;
    }
    const size_t capacity = 2 * (size_t)cta + 16;
    uint32_t *counts = grout__new(NULL, capacity, sizeof *counts);
    if (counts == NULL) {
        return false;
    }
    if (depth->capacity > 0) {
        memcpy(counts, depth->counts, depth->capacity * sizeof *counts);
    }
    grout__free(depth->counts);
    depth->counts = counts;
    depth->capacity = capacity;
    return true;
}

static bool observe(void *self, const grout_event *event) {
    grout_depth *depth = self;
    const uint32_t cta = event->origin.cta;
    if (!reserve(depth, cta)) {
        return false;
    }
    if (event->kind == GROUT_EVENT_ISSUE) {
        const uint32_t count = ++depth->counts[cta];
        depth->most = count > depth->most ? count : depth->most;
    } else if (event->kind == GROUT_EVENT_COMPLETE && depth->counts[cta] > 0) {
        depth->counts[cta]--;
    }
    return true;
}

void grout_depth__init(grout_depth *depth) {
    *depth = (grout_depth){.observer = {.self = depth,
                                        .interest = UINT64_C(1) << GROUT_EVENT_ISSUE |
                                                    UINT64_C(1) << GROUT_EVENT_COMPLETE,
                                        .event = observe}};
}

void grout_depth__deinit(grout_depth *depth) {
    grout__free(depth->counts);
    depth->counts = NULL;
    depth->capacity = 0;
}
