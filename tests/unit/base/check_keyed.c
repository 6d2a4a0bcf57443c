/* check_keyed.c - records by key: against a list of the same.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/keyed.h"
#include "tests/tests.h"

typedef struct item {
    grout_keyed head;
    uint64_t value;
} item;

enum { KEYS = 1500 };

typedef struct fixture {
    grout_heap heap;
    grout_pool records, buckets;
    grout_keyed_table table;
} fixture;

static void begin(fixture *f) {
    *f = (fixture){.heap.limit = 0};
    f->table = (grout_keyed_table){&f->records, &f->buckets};
    grout_keyed__init(f->table, sizeof(item));
}

static void end(fixture *f) {
    grout_pool__free(&f->records, &f->heap);
    grout_pool__free(&f->buckets, &f->heap);
}

static item *get_item(const fixture *f, uint32_t index) {
    return grout_pool__at(&f->records, index);
}

/* Every third key is taken out again; all others are found, each once. */
TEST(found_and_removed) {
    fixture f;
    uint32_t count = 0;
    uint64_t sum = 0;
    begin(&f);
    ck_assert_uint_eq(grout_keyed__next(f.table, 0), 0);
    ck_assert_uint_eq(grout_keyed__find(f.table, 1, 2), 0);
    for (uint64_t i = 0; i < KEYS; i++) {
        uint32_t index = grout_keyed__get(f.table, i % 7, i * i, &f.heap);
        ck_assert_uint_ne(index, 0);
        ck_assert_uint_eq(get_item(&f, index)->value, 0);
        get_item(&f, index)->value = i + 1;
        ck_assert_uint_eq(grout_keyed__get(f.table, i % 7, i * i, &f.heap), index);
    }
    for (uint64_t i = 0; i < KEYS; i += 3) {
        grout_keyed__remove(f.table, grout_keyed__find(f.table, i % 7, i * i));
    }
    for (uint64_t i = 0; i < KEYS; i++) {
        uint32_t index = grout_keyed__find(f.table, i % 7, i * i);
        ck_assert((index == 0) == (i % 3 == 0));
        ck_assert(index == 0 || get_item(&f, index)->value == i + 1);
    }
    for (uint32_t i = grout_keyed__next(f.table, 0); i != 0; i = grout_keyed__next(f.table, i)) {
        count++;
        sum += get_item(&f, i)->value;
    }
    ck_assert_uint_eq(count, KEYS - KEYS / 3);
    ck_assert_uint_eq(sum, (uint64_t)KEYS * (KEYS + 1) / 2 - 3 * (KEYS / 3 - 1) * (KEYS / 3) / 2 -
                               KEYS / 3);
    end(&f);
}

TEST(without_memory) {
    fixture f;
    begin(&f);
    f.heap.limit = 64;
    ck_assert_uint_eq(grout_keyed__get(f.table, 1, 2, &f.heap), 0);
    ck_assert_uint_eq(grout_keyed__find(f.table, 1, 2), 0);
    ck_assert_uint_eq(grout_keyed__next(f.table, 0), 0);
    f.heap.limit = 0;
    ck_assert_uint_ne(grout_keyed__get(f.table, 1, 2, &f.heap), 0);
    end(&f);
}

/* More buckets cannot be had: what there is stays found, and a later try makes them. */
TEST(without_memory_to_grow) {
    fixture f;
    uint64_t count = 0;
    begin(&f);
    while (f.buckets.count == 0 || count + 1 < f.buckets.count) {
        ck_assert_uint_ne(grout_keyed__get(f.table, count, 7, &f.heap), 0);
        count++;
    }
    const uint32_t buckets = f.buckets.count;
    f.heap.limit = f.heap.used;
    ck_assert_uint_eq(grout_keyed__get(f.table, count, 7, &f.heap), 0);
    for (uint64_t i = 0; i < count; i++) {
        ck_assert_uint_ne(grout_keyed__find(f.table, i, 7), 0);
    }
    f.heap.limit = 0;
    ck_assert_uint_ne(grout_keyed__get(f.table, count, 7, &f.heap), 0);
    ck_assert_uint_gt(f.buckets.count, UINT64_C(2) * (buckets - 1));
    for (uint64_t i = 0; i <= count; i++) {
        ck_assert_uint_ne(grout_keyed__find(f.table, i, 7), 0);
    }
    end(&f);
}
