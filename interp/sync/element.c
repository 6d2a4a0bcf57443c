/*
 * element.c - which barrier element an operand names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "barrier.h"
#include "memory.h"

/* The barrier element of a box, or false if its index lies outside. */
static bool find_element(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                         const grout_box *box, uint32_t *element_out) {
    int64_t index = box->plan->rank > 0 ? box->start[0] : 0;
    int64_t count = box->plan->rank > 0 ? box->plan->dims[0] : 1;
    if (index < 0 || index >= count) {
        grout_fault fault = {.code = GROUT_DIAG_OUT_OF_BOUNDS,
                             .object = box->plan->object,
                             .start = box->start[0],
                             .extent = box->plan->extent[0],
                             .limit = count};
        if (grout_cta__thread(cta, thread)->retry == GROUT_RETRY_FIRST) {
            grout_cta__fault(cta, thread, inst, box->plan->operand, &fault);
        }
        return false;
    }
    *element_out = box->plan->first_element + (uint32_t)index;
    return true;
}

bool grout_barrier__find_element(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                                 uint32_t box_index, uint32_t *element_out) {
    uint32_t rank;
    return grout_barrier__find_peer_element(cta, thread, inst, box_index, element_out, &rank);
}

bool grout_barrier__find_peer_element(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                                      uint32_t box_index, uint32_t *element_out,
                                      uint32_t *rank_out) {
    grout_box box = grout_box__resolve(cta, thread, inst, box_index);
    *rank_out = box.rank;
    return !box.is_nowhere && find_element(cta, thread, inst, &box, element_out);
}
