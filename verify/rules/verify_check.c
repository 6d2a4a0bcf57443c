/* verify_check.c - texts with values in them, and the numbers of delay and multiple_of.
 * SPDX-License-Identifier: Apache-2.0 */
#include "verifying.h"

#include <inttypes.h>

static const grout_op_info *get_info(const grout_op *op) {
    return grout_op_get_info((grout_opcode)op->opcode);
}

static bool has_format(const grout_op *op) {
    const uint8_t rule = get_info(op)->rule;
    return rule == GROUT_RULE_PRINT || rule == GROUT_RULE_PRINT_LAYOUT || rule == GROUT_RULE_CHECK;
}

/* The number of {} in a format; false, and a report, if it has other braces. */
static bool count_holes(grout_verifying *verifying, const grout_operand *operand,
                        uint32_t *holes_out) {
    const char *format = grout_module_get_string(verifying->module, operand->id);
    *holes_out = 0;
    for (const char *at = format; *at != '\0'; at++) {
        if (at[0] == '{' && at[1] == '}') {
            *holes_out += 1;
            at++;
        } else if (*at == '{' || *at == '}') {
            grout_verifying__report(verifying, GROUT_DIAG_BAD_FORMAT, operand->loc,
                                    "the format has a '%c' that is not part of {}", *at);
            grout_diags_help(verifying->diags, "a value is written {}, without name or format");
            return false;
        }
    }
    return true;
}

/* '{}' is the place of a value. A format has no other braces. */
static void check_format(grout_verifying *verifying, const grout_op *op) {
    const uint32_t at = grout_op_find_letter((grout_opcode)op->opcode, 't');
    const grout_operand *operand = grout_module_get_operand(verifying->module, op, at);
    const uint32_t values = op->operand_count - at - 1;
    uint32_t holes;
    if (!count_holes(verifying, operand, &holes)) {
        return;
    }
    if (holes != values) {
        grout_verifying__report(verifying, GROUT_DIAG_BAD_FORMAT, operand->loc,
                                "the format has %" PRIu32 " {} for %" PRIu32 " value%s", holes,
                                values, values == 1 ? "" : "s");
    } else if (get_info(op)->rule == GROUT_RULE_CHECK && values > GROUT_CHECK_VALUES_MAX) {
        grout_verifying__report(verifying, GROUT_DIAG_BAD_FORMAT, operand->loc,
                                "'%s' shows %" PRIu32 " values, and takes at most %d",
                                get_info(op)->text, values, GROUT_CHECK_VALUES_MAX);
        grout_diags_help(verifying->diags, "check less at once, in several of them");
    }
}

/* The number of an integer type that a multiple_of can name: constants are i32. */
static int64_t get_largest(grout_dtype dtype) {
    const grout_dtype_info *info = grout_dtype_get_info(dtype);
    const int bits = info->bits - (info->class_ == GROUT_CLASS_SINT ? 1 : 0);
    return bits >= 31 ? INT32_MAX : ((int64_t)1 << bits) - 1;
}

static void check_promise(grout_verifying *verifying, const grout_op *op) {
    const grout_operand *operand = grout_module_get_operand(verifying->module, op, 1);
    const grout_dtype dtype =
        (grout_dtype)grout_module_get_type(verifying->module, op->first_result)->dtype;
    const int64_t number = grout_module_get_expr_value(verifying->module, operand->id).integer;
    const int64_t largest = get_largest(dtype);
    if (number >= 1 && number <= largest) {
        return;
    }
    grout_verifying__report(verifying, GROUT_DIAG_BAD_ATTRIBUTE, operand->loc,
                            "a multiple of %" PRId64 ": '%s' of %s takes 1 to %" PRId64, number,
                            get_info(op)->text, grout_dtype_get_info(dtype)->text, largest);
    grout_diags_help(verifying->diags, number < 1
                                           ? "every number is a multiple of 1, and only 0 is one "
                                             "of 0"
                                           : "only 0 is a multiple of more");
}

/* by name: of the hints, only delay takes a number, of nanoseconds. A computed one is limited where
 * it runs. */
static void check_delay(grout_verifying *verifying, const grout_op *op) {
    const grout_operand *operand = grout_module_get_operand(verifying->module, op, 0);
    int64_t number;
    if (!grout_verify__find_constant(verifying, operand, &number) ||
        (number >= 0 && number <= GROUT_DELAY_MAX)) {
        return;
    }
    grout_verifying__report(verifying, GROUT_DIAG_BAD_ATTRIBUTE, operand->loc,
                            "'%s' of %" PRId64 " nanoseconds: it takes 0 to %d", get_info(op)->text,
                            number, GROUT_DELAY_MAX);
    grout_diags_help(verifying->diags, "a second is long on a GPU; delay in a loop for more");
}

void grout_verify__check(grout_verifying *verifying, const grout_op *op) {
    const grout_op_info *info = get_info(op);
    if (has_format(op)) {
        check_format(verifying, op);
    } else if (info->rule == GROUT_RULE_PROMISE) {
        check_promise(verifying, op);
    } else if (info->effect_row == GROUT_EFFECT_ROW_HINT && info->operands[0] == 'i') {
        check_delay(verifying, op);
    }
}
