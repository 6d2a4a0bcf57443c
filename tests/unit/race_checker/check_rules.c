/*
 * check_rules.c - ordered(X, Y), row by row of the tables in docs/memory_model.md.
 * SPDX-License-Identifier: Apache-2.0
 *
 * X is recorded by thread 0 at epoch 5 (a group, or a phase, of number 5 if an engine makes it).
 * Each row says what the thread of Y knows, and what must come out.
 */
#include "rules_pairs.h"
#include "tests/tests.h"

static const row ROWS[] = {
    {"plain store, plain load, ordered", SMEM, PLAIN, 1, 0, 0, IN_TIME, OK, LATER},
    {"plain store, plain load", SMEM, PLAIN, 1, 0, 0, NOTHING, GROUT_DIAG_SMEM_RACE, EARLIER},
    {"plain load, plain store", SMEM, PLAIN, 0, 0, 1, NOTHING, GROUT_DIAG_SMEM_RACE, LATER},
    {"two plain stores", SMEM, PLAIN, 1, 0, 1, NOTHING, GROUT_DIAG_SMEM_RACE, SOURCE},
    {"plain store, TMA read, published", SMEM, PLAIN, 1, 1, 0, PUBLISHED, OK, LATER},
    {"plain store, TMA read", SMEM, PLAIN, 1, 1, 0, IN_TIME, GROUT_DIAG_MISSING_COMMIT_SMEM, LATER},
    {"plain store, TMA write", SMEM, PLAIN, 1, 1, 1, IN_TIME, GROUT_DIAG_MISSING_COMMIT_SMEM,
     LATER},
    {"plain load, TMA write", SMEM, PLAIN, 0, 1, 1, IN_TIME, GROUT_DIAG_MISSING_COMMIT_SMEM_WAR,
     LATER},
    {"plain load, TMA write, published", SMEM, PLAIN, 0, 1, 1, PUBLISHED, OK, LATER},
    {"plain store, TMA read, unordered", SMEM, PLAIN, 1, 1, 0, NOTHING, GROUT_DIAG_SMEM_RACE,
     EARLIER},
    {"load, awaited", SMEM, LOAD, 1, 0, 0, IN_TIME, OK, LATER},
    {"load, read unawaited", SMEM, LOAD, 1, 0, 0, ISSUE, GROUT_DIAG_ASYNC_NOT_AWAITED, LATER},
    {"load, overwritten unawaited", SMEM, LOAD, 1, 0, 1, ISSUE, GROUT_DIAG_ASYNC_NOT_AWAITED,
     LATER},
    {"load, loaded again", SMEM, LOAD, 1, 1, 1, ISSUE, GROUT_DIAG_ASYNC_NOT_AWAITED, LATER},
    {"load, stored by TMA unawaited", SMEM, LOAD, 1, 1, 0, ISSUE, GROUT_DIAG_ASYNC_NOT_AWAITED,
     LATER},
    {"load, awaited, needs no commit", SMEM, LOAD, 1, 1, 0, IN_TIME, OK, LATER},
    {"load, unknown, read by who was never told", SMEM, LOAD, 1, 0, 0, NOTHING,
     GROUT_DIAG_ASYNC_NOT_AWAITED, LATER},
    {"load, unknown, plain store", SMEM, LOAD, 1, 0, 1, NOTHING, GROUT_DIAG_SMEM_RACE, SOURCE},
    {"store source, read by TMA, overwritten", SMEM, STORE_SOURCE, 0, 0, 1, ISSUE,
     GROUT_DIAG_SMEM_SOURCE_REUSE, LATER},
    {"store source, refilled", SMEM, STORE_SOURCE, 0, 1, 1, ISSUE, GROUT_DIAG_SMEM_SOURCE_REUSE,
     LATER},
    {"store source, awaited", SMEM, STORE_SOURCE, 0, 0, 1, IN_TIME, OK, LATER},
    {"store source, unordered", SMEM, STORE_SOURCE, 0, 0, 1, NOTHING, GROUT_DIAG_SMEM_RACE, LATER},
    {"gmem: plain, plain", GMEM, PLAIN, 1, 0, 0, NOTHING, GROUT_DIAG_GMEM_RACE, EARLIER},
    {"gmem: plain store, TMA", GMEM, PLAIN, 1, 1, 0, IN_TIME, GROUT_DIAG_MISSING_COMMIT_GMEM,
     LATER},
    {"gmem: plain store, TMA, published", GMEM, PLAIN, 1, 1, 0, PUBLISHED, OK, LATER},
    {"gmem: plain load, TMA write", GMEM, PLAIN, 0, 1, 1, IN_TIME, OK, LATER},
    {"gmem: copy, read after a read-only wait", GMEM, STORE_TARGET, 1, 0, 0, READ_SIDE,
     GROUT_DIAG_GMEM_WRITE_NOT_VISIBLE, LATER},
    {"gmem: copy, read", GMEM, STORE_TARGET, 1, 0, 0, ISSUE, GROUT_DIAG_GMEM_WRITE_NOT_VISIBLE,
     LATER},
    {"gmem: copy, awaited", GMEM, STORE_TARGET, 1, 0, 0, IN_TIME, OK, LATER},
    {"gmem: copy, unordered", GMEM, STORE_TARGET, 1, 0, 0, NOTHING, GROUT_DIAG_GMEM_RACE, EARLIER},
    {"load whose barrier is gone, read", SMEM, LOAD, 1, 0, 0, NEXT_LIFE,
     GROUT_DIAG_ASYNC_NOT_AWAITED, LATER},
    {"load whose barrier is gone, loaded again", SMEM, LOAD, 1, 1, 1, NEXT_LIFE,
     GROUT_DIAG_ASYNC_NOT_AWAITED, LATER},
    {"gmem: load's source overwritten", GMEM, LOAD, 0, 0, 1, ISSUE, GROUT_DIAG_GMEM_RACE, LATER},
    {"operand, overwritten", SMEM, WGMMA, 0, 0, 1, ISSUE, GROUT_DIAG_MMA_OPERAND_REUSE, LATER},
    {"operand, refilled", SMEM, WGMMA, 0, 1, 1, ISSUE, GROUT_DIAG_MMA_OPERAND_REUSE, LATER},
    {"operand, done, refilled", SMEM, WGMMA, 0, 1, 1, IN_TIME, OK, LATER},
    {"operand, plain store, unordered", SMEM, WGMMA, 0, 0, 1, NOTHING, GROUT_DIAG_SMEM_RACE, LATER},
    {"operand of who was never told, refilled, unordered", SMEM, WGMMA, 0, 1, 1, NOTHING,
     GROUT_DIAG_ASYNC_NOT_AWAITED, EARLIER},
    {"plain store, operand", SMEM, PLAIN, 1, 2, 0, IN_TIME, GROUT_DIAG_MISSING_COMMIT_SMEM, LATER},
    {"plain store, operand, published", SMEM, PLAIN, 1, 2, 0, PUBLISHED, OK, LATER},
    {"load, operand unawaited", SMEM, LOAD, 1, 2, 0, ISSUE, GROUT_DIAG_ASYNC_NOT_AWAITED, LATER},
    {"load, unknown, operand of who was never told", SMEM, LOAD, 1, 2, 0, NOTHING,
     GROUT_DIAG_ASYNC_NOT_AWAITED, LATER},
    {"load, unknown, stored by TMA", SMEM, LOAD, 1, 1, 0, NOTHING, GROUT_DIAG_SMEM_RACE, EARLIER},
    {"accumulator, read in flight", ACC, WGMMA, 1, 0, 0, ISSUE, GROUT_DIAG_ACCUMULATOR_IN_FLIGHT,
     LATER},
    {"accumulator, written in flight", ACC, WGMMA, 1, 0, 1, ISSUE, GROUT_DIAG_ACCUMULATOR_IN_FLIGHT,
     LATER},
    {"accumulator, read when done", ACC, WGMMA, 1, 0, 0, IN_TIME, OK, LATER},
    {"accumulator, another shape in flight", ACC, WGMMA, 1, 2, 1, ISSUE,
     GROUT_DIAG_ACCUMULATOR_IN_FLIGHT, LATER},
    {"accumulator, another shape when done", ACC, WGMMA, 1, 2, 1, IN_TIME, OK, LATER},
    {"accumulator, stored, then used: no commit", ACC, PLAIN, 1, 2, 1, IN_TIME, OK, LATER}};

/* The component of an access by thread 0 of a CTA; CTA 0's barrier, whose bytes they are. */
static uint32_t get_component(who x, uint32_t cta) {
    uint32_t lane = grout_clock_lane(&SHAPE, cta, 0), actor = grout_clock_actor(&SHAPE, cta, 0);
    switch (x) {
    case STORE_SOURCE:
        return grout_clock_bulk_read(&SHAPE, lane);
    case STORE_TARGET:
        return grout_clock_bulk_written(&SHAPE, lane);
    case LOAD:
    case ASYNC_STORE:
        return grout_clock_phase(&SHAPE, 0);
    case WGMMA:
        return grout_clock_wgmma(&SHAPE, actor);
    case ASYNC_COPY:
        return grout_clock_async_copy(&SHAPE, actor);
    case PLAIN:
        break;
    }
    return grout_clock_released(&SHAPE, actor);
}

static uint8_t get_agent(who x) {
    if (x == ASYNC_COPY || x == ASYNC_STORE) {
        return GROUT_AGENT_GENERIC_ENGINE;
    }
    return x == PLAIN ? GROUT_AGENT_ACTOR : GROUT_AGENT_ENGINE;
}

static grout_entry make_entry(who x, bool writes, uint8_t thread) {
    grout_entry entry = {.number = NUMBER,
                         .epoch = NUMBER,
                         .component = get_component(x, 0),
                         .origin = {.op = 1, .thread = thread}};
    entry.flags = grout_entry__make_flags(get_agent(x), writes, false);
    return entry;
}

static void make_atomic(grout_entry *entry, uint8_t scope, uint8_t width) {
    if (scope) {
        entry->flags |= GROUT_ENTRY_ATOMIC;
        entry->atomicity =
            grout_entry__make_atomicity((uint32_t)scope - GROUT_CHOICE_SCOPE_CTA, width);
    }
}

/* What the thread of Y knows of X. */
static void learn(knowledge knows, grout_entry *x, uint32_t *known, uint32_t *published) {
    uint32_t actor = grout_entry__get_actor(&SHAPE, x);
    if (knows != NOTHING) {
        known[grout_clock_epoch(&SHAPE, actor)] = NUMBER;
    }
    const bool has_seen = x->component >= grout_clock_bulk_read(&SHAPE, 0) &&
                          x->component < grout_clock_time_size(&SHAPE);
    const uint32_t seen = has_seen ? grout_clock_seen(&SHAPE, x->component) : x->component;
    if (knows == IN_TIME || knows == UNSEEN || knows == PUBLISHED) {
        known[x->component] = NUMBER;
        known[seen] = knows == UNSEEN ? 0 : NUMBER;
    }
    if (knows == PUBLISHED) {
        published[x->component] = published[seen] = NUMBER;
    }
    if (knows == NEXT_LIFE) {
        x->number = GROUT_ENTRY_NEVER_OVER;
        known[x->component] = NUMBER + 1;
    }
    if (knows == READ_SIDE) {
        known[grout_clock_bulk_read(&SHAPE, 0)] = NUMBER;
    }
    if (knows == LOST) {
        known[grout_clock_handed(&SHAPE, actor)] = NUMBER;
    }
}

/* payload: what every CTA has. */
static const uint16_t *find_told_since(void *payload, uint32_t cta) {
    (void)cta;
    return payload;
}

/* other: the cluster of Y, and of its clocks. */
static grout_conflict judge_pair(const pair *it, uint32_t other) {
    const row *of = &it->row;
    uint32_t known[COUNTERS] = {0}, published[COUNTERS] = {0};
    grout_clocks clocks = {
        .cluster = other, .known = known, .published_smem = published, .published_gmem = published};
    uint16_t never_told[CTAS * 4] = {0};
    grout_rules rules = {.shape = &SHAPE,
                         .clocks = &clocks,
                         .space = of->space,
                         .find_told_since = find_told_since,
                         .payload = never_told};
    grout_entry x = make_entry(of->x, of->x_writes, 0);
    x.origin.cta = it->x_cta;
    x.component = get_component(of->x, it->x_cta);
    make_atomic(&x, it->x_scope, 4);
    rules.entry = make_entry(it->y, of->y_writes, 1);
    rules.entry.cluster = other;
    rules.entry.origin.cta = other * CTAS + it->y_cta;
    make_atomic(&rules.entry, it->y_scope, it->y_width);
    learn(of->knows, &x, known, published);
    return grout_rules__judge(&rules, &x);
}

static grout_conflict judge(const row *it, uint32_t other) {
    const who engines[] = {PLAIN, it->y_writes ? LOAD : STORE_SOURCE, WGMMA};
    const pair in_one_cta = {.row = *it, .y = engines[it->y_engine]};
    return judge_pair(&in_one_cta, other);
}

TEST_EACH(row_about_ctas, COUNT_OF(PAIRS)) {
    const pair *it = &PAIRS[_i];
    grout_conflict conflict = judge_pair(it, 0);
    ck_assert_msg(conflict.code == it->row.code, "%s: %s", it->row.name,
                  conflict.code ? grout_diag_get(conflict.code)->text : "in order");
    ck_assert_msg(conflict.code == OK || conflict.primary == it->row.primary, "%s: primary %d",
                  it->row.name, (int)conflict.primary);
    ck_assert_msg(conflict.is_warning == it->is_warning, "%s", it->row.name);
}

/* What an actor has heard of another cluster counts as what it knows of its own. */
TEST_EACH(foreign_clocks_count, 5) {
    uint32_t none[COUNTERS] = {0}, known[COUNTERS] = {0}, published[COUNTERS] = {0};
    uint32_t fenced[COUNTERS] = {0};
    grout_foreign_clock foreign[] = {{3, none, none, none}, {5, known, published, fenced}};
    grout_clocks clocks = {.cluster = 7,
                           .known = none,
                           .published_gmem = none,
                           .published_smem = none,
                           .foreign_count = 2,
                           .foreign = foreign};
    grout_rules rules = {.shape = &SHAPE, .clocks = &clocks, .space = GMEM};
    grout_entry x = make_entry(PLAIN, true, 0);
    x.cluster = _i == 0 ? 3 : 5;
    x.origin.cta = x.cluster * CTAS;
    known[x.component] = NUMBER;
    published[x.component] = _i == 2 || _i == 4 ? NUMBER : 0;
    fenced[x.component] = _i == 2 ? NUMBER : 0;
    rules.entry = make_entry(_i == 1 ? PLAIN : LOAD, false, 1);
    rules.entry.cluster = 7;
    rules.entry.origin.cta = 7 * CTAS;
    const grout_diag_code codes[] = {GROUT_DIAG_GMEM_RACE, OK, OK, GROUT_DIAG_MISSING_COMMIT_GMEM,
                                     GROUT_DIAG_MISSING_COMMIT_GMEM};
    grout_conflict conflict = grout_rules__judge(&rules, &x);
    ck_assert_int_eq(conflict.code, codes[_i]);
    ck_assert(conflict.is_warning == (_i == 4)); /* published, but not by the CTA of Y */
}

TEST_EACH(row_of_the_table, COUNT_OF(ROWS)) {
    const row *it = &ROWS[_i];
    grout_conflict conflict = judge(it, 0);
    ck_assert_msg(conflict.code == it->code, "%s: %s", it->name,
                  conflict.code ? grout_diag_get(conflict.code)->text : "in order");
    ck_assert_msg(conflict.code == OK || conflict.primary == it->primary, "%s: primary %d",
                  it->name, (int)conflict.primary);
}

/* The tensor core runs equal instructions in order, and no others. */
TEST_EACH(equal_shapes_need_no_wait, 3) {
    static const uint32_t SHAPES[][3] = {{0, 7, 7}, {0, 7, 9}, {0, 0, 0}};
    const uint32_t none[COUNTERS] = {0};
    const grout_clocks clocks = {.known = none, .published_smem = none, .published_gmem = none};
    grout_entry earlier = make_entry(WGMMA, true, 0);
    grout_rules rules = {
        .shape = &SHAPE, .clocks = &clocks, .space = ACC, .wgmma_shapes = SHAPES[_i]};
    rules.entry = make_entry(WGMMA, true, 0);
    rules.entry.origin.op = 2;
    rules.entry.number = NUMBER + 1;
    ck_assert_int_eq(grout_rules__judge(&rules, &earlier).code,
                     _i == 0 ? OK : GROUT_DIAG_ACCUMULATOR_IN_FLIGHT);
}

/* Whatever a CTA knows, it knows nothing of another one. */
TEST_EACH(other_cta_is_never_ordered, COUNT_OF(ROWS)) {
    const row *it = &ROWS[_i];
    grout_conflict conflict = judge(it, 7);
    if (it->space == GMEM) {
        ck_assert_msg(conflict.code == GROUT_DIAG_GMEM_RACE, "%s", it->name);
    }
}

/* What thread 1 knew of barrier 0, and when: by now, and at the read. */
static const struct told {
    uint16_t since, told;
    bool has_been_told;
} TOLD[] = {{0, 0, false}, {0, 2, false}, {2, 1, false}, {2, 2, true}, {1, 2, true}};
enum { TOLD_COUNT = sizeof TOLD / sizeof *TOLD };

/* The same pair, unordered, in both orders of execution: the same code and primary place. */
TEST_EACH(order_of_execution_has_no_part, 2 * TOLD_COUNT) {
    bool is_wgmma = _i & 1, has_been_told = TOLD[_i / 2].has_been_told;
    uint16_t since[CTAS * 4] = {0};
    uint32_t none[COUNTERS] = {0};
    const grout_clocks clocks = {.known = none, .published_smem = none, .published_gmem = none};
    grout_entry load = make_entry(LOAD, true, 0);
    grout_entry read = make_entry(is_wgmma ? WGMMA : PLAIN, false, 1);
    grout_rules rules = {.shape = &SHAPE, .clocks = &clocks, .space = SMEM, .entry = read};
    grout_diag_code race = is_wgmma ? GROUT_DIAG_MMA_OPERAND_REUSE : GROUT_DIAG_SMEM_RACE;
    grout_conflict load_first, read_first;
    rules.find_told_since = find_told_since;
    rules.payload = since;
    read.component = rules.entry.component =
        is_wgmma ? grout_clock_wgmma(&SHAPE, 1) : grout_clock_released(&SHAPE, 1);
    since[SHAPE.barrier_count] = TOLD[_i / 2].since;
    read.told = rules.entry.told = TOLD[_i / 2].told;
    load_first = grout_rules__judge(&rules, &load);
    rules.entry = load;
    read_first = grout_rules__judge(&rules, &read);
    ck_assert_int_eq(load_first.code, has_been_told ? race : GROUT_DIAG_ASYNC_NOT_AWAITED);
    ck_assert_int_eq(load_first.code, read_first.code);
    /* The race points at the load, the other at the read. */
    ck_assert_int_eq(load_first.primary, has_been_told ? EARLIER : LATER);
    ck_assert_int_eq(read_first.primary, has_been_told ? LATER : EARLIER);
}

static bool count_conflict(void *payload, const grout_conflict *conflict,
                           const grout_entry *earlier, const grout_entry *later,
                           const grout_rect *rect) {
    uint32_t *count = payload;
    (void)conflict;
    (void)earlier;
    (void)later;
    (void)rect;
    (*count)++;
    return true;
}

/* A thread that comes after a read that was right to see the write need not know of the write. */
TEST_EACH(reader_vouches_for_the_write, 2) {
    uint32_t known[COUNTERS] = {0}, none[COUNTERS] = {0}, conflicts = 0;
    grout_clocks clocks = {.known = known, .published_smem = none, .published_gmem = none};
    grout_entry write = make_entry(PLAIN, true, 0), read = make_entry(PLAIN, false, 1);
    grout_rules rules = {.shape = &SHAPE,
                         .clocks = &clocks,
                         .space = SMEM,
                         .report = count_conflict,
                         .payload = &conflicts};
    grout_shadow shadow;
    grout_region region = {.write = write};
    grout_rect rect = {0, 1, 0, 1};
    ck_assert(grout_shadow__init(&shadow, NULL, 1));
    read.component = grout_clock_released(&SHAPE, 1);
    read.vouches = _i ? NUMBER : 0;
    ck_assert(grout_shadow__add_reader(&shadow, &region, &read));
    known[read.component] = NUMBER; /* and nothing of the write */
    rules.entry = make_entry(PLAIN, true, 1);
    ck_assert(grout_rules__visit(&rules, &shadow, &region, &rect));
    ck_assert_uint_eq(conflicts, _i ? 0 : 1);
    grout_shadow__deinit(&shadow);
}

TEST(components_have_mechanisms) {
    static const struct {
        uint32_t component;
        grout_mechanism mechanism;
        uint32_t index;
    } of[] = {{0, GROUT_MECHANISM_LOST, 0},        {3, GROUT_MECHANISM_LOST, 3},
              {4, GROUT_MECHANISM_EPOCH, 0},       {8, GROUT_MECHANISM_BULK_READ, 0},
              {11, GROUT_MECHANISM_BULK_READ, 3},  {12, GROUT_MECHANISM_ASYNC_COPY, 0},
              {16, GROUT_MECHANISM_PHASE, 0},      {19, GROUT_MECHANISM_PHASE, 3},
              {20, GROUT_MECHANISM_WGMMA, 0},      {24, GROUT_MECHANISM_SEEN, 0},
              {39, GROUT_MECHANISM_SEEN, 15},      {40, GROUT_MECHANISM_ACCESS, 0},
              {44, GROUT_MECHANISM_BULK_WRITE, 0}, {47, GROUT_MECHANISM_BULK_WRITE, 3}};
    for (uint32_t i = 0; i < sizeof of / sizeof *of; i++) {
        uint32_t index = 99;
        ck_assert_int_eq(grout_clock__get_mechanism(&SHAPE, of[i].component, &index),
                         of[i].mechanism);
        ck_assert_uint_eq(index, of[i].index);
    }
}
