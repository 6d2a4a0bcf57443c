/*
 * exec_check.c - what is asserted, and delays, of which the CPU sees nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "exec.h"

#include <string.h>

/* No time passes here, and no schedule is another for it: what a delay would let come first, any
 * schedule may let come first. */
grout_outcome grout_exec_delay(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    if (grout_slot__is_undefined(cta, thread, grout_plan__slot(cta->machine->plan, inst, 0))) {
        grout_cta__fault_undefined(cta, thread, inst, 0, GROUT_USE_SYNC);
    }
    return GROUT_OUTCOME_NEXT;
}

/* ---- debug_check --------------------------------------------------------------------------------
 */

static bool is_undefined_at(const grout_cta *cta, uint32_t thread, const grout_slot *slot,
                            uint32_t i) {
    return grout_slot__is_undefined(cta, thread, slot) &&
           (!slot->is_array || grout_slot__mask(cta, thread, slot)[i] != 0);
}

/* The first element of the condition that is defined and false, or its count. */
static uint32_t find_false(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                           const grout_slot *condition) {
    const uint8_t *data = grout_slot__data(cta, thread, condition);
    if (!grout_slot__is_undefined(cta, thread, condition)) {
        const uint8_t *found = memchr(data, 0, condition->count);
        return found == NULL ? condition->count : (uint32_t)(found - data);
    }
    grout_cta__fault_undefined(cta, thread, inst, 0, GROUT_USE_CHECK);
    for (uint32_t i = 0; i < condition->count; i++) {
        if (data[i] == 0 && !is_undefined_at(cta, thread, condition, i)) {
            return i;
        }
    }
    return condition->count;
}

grout_outcome grout_exec_debug_check(const grout_cta *cta, uint32_t thread,
                                     const grout_inst *inst) {
    const grout_plan *plan = cta->machine->plan;
    const grout_slot *condition = grout_plan__slot(plan, inst, 0);
    const uint32_t at = find_false(cta, thread, inst, condition);
    if (at == condition->count) {
        return GROUT_OUTCOME_NEXT;
    }
    grout_fault fault = {.code = GROUT_DIAG_DEBUG_CHECK_FAILED,
                         .start = at,
                         .extent = condition->is_array ? condition->count : 0};
    for (uint32_t k = 0; k + 1 < inst->slot_count && k < GROUT_FAULT_VALUES_MAX; k++) {
        const grout_slot *slot = grout_plan__slot(plan, inst, k + 1);
        const uint32_t i = slot->is_array ? at : 0;
        memcpy(&fault.values[k],
               grout_slot__data(cta, thread, slot) + (size_t)i * slot->element_bytes,
               slot->element_bytes);
        fault.undefined |= is_undefined_at(cta, thread, slot, i) ? 1u << k : 0;
    }
    grout_cta__fault(cta, thread, inst, 0, &fault);
    return GROUT_OUTCOME_NEXT;
}

/* ---- multiple_of --------------------------------------------------------------------------------
 */

static bool is_multiple(const grout_slot *slot, int64_t value, int64_t of) {
    return grout_dtype_get_info(slot->dtype)->class_ == GROUT_CLASS_UINT
               ? (uint64_t)value % (uint64_t)of == 0
               : value % of == 0;
}

/* Undefined it stays undefined: where that matters says who uses it. */
grout_outcome grout_exec_multiple_of(const grout_cta *cta, uint32_t thread,
                                     const grout_inst *inst) {
    const grout_plan *plan = cta->machine->plan;
    const grout_slot *slot = grout_plan__slot(plan, inst, 0);
    const int64_t of = grout_slot__get_integer(cta, thread, grout_plan__slot(plan, inst, 1));
    const int64_t value = grout_slot__get_integer(cta, thread, slot);
    const bool is_undefined = grout_slot__is_undefined(cta, thread, slot);
    memcpy(grout_slot__data(cta, thread, &inst->result), grout_slot__data(cta, thread, slot),
           slot->element_bytes);
    grout_slot__set_undefined(cta, thread, &inst->result, is_undefined);
    if (!is_undefined && !is_multiple(slot, value, of)) {
        grout_fault fault = {.code = GROUT_DIAG_NOT_A_MULTIPLE, .have = value, .need = of};
        grout_cta__fault(cta, thread, inst, 0, &fault);
    }
    return GROUT_OUTCOME_NEXT;
}
