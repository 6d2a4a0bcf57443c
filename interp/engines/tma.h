/*
 * tma.h - TMA: the issue of its copies (tma_issue.c), and its two engines.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_TMA_H
#define GROUT_INTERP_TMA_H

#include "flight.h"
#include "memory.h"

/* The two copies, in full: faults, events, arrival or bulk group, effects if they are due. A load
 * is false if its actor is blocked, see grout_mbarrier__awaits_init. */
bool grout_tma__issue_load(const grout_cta *cta, uint32_t thread, const grout_inst *inst);
void grout_tma__issue_store(const grout_cta *cta, uint32_t thread, const grout_inst *inst);
/* A prefetch moves nothing here; what would trap on the GPU is a finding. */
void grout_tma__check_prefetch(const grout_cta *cta, uint32_t thread, const grout_inst *inst);
/* Closes the thread's open bulk group. */
void grout_tma__commit_group(const grout_cta *cta, uint32_t thread, const grout_inst *inst);

/* ---- between the issue and the engines ------------------------------------------------------- */

/* One destination of a load: the box of the CTA of a rank, and the barrier. */
typedef struct grout_load {
    uint32_t rank, element;
    uint32_t owner;  /* rank of the CTA whose barrier it is: that of a pair is the leader's */
    uint32_t record; /* of the phase that its bytes are in flight to */
    uint32_t phase;  /* over all lives of the element */
    int64_t bytes;
    bool is_void;         /* refused: moves nothing */
    bool is_part;         /* not the first destination of its op */
    uint32_t part, parts; /* of a collective copy; parts 0: all of the box */
    uint32_t spoilt;      /* slot of the destination with a mask of what stays poison, plus 1 */
} grout_load;

/* Take over a copy whose issue has been published: make it at once, or put it in flight. The boxes
 * are those of the destination's CTA. */
void grout_tma__start_load(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                           const grout_box *boxes, const grout_load *load);
void grout_tma__start_store(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                            const grout_box *boxes, bool is_void);
/* The box of a flight's op at the start that it was issued with. */
grout_box grout_tma__place(const grout_cta *cta, const grout_flight *flight, uint32_t index);
/* The place that a load writes; for a collective copy, its part of it. */
grout_box grout_tma__place_target(const grout_cta *cta, const grout_flight *load);
/* Landed bytes that an older store may still win become poison. */
void grout_tma__spoil(const grout_cta *cta, grout_flight *flight, const grout_box *to);

/* tma_order.c, in lazy timing: copies of the same elements with no order between them. A copy is
 * about to take effect: copies of the other direction that were issued later do so first. */
void grout_tma__let_later_first(const grout_cta *cta, uint32_t index);
/* A load has landed: where a newer one is in flight there is poison. */
void grout_tma__let_newer_win(const grout_cta *cta, const grout_flight *load);
/* An earlier store of the cluster is in flight to some of the same elements. */
bool grout_tma__has_rival(const grout_cta *cta, uint32_t index);

#endif
