/*
 * check_rules.c - ordered(X, Y), row by row of the tables in docs/memory_model.md.
 * SPDX-License-Identifier: Apache-2.0
 *
 * X is recorded by thread 0 at epoch 5 (a group, or a phase, of number 5 if an engine makes it).
 * Each row says what the thread of Y knows, and what must come out.
 */
#include "race_checker/rules.h"

#include <check.h>

enum { COUNTERS = 3 * 2 + 2 * 2 + 2, NUMBER = 5 };

static const grout_clock_shape SHAPE = {.cta_count = 1, .actor_count = 2, .lane_count = 2, .barrier_count = 2, .thread_count = 2, .lanes_per_thread = 1};

typedef enum who { PLAIN, STORE_SOURCE, STORE_TARGET, LOAD, WGMMA } who;

/* What Y's thread knows of X. */
typedef enum knowledge {
    NOTHING,
    ISSUE,     /* that it was issued (async), or nothing more (plain) */
    IN_TIME,   /* that it is over */
    PUBLISHED, /* and it is published to the proxy of the space */
    NEXT_LIFE, /* a later number of its component, which it will never reach: its barrier is gone */
    READ_SIDE  /* of a store: that its source has been read */
} knowledge;

typedef struct row {
    const char *name;
    uint8_t space;
    who x;
    bool x_writes;
    uint8_t y_engine; /* 0: the thread itself, 1: TMA, 2: the tensor core */
    bool y_writes;
    knowledge knows;
    grout_diag_code code;
    grout_primary primary;
} row;

#define SMEM    GROUT_SPACE_SMEM
#define GMEM    GROUT_SPACE_GMEM
#define ACC     GROUT_SPACE_ACC
#define LATER   GROUT_PRIMARY_LATER
#define EARLIER GROUT_PRIMARY_EARLIER
#define SOURCE  GROUT_PRIMARY_SOURCE
#define OK      GROUT_DIAG_NONE

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

static uint16_t get_component(who x) {
    switch (x) {
    case STORE_SOURCE:
        return (uint16_t)grout_clock_br(&SHAPE, 0);
    case STORE_TARGET:
        return (uint16_t)grout_clock_bw(&SHAPE, 0);
    case LOAD:
        return (uint16_t)grout_clock_ph(&SHAPE, 0);
    case WGMMA:
        return (uint16_t)grout_clock_wg(&SHAPE, 0);
    case PLAIN:
        break;
    }
    return (uint16_t)grout_clock_g(&SHAPE, 0);
}

static grout_entry make_entry(who x, bool writes, uint8_t thread) {
    grout_entry entry = {.number = NUMBER,
                         .epoch = NUMBER,
                         .component = get_component(x),
                         .origin = {.op = 1, .thread = thread}};
    entry.flags = (uint8_t)(GROUT_ENTRY_PRESENT | (x != PLAIN ? GROUT_ENTRY_ASYNC : 0) |
                            (writes ? GROUT_ENTRY_WRITE : 0));
    return entry;
}

static grout_conflict judge(const row *it, uint32_t other_cta) {
    uint32_t known[COUNTERS] = {0}, smem[COUNTERS] = {0}, gmem[COUNTERS] = {0};
    grout_clocks clocks = {.cluster = other_cta, .known = known, .published_smem = smem, .published_gmem = gmem};
    const uint16_t never_told[4] = {0};
    grout_rules rules = {
        .shape = &SHAPE, .clocks = &clocks, .space = it->space, .told_since = never_told};
    grout_entry x = make_entry(it->x, it->x_writes, 0);
    who engines[] = {PLAIN, it->y_writes ? LOAD : STORE_SOURCE, WGMMA};
    rules.entry = make_entry(engines[it->y_engine], it->y_writes, 1);
    rules.entry.cta = other_cta;
    if (it->knows != NOTHING) {
        known[grout_clock_x(&SHAPE, 0)] = NUMBER;
    }
    if (it->knows == IN_TIME || it->knows == PUBLISHED) {
        known[x.component] = NUMBER;
    }
    if (it->knows == PUBLISHED) {
        smem[x.component] = gmem[x.component] = NUMBER;
    }
    if (it->knows == NEXT_LIFE) {
        x.number = GROUT_ENTRY_NEVER_OVER;
        known[x.component] = NUMBER + 1;
    }
    if (it->knows == READ_SIDE) {
        known[grout_clock_br(&SHAPE, 0)] = NUMBER;
    }
    return grout_rules__judge(&rules, &x);
}

START_TEST(row_of_the_table) {
    const row *it = &ROWS[_i];
    grout_conflict conflict = judge(it, 0);
    ck_assert_msg(conflict.code == it->code, "%s: %s", it->name,
                  conflict.code ? grout_diag_get(conflict.code)->text : "in order");
    ck_assert_msg(conflict.code == OK || conflict.primary == it->primary, "%s: primary %d",
                  it->name, (int)conflict.primary);
}
END_TEST

/* The tensor core runs equal instructions in order, and no others. */
START_TEST(equal_shapes_need_no_wait) {
    static const uint32_t SHAPES[][3] = {{0, 7, 7}, {0, 7, 9}, {0, 0, 0}};
    const uint32_t none[COUNTERS] = {0};
    const grout_clocks clocks = {.cluster = 0, .known = none, .published_smem = none, .published_gmem = none};
    grout_entry earlier = make_entry(WGMMA, true, 0);
    grout_rules rules = {
        .shape = &SHAPE, .clocks = &clocks, .space = ACC, .wgmma_shapes = SHAPES[_i]};
    rules.entry = make_entry(WGMMA, true, 0);
    rules.entry.origin.op = 2;
    rules.entry.number = NUMBER + 1;
    ck_assert_int_eq(grout_rules__judge(&rules, &earlier).code,
                     _i == 0 ? OK : GROUT_DIAG_ACCUMULATOR_IN_FLIGHT);
}
END_TEST

/* Whatever a CTA knows, it knows nothing of another one. */
START_TEST(other_cta_is_never_ordered) {
    const row *it = &ROWS[_i];
    grout_conflict conflict = judge(it, 7);
    if (it->space == GMEM) {
        ck_assert_msg(conflict.code == GROUT_DIAG_GMEM_RACE, "%s", it->name);
    }
}
END_TEST

/* What thread 1 had been told of barrier 0, and when: by now, and at the read. */
static const struct told {
    uint16_t since, told;
    bool has_been_told;
} TOLD[] = {{0, 0, false}, {0, 2, false}, {2, 1, false}, {2, 2, true}, {1, 2, true}};
enum { TOLD_COUNT = sizeof TOLD / sizeof *TOLD };

/* The same pair, unordered, in both orders of execution: the same code and primary place. */
START_TEST(order_of_execution_has_no_part) {
    bool is_wgmma = _i & 1, has_been_told = TOLD[_i / 2].has_been_told;
    uint16_t since[4] = {0};
    uint32_t none[COUNTERS] = {0};
    grout_clocks reader = {.cluster = 0, .known = none, .published_smem = none, .published_gmem = none}, loader = {.cluster = 0, .known = none, .published_smem = none, .published_gmem = none};
    grout_entry load = make_entry(LOAD, true, 0);
    grout_entry read = make_entry(is_wgmma ? WGMMA : PLAIN, false, 1);
    grout_rules rules = {.shape = &SHAPE, .clocks = &reader, .space = SMEM, .entry = read};
    grout_diag_code race = is_wgmma ? GROUT_DIAG_MMA_OPERAND_REUSE : GROUT_DIAG_SMEM_RACE;
    grout_conflict load_first, read_first;
    rules.told_since = since;
    read.component = rules.entry.component =
        (uint16_t)(is_wgmma ? grout_clock_wg(&SHAPE, 1) : grout_clock_g(&SHAPE, 1));
    since[SHAPE.barrier_count] = TOLD[_i / 2].since;
    read.told = rules.entry.told = TOLD[_i / 2].told;
    load_first = grout_rules__judge(&rules, &load);
    rules.clocks = &loader;
    rules.entry = load;
    read_first = grout_rules__judge(&rules, &read);
    ck_assert_int_eq(load_first.code, has_been_told ? race : GROUT_DIAG_ASYNC_NOT_AWAITED);
    ck_assert_int_eq(load_first.code, read_first.code);
    /* The race points at the load, the other at the read. */
    ck_assert_int_eq(load_first.primary, has_been_told ? EARLIER : LATER);
    ck_assert_int_eq(read_first.primary, has_been_told ? LATER : EARLIER);
}
END_TEST

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

/* Who is ordered after a read that was right to see the write need not know of the write. */
START_TEST(reader_vouches_for_the_write) {
    uint32_t known[COUNTERS] = {0}, none[COUNTERS] = {0}, conflicts = 0;
    grout_clocks clocks = {.cluster = 0, .known = known, .published_smem = none, .published_gmem = none};
    grout_entry write = make_entry(PLAIN, true, 0), read = make_entry(PLAIN, false, 1);
    grout_rules rules = {.shape = &SHAPE,
                         .clocks = &clocks,
                         .space = SMEM,
                         .report = count_conflict,
                         .payload = &conflicts};
    grout_shadow shadow;
    grout_region region = {.write = write};
    grout_rect rect = {0, 1, 0, 1};
    ck_assert(grout_shadow__init(&shadow, 1));
    read.component = (uint16_t)grout_clock_g(&SHAPE, 1);
    read.flags |= _i ? GROUT_ENTRY_VOUCHES : 0;
    ck_assert(grout_shadow__add_reader(&shadow, &region, &read));
    known[read.component] = NUMBER; /* and nothing of the write */
    rules.entry = make_entry(PLAIN, true, 1);
    ck_assert(grout_rules__visit(&rules, &shadow, &region, &rect));
    ck_assert_uint_eq(conflicts, _i ? 0 : 1);
    grout_shadow__deinit(&shadow);
}
END_TEST

START_TEST(components_have_mechanisms) {
    uint32_t index = 99;
    ck_assert_int_eq(grout_clock__get_mechanism(&SHAPE, 1, &index), GROUT_MECHANISM_EPOCH);
    ck_assert_uint_eq(index, 1);
    ck_assert_int_eq(grout_clock__get_mechanism(&SHAPE, 2, &index), GROUT_MECHANISM_ACCESS);
    ck_assert_uint_eq(index, 0);
    ck_assert_int_eq(grout_clock__get_mechanism(&SHAPE, 5, &index), GROUT_MECHANISM_BULK_READ);
    ck_assert_int_eq(grout_clock__get_mechanism(&SHAPE, 6, &index), GROUT_MECHANISM_BULK_WRITE);
    ck_assert_int_eq(grout_clock__get_mechanism(&SHAPE, 9, &index), GROUT_MECHANISM_PHASE);
    ck_assert_uint_eq(index, 1);
    ck_assert_int_eq(grout_clock__get_mechanism(&SHAPE, 10, &index), GROUT_MECHANISM_WGMMA);
    ck_assert_uint_eq(index, 0);
    ck_assert_int_eq(grout_clock__get_mechanism(&SHAPE, 11, &index), GROUT_MECHANISM_WGMMA);
    ck_assert_uint_eq(index, 1);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("rules");
    TCase *rows = tcase_create("rows");
    tcase_add_loop_test(rows, row_of_the_table, 0, (int)(sizeof ROWS / sizeof *ROWS));
    tcase_add_loop_test(rows, other_cta_is_never_ordered, 0, (int)(sizeof ROWS / sizeof *ROWS));
    tcase_add_loop_test(rows, order_of_execution_has_no_part, 0, 2 * TOLD_COUNT);
    tcase_add_loop_test(rows, reader_vouches_for_the_write, 0, 2);
    tcase_add_loop_test(rows, equal_shapes_need_no_wait, 0, 3);
    tcase_add_test(rows, components_have_mechanisms);
    suite_add_tcase(suite, rows);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
