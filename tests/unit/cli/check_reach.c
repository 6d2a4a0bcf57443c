/* check_reach.c - what of a buffer async operations have written, against a model of single bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "call/run/reach.h"
#include "tests/tests.h"
#include "tests/unit/support/bind_text.h"

#include <string.h>

#define BYTES   2048
#define GRANULE 4

static const char kernel[] = "kernel @k() { scratch %s : smem i32[512]\n store %s[0], 1 }\n";

typedef struct random_state {
    uint32_t state;
} random_state;

/* A number below count. */
static uint32_t draw(random_state *draws, uint32_t count) {
    draws->state = draws->state * 1664525u + 1013904223u;
    return (draws->state >> 8) % count;
}

static grout_run draw_run(random_state *draws) {
    /* Each second one begins or ends at a word of 64 granules, or beside it. */
    const uint32_t word = 64 * GRANULE;
    uint32_t first = draw(draws, BYTES / GRANULE) * GRANULE;
    uint32_t length = (1 + draw(draws, 80)) * GRANULE;
    if (draw(draws, 2) == 0) {
        first = first / word * word + draw(draws, 3) * (word - GRANULE) / 2;
        length = draw(draws, 2) * word + (1 + draw(draws, 2)) * GRANULE;
    }
    first = first % BYTES;
    length = first + length > BYTES ? BYTES - first : length;
    return (grout_run){.base = first, .count = 1, .length = length};
}

/* Marks the bytes; whether one was marked. */
static bool mark(bool *bytes, const grout_run *run) {
    bool was_marked = false;
    for (int64_t i = run->base; i < run->base + run->length; i++) {
        was_marked |= bytes[i];
        bytes[i] = true;
    }
    return was_marked;
}

static void write_run(grout_reach *reach, grout_object_id object, const grout_run *run) {
    const grout_access access = {.object = object,
                                 .space = GROUT_SPACE_SMEM,
                                 .is_write = true,
                                 .stamp = {.agent = GROUT_AGENT_ACTOR + 1},
                                 .runs = run,
                                 .run_count = 1};
    const grout_event event = {.kind = GROUT_EVENT_ACCESS, .u.access = &access};
    ck_assert(reach->observer.event(reach->observer.self, &event));
}

TEST(says_whether_bytes_were_written_again) {
    bound_text text = bind_text(kernel, NULL, 0);
    ck_assert_msg(text.bound != NULL, "%s", get_said(text.diags));
    const grout_load load = {.bound = text.bound};
    const grout_object_id object = find_object(text.bound, "s");
    uint32_t spread = 0, reused = 0;
    for (uint32_t i = 0; i < 4000; i++) {
        random_state draws = {i};
        bool bytes[BYTES] = {false};
        grout_reach reach;
        ck_assert(grout_reach__init(&reach, &load, grout_module_find_kernel(text.bound, "k")));
        grout_reach_use expected = GROUT_REACH_UNUSED;
        for (uint32_t n = 0; n < 4; n++) {
            const grout_run run = draw_run(&draws);
            const grout_reach_use now = mark(bytes, &run)                ? GROUT_REACH_REUSED
                                        : expected == GROUT_REACH_UNUSED ? GROUT_REACH_ONCE
                                                                         : GROUT_REACH_SPREAD;
            expected = now > expected ? now : expected;
            write_run(&reach, object, &run);
            ck_assert_msg(*grout_reach__get_use(&reach, object) == expected,
                          "draw %u, write %u of bytes %lld to %lld: %d, expected %d", i, n,
                          (long long)run.base, (long long)(run.base + run.length),
                          (int)*grout_reach__get_use(&reach, object), (int)expected);
        }
        spread += expected == GROUT_REACH_SPREAD;
        reused += expected == GROUT_REACH_REUSED;
        grout_reach__deinit(&reach);
    }
    ck_assert_uint_gt(spread, 400);
    ck_assert_uint_gt(reused, 400);
    free_text(&text);
}
