/*
 * fences.c - lists of fences in one array.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fences.h"

#include "alloc.h"
#include "invariant.h"
#include "lists.h"

#include <string.h>

static const grout_list_place LISTS[] = {GROUT_LIST(grout_fences, heads, head_count, head_count),
                                         GROUT_LIST(grout_fences, items, count, capacity)};
static const grout_list_table TABLE = GROUT_LIST_TABLE(grout_fences, LISTS);

void grout_fences__deinit(grout_fences *fences) {
    grout_lists__free(&TABLE, fences);
}

bool grout_fences__copy(const grout_allocator *allocator, grout_fences *copy,
                        const grout_fences *fences) {
    return grout_lists__copy(&TABLE, allocator, copy, fences);
}

/* Where a list lies in the array depends on the schedule, and so counts for nothing. */
uint64_t grout_fences__hash(const grout_fences *fences) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < fences->head_count; i++) {
        const grout_fence *fence = grout_fences__get_newest(fences, i);
        for (; fence != NULL; fence = grout_fences__get_older(fences, fence)) {
            sum += GROUT_HASH_FACTS(grout_hash__word(UINT64_C(0x8f1bbcdc5be0cd19), i), fence,
                                    grout_fence, covered);
        }
    }
    return sum + (fences->head_count > 0 ? GROUT_HASH_REST(0, fences, grout_fences, unused) : 0);
}

/* Room for the list of an actor. False without memory. */
static bool reserve_head(const grout_allocator *allocator, grout_fences *fences, uint64_t actor) {
    uint64_t count = fences->head_count ? fences->head_count : 16;
    if (actor < fences->head_count) {
        return true;
    }
    while (count <= actor) {
        count *= 2;
    }
    uint32_t *heads = count <= UINT32_MAX
                          ? grout__resize(allocator, fences->heads, (size_t)count * sizeof *heads)
                          : NULL;
    if (heads == NULL) {
        return false;
    }
    memset(&heads[fences->head_count], 0, (size_t)(count - fences->head_count) * sizeof *heads);
    fences->heads = heads;
    fences->head_count = (uint32_t)count;
    return true;
}

/* A place for one more, plus 1; 0 without memory. */
static uint32_t take_place(const grout_allocator *allocator, grout_fences *fences) {
    uint32_t place = fences->unused;
    if (place) {
        GROUT_ASSERT(fences->items != NULL && place <= fences->count);
        fences->unused = fences->items[place - 1].older;
        return place;
    }
    void *items = fences->items;
    bool done = grout_check__reserve(allocator, &items, fences->count, &fences->capacity,
                                     sizeof *fences->items);
    fences->items = items;
    return done ? ++fences->count : 0;
}

bool grout_fences__add(const grout_allocator *allocator, grout_fences *fences, uint64_t actor,
                       const grout_fence *fence) {
    const grout_fence *newest = grout_fences__get_newest(fences, actor);
    uint32_t place = 0;
    if (newest != NULL && newest->covered == fence->covered && newest->warp == fence->warp &&
        newest->kind == fence->kind) {
        return true; /* what knows of this one knows of that one */
    }
    place = reserve_head(allocator, fences, actor) ? take_place(allocator, fences) : 0;
    if (!place) {
        return false;
    }
    fences->items[place - 1] = *fence;
    fences->items[place - 1].older = fences->heads[actor];
    fences->heads[actor] = place;
    return true;
}

void grout_fences__forget(grout_fences *fences, uint64_t first_actor, uint32_t count) {
    for (uint64_t i = first_actor; i < first_actor + count && i < fences->head_count; i++) {
        while (fences->heads[i]) {
            grout_fence *fence = &fences->items[fences->heads[i] - 1];
            uint32_t older = fence->older;
            GROUT_ASSERT(fences->heads[i] <= fences->count);
            fence->older = fences->unused;
            fences->unused = fences->heads[i];
            fences->heads[i] = older;
        }
    }
}
