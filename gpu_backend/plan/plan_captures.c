/*
 * plan_captures.c - what the partitions of a warp_specialize use of values made outside.
 *
 * Thread 0 alone runs what stands outside. A pure scalar is made again where it is used; what only
 * thread 0 can know (what it loaded, what a loop left) goes through 8 bytes of SMEM.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "planning.h"

#include "alloc.h"

bool grout_gpu__is_made_again(const grout_module *module, const grout_op *op) {
    for (uint32_t k = 0; k < op->operand_count; k++) {
        const grout_operand *operand = grout_module_get_operand(module, op, k);
        if (operand->kind == GROUT_OPERAND_VALUE &&
            grout_module_get_type(module, operand->id)->kind != GROUT_TYPE_SCALAR) {
            return false;
        }
    }
    return grout_gpu__is_pure(op);
}

/* What is being marked: results of ops that stand in body itself. */
typedef struct marking {
    const grout_module *module;
    grout_block_id body;
    bool *is_needed; /* by value */
} marking;

static void mark_value(marking *m, grout_value_id value) {
    const grout_value *v = grout_module_get_value(m->module, value);
    if (v->kind == GROUT_VALUE_RESULT && grout_module_get_op(m->module, v->op)->parent == m->body &&
        grout_module_get_type(m->module, value)->kind != GROUT_TYPE_DESCRIPTOR) { /* a parameter */
        m->is_needed[value] = true;
    }
}

static void mark_operand(marking *m, const grout_operand *operand) {
    grout_view view;
    if (operand->kind != GROUT_OPERAND_VALUE && operand->kind != GROUT_OPERAND_REF) {
        return;
    }
    if (!grout_module_get_view(m->module, operand, &view)) {
        if (operand->kind == GROUT_OPERAND_VALUE) {
            mark_value(m, operand->id);
        }
        return;
    }
    for (uint32_t dim = 0; dim < view.rank; dim++) {
        for (uint32_t k = 0; k < view.start_term_count[dim]; k++) {
            mark_value(m, view.start_terms[dim][k]);
        }
    }
    for (uint32_t k = 0; k < view.cluster_index_count; k++) {
        if (view.cluster_index[k].kind == GROUT_OPERAND_VALUE) {
            mark_value(m, view.cluster_index[k].id);
        }
    }
}

static bool mark_op(void *payload, grout_op_id id, const grout_op *op) {
    marking *m = payload;
    (void)id;
    for (uint32_t k = 0; k < op->operand_count; k++) {
        mark_operand(m, grout_module_get_operand(m->module, op, k));
    }
    return true;
}

/* What values that are made again are made of, from the last op to the first. */
static bool mark_makers(marking *m) {
    const grout_op_id first = grout_module_get_block(m->module, m->body)->first;
    uint32_t count = 0;
    for (grout_op_id at = first; at != 0; at = grout_module_get_op(m->module, at)->next) {
        count++;
    }
    grout_op_id *ops =
        grout__new(grout_module_get_allocator(m->module), (size_t)count + 1, sizeof *ops);
    if (ops == NULL) {
        return false;
    }
    count = 0;
    for (grout_op_id at = first; at != 0; at = grout_module_get_op(m->module, at)->next) {
        ops[count++] = at;
    }
    while (count-- > 0) {
        const grout_op *op = grout_module_get_op(m->module, ops[count]);
        if (op->result_count == 1 && m->is_needed[op->first_result] &&
            grout_gpu__is_made_again(m->module, op)) {
            (void)mark_op(m, ops[count], op);
        }
    }
    grout__free(ops);
    return true;
}

bool grout_gpu__mark_outer_values(const grout_module *module, grout_block_id body,
                                  grout_block_id block, bool *is_needed) {
    marking m = {.module = module, .body = body, .is_needed = is_needed};
    (void)grout_gpu__walk(module, block, mark_op, &m);
    return mark_makers(&m);
}

static bool add_capture(const grout_gpu_planning *planning, grout_value_id value) {
    grout_gpu_plan *plan = planning->plan;
    grout_value_id *captures =
        grout__resize(grout_module_get_allocator(planning->module), plan->captures,
                      (plan->capture_count + 1) * sizeof *plan->captures);
    if (captures == NULL) {
        return false;
    }
    plan->captures = captures;
    plan->captures[plan->capture_count++] = value;
    return true;
}

/* The results of body's ops that are needed and cannot be made again. */
static bool add_captures(grout_gpu_planning *planning, const bool *is_needed) {
    const grout_module *module = planning->module;
    bool is_done = true;
    for (grout_op_id at = grout_module_get_block(module, planning->kernel->body)->first; at != 0;) {
        const grout_op *op = grout_module_get_op(module, at);
        for (uint32_t k = 0; k < op->result_count && is_done; k++) {
            if (is_needed[op->first_result + k] && !grout_gpu__is_made_again(module, op)) {
                is_done = add_capture(planning, op->first_result + k);
            }
        }
        at = op->next;
    }
    return is_done;
}

bool grout_gpu__plan_captures(grout_gpu_planning *planning) {
    const grout_module *module = planning->module;
    const grout_block_id body = planning->kernel->body;
    bool *is_needed =
        grout__new(grout_module_get_allocator(module),
                   (size_t)grout_module_get_value_count(module) + 1, sizeof *is_needed);
    bool is_done = is_needed != NULL;
    for (grout_op_id at = grout_module_get_block(module, body)->first; at != 0 && is_done;) {
        const grout_op *op = grout_module_get_op(module, at);
        const bool has_partitions =
            grout_op_get_region((grout_opcode)op->opcode)->kind == GROUT_REGION_PARTITIONS;
        for (uint32_t k = 1; has_partitions && k < op->block_count; k++) {
            is_done = is_done &&
                      grout_gpu__mark_outer_values(module, body, op->first_block + k, is_needed);
        }
        at = op->next;
    }
    is_done = is_done && add_captures(planning, is_needed);
    grout__free(is_needed);
    return is_done || grout_diags_add_oom(planning->diags);
}
