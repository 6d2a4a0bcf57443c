/* verify_sync.c - barriers, waits, and who enters a collective scope.
 * SPDX-License-Identifier: Apache-2.0 */
#include "verifying.h"

#include <inttypes.h>

/* What an mbarrier counts in a phase (PTX ISA 9.1 'mbarrier'); a thread arrives with one lane. */
#define ARRIVALS_MAX ((1 << 20) - 1)

/* ---- barriers -------------------------------------------------------------------------------- */

static void check_arrivals(grout_verifying *verifying, grout_value_id value) {
    const grout_module *module = verifying->module;
    grout_object_id id = grout_module_get_value(module, value)->object;
    const grout_object *object = grout_module_get_object(module, id);
    if (object->kind != GROUT_OBJECT_BARRIER || object->arrivals == 0) {
        return;
    }
    int64_t arrivals = grout_module_get_expr_value(module, object->arrivals).integer;
    grout_loc_id loc = grout_module_get_expr(module, object->arrivals)->loc;
    grout_value_text name = grout_value__get_text(module, value, "the barrier");
    if (arrivals < 1 || arrivals > ARRIVALS_MAX) {
        grout_verifying__report(verifying, GROUT_DIAG_BARRIER_ARRIVALS, loc,
                                "%s completes a phase with %" PRId64
                                " arrivals: an mbarrier counts 1 to %d",
                                name.chars, arrivals, ARRIVALS_MAX);
    }
}

/* More than the barrier's arrivals is for the race checker to find: the code is reachable or not.
 */
static void check_arrive_count(grout_verifying *verifying, const grout_op *op) {
    const grout_attr_value *attr =
        grout_module_find_attr(verifying->module, op, GROUT_ATTR_ARRIVE_COUNT);
    if (attr == NULL) {
        return;
    }
    int64_t count = grout_module_get_expr_value(verifying->module, attr->expr).integer;
    if (count < 1 || count > ARRIVALS_MAX) {
        grout_verifying__report(verifying, GROUT_DIAG_BARRIER_ARRIVALS, attr->loc,
                                "%" PRId64 " arrivals at once: an mbarrier counts 1 to %d", count,
                                ARRIVALS_MAX);
    }
}

static void check_wait(grout_verifying *verifying, const grout_op *op) {
    const grout_operand *operand = grout_module_get_operand(verifying->module, op, 0);
    int64_t count = grout_module_get_expr_value(verifying->module, operand->id).integer;
    if (count < 0) {
        grout_verifying__report(verifying, GROUT_DIAG_BAD_ATTRIBUTE, operand->loc,
                                "'%s' leaves at most n groups in flight, and %" PRId64
                                " is negative",
                                grout_op_get_info((grout_opcode)op->opcode)->text, count);
        grout_diags_help(verifying->diags, "0 waits for all of them");
    }
}

void grout_verify__sync(grout_verifying *verifying, const grout_op *op) {
    const grout_module *module = verifying->module;
    if (op->opcode == GROUT_OP_SCRATCH) {
        check_arrivals(verifying, op->first_result);
    } else if (op->opcode == GROUT_OP_SCOPED) {
        const grout_block *body = grout_module_get_block(module, op->first_block);
        for (uint32_t k = 0; k < body->arg_count; k++) {
            check_arrivals(verifying, body->first_arg + k);
        }
    } else if (op->opcode == GROUT_OP_BARRIER_ARRIVE) {
        check_arrive_count(verifying, op);
    } else if (op->opcode == GROUT_OP_WAIT_SMEM_TO_GMEM) {
        check_wait(verifying, op);
    }
}

/* ---- values that differ between the threads of a CTA ----------------------------------------- */

/*
 * A value differs if it is made from the index of a threads axis. A pass over the kernel spreads
 * that along operands and yields; passes repeat until nothing changes, since a loop carries values
 * back to its start. Values that memory holds count as equal.
 */
#define PASSES_MAX 64

typedef struct spreading {
    const grout_module *module;
    const grout_kernel *kernel;
    grout_kernel_id id;
    grout_kernel_id *differs; /* by value: the kernel in which it does; never cleared */
    bool all_differ;
    bool changed;
} spreading;

static void mark(spreading *spread, grout_value_id value, bool differs) {
    if (differs && spread->differs[value] != spread->id) {
        spread->differs[value] = spread->id;
        spread->changed = true;
    }
}

static bool operand_differs(const spreading *spread, const grout_operand *operand) {
    if (operand->kind == GROUT_OPERAND_VALUE) {
        return spread->all_differ || spread->differs[operand->id] == spread->id;
    }
    if (operand->kind != GROUT_OPERAND_REF) {
        return false;
    }
    const grout_ref *ref = grout_module_get_ref(spread->module, operand->id);
    for (uint32_t s = 0; s < ref->step_count; s++) {
        const grout_ref_step *step = grout_module_get_ref_step(spread->module, ref, s);
        for (uint32_t k = 0; k < step->count; k++) {
            const grout_operand *start = &grout_module_get_index(spread->module, step, k)->start;
            if (start->kind == GROUT_OPERAND_VALUE && operand_differs(spread, start)) {
                return true;
            }
        }
    }
    return false;
}

static bool any_operand_differs(const spreading *spread, const grout_op *op, uint32_t count) {
    for (uint32_t k = 0; k < count && k < op->operand_count; k++) {
        if (operand_differs(spread, grout_module_get_operand(spread->module, op, k))) {
            return true;
        }
    }
    return false;
}

/* Whether the condition of a while does: it stands at the end of the first body. */
static bool condition_differs(const spreading *spread, const grout_op *op) {
    const grout_module *module = spread->module;
    const grout_op *condition =
        grout_module_get_op(module, grout_module_get_block(module, op->first_block)->last);
    return any_operand_differs(spread, condition, 1);
}

/* Whether the threads may run the bodies of op a different number of times. */
static bool control_differs(const spreading *spread, const grout_op *op) {
    return (op->opcode == GROUT_OP_FOR && any_operand_differs(spread, op, 3)) ||
           (op->opcode == GROUT_OP_WHILE && condition_differs(spread, op)) ||
           (op->opcode == GROUT_OP_IF && any_operand_differs(spread, op, 1));
}

/* The first carry of a loop, behind the index that a for has. */
static grout_value_id get_first_carry(const spreading *spread, const grout_op *op) {
    return grout_module_get_block(spread->module, op->first_block)->first_arg +
           (op->opcode == GROUT_OP_FOR ? 1 : 0);
}

/* A yield gives its values to the results of the op around, and to a loop's carries. */
static void spread_yield(spreading *spread, const grout_op *yield) {
    const grout_module *module = spread->module;
    const grout_block *block = grout_module_get_block(module, yield->parent);
    if (block->parent == 0) {
        return;
    }
    const grout_op *around = grout_module_get_op(module, block->parent);
    bool control = control_differs(spread, around);
    bool is_loop = around->opcode == GROUT_OP_FOR || around->opcode == GROUT_OP_WHILE;
    for (uint32_t k = 0; k < yield->operand_count && k < around->result_count; k++) {
        bool differs =
            control || operand_differs(spread, grout_module_get_operand(module, yield, k));
        mark(spread, around->first_result + k, differs);
        if (is_loop) {
            mark(spread, get_first_carry(spread, around) + k, differs);
        }
    }
}

static void spread_loop(spreading *spread, const grout_op *op) {
    uint32_t first = op->opcode == GROUT_OP_FOR ? 3 : 0; /* behind the bounds */
    grout_value_id carry = get_first_carry(spread, op);
    if (op->opcode == GROUT_OP_FOR) {
        mark(spread, carry - 1, control_differs(spread, op));
    }
    for (uint32_t k = first; k < op->operand_count; k++) {
        bool differs = operand_differs(spread, grout_module_get_operand(spread->module, op, k));
        mark(spread, carry + k - first, differs);
        mark(spread, op->first_result + k - first, differs);
    }
}

static void spread_op(spreading *spread, const grout_op *op) {
    if (op->opcode == GROUT_OP_AXIS_INDEX) {
        uint32_t axis = grout_module_get_operand(spread->module, op, 0)->id - 1;
        mark(spread, op->first_result,
             spread->kernel->axes[axis].kind == GROUT_AXIS_THREADS &&
                 grout_kernel_get_axis_size(spread->module, spread->id, axis) > 1);
    } else if (op->opcode == GROUT_OP_YIELD) {
        spread_yield(spread, op);
    } else if (op->opcode == GROUT_OP_FOR || op->opcode == GROUT_OP_WHILE) {
        spread_loop(spread, op);
    } else if (op->block_count == 0 && op->result_count == 1 && op->opcode != GROUT_OP_SCRATCH) {
        mark(spread, op->first_result, any_operand_differs(spread, op, op->operand_count));
    }
}

static void spread_kernel(spreading *spread) {
    for (uint32_t pass = 0; pass < PASSES_MAX; pass++) {
        spread->changed = false;
        grout_op_id id = grout_kernel__get_first_op(spread->module, spread->id);
        for (; id != 0; id = grout_kernel__get_next_op(spread->module, id)) {
            spread_op(spread, grout_module_get_op(spread->module, id));
        }
        if (!spread->changed) {
            return;
        }
    }
    /* Carries that turn in a circle longer than that: all of them may differ. */
    spread->all_differ = true;
}

/* ---- collective scopes ----------------------------------------------------------------------- */

/* The nearest if or loop around op that not all threads may go through alike, or NULL. */
static const grout_op *find_divergence(const spreading *spread, const grout_op *op) {
    grout_op_id id = grout_module_get_block(spread->module, op->parent)->parent;
    while (id != 0) {
        const grout_op *around = grout_module_get_op(spread->module, id);
        if (control_differs(spread, around)) {
            return around;
        }
        id = grout_module_get_block(spread->module, around->parent)->parent;
    }
    return NULL;
}

/* Whether the threads share what a scope makes: accumulators belong to each of them. */
static bool has_shared_objects(const grout_module *module, const grout_op *op) {
    const grout_block *body = grout_module_get_block(module, op->first_block);
    bool has_any = false;
    for (uint32_t k = 0; k < body->arg_count; k++) {
        grout_object_id id = grout_module_get_value(module, body->first_arg + k)->object;
        has_any = has_any || grout_module_get_object(module, id)->space != GROUT_SPACE_ACC;
    }
    return has_any;
}

static void check_scope(grout_verifying *verifying, const spreading *spread, const grout_op *op) {
    uint32_t threads = grout_kernel_get_thread_count(verifying->module, verifying->kernel);
    bool is_collective =
        grout_module_find_attr(verifying->module, op, GROUT_ATTR_COLLECTIVE) != NULL;
    if (!is_collective && !has_shared_objects(verifying->module, op)) {
        return;
    }
    if (!is_collective) {
        grout_verifying__report(verifying, GROUT_DIAG_COLLECTIVE_SCOPE, op->loc,
                                "this scope makes SMEM objects in a CTA of %" PRIu32
                                " threads, and each of them would use the same bytes",
                                threads);
        grout_diags_help(verifying->diags, "write 'collective' behind the objects: all threads "
                                           "enter together and share them");
        return;
    }
    const grout_op *around = find_divergence(spread, op);
    if (around != NULL) {
        grout_verifying__report(verifying, GROUT_DIAG_COLLECTIVE_SCOPE, op->loc,
                                "not every thread reaches this collective scope: its entry waits "
                                "for all %" PRIu32 " threads of the CTA",
                                threads);
        grout_diags_note(verifying->diags, grout_module_get_place(verifying->module, around->loc),
                         "this '%s' depends on the index of a thread",
                         grout_op_get_info((grout_opcode)around->opcode)->text);
        grout_diags_help(verifying->diags, "move the scope around the '%s'",
                         grout_op_get_info((grout_opcode)around->opcode)->text);
    }
}

void grout_verify__scopes(grout_verifying *verifying) {
    const grout_module *module = verifying->module;
    spreading spread = {.module = module, .id = verifying->kernel};
    spread.kernel = grout_module_get_kernel(module, verifying->kernel);
    if (grout_kernel_get_thread_count(module, verifying->kernel) < 2) {
        return;
    }
    spread.differs = verifying->differs;
    bool is_spread = false;
    grout_op_id id = grout_kernel__get_first_op(module, verifying->kernel);
    for (; id != 0; id = grout_kernel__get_next_op(module, id)) {
        const grout_op *op = grout_module_get_op(module, id);
        if (op->opcode != GROUT_OP_SCOPED) {
            continue;
        }
        if (!is_spread) {
            spread_kernel(&spread);
            is_spread = true;
        }
        check_scope(verifying, &spread, op);
    }
}
