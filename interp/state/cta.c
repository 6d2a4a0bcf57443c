/*
 * cta.c - the arenas of clusters, and where their CTAs are.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pages.h"

#include <string.h>

/* From here on the system's zero pages are cheaper than memset. */
#define ARENA_LARGE ((size_t)4 << 20)

static void set_cta(grout_machine *machine, uint32_t slot, uint32_t rank) {
    const grout_plan *plan = machine->plan;
    machine->ctas[(size_t)slot * plan->shape.cta_count + rank] = (grout_cta){
        .machine = machine,
        .state = grout_machine__get_arena(machine, slot, rank),
        .slot = slot,
        .rank = rank,
        .actor_base = rank * plan->actor_count,
        .lane_base = rank * plan->lane_count,
        .element_base = rank * plan->element_count,
        .page_versions = grout_smem__get_versions(machine, slot, rank),
    };
}

bool grout_machine__add_slot(grout_machine *machine, uint32_t slot) {
    size_t size = machine->at.head + (size_t)machine->plan->shape.cta_count * machine->at.size;
    if (machine->slots[slot] != NULL) {
        return true;
    }
    const bool comes_zeroed = size >= ARENA_LARGE;
    machine->slots[slot] = comes_zeroed ? grout_machine__keep(machine, size)
                                        : grout_machine__keep_unset(machine, size);
    if (machine->slots[slot] == NULL) {
        machine->run.has_failed = true;
        return false;
    }
    if (!comes_zeroed) {
        memset(machine->slots[slot], 0, machine->at.head);
    }
    for (uint32_t rank = 0; rank < machine->plan->shape.cta_count; rank++) {
        if (!comes_zeroed) { /* what stores wait in is written before it is read */
            memset(grout_machine__get_arena(machine, slot, rank), 0, machine->at.undo_entries);
        }
        set_cta(machine, slot, rank);
        uint8_t *state = grout_machine__get_cta(machine, slot, rank)->state;
        uint32_t *free_slots = (uint32_t *)(void *)(state + machine->at.payload_free);
        for (uint32_t i = 0; i < machine->payload_slots; i++) {
            free_slots[i] = i + 1;
        }
    }
    return true;
}

const grout_cta *grout_machine__next_cta(const grout_machine *machine, const grout_cta *cta) {
    size_t size = machine->plan->shape.cta_count;
    for (size_t i = cta == NULL ? 0 : (size_t)(cta - machine->ctas) + 1;
         i < machine->slot_count * size; i++) {
        const uint8_t *slot = machine->slots[i / size];
        if (slot != NULL && ((const grout_cluster *)(const void *)slot)->is_begun != 0) {
            return &machine->ctas[i];
        }
    }
    return NULL;
}
