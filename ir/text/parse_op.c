/* parse_op.c - the mnemonic of an operation, and operations inside operands.
 * SPDX-License-Identifier: Apache-2.0 */
#include "parser.h"

#include "grout-internal/op_names.h"

#include "suggest.h"

/* The operation that an operator of other languages means, or NONE. */
static grout_opcode get_arithmetic(uint8_t token_kind) {
    static const uint16_t opcodes[] = {[GROUT_TOKEN_PLUS] = GROUT_OP_ADD,
                                       [GROUT_TOKEN_MINUS] = GROUT_OP_SUB,
                                       [GROUT_TOKEN_STAR] = GROUT_OP_MUL,
                                       [GROUT_TOKEN_SLASH] = GROUT_OP_DIV,
                                       [GROUT_TOKEN_PERCENT] = GROUT_OP_REM};
    return token_kind < sizeof opcodes / sizeof opcodes[0] ? (grout_opcode)opcodes[token_kind]
                                                           : GROUT_OP_NONE;
}

bool grout_parser__help_infix(grout_parser *p) {
    grout_opcode opcode = p->ahead.has_newline ? GROUT_OP_NONE : get_arithmetic(p->ahead.kind);
    if (p->token.kind == GROUT_TOKEN_MINUS && !p->ahead.has_newline) {
        grout_parser__help(p, "name the operation: 'neg %.*s'", (int)p->ahead.size,
                           p->lexer.text + p->ahead.offset);
        return true;
    }
    if (opcode != GROUT_OP_NONE) {
        grout_parser__help(p, "name the operation: '%s %.*s, ..'", grout_op_get_info(opcode)->text,
                           (int)p->token.size, p->lexer.text + p->token.offset);
    }
    return opcode != GROUT_OP_NONE;
}

static bool is_const(grout_parser *p) {
    grout_string_id name = grout_parser__intern(p, &p->token);
    return name != 0 &&
           grout_module_find_const(p->module, grout_module_get_string(p->module, name)) != 0;
}

/* The word at the token with what PTX and Python have after it: tl.dot, fence.proxy.async::generic.
 */
static grout_token get_dotted_word(const grout_parser *p) {
    grout_token word = p->token;
    const char *text = p->lexer.text + word.offset;
    while (text[word.size] == '.' || text[word.size] == ':' ||
           grout_lexer__is_name_byte(text[word.size])) {
        word.size++;
    }
    while (text[word.size - 1] == '.' || text[word.size - 1] == ':') {
        word.size--;
    }
    return word;
}

static bool report_unknown_op(grout_parser *p) {
    const grout_token word = get_dotted_word(p);
    const char *text = p->lexer.text + word.offset;
    if (grout_word__find_later(text, p->token.size) != NULL) {
        return grout_parser__not_yet(p, &p->token, GROUT_DIAG_UNKNOWN_OP);
    }
    grout_suggestion suggestion = grout_suggest__begin(text, p->token.size);
    for (int i = 1; i < GROUT_OP_COUNT; i++) {
        grout_suggest__offer(&suggestion, grout_op_get_info((grout_opcode)i)->text);
    }
    (void)grout_parser__error(p, &word, GROUT_DIAG_UNKNOWN_OP, "there is no operation '%.*s'",
                              (int)word.size, text);
    if (grout_parser__help_infix(p)) {
        return false;
    }
    if (is_const(p)) {
        grout_parser__help(p, "it is a const, and no operation: use it where it is needed");
    } else if (!p->takes_notes || !grout_op_names_help(p->diags, text, word.size)) {
        if (suggestion.best != NULL) {
            grout_parser__suggest(p, "", suggestion.best);
        } else {
            grout_parser__help(p, "'grout ops' lists the operations");
        }
    }
    return false;
}

/* A word of the language that begins no operation. */
static bool report_keyword(grout_parser *p) {
    (void)grout_parser__unexpected(p, "an operation");
    if (grout_parser__is_word(p, &p->token, "partition")) {
        grout_parser__help(p, "a partition directly follows a body of a warp_specialize: "
                              "'warp_specialize { .. } partition { .. }'");
    }
    return false;
}

bool grout_parser__begin_op(grout_parser *p, grout_parsed_op *op) {
    *op = (grout_parsed_op){.info = grout_op_get_info(GROUT_OP_NONE),
                            .token = p->token,
                            .first_operand = p->operands.count,
                            .first_attr = p->attrs.count,
                            .first_name = p->names.count,
                            .report_count = grout_diags_total(p->diags)};
    if (p->token.kind != GROUT_TOKEN_NAME) {
        return grout_parser__unexpected(p, "an operation");
    }
    op->opcode = (grout_opcode)p->token.opcode;
    op->info = grout_op_get_info(op->opcode);
    if (op->opcode == 0) {
        const char *text = p->lexer.text + p->token.offset;
        grout_word_kind kind = grout_word__get_kind(text, p->token.size);
        if (kind == GROUT_WORD_NOT_YET) {
            return grout_parser__not_yet(p, &p->token, GROUT_DIAG_UNKNOWN_OP);
        }
        const bool is_dotted = text[p->token.size] == '.'; /* mbarrier.arrive */
        return kind == GROUT_WORD_KEYWORD && !is_dotted ? report_keyword(p) : report_unknown_op(p);
    }
    op->loc = grout_parser__add_loc(p, &p->token);
    grout_parser__advance(p);
    return true;
}

static bool is_plain_value(const grout_op_info *info) {
    return info->results == 1 && info->shape == GROUT_SHAPE_PLAIN;
}

static bool parse_nested(grout_parser *p, grout_parsed_op *op) {
    if (!grout_parser__begin_op(p, op)) {
        return false;
    }
    if (!is_plain_value(op->info)) {
        return grout_parser__error(p, &op->token, GROUT_DIAG_RESULT_COUNT,
                                   "'%s' has no value, so it cannot be an operand", op->info->text);
    }
    if (!grout_parser__op_body(p, op) || !grout_parser__expect(p, GROUT_TOKEN_RIGHT_PAREN, "')'")) {
        return false;
    }
    return op->depth < GROUT_NESTING_MAX ||
           grout_parser__error(p, &op->token, GROUT_DIAG_LIMIT, "operands nest deeper than %d",
                               GROUT_NESTING_MAX);
}

bool grout_parser__nested_op(grout_parser *p, grout_parsed_operand *out) {
    grout_parsed_op op;
    bool ok = parse_nested(p, &op);
    if (ok) {
        grout_op_id id = grout_parser__emit(p, &op, 0);
        grout_value_id value = id != 0 ? grout_module__add_results(p->module, id, 1) : 0;
        out->operand = (grout_operand){GROUT_OPERAND_VALUE, value, op.loc};
        out->depth = op.depth + 1;
    }
    p->operands.count = op.first_operand;
    p->attrs.count = op.first_attr;
    return ok;
}
