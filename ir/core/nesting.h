/*
 * nesting.h - which operations are written inside the operand of their user.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_IR_NESTING_H
#define GROUT_IR_NESTING_H

#include "module.h"

typedef struct grout_nesting {
    const grout_module *module;
    grout_op_id first; /* the operations that are looked at: from this one on, this many */
    uint32_t count;
    uint8_t *marks;    /* of each */
    grout_table stack; /* operations whose user may come */
    bool failed;       /* no memory */
} grout_nesting;

bool grout_nesting__init(grout_nesting *nesting, const grout_module *module);
/* One operation alone and what stands inside it, marked. */
bool grout_nesting__init_statement(grout_nesting *nesting, const grout_module *module,
                                   grout_op_id op);
void grout_nesting__deinit(grout_nesting *nesting);

/*
 * Works out which operations of a block are written inside their user: those with one result that
 * has no name and one use, in the same block, immediately before the user in the order in which its
 * operands are evaluated (left to right, indices of references included). Operations that would
 * nest deeper than depth_max, at most 100, are not; 0 is no limit.
 */
void grout_nesting__mark_block(grout_nesting *nesting, grout_block_id block, uint32_t depth_max);
bool grout_nesting__is_nested(const grout_nesting *nesting, grout_op_id op);

#endif
