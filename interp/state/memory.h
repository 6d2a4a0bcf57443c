/*
 * memory.h - boxes of SMEM and GMEM: where an operand's bytes are, and moving them between memory
 * and registers, in the box's logical order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_MEMORY_H
#define GROUT_INTERP_MEMORY_H

#include "machine.h"

/* The part of an array that a made descriptor is of: elements first to end - 1. */
typedef struct grout_box_limits {
    int64_t first[GROUT_RANK_MAX], end[GROUT_RANK_MAX];
} grout_box_limits;

/* A box with its start resolved, for the length of one op. */
typedef struct grout_box {
    const grout_box_plan *plan;
    int64_t start[GROUT_RANK_MAX];
    grout_box_limits limits; /* if the plan has a first_limit: nothing outside is touched */
    int64_t low[GROUT_RANK_MAX], size[GROUT_RANK_MAX]; /* the part inside the object */
    uint8_t *bytes;                                    /* of the object */
    uint8_t *state;                                    /* its arena */
    uint64_t *versions;                                /* its page versions: operand.h */
    int64_t offset;   /* the plan's shape, moved by this many bytes */
    uint32_t rank;    /* of the CTA whose SMEM or barrier it is; for other boxes, the actor's */
    uint32_t outside; /* first dimension that leaves the object, if not is_inside */
    bool is_inside;   /* all of it */
    bool is_empty;    /* nothing of it is inside */
    bool is_nowhere;  /* of a CTA outside the cluster; empty too */
    bool is_shaped;   /* the plan's shape holds */
    bool is_stale;    /* shown as it was before the launches that have not been waited for */
} grout_box;

/* The box for the values in an actor's registers; reports an undefined start, and a place outside
 * the cluster. */
grout_box grout_box__resolve(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                             uint32_t index);
/* The same of a plan that is none of the instruction's operands. */
grout_box grout_box__resolve_plan(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                                  const grout_box_plan *plan);
/* The box at a given start, in the CTA; and through a made descriptor. */
grout_box grout_box__place(const grout_cta *cta, const grout_box_plan *plan, const int64_t *start);
grout_box grout_box__place_inside(const grout_cta *cta, const grout_box_plan *plan,
                                  const int64_t *start, const grout_box_limits *limits);

/* Numbers of a fault that count as the box does become numbers of elements. */
void grout_box__count_elements(const grout_box *box, grout_fault *fault);
/* stale.c: whether an actor may be shown older contents of a box that it reads; shows them; the
 * memory for it, false without. */
bool grout_stale__is_shown(const grout_cta *cta, uint32_t thread, const grout_box *box);
void grout_stale__show(grout_machine *machine, grout_box *box);
bool grout_stale__add(grout_machine *machine);

/* Whether all of the box is inside its object; reported as out of bounds if not, unless it is
 * nowhere, which its resolution has reported. */
bool grout_box__check_inside(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                             const grout_box *box);
/* The same box in the SMEM of another CTA of the cluster. */
void grout_box__set_rank(const grout_cta *cta, grout_box *box, uint32_t rank);
/* The box goes so far on in a dimension. */
void grout_box__shift(const grout_cta *cta, grout_box *box, uint32_t dim, int64_t distance);
/* Part i of this many of the box, cut along its dim-th dimension from the innermost: elements keep
 * the numbers that they have in the whole box. */
void grout_box__cut(grout_box *box, uint32_t dim, uint32_t part, uint32_t parts);

/* The bytes inside, as runs of the object; *count_out of them. Scratch: valid until the next call.
 * NULL without memory. */
const grout_run *grout_box__get_runs(grout_machine *machine, const grout_box *box,
                                     uint32_t *count_out);
/* What is inside, piece by piece in ascending order of element. */
typedef void grout_piece_visitor(void *payload, const grout_piece *piece);
void grout_box__visit(const grout_machine *machine, const grout_box *box,
                      grout_piece_visitor *visitor, void *payload);
/* Between memory and count elements in logical order. Elements outside are left as they are. */
void grout_box__gather(const grout_machine *machine, const grout_box *box, void *linear);
void grout_box__scatter(const grout_machine *machine, const grout_box *box, const void *linear);
/* All bytes of an SMEM box are in [*low_out, *high_out), which counts from the start of SMEM. */
void grout_box__get_range(const grout_box *box, int64_t *low_out, int64_t *high_out);
/* The same for a box, of whatever space. */
void grout_box__touch(const grout_box *box);
/* Fills what is inside with the poison of the object's type. */
void grout_box__poison(grout_machine *machine, const grout_box *box);

/* ---- who has been written: defined.c (only while the launch tracks it) ----------------------- */

/* True if no element inside is undefined. */
bool grout_box__is_defined(grout_machine *machine, const grout_box *box);
/* Publishes which bytes of a box that an op reads have no value, if somebody wants to know. */
void grout_box__publish_unwritten(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                                  const grout_box *box);
/* One byte for each element of the box: 1 if it is inside and undefined, 0 if inside and defined.
 */
void grout_box__get_undefined(const grout_machine *machine, const grout_box *box, uint8_t *mask);
/* The same, and what mask says already stays. */
void grout_box__add_undefined(const grout_machine *machine, const grout_box *box, uint8_t *mask);
/* Marks what is inside as written; where mask (may be NULL) is not 0, with an undefined value. */
void grout_box__set_written(grout_machine *machine, const grout_box *box, const uint8_t *mask);
/* Whether mask (one byte an element) is 1 anywhere inside. */
bool grout_box__has_undefined(const grout_machine *machine, const grout_box *box,
                              const uint8_t *mask);

#endif
