/*
 * exec_tensor_map.c - descriptors: those of whole arrays, which have no code, and those that are
 * made at run time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "access.h"
#include "exec.h"
#include "tensor_map.h"

#define START_BYTES 16 /* of the address of a part: docs/hardware.md 2.1 */

/* The references through it say everything. */
grout_outcome grout_exec_tensor_descriptor(const grout_cta *cta, uint32_t thread,
                                           const grout_inst *inst) {
    (void)cta->machine;
    (void)thread;
    (void)inst;
    return GROUT_OUTCOME_NEXT;
}

/* The k-th start or extent; false, and a fault, if nobody wrote it. */
static bool get_number(const grout_cta *cta, uint32_t thread, const grout_inst *inst, uint32_t k,
                       int64_t *number_out) {
    const grout_slot *slot = grout_plan__slot(cta->machine->plan, inst, k);
    *number_out = grout_slot__get_integer(cta, thread, slot);
    if (grout_slot__is_undefined(cta, thread, slot)) {
        grout_cta__fault_undefined(cta, thread, inst, 2 + k, GROUT_USE_ADDRESS);
        return false;
    }
    return true;
}

/* Whether the part that the map is to be of is none: what leaves the array, or starts between 16
 * bytes, is a finding. */
static bool is_refused(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    const grout_box_plan *array = grout_plan__box(cta->machine->plan, inst, 1);
    int64_t offset = 0, stride = array->element_bytes;
    for (uint32_t dim = array->rank; dim-- > 0;) {
        grout_fault fault = {.object = array->object, .dimension = dim, .limit = array->dims[dim]};
        if (!get_number(cta, thread, inst, dim, &fault.start) ||
            !get_number(cta, thread, inst, array->rank + dim, &fault.extent)) {
            return true;
        }
        if (fault.start < 0 || fault.extent < 1 || fault.start + fault.extent > array->dims[dim]) {
            fault.code = GROUT_DIAG_OUT_OF_BOUNDS;
            fault.use = fault.extent < 1 ? GROUT_OUTSIDE_EMPTY : GROUT_OUTSIDE_PART;
            grout_cta__fault(cta, thread, inst, fault.start < 0 ? 2 + dim : 2 + array->rank + dim,
                             &fault);
            return true;
        }
        offset += fault.start * stride;
        stride *= array->dims[dim];
        if (offset % START_BYTES != 0) {
            fault.code = GROUT_DIAG_MISALIGNED;
            fault.limit = START_BYTES;
            grout_cta__fault(cta, thread, inst, 2 + dim, &fault);
            return true;
        }
    }
    return false;
}

grout_outcome grout_exec_make_tensor_descriptor(const grout_cta *cta, uint32_t thread,
                                                const grout_inst *inst) {
    const grout_box slot = grout_box__resolve(cta, thread, inst, 0);
    const bool has_slot = grout_box__check_inside(cta, thread, inst, &slot);
    const bool is_void = is_refused(cta, thread, inst);
    if (has_slot) {
        grout_access__publish(cta, thread, inst, &slot, NULL);
        grout_tensor_map__make(cta, thread, inst, &slot, is_void);
    }
    return GROUT_OUTCOME_NEXT;
}

grout_outcome grout_exec_tensormap_acquire(const grout_cta *cta, uint32_t thread,
                                           const grout_inst *inst) {
    const grout_box slot = grout_box__resolve(cta, thread, inst, 0);
    if (grout_box__check_inside(cta, thread, inst, &slot)) {
        grout_access__publish(cta, thread, inst, &slot, NULL);
        grout_tensor_map__acquire(cta, thread, &slot);
    }
    return GROUT_OUTCOME_NEXT;
}
