/* slab.c - blocks by handle, in chunks that never move.
 * SPDX-License-Identifier: Apache-2.0 */
#include "slab.h"

#include "alloc.h"

#include <string.h>

enum { CHUNK_UNITS = GROUT_SLAB_CHUNK_SIZE / GROUT_SLAB_UNIT };

static bool is_large(size_t size) {
    return size > GROUT_SLAB_CHUNK_SIZE;
}

static uint32_t find_class(size_t size) {
    uint32_t class_ = 0;
    while (((size_t)GROUT_SLAB_UNIT << class_) < size) {
        class_++;
    }
    return class_;
}

static void free_large(grout_slab *slab) {
    for (uint32_t i = 0; i < slab->large_count; i++) {
        grout__free(slab->large[i].bytes);
    }
    grout__free(slab->large);
    slab->large = NULL;
    slab->large_count = 0;
}

void grout_slab__deinit(grout_slab *slab) {
    free_large(slab);
    for (uint32_t i = 0; i < slab->chunk_count; i++) {
        grout__free(slab->chunks[i]);
    }
    grout__free(slab->chunks);
    memset(slab, 0, sizeof *slab);
}

void grout_slab__reset(grout_slab *slab) {
    free_large(slab);
    slab->used_units = 0;
    slab->live_bytes = 0;
    memset(slab->free_blocks, 0, sizeof slab->free_blocks);
}

static bool add_chunk(grout_slab *slab) {
    unsigned char **chunks =
        grout__resize(slab->allocator, slab->chunks, (slab->chunk_count + 1) * sizeof *chunks);
    if (!chunks) {
        return false;
    }
    slab->chunks = chunks;
    /* Without values: most of a chunk is never used, and each block is zeroed when it is given out.
     */
    chunks[slab->chunk_count] = grout__resize(slab->allocator, NULL, GROUT_SLAB_CHUNK_SIZE);
    if (!chunks[slab->chunk_count]) {
        return false;
    }
    slab->chunk_count++;
    return true;
}

/* A block that was never given out: from the end of what is used, never across two chunks. */
static grout_slab_handle take_fresh(grout_slab *slab, uint32_t units) {
    uint32_t first = slab->used_units ? slab->used_units : 1;
    if (first % CHUNK_UNITS + units > CHUNK_UNITS) {
        first += CHUNK_UNITS - first % CHUNK_UNITS;
    }
    if (first > GROUT_SLAB_LARGE - 2 * CHUNK_UNITS) { /* 128 GiB */
        return 0;
    }
    while (first + units > slab->chunk_count * CHUNK_UNITS) {
        if (!add_chunk(slab)) {
            return 0;
        }
    }
    slab->used_units = first + units;
    GROUT_ASSERT(first / CHUNK_UNITS == (first + units - 1) / CHUNK_UNITS);
    return first;
}

static void add_live_bytes(grout_slab *slab, uint64_t bytes) {
    slab->live_bytes += bytes;
    slab->peak_bytes = slab->peak_bytes < slab->live_bytes ? slab->live_bytes : slab->peak_bytes;
}

/* A number of a large block that is free, perhaps a new one; false without memory. */
static bool find_number(grout_slab *slab, uint32_t *number_out) {
    grout_slab_large *large = slab->large;
    uint32_t number = 0;
    while (number < slab->large_count && large[number].bytes != NULL) {
        number++;
    }
    if (number == slab->large_count) {
        large = grout__resize(slab->allocator, large, (number + 1) * sizeof *large);
        if (large == NULL) {
            return false;
        }
        large[number] = (grout_slab_large){NULL, 0};
        slab->large = large;
        slab->large_count = number + 1;
    }
    *number_out = number;
    return true;
}

static grout_slab_handle take_large(grout_slab *slab, size_t size) {
    uint32_t number = 0;
    if (!find_number(slab, &number)) {
        return 0;
    }
    unsigned char *bytes = grout__new(slab->allocator, size, 1);
    if (bytes == NULL) {
        return 0;
    }
    slab->large[number] = (grout_slab_large){bytes, size};
    add_live_bytes(slab, size);
    return GROUT_SLAB_LARGE | number;
}

grout_slab_handle grout_slab__alloc(grout_slab *slab, size_t size) {
    if (is_large(size)) {
        return take_large(slab, size);
    }
    uint32_t class_ = find_class(size);
    grout_slab_handle handle = slab->free_blocks[class_];
    if (handle) {
        memcpy(&slab->free_blocks[class_], grout_slab__at(slab, handle), sizeof handle);
    } else {
        handle = take_fresh(slab, 1u << class_);
        if (!handle) {
            return 0;
        }
    }
    memset(grout_slab__at(slab, handle), 0, (size_t)GROUT_SLAB_UNIT << class_);
    add_live_bytes(slab, (uint64_t)GROUT_SLAB_UNIT << class_);
    return handle;
}

void grout_slab__free(grout_slab *slab, grout_slab_handle handle, size_t size) {
    if (handle == 0) {
        return;
    }
    if (is_large(size)) {
        grout_slab_large *large = &slab->large[handle & ~GROUT_SLAB_LARGE];
        GROUT_ASSERT((handle & GROUT_SLAB_LARGE) != 0 && large->size == size);
        slab->live_bytes -= size;
        grout__free(large->bytes);
        *large = (grout_slab_large){NULL, 0};
        return;
    }
    uint32_t class_ = find_class(size);
    GROUT_ASSERT(class_ < GROUT_SLAB_CLASSES);
    GROUT_ASSERT(slab->live_bytes >= (uint64_t)GROUT_SLAB_UNIT << class_);
    GROUT_ASSERT(slab->free_blocks[class_] != handle);
    memcpy(grout_slab__at(slab, handle), &slab->free_blocks[class_], sizeof handle);
    slab->free_blocks[class_] = handle;
    slab->live_bytes -= (uint64_t)GROUT_SLAB_UNIT << class_;
}

static bool copy_large(grout_slab *copy, const grout_slab *slab) {
    free_large(copy);
    if (slab->large_count == 0) {
        return true;
    }
    copy->large = grout__new(copy->allocator, slab->large_count, sizeof *copy->large);
    if (copy->large == NULL) {
        return false;
    }
    copy->large_count = slab->large_count;
    for (uint32_t i = 0; i < slab->large_count; i++) {
        const grout_slab_large *from = &slab->large[i];
        if (from->bytes == NULL) {
            continue;
        }
        copy->large[i] = (grout_slab_large){grout__new(copy->allocator, from->size, 1), from->size};
        if (copy->large[i].bytes == NULL) {
            return false;
        }
        memcpy(copy->large[i].bytes, from->bytes, from->size);
    }
    return true;
}

bool grout_slab__copy(grout_slab *copy, const grout_slab *slab) {
    if (!copy_large(copy, slab)) {
        return false;
    }
    size_t bytes = (size_t)slab->used_units * GROUT_SLAB_UNIT;
    while (copy->chunk_count < slab->chunk_count) {
        if (!add_chunk(copy)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < slab->chunk_count && bytes; i++) {
        size_t part = bytes < GROUT_SLAB_CHUNK_SIZE ? bytes : GROUT_SLAB_CHUNK_SIZE;
        memcpy(copy->chunks[i], slab->chunks[i], part);
        bytes -= part;
    }
    GROUT_ASSERT(bytes == 0);
    grout_slab made = *slab; /* all but whose the chunks are */
    made.chunks = copy->chunks;
    made.chunk_count = copy->chunk_count;
    made.large = copy->large;
    *copy = made;
    return true;
}
