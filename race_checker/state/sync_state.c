/*
 * sync_state.c - the life of what the rules of barriers and semaphores remember.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sync_state.h"

#include "alloc.h"

#include <string.h>

/* ---- hashes ---- */

/* Which bytes of a record are origins, and where its facts begin. */
typedef struct record_shape {
    size_t origins_end, facts_at, size;
} record_shape;

static uint64_t hash_record(uint64_t hash, const void *record, record_shape shape) {
    const uint8_t *at = record;
    for (size_t i = 0; i < shape.origins_end; i += sizeof(grout_origin)) {
        grout_op_id op;
        memcpy(&op, at + i + offsetof(grout_origin, op), sizeof op);
        hash = grout_hash__word(hash, op);
    }
    return grout_hash__bytes(hash, at + shape.facts_at, shape.size - shape.facts_at);
}

/* The ops of the origins at its beginning, up to the last one, and the facts from the first on. */
#define HASH_RECORD(hash, record, type, last_origin, first_fact) \
    hash_record(                                                 \
        hash, record,                                            \
        (record_shape){GROUT_END_OF(type, last_origin), offsetof(type, first_fact), sizeof(type)})

/* ---- elements ---- */

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

bool grout_element__copy(const grout_allocator *allocator, grout_element_state *copy,
                         const grout_element_state *element) {
    return grout_lists__copy(&ELEMENT, allocator, copy, element);
}

uint64_t grout_element__hash(const grout_element_state *element, uint32_t local_actors) {
    uint64_t hash = GROUT_HASH_FACTS(element->init.op, element, grout_element_state, facts);
    uint64_t contributors = 0;
    for (uint32_t i = 0; i < grout_element__count(element); i++) {
        const uint32_t *known = grout_element__get_known(element, local_actors, i);
        hash = HASH_RECORD(hash, grout_element__at(element, i), grout_phase_state, missed, arrived);
        hash = grout_hash__bytes(hash, known, local_actors * sizeof *known);
    }
    for (uint32_t i = 0; i < element->dropped_count; i++) {
        hash = HASH_RECORD(hash, &element->dropped[i], grout_dropped_phase, contribution, phase);
    }
    for (uint32_t i = 0; i < element->contributor_count; i++) { /* in whatever order they came */
        contributors += HASH_RECORD(0, &element->contributors[i], grout_contributor, origin, actor);
    }
    return grout_hash__word(hash, contributors);
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
static bool resize(const grout_allocator *allocator, grout_protocol *protocol, uint32_t count) {
    while (protocol->semaphore_count > count) {
        grout_lists__free(&SEMAPHORE, &protocol->semaphores[--protocol->semaphore_count]);
    }
    while (protocol->semaphore_count < count) {
        void *semaphores = protocol->semaphores;
        if (!grout_check__reserve(allocator, &semaphores, protocol->semaphore_count,
                                  &protocol->semaphore_capacity, sizeof *protocol->semaphores)) {
            return false;
        }
        protocol->semaphores = semaphores;
        memset(&protocol->semaphores[protocol->semaphore_count++], 0, sizeof *protocol->semaphores);
    }
    return true;
}

bool grout_protocol__copy(const grout_allocator *allocator, grout_protocol *copy,
                          const grout_protocol *protocol) {
    if (!resize(allocator, copy, protocol->semaphore_count)) {
        return false;
    }
    for (uint32_t i = 0; i < protocol->semaphore_count; i++) {
        if (!grout_lists__copy(&SEMAPHORE, allocator, &copy->semaphores[i],
                               &protocol->semaphores[i])) {
            return false;
        }
    }
    grout_protocol made = *protocol; /* all that is plain */
    made.semaphores = copy->semaphores;
    made.semaphore_capacity = copy->semaphore_capacity;
    *copy = made;
    return true;
}

static uint64_t hash_semaphore(const grout_semaphore_state *semaphore) {
    uint64_t hash = GROUT_HASH_FACTS(0, semaphore, grout_semaphore_state, object);
    uint64_t sum = 0; /* of what came in whatever order */
    for (uint32_t i = 0; i < semaphore->wait_count; i++) {
        sum += HASH_RECORD(1, &semaphore->waits[i], grout_unit_wait, origin, cluster);
    }
    for (uint32_t i = 0; i < semaphore->signal_count; i++) {
        const grout_unit_signal *signal = &semaphore->signals[i];
        if (signal->serial < semaphore->taken) {
            sum += HASH_RECORD(2, signal, grout_unit_signal, origin, cluster);
        } else {
            hash = HASH_RECORD(hash, signal, grout_unit_signal, origin, cluster);
        }
    }
    return grout_hash__word(hash, sum);
}

uint64_t grout_protocol__hash(const grout_protocol *protocol) {
    uint64_t sum = (protocol->competing.op != 0) + 2u * (protocol->held_up.op != 0);
    for (uint32_t i = 0; i < protocol->semaphore_count; i++) {
        sum += hash_semaphore(&protocol->semaphores[i]);
    }
    return GROUT_HASH_REST(sum, protocol, grout_protocol, competing);
}
