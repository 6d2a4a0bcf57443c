/*
 * exec_extern.c - extern_elementwise, inline_ptx: a function of the host, called for each element.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "exec.h"

#include <string.h>

/* An operand at some element. A scalar beside an array is repeated. */
typedef struct argument {
    const uint8_t *data, *mask; /* mask NULL: all its elements are defined, or none is */
    uint32_t step, mask_step;   /* bytes from one element to the next */
    bool is_undefined;          /* a scalar that is */
} argument;

static argument get_argument(const grout_cta *cta, uint32_t thread, const grout_slot *slot) {
    const bool is_undefined = grout_slot__is_undefined(cta, thread, slot);
    const uint32_t one = slot->count == 1 ? 0 : 1;
    return (argument){.data = grout_slot__data(cta, thread, slot),
                      .mask = is_undefined && slot->is_array ? grout_slot__mask(cta, thread, slot)
                                                             : NULL,
                      .step = one * slot->element_bytes,
                      .mask_step = one,
                      .is_undefined = is_undefined && !slot->is_array};
}

/* The arguments of one call; true if one of them is undefined. */
static bool get_elements(const argument *arguments, uint32_t count, size_t index,
                         const void **elements_out) {
    bool is_undefined = false;
    for (uint32_t k = 0; k < count; k++) {
        const argument *a = &arguments[k];
        elements_out[k] = a->data + index * a->step;
        is_undefined |= a->is_undefined;
        if (a->mask != NULL) {
            is_undefined |= a->mask[index * a->mask_step] != 0;
        }
    }
    return is_undefined;
}

static grout_outcome call_for_each(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    const grout_plan *plan = cta->machine->plan;
    const grout_extern *function = inst->u.function;
    const grout_slot *result = &inst->result;
    const uint64_t poison = grout_dtype_get_info(result->dtype)->poison;
    argument arguments[GROUT_EXTERN_OPERANDS_MAX];
    const void *elements[GROUT_EXTERN_OPERANDS_MAX];
    GROUT_ASSERT(inst->slot_count <= GROUT_EXTERN_OPERANDS_MAX);
    for (uint32_t k = 0; k < inst->slot_count; k++) {
        arguments[k] = get_argument(cta, thread, grout_plan__slot(plan, inst, k));
    }
    uint8_t *to = grout_slot__data(cta, thread, result);
    bool is_any_undefined = false;
    for (uint32_t i = 0; i < result->count; i++, to += result->element_bytes) {
        const bool is_undefined = get_elements(arguments, inst->slot_count, i, elements);
        if (is_undefined) {
            memcpy(to, &poison, result->element_bytes);
        } else if (!function->call(function->payload, elements, to)) {
            return GROUT_OUTCOME_STOPPED;
        }
        if (is_undefined && !is_any_undefined && result->is_array) {
            memset(grout_slot__mask(cta, thread, result), 0, result->count);
        }
        if (is_undefined && result->is_array) {
            grout_slot__mask(cta, thread, result)[i] = 1;
        }
        is_any_undefined |= is_undefined;
    }
    grout_slot__set_undefined(cta, thread, result, is_any_undefined);
    return GROUT_OUTCOME_NEXT;
}

grout_outcome grout_exec_extern_elementwise(const grout_cta *cta, uint32_t thread,
                                            const grout_inst *inst) {
    return call_for_each(cta, thread, inst);
}

grout_outcome grout_exec_inline_ptx(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    return call_for_each(cta, thread, inst);
}
