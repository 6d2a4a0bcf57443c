/* parse_operands.c - what follows a mnemonic: operands by form, attributes, type.
 * SPDX-License-Identifier: Apache-2.0 */
#include "parser.h"

#include "grout-internal/text.h"
#include "suggest.h"

#include <string.h>

/* ---- operands -------------------------------------------------------------------------------- */

const char *grout_parser__get_plural(uint32_t count) {
    return count == 1 ? "" : "s";
}

void grout_parser__help_form(grout_parser *p, grout_opcode opcode) {
    grout_text usage = {.allocator = p->module->allocator};
    grout_op_print_usage(opcode, &usage);
    if (usage.data != NULL) {
        grout_parser__help(p, "it is written: %s", usage.data);
    }
    grout_text_free(&usage);
}

static grout_attr find_attr(const grout_parser *p) {
    return grout_attr_find(p->lexer.text + p->token.offset, p->token.size);
}

/* Whether nothing that could be an operand stands next, because the statement is over. */
static bool at_end_of_operands(const grout_parser *p) {
    switch (p->token.kind) {
    case GROUT_TOKEN_END:
    case GROUT_TOKEN_RIGHT_BRACE:
    case GROUT_TOKEN_RIGHT_PAREN:
    case GROUT_TOKEN_LEFT_BRACE:
    case GROUT_TOKEN_COLON:
        return true;
    case GROUT_TOKEN_NAME:
        return find_attr(p) != GROUT_ATTR_COUNT || grout_parser__at_statement(p);
    default:
        return grout_parser__at_statement(p);
    }
}

bool grout_parser__report_count(grout_parser *p, const grout_parsed_op *op,
                                const grout_token *token, uint32_t found) {
    uint32_t wanted = grout_letters_count_least(op->info->operands);
    bool at_least = op->info->operands[wanted] != '\0';
    wanted += at_least && wanted == 0 ? 1 : 0;
    if (wanted == 0) {
        (void)grout_parser__error(p, token, GROUT_DIAG_OPERAND_COUNT, "'%s' takes no operands",
                                  op->info->text);
        return false;
    }
    (void)grout_parser__error(
        p, token, GROUT_DIAG_OPERAND_COUNT, "'%s' takes %s%u operand%s, found %s%u", op->info->text,
        at_least ? "at least " : "", (unsigned)wanted, grout_parser__get_plural(wanted),
        found > wanted ? "at least " : "", (unsigned)found);
    grout_parser__help_form(p, op->opcode);
    return false;
}

static bool parse_axis(grout_parser *p, grout_operand *operand) {
    grout_token name = p->token;
    uint32_t axis = 0;
    if (!grout_parser__axis(p, false, &axis)) {
        return false;
    }
    *operand = (grout_operand){GROUT_OPERAND_AXIS, axis + 1, grout_parser__add_loc(p, &name)};
    return true;
}

/* One operand, by its letter in the form. */
static bool parse_operand(grout_parser *p, grout_parsed_op *op, char letter) {
    grout_parsed_operand parsed = {0};
    grout_token start = p->token;
    bool ok = false;
    switch ((grout_letter_kind)grout_letter_get_info(letter)->kind) {
    case GROUT_LETTER_AXIS:
        ok = parse_axis(p, &parsed.operand);
        break;
    case GROUT_LETTER_CONSTANT:
        parsed.operand.kind = GROUT_OPERAND_EXPR;
        ok = grout_parser__constant(p, &parsed.operand.id);
        parsed.operand.loc = grout_module_get_expr(p->module, parsed.operand.id)->loc;
        break;
    case GROUT_LETTER_TEXT:
        parsed.operand.kind = GROUT_OPERAND_STRING;
        ok = grout_parser__string(p, &parsed.operand.id);
        parsed.operand.loc = ok ? grout_parser__add_loc(p, &start) : 0;
        break;
    case GROUT_LETTER_SCALAR:
    case GROUT_LETTER_INTEGER:
        ok = grout_parser__scalar(p, &parsed);
        break;
    case GROUT_LETTER_BOXED:
        ok = grout_parser__boxed(p, &parsed, &op->box);
        break;
    case GROUT_LETTER_VALUE:
    case GROUT_LETTER_MEMORY:
    case GROUT_LETTER_MEMORY_OR_ARRAY:
    case GROUT_LETTER_BARRIER:
    case GROUT_LETTER_SEMAPHORE:
    case GROUT_LETTER_INDICES:
    case GROUT_LETTER_ROWS:
    case GROUT_LETTER_MASK:
    case GROUT_LETTER_OPTION:
    case GROUT_LETTER_OPTIONAL_MASK:
    case GROUT_LETTER_REST:
        ok = grout_parser__operand(p, &parsed);
        break;
    }
    if (ok) {
        grout_parser__push(p, &p->operands, &parsed.operand);
        op->depth = parsed.depth > op->depth ? parsed.depth : op->depth;
    }
    return ok;
}

/* The operands of a '*': none or more, each after a comma if it is not the first of all. */
static bool parse_operand_list(grout_parser *p, grout_parsed_op *op, bool is_first) {
    if (is_first && at_end_of_operands(p)) {
        return true;
    }
    while (is_first || grout_parser__accept(p, GROUT_TOKEN_COMMA)) {
        if (!parse_operand(p, op, 'v')) {
            return false;
        }
        is_first = false;
    }
    return true;
}

static bool parse_operands(grout_parser *p, grout_parsed_op *op) {
    const char *letters = op->info->operands;
    uint32_t i = 0;
    for (; letters[i] != '\0' && letters[i] != '*'; i++) {
        bool is_missing =
            i == 0 ? at_end_of_operands(p) : !grout_parser__accept(p, GROUT_TOKEN_COMMA);
        if (is_missing && i > 0 && !at_end_of_operands(p) && !p->token.has_newline) {
            return grout_parser__expected(p, "','");
        }
        if (is_missing && i >= grout_letters_count_least(letters)) {
            return true;
        }
        if (is_missing) {
            return grout_parser__report_count(p, op, &op->token, i);
        }
        if (!parse_operand(p, op, letters[i])) {
            return false;
        }
    }
    if (letters[i] == '*') {
        return parse_operand_list(p, op, i == 0);
    }
    if (p->token.kind == GROUT_TOKEN_COMMA) {
        return grout_parser__report_count(p, op, &p->ahead, i + 1);
    }
    bool is_operand = p->token.kind == GROUT_TOKEN_VALUE || p->token.kind == GROUT_TOKEN_INT ||
                      p->token.kind == GROUT_TOKEN_FLOAT ||
                      p->token.kind == GROUT_TOKEN_LEFT_PAREN ||
                      p->token.kind == GROUT_TOKEN_STRING;
    if (is_operand && !p->token.has_newline) {
        return i == 0 ? grout_parser__report_count(p, op, &p->token, 1)
                      : grout_parser__expected(p, "a new line");
    }
    return true;
}

/* ---- attributes and type --------------------------------------------------------------------- */

static bool report_attr(grout_parser *p, const grout_parsed_op *op) {
    const char *text = p->lexer.text + p->token.offset;
    if (grout_word__get_kind(text, p->token.size) == GROUT_WORD_NOT_YET) {
        return grout_parser__not_yet(p, &p->token, GROUT_DIAG_SYNTAX);
    }
    grout_suggestion suggestion = grout_suggest__begin(text, p->token.size);
    for (int i = 0; i < GROUT_ATTR_COUNT; i++) {
        if ((op->info->attrs >> i & 1) != 0) {
            grout_suggest__offer(&suggestion, grout_attr_get_info((grout_attr)i)->text);
        }
    }
    bool is_loop = grout_op_get_region(op->opcode)->kind == GROUT_REGION_LOOP;
    if (is_loop && grout_op_get_region(op->opcode)->lead_operands > 0) {
        grout_suggest__offer(&suggestion, "step");
    }
    if (is_loop) {
        grout_suggest__offer(&suggestion, "carry");
    }
    (void)grout_parser__error(p, &p->token, GROUT_DIAG_UNKNOWN_ATTRIBUTE,
                              "'%s' has no attribute '%.*s'", op->info->text, (int)p->token.size,
                              text);
    if (suggestion.best != NULL) {
        grout_parser__suggest(p, "", suggestion.best);
    } else if (op->info->attrs == 0 && !is_loop) {
        grout_parser__help(p, "'%s' takes no attributes", op->info->text);
    } else {
        grout_parser__help_form(p, op->opcode);
    }
    return false;
}

static bool has_attr(const grout_parser *p, const grout_parsed_op *op, grout_attr attr) {
    for (uint32_t i = op->first_attr; i < p->attrs.count; i++) {
        if (GROUT_TABLE_AT(p->attrs, grout_attr_value, i)->attr == attr) {
            return true;
        }
    }
    return false;
}

/* "help: it is one of: ..", or the choice that was meant. */
static void help_choice(grout_parser *p, grout_attr attr) {
    bool has_word = p->token.kind == GROUT_TOKEN_NAME;
    grout_suggestion suggestion =
        grout_suggest__begin(p->lexer.text + p->token.offset, has_word ? p->token.size : 0);
    grout_text choices = {.allocator = p->module->allocator};
    for (int i = 1; i < GROUT_CHOICE_COUNT; i++) {
        const grout_choice_info *info = grout_choice_get_info((grout_choice)i);
        if (info->attr == attr) {
            grout_suggest__offer(&suggestion, info->text);
            grout_text_add(&choices, "%s%s", choices.size > 0 ? ", " : "", info->text);
        }
    }
    if (has_word && suggestion.best != NULL) {
        grout_parser__suggest(p, "", suggestion.best);
    } else if (!choices.failed) {
        grout_parser__help(p, "it is one of: %s", choices.data);
    }
    p->module->failed |= choices.failed;
    grout_text_free(&choices);
}

/* '(' one of the attribute's choices ')'. */
static bool parse_choice(grout_parser *p, grout_attr attr, uint8_t *choice_out) {
    if (!grout_parser__expect(p, GROUT_TOKEN_LEFT_PAREN, "'(' and the attribute's value")) {
        help_choice(p, attr);
        return false;
    }
    if (p->token.kind != GROUT_TOKEN_NAME) {
        (void)grout_parser__expected(p, "a choice");
        help_choice(p, attr);
        return false;
    }
    const char *text = p->lexer.text + p->token.offset;
    grout_choice choice = grout_choice_find(attr, text, p->token.size);
    if (choice == GROUT_CHOICE_NONE) {
        (void)grout_parser__error(p, &p->token, GROUT_DIAG_BAD_ATTRIBUTE,
                                  "attribute '%s' has no choice '%.*s'",
                                  grout_attr_get_info(attr)->text, (int)p->token.size, text);
        help_choice(p, attr);
        return false;
    }
    *choice_out = (uint8_t)choice;
    grout_parser__advance(p);
    return grout_parser__expect(p, GROUT_TOKEN_RIGHT_PAREN, "')'");
}

/* '(' numbers of dimensions ')'. */
static bool parse_dims(grout_parser *p, uint32_t *dims_out) {
    uint32_t count = 0;
    *dims_out = 0;
    if (!grout_parser__expect(p, GROUT_TOKEN_LEFT_PAREN, "'(' and numbers of dimensions")) {
        return false;
    }
    do {
        uint64_t dim = 0;
        if (p->token.kind != GROUT_TOKEN_INT) {
            return grout_parser__expected(p, "the number of a dimension");
        }
        if (count == GROUT_RANK_MAX || !grout_lexer__get_integer(&p->lexer, &p->token, &dim) ||
            dim >= GROUT_RANK_MAX) {
            return grout_parser__error(p, &p->token, GROUT_DIAG_BAD_ATTRIBUTE,
                                       "an array has at most %d dimensions, numbered from 0",
                                       GROUT_RANK_MAX);
        }
        *dims_out |= ((uint32_t)dim + 1) << (4 * count++);
        grout_parser__advance(p);
    } while (grout_parser__accept(p, GROUT_TOKEN_COMMA));
    return grout_parser__expect(p, GROUT_TOKEN_RIGHT_PAREN, "',' or ')'");
}

/* 'step' and a number; 1 if it is not written. */
static bool parse_range_step(grout_parser *p, grout_loc_id loc, grout_expr_id *step_out) {
    if (grout_parser__is_word(p, &p->token, "step")) {
        grout_parser__advance(p);
        return grout_parser__constant(p, step_out);
    }
    const grout_expr one = {.kind = GROUT_EXPR_INT, .loc = loc, .u.integer = 1};
    *step_out = grout_module__add_expr(p->module, &one);
    return true;
}

/* '(' low '..' high, with a step or without, again and again ')'. */
static bool parse_ranges(grout_parser *p, grout_attr_value *value) {
    if (!grout_parser__expect(p, GROUT_TOKEN_LEFT_PAREN, "'(' and ranges of numbers")) {
        return false;
    }
    do {
        if (value->range_count == GROUT_RANGES_MAX) {
            return grout_parser__error(p, &p->token, GROUT_DIAG_LIMIT, "more than %d ranges",
                                       GROUT_RANGES_MAX);
        }
        grout_written_range *range = &value->ranges[value->range_count];
        if (!grout_parser__constant(p, &range->low) ||
            !grout_parser__expect(p, GROUT_TOKEN_RANGE, "'..' and the end of the range") ||
            !grout_parser__constant(p, &range->high) ||
            !parse_range_step(p, value->loc, &range->step)) {
            return false;
        }
        value->range_count++;
    } while (grout_parser__accept(p, GROUT_TOKEN_COMMA));
    return grout_parser__expect(p, GROUT_TOKEN_RIGHT_PAREN, "',', 'step' or ')'");
}

/* What follows the attribute's word. */
static bool parse_attr_argument(grout_parser *p, grout_attr_value *value) {
    const grout_attr_info *info = grout_attr_get_info((grout_attr)value->attr);
    switch ((grout_argument_kind)info->argument) {
    case GROUT_ARGUMENT_INT:
        return grout_parser__expect(p, GROUT_TOKEN_LEFT_PAREN, "'(' and the attribute's value") &&
               grout_parser__constants(p, &value->expr, 1, GROUT_TOKEN_RIGHT_PAREN) > 0;
    case GROUT_ARGUMENT_AXES:
        return grout_parser__axis_set(p, &value->axes);
    case GROUT_ARGUMENT_CHOICE:
        return parse_choice(p, (grout_attr)value->attr, &value->choice);
    case GROUT_ARGUMENT_DIMS:
        return parse_dims(p, &value->dims);
    case GROUT_ARGUMENT_RANGES:
        return parse_ranges(p, value);
    case GROUT_ARGUMENT_FLAG:
        break;
    }
    return p->token.kind != GROUT_TOKEN_LEFT_PAREN ||
           grout_parser__error(p, &p->token, GROUT_DIAG_SYNTAX, "attribute '%s' takes no value",
                               info->text);
}

static bool parse_attr(grout_parser *p, const grout_parsed_op *op, grout_attr attr) {
    if ((op->info->attrs >> attr & 1) == 0) {
        return report_attr(p, op);
    }
    if (has_attr(p, op, attr)) {
        return grout_parser__error(p, &p->token, GROUT_DIAG_BAD_ATTRIBUTE,
                                   "attribute '%s' stands twice", grout_attr_get_info(attr)->text);
    }
    grout_attr_value value = {.attr = (uint8_t)attr, .loc = grout_parser__add_loc(p, &p->token)};
    grout_parser__advance(p);
    if (!parse_attr_argument(p, &value)) {
        return false;
    }
    grout_parser__push(p, &p->attrs, &value);
    return true;
}

/* Whether the next word, an attribute's, is a mnemonic here: 'wgmma' is both. At the start of a
 * line it is one, and where the operation has no such attribute. */
static bool starts_op(const grout_parser *p, const grout_parsed_op *op, grout_attr attr) {
    return grout_token__is_mnemonic(&p->token) &&
           (p->token.has_newline || (op->info->attrs >> attr & 1) == 0);
}

bool grout_parser__attrs(grout_parser *p, const grout_parsed_op *op) {
    while (p->token.kind == GROUT_TOKEN_NAME) {
        grout_attr attr = find_attr(p);
        if (attr != GROUT_ATTR_COUNT && !starts_op(p, op, attr)) {
            if (!parse_attr(p, op, attr)) {
                return false;
            }
        } else if (p->token.has_newline || grout_parser__at_item(p) ||
                   grout_token__is_mnemonic(&p->token)) {
            return true;
        } else {
            return report_attr(p, op);
        }
    }
    return true;
}

static bool parse_type_of_op(grout_parser *p, grout_parsed_op *op) {
    if (!op->info->typed) {
        return p->token.kind != GROUT_TOKEN_COLON ||
               grout_parser__error(p, &p->token, GROUT_DIAG_SYNTAX,
                                   "'%s' is written without a type", op->info->text);
    }
    grout_written_type type;
    if (p->token.kind != GROUT_TOKEN_COLON) {
        (void)grout_parser__expected(p, "':' and a type");
        grout_parser__help_form(p, op->opcode);
        return false;
    }
    grout_parser__advance(p);
    if (!grout_parser__type(p, &type)) {
        return false;
    }
    op->written_type = grout_table__push(&p->module->types, &type);
    p->module->failed |= op->written_type == 0;
    return true;
}

bool grout_parser__op_body(grout_parser *p, grout_parsed_op *op) {
    return parse_operands(p, op) && grout_parser__attrs(p, op) && parse_type_of_op(p, op);
}
