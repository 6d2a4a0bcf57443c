/* check_ptx_clock.c - clocks of the search for races against tables of times: random knowledge,
 * joined and renamed. SPDX-License-Identifier: Apache-2.0 */
#include "clock.h"
#include "tests/tests.h"

#include <string.h>

enum { AGENTS = 6, CLOCKS = 4, STEPS = 400, RENAMED = 3 };
static const ptx_means means = {.allocator = NULL};

/* The simple model: of each agent and lane the newest time. Agents that are renamed come after. */
typedef struct table {
    uint32_t times[AGENTS * RENAMED + RENAMED][PTX_CLOCK_LANES];
} table;

static uint64_t draw(uint64_t *state, uint64_t below) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (*state >> 33) % below;
}

/* One mark of Check for all: each of them is written to a file. */
static bool is_same(const ptx_clock *clock, const table *model) {
    bool is_right = true;
    for (uint32_t agent = 0; agent < AGENTS * RENAMED + RENAMED; agent++) {
        for (uint32_t lane = 0; lane < PTX_CLOCK_LANES; lane++) {
            uint32_t time = model->times[agent][lane];
            is_right = is_right && grout_ptx__knows(clock, agent, lane, time) &&
                       !grout_ptx__knows(clock, agent, lane, time + 1);
        }
    }
    return is_right;
}

static void raise_to(uint32_t *time, uint32_t to) {
    *time = to > *time ? to : *time;
}

static void note(ptx_clock **clock, table *model, uint64_t *state) {
    uint64_t agent = draw(state, AGENTS);
    uint32_t time = (uint32_t)draw(state, 50), lanes = (uint32_t)draw(state, UINT64_C(1) << 31);
    ck_assert(grout_ptx__note_time(&means, clock, agent, lanes, time));
    for (uint32_t lane = 0; lane < PTX_CLOCK_LANES; lane++) {
        if ((lanes >> lane & 1) != 0) {
            raise_to(&model->times[agent][lane], time);
        }
    }
}

static void join(ptx_clock **clock, ptx_clock *other, table *model, const table *from) {
    ck_assert(grout_ptx__join_clock(clock, other));
    for (uint32_t i = 0; i < sizeof model->times / sizeof model->times[0][0]; i++) {
        raise_to(&model->times[0][0] + i, *(&from->times[0][0] + i));
    }
}

TEST_EACH(clocks_are_tables, 20) {
    uint64_t state = (uint64_t)_i + 1;
    ptx_clock *clocks[CLOCKS] = {NULL};
    static table models[CLOCKS];
    memset(models, 0, sizeof models);
    for (uint32_t step = 0; step < STEPS; step++) {
        uint64_t a = draw(&state, CLOCKS), b = draw(&state, CLOCKS);
        switch (draw(&state, 3)) {
        case 0:
            note(&clocks[a], &models[a], &state);
            break;
        case 1:
            join(&clocks[a], clocks[b], &models[a], &models[b]);
            break;
        default: /* one more owner: what the other learns next is not its own */
            grout_ptx__drop_clock(clocks[a]);
            clocks[a] = a == b ? NULL : grout_ptx__share_clock(clocks[b]);
            models[a] = a == b ? (table){{{0}}} : models[b];
        }
        ck_assert(is_same(clocks[a], &models[a]));
        ck_assert(is_same(clocks[b], &models[b]));
    }
    for (uint32_t i = 0; i < CLOCKS; i++) {
        grout_ptx__drop_clock(clocks[i]);
    }
}

TEST(agents_are_renamed) {
    ptx_clock *clock = NULL, *renamed = NULL;
    ck_assert(grout_ptx__note_time(&means, &clock, 2, 1u << 5, 7));
    ck_assert(grout_ptx__note_time(&means, &clock, 4, 1u << 6, 9));
    ck_assert(grout_ptx__join_renamed(&renamed, clock, RENAMED, 1));
    ck_assert(grout_ptx__knows(renamed, 2 * RENAMED + 1, 5, 7));
    ck_assert(grout_ptx__knows(renamed, 4 * RENAMED + 1, 6, 9));
    ck_assert(!grout_ptx__knows(renamed, 2, 5, 1));
    ck_assert(!grout_ptx__knows(renamed, 4 * RENAMED + 1, 5, 1));
    grout_ptx__drop_clock(clock);
    grout_ptx__drop_clock(renamed);
}

TEST(nobody_knows_but_time_zero) {
    ck_assert(grout_ptx__knows(NULL, 1, 0, 0));
    ck_assert(!grout_ptx__knows(NULL, 1, 0, 1));
}
