/* print_expr.c - constant expressions and literals as text.
 * SPDX-License-Identifier: Apache-2.0 */
#include "printer.h"

#include "grout-internal/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void grout_printer__text(const grout_printer *pr, const char *text) {
    grout_text_add_bytes(pr->out, text, strlen(text));
}

/* ---- literals -------------------------------------------------------------------------------- */

/* Copies what printf made of a number: with a point where the host's locale has something else, and
 * an exponent without plus and leading zeros. */
static void copy_number(char *to, const char *from) {
    bool has_point = false;
    bool is_at_exponent = false;
    for (; *from != '\0'; from++) {
        bool is_plain = (*from >= '0' && *from <= '9') || *from == '-' || *from == 'e';
        bool is_padding = is_at_exponent && (*from == '+' || *from == '0');
        if (is_padding) {
            continue;
        }
        is_at_exponent = *from == 'e' || (is_at_exponent && *from == '-');
        if (is_plain) {
            *to++ = *from;
        } else if (!has_point) {
            *to++ = '.';
            has_point = true;
        }
    }
    *to = '\0';
}

/* The fewest digits that read back as the same number: 12300.0, but 1.23e20 and 1.23e-7. */
static void format_shortest(char *digits, size_t size, double number) {
    enum { FIXED_MIN = -5, FIXED_END = 16 };
    int precision = 0;
    do {
        (void)snprintf(digits, size, "%.*e", precision, number);
        precision++;
    } while (precision <= 16 && strtod(digits, NULL) != number);
    int exponent = (int)strtol(strchr(digits, 'e') + 1, NULL, 10);
    if (exponent >= FIXED_MIN && exponent < FIXED_END) {
        int decimals = precision - 1 - exponent;
        (void)snprintf(digits, size, "%.*f", decimals > 1 ? decimals : 1, number);
    }
}

/* A number that is marked as a float by a point or an exponent. */
static void print_float(const grout_printer *pr, double number) {
    char digits[64];
    char text[64];
    if (!isfinite(number)) {
        grout_printer__text(pr, isnan(number) ? "nan" : number < 0 ? "-inf" : "inf");
        return;
    }
    format_shortest(digits, sizeof digits, number);
    copy_number(text, digits);
    grout_printer__text(pr, text);
}

static void print_bits(const grout_printer *pr, const grout_expr *expr) {
    const grout_dtype_info *info = grout_dtype_get_info((grout_dtype)expr->dtype);
    grout_text_add(pr->out, "%s:0x%0*llx", info->text, 2 * info->bytes,
                   (unsigned long long)expr->u.bits);
}

/* An integer with its type: "u8:255". */
static void print_typed_integer(const grout_printer *pr, const grout_expr *expr) {
    const grout_dtype_info *info = grout_dtype_get_info((grout_dtype)expr->dtype);
    if (info->class_ == GROUT_CLASS_UINT) {
        grout_text_add(pr->out, "%s:%llu", info->text, (unsigned long long)expr->u.bits);
    } else {
        grout_text_add(pr->out, "%s:%lld", info->text, (long long)expr->u.integer);
    }
}

void grout_printer__string(const grout_printer *pr, grout_string_id id) {
    grout_printer__text(pr, "\"");
    for (const char *at = grout_module_get_string(pr->module, id); *at != '\0'; at++) {
        switch (*at) {
        case '\n':
            grout_printer__text(pr, "\\n");
            break;
        case '\t':
            grout_printer__text(pr, "\\t");
            break;
        case '\\':
        case '"':
            grout_printer__text(pr, "\\");
            grout_text_add_bytes(pr->out, at, 1);
            break;
        default:
            grout_text_add_bytes(pr->out, at, 1);
            break;
        }
    }
    grout_printer__text(pr, "\"");
}

/* ---- expressions ----------------------------------------------------------------------------- */

typedef struct operator_text {
    const char *text;
    uint8_t level; /* ANY: a function */
} operator_text;

static operator_text get_operator_text(grout_expr_operator operator_) {
    switch (operator_) {
    case GROUT_EXPR_ADD:
        return (operator_text){"+", GROUT_LEVEL_SUM};
    case GROUT_EXPR_SUB:
        return (operator_text){"-", GROUT_LEVEL_SUM};
    case GROUT_EXPR_MUL:
        return (operator_text){"*", GROUT_LEVEL_PRODUCT};
    case GROUT_EXPR_DIV:
        return (operator_text){"/", GROUT_LEVEL_PRODUCT};
    case GROUT_EXPR_REM:
        return (operator_text){"%", GROUT_LEVEL_PRODUCT};
    case GROUT_EXPR_SHL:
        return (operator_text){"<<", GROUT_LEVEL_SHIFT};
    case GROUT_EXPR_SHR:
        return (operator_text){">>", GROUT_LEVEL_SHIFT};
    case GROUT_EXPR_EQ:
        return (operator_text){"==", GROUT_LEVEL_COMPARE};
    case GROUT_EXPR_NE:
        return (operator_text){"!=", GROUT_LEVEL_COMPARE};
    case GROUT_EXPR_LT:
        return (operator_text){"<", GROUT_LEVEL_COMPARE};
    case GROUT_EXPR_LE:
        return (operator_text){"<=", GROUT_LEVEL_COMPARE};
    case GROUT_EXPR_GT:
        return (operator_text){">", GROUT_LEVEL_COMPARE};
    case GROUT_EXPR_GE:
        return (operator_text){">=", GROUT_LEVEL_COMPARE};
    case GROUT_EXPR_MIN:
        return (operator_text){"min", GROUT_LEVEL_ANY};
    case GROUT_EXPR_MAX:
        return (operator_text){"max", GROUT_LEVEL_ANY};
    case GROUT_EXPR_CDIV:
        return (operator_text){"cdiv", GROUT_LEVEL_ANY};
    case GROUT_EXPR_ALIGN_UP:
        return (operator_text){"align_up", GROUT_LEVEL_ANY};
    case GROUT_EXPR_LOG2:
        return (operator_text){"log2", GROUT_LEVEL_ANY};
    case GROUT_EXPR_NEG:
        return (operator_text){"-", GROUT_LEVEL_UNARY};
    }
    return (operator_text){"", GROUT_LEVEL_ANY};
}

/* A minus right before a literal would become part of it. */
static bool is_signed_literal(const grout_module *module, grout_expr_id id) {
    const grout_expr *expr = grout_module_get_expr(module, id);
    return (expr->kind == GROUT_EXPR_INT || expr->kind == GROUT_EXPR_FLOAT) &&
           expr->dtype == GROUT_DTYPE_NONE;
}

static void print_unary(const grout_printer *pr, const grout_expr *expr) {
    bool is_negation = expr->operator_ == GROUT_EXPR_NEG;
    bool has_parens = !is_negation || is_signed_literal(pr->module, expr->a);
    grout_printer__text(pr, get_operator_text((grout_expr_operator)expr->operator_).text);
    grout_printer__text(pr, has_parens ? "(" : "");
    grout_printer__expr(pr, expr->a, has_parens ? GROUT_LEVEL_ANY : GROUT_LEVEL_UNARY);
    grout_printer__text(pr, has_parens ? ")" : "");
}

static void print_call(const grout_printer *pr, const char *name, const grout_expr *expr) {
    grout_text_add(pr->out, "%s(", name);
    grout_printer__expr(pr, expr->a, GROUT_LEVEL_ANY);
    grout_printer__text(pr, ", ");
    grout_printer__expr(pr, expr->b, GROUT_LEVEL_ANY);
    grout_printer__text(pr, ")");
}

static void print_binary(const grout_printer *pr, const grout_expr *expr, grout_level level) {
    operator_text text = get_operator_text((grout_expr_operator)expr->operator_);
    if (text.level == GROUT_LEVEL_ANY) {
        print_call(pr, text.text, expr);
        return;
    }
    /* Operators of a level group from the left; comparisons do not group at all. */
    grout_level right = (grout_level)(text.level + 1);
    grout_level left = text.level == GROUT_LEVEL_COMPARE ? right : (grout_level)text.level;
    grout_printer__text(pr, text.level < level ? "(" : "");
    grout_printer__expr(pr, expr->a, left);
    grout_text_add(pr->out, " %s ", text.text);
    grout_printer__expr(pr, expr->b, right);
    grout_printer__text(pr, text.level < level ? ")" : "");
}

void grout_printer__expr(const grout_printer *pr, grout_expr_id id, grout_level level) {
    const grout_expr *expr = grout_module_get_expr(pr->module, id);
    switch ((grout_expr_kind)expr->kind) {
    case GROUT_EXPR_INT:
        if (expr->dtype != GROUT_DTYPE_NONE) {
            print_typed_integer(pr, expr);
        } else {
            grout_text_add(pr->out, "%lld", (long long)expr->u.integer);
        }
        break;
    case GROUT_EXPR_TYPED:
        grout_text_add(pr->out, "%s:", grout_dtype_get_info((grout_dtype)expr->dtype)->text);
        print_float(pr, expr->u.number);
        break;
    case GROUT_EXPR_FLOAT:
        if (expr->dtype != GROUT_DTYPE_NONE) {
            print_bits(pr, expr);
        } else {
            print_float(pr, expr->u.number);
        }
        break;
    case GROUT_EXPR_BOOL:
        grout_printer__text(pr, expr->u.integer != 0 ? "true" : "false");
        break;
    case GROUT_EXPR_NAME:
        grout_printer__text(
            pr, grout_module_get_string(pr->module,
                                        grout_module_get_const(pr->module, expr->constant)->name));
        break;
    case GROUT_EXPR_UNARY:
        print_unary(pr, expr);
        break;
    case GROUT_EXPR_BINARY:
        print_binary(pr, expr, level);
        break;
    case GROUT_EXPR_NONE:
        break;
    }
}

void grout_printer__exprs(const grout_printer *pr, const grout_expr_id *ids, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        grout_printer__text(pr, i > 0 ? ", " : "");
        grout_printer__expr(pr, ids[i], GROUT_LEVEL_ANY);
    }
}

void grout_printer__init(const grout_printer *pr, grout_init_id id) {
    if (id == 0) {
        return;
    }
    const grout_init *init = grout_module_get_init(pr->module, id);
    const grout_generator_info *info = grout_generator_get_info((grout_generator_kind)init->kind);
    bool is_list = init->kind == GROUT_GENERATOR_LIST;
    bool is_call = info != NULL && init->count > 0;
    grout_text_add(pr->out, " init(%s%s", info == NULL ? "" : info->text,
                   is_list   ? "["
                   : is_call ? "("
                             : "");
    for (uint32_t i = 0; i < init->count; i++) {
        grout_printer__text(pr, i > 0 ? ", " : "");
        grout_printer__expr(pr, grout_module_get_init_argument(pr->module, init, i),
                            GROUT_LEVEL_ANY);
    }
    grout_printer__text(pr, is_list ? "])" : is_call ? "))" : ")");
}

void grout_expr_print(const grout_module *module, grout_expr_id expr, grout_text *out) {
    grout_printer pr = {.module = module, .out = out};
    grout_printer__expr(&pr, expr, GROUT_LEVEL_ANY);
}
