/*
 * plan_semaphore.c - the numbers of a kernel's semaphores.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "planner.h"

/* Notes the objects at whose units a wait of the block, or of one inside, looks without taking
 * them.
 */
static void watch_block(grout_planner *planner, grout_block_id block) {
    const grout_module *module = planner->module;
    grout_op_id id = grout_module_get_block(module, block)->first;
    for (; id != 0 && grout_planner__goes_on(planner); id = grout_module_get_op(module, id)->next) {
        const grout_op *op = grout_module_get_op(module, id);
        grout_view view;
        if (grout_module_find_attr(module, op, GROUT_ATTR_NO_DECREMENT) != NULL &&
            grout_module_get_view(module, grout_module_get_operand(module, op, 0), &view)) {
            planner->object_is_watched[view.object] = true;
        }
        for (uint32_t i = 0; i < op->block_count; i++) {
            watch_block(planner, op->first_block + i);
        }
    }
}

void grout_planner__find_watched(grout_planner *planner) {
    watch_block(planner, planner->body);
}

void grout_planner__add_semaphore(grout_planner *planner, grout_object_id id) {
    grout_pool *pool = &planner->plan->semaphores;
    const grout_object *object = grout_module_get_object(planner->module, id);
    if (object->kind != GROUT_OBJECT_SEMAPHORE) {
        return;
    }
    int64_t count = grout_type_get_count(grout_object_get_type(planner->module, id));
    const bool keeps_all = planner->object_is_watched[id];
    planner->object_elements[id] = grout_plan__get_semaphore_count(planner->plan);
    for (uint32_t i = 0; i < count && grout_planner__goes_on(planner); i++) {
        uint32_t index = grout_pool__take(pool, planner->plan->heap);
        if (index == 0) {
            planner->failed = true;
            return;
        }
        *(grout_semaphore_plan *)grout_pool__at(pool, index) = (grout_semaphore_plan){
            .object = id, .index = i, .is_global = object->is_global, .keeps_all = keeps_all};
    }
}
