/*
 * printer.h - the printer from the inside: what printer.c and the print_*.c files share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_IR_PRINTER_H
#define GROUT_IR_PRINTER_H

#include "nesting.h"

enum { GROUT_LINE_MAX = 100 }; /* columns of a line before something is broken */

typedef struct grout_printer {
    const grout_module *module;
    grout_text *out;
    const grout_nesting *nesting; /* NULL while only constant expressions are printed */
} grout_printer;

/* How tight an operator binds; an expression in parentheses is needed below the level asked for. */
typedef enum grout_level {
    GROUT_LEVEL_ANY,
    GROUT_LEVEL_COMPARE,
    GROUT_LEVEL_SHIFT,
    GROUT_LEVEL_SUM,
    GROUT_LEVEL_PRODUCT,
    GROUT_LEVEL_UNARY
} grout_level;

void grout_printer__text(const grout_printer *pr, const char *text);

/* print_expr.c */
void grout_printer__expr(const grout_printer *pr, grout_expr_id id, grout_level level);
/* Constants with commas between. */
void grout_printer__exprs(const grout_printer *pr, const grout_expr_id *ids, uint32_t count);
void grout_printer__string(const grout_printer *pr, grout_string_id id);
/* ' init(..)', unless id is 0. */
void grout_printer__init(const grout_printer *pr, grout_init_id id);

/* print_op.c */
void grout_printer__type(const grout_printer *pr, const grout_written_type *type);
void grout_printer__value(const grout_printer *pr, grout_value_id id);
/* An operation with its results, without its bodies. */
void grout_printer__op(const grout_printer *pr, grout_op_id id);

#endif
