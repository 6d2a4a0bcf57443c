/* check_ptx_shadow.c - accesses of single lanes, one after the other, at four bytes: which of them
 * races with those before. SPDX-License-Identifier: Apache-2.0 */
#include "shadow.h"
#include "tests/tests.h"

enum { CELLS = 4, STEPS_MAX = 4 };
static const ptx_means means = {.allocator = NULL};

/* Who: warp 0 of CTA 0, warp 1 of CTA 1. W, R: weak; s, l: strong write and read of the scope; P:
 * the other warp learns of all that this one has done so far. */
typedef struct step {
    char what;
    uint32_t warp;
    ptx_scope scope;
    uint32_t first, count, size;
} step;

static const struct shadow_case {
    step steps[STEPS_MAX];
    ptx_missing missing; /* at the last step */
} shadow_cases[] = {
    {{{'W', 0, 0, 0, 4, 0}, {'R', 1, 0, 0, 4, 0}}, PTX_MISSING_ORDER},
    {{{'R', 0, 0, 0, 4, 0}, {'R', 1, 0, 0, 4, 0}}, PTX_MISSING_NONE},
    {{{'R', 0, 0, 0, 4, 0}, {'W', 1, 0, 3, 1, 0}}, PTX_MISSING_ORDER},
    {{{'W', 0, 0, 0, 2, 0}, {'W', 1, 0, 2, 2, 0}}, PTX_MISSING_NONE},
    {{{'W', 0, 0, 0, 4, 0}, {'P', 0, 0, 0, 0, 0}, {'R', 1, 0, 0, 4, 0}}, PTX_MISSING_NONE},
    {{{'P', 0, 0, 0, 0, 0}, {'W', 0, 0, 0, 4, 0}, {'R', 1, 0, 0, 4, 0}}, PTX_MISSING_ORDER},
    {{{'W', 0, 0, 0, 4, 0}, {'W', 0, 0, 0, 4, 0}}, PTX_MISSING_NONE},
    {{{'s', 0, PTX_SCOPE_GPU, 0, 4, 4}, {'l', 1, PTX_SCOPE_GPU, 0, 4, 4}}, PTX_MISSING_NONE},
    {{{'s', 0, PTX_SCOPE_CTA, 0, 4, 4}, {'l', 1, PTX_SCOPE_GPU, 0, 4, 4}}, PTX_MISSING_SCOPE},
    {{{'s', 0, PTX_SCOPE_GPU, 0, 4, 4}, {'l', 1, PTX_SCOPE_CTA, 0, 4, 4}}, PTX_MISSING_SCOPE},
    {{{'s', 0, PTX_SCOPE_GPU, 0, 4, 4}, {'l', 1, PTX_SCOPE_GPU, 0, 2, 2}}, PTX_MISSING_ORDER},
    {{{'s', 0, PTX_SCOPE_GPU, 0, 4, 4}, {'R', 1, 0, 0, 4, 0}}, PTX_MISSING_ORDER},
    /* what a later strong access of the same lane does not cover */
    {{{'W', 0, 0, 0, 4, 0}, {'s', 0, PTX_SCOPE_GPU, 0, 4, 4}, {'l', 1, PTX_SCOPE_GPU, 0, 4, 4}},
     PTX_MISSING_ORDER},
    {{{'R', 0, 0, 0, 4, 0}, {'s', 0, PTX_SCOPE_GPU, 0, 4, 4}, {'s', 1, PTX_SCOPE_GPU, 0, 4, 4}},
     PTX_MISSING_ORDER},
    {{{'s', 0, PTX_SCOPE_CTA, 0, 4, 4},
      {'s', 0, PTX_SCOPE_GPU, 0, 4, 4},
      {'l', 1, PTX_SCOPE_GPU, 0, 4, 4}},
     PTX_MISSING_SCOPE},
    {{{'l', 0, PTX_SCOPE_CTA, 0, 4, 4},
      {'l', 0, PTX_SCOPE_GPU, 0, 4, 4},
      {'s', 1, PTX_SCOPE_GPU, 0, 4, 4}},
     PTX_MISSING_SCOPE},
    {{{'s', 0, PTX_SCOPE_SYS, 0, 4, 4},
      {'s', 0, PTX_SCOPE_GPU, 0, 4, 4},
      {'l', 1, PTX_SCOPE_GPU, 0, 4, 4}},
     PTX_MISSING_NONE},
    /* two strong writes in no order: a reader after one of them still races with the other */
    {{{'s', 0, PTX_SCOPE_GPU, 0, 4, 4}, {'s', 1, PTX_SCOPE_GPU, 0, 4, 4}, {'R', 1, 0, 0, 4, 0}},
     PTX_MISSING_ORDER},
};

typedef struct trial {
    ptx_shadow shadow;
    ptx_cell cells[CELLS];
    ptx_view views[2];
    uint32_t now[2];
} trial;

static bool take_step(trial *it, const step *at, ptx_race *race_out) {
    const bool is_strong = at->what == 's' || at->what == 'l';
    const uint64_t agent = ptx_agent(PTX_AGENT_THREADS, at->warp);
    if (at->what == 'P') {
        ptx_clock **other = &it->views[1 - at->warp].clocks[PTX_KNOWN_THREADS];
        ck_assert(grout_ptx__note_time(&means, other, agent, 1, it->now[at->warp]++));
        return true;
    }
    ptx_access access = {.record = {.agent = agent,
                                    .time = it->now[at->warp],
                                    .cta = at->warp,
                                    .scope = (uint8_t)at->scope,
                                    .is_strong = is_strong,
                                    .size = (uint8_t)at->size,
                                    .is_write = at->what == 'W' || at->what == 's'},
                         .lanes = 1,
                         .views = {&it->views[at->warp]},
                         .own_agent = agent,
                         .own_lane = PTX_OWN_LANE,
                         .own_time = it->now[at->warp],
                         .cluster_size = 1};
    const ptx_span span = {
        .cells = &it->cells[at->first], .count = at->count, .kind = PTX_SPAN_GLOBAL};
    return grout_ptx__note_access(&it->shadow, &access, &span, race_out);
}

TEST_EACH(accesses_race_or_not, COUNT_OF(shadow_cases)) {
    const struct shadow_case *row = &shadow_cases[_i];
    trial it = {.now = {1, 1}};
    ptx_race race = {.missing = PTX_MISSING_NONE};
    uint32_t count = 0;
    while (count < STEPS_MAX && row->steps[count].what != '\0') {
        count++;
    }
    for (uint32_t i = 0; i + 1 < count; i++) {
        ck_assert(take_step(&it, &row->steps[i], &race));
    }
    bool is_done = take_step(&it, &row->steps[count - 1], &race);
    ck_assert_int_eq(race.missing, row->missing);
    ck_assert_int_eq(is_done, row->missing == PTX_MISSING_NONE);
    grout_ptx__drop_view(&it.views[0]);
    grout_ptx__drop_view(&it.views[1]);
    grout_ptx__deinit_shadow(&it.shadow);
}

/* ---- tensor memory ---- */

/* Operations of lanes of warp 0, or of warp 1; each is the next one of its lane. C: a copy; X: a
 * copy .4x256b; V: a shift; A: a product, which reads an operand; S: its sums; L: the other lane of
 * the warp learns what this one has started so far. */
typedef struct tensor_step {
    char what;
    uint32_t warp, lane, first, count;
} tensor_step;

enum { TENSOR_STEPS_MAX = 6 };

static const struct tensor_case {
    tensor_step steps[TENSOR_STEPS_MAX];
    ptx_missing missing; /* at the last step */
} tensor_cases[] = {
    {{{'C', 0, 0, 0, 4}, {'C', 0, 0, 0, 4}}, PTX_MISSING_ORDER},
    {{{'C', 0, 0, 0, 4}, {'A', 0, 0, 0, 4}, {'C', 0, 0, 0, 4}}, PTX_MISSING_NONE},
    /* the product reads a part of what is written again */
    {{{'C', 0, 0, 0, 4}, {'A', 0, 0, 1, 1}, {'C', 0, 0, 0, 4}}, PTX_MISSING_NONE},
    {{{'C', 0, 0, 0, 4}, {'A', 0, 0, 0, 1}, {'C', 0, 0, 2, 2}}, PTX_MISSING_NONE},
    {{{'C', 0, 0, 0, 4}, {'A', 0, 0, 1, 1}, {'X', 0, 0, 0, 4}}, PTX_MISSING_NONE},
    {{{'V', 0, 0, 0, 4}, {'A', 0, 0, 1, 1}, {'C', 0, 0, 0, 4}}, PTX_MISSING_NONE},
    {{{'C', 0, 0, 0, 4}, {'A', 0, 0, 1, 1}, {'V', 0, 0, 0, 4}}, PTX_MISSING_NONE},
    /* it has read nothing of it, comes before it or after both */
    {{{'C', 0, 0, 0, 2}, {'A', 0, 0, 2, 2}, {'C', 0, 0, 0, 4}}, PTX_MISSING_ORDER},
    {{{'A', 0, 0, 0, 1}, {'C', 0, 0, 0, 4}, {'C', 0, 0, 1, 3}}, PTX_MISSING_ORDER},
    {{{'C', 0, 0, 0, 2}, {'C', 0, 0, 2, 2}, {'A', 0, 0, 2, 1}, {'C', 0, 0, 0, 2}},
     PTX_MISSING_ORDER},
    /* each turn has a product of its own */
    {{{'C', 0, 0, 0, 4}, {'A', 0, 0, 0, 1}, {'C', 0, 0, 0, 4}, {'C', 0, 0, 1, 1}},
     PTX_MISSING_ORDER},
    {{{'C', 0, 0, 0, 4},
      {'A', 0, 0, 0, 1},
      {'C', 0, 0, 0, 4},
      {'A', 0, 0, 3, 1},
      {'C', 0, 0, 0, 4}},
     PTX_MISSING_NONE},
    /* sums are no part of it, nor are products of sums only */
    {{{'C', 0, 0, 0, 4}, {'A', 0, 0, 0, 1}, {'S', 0, 0, 2, 1}}, PTX_MISSING_ORDER},
    {{{'C', 0, 0, 0, 1}, {'S', 0, 0, 1, 1}, {'C', 0, 0, 0, 2}}, PTX_MISSING_ORDER},
    /* two lanes of a warp, whose starts are in order or not */
    {{{'C', 0, 0, 0, 4}, {'A', 0, 0, 0, 1}, {'C', 0, 1, 1, 1}}, PTX_MISSING_ORDER},
    {{{'C', 0, 0, 0, 4}, {'A', 0, 0, 0, 1}, {'L', 0, 0, 0, 0}, {'C', 0, 1, 1, 1}},
     PTX_MISSING_NONE},
    {{{'C', 0, 0, 0, 4}, {'L', 0, 0, 0, 0}, {'A', 0, 1, 0, 1}, {'C', 0, 0, 1, 1}},
     PTX_MISSING_ORDER},
    {{{'C', 0, 0, 0, 4},
      {'L', 0, 0, 0, 0},
      {'A', 0, 1, 0, 1},
      {'L', 0, 1, 0, 0},
      {'C', 0, 0, 1, 1}},
     PTX_MISSING_NONE},
    /* two warps */
    {{{'C', 0, 0, 0, 4}, {'A', 0, 0, 0, 1}, {'C', 1, 0, 1, 1}}, PTX_MISSING_ORDER},
};

typedef struct tensor_trial {
    ptx_shadow shadow;
    ptx_cell cells[CELLS];
    ptx_view views[2][2]; /* of a warp's lanes */
    uint32_t started[2][2];
} tensor_trial;

static ptx_pipe get_pipe(char what) {
    return (ptx_pipe){.kind = what == 'C'   ? PTX_PIPE_COPY
                              : what == 'X' ? PTX_PIPE_COPY_4X256B
                              : what == 'V' ? PTX_PIPE_SHIFT
                                            : PTX_PIPE_MULTIPLY,
                      .is_operand = what == 'A'};
}

static bool take_tensor_step(tensor_trial *it, const tensor_step *at, ptx_race *race_out) {
    ptx_view *views = it->views[at->warp];
    uint32_t *started = &it->started[at->warp][at->lane];
    if (at->what == 'L') {
        ck_assert(grout_ptx__note_time(&means, &views[1 - at->lane].clocks[PTX_KNOWN_THREADS],
                                       ptx_agent(PTX_AGENT_TENSOR_ISSUED, at->warp), 1u << at->lane,
                                       *started));
        return true;
    }
    ptx_access access = {.record = {.agent = ptx_agent(PTX_AGENT_TENSOR, at->warp),
                                    .time = ++*started,
                                    .is_async_proxy = true,
                                    .is_write = at->what != 'A',
                                    .pipe = get_pipe(at->what)},
                         .lanes = 1u << at->lane,
                         .own_agent = ptx_agent(PTX_AGENT_THREADS, at->warp),
                         .own_lane = at->lane,
                         .cluster_size = 1};
    access.views[at->lane] = &views[at->lane];
    const ptx_span span = {
        .cells = &it->cells[at->first], .count = at->count, .kind = PTX_SPAN_TENSOR};
    return grout_ptx__note_access(&it->shadow, &access, &span, race_out);
}

TEST_EACH(operations_of_the_tensor_core_race_or_not, COUNT_OF(tensor_cases)) {
    const struct tensor_case *row = &tensor_cases[_i];
    tensor_trial it = {.cells = {{0}}};
    ptx_race race = {.missing = PTX_MISSING_NONE};
    uint32_t count = 0;
    while (count < TENSOR_STEPS_MAX && row->steps[count].what != '\0') {
        count++;
    }
    for (uint32_t i = 0; i + 1 < count; i++) {
        ck_assert(take_tensor_step(&it, &row->steps[i], &race));
    }
    bool is_done = take_tensor_step(&it, &row->steps[count - 1], &race);
    ck_assert_int_eq(race.missing, row->missing);
    ck_assert_int_eq(is_done, row->missing == PTX_MISSING_NONE);
    for (uint32_t i = 0; i < 4; i++) {
        grout_ptx__drop_view(&it.views[i / 2][i % 2]);
    }
    grout_ptx__deinit_shadow(&it.shadow);
}
