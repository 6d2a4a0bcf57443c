/* wraps.c - wraps.def as data.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wraps.h"

enum { WRAPS_NO, WRAPS_YES };

grout_wrap_info grout_wrap__get_info(grout_opcode opcode) {
    static const grout_wrap_info infos[GROUT_OP_COUNT] = {
#define GROUT_WRAP(NAME, RESULT, WRAPS, TRACE) \
    [GROUT_OP_##NAME] = {GROUT_WRAP_##RESULT, WRAPS_##WRAPS == WRAPS_YES, GROUT_TRACE_##TRACE},
#include "wraps.def"
    };
    const grout_rule rule = (grout_rule)grout_op_get_info(opcode)->rule;
    return grout_rule__moves(rule) || rule == GROUT_RULE_PROMISE
               ? (grout_wrap_info){GROUT_WRAP_ONE_OF, false, GROUT_TRACE_GOES_ON}
               : infos[opcode];
}

bool grout_rule__moves(grout_rule rule) {
    return rule == GROUT_RULE_BROADCAST || rule == GROUT_RULE_RESHAPE || rule == GROUT_RULE_SLICE ||
           rule == GROUT_RULE_CONCATENATE || rule == GROUT_RULE_TRANSPOSE ||
           rule == GROUT_RULE_LAYOUT;
}
