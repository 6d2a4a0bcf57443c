/* message.c - elements of every type as text, and texts with elements in them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "bound.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- elements -----------------------------------------------------------------------------------
 */

/* The parts of a float: a sign bit in front of all but f8e8m0, which is an exponent alone. */
typedef struct float_parts {
    int exponent_bits, mantissa_bits;
    bool has_infinity; /* else the largest exponent holds numbers */
    bool has_nan;      /* f8e4m3 has one among them */
} float_parts;

static double decode_float(grout_dtype dtype, uint64_t bits) {
    static const float_parts all[GROUT_DTYPE_COUNT] = {
        [GROUT_DTYPE_F4E2M1] = {2, 1, false, false}, [GROUT_DTYPE_F6E2M3] = {2, 3, false, false},
        [GROUT_DTYPE_F6E3M2] = {3, 2, false, false}, [GROUT_DTYPE_F8E4M3] = {4, 3, false, true},
        [GROUT_DTYPE_F8E5M2] = {5, 2, true, true},   [GROUT_DTYPE_F8E8M0] = {8, 0, false, true},
        [GROUT_DTYPE_F16] = {5, 10, true, true},     [GROUT_DTYPE_BF16] = {8, 7, true, true},
        [GROUT_DTYPE_F32] = {8, 23, true, true},     [GROUT_DTYPE_F64] = {11, 52, true, true}};
    const float_parts *parts = &all[dtype];
    const uint64_t mantissa = bits & ((UINT64_C(1) << parts->mantissa_bits) - 1);
    const int largest = (1 << parts->exponent_bits) - 1;
    const int exponent = (int)(bits >> parts->mantissa_bits) & largest;
    const int bias = largest >> 1;
    if (parts->mantissa_bits == 0) {
        return exponent == largest ? (double)NAN : ldexp(1, exponent - bias);
    }
    const double sign =
        (bits >> (parts->exponent_bits + parts->mantissa_bits) & 1) != 0 ? -1.0 : 1.0;
    if (exponent == largest && parts->has_infinity) {
        return mantissa == 0 ? sign * (double)INFINITY : (double)NAN;
    }
    if (exponent == largest && parts->has_nan &&
        mantissa == (UINT64_C(1) << parts->mantissa_bits) - 1) {
        return (double)NAN;
    }
    const uint64_t one = exponent == 0 ? 0 : UINT64_C(1) << parts->mantissa_bits;
    return sign * ldexp((double)(mantissa | one),
                        (exponent == 0 ? 1 : exponent) - bias - parts->mantissa_bits);
}

/* The shortest decimal that reads back. */
static void print_float(grout_text *out, double value, bool is_f64) {
    char text[40];
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        double back = strtod(text, NULL);
        if (back == value || (!is_f64 && (float)back == (float)value)) {
            break;
        }
    }
    grout_text_add(out, "%s", value != value ? "nan" : text);
}

void grout_element_print(grout_dtype dtype, uint64_t bits, grout_text *out) {
    const grout_dtype_info *info = grout_dtype_get_info(dtype);
    const int unused = 64 - info->bits;
    switch ((grout_dtype_class)info->class_) {
    case GROUT_CLASS_BOOL:
        grout_text_add(out, "%s", (bits & 0xff) != 0 ? "true" : "false");
        break;
    case GROUT_CLASS_SINT:
        grout_text_add(out, "%" PRId64, (int64_t)(bits << unused) >> unused);
        break;
    case GROUT_CLASS_UINT:
        grout_text_add(out, "%" PRIu64, bits << unused >> unused);
        break;
    case GROUT_CLASS_FLOAT:
        print_float(out, decode_float(dtype, bits), dtype == GROUT_DTYPE_F64);
        break;
    case GROUT_CLASS_NONE:
        break;
    }
}

/* ---- texts --------------------------------------------------------------------------------------
 */

void grout_op_print_message(const grout_module *bound, const grout_op *op, const uint64_t *values,
                            uint32_t unknown, const char *word, grout_text *out) {
    const uint32_t at = grout_op_find_letter((grout_opcode)op->opcode, 't');
    uint32_t index = 0;
    if (at >= op->operand_count) {
        return;
    }
    const char *text = grout_module_get_string(bound, grout_module_get_operand(bound, op, at)->id);
    while (*text != '\0') {
        const char *hole = strstr(text, "{}");
        if (hole == NULL || at + 1 + index >= op->operand_count) {
            grout_text_add(out, "%s", text);
            return;
        }
        const grout_operand *operand = grout_module_get_operand(bound, op, at + 1 + index);
        const grout_type type = grout_module_get_operand_type(bound, operand);
        grout_text_add_bytes(out, text, (size_t)(hole - text));
        if ((unknown >> index & 1) != 0) {
            grout_text_add(out, "%s", word);
        } else {
            grout_element_print((grout_dtype)type.dtype, values[index], out);
        }
        index++;
        text = hole + 2;
    }
}
