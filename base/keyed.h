/*
 * keyed.h - records that are found by a key of two numbers: what a launch keeps of a semaphore, a
 * named barrier or a location of atomics, from its first use on. Two pools, indices only, so that a
 * copy of the pools is a copy of the table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_BASE_KEYED_H
#define GROUT_BASE_KEYED_H

#include "heap.h"

/* Begins each record of a table. */
typedef struct grout_keyed {
    uint32_t link; /* of the pool */
    uint32_t next; /* of the same bucket */
    uint64_t key[2];
} grout_keyed;

typedef struct grout_keyed_table {
    grout_pool *records, *buckets;
} grout_keyed_table;

/* item_size: of a record, its grout_keyed included. */
void grout_keyed__init(grout_keyed_table table, uint32_t item_size);
/* The record of a key, or 0. */
uint32_t grout_keyed__find(grout_keyed_table table, uint64_t first, uint64_t second);
/* The same; made, zeroed but for its key, if there is none. 0 without memory. */
uint32_t grout_keyed__get(grout_keyed_table table, uint64_t first, uint64_t second,
                          grout_heap *heap);
void grout_keyed__remove(grout_keyed_table table, uint32_t index);
/* The record after another one in an order that means nothing, 0 at the end; the first after 0. */
uint32_t grout_keyed__next(grout_keyed_table table, uint32_t index);

#endif
