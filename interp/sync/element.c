/*
 * element.c - which barrier element an operand names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "barrier.h"
#include "memory.h"

/* The barrier element of a box, in row-major order, or false if an index lies outside. */
static bool find_element(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                         const grout_box *box, uint32_t *element_out) {
    int64_t element = 0;
    for (uint32_t dim = 0; dim < box->plan->rank; dim++) {
        if (box->start[dim] < 0 || box->start[dim] >= box->plan->dims[dim]) {
            grout_fault fault = {.code = GROUT_DIAG_OUT_OF_BOUNDS,
                                 .object = box->plan->object,
                                 .dimension = dim,
                                 .start = box->start[dim],
                                 .extent = box->plan->extent[dim],
                                 .limit = box->plan->dims[dim]};
            if (grout_cta__thread(cta, thread)->retry == GROUT_RETRY_FIRST) {
                grout_cta__fault(cta, thread, inst, box->plan->operand, &fault);
            }
            return false;
        }
        element = element * box->plan->dims[dim] + box->start[dim];
    }
    *element_out = box->plan->first_element + (uint32_t)element;
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
