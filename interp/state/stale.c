/*
 * stale.c - GMEM as an actor may see it that has not waited for the launches before its own.
 *
 * Those launches have been run; until griddepcontrol_wait their writes need not be visible. Such a
 * reader finds the older contents, but for bytes that its own launch has changed. It can change one
 * of theirs and leave the byte as it was, and is then shown the older one: that write is a race.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "memory.h"

#include <string.h>

static const grout_stale_array *find(const grout_machine *machine, const grout_box_plan *plan) {
    bool may_be = machine->launch.stale != NULL && machine->is_lazy &&
                  grout_space_is_of_launch(plan->space) &&
                  plan->object_kind == GROUT_OBJECT_ARRAY &&
                  plan->param < machine->launch.argument_count;
    return may_be && machine->launch.stale[plan->param].before != NULL
               ? &machine->launch.stale[plan->param]
               : NULL;
}

bool grout_stale__is_shown(const grout_cta *cta, uint32_t thread, const grout_box *box) {
    const grout_clock_shape *shape = &cta->machine->plan->shape;
    bool is_read = box->plan->is_read && !box->plan->is_written && !box->is_empty;
    return is_read && find(cta->machine, box->plan) != NULL &&
           (shape->grid_count == 0 || grout_cta__clocks(cta, thread)[grout_clock_grid(shape)] == 0);
}

static void refresh(const grout_stale_array *stale, const uint8_t *data, const grout_run *run,
                    uint8_t *seen) {
    const uint8_t *before = stale->before, *now = stale->now;
    for (int64_t piece = 0; piece < run->count; piece++) {
        int64_t at = run->base + piece * run->stride;
        for (int64_t i = at; i < at + run->length; i++) {
            seen[i] = data[i] == now[i] ? before[i] : data[i];
        }
    }
}

void grout_stale__show(grout_machine *machine, grout_box *box) {
    grout_gmem_array *array = &machine->arrays[box->plan->param];
    uint32_t count = 0;
    const grout_run *runs = grout_box__get_runs(machine, box, &count);
    for (uint32_t i = 0; runs != NULL && i < count; i++) {
        refresh(find(machine, box->plan), array->data, &runs[i], array->seen);
    }
    machine->run.has_failed |= runs == NULL;
    box->bytes = array->seen;
}

bool grout_stale__add(grout_machine *machine) {
    bool ok = true;
    for (uint32_t i = 0; machine->launch.stale != NULL && i < machine->launch.argument_count; i++) {
        grout_gmem_array *array = &machine->arrays[i];
        if (machine->launch.stale[i].before != NULL && array->data != NULL) {
            array->seen = grout_machine__keep(machine, (size_t)array->size);
            ok = ok && array->seen != NULL;
        }
    }
    return ok;
}
