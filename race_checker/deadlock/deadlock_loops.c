/*
 * deadlock_loops.c - the loops of both sides of a wait that are not alike.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "deadlock.h"

#include <string.h>

/* Whether two loops are written with the same bounds, step and carried start. */
static bool are_alike(const grout_deadlock *text, grout_op_id one, grout_op_id two) {
    const grout_op *a = grout_module_get_op(text->module, one);
    const grout_op *b = grout_module_get_op(text->module, two);
    bool is_alike = a->opcode == b->opcode && a->operand_count >= 2 && b->operand_count >= 2;
    for (uint32_t i = 0; is_alike && i < 2; i++) { /* from, to */
        grout_text first = {.allocator = text->checker->allocator};
        grout_text second = {.allocator = text->checker->allocator};
        grout_operand_print(text->module, one, i, &first);
        grout_operand_print(text->module, two, i, &second);
        is_alike = strcmp(first.data == NULL ? "" : first.data,
                          second.data == NULL ? "" : second.data) == 0;
        grout_text_free(&first);
        grout_text_free(&second);
    }
    return is_alike;
}

void grout_deadlock__find_loops(const grout_deadlock *text, grout_op_id *own, grout_op_id *other) {
    *own = grout_op__get_loop(text->module, *own);
    *other = grout_op__get_loop(text->module, *other);
    grout_op_id outer = *own == 0 ? 0 : grout_op__get_loop(text->module, *own);
    grout_op_id other_outer = *other == 0 ? 0 : grout_op__get_loop(text->module, *other);
    while (outer != 0 && other_outer != 0 && outer != other_outer &&
           are_alike(text, *own, *other)) {
        *own = outer;
        *other = other_outer;
        outer = grout_op__get_loop(text->module, *own);
        other_outer = grout_op__get_loop(text->module, *other);
    }
}
