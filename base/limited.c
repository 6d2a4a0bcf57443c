/* limited.c - see limited.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "limited.h"

#include "invariant.h"

#include <stdatomic.h>
#include <stdlib.h>

bool grout_limited__take(grout_limited *limited, uint64_t bytes) {
    const uint64_t before = atomic_fetch_add(&limited->used, bytes), now = before + bytes;
    if (now < before || (limited->limit != 0 && now > limited->limit)) {
        (void)atomic_fetch_sub(&limited->used, bytes);
        limited->is_reached = true;
        return false;
    }
    uint64_t peak = limited->peak;
    while (now > peak && !atomic_compare_exchange_weak(&limited->peak, &peak, now)) {
    }
    return true;
}

void grout_limited__give(grout_limited *limited, uint64_t bytes) {
    const uint64_t before = atomic_fetch_sub(&limited->used, bytes);
    GROUT_ASSERT(bytes <= before);
    (void)before;
}

static void *resize_from(const grout_limited *limited, void *block, size_t old_size,
                         size_t new_size) {
    if (limited->from != NULL) {
        return limited->from->resize(limited->from->payload, block, old_size, new_size);
    }
    if (new_size == 0) {
        free(block);
        return NULL;
    }
    return realloc(block, new_size);
}

static void *resize(void *payload, void *block, size_t old_size, size_t new_size) {
    grout_limited *limited = payload;
    if (new_size > old_size && !grout_limited__take(limited, new_size - old_size)) {
        return NULL;
    }
    void *made = resize_from(limited, block, old_size, new_size);
    if (new_size > old_size && made == NULL) {
        grout_limited__give(limited, new_size - old_size);
    } else if (new_size < old_size && (made != NULL || new_size == 0)) {
        grout_limited__give(limited, old_size - new_size);
    }
    return made;
}

void grout_limited__init(grout_limited *limited, const grout_allocator *from, uint64_t limit) {
    *limited = (grout_limited){
        .allocator = {.resize = resize, .payload = limited}, .from = from, .limit = limit};
}

grout_limited *grout_limited__of(const grout_allocator *allocator) {
    return allocator != NULL && allocator->resize == resize ? allocator->payload : NULL;
}
