/*
 * scope.c - the objects of a scope, from their beginning to their end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scope.h"
#include "barrier.h"
#include "bits.h"
#include "component.h"
#include "convert.h"
#include "engine.h"
#include "memory.h"
#include "pages.h"

#include <string.h>

static const grout_object_id *get_objects(const grout_machine *machine,
                                          const grout_scope_plan *scope) {
    return grout_pool__at(&machine->plan->objects, scope->first_object);
}

/* The bytes of a scope's arrays become unwritten. */
static void clear_objects(const grout_cta *cta, const grout_scope_plan *scope) {
    grout_machine *machine = cta->machine;
    const grout_module *module = machine->launch.module;
    for (uint32_t i = 0; i < scope->object_count; i++) {
        grout_object_id id = get_objects(machine, scope)[i];
        const grout_object *object = grout_module_get_object(module, id);
        if (object->kind != GROUT_OBJECT_ARRAY || !grout_space_is_of_cta(object->space)) {
            continue;
        }
        const grout_layout *layout = grout_object_get_layout(module, id);
        int64_t offset = grout_plan__get_memory_offset(machine->plan, id);
        grout_smem__touch(cta->page_versions, offset, layout->bytes);
        grout_fill_poison(grout_object_get_type(module, id)->dtype, grout_cta__memory(cta) + offset,
                          layout->bytes / layout->element_bytes);
        if (machine->tracks) {
            grout_bits__clear(grout_cta__defined(cta), offset, layout->bytes);
        }
    }
}

/* What all actors of the CTA know now. */
static const uint32_t *join_clocks(const grout_cta *cta) {
    grout_machine *machine = cta->machine;
    const grout_plan *plan = machine->plan;
    uint32_t size = plan->order.size;
    memcpy(machine->clock_scratch, grout_cta__clocks(cta, 0), size * sizeof(uint32_t));
    for (uint32_t i = 1; i < plan->actor_count; i++) {
        grout_order__join(machine->clock_scratch, grout_cta__clocks(cta, i), size);
    }
    return machine->clock_scratch;
}

static void publish_scope(const grout_cta *cta, grout_event *event, const grout_scope_plan *scope,
                          const uint32_t *last) {
    event->u.scope.objects = get_objects(cta->machine, scope);
    event->u.scope.object_count = scope->object_count;
    event->u.scope.last = last;
    event->u.scope.is_inner = scope->op != 0;
    grout_cta__publish_cta(cta, event);
}

/* A cluster barrier begins and ends with its CTA, whatever scope makes it: peers arrive on it
 * without knowing how far this CTA is. */
static bool lives_with_cta(const grout_plan *plan, uint32_t element) {
    return plan->elements[element].group_count != 0;
}

void grout_cta__begin_scope(const grout_cta *cta, const grout_scope_plan *scope,
                            const grout_inst *inst) {
    for (uint32_t i = 0; scope->op != 0 && i < scope->element_count; i++) {
        if (!lives_with_cta(cta->machine->plan, scope->first_element + i)) {
            grout_barrier__reset(cta, scope->first_element + i);
        }
    }
    clear_objects(cta, scope);
    if (inst != NULL && grout_machine__wants(cta->machine, GROUT_EVENT_SCOPE_BEGIN)) {
        grout_event event;
        memset(&event, 0, sizeof event);
        event.kind = GROUT_EVENT_SCOPE_BEGIN;
        event.origin.op = inst->op;
        publish_scope(cta, &event, scope, join_clocks(cta));
    }
}

/* Those of the scope; with the CTA, all cluster barriers. */
static void end_barriers(const grout_cta *cta, const grout_scope_plan *scope, const uint32_t *last,
                         const grout_origin *origin) {
    if (!grout_machine__wants(cta->machine, GROUT_EVENT_BARRIER_END)) {
        return;
    }
    const grout_plan *plan = cta->machine->plan;
    const bool is_inner = scope->op != 0;
    const uint32_t own_end = scope->first_element + scope->element_count;
    const uint32_t end = is_inner ? own_end : plan->element_count;
    for (uint32_t i = is_inner ? scope->first_element : 0; i < end; i++) {
        const bool is_own = i >= scope->first_element && i < own_end;
        if (lives_with_cta(plan, i) ? is_inner : !is_own) {
            continue;
        }
        grout_barrier_fact fact = grout_barrier__get_fact(cta, i);
        grout_event event;
        memset(&event, 0, sizeof event);
        event.kind = GROUT_EVENT_BARRIER_END;
        event.origin = *origin;
        event.u.barrier_end.barrier = &fact;
        event.u.barrier_end.last = last;
        event.u.barrier_end.is_inner = scope->op != 0;
        grout_cta__publish_cta(cta, &event);
    }
}

void grout_cta__end_scope(const grout_cta *cta, const grout_scope_plan *scope, const uint32_t *last,
                          uint32_t thread, const grout_inst *inst) {
    grout_machine *machine = cta->machine;
    grout_origin origin = grout_cta__origin(cta, thread, inst);
    grout_flight__finish_scope(cta, scope, thread);
    grout_components__end_scope(cta, get_objects(machine, scope), scope->object_count);
    end_barriers(cta, scope, last, &origin);
    if (grout_machine__wants(machine, GROUT_EVENT_SCOPE_END)) {
        grout_clocks clocks;
        grout_event event = grout_cta__event(cta, GROUT_EVENT_SCOPE_END, thread, inst, &clocks);
        publish_scope(cta, &event, scope, last);
    }
    clear_objects(cta, scope);
}

void grout_cta__end_objects(const grout_cta *cta) {
    grout_machine *machine = cta->machine;
    const grout_scope_plan *scope = grout_plan__scope(machine->plan, 1);
    grout_origin origin = {.cta = grout_cta__head(cta)->index};
    const uint32_t *last = join_clocks(cta);
    end_barriers(cta, scope, last, &origin);
    if (grout_machine__wants(machine, GROUT_EVENT_CTA_END)) {
        grout_event event;
        memset(&event, 0, sizeof event);
        event.kind = GROUT_EVENT_CTA_END;
        publish_scope(cta, &event, scope, last);
    }
}
