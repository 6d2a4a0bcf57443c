/* plan_work.c - how much work an instruction is, in elements: what does not depend on the machine.
 * SPDX-License-Identifier: Apache-2.0 */
#include "planner.h"

#include <math.h>

/* Products that a matrix instruction makes in the time of one element of another operation. */
#define PRODUCTS_AN_ELEMENT 32.0

static double count_box(const grout_box_plan *box) {
    double count = 1;
    for (uint32_t i = 0; i < box->rank; i++) {
        count *= (double)box->extent[i];
    }
    return count;
}

/* Elements of the operands and results. product_out: those of the arrays among them multiplied; of
 * three matrices [M, K], [K, N] and [M, N] it is (M N K)^2. */
static double count_elements(const grout_planner *planner, const grout_inst *inst,
                             double *product_out) {
    double sum = inst->result.count;
    *product_out = 1;
    for (uint32_t i = 0; i < inst->slot_count; i++) {
        const grout_slot *slot = grout_plan__slot(planner->plan, inst, i);
        sum += slot->count;
        *product_out *= slot->is_array ? slot->count : 1;
    }
    for (uint32_t i = 0; i < inst->box_count; i++) {
        const double count = count_box(grout_plan__box(planner->plan, inst, i));
        sum += count;
        *product_out *= count;
    }
    return sum;
}

void grout_planner__measure_work(const grout_planner *planner, grout_inst *inst) {
    const grout_rule rule = (grout_rule)grout_op_get_info((grout_opcode)inst->opcode)->rule;
    double product;
    double work = count_elements(planner, inst, &product);
    if (rule == GROUT_RULE_WGMMA || rule == GROUT_RULE_TCGEN05 || rule == GROUT_RULE_MMA) {
        work += sqrt(product) / PRODUCTS_AN_ELEMENT;
    }
    inst->work = work < UINT32_MAX ? 1 + (uint32_t)work : UINT32_MAX;
}
