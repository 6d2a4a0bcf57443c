/* rules.h - whether one access is ordered after another one.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_PTX_RULES_H
#define GROUT_PTX_RULES_H

#include "shadow.h"

/* One lane of an access. */
typedef struct ptx_check {
    ptx_shadow *shadow;
    const ptx_access *access;
    const ptx_span *span;
    const ptx_view *view;
    uint32_t own_lane;
    ptx_same same; /* of the cell that is looked at */
} ptx_check;

/* What is missing between a lane of the recorded access and the one that is checked. */
ptx_missing grout_ptx__compare(const ptx_check *check, const ptx_record *record, uint32_t lane);
/* Whether the recorded one comes before. */
bool grout_ptx__is_before(const ptx_check *check, const ptx_record *record, uint32_t lane);
/* Whether a lane of the access' warp has started the recorded operation on tensor memory before
 * this one. */
bool grout_ptx__is_started_before(const ptx_check *check, const ptx_record *record, uint32_t lane);
/* Whether the access may rely on what an engine's lane has read, which is done. */
bool grout_ptx__sees(const ptx_check *check, const ptx_record *record, uint32_t lane);

/* Whether two accesses differ in nothing that an order goes by. */
bool grout_ptx__is_same_record(const ptx_record *a, const ptx_record *b);
bool grout_ptx__is_same_pipe(const ptx_pipe *a, const ptx_pipe *b);

#endif
