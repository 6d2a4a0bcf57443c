/* nests.c - operations in each other: put together otherwise, one too many, one too few.
 * SPDX-License-Identifier: Apache-2.0 */
#include "values.h"

#include <string.h>

/* "(add %a, %b)", or what follows "%x = ": a mnemonic and its operands. */
typedef struct nest {
    size_t at, size; /* in the code, without parentheses */
    grout_opcode opcode;
    grout_span mnemonic, operands[2]; /* the first two */
    size_t count;                     /* of operands; more than two: 3 */
} nest;

static bool read_nest(const grout_value_writer *it, size_t at, size_t size, nest *out) {
    grout_span rest = {it->code.data + at, size};
    *out = (nest){.at = at, .size = size};
    out->mnemonic = (grout_span){rest.data, grout_span__get_word_size(it->code, at)};
    out->opcode = grout_op_find(out->mnemonic.data, out->mnemonic.size);
    if (out->opcode == GROUT_OP_NONE || out->mnemonic.size >= size) {
        return false;
    }
    rest =
        grout_span__trim((grout_span){rest.data + out->mnemonic.size, size - out->mnemonic.size});
    while (rest.size > 0 && out->count < 3) {
        const grout_span one = grout_span__take_operand(&rest);
        if (out->count < 2) {
            out->operands[out->count] = one;
        }
        out->count++;
    }
    return out->count > 0;
}

/* The same of an operand that is in parentheses. */
static bool read_operand(const grout_value_writer *it, grout_span operand, nest *out) {
    return operand.size > 2 && operand.data[0] == '(' && operand.data[operand.size - 1] == ')' &&
           read_nest(it, (size_t)(operand.data - it->code.data) + 1, operand.size - 2, out);
}

/* by name: the laws of arithmetic by which sums and products change places. */
static bool is_sum(grout_opcode opcode) {
    return opcode == GROUT_OP_ADD || opcode == GROUT_OP_SUB;
}

/* by name: the same. */
static bool is_product(grout_opcode opcode) {
    return opcode == GROUT_OP_MUL || opcode == GROUT_OP_DIV;
}

static void write_nest(grout_value_writer *it, const nest *place, const char *format,
                       grout_span outer, grout_span inner, const grout_span operands[3]) {
    grout_text text = {0};
    grout_text_add(&text, format, (int)outer.size, outer.data, (int)inner.size, inner.data,
                   (int)operands[0].size, operands[0].data, (int)operands[1].size, operands[1].data,
                   (int)operands[2].size, operands[2].data);
    if (text.data != NULL) {
        grout_value_writer__replace(it, place->at, place->size, (grout_span){text.data, text.size},
                                    "", GROUT_COST_SWAP);
    }
    grout_text_free(&text);
}

/* 'mul (add %a, %b), %c' becomes 'add (mul %a, %c), %b' and 'add %a, (mul %b, %c)', and back. */
static void regroup(grout_value_writer *it, const nest *outer) {
    nest inner;
    if (outer->count != 2) {
        return;
    }
    if (read_operand(it, outer->operands[0], &inner) && inner.count == 2 &&
        ((is_sum(inner.opcode) && is_product(outer->opcode)) ||
         (is_product(inner.opcode) && is_sum(outer->opcode)))) {
        const grout_span first[3] = {inner.operands[0], outer->operands[1], inner.operands[1]};
        write_nest(it, outer, "%.*s (%.*s %.*s, %.*s), %.*s", inner.mnemonic, outer->mnemonic,
                   first);
    }
    if (read_operand(it, outer->operands[0], &inner) && inner.count == 2 && is_sum(inner.opcode) &&
        is_product(outer->opcode)) {
        grout_text text = {0};
        grout_text_add(&text, "%.*s %.*s, (%.*s %.*s, %.*s)", (int)inner.mnemonic.size,
                       inner.mnemonic.data, (int)inner.operands[0].size, inner.operands[0].data,
                       (int)outer->mnemonic.size, outer->mnemonic.data, (int)inner.operands[1].size,
                       inner.operands[1].data, (int)outer->operands[1].size,
                       outer->operands[1].data);
        if (text.data != NULL) {
            grout_value_writer__replace(it, outer->at, outer->size,
                                        (grout_span){text.data, text.size}, "", GROUT_COST_SWAP);
        }
        grout_text_free(&text);
    }
    if (read_operand(it, outer->operands[1], &inner) && inner.count == 2 &&
        is_product(inner.opcode) && is_sum(outer->opcode)) {
        const grout_span first[3] = {outer->operands[0], inner.operands[0], inner.operands[1]};
        write_nest(it, outer, "%.*s (%.*s %.*s, %.*s), %.*s", inner.mnemonic, outer->mnemonic,
                   first);
    }
}

/* by name: the laws of arithmetic again. Which operand comes first is all the same. */
static bool is_symmetric(grout_opcode opcode) {
    static const grout_opcode symmetric[] = {GROUT_OP_ADD, GROUT_OP_MUL, GROUT_OP_MIN,
                                             GROUT_OP_MAX, GROUT_OP_EQ,  GROUT_OP_NE,
                                             GROUT_OP_AND, GROUT_OP_OR,  GROUT_OP_XOR};
    bool is_one = false;
    for (size_t i = 0; i < sizeof symmetric / sizeof symmetric[0]; i++) {
        is_one |= symmetric[i] == opcode;
    }
    return is_one;
}

/* '(OP %a, ..)' becomes '%a': an operation too many. */
static void unwrap(grout_value_writer *it, const nest *inner) {
    for (size_t i = 0; i < inner->count && i < 2; i++) {
        const grout_span operand = inner->operands[i];
        const grout_span name = grout_span__get_name(operand);
        if (name.size == operand.size || (operand.size > 0 && operand.data[0] == '(')) {
            grout_value_writer__replace(it, inner->at - 1, inner->size + 2, operand, "",
                                        GROUT_COST_SWAP);
        }
    }
}

/* A name, or an operation in parentheses, with a value that nothing uses: '(mul %a, SCALE)'. */
static void join_unused(grout_value_writer *it, size_t at, size_t size, grout_span value,
                        grout_span unused) {
    static const char *const ops[] = {"add", "mul", "sub"};
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        grout_text text = {0};
        grout_text_add(&text, "(%s %.*s, %.*s)", ops[i], (int)value.size, value.data,
                       (int)unused.size, unused.data);
        if (text.data != NULL) {
            grout_value_writer__replace(it, at, size, (grout_span){text.data, text.size}, "",
                                        GROUT_COST_UNUSED);
        }
        grout_text_free(&text);
    }
}

static void join_all_unused(grout_value_writer *it, size_t at, size_t size) {
    const grout_span value = {it->code.data + at, size};
    for (size_t i = 0; i < it->unused_count; i++) {
        const bool is_name = it->unused[i].data[0] == '%';
        if ((!is_name || grout_value_writer__can_use(it, it->unused[i])) &&
            !grout_span__is_equal(value, it->unused[i])) {
            join_unused(it, at, size, value, it->unused[i]);
        }
    }
}

/* What the statement makes, with a value that nothing uses: 'add (OP ..), %unused'. */
static void join_statement(grout_value_writer *it, const nest *whole) {
    static const char *const ops[] = {"add", "mul", "sub"};
    for (size_t i = 0; i < it->unused_count * 3; i++) {
        const grout_span unused = it->unused[i / 3];
        const bool is_name = unused.data[0] == '%';
        if (whole->at > 0 && (!is_name || grout_value_writer__can_use(it, unused))) {
            grout_text text = {0};
            grout_text_add(&text, "%s (%.*s), %.*s", ops[i % 3], (int)whole->size,
                           it->code.data + whole->at, (int)unused.size, unused.data);
            if (text.data != NULL) {
                grout_value_writer__replace(it, whole->at, whole->size,
                                            (grout_span){text.data, text.size}, "",
                                            GROUT_COST_UNUSED);
            }
            grout_text_free(&text);
        }
    }
}

/* Each operation of the line, whole and in parentheses. */
void grout_value_writer__change_nests(grout_value_writer *it) {
    const size_t first = grout_span__get_results_size(it->code);
    nest one;
    if (read_nest(it, first, it->code.size - first, &one) &&
        it->code.data[it->code.size - 1] != '{') {
        regroup(it, &one);
        join_statement(it, &one);
        for (size_t i = 0; i < one.count && i < 2 && it->unused_count > 0; i++) {
            if (one.operands[i].size > 0 && one.operands[i].data[0] == '%') {
                join_all_unused(it, (size_t)(one.operands[i].data - it->code.data),
                                grout_span__get_name(one.operands[i]).size);
            }
        }
    }
    for (size_t i = first; i < it->code.size; i++) {
        const size_t close =
            it->code.data[i] == '(' ? grout_span__find_close(it->code, i) : it->code.size;
        if (close < it->code.size && read_nest(it, i + 1, close - i - 1, &one)) {
            regroup(it, &one);
            if (one.count == 2 && !is_symmetric(one.opcode)) {
                grout_value_writer__swap(it, one.operands[0], one.operands[1]);
            }
            unwrap(it, &one);
            join_all_unused(it, i, close + 1 - i);
            if (one.operands[0].size > 0 && one.operands[0].data[0] == '%') {
                join_all_unused(it, (size_t)(one.operands[0].data - it->code.data),
                                grout_span__get_name(one.operands[0]).size);
            }
        }
    }
}
