/*
 * claims.c - elements of arrays that were touched: marked, compared, merged.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "claims.h"
#include "bits.h"

#include <string.h>

#define WORD_BITS 64

bool grout_claims__add(grout_machine *machine) {
    grout_claims *claims =
        grout_machine__keep(machine, (machine->array_count + 1) * sizeof *claims);
    for (uint32_t i = 0; claims != NULL && i < machine->array_count; i++) {
        const grout_gmem_array *array = &machine->arrays[i];
        size_t bytes = (size_t)grout_bits__get_word_count(array->count) * sizeof(uint64_t);
        if (array->direction == GROUT_DIRECTION_IN || array->direction == GROUT_DIRECTION_SCALAR) {
            continue;
        }
        claims[i].read = grout_machine__keep(machine, bytes);
        claims[i].wrote = grout_machine__keep(machine, bytes);
        if (claims[i].read == NULL || claims[i].wrote == NULL) {
            return false;
        }
    }
    machine->claims = claims;
    return claims != NULL;
}

static void mark(uint64_t *bits, const grout_run *runs, uint32_t count, int64_t element_bytes) {
    for (uint32_t i = 0; i < count; i++) {
        for (int64_t k = 0; k < runs[i].count; k++) {
            int64_t first = (runs[i].base + k * runs[i].stride) / element_bytes;
            grout_bits__set(bits, first, runs[i].length / element_bytes);
        }
    }
}

void grout_claims__note(grout_machine *machine, const grout_box *box) {
    const grout_box_plan *plan = box->plan;
    if (machine->claims == NULL || !grout_space_is_of_launch(plan->space) || plan->is_barrier) {
        return;
    }
    grout_claims *claims = &machine->claims[plan->param];
    if (claims->read == NULL) {
        return;
    }
    uint32_t count;
    const grout_run *runs = grout_box__get_runs(machine, box, &count);
    machine->run.has_failed |= runs == NULL;
    if (runs != NULL && plan->is_read) {
        mark(claims->read, runs, count, plan->element_bytes);
    }
    if (runs != NULL && plan->is_written) {
        mark(claims->wrote, runs, count, plan->element_bytes);
    }
}

static bool meet(const uint64_t *a, const uint64_t *b, int64_t words) {
    for (int64_t i = 0; i < words; i++) {
        if ((a[i] & b[i]) != 0) {
            return true;
        }
    }
    return false;
}

bool grout_claims__has_conflict(const grout_machine *machine, const grout_machine *other) {
    for (uint32_t i = 0; i < machine->array_count; i++) {
        const grout_claims *a = &machine->claims[i], *b = &other->claims[i];
        int64_t words = grout_bits__get_word_count(machine->arrays[i].count);
        if (a->read != NULL && (meet(a->wrote, b->wrote, words) || meet(a->wrote, b->read, words) ||
                                meet(a->read, b->wrote, words))) {
            return true;
        }
    }
    return false;
}

/* The elements of one word of claims. */
static void copy_elements(uint8_t *to, const uint8_t *from, uint64_t mask, size_t element_bytes) {
    if (mask == UINT64_MAX) {
        memcpy(to, from, WORD_BITS * element_bytes);
        return;
    }
    for (; mask != 0; mask &= mask - 1) {
        size_t at = (size_t)__builtin_ctzll(mask) * element_bytes;
        memcpy(to + at, from + at, element_bytes);
    }
}

static void merge_array(grout_gmem_array *into, const grout_gmem_array *from,
                        const uint64_t *wrote) {
    size_t element_bytes = into->count == 0 ? 0 : (size_t)(into->size / into->count);
    for (int64_t i = 0; i < grout_bits__get_word_count(into->count); i++) {
        size_t at = (size_t)i * WORD_BITS * element_bytes;
        copy_elements(into->data + at, from->data + at, wrote[i], element_bytes);
        if (into->written != NULL) {
            into->written[i] |= from->written[i];
        }
        if (into->tainted != NULL) {
            into->tainted[i] = (into->tainted[i] & ~wrote[i]) | (from->tainted[i] & wrote[i]);
        }
    }
    into->has_tainted |= from->has_tainted;
}

void grout_claims__merge(grout_machine *into, const grout_machine *from) {
    for (uint32_t i = 0; i < from->array_count; i++) {
        if (from->claims[i].wrote != NULL) {
            merge_array(&into->arrays[i], &from->arrays[i], from->claims[i].wrote);
        }
    }
}
