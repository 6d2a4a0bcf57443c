/* orders.c - which atomics of a kernel are part of the schedule.
 * SPDX-License-Identifier: Apache-2.0 */
#include "orders.h"

#include "alloc.h"
#include "grout-internal/race.h"

#include <string.h>

/* The operand that the op combines with something, without a result; UINT32_MAX: there is none. */
static uint32_t find_updated(const grout_module *module, const grout_op *op) {
    grout_opcode opcode = (grout_opcode)op->opcode;
    bool is_update = grout_op_get_update(module, op) != GROUT_UPDATE_NONE;
    return is_update && !grout_op_returns_old_value(opcode) ? grout_op_find_target(opcode)
                                                            : UINT32_MAX;
}

/* The operand of an op that returns what several elements held; UINT32_MAX: it is none. Another op
 * may meet some of them. */
static uint32_t find_fetched(const grout_module *module, const grout_op *op) {
    return grout_op_returns_old_value((grout_opcode)op->opcode) && op->result_count > 0 &&
                   grout_module_get_type(module, op->first_result)->rank > 0
               ? grout_op_find_target((grout_opcode)op->opcode)
               : UINT32_MAX;
}

static bool note_op(const grout_allocator *allocator, const grout_module *module,
                    grout_kernel_id kernel, const grout_op *op, uint8_t *orders) {
    const uint32_t fetched = find_fetched(module, op);
    const uint32_t operand = fetched == UINT32_MAX ? find_updated(module, op) : fetched;
    grout_object_id object;
    grout_view view;
    bool is_decisive = false;
    memset(&view, 0, sizeof view);
    if (operand >= op->operand_count ||
        !grout_module_get_view(module, grout_module_get_operand(module, op, operand), &view)) {
        return true;
    }
    object = grout_object_get_root(module, view.object);
    if (orders[object] == GROUT_ORDER_ALL || fetched != UINT32_MAX) {
        orders[object] = GROUT_ORDER_ALL;
        return true;
    }
    if (!grout_race_is_decisive(allocator, module, kernel, object, &is_decisive)) {
        return false;
    }
    orders[object] = is_decisive ? GROUT_ORDER_ALL : GROUT_ORDER_FETCHES;
    return true;
}

static bool is_in_kernel(const grout_module *module, grout_kernel_id kernel, const grout_op *op) {
    return op->parent && grout_module_get_block(module, op->parent)->kernel == kernel;
}

static bool has_requests(const grout_module *module, grout_kernel_id kernel) {
    for (grout_op_id i = 1; i < grout_module_get_op_count(module); i++) {
        const grout_op *op = grout_module_get_op(module, i);
        if (is_in_kernel(module, kernel, op) &&
            grout_op_get_info((grout_opcode)op->opcode)->effect_row == GROUT_EFFECT_ROW_CANCEL) {
            return true;
        }
    }
    return false;
}

/* Whether the schedule may decide what an op returns. */
static bool is_choice(const grout_op *op) {
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    return grout_op_returns_old_value((grout_opcode)op->opcode) ||
           (sync != NULL && sync->mode == GROUT_SYNC_MODE_TESTS) ||
           grout_op_get_info((grout_opcode)op->opcode)->effect_row == GROUT_EFFECT_ROW_CANCEL;
}

bool grout_orders__have_choices(const grout_module *module, grout_kernel_id kernel) {
    for (grout_op_id i = 1; i < grout_module_get_op_count(module); i++) {
        const grout_op *op = grout_module_get_op(module, i);
        if (is_in_kernel(module, kernel, op) && is_choice(op)) {
            return true;
        }
    }
    return false;
}

bool grout_orders__has_tests(const grout_module *module, grout_kernel_id kernel) {
    for (grout_op_id i = 1; i < grout_module_get_op_count(module); i++) {
        const grout_op *op = grout_module_get_op(module, i);
        const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
        if (sync != NULL && sync->mode == GROUT_SYNC_MODE_TESTS &&
            is_in_kernel(module, kernel, op)) {
            return true;
        }
    }
    return false;
}

/* Whether others may hear of what came before an op in time only: it says so, only near ones do, or
 * an engine makes its arrival. */
static bool is_weak(const grout_module *module, const grout_op *op) {
    const grout_choice scope = grout_op_get_choice(module, op, GROUT_ATTR_SCOPE);
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    return sync != NULL &&
           (sync->arrival == GROUT_SYNC_ARRIVAL_LATER ||
            grout_op_get_choice(module, op, GROUT_ATTR_ORDER) == GROUT_CHOICE_ORDER_RELAXED ||
            scope == GROUT_CHOICE_SCOPE_CTA || scope == GROUT_CHOICE_SCOPE_CLUSTER);
}

bool grout_orders__have_weak_edges(const grout_module *module, grout_kernel_id kernel) {
    for (grout_op_id i = 1; i < grout_module_get_op_count(module); i++) {
        const grout_op *op = grout_module_get_op(module, i);
        if (is_in_kernel(module, kernel, op) && is_weak(module, op)) {
            return true;
        }
    }
    return false;
}

const char *grout_orders__find_gap(const grout_module *module, grout_kernel_id kernel) {
    return has_requests(module, kernel) ? "launch control may hand out other clusters, or none"
                                        : NULL;
}

uint8_t *grout_orders__find(const grout_allocator *allocator, const grout_module *module,
                            grout_kernel_id kernel, bool counts_arrays) {
    uint8_t *orders = grout__new(allocator, grout_module_get_object_count(module), sizeof *orders);
    for (grout_op_id i = 1; orders != NULL && i < grout_module_get_op_count(module); i++) {
        const grout_op *op = grout_module_get_op(module, i);
        if (is_in_kernel(module, kernel, op) && !note_op(allocator, module, kernel, op, orders)) {
            grout__free(orders);
            return NULL;
        }
    }
    for (grout_object_id i = 1;
         counts_arrays && orders != NULL && i < grout_module_get_object_count(module); i++) {
        orders[i] = GROUT_ORDER_ALL;
    }
    return orders;
}
