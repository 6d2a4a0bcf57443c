/*
 * pages.c - which pages of SMEM have been written, and when.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pages.h"

int64_t grout_smem__get_page_count(const grout_plan *plan) {
    return (plan->memory_bytes + GROUT_SMEM_PAGE - 1) / GROUT_SMEM_PAGE;
}

uint64_t *grout_smem__get_versions(const grout_machine *machine, uint32_t slot, uint32_t rank) {
    size_t cta = (size_t)slot * machine->plan->shape.cta_count + rank;
    return machine->all_page_versions == NULL
               ? NULL
               : machine->all_page_versions +
                     cta * (size_t)(1 + grout_smem__get_page_count(machine->plan));
}

void grout_smem__touch(uint64_t *versions, int64_t first, int64_t size) {
    if (versions == NULL || size <= 0) {
        return;
    }
    uint64_t now = ++versions[0];
    for (int64_t page = first / GROUT_SMEM_PAGE; page <= (first + size - 1) / GROUT_SMEM_PAGE;
         page++) {
        versions[1 + page] = now;
    }
}
