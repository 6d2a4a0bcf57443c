/* parse_expr.c - expressions: constants, and infix arithmetic on run-time scalars.
 *
 * An expression whose parts are all constant becomes one grout_expr. As soon as a run-time value
 * takes part, an operator becomes an operation of the block, in front of the operation that uses
 * it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "parser.h"

#include "suggest.h"

#include <math.h>
#include <string.h>

/* What binds looser has the lower level. */
enum { LEVEL_NONE, LEVEL_COMPARE, LEVEL_SHIFT, LEVEL_SUM, LEVEL_PRODUCT };

typedef struct infix_operator {
    uint8_t level;
    uint8_t operator_; /* grout_expr_operator */
    uint16_t opcode;   /* on run-time values; NONE: constants only */
} infix_operator;

static bool parse_expression(grout_parser *p, int level_min, grout_parsed_operand *out);

static infix_operator get_infix(uint8_t token_kind) {
    static const infix_operator operators[] = {
        [GROUT_TOKEN_PLUS] = {LEVEL_SUM, GROUT_EXPR_ADD, GROUT_OP_ADD},
        [GROUT_TOKEN_MINUS] = {LEVEL_SUM, GROUT_EXPR_SUB, GROUT_OP_SUB},
        [GROUT_TOKEN_STAR] = {LEVEL_PRODUCT, GROUT_EXPR_MUL, GROUT_OP_MUL},
        [GROUT_TOKEN_SLASH] = {LEVEL_PRODUCT, GROUT_EXPR_DIV, GROUT_OP_DIV},
        [GROUT_TOKEN_PERCENT] = {LEVEL_PRODUCT, GROUT_EXPR_REM, GROUT_OP_REM},
        [GROUT_TOKEN_SHIFT_LEFT] = {LEVEL_SHIFT, GROUT_EXPR_SHL, GROUT_OP_SHL},
        [GROUT_TOKEN_SHIFT_RIGHT] = {LEVEL_SHIFT, GROUT_EXPR_SHR, GROUT_OP_SHR},
        [GROUT_TOKEN_EQ] = {LEVEL_COMPARE, GROUT_EXPR_EQ, GROUT_OP_NONE},
        [GROUT_TOKEN_NE] = {LEVEL_COMPARE, GROUT_EXPR_NE, GROUT_OP_NONE},
        [GROUT_TOKEN_LT] = {LEVEL_COMPARE, GROUT_EXPR_LT, GROUT_OP_NONE},
        [GROUT_TOKEN_LE] = {LEVEL_COMPARE, GROUT_EXPR_LE, GROUT_OP_NONE},
        [GROUT_TOKEN_GT] = {LEVEL_COMPARE, GROUT_EXPR_GT, GROUT_OP_NONE},
        [GROUT_TOKEN_GE] = {LEVEL_COMPARE, GROUT_EXPR_GE, GROUT_OP_NONE},
    };
    return token_kind < sizeof operators / sizeof operators[0] ? operators[token_kind]
                                                               : (infix_operator){0};
}

/* ---- making expressions and operations ------------------------------------------------------- */

static void set_expr(grout_parser *p, const grout_expr *expr, grout_parsed_operand *out) {
    out->operand =
        (grout_operand){GROUT_OPERAND_EXPR, grout_module__add_expr(p->module, expr), expr->loc};
}

static uint32_t max_depth(uint32_t a, uint32_t b) {
    return a > b ? a : b;
}

static bool check_depth(grout_parser *p, const grout_token *token, uint32_t depth) {
    return depth <= GROUT_NESTING_MAX ||
           grout_parser__error(p, token, GROUT_DIAG_LIMIT,
                               "an expression of more than %d operators on one another",
                               GROUT_NESTING_MAX);
}

/* A reference is no scalar: its element has to be loaded. */
static bool check_scalar(grout_parser *p, const grout_token *token,
                         const grout_parsed_operand *operand) {
    if (operand->operand.kind != GROUT_OPERAND_REF) {
        return true;
    }
    (void)grout_parser__error(p, token, GROUT_DIAG_OPERAND_KIND,
                              "a reference stands where a scalar is needed");
    grout_parser__help(p, "read the element: '(load ..)'");
    return false;
}

/* Emits an operation written infix; its operands are in order. */
static void emit_infix(grout_parser *p, grout_opcode opcode, grout_loc_id loc,
                       const grout_parsed_operand *operands, uint32_t count) {
    grout_operand plain[2] = {operands[0].operand,
                              count > 1 ? operands[1].operand : (grout_operand){0}};
    grout_new_op new_op = {.opcode = opcode,
                           .flags = GROUT_OP_FLAG_INFIX,
                           .loc = loc,
                           .parent = p->block,
                           .operands = plain,
                           .operand_count = count};
    (void)grout_parser__add_op(p, &new_op, 1);
}

static void set_newest_result(grout_parser *p, grout_loc_id loc, grout_parsed_operand *out) {
    out->operand = (grout_operand){GROUT_OPERAND_VALUE, p->module->values.count - 1, loc};
}

/* left OPERATOR right, into left. token is the operator's, or a function's name. */
static bool combine(grout_parser *p, const grout_token *token, infix_operator infix,
                    grout_parsed_operand *left, const grout_parsed_operand *right) {
    uint32_t depth = max_depth(left->depth, right->depth) + 1;
    if (!check_scalar(p, token, left) || !check_scalar(p, token, right) ||
        !check_depth(p, token, depth)) {
        return false;
    }
    grout_loc_id loc = grout_parser__add_loc(p, token);
    if (left->operand.kind == GROUT_OPERAND_EXPR && right->operand.kind == GROUT_OPERAND_EXPR) {
        grout_expr expr = {.kind = GROUT_EXPR_BINARY,
                           .operator_ = infix.operator_,
                           .loc = loc,
                           .a = left->operand.id,
                           .b = right->operand.id};
        set_expr(p, &expr, left);
    } else if (infix.opcode == 0) { /* for constants only */
        (void)grout_parser__error(p, token, GROUT_DIAG_SYNTAX,
                                  "'%.*s' takes constants, and one side is a run-time value",
                                  (int)token->size, p->lexer.text + token->offset);
        if (infix.level == LEVEL_COMPARE) {
            grout_parser__help(p, "compare values with an operation: eq, ne, lt, le, gt or ge");
        }
        return false;
    } else {
        grout_parsed_operand operands[2] = {*left, *right};
        emit_infix(p, (grout_opcode)infix.opcode, loc, operands, 2);
        set_newest_result(p, loc, left);
    }
    left->depth = depth;
    return true;
}

static bool negate(grout_parser *p, const grout_token *token, grout_parsed_operand *operand) {
    if (!check_scalar(p, token, operand) || !check_depth(p, token, operand->depth + 1)) {
        return false;
    }
    grout_loc_id loc = grout_parser__add_loc(p, token);
    if (operand->operand.kind == GROUT_OPERAND_EXPR) {
        grout_expr expr = {.kind = GROUT_EXPR_UNARY,
                           .operator_ = GROUT_EXPR_NEG,
                           .loc = loc,
                           .a = operand->operand.id};
        set_expr(p, &expr, operand);
    } else {
        emit_infix(p, GROUT_OP_NEG, loc, operand, 1);
        set_newest_result(p, loc, operand);
    }
    operand->depth++;
    return true;
}

/* ---- literals -------------------------------------------------------------------------------- */

static bool parse_integer(grout_parser *p, bool is_negative, grout_expr *expr) {
    const uint64_t top = (uint64_t)INT64_MAX;
    uint64_t magnitude;
    if (!grout_lexer__get_integer(&p->lexer, &p->token, &magnitude) ||
        magnitude > (is_negative ? top + 1 : top)) {
        return grout_parser__error(p, &p->token, GROUT_DIAG_BAD_NUMBER,
                                   "the number does not fit 64 bits with a sign");
    }
    expr->kind = GROUT_EXPR_INT;
    if (!is_negative) {
        expr->u.integer = (int64_t)magnitude;
    } else {
        expr->u.integer = magnitude > top ? INT64_MIN : -(int64_t)magnitude;
    }
    return true;
}

static bool parse_float(grout_parser *p, bool is_negative, grout_expr *expr) {
    double number;
    if (!grout_lexer__get_number(&p->lexer, &p->token, &number)) {
        return grout_parser__error(p, &p->token, GROUT_DIAG_BAD_NUMBER,
                                   "the number is too large for a 64-bit float");
    }
    expr->kind = GROUT_EXPR_FLOAT;
    expr->u.number = is_negative ? -number : number;
    return true;
}

/* A number, with the minus that may have stood before it. */
static bool parse_number(grout_parser *p, const grout_token *minus, grout_parsed_operand *out) {
    grout_expr expr = {0};
    bool ok = p->token.kind == GROUT_TOKEN_INT ? parse_integer(p, minus != NULL, &expr)
                                               : parse_float(p, minus != NULL, &expr);
    if (!ok) {
        return false;
    }
    grout_token whole = p->token;
    if (minus != NULL && minus->line == whole.line) {
        whole.size += whole.column - minus->column;
        whole.column = minus->column;
    }
    expr.loc = grout_parser__add_loc(p, &whole);
    grout_parser__advance(p);
    out->depth = 1;
    set_expr(p, &expr, out);
    return true;
}

/* An integer of a type: its magnitude, and whether a minus stood before it. */
static bool parse_typed_integer(grout_parser *p, const grout_dtype_info *info, bool is_negative,
                                grout_expr *expr) {
    const uint64_t largest = UINT64_MAX >> (64u - info->bits);
    uint64_t magnitude = 0, limit = largest;
    if (info->class_ == GROUT_CLASS_SINT) {
        limit = is_negative ? largest / 2 + 1 : largest / 2;
    } else if (is_negative) {
        limit = 0;
    }
    if (!grout_lexer__get_integer(&p->lexer, &p->token, &magnitude) || magnitude > limit) {
        return grout_parser__error(p, &p->token, GROUT_DIAG_BAD_NUMBER,
                                   "the number does not fit '%s'", info->text);
    }
    expr->kind = GROUT_EXPR_INT;
    expr->u.bits = is_negative ? 0u - magnitude : magnitude;
    return true;
}

/* The bits of a float, or its number, which is rounded to the type. */
static bool parse_typed_float(grout_parser *p, const grout_dtype_info *info,
                              const grout_token *minus, grout_expr *expr) {
    expr->kind = GROUT_EXPR_FLOAT;
    if (p->token.kind == GROUT_TOKEN_INT && minus == NULL) {
        if (grout_lexer__get_integer(&p->lexer, &p->token, &expr->u.bits) &&
            (info->bytes == 8 || expr->u.bits >> info->bits == 0)) {
            return true;
        }
        return grout_parser__error(p, &p->token, GROUT_DIAG_BAD_NUMBER,
                                   "the pattern has more than the %d bits of '%s'", info->bits,
                                   info->text);
    }
    expr->kind = GROUT_EXPR_TYPED;
    if (p->token.kind == GROUT_TOKEN_FLOAT) {
        const uint8_t kind = expr->kind;
        const bool ok = parse_float(p, minus != NULL, expr);
        expr->kind = kind;
        return ok;
    }
    if (grout_parser__is_word(p, &p->token, "inf")) {
        expr->u.number = minus != NULL ? -(double)INFINITY : (double)INFINITY;
        return true;
    }
    if (grout_parser__is_word(p, &p->token, "nan") && minus == NULL) {
        expr->u.number = (double)NAN;
        return true;
    }
    return grout_parser__expected(p, "the bits of the float, as in f32:0x7fc00001, or its number, "
                                     "as in f32:1.5");
}

/* dtype:NUMBER or dtype:BITS, the type's name being the next token. */
static bool parse_typed_literal(grout_parser *p, grout_dtype dtype, grout_parsed_operand *out) {
    const grout_dtype_info *info = grout_dtype_get_info(dtype);
    grout_token start = p->token, minus = {0};
    if (info->class_ == GROUT_CLASS_BOOL) {
        return grout_parser__error(p, &start, GROUT_DIAG_BAD_NUMBER,
                                   "a literal of '%s' is true or false", info->text);
    }
    grout_parser__advance(p);
    grout_parser__advance(p);
    grout_expr expr = {.dtype = (uint8_t)dtype};
    const bool has_minus = p->token.kind == GROUT_TOKEN_MINUS;
    if (has_minus) {
        minus = p->token;
        grout_parser__advance(p);
    }
    if (info->class_ == GROUT_CLASS_FLOAT) {
        if (!parse_typed_float(p, info, has_minus ? &minus : NULL, &expr)) {
            return false;
        }
    } else if (p->token.kind != GROUT_TOKEN_INT) {
        return grout_parser__expected(p, "an integer, as in i8:-3");
    } else if (!parse_typed_integer(p, info, has_minus, &expr)) {
        return false;
    }
    start.size = p->token.offset + p->token.size - start.offset;
    expr.loc = grout_parser__add_loc(p, &start);
    grout_parser__advance(p);
    out->depth = 1;
    set_expr(p, &expr, out);
    return true;
}

/* true, false, inf and nan; false if the next token is none of them. minus stood before an inf. */
static bool parse_named_literal(grout_parser *p, const grout_token *minus,
                                grout_parsed_operand *out) {
    grout_expr expr = {0};
    if (grout_parser__is_word(p, &p->token, "true") ||
        grout_parser__is_word(p, &p->token, "false")) {
        expr.kind = GROUT_EXPR_BOOL;
        expr.u.integer = p->token.size == 4;
    } else if (grout_parser__is_word(p, &p->token, "inf")) {
        expr.kind = GROUT_EXPR_FLOAT;
        expr.u.number = minus != NULL ? -(double)INFINITY : (double)INFINITY;
    } else if (grout_parser__is_word(p, &p->token, "nan")) {
        expr.kind = GROUT_EXPR_FLOAT;
        expr.dtype = GROUT_DTYPE_F32;
        expr.u.bits = 0x7fc00000u;
    } else {
        return false;
    }
    expr.loc = grout_parser__add_loc(p, &p->token);
    grout_parser__advance(p);
    out->depth = 1;
    set_expr(p, &expr, out);
    return true;
}

/* ---- names and calls ------------------------------------------------------------------------- */

typedef struct infix_function {
    const char *name;
    infix_operator infix;
    uint8_t argument_count;
} infix_function;

static const infix_function functions[] = {
    {"min", {LEVEL_NONE, GROUT_EXPR_MIN, GROUT_OP_MIN}, 2},
    {"max", {LEVEL_NONE, GROUT_EXPR_MAX, GROUT_OP_MAX}, 2},
    {"cdiv", {LEVEL_NONE, GROUT_EXPR_CDIV, GROUT_OP_CDIV}, 2},
    {"align_up", {LEVEL_NONE, GROUT_EXPR_ALIGN_UP, GROUT_OP_NONE}, 2},
    {"log2", {LEVEL_NONE, GROUT_EXPR_LOG2, GROUT_OP_NONE}, 1},
};
enum { FUNCTION_COUNT = sizeof functions / sizeof functions[0] };

static const infix_function *find_function(const grout_parser *p, const grout_token *token) {
    for (int i = 0; i < FUNCTION_COUNT; i++) {
        if (grout_parser__is_word(p, token, functions[i].name)) {
            return &functions[i];
        }
    }
    return NULL;
}

/* Whether the next token is called: a '(' follows it at once. */
static bool is_call(const grout_parser *p) {
    return p->ahead.kind == GROUT_TOKEN_LEFT_PAREN && !p->ahead.has_blank;
}

static bool parse_unary_call(grout_parser *p, const grout_token *name, grout_parsed_operand *out) {
    if (out->operand.kind != GROUT_OPERAND_EXPR) {
        (void)grout_parser__error(p, name, GROUT_DIAG_SYNTAX,
                                  "'log2' takes a constant, and this is a run-time value");
        grout_parser__help(p, "the operation of this name stands in front: (log2 ..)");
        return false;
    }
    grout_expr expr = {.kind = GROUT_EXPR_UNARY,
                       .operator_ = GROUT_EXPR_LOG2,
                       .loc = grout_parser__add_loc(p, name),
                       .a = out->operand.id};
    out->depth++;
    set_expr(p, &expr, out);
    return check_depth(p, name, out->depth);
}

/* name(a) or name(a, b), the name being the next token. */
static bool parse_call(grout_parser *p, const infix_function *function, grout_parsed_operand *out) {
    grout_token name = p->token;
    grout_parsed_operand second = {0};
    if (!grout_parser__nest(p)) {
        return false;
    }
    grout_parser__advance(p);
    grout_parser__advance(p);
    bool ok = parse_expression(p, LEVEL_COMPARE, out);
    if (ok && function->argument_count == 2) {
        ok = grout_parser__expect(p, GROUT_TOKEN_COMMA, "',' and a second argument") &&
             parse_expression(p, LEVEL_COMPARE, &second);
    }
    ok = ok && grout_parser__expect(p, GROUT_TOKEN_RIGHT_PAREN, "')'");
    p->nesting--;
    if (!ok) {
        return false;
    }
    return function->argument_count == 2 ? combine(p, &name, function->infix, out, &second)
                                         : parse_unary_call(p, &name, out);
}

static bool report_unknown_function(grout_parser *p) {
    const char *name = p->lexer.text + p->token.offset;
    grout_suggestion suggestion = grout_suggest__begin(name, p->token.size);
    for (int i = 0; i < FUNCTION_COUNT; i++) {
        grout_suggest__offer(&suggestion, functions[i].name);
    }
    if (p->is_in_init) {
        grout_parser__offer_generators(&suggestion);
    }
    (void)grout_parser__error(p, &p->token, GROUT_DIAG_UNKNOWN_NAME, "there is no function '%.*s'",
                              (int)p->token.size, name);
    grout_parser__suggest(p, "", suggestion.best);
    return false;
}

/* A word of the language where an operand is expected. */
static bool report_word(grout_parser *p, grout_word_kind kind) {
    if (kind == GROUT_WORD_NOT_YET) {
        return grout_parser__not_yet(p, &p->token, GROUT_DIAG_SYNTAX);
    }
    (void)grout_parser__expected(p, p->constants_only ? "a constant" : "an operand");
    grout_opcode opcode = (grout_opcode)p->token.opcode;
    if (opcode != 0 && !p->constants_only) {
        grout_parser__help(p, "an operation inside an operand stands in parentheses: '(%s ..)'",
                           grout_op_get_info(opcode)->text);
    }
    return false;
}

static void parse_const_name(grout_parser *p, grout_parsed_operand *out) {
    grout_string_id name = grout_parser__intern(p, &p->token);
    grout_expr expr = {.kind = GROUT_EXPR_NAME,
                       .loc = grout_parser__add_loc(p, &p->token),
                       .constant = grout_scope__find(&p->consts, name)};
    grout_parser__advance(p);
    out->depth = 1;
    set_expr(p, &expr, out);
    if (expr.constant == 0) {
        grout_late_name late = {out->operand.id, name, p->is_in_init};
        grout_parser__push(p, &p->late_names, &late);
    }
}

/* Whether the next token is the name of a const that is already defined: most names are. */
static bool at_known_const(const grout_parser *p) {
    const char *text = p->lexer.text + p->token.offset;
    grout_string_id name = grout_module__find_string(p->module, text, p->token.size);
    return !grout_token__is_mnemonic(&p->token) && name != 0 &&
           grout_scope__find(&p->consts, name) != 0;
}

static bool parse_name(grout_parser *p, grout_parsed_operand *out) {
    const char *text = p->lexer.text + p->token.offset;
    if (at_known_const(p) && !is_call(p)) {
        parse_const_name(p, out);
        return true;
    }
    if (parse_named_literal(p, NULL, out)) {
        return true;
    }
    grout_dtype dtype = grout_dtype_find(text, p->token.size);
    if (dtype != GROUT_DTYPE_NONE && p->ahead.kind == GROUT_TOKEN_COLON && !p->ahead.has_blank) {
        return parse_typed_literal(p, dtype, out);
    }
    const infix_function *function = find_function(p, &p->token);
    if (function != NULL && is_call(p)) {
        return parse_call(p, function, out);
    }
    grout_word_kind kind = grout_word__get_kind(text, p->token.size);
    if (kind != GROUT_WORD_FREE) {
        return report_word(p, kind);
    }
    if (is_call(p)) {
        return report_unknown_function(p);
    }
    parse_const_name(p, out);
    return true;
}

/* ---- the expression -------------------------------------------------------------------------- */

/* Whether an operation, or what is meant to be one, follows an opening parenthesis. */
static bool at_nested_op(const grout_parser *p) {
    if (p->token.kind != GROUT_TOKEN_NAME) {
        return false;
    }
    if (grout_token__is_mnemonic(&p->token)) {
        return !(is_call(p) && find_function(p, &p->token) != NULL);
    }
    uint8_t next = p->ahead.kind;
    return next == GROUT_TOKEN_VALUE || next == GROUT_TOKEN_NAME ||
           (next == GROUT_TOKEN_LEFT_PAREN && p->ahead.has_blank);
}

static bool parse_parentheses(grout_parser *p, grout_parsed_operand *out) {
    if (!grout_parser__nest(p)) {
        return false;
    }
    grout_parser__advance(p);
    bool ok;
    if (at_nested_op(p) && !p->constants_only) {
        ok = grout_parser__nested_op(p, out);
    } else {
        ok = parse_expression(p, LEVEL_COMPARE, out) &&
             grout_parser__expect(p, GROUT_TOKEN_RIGHT_PAREN, "')'");
    }
    p->nesting--;
    return ok;
}

static bool parse_primary(grout_parser *p, grout_parsed_operand *out) {
    switch (p->token.kind) {
    case GROUT_TOKEN_INT:
    case GROUT_TOKEN_FLOAT:
        return parse_number(p, NULL, out);
    case GROUT_TOKEN_NAME:
        return parse_name(p, out);
    case GROUT_TOKEN_LEFT_PAREN:
        return parse_parentheses(p, out);
    case GROUT_TOKEN_VALUE:
        if (!p->constants_only) {
            return grout_parser__reference(p, out);
        }
        return grout_parser__error(p, &p->token, GROUT_DIAG_SYNTAX,
                                   "a constant is needed here, and '%.*s' is a run-time value",
                                   (int)p->token.size, p->lexer.text + p->token.offset);
    default:
        (void)grout_parser__expected(p, p->constants_only ? "a constant" : "an operand");
        if (p->token.kind == GROUT_TOKEN_DOT && !p->token.has_newline && !p->constants_only) {
            grout_parser__help(p, "write the view after the reference, as in %%b[0].cluster(1)");
        }
        return false;
    }
}

static bool parse_unary(grout_parser *p, grout_parsed_operand *out) {
    if (p->token.kind != GROUT_TOKEN_MINUS) {
        return parse_primary(p, out);
    }
    grout_token minus = p->token;
    grout_parser__advance(p);
    if (p->token.kind == GROUT_TOKEN_INT || p->token.kind == GROUT_TOKEN_FLOAT) {
        return parse_number(p, &minus, out);
    }
    if (grout_parser__is_word(p, &p->token, "inf")) {
        return parse_named_literal(p, &minus, out);
    }
    if (!grout_parser__nest(p)) {
        return false;
    }
    bool ok = parse_unary(p, out);
    p->nesting--;
    return ok && negate(p, &minus, out);
}

static bool parse_expression(grout_parser *p, int level_min, grout_parsed_operand *out) {
    if (!parse_unary(p, out)) {
        return false;
    }
    for (;;) {
        grout_token token = p->token;
        infix_operator infix = get_infix(token.kind);
        if (infix.level == LEVEL_NONE || infix.level < level_min) {
            return true;
        }
        grout_parsed_operand right = {0};
        grout_parser__advance(p);
        if (!parse_expression(p, infix.level + 1, &right) ||
            !combine(p, &token, infix, out, &right)) {
            return false;
        }
        if (infix.level == LEVEL_COMPARE && get_infix(p->token.kind).level == LEVEL_COMPARE) {
            return grout_parser__error(p, &p->token, GROUT_DIAG_SYNTAX,
                                       "comparisons do not chain: put one in parentheses");
        }
    }
}

bool grout_parser__operand(grout_parser *p, grout_parsed_operand *out) {
    *out = (grout_parsed_operand){0};
    return parse_expression(p, LEVEL_COMPARE, out);
}

bool grout_parser__scalar(grout_parser *p, grout_parsed_operand *out) {
    grout_token start = p->token;
    return grout_parser__operand(p, out) && check_scalar(p, &start, out);
}

bool grout_parser__constant(grout_parser *p, grout_expr_id *id_out) {
    grout_parsed_operand operand = {0};
    bool outer = p->constants_only;
    p->constants_only = true;
    bool ok = parse_expression(p, LEVEL_COMPARE, &operand);
    p->constants_only = outer;
    *id_out = operand.operand.id;
    return ok;
}

uint32_t grout_parser__constants(grout_parser *p, grout_expr_id *ids, uint32_t max,
                                 grout_token_kind close) {
    uint32_t count = 0;
    do {
        if (!grout_parser__constant(p, &ids[count])) {
            return 0;
        }
        count++;
    } while (count < max && grout_parser__accept(p, GROUT_TOKEN_COMMA));
    if (max > 1 && p->token.kind == GROUT_TOKEN_COMMA) {
        (void)grout_parser__error(p, &p->ahead, GROUT_DIAG_LIMIT, "more than %u dimensions",
                                  (unsigned)max);
        return 0;
    }
    bool is_bracket = close == GROUT_TOKEN_RIGHT_BRACKET;
    const char *what = max == 1 ? "')'" : is_bracket ? "',' or ']'" : "',' or ')'";
    return grout_parser__expect(p, close, what) ? count : 0;
}
