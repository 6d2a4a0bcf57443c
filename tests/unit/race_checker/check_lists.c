/* check_lists.c - structs with lists: copied whole, cleared, freed.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "race_checker/state/lists.h"
#include "tests/tests.h"

/* A list with room to spare, one that is always full, and plain members between them. */
typedef struct sample {
    uint64_t before;
    uint32_t *numbers;
    uint32_t number_count, number_capacity;
    bool between;
    double *all;
    uint32_t all_count;
    uint8_t after[3];
} sample;

static const grout_list_place SAMPLE_LISTS[] = {
    GROUT_LIST(sample, numbers, number_count, number_capacity),
    GROUT_LIST(sample, all, all_count, all_count)};
static const grout_list_table SAMPLE = GROUT_LIST_TABLE(sample, SAMPLE_LISTS);

/* A sample with this many items in each list. */
static sample make_sample(uint32_t count) {
    sample it = {.before = count + 100, .between = true, .after = {1, 2, (uint8_t)count}};
    for (uint32_t i = 0; i < count; i++) {
        void *numbers = it.numbers;
        ck_assert(grout_check__reserve(NULL, &numbers, i, &it.number_capacity, sizeof *it.numbers));
        it.numbers = numbers;
        it.numbers[it.number_count++] = i + count;
    }
    it.all = grout__new(NULL, count, sizeof *it.all);
    ck_assert_ptr_nonnull(it.all);
    it.all_count = count;
    for (uint32_t i = 0; i < count; i++) {
        it.all[i] = i + 0.5;
    }
    return it;
}

static void assert_equal(const sample *a, const sample *b) {
    ck_assert_uint_eq(a->before, b->before);
    ck_assert(a->between == b->between);
    ck_assert_mem_eq(a->after, b->after, sizeof a->after);
    ck_assert_uint_eq(a->number_count, b->number_count);
    ck_assert_uint_eq(a->all_count, b->all_count);
    for (uint32_t i = 0; i < a->number_count; i++) {
        ck_assert_uint_eq(a->numbers[i], b->numbers[i]);
        ck_assert(a->all[i] >= b->all[i] && a->all[i] <= b->all[i]);
    }
}

/* A copy is equal, has memory of its own, and becomes another struct's copy, longer or shorter. */
TEST(copies_are_equal_and_apart) {
    static const uint32_t COUNTS[] = {0, 3, 40, 5, 0, 41};
    sample copy = {0};
    for (size_t i = 0; i < sizeof COUNTS / sizeof *COUNTS; i++) {
        sample it = make_sample(COUNTS[i]);
        ck_assert(grout_lists__copy(&SAMPLE, NULL, &copy, &it));
        assert_equal(&copy, &it);
        ck_assert_uint_ge(copy.number_capacity, copy.number_count);
        ck_assert(COUNTS[i] == 0 || (copy.numbers != it.numbers && copy.all != it.all));
        grout_lists__free(&SAMPLE, &it);
    }
    grout_lists__free(&SAMPLE, &copy);
    ck_assert_ptr_null(copy.numbers);
    ck_assert_uint_eq(copy.before, 0);
}

TEST(clearing_keeps_the_memory) {
    sample it = make_sample(9);
    uint32_t *numbers = it.numbers, capacity = it.number_capacity;
    grout_lists__clear(&SAMPLE, &it);
    ck_assert_ptr_eq(it.numbers, numbers);
    ck_assert_uint_eq(it.number_capacity, capacity);
    ck_assert_uint_eq(it.number_count, 0);
    ck_assert_uint_eq(it.all_count, 0);
    ck_assert_uint_eq(it.before, 0);
    ck_assert(!it.between);
    grout_lists__free(&SAMPLE, &it);
}
