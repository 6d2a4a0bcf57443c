/* protocol.c - the life of what the rules of barriers and semaphores remember.
 * SPDX-License-Identifier: Apache-2.0 */
#include "checker.h"

#include "alloc.h"
#include "mix.h"

#include <string.h>

/* ---- lists -------------------------------------------------------------------------------------
 */

bool grout_check__reserve(void **items, uint32_t count, uint32_t *capacity, size_t size) {
    uint32_t wanted = *capacity ? *capacity * 2 : 4;
    void *grown = NULL;
    if (count < *capacity) {
        return true;
    }
    grown = grout__realloc(*items, wanted * size);
    if (!grown) {
        return false;
    }
    *items = grown;
    *capacity = wanted;
    return true;
}

bool grout_check__copy_list(void **items, uint32_t *capacity, const void *from, uint32_t count,
                            size_t size) {
    if (*capacity < count) {
        void *grown = grout__realloc(*items, count * size);
        if (!grown) {
            return false;
        }
        *items = grown;
        *capacity = count;
    }
    if (count) {
        memcpy(*items, from, count * size);
    }
    return true;
}

/* ---- elements ----------------------------------------------------------------------------------
 */

void grout_element__deinit(grout_element_state *element) {
    grout__free(element->phases);
    grout__free(element->known);
    grout__free(element->dropped);
    grout__free(element->contributors);
}

/* Only the memory stays. */
static void forget_element(grout_element_state *element) {
    const grout_element_state kept = *element;
    memset(element, 0, sizeof *element);
    element->phases = kept.phases;
    element->known = kept.known;
    element->capacity = kept.capacity;
    element->dropped = kept.dropped;
    element->dropped_capacity = kept.dropped_capacity;
    element->contributors = kept.contributors;
    element->contributor_capacity = kept.contributor_capacity;
}

void grout_element__begin(grout_element_state *element) {
    forget_element(element);
}

void grout_element__renew(grout_element_state *element) {
    const grout_element_state kept = *element;
    forget_element(element);
    element->phase_base = kept.phase_base;
    element->last_load = kept.last_load;
    element->ended = kept.ended;
    element->ended_actor = kept.ended_actor;
    element->ended_epoch = kept.ended_epoch;
}

/* Phases and what each knows, with room for as many as there are. */
static bool copy_phases(grout_element_state *copy, const grout_element_state *element,
                        uint32_t local_actors) {
    size_t known_size = (size_t)local_actors * sizeof *copy->known;
    if (copy->capacity < element->count) {
        grout_phase_state *phases = grout__realloc(copy->phases, element->count * sizeof *phases);
        uint32_t *known = NULL;
        if (!phases) {
            return false;
        }
        copy->phases = phases;
        known = grout__realloc(copy->known, element->count * known_size);
        if (!known) {
            return false;
        }
        copy->known = known;
        copy->capacity = element->count;
    }
    if (element->count) {
        memcpy(copy->phases, grout_element__at(element, 0), element->count * sizeof *copy->phases);
        memcpy(copy->known, grout_element__get_known(element, local_actors, 0),
               element->count * known_size);
    }
    return true;
}

bool grout_element__copy(grout_element_state *copy, const grout_element_state *element,
                         uint32_t local_actors) {
    grout_element_state made;
    void *dropped = copy->dropped, *contributors = copy->contributors;
    bool done = copy_phases(copy, element, local_actors);
    done = grout_check__copy_list(&dropped, &copy->dropped_capacity, element->dropped,
                                  element->dropped_count, sizeof *copy->dropped) &&
           done;
    done = grout_check__copy_list(&contributors, &copy->contributor_capacity, element->contributors,
                                  element->contributor_count, sizeof *copy->contributors) &&
           done;
    copy->dropped = dropped;
    copy->contributors = contributors;
    if (!done) {
        return false;
    }
    made = *copy;
    *copy = *element;
    copy->phases = made.phases;
    copy->known = made.known;
    copy->capacity = made.capacity;
    copy->head = 0;
    copy->dropped = made.dropped;
    copy->dropped_capacity = made.dropped_capacity;
    copy->contributors = made.contributors;
    copy->contributor_capacity = made.contributor_capacity;
    return true;
}

static uint64_t hash_phase(uint64_t hash, const grout_phase_state *phase) {
    hash = grout_check__mix(hash, (uint64_t)phase->contribution.op << 32 | phase->early.op);
    hash = grout_check__mix(hash, (uint64_t)phase->wait.op << 32 | phase->missed.op);
    return grout_check__mix(hash, (uint64_t)phase->arrived << 2 | (uint64_t)phase->has_all << 1 |
                                      (uint64_t)phase->has_wait);
}

uint64_t grout_element__hash(const grout_element_state *element, uint32_t local_actors) {
    uint64_t hash =
        grout_check__mix(element->skipped, (uint64_t)element->first << 32 | element->full);
    uint64_t contributors = 0;
    hash = grout_check__mix(hash, element->last_load);
    hash = grout_check__mix(hash, (uint64_t)element->init.op << 32 | element->init_epoch);
    for (uint32_t i = 0; i < element->count; i++) {
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

/* ---- a CTA's -----------------------------------------------------------------------------------
 */

static size_t count_visits(const grout_checker *checker) {
    return (size_t)checker->local_actors * checker->sync_op_count;
}

static size_t count_named(const grout_checker *checker) {
    return (size_t)checker->local_actors * GROUT_NAMED_MAX;
}

bool grout_cta_protocol__init(const grout_checker *checker, grout_cta_protocol *protocol) {
    protocol->visits = grout__calloc(count_visits(checker), sizeof *protocol->visits);
    protocol->rendezvous = grout__calloc(checker->local_actors, sizeof *protocol->rendezvous);
    protocol->named = grout__calloc(count_named(checker), sizeof *protocol->named);
    return protocol->visits && protocol->rendezvous && protocol->named;
}

void grout_cta_protocol__deinit(grout_cta_protocol *protocol) {
    grout__free(protocol->visits);
    grout__free(protocol->rendezvous);
    grout__free(protocol->named);
}

void grout_cta_protocol__begin(const grout_checker *checker, grout_cta_protocol *protocol) {
    memset(protocol->visits, 0, count_visits(checker) * sizeof *protocol->visits);
    memset(protocol->rendezvous, 0, checker->local_actors * sizeof *protocol->rendezvous);
    memset(protocol->named, 0, count_named(checker) * sizeof *protocol->named);
}

void grout_cta_protocol__copy(const grout_checker *checker, grout_cta_protocol *copy,
                              const grout_cta_protocol *protocol) {
    memcpy(copy->visits, protocol->visits, count_visits(checker) * sizeof *copy->visits);
    memcpy(copy->rendezvous, protocol->rendezvous,
           checker->local_actors * sizeof *copy->rendezvous);
    memcpy(copy->named, protocol->named, count_named(checker) * sizeof *copy->named);
}

/* Visits are words only. */
uint64_t grout_cta_protocol__hash(const grout_checker *checker,
                                  const grout_cta_protocol *protocol) {
    uint64_t hash = 0;
    for (uint32_t i = 0; i < checker->local_actors; i++) {
        hash = grout_check__mix(hash, protocol->rendezvous[i].pending.op);
    }
    for (size_t i = 0; i < count_named(checker); i++) {
        hash = grout_check__mix(hash, protocol->named[i].generation);
    }
    return hash;
}

/* ---- the launch's ------------------------------------------------------------------------------
 */

void grout_protocol__deinit(grout_protocol *protocol) {
    for (uint32_t i = 0; i < protocol->semaphore_count; i++) {
        grout__free(protocol->semaphores[i].waits);
        grout__free(protocol->semaphores[i].signals);
    }
    grout__free(protocol->semaphores);
    memset(protocol, 0, sizeof *protocol);
}

static bool copy_semaphore(grout_semaphore_state *copy, const grout_semaphore_state *semaphore) {
    void *waits = copy->waits, *signals = copy->signals;
    bool done = grout_check__copy_list(&waits, &copy->wait_capacity, semaphore->waits,
                                       semaphore->wait_count, sizeof *copy->waits);
    done = grout_check__copy_list(&signals, &copy->signal_capacity, semaphore->signals,
                                  semaphore->signal_count, sizeof *copy->signals) &&
           done;
    copy->waits = waits;
    copy->signals = signals;
    copy->object = semaphore->object;
    copy->index = semaphore->index;
    copy->cta = semaphore->cta;
    copy->taken = semaphore->taken;
    copy->wait_count = done ? semaphore->wait_count : 0;
    copy->signal_count = done ? semaphore->signal_count : 0;
    return done;
}

bool grout_protocol__copy(grout_protocol *copy, const grout_protocol *protocol) {
    copy->competing = protocol->competing;
    for (uint32_t i = protocol->semaphore_count; i < copy->semaphore_count; i++) {
        grout__free(copy->semaphores[i].waits);
        grout__free(copy->semaphores[i].signals);
    }
    if (copy->semaphore_count > protocol->semaphore_count) {
        copy->semaphore_count = protocol->semaphore_count;
    }
    while (copy->semaphore_count < protocol->semaphore_count) {
        void *semaphores = copy->semaphores;
        if (!grout_check__reserve(&semaphores, copy->semaphore_count, &copy->semaphore_capacity,
                                  sizeof *copy->semaphores)) {
            return false;
        }
        copy->semaphores = semaphores;
        memset(&copy->semaphores[copy->semaphore_count++], 0, sizeof *copy->semaphores);
    }
    for (uint32_t i = 0; i < protocol->semaphore_count; i++) {
        if (!copy_semaphore(&copy->semaphores[i], &protocol->semaphores[i])) {
            return false;
        }
    }
    return true;
}

uint64_t grout_protocol__hash(const grout_protocol *protocol) {
    uint64_t sum = protocol->competing.op != 0;
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
