/*
 * pool.h - memory for a shadow: blocks that are addressed by 32-bit handles.
 *
 * Chunks never move, so a pointer stays good while its block lives; handles are the same in a copy,
 * so a snapshot is a copy of the chunks. Freed blocks are kept by size for the next of that size:
 * a shadow in its steady state allocates nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_RACE_CHECKER_POOL_H
#define GROUT_RACE_CHECKER_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GROUT_POOL_CHUNK_SIZE (256u << 10)
#define GROUT_POOL_UNIT 64u /* handles count these; the smallest block */
#define GROUT_POOL_CLASSES 13u /* 64 bytes to one chunk */

/* 0 is no block. */
typedef uint32_t grout_pool_handle;

typedef struct grout_pool {
    unsigned char **chunks;
    uint32_t chunk_count;
    uint32_t used_units; /* from the start of chunk 0; unit 0 is never given out */
    grout_pool_handle free_blocks[GROUT_POOL_CLASSES];
    uint64_t live_bytes, peak_bytes;
} grout_pool;

/* Zero-initialise a pool; free its chunks with deinit. */
void grout_pool__deinit(grout_pool *pool);
/* Forgets every block and keeps the chunks. */
void grout_pool__reset(grout_pool *pool);
/* A zeroed block of at least size bytes (at most a chunk), or 0 without memory. */
grout_pool_handle grout_pool__alloc(grout_pool *pool, size_t size);
void grout_pool__free(grout_pool *pool, grout_pool_handle handle, size_t size);
/* Makes *copy equal to pool; copy may hold chunks of its own already. False without memory. */
bool grout_pool__copy(grout_pool *copy, const grout_pool *pool);

static inline void *grout_pool__at(const grout_pool *pool, grout_pool_handle handle) {
    const uint32_t units = GROUT_POOL_CHUNK_SIZE / GROUT_POOL_UNIT;
    return pool->chunks[handle / units] + (size_t)(handle % units) * GROUT_POOL_UNIT;
}

#endif
