/* check_places.c - rectangles by place, compared with a look at each.
 * SPDX-License-Identifier: Apache-2.0 */
#include "race_checker/values/places.h"
#include "tests/tests.h"

#include <string.h>

enum { ITEMS = 400, QUESTIONS = 400, LABELS = 50 };

static uint32_t draw(uint64_t *state, uint32_t below) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % below;
}

/* Small and large, high and wide ones, near 0 and near the end of what 32 bits count. */
static grout_place_of_rect draw_place(uint64_t *state, int kind) {
    const uint32_t sides[] = {1, 3, 16, 300, UINT32_C(1) << 20, UINT32_C(1) << 31};
    const uint32_t height = 1 + draw(state, sides[draw(state, kind == 0 ? 3 : 6)]);
    const uint32_t width = 1 + draw(state, sides[draw(state, kind == 0 ? 3 : 6)]);
    const uint32_t row = kind == 2 ? UINT32_MAX - height - draw(state, 40) : draw(state, 40);
    const uint32_t column = kind == 2 ? UINT32_MAX - width - draw(state, 40) : draw(state, 40);
    return (grout_place_of_rect){draw(state, 2) == 0 ? UINT32_MAX : 0,
                                 draw(state, 2),
                                 {row, row + height, column, column + width}};
}

static bool share_bytes(const grout_place_of_rect *a, const grout_place_of_rect *b) {
    return a->owner == b->owner && a->plane == b->plane && a->rect.row < b->rect.row_end &&
           b->rect.row < a->rect.row_end && a->rect.column < b->rect.column_end &&
           b->rect.column < a->rect.column_end;
}

static void ask(grout_places *places, const grout_place_of_rect *all, uint32_t count,
                const grout_place_of_rect *place) {
    size_t at = 0;
    ck_assert(grout_places__find(places, place));
    for (uint32_t i = count; i > 0; i--) { /* the newest first */
        if (share_bytes(&all[i - 1], place)) {
            ck_assert_uint_lt(at, places->met.count);
            ck_assert_uint_eq(places->met.items[at], i - 1);
            at++;
        }
    }
    ck_assert_uint_eq(at, places->met.count);
}

/* Those of these labels are all found, the newest first; whatever else is found shares bytes, too.
 */
static void ask_labelled(grout_places *places, const grout_place_of_rect *all, uint32_t count,
                         const grout_place_of_rect *place) {
    const uint32_t labels[] = {3, count % LABELS, LABELS};
    size_t at = 0;
    ck_assert(grout_places__find_labelled(places, place, labels, 3));
    for (uint32_t i = count; i > 0; i--) {
        const bool is_met = at < places->met.count && places->met.items[at] == i - 1;
        const uint32_t label = (i - 1) % LABELS;
        ck_assert(is_met ? share_bytes(&all[i - 1], place)
                         : !share_bytes(&all[i - 1], place) ||
                               (label != labels[0] && label != labels[1]));
        at += is_met ? 1 : 0;
    }
    ck_assert_uint_eq(at, places->met.count);
}

TEST_EACH(what_shares_bytes_is_found, 3) {
    static grout_place_of_rect all[ITEMS];
    grout_places places = {0};
    uint64_t state = 7;
    for (uint32_t i = 0; i < ITEMS; i++) {
        all[i] = draw_place(&state, _i);
        ck_assert(grout_places__add(&places, &all[i], i % LABELS));
        const grout_place_of_rect place = draw_place(&state, _i);
        ask(&places, all, i + 1, &place);
        ask_labelled(&places, all, i + 1, &place);
    }
    for (uint32_t i = 0; i < QUESTIONS; i++) {
        const grout_place_of_rect place = draw_place(&state, _i);
        ask(&places, all, ITEMS, &place);
        ask_labelled(&places, all, ITEMS, &place);
    }
    grout_places__deinit(&places);
}

TEST(many_elements_of_a_row_are_told_apart) {
    enum { COUNT = 100000 };
    grout_places places = {0};
    for (uint32_t i = 0; i < COUNT; i++) {
        const grout_place_of_rect place = {0, 1, {3, 4, 4 * i, 4 * i + 4}};
        ck_assert(grout_places__add(&places, &place, 7));
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        const grout_place_of_rect place = {0, 1, {3, 4, 4 * i + 1, 4 * i + 2}};
        ck_assert(grout_places__find(&places, &place));
        ck_assert_uint_eq(places.met.count, 1);
        ck_assert_uint_eq(places.met.items[0], i);
    }
    grout_places__deinit(&places);
}

/* A label is found among many others in one place, and nothing else is looked at. */
TEST(labels_of_one_place_are_told_apart) {
    enum { COUNT = 100000 };
    const grout_place_of_rect place = {0, 1, {3, 4, 0, 4}};
    grout_places places = {0};
    for (uint32_t i = 0; i < COUNT; i++) {
        ck_assert(grout_places__add(&places, &place, i));
    }
    for (uint32_t i = 1; i < COUNT; i++) {
        const uint32_t labels[] = {i - 1, i};
        ck_assert(grout_places__find_labelled(&places, &place, labels, 2));
        ck_assert_uint_eq(places.met.count, 2);
        ck_assert_uint_eq(places.met.items[0], i);
        ck_assert_uint_eq(places.met.items[1], i - 1);
    }
    ck_assert(grout_places__find_labelled(&places, &place, NULL, 0));
    ck_assert_uint_eq(places.met.count, 0);
    grout_places__deinit(&places);
}
