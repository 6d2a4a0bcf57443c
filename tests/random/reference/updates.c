/* updates.c - atomics and reductions as operations of two values.
 * SPDX-License-Identifier: Apache-2.0 */
#include "updates.h"

#include "formats.h"
#include "rounding.h"

static bool combine(grout_opcode opcode, const update *it, reference_number *out) {
    const reference_number in[3] = {it->held, it->value, {.bound = 0}};
    return rounding_apply(opcode, it->dtype, it->dtype, in, out);
}

bool update_by_op(grout_opcode opcode, const update *it, reference_number *out) {
    switch ((int)grout_op_get_info(opcode)->update) {
    case GROUT_UPDATE_ADD:
        return combine(GROUT_OP_ADD, it, out);
    case GROUT_UPDATE_MAX:
        return combine(GROUT_OP_MAX, it, out);
    case GROUT_UPDATE_MIN:
        return combine(GROUT_OP_MIN, it, out);
    case GROUT_UPDATE_AND:
        return combine(GROUT_OP_AND, it, out);
    case GROUT_UPDATE_OR:
        return combine(GROUT_OP_OR, it, out);
    case GROUT_UPDATE_XOR:
        return combine(GROUT_OP_XOR, it, out);
    case GROUT_UPDATE_EXCHANGE:
        *out = it->value;
        return true;
    case GROUT_UPDATE_COMPARE_SWAP:
        *out = it->held.value == it->expected.value ? it->value : it->held;
        return true;
    default:
        return false;
    }
}

/* From 0 to the limit that comes, and from there to 0. */
static double increment(double held, double limit) {
    return held >= limit ? 0 : held + 1;
}

static double decrement(double held, double limit) {
    return held == 0 || held > limit ? limit : held - 1;
}

bool update_by_choice(grout_choice choice, const update *it, reference_number *out) {
    switch ((int)choice) {
    case GROUT_CHOICE_REDUCE_ADD:
        return combine(GROUT_OP_ADD, it, out);
    case GROUT_CHOICE_REDUCE_MIN:
        return combine(GROUT_OP_MIN, it, out);
    case GROUT_CHOICE_REDUCE_MAX:
        return combine(GROUT_OP_MAX, it, out);
    case GROUT_CHOICE_REDUCE_INC:
        *out = formats_make(increment(it->held.value, it->value.value), 0);
        return true;
    case GROUT_CHOICE_REDUCE_DEC:
        *out = formats_make(decrement(it->held.value, it->value.value), 0);
        return true;
    case GROUT_CHOICE_REDUCE_AND:
        return combine(GROUT_OP_AND, it, out);
    case GROUT_CHOICE_REDUCE_OR:
        return combine(GROUT_OP_OR, it, out);
    case GROUT_CHOICE_REDUCE_XOR:
        return combine(GROUT_OP_XOR, it, out);
    default:
        return false;
    }
}
