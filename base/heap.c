/* heap.c - counted memory and pools of records.
 * SPDX-License-Identifier: Apache-2.0 */
#include "heap.h"

#include "alloc.h"

#include <string.h>

#define ALIGNMENT ((size_t)64)
/* From here on the system's zero pages are cheaper than memset: bitmaps are mostly untouched. */
#define CALLOC_SIZE (1u << 16)

/* The address of the block lies just before the aligned bytes. */
static void *align(unsigned char *block) {
    size_t past = (size_t)((uintptr_t)block % ALIGNMENT);
    unsigned char *bytes = block + 2 * ALIGNMENT - past;
    memcpy(bytes - sizeof block, &block, sizeof block);
    return bytes;
}

static void *take(grout_heap *heap, size_t size, bool is_zeroed) {
    GROUT_ASSERT(heap->used <= heap->peak);
    if (size > SIZE_MAX / 4 || (heap->limit != 0 && heap->used + size > heap->limit)) {
        return NULL;
    }
    size_t whole = size + 2 * ALIGNMENT;
    bool comes_zeroed = is_zeroed && size >= CALLOC_SIZE;
    unsigned char *block = comes_zeroed ? grout__new(heap->allocator, whole, 1)
                                        : grout__resize(heap->allocator, NULL, whole);
    if (block == NULL) {
        return NULL;
    }
    if (is_zeroed && !comes_zeroed) {
        memset(block, 0, whole);
    }
    heap->used += size;
    heap->peak = heap->used > heap->peak ? heap->used : heap->peak;
    return align(block);
}

void *grout_heap__take(grout_heap *heap, size_t size) {
    return take(heap, size, true);
}

void *grout_heap__take_unset(grout_heap *heap, size_t size) {
    return take(heap, size, false);
}

void grout_heap__give(grout_heap *heap, void *bytes, size_t size) {
    if (bytes != NULL) {
        GROUT_ASSERT((uintptr_t)bytes % ALIGNMENT == 0 && size <= heap->used);
        unsigned char *block;
        memcpy(&block, (unsigned char *)bytes - sizeof block, sizeof block);
        grout__free(block);
        heap->used -= size;
    }
}

bool grout_pool__reserve(grout_pool *pool, grout_heap *heap, uint32_t capacity) {
    if (capacity <= pool->capacity) {
        return true;
    }
    /* A caller that asks for a few more each time does not copy all of them each time. */
    if (pool->capacity <= UINT32_MAX / 2 && capacity < 2 * pool->capacity) {
        capacity = 2 * pool->capacity;
    }
    uint8_t *data = grout_heap__take(heap, (size_t)capacity * pool->item_size);
    if (data == NULL) {
        return false;
    }
    if (pool->data != NULL) {
        memcpy(data, pool->data, (size_t)pool->count * pool->item_size);
        grout_heap__give(heap, pool->data, (size_t)pool->capacity * pool->item_size);
    }
    pool->data = data;
    pool->capacity = capacity;
    return true;
}

uint32_t grout_pool__take(grout_pool *pool, grout_heap *heap) {
    uint32_t index = pool->first_free;
    GROUT_ASSERT(pool->item_size >= sizeof index);
    GROUT_ASSERT(pool->count <= pool->capacity || pool->count == 1); /* entry 0 needs no bytes */
    GROUT_ASSERT(index < pool->count || index == 0);
    if (index != 0) {
        memcpy(&pool->first_free, grout_pool__at(pool, index), sizeof index);
    } else {
        uint32_t capacity = pool->capacity < 16 ? 16 : pool->capacity * 2;
        index = pool->count == 0 ? 1 : pool->count;
        if (index >= pool->capacity &&
            (pool->capacity > UINT32_MAX / 2 || !grout_pool__reserve(pool, heap, capacity))) {
            return 0;
        }
        pool->count = index + 1;
    }
    memset(grout_pool__at(pool, index), 0, pool->item_size);
    return index;
}

/* Whether a record is one of those given back last. All of them would be too many: a caller that
 * gives back thousands would wait for the square of that. */
static bool is_free(const grout_pool *pool, uint32_t index) {
    enum { LAST = 256 };
    uint32_t at = pool->first_free;
    for (uint32_t i = 0; i < LAST && at != 0 && at != index; i++) {
        memcpy(&at, grout_pool__at(pool, at), sizeof at);
    }
    return at == index;
}

void grout_pool__give(grout_pool *pool, uint32_t index) {
    GROUT_ASSERT(index > 0 && index < pool->count);
    GROUT_ASSERT_SLOW(!is_free(pool, index));
    memset(grout_pool__at(pool, index), 0, pool->item_size);
    memcpy(grout_pool__at(pool, index), &pool->first_free, sizeof index);
    pool->first_free = index;
}

void grout_pool__clear(grout_pool *pool) {
    pool->count = 0;
    pool->first_free = 0;
}

bool grout_pool__copy(grout_pool *to, const grout_pool *from, grout_heap *heap) {
    to->item_size = from->item_size;
    if (!grout_pool__reserve(to, heap, from->count)) {
        return false;
    }
    to->count = from->count;
    to->first_free = from->first_free;
    if (from->count > 0) {
        memcpy(to->data, from->data, (size_t)from->count * from->item_size);
    }
    return true;
}

void grout_pool__free(grout_pool *pool, grout_heap *heap) {
    grout_heap__give(heap, pool->data, (size_t)pool->capacity * pool->item_size);
    *pool = (grout_pool){.item_size = pool->item_size};
}
