/*
 * warp.h - forks: warps of a thread, partitions of a CTA.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_WARP_H
#define GROUT_INTERP_WARP_H

#include "machine.h"

/* Actors of the CTA that run between a fork and its join. */
typedef struct grout_children {
    uint32_t first, count;
} grout_children;

/* The warps of a thread's warp_map; the bodies of a warp_specialize, all but the first. */
grout_children grout_warp__get_warps(const grout_machine *machine, uint32_t thread);
grout_children grout_warp__get_partitions(uint32_t body_count);
/* A child begins at a pc: with copies of the values that the fork's instruction moves, of the
 * parent's loops and of its clocks, whose epoch the caller then advances. */
void grout_warp__start(const grout_cta *cta, uint32_t parent, uint32_t child,
                       const grout_inst *inst, uint32_t pc);
bool grout_warp__have_ended(const grout_cta *cta, grout_children children);
/* FORK or JOIN. */
void grout_warp__publish(const grout_cta *cta, grout_event_kind kind, uint32_t parent,
                         const grout_inst *inst, grout_children children);
/* The parent learns all that its children know. */
void grout_warp__join(const grout_cta *cta, uint32_t parent, grout_children children);

#endif
