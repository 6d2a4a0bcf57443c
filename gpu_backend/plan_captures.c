/*
 * plan_captures.c - what the partitions of a warp_specialize use of values made outside.
 *
 * Thread 0 alone runs what stands outside. A pure scalar is made again where it is used; what only
 * thread 0 can know (what it loaded, what a loop left) goes through 8 bytes of SMEM.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "planning.h"

#include <stdlib.h>

/* An op whose result other threads can make for themselves, out of scalars. */
static bool is_pure(const grout_module *module, const grout_op *op) {
    for (uint32_t k = 0; k < op->operand_count; k++) {
        const grout_operand *operand = grout_module_get_operand(module, op, k);
        if (operand->kind == GROUT_OPERAND_VALUE &&
            grout_module_get_type(module, operand->id)->kind != GROUT_TYPE_SCALAR) {
            return false;
        }
    }
    return grout_op_get_info((grout_opcode)op->opcode)->effect_row == GROUT_EFFECT_ROW_PURE;
}

static bool is_outer(const grout_module *module, grout_block_id body, grout_value_id value) {
    const grout_value *v = grout_module_get_value(module, value);
    return v->kind == GROUT_VALUE_RESULT && grout_module_get_op(module, v->op)->parent == body &&
           grout_module_get_op(module, v->op)->opcode != GROUT_OP_TENSOR_DESCRIPTOR;
}

static void visit_operand(const grout_module *module, const grout_operand *operand,
                          grout_gpu_visit_value *visit, void *payload) {
    grout_view view;
    if (operand->kind != GROUT_OPERAND_VALUE && operand->kind != GROUT_OPERAND_REF) {
        return;
    }
    if (!grout_module_get_view(module, operand, &view)) {
        visit(payload, operand->id);
        return;
    }
    for (uint32_t dim = 0; dim < view.rank; dim++) {
        for (uint32_t k = 0; k < view.start_term_count[dim]; k++) {
            visit(payload, view.start_terms[dim][k]);
        }
    }
    for (uint32_t k = 0; k < view.cluster_index_count; k++) {
        if (view.cluster_index[k].kind == GROUT_OPERAND_VALUE) {
            visit(payload, view.cluster_index[k].id);
        }
    }
}

typedef struct outer_walk {
    const grout_module *module;
    grout_block_id body;
    grout_gpu_visit_value *visit;
    void *payload;
} outer_walk;

static void visit_if_outer(void *payload, grout_value_id value) {
    const outer_walk *walk = payload;
    if (is_outer(walk->module, walk->body, value)) {
        walk->visit(walk->payload, value);
    }
}

static bool visit_op(void *payload, grout_op_id id, const grout_op *op) {
    outer_walk *walk = payload;
    (void)id;
    for (uint32_t k = 0; k < op->operand_count; k++) {
        visit_operand(walk->module, grout_module_get_operand(walk->module, op, k), visit_if_outer,
                      walk);
    }
    return true;
}

void grout_gpu__visit_outer_values(const grout_module *module, grout_block_id body,
                                   grout_block_id block, grout_gpu_visit_value *visit,
                                   void *payload) {
    outer_walk walk = {module, body, visit, payload};
    (void)grout_gpu__walk(module, block, visit_op, &walk);
}

void grout_gpu__visit_outer_operands(const grout_module *module, grout_block_id body,
                                     const grout_op *op, grout_gpu_visit_value *visit,
                                     void *payload) {
    outer_walk walk = {module, body, visit, payload};
    (void)visit_op(&walk, 0, op);
}

uint32_t grout_gpu__plan_find_capture(const grout_gpu_plan *plan, grout_value_id value) {
    for (uint32_t k = 0; k < plan->capture_count; k++) {
        if (plan->captures[k] == value) {
            return k;
        }
    }
    return UINT32_MAX;
}

typedef struct capture_walk {
    grout_gpu_planning *planning;
    bool is_done;
    uint32_t depth;
} capture_walk;

static void add_capture(capture_walk *walk, grout_value_id value) {
    grout_gpu_plan *plan = walk->planning->plan;
    if (grout_gpu__plan_find_capture(plan, value) != UINT32_MAX) {
        return;
    }
    grout_value_id *captures =
        realloc(plan->captures, (plan->capture_count + 1) * sizeof *plan->captures);
    if (captures == NULL) {
        walk->is_done = walk->is_done && grout_diags_add_oom(walk->planning->diags);
        return;
    }
    plan->captures = captures;
    plan->captures[plan->capture_count++] = value;
}

/* A pure value stands for what it is made of. */
static void visit_value(void *payload, grout_value_id value) {
    capture_walk *walk = payload;
    const grout_module *module = walk->planning->module;
    const grout_op *op = grout_module_get_op(module, grout_module_get_value(module, value)->op);
    if (is_pure(module, op)) {
        grout_gpu__visit_outer_operands(module, walk->planning->kernel->body, op, visit_value,
                                        walk);
    } else {
        add_capture(walk, value);
    }
}

bool grout_gpu__plan_captures(grout_gpu_planning *planning) {
    capture_walk walk = {.planning = planning, .is_done = true};
    const grout_module *module = planning->module;
    const grout_block_id body = planning->kernel->body;
    for (grout_op_id at = grout_module_get_block(module, body)->first; at != 0;) {
        const grout_op *op = grout_module_get_op(module, at);
        for (uint32_t k = 1; op->opcode == GROUT_OP_WARP_SPECIALIZE && k < op->block_count; k++) {
            grout_gpu__visit_outer_values(module, body, op->first_block + k, visit_value, &walk);
        }
        at = op->next;
    }
    return walk.is_done;
}
