/*
 * slot.c - the memory that a CTA has while it runs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "checker.h"

#include "alloc.h"

#include <string.h>

/* What a slot has how many of. */
typedef enum array_size {
    PER_ACTOR,
    PER_WAIT,
    PER_BARRIER,
    PER_NAMED,
    PER_VISIT,
    PER_OBJECT
} array_size;

/* An array of a block: where its pointer stands, and its items. */
typedef struct array_place {
    size_t pointer;
    size_t item_size;
    array_size count;
} array_place;

#define PLACE(TYPE, MEMBER, COUNT) \
    { offsetof(TYPE, MEMBER), sizeof *((TYPE *)0)->MEMBER, COUNT }

static const array_place FACTS[] = {PLACE(grout_cta_facts, waits, PER_WAIT),
                                    PLACE(grout_cta_facts, told_since, PER_BARRIER),
                                    PLACE(grout_cta_facts, reported, PER_ACTOR),
                                    PLACE(grout_cta_facts, rendezvous, PER_ACTOR),
                                    PLACE(grout_cta_facts, increases, PER_ACTOR),
                                    PLACE(grout_cta_facts, generations, PER_NAMED),
                                    PLACE(grout_cta_facts, left_in_flight, PER_OBJECT)};
static const array_place NOTES[] = {
    PLACE(grout_cta_notes, threads, PER_ACTOR), PLACE(grout_cta_notes, waits, PER_WAIT),
    PLACE(grout_cta_notes, rendezvous, PER_ACTOR), PLACE(grout_cta_notes, named, PER_NAMED),
    PLACE(grout_cta_notes, visits, PER_VISIT)};

/* Both structs are pointers alone: an array that stands in no table does not compile. */
_Static_assert(sizeof(grout_cta_facts) == sizeof FACTS / sizeof *FACTS * sizeof(void *),
               "each array of grout_cta_facts stands in FACTS");
_Static_assert(sizeof(grout_cta_notes) == sizeof NOTES / sizeof *NOTES * sizeof(void *),
               "each array of grout_cta_notes stands in NOTES");

enum { FACT_COUNT = sizeof FACTS / sizeof *FACTS, NOTE_COUNT = sizeof NOTES / sizeof *NOTES };

static size_t get_count(const grout_checker *checker, array_size count) {
    const size_t per_actor[] = {[PER_ACTOR] = 1,
                                [PER_WAIT] = checker->local_elements,
                                [PER_BARRIER] = checker->shape.barrier_count,
                                [PER_NAMED] = GROUT_NAMED_MAX,
                                [PER_VISIT] = checker->sync_op_count};
    if (count == PER_OBJECT) {
        return grout_module_get_object_count(checker->info.module);
    }
    return checker->local_actors * per_actor[count];
}

/* Bytes of an array, up to where the next one may start. */
static size_t get_bytes(const grout_checker *checker, const array_place *place) {
    return (get_count(checker, place->count) * place->item_size + 7) / 8 * 8;
}

/* A block with these arrays, whose pointers stand in arrays. False without memory. */
static bool make_block(const grout_checker *checker, const array_place *places, uint32_t count,
                       grout_arrays *block, void *arrays) {
    size_t at = 0;
    for (uint32_t i = 0; i < count; i++) {
        block->size += get_bytes(checker, &places[i]);
    }
    block->bytes = grout__new(checker->allocator, 1, block->size);
    for (uint32_t i = 0; block->bytes && i < count; i++) {
        const void *array = block->bytes + at;
        memcpy((char *)arrays + places[i].pointer, &array, sizeof array);
        at += get_bytes(checker, &places[i]);
    }
    GROUT_ASSERT(!block->bytes || at == block->size);
    return block->bytes != NULL;
}

static void copy_block(grout_arrays *copy, const grout_arrays *block) {
    GROUT_ASSERT(copy->size == block->size && copy->bytes != block->bytes);
    memcpy(copy->bytes, block->bytes, block->size);
}

bool grout_cta_state__init(const grout_checker *checker, grout_cta_state *state) {
    memset(state, 0, sizeof *state);
    if (!grout_shadow__init(&state->local, checker->allocator, checker->local_plane_count)) {
        return false;
    }
    for (uint32_t i = 0; i < checker->local_plane_count; i++) {
        grout_shadow__set_plane(&state->local, i, checker->local_plane_sizes[i],
                                checker->local_plane_pitches[i]);
    }
    state->elements =
        grout__new(checker->allocator, checker->local_elements, sizeof *state->elements);
    state->element_count = state->elements ? checker->local_elements : 0;
    return state->elements &&
           make_block(checker, FACTS, FACT_COUNT, &state->facts_block, &state->facts) &&
           make_block(checker, NOTES, NOTE_COUNT, &state->notes_block, &state->notes);
}

void grout_cta_state__deinit(grout_cta_state *state) {
    for (uint32_t i = 0; i < state->element_count; i++) {
        grout_element__deinit(&state->elements[i]);
    }
    grout__free(state->elements);
    grout__free(state->facts_block.bytes);
    grout__free(state->notes_block.bytes);
    grout_shadow__deinit(&state->local);
}

void grout_cta_state__begin(grout_cta_state *state, uint32_t cta) {
    GROUT_ASSERT(!state->life.is_live);
    GROUT_CLEAR_REST(state, grout_cta_state, element_count);
    state->life.cta = cta;
    state->life.is_live = true;
    grout_shadow__reset(&state->local);
    memset(state->facts_block.bytes, 0, state->facts_block.size);
    memset(state->notes_block.bytes, 0, state->notes_block.size);
    for (uint32_t i = 0; i < state->element_count; i++) {
        grout_element__begin(&state->elements[i]);
    }
}

bool grout_cta_state__copy(const grout_checker *checker, grout_cta_state *copy,
                           const grout_cta_state *state) {
    GROUT_ASSERT(copy->element_count == state->element_count);
    GROUT_COPY_REST(copy, state, grout_cta_state, element_count);
    copy_block(&copy->facts_block, &state->facts_block);
    copy_block(&copy->notes_block, &state->notes_block);
    for (uint32_t i = 0; i < state->element_count; i++) {
        if (!grout_element__copy(checker->allocator, &copy->elements[i], &state->elements[i])) {
            return false;
        }
    }
    return grout_shadow__copy(&copy->local, &state->local);
}

uint64_t grout_cta_state__hash(const grout_checker *checker, const grout_cta_state *state) {
    uint64_t hash =
        GROUT_HASH_FACTS(grout_shadow__hash(&state->local), state, grout_cta_state, life);
    hash = grout_hash__bytes(hash, state->facts_block.bytes, state->facts_block.size);
    for (uint32_t i = 0; i < state->element_count; i++) {
        hash =
            grout_hash__word(hash, grout_element__hash(&state->elements[i], checker->local_actors));
    }
    return hash;
}
