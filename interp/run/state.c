/*
 * state.c - the memory of the machine's state and its scratch.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bits.h"
#include "collective.h"
#include "flight.h"
#include "flying.h"
#include "gmem.h"
#include "operand.h"
#include "run.h"
#include "sheets.h"
#include "strip.h"
#include "undo.h"

#include <string.h>

static void size_pools(grout_machine *machine) {
    const size_t set = machine->plan->order.words * sizeof(uint32_t);
    const size_t phase = (grout_machine__phase_words(machine) * sizeof(uint32_t) + 7) / 8 * 8;
    const size_t open = machine->at.has_sheets ? 0 : phase;
    const size_t left = (1 + (size_t)machine->plan->order.size) * sizeof(uint32_t);
    const size_t sizes[GROUT_POOLS] = {[GROUT_POOL_PHASES] = sizeof(grout_phase) + open,
                                       [GROUT_POOL_SHEETS] = grout_sheet_size,
                                       [GROUT_POOL_SCOPES] = sizeof(grout_scope_left) + left,
                                       [GROUT_POOL_OLD_PHASES] = sizeof(grout_old_phase) + phase,
                                       [GROUT_POOL_CONTRIBUTIONS] = sizeof(grout_contribution),
                                       [GROUT_POOL_FLIGHTS] = sizeof(grout_flight),
                                       [GROUT_POOL_COLLECTIVES] = sizeof(grout_collective),
                                       [GROUT_POOL_SETS] = 2 * sizeof(uint32_t) + set,
                                       [GROUT_POOL_FOREIGN_MAPS] = 5 * sizeof(uint32_t),
                                       [GROUT_POOL_FOREIGN_CLOCKS] = 2 * sizeof(uint32_t) + set,
                                       [GROUT_POOL_SCRATCH] = sizeof(uint32_t)};
    const size_t scratch[GROUT_SCRATCH_POOLS] = {
        [GROUT_SCRATCH_RUNS] = sizeof(grout_run),
        [GROUT_SCRATCH_PICKED_RUNS] = sizeof(grout_run),
        [GROUT_SCRATCH_PICKED] = sizeof(grout_picked),
        [GROUT_SCRATCH_ORIGINS] = sizeof(grout_origin),
        [GROUT_SCRATCH_FOREIGN] = sizeof(grout_foreign_clock),
        [GROUT_SCRATCH_THREAD_FACTS] = sizeof(grout_thread_fact),
        [GROUT_SCRATCH_BARRIER_FACTS] = sizeof(grout_barrier_fact),
        [GROUT_SCRATCH_SEMAPHORE_FACTS] = sizeof(grout_semaphore_fact),
        [GROUT_SCRATCH_COPY_FACTS] = sizeof(grout_copy_fact),
        [GROUT_SCRATCH_UNWRITTEN] = sizeof(grout_run)};
    for (uint32_t i = 0; i < GROUT_POOLS; i++) {
        if (sizes[i] != 0) { /* a component sizes its own */
            machine->pools[i].item_size = (uint32_t)sizes[i];
        }
    }
    for (uint32_t i = 0; i < GROUT_SCRATCH_POOLS; i++) {
        machine->scratch[i].item_size = (uint32_t)scratch[i];
    }
}

static bool add_completions(grout_machine *machine) {
    const size_t bytes = grout_machine__phase_words(machine) * sizeof(uint32_t);
    if (!machine->at.has_sheets) {
        return true;
    }
    machine->completed_clocks = grout_machine__keep(machine, bytes);
    machine->open_clocks = grout_machine__keep(machine, bytes);
    return machine->completed_clocks != NULL && machine->open_clocks != NULL;
}

static bool add_scratch(grout_machine *machine) {
    const grout_plan *plan = machine->plan;
    grout_heap *heap = &machine->heap;
    machine->linear = grout_machine__keep(machine, (size_t)plan->linear_bytes_max);
    machine->mask_linear = grout_machine__keep(machine, (size_t)plan->mask_count_max);
    machine->clock_scratch = grout_machine__keep(machine, plan->order.words * sizeof(uint32_t));
    machine->strips = grout_machine__keep(machine, GROUT_STRIP_BYTES + plan->chain_bytes_max);
    machine->chain_runs =
        grout_machine__keep(machine, plan->chain_steps_max * sizeof *machine->chain_runs);
    return grout_pool__reserve(&machine->scratch[GROUT_SCRATCH_RUNS], heap, 64) &&
           grout_pool__reserve(&machine->scratch[GROUT_SCRATCH_ORIGINS], heap, 16) &&
           machine->linear != NULL && machine->mask_linear != NULL &&
           machine->clock_scratch != NULL && machine->strips != NULL && machine->chain_runs != NULL;
}

/* Buffers that only lazy and random timing need. */
static bool add_image(grout_machine *machine) {
    const grout_plan *plan = machine->plan;
    size_t words = (size_t)grout_bits__get_word_count(plan->memory_bytes) * sizeof(uint64_t);
    machine->image = grout_machine__keep(machine, (size_t)plan->memory_bytes);
    machine->image_stale = grout_machine__keep(machine, words);
    machine->image_settled = grout_machine__keep(machine, words);
    return machine->image != NULL && machine->image_stale != NULL && machine->image_settled != NULL;
}

bool grout_machine__add_state(grout_machine *machine) {
    int64_t resident = grout_residency__get_clusters(machine->plan, &machine->launch);
    int64_t clusters = machine->plan->cta_count / machine->plan->shape.cta_count;
    resident = machine->plan->has_foreign_order ? resident : 1;
    machine->slot_count = (uint32_t)(resident < clusters ? resident : clusters);
    machine->slot_count = machine->slot_count == 0 ? 1 : machine->slot_count;
    grout_machine__lay_out(machine);
    size_pools(machine);
    machine->slots = grout_machine__keep(machine, machine->slot_count * sizeof *machine->slots);
    machine->ctas =
        grout_machine__keep(machine, (size_t)machine->slot_count * machine->plan->shape.cta_count *
                                         sizeof *machine->ctas);
    if (machine->slots == NULL || machine->ctas == NULL || !add_scratch(machine) ||
        !add_completions(machine) || (machine->is_lazy && !add_image(machine)) ||
        !grout_operand__new(machine) || !grout_gmem__new(machine) ||
        !grout_machine__add_slot(machine, 0)) {
        return false;
    }
    return true;
}

void grout_machine__free_state(grout_machine *machine) {
    grout_flying__free(machine);
    for (uint32_t i = 0; i < GROUT_POOLS; i++) {
        grout_pool__free(&machine->pools[i], &machine->heap);
    }
    for (uint32_t i = 0; i < GROUT_SCRATCH_POOLS; i++) {
        grout_pool__free(&machine->scratch[i], &machine->heap);
    }
    grout_machine__free_kept(machine);
}
