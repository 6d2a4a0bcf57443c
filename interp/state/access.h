/*
 * access.h - what an instruction accesses, as events.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_ACCESS_H
#define GROUT_INTERP_ACCESS_H

#include "memory.h"

/* The accesses of an instruction, as its effect row lists them. stamps: of the read and the write
 * of an async op, or NULL. */
void grout_access__publish(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                           const grout_box *boxes, const grout_stamp *stamps);
enum { GROUT_PUBLISH_READS = 1, GROUT_PUBLISH_WRITES = 2 };
void grout_access__publish_some(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                                const grout_box *boxes, const grout_stamp *stamps, uint32_t which);

/* Runs of an object: sorted, disjoint. */
typedef struct grout_runs {
    const grout_run *first;
    uint32_t count;
} grout_runs;

/* The accesses of one of an op's boxes, with these runs in its object. */
void grout_access__publish_runs(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                                const grout_box *box, const grout_runs *runs,
                                const grout_stamp *stamps);
/* The read of a box that is none of the instruction's operands, by an engine: over at a stamp. */
void grout_access__publish_read(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                                const grout_box *box, const grout_stamp *stamp);

#endif
