/*
 * slab.h - memory for a shadow: blocks that are addressed by 32-bit handles.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Chunks never move, so a pointer stays good while its block lives; handles are the same in a copy,
 * so a snapshot is a copy of the chunks. Freed blocks are kept by size for the next of that size:
 * a shadow in its steady state allocates nothing. A block larger than a chunk has memory of its
 * own.
 */
#ifndef GROUT_RACE_CHECKER_SLAB_H
#define GROUT_RACE_CHECKER_SLAB_H

#include "invariant.h"

#include "grout/alloc.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GROUT_SLAB_CHUNK_SIZE (256u << 10)
#define GROUT_SLAB_UNIT       64u        /* handles count these; the smallest block */
#define GROUT_SLAB_CLASSES    13u        /* 64 bytes to one chunk */
#define GROUT_SLAB_LARGE      (1u << 31) /* of a handle: the rest of it is a number in 'large' */

/* 0 is no block. */
typedef uint32_t grout_slab_handle;

/* A block that is larger than a chunk. */
typedef struct grout_slab_large {
    unsigned char *bytes; /* NULL: the number is free */
    size_t size;
} grout_slab_large;

typedef struct grout_slab {
    const grout_allocator *allocator; /* of the chunks */
    unsigned char **chunks;
    uint32_t chunk_count;
    uint32_t used_units; /* from the start of chunk 0; unit 0 is never given out */
    grout_slab_handle free_blocks[GROUT_SLAB_CLASSES];
    uint32_t large_count;    /* numbers that have been given out */
    grout_slab_large *large; /* by number */
    uint64_t live_bytes, peak_bytes;
} grout_slab;

/* Zero-initialise a slab but for its allocator; free its chunks with deinit. */
void grout_slab__deinit(grout_slab *slab);
/* Forgets every block and keeps the chunks. */
void grout_slab__reset(grout_slab *slab);
/* A zeroed block of at least size bytes, or 0 without memory. */
grout_slab_handle grout_slab__alloc(grout_slab *slab, size_t size);
void grout_slab__free(grout_slab *slab, grout_slab_handle handle, size_t size);
/* Makes *copy equal to slab; copy may hold chunks of its own already. False without memory. */
bool grout_slab__copy(grout_slab *copy, const grout_slab *slab);

static inline void *grout_slab__at(const grout_slab *slab, grout_slab_handle handle) {
    const uint32_t units = GROUT_SLAB_CHUNK_SIZE / GROUT_SLAB_UNIT;
    if ((handle & GROUT_SLAB_LARGE) != 0) {
        GROUT_ASSERT((handle & ~GROUT_SLAB_LARGE) < slab->large_count);
        return slab->large[handle & ~GROUT_SLAB_LARGE].bytes;
    }
    GROUT_ASSERT(handle != 0 && handle < slab->used_units);
    return slab->chunks[handle / units] + (size_t)(handle % units) * GROUT_SLAB_UNIT;
}

#endif
