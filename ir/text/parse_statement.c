/* parse_statement.c - statements: results, the operation by its shape, what follows after a fault.
 * SPDX-License-Identifier: Apache-2.0 */
#include "parser.h"

/* Whether the statement loop may go on here after a fault. */
static bool at_new_start(const grout_parser *p) {
    if (grout_parser__at_statement(p)) {
        return true;
    }
    uint8_t next = p->ahead.kind;
    return p->token.has_newline &&
           ((p->token.kind == GROUT_TOKEN_VALUE && next == GROUT_TOKEN_COMMA) ||
            (p->token.kind == GROUT_TOKEN_NAME &&
             (next == GROUT_TOKEN_VALUE || next == GROUT_TOKEN_NAME || next == GROUT_TOKEN_INT)));
}

/* Skips the rest of a faulty statement, bodies included. */
static void skip_statement(grout_parser *p, uint32_t start) {
    uint32_t braces = 0;
    if (p->token.offset == start && p->token.kind != GROUT_TOKEN_RIGHT_BRACE) {
        braces += p->token.kind == GROUT_TOKEN_LEFT_BRACE;
        grout_parser__advance(p);
    }
    while (p->token.kind != GROUT_TOKEN_END) {
        bool is_close = p->token.kind == GROUT_TOKEN_RIGHT_BRACE;
        if (grout_parser__at_item(p) || (braces == 0 && (is_close || at_new_start(p)))) {
            return;
        }
        braces += p->token.kind == GROUT_TOKEN_LEFT_BRACE;
        braces -= is_close;
        grout_parser__advance(p);
    }
}

/* '%a, %b =' in front of an operation. */
static bool parse_result_names(grout_parser *p) {
    do {
        if (p->token.kind != GROUT_TOKEN_VALUE) {
            return grout_parser__expected(p, "the name of a value");
        }
        grout_parsed_name name = {grout_parser__intern(p, &p->token),
                                  grout_parser__add_loc(p, &p->token)};
        grout_parser__push(p, &p->names, &name);
        grout_parser__advance(p);
    } while (grout_parser__accept(p, GROUT_TOKEN_COMMA));
    return grout_parser__expect(p, GROUT_TOKEN_ASSIGN, "'=' after the names of results");
}

/* Help for what follows '%r =' and is no operation: a value or constant to be copied under another
 * name, elements of memory, or an infix expression. A name has had its help. */
static void help_result(grout_parser *p) {
    if (p->token.kind == GROUT_TOKEN_NAME || grout_parser__help_infix(p)) {
        return;
    }
    if (p->token.kind == GROUT_TOKEN_VALUE && p->ahead.kind == GROUT_TOKEN_LEFT_BRACKET) {
        grout_parser__help(p,
                           "what is in memory is loaded: 'load %.*s[..]'; a value has no indices",
                           (int)p->token.size, p->lexer.text + p->token.offset);
    } else if (p->token.kind == GROUT_TOKEN_VALUE) {
        grout_parser__help(p, "only an operation has a result; use the value where it is needed");
    } else if (p->token.kind == GROUT_TOKEN_LEFT_PAREN) {
        grout_parser__help(p,
                           "name the operation, as in '%s .., ..': operators stand in its operands",
                           grout_op_get_info(GROUT_OP_MUL)->text);
    } else {
        grout_parser__help(p,
                           "only an operation has a result; use the constant where it is needed");
    }
}

/* An operation has as many names in front of it as results, or none. */
static bool check_result_count(grout_parser *p, const grout_parsed_op *op) {
    uint32_t names = p->names.count - op->first_name;
    bool is_object = op->info->shape == GROUT_SHAPE_SCRATCH; /* its name comes after it */
    uint32_t results = is_object ? 0 : op->info->results;
    if (names <= results) {
        return true;
    }
    if (results == 0) {
        (void)grout_parser__error(p, &op->token, GROUT_DIAG_RESULT_COUNT,
                                  "'%s' has no result to give a name to", op->info->text);
    } else {
        (void)grout_parser__error(p, &op->token, GROUT_DIAG_RESULT_COUNT,
                                  "'%s' has %u result%s, and %u names stand before it",
                                  op->info->text, (unsigned)results,
                                  grout_parser__get_plural(results), (unsigned)names);
    }
    grout_parser__help_form(p, op->opcode);
    return false;
}

static grout_trivia_id *get_trivia(grout_parser *p, grout_op_id id) {
    return &GROUT_TABLE_AT(p->module->ops, grout_op, id)->trivia;
}

static bool parse_scratch(grout_parser *p, grout_parsed_op *op) {
    grout_parsed_name name = {0};
    grout_object object = {0};
    if (p->token.kind != GROUT_TOKEN_VALUE) {
        return grout_parser__expected(p, "the name of the object");
    }
    name.name = grout_parser__intern(p, &p->token);
    name.loc = grout_parser__add_loc(p, &p->token);
    grout_parser__push(p, &p->names, &name);
    grout_parser__advance(p);
    if (!grout_parser__expect(p, GROUT_TOKEN_COLON, "':' and what the object is") ||
        !grout_parser__object(p, &object)) {
        return false;
    }
    grout_op_id id = grout_parser__emit(p, op, 0);
    object.value = id != 0 ? grout_module__add_results(p->module, id, 1) : 0;
    object.loc = name.loc;
    (void)grout_module__add_object(p->module, &object);
    grout_parser__bind_names(p, op->first_name, object.value);
    grout_trivia_id trivia = grout_parser__end_item(p, op->lead);
    *get_trivia(p, id) = trivia;
    return true;
}

/* Whether the block is the first body of a while, which ends with a condition. */
static bool is_condition_body(const grout_parser *p, grout_block_id id) {
    const grout_op *op =
        grout_module_get_op(p->module, grout_module_get_block(p->module, id)->parent);
    return grout_op_get_region((grout_opcode)op->opcode)->blocks == 2 && op->first_block == id;
}

/* Whether a 'yield' or 'cond' may stand in the block that it stands in. */
static bool check_terminator_place(grout_parser *p, const grout_parsed_op *op) {
    bool is_condition = is_condition_body(p, p->block);
    if (op->info->rule == GROUT_RULE_CONDITION) {
        return is_condition ||
               grout_parser__error(p, &op->token, GROUT_DIAG_SYNTAX,
                                   "'cond' stands at the end of the first body of a while only");
    }
    if (is_condition) {
        (void)grout_parser__error(p, &op->token, GROUT_DIAG_BAD_REGION,
                                  "'yield' in the first body of a while, which ends with 'cond'");
        grout_parser__help(p, "the second body, which follows do, yields the next carries");
        return false;
    }
    return grout_module_get_block(p->module, p->block)->parent != 0 ||
           grout_parser__error(p, &op->token, GROUT_DIAG_SYNTAX,
                               "'yield' stands in the body of a for, while, if, scoped or "
                               "warp_specialize only");
}

/* A yield or cond: the last operation of its block. */
static bool parse_terminator(grout_parser *p, grout_parsed_op *op) {
    if (!grout_parser__op_body(p, op)) {
        return false;
    }
    if (p->operands.count == op->first_operand) {
        return grout_parser__report_count(p, op, &op->token, 0);
    }
    if (!check_terminator_place(p, op)) {
        return false;
    }
    if (p->token.kind != GROUT_TOKEN_RIGHT_BRACE && p->token.kind != GROUT_TOKEN_END &&
        !grout_parser__at_item(p)) {
        return grout_parser__error(p, &op->token, GROUT_DIAG_SYNTAX,
                                   "'%s' is not the last operation of its block", op->info->text);
    }
    grout_op_id id = grout_parser__emit(p, op, 0);
    grout_trivia_id trivia = grout_parser__end_item(p, op->lead);
    *get_trivia(p, id) = trivia;
    return true;
}

static bool parse_plain(grout_parser *p, grout_parsed_op *op) {
    if (!grout_parser__op_body(p, op)) {
        return false;
    }
    grout_op_id id = grout_parser__emit(p, op, 0);
    if (id != 0 && op->info->results > 0) {
        grout_value_id first = grout_module__add_results(p->module, id, op->info->results);
        grout_parser__bind_names(p, op->first_name, first);
    }
    grout_trivia_id trivia = grout_parser__end_item(p, op->lead);
    *get_trivia(p, id) = trivia;
    return true;
}

/* By form; NULL of forms without blocks. */
typedef bool region_parser(grout_parser *p, grout_parsed_op *op);
static region_parser *const region_parsers[GROUT_FORM_COUNT] = {
#define GROUT_REGION(FORM, text, KIND, LEAD_OPERANDS, LEAD_ARGS, BLOCKS, YIELDS) \
    [GROUT_FORM_##FORM] = grout_parser__##text,
#include "grout/ops.def"
#include "invariant.h"
};

static bool parse_by_shape(grout_parser *p, grout_parsed_op *op) {
    switch ((grout_shape)op->info->shape) {
    case GROUT_SHAPE_PLAIN:
        return parse_plain(p, op);
    case GROUT_SHAPE_SCRATCH:
        return parse_scratch(p, op);
    case GROUT_SHAPE_REGION:
        return region_parsers[op->info->form](p, op);
    case GROUT_SHAPE_END:
        return parse_terminator(p, op);
    }
    return false;
}

/* After a fault the names of the results stay known, so that their uses are no faults too. */
static void bind_faulty_results(grout_parser *p, uint32_t first_name) {
    uint32_t count = p->names.count - first_name;
    if (count > 0) {
        grout_value_id first = grout_table__add(&p->module->values, count);
        p->module->failed |= first == 0;
        grout_parser__bind_names(p, first_name, first);
    }
}

static bool parse_statement(grout_parser *p, grout_string_id lead) {
    uint32_t first_name = p->names.count;
    if (p->token.kind == GROUT_TOKEN_VALUE && !parse_result_names(p)) {
        return false;
    }
    grout_parsed_op op;
    if (!grout_parser__begin_op(p, &op)) {
        if (p->names.count > first_name) {
            help_result(p);
        }
        return false;
    }
    op.first_name = first_name;
    op.lead = lead;
    return check_result_count(p, &op) && parse_by_shape(p, &op);
}

void grout_parser__statement(grout_parser *p, bool is_first) {
    uint32_t start = p->token.offset;
    uint32_t first_operand = p->operands.count;
    uint32_t first_attr = p->attrs.count;
    uint32_t first_name = p->names.count;
    uint32_t nesting = p->nesting;
    p->nesting = 0;
    p->constants_only = false;
    if (!parse_statement(p, grout_parser__take_lead(p, is_first))) {
        bind_faulty_results(p, first_name);
        skip_statement(p, start);
    }
    GROUT_ASSERT(p->operands.count >= first_operand && p->attrs.count >= first_attr);
    GROUT_ASSERT(p->names.count >= first_name);
    p->nesting = nesting;
    p->constants_only = false;
    p->operands.count = first_operand;
    p->attrs.count = first_attr;
    p->names.count = first_name;
    (void)grout_parser__is_out_of_memory(p);
}
