/*
 * snapshot.c - the whole state of a launch as a copy of its bytes, and a hash of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "machine.h"

#include "bits.h"
#include "operand.h"
#include "undo.h"

#include <string.h>

#define REGIONS_MAX 16
#define POOLS       4

/* A range of bytes of the state whose size does not change during a run. */
typedef struct region {
    void *bytes;
    size_t size;
} region;

struct grout_snapshot {
    grout_heap heap;
    grout_run_stats stats;
    int64_t next_cta;
    grout_run_status status;
    bool is_over, has_failed;
    uint8_t *fixed; /* the regions, one behind the other */
    size_t fixed_size;
    uint8_t *arrays; /* of arrays that the kernel may write: data, then bitmaps */
    size_t arrays_size;
    bool *has_tainted;
    uint32_t array_count;
    grout_pool pools[POOLS];
    const grout_observer *observers[GROUT_OBSERVERS_MAX];
    void *observed[GROUT_OBSERVERS_MAX];
    uint32_t observer_count;
};

static uint32_t get_regions(const grout_machine *machine, region *regions) {
    uint32_t count = 0;
    regions[count++] = (region){machine->state, machine->at.size};
    if (machine->is_lazy) {
        regions[count++] = (region){machine->payload,
                                    (size_t)machine->payload_slots * machine->payload_slot_bytes};
        regions[count++] = (region){machine->undo_entries, GROUT_UNDO_ENTRIES * sizeof(grout_undo)};
        regions[count++] = (region){machine->undo_data, machine->undo_data_size};
    }
    return count;
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

static size_t copy_fixed(const grout_machine *machine, uint8_t *buffer, bool is_save) {
    region regions[REGIONS_MAX];
    uint32_t count = get_regions(machine, regions);
    size_t size = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (buffer != NULL && is_save) {
            memcpy(buffer + size, regions[i].bytes, regions[i].size);
        } else if (buffer != NULL) {
            memcpy(regions[i].bytes, buffer + size, regions[i].size);
        }
        size += regions[i].size;
    }
    return size;
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
    snapshot->next_cta = machine->next_cta;
    snapshot->status = machine->status;
    snapshot->is_over = machine->is_over;
    snapshot->has_failed = machine->has_failed;
    snapshot->fixed_size = copy_fixed(machine, NULL, true);
    snapshot->arrays_size = copy_arrays(machine, NULL, true);
    snapshot->array_count = machine->array_count;
    snapshot->fixed = grout_heap__take(heap, snapshot->fixed_size);
    snapshot->arrays = grout_heap__take(heap, snapshot->arrays_size);
    snapshot->has_tainted = grout_heap__take(heap, machine->array_count * sizeof(bool));
    if (snapshot->fixed == NULL || snapshot->arrays == NULL || snapshot->has_tainted == NULL ||
        !copy_pool(&snapshot->pools[0], &machine->phases, heap) ||
        !copy_pool(&snapshot->pools[1], &machine->contributions, heap) ||
        !copy_pool(&snapshot->pools[2], &machine->asyncs, heap) ||
        !copy_pool(&snapshot->pools[3], &machine->old_phases, heap)) {
        return false;
    }
    copy_fixed(machine, snapshot->fixed, true);
    copy_arrays(machine, snapshot->arrays, true);
    for (uint32_t i = 0; i < machine->array_count; i++) {
        snapshot->has_tainted[i] = machine->arrays[i].has_tainted;
    }
    return save_observers(machine, snapshot);
}

grout_snapshot *grout_machine_snapshot(const grout_machine *machine, grout_diags *diags) {
    grout_heap heap = {0};
    grout_snapshot *snapshot = grout_heap__take(&heap, sizeof *snapshot);
    if (snapshot == NULL || !save(machine, snapshot)) {
        grout_snapshot_free(snapshot);
        grout_diags_add_oom(diags);
        return NULL;
    }
    return snapshot;
}

bool grout_machine_restore(grout_machine *machine, const grout_snapshot *snapshot,
                           grout_diags *diags) {
    if (!copy_pool(&machine->phases, &snapshot->pools[0], &machine->heap) ||
        !copy_pool(&machine->contributions, &snapshot->pools[1], &machine->heap) ||
        !copy_pool(&machine->asyncs, &snapshot->pools[2], &machine->heap) ||
        !copy_pool(&machine->old_phases, &snapshot->pools[3], &machine->heap)) {
        return grout_diags_add_oom(diags);
    }
    machine->stats = snapshot->stats;
    machine->next_cta = snapshot->next_cta;
    machine->status = snapshot->status;
    machine->is_over = snapshot->is_over;
    machine->has_failed = snapshot->has_failed;
    copy_fixed(machine, snapshot->fixed, false);
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
    grout_heap__give(&snapshot->heap, snapshot->fixed, 0);
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

/* A word at a time, mixed by a multiplication whose halves are folded (wyhash's step). */
static uint64_t mix(uint64_t hash, uint64_t word) {
    uint64_t a = hash ^ word ^ UINT64_C(0xa0761d6478bd642f);
    uint64_t low = (a & 0xffffffffu) * UINT64_C(0xe7037ed1a0b428db);
    uint64_t high = (a >> 32) * UINT64_C(0x8ebc6af09c88c6e3);
    return (low ^ (high << 32 | high >> 32)) + hash * 31;
}

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size) {
    const uint8_t *at = bytes;
    for (; size >= sizeof(uint64_t); size -= sizeof(uint64_t), at += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, at, sizeof word);
        hash = mix(hash, word);
    }
    uint64_t rest = size;
    if (size > 0) {
        memcpy(&rest, at, size);
        rest ^= (uint64_t)size << 56;
    }
    return mix(hash, rest);
}

/* What threads, barriers and copies are, without the places of their records in the pools. */
static uint64_t hash_threads(const grout_machine *machine, uint64_t hash) {
    for (uint32_t i = 0; i < machine->plan->shape.thread_count; i++) {
        grout_thread thread = *grout_machine__thread(machine, i);
        thread.first_store = thread.last_store = thread.first_unread = 0;
        thread.first_wgmma = thread.last_wgmma = 0;
        hash = hash_bytes(hash, &thread, sizeof thread);
    }
    return hash_bytes(hash, machine->state + machine->at.loops,
                      machine->at.barriers - machine->at.loops);
}

static uint64_t hash_barriers(const grout_machine *machine, uint64_t hash) {
    uint32_t clocks = grout_order__get_size(&machine->plan->shape);
    for (uint32_t i = 0; i < machine->plan->element_count; i++) {
        grout_barrier barrier = *grout_machine__barrier(machine, i);
        uint32_t record = barrier.first_open, old = barrier.first_old;
        barrier.first_open = barrier.last_open = barrier.first_old = barrier.last_old = 0;
        hash = hash_bytes(hash, &barrier, sizeof barrier);
        while (record != 0) {
            grout_phase *phase = grout_machine__phase(machine, record);
            int64_t facts[] = {phase->number, phase->bytes, phase->bytes_due,
                               phase->contribution_count};
            hash = hash_bytes(hash, facts, sizeof facts);
            hash = hash_bytes(hash, grout_phase__clocks(phase), clocks * sizeof(uint32_t));
            record = phase->next;
        }
        while (old != 0) {
            grout_old_phase *phase = grout_machine__old_phase(machine, old);
            hash = mix(hash, phase->number);
            hash = hash_bytes(hash, grout_old_phase__clocks(phase), clocks * sizeof(uint32_t));
            old = phase->next;
        }
    }
    return hash_bytes(hash, machine->state + machine->at.snapshots,
                      machine->at.payload_free - machine->at.snapshots);
}

static uint64_t hash_flights(const grout_machine *machine, uint64_t hash) {
    for (uint32_t i = grout_machine__cta(machine)->first_flight; i != 0;) {
        grout_async async = *grout_machine__async(machine, i);
        i = async.next;
        for (uint32_t k = 0; k < 2; k++) {
            if (async.payload[k] != 0) {
                size_t at = (size_t)(async.payload[k] - 1) * machine->payload_slot_bytes;
                hash = hash_bytes(hash, machine->payload + at, machine->payload_mask_at);
            }
        }
        async.link = async.previous = async.next = async.peer = 0;
        async.phase_record = async.payload[0] = async.payload[1] = 0;
        hash = hash_bytes(hash, &async, sizeof async);
    }
    return hash;
}

/* The log of stores that engines may not see yet, oldest first. */
static uint64_t hash_undo(const grout_machine *machine, uint64_t hash) {
    const grout_cta *cta = grout_machine__cta(machine);
    for (uint32_t i = 0; i < cta->undo_count; i++) {
        const uint8_t *at =
            machine->undo_entries + (cta->undo_first + i) % GROUT_UNDO_ENTRIES * sizeof(grout_undo);
        grout_undo entry;
        memcpy(&entry, at, sizeof entry);
        hash = hash_bytes(hash, machine->undo_data + entry.data, entry.size);
        entry.data = 0;
        hash = hash_bytes(hash, &entry, sizeof entry);
    }
    return hash;
}

/* Temporary registers count while a thread is inside a chain; else they hold what is left of one.
 */
static uint64_t hash_registers(const grout_machine *machine, uint64_t hash) {
    const grout_plan *plan = machine->plan;
    for (uint32_t i = 0; i < plan->shape.thread_count; i++) {
        const grout_thread *thread = grout_machine__thread(machine, i);
        bool is_inside =
            thread->state != GROUT_THREAD_EXITED && grout_plan__inst(plan, thread->pc)->is_member;
        hash = hash_bytes(hash, grout_machine__registers(machine, i),
                          is_inside ? plan->register_bytes : plan->temporary_at);
    }
    return hash;
}

uint64_t grout_machine_hash(const grout_machine *machine) {
    grout_cta cta = *grout_machine__cta(machine);
    cta.first_flight = cta.last_flight = cta.payload_used = 0;
    cta.undo_first = cta.undo_data_first = cta.undo_dropped = 0;
    uint64_t hash = hash_bytes((uint64_t)machine->next_cta, &cta, sizeof cta);
    hash = hash_threads(machine, hash);
    hash = hash_barriers(machine, hash);
    hash = hash_flights(machine, hash);
    hash = hash_undo(machine, hash);
    hash = hash_registers(machine, hash);
    size_t behind = machine->at.registers +
                    (size_t)machine->plan->shape.thread_count * machine->plan->register_bytes;
    hash = hash_bytes(hash, machine->state + behind, machine->at.size - behind);
    for (uint32_t i = 0; i < machine->array_count; i++) {
        region regions[3];
        uint32_t count = get_array_regions(&machine->arrays[i], regions);
        for (uint32_t k = 0; k < count; k++) {
            hash = hash_bytes(hash, regions[k].bytes, regions[k].size);
        }
    }
    for (uint32_t i = 0; i < machine->launch.observer_count; i++) {
        const grout_observer *observer = machine->launch.observers[i];
        hash = observer->hash == NULL ? hash : mix(hash, observer->hash(observer->self));
    }
    return hash;
}
