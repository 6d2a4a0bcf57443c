/* parse_init.c - 'init(..)': what a parameter or a scratch holds by default.
 * SPDX-License-Identifier: Apache-2.0 */
#include "parser.h"

#include <stdio.h>

void grout_parser__offer_generators(grout_suggestion *suggestion) {
    for (int kind = 0; kind < GROUT_GENERATOR_VALUE; kind++) {
        grout_suggest__offer(suggestion,
                             grout_generator_get_info((grout_generator_kind)kind)->text);
    }
}

static bool parse_argument(grout_parser *p, grout_init *init) {
    grout_expr_id argument = 0;
    if (init->count == GROUT_INIT_MAX) {
        return grout_parser__error(p, &p->token, GROUT_DIAG_LIMIT,
                                   "more than %u elements in an init", GROUT_INIT_MAX);
    }
    if (!grout_parser__constant(p, &argument)) {
        return false;
    }
    init->count++;
    return grout_module__add_init_argument(p->module, argument);
}

/* '[' constants ']', from after the bracket. */
static bool parse_list(grout_parser *p, grout_init *init) {
    init->kind = GROUT_GENERATOR_LIST;
    do {
        if (!parse_argument(p, init)) {
            return false;
        }
    } while (grout_parser__accept(p, GROUT_TOKEN_COMMA));
    return grout_parser__expect(p, GROUT_TOKEN_RIGHT_BRACKET, "',' or ']'");
}

/* The arguments of a generator in parentheses; word: of the generator. */
static bool parse_generator_arguments(grout_parser *p, const grout_generator_info *info,
                                      grout_init *init) {
    char wanted[64];
    snprintf(wanted, sizeof wanted, "'(': %s(%s)", info->text, info->form);
    if (!grout_parser__expect(p, GROUT_TOKEN_LEFT_PAREN, wanted)) {
        return false;
    }
    snprintf(wanted, sizeof wanted, "',': %s(%s)", info->text, info->form);
    for (uint32_t i = 0; i < info->argument_count; i++) {
        if ((i > 0 && !grout_parser__expect(p, GROUT_TOKEN_COMMA, wanted)) ||
            !parse_argument(p, init)) {
            return false;
        }
    }
    return grout_parser__expect(p, GROUT_TOKEN_RIGHT_PAREN, "')'");
}

/* What stands between the parentheses. */
static bool parse_content(grout_parser *p, grout_init *init) {
    if (grout_parser__accept(p, GROUT_TOKEN_LEFT_BRACKET)) {
        return parse_list(p, init);
    }
    grout_generator_kind kind =
        p->token.kind == GROUT_TOKEN_NAME
            ? grout_generator_find(p->lexer.text + p->token.offset, p->token.size)
            : GROUT_GENERATOR_COUNT;
    if (kind == GROUT_GENERATOR_COUNT) {
        init->kind = GROUT_GENERATOR_VALUE;
        return parse_argument(p, init);
    }
    const grout_generator_info *info = grout_generator_get_info(kind);
    init->kind = (uint8_t)kind;
    grout_parser__advance(p);
    return info->argument_count == 0 || parse_generator_arguments(p, info, init);
}

/* How much the token changes the number of open parentheses. */
static int get_step(const grout_token *token) {
    switch (token->kind) {
    case GROUT_TOKEN_LEFT_PAREN:
    case GROUT_TOKEN_LEFT_BRACKET:
        return 1;
    case GROUT_TOKEN_RIGHT_PAREN:
    case GROUT_TOKEN_RIGHT_BRACKET:
        return -1;
    default:
        return 0;
    }
}

/* Goes past the parenthesis that ends an init with a fault, from wherever the fault is; start: of
 * the init. False if none is open, or it does not end before the body of the kernel. */
static bool skip_init(grout_parser *p, uint32_t start) {
    int open = 0;
    for (uint32_t at = start; at < p->token.offset; at++) {
        char byte = p->lexer.text[at];
        open += (byte == '(' || byte == '[') - (byte == ')' || byte == ']');
    }
    const bool is_inside = open > 0;
    while (open > 0) {
        if (p->token.kind == GROUT_TOKEN_END || p->token.kind == GROUT_TOKEN_LEFT_BRACE ||
            p->token.kind == GROUT_TOKEN_RIGHT_BRACE || grout_parser__at_item(p)) {
            return false;
        }
        open += get_step(&p->token);
        grout_parser__advance(p);
    }
    return is_inside;
}

bool grout_parser__init(grout_parser *p, grout_init_id *id_out) {
    if (!grout_parser__is_word(p, &p->token, "init")) {
        return true;
    }
    uint32_t start = p->token.offset;
    grout_init init = {.loc = grout_parser__add_loc(p, &p->token),
                       .first = p->module->init_arguments.count};
    grout_parser__advance(p);
    p->is_in_init = true;
    bool ok = grout_parser__expect(p, GROUT_TOKEN_LEFT_PAREN, "'(' and the contents") &&
              parse_content(p, &init);
    p->is_in_init = false;
    ok = ok && grout_parser__expect(p, GROUT_TOKEN_RIGHT_PAREN, "')'");
    if (!ok) {
        return skip_init(p, start);
    }
    *id_out = grout_module__add_init(p->module, &init);
    return true;
}
