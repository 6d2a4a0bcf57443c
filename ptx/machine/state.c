/* state.c - CTAs that begin and end, and how many a GPU holds. SPDX-License-Identifier: Apache-2.0
 */
#include "state.h"

#include "mbarrier.h"
#include "observe.h"
#include "tensor_memory.h"

#include <string.h>

/* ---- how many fit: docs/hardware.md 8 ---- */

enum {
    SM_CTAS = 32,
    SM_THREADS = 2048,
    SM_REGISTERS = 65536,
    SM_SHARED = 228 << 10, /* bytes; 1 KiB of it for each CTA is the system's */
    CTA_SHARED = 1 << 10
};

static uint32_t get_least(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

uint32_t grout_ptx__count_resident(const ptx_machine *machine) {
    const uint32_t threads = machine->warp_count * PTX_LANES;
    uint32_t ctas = get_least(SM_CTAS, SM_THREADS / threads);
    ctas = get_least(ctas, SM_SHARED / (machine->shared_bytes + CTA_SHARED));
    if (machine->register_count > 0) {
        ctas = get_least(ctas, SM_REGISTERS / (machine->register_count * threads));
    }
    return PTX_RESIDENCY_SMS * (ctas > 0 ? ctas : 1);
}

/* ---- CTAs ---- */

static void free_cta(const ptx_machine *machine, ptx_cta *cta) {
    if (machine->order != NULL) {
        grout_ptx__end_order(machine->order, cta->number);
    }
    for (uint32_t i = 0; cta->warps != NULL && i < machine->warp_count; i++) {
        grout__free(cta->warps[i].registers);
        grout__free(cta->warps[i].defined);
        grout__free(cta->warps[i].halves);
        grout__free(cta->warps[i].flying);
        grout__free(cta->warps[i].loaded);
        grout__free(cta->warps[i].written);
        grout__free(cta->warps[i].local);
    }
    grout__free(cta->warps);
    grout_ptx__free_tensor(cta->tensor);
    grout__free(cta->shared);
    grout__free(cta->known);
    grout__free(cta->cells);
    grout__free(cta->barriers);
}

static void free_cluster(const ptx_machine *machine, ptx_cta *first) {
    for (uint32_t i = 0; i < machine->cluster_size; i++) {
        free_cta(machine, &first[i]);
    }
    grout__free(first);
}

void grout_ptx__deinit_ctas(ptx_machine *machine) {
    for (size_t i = 0; i < machine->resident.count; i++) {
        free_cluster(machine, machine->resident.items[i]);
    }
    grout__free(machine->resident.items);
}

static bool begin_warp(ptx_machine *machine, ptx_cta *cta, uint32_t index) {
    const ptx_code *code = machine->code;
    ptx_warp *warp = &cta->warps[index];
    uint32_t lanes = machine->threads - index * PTX_LANES;
    warp->cta = cta;
    warp->index = index;
    warp->register_count = machine->register_count;
    warp->live = lanes >= PTX_LANES ? UINT32_MAX : (1u << lanes) - 1;
    warp->registers = ptx_new(machine, code->register_planes, PTX_PLANE_BYTES);
    warp->defined = ptx_new(machine, code->plane_count, sizeof *warp->defined);
    warp->halves = ptx_new(machine, code->plane_count, sizeof *warp->halves);
    warp->flying = ptx_new(machine, code->plane_count, sizeof *warp->flying);
    warp->loaded = ptx_new(machine, code->plane_count, sizeof *warp->loaded);
    warp->local = ptx_new(machine, (size_t)2 * PTX_LANES * code->local_bytes, 1);
    if (warp->registers == NULL || warp->defined == NULL || warp->halves == NULL ||
        warp->flying == NULL || warp->loaded == NULL || warp->local == NULL) {
        return false;
    }
    warp->defined[0] = UINT32_MAX;
    grout_ptx__set_specials(warp);
    warp->group_count = 1;
    warp->groups[0] = (ptx_group){.lanes = warp->live, .pc = machine->first_step};
    return true;
}

static bool begin_cta(ptx_machine *machine, ptx_cta *cta) {
    cta->shared = ptx_new(machine, machine->shared_bytes, 1);
    cta->known = ptx_new(machine, machine->shared_bytes, 1);
    cta->barriers = ptx_new(machine, machine->shared_bytes / GROUT_PTX_MBARRIER_SIZE + 1, 1);
    cta->warps = ptx_new(machine, machine->warp_count, sizeof *cta->warps);
    cta->live_warps = machine->warp_count;
    bool has_room =
        cta->shared != NULL && cta->known != NULL && cta->barriers != NULL && cta->warps != NULL;
    for (uint32_t i = 0; has_room && i < machine->warp_count; i++) {
        has_room = begin_warp(machine, cta, i);
    }
    return has_room && grout_ptx__observe_cta(machine, cta);
}

bool grout_ptx__begin_cluster(ptx_machine *machine) {
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): the items are pointers */
    ptx_cta *first = PTX_MACHINE_ROOM(machine, &machine->resident)
                         ? ptx_new(machine, machine->cluster_size, sizeof *first)
                         : NULL;
    if (first == NULL) {
        return grout_diags_add_oom(machine->diags);
    }
    const uint32_t number = machine->next_cta;
    machine->next_cta += machine->cluster_size;
    machine->resident.items[machine->resident.count++] = first;
    machine->events++;
    for (uint32_t i = 0; i < machine->cluster_size; i++) {
        first[i] = (ptx_cta){.machine = machine, .cluster = first, .number = number + i, .rank = i};
        grout_ptx__find_cta(machine, number + i, first[i].cluster_index, first[i].index);
    }
    for (uint32_t i = 0; i < machine->cluster_size; i++) {
        if (!begin_cta(machine, &first[i])) {
            return !machine->pulse->is_over && grout_diags_add_oom(machine->diags);
        }
    }
    return true;
}

void grout_ptx__end_cluster(ptx_machine *machine, size_t index) {
    free_cluster(machine, machine->resident.items[index]);
    machine->resident.items[index] = machine->resident.items[--machine->resident.count];
    machine->ctas_done += machine->cluster_size;
}
