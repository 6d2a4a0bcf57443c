/*
 * flying.c - the flights of each CTA by their areas.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flying.h"

static size_t get_count(const grout_machine *machine) {
    return (size_t)machine->slot_count * machine->plan->shape.cta_count;
}

/* Most launches never have that many flights. */
static bool make_all(grout_machine *machine) {
    if (machine->flying == NULL) {
        machine->flying =
            grout_machine__keep(machine, get_count(machine) * sizeof *machine->flying);
        for (size_t i = 0; machine->flying != NULL && i < get_count(machine); i++) {
            grout_areas__init(&machine->flying[i].sides.areas);
            grout_areas__init(&machine->flying[i].ops.areas);
        }
    }
    return machine->flying != NULL;
}

grout_flying *grout_flying__find(const grout_cta *cta) {
    grout_machine *machine = cta->machine;
    if (grout_cta__head(cta)->flight_count < GROUT_FLYING_MIN || !make_all(machine)) {
        return NULL;
    }
    grout_flying *it = &machine->flying[cta - machine->ctas];
    return it->is_off ? NULL : it;
}

uint32_t grout_flying__get_first_new(const grout_cta *cta, const grout_flying_index *index) {
    return index->last == 0 ? grout_cta__head(cta)->first_flight
                            : grout_flight__get(cta->machine, index->last)->next;
}

static void empty_index(grout_flying_index *it) {
    grout_areas__clear(&it->areas);
    it->last = 0;
}

static void empty(grout_flying *it) {
    empty_index(&it->sides);
    empty_index(&it->ops);
}

void grout_flying__turn_off(grout_flying *flying) {
    empty(flying);
    flying->is_off = true;
}

/* A flight of members_each consecutive members leaves. */
static void remove_from(const grout_machine *machine, grout_flying_index *it, uint32_t index,
                        uint32_t members_each) {
    if (it->last == 0) {
        return;
    }
    for (uint32_t i = 0; i < members_each; i++) {
        const uint32_t member = index * members_each + i;
        if (grout_areas__has(&it->areas, member)) {
            grout_areas__remove(&it->areas, member);
        }
    }
    it->last = it->last == index ? grout_flight__get(machine, index)->previous : it->last;
}

void grout_flying__remove(const grout_cta *cta, uint32_t index) {
    const grout_machine *machine = cta->machine;
    if (machine->flying != NULL) {
        grout_flying *it = &machine->flying[cta - machine->ctas];
        remove_from(machine, &it->sides, index, GROUT_FLYING_SIDES);
        remove_from(machine, &it->ops, index, 1);
    }
}

void grout_flying__forget(grout_machine *machine) {
    for (size_t i = 0; machine->flying != NULL && i < get_count(machine); i++) {
        empty(&machine->flying[i]);
    }
}

void grout_flying__free(grout_machine *machine) {
    for (size_t i = 0; machine->flying != NULL && i < get_count(machine); i++) {
        grout_areas__free(&machine->flying[i].sides.areas, &machine->heap);
        grout_areas__free(&machine->flying[i].ops.areas, &machine->heap);
    }
}
