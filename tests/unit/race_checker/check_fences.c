/* check_fences.c - the lists of fences against plain arrays of them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "race_checker/state/fences.h"
#include "tests/tests.h"

#include <string.h>

enum { ACTORS = 40, FENCES_MAX = 60, STEPS = 3000, SEEDS = 20 };

/* The simple model: for each actor its fences, the oldest first. */
typedef struct fence_model {
    grout_fence fences[ACTORS][FENCES_MAX];
    uint32_t counts[ACTORS];
} fence_model;

static uint32_t draw(uint32_t *state, uint32_t limit) {
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % limit;
}

static bool says_as_much(const grout_fence *a, const grout_fence *b) {
    return a->covered == b->covered && a->warp == b->warp && a->kind == b->kind;
}

static void add(fence_model *model, grout_fences *fences, uint32_t actor,
                const grout_fence *fence) {
    uint32_t *count = &model->counts[actor];
    ck_assert(grout_fences__add(NULL, fences, actor, fence));
    if (*count == 0 || !says_as_much(&model->fences[actor][*count - 1], fence)) {
        model->fences[actor][(*count)++] = *fence;
    }
}

static void compare(const fence_model *model, const grout_fences *fences) {
    for (uint32_t i = 0; i < ACTORS; i++) {
        const grout_fence *fence = grout_fences__get_newest(fences, i);
        for (uint32_t left = model->counts[i]; left > 0; left--) {
            const grout_fence *expected = &model->fences[i][left - 1];
            ck_assert_ptr_nonnull(fence);
            ck_assert(says_as_much(fence, expected));
            ck_assert_uint_eq(fence->epoch, expected->epoch);
            fence = grout_fences__get_older(fences, fence);
        }
        ck_assert_ptr_null(fence);
    }
    ck_assert_ptr_null(grout_fences__get_newest(fences, UINT64_C(1) << 40));
}

/* The same lists, made actor by actor. */
static uint64_t hash_in_order(const fence_model *model) {
    grout_fences fences = {0};
    for (uint32_t i = ACTORS; i-- > 0;) {
        for (uint32_t k = 0; k < model->counts[i]; k++) {
            ck_assert(grout_fences__add(NULL, &fences, i, &model->fences[i][k]));
        }
    }
    uint64_t hash = grout_fences__hash(&fences);
    grout_fences__deinit(&fences);
    return hash;
}

static uint32_t count_all(const fence_model *model) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < ACTORS; i++) {
        count += model->counts[i];
    }
    return count;
}

TEST_EACH(lists_are_as_the_model_says, SEEDS) {
    static fence_model it, kept;
    grout_fences fences = {0}, copy = {0};
    uint32_t state = (uint32_t)_i + 1, most = 0;
    memset(&it, 0, sizeof it);
    memset(&kept, 0, sizeof kept);
    ck_assert_uint_eq(grout_fences__hash(&fences), 0);
    for (uint32_t step = 0; step < STEPS; step++) {
        uint32_t actor = draw(&state, ACTORS);
        if (draw(&state, 30) == 0 || it.counts[actor] == FENCES_MAX) {
            uint32_t first = actor / 4 * 4;
            grout_fences__forget(&fences, first, 4);
            memset(&it.counts[first], 0, 4 * sizeof it.counts[0]);
            continue;
        }
        const grout_fence fence = {.covered = draw(&state, 3) + step / 50,
                                   .epoch = step,
                                   .warp = (uint8_t)draw(&state, 2),
                                   .kind = (uint8_t)draw(&state, 2)};
        add(&it, &fences, actor, &fence);
        most = count_all(&it) > most ? count_all(&it) : most;
        if (step == STEPS / 2) {
            kept = it;
            ck_assert(grout_fences__copy(NULL, &copy, &fences));
        }
    }
    compare(&it, &fences);
    compare(&kept, &copy);
    /* What was forgotten is used again. */
    ck_assert_uint_eq(fences.count, most);
    ck_assert(grout_fences__hash(&fences) == hash_in_order(&it));
    ck_assert(grout_fences__hash(&fences) != grout_fences__hash(&copy));
    ck_assert(grout_fences__copy(NULL, &fences, &copy));
    compare(&kept, &fences);
    ck_assert(grout_fences__hash(&fences) == grout_fences__hash(&copy));
    grout_fences__deinit(&fences);
    grout_fences__deinit(&copy);
}

/* More actors than a list can number are more than there is memory for. */
TEST(too_many_actors_are_refused) {
    grout_fences fences = {0};
    const grout_fence fence = {.covered = 1, .epoch = 1};
    ck_assert(!grout_fences__add(NULL, &fences, UINT64_C(1) << 33, &fence));
    ck_assert_uint_eq(fences.count, 0);
    grout_fences__deinit(&fences);
}
