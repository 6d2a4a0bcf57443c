/*
 * scope.c - the objects of a scope, from their beginning to their end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "barrier.h"
#include "bits.h"
#include "component.h"
#include "convert.h"
#include "memory.h"
#include "pages.h"
#include "tma.h"

#include <string.h>

static const grout_object_id *get_objects(const grout_machine *machine,
                                          const grout_scope_plan *scope) {
    return grout_pool__at(&machine->plan->objects, scope->first_object);
}

/* The bytes of a scope's arrays are as if nobody had written them. */
static void clear_objects(grout_machine *machine, const grout_scope_plan *scope) {
    const grout_module *module = machine->launch.module;
    for (uint32_t i = 0; i < scope->object_count; i++) {
        grout_object_id id = get_objects(machine, scope)[i];
        const grout_object *object = grout_module_get_object(module, id);
        if (object->kind != GROUT_OBJECT_ARRAY || object->space != GROUT_SPACE_SMEM) {
            continue;
        }
        const grout_layout *layout = grout_object_get_layout(module, id);
        int64_t offset = grout_object_get_smem_offset(module, id);
        grout_smem__touch(machine->page_versions, offset, layout->bytes);
        grout_fill_poison(grout_object_get_type(module, id)->dtype,
                          grout_machine__smem(machine) + offset,
                          layout->bytes / layout->element_bytes);
        if (machine->tracks) {
            grout_bits__clear(grout_machine__defined(machine), offset, layout->bytes);
        }
    }
}

/* What all actors of the CTA know now. */
static const uint32_t *join_clocks(grout_machine *machine) {
    const grout_plan *plan = machine->plan;
    uint32_t size = plan->order.size;
    memcpy(machine->clock_scratch, grout_machine__clocks(machine, 0), size * sizeof(uint32_t));
    for (uint32_t i = 1; i < plan->actor_count; i++) {
        grout_order__join(machine->clock_scratch, grout_machine__clocks(machine, i), size);
    }
    return machine->clock_scratch;
}

static void publish_scope(grout_machine *machine, grout_event *event, const grout_scope_plan *scope,
                          const uint32_t *last) {
    event->u.scope.objects = get_objects(machine, scope);
    event->u.scope.object_count = scope->object_count;
    event->u.scope.last = last;
    event->u.scope.is_inner = scope->op != 0;
    grout_machine__publish_cta(machine, event);
}

void grout_machine__begin_scope(grout_machine *machine, const grout_scope_plan *scope,
                                const grout_inst *inst) {
    for (uint32_t i = 0; scope->op != 0 && i < scope->element_count; i++) {
        grout_barrier__reset(machine, scope->first_element + i);
    }
    clear_objects(machine, scope);
    if (inst != NULL && grout_machine__wants(machine, GROUT_EVENT_SCOPE_BEGIN)) {
        grout_event event;
        memset(&event, 0, sizeof event);
        event.kind = GROUT_EVENT_SCOPE_BEGIN;
        event.origin.op = inst->op;
        publish_scope(machine, &event, scope, join_clocks(machine));
    }
}

static void end_barriers(grout_machine *machine, const grout_scope_plan *scope,
                         const uint32_t *last, const grout_origin *origin) {
    if (!grout_machine__wants(machine, GROUT_EVENT_BARRIER_END)) {
        return;
    }
    for (uint32_t i = 0; i < scope->element_count; i++) {
        grout_barrier_fact fact = grout_barrier__get_fact(machine, scope->first_element + i);
        grout_event event;
        memset(&event, 0, sizeof event);
        event.kind = GROUT_EVENT_BARRIER_END;
        event.origin = *origin;
        event.u.barrier_end.barrier = &fact;
        event.u.barrier_end.last = last;
        event.u.barrier_end.is_inner = scope->op != 0;
        grout_machine__publish_cta(machine, &event);
    }
}

void grout_machine__end_scope(grout_machine *machine, const grout_scope_plan *scope,
                              const uint32_t *last, uint32_t thread, const grout_inst *inst) {
    grout_origin origin = grout_machine__origin(machine, thread, inst);
    grout_tma__finish_scope(machine, scope, thread);
    grout_components__end_scope(machine, get_objects(machine, scope), scope->object_count);
    end_barriers(machine, scope, last, &origin);
    if (grout_machine__wants(machine, GROUT_EVENT_SCOPE_END)) {
        grout_clocks clocks;
        grout_event event =
            grout_machine__event(machine, GROUT_EVENT_SCOPE_END, thread, inst, &clocks);
        publish_scope(machine, &event, scope, last);
    }
    clear_objects(machine, scope);
}

void grout_machine__end_objects(grout_machine *machine) {
    const grout_scope_plan *scope = grout_plan__scope(machine->plan, 1);
    grout_origin origin = {.cta = grout_machine__cta(machine)->index};
    const uint32_t *last = join_clocks(machine);
    end_barriers(machine, scope, last, &origin);
    if (grout_machine__wants(machine, GROUT_EVENT_CTA_END)) {
        grout_event event;
        memset(&event, 0, sizeof event);
        event.kind = GROUT_EVENT_CTA_END;
        publish_scope(machine, &event, scope, last);
    }
}
