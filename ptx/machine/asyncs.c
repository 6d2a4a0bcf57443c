/* asyncs.c - what is under way, in the order of its start, and how many there are before a place: a
 * Fenwick tree, so that one of many is found and taken out without a look at the others.
 * SPDX-License-Identifier: Apache-2.0 */
#include "asyncs.h"

enum { SQUEEZE_LEAST = 64 }; /* fewer places are not worth it */

/* How many places up to one, which is counted from 1, the tree counts there. */
static size_t get_span(size_t place) {
    return place & (~place + 1);
}

static uint32_t *get_rank(const ptx_asyncs *asyncs, size_t place) {
    return &asyncs->ranks.items[place - 1];
}

/* Counts the last place, which is not empty. */
static void append_rank(ptx_asyncs *asyncs) {
    const size_t place = ++asyncs->ranks.count;
    uint32_t number = 1;
    for (size_t span = 1; span < get_span(place); span *= 2) {
        number += *get_rank(asyncs, place - span);
    }
    *get_rank(asyncs, place) = number;
}

/* Moves what is there together, where most places are empty. */
static void squeeze(ptx_asyncs *asyncs) {
    const size_t count = asyncs->count;
    asyncs->count = 0;
    asyncs->ranks.count = 0;
    for (size_t i = 0; i < count; i++) {
        if (asyncs->items[i].kind != PTX_ASYNC_GONE) {
            asyncs->items[asyncs->count++] = asyncs->items[i];
            append_rank(asyncs);
        }
    }
}

bool grout_ptx__asyncs_reserve(ptx_asyncs *asyncs, const grout_allocator *allocator) {
    return GROUT_ARRAY_RESERVE(asyncs, allocator, 1) &&
           GROUT_ARRAY_RESERVE(&asyncs->ranks, allocator, 1);
}

void grout_ptx__asyncs_add(ptx_asyncs *asyncs, const ptx_async *async) {
    asyncs->items[asyncs->count++] = *async;
    asyncs->live++;
    append_rank(asyncs);
}

size_t grout_ptx__asyncs_find(const ptx_asyncs *asyncs, size_t number) {
    size_t span = 1, place = 0;
    while (span <= asyncs->count / 2) {
        span *= 2;
    }
    for (; span > 0; span /= 2) {
        if (place + span <= asyncs->count && *get_rank(asyncs, place + span) <= number) {
            place += span;
            number -= *get_rank(asyncs, place);
        }
    }
    return place;
}

size_t grout_ptx__asyncs_next(const ptx_asyncs *asyncs, size_t index) {
    while (index < asyncs->count && asyncs->items[index].kind == PTX_ASYNC_GONE) {
        index++;
    }
    return index;
}

void grout_ptx__asyncs_remove(ptx_asyncs *asyncs, size_t index) {
    asyncs->items[index] = (ptx_async){.kind = PTX_ASYNC_GONE};
    asyncs->live--;
    for (size_t place = index + 1; place <= asyncs->count; place += get_span(place)) {
        --*get_rank(asyncs, place);
    }
    if (asyncs->count >= SQUEEZE_LEAST && asyncs->live < asyncs->count / 2) {
        squeeze(asyncs);
    }
}

void grout_ptx__asyncs_free(ptx_asyncs *asyncs) {
    grout__free(asyncs->items);
    grout__free(asyncs->ranks.items);
    *asyncs = (ptx_asyncs){0};
}
