/*
 * sync_state.c - the life of what the rules of barriers and semaphores remember.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sync_state.h"

#include "alloc.h"
#include "mix.h"

#include <string.h>

/* ---- elements ---- */

_Static_assert(sizeof(grout_element_facts) == sizeof(uint64_t) + 4 * sizeof(uint32_t),
               "what is hashed has no padding");

static const grout_list_place ELEMENT_LISTS[] = {
    GROUT_LIST(grout_element_state, phases, end, capacity),
    GROUT_LIST(grout_element_state, known, known_count, known_capacity),
    GROUT_LIST(grout_element_state, dropped, dropped_count, dropped_capacity),
    GROUT_LIST(grout_element_state, contributors, contributor_count, contributor_capacity)};
static const grout_list_table ELEMENT = GROUT_LIST_TABLE(grout_element_state, ELEMENT_LISTS);

void grout_element__deinit(grout_element_state *element) {
    grout_lists__free(&ELEMENT, element);
}

void grout_element__begin(grout_element_state *element) {
    grout_lists__clear(&ELEMENT, element);
}

void grout_element__renew(grout_element_state *element) {
    const grout_element_state kept = *element;
    grout_lists__clear(&ELEMENT, element);
    element->phase_base = kept.phase_base;
    element->facts.last_load = kept.facts.last_load;
    element->ended = kept.ended;
    element->ended_actor = kept.ended_actor;
    element->ended_epoch = kept.ended_epoch;
}

bool grout_element__copy(grout_element_state *copy, const grout_element_state *element) {
    return grout_lists__copy(&ELEMENT, copy, element);
}

static uint64_t hash_phase(uint64_t hash, const grout_phase_state *phase) {
    hash = grout_check__mix(hash, (uint64_t)phase->contribution.op << 32 | phase->early.op);
    hash = grout_check__mix(hash, (uint64_t)phase->wait.op << 32 | phase->missed.op);
    return grout_check__mix(hash, (uint64_t)phase->arrived << 2 | (uint64_t)phase->has_all << 1 |
                                      (uint64_t)phase->has_wait);
}

uint64_t grout_element__hash(const grout_element_state *element, uint32_t local_actors) {
    uint64_t hash = grout_check__mix_bytes(0, &element->facts, sizeof element->facts);
    uint64_t contributors = 0;
    hash = grout_check__mix(hash, element->init.op);
    for (uint32_t i = 0; i < grout_element__count(element); i++) {
        const uint32_t *known = grout_element__get_known(element, local_actors, i);
        hash = hash_phase(hash, grout_element__at(element, i));
        for (uint32_t t = 0; t < local_actors; t++) {
            hash = grout_check__mix(hash, known[t]);
        }
    }
    for (uint32_t i = 0; i < element->dropped_count; i++) {
        hash = grout_check__mix(hash, (uint64_t)element->dropped[i].phase << 32 |
                                          element->dropped[i].contribution.op);
    }
    for (uint32_t i = 0; i < element->contributor_count; i++) { /* in whatever order they came */
        const grout_contributor *it = &element->contributors[i];
        uint64_t one = grout_check__mix((uint64_t)it->actor << 1 | (uint64_t)it->is_bytes,
                                        (uint64_t)it->epoch << 32 | it->phase);
        contributors += grout_check__mix(one, it->origin.op);
    }
    return grout_check__mix(hash, contributors);
}

/* ---- semaphores ---- */

static const grout_list_place SEMAPHORE_LISTS[] = {
    GROUT_LIST(grout_semaphore_state, waits, wait_count, wait_capacity),
    GROUT_LIST(grout_semaphore_state, signals, signal_count, signal_capacity)};
static const grout_list_table SEMAPHORE = GROUT_LIST_TABLE(grout_semaphore_state, SEMAPHORE_LISTS);

void grout_protocol__deinit(grout_protocol *protocol) {
    for (uint32_t i = 0; i < protocol->semaphore_count; i++) {
        grout_lists__free(&SEMAPHORE, &protocol->semaphores[i]);
    }
    grout__free(protocol->semaphores);
    memset(protocol, 0, sizeof *protocol);
}

/* As many semaphores. False without memory. */
static bool resize(grout_protocol *protocol, uint32_t count) {
    while (protocol->semaphore_count > count) {
        grout_lists__free(&SEMAPHORE, &protocol->semaphores[--protocol->semaphore_count]);
    }
    while (protocol->semaphore_count < count) {
        void *semaphores = protocol->semaphores;
        if (!grout_check__reserve(&semaphores, protocol->semaphore_count,
                                  &protocol->semaphore_capacity, sizeof *protocol->semaphores)) {
            return false;
        }
        protocol->semaphores = semaphores;
        memset(&protocol->semaphores[protocol->semaphore_count++], 0, sizeof *protocol->semaphores);
    }
    return true;
}

bool grout_protocol__copy(grout_protocol *copy, const grout_protocol *protocol) {
    if (!resize(copy, protocol->semaphore_count)) {
        return false;
    }
    for (uint32_t i = 0; i < protocol->semaphore_count; i++) {
        if (!grout_lists__copy(&SEMAPHORE, &copy->semaphores[i], &protocol->semaphores[i])) {
            return false;
        }
    }
    grout_protocol made = *protocol; /* all that is plain */
    made.semaphores = copy->semaphores;
    made.semaphore_capacity = copy->semaphore_capacity;
    *copy = made;
    return true;
}

uint64_t grout_protocol__hash(const grout_protocol *protocol) {
    uint64_t sum = (protocol->competing.op != 0) + 2u * (protocol->held_up.op != 0);
    for (uint32_t i = 0; i < protocol->semaphore_count; i++) {
        const grout_semaphore_state *it = &protocol->semaphores[i];
        uint64_t hash = grout_check__mix((uint64_t)it->object << 32 | it->index, it->cta);
        uint64_t waits = 0;
        for (uint32_t k = 0; k < it->wait_count; k++) {
            const grout_unit_wait *wait = &it->waits[k];
            uint64_t one = grout_check__mix((uint64_t)wait->cluster << 32 | wait->actor,
                                            (uint64_t)wait->epoch << 32 | wait->origin.op);
            waits += grout_check__mix(one, wait->no_decrement);
        }
        for (uint32_t k = 0; k < it->signal_count; k++) {
            const grout_unit_signal *signal = &it->signals[k];
            uint64_t one = grout_check__mix((uint64_t)signal->cluster << 32 | signal->actor,
                                            (uint64_t)signal->epoch << 32 | signal->origin.op);
            one = grout_check__mix(one, signal->unknown);
            if (signal->serial < it->taken) { /* in whatever order they came */
                waits += one;
            } else {
                hash = grout_check__mix(hash, one);
            }
        }
        sum += grout_check__mix(hash, waits);
    }
    return sum;
}
