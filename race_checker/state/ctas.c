/*
 * ctas.c - the CTAs that run, each in a slot that is used again, and those that have ended.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "checker.h"
#include "history.h"

#include "alloc.h"

#include <string.h>

/* ---- slots ---- */

static size_t get_wait_count(const grout_checker *checker) {
    return (size_t)checker->local_actors * checker->local_elements;
}

static bool init_slot(grout_checker *checker, grout_cta_state *state) {
    memset(state, 0, sizeof *state);
    if (!grout_shadow__init(&state->local, checker->local_plane_count)) {
        return false;
    }
    for (uint32_t i = 0; i < checker->local_plane_count; i++) {
        grout_shadow__set_plane(&state->local, i, checker->local_plane_sizes[i],
                                checker->local_plane_pitches[i]);
    }
    state->threads = grout__calloc(checker->local_actors, sizeof *state->threads);
    state->waits = grout__calloc(get_wait_count(checker), sizeof *state->waits);
    state->told_since = grout__calloc(get_wait_count(checker), sizeof *state->told_since);
    state->elements = grout__calloc(checker->local_elements, sizeof *state->elements);
    return grout_cta_protocol__init(checker, &state->protocol) && state->threads && state->waits &&
           state->told_since && state->elements;
}

static void deinit_slot(grout_checker *checker, grout_cta_state *state) {
    for (uint32_t i = 0; state->elements && i < checker->local_elements; i++) {
        grout_element__deinit(&state->elements[i]);
    }
    grout_cta_protocol__deinit(&state->protocol);
    grout_shadow__deinit(&state->local);
    grout__free(state->threads);
    grout__free(state->waits);
    grout__free(state->told_since);
    grout__free(state->elements);
}

static void begin_slot(grout_checker *checker, grout_cta_state *state, uint32_t cta) {
    state->cta = cta;
    state->is_live = true;
    state->exited_threads = 0;
    grout_shadow__reset(&state->local);
    memset(state->threads, 0, checker->local_actors * sizeof *state->threads);
    memset(state->waits, 0, get_wait_count(checker) * sizeof *state->waits);
    memset(state->told_since, 0, get_wait_count(checker) * sizeof *state->told_since);
    grout_cta_protocol__begin(checker, &state->protocol);
    for (uint32_t i = 0; i < checker->local_elements; i++) {
        grout_element__begin(&state->elements[i]);
    }
}

void grout_checker__free_ctas(grout_checker *checker) {
    for (uint32_t i = 0; i < checker->cta_count; i++) {
        deinit_slot(checker, &checker->ctas[i]);
    }
    grout__free(checker->ctas);
    grout__free(checker->slots);
}

/* Room for the CTA in the table of slots. */
static bool reserve_slots(grout_checker *checker, uint32_t cta) {
    uint32_t count = checker->slot_count ? checker->slot_count : 16;
    uint32_t *slots = NULL;
    if (cta < checker->slot_count) {
        return true;
    }
    while (count <= cta) {
        count *= 2;
    }
    slots = grout__realloc(checker->slots, count * sizeof *slots);
    if (!slots) {
        return false;
    }
    memset(&slots[checker->slot_count], 0, (count - checker->slot_count) * sizeof *slots);
    checker->slots = slots;
    checker->slot_count = count;
    return true;
}

bool grout_checker__reserve_ctas(grout_checker *checker, uint32_t count) {
    grout_cta_state *ctas = NULL;
    if (count <= checker->cta_count) {
        return true;
    }
    ctas = grout__realloc(checker->ctas, count * sizeof *ctas);
    if (!ctas) {
        return false;
    }
    checker->ctas = ctas;
    while (checker->cta_count < count) {
        if (!init_slot(checker, &ctas[checker->cta_count])) {
            deinit_slot(checker, &ctas[checker->cta_count]);
            return false;
        }
        checker->cta_count++;
    }
    return true;
}

/* A slot that no CTA has; NULL without memory. */
static grout_cta_state *find_free_slot(grout_checker *checker) {
    for (uint32_t i = 0; i < checker->cta_count; i++) {
        if (!checker->ctas[i].is_live) {
            return &checker->ctas[i];
        }
    }
    return grout_checker__reserve_ctas(checker, checker->cta_count + 1)
               ? &checker->ctas[checker->cta_count - 1]
               : NULL;
}

grout_cta_state *grout_checker__begin_cta(grout_checker *checker, uint32_t cta) {
    grout_cta_state *slot = reserve_slots(checker, cta) ? find_free_slot(checker) : NULL;
    if (!slot) {
        (void)grout_checker__fail(checker);
        return NULL;
    }
    checker->slots[cta] = (uint32_t)(slot - checker->ctas) + 1;
    begin_slot(checker, slot, cta);
    return slot;
}

static bool has_ended(const grout_checker *checker, uint32_t cta) {
    return cta / 64 < checker->ended_words && (checker->ended_ctas[cta / 64] >> cta % 64 & 1);
}

grout_cta_state *grout_checker__find_cta(grout_checker *checker, uint32_t cta) {
    uint32_t slot = cta < checker->slot_count ? checker->slots[cta] : 0;
    if (slot) {
        return &checker->ctas[slot - 1];
    }
    return has_ended(checker, cta) ? NULL : grout_checker__begin_cta(checker, cta);
}

/* ---- ends ---- */

/* Remembers that the CTA has ended. False without memory. */
static bool note_ended(grout_checker *checker, uint32_t cta) {
    uint32_t word = cta / 64;
    if (word >= checker->ended_words) {
        uint32_t words = word + 1 > checker->ended_words * 2 ? word + 1 : checker->ended_words * 2;
        uint64_t *ended = grout__realloc(checker->ended_ctas, words * sizeof *ended);
        if (!ended) {
            return false;
        }
        memset(&ended[checker->ended_words], 0, (words - checker->ended_words) * sizeof *ended);
        checker->ended_ctas = ended;
        checker->ended_words = words;
    }
    checker->ended_ctas[word] |= UINT64_C(1) << cta % 64;
    return true;
}

bool grout_checker__end_cta(grout_checker *checker, grout_cta_state *state) {
    if (!note_ended(checker, state->cta) || !grout_checker__keep_waits(checker, state)) {
        return grout_checker__fail(checker);
    }
    if (state->local.slab.peak_bytes > checker->local_peak) {
        checker->local_peak = state->local.slab.peak_bytes;
    }
    checker->slots[state->cta] = 0;
    state->is_live = false;
    return true;
}
