/*
 * builder.h - the builder from the inside: what the files of this folder share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_IR_BUILDER_H
#define GROUT_IR_BUILDER_H

#include "grout/build.h"
#include "module.h"

/* A region that is open. */
typedef struct grout_build_region {
    grout_op_id op;
    grout_block_id block; /* being filled */
} grout_build_region;

struct grout_builder {
    grout_module *module;
    grout_diags *diags;     /* the first mistake */
    grout_loc_id loc;       /* of what is built now */
    grout_kernel_id kernel; /* open, or 0 */
    grout_block_id block;
    grout_table regions;    /* grout_build_region, the innermost last */
    grout_table nestable;   /* by value: built while grout_builder_inline was on (uint8_t) */
    grout_table expr_depth; /* by expression (uint8_t) */
    bool is_inline;
    bool has_failed; /* everything is a no-op from here on */
};

/* Limits of what the builder makes, so that its text keeps the parser's. */
enum { GROUT_BUILD_EXPR_DEPTH_MAX = 64, GROUT_BUILD_NESTED_MAX = 32 };

/* Reports the first mistake. Returns false. */
bool grout_builder__error(grout_builder *b, const char *format, ...) GROUT_PRINTF(2, 3);
/* Whether building goes on: false after a mistake or without memory. */
bool grout_builder__is_ok(grout_builder *b);
/* Whether a kernel is open, so that operations may be added; reports if not. */
bool grout_builder__is_in_kernel(grout_builder *b);
/* Interns the name of a value, const, axis or kernel; 0 after a report. what is for the message. */
grout_string_id grout_builder__name(grout_builder *b, const char *name, const char *what);
grout_string_id grout_builder__string(grout_builder *b, const char *text);
bool grout_builder__check_expr(grout_builder *b, grout_expr_id expr);
bool grout_builder__check_exprs(grout_builder *b, uint32_t count, const grout_expr_id *exprs);
/* Whether a set of axes of the open kernel has cluster axes, and nothing else (build_op.c). */
/* grout_attr_value.dims; 0 for none, or what is none. */
uint32_t grout_builder__pack_dims(uint32_t count, const uint32_t *dims);
bool grout_builder__check_axes(grout_builder *b, uint32_t axes);
/* Checks an operand and gives it the builder's place. */
bool grout_builder__check_operand(grout_builder *b, grout_operand *operand);
/* Fills an object; false after a report. */
bool grout_builder__object(grout_builder *b, const grout_build_object *from, grout_object *to);
/* Appends an operation with its results; 0 after a report. */
grout_op_id grout_builder__add_op(grout_builder *b, grout_new_op *new_op, uint32_t result_count);
/* Gives count values from first on names; NULL ones get numbers at the end. */
bool grout_builder__name_values(grout_builder *b, grout_value_id first, uint32_t count,
                                const char *const *names);

/* build_finish.c: numbers for values without a name, and whether the text would mean the same. */
bool grout_builder__resolve(grout_builder *b);

#endif
