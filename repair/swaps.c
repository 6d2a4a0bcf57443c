/* swaps.c - two parts of a line in each other's place.
 * SPDX-License-Identifier: Apache-2.0 */
#include "values.h"

void grout_value_writer__swap(grout_value_writer *it, grout_span first, grout_span second) {
    const char *between = first.data + first.size;
    grout_text text = {0};
    grout_text_add(&text, "%.*s%.*s%.*s", (int)second.size, second.data,
                   (int)(second.data - between), between, (int)first.size, first.data);
    if (text.data != NULL) {
        grout_value_writer__replace(it, (size_t)(first.data - it->code.data),
                                    (size_t)(second.data + second.size - first.data),
                                    (grout_span){text.data, text.size}, "", GROUT_COST_SWAP);
    }
    grout_text_free(&text);
}

/* 'sub %a, %b' becomes 'sub %b, %a', of an operation that has the line for itself. */
void grout_value_writer__swap_operands(grout_value_writer *it) {
    grout_span rest = it->task->outline->items[it->line].operands;
    const grout_span first = grout_span__take_operand(&rest);
    const grout_span second = grout_span__take_operand(&rest);
    if (first.size > 0 && second.size > 0 && rest.size == 0) {
        grout_value_writer__swap(it, first, second);
    }
}

void grout_value_writer__swap_names(grout_value_writer *it) {
    grout_span names[2];
    size_t count = 0;
    for (size_t i = grout_span__get_results_size(it->code); i < it->code.size; i++) {
        const grout_span name =
            grout_span__get_name((grout_span){it->code.data + i, it->code.size - i});
        if (name.size > 0) {
            if (count == 2) {
                return;
            }
            names[count++] = name;
        }
    }
    if (count == 2 && it->steers && !grout_span__is_equal(names[0], names[1])) {
        grout_value_writer__swap(it, names[0], names[1]);
    }
}

/* The part of "[..]" after a bracket, without the bracket that closes it; empty: none does. */
static grout_span get_inside(grout_span code, size_t open) {
    size_t depth = 0;
    for (size_t i = open; i < code.size; i++) {
        depth += code.data[i] == '[' ? 1u : 0u;
        depth -= code.data[i] == ']' ? 1u : 0u;
        if (depth == 0) {
            return (grout_span){code.data + open + 1, i - open - 1};
        }
    }
    return (grout_span){"", 0};
}

/* 'load %x[%i, %j]' becomes 'load %x[%j, %i]'. */
void grout_value_writer__swap_indices(grout_value_writer *it) {
    for (size_t i = grout_span__get_results_size(it->code); i < it->code.size; i++) {
        grout_span rest = it->code.data[i] == '[' ? get_inside(it->code, i) : (grout_span){"", 0};
        grout_span last = grout_span__take_operand(&rest);
        while (last.size > 0 && rest.size > 0) {
            const grout_span next = grout_span__take_operand(&rest);
            if (next.size > 0 && !grout_span__is_equal(last, next)) {
                grout_value_writer__swap(it, last, next);
            }
            last = next;
        }
    }
}
