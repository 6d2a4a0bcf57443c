/*
 * visits.c - how often each actor has executed each op that synchronises, for a deadlock's words.
 * SPDX-License-Identifier: Apache-2.0
 *
 * For an op in a loop it also knows the first turn that went past it: the index at which the loop
 * would have come to it again, and it did not.
 */
#include "visits.h"

#include "alloc.h"
#include "statement.h"

#include <string.h>

/* The constant step of a for; 0: it has none. */
static int64_t get_step(const grout_module *module, grout_op_id loop) {
    const grout_op *op = grout_module_get_op(module, loop);
    const grout_operand *step = NULL;
    if (!grout_op__is_counted_loop(op)) {
        return 1; /* counted in turns */
    }
    step = grout_module_get_operand(module, op, 2);
    if (step->kind == GROUT_OPERAND_NONE) {
        return 1;
    }
    return step->kind == GROUT_OPERAND_EXPR ? grout_module_get_expr_value(module, step->id).integer
                                            : 0;
}

/* The loops around the innermost one stand as they did. */
static bool is_same_round(const grout_origin *a, const grout_origin *b) {
    for (uint32_t i = 0; i + 1 < a->loop_depth && i < GROUT_ORIGIN_LOOPS; i++) {
        if (a->loops[i] != b->loops[i]) {
            return false;
        }
    }
    return true;
}

/* The turn that the innermost loop comes to after one in which it came to the op. */
static bool find_next_turn(const grout_module *module, const grout_origin *last,
                           int32_t *turn_out) {
    grout_op_id loop = grout_op__get_loop(module, last->op);
    int64_t step = loop ? get_step(module, loop) : 0;
    if (step == 0 || last->loop_depth == 0 || last->loop_depth > GROUT_ORIGIN_LOOPS) {
        return false;
    }
    *turn_out = (int32_t)(last->loops[last->loop_depth - 1] + step);
    return true;
}

/* Whether the loop comes to the turn; false if its upper bound is no constant. */
static bool has_turn(const grout_module *module, grout_op_id loop, int32_t turn) {
    const grout_op *op = grout_module_get_op(module, loop);
    const grout_operand *high = NULL;
    if (!grout_op__is_counted_loop(op)) {
        return false;
    }
    high = grout_module_get_operand(module, op, 1);
    return high->kind == GROUT_OPERAND_EXPR &&
           turn < grout_module_get_expr_value(module, high->id).integer;
}

bool grout_visit__find_gap(const grout_module *module, const grout_visit *visit,
                           const grout_origin *now, bool is_behind, int32_t *turn_out) {
    uint32_t depth = visit->last.loop_depth;
    if (visit->has_gap) {
        *turn_out = visit->gap;
        return true;
    }
    if (!visit->last.op || !find_next_turn(module, &visit->last, turn_out)) {
        return false;
    }
    if (now->loop_depth < depth) { /* it has left the loop */
        return is_behind && has_turn(module, grout_op__get_loop(module, visit->last.op), *turn_out);
    }
    return is_same_round(&visit->last, now) &&
           now->loops[depth - 1] >= *turn_out + (is_behind ? 0 : 1);
}

void grout_checker__note_visit(grout_checker *checker, const grout_event *event) {
    const grout_module *module = checker->info.module;
    uint32_t number = checker->sync_ops[event->origin.op];
    grout_cta_state *state = grout_checker__find_cta(checker, event->origin.cta);
    grout_visit *visit = NULL;
    int32_t gap = 0;
    if (!state || number == 0) {
        return;
    }
    visit = grout_checker__find_visit(
        checker, state, grout_checker__get_local(checker, &event->origin), event->origin.op);
    if (visit->count > 0 && visit->step == event->step &&
        memcmp(&visit->last, &event->origin, sizeof visit->last) == 0) {
        return;
    }
    if (!visit->has_gap && grout_visit__find_gap(module, visit, &event->origin, false, &gap)) {
        visit->has_gap = true;
        visit->gap = gap;
    }
    visit->last = event->origin;
    visit->step = event->step;
    visit->count++;
}

grout_visit *grout_checker__find_visit(const grout_checker *checker, const grout_cta_state *state,
                                       uint32_t local_actor, grout_op_id op) {
    uint32_t number = checker->sync_ops[op];
    GROUT_ASSERT(number <= checker->sync_op_count && local_actor < checker->local_actors);
    return number == 0
               ? NULL
               : &state->notes.visits[(size_t)local_actor * checker->sync_op_count + number - 1];
}

bool grout_checker__number_sync_ops(grout_checker *checker) {
    const grout_module *module = checker->info.module;
    uint32_t count = grout_module_get_op_count(module);
    checker->sync_ops = grout__new(checker->allocator, count, sizeof *checker->sync_ops);
    if (!checker->sync_ops) {
        return false;
    }
    for (grout_op_id i = 1; i < count; i++) {
        const grout_op *op = grout_module_get_op(module, i);
        if (grout_op_get_sync((grout_opcode)op->opcode) != NULL &&
            grout_module_get_block(module, op->parent)->kernel == checker->info.kernel) {
            checker->sync_ops[i] = ++checker->sync_op_count;
        }
    }
    return true;
}
