/*
 * keyed.c - a hash table whose buckets become twice as many where there are more records: most
 * tables hold some hundreds. The order of its buckets is that of grout_keyed__next, so its hash is
 * its own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "keyed.h"

#define BUCKETS_MIN 256u

typedef struct bucket {
    uint32_t link; /* of the pool: unused */
    uint32_t first;
} bucket;

static grout_keyed *get_record(grout_keyed_table table, uint32_t index) {
    return grout_pool__at(table.records, index);
}

/* A power of two: without memory for all that a larger table needs, those that there were count. */
static uint32_t get_bucket_count(grout_keyed_table table) {
    uint32_t count = BUCKETS_MIN;
    while (table.buckets->count > 2 * count) {
        count *= 2;
    }
    return table.buckets->count > BUCKETS_MIN ? count : 0;
}

static uint32_t find_bucket(uint64_t first, uint64_t second, uint32_t bucket_count) {
    uint64_t hash = first * UINT64_C(0x9e3779b97f4a7c15) ^ second * UINT64_C(0xc2b2ae3d27d4eb4f);
    return (uint32_t)(hash >> 32) % bucket_count + 1;
}

static bucket *get_bucket(grout_keyed_table table, uint32_t index) {
    GROUT_ASSERT(index > 0 && index < table.buckets->count);
    return grout_pool__at(table.buckets, index);
}

static bucket *get_own_bucket(grout_keyed_table table, const grout_keyed *record) {
    return get_bucket(table, find_bucket(record->key[0], record->key[1], get_bucket_count(table)));
}

void grout_keyed__init(grout_keyed_table table, uint32_t item_size) {
    GROUT_ASSERT(item_size >= sizeof(grout_keyed));
    table.records->item_size = item_size;
    table.buckets->item_size = sizeof(bucket);
}

static void put(grout_keyed_table table, uint32_t index) {
    bucket *own = get_own_bucket(table, get_record(table, index));
    get_record(table, index)->next = own->first;
    own->first = index;
}

/* The records of the buckets that there were go to those that there are now. */
static void spread(grout_keyed_table table, uint32_t old_count) {
    for (uint32_t at = 1; at <= old_count; at++) {
        uint32_t index = get_bucket(table, at)->first;
        get_bucket(table, at)->first = 0;
        while (index != 0) {
            const uint32_t next = get_record(table, index)->next;
            put(table, index);
            index = next;
        }
    }
}

/* Buckets come with the first record: most launches have none. */
static bool add_buckets(grout_keyed_table table, grout_heap *heap) {
    const uint32_t count = get_bucket_count(table);
    if (count > 0 && table.records->count <= count) {
        return true;
    }
    const uint32_t wanted = count > 0 ? 2 * count : BUCKETS_MIN;
    while (table.buckets->count <= wanted) {
        if (grout_pool__take(table.buckets, heap) == 0) {
            return false;
        }
    }
    spread(table, count);
    return true;
}

uint32_t grout_keyed__find(grout_keyed_table table, uint64_t first, uint64_t second) {
    const uint32_t bucket_count = get_bucket_count(table);
    if (bucket_count == 0) {
        return 0;
    }
    uint32_t index = get_bucket(table, find_bucket(first, second, bucket_count))->first;
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
        get_record(table, index)->key[0] = first;
        get_record(table, index)->key[1] = second;
        put(table, index);
    }
    return index;
}

void grout_keyed__remove(grout_keyed_table table, uint32_t index) {
    GROUT_ASSERT(index > 0 && index < table.records->count);
    const grout_keyed *record = get_record(table, index);
    bucket *own = get_own_bucket(table, record);
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
    const uint32_t bucket_count = get_bucket_count(table);
    uint32_t at = 1;
    if (index != 0) {
        const grout_keyed *record = get_record(table, index);
        if (record->next != 0) {
            return record->next;
        }
        at = find_bucket(record->key[0], record->key[1], bucket_count) + 1;
    }
    for (; at <= bucket_count; at++) {
        if (get_bucket(table, at)->first != 0) {
            return get_bucket(table, at)->first;
        }
    }
    return 0;
}
