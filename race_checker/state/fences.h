/*
 * fences.h - the proxy fences that each actor has run itself. They are kept for --strict-fences
 * alone: the plain rule needs only what the clocks say is published, by any actor.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A fence is a point of its actor's program order, and its epoch says which: it advances there. So
 * a later actor knows of the fence if it knows the fencing actor beyond that epoch, and that is the
 * same under every schedule.
 *
 * A thread and its warps are the same CUDA threads, and never run at once. A fence of the thread is
 * therefore one of each of its warps too, and a fence of a warp a quarter of one of the thread.
 */
#ifndef GROUT_RACE_CHECKER_FENCES_H
#define GROUT_RACE_CHECKER_FENCES_H

#include "state.h"

#include "grout/alloc.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum grout_fence_kind {
    GROUT_FENCE_SMEM,         /* of the actor's own CTA */
    GROUT_FENCE_SMEM_CLUSTER, /* of all CTAs */
    GROUT_FENCE_GMEM
} grout_fence_kind;

GROUT_NO_PADDING_BEGIN

/* A fence in the list of an actor. */
typedef struct grout_fence {
    uint32_t older; /* the one before, plus 1; 0: there is none. In the free list: the next */
    /* facts, from here on */
    uint32_t covered; /* what the list's actor did up to this epoch of it came before the fence */
    uint32_t epoch;   /* of the actor that ran it: what knows more of it knows of the fence */
    uint8_t warp;     /* the actor that ran it: 0: the thread; else its warp, plus 1 */
    uint8_t kind;     /* grout_fence_kind */
    uint8_t reserved[2];
    GROUT_STATE_END
} grout_fence;

/* A list for each actor of the launch, the newest fence first. */
typedef struct grout_fences {
    uint32_t *heads;    /* by actor: its newest fence, plus 1; 0: there is none */
    grout_fence *items; /* of all lists, and of the free list */
    uint32_t head_count;
    uint32_t count, capacity;
    uint32_t unused; /* the free list's first, plus 1 */
    GROUT_STATE_END
} grout_fences;

GROUT_NO_PADDING_END

void grout_fences__deinit(grout_fences *fences);
/* False without memory. */
bool grout_fences__copy(const grout_allocator *allocator, grout_fences *copy,
                        const grout_fences *fences);
/* 0: there are none. */
uint64_t grout_fences__hash(const grout_fences *fences);
/* Puts a fence, without 'older', in front of an actor's list, unless the newest there says as much.
 * False without memory. */
bool grout_fences__add(const grout_allocator *allocator, grout_fences *fences, uint64_t actor,
                       const grout_fence *fence);
/* Nobody will ask about these actors any more. */
void grout_fences__forget(grout_fences *fences, uint64_t first_actor, uint32_t count);

/* The newest of an actor, and the one before another; NULL: there is none. */
static inline const grout_fence *grout_fences__get_newest(const grout_fences *fences,
                                                          uint64_t actor) {
    uint32_t head = actor < fences->head_count ? fences->heads[actor] : 0;
    return head ? &fences->items[head - 1] : NULL;
}
static inline const grout_fence *grout_fences__get_older(const grout_fences *fences,
                                                         const grout_fence *fence) {
    return fence->older ? &fences->items[fence->older - 1] : NULL;
}

#endif
