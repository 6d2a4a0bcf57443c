/*
 * component.c - the components, one line each.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "component.h"

#include "async_copy.h"
#include "atomic.h"
#include "gmem.h"
#include "named.h"
#include "semaphore.h"

static const grout_component COMPONENTS[] = {
    {.name = "semaphores",
     .begin = grout_semaphore__begin,
     .end_scope = grout_semaphore__end_scope,
     .end_cta = grout_semaphore__end_cta,
     .end_launch = grout_semaphore__end_launch,
     .hash = grout_semaphore__hash},
    {.name = "named barriers",
     .begin = grout_named__begin,
     .end_cta = grout_named__end_cta,
     .hash = grout_named__hash},
    {.name = "atomics",
     .begin = grout_atomic__begin,
     .end_scope = grout_atomic__end_scope,
     .end_cta = grout_atomic__end_cta,
     .hash = grout_atomic__hash},
    {.name = "cp.async groups",
     .begin = grout_async_copy__begin,
     .end_cta = grout_async_copy__end_cta,
     .hash = grout_async_copy__hash},
    {.name = "GMEM log", .hash = grout_gmem__hash},
};
enum { COMPONENT_COUNT = sizeof COMPONENTS / sizeof COMPONENTS[0] };

void grout_components__begin(grout_machine *machine) {
    machine->ops_pools[GROUT_OPS_SCRATCH].item_size = sizeof(uint32_t);
    for (uint32_t i = 0; i < COMPONENT_COUNT; i++) {
        if (COMPONENTS[i].begin != NULL) {
            COMPONENTS[i].begin(machine);
        }
    }
}

void grout_components__end_scope(const grout_cta *cta, const grout_object_id *objects,
                                 uint32_t count) {
    uint32_t index = grout_cta__head(cta)->index;
    for (uint32_t i = 0; i < COMPONENT_COUNT; i++) {
        if (COMPONENTS[i].end_scope != NULL) {
            COMPONENTS[i].end_scope(cta->machine, index, objects, count);
        }
    }
}

void grout_components__end_cta(const grout_cta *cta) {
    uint32_t index = grout_cta__head(cta)->index;
    for (uint32_t i = 0; i < COMPONENT_COUNT; i++) {
        if (COMPONENTS[i].end_cta != NULL) {
            COMPONENTS[i].end_cta(cta->machine, index);
        }
    }
}

void grout_components__end_launch(grout_machine *machine) {
    for (uint32_t i = 0; i < COMPONENT_COUNT; i++) {
        if (COMPONENTS[i].end_launch != NULL) {
            COMPONENTS[i].end_launch(machine);
        }
    }
}

uint64_t grout_components__hash(const grout_machine *machine, uint64_t hash) {
    for (uint32_t i = 0; i < COMPONENT_COUNT; i++) {
        hash = COMPONENTS[i].hash == NULL ? hash : COMPONENTS[i].hash(machine, hash);
    }
    return hash;
}
