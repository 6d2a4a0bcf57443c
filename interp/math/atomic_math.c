/*
 * atomic_math.c - updates of elements, by type.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "atomic_math.h"

#include "convert.h"

#include <math.h>
#include <string.h>

/* ---- integers: two's complement, so one function serves both signs but for comparisons --------
 */

#define DEFINE_INTEGER(BITS)                                                         \
    static bool is_less_##BITS(uint##BITS##_t a, uint##BITS##_t b, bool is_signed) { \
        uint##BITS##_t sign = is_signed ? (uint##BITS##_t)1 << (BITS - 1) : 0;       \
        return (a ^ sign) < (b ^ sign);                                              \
    }                                                                                \
    static uint##BITS##_t update_##BITS(grout_update update, uint##BITS##_t held,    \
                                        uint##BITS##_t value, bool is_signed) {      \
        switch (update) {                                                            \
        case GROUT_UPDATE_ADD:                                                       \
            return held + value;                                                     \
        case GROUT_UPDATE_MUL:                                                       \
            return (uint##BITS##_t)(held * value);                                   \
        case GROUT_UPDATE_MIN:                                                       \
            return is_less_##BITS(value, held, is_signed) ? value : held;            \
        case GROUT_UPDATE_MAX:                                                       \
            return is_less_##BITS(held, value, is_signed) ? value : held;            \
        case GROUT_UPDATE_INC:                                                       \
            return held >= value ? 0 : held + 1;                                     \
        case GROUT_UPDATE_DEC:                                                       \
            return held == 0 || held > value ? value : held - 1;                     \
        case GROUT_UPDATE_AND:                                                       \
            return held & value;                                                     \
        case GROUT_UPDATE_OR:                                                        \
            return held | value;                                                     \
        case GROUT_UPDATE_XOR:                                                       \
            return held ^ value;                                                     \
        case GROUT_UPDATE_EXCHANGE:                                                  \
        case GROUT_UPDATE_COMPARE_SWAP: /* exec_atomic.c does this one */            \
        case GROUT_UPDATE_NONE:                                                      \
        case GROUT_UPDATE_COUNT:                                                     \
            break;                                                                   \
        }                                                                            \
        return value;                                                                \
    }                                                                                \
    static void apply_##BITS(grout_update update, bool is_signed, uint8_t *elements, \
                             const uint8_t *values, int64_t count) {                 \
        for (int64_t i = 0; i < count; i++) {                                        \
            uint##BITS##_t held, value;                                              \
            memcpy(&held, elements + i * (BITS / 8), sizeof held);                   \
            memcpy(&value, values + i * (BITS / 8), sizeof value);                   \
            held = update_##BITS(update, held, value, is_signed);                    \
            memcpy(elements + i * (BITS / 8), &held, sizeof held);                   \
        }                                                                            \
    }

DEFINE_INTEGER(32)
DEFINE_INTEGER(64)

/* ---- floats ------------------------------------------------------------------------------------
 */

static float flush(float value) {
    return fpclassify(value) == FP_SUBNORMAL ? copysignf(0.0F, value) : value;
}

static float add(float a, float b, bool is_flushed) {
    return is_flushed ? flush(flush(a) + flush(b)) : a + b;
}

/* The number of a number and a NaN; of the two zeros the negative one is smaller. */
static float pick(float a, float b, bool is_larger) {
    if (isnan(a) || isnan(b)) {
        return isnan(a) ? b : a;
    }
    if (a == b) {
        return (signbit(a) != 0) == is_larger ? b : a;
    }
    return (a < b) == is_larger ? b : a;
}

static bool is_float_update(grout_update update) {
    return update == GROUT_UPDATE_ADD || update == GROUT_UPDATE_MIN || update == GROUT_UPDATE_MAX;
}

static float update_float(grout_update update, float held, float value, bool is_flushed) {
    return update == GROUT_UPDATE_ADD ? add(held, value, is_flushed)
                                      : pick(held, value, update == GROUT_UPDATE_MAX);
}

/* The sum of two numbers of f16 or bf16 is exact enough in f32 to be rounded once more. */
static void apply_float(grout_update update, grout_dtype dtype, bool is_gmem, uint8_t *elements,
                        const uint8_t *values, int64_t count) {
    uint32_t bytes = grout_dtype_get_info(dtype)->bytes;
    for (int64_t i = 0; i < count; i++) {
        float held, value;
        grout_convert(dtype, elements + i * bytes, GROUT_DTYPE_F32, &held, 1);
        grout_convert(dtype, values + i * bytes, GROUT_DTYPE_F32, &value, 1);
        held = update_float(update, held, value, is_gmem && dtype == GROUT_DTYPE_F32);
        grout_convert(GROUT_DTYPE_F32, &held, dtype, elements + i * bytes, 1);
    }
}

bool grout_update__apply(grout_update update, grout_dtype dtype, bool is_gmem, void *elements,
                         const void *values, int64_t count) {
    const grout_dtype_info *info = grout_dtype_get_info(dtype);
    if (update == GROUT_UPDATE_EXCHANGE) {
        memcpy(elements, values, (size_t)count * info->bytes);
        return true;
    }
    bool is_signed = info->class_ == GROUT_CLASS_SINT;
    if (is_signed || info->class_ == GROUT_CLASS_UINT) {
        if (info->bytes == 4) {
            apply_32(update, is_signed, elements, values, count);
            return true;
        }
        if (info->bytes == 8) {
            apply_64(update, is_signed, elements, values, count);
            return true;
        }
        return false;
    }
    if (!is_float_update(update) ||
        (dtype != GROUT_DTYPE_F16 && dtype != GROUT_DTYPE_BF16 && dtype != GROUT_DTYPE_F32)) {
        return false;
    }
    apply_float(update, dtype, is_gmem, elements, values, count);
    return true;
}
