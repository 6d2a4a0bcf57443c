/* asserted.c - what a run without the checker says of its values: debug_check and multiple_of.
 * SPDX-License-Identifier: Apache-2.0 */
#include "grout-internal/asserted.h"

#include "alloc.h"
#include "array.h"

/* What was found of one operation. */
typedef struct asserted_op {
    grout_origin origin; /* of the first in the order of the run */
    grout_fault fault;
    uint64_t count;
} asserted_op;

struct grout_asserted {
    grout_observer observer;
    const grout_module *module;
    grout_kernel_id kernel;
    struct {
        asserted_op *items;
        size_t count, capacity;
    } ops;
};

static bool asserts(const grout_op *op) {
    const uint8_t rule = grout_op_get_info((grout_opcode)op->opcode)->rule;
    return rule == GROUT_RULE_CHECK || rule == GROUT_RULE_PROMISE;
}

static bool asserts_in(const grout_module *module, grout_block_id block) {
    grout_op_id id = grout_module_get_block(module, block)->first;
    for (; id != 0; id = grout_module_get_op(module, id)->next) {
        const grout_op *op = grout_module_get_op(module, id);
        bool found = asserts(op);
        for (uint32_t i = 0; i < op->block_count && !found; i++) {
            found = asserts_in(module, op->first_block + i);
        }
        if (found) {
            return true;
        }
    }
    return false;
}

bool grout_asserted_is_needed(const grout_module *module, grout_kernel_id kernel) {
    return asserts_in(module, grout_module_get_kernel(module, kernel)->body);
}

static bool is_of_values(const grout_fault *fault) {
    return fault->code == GROUT_DIAG_DEBUG_CHECK_FAILED ||
           fault->code == GROUT_DIAG_NOT_A_MULTIPLE || fault->code == GROUT_DIAG_NON_FINITE ||
           fault->code == GROUT_DIAG_NON_FINITE_INPUT;
}

static bool observe(void *self, const grout_event *event) {
    grout_asserted *asserted = self;
    if (event->kind != GROUT_EVENT_FAULT || !is_of_values(event->u.fault)) {
        return true;
    }
    for (size_t i = 0; i < asserted->ops.count; i++) {
        if (asserted->ops.items[i].origin.op == event->origin.op &&
            asserted->ops.items[i].fault.object == event->u.fault->object) {
            asserted->ops.items[i].count++;
            return true;
        }
    }
    if (!GROUT_ARRAY_RESERVE(&asserted->ops, NULL, 1)) {
        return false;
    }
    asserted->ops.items[asserted->ops.count++] =
        (asserted_op){.origin = event->origin, .fault = *event->u.fault, .count = 1};
    return true;
}

grout_asserted *grout_asserted_new(const grout_module *bound, grout_kernel_id kernel) {
    grout_asserted *asserted = grout__new(NULL, 1, sizeof *asserted);
    if (asserted != NULL) {
        asserted->module = bound;
        asserted->kernel = kernel;
        asserted->observer = (grout_observer){
            .self = asserted, .interest = UINT64_C(1) << GROUT_EVENT_FAULT, .event = observe};
    }
    return asserted;
}

void grout_asserted_free(grout_asserted *asserted) {
    if (asserted != NULL) {
        grout__free(asserted->ops.items);
        grout__free(asserted);
    }
}

const grout_observer *grout_asserted_get_observer(grout_asserted *asserted) {
    return &asserted->observer;
}

/* The place of an operation, or the declaration of an array. */
static grout_place get_place(const grout_asserted *asserted, const asserted_op *found) {
    const grout_module *module = asserted->module;
    return grout_module_get_place(
        module, found->origin.op != 0 ? grout_module_get_op(module, found->origin.op)->loc
                                      : grout_module_get_object(module, found->fault.object)->loc);
}

static void report_one(const grout_asserted *asserted, const asserted_op *found,
                       grout_diags *diags) {
    const grout_place place = get_place(asserted, found);
    grout_text text = {0}, where = {0};
    (void)grout_race_describe_fault(asserted->module, found->origin.op, &found->fault, &text);
    grout_describe_origin(asserted->module, asserted->kernel, &found->origin, &where);
    if (text.failed || where.failed || text.data == NULL || where.data == NULL) {
        (void)grout_diags_add_oom(diags);
    } else {
        grout_diags_add(diags, found->fault.code, place, "%s", text.data);
    }
    if (found->origin.op != 0 && where.data != NULL) {
        grout_diags_note(diags, place, "%s%s", where.data,
                         found->count > 1 ? ", for the first time" : "");
    }
    grout_text_free(&text);
    grout_text_free(&where);
}

void grout_asserted_report(const grout_asserted *asserted, grout_diags *diags) {
    for (size_t i = 0; i < asserted->ops.count; i++) {
        report_one(asserted, &asserted->ops.items[i], diags);
    }
}
