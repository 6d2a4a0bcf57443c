/*
 * wgmma.h - the tensor core as an engine: groups of a thread, performed in order some time between
 * issue and the wait that covers them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_WGMMA_H
#define GROUT_INTERP_WGMMA_H

#include "accumulator.h"
#include "operand.h"

/* A wgmma in full but for its wait: faults, events, definedness, its effect if it is due. */
void grout_wgmma__issue(const grout_cta *cta, uint32_t thread, const grout_inst *inst);
/* The thread waits until at most this many of its newest groups are in flight. */
void grout_wgmma__wait(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                       uint32_t allowed);
/* The thread's groups up to last are performed. */
void grout_wgmma__finish(const grout_cta *cta, uint32_t thread, uint32_t last);
/* A load of an accumulator that did not wait: columns that a group in flight may still change hold
 * poison, one array of the box's shape. */
void grout_wgmma__poison_in_flight(const grout_cta *cta, uint32_t thread, const grout_box *box,
                                   void *array);

/* What a product multiplies: where its operands are, of a sparse a the metadata, and the scales of
 * both, if they have some. */
typedef struct grout_factors {
    const grout_product_plan *product;
    grout_operand_source sources[2];
    const uint8_t *metadata;
    const uint8_t *scales[2];
} grout_factors;

/* to += a * b, watched if the launch asks for it; is_fresh: to = a * b. */
void grout_factors__multiply(const grout_cta *cta, const grout_origin *origin,
                             const grout_factors *its, const grout_accumulator *to, bool is_fresh);
/* The metadata of a sparse a, row by row; the first row's number: of a pair of CTAs the second one
 * has the later rows. */
typedef struct grout_metadata {
    const uint16_t *words;
    uint32_t first_row;
} grout_metadata;
/* The first code that says nothing is a finding. Codes that nobody wrote are not looked at: they
 * make sums undefined, which is one already. */
void grout_factors__check_metadata(const grout_cta *cta, uint32_t actor, const grout_inst *inst,
                                   grout_metadata metadata);

#endif
