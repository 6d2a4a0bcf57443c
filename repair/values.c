/* values.c - what computes, written a little differently: for results that are not as expected.
 * SPDX-License-Identifier: Apache-2.0 */
#include "values.h"

#include "alloc.h"

#include <string.h>

static const struct {
    grout_opcode one, other;
} neighbours[] = {
#define GROUT_NEIGHBOURS(one, other) {GROUT_OP_##one, GROUT_OP_##other},
#include "neighbours.def"
};

/* Infix operators, and what each is taken for. */
static const struct {
    const char *one, *other;
} marks[] = {{"<=", "<"},  {">=", ">"}, {"==", "!="}, {"!=", "=="}, {"<<", ">>"},
             {">>", "<<"}, {"<", "<="}, {">", ">="},  {"+", "-"},   {"-", "+"},
             {"/", "%"},   {"%", "/"},  {"*", "/"}};

/* Whether the line is of the kernel's body: its reference is never changed. */
static bool is_own(const grout_outline *outline, size_t line) {
    return outline->items[line].is_place || outline->items[line].is_scratch;
}

static grout_span make_span(const char *text) {
    return (grout_span){text, strlen(text)};
}

/* ---- tokens --------------------------------------------------------------------------------- */

static bool is_word_byte(char c) {
    return grout_span__get_word_size((grout_span){&c, 1}, 0) > 0;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* "1.5", "0x1.8p3", "1e-3", "42": all bytes of the number. */
static size_t get_number_size(grout_span code, size_t at, bool *is_float_out) {
    size_t size = grout_span__get_word_size(code, at);
    const bool is_range = at + size + 1 < code.size && code.data[at + size + 1] == '.';
    *is_float_out = false;
    if (at + size < code.size && code.data[at + size] == '.' && !is_range) {
        *is_float_out = true;
        size += 1 + grout_span__get_word_size(code, at + size + 1);
    }
    const char last = code.data[at + size - 1];
    if ((last == 'e' || last == 'p') && at + size + 1 < code.size &&
        (code.data[at + size] == '-' || code.data[at + size] == '+')) {
        *is_float_out = true;
        size += 1 + grout_span__get_word_size(code, at + size + 1);
    }
    return size;
}

/* In an index a value may be meant, and anywhere one that nothing uses. */
static void change_to_names(grout_value_writer *it, size_t at, size_t size, size_t brackets) {
    for (size_t i = 0; i < it->number_count && brackets > 0; i++) {
        if (grout_value_writer__can_use(it, it->numbers[i])) {
            grout_value_writer__replace(it, at, size, it->numbers[i], "", GROUT_COST_NAME);
        }
    }
    for (size_t i = 0; i < it->unused_count; i++) {
        if (grout_value_writer__can_use(it, it->unused[i])) {
            grout_value_writer__replace(it, at, size, it->unused[i], "", GROUT_COST_UNUSED);
        }
    }
}

static void change_integer(grout_value_writer *it, size_t at, size_t size) {
    uint32_t value = 0;
    for (size_t i = 0; i < size; i++) {
        if (!is_digit(it->code.data[at + i]) || size > 6) {
            return;
        }
        value = value * 10 + (uint32_t)(it->code.data[at + i] - '0');
    }
    for (int step = 1; step >= -1; step -= 2) {
        grout_text text = {0};
        grout_text_add(&text, "%lld", (long long)value + step);
        if (text.data != NULL && (step > 0 || value > 0)) {
            grout_value_writer__replace(it, at, size, (grout_span){text.data, text.size}, "",
                                        GROUT_COST_NUMBER);
        }
        grout_text_free(&text);
    }
}

/* A sign before a float. */
static void change_sign(grout_value_writer *it, size_t at, size_t size) {
    if (at > 0 && it->code.data[at - 1] == '-') {
        grout_value_writer__replace(it, at - 1, size + 1, (grout_span){it->code.data + at, size},
                                    "", GROUT_COST_SIGN);
        return;
    }
    grout_text text = {0};
    grout_text_add(&text, "-%.*s", (int)size, it->code.data + at);
    if (text.data != NULL) {
        grout_value_writer__replace(it, at, size, (grout_span){text.data, text.size}, "",
                                    GROUT_COST_SIGN);
    }
    grout_text_free(&text);
}

/* What a loop carries on may be any value. */
static bool carries_on(const grout_value_writer *it) {
    const grout_span word = it->task->outline->items[it->line].mnemonic;
    return grout_op_find(word.data, word.size) == GROUT_OP_YIELD; /* by name: what ends a turn */
}

/* A number that is right at one size, where a const was meant. */
static void change_to_consts(grout_value_writer *it, size_t at, size_t size) {
    for (size_t i = 0; i < it->const_count; i++) {
        grout_value_writer__replace(it, at, size, it->consts[i], "", GROUT_COST_CONST);
    }
}

static size_t change_number(grout_value_writer *it, size_t at, size_t brackets) {
    bool is_float = false;
    const size_t size = get_number_size(it->code, at, &is_float);
    change_to_names(it, at, size, brackets);
    if (is_float) {
        change_sign(it, at, size);
    } else {
        change_integer(it, at, size);
        for (size_t i = 0; i < it->names.count && carries_on(it); i++) {
            grout_value_writer__replace(it, at, size, it->names.items[i], "", GROUT_COST_NAME);
        }
        if (brackets > 0 || (it->steers && it->names.count > 0)) {
            change_to_consts(it, at, size);
        }
    }
    return size;
}

/* ---- words ---------------------------------------------------------------------------------- */

static bool is_const(const grout_value_writer *it, grout_span word) {
    for (size_t i = 0; i < it->const_count; i++) {
        if (grout_span__is_equal(it->consts[i], word)) {
            return true;
        }
    }
    return false;
}

static void change_mnemonic(grout_value_writer *it, size_t at, grout_span word) {
    const grout_opcode opcode = grout_op_find(word.data, word.size);
    for (size_t i = 0; opcode != GROUT_OP_NONE && i < sizeof neighbours / sizeof neighbours[0];
         i++) {
        const grout_opcode other = neighbours[i].one == opcode     ? neighbours[i].other
                                   : neighbours[i].other == opcode ? neighbours[i].one
                                                                   : GROUT_OP_NONE;
        if (other != GROUT_OP_NONE) {
            grout_value_writer__replace(it, at, word.size,
                                        make_span(grout_op_get_info(other)->text), "",
                                        GROUT_COST_NEIGHBOUR);
        }
    }
}

/* Another const, or one more or less than this one. */
static void change_const(grout_value_writer *it, size_t at, grout_span word) {
    for (size_t i = 0; i < it->const_count; i++) {
        if (!grout_span__is_equal(it->consts[i], word)) {
            grout_value_writer__replace(it, at, word.size, it->consts[i], "", GROUT_COST_CONST);
        }
    }
    grout_value_writer__replace(it, at, word.size, word, " - 1", GROUT_COST_OFFSET);
    grout_value_writer__replace(it, at, word.size, word, " + 1", GROUT_COST_OFFSET);
}

static size_t change_word(grout_value_writer *it, size_t at, bool is_mnemonic_place) {
    const grout_span word = {it->code.data + at, grout_span__get_word_size(it->code, at)};
    if (is_const(it, word)) {
        change_const(it, at, word);
    } else if (is_mnemonic_place) {
        change_mnemonic(it, at, word);
    }
    return word.size;
}

/* '%i + %me' for '%i': each thread, or CTA, was to have a part of its own. */
static void add_term(grout_value_writer *it, size_t at, grout_span name, grout_span term,
                     uint32_t cost) {
    if (grout_value_writer__can_use(it, term) && !grout_span__is_equal(term, name)) {
        grout_text text = {0};
        grout_text_add(&text, " + %.*s", (int)term.size, term.data);
        grout_value_writer__replace(it, at, name.size, name, text.data == NULL ? "" : text.data,
                                    cost);
        grout_text_free(&text);
    }
}

static void add_axes(grout_value_writer *it, size_t at, grout_span name) {
    for (size_t i = 0; i < it->axis_count; i++) {
        add_term(it, at, name, it->axes[i], GROUT_COST_NAME);
    }
    for (size_t i = 0; i < it->number_count; i++) { /* of two costs the less counts: it is first */
        add_term(it, at, name, it->numbers[i], GROUT_COST_NAME + 1);
    }
}

/* Another value, or one more or less than this one where it is an index. */
static size_t change_value(grout_value_writer *it, size_t at, size_t depth) {
    const grout_span name = {it->code.data + at, 1 + grout_span__get_word_size(it->code, at + 1)};
    if (depth > 0 || it->steers) {
        grout_value_writer__replace(it, at, name.size, name, " - 1", GROUT_COST_OFFSET);
        grout_value_writer__replace(it, at, name.size, name, " + 1", GROUT_COST_OFFSET);
    }
    if (depth > 0) {
        add_axes(it, at, name);
    }
    for (size_t i = 0; i < it->names.count; i++) {
        if (!grout_span__is_equal(it->names.items[i], name)) {
            grout_value_writer__replace(it, at, name.size, it->names.items[i], "", GROUT_COST_NAME);
        }
    }
    return name.size;
}

/* ---- marks ---------------------------------------------------------------------------------- */

/* ' - 1' goes, ' + NAME' goes. */
static void drop_term(grout_value_writer *it, size_t at) {
    const size_t start = at + 2; /* after "- " */
    const bool is_none = start >= it->code.size || !is_word_byte(it->code.data[start]);
    if ((it->code.data[at] == '-' || it->code.data[at] == '+') && !is_none) {
        const size_t size = grout_span__get_word_size(it->code, start);
        grout_value_writer__replace(it, at - 1, size + 3, make_span(""), "", GROUT_COST_NEIGHBOUR);
    }
}

/* 'W - 1 - %j' becomes '%j': all terms before go. */
static void drop_terms_before(grout_value_writer *it, size_t at) {
    size_t start = at;
    while (start > 0 && strchr("([,=", it->code.data[start - 1]) == NULL) {
        start--;
    }
    while (start < at && it->code.data[start] == ' ') {
        start++;
    }
    if (start > 0 && (it->code.data[at] == '-' || it->code.data[at] == '+')) {
        grout_value_writer__replace(it, start, at + 2 - start, make_span(""), "", GROUT_COST_SIGN);
    }
}

/* An infix operator has blanks on both sides in canonical form. */
static size_t change_mark(grout_value_writer *it, size_t at) {
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        const size_t size = strlen(marks[i].one);
        if (at > 0 && at + size < it->code.size && it->code.data[at - 1] == ' ' &&
            it->code.data[at + size] == ' ' &&
            memcmp(it->code.data + at, marks[i].one, size) == 0) {
            grout_value_writer__replace(it, at, size, make_span(marks[i].other), "",
                                        GROUT_COST_NEIGHBOUR);
            drop_term(it, at);
            drop_terms_before(it, at);
            return size;
        }
    }
    return 1;
}

/* ---- lines ---------------------------------------------------------------------------------- */

static bool is_word_start(grout_span code, size_t at) {
    return is_word_byte(code.data[at]) && (at == 0 || !is_word_byte(code.data[at - 1]));
}

/* One token; returns its size. */
static size_t change_token(grout_value_writer *it, size_t at, size_t brackets) {
    const char c = it->code.data[at];
    const bool begins_statement =
        at == 0 || it->code.data[at - 1] == '(' || it->code.data[at - 1] == ' ';
    if (c == '"') {
        const char *end = memchr(it->code.data + at + 1, '"', it->code.size - at - 1);
        return end == NULL ? it->code.size - at : (size_t)(end - it->code.data) + 1 - at;
    }
    if (c == '%' && at + 1 < it->code.size && is_word_byte(it->code.data[at + 1])) {
        return change_value(it, at, brackets);
    }
    if (is_digit(c)) {
        return change_number(it, at, brackets);
    }
    if (is_word_start(it->code, at)) {
        return change_word(it, at, begins_statement);
    }
    return change_mark(it, at);
}

/* ---- parts of indices ----------------------------------------------------------------------- */

/* The part that begins at a place: "ds(..)", or a quotient of two consts; empty: none does. */
static grout_span get_part(const grout_value_writer *it, grout_span code, size_t at) {
    const grout_span none = {"", 0};
    if (at > 0 && is_word_byte(code.data[at - 1])) {
        return none;
    }
    if (at + 3 < code.size && memcmp(code.data + at, "ds(", 3) == 0) {
        const size_t close = grout_span__find_close(code, at + 2);
        return close < code.size ? (grout_span){code.data + at, close + 1 - at} : none;
    }
    const size_t size = grout_span__get_word_size(code, at);
    const size_t next = at + size + 3;
    const size_t more = next < code.size ? grout_span__get_word_size(code, next) : 0;
    const bool is_quotient = size > 0 && more > 0 && code.data[at + size] == ' ' &&
                             code.data[at + size + 1] == '/' &&
                             is_const(it, (grout_span){code.data + at, size}) &&
                             is_const(it, (grout_span){code.data + next, more});
    return is_quotient ? (grout_span){code.data + at, size + 3 + more} : none;
}

/* ", TN)" of "ds(%col, TN)": only slices of one size take each other's place. */
static grout_span get_part_size(grout_span part) {
    for (size_t i = part.size; i-- > 0 && part.data[part.size - 1] == ')';) {
        if (part.data[i] == ',') {
            return (grout_span){part.data + i, part.size - i};
        }
    }
    return (grout_span){"", 0};
}

static void change_part(grout_value_writer *it, size_t at) {
    const grout_span part = get_part(it, it->code, at);
    for (size_t i = 0; i < it->part_count && part.size > 0; i++) {
        const grout_span other = it->parts[i];
        if (!grout_span__is_equal(other, part) &&
            grout_span__is_equal(get_part_size(other), get_part_size(part)) &&
            grout_outline_names__have(&it->names, other)) {
            grout_value_writer__replace(it, at, part.size, other, "", GROUT_COST_CONST);
        }
    }
}

static void find_parts(grout_value_writer *it) {
    const grout_outline *outline = it->task->outline;
    for (size_t i = outline->first; i < outline->end; i++) {
        const grout_span code = outline->lines->items[i].code;
        for (size_t k = 0; k < code.size && is_own(outline, i); k++) {
            const grout_span part = get_part(it, code, k);
            bool is_known = part.size == 0 || it->part_count == GROUT_VALUES_PARTS_MAX;
            for (size_t n = 0; n < it->part_count && !is_known; n++) {
                is_known = grout_span__is_equal(it->parts[n], part);
            }
            if (!is_known) {
                it->parts[it->part_count++] = part;
            }
        }
    }
}

/* ---- what a line is about ------------------------------------------------------------------- */

static bool is_number_name(const grout_value_writer *it, grout_span name) {
    for (size_t i = 0; i < it->number_count; i++) {
        if (grout_span__is_equal(it->numbers[i], name)) {
            return true;
        }
    }
    return false;
}

/* Whether each value of the text is one whole number. */
static bool is_of_numbers(const grout_value_writer *it, grout_span code) {
    for (size_t i = 0; i < code.size; i++) {
        const grout_span name = grout_span__get_name((grout_span){code.data + i, code.size - i});
        if (name.size > 0 && !is_number_name(it, name)) {
            return false;
        }
    }
    return true;
}

/* "%slot = rem %k, N", "%wg = axis_index wg" */
static bool makes_number(const grout_value_writer *it, size_t line) {
    static const grout_opcode whole[] = {
        GROUT_OP_AXIS_INDEX, GROUT_OP_ADD,  GROUT_OP_SUB, GROUT_OP_MUL, GROUT_OP_DIV,
        GROUT_OP_REM,        GROUT_OP_CDIV, GROUT_OP_MIN, GROUT_OP_MAX, GROUT_OP_MULTIPLE_OF};
    const grout_outline_line *one = &it->task->outline->items[line];
    const grout_opcode opcode = grout_op_find(one->mnemonic.data, one->mnemonic.size);
    for (size_t i = 0; i < sizeof whole / sizeof whole[0] && one->has_result; i++) {
        if (opcode == whole[i]) {
            return is_of_numbers(it, one->operands);
        }
    }
    return false;
}

static void find_numbers(grout_value_writer *it) {
    const grout_outline *outline = it->task->outline;
    for (size_t i = outline->first; i < outline->end && it->number_count < GROUT_VALUES_NUMBERS_MAX;
         i++) {
        grout_span code = outline->lines->items[i].code;
        const bool is_number =
            is_own(outline, i) && (grout_span__take(&code, "for ") || makes_number(it, i));
        const grout_span name = grout_span__get_name(code);
        if (is_number && name.size > 0 && !is_number_name(it, name)) {
            it->numbers[it->number_count++] = name;
        }
    }
}

/* A condition, the head of a loop, or a number. */
static bool does_steer(const grout_value_writer *it) {
    grout_span code = it->code;
    return grout_span__take(&code, "if ") || grout_span__take(&code, "for ") ||
           makes_number(it, it->line);
}

static bool is_used_elsewhere(const grout_outline *outline, size_t line, grout_span name) {
    for (size_t i = outline->first; i < outline->end; i++) {
        if (i != line && is_own(outline, i) &&
            grout_span__has_name(outline->lines->items[i].code, name)) {
            return true;
        }
    }
    return false;
}

/* Values that no other line of the kernel speaks of. */
static void find_unused_values(grout_value_writer *it) {
    const grout_outline *outline = it->task->outline;
    for (size_t i = outline->first; i < outline->end && it->unused_count < GROUT_VALUES_UNUSED_MAX;
         i++) {
        const grout_span name = grout_span__get_name(outline->lines->items[i].code);
        if (outline->items[i].has_result && name.size > 0 && !is_used_elsewhere(outline, i, name)) {
            it->unused[it->unused_count++] = name;
        }
    }
}

static bool has_word(grout_span code, grout_span word) {
    for (size_t i = 0; i + word.size <= code.size; i++) {
        if ((i == 0 || !is_word_byte(code.data[i - 1])) && code.data[i] != '%' &&
            memcmp(code.data + i, word.data, word.size) == 0 &&
            (i + word.size == code.size || !is_word_byte(code.data[i + word.size]))) {
            return true;
        }
    }
    return false;
}

/* ": f32 = 0.5": a const that is no size. */
static void find_unused_const(grout_value_writer *it, grout_span name, grout_span rest) {
    const grout_outline *outline = it->task->outline;
    bool is_used = !grout_span__take(&rest, ": f32");
    for (size_t i = outline->first; i < outline->end && !is_used; i++) {
        is_used = is_own(outline, i) && has_word(outline->lines->items[i].code, name);
    }
    if (!is_used && it->unused_count < GROUT_VALUES_UNUSED_MAX) {
        it->unused[it->unused_count++] = name;
    }
}

static bool is_of_bytes(const grout_value_writer *it) {
    return it->task->trial->items[0].code == GROUT_DIAG_BARRIER_TX_MISMATCH;
}

/* Whether the line announces bytes. */
static bool expects(const grout_value_writer *it) {
    const grout_outline_line *line = &it->task->outline->items[it->line];
    const grout_opcode opcode = grout_op_find(line->mnemonic.data, line->mnemonic.size);
    return opcode != GROUT_OP_NONE &&
           grout_op_get_info(opcode)->effect_row == GROUT_EFFECT_ROW_EXPECT;
}

static void change_line(grout_value_writer *it) {
    size_t brackets = 0;
    it->code = it->task->outline->lines->items[it->line].code;
    it->distance = grout_proposal_task__get_distance(it->task, it->line);
    it->steers = does_steer(it);
    const uint32_t base = it->base;
    it->base = base == GROUT_COST_UNLIKELY && it->steers ? GROUT_COST_STEERS : base;
    grout_outline__find_names(it->task->outline, it->line, &it->names);
    for (size_t i = grout_span__get_results_size(it->code); i < it->code.size && it->is_good;) {
        const char c = it->code.data[i];
        brackets += c == '[' ? 1u : 0u;
        brackets -= c == ']' && brackets > 0 ? 1u : 0u;
        change_part(it, i);
        i += change_token(it, i, brackets);
    }
    if (it->task->outline->items[it->line].operands.size > 0) {
        grout_value_writer__swap_operands(it);
    }
    if (is_of_bytes(it) && expects(it)) {
        grout_value_writer__change_expected(it);
    }
    grout_value_writer__change_nests(it);
    grout_value_writer__start_over(it);
    grout_value_writer__change_turn(it);
    grout_value_writer__swap_names(it);
    grout_value_writer__swap_indices(it);
    it->base = base;
}

/* ---- consts --------------------------------------------------------------------------------- */

/* Whether something but the body of the kernel goes by the const: the sizes of its arrays, another
 * kernel, its reference among them, a require. Directly, or by another const. */
static bool is_for_others(const grout_value_writer *it, grout_span name, size_t trust) {
    const grout_outline *outline = it->task->outline;
    for (size_t i = 0; i < outline->lines->count; i++) {
        grout_span code = outline->lines->items[i].code;
        if (is_own(outline, i) || !has_word(code, name)) {
            continue;
        }
        if (!grout_span__take(&code, "const ")) {
            return true;
        }
        while (code.size > 0) {
            grout_span value = grout_span__take_operand(&code);
            const grout_span own = grout_span__trim(grout_span__split(&value, '='));
            const grout_span other = {own.data, grout_span__get_word_size(own, 0)};
            if (!grout_span__is_equal(other, name) && has_word(value, name) &&
                (trust == 0 || is_for_others(it, other, trust - 1))) {
                return true;
            }
        }
    }
    return false;
}

/* How near the nearest line of the kernel is that speaks of the const; too far: none does. */
static uint32_t get_const_distance(const grout_value_writer *it, grout_span name) {
    const grout_outline *outline = it->task->outline;
    uint32_t distance = GROUT_DISTANCE_MAX;
    for (size_t i = outline->first; i < outline->end; i++) {
        const uint32_t own = grout_proposal_task__get_distance(it->task, i);
        if (is_own(outline, i) && own < distance && has_word(outline->lines->items[i].code, name)) {
            distance = own;
        }
    }
    return distance;
}

static bool is_integer(grout_span value) {
    bool is_one = value.size > 0;
    for (size_t i = 0; i < value.size; i++) {
        is_one &= is_digit(value.data[i]);
    }
    return is_one;
}

/* 'const STEPS = K / TK - 1': what only the kernel goes by may be wrong, too. */
static void change_const_line(grout_value_writer *it) {
    grout_span rest = it->code = it->task->outline->lines->items[it->line].code;
    it->names.count = 0;
    it->steers = true;
    if (!grout_span__take(&rest, "const ")) {
        return;
    }
    /* Another count of steps makes many a race go away; only bytes are seldom wrong elsewhere. */
    const uint32_t base = it->base;
    it->base += base > 0 && !is_of_bytes(it) ? GROUT_COST_NAME : 0;
    while (rest.size > 0 && it->is_good) {
        grout_span value = grout_span__take_operand(&rest);
        const grout_span name = grout_span__trim(grout_span__split(&value, '='));
        const grout_span word = {name.data, grout_span__get_word_size(name, 0)};
        it->distance = get_const_distance(it, word);
        if (it->distance == GROUT_DISTANCE_MAX || is_for_others(it, word, 4)) {
            continue;
        }
        value = grout_span__trim(value);
        if (is_integer(value)) { /* a size is chosen: another one is no repair */
            continue;
        }
        const size_t end = (size_t)(value.data - it->code.data) + value.size;
        for (size_t i = (size_t)(value.data - it->code.data); i < end && it->is_good;) {
            i += change_token(it, i, 0);
        }
        if (is_of_bytes(it)) {
            grout_value_writer__change_bytes(it, (size_t)(value.data - it->code.data), end);
        }
    }
    it->base = base;
}
/* The names of 'const A = 1, B = 2', wherever in the file. */
static void find_consts(grout_value_writer *it) {
    const grout_text_lines *lines = it->task->outline->lines;
    for (size_t i = 0; i < lines->count; i++) {
        grout_span rest = lines->items[i].code;
        if (rest.size < 6 || memcmp(rest.data, "const ", 6) != 0) {
            continue;
        }
        rest = (grout_span){rest.data + 6, rest.size - 6};
        while (rest.size > 0 && it->const_count < GROUT_VALUES_CONSTS_MAX) {
            const grout_span one = grout_span__take_operand(&rest);
            const size_t size = grout_span__get_word_size(one, 0);
            if (size > 0) {
                const grout_span name = {one.data, size};
                it->consts[it->const_count++] = name;
                find_unused_const(it, name,
                                  grout_span__trim((grout_span){one.data + size, one.size - size}));
            }
        }
    }
}

/* '%me = axis_index wg' */
static void find_axes(grout_value_writer *it) {
    const grout_outline *outline = it->task->outline;
    const char *mnemonic = grout_op_get_info(GROUT_OP_AXIS_INDEX)->text;
    for (size_t i = outline->first; i < outline->end && it->axis_count < GROUT_VALUES_AXES_MAX;
         i++) {
        const grout_outline_line *line = &outline->items[i];
        const grout_span name = grout_span__get_name(outline->lines->items[i].code);
        if (line->has_result && name.size > 0 && grout_span__is(line->mnemonic, mnemonic)) {
            it->axes[it->axis_count++] = name;
        }
    }
}

bool grout_proposals__add_values(grout_proposals *proposals, const grout_proposal_task *task) {
    const grout_outline *outline = task->outline;
    const grout_diag_code code = task->trial->items[0].code;
    const bool is_likely = code == GROUT_DIAG_COMPARE_MISMATCH ||
                           code == GROUT_DIAG_OUT_OF_BOUNDS ||
                           code == GROUT_DIAG_UNINITIALISED_READ || code == GROUT_DIAG_GMEM_RACE ||
                           code == GROUT_DIAG_GMEM_WRITE_NOT_VISIBLE;
    grout_value_writer it = {.proposals = proposals,
                             .task = task,
                             .base = is_likely ? 0 : GROUT_COST_UNLIKELY,
                             .is_good = true};
    if (!task->trial->is_compared) { /* nothing would judge them */
        return true;
    }
    find_unused_values(&it);
    find_consts(&it);
    find_axes(&it);
    find_numbers(&it);
    find_parts(&it);
    for (size_t i = outline->first;
         i < outline->end && it.is_good && grout_outline__goes_on(outline) &&
         proposals->count < GROUT_PROPOSALS_MAX;
         i++) {
        it.line = i;
        if (outline->items[i].is_place) {
            change_line(&it);
        } else if (outline->items[i].depth == 0) {
            change_const_line(&it);
        }
    }
    return it.is_good;
}
