/* check_areas.c - which areas meet: against a list that is walked.
 * SPDX-License-Identifier: Apache-2.0 */
#include "interp/state/areas.h"
#include "tests/tests.h"

#include <stdlib.h>
#include <string.h>

enum { MEMBERS = 300, ROUNDS = 3000 };

typedef struct entry {
    bool is_in;
    uint64_t order;
    grout_area area;
} entry;

typedef struct fixture {
    grout_heap heap;
    grout_areas areas;
    entry list[MEMBERS]; /* by number */
    uint64_t orders, random;
} fixture;

static uint32_t draw(fixture *f, uint32_t count) {
    f->random = f->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(f->random >> 33) % count;
}

/* There are few objects, some of which have bytes in common, and few places, so that many areas are
 * equal. */
static grout_area draw_area(fixture *f, uint32_t size) {
    const int64_t object = 1 + (int64_t)draw(f, 6);
    grout_area area = {.object = (uint64_t)object, .apart = draw(f, 8) == 0 ? 1 + draw(f, 2) : 0};
    area.dims[GROUT_AREA_SPACE] = (grout_area_side){object / 5, object / 5 + 1};
    area.dims[GROUT_AREA_BYTES] = (grout_area_side){object * 10, object * 10 + 15};
    for (uint32_t dim = GROUT_AREA_BOX; dim < GROUT_AREA_DIMS; dim++) {
        const int64_t low = dim < GROUT_AREA_BOX + 2 ? draw(f, size) : 0;
        area.dims[dim] = (grout_area_side){low, low + (low == 0 ? 1 : 1 + draw(f, 4))};
    }
    return area;
}

static bool meets(const grout_area *a, const grout_area *b) {
    for (uint32_t dim = 0; dim < GROUT_AREA_DIMS; dim++) {
        if (dim >= GROUT_AREA_BOX && a->object != b->object) {
            break;
        }
        if (a->dims[dim].low >= b->dims[dim].high || b->dims[dim].low >= a->dims[dim].high) {
            return false;
        }
    }
    return true;
}

/* The members of a group, the newest first: their areas are equal. */
static void look_at(const fixture *f, uint32_t group, uint64_t order, bool *is_found) {
    const uint32_t newest = grout_areas__get_newest(&f->areas, group);
    uint64_t above = f->list[newest].order + 1;
    ck_assert_uint_gt(f->list[newest].order, order);
    for (uint32_t i = newest; i != 0; i = grout_areas__get_older(&f->areas, i)) {
        ck_assert(f->list[i].is_in && !is_found[i] && f->list[i].order < above);
        ck_assert_mem_eq(&f->list[i].area, &f->list[newest].area, sizeof f->list[i].area);
        above = f->list[i].order;
        is_found[i] = f->list[i].order > order;
    }
}

static void search(const fixture *f, const grout_area *area, uint64_t order) {
    bool is_found[MEMBERS] = {false};
    for (uint32_t group = grout_areas__next(&f->areas, area, order, 0); group != 0;
         group = grout_areas__next(&f->areas, area, order, group)) {
        look_at(f, group, order, is_found);
    }
    for (uint32_t i = 1; i < MEMBERS; i++) {
        const entry *it = &f->list[i];
        ck_assert(is_found[i] == (it->is_in && it->order > order && meets(&it->area, area)));
    }
}

static void change(fixture *f, uint32_t size) {
    const uint32_t number = 1 + draw(f, MEMBERS - 1);
    entry *it = &f->list[number];
    ck_assert(grout_areas__has(&f->areas, number) == it->is_in);
    if (it->is_in) {
        grout_areas__remove(&f->areas, number);
        it->is_in = false;
    } else {
        *it = (entry){.is_in = true, .order = ++f->orders, .area = draw_area(f, size)};
        ck_assert(grout_areas__add(&f->areas, &f->heap, number, &it->area, it->order));
    }
}

/* Members come and go; small sizes have large groups, large ones have deep trees. */
TEST_EACH(searches_find_what_a_walk_finds, 4) {
    static const uint32_t sizes[] = {2, 5, 40, 1000};
    fixture *f = calloc(1, sizeof *f);
    f->random = (uint64_t)_i;
    grout_areas__init(&f->areas);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        change(f, sizes[_i]);
        if (round % 5 == 0) {
            const grout_area area = draw_area(f, sizes[_i]);
            search(f, &area, draw(f, 2) == 0 ? 0 : draw(f, (uint32_t)f->orders + 1));
        }
        if (round == ROUNDS / 2) {
            grout_areas__clear(&f->areas);
            memset(f->list, 0, sizeof f->list);
        }
    }
    grout_areas__free(&f->areas, &f->heap);
    free(f);
}

/* All leave again, in the order in which they came, and in the opposite one. */
TEST_EACH(all_leave, 2) {
    fixture *f = calloc(1, sizeof *f);
    grout_areas__init(&f->areas);
    for (uint32_t i = 1; i < MEMBERS; i++) {
        const grout_area area = draw_area(f, 1000);
        ck_assert(grout_areas__add(&f->areas, &f->heap, i, &area, i));
    }
    for (uint32_t i = 1; i < MEMBERS; i++) {
        grout_areas__remove(&f->areas, _i == 0 ? i : MEMBERS - i);
    }
    ck_assert_uint_eq(f->areas.root, 0);
    grout_areas__free(&f->areas, &f->heap);
    ck_assert_uint_eq(f->heap.used, 0);
    free(f);
}

TEST(without_memory) {
    fixture *f = calloc(1, sizeof *f);
    const grout_area area = draw_area(f, 5);
    grout_areas__init(&f->areas);
    f->heap.limit = 64; /* for neither; then for members alone */
    for (uint32_t round = 0; round < 2; round++) {
        ck_assert(!grout_areas__add(&f->areas, &f->heap, 3, &area, 1));
        ck_assert(!grout_areas__has(&f->areas, 3));
        ck_assert_uint_eq(grout_areas__next(&f->areas, &area, 0, 0), 0);
        f->heap.limit = 512;
    }
    f->heap.limit = 0;
    ck_assert(grout_areas__add(&f->areas, &f->heap, 3, &area, 1));
    ck_assert(grout_areas__has(&f->areas, 3));
    grout_areas__free(&f->areas, &f->heap);
    free(f);
}
