/* values.c - what computes, written a little differently: for results that are not as expected.
 * SPDX-License-Identifier: Apache-2.0 */
#include "proposals.h"

#include "alloc.h"

#include <string.h>

/* What each kind of change costs beside its distance: the smaller the slip, the likelier. */
enum {
    COST_NEIGHBOUR = 1, /* 'lt' for 'le', '+' for '-' */
    COST_NUMBER = 2,    /* one more, one less */
    COST_SIGN = 3,
    COST_OFFSET = 3,  /* '%i - 1' for '%i' */
    COST_CONST = 4,   /* another const of the file */
    COST_SWAP = 4,    /* the operands the other way round */
    COST_NAME = 6,    /* another value */
    COST_UNLIKELY = 8 /* the finding is of synchronisation, which may be why values are wrong */
};
#define CONSTS_MAX 24u
#define AXES_MAX   8u

typedef struct writer {
    grout_proposals *proposals;
    const grout_proposal_task *task;
    grout_span consts[CONSTS_MAX];
    size_t const_count;
    grout_span axes[AXES_MAX]; /* values that are the place on an axis */
    size_t axis_count;
    grout_outline_names names; /* that the line can use */
    size_t line;
    grout_span code;
    uint32_t base; /* what each costs more */
    bool is_good;
} writer;

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

/* ---- a change ------------------------------------------------------------------------------- */

/* The bytes of the line's code from start on become text, and what follows it. */
static void replace(writer *it, size_t start, size_t count, grout_span text, const char *more,
                    uint32_t cost) {
    const grout_line *line = &it->task->outline->lines->items[it->line];
    grout_text copy = {0};
    grout_text_add(&copy, "%.*s%s", (int)text.size, text.data, more);
    grout_change change = {
        .kind = GROUT_CHANGE_REPLACE,
        .line = it->line,
        .column = line->indent + start,
        .count = count,
        .text = copy.failed ? NULL : grout__copy(NULL, copy.data, copy.size),
    };
    grout_text_free(&copy);
    cost += it->base + 2 * grout_proposal_task__get_distance(it->task, it->line);
    it->is_good =
        it->is_good && change.text != NULL && grout_proposals__take(it->proposals, change, cost);
}

static grout_span make_span(const char *text) {
    return (grout_span){text, strlen(text)};
}

/* ---- tokens --------------------------------------------------------------------------------- */

static bool is_word_byte(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static size_t get_word_size(grout_span code, size_t at) {
    size_t size = 0;
    while (at + size < code.size && is_word_byte(code.data[at + size])) {
        size++;
    }
    return size;
}

/* "1.5", "0x1.8p3", "1e-3", "42": all bytes of the number. */
static size_t get_number_size(grout_span code, size_t at, bool *is_float_out) {
    size_t size = get_word_size(code, at);
    const bool is_range = at + size + 1 < code.size && code.data[at + size + 1] == '.';
    *is_float_out = false;
    if (at + size < code.size && code.data[at + size] == '.' && !is_range) {
        *is_float_out = true;
        size += 1 + get_word_size(code, at + size + 1);
    }
    const char last = code.data[at + size - 1];
    if ((last == 'e' || last == 'p') && at + size + 1 < code.size &&
        (code.data[at + size] == '-' || code.data[at + size] == '+')) {
        *is_float_out = true;
        size += 1 + get_word_size(code, at + size + 1);
    }
    return size;
}

static void change_integer(writer *it, size_t at, size_t size) {
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
            replace(it, at, size, (grout_span){text.data, text.size}, "", COST_NUMBER);
        }
        grout_text_free(&text);
    }
}

/* A sign before a float. */
static void change_sign(writer *it, size_t at, size_t size) {
    if (at > 0 && it->code.data[at - 1] == '-') {
        replace(it, at - 1, size + 1, (grout_span){it->code.data + at, size}, "", COST_SIGN);
        return;
    }
    grout_text text = {0};
    grout_text_add(&text, "-%.*s", (int)size, it->code.data + at);
    if (text.data != NULL) {
        replace(it, at, size, (grout_span){text.data, text.size}, "", COST_SIGN);
    }
    grout_text_free(&text);
}

static size_t change_number(writer *it, size_t at) {
    bool is_float = false;
    const size_t size = get_number_size(it->code, at, &is_float);
    if (is_float) {
        change_sign(it, at, size);
    } else {
        change_integer(it, at, size);
    }
    return size;
}

/* ---- words ---------------------------------------------------------------------------------- */

static bool is_const(const writer *it, grout_span word) {
    for (size_t i = 0; i < it->const_count; i++) {
        if (grout_span__is_equal(it->consts[i], word)) {
            return true;
        }
    }
    return false;
}

static void change_mnemonic(writer *it, size_t at, grout_span word) {
    const grout_opcode opcode = grout_op_find(word.data, word.size);
    for (size_t i = 0; opcode != GROUT_OP_NONE && i < sizeof neighbours / sizeof neighbours[0];
         i++) {
        const grout_opcode other = neighbours[i].one == opcode     ? neighbours[i].other
                                   : neighbours[i].other == opcode ? neighbours[i].one
                                                                   : GROUT_OP_NONE;
        if (other != GROUT_OP_NONE) {
            replace(it, at, word.size, make_span(grout_op_get_info(other)->text), "",
                    COST_NEIGHBOUR);
        }
    }
}

/* Another const, or one more or less than this one. */
static void change_const(writer *it, size_t at, grout_span word) {
    for (size_t i = 0; i < it->const_count; i++) {
        if (!grout_span__is_equal(it->consts[i], word)) {
            replace(it, at, word.size, it->consts[i], "", COST_CONST);
        }
    }
    replace(it, at, word.size, word, " - 1", COST_OFFSET);
    replace(it, at, word.size, word, " + 1", COST_OFFSET);
}

static size_t change_word(writer *it, size_t at, bool is_mnemonic_place) {
    const grout_span word = {it->code.data + at, get_word_size(it->code, at)};
    if (is_const(it, word)) {
        change_const(it, at, word);
    } else if (is_mnemonic_place) {
        change_mnemonic(it, at, word);
    }
    return word.size;
}

static bool can_use(const writer *it, grout_span name) {
    for (size_t i = 0; i < it->names.count; i++) {
        if (grout_span__is_equal(it->names.items[i], name)) {
            return true;
        }
    }
    return false;
}

/* '%i + %me' for '%i': each thread, or CTA, was to have a part of its own. */
static void add_axes(writer *it, size_t at, grout_span name) {
    for (size_t i = 0; i < it->axis_count; i++) {
        const grout_span axis = it->axes[i];
        if (can_use(it, axis) && !grout_span__is_equal(axis, name)) {
            grout_text text = {0};
            grout_text_add(&text, " + %.*s", (int)axis.size, axis.data);
            replace(it, at, name.size, name, text.data == NULL ? "" : text.data, COST_NAME);
            grout_text_free(&text);
        }
    }
}

/* Another value, or one more or less than this one where it is an index. */
static size_t change_value(writer *it, size_t at, size_t depth) {
    const grout_span name = {it->code.data + at, 1 + get_word_size(it->code, at + 1)};
    if (depth > 0) {
        replace(it, at, name.size, name, " - 1", COST_OFFSET);
        replace(it, at, name.size, name, " + 1", COST_OFFSET);
        add_axes(it, at, name);
    }
    for (size_t i = 0; i < it->names.count; i++) {
        if (!grout_span__is_equal(it->names.items[i], name)) {
            replace(it, at, name.size, it->names.items[i], "", COST_NAME);
        }
    }
    return name.size;
}

/* ---- marks ---------------------------------------------------------------------------------- */

/* ' - 1' goes, ' + NAME' goes. */
static void drop_term(writer *it, size_t at) {
    const size_t start = at + 2; /* after "- " */
    const bool is_none = start >= it->code.size || !is_word_byte(it->code.data[start]);
    if ((it->code.data[at] == '-' || it->code.data[at] == '+') && !is_none) {
        const size_t size = get_word_size(it->code, start);
        replace(it, at - 1, size + 3, make_span(""), "", COST_NEIGHBOUR);
    }
}

/* An infix operator has blanks on both sides in canonical form. */
static size_t change_mark(writer *it, size_t at) {
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        const size_t size = strlen(marks[i].one);
        if (at > 0 && at + size < it->code.size && it->code.data[at - 1] == ' ' &&
            it->code.data[at + size] == ' ' &&
            memcmp(it->code.data + at, marks[i].one, size) == 0) {
            replace(it, at, size, make_span(marks[i].other), "", COST_NEIGHBOUR);
            drop_term(it, at);
            return size;
        }
    }
    return 1;
}

/* 'sub %a, %b' becomes 'sub %b, %a', of an operation that has the line for itself. */
static void swap_operands(writer *it) {
    grout_span rest = it->task->outline->items[it->line].operands;
    const grout_span first = grout_span__take_operand(&rest);
    const grout_span second = grout_span__take_operand(&rest);
    if (first.size == 0 || second.size == 0 || rest.size > 0) {
        return;
    }
    grout_text text = {0};
    grout_text_add(&text, "%.*s, %.*s", (int)second.size, second.data, (int)first.size, first.data);
    if (text.data != NULL) {
        replace(it, (size_t)(first.data - it->code.data),
                (size_t)(second.data + second.size - first.data),
                (grout_span){text.data, text.size}, "", COST_SWAP);
    }
    grout_text_free(&text);
}

/* ---- lines ---------------------------------------------------------------------------------- */

/* The bytes of "%name =" at the start of a line, which name what it makes. */
static size_t get_results_size(grout_span code) {
    for (size_t i = 0; i + 2 < code.size && code.data[0] == '%'; i++) {
        if (code.data[i] == ' ' && code.data[i + 1] == '=' && code.data[i + 2] == ' ') {
            return i + 3;
        }
        if (code.data[i] == '(' || code.data[i] == '[') {
            return 0;
        }
    }
    return 0;
}

static bool is_word_start(grout_span code, size_t at) {
    return is_word_byte(code.data[at]) && (at == 0 || !is_word_byte(code.data[at - 1]));
}

/* One token; returns its size. */
static size_t change_token(writer *it, size_t at, size_t brackets) {
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
        return change_number(it, at);
    }
    if (is_word_start(it->code, at)) {
        return change_word(it, at, begins_statement);
    }
    return change_mark(it, at);
}

static void change_line(writer *it) {
    size_t brackets = 0;
    it->code = it->task->outline->lines->items[it->line].code;
    grout_outline__find_names(it->task->outline, it->line, &it->names);
    for (size_t i = get_results_size(it->code); i < it->code.size && it->is_good;) {
        const char c = it->code.data[i];
        brackets += c == '[' ? 1u : 0u;
        brackets -= c == ']' && brackets > 0 ? 1u : 0u;
        i += change_token(it, i, brackets);
    }
    if (it->task->outline->items[it->line].operands.size > 0) {
        swap_operands(it);
    }
}

/* The names of 'const A = 1, B = 2', wherever in the file. */
static void find_consts(writer *it) {
    const grout_text_lines *lines = it->task->outline->lines;
    for (size_t i = 0; i < lines->count; i++) {
        grout_span rest = lines->items[i].code;
        if (rest.size < 6 || memcmp(rest.data, "const ", 6) != 0) {
            continue;
        }
        rest = (grout_span){rest.data + 6, rest.size - 6};
        while (rest.size > 0 && it->const_count < CONSTS_MAX) {
            const grout_span one = grout_span__take_operand(&rest);
            const size_t size = get_word_size(one, 0);
            if (size > 0) {
                it->consts[it->const_count++] = (grout_span){one.data, size};
            }
        }
    }
}

/* '%me = axis_index wg' */
static void find_axes(writer *it) {
    const grout_outline *outline = it->task->outline;
    const char *mnemonic = grout_op_get_info(GROUT_OP_AXIS_INDEX)->text;
    for (size_t i = outline->first; i < outline->end && it->axis_count < AXES_MAX; i++) {
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
    const bool is_likely = code == GROUT_DIAG_COMPARE_MISMATCH || code == GROUT_DIAG_OUT_OF_BOUNDS;
    writer it = {.proposals = proposals,
                 .task = task,
                 .base = is_likely ? 0 : COST_UNLIKELY,
                 .is_good = true};
    if (!task->trial->is_compared) { /* nothing would judge them */
        return true;
    }
    find_consts(&it);
    find_axes(&it);
    for (size_t i = outline->first;
         i < outline->end && it.is_good && grout_outline__goes_on(outline) &&
         proposals->count < GROUT_PROPOSALS_MAX;
         i++) {
        it.line = i;
        if (outline->items[i].depth > 0 && !outline->items[i].is_scratch) {
            change_line(&it);
        }
    }
    return it.is_good;
}
