/*
 * observers.c - what the observers of a launch are asked beside events: begin, end, copy, hash.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "hash.h"
#include "run.h"

/* Whether a cluster that others may wait for begins only when another has ended. */
static bool has_late_clusters(const grout_machine *machine) {
    const grout_plan *plan = machine->plan;
    return plan->has_foreign_order && machine->slot_count < plan->cta_count / plan->shape.cta_count;
}

bool grout_observers__begin(grout_machine *machine) {
    const grout_launch_info info = {.module = machine->launch.module,
                                    .kernel = machine->launch.kernel,
                                    .shape = machine->plan->shape,
                                    .cta_count = machine->plan->cta_count,
                                    .has_foreign_order = machine->plan->has_foreign_order,
                                    .has_late_clusters = has_late_clusters(machine),
                                    .tracks_non_finite = machine->launch.track_non_finite,
                                    .has_foreign_loop = machine->plan->has_foreign_loop,
                                    .memory = {machine, grout_machine__read},
                                    .earlier = machine->launch.earlier,
                                    .earlier_count = machine->launch.earlier_count,
                                    .pasts = machine->launch.pasts,
                                    .element_objects = machine->plan->element_objects,
                                    .element_indices = machine->plan->element_indices};
    for (uint32_t i = 0; i < machine->launch.observer_count; i++) {
        const grout_observer *observer = machine->launch.observers[i];
        machine->interest |= observer->interest;
        if (observer->begin != NULL && !observer->begin(observer->self, &info)) {
            return false;
        }
    }
    return true;
}

bool grout_observers__end(const grout_machine *machine) {
    bool is_kept = true;
    for (uint32_t i = 0; i < machine->launch.observer_count; i++) {
        const grout_observer *observer = machine->launch.observers[i];
        is_kept &= observer->end == NULL || observer->end(observer->self);
    }
    return is_kept;
}

uint64_t grout_observers__hash(const grout_machine *machine, uint64_t hash) {
    for (uint32_t i = 0; i < machine->launch.observer_count; i++) {
        const grout_observer *observer = machine->launch.observers[i];
        if (observer->hash != NULL) {
            hash = grout_hash__word(hash, observer->hash(observer->self));
        }
    }
    return hash;
}

bool grout_observed__save(grout_observed *observed, const grout_machine *machine) {
    for (uint32_t i = 0; i < machine->launch.observer_count; i++) {
        const grout_observer *observer = machine->launch.observers[i];
        observed->observers[i] = observer;
        observed->count = i + 1;
        if (observer->snapshot != NULL) {
            observed->states[i] = observer->snapshot(observer->self);
            if (observed->states[i] == NULL) {
                return false;
            }
        }
    }
    return true;
}

bool grout_observed__restore(const grout_observed *observed) {
    for (uint32_t i = 0; i < observed->count; i++) {
        const grout_observer *observer = observed->observers[i];
        if (observed->states[i] != NULL &&
            !observer->restore(observer->self, observed->states[i])) {
            return false;
        }
    }
    return true;
}

void grout_observed__free(grout_observed *observed) {
    for (uint32_t i = 0; i < observed->count; i++) {
        const grout_observer *observer = observed->observers[i];
        if (observed->states[i] != NULL && observer->snapshot_free != NULL) {
            observer->snapshot_free(observer->self, observed->states[i]);
        }
    }
}
