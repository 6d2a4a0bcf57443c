/* values.c - values in the text: constants, operands, declarations.
 * SPDX-License-Identifier: Apache-2.0 */
#include "values.h"

#include "invariant.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const grout_register_layout *grout_emit__layout(const grout_emitter *e, grout_value_id value) {
    GROUT_ASSERT(value != 0 && value < grout_module_get_value_count(e->module));
    return grout_register_layouts_get(e->plan->layouts, value);
}

bool grout_emit__has_registers(const grout_register_layout *layout) {
    return layout->kind != GROUT_LAYOUT_NONE && layout->kind != GROUT_LAYOUT_SPLAT;
}

bool grout_emit__is_spread(const grout_emitter *e, const grout_operand *operand) {
    return operand->kind == GROUT_OPERAND_VALUE &&
           grout_emit__has_registers(grout_emit__layout(e, operand->id));
}

bool grout_emit__is_half(grout_dtype dtype) {
    return dtype == GROUT_DTYPE_F16 || dtype == GROUT_DTYPE_BF16;
}

bool grout_emit__has_float_pairs(const grout_emitter *e, grout_value_id value) {
    return grout_arch_has((grout_arch)e->plan->arch, GROUT_GENERATION_BLACKWELL) &&
           grout_emit__dtype(e, value) == GROUT_DTYPE_F32;
}

grout_dtype grout_emit__dtype(const grout_emitter *e, grout_value_id value) {
    return (grout_dtype)grout_module_get_type(e->module, value)->dtype;
}

const char *grout_emit__type_name(const grout_emitter *e, grout_value_id value) {
    return grout_gpu__get_type_name(grout_emit__dtype(e, value));
}

/* A finite number in the fewest digits that read back, with a point, in any locale. */
static void print_number(char text[40], double value, bool is_f32) {
    GROUT_ASSERT(isfinite(value));
    for (int digits = 1; digits <= 17; digits++) {
        (void)snprintf(text, 32, "%.*g", digits, value);
        const double back = strtod(text, NULL);
        if (is_f32 ? (float)back == (float)value : back == value) {
            break;
        }
    }
    bool has_point = false;
    for (char *p = text; *p != '\0'; p++) {
        if (strchr("+-0123456789e", *p) == NULL) {
            *p = '.';
        }
        has_point = has_point || *p == '.' || *p == 'e';
    }
    if (!has_point) {
        memcpy(text + strlen(text), ".0", 3); /* text has room for two more */
    }
}

static void add_f32(grout_emitter *e, uint32_t bits) {
    char text[40];
    float value;
    memcpy(&value, &bits, sizeof value);
    if (!isfinite(value)) {
        grout_emit__add(e, "__uint_as_float(0x%08" PRIx32 "u)", bits);
        return;
    }
    print_number(text, (double)value, true);
    grout_emit__add(e, "%sf", text);
}

static void add_f64(grout_emitter *e, uint64_t bits) {
    char text[40];
    double value;
    memcpy(&value, &bits, sizeof value);
    if (!isfinite(value)) {
        grout_emit__add(e, "__longlong_as_double((grout_i64)0x%016" PRIx64 "ull)", bits);
        return;
    }
    print_number(text, value, false);
    grout_emit__add(e, "%s", text);
}

/* The low bits as a signed number. */
static int64_t extend_sign(uint64_t bits, uint32_t size_bits) {
    GROUT_ASSERT(size_bits >= 1 && size_bits <= 64);
    const uint64_t sign = UINT64_C(1) << (size_bits - 1);
    const uint64_t mask = sign | (sign - 1);
    const uint64_t low = bits & mask;
    return (low & sign) == 0 ? (int64_t)low : -(int64_t)(mask - low) - 1;
}

static void add_i32(grout_emitter *e, uint64_t bits) {
    const int64_t value = extend_sign(bits, 32);
    grout_emit__add(e, value == INT32_MIN ? "(-2147483647 - 1)" : "%" PRId64, value);
}

static void add_i64(grout_emitter *e, uint64_t bits) {
    const int64_t value = extend_sign(bits, 64);
    if (value == INT64_MIN) {
        grout_emit__add(e, "(-9223372036854775807ll - 1)");
    } else {
        grout_emit__add(e, "%" PRId64 "ll", value);
    }
}

/* An integer of less than 32 bits, for which C++ has no literals: "grout_i8(-1)". */
static void add_small(grout_emitter *e, grout_dtype dtype, uint64_t bits) {
    const grout_dtype_info *info = grout_dtype_get_info(dtype);
    const uint32_t size_bits = 8u * info->bytes;
    const char *type = grout_gpu__get_type_name(dtype);
    if (info->class_ == GROUT_CLASS_SINT) {
        grout_emit__add(e, "%s(%" PRId64 ")", type, extend_sign(bits, size_bits));
    } else {
        grout_emit__add(e, "%s(%" PRIu64 ")", type, bits & ((UINT64_C(1) << size_bits) - 1));
    }
}

/* A float, or an integer of 4 bits, that is bits in a struct of its own: "grout_f16{0x3c00}". */
static void add_narrow(grout_emitter *e, grout_dtype dtype, uint64_t bits) {
    const grout_dtype_info *info = grout_dtype_get_info(dtype);
    grout_emit__add(e, "%s{0x%0*" PRIx64 "}", grout_gpu__get_type_name(dtype), 2 * info->bytes,
                    bits & ((UINT64_C(1) << info->bits) - 1));
}

void grout_emit__constant(grout_emitter *e, grout_dtype dtype, uint64_t bits) {
    GROUT_ASSERT(dtype != GROUT_DTYPE_NONE && dtype < GROUT_DTYPE_COUNT);
    switch (dtype) {
    case GROUT_DTYPE_BOOL:
        grout_emit__add(e, (bits & 0xff) != 0 ? "true" : "false");
        return;
    case GROUT_DTYPE_I8:
    case GROUT_DTYPE_I16:
    case GROUT_DTYPE_U8:
    case GROUT_DTYPE_U16:
        add_small(e, dtype, bits);
        return;
    case GROUT_DTYPE_I32:
        add_i32(e, bits);
        return;
    case GROUT_DTYPE_I64:
        add_i64(e, bits);
        return;
    case GROUT_DTYPE_U32:
        grout_emit__add(e, "%" PRIu64 "u", bits & 0xffffffff);
        return;
    case GROUT_DTYPE_U64:
        grout_emit__add(e, "%" PRIu64 "ull", bits);
        return;
    case GROUT_DTYPE_I4:
    case GROUT_DTYPE_U4:
    case GROUT_DTYPE_F4E2M1:
    case GROUT_DTYPE_F6E2M3:
    case GROUT_DTYPE_F6E3M2:
    case GROUT_DTYPE_F8E4M3:
    case GROUT_DTYPE_F8E5M2:
    case GROUT_DTYPE_F8E8M0:
    case GROUT_DTYPE_F16:
    case GROUT_DTYPE_BF16:
        add_narrow(e, dtype, bits);
        return;
    case GROUT_DTYPE_F32:
        add_f32(e, (uint32_t)bits);
        return;
    case GROUT_DTYPE_F64:
        add_f64(e, bits);
        return;
    case GROUT_DTYPE_NONE:
    case GROUT_DTYPE_COUNT:
        return;
    }
}

static uint64_t get_bits(const grout_emitter *e, const grout_operand *operand, grout_dtype dtype) {
    return grout_expr_value_to_bits(grout_module_get_expr_value(e->module, operand->id), dtype);
}

int64_t grout_emit__get_integer(const grout_emitter *e, const grout_op *op, uint32_t operand) {
    const grout_operand *constant = grout_module_get_operand(e->module, op, operand);
    GROUT_ASSERT(constant->kind == GROUT_OPERAND_EXPR);
    return grout_module_get_expr_value(e->module, constant->id).integer;
}

void grout_emit__operand(grout_emitter *e, const grout_operand *operand, const char *index) {
    GROUT_ASSERT(operand->kind == GROUT_OPERAND_EXPR || operand->kind == GROUT_OPERAND_VALUE);
    GROUT_ASSERT(index != NULL || !grout_emit__is_spread(e, operand));
    if (operand->kind == GROUT_OPERAND_EXPR) {
        const grout_dtype dtype = grout_module_get_operand_dtype(e->module, operand);
        grout_emit__constant(e, dtype, get_bits(e, operand, dtype));
        return;
    }
    grout_emit__add(e, "%s", grout_emit__name(e, operand->id));
    if (index != NULL && grout_emit__is_spread(e, operand)) {
        grout_emit__add(e, "[%s]", index);
    }
}

/* The bits of an f16 as those of the same f32. */
static uint32_t widen_f16(uint32_t bits) {
    const uint32_t sign = (bits & 0x8000u) << 16, exponent = bits >> 10 & 0x1fu;
    const uint32_t fraction = bits & 0x3ffu;
    uint32_t wide;
    if (exponent == 0x1fu) {
        return sign | 0x7f800000u | fraction << 13;
    }
    const float value = exponent == 0 ? ldexpf((float)fraction, -24)
                                      : ldexpf((float)(fraction | 0x400u), (int)exponent - 25);
    memcpy(&wide, &value, sizeof wide);
    return sign | wide;
}

void grout_emit__number(grout_emitter *e, const grout_operand *operand, const char *index) {
    const bool is_constant = operand->kind == GROUT_OPERAND_EXPR;
    const grout_dtype dtype = is_constant ? grout_module_get_operand_dtype(e->module, operand)
                                          : grout_emit__dtype(e, operand->id);
    if (!grout_emit__is_half(dtype)) {
        grout_emit__operand(e, operand, index);
    } else if (is_constant) {
        const uint32_t bits = (uint32_t)get_bits(e, operand, dtype) & 0xffffu;
        add_f32(e, dtype == GROUT_DTYPE_F16 ? widen_f16(bits) : bits << 16);
    } else {
        grout_emit__add(e, "grout_widen(");
        grout_emit__operand(e, operand, index);
        grout_emit__add(e, ")");
    }
}

void grout_emit__declare(grout_emitter *e, grout_value_id value) {
    const grout_register_layout *layout = grout_emit__layout(e, value);
    grout_emit__begin(e);
    grout_emit__add(e, "%s %s", grout_emit__type_name(e, value), grout_emit__name(e, value));
    if (grout_emit__has_registers(layout)) {
        grout_emit__add(e, "[%" PRIu32 "]", layout->registers);
    }
}

static void declare(grout_emitter *e, grout_value_id value, const char *contents) {
    const grout_register_layout *layout = grout_emit__layout(e, value);
    GROUT_ASSERT(grout_emit__has_registers(layout));
    grout_emit__declare(e, value);
    if (layout->kind == GROUT_LAYOUT_STRIDED) {
        grout_emit__end(e, "%s; // %u neighbours a lane", contents, layout->vec);
    } else {
        grout_emit__end(e, "%s; // %s", contents,
                        grout_register_layout_get_text((grout_register_layout_kind)layout->kind));
    }
}

void grout_emit__declare_registers(grout_emitter *e, grout_value_id value) {
    declare(e, value, "");
}

void grout_emit__declare_elements(grout_emitter *e, grout_value_id value) {
    declare(e, value, grout_emit__layout(e, value)->is_guarded ? " = {}" : "");
}

void grout_emit__begin_scalar(grout_emitter *e, grout_value_id value) {
    GROUT_ASSERT(!grout_emit__has_registers(grout_emit__layout(e, value)));
    grout_emit__begin(e);
    grout_emit__add(e, "const %s %s = ", grout_emit__type_name(e, value),
                    grout_emit__name(e, value));
}

bool grout_emit__is_accumulator(const grout_emitter *e, const grout_view *view) {
    GROUT_ASSERT(view->object != 0 && view->object < grout_module_get_object_count(e->module));
    return grout_module_get_object(e->module, view->object)->space == GROUT_SPACE_ACC;
}
