/* wraps.h - wraps.def as data, for the plan and for what runs; private to interp/.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_INTERP_WRAPS_H
#define GROUT_INTERP_WRAPS_H

#include "grout-internal/tables.h"

/* The RESULT column; NONE: the op has no line. */
typedef enum grout_wrap_result {
    GROUT_WRAP_NONE,
    GROUT_WRAP_SUM,
    GROUT_WRAP_DIFFERENCE,
    GROUT_WRAP_PRODUCT,
    GROUT_WRAP_NEGATIVE,
    GROUT_WRAP_MAGNITUDE,
    GROUT_WRAP_SHIFTED_LEFT,
    GROUT_WRAP_CONVERTED,
    GROUT_WRAP_SUMS,
    GROUT_WRAP_PRODUCTS,
    GROUT_WRAP_QUOTIENT,
    GROUT_WRAP_BITS,
    GROUT_WRAP_ANY,
    GROUT_WRAP_ONE_OF,
    GROUT_WRAP_SMALLER,
    GROUT_WRAP_LARGER,
    GROUT_WRAP_COMMON_BITS,
    GROUT_WRAP_SHIFTED_RIGHT,
    GROUT_WRAP_REMAINDER,
    GROUT_WRAP_CLAMPED,
    GROUT_WRAP_COUNT
} grout_wrap_result;

/* The TRACE column. */
typedef enum grout_trace { GROUT_TRACE_ENDS, GROUT_TRACE_GOES_ON, GROUT_TRACE_BOUNDED } grout_trace;

typedef struct grout_wrap_info {
    uint8_t result; /* grout_wrap_result */
    bool wraps;
    uint8_t trace; /* grout_trace */
} grout_wrap_info;

/* Whether the result of an op with this RULE has the elements of its operands in other places. */
bool grout_rule__moves(grout_rule rule);
/* What an op does to an integer that has wrapped. Ops that only move elements go on. */
grout_wrap_info grout_wrap__get_info(grout_opcode opcode);

#endif
