/*
 * keyed.c - a hash table of a fixed number of buckets: tables hold some hundreds of records. The
 * order of its buckets is that of grout_keyed__next, so its hash is its own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "keyed.h"

#define BUCKETS 256u

typedef struct bucket {
    uint32_t link; /* of the pool: unused */
    uint32_t first;
} bucket;

static grout_keyed *get_record(grout_keyed_table table, uint32_t index) {
    return grout_pool__at(table.records, index);
}

static uint32_t find_bucket(uint64_t first, uint64_t second) {
    uint64_t hash = first * UINT64_C(0x9e3779b97f4a7c15) ^ second * UINT64_C(0xc2b2ae3d27d4eb4f);
    return (uint32_t)(hash >> 48) % BUCKETS + 1;
}

static bucket *get_bucket(grout_keyed_table table, uint32_t index) {
    GROUT_ASSERT(index > 0 && index <= BUCKETS);
    return grout_pool__at(table.buckets, index);
}

void grout_keyed__init(grout_keyed_table table, uint32_t item_size) {
    GROUT_ASSERT(item_size >= sizeof(grout_keyed));
    table.records->item_size = item_size;
    table.buckets->item_size = sizeof(bucket);
}

/* Buckets come with the first record: most launches have none. */
static bool add_buckets(grout_keyed_table table, grout_heap *heap) {
    while (table.buckets->count <= BUCKETS) {
        if (grout_pool__take(table.buckets, heap) == 0) {
            return false;
        }
    }
    return true;
}

uint32_t grout_keyed__find(grout_keyed_table table, uint64_t first, uint64_t second) {
    if (table.buckets->count <= BUCKETS) {
        return 0;
    }
    uint32_t index = get_bucket(table, find_bucket(first, second))->first;
    while (index != 0 && (get_record(table, index)->key[0] != first ||
                          get_record(table, index)->key[1] != second)) {
        index = get_record(table, index)->next;
    }
    return index;
}

uint32_t grout_keyed__get(grout_keyed_table table, uint64_t first, uint64_t second,
                          grout_heap *heap) {
    uint32_t index = grout_keyed__find(table, first, second);
    if (index != 0) {
        return index;
    }
    if (!add_buckets(table, heap)) {
        return 0;
    }
    index = grout_pool__take(table.records, heap);
    if (index != 0) {
        bucket *own = get_bucket(table, find_bucket(first, second));
        grout_keyed *record = get_record(table, index);
        record->key[0] = first;
        record->key[1] = second;
        record->next = own->first;
        own->first = index;
    }
    return index;
}

void grout_keyed__remove(grout_keyed_table table, uint32_t index) {
    GROUT_ASSERT(index > 0 && index < table.records->count);
    const grout_keyed *record = get_record(table, index);
    bucket *own = get_bucket(table, find_bucket(record->key[0], record->key[1]));
    if (own->first == index) {
        own->first = record->next;
    } else {
        uint32_t i = own->first;
        while (get_record(table, i)->next != index) {
            i = get_record(table, i)->next;
            GROUT_ASSERT(i != 0);
        }
        get_record(table, i)->next = record->next;
    }
    grout_pool__give(table.records, index);
}

uint32_t grout_keyed__next(grout_keyed_table table, uint32_t index) {
    uint32_t at = 1;
    if (table.buckets->count <= BUCKETS) {
        return 0;
    }
    if (index != 0) {
        const grout_keyed *record = get_record(table, index);
        if (record->next != 0) {
            return record->next;
        }
        at = find_bucket(record->key[0], record->key[1]) + 1;
    }
    for (; at <= BUCKETS; at++) {
        if (get_bucket(table, at)->first != 0) {
            return get_bucket(table, at)->first;
        }
    }
    return 0;
}
