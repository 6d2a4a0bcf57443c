/*
 * scope_flights.c - the flights that use what ends with a scope.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine.h"
#include "flying.h"
#include "pair.h"

#include <stdlib.h>

/* Whether the scope makes the bytes of an object. */
static bool makes(const grout_module *module, const grout_scope_plan *scope,
                  grout_object_id object) {
    const grout_op *op = grout_module_get_op(module, scope->op);
    const grout_block *body = grout_module_get_block(module, op->first_block);
    const grout_object *root =
        grout_module_get_object(module, grout_object_get_root(module, object));
    return root->value >= body->first_arg && root->value - body->first_arg < body->arg_count;
}

/* Each thread has an accumulator of its own: where threads enter a scope one by one, the others'
 * live on. */
static bool is_touched(const grout_machine *machine, const grout_scope_plan *scope,
                       const grout_flight *flight, uint32_t thread) {
    const grout_inst *inst = grout_flight__inst(machine, flight);
    for (uint32_t k = 0; k < inst->box_count; k++) {
        const grout_box_plan *box = grout_plan__box(machine->plan, inst, k);
        if (makes(machine->launch.module, scope, box->object) &&
            (!grout_space_is_of_thread(box->space) || scope->is_collective ||
             flight->actor == thread)) {
            return true;
        }
    }
    return false;
}

static void finish_by_walk(const grout_cta *cta, const grout_scope_plan *scope, uint32_t thread) {
    grout_machine *machine = cta->machine;
    grout_flight__begin_walk(cta);
    for (uint32_t i = grout_flight__walk(machine); i != 0; i = grout_flight__walk(machine)) {
        if (is_touched(machine, scope, grout_flight__get(machine, i), thread)) {
            grout_flight__finish(cta, i);
        }
    }
}

/* ---- many in flight ----------------------------------------------------------------------------
 */

/* Instructions and actors: those of one flight are one group. */
enum { DIM_INST, DIM_ACTOR };

static grout_area get_area(uint32_t first_inst, uint32_t end_inst, uint32_t first_actor,
                           uint32_t end_actor) {
    grout_area area = {.object = 1};
    for (uint32_t i = 0; i < GROUT_AREA_DIMS; i++) {
        area.dims[i].high = 1;
    }
    area.dims[DIM_INST] = (grout_area_side){first_inst, end_inst};
    area.dims[DIM_ACTOR] = (grout_area_side){first_actor, end_actor};
    return area;
}

/* The flights of the CTA by instruction and actor; NULL: they are few, or there is no memory. */
static const grout_areas *get_areas(const grout_cta *cta) {
    grout_machine *machine = cta->machine;
    grout_flying *flying = grout_flying__find(cta);
    if (flying == NULL) {
        return NULL;
    }
    grout_flying_index *ops = &flying->ops;
    for (uint32_t i = grout_flying__get_first_new(cta, ops); i != 0;
         i = grout_flight__get(machine, i)->next) {
        const grout_flight *flight = grout_flight__get(machine, i);
        const grout_area area =
            get_area(flight->pc, flight->pc + 1, flight->actor, flight->actor + 1);
        const uint64_t order =
            ops->last == 0 ? 1 : grout_areas__get_order(&ops->areas, ops->last) + 1;
        if (!grout_areas__add(&ops->areas, &machine->heap, i, &area, order)) {
            grout_flying__turn_off(flying);
            return NULL;
        }
        ops->last = i;
    }
    return &ops->areas;
}

/* A flight that the scope's end finishes. */
typedef struct leaving {
    uint64_t order; /* in the list of the CTA */
    uint32_t flight, reserved;
} leaving;

static int compare_orders(const void *a, const void *b) {
    const uint64_t first = ((const leaving *)a)->order, second = ((const leaving *)b)->order;
    return (first > second) - (first < second);
}

static bool add_group(grout_machine *machine, const grout_areas *areas, uint32_t group) {
    grout_pool *found = &machine->scratch[GROUT_SCRATCH_LEAVING];
    for (uint32_t member = grout_areas__get_newest(areas, group); member != 0;
         member = grout_areas__get_older(areas, member)) {
        if (!grout_pool__reserve(found, &machine->heap, found->count + 1)) {
            return false;
        }
        *(leaving *)grout_pool__at(found, found->count++) =
            (leaving){.order = grout_areas__get_order(areas, member), .flight = member};
    }
    return true;
}

/* Those that a walk finds, in the scratch list, as they come in the list of the CTA. False: no
 * memory. */
static bool find_touched(const grout_cta *cta, const grout_areas *areas,
                         const grout_scope_plan *scope, uint32_t thread) {
    grout_machine *machine = cta->machine;
    grout_pool *found = &machine->scratch[GROUT_SCRATCH_LEAVING];
    const grout_area area =
        get_area(scope->begin, scope->leave + 1, 0, grout_machine__actor_count(machine));
    found->item_size = sizeof(leaving);
    found->count = 0;
    for (uint32_t group = grout_areas__next(areas, &area, 0, 0); group != 0;
         group = grout_areas__next(areas, &area, 0, group)) {
        const uint32_t newest = grout_areas__get_newest(areas, group);
        if (is_touched(machine, scope, grout_flight__get(machine, newest), thread) &&
            !add_group(machine, areas, group)) {
            return false;
        }
    }
    if (found->count > 1) {
        qsort(grout_pool__at(found, 0), found->count, sizeof(leaving), compare_orders);
    }
    return true;
}

/* Whether the list is of as many as a walk finds. */
static inline bool has_all(const grout_cta *cta, const grout_scope_plan *scope, uint32_t thread) {
    const grout_machine *machine = cta->machine;
    uint32_t count = 0;
    for (uint32_t i = grout_cta__head(cta)->first_flight; i != 0;) {
        const grout_flight *flight = grout_flight__get(machine, i);
        count += is_touched(machine, scope, flight, thread);
        i = flight->next;
    }
    return count == machine->scratch[GROUT_SCRATCH_LEAVING].count;
}

/* False: there is no memory; what is left is found by a walk. */
static bool finish_found(const grout_cta *cta, const grout_flying *flying) {
    const grout_machine *machine = cta->machine;
    const grout_pool *found = &machine->scratch[GROUT_SCRATCH_LEAVING];
    for (uint32_t i = 0; i < found->count && !flying->is_off; i++) {
        const uint32_t index = ((const leaving *)grout_pool__at(found, i))->flight;
        if (grout_areas__has(&flying->ops.areas,
                             index)) { /* none of those before has finished it */
            grout_flight__finish(cta, index);
        }
    }
    return !flying->is_off;
}

void grout_flight__finish_scope(const grout_cta *cta, const grout_scope_plan *scope,
                                uint32_t thread) {
    grout_machine *machine = cta->machine;
    if (machine->plan->has_pairs && !grout_cta__leads_pair(cta)) { /* its MMAs use what ends here */
        grout_flight__finish_scope(grout_cta__peer(cta, grout_pair_leader(cta->rank)), scope,
                                   thread);
    }
    const grout_areas *areas = get_areas(cta);
    if (areas == NULL || !find_touched(cta, areas, scope, thread)) {
        finish_by_walk(cta, scope, thread);
        return;
    }
    GROUT_ASSERT_SLOW(has_all(cta, scope, thread));
    if (!finish_found(cta, &machine->flying[cta - machine->ctas])) {
        finish_by_walk(cta, scope, thread);
    }
}
