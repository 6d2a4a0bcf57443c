/*
 * snapshot.c - copies of what a checker has, and the hash of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "checker.h"

#include "alloc.h"

static const grout_list_place RUN_LISTS[] = {
    GROUT_LIST(grout_run_state, slots, slot_count, slot_count),
    GROUT_LIST(grout_run_state, ended_ctas, ended_words, ended_words),
    GROUT_LIST(grout_run_state, bulk_waits, bulk_wait_count, bulk_wait_capacity),
    GROUT_LIST(grout_run_state, op_threads, op_count, op_count),
    GROUT_LIST(grout_run_state, unwritten, unwritten_count, unwritten_capacity),
    GROUT_LIST(grout_run_state, undefined_ops, undefined_op_count, undefined_op_count),
    GROUT_LIST(grout_run_state, grid_updates, object_count, object_count)};
static const grout_list_table RUN = GROUT_LIST_TABLE(grout_run_state, RUN_LISTS);

typedef struct grout_snapshot {
    grout_run_state run;
    grout_memory memory;
} grout_snapshot;

static void free_state(grout_run_state *run, grout_memory *memory) {
    grout_lists__free(&RUN, run);
    grout_memory__free_ctas(memory);
    grout_protocol__deinit(&memory->protocol);
    grout_fences__deinit(&memory->fences);
    grout_shadow__deinit(&memory->gmem);
    grout_findings__deinit(&memory->findings);
}

void grout_checker__deinit_state(grout_checker *checker) {
    free_state(&checker->run, &checker->memory);
}

/* Slots that from has and into has not are made; those that from has not end. */
static bool copy_ctas(const grout_checker *checker, grout_memory *into, const grout_memory *from) {
    if (!grout_memory__reserve_ctas(checker, into, from->cta_count)) {
        return false;
    }
    for (uint32_t i = 0; i < into->cta_count; i++) {
        if (i >= from->cta_count) {
            into->ctas[i].life.is_live = false;
        } else if (!grout_cta_state__copy(checker, &into->ctas[i], &from->ctas[i])) {
            return false;
        }
    }
    return true;
}

static bool copy_memory(const grout_checker *checker, grout_memory *into,
                        const grout_memory *from) {
    GROUT_COPY_REST(into, from, grout_memory, findings);
    return copy_ctas(checker, into, from) &&
           grout_protocol__copy(checker->allocator, &into->protocol, &from->protocol) &&
           grout_fences__copy(checker->allocator, &into->fences, &from->fences) &&
           grout_shadow__copy(&into->gmem, &from->gmem) &&
           grout_findings__copy(&into->findings, &from->findings);
}

void *grout_checker__snapshot(void *self) {
    const grout_checker *checker = self;
    grout_snapshot *copy = grout__new(checker->allocator, 1, sizeof *copy);
    if (!copy) {
        return NULL;
    }
    if (!grout_shadow__init(&copy->memory.gmem, checker->allocator,
                            checker->memory.gmem.plane_count) ||
        !grout_lists__copy(&RUN, checker->allocator, &copy->run, &checker->run) ||
        !copy_memory(checker, &copy->memory, &checker->memory)) {
        grout_checker__snapshot_free(self, copy);
        return NULL;
    }
    return copy;
}

bool grout_checker__restore(void *self, const void *snapshot) {
    grout_checker *checker = self;
    const grout_snapshot *from = snapshot;
    grout_pairs__forget(&checker->pairs);
    return (grout_lists__copy(&RUN, checker->allocator, &checker->run, &from->run) &&
            copy_memory(checker, &checker->memory, &from->memory)) ||
           grout_checker__fail(checker);
}

void grout_checker__snapshot_free(void *self, void *snapshot) {
    grout_snapshot *it = snapshot;
    (void)self;
    if (it) {
        free_state(&it->run, &it->memory);
        grout__free(it);
    }
}

uint64_t grout_checker__hash(void *self) {
    const grout_checker *checker = self;
    const grout_memory *memory = &checker->memory;
    uint64_t hash = grout_hash__word(grout_shadow__hash(&memory->gmem),
                                     grout_findings__hash(&memory->findings));
    uint64_t ctas = grout_fences__hash(&memory->fences);
    for (uint32_t i = 0; i < memory->cta_count; i++) {
        if (memory->ctas[i].life.is_live) {
            ctas += grout_cta_state__hash(checker, &memory->ctas[i]);
        }
    }
    hash = grout_hash__word(hash, grout_protocol__hash(&memory->protocol));
    hash = GROUT_HASH_REST(hash, memory, grout_memory, findings);
    hash = GROUT_HASH_REST(hash, &checker->run, grout_run_state, reserved_end);
    return grout_hash__word(hash, ctas);
}
