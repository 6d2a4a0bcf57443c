/*
 * scope.h - which value a name means: block-scoped, inner names hide outer ones.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_IR_SCOPE_H
#define GROUT_IR_SCOPE_H

#include "module.h"

typedef struct grout_scope {
    grout_table bindings; /* by string id: what the name means now */
    grout_table hidden;   /* what the names bound since then meant before, oldest first */
    uint32_t depth;       /* blocks around */
    bool failed;          /* no memory */
} grout_scope;

bool grout_scope__init(grout_scope *scope, const grout_allocator *allocator);
void grout_scope__deinit(grout_scope *scope);

/* Enters a block; give the result to leave, which forgets the block's names. */
uint32_t grout_scope__enter(grout_scope *scope);
void grout_scope__leave(grout_scope *scope, uint32_t mark);
/* The value that the name means, or 0. */
grout_value_id grout_scope__find(const grout_scope *scope, grout_string_id name);
/* Whether the name means a value of the innermost block itself. */
bool grout_scope__is_in_block(const grout_scope *scope, grout_string_id name);
void grout_scope__bind(grout_scope *scope, grout_string_id name, grout_value_id value);

#endif
