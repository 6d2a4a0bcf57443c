/*
 * issue.h - between the issue of an async copy (issue.c) and the engine that makes it (tma.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_ISSUE_H
#define GROUT_INTERP_ISSUE_H

#include "memory.h"

/* What a load completes on. */
typedef struct grout_load {
    uint32_t element, phase;
    uint32_t record; /* of the phase */
    bool is_void;    /* refused: moves nothing */
} grout_load;

/* Takes over a copy whose issue has been told: makes it at once, or puts it in flight. */
void grout_tma__start_load(grout_machine *machine, uint32_t thread, const grout_inst *inst,
                           const grout_box *boxes, const grout_load *load);
void grout_tma__start_store(grout_machine *machine, uint32_t thread, const grout_inst *inst,
                            const grout_box *boxes, bool is_void);
/* Copies a box to a box. */
void grout_tma__move(grout_machine *machine, const grout_inst *inst, const grout_box *from,
                     const grout_box *to);
/* Tells the end of a copy. */
void grout_tma__publish_complete(grout_machine *machine, const grout_async *async);

#endif
