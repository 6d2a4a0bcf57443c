/*
 * state.c - where the parts of the machine's state lie, and its scratch.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bits.h"
#include "gmem.h"
#include "operand.h"
#include "strip.h"
#include "undo.h"

#include <string.h>

#define PAYLOAD_BYTES   (512u << 10) /* of a CTA's stores that have read and not written */
#define PAYLOAD_MIN     2
#define PAYLOAD_MAX     1024
#define UNDO_DATA_BYTES (256u << 10)
#define CTAS_FEW        16 /* past that many in flight these two are less */
#define MANY_DIVISOR    4

static size_t add_part(size_t *size, size_t bytes) {
    size_t at = *size;
    *size = (at + bytes + 63) / 64 * 64;
    return at;
}

/*
 * A wait that comes late, after an overrun, acquires its own phase, however late: the latest phases
 * are kept for everybody, older ones as long as a thread has not waited for them. Only a wait that
 * is thousands of phases late finds nothing; the kernel has an overrun without it.
 */
enum {
    SNAPSHOTS_MAX = 16,
    SNAPSHOT_BYTES_MAX = 64 << 10,
    OLD_PHASES_MAX = 4096, /* of one element */
    OLD_BYTES_MAX = 16 << 20
};

static void size_history(grout_state_layout *at, size_t elements, size_t set) {
    size_t all = elements * set;
    at->snapshots_kept = 2;
    while (at->snapshots_kept < SNAPSHOTS_MAX &&
           all * at->snapshots_kept * 2 <= SNAPSHOT_BYTES_MAX) {
        at->snapshots_kept *= 2;
    }
    at->old_max = OLD_PHASES_MAX;
    if (all > OLD_BYTES_MAX / OLD_PHASES_MAX) {
        at->old_max = (uint32_t)(OLD_BYTES_MAX / all);
    }
}

static bool has_many(const grout_machine *machine) {
    return (size_t)machine->slot_count * machine->plan->shape.cta_count > CTAS_FEW;
}

static void size_payload(grout_machine *machine) {
    uint32_t bytes = (uint32_t)((machine->plan->copy_bytes_max + 63) / 64 * 64);
    bytes = bytes == 0 ? 64 : bytes;
    machine->payload_mask_at = bytes;
    machine->payload_slot_bytes = 2 * bytes;
    machine->payload_slots = PAYLOAD_BYTES / (has_many(machine) ? MANY_DIVISOR : 1) / bytes;
    if (machine->payload_slots < PAYLOAD_MIN) {
        machine->payload_slots = PAYLOAD_MIN;
    }
    if (machine->payload_slots > PAYLOAD_MAX) {
        machine->payload_slots = PAYLOAD_MAX;
    }
}

static void size_undo(grout_machine *machine) {
    uint32_t least = UNDO_DATA_BYTES / (has_many(machine) ? MANY_DIVISOR : 1);
    machine->undo_data_size = (uint32_t)(2 * machine->plan->store_bytes_max);
    if (machine->undo_data_size < least) {
        machine->undo_data_size = least;
    }
}

/* The CTA's parts: what begins as zeros first, what only lazy and random timing need last. */
static void size_cta(grout_machine *machine) {
    const grout_plan *plan = machine->plan;
    grout_state_layout *at = &machine->at;
    size_t actors = plan->actor_count, elements = plan->element_count;
    size_t set = plan->order.words * sizeof(uint32_t), size = 0;
    size_t phase = grout_machine__phase_words(machine) * sizeof(uint32_t);
    int64_t words = grout_bits__get_word_count(plan->smem_bytes);
    add_part(&size, sizeof(grout_cta));
    at->threads = add_part(&size, actors * sizeof(grout_thread));
    at->lanes = add_part(&size, plan->lane_count * sizeof(grout_lane));
    at->loops = add_part(&size, actors * plan->loop_depth_max * sizeof(grout_loop_state));
    at->clocks = add_part(&size, actors * set);
    at->scopes =
        add_part(&size, (size_t)plan->scopes.count * (1 + plan->order.size) * sizeof(uint32_t));
    at->barriers = add_part(&size, elements * sizeof(grout_barrier));
    size_history(at, elements, phase);
    at->snapshots = add_part(&size, elements * at->snapshots_kept * phase);
    at->waits = add_part(&size, elements * actors * sizeof(grout_wait_fact));
    at->collectives = add_part(&size, plan->collective_count * sizeof(uint32_t));
    at->payload_free = add_part(&size, machine->payload_slots * sizeof(uint32_t));
    at->registers = add_part(&size, actors * plan->register_bytes);
    at->smem = add_part(&size, (size_t)plan->smem_bytes);
    at->defined = add_part(&size, (size_t)words * sizeof(uint64_t));
    at->accumulators = add_part(&size, plan->shape.thread_count * (size_t)plan->accumulator_bytes);
    at->undo_entries = at->undo_data = at->payload = size;
    if (machine->is_lazy) {
        at->undo_entries = add_part(&size, GROUT_UNDO_ENTRIES * sizeof(grout_undo));
        at->undo_data = add_part(&size, machine->undo_data_size);
        at->payload = add_part(&size, (size_t)machine->payload_slots * machine->payload_slot_bytes);
    }
    at->size = size;
    size = 0;
    add_part(&size, sizeof(grout_cluster) + 2 * set);
    at->head = size;
}

static void size_pools(grout_machine *machine) {
    size_t set = machine->plan->order.words * sizeof(uint32_t);
    size_t phase = grout_machine__phase_words(machine) * sizeof(uint32_t);
    machine->phases.item_size = (uint32_t)(sizeof(grout_phase) + (phase + 7) / 8 * 8);
    machine->old_phases.item_size = (uint32_t)(sizeof(grout_old_phase) + (phase + 7) / 8 * 8);
    machine->contributions.item_size = sizeof(grout_contribution);
    machine->asyncs.item_size = sizeof(grout_async);
    machine->collectives.item_size = sizeof(grout_collective);
    machine->sets.item_size = (uint32_t)(2 * sizeof(uint32_t) + set);
    machine->foreign_maps.item_size = 5 * sizeof(uint32_t);
    machine->foreign_clocks.item_size = (uint32_t)(2 * sizeof(uint32_t) + set);
    machine->run_scratch.item_size = sizeof(grout_run);
    machine->origin_scratch.item_size = sizeof(grout_origin);
    machine->thread_facts.item_size = sizeof(grout_thread_fact);
    machine->barrier_facts.item_size = sizeof(grout_barrier_fact);
    machine->semaphore_facts.item_size = sizeof(grout_semaphore_fact);
    machine->foreign_scratch.item_size = sizeof(grout_foreign_clock);
}

static bool add_scratch(grout_machine *machine) {
    const grout_plan *plan = machine->plan;
    grout_heap *heap = &machine->heap;
    machine->linear = grout_heap__take(heap, (size_t)plan->linear_bytes_max);
    machine->mask_linear = grout_heap__take(heap, (size_t)plan->mask_count_max);
    machine->clock_scratch = grout_heap__take(heap, plan->order.words * sizeof(uint32_t));
    machine->strips = grout_heap__take(heap, GROUT_STRIP_BYTES + plan->chain_bytes_max);
    machine->chain_runs =
        grout_heap__take(heap, plan->chain_steps_max * sizeof *machine->chain_runs);
    return grout_pool__reserve(&machine->run_scratch, heap, 64) &&
           grout_pool__reserve(&machine->origin_scratch, heap, 16) && machine->linear != NULL &&
           machine->mask_linear != NULL && machine->clock_scratch != NULL &&
           machine->strips != NULL && machine->chain_runs != NULL;
}

/* Buffers that only lazy and random timing need. */
static bool add_image(grout_machine *machine) {
    const grout_plan *plan = machine->plan;
    grout_heap *heap = &machine->heap;
    size_t words = (size_t)grout_bits__get_word_count(plan->smem_bytes) * sizeof(uint64_t);
    machine->image = grout_heap__take(heap, (size_t)plan->smem_bytes);
    machine->image_stale = grout_heap__take(heap, words);
    machine->image_settled = grout_heap__take(heap, words);
    return machine->image != NULL && machine->image_stale != NULL && machine->image_settled != NULL;
}

bool grout_machine__add_state(grout_machine *machine) {
    int64_t resident = grout_residency__get_clusters(machine->plan, &machine->launch);
    int64_t clusters = machine->plan->cta_count / machine->plan->shape.cta_count;
    resident = machine->plan->has_foreign_order ? resident : 1;
    machine->slot_count = (uint32_t)(resident < clusters ? resident : clusters);
    machine->slot_count = machine->slot_count == 0 ? 1 : machine->slot_count;
    size_payload(machine);
    size_undo(machine);
    size_cta(machine);
    size_pools(machine);
    machine->slots = grout_heap__take(&machine->heap, machine->slot_count * sizeof *machine->slots);
    machine->ctas = grout_heap__take(&machine->heap, (size_t)machine->slot_count *
                                                         machine->plan->shape.cta_count *
                                                         sizeof *machine->ctas);
    if (machine->slots == NULL || machine->ctas == NULL || !add_scratch(machine) ||
        (machine->is_lazy && !add_image(machine)) || !grout_operand__new(machine) ||
        !grout_gmem__new(machine) || !grout_machine__add_slot(machine, 0)) {
        return false;
    }
    return true;
}

void grout_machine__free_state(grout_machine *machine) {
    /* Sizes only balance the count of used bytes, which ends here: 0 will do. */
    grout_heap *heap = &machine->heap;
    for (uint32_t i = 0; machine->slots != NULL && i < machine->slot_count; i++) {
        grout_heap__give(heap, machine->slots[i], 0);
    }
    void *blocks[] = {machine->slots,         machine->ctas,          machine->linear,
                      machine->mask_linear,   machine->image,         machine->image_stale,
                      machine->image_settled, machine->clock_scratch, machine->strips,
                      machine->chain_runs};
    for (uint32_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        grout_heap__give(heap, blocks[i], 0);
    }
    grout_operand__free(machine);
    grout_heap__give(heap, machine->gmem_log, 0);
    grout_pool *pools[] = {
        &machine->phases,        &machine->old_phases,     &machine->contributions,
        &machine->asyncs,        &machine->collectives,    &machine->sets,
        &machine->foreign_maps,  &machine->foreign_clocks, &machine->foreign_scratch,
        &machine->run_scratch,   &machine->origin_scratch, &machine->thread_facts,
        &machine->barrier_facts, &machine->semaphore_facts};
    for (uint32_t i = 0; i < sizeof pools / sizeof pools[0]; i++) {
        grout_pool__free(pools[i], heap);
    }
    for (uint32_t i = 0; i < GROUT_OPS_POOLS; i++) {
        grout_pool__free(&machine->ops_pools[i], heap);
    }
}
