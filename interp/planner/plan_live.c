/*
 * plan_live.c - when each value is born and when it dies. Positions count the begins and the ends
 * of ops, in the order of the text. A value that is born before a loop and used inside it lives to
 * the loop's end. A loop's carries live as long as the loop and the results that take their place.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "planner.h"

/* A loop around the op that is looked at. */
typedef struct enclosing_loop {
    const struct enclosing_loop *outer;
    grout_op_id op;
} enclosing_loop;

static void number_block(grout_planner *planner, grout_block_id block) {
    const grout_module *module = planner->module;
    grout_op_id id = grout_module_get_block(module, block)->first;
    for (; id != 0 && grout_planner__goes_on(planner); id = grout_module_get_op(module, id)->next) {
        const grout_op *op = grout_module_get_op(module, id);
        planner->op_begin[id] = ++planner->position;
        planner->op_at[planner->position] = id;
        for (uint32_t i = 0; i < op->result_count; i++) {
            planner->defined[op->first_result + i] = planner->position;
        }
        for (uint32_t i = 0; i < op->block_count; i++) {
            const grout_block *inner = grout_module_get_block(module, op->first_block + i);
            for (uint32_t k = 0; k < inner->arg_count; k++) {
                planner->defined[inner->first_arg + k] = planner->op_begin[id];
            }
            number_block(planner, op->first_block + i);
        }
        planner->op_end[id] = op->block_count > 0 ? ++planner->position : planner->position;
        planner->op_at[planner->position] = id;
    }
}

static void raise_last_use(grout_planner *planner, grout_value_id value, uint32_t position) {
    if (planner->last_use[value] < position) {
        planner->last_use[value] = position;
    }
}

static void use_value(grout_planner *planner, grout_value_id value, uint32_t position,
                      const enclosing_loop *loop) {
    for (; loop != NULL; loop = loop->outer) {
        if (planner->defined[value] < planner->op_begin[loop->op]) {
            position = planner->op_end[loop->op];
        }
    }
    raise_last_use(planner, value, position);
}

static void use_operand(grout_planner *planner, const grout_operand *operand, uint32_t position,
                        const enclosing_loop *loop) {
    grout_view view;
    if (grout_module_get_view(planner->module, operand, &view)) {
        for (uint32_t dim = 0; dim < view.rank; dim++) {
            for (uint32_t i = 0; i < view.start_term_count[dim]; i++) {
                use_value(planner, view.start_terms[dim][i], position, loop);
            }
        }
        for (uint32_t i = 0; i < view.cluster_index_count; i++) {
            if (view.cluster_index[i].kind == GROUT_OPERAND_VALUE) {
                use_value(planner, view.cluster_index[i].id, position, loop);
            }
        }
        const grout_op *maker = grout_view_find_made_descriptor(planner->module, &view);
        for (uint32_t i = 0; maker != NULL && i < maker->operand_count; i++) {
            use_operand(planner, grout_module_get_operand(planner->module, maker, i), position,
                        loop);
        }
    } else if (operand->kind == GROUT_OPERAND_VALUE) {
        use_value(planner, operand->id, position, loop);
    }
}

static bool is_loop(const grout_op *op) {
    return grout_op_get_region_kind(op) == GROUT_REGION_LOOP;
}

/* Carries live to the end of the loop and are its results too, which have no place of their own.
 * The carries of a for come after its index. */
static void join_carries(grout_planner *planner, grout_op_id id) {
    const grout_op *op = grout_module_get_op(planner->module, id);
    const grout_block *body = grout_module_get_block(planner->module, op->first_block);
    uint32_t first = grout_op_get_region((grout_opcode)op->opcode)->lead_args;
    for (uint32_t i = 0; i < body->arg_count; i++) {
        raise_last_use(planner, body->first_arg + i, planner->op_end[id]);
        if (i >= first && i - first < op->result_count) {
            grout_value_id result = op->first_result + i - first;
            raise_last_use(planner, body->first_arg + i, planner->last_use[result]);
            planner->last_use[result] = 0;
        }
    }
}

/*
 * Uses inside the block. Uses come after definitions in the text, so a loop's results are used only
 * after the loop: the walk back over the ops joins carries when all uses are known.
 */
static void use_block(grout_planner *planner, grout_block_id block, const enclosing_loop *loop) {
    const grout_module *module = planner->module;
    grout_op_id id = grout_module_get_block(module, block)->first;
    for (; id != 0 && grout_planner__goes_on(planner); id = grout_module_get_op(module, id)->next) {
        const grout_op *op = grout_module_get_op(module, id);
        uint32_t at_least = op->block_count > 0 ? planner->op_end[id] : planner->op_begin[id];
        /* Its result may take an operand's place, unless somebody looks at both. */
        const uint32_t last = planner->op_begin[id] + (planner->launch->track_non_finite ? 1 : 0);
        for (uint32_t i = 0; i < op->operand_count; i++) {
            use_operand(planner, grout_module_get_operand(module, op, i), last, loop);
        }
        for (uint32_t i = 0; i < op->result_count; i++) {
            raise_last_use(planner, op->first_result + i, at_least);
        }
        enclosing_loop inner = {loop, id};
        for (uint32_t i = 0; i < op->block_count; i++) {
            use_block(planner, op->first_block + i, is_loop(op) ? &inner : loop);
        }
    }
}

static void join_block(grout_planner *planner, grout_block_id block) {
    const grout_module *module = planner->module;
    grout_op_id id = grout_module_get_block(module, block)->first;
    for (; id != 0 && grout_planner__goes_on(planner); id = grout_module_get_op(module, id)->next) {
        const grout_op *op = grout_module_get_op(module, id);
        if (is_loop(op)) {
            join_carries(planner, id);
        }
        for (uint32_t i = 0; i < op->block_count; i++) {
            join_block(planner, op->first_block + i);
        }
    }
}

bool grout_planner__find_lives(grout_planner *planner) {
    uint32_t value_count = grout_module_get_value_count(planner->module);
    number_block(planner, planner->body);
    use_block(planner, planner->body, NULL);
    join_block(planner, planner->body);
    if (planner->failed) {
        return false;
    }
    planner->position_count = planner->position + 2;
    planner->expire_first =
        grout_heap__take(planner->plan->heap, planner->position_count * sizeof(uint32_t));
    if (planner->expire_first == NULL) {
        return false;
    }
    for (uint32_t value = 1; value < value_count; value++) {
        uint32_t position = planner->last_use[value];
        if (position != 0) {
            planner->expire_next[value] = planner->expire_first[position];
            planner->expire_first[position] = value;
        }
    }
    return true;
}
