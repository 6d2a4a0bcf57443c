/*
 * limited.h - an allocator that counts what it has given out, and gives no more than a limit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_BASE_LIMITED_H
#define GROUT_BASE_LIMITED_H

#include "grout/alloc.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct grout_limited {
    grout_allocator allocator;   /* for those that take from it */
    const grout_allocator *from; /* NULL: libc's */
    /* bytes, with what alloc.h has in front of each block; OS threads may take and give at once */
    _Atomic uint64_t used;
    _Atomic uint64_t peak;
    uint64_t limit;          /* 0: none */
    _Atomic bool is_reached; /* it has refused something for its limit */
} grout_limited;

/* It may not move while something is taken from it. */
void grout_limited__init(grout_limited *limited, const grout_allocator *from, uint64_t limit);
/* Counts bytes that come from elsewhere. False: that would be more than the limit, and they do not
 * count. */
bool grout_limited__take(grout_limited *limited, uint64_t bytes);
void grout_limited__give(grout_limited *limited, uint64_t bytes);
/* The limited one that an allocator belongs to, or NULL. */
grout_limited *grout_limited__of(const grout_allocator *allocator);

#endif
