/* parse_region.c - blocks, and the operations that have them: for, while, if, scoped, warp_map,
 * warp_specialize.
 *
 * A fault in the header of such an operation does not hide its body: the parser goes on at the
 * opening brace, with what names the header gave.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "parser.h"

static grout_block *get_block(grout_parser *p, grout_block_id id) {
    return GROUT_TABLE_AT(p->module->blocks, grout_block, id);
}

static grout_op *get_op(grout_parser *p, grout_op_id id) {
    return GROUT_TABLE_AT(p->module->ops, grout_op, id);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

void grout_parser__open_block(grout_parser *p, grout_block_id block) {
    grout_loc_id loc = grout_parser__add_loc(p, &p->token);
    get_block(p, block)->loc = loc;
    (void)grout_parser__accept(p, GROUT_TOKEN_LEFT_BRACE);
}

/* Skips a block that is too deep, its opening brace consumed, through its closing one. */
static void skip_block(grout_parser *p) {
    uint32_t braces = 1;
    while (braces > 0 && p->token.kind != GROUT_TOKEN_END) {
        braces += p->token.kind == GROUT_TOKEN_LEFT_BRACE;
        braces -= p->token.kind == GROUT_TOKEN_RIGHT_BRACE;
        grout_parser__advance(p);
    }
}

static void close_block(grout_parser *p, grout_block_id block) {
    if (p->token.kind == GROUT_TOKEN_RIGHT_BRACE) {
        grout_loc_id loc = grout_parser__add_loc(p, &p->token);
        get_block(p, block)->end_loc = loc;
        grout_parser__advance(p);
        return;
    }
    if (!p->is_unwinding) {
        p->is_unwinding = true;
        (void)grout_parser__unexpected(p, "an operation or '}'");
        grout_parser__note(p, get_block(p, block)->loc, "the block starts here");
    }
}

void grout_parser__block(grout_parser *p, grout_block_id block) {
    grout_block_id outer = p->block;
    if (p->values.depth > GROUT_NESTING_MAX) {
        (void)grout_parser__error(p, &p->last, GROUT_DIAG_LIMIT, "blocks nest deeper than %d",
                                  GROUT_NESTING_MAX);
        skip_block(p);
        return;
    }
    p->block = block;
    bool is_first = true;
    while (p->token.kind != GROUT_TOKEN_END && p->token.kind != GROUT_TOKEN_RIGHT_BRACE &&
           !grout_parser__at_item(p) && !p->is_unwinding) {
        grout_parser__statement(p, is_first);
        is_first = false;
    }
    grout_string_id lead = grout_parser__take_lead(p, is_first);
    close_block(p, block);
    grout_trivia_id trivia = grout_parser__end_item(p, lead);
    get_block(p, block)->end_trivia = trivia;
    p->block = outer;
}

/* Whether a body follows: after a fault in the header (not ok), at its next opening brace. A brace
 * that is missing at the end of a line is reported and then taken as if it stood there. */
static bool find_body(grout_parser *p, bool ok, const char *what) {
    if (ok && p->token.kind != GROUT_TOKEN_LEFT_BRACE) {
        (void)grout_parser__expected(p, what);
        if (p->token.has_newline && p->token.kind != GROUT_TOKEN_END) {
            return true;
        }
    }
    while (p->token.kind != GROUT_TOKEN_LEFT_BRACE) {
        if (p->token.kind == GROUT_TOKEN_END || p->token.kind == GROUT_TOKEN_RIGHT_BRACE ||
            grout_parser__at_statement(p)) {
            return false;
        }
        grout_parser__advance(p);
    }
    return true;
}

/* How many values a block yields. */
static uint32_t count_yields(grout_parser *p, grout_block_id block) {
    const grout_op *yield = grout_block_find_yield(p->module, block);
    return yield == NULL ? 0 : yield->operand_count;
}

/* A body ends with a yield if and only if its operation has results. */
static void check_yield(grout_parser *p, const grout_parsed_op *op, grout_block_id block,
                        bool has_results) {
    bool has_yield = count_yields(p, block) > 0;
    if (has_yield == has_results || grout_diags_total(p->diags) > op->report_count) {
        return;
    }
    const grout_block *body = get_block(p, block);
    if (has_results) {
        (void)grout_parser__error_at(
            p, body->end_loc, GROUT_DIAG_BAD_REGION,
            "this body of '%s' ends without 'yield', and the operation has results",
            op->info->text);
        grout_parser__note(p, op->loc, "the operation is here");
        grout_parser__help(p, "end the body with 'yield ..', a value for each result");
    } else {
        (void)grout_parser__error_at(p, get_op(p, body->last)->loc, GROUT_DIAG_BAD_REGION,
                                     "'yield' in a body of '%s', which has no results",
                                     op->info->text);
    }
}

/* Gives the operation its results: as many as it has names, else as many as fallback. */
static void add_results(grout_parser *p, const grout_parsed_op *op, grout_op_id id,
                        uint32_t fallback) {
    uint32_t names = p->names.count - op->first_name;
    uint32_t count = names > 0 ? names : fallback;
    if (count > 0) {
        grout_value_id first = grout_module__add_results(p->module, id, count);
        grout_parser__bind_names(p, op->first_name, first);
    }
}

/* Emits the operation and consumes the opening brace of its first block. */
static grout_op_id begin_body(grout_parser *p, const grout_parsed_op *op, uint32_t block_count) {
    grout_op_id id = grout_parser__emit(p, op, block_count);
    grout_parser__open_block(p, get_op(p, id)->first_block);
    grout_trivia_id trivia = grout_parser__end_item(p, op->lead);
    get_op(p, id)->trivia = trivia;
    return id;
}

/* ---- for ------------------------------------------------------------------------------------- */

static bool parse_name(grout_parser *p, const char *what) {
    if (p->token.kind != GROUT_TOKEN_VALUE) {
        return grout_parser__expected_value(p, what);
    }
    grout_parsed_name name = {grout_parser__intern(p, &p->token),
                              grout_parser__add_loc(p, &p->token)};
    grout_parser__push(p, &p->names, &name);
    grout_parser__advance(p);
    return true;
}

static bool parse_bound(grout_parser *p) {
    grout_parsed_operand bound;
    if (!grout_parser__scalar(p, &bound)) {
        return false;
    }
    grout_parser__push(p, &p->operands, &bound.operand);
    return true;
}

/* 'carry' '(' %name = operand, ... ')' after its word. */
static bool parse_carries(grout_parser *p) {
    if (!grout_parser__expect(p, GROUT_TOKEN_LEFT_PAREN, "'('")) {
        return false;
    }
    do {
        grout_parsed_operand init;
        if (!parse_name(p, "the name of a carried value") ||
            !grout_parser__expect(p, GROUT_TOKEN_ASSIGN, "'=' and the first value") ||
            !grout_parser__operand(p, &init)) {
            return false;
        }
        grout_parser__push(p, &p->operands, &init.operand);
    } while (grout_parser__accept(p, GROUT_TOKEN_COMMA));
    return grout_parser__expect(p, GROUT_TOKEN_RIGHT_PAREN, "',' or ')'");
}

/* The step, which is 1 if it is not written. */
static bool parse_step(grout_parser *p, const grout_parsed_op *op) {
    grout_operand step = {.kind = GROUT_OPERAND_EXPR};
    if (grout_parser__is_word(p, &p->token, "step")) {
        grout_parser__advance(p);
        if (!grout_parser__constant(p, &step.id)) {
            return false;
        }
        step.loc = grout_module_get_expr(p->module, step.id)->loc;
    } else {
        grout_expr one = {.kind = GROUT_EXPR_INT, .loc = op->loc, .u.integer = 1};
        step.id = grout_module__add_expr(p->module, &one);
        step.loc = op->loc;
    }
    grout_parser__push(p, &p->operands, &step);
    return true;
}

/* Everything between 'for' and '{'; pushes the names of index and carries. */
static bool parse_for_header(grout_parser *p, const grout_parsed_op *op) {
    if (!parse_name(p, "the name of the loop's index") || !grout_parser__expect_word(p, "in") ||
        !parse_bound(p) ||
        !grout_parser__expect(p, GROUT_TOKEN_RANGE, "'..' and the end of the range") ||
        !parse_bound(p) || !parse_step(p, op)) {
        return false;
    }
    if (grout_parser__is_word(p, &p->token, "carry")) {
        grout_parser__advance(p);
        if (!parse_carries(p)) {
            return false;
        }
    }
    return grout_parser__attrs(p, op);
}

bool grout_parser__for(grout_parser *p, grout_parsed_op *op) {
    uint32_t first_own_name = p->names.count;
    bool ok = parse_for_header(p, op);
    if (!find_body(p, ok, "'step', 'carry', 'unroll' or '{'")) {
        p->names.count = first_own_name;
        return false;
    }
    uint32_t arg_count = p->names.count - first_own_name;
    grout_op_id id = begin_body(p, op, 1);
    grout_block_id body = get_op(p, id)->first_block;
    uint32_t mark = grout_scope__enter(&p->values);
    if (arg_count > 0) {
        grout_value_id first =
            grout_module__add_block_args(p->module, body, GROUT_VALUE_BLOCK_ARG, arg_count);
        grout_parser__bind_names(p, first_own_name, first);
    }
    grout_parser__block(p, body);
    grout_scope__leave(&p->values, mark);
    check_yield(p, op, body, arg_count > 1 || p->names.count > op->first_name);
    add_results(p, op, id, arg_count > 0 ? arg_count - 1 : 0);
    return true;
}

/* ---- several bodies -------------------------------------------------------------------------- */

/* The comment after the '{' of an else, do or partition goes to the end of the block before it,
 * which is on its line. */
static void take_next_comment(grout_parser *p, grout_block_id block) {
    grout_trivia_id id = get_block(p, block)->end_trivia;
    if (id != 0 && grout_module_get_trivia(p->module, id)->tail != 0) {
        return;
    }
    grout_string_id tail = grout_parser__take_tail(p);
    if (tail == 0) {
        return;
    }
    if (id == 0) {
        id = grout_table__add(&p->module->trivia, 1);
        p->module->failed |= id == 0;
        get_block(p, block)->end_trivia = id;
    }
    GROUT_TABLE_AT(p->module->trivia, grout_trivia, id)->tail = tail;
}

static void parse_scoped_block(grout_parser *p, grout_block_id block) {
    uint32_t mark = grout_scope__enter(&p->values);
    grout_parser__block(p, block);
    grout_scope__leave(&p->values, mark);
}

/* Consumes the opening brace of the body after this one. */
static void begin_next_body(grout_parser *p, grout_block_id block) {
    grout_parser__open_block(p, block + 1);
    take_next_comment(p, block);
}

/* ---- while ----------------------------------------------------------------------------------- */

static bool parse_while_header(grout_parser *p, const grout_parsed_op *op) {
    if (grout_parser__is_word(p, &p->token, "carry")) {
        grout_parser__advance(p);
        if (!parse_carries(p)) {
            return false;
        }
    }
    return grout_parser__attrs(p, op);
}

/* The first body ends with a condition. */
static void check_condition(grout_parser *p, const grout_parsed_op *op, grout_block_id block) {
    const grout_block *body = get_block(p, block);
    const grout_op *last = get_op(p, body->last);
    if (grout_op_get_info((grout_opcode)last->opcode)->rule == GROUT_RULE_CONDITION ||
        grout_diags_total(p->diags) > op->report_count) {
        return;
    }
    (void)grout_parser__error_at(p, body->end_loc, GROUT_DIAG_BAD_REGION,
                                 "the first body of 'while' ends without 'cond'");
    grout_parser__note(p, op->loc, "the operation is here");
    grout_parser__help(p, "end it with 'cond ..', the bool that says whether to go on");
}

/* 'do' and the second body. It lies in the scope of the first, as the condition does. */
static void parse_do(grout_parser *p, const grout_parsed_op *op, grout_op_id id) {
    grout_block_id first_block = get_op(p, id)->first_block;
    if (p->is_unwinding) {
        return;
    }
    bool is_do = grout_parser__is_word(p, &p->token, "do");
    if (!is_do && grout_diags_total(p->diags) == op->report_count) {
        (void)grout_parser__expected(p, "'do' and the second body of the while");
        grout_parser__help_form(p, op->opcode);
    }
    if (!is_do && p->token.kind != GROUT_TOKEN_LEFT_BRACE &&
        !grout_parser__is_word(p, &p->token, "else")) {
        return;
    }
    if (p->token.kind == GROUT_TOKEN_NAME) {
        grout_parser__advance(p);
    }
    if (p->token.kind != GROUT_TOKEN_LEFT_BRACE) {
        (void)grout_parser__expected(p, "'{'");
        return;
    }
    begin_next_body(p, first_block);
    parse_scoped_block(p, first_block + 1);
}

bool grout_parser__while(grout_parser *p, grout_parsed_op *op) {
    uint32_t first_own_name = p->names.count;
    bool ok = parse_while_header(p, op);
    bool is_odd = ok && p->token.kind != GROUT_TOKEN_LEFT_BRACE;
    bool has_body = find_body(p, ok, "'carry' or '{'");
    if (is_odd) {
        grout_parser__help_form(p, op->opcode);
    }
    if (!has_body) {
        p->names.count = first_own_name;
        return false;
    }
    uint32_t carry_count = p->names.count - first_own_name;
    grout_op_id id = begin_body(p, op, 2);
    grout_block_id first_block = get_op(p, id)->first_block;
    uint32_t mark = grout_scope__enter(&p->values);
    if (carry_count > 0) {
        grout_value_id first = grout_module__add_block_args(p->module, first_block,
                                                            GROUT_VALUE_BLOCK_ARG, carry_count);
        grout_parser__bind_names(p, first_own_name, first);
    }
    grout_parser__block(p, first_block);
    check_condition(p, op, first_block);
    parse_do(p, op, id);
    grout_scope__leave(&p->values, mark);
    check_yield(p, op, first_block + 1, carry_count > 0 || p->names.count > op->first_name);
    add_results(p, op, id, carry_count);
    return true;
}

/* ---- if -------------------------------------------------------------------------------------- */

static void parse_else(grout_parser *p, grout_op_id id) {
    grout_block_id first_block = get_op(p, id)->first_block;
    grout_parser__advance(p);
    if (grout_parser__is_word(p, &p->token, "if")) {
        (void)grout_parser__expected(p, "'{'");
        grout_parser__help(p, "write 'else { if .. { .. } }'");
        return;
    }
    if (p->token.kind != GROUT_TOKEN_LEFT_BRACE) {
        (void)grout_parser__expected(p, "'{'");
        return;
    }
    get_op(p, id)->block_count = 2;
    begin_next_body(p, first_block);
    parse_scoped_block(p, first_block + 1);
}

bool grout_parser__if(grout_parser *p, grout_parsed_op *op) {
    bool ok = grout_parser__op_body(p, op);
    if (!find_body(p, ok, "'{'")) {
        return false;
    }
    bool has_names = p->names.count > op->first_name;
    /* Both blocks are made now, because the ids of an operation's blocks are consecutive; without
     * an else the second stays empty and belongs to nobody. */
    grout_op_id id = begin_body(p, op, 2);
    get_op(p, id)->block_count = 1;
    grout_block_id first_block = get_op(p, id)->first_block;
    parse_scoped_block(p, first_block);
    uint32_t yields = count_yields(p, first_block);
    check_yield(p, op, first_block, has_names || yields > 0);
    if (grout_parser__is_word(p, &p->token, "else") && !p->is_unwinding) {
        parse_else(p, id);
    }
    if (get_op(p, id)->block_count == 2) {
        check_yield(p, op, first_block + 1, has_names || yields > 0);
    }
    add_results(p, op, id, yields);
    return true;
}

/* ---- scoped ---------------------------------------------------------------------------------- */

/* One '%name : object'; the object waits in the table for its value. */
static bool parse_scoped_object(grout_parser *p) {
    grout_object object = {0};
    if (!parse_name(p, "the name of an object") ||
        !grout_parser__expect(p, GROUT_TOKEN_COLON, "':' and what the object is")) {
        return false;
    }
    object.loc = GROUT_TABLE_AT(p->names, grout_parsed_name, p->names.count - 1)->loc;
    if (!grout_parser__object(p, &object)) {
        return false;
    }
    p->module->failed |= grout_table__push(&p->module->objects, &object) == 0;
    return true;
}

static bool parse_scoped_header(grout_parser *p, const grout_parsed_op *op) {
    if (!grout_parser__expect(p, GROUT_TOKEN_LEFT_PAREN, "'('")) {
        return false;
    }
    do {
        if (!parse_scoped_object(p)) {
            return false;
        }
    } while (grout_parser__accept(p, GROUT_TOKEN_COMMA));
    return grout_parser__expect(p, GROUT_TOKEN_RIGHT_PAREN, "',' or ')'") &&
           grout_parser__attrs(p, op);
}

/* Objects and values of a scope come in the same order; after a fault some objects may be missing.
 */
static void bind_objects(grout_parser *p, grout_block_id body, uint32_t first_object,
                         uint32_t first_own_name) {
    uint32_t count = p->names.count - first_own_name;
    if (count == 0) {
        return;
    }
    grout_value_id first = grout_module__add_block_args(p->module, body, GROUT_VALUE_OBJECT, count);
    for (uint32_t i = 0; i < count && first_object + i < p->module->objects.count; i++) {
        GROUT_TABLE_AT(p->module->objects, grout_object, first_object + i)->value = first + i;
        GROUT_TABLE_AT(p->module->values, grout_value, first + i)->object = first_object + i;
    }
    grout_parser__bind_names(p, first_own_name, first);
}

bool grout_parser__scoped(grout_parser *p, grout_parsed_op *op) {
    uint32_t first_own_name = p->names.count;
    uint32_t first_object = p->module->objects.count;
    bool ok = parse_scoped_header(p, op);
    if (!find_body(p, ok, "'collective' or '{'")) {
        p->names.count = first_own_name;
        return false;
    }
    bool has_names = first_own_name > op->first_name;
    grout_op_id id = begin_body(p, op, 1);
    grout_block_id body = get_op(p, id)->first_block;
    uint32_t mark = grout_scope__enter(&p->values);
    bind_objects(p, body, first_object, first_own_name);
    grout_parser__block(p, body);
    grout_scope__leave(&p->values, mark);
    uint32_t yields = count_yields(p, body);
    check_yield(p, op, body, has_names || yields > 0);
    add_results(p, op, id, yields);
    return true;
}

/* ---- warp_map -------------------------------------------------------------------------------- */

static bool parse_warp_map_header(grout_parser *p) {
    return grout_parser__expect(p, GROUT_TOKEN_LEFT_PAREN, "'(' and a name for the warp's index") &&
           parse_name(p, "a name for the warp's index") &&
           grout_parser__expect(p, GROUT_TOKEN_RIGHT_PAREN, "')'");
}

bool grout_parser__warp_map(grout_parser *p, grout_parsed_op *op) {
    uint32_t first_own_name = p->names.count;
    bool ok = parse_warp_map_header(p);
    if (!find_body(p, ok, "'{'")) {
        p->names.count = first_own_name;
        return false;
    }
    bool has_index = p->names.count > first_own_name;
    grout_op_id id = begin_body(p, op, 1);
    grout_block_id body = get_op(p, id)->first_block;
    uint32_t mark = grout_scope__enter(&p->values);
    if (has_index) {
        grout_value_id index =
            grout_module__add_block_args(p->module, body, GROUT_VALUE_BLOCK_ARG, 1);
        grout_parser__bind_names(p, first_own_name, index);
    }
    grout_parser__block(p, body);
    grout_scope__leave(&p->values, mark);
    check_yield(p, op, body, false);
    return true;
}

/* ---- warp_specialize ------------------------------------------------------------------------- */

/* 'partition' and its body, after the body of the block before it. */
static bool parse_partition(grout_parser *p, const grout_parsed_op *op, grout_op_id id) {
    uint32_t count = get_op(p, id)->block_count;
    grout_parser__advance(p);
    if (p->token.kind != GROUT_TOKEN_LEFT_BRACE) {
        return grout_parser__expected(p, "'{'");
    }
    if (count == GROUT_THREADS_MAX) {
        (void)grout_parser__error(p, &p->last, GROUT_DIAG_LIMIT,
                                  "more than %d bodies of 'warp_specialize': a CTA has at most as "
                                  "many threads",
                                  GROUT_THREADS_MAX);
        grout_parser__advance(p);
        skip_block(p);
        return true;
    }
    get_op(p, id)->block_count++;
    grout_block_id block = get_op(p, id)->first_block + count;
    begin_next_body(p, block - 1);
    parse_scoped_block(p, block);
    if (count_yields(p, block) > 0 && grout_diags_total(p->diags) == op->report_count) {
        (void)grout_parser__error_at(p, get_op(p, get_block(p, block)->last)->loc,
                                     GROUT_DIAG_BAD_REGION,
                                     "'yield' in a partition of 'warp_specialize': its results are "
                                     "those of the first body");
    }
    return true;
}

bool grout_parser__warp_specialize(grout_parser *p, grout_parsed_op *op) {
    bool ok = grout_parser__attrs(p, op);
    if (!find_body(p, ok, "'{'")) {
        return false;
    }
    bool has_names = p->names.count > op->first_name;
    /* As for 'if', all blocks that there may be are made now; those left over belong to nobody. */
    grout_op_id id = begin_body(p, op, GROUT_THREADS_MAX);
    get_op(p, id)->block_count = 1;
    grout_block_id first_block = get_op(p, id)->first_block;
    parse_scoped_block(p, first_block);
    uint32_t yields = count_yields(p, first_block);
    check_yield(p, op, first_block, has_names || yields > 0);
    bool goes_on = true;
    while (goes_on && grout_parser__is_word(p, &p->token, "partition") && !p->is_unwinding) {
        goes_on = parse_partition(p, op, id);
    }
    add_results(p, op, id, yields);
    return true;
}
