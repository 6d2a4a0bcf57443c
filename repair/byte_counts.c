/* byte_counts.c - what a count of bytes may lack: a factor, or the bytes of another copy.
 * SPDX-License-Identifier: Apache-2.0 */
#include "values.h"

#include <string.h>

/* The bytes of an element, before a count of elements. */
static const char *const factors[] = {"2 * ", "4 * ", "8 * "};
#define FACTORS     (sizeof factors / sizeof factors[0])
#define FACTOR_SIZE 4u

/* Each factor but one, in the place of some bytes. */
static void write_factors(grout_value_writer *it, size_t start, size_t size, size_t own) {
    for (size_t i = 0; i < FACTORS; i++) {
        const grout_span factor = {factors[i], FACTOR_SIZE};
        if (i != own) {
            grout_value_writer__replace(it, start, size, factor, "", GROUT_COST_NUMBER);
        }
    }
}

/* '2 * TM * TK' for 'TM * TK' and for '4 * TM * TK', and 'TM * TK' for both. */
static void change_factor(grout_value_writer *it, size_t start, size_t end) {
    size_t own = 0;
    while (own < FACTORS && (end - start <= FACTOR_SIZE ||
                             memcmp(it->code.data + start, factors[own], FACTOR_SIZE) != 0)) {
        own++;
    }
    const size_t size = own < FACTORS ? FACTOR_SIZE : 0;
    write_factors(it, start, size, own);
    if (size > 0) {
        grout_value_writer__replace(it, start, size, (grout_span){"", 0}, "", GROUT_COST_NUMBER);
    }
}

/* '(TM + TN)' for 'TM': two boxes that have a side in common. */
static void add_sides(grout_value_writer *it, size_t at, size_t size) {
    const grout_span side = {it->code.data + at, size};
    for (size_t i = 0; i < it->const_count; i++) {
        grout_text text = {0};
        grout_text_add(&text, "(%.*s + %.*s)", (int)side.size, side.data, (int)it->consts[i].size,
                       it->consts[i].data);
        if (text.data != NULL) {
            grout_value_writer__replace(it, at, size, (grout_span){text.data, text.size}, "",
                                        GROUT_COST_CONST);
        }
        grout_text_free(&text);
    }
}

void grout_value_writer__change_expected(grout_value_writer *it) {
    grout_span rest = it->task->outline->items[it->line].operands, last = rest;
    while (rest.size > 0) {
        last = grout_span__take_operand(&rest);
    }
    const size_t start = (size_t)(last.data - it->code.data);
    if (last.size > 0 && last.data[0] != '%') {
        grout_value_writer__change_bytes(it, start, start + last.size);
    }
}

void grout_value_writer__change_bytes(grout_value_writer *it, size_t start, size_t end) {
    change_factor(it, start, end);
    for (size_t i = start; i < end;) {
        const size_t size = grout_span__get_word_size(it->code, i);
        if (size > 0 && strchr("0123456789", it->code.data[i]) == NULL) {
            add_sides(it, i, size);
        }
        i += size > 0 ? size : 1;
    }
}
