/*
 * state_layout.c - where the parts of a CTA's state lie.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bits.h"
#include "collective.h"
#include "generation.h"
#include "machine.h"
#include "run.h"
#include "undo.h"

#define PAYLOAD_BYTES   (512u << 10) /* of a CTA's stores that have read and not written */
#define PAYLOAD_MIN     5
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
 * A wait that comes late, after an overrun, acquires its own phase, however late it is. The latest
 * phases are kept for all, older ones as long as a thread has not waited for them. Only a wait that
 * is thousands of phases late finds nothing; the kernel has an overrun in any case.
 */
enum {
    SNAPSHOTS_MAX = 16,
    SNAPSHOT_BYTES_MAX = 64 << 10,
    OLD_PHASES_MAX = 4096,     /* of one element */
    OLD_BYTES_MAX = 1 << 20,   /* of a CTA */
    SHEETS_BYTES_MIN = 4 << 20 /* of a CTA: where all snapshots take more, they are in sheets */
};

static void size_history(grout_state_layout *at, size_t elements, size_t set) {
    size_t all = elements * set;
    at->snapshots_kept = 2;
    while (at->snapshots_kept < SNAPSHOTS_MAX &&
           all * at->snapshots_kept * 2 <= SNAPSHOT_BYTES_MAX) {
        at->snapshots_kept *= 2;
    }
    at->has_sheets = all * at->snapshots_kept > SHEETS_BYTES_MIN;
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

/* The CTA's parts: first those that begin as zeros, last those that only lazy and random timing
 * need. */
static void size_cta(grout_machine *machine) {
    const grout_plan *plan = machine->plan;
    grout_state_layout *at = &machine->at;
    size_t actors = plan->actor_count, elements = plan->element_count;
    size_t set = plan->order.words * sizeof(uint32_t), size = 0;
    size_t phase = grout_machine__phase_words(machine) * sizeof(uint32_t);
    int64_t words = grout_bits__get_word_count(plan->memory_bytes);
    add_part(&size, sizeof(grout_cta));
    at->threads = add_part(&size, actors * sizeof(grout_thread));
    at->lanes = add_part(&size, plan->lane_count * sizeof(grout_lane));
    at->loops = add_part(&size, actors * plan->loop_depth_max * sizeof(grout_loop_state));
    at->clocks = add_part(&size, actors * set);
    at->scopes = add_part(&size, plan->scopes.count * sizeof(uint32_t));
    at->barriers = add_part(&size, elements * sizeof(grout_barrier));
    size_history(at, elements, phase);
    at->snapshots = add_part(&size, elements * at->snapshots_kept *
                                        (at->has_sheets ? sizeof(uint32_t) : phase));
    at->waits = add_part(&size, elements * actors * sizeof(grout_wait_fact));
    at->collectives =
        add_part(&size, plan->collective_count * elements * sizeof(grout_collective_progress));
    at->rounds = add_part(
        &size, plan->has_multicast ? elements * plan->shape.cta_count * sizeof(grout_round) : 0);
    at->payload_free = add_part(&size, machine->payload_slots * sizeof(uint32_t));
    at->registers = add_part(&size, actors * plan->register_bytes);
    at->memory = add_part(&size, (size_t)plan->memory_bytes);
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
    add_part(&size, sizeof(grout_cluster) + grout_machine__generation_sets(machine) * set);
    at->head = size;
}

void grout_machine__lay_out(grout_machine *machine) {
    size_payload(machine);
    size_undo(machine);
    size_cta(machine);
}
