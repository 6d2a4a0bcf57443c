/*
 * vouchers.c - the list of a region's vouchers. The simple model is all readers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "vouchers.h"

#include <string.h>

enum { READERS_MIN = 16, VOUCHERS_FIRST = 8 };

typedef struct list {
    uint32_t count, capacity;
    grout_entry items[];
} list;

static size_t get_size(uint32_t capacity) {
    return sizeof(list) + capacity * sizeof(grout_entry);
}

static list *get_list(const grout_shadow *shadow, const grout_region *region) {
    return region->vouchers == 0 ? NULL : grout_slab__at(&shadow->slab, region->vouchers);
}

void grout_vouchers__drop(grout_shadow *shadow, grout_region *region) {
    const list *it = get_list(shadow, region);
    if (it != NULL) {
        grout_slab__free(&shadow->slab, region->vouchers, get_size(it->capacity));
        region->vouchers = 0;
    }
}

/* A list of what the old one has, with room for more. NULL without memory: then there is none. */
static list *make(grout_shadow *shadow, grout_region *region) {
    const list *old = get_list(shadow, region);
    const uint32_t capacity = old == NULL ? VOUCHERS_FIRST : 2 * old->capacity;
    const grout_slab_handle handle = grout_slab__alloc(&shadow->slab, get_size(capacity));
    if (handle != 0) {
        list *it = grout_slab__at(&shadow->slab, handle);
        if (old != NULL) {
            memcpy(it, old, get_size(old->count));
        }
        it->capacity = capacity;
    }
    grout_vouchers__drop(shadow, region);
    region->vouchers = handle;
    return get_list(shadow, region);
}

/* The list with one more reader; NULL without memory. */
static list *add(grout_shadow *shadow, grout_region *region, list *it, const grout_entry *reader) {
    for (uint32_t i = 0; i < it->count; i++) {
        grout_entry *item = &it->items[i];
        if (item->component == reader->component && item->cluster == reader->cluster &&
            item->flags == reader->flags) {
            item->vouches = reader->vouches < item->vouches ? reader->vouches : item->vouches;
            return it;
        }
    }
    it = it->count == it->capacity ? make(shadow, region) : it;
    if (it != NULL) {
        it->items[it->count++] = *reader;
    }
    return it;
}

const grout_entry *grout_vouchers__get(grout_shadow *shadow, grout_region *region,
                                       uint32_t *count_out) {
    const grout_entry *readers = grout_shadow__get_readers(shadow, region);
    list *it = get_list(shadow, region);
    if (it == NULL && region->reader_count >= READERS_MIN) {
        it = make(shadow, region);
        for (uint32_t i = 0; it != NULL && i < region->reader_count; i++) {
            it = readers[i].vouches != 0 ? add(shadow, region, it, &readers[i]) : it;
        }
    }
    *count_out = it == NULL ? region->reader_count : it->count;
    return it == NULL ? readers : it->items;
}

void grout_vouchers__note(grout_shadow *shadow, grout_region *region, const grout_entry *reader) {
    list *it = get_list(shadow, region);
    if (it != NULL && reader->vouches != 0) {
        add(shadow, region, it, reader);
    }
}
