/* sheets.c - rows of words as trees of sheets.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sheets.h"

#include <string.h>

enum { SHEET_WORDS = 64, SHEET_BITS = 6 };

typedef struct sheet {
    uint32_t link; /* of the pool */
    uint32_t owner_count;
    uint32_t words[SHEET_WORDS];
} sheet;

const uint32_t grout_sheet_size = sizeof(sheet);

static sheet *get_sheet(const grout_machine *machine, uint32_t number) {
    return grout_pool__at(&machine->pools[GROUT_POOL_SHEETS], number);
}

/* The words of a row that each child of its uppermost sheet has: 1, those are leaves. */
static size_t get_step(size_t count) {
    size_t step = 1;
    while (step << SHEET_BITS < count) {
        step <<= SHEET_BITS;
    }
    return step;
}

static size_t min(size_t a, size_t b) {
    return a < b ? a : b;
}

static bool is_zero(const uint32_t *words, size_t count) {
    uint32_t all = 0;
    for (size_t i = 0; i < count; i++) {
        all |= words[i];
    }
    return all == 0;
}

uint32_t grout_sheets__share(grout_machine *machine, uint32_t row) {
    if (row != 0) {
        get_sheet(machine, row)->owner_count++;
    }
    return row;
}

/* A sheet of up to 64 words, and zeros after them; the one that it is like, if that has the same.
 */
static uint32_t keep_sheet(grout_machine *machine, const uint32_t *words, size_t count,
                           uint32_t like) {
    if (like != 0 && memcmp(get_sheet(machine, like)->words, words, count * sizeof *words) == 0) {
        return grout_sheets__share(machine, like);
    }
    if (is_zero(words, count)) {
        return 0;
    }
    const uint32_t number = grout_pool__take(&machine->pools[GROUT_POOL_SHEETS], &machine->heap);
    if (number == 0) {
        machine->run.has_failed = true;
        return 0;
    }
    sheet *made = get_sheet(machine, number);
    made->owner_count = 1;
    memcpy(made->words, words, count * sizeof *words);
    return number;
}

static void drop(grout_machine *machine, uint32_t row, size_t step);

static uint32_t keep(grout_machine *machine, const uint32_t *words, size_t count, size_t step,
                     uint32_t like) {
    uint32_t own[SHEET_WORDS] = {0};
    if (step == 1) {
        return keep_sheet(machine, words, count, like);
    }
    for (size_t i = 0, at = 0; at < count; i++, at += step) {
        const uint32_t child = like == 0 ? 0 : get_sheet(machine, like)->words[i];
        own[i] = keep(machine, words + at, min(step, count - at), step >> SHEET_BITS, child);
    }
    const uint32_t kept = keep_sheet(machine, own, SHEET_WORDS, like);
    if (kept == like || kept == 0) { /* which has the children already, or there was no memory */
        for (size_t i = 0; i < SHEET_WORDS; i++) {
            drop(machine, own[i], step >> SHEET_BITS);
        }
    }
    return kept;
}

uint32_t grout_sheets__keep(grout_machine *machine, const uint32_t *words, size_t count,
                            uint32_t like) {
    return keep(machine, words, count, get_step(count), like);
}

static void drop(grout_machine *machine, uint32_t row, size_t step) {
    if (row == 0) {
        return;
    }
    GROUT_ASSERT(get_sheet(machine, row)->owner_count > 0);
    if (--get_sheet(machine, row)->owner_count > 0) {
        return;
    }
    for (size_t i = 0; step > 1 && i < SHEET_WORDS; i++) {
        drop(machine, get_sheet(machine, row)->words[i], step >> SHEET_BITS);
    }
    grout_pool__give(&machine->pools[GROUT_POOL_SHEETS], row);
}

void grout_sheets__drop(grout_machine *machine, uint32_t row, size_t count) {
    drop(machine, row, get_step(count));
}

static void read(const grout_machine *machine, uint32_t row, size_t count, size_t step,
                 uint32_t *words) {
    if (row == 0) {
        memset(words, 0, count * sizeof *words);
        return;
    }
    const sheet *top = get_sheet(machine, row);
    if (step == 1) {
        memcpy(words, top->words, count * sizeof *words);
        return;
    }
    for (size_t i = 0, at = 0; at < count; i++, at += step) {
        read(machine, top->words[i], min(step, count - at), step >> SHEET_BITS, words + at);
    }
}

void grout_sheets__read(const grout_machine *machine, uint32_t row, size_t count, uint32_t *words) {
    read(machine, row, count, get_step(count), words);
}

uint32_t grout_sheets__get(const grout_machine *machine, uint32_t row, size_t count, size_t index) {
    size_t step = get_step(count);
    GROUT_ASSERT(index < count);
    while (row != 0 && step > 1) {
        row = get_sheet(machine, row)->words[index / step];
        index %= step;
        step >>= SHEET_BITS;
    }
    return row == 0 ? 0 : get_sheet(machine, row)->words[index];
}
