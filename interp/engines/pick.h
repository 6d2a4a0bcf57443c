/*
 * pick.h - the boxes that an op with indices or a mask touches, one after the other.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_PICK_H
#define GROUT_INTERP_PICK_H

#include "memory.h"

typedef enum grout_pick_state {
    GROUT_PICK_TOUCHED, /* the box */
    GROUT_PICK_MASKED,  /* nothing: the mask is false */
    GROUT_PICK_OUTSIDE, /* nothing: what it names lies outside, which has been reported */
    GROUT_PICK_END
} grout_pick_state;

/* A walk over the boxes. Box number n has the elements from n * inner on of the array. */
typedef struct grout_picks {
    const grout_cta *cta;
    uint32_t thread;
    const grout_inst *inst;
    grout_box base; /* the one at the start of the reference */
    int64_t number; /* of the box that was given last */
    int64_t at[GROUT_RANK_MAX];
    bool reports;         /* faults: in the first walk of an op */
    const int32_t *noted; /* what grout_picks__note has noted of each box; NULL: registers say */
    bool has_reported_undefined, has_reported_outside;
} grout_picks;

/* The walk of an op's execution that reports faults; false: all of it is in no CTA. */
bool grout_picks__begin(grout_picks *picks, const grout_cta *cta, uint32_t thread,
                        const grout_inst *inst);
/* A walk at a base, over boxes that were noted. */
void grout_picks__begin_noted(grout_picks *picks, const grout_cta *cta, uint32_t thread,
                              const grout_inst *inst, const grout_box *base, const int32_t *noted);
/* Notes of each box its index, or that it is not touched: what a later walk needs. */
void grout_picks__note(grout_picks *picks, int32_t *noted);
/* Another walk over the same boxes, without reports. */
void grout_picks__rewind(grout_picks *picks);
grout_pick_state grout_picks__next(grout_picks *picks, grout_box *box);
/*
 * Goes through all boxes and publishes the access: exactly the bytes that are touched. With
 * has_own_places two boxes at one place that are to be written with different values are a fault.
 * stamps: as in grout_access__publish. Returns whether all bytes are in aligned pieces of this
 * many.
 */
bool grout_picks__publish(grout_picks *picks, const grout_stamp *stamps, bool has_own_places,
                          uint32_t piece);

#endif
