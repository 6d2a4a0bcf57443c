/*
 * gmem.h - what engines see of GMEM when plain stores have not been published to them: the bytes as
 * they were before. Only for arrays that a kernel both stores to and copies by TMA.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_GMEM_H
#define GROUT_INTERP_GMEM_H

#include "memory.h"

GROUT_NO_PADDING_BEGIN

/* A store; its old elements follow, in the box's order. */
typedef struct grout_gmem_entry {
    grout_object_id object;
    uint32_t cluster, actor, epoch;
    int64_t start[GROUT_RANK_MAX], extent[GROUT_RANK_MAX];
    uint8_t order[GROUT_RANK_MAX];
    GROUT_STATE_END
} grout_gmem_entry;

GROUT_NO_PADDING_END

/* The head of the log; a ring of entries follows. */
typedef struct grout_gmem_log {
    uint32_t first, count, capacity;
    uint32_t entry_bytes;
} grout_gmem_log;

/* Room for old bytes, if the plan and the timing need any; false without memory. */
bool grout_gmem__new(grout_machine *machine);
/* The log as bytes, for a copy of it; 0: there is none. */
size_t grout_gmem__get_size(const grout_machine *machine);
uint64_t grout_gmem__hash(const grout_machine *machine, uint64_t hash);

/* An actor is about to store to a box. */
void grout_gmem__note_store(const grout_cta *cta, uint32_t thread, const grout_box *box);
/*
 * The bytes of a box that an actor makes an engine use and that are not published to it:
 * as grout_undo__capture, with 0 in stale where there is nothing.
 */
bool grout_gmem__capture(const grout_cta *cta, uint32_t thread, const grout_box *box,
                         uint8_t *linear, uint8_t *stale);

#endif
