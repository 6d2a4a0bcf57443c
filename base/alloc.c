/* alloc.c - blocks that know their allocator and their size.
 * SPDX-License-Identifier: Apache-2.0 */
#include "alloc.h"

#include "invariant.h"
#include "limited.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Before the bytes of each block. */
typedef struct header {
    _Alignas(max_align_t) const grout_allocator *allocator; /* NULL: libc */
    size_t size;                                            /* of the bytes */
} header;

static_assert(sizeof(header) % _Alignof(max_align_t) == 0, "the bytes after it are aligned");

static header *get_header(void *block) {
    return (header *)block - 1;
}

/* Bytes of the allocator's block for this many of ours, or 0 if there cannot be that many. */
static size_t get_whole(size_t size) {
    size_t needed = size > 0 ? size : 1;
    return needed <= SIZE_MAX / 2 ? needed + sizeof(header) : 0;
}

static void *begin(header *made, const grout_allocator *allocator, size_t size) {
    if (made == NULL) {
        return NULL;
    }
    GROUT_ASSERT((uintptr_t)made % _Alignof(max_align_t) == 0);
    made->allocator = allocator;
    made->size = size;
    return made + 1;
}

/* libc gives them zeroed, and pages that nobody touches cost nothing. */
static header *make_zeroed(const grout_allocator *allocator, size_t whole) {
    grout_limited *limited = grout_limited__of(allocator);
    if (allocator == NULL) {
        return calloc(1, whole);
    }
    if (limited != NULL && limited->from == NULL) {
        if (!grout_limited__take(limited, whole)) {
            return NULL;
        }
        header *zeroed = calloc(1, whole);
        if (zeroed == NULL) {
            grout_limited__give(limited, whole);
        }
        return zeroed;
    }
    header *made = allocator->resize(allocator->payload, NULL, 0, whole);
    if (made != NULL) {
        memset(made, 0, whole);
    }
    return made;
}

void *grout__new(const grout_allocator *allocator, size_t count, size_t size) {
    if (size > 0 && count > SIZE_MAX / size) {
        return NULL;
    }
    size_t whole = get_whole(count * size);
    return whole == 0 ? NULL : begin(make_zeroed(allocator, whole), allocator, count * size);
}

void *grout__resize(const grout_allocator *allocator, void *block, size_t size) {
    header *old = block != NULL ? get_header(block) : NULL;
    const grout_allocator *own = old != NULL ? old->allocator : allocator;
    size_t old_whole = old != NULL ? get_whole(old->size) : 0;
    size_t whole = get_whole(size);
    GROUT_ASSERT(old == NULL || allocator == own || allocator == NULL);
    if (whole == 0) {
        return NULL;
    }
    header *made =
        own == NULL ? realloc(old, whole) : own->resize(own->payload, old, old_whole, whole);
    return begin(made, own, size);
}

char *grout__copy(const grout_allocator *allocator, const char *bytes, size_t size) {
    char *copy = size < SIZE_MAX ? grout__resize(allocator, NULL, size + 1) : NULL;
    if (copy != NULL) {
        if (size > 0) {
            memcpy(copy, bytes, size);
        }
        copy[size] = '\0';
    }
    return copy;
}

const grout_allocator *grout__get_allocator(void *block) {
    return get_header(block)->allocator;
}

void grout__free(void *block) {
    if (block == NULL) {
        return;
    }
    header *old = get_header(block);
    if (old->allocator == NULL) {
        free(old);
    } else {
        (void)old->allocator->resize(old->allocator->payload, old, get_whole(old->size), 0);
    }
}
