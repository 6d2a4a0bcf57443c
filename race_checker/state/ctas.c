/*
 * ctas.c - the CTAs that run, each in a slot that is used again, and those that have ended.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "checker.h"
#include "history.h"

#include "alloc.h"

#include <string.h>

void grout_memory__free_ctas(grout_memory *memory) {
    for (uint32_t i = 0; i < memory->cta_count; i++) {
        grout_cta_state__deinit(&memory->ctas[i]);
    }
    grout__free(memory->ctas);
    memory->ctas = NULL;
    memory->cta_count = 0;
}

/* Room for the CTA in the table of slots. */
static bool reserve_slots(grout_checker *checker, uint32_t cta) {
    uint32_t count = checker->run.slot_count ? checker->run.slot_count : 16;
    uint32_t *slots = NULL;
    if (cta < checker->run.slot_count) {
        return true;
    }
    while (count <= cta) {
        count *= 2;
    }
    slots = grout__resize(checker->allocator, checker->run.slots, count * sizeof *slots);
    if (!slots) {
        return false;
    }
    memset(&slots[checker->run.slot_count], 0, (count - checker->run.slot_count) * sizeof *slots);
    checker->run.slots = slots;
    checker->run.slot_count = count;
    return true;
}

bool grout_memory__reserve_ctas(const grout_checker *checker, grout_memory *memory,
                                uint32_t count) {
    grout_cta_state *ctas = NULL;
    if (count <= memory->cta_count) {
        return true;
    }
    ctas = grout__resize(checker->allocator, memory->ctas, count * sizeof *ctas);
    if (!ctas) {
        return false;
    }
    memory->ctas = ctas;
    while (memory->cta_count < count) {
        if (!grout_cta_state__init(checker, &ctas[memory->cta_count])) {
            grout_cta_state__deinit(&ctas[memory->cta_count]);
            return false;
        }
        memory->cta_count++;
    }
    return true;
}

/* A slot that no CTA has; NULL without memory. */
static grout_cta_state *find_free_slot(grout_checker *checker) {
    for (uint32_t i = 0; i < checker->memory.cta_count; i++) {
        if (!checker->memory.ctas[i].life.is_live) {
            return &checker->memory.ctas[i];
        }
    }
    return grout_memory__reserve_ctas(checker, &checker->memory, checker->memory.cta_count + 1)
               ? &checker->memory.ctas[checker->memory.cta_count - 1]
               : NULL;
}

grout_cta_state *grout_checker__begin_cta(grout_checker *checker, uint32_t cta) {
    grout_cta_state *slot = reserve_slots(checker, cta) ? find_free_slot(checker) : NULL;
    if (!slot) {
        (void)grout_checker__fail(checker);
        return NULL;
    }
    checker->run.slots[cta] = (uint32_t)(slot - checker->memory.ctas) + 1;
    grout_cta_state__begin(slot, cta);
    return slot;
}

static bool has_ended(const grout_checker *checker, uint32_t cta) {
    return cta / 64 < checker->run.ended_words &&
           (checker->run.ended_ctas[cta / 64] >> cta % 64 & 1);
}

grout_cta_state *grout_checker__find_cta(grout_checker *checker, uint32_t cta) {
    uint32_t slot = cta < checker->run.slot_count ? checker->run.slots[cta] : 0;
    if (slot) {
        return &checker->memory.ctas[slot - 1];
    }
    return has_ended(checker, cta) ? NULL : grout_checker__begin_cta(checker, cta);
}

/* ---- ends ---- */

/* Remembers that the CTA has ended. False without memory. */
static bool note_ended(grout_checker *checker, uint32_t cta) {
    uint32_t word = cta / 64;
    if (word >= checker->run.ended_words) {
        uint32_t words =
            word + 1 > checker->run.ended_words * 2 ? word + 1 : checker->run.ended_words * 2;
        uint64_t *ended =
            grout__resize(checker->allocator, checker->run.ended_ctas, words * sizeof *ended);
        if (!ended) {
            return false;
        }
        memset(&ended[checker->run.ended_words], 0,
               (words - checker->run.ended_words) * sizeof *ended);
        checker->run.ended_ctas = ended;
        checker->run.ended_words = words;
    }
    checker->run.ended_ctas[word] |= UINT64_C(1) << cta % 64;
    return true;
}

bool grout_checker__end_cta(grout_checker *checker, grout_cta_state *state) {
    if (!note_ended(checker, state->life.cta)) {
        return grout_checker__fail(checker);
    }
    grout_checker__drop_waits(checker, state);
    if (state->local.slab.peak_bytes > checker->run.local_peak) {
        checker->run.local_peak = state->local.slab.peak_bytes;
    }
    if (!grout_checker__is_heard_of(checker)) {
        grout_fences__forget(&checker->memory.fences,
                             (uint64_t)state->life.cta * checker->local_actors,
                             checker->local_actors);
    }
    checker->run.slots[state->life.cta] = 0;
    state->life.is_live = false;
    return true;
}
