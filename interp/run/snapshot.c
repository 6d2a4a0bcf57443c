/*
 * snapshot.c - the whole state of a launch as a copy of its bytes, and a hash of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The state is regions of bytes, which stay where they are during a run, and pools, which grow.
 * Both are copied whole: no code copies single fields.
 */
#include "bits.h"
#include "component.h"
#include "flying.h"
#include "gmem.h"
#include "operand.h"
#include "run.h"

#include <string.h>

struct grout_snapshot {
    grout_heap heap;
    uint64_t *slots; /* bit i: slot i holds a cluster in flight */
    size_t slots_size;
    uint8_t *bytes; /* of the regions, in their order */
    size_t size;
    grout_pool pools[GROUT_POOLS];
    grout_observed observed;
};

/* ---- regions --------------------------------------------------------------------------------- */

/* What is done with the regions. */
typedef enum region_use { REGION_COUNT, REGION_SAVE, REGION_RESTORE, REGION_HASH } region_use;

typedef struct region_walk {
    region_use use;
    uint8_t *bytes; /* of all regions, one after another */
    size_t at;      /* bytes of the regions so far */
    uint64_t hash;
} region_walk;

static void walk_region(region_walk *walk, void *region, size_t size) {
    if (walk->use == REGION_SAVE && size > 0) {
        memcpy(walk->bytes + walk->at, region, size);
    } else if (walk->use == REGION_RESTORE && size > 0) {
        memcpy(region, walk->bytes + walk->at, size);
    } else if (walk->use == REGION_HASH && size > 0) {
        walk->hash = grout_hash__bytes(walk->hash, region, size);
    }
    walk->at += size;
}

/* Walks the arrays that the kernel may write. */
static void walk_arrays(grout_machine *machine, region_walk *walk) {
    for (uint32_t i = 0; i < machine->array_count; i++) {
        grout_gmem_array *array = &machine->arrays[i];
        size_t bits = (size_t)grout_bits__get_word_count(array->count) * sizeof(uint64_t);
        if (grout_direction_is_written(array->direction)) {
            walk_region(walk, array->data, (size_t)array->size);
            walk_region(walk, array->written, array->written == NULL ? 0 : bits);
            walk_region(walk, array->tainted, array->tainted == NULL ? 0 : bits);
            walk_region(walk, &array->has_tainted, sizeof array->has_tainted);
        }
    }
}

static size_t get_slot_size(const grout_machine *machine) {
    return machine->at.head + (size_t)machine->plan->shape.cta_count * machine->at.size;
}

static bool has_slot(const grout_snapshot *snapshot, uint32_t slot) {
    return (snapshot->slots[slot / 64] >> slot % 64 & 1u) != 0;
}

static size_t walk_regions(grout_machine *machine, const grout_snapshot *snapshot, region_use use) {
    region_walk walk = {.use = use, .bytes = snapshot->bytes};
    walk_region(&walk, &machine->run, sizeof machine->run);
    for (uint32_t i = 0; i < machine->slot_count; i++) {
        if (has_slot(snapshot, i)) {
            walk_region(&walk, machine->slots[i], get_slot_size(machine));
        }
    }
    walk_region(&walk, machine->gmem_log, grout_gmem__get_size(machine));
    walk_arrays(machine, &walk);
    return walk.at;
}

/* ---- pools ----------------------------------------------------------------------------------- */

static bool copy_pools(grout_pool *to, const grout_pool *from, grout_heap *heap) {
    for (uint32_t i = 0; i < GROUT_POOLS; i++) {
        if (!grout_pool__copy(&to[i], &from[i], heap)) {
            return false;
        }
    }
    return true;
}

/* ---- save and restore ------------------------------------------------------------------------ */

static void note_slots(const grout_machine *machine, grout_snapshot *snapshot) {
    for (const grout_cta *cta = grout_machine__next_cta(machine, NULL); cta != NULL;
         cta = grout_machine__next_cta(machine, cta)) {
        snapshot->slots[cta->slot / 64] |= UINT64_C(1) << cta->slot % 64;
    }
}

static bool save(grout_machine *machine, grout_snapshot *snapshot) {
    snapshot->slots_size = ((size_t)machine->slot_count + 63) / 64 * sizeof *snapshot->slots;
    snapshot->slots = grout_heap__take(&snapshot->heap, snapshot->slots_size);
    if (snapshot->slots == NULL) {
        return false;
    }
    note_slots(machine, snapshot);
    snapshot->size = walk_regions(machine, snapshot, REGION_COUNT);
    snapshot->bytes = grout_heap__take(&snapshot->heap, snapshot->size);
    if (snapshot->bytes == NULL || !copy_pools(snapshot->pools, machine->pools, &snapshot->heap)) {
        return false;
    }
    size_t saved = walk_regions(machine, snapshot, REGION_SAVE);
    GROUT_ASSERT(saved == snapshot->size);
    (void)saved;
    return grout_observed__save(&snapshot->observed, machine);
}

grout_snapshot *grout_machine_snapshot(const grout_machine *machine, grout_diags *diags) {
    grout_heap heap = {.allocator = machine->launch.allocator};
    grout_snapshot *snapshot = grout_heap__take(&heap, sizeof *snapshot);
    if (snapshot != NULL) {
        snapshot->heap = heap;
    }
    /* Saving walks what restoring writes. */
    if (snapshot == NULL || !save((grout_machine *)machine, snapshot)) {
        grout_snapshot_free(snapshot);
        grout_diags_add_oom(diags);
        return NULL;
    }
    return snapshot;
}

/* Makes the slots that are in flight in the snapshot; the others become empty. */
static bool restore_slots(grout_machine *machine, const grout_snapshot *snapshot) {
    for (uint32_t i = 0; i < machine->slot_count; i++) {
        if (has_slot(snapshot, i) && !grout_machine__add_slot(machine, i)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < machine->slot_count; i++) {
        if (!has_slot(snapshot, i) && machine->slots[i] != NULL) {
            memset(machine->slots[i], 0, sizeof(grout_cluster));
        }
    }
    return true;
}

bool grout_machine_restore(grout_machine *machine, const grout_snapshot *snapshot,
                           grout_diags *diags) {
    grout_flying__forget(machine);
    if (!copy_pools(machine->pools, snapshot->pools, &machine->heap) ||
        !restore_slots(machine, snapshot)) {
        return grout_diags_add_oom(diags);
    }
    size_t restored = walk_regions(machine, snapshot, REGION_RESTORE);
    GROUT_ASSERT(restored == snapshot->size);
    (void)restored;
    grout_operand__forget(machine);
    return grout_observed__restore(&snapshot->observed) || grout_diags_add_oom(diags);
}

void grout_snapshot_free(grout_snapshot *snapshot) {
    if (snapshot == NULL) {
        return;
    }
    grout_observed__free(&snapshot->observed);
    for (uint32_t i = 0; i < GROUT_POOLS; i++) {
        grout_pool__free(&snapshot->pools[i], &snapshot->heap);
    }
    grout_heap__give(&snapshot->heap, snapshot->slots, snapshot->slots_size);
    grout_heap__give(&snapshot->heap, snapshot->bytes, snapshot->size);
    grout_heap heap = snapshot->heap;
    grout_heap__give(&heap, snapshot, sizeof *snapshot);
}

/* ---- hash ------------------------------------------------------------------------------------ */

uint64_t grout_machine_hash(const grout_machine *machine) {
    uint64_t hash = grout_hash__bytes((uint64_t)machine->run.facts.next_cluster,
                                      &machine->run.facts, sizeof machine->run.facts);
    if (machine->launch.timing == GROUT_TIMING_RANDOM) {
        hash = grout_hash__bytes(hash, &machine->run.engine, sizeof machine->run.engine);
    }
    region_walk walk = {.use = REGION_HASH, .hash = grout_components__hash(machine, hash)};
    walk_arrays((grout_machine *)machine, &walk); /* which it does not change */
    return grout_observers__hash(machine, walk.hash);
}
