/*
 * snapshot.c - the whole state of a launch as a copy of its bytes, and a hash of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bits.h"
#include "component.h"
#include "gmem.h"
#include "hash.h"
#include "operand.h"
#include "undo.h"

#include <string.h>

#define POOLS (8 + GROUT_OPS_POOLS)

/* A range of bytes of the state whose size does not change during a run. */
typedef struct region {
    void *bytes;
    size_t size;
} region;

struct grout_snapshot {
    grout_heap heap;
    grout_run_stats stats;
    grout_run_state run;
    grout_spin spin;
    grout_run_status status;
    bool is_over, has_failed;
    uint32_t foreign_limit;
    bool *has_slot; /* clusters in flight: their arenas, one behind the other */
    uint32_t slot_count;
    uint8_t *fixed;
    size_t fixed_size;
    uint8_t *gmem_log;
    uint8_t *arrays; /* of arrays that the kernel may write: data, then bitmaps */
    size_t arrays_size;
    bool *has_tainted;
    uint32_t array_count;
    grout_pool pools[POOLS];
    const grout_observer *observers[GROUT_OBSERVERS_MAX];
    void *observed[GROUT_OBSERVERS_MAX];
    uint32_t observer_count;
};

static grout_pool *get_pool(const grout_machine *machine, uint32_t index) {
    grout_machine *m = (grout_machine *)machine;
    grout_pool *pools[] = {&m->phases,       &m->contributions, &m->asyncs,
                           &m->old_phases,   &m->collectives,   &m->sets,
                           &m->foreign_maps, &m->foreign_clocks};
    return index < 8 ? pools[index] : &m->ops_pools[index - 8];
}

static size_t get_slot_size(const grout_machine *machine) {
    return machine->at.head + (size_t)machine->plan->shape.cta_count * machine->at.size;
}

static bool is_slot_begun(const grout_machine *machine, uint32_t slot) {
    return machine->slots[slot] != NULL &&
           ((const grout_cluster *)(const void *)machine->slots[slot])->is_begun != 0;
}

static uint32_t get_array_regions(const grout_array *array, region *regions) {
    uint32_t count = 0;
    size_t bytes = (size_t)grout_bits__get_word_count(array->count) * sizeof(uint64_t);
    if (array->direction != GROUT_DIRECTION_OUT && array->direction != GROUT_DIRECTION_INOUT) {
        return 0;
    }
    regions[count++] = (region){array->data, (size_t)array->size};
    if (array->written != NULL) {
        regions[count++] = (region){array->written, bytes};
    }
    if (array->tainted != NULL) {
        regions[count++] = (region){array->tainted, bytes};
    }
    return count;
}

/* All regions of all arrays to (true) or from a buffer; the size of them with a NULL buffer. */
static size_t copy_arrays(const grout_machine *machine, uint8_t *buffer, bool is_save) {
    region regions[3];
    size_t size = 0;
    for (uint32_t i = 0; i < machine->array_count; i++) {
        uint32_t count = get_array_regions(&machine->arrays[i], regions);
        for (uint32_t k = 0; k < count; k++) {
            if (buffer != NULL && is_save) {
                memcpy(buffer + size, regions[k].bytes, regions[k].size);
            } else if (buffer != NULL) {
                memcpy(regions[k].bytes, buffer + size, regions[k].size);
            }
            size += regions[k].size;
        }
    }
    return size;
}

static void save_slots(const grout_machine *machine, grout_snapshot *snapshot) {
    size_t size = get_slot_size(machine), at = 0;
    for (uint32_t i = 0; i < machine->slot_count; i++) {
        if (snapshot->has_slot[i]) {
            memcpy(snapshot->fixed + at, machine->slots[i], size);
            at += size;
        }
    }
}

static void restore_slots(grout_machine *machine, const grout_snapshot *snapshot) {
    size_t size = get_slot_size(machine), at = 0;
    for (uint32_t i = 0; i < machine->slot_count; i++) {
        if (snapshot->has_slot[i]) {
            memcpy(machine->slots[i], snapshot->fixed + at, size);
            at += size;
        } else if (machine->slots[i] != NULL) {
            memset(machine->slots[i], 0, sizeof(grout_cluster));
        }
    }
}

static bool copy_pool(grout_pool *to, const grout_pool *from, grout_heap *heap) {
    to->item_size = from->item_size;
    if (!grout_pool__reserve(to, heap, from->count)) {
        return false;
    }
    to->count = from->count;
    to->first_free = from->first_free;
    if (from->count > 0) {
        memcpy(to->data, from->data, (size_t)from->count * from->item_size);
    }
    return true;
}

static bool save_observers(const grout_machine *machine, grout_snapshot *snapshot) {
    for (uint32_t i = 0; i < machine->launch.observer_count; i++) {
        const grout_observer *observer = machine->launch.observers[i];
        snapshot->observers[i] = observer;
        snapshot->observer_count = i + 1;
        if (observer->snapshot == NULL) {
            continue;
        }
        snapshot->observed[i] = observer->snapshot(observer->self);
        if (snapshot->observed[i] == NULL) {
            return false;
        }
    }
    return true;
}

static bool save(const grout_machine *machine, grout_snapshot *snapshot) {
    grout_heap *heap = &snapshot->heap;
    snapshot->stats = machine->stats;
    snapshot->run = machine->run;
    snapshot->spin = machine->spin;
    snapshot->status = machine->status;
    snapshot->is_over = machine->is_over;
    snapshot->has_failed = machine->has_failed;
    snapshot->foreign_limit = machine->foreign_limit;
    snapshot->slot_count = machine->slot_count;
    snapshot->arrays_size = copy_arrays(machine, NULL, true);
    snapshot->array_count = machine->array_count;
    snapshot->has_slot = grout_heap__take(heap, machine->slot_count * sizeof(bool));
    for (uint32_t i = 0; snapshot->has_slot != NULL && i < machine->slot_count; i++) {
        snapshot->has_slot[i] = is_slot_begun(machine, i);
        snapshot->fixed_size += snapshot->has_slot[i] ? get_slot_size(machine) : 0;
    }
    snapshot->fixed = grout_heap__take(heap, snapshot->fixed_size);
    snapshot->arrays = grout_heap__take(heap, snapshot->arrays_size);
    snapshot->has_tainted = grout_heap__take(heap, machine->array_count * sizeof(bool));
    snapshot->gmem_log = grout_heap__take(heap, grout_gmem__get_size(machine));
    if (snapshot->has_slot == NULL || snapshot->fixed == NULL || snapshot->arrays == NULL ||
        snapshot->has_tainted == NULL || snapshot->gmem_log == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < POOLS; i++) {
        if (!copy_pool(&snapshot->pools[i], get_pool(machine, i), heap)) {
            return false;
        }
    }
    save_slots(machine, snapshot);
    if (machine->gmem_log != NULL) {
        memcpy(snapshot->gmem_log, machine->gmem_log, grout_gmem__get_size(machine));
    }
    copy_arrays(machine, snapshot->arrays, true);
    for (uint32_t i = 0; i < machine->array_count; i++) {
        snapshot->has_tainted[i] = machine->arrays[i].has_tainted;
    }
    return save_observers(machine, snapshot);
}

grout_snapshot *grout_machine_snapshot(const grout_machine *machine, grout_diags *diags) {
    grout_heap heap = {.allocator = machine->launch.allocator};
    grout_snapshot *snapshot = grout_heap__take(&heap, sizeof *snapshot);
    if (snapshot != NULL) {
        snapshot->heap = heap;
    }
    if (snapshot == NULL || !save(machine, snapshot)) {
        grout_snapshot_free(snapshot);
        grout_diags_add_oom(diags);
        return NULL;
    }
    return snapshot;
}

bool grout_machine_restore(grout_machine *machine, const grout_snapshot *snapshot,
                           grout_diags *diags) {
    for (uint32_t i = 0; i < POOLS; i++) {
        if (!copy_pool(get_pool(machine, i), &snapshot->pools[i], &machine->heap)) {
            return grout_diags_add_oom(diags);
        }
    }
    for (uint32_t i = 0; i < snapshot->slot_count; i++) {
        if (snapshot->has_slot[i] && !grout_machine__add_slot(machine, i)) {
            return grout_diags_add_oom(diags);
        }
    }
    machine->stats = snapshot->stats;
    machine->run = snapshot->run;
    machine->spin = snapshot->spin;
    machine->status = snapshot->status;
    machine->is_over = snapshot->is_over;
    machine->has_failed = snapshot->has_failed;
    machine->foreign_limit = snapshot->foreign_limit;
    restore_slots(machine, snapshot);
    if (machine->gmem_log != NULL) {
        memcpy(machine->gmem_log, snapshot->gmem_log, grout_gmem__get_size(machine));
    }
    copy_arrays(machine, snapshot->arrays, false);
    grout_operand__forget(machine);
    for (uint32_t i = 0; i < snapshot->array_count; i++) {
        machine->arrays[i].has_tainted = snapshot->has_tainted[i];
    }
    for (uint32_t i = 0; i < snapshot->observer_count; i++) {
        const grout_observer *observer = snapshot->observers[i];
        if (snapshot->observed[i] != NULL &&
            !observer->restore(observer->self, snapshot->observed[i])) {
            return grout_diags_add_oom(diags);
        }
    }
    return true;
}

void grout_snapshot_free(grout_snapshot *snapshot) {
    if (snapshot == NULL) {
        return;
    }
    for (uint32_t i = 0; i < snapshot->observer_count; i++) {
        const grout_observer *observer = snapshot->observers[i];
        if (snapshot->observed[i] != NULL && observer->snapshot_free != NULL) {
            observer->snapshot_free(observer->self, snapshot->observed[i]);
        }
    }
    grout_heap__give(&snapshot->heap, snapshot->has_slot, 0);
    grout_heap__give(&snapshot->heap, snapshot->fixed, 0);
    grout_heap__give(&snapshot->heap, snapshot->gmem_log, 0);
    grout_heap__give(&snapshot->heap, snapshot->arrays, 0);
    grout_heap__give(&snapshot->heap, snapshot->has_tainted, 0);
    for (uint32_t i = 0; i < POOLS; i++) {
        grout_pool__free(&snapshot->pools[i], &snapshot->heap);
    }
    grout_heap last = {0};
    grout_heap__give(&last, snapshot, 0);
}

/* ---- hash ---------------------------------------------------------------------------------------
 */

/* Clock sets, what their foreign words stand for instead of the words. */
static uint64_t hash_sets(const grout_machine *machine, uint64_t hash, const uint32_t *sets,
                          size_t count) {
    uint32_t words = machine->plan->order.words;
    for (size_t i = 0; i < count; i++, sets += words) {
        hash = grout_hash__bytes(hash, sets, (words - 1) * sizeof *sets);
        hash = sets[words - 1] == 0
                   ? hash
                   : grout_hash__word(hash, grout_foreign__hash(machine, sets[words - 1]));
    }
    return hash;
}

/* What threads, barriers and copies are, without the places of their records in the pools. */
static uint64_t hash_threads(const grout_machine *machine, uint64_t hash) {
    const grout_plan *plan = machine->plan;
    for (uint32_t i = 0; i < plan->actor_count; i++) {
        grout_thread thread = *grout_machine__thread(machine, i);
        thread.first_wgmma = thread.last_wgmma = 0;
        thread.looks_at = thread.look_hash = 0;
        thread.look_pc = thread.looks = thread.is_spinning = 0;
        hash = grout_hash__bytes(hash, &thread, sizeof thread);
    }
    for (uint32_t i = 0; i < plan->lane_count; i++) {
        hash = grout_hash__word(hash, grout_machine__lane(machine, i)->committed);
    }
    hash = grout_hash__bytes(hash, machine->state + machine->at.loops,
                             machine->at.clocks - machine->at.loops);
    hash = hash_sets(machine, hash, grout_machine__clocks(machine, 0), plan->actor_count);
    return grout_hash__bytes(hash, machine->state + machine->at.scopes,
                             machine->at.barriers - machine->at.scopes);
}

static uint64_t hash_barriers(const grout_machine *machine, uint64_t hash) {
    size_t sets = machine->plan->has_narrow_waits ? 2 : 1;
    for (uint32_t i = 0; i < machine->plan->element_count; i++) {
        grout_barrier barrier = *grout_machine__barrier(machine, i);
        uint32_t record = barrier.first_open, old = barrier.first_old;
        barrier.first_open = barrier.last_open = barrier.first_old = barrier.last_old = 0;
        hash = grout_hash__bytes(hash, &barrier, sizeof barrier);
        while (record != 0) {
            grout_phase *phase = grout_machine__phase(machine, record);
            int64_t facts[] = {phase->number, phase->bytes, phase->bytes_due, phase->bytes_flying,
                               phase->contribution_count};
            hash = grout_hash__bytes(hash, facts, sizeof facts);
            hash = hash_sets(machine, hash, grout_phase__clocks(phase), sets);
            record = phase->next;
        }
        while (old != 0) {
            grout_old_phase *phase = grout_machine__old_phase(machine, old);
            hash = grout_hash__word(hash, phase->number);
            hash = hash_sets(machine, hash, grout_old_phase__clocks(phase), sets);
            old = phase->next;
        }
    }
    hash = hash_sets(machine, hash, grout_machine__snapshot_of(machine, 0, 0),
                     (size_t)machine->plan->element_count * machine->at.snapshots_kept * sets);
    return grout_hash__bytes(hash, machine->state + machine->at.waits,
                             machine->at.payload_free - machine->at.waits);
}

static uint64_t hash_flights(const grout_machine *machine, uint64_t hash) {
    for (uint32_t i = grout_machine__cta(machine)->first_flight; i != 0;) {
        grout_async async = *grout_machine__async(machine, i);
        i = async.next;
        for (uint32_t k = 0; k < 2; k++) {
            if (async.payload[k] != 0) {
                size_t at = (size_t)(async.payload[k] - 1) * machine->payload_slot_bytes;
                hash = grout_hash__bytes(hash, machine->state + machine->at.payload + at,
                                         machine->payload_mask_at);
            }
        }
        async.link = async.previous = async.next = async.peer = 0;
        async.order = 0;
        async.phase_record = async.payload[0] = async.payload[1] = 0;
        hash = grout_hash__bytes(hash, &async, sizeof async);
    }
    return hash;
}

/* The log of stores that engines may not see yet, oldest first. */
static uint64_t hash_undo(const grout_machine *machine, uint64_t hash) {
    const grout_cta *cta = grout_machine__cta(machine);
    for (uint32_t i = 0; i < cta->undo_count; i++) {
        const uint8_t *at = machine->state + machine->at.undo_entries +
                            (cta->undo_first + i) % GROUT_UNDO_ENTRIES * sizeof(grout_undo);
        grout_undo entry;
        memcpy(&entry, at, sizeof entry);
        hash = grout_hash__bytes(hash, machine->state + machine->at.undo_data + entry.data,
                                 entry.size);
        entry.data = 0;
        hash = grout_hash__bytes(hash, &entry, sizeof entry);
    }
    return hash;
}

/* Temporary registers count while a thread is inside a chain; else they hold what is left of one.
 */
static uint64_t hash_registers(const grout_machine *machine, uint64_t hash) {
    const grout_plan *plan = machine->plan;
    for (uint32_t i = 0; i < plan->actor_count; i++) {
        const grout_thread *thread = grout_machine__thread(machine, i);
        bool is_inside =
            thread->state != GROUT_THREAD_EXITED && grout_plan__inst(plan, thread->pc)->is_member;
        hash = grout_hash__bytes(hash, grout_machine__registers(machine, i),
                                 is_inside ? plan->register_bytes : plan->temporary_at);
    }
    return hash;
}

/* The selected CTA. */
static uint64_t hash_cta(const grout_machine *machine, uint64_t hash) {
    grout_cta cta = *grout_machine__cta(machine);
    cta.first_flight = cta.last_flight = cta.payload_used = 0;
    cta.undo_first = cta.undo_data_first = cta.undo_dropped = 0;
    hash = grout_hash__bytes(hash, &cta, sizeof cta);
    hash = hash_threads(machine, hash);
    hash = hash_barriers(machine, hash);
    hash = hash_flights(machine, hash);
    hash = hash_undo(machine, hash);
    hash = hash_registers(machine, hash);
    return grout_hash__bytes(hash, machine->state + machine->at.smem,
                             machine->at.undo_entries - machine->at.smem);
}

static uint64_t hash_cluster(const grout_machine *machine, uint64_t hash) {
    grout_cluster cluster = *grout_machine__cluster(machine);
    uint32_t index = cluster.first_collective;
    cluster.first_collective = cluster.last_collective = 0;
    hash = grout_hash__bytes(hash, &cluster, sizeof cluster);
    while (index != 0) {
        grout_collective record = *(grout_collective *)grout_pool__at(&machine->collectives, index);
        index = record.next;
        record.link = record.next = 0;
        hash = grout_hash__bytes(hash, &record, sizeof record);
    }
    return hash_sets(machine, hash, grout_machine__generation(machine, 0), 2);
}

/* How far the run is, but for what only counts. */
static uint64_t hash_run(const grout_machine *machine) {
    grout_run_state run = machine->run;
    run.polls = 0;
    if (machine->launch.timing != GROUT_TIMING_RANDOM) {
        run.points = run.random[GROUT_DRAW_ENGINE] = 0;
    }
    return grout_hash__bytes((uint64_t)run.next_cluster, &run, sizeof run);
}

uint64_t grout_machine_hash(const grout_machine *machine) {
    /* Selecting changes what the machine looks at, not its state. */
    grout_machine *viewed = (grout_machine *)machine;
    uint32_t slot = machine->slot, rank = machine->rank;
    uint64_t hash = hash_run(machine);
    for (uint32_t i = 0; i < machine->slot_count; i++) {
        for (uint32_t k = 0; is_slot_begun(machine, i) && k < machine->plan->shape.cta_count; k++) {
            grout_machine__select_slot(viewed, i, k);
            hash = k == 0 ? hash_cluster(machine, hash) : hash;
            hash = hash_cta(machine, hash);
        }
    }
    grout_machine__select_slot(viewed, slot, rank);
    hash = grout_components__hash(machine, hash);
    for (uint32_t i = 0; i < machine->array_count; i++) {
        region regions[3];
        uint32_t count = get_array_regions(&machine->arrays[i], regions);
        for (uint32_t k = 0; k < count; k++) {
            hash = grout_hash__bytes(hash, regions[k].bytes, regions[k].size);
        }
    }
    for (uint32_t i = 0; i < machine->launch.observer_count; i++) {
        const grout_observer *observer = machine->launch.observers[i];
        hash =
            observer->hash == NULL ? hash : grout_hash__word(hash, observer->hash(observer->self));
    }
    return hash;
}
