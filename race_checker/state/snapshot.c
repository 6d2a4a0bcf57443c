/* snapshot.c - the part of a checker that a snapshot copies.
 * SPDX-License-Identifier: Apache-2.0 */
#include "checker.h"

#include "alloc.h"
#include "mix.h"

#include <string.h>

static size_t get_wait_count(const grout_checker *checker) {
    return (size_t)checker->local_actors * checker->local_elements;
}

void grout_checker__deinit_state(grout_checker *checker) {
    grout_checker__free_ctas(checker);
    grout__free(checker->ended_ctas);
    grout__free(checker->ended_waits);
    grout__free(checker->op_threads);
    grout_protocol__deinit(&checker->protocol);
    grout_shadow__deinit(&checker->gmem);
    grout_findings__deinit(&checker->findings);
}

/* ---- copies ---------------------------------------------------------------------------------- */

static bool copy_cta(grout_checker *checker, grout_cta_state *copy, const grout_cta_state *state) {
    copy->cta = state->cta;
    copy->is_live = state->is_live;
    copy->exited_threads = state->exited_threads;
    memcpy(copy->threads, state->threads, checker->local_actors * sizeof *copy->threads);
    memcpy(copy->waits, state->waits, get_wait_count(checker) * sizeof *copy->waits);
    memcpy(copy->told_since, state->told_since, get_wait_count(checker) * sizeof *copy->told_since);
    grout_cta_protocol__copy(checker, &copy->protocol, &state->protocol);
    for (uint32_t i = 0; i < checker->local_elements; i++) {
        if (!grout_element__copy(&copy->elements[i], &state->elements[i], checker->local_actors)) {
            return false;
        }
    }
    return grout_shadow__copy(&copy->local, &state->local);
}

/* Slots that from has and into has not are made; those that from has not end. */
static bool copy_ctas(grout_checker *into, const grout_checker *from) {
    if (!grout_checker__reserve_ctas(into, from->cta_count)) {
        return false;
    }
    for (uint32_t i = 0; i < into->cta_count; i++) {
        if (i >= from->cta_count) {
            into->ctas[i].is_live = false;
        } else if (!copy_cta(into, &into->ctas[i], &from->ctas[i])) {
            return false;
        }
    }
    return true;
}

/* Which slot each CTA has follows from the slots. */
static bool copy_slots(grout_checker *into, const grout_checker *from) {
    uint32_t *slots = NULL;
    if (from->slot_count == 0) {
        into->slot_count = 0;
        return true;
    }
    slots = grout__realloc(into->slots, from->slot_count * sizeof *slots);
    if (!slots) {
        return false;
    }
    memcpy(slots, from->slots, from->slot_count * sizeof *slots);
    into->slots = slots;
    into->slot_count = from->slot_count;
    return true;
}

static bool copy_waits(grout_checker *into, const grout_checker *from) {
    grout_ended_waits *waits = NULL;
    into->ended_wait_count = 0;
    if (from->ended_wait_count == 0) {
        return true;
    }
    if (into->ended_wait_capacity < from->ended_wait_count) {
        waits = grout__realloc(into->ended_waits, from->ended_wait_count * sizeof *waits);
        if (!waits) {
            return false;
        }
        into->ended_waits = waits;
        into->ended_wait_capacity = from->ended_wait_count;
    }
    memcpy(into->ended_waits, from->ended_waits, from->ended_wait_count * sizeof *waits);
    into->ended_wait_count = from->ended_wait_count;
    return true;
}

static bool copy_ended(grout_checker *into, const grout_checker *from) {
    uint64_t *ended =
        grout__realloc(into->ended_ctas, from->ended_words * sizeof *into->ended_ctas);
    if (!ended) {
        return false;
    }
    if (from->ended_words) {
        memcpy(ended, from->ended_ctas, from->ended_words * sizeof *ended);
    }
    into->ended_ctas = ended;
    into->ended_words = from->ended_words;
    return true;
}

static bool copy_state(grout_checker *into, const grout_checker *from) {
    into->has_deadlock = from->has_deadlock;
    into->has_step_limit = from->has_step_limit;
    into->suppressed = from->suppressed;
    into->accesses = from->accesses;
    into->async_ops = from->async_ops;
    into->barrier_phases = from->barrier_phases;
    into->local_peak = from->local_peak;
    memcpy(into->op_threads, from->op_threads,
           grout_module_get_op_count(from->info.module) * sizeof *into->op_threads);
    return copy_ended(into, from) && copy_ctas(into, from) && copy_slots(into, from) &&
           copy_waits(into, from) && grout_protocol__copy(&into->protocol, &from->protocol) &&
           grout_shadow__copy(&into->gmem, &from->gmem) &&
           grout_findings__copy(&into->findings, &from->findings);
}

void *grout_checker__snapshot(void *self) {
    grout_checker *checker = self;
    grout_checker *copy = grout__calloc(1, sizeof *copy);
    if (!copy) {
        return NULL;
    }
    copy->info = checker->info;
    copy->shape = checker->shape;
    copy->local_actors = checker->local_actors;
    copy->local_elements = checker->local_elements;
    copy->sync_op_count = checker->sync_op_count;
    copy->local_plane_count = checker->local_plane_count;
    copy->local_plane_sizes = checker->local_plane_sizes; /* borrowed, to make slots */
    copy->local_plane_pitches = checker->local_plane_pitches;
    copy->op_threads =
        grout__calloc(grout_module_get_op_count(copy->info.module), sizeof *copy->op_threads);
    if (!grout_shadow__init(&copy->gmem, checker->gmem.plane_count) || !copy->op_threads ||
        !copy_state(copy, checker)) {
        grout_checker__snapshot_free(self, copy);
        return NULL;
    }
    return copy;
}

bool grout_checker__restore(void *self, const void *snapshot) {
    grout_checker *checker = self;
    grout_pairs__forget(&checker->pairs);
    if (!copy_state(checker, snapshot)) {
        return grout_checker__fail(checker);
    }
    return true;
}

void grout_checker__snapshot_free(void *self, void *snapshot) {
    (void)self;
    if (snapshot) {
        grout_checker__deinit_state(snapshot);
        grout__free(snapshot);
    }
}

/* ---- hash ------------------------------------------------------------------------------------ */

static uint64_t hash_cta(const grout_checker *checker, const grout_cta_state *state) {
    uint64_t hash = grout_check__mix(grout_shadow__hash(&state->local), state->cta);
    hash = grout_check__mix(hash, state->exited_threads);
    for (size_t i = 0; i < get_wait_count(checker); i++) {
        hash =
            grout_check__mix(hash, (uint64_t)state->waits[i].waits << 32 | state->waits[i].epoch);
        hash = grout_check__mix(hash, state->told_since[i]);
    }
    for (uint32_t i = 0; i < checker->local_elements; i++) {
        hash =
            grout_check__mix(hash, grout_element__hash(&state->elements[i], checker->local_actors));
    }
    hash = grout_check__mix(hash, grout_cta_protocol__hash(checker, &state->protocol));
    for (uint32_t t = 0; t < checker->local_actors; t++) {
        hash = grout_check__mix(hash, (uint64_t)state->threads[t].wgmma_reported << 32 |
                                          state->threads[t].wgmma_reported_by_others);
    }
    return hash;
}

uint64_t grout_checker__hash(void *self) {
    const grout_checker *checker = self;
    uint64_t hash = grout_check__mix(grout_shadow__hash(&checker->gmem),
                                     grout_findings__hash(&checker->findings));
    uint64_t ctas = 0;
    for (uint32_t i = 0; i < checker->cta_count; i++) {
        if (checker->ctas[i].is_live) {
            ctas += hash_cta(checker, &checker->ctas[i]);
        }
    }
    hash = grout_check__mix(hash, grout_protocol__hash(&checker->protocol));
    return grout_check__mix(hash, ctas);
}
