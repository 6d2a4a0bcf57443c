/*
 * cta.c - the arenas of clusters, and which CTA is selected.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pages.h"

bool grout_machine__add_slot(grout_machine *machine, uint32_t slot) {
    size_t size = machine->at.head + (size_t)machine->plan->shape.cta_count * machine->at.size;
    if (machine->slots[slot] != NULL) {
        return true;
    }
    machine->slots[slot] = grout_heap__take(&machine->heap, size);
    if (machine->slots[slot] == NULL) {
        machine->has_failed = true;
        return false;
    }
    for (uint32_t rank = 0; rank < machine->plan->shape.cta_count; rank++) {
        uint8_t *arena = grout_machine__get_arena(machine, slot, rank);
        uint32_t *free_slots = (uint32_t *)(void *)(arena + machine->at.payload_free);
        for (uint32_t i = 0; i < machine->payload_slots; i++) {
            free_slots[i] = i + 1;
        }
    }
    return true;
}

void grout_machine__select_slot(grout_machine *machine, uint32_t slot, uint32_t rank) {
    const grout_plan *plan = machine->plan;
    machine->slot = slot;
    machine->rank = rank;
    machine->state = grout_machine__get_arena(machine, slot, rank);
    machine->actor_base = rank * plan->actor_count;
    machine->lane_base = rank * plan->lane_count;
    machine->element_base = rank * plan->element_count;
    machine->page_versions = grout_smem__get_versions(machine, slot, rank);
}
