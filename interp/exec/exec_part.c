/*
 * exec_part.c - boxes of arrays that become part of another array: slice, transpose, concatenate.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "exec.h"

#include <string.h>

/* A run of elements that follow each other in the operand, and in the result every step-th. */
static void copy_run(uint32_t count, uint32_t step, uint32_t bytes, const uint8_t *from,
                     uint8_t *to) {
    if (step == 1) {
        memcpy(to, from, (size_t)count * bytes);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        memcpy(to + (size_t)i * step * bytes, from + (size_t)i * bytes, bytes);
    }
}

/* Copies the box of one operand; its moves (planner.h) begin at part[0]. */
static void copy_part(const grout_move *part, uint32_t bytes, const uint8_t *from, uint8_t *to) {
    const uint32_t rank = part[0].from.count;
    const grout_move *dims = part + 1;
    uint32_t index[GROUT_RANK_MAX] = {0};
    from += (size_t)part[0].from.data * bytes;
    to += (size_t)part[0].to.data * bytes;
    for (;;) {
        size_t source = 0, target = 0;
        for (uint32_t i = 1; i < rank; i++) {
            source += (size_t)index[i] * dims[i].from.data;
            target += (size_t)index[i] * dims[i].to.data;
        }
        copy_run(dims[0].from.count, dims[0].to.data, bytes, from + source * bytes,
                 to + target * bytes);
        uint32_t i = 1;
        while (i < rank && ++index[i] == dims[i].from.count) {
            index[i++] = 0;
        }
        if (i >= rank) {
            return;
        }
    }
}

/* Each element of the result comes from one operand, and is undefined if it is there. */
static grout_outcome run_parts(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    const grout_plan *plan = cta->machine->plan;
    const grout_slot *result = &inst->result;
    const grout_move *part = grout_pool__at(&plan->moves, inst->first_move);
    bool is_undefined = false;
    for (uint32_t k = 0; k < inst->slot_count; k++) {
        is_undefined |= grout_slot__is_undefined(cta, thread, grout_plan__slot(plan, inst, k));
    }
    if (is_undefined && result->is_array) {
        memset(grout_slot__mask(cta, thread, result), 0, result->count);
    }
    bool is_any = false;
    for (uint32_t k = 0; k < inst->slot_count; k++) {
        const grout_slot *from = grout_plan__slot(plan, inst, k);
        copy_part(part, result->element_bytes, grout_slot__data(cta, thread, from),
                  grout_slot__data(cta, thread, result));
        if (grout_slot__is_undefined(cta, thread, from)) {
            uint8_t one = 0;
            copy_part(part, 1, grout_slot__mask(cta, thread, from),
                      result->is_array ? grout_slot__mask(cta, thread, result) : &one);
            is_any |= one != 0;
        }
        part += 1 + part[0].from.count;
    }
    for (uint32_t i = 0; is_undefined && result->is_array && i < result->count && !is_any; i++) {
        is_any = grout_slot__mask(cta, thread, result)[i] != 0;
    }
    grout_slot__set_undefined(cta, thread, result, is_any);
    return GROUT_OUTCOME_NEXT;
}

grout_outcome grout_exec_slice(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    return run_parts(cta, thread, inst);
}

grout_outcome grout_exec_transpose(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    return run_parts(cta, thread, inst);
}

grout_outcome grout_exec_concatenate(const grout_cta *cta, uint32_t thread,
                                     const grout_inst *inst) {
    return run_parts(cta, thread, inst);
}

/* The same elements in the same order. */
grout_outcome grout_exec_reshape(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    return grout_exec_alu(cta, thread, inst);
}
