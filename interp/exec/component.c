/*
 * component.c - the components, one line each.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "component.h"
#include "cluster.h"

#include "async_copy.h"
#include "atomic.h"
#include "barrier.h"
#include "flight.h"
#include "gmem.h"
#include "named.h"
#include "semaphore.h"
#include "undo.h"

/* The head of a CTA, and its SMEM and accumulators with what of them is defined. */
static uint64_t hash_memory(const grout_cta *cta, uint64_t hash) {
    const grout_state_layout *at = &cta->machine->at;
    hash = GROUT_HASH_FACTS(hash, grout_cta__head(cta), grout_cta_state, index);
    return grout_hash__bytes(hash, cta->state + at->memory, at->undo_entries - at->memory);
}

static const grout_component COMPONENTS[] = {
    {.name = "clusters", .hash_cta = grout_cluster__hash},
    {.name = "memory", .hash_cta = hash_memory},
    {.name = "actors", .hash_cta = grout_actors__hash},
    {.name = "barriers", .hash_cta = grout_barrier__hash},
    {.name = "flights", .hash_cta = grout_flight__hash},
    {.name = "stores that engines may not see", .hash_cta = grout_undo__hash},
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

static uint64_t hash_cta(const grout_cta *cta, uint64_t hash) {
    for (uint32_t i = 0; i < COMPONENT_COUNT; i++) {
        hash = COMPONENTS[i].hash_cta == NULL ? hash : COMPONENTS[i].hash_cta(cta, hash);
    }
    return hash;
}

uint64_t grout_components__hash(const grout_machine *machine, uint64_t hash) {
    for (const grout_cta *cta = grout_machine__next_cta(machine, NULL); cta != NULL;
         cta = grout_machine__next_cta(machine, cta)) {
        hash = hash_cta(cta, hash);
    }
    for (uint32_t i = 0; i < COMPONENT_COUNT; i++) {
        hash = COMPONENTS[i].hash == NULL ? hash : COMPONENTS[i].hash(machine, hash);
    }
    return hash;
}
