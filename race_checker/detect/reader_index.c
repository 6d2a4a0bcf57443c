/*
 * reader_index.c - the table of a region's readers. The simple model is a walk through them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reader_index.h"

#include "hash.h"

/* Lists of readers by the hash of their op, the newest first. What they hold are numbers plus 1; 0:
 * no more. */
typedef struct table {
    uint32_t list_count;   /* a power of two */
    uint32_t reader_count; /* of those that it has; it has room for half as many as lists */
    uint32_t numbers[];    /* first of each list, then by reader the next one of its list */
} table;

static size_t get_size(uint32_t list_count) {
    return sizeof(table) + (list_count + list_count / 2) * sizeof(uint32_t);
}

static table *get_table(const grout_shadow *shadow, const grout_region *region) {
    return region->index == 0 ? NULL : grout_slab__at(&shadow->slab, region->index);
}

static uint32_t *get_first(table *it, grout_op_id op) {
    return &it->numbers[grout_hash__index(grout_hash__word(0, op)) & (it->list_count - 1)];
}

static uint32_t *get_next(table *it, uint32_t reader) {
    return &it->numbers[it->list_count + reader];
}

void grout_reader_index__drop(grout_shadow *shadow, grout_region *region) {
    const table *it = get_table(shadow, region);
    if (it != NULL) {
        grout_slab__free(&shadow->slab, region->index, get_size(it->list_count));
        region->index = 0;
    }
}

/* An empty table for all readers, and as many more. NULL without memory. */
static table *make(grout_shadow *shadow, grout_region *region) {
    uint32_t list_count = 4 * GROUT_READER_INDEX_MIN;
    while (list_count / 4 < region->reader_count) {
        list_count *= 2;
    }
    grout_reader_index__drop(shadow, region);
    region->index = grout_slab__alloc(&shadow->slab, get_size(list_count));
    table *it = get_table(shadow, region);
    if (it != NULL) {
        it->list_count = list_count;
    }
    return it;
}

/* The table with all readers; NULL: they are few, or there is no memory. */
static table *complete(grout_shadow *shadow, grout_region *region) {
    const grout_entry *readers = grout_shadow__get_readers(shadow, region);
    table *it = get_table(shadow, region);
    if (region->reader_count < GROUT_READER_INDEX_MIN) {
        return NULL;
    }
    if (it == NULL || it->list_count / 2 < region->reader_count) {
        it = make(shadow, region);
    }
    for (; it != NULL && it->reader_count < region->reader_count; it->reader_count++) {
        uint32_t *first = get_first(it, readers[it->reader_count].origin.op);
        *get_next(it, it->reader_count) = *first;
        *first = it->reader_count + 1;
    }
    return it;
}

/* The last one of an op among the first count. */
static grout_entry *walk(grout_entry *readers, uint32_t count, grout_op_id op) {
    while (count > 0 && readers[count - 1].origin.op != op) {
        count--;
    }
    return count == 0 ? NULL : &readers[count - 1];
}

/* The first one of an op from this number of a list on. */
static grout_entry *follow(table *it, grout_entry *readers, uint32_t number, grout_op_id op) {
    while (number != 0 && readers[number - 1].origin.op != op) {
        number = *get_next(it, number - 1);
    }
    return number == 0 ? NULL : &readers[number - 1];
}

grout_entry *grout_reader_index__find_newest(grout_shadow *shadow, grout_region *region,
                                             grout_op_id op) {
    grout_entry *readers = grout_shadow__get_readers(shadow, region);
    table *it = complete(shadow, region);
    grout_entry *found = it == NULL ? walk(readers, region->reader_count, op)
                                    : follow(it, readers, *get_first(it, op), op);
    GROUT_ASSERT_SLOW(found == walk(readers, region->reader_count, op));
    return found;
}

/* The table, if it has all readers. */
static table *get_complete(const grout_shadow *shadow, const grout_region *region) {
    table *it = get_table(shadow, region);
    return it != NULL && it->reader_count == region->reader_count ? it : NULL;
}

grout_entry *grout_reader_index__find_older(const grout_shadow *shadow, const grout_region *region,
                                            const grout_entry *reader) {
    grout_entry *readers = grout_shadow__get_readers(shadow, region);
    const uint32_t number = (uint32_t)(reader - readers);
    const grout_op_id op = reader->origin.op;
    table *it = get_complete(shadow, region);
    grout_entry *found =
        it == NULL ? walk(readers, number, op) : follow(it, readers, *get_next(it, number), op);
    GROUT_ASSERT_SLOW(found == walk(readers, number, op));
    return found;
}

void grout_reader_index__unlink_older(const grout_shadow *shadow, const grout_region *region,
                                      const grout_entry *newer) {
    const grout_entry *readers = grout_shadow__get_readers(shadow, region);
    table *it = get_complete(shadow, region);
    const grout_entry *older = grout_reader_index__find_older(shadow, region, newer);
    uint32_t *link = it == NULL ? NULL : get_next(it, (uint32_t)(newer - readers));
    while (link != NULL && &readers[*link - 1] != older) { /* past those of other ops */
        link = get_next(it, *link - 1);
    }
    if (link != NULL) {
        *link = *get_next(it, *link - 1);
    }
}
