/*
 * rings.h - arrays of barriers and of buffers, and which slot of them each operation names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_RACE_CHECKER_RINGS_H
#define GROUT_RACE_CHECKER_RINGS_H

#include "array.h"
#include "checker.h"

/* What an operation does to the slot that it names. */
typedef enum grout_ring_role {
    GROUT_RING_ARRIVES, /* on a barrier, or brings bytes to it */
    GROUT_RING_WAITS,   /* on a barrier */
    GROUT_RING_FILLS,   /* a buffer */
    GROUT_RING_READS,   /* a buffer */
    GROUT_RING_OTHER    /* makes it, ends it, or uses it in another way */
} grout_ring_role;

/* An operand that is an array with several slots, or a place in one. */
typedef struct grout_ring_use {
    grout_object_id object;
    grout_op_id loop; /* innermost around the op; 0: none */
    grout_op_id op;
    uint32_t operand;
    uint8_t role; /* grout_ring_role */
} grout_ring_use;

typedef GROUT_ARRAY(grout_ring_use) grout_ring_uses;

/* Those of the kernel that is checked, made when the first finding asks. */
typedef struct grout_rings {
    grout_ring_uses by_object, by_loop;
    bool is_made;
} grout_rings;

void grout_rings__deinit(grout_rings *rings);
/* False without memory. */
bool grout_rings__make(grout_rings *rings, const grout_checker *checker);

/* A run of the uses. */
typedef struct grout_ring_span {
    const grout_ring_use *items;
    size_t count;
} grout_ring_span;

/* Those of an object; those of ops whose innermost loop this is. Empty if there are more than
 * GROUT_RING_LOOKED of them: no rule looks at as many. */
enum { GROUT_RING_LOOKED = 48 };
grout_ring_span grout_rings__get_of_object(const grout_rings *rings, grout_object_id object);
grout_ring_span grout_rings__get_of_loop(const grout_rings *rings, grout_op_id loop);

/* ---- one use ---- */

/* Slots of an array of barriers, or of buffers; 0: it is none. */
int64_t grout_object__count_slots(const grout_module *module, grout_object_id object);
/* The slot that the use names, by one index; NULL: by none, or by several. */
const grout_operand *grout_ring_use__get_slot(const grout_module *module,
                                              const grout_ring_use *use);
/* The leading indices that name one place each, the first of them the slot: how many. */
uint32_t grout_ring_use__get_places(const grout_module *module, const grout_ring_use *use,
                                    const grout_operand *places_out[GROUT_RANK_MAX]);
/* "%full[%slot]" */
void grout_ring_use__add(const grout_module *module, const grout_ring_use *use, grout_text *out);

/* ---- indices ---- */

/* Whether a slot is a number of the text, and which. */
bool grout_slot__is_constant(const grout_module *module, const grout_operand *slot,
                             int64_t *number_out);
/* Whether two indices are computed in the same way from the same values. */
bool grout_slot__is_equal(const grout_module *module, const grout_operand *a,
                          const grout_operand *b);
/* What a slot is the remainder of: x of 'rem x, n'; NULL: it is no remainder. */
const grout_operand *grout_slot__get_dividend(const grout_module *module,
                                              const grout_operand *slot);
/* What a parity is a quotient of: x of '(x / n + 1) % 2'; NULL: no quotient is in it. */
const grout_operand *grout_parity__get_dividend(const grout_module *module,
                                                const grout_operand *parity);
/* Whether two indices are computed from other values. */
bool grout_slot__are_apart(const grout_module *module, const grout_operand *a,
                           const grout_operand *b);
/* Whether an index is computed from the index of a loop, or from what its turns carry or compute.
 */
bool grout_slot__changes_in(const grout_module *module, const grout_operand *slot,
                            grout_op_id loop);
/* Whether it is computed from the index of a loop, or from what the loop carries. */
bool grout_slot__changes_with(const grout_module *module, const grout_operand *slot,
                              grout_op_id loop);
/* Turns of a loop whose bounds are numbers; 0: not known. */
int64_t grout_loop__count_turns(const grout_module *module, grout_op_id loop);
/* The op whose result the index is, where that stands on a line of its own; 0: none. */
grout_op_id grout_slot__find_source(const grout_module *module, const grout_operand *slot,
                                    grout_op_id use);

#endif
