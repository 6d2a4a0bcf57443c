/*
 * heap.h - memory of a launch, counted against its limit, and pools of records of one size that
 * are named by index, so that a copy of the bytes is a copy of the state.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_BASE_HEAP_H
#define GROUT_BASE_HEAP_H

#include "grout/alloc.h"
#include "invariant.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct grout_heap {
    const grout_allocator *allocator; /* NULL: libc's */
    uint64_t used, peak;
    uint64_t limit; /* 0: none */
} grout_heap;

/* Zeroed bytes at a multiple of 64, or NULL: no memory, or past the limit. */
void *grout_heap__take(grout_heap *heap, size_t size);
/* The same with bytes of any value. */
void *grout_heap__take_unset(grout_heap *heap, size_t size);
/* Gives them back; size counts for used alone. */
void grout_heap__give(grout_heap *heap, void *bytes, size_t size);

/* Records with indices from 1 (0: none). Their first 32 bits link the free ones. */
typedef struct grout_pool {
    uint8_t *data;
    uint32_t item_size;
    uint32_t count; /* in use or free, entry 0 included */
    uint32_t capacity;
    uint32_t first_free;
} grout_pool;

/* A zeroed record, or 0 without memory. Moves the pool: pointers into it are void afterwards. */
uint32_t grout_pool__take(grout_pool *pool, grout_heap *heap);
void grout_pool__give(grout_pool *pool, uint32_t index);
/* Forgets all records, keeps the bytes. */
void grout_pool__clear(grout_pool *pool);
bool grout_pool__reserve(grout_pool *pool, grout_heap *heap, uint32_t capacity);
/* The records of another pool instead of its own; false without memory. */
bool grout_pool__copy(grout_pool *to, const grout_pool *from, grout_heap *heap);
void grout_pool__free(grout_pool *pool, grout_heap *heap);

static inline void *grout_pool__at(const grout_pool *pool, uint32_t index) {
    GROUT_ASSERT(pool->data == NULL || index <= pool->capacity); /* the end of an empty run too */
    return pool->data == NULL ? NULL : pool->data + (size_t)index * pool->item_size;
}

#endif
