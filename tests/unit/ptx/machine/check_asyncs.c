/* check_asyncs.c - the list of what is under way, against one that moves what comes after.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ptx/machine/asyncs.h"
#include "tests/tests.h"

#include <string.h>

enum { MOST = 700, TURNS = 4000 };

typedef struct plain_list {
    uint64_t orders[MOST];
    size_t count;
} plain_list;

static uint32_t draw(uint64_t *state, size_t below) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*state >> 33) % below);
}

static void add(ptx_asyncs *asyncs, plain_list *plain, uint64_t order) {
    const ptx_async async = {.kind = PTX_ASYNC_COPY, .order = order};
    ck_assert(grout_ptx__asyncs_reserve(asyncs, NULL));
    grout_ptx__asyncs_add(asyncs, &async);
    plain->orders[plain->count++] = order;
}

static void remove_at(ptx_asyncs *asyncs, plain_list *plain, size_t number) {
    const size_t index = grout_ptx__asyncs_find(asyncs, number);
    ck_assert_uint_eq(asyncs->items[index].order, plain->orders[number]);
    grout_ptx__asyncs_remove(asyncs, index);
    plain->count--;
    memmove(&plain->orders[number], &plain->orders[number + 1],
            (plain->count - number) * sizeof plain->orders[0]);
}

static void compare(const ptx_asyncs *asyncs, const plain_list *plain) {
    size_t index = grout_ptx__asyncs_next(asyncs, 0);
    ck_assert_uint_eq(asyncs->live, plain->count);
    for (size_t i = 0; i < plain->count; i++) {
        ck_assert_uint_eq(grout_ptx__asyncs_find(asyncs, i), index);
        ck_assert_uint_eq(asyncs->items[index].order, plain->orders[i]);
        index = grout_ptx__asyncs_next(asyncs, index + 1);
    }
    ck_assert_uint_eq(index, asyncs->count);
}

/* Lists that grow, stay and shrink: _i says how often something is added. */
TEST_FROM(keeps_the_order_of_the_start, 1, 8) {
    ptx_asyncs asyncs = {0};
    plain_list plain = {.count = 0};
    uint64_t state = 1 + (uint64_t)_i;
    size_t most = 0;
    for (uint64_t turn = 0; turn < TURNS; turn++) {
        if (plain.count < MOST && (plain.count == 0 || draw(&state, 8) < (uint32_t)_i)) {
            add(&asyncs, &plain, turn);
        } else {
            remove_at(&asyncs, &plain, draw(&state, plain.count));
        }
        most = plain.count > most ? plain.count : most;
        if (turn % 50 == 0) {
            compare(&asyncs, &plain);
        }
    }
    while (plain.count > 0) { /* the oldest first, as most lists go */
        remove_at(&asyncs, &plain, 0);
        compare(&asyncs, &plain);
    }
    ck_assert_uint_le(asyncs.count, 2 * most + 64);
    ck_assert_uint_gt(most, _i >= 4 ? 60 : 0);
    grout_ptx__asyncs_free(&asyncs);
}
