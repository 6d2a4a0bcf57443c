/* verify_wgmma.c - the tensor core: accumulators, their slices, wgmma, its waits, mma, registers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "verifying.h"

#include "wgmma.h"

#include <inttypes.h>

/* What setmaxnreg takes (PTX ISA 9.1 'setmaxnreg'). */

static const char *get_text(const grout_op *op) {
    return grout_op_get_info((grout_opcode)op->opcode)->text;
}

static void check_object(grout_verifying *verifying, grout_value_id value) {
    const grout_module *module = verifying->module;
    grout_object_id id = grout_module_get_value(module, value)->object;
    const grout_object *object = grout_module_get_object(module, id);
    if (object->kind == GROUT_OBJECT_ARRAY && object->space == GROUT_SPACE_ACC &&
        !grout_wgmma__check_accumulator(module, id, verifying->diags)) {
        verifying->ok = false;
    }
}

static void check_objects(grout_verifying *verifying, const grout_op *op) {
    grout_value_id first;
    uint32_t count = grout_op_get_made_objects(verifying->module, op, &first);
    for (uint32_t k = 0; k < count; k++) {
        check_object(verifying, first + k);
    }
}

/* The accumulator that an operand is, or 0; *is_bad_out: its declaration has been reported. */
static grout_object_id find_accumulator(const grout_verifying *verifying, const grout_op *op,
                                        uint32_t index, bool *is_bad_out) {
    grout_view view;
    const grout_operand *operand = grout_module_get_operand(verifying->module, op, index);
    if (!grout_module_get_view(verifying->module, operand, &view)) {
        return 0;
    }
    const grout_object *object = grout_module_get_object(verifying->module, view.object);
    if (object->kind != GROUT_OBJECT_ARRAY || object->space != GROUT_SPACE_ACC) {
        return 0;
    }
    *is_bad_out = !grout_wgmma__check_accumulator(verifying->module, view.object, NULL);
    return view.object;
}

/* A slice by load, acc_load or acc_store; that of a wgmma is part of its plan. */
static void check_slice(grout_verifying *verifying, const grout_op *op) {
    bool is_bad = false;
    int64_t column;
    if (find_accumulator(verifying, op, 0, &is_bad) != 0 && !is_bad &&
        !grout_wgmma__find_columns(verifying->module,
                                   grout_module_get_operand(verifying->module, op, 0),
                                   verifying->diags, &column)) {
        verifying->ok = false;
    }
}

static void check_plan(grout_verifying *verifying, grout_op_id id, const grout_op *op) {
    bool is_bad = false;
    grout_wgmma wgmma;
    (void)find_accumulator(verifying, op, 0, &is_bad);
    if (!is_bad && !grout_wgmma_plan(verifying->module, id, &wgmma, verifying->diags)) {
        verifying->ok = false;
    }
}

static void check_mma(grout_verifying *verifying, grout_op_id id) {
    grout_mma mma;
    if (!grout_mma_plan(verifying->module, id, &mma, verifying->diags)) {
        verifying->ok = false;
    }
}

static void check_groups(grout_verifying *verifying, grout_loc_id loc, const char *what,
                         int64_t count) {
    if (count < 0 || count > GROUT_WGMMA_GROUPS_MAX) {
        grout_verifying__report(verifying, GROUT_DIAG_BAD_ATTRIBUTE, loc,
                                "%s leaves at most n groups in flight, and n is %" PRId64
                                ": it has to be 0 to %d",
                                what, count, GROUT_WGMMA_GROUPS_MAX);
        grout_diags_help(verifying->diags, "0 waits for all of them, and 7 for all but 7");
    }
}

/* Whether it waits for the thread's wgmma groups. */
static bool is_of_groups(const grout_op *op) {
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    return sync != NULL && sync->object == GROUT_SYNC_OBJECT_WGMMA &&
           sync->mode == GROUT_SYNC_MODE_WAITS;
}

static void check_waits(grout_verifying *verifying, const grout_op *op) {
    const grout_module *module = verifying->module;
    if (is_of_groups(op) && grout_op_get_letter((grout_opcode)op->opcode, 0) == 'k') {
        const grout_operand *operand = grout_module_get_operand(module, op, 0);
        check_groups(verifying, operand->loc, "'wgmma_wait n'",
                     grout_module_get_expr_value(module, operand->id).integer);
    }
    const grout_attr_value *wait = grout_module_find_attr(module, op, GROUT_ATTR_WAIT_GROUPS);
    if (wait != NULL) {
        check_groups(verifying, wait->loc, "wait(n)",
                     grout_module_get_expr_value(module, wait->expr).integer);
    }
}

bool grout_wgmma__has_register_count(const grout_module *module, const grout_op *op) {
    const grout_operand *operand = grout_module_get_operand(module, op, 0);
    int64_t count = grout_module_get_expr_value(module, operand->id).integer;
    return count >= GROUT_REGISTERS_MIN && count <= GROUT_REGISTERS_MAX &&
           count % GROUT_REGISTERS_STEP == 0;
}

static void check_registers(grout_verifying *verifying, const grout_op *op) {
    const grout_module *module = verifying->module;
    const grout_operand *operand = grout_module_get_operand(module, op, 0);
    int64_t count = grout_module_get_expr_value(module, operand->id).integer;
    if (!grout_wgmma__has_register_count(module, op)) {
        grout_verifying__report(verifying, GROUT_DIAG_BAD_ATTRIBUTE, operand->loc,
                                "'%s' takes multiples of %d from %d to %d, not %" PRId64,
                                get_text(op), GROUT_REGISTERS_STEP, GROUT_REGISTERS_MIN,
                                GROUT_REGISTERS_MAX, count);
        grout_diags_help(verifying->diags, "usual are 24 or 40 for a thread that only copies, 232 "
                                           "or 240 for two that multiply");
    }
}

void grout_verify__wgmma(grout_verifying *verifying, grout_op_id id, const grout_op *op) {
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    const grout_rule rule = (grout_rule)grout_op_get_info((grout_opcode)op->opcode)->rule;
    check_objects(verifying, op);
    if (rule == GROUT_RULE_WGMMA) {
        check_plan(verifying, id, op);
        return;
    }
    if (rule == GROUT_RULE_MMA) {
        check_mma(verifying, id);
        return;
    }
    if (rule == GROUT_RULE_LOAD || rule == GROUT_RULE_STORE) {
        check_slice(verifying, op);
    }
    check_waits(verifying, op);
    if (sync != NULL && sync->object == GROUT_SYNC_OBJECT_REGISTERS) {
        check_registers(verifying, op);
    }
}
