/*
 * clocks.c - what an event's clocks know of the counters of any cluster.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "grout-internal/events.h"

#include <stddef.h>

static const grout_foreign_clock *find(const grout_clocks *clocks, uint32_t cluster) {
    uint32_t low = 0, high = clocks->foreign_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (clocks->foreign[middle].cluster < cluster) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool is_there = low < clocks->foreign_count && clocks->foreign[low].cluster == cluster;
    return is_there ? &clocks->foreign[low] : NULL;
}

bool grout_clocks_know_grid(const grout_clocks *clocks, const grout_clock_shape *shape) {
    bool is_known = false;
    if (shape->grid_count > 0) {
        uint32_t component = grout_clock_grid(shape);
        is_known = clocks->known[component] > 0;
        for (uint32_t i = 0; i < clocks->foreign_count && !is_known; i++) {
            is_known = clocks->foreign[i].known[component] > 0;
        }
    }
    return is_known;
}

const uint32_t *grout_clocks_find_known(const grout_clocks *clocks, uint32_t cluster) {
    if (cluster == clocks->cluster) {
        return clocks->known;
    }
    const grout_foreign_clock *foreign = find(clocks, cluster);
    return foreign == NULL ? NULL : foreign->known;
}

const uint32_t *grout_clocks_find_gmem(const grout_clocks *clocks, uint32_t cluster) {
    if (cluster == clocks->cluster) {
        return clocks->published_gmem;
    }
    const grout_foreign_clock *foreign = find(clocks, cluster);
    return foreign == NULL ? NULL : foreign->published_gmem;
}

const uint32_t *grout_clocks_find_fenced(const grout_clocks *clocks, uint32_t cluster) {
    if (cluster == clocks->cluster) {
        return clocks->fenced_gmem != NULL ? clocks->fenced_gmem : clocks->published_gmem;
    }
    const grout_foreign_clock *foreign = find(clocks, cluster);
    if (foreign == NULL) {
        return NULL;
    }
    return foreign->fenced_gmem != NULL ? foreign->fenced_gmem : foreign->published_gmem;
}
