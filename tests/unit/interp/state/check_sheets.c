/* check_sheets.c - rows in sheets, compared with copies of the rows.
 * SPDX-License-Identifier: Apache-2.0 */
#include "interp/state/sheets.h"
#include "tests/tests.h"

#include <string.h>

enum { ROWS = 40, WORDS_MAX = 70000 };

static uint32_t draw(uint64_t *state, uint32_t below) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % below;
}

/* A row that differs from another one in few words; some are zeros. */
static void change(uint64_t *state, uint32_t *words, size_t count) {
    const uint32_t changes = draw(state, 4);
    if (draw(state, 10) == 0) {
        memset(words, 0, count * sizeof *words);
    }
    for (uint32_t i = 0; i < changes; i++) {
        words[draw(state, (uint32_t)count)] = draw(state, 3);
    }
}

static void compare(const grout_machine *machine, uint32_t row, const uint32_t *words, size_t count,
                    uint64_t *state) {
    static uint32_t read[WORDS_MAX];
    grout_sheets__read(machine, row, count, read);
    ck_assert_mem_eq(read, words, count * sizeof *words);
    for (int i = 0; i < 20; i++) {
        const size_t at = draw(state, (uint32_t)count);
        ck_assert_uint_eq(grout_sheets__get(machine, row, count, at), words[at]);
    }
    bool is_zero = true;
    for (size_t i = 0; i < count; i++) {
        is_zero = is_zero && words[i] == 0;
    }
    ck_assert(is_zero == (row == 0));
}

static const size_t counts[] = {1, 63, 64, 65, 4096, 4097, WORDS_MAX};

TEST_EACH(rows_are_what_was_kept, COUNT_OF(counts)) {
    const size_t count = counts[_i];
    static grout_machine machine;
    static uint32_t words[ROWS][WORDS_MAX];
    uint32_t rows[ROWS] = {0}, newest = 0;
    uint64_t state = 5;
    memset(&machine, 0, sizeof machine);
    memset(words, 0, sizeof words);
    grout_pool *pool = &machine.pools[GROUT_POOL_SHEETS];
    pool->item_size = grout_sheet_size;
    for (uint32_t i = 0; i < 400; i++) {
        const uint32_t at = draw(&state, ROWS), from = draw(&state, ROWS);
        memmove(words[at], words[from], count * sizeof words[0][0]);
        change(&state, words[at], count);
        const uint32_t before = rows[at];
        rows[at] = grout_sheets__keep(&machine, words[at], count, i % 3 == 0 ? rows[from] : newest);
        grout_sheets__drop(&machine, before, count);
        grout_sheets__drop(&machine, newest, count);
        newest = grout_sheets__share(&machine, rows[at]);
        compare(&machine, rows[at], words[at], count, &state);
    }
    for (uint32_t i = 0; i < ROWS; i++) {
        compare(&machine, rows[i], words[i], count, &state);
        grout_sheets__drop(&machine, rows[i], count);
    }
    grout_sheets__drop(&machine, newest, count);
    uint32_t free_count = 0; /* nothing is left */
    for (uint32_t i = pool->first_free; i != 0; i = *(uint32_t *)grout_pool__at(pool, i)) {
        free_count++;
    }
    ck_assert_uint_eq(free_count + 1, pool->count == 0 ? 1 : pool->count);
    grout_pool__free(pool, &machine.heap);
}

TEST(alike_rows_share_sheets) {
    static grout_machine machine;
    static uint32_t words[WORDS_MAX];
    memset(&machine, 0, sizeof machine);
    grout_pool *pool = &machine.pools[GROUT_POOL_SHEETS];
    pool->item_size = grout_sheet_size;
    for (uint32_t i = 0; i < WORDS_MAX; i++) {
        words[i] = i + 1;
    }
    uint32_t row = grout_sheets__keep(&machine, words, WORDS_MAX, 0);
    const uint32_t whole = pool->count;
    for (size_t i = 0; i < 100; i++) {
        words[700 * i]++;
        row = grout_sheets__keep(&machine, words, WORDS_MAX, row);
    }
    ck_assert_uint_le(pool->count, whole + 300); /* a leaf, and two above it */
    ck_assert_uint_eq(grout_sheets__keep(&machine, words, WORDS_MAX, row), row);
    ck_assert_uint_le(pool->count, whole + 300);
    grout_pool__free(pool, &machine.heap);
}

TEST(the_limit_of_memory_is_noted) {
    static grout_machine machine;
    static const uint32_t words[100] = {1};
    memset(&machine, 0, sizeof machine);
    machine.pools[GROUT_POOL_SHEETS].item_size = grout_sheet_size;
    machine.heap.limit = 100;
    ck_assert_uint_eq(grout_sheets__keep(&machine, words, 100, 0), 0);
    ck_assert(machine.run.has_failed);
}
