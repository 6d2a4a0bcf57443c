/* pool.c - blocks by handle, in chunks that never move.
 * SPDX-License-Identifier: Apache-2.0 */
#include "pool.h"

#include "alloc.h"

#include <string.h>

enum { CHUNK_UNITS = GROUT_POOL_CHUNK_SIZE / GROUT_POOL_UNIT };

static uint32_t find_class(size_t size) {
    uint32_t class_ = 0;
    while (((size_t)GROUT_POOL_UNIT << class_) < size) {
        class_++;
    }
    return class_;
}

void grout_pool__deinit(grout_pool *pool) {
    for (uint32_t i = 0; i < pool->chunk_count; i++) {
        grout_check__free(pool->chunks[i]);
    }
    grout_check__free(pool->chunks);
    memset(pool, 0, sizeof *pool);
}

void grout_pool__reset(grout_pool *pool) {
    pool->used_units = 0;
    pool->live_bytes = 0;
    memset(pool->free_blocks, 0, sizeof pool->free_blocks);
}

static bool add_chunk(grout_pool *pool) {
    unsigned char **chunks =
        grout_check__realloc(pool->chunks, (pool->chunk_count + 1) * sizeof *chunks);
    if (!chunks) {
        return false;
    }
    pool->chunks = chunks;
    chunks[pool->chunk_count] = grout_check__calloc(1, GROUT_POOL_CHUNK_SIZE);
    if (!chunks[pool->chunk_count]) {
        return false;
    }
    pool->chunk_count++;
    return true;
}

/* A block that was never given out: from the end of what is used, never across two chunks. */
static grout_pool_handle take_fresh(grout_pool *pool, uint32_t units) {
    uint32_t first = pool->used_units ? pool->used_units : 1;
    if (first % CHUNK_UNITS + units > CHUNK_UNITS) {
        first += CHUNK_UNITS - first % CHUNK_UNITS;
    }
    if (first > UINT32_MAX - 2 * CHUNK_UNITS) {
        return 0;
    }
    while (first + units > pool->chunk_count * CHUNK_UNITS) {
        if (!add_chunk(pool)) {
            return 0;
        }
    }
    pool->used_units = first + units;
    return first;
}

grout_pool_handle grout_pool__alloc(grout_pool *pool, size_t size) {
    uint32_t class_ = find_class(size);
    grout_pool_handle handle = 0;
    if (class_ >= GROUT_POOL_CLASSES) {
        return 0;
    }
    handle = pool->free_blocks[class_];
    if (handle) {
        memcpy(&pool->free_blocks[class_], grout_pool__at(pool, handle), sizeof handle);
    } else {
        handle = take_fresh(pool, 1u << class_);
        if (!handle) {
            return 0;
        }
    }
    memset(grout_pool__at(pool, handle), 0, (size_t)GROUT_POOL_UNIT << class_);
    pool->live_bytes += (uint64_t)GROUT_POOL_UNIT << class_;
    if (pool->live_bytes > pool->peak_bytes) {
        pool->peak_bytes = pool->live_bytes;
    }
    return handle;
}

void grout_pool__free(grout_pool *pool, grout_pool_handle handle, size_t size) {
    uint32_t class_ = find_class(size);
    if (!handle) {
        return;
    }
    memcpy(grout_pool__at(pool, handle), &pool->free_blocks[class_], sizeof handle);
    pool->free_blocks[class_] = handle;
    pool->live_bytes -= (uint64_t)GROUT_POOL_UNIT << class_;
}

bool grout_pool__copy(grout_pool *copy, const grout_pool *pool) {
    size_t bytes = (size_t)pool->used_units * GROUT_POOL_UNIT;
    while (copy->chunk_count < pool->chunk_count) {
        if (!add_chunk(copy)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < pool->chunk_count && bytes; i++) {
        size_t part = bytes < GROUT_POOL_CHUNK_SIZE ? bytes : GROUT_POOL_CHUNK_SIZE;
        memcpy(copy->chunks[i], pool->chunks[i], part);
        bytes -= part;
    }
    copy->used_units = pool->used_units;
    copy->live_bytes = pool->live_bytes;
    copy->peak_bytes = pool->peak_bytes;
    memcpy(copy->free_blocks, pool->free_blocks, sizeof copy->free_blocks);
    return true;
}
