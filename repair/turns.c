/* turns.c - the first and the last turn of a loop: products that start over, conditions of a turn.
 * SPDX-License-Identifier: Apache-2.0 */
#include "values.h"

#include <string.h>

/* Whether the name is that of a loop around the line. */
static bool is_turn(const grout_value_writer *it, grout_span name) {
    size_t depth = it->task->outline->items[it->line].depth;
    for (size_t i = it->line; i-- > it->task->outline->first && depth > 1;) {
        grout_span code = it->task->outline->lines->items[i].code;
        const size_t own = it->task->outline->items[i].depth;
        if (code.size > 0 && own < depth) {
            depth = own;
            if (grout_span__take(&code, "for ") &&
                grout_span__is_equal(grout_span__get_name(code), name)) {
                return true;
            }
        }
    }
    return false;
}

/* The last operand of a product, use_acc: '(gt %k, 0)' of a loop around it. */
void grout_value_writer__start_over(grout_value_writer *it) {
    const grout_outline_line *line = &it->task->outline->items[it->line];
    const grout_opcode opcode = grout_op_find(line->mnemonic.data, line->mnemonic.size);
    const bool is_product_line = line->sync != NULL && line->sync->mode == GROUT_SYNC_MODE_STARTS &&
                                 (line->sync->object == GROUT_SYNC_OBJECT_WGMMA ||
                                  line->sync->object == GROUT_SYNC_OBJECT_TCGEN05) &&
                                 opcode != GROUT_OP_NONE;
    grout_span rest = line->operands, last = rest;
    while (is_product_line && rest.size > 0) {
        last = grout_span__take_operand(&rest);
    }
    const bool is_flag = grout_span__is(last, "true") || grout_span__is(last, "false");
    for (size_t i = 0; i < it->names.count && is_product_line; i++) {
        if (is_turn(it, it->names.items[i])) {
            grout_text text = {0};
            grout_text_add(&text, "%s(gt %.*s, 0)", is_flag ? "" : ", ",
                           (int)it->names.items[i].size, it->names.items[i].data);
            if (text.data != NULL) {
                grout_value_writer__replace(
                    it, is_flag ? (size_t)(last.data - it->code.data) : it->code.size,
                    is_flag ? last.size : 0, (grout_span){text.data, text.size}, "",
                    GROUT_COST_NEIGHBOUR);
            }
            grout_text_free(&text);
        }
    }
}

/* What stands between ".." and " {" in the head of a loop; empty: it is none over the name. */
static grout_span get_high(grout_span loop, grout_span name) {
    const bool is_loop = grout_span__take(&loop, "for ") &&
                         grout_span__is_equal(grout_span__get_name(loop), name) &&
                         loop.data[loop.size - 1] == '{';
    for (size_t k = 0; k + 4 < loop.size && is_loop; k++) {
        if (memcmp(loop.data + k, "..", 2) == 0) {
            return (grout_span){loop.data + k + 2, loop.size - k - 4};
        }
    }
    return (grout_span){"", 0};
}

/* '(eq %p, 0)' becomes '(eq %p, N - 1)': the last turn is meant, not the first. */
void grout_value_writer__change_turn(grout_value_writer *it) {
    const grout_outline *outline = it->task->outline;
    grout_span code = it->code, high = {"", 0};
    if (!grout_span__take(&code, "if (eq ")) {
        return;
    }
    const grout_span turn = grout_span__get_name(code);
    for (size_t i = it->line; i-- > outline->first && high.size == 0 && is_turn(it, turn);) {
        high = get_high(outline->lines->items[i].code, turn);
    }
    const size_t at = (size_t)(turn.data - it->code.data) + turn.size + 2;
    const size_t end = grout_span__find_close(it->code, 3);
    if (high.size > 0 && at < end && end < it->code.size) {
        grout_value_writer__replace(it, at, end - at, high, " - 1", GROUT_COST_CONST);
    }
}
