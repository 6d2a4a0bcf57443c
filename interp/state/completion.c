/* completion.c - the clock sets of phases, in the state of the CTA or in sheets.
 * SPDX-License-Identifier: Apache-2.0 */
#include "completion.h"

#include "sheets.h"

#include <string.h>

/* ---- in the state -----------------------------------------------------------------------------
 */

/* The sets of the element's phase that lies at this place among those that are kept. */
static uint32_t *get_flat(const grout_cta *cta, uint32_t element, uint32_t at) {
    const grout_machine *machine = cta->machine;
    return (uint32_t *)(void *)(cta->state + machine->at.snapshots) +
           ((size_t)element * machine->at.snapshots_kept + at) *
               grout_machine__phase_words(machine);
}

/* The same where they are rows: the number of the row. */
static uint32_t *get_row(const grout_cta *cta, uint32_t element, uint32_t at) {
    const grout_machine *machine = cta->machine;
    return (uint32_t *)(void *)(cta->state + machine->at.snapshots) +
           (size_t)element * machine->at.snapshots_kept + at;
}

/* ---- in sheets --------------------------------------------------------------------------------
 */

/* Keeps sets as a row, and knows them as the newest of the CTA: the next ones are much like them.
 */
static uint32_t keep(const grout_cta *cta, const uint32_t *clocks) {
    grout_machine *machine = cta->machine;
    const size_t words = grout_machine__phase_words(machine);
    uint32_t *newest = &grout_cta__head(cta)->newest_clocks;
    const uint32_t row = grout_sheets__keep(machine, clocks, words, *newest);
    const uint32_t before = *newest;
    *newest = grout_sheets__share(machine, row);
    grout_sheets__drop(machine, before, words);
    return row;
}

static void replace(const grout_cta *cta, uint32_t *row, const uint32_t *clocks) {
    const uint32_t before = *row;
    *row = keep(cta, clocks);
    grout_sheets__drop(cta->machine, before, grout_machine__phase_words(cta->machine));
}

/* ---- completed phases -------------------------------------------------------------------------
 */

const uint32_t *grout_completion__get(const grout_cta *cta, uint32_t element, uint32_t phase) {
    const grout_machine *machine = cta->machine;
    const uint32_t at = phase & (machine->at.snapshots_kept - 1);
    if (!machine->at.has_sheets) {
        return get_flat(cta, element, at);
    }
    grout_sheets__read(machine, *get_row(cta, element, at), grout_machine__phase_words(machine),
                       machine->completed_clocks);
    return machine->completed_clocks;
}

void grout_completion__put(const grout_cta *cta, uint32_t element, uint32_t phase,
                           const uint32_t *clocks) {
    const grout_machine *machine = cta->machine;
    const uint32_t at = phase & (machine->at.snapshots_kept - 1);
    if (machine->at.has_sheets) {
        replace(cta, get_row(cta, element, at), clocks);
    } else {
        memcpy(get_flat(cta, element, at), clocks,
               grout_machine__phase_words(machine) * sizeof *clocks);
    }
}

void grout_completion__forget(const grout_cta *cta, uint32_t element) {
    grout_machine *machine = cta->machine;
    for (uint32_t i = 0; machine->at.has_sheets && i < machine->at.snapshots_kept; i++) {
        uint32_t *row = get_row(cta, element, i);
        grout_sheets__drop(machine, *row, grout_machine__phase_words(machine));
        *row = 0;
    }
}

void grout_completion__end_cta(const grout_cta *cta) {
    grout_machine *machine = cta->machine;
    if (machine->at.has_sheets && machine->slot_count > 1) {
        uint32_t *newest = &grout_cta__head(cta)->newest_clocks;
        grout_sheets__drop(machine, *newest, grout_machine__phase_words(machine));
        *newest = 0;
    }
}

static uint32_t count_sets_of_phase(const grout_machine *machine) {
    return machine->plan->has_narrow_waits ? 2 : 1;
}

uint32_t grout_completion__count_sets(const grout_machine *machine) {
    return machine->at.snapshots_kept * count_sets_of_phase(machine);
}

/* Where the foreign word of a set of a phase is. */
static size_t get_foreign_index(const grout_machine *machine, uint32_t set) {
    return (size_t)(set + 1) * machine->plan->order.words - 1;
}

uint32_t grout_completion__get_foreign(const grout_cta *cta, uint32_t element, uint32_t set) {
    const grout_machine *machine = cta->machine;
    const uint32_t sets = count_sets_of_phase(machine), at = set / sets;
    const size_t index = get_foreign_index(machine, set % sets);
    return machine->at.has_sheets ? grout_sheets__get(machine, *get_row(cta, element, at),
                                                      grout_machine__phase_words(machine), index)
                                  : get_flat(cta, element, at)[index];
}

uint64_t grout_completion__hash(const grout_cta *cta, uint64_t hash) {
    const grout_machine *machine = cta->machine;
    const uint32_t count = machine->plan->element_count * machine->at.snapshots_kept;
    if (!machine->at.has_sheets) {
        return grout_foreign__hash_sets(machine, hash, get_flat(cta, 0, 0),
                                        (size_t)count * count_sets_of_phase(machine));
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t row = *get_row(cta, 0, i);
        hash = grout_hash__word(hash, row == 0 ? 0 : 1);
        if (row != 0) {
            grout_sheets__read(machine, row, grout_machine__phase_words(machine),
                               machine->completed_clocks);
            hash = grout_foreign__hash_sets(machine, hash, machine->completed_clocks,
                                            count_sets_of_phase(machine));
        }
    }
    return hash;
}

/* ---- phases that have begun -------------------------------------------------------------------
 */

static uint32_t *get_own(grout_phase *phase) {
    return (uint32_t *)(void *)(phase + 1);
}

uint32_t *grout_phase__begin_clocks(const grout_cta *cta, grout_phase *phase) {
    grout_machine *machine = cta->machine;
    if (!machine->at.has_sheets) {
        return get_own(phase);
    }
    grout_sheets__read(machine, phase->clocks, grout_machine__phase_words(machine),
                       machine->open_clocks);
    return machine->open_clocks;
}

void grout_phase__end_clocks(const grout_cta *cta, grout_phase *phase) {
    if (cta->machine->at.has_sheets) {
        replace(cta, &phase->clocks, cta->machine->open_clocks);
    }
}

uint32_t grout_phase__get_foreign(const grout_machine *machine, grout_phase *phase, uint32_t set) {
    const size_t index = get_foreign_index(machine, set);
    return machine->at.has_sheets ? grout_sheets__get(machine, phase->clocks,
                                                      grout_machine__phase_words(machine), index)
                                  : get_own(phase)[index];
}

void grout_phase__drop_clocks(const grout_cta *cta, grout_phase *phase) {
    grout_machine *machine = cta->machine;
    if (machine->at.has_sheets) {
        grout_sheets__drop(machine, phase->clocks, grout_machine__phase_words(machine));
        phase->clocks = 0;
    }
}
