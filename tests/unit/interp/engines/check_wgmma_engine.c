/* check_wgmma_engine.c - when a wgmma takes effect and what it sees then; what it tells.
 * SPDX-License-Identifier: Apache-2.0 */
#include "interp/engines/accumulator.h"
#include "tests/tests.h"
#include "tests/unit/support/run_kernel.h"

#define POISON 0x7f800001u

static uint32_t get_word(const run *r, uint32_t index, size_t element) {
    uint32_t word;
    memcpy(&word, (const uint8_t *)r->arguments[index].data + 4 * element, sizeof word);
    return word;
}

/* ---- what it sees ------------------------------------------------------------------------------
 */

#define SMALL                                                    \
    " scratch %as : smem bf16[64, 16] tile(8, 16) swizzle(32)\n" \
    " scratch %bs : smem bf16[16, 16] tile(8, 16) swizzle(32)\n" \
    " scratch %acc : acc f32[64, 16]\n"

static double get_first(const char *text, int variant) {
    run *r = run_new(text, variant);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    double value = run_get(r, 0, 17);
    for (size_t i = 0; i < (size_t)64 * 16; i++) {
        ck_assert(run_get(r, 0, i) == value);
    }
    run_delete(r);
    return value;
}

static bool is_eager(int variant) {
    return run_variants[variant].timing == GROUT_TIMING_EAGER;
}

static const char a_is_stale[] =
    "kernel @k(%c: out gmem f32[64, 16]) {\n" SMALL
    " store %as, (broadcast 1.0 : bf16[64, 16])\n store %bs, (broadcast 1.0 : bf16[16, 16])\n"
    " commit_smem\n store %as, (broadcast 2.0 : bf16[64, 16])\n wgmma %acc, %as, %bs\n"
    " store %c, (load %acc)\n}\n";
static const char both_are_stale[] =
    "kernel @k(%c: out gmem f32[64, 16]) {\n" SMALL
    " store %as, (broadcast 1.0 : bf16[64, 16])\n store %bs, (broadcast 1.0 : bf16[16, 16])\n"
    " commit_smem\n store %as, (broadcast 2.0 : bf16[64, 16])\n"
    " store %bs, (broadcast 3.0 : bf16[16, 16])\n wgmma %acc, %as, %bs\n"
    " store %as, (broadcast 5.0 : bf16[64, 16])\n store %c, (load %acc)\n}\n";
/* One that has been performed keeps nothing: the next one sees what was committed since. */
static const char commit_heals[] =
    "kernel @k(%c: out gmem f32[64, 16]) {\n" SMALL
    " store %as, (broadcast 1.0 : bf16[64, 16])\n store %bs, (broadcast 1.0 : bf16[16, 16])\n"
    " commit_smem\n store %as, (broadcast 2.0 : bf16[64, 16])\n wgmma %acc, %as, %bs\n"
    " wgmma_wait 0\n commit_smem\n wgmma %acc, %as, %bs\n store %c, (load %acc)\n}\n";

/* Stores that are not published: the bytes before them. */
TEST_EACH(uncommitted_stores_are_not_seen, 3) {
    ck_assert(get_first(a_is_stale, _i) == (is_eager(_i) ? 32 : 16));
    ck_assert(get_first(both_are_stale, _i) == (is_eager(_i) ? 96 : 16));
    ck_assert(get_first(commit_heals, _i) == (is_eager(_i) ? 64 : 48));
}

/* The value that a register holds at the issue, though the loop gives it another since. */
TEST_EACH(registers_are_read_at_the_issue, RUN_VARIANTS) {
    ck_assert(get_first("kernel @k(%c: out gmem f32[64, 16]) {\n" SMALL
                        " store %bs, (broadcast 1.0 : bf16[16, 16])\n commit_smem\n"
                        " %v = for %i in 0..4 carry(%x = (broadcast 1.0 : bf16[64, 16])) {\n"
                        "  wgmma_async %acc, %x, %bs\n  yield (mul %x, 2.0)\n }\n"
                        " wgmma_wait 0\n store %c, (acc_load %acc)\n}\n",
                        _i) == 16 * 15);
}

#define BIG                                                                                   \
    " scratch %as : smem bf16[64, 64] tile(8, 64) swizzle(128)\n"                             \
    " scratch %bs : smem bf16[64, 64] tile(8, 64) swizzle(128)\n scratch %bar : barrier[3]\n" \
    " scratch %acc : acc f32[64, 64]\n copy_gmem_to_smem %a, %as, %bar[0]\n"                  \
    " copy_gmem_to_smem %b, %bs, %bar[1]\n barrier_wait %bar[0]\n barrier_wait %bar[1]\n"
#define BIG_PARAMS \
    "kernel @k(%a: in gmem bf16[64, 64], %b: in gmem bf16[64, 64], %c: out gmem f32[64, 64]) {\n"

/* A load into an operand whose group nobody has waited for. */
TEST_EACH(a_refill_spoils_the_operand, RUN_VARIANTS) {
    run *r = run_new(BIG_PARAMS BIG " wgmma_async %acc, %as, %bs\n"
                                    " copy_gmem_to_smem %b, %as, %bar[2]\n wgmma_wait 0\n"
                                    " store %c, (acc_load %acc)\n barrier_wait %bar[2]\n}\n",
                     _i);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    uint32_t nans = 0;
    for (size_t i = 0; i < (size_t)64 * 64; i++) {
        nans += get_word(r, 2, i) == 0x7fffffffu;
    }
    if (run_variants[_i].timing != GROUT_TIMING_RANDOM) {
        ck_assert_uint_eq(nans, is_eager(_i) ? 0 : 64 * 64);
    }
    ck_assert_uint_eq(r->counts[GROUT_EVENT_FAULT], 0); /* bytes of a load count as initialised */
    run_delete(r);
}

/* A load of an accumulator that does not wait: the columns in flight hold poison. */
TEST_EACH(an_early_load_finds_poison, RUN_VARIANTS) {
    run *r = run_new(BIG_PARAMS BIG " wgmma %acc, %as, %bs\n wgmma_wait 0\n"
                                    " wgmma_async %acc[:, ds(0, 32)], %as, %bs[:, ds(0, 32)]\n"
                                    " %v = acc_load %acc\n wgmma_wait 0\n store %c, %v\n}\n",
                     _i);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    for (size_t i = 0; i < (size_t)64 * 64; i++) {
        bool is_poison = get_word(r, 2, i) == POISON;
        if (run_variants[_i].timing != GROUT_TIMING_RANDOM) {
            ck_assert(is_poison == (!is_eager(_i) && i % 64 < 32));
        }
        ck_assert(i % 64 < 32 || !is_poison);
    }
    ck_assert_uint_eq(r->counts[GROUT_EVENT_FAULT], 0); /* the same verdict under each timing */
    run_delete(r);
}

/* The same of a part: columns count from the part's first. */
TEST_EACH(an_early_load_of_a_part_finds_poison, RUN_VARIANTS) {
    run *r = run_new(BIG_PARAMS BIG
                     " wgmma_async %acc[:, ds(8, 16)], %as, %bs[:, ds(0, 16)]\n"
                     " wgmma_async %acc[:, ds(32, 8)], %as, %bs[:, ds(0, 8)]\n"
                     " %v = acc_load %acc[:, ds(16, 32)]\n wgmma_wait 0\n"
                     " store %c, (broadcast 0.0 : f32[64, 64])\n store %c[:, ds(16, 32)], %v\n}\n",
                     _i);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    for (size_t i = 0; i < (size_t)64 * 64 && run_variants[_i].timing != GROUT_TIMING_RANDOM; i++) {
        bool is_in_flight = (i % 64 >= 16 && i % 64 < 24) || (i % 64 >= 32 && i % 64 < 40);
        ck_assert((get_word(r, 2, i) == POISON) == (!is_eager(_i) && is_in_flight));
    }
    run_delete(r);
}

/* A scope's bytes are nobody's when it begins again, whatever was packed of them. */
TEST_EACH(an_operand_does_not_outlive_its_scope, RUN_VARIANTS) {
    run *r =
        run_new("kernel @k(%c: out gmem f32[2, 64, 16]) {\n scratch %acc : acc f32[64, 16]\n"
                " for %i in 0..2 { scoped(%as : smem bf16[64, 16] tile(8, 16) swizzle(32), %bs "
                ": smem bf16[16, 16] tile(8, 16) swizzle(32)) {\n  if (eq %i, 0) {\n   store "
                "%as, (broadcast 1.0 : bf16[64, 16])\n   store %bs, (broadcast 1.0 : bf16[16, "
                "16])\n   commit_smem\n  }\n  wgmma %acc, %as, %bs\n  wgmma_wait 0\n"
                "  store %c[%i], (acc_load %acc)\n } }\n}\n",
                _i);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    ck_assert(run_get(r, 0, 7) == 16);
    ck_assert_uint_eq(get_word(r, 0, 1024 + 7), 0x7fffffffu);
    run_delete(r);
}

/* A thread that leaves a scope finishes its own wgmmas and nobody else's. */
TEST_EACH(scopes_end_in_each_thread, RUN_VARIANTS) {
    run *r =
        run_new("kernel @k(%c: out gmem f32[64, 16]) threads(w = 2) {\n"
                " scratch %bs : smem bf16[16, 16] tile(8, 16) swizzle(32)\n scratch %bar : "
                "barrier[2]\n scoped(%acc : acc f32[64, 16]) {\n  if (eq (axis_index w), 0) "
                "{\n   barrier_wait %bar[0]\n  } else {\n   wgmma_async %acc, (broadcast 0.0 : "
                "bf16[64, 16]), %bs\n   barrier_arrive %bar[0]\n   barrier_wait %bar[1]\n"
                "   store %c, (acc_load %acc)\n   wgmma_wait 0\n  }\n }\n"
                " if (eq (axis_index w), 0) { barrier_arrive %bar[1] }\n}\n",
                _i);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    if (run_variants[_i].timing == GROUT_TIMING_LAZY) {
        ck_assert_uint_eq(get_word(r, 0, 99), POISON);
    }
    run_delete(r);
}

/* An operand outside its object: a fault, and no product. */
TEST_EACH(operands_outside_are_refused, RUN_VARIANTS) {
    run *r = run_new("kernel @k(%n: in gmem i32[1], %c: out gmem f32[64, 16]) {\n"
                     " scratch %as : smem bf16[2, 64, 16] tile(8, 16) swizzle(32)\n"
                     " scratch %bs : smem bf16[16, 16] tile(8, 16) swizzle(32)\n"
                     " scratch %acc : acc f32[64, 16]\n %i = load %n[0]\n"
                     " store %as, (broadcast 1.0 : bf16[2, 64, 16])\n"
                     " store %bs, (broadcast 1.0 : bf16[16, 16])\n commit_smem\n"
                     " wgmma %acc, %as[%i], %bs\n wgmma %acc, %as[1], %bs\n"
                     " store %c, (load %acc)\n}\n",
                     _i);
    run_start(r);
    *(int32_t *)r->arguments[0].data = 2;
    ck_assert_int_eq(grout_machine_run(r->machine, 0, r->diags), GROUT_RUN_DONE);
    ck_assert_uint_eq(r->faults[GROUT_DIAG_OUT_OF_BOUNDS], 1);
    ck_assert_int_eq(r->last_fault.start, 2);
    ck_assert_int_eq(r->last_fault.limit, 2);
    ck_assert(run_get(r, 1, 5) == 16);
    run_delete(r);
}

/* ---- what is undefined -------------------------------------------------------------------------
 */

typedef struct spoiling {
    const char *text;
    uint32_t first_row, end_row, first_col, end_col; /* what is undefined of 64 x 16 */
} spoiling;

static const spoiling spoilings[] = {
    /* rows of a, as they lie along K */
    {"kernel @k() {\n" SMALL " store %as[ds(0, 40)], (broadcast 1.0 : bf16[40, 16])\n"
     " store %bs, (broadcast 1.0 : bf16[16, 16])\n commit_smem\n wgmma %acc, %as, %bs\n}\n",
     40, 64, 0, 16},
    /* and along M */
    {"kernel @k() {\n scratch %as : smem bf16[16, 64] tile(8, 16) swizzle(32)\n"
     " scratch %bs : smem bf16[16, 16] tile(8, 16) swizzle(32)\n scratch %acc : acc f32[64, 16]\n"
     " store %as[:, ds(0, 48)], (broadcast 1.0 : bf16[16, 48])\n"
     " store %bs, (broadcast 1.0 : bf16[16, 16])\n commit_smem\n"
     " wgmma %acc, %as.transpose(1, 0), %bs\n}\n",
     48, 64, 0, 16},
    /* columns of b, along N and along K */
    {"kernel @k() {\n" SMALL " store %as, (broadcast 1.0 : bf16[64, 16])\n"
     " for %i in 0..16 { for %j in 0..8 { store %bs[%i, %j], 1.0 } }\n commit_smem\n"
     " wgmma %acc, %as, %bs\n}\n",
     0, 64, 8, 16},
    {"kernel @k() {\n" SMALL " store %as, (broadcast 1.0 : bf16[64, 16])\n"
     " store %bs[ds(0, 8)], (broadcast 1.0 : bf16[8, 16])\n commit_smem\n"
     " wgmma %acc, %as, %bs.transpose(1, 0)\n}\n",
     0, 64, 8, 16},
    /* an element that is missing along K spoils all that it is multiplied into */
    {"kernel @k() {\n" SMALL " for %i in 0..64 { for %j in 0..8 { store %as[%i, %j], 1.0 } }\n"
     " store %bs, (broadcast 1.0 : bf16[16, 16])\n commit_smem\n wgmma %acc, %as, %bs\n}\n",
     0, 64, 0, 16},
    /* only the columns that the product has */
    {"kernel @k() {\n" SMALL " store %as[ds(0, 40)], (broadcast 1.0 : bf16[40, 16])\n"
     " store %bs, (broadcast 1.0 : bf16[16, 16])\n commit_smem\n"
     " wgmma %acc[:, ds(8, 8)], %as, %bs[:, ds(0, 8)]\n}\n",
     40, 64, 8, 16},
    /* a in registers */
    {"kernel @k() {\n" SMALL " store %as[ds(0, 40)], (broadcast 1.0 : bf16[40, 16])\n"
     " store %bs, (broadcast 1.0 : bf16[16, 16])\n commit_smem\n wgmma %acc, (load %as), %bs\n}\n",
     40, 64, 0, 16},
    /* a store defines all again, or brings what is undefined */
    {"kernel @k() {\n" SMALL " store %as[ds(0, 40)], (broadcast 1.0 : bf16[40, 16])\n"
     " store %bs, (broadcast 1.0 : bf16[16, 16])\n commit_smem\n wgmma %acc, %as, %bs\n"
     " wgmma_wait 0\n acc_store %acc[:, ds(0, 8)], (broadcast 0.0 : f32[64, 8])\n}\n",
     40, 64, 8, 16},
    {"kernel @k() {\n" SMALL " store %as[ds(0, 40)], (broadcast 1.0 : bf16[40, 16])\n"
     " acc_store %acc, (cast (load %as) : f32)\n}\n",
     40, 64, 0, 16},
    /* nothing */
    {"kernel @k() {\n" SMALL " store %as, (broadcast 1.0 : bf16[64, 16])\n"
     " store %bs, (broadcast 1.0 : bf16[16, 16])\n commit_smem\n wgmma %acc, %as, %bs\n}\n",
     0, 0, 0, 0},
};
#define SPOILINGS ((int)(sizeof spoilings / sizeof spoilings[0]))

TEST_EACH(undefinedness_travels_by_rows_and_columns, (SPOILINGS * RUN_VARIANTS)) {
    const spoiling *s = &spoilings[_i % SPOILINGS];
    uint8_t mask[64 * 16] = {0};
    run *r = run_new(s->text, _i / SPOILINGS);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    grout_accumulator accumulator =
        grout_accumulator__get(grout_machine__get_cta(r->machine, 0, 0), 0, 1, 0, 16);
    ck_assert(grout_accumulator__get_undefined(&accumulator, mask) == (s->end_row > 0));
    for (uint32_t i = 0; i < 64 * 16; i++) {
        bool is_spoilt = i / 16 >= s->first_row && i / 16 < s->end_row && i % 16 >= s->first_col &&
                         i % 16 < s->end_col;
        ck_assert_msg((mask[i] != 0) == is_spoilt, "(%u, %u)", i / 16, i % 16);
    }
    ck_assert_uint_eq(r->counts[GROUT_EVENT_FAULT], 0);
    run_delete(r);
}

/* It is said where it reaches an output. */
TEST_EACH(undefined_results_are_reported_at_the_output, RUN_VARIANTS) {
    run *r = run_new("kernel @k(%c: out gmem f32[64, 16]) {\n" SMALL
                     " store %as[ds(0, 40)], (broadcast 1.0 : bf16[40, 16])\n"
                     " store %bs, (broadcast 1.0 : bf16[16, 16])\n commit_smem\n"
                     " wgmma %acc, %as, %bs\n store %c, (load %acc)\n}\n",
                     _i);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    ck_assert_uint_eq(r->faults[GROUT_DIAG_UNINITIALISED_READ], 1);
    run_delete(r);
}

/* ---- what it tells -----------------------------------------------------------------------------
 */

typedef struct told {
    uint32_t kind, number, allowed, operand, space, component;
    bool is_write, is_async;
    grout_run run;
} told;

static told log_entries[256];
static uint32_t log_count;
static uint32_t wg_known[64]; /* wg of thread 0 at each access of thread 1 */
static uint32_t wg_count;

static bool log_event(void *self, const grout_event *event) {
    const run *r = self;
    told entry = {.kind = event->kind, .operand = event->origin.operand};
    grout_clock_shape shape = {.cta_count = 1,
                               .actor_count = 2,
                               .lane_count = 2,
                               .barrier_count = 1,
                               .thread_count = 2,
                               .lanes_per_thread = 1};
    if (event->kind == GROUT_EVENT_ACCESS) {
        const grout_access *access = event->u.access;
        entry.space = access->space;
        entry.is_write = access->is_write;
        entry.is_async = (access->stamp.agent != GROUT_AGENT_ACTOR);
        entry.number = access->stamp.number;
        entry.component = access->stamp.component;
        entry.run = access->runs[0];
        if (event->origin.thread == 1 && wg_count < 64) {
            wg_known[wg_count++] = event->clocks->known[grout_clock_wgmma(&shape, 0)];
        }
    } else if (event->kind == GROUT_EVENT_ISSUE || event->kind == GROUT_EVENT_COMPLETE) {
        entry.number = event->u.issue->write.number;
        entry.component = event->u.issue->read.component;
        ck_assert_uint_eq(event->u.issue->read.number, entry.number);
    } else if (event->kind == GROUT_EVENT_WGMMA_WAIT) {
        entry.number = event->u.group.number;
        entry.allowed = event->u.group.allowed;
        ck_assert_uint_eq(event->u.group.lane, event->origin.thread);
    } else if (event->kind == GROUT_EVENT_THREAD_EXIT) { /* its groups are over */
        ck_assert_uint_eq(
            grout_cta__thread(grout_machine__get_cta(r->machine, 0, 0), event->origin.thread)
                ->queues[GROUT_ENGINE_WGMMA]
                .first,
            0);
        return true;
    } else {
        return true;
    }
    if (log_count < 256) {
        log_entries[log_count++] = entry;
    }
    return true;
}

static run *run_logged(const char *text, int variant) {
    run *r = run_new(text, variant);
    log_count = wg_count = 0;
    run_start(r);
    r->observer.event = log_event;
    ck_assert_int_eq(grout_machine_run(r->machine, 0, r->diags), GROUT_RUN_DONE);
    return r;
}

static void drop(uint32_t kind) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < log_count; i++) {
        if (log_entries[i].kind != kind) {
            log_entries[kept++] = log_entries[i];
        }
    }
    log_count = kept;
}

TEST_EACH(events_come_in_order, RUN_VARIANTS) {
    run *r = run_logged("kernel @k() {\n" SMALL " wgmma %acc[:, ds(8, 8)], %as, %bs[:, ds(0, 8)]\n"
                        " wgmma_async %acc[:, ds(8, 8)], (broadcast 1.0 : bf16[64, 16]), "
                        "%bs[:, ds(0, 8)]\n"
                        " wgmma_wait 3\n %v = acc_load %acc wait(1)\n %w = load %acc\n"
                        " acc_store %acc, (add %v, %w)\n}\n",
                        _i);
    static const told wanted[] = {
        {.kind = GROUT_EVENT_ISSUE, .number = 1},
        {.kind = GROUT_EVENT_ACCESS,
         .number = 1,
         .space = GROUT_SPACE_ACC,
         .is_write = true,
         .is_async = true,
         .run = {32, 64, 64, 32}},
        {.kind = GROUT_EVENT_ACCESS,
         .number = 1,
         .operand = 1,
         .space = GROUT_SPACE_SMEM,
         .is_async = true,
         .run = {0, 0, 1, 2048}},
        {.kind = GROUT_EVENT_ACCESS,
         .number = 1,
         .operand = 2,
         .space = GROUT_SPACE_SMEM,
         .is_async = true},
        {.kind = GROUT_EVENT_WGMMA_WAIT, .number = 0, .allowed = 1},
        {.kind = GROUT_EVENT_ISSUE, .number = 2},
        {.kind = GROUT_EVENT_ACCESS,
         .number = 2,
         .space = GROUT_SPACE_ACC,
         .is_write = true,
         .is_async = true,
         .run = {32, 64, 64, 32}},
        {.kind = GROUT_EVENT_ACCESS,
         .number = 2,
         .operand = 2,
         .space = GROUT_SPACE_SMEM,
         .is_async = true},
        {.kind = GROUT_EVENT_WGMMA_WAIT, .number = 0, .allowed = 3},
        {.kind = GROUT_EVENT_WGMMA_WAIT, .number = 1, .allowed = 1},
        {.kind = GROUT_EVENT_ACCESS, .number = 1, .space = GROUT_SPACE_ACC, .run = {0, 0, 1, 4096}},
        {.kind = GROUT_EVENT_WGMMA_WAIT, .number = 2, .allowed = 0},
        {.kind = GROUT_EVENT_ACCESS, .number = 1, .space = GROUT_SPACE_ACC, .run = {0, 0, 1, 4096}},
        {.kind = GROUT_EVENT_ACCESS,
         .number = 1,
         .space = GROUT_SPACE_ACC,
         .is_write = true,
         .run = {0, 0, 1, 4096}},
    };
    uint32_t completions = 0;
    for (uint32_t i = 0; i < log_count; i++) {
        completions += log_entries[i].kind == GROUT_EVENT_COMPLETE;
    }
    ck_assert_uint_eq(completions, 2);
    drop(GROUT_EVENT_COMPLETE);
    ck_assert_uint_eq(log_count, sizeof wanted / sizeof wanted[0]);
    grout_clock_shape shape = {.cta_count = 1,
                               .actor_count = 1,
                               .lane_count = 1,
                               .barrier_count = 0,
                               .thread_count = 1,
                               .lanes_per_thread = 1};
    for (uint32_t i = 0; i < log_count; i++) {
        const told *got = &log_entries[i], *want = &wanted[i];
        ck_assert_msg(got->kind == want->kind && got->number == want->number, "event %u", i);
        ck_assert_msg(got->allowed == want->allowed && got->operand == want->operand, "event %u",
                      i);
        ck_assert_msg(got->space == want->space && got->is_write == want->is_write &&
                          got->is_async == want->is_async,
                      "event %u", i);
        ck_assert_msg(want->run.length == 0 || memcmp(&got->run, &want->run, sizeof got->run) == 0,
                      "event %u", i);
        if (got->kind == GROUT_EVENT_ISSUE || got->is_async) {
            ck_assert_uint_eq(got->component, grout_clock_wgmma(&shape, 0));
        }
    }
    run_delete(r);
}

/* COMPLETE comes when the product is made: eager at the issue, lazy at the wait that covers it. */
TEST_EACH(completions_show_when, RUN_VARIANTS) {
    run *r = run_logged("kernel @k() {\n" SMALL " wgmma_async %acc, %as, %bs\n"
                        " wgmma_async %acc, %as, %bs\n wgmma_wait 1\n wgmma_wait 0\n}\n",
                        _i);
    static const uint32_t eager[] = {GROUT_EVENT_ISSUE,      GROUT_EVENT_COMPLETE,
                                     GROUT_EVENT_ISSUE,      GROUT_EVENT_COMPLETE,
                                     GROUT_EVENT_WGMMA_WAIT, GROUT_EVENT_WGMMA_WAIT};
    static const uint32_t lazy[] = {GROUT_EVENT_ISSUE,      GROUT_EVENT_ISSUE,
                                    GROUT_EVENT_WGMMA_WAIT, GROUT_EVENT_COMPLETE,
                                    GROUT_EVENT_WGMMA_WAIT, GROUT_EVENT_COMPLETE};
    drop(GROUT_EVENT_ACCESS);
    ck_assert_uint_eq(log_count, 6);
    uint32_t completed = 0;
    for (uint32_t i = 0; i < 6; i++) {
        uint32_t want = is_eager(_i) ? eager[i] : lazy[i];
        ck_assert(run_variants[_i].timing == GROUT_TIMING_RANDOM || log_entries[i].kind == want);
        if (log_entries[i].kind == GROUT_EVENT_COMPLETE) { /* in the order of the groups */
            ck_assert_uint_eq(log_entries[i].number, ++completed);
        }
    }
    run_delete(r);
}

/* In flight at the end of the thread, or of a scope in which it was issued: all are performed. */
TEST_EACH(nothing_is_left_in_flight, RUN_VARIANTS) {
    run *r = run_logged("kernel @k() threads(w = 2) {\n scratch %bs : smem bf16[16, 16] tile(8, "
                        "16) swizzle(32)\n for %i in 0..2 { scoped(%acc : acc f32[64, 16]) {\n"
                        " wgmma_async %acc, (broadcast 1.0 : bf16[64, 16]), %bs\n"
                        " wgmma_async %acc, (broadcast 1.0 : bf16[64, 16]), %bs\n } }\n"
                        " scratch %last : acc f32[64, 16]\n"
                        " wgmma_async %last, (broadcast 1.0 : bf16[64, 16]), %bs\n}\n",
                        _i);
    uint32_t issued = 0, completed = 0;
    for (uint32_t i = 0; i < log_count; i++) {
        issued += log_entries[i].kind == GROUT_EVENT_ISSUE;
        completed += log_entries[i].kind == GROUT_EVENT_COMPLETE;
    }
    ck_assert_uint_eq(issued, 10);
    ck_assert_uint_eq(completed, 10);
    ck_assert_uint_eq(grout_cta__head(grout_machine__get_cta(r->machine, 0, 0))->first_flight, 0);
    ck_assert_uint_eq(grout_cta__head(grout_machine__get_cta(r->machine, 0, 0))->payload_used, 0);
    run_delete(r);
}

/* ---- clocks ------------------------------------------------------------------------------------
 */

/* What thread 1 knows of thread 0's groups, by each kind of edge. */
static const struct {
    const char *text;
    uint32_t known;
} edges[] = {
#define TWO                                                                                       \
    "kernel @k(%a: in gmem bf16[16, 16], %y: out gmem f32[1]) threads(w = 2) {\n"                 \
    " scratch %as : smem bf16[64, 16] tile(8, 16) swizzle(32)\n scratch %bs : smem bf16[16, 16] " \
    "tile(8, 16) swizzle(32)\n scratch %acc : acc f32[64, 16]\n scratch %bar : barrier[1]\n"      \
    " if (eq (axis_index w), 0) {\n  wgmma_async %acc, %as, %bs\n  wgmma_async %acc, %as, %bs\n"  \
    "  wgmma_async %acc, %as, %bs\n"
    {TWO "  wgmma_wait 1\n  barrier_arrive %bar[0]\n } else {\n  barrier_wait %bar[0]\n  store "
         "%y[0], 1.0\n } }\n",
     2},
    {TWO "  %v = acc_load %acc wait(2)\n  barrier_arrive %bar[0]\n } else {\n  barrier_wait "
         "%bar[0]\n  store %y[0], 1.0\n } }\n",
     1},
    {TWO "  %v = load %acc\n  barrier_arrive %bar[0]\n } else {\n  barrier_wait %bar[0]\n  store "
         "%y[0], 1.0\n } }\n",
     3},
    {TWO "  barrier_arrive %bar[0]\n  wgmma_wait 0\n } else {\n  barrier_wait %bar[0]\n  store "
         "%y[0], 1.0\n } }\n",
     0},
    /* by the arrival that a copy makes; its completion brings no more */
    {TWO "  wgmma_wait 1\n  copy_gmem_to_smem %a, %bs, %bar[0]\n  wgmma_wait 0\n } else {\n  "
         "barrier_wait %bar[0]\n  store %y[0], 1.0\n } }\n",
     2},
    /* by the entry of a collective scope, and not by its exit */
    {TWO "  wgmma_wait 1\n }\n scoped(%s : smem f32[4]) collective {\n  if (eq (axis_index w), 0) "
         "{ wgmma_wait 0 } }\n if (eq (axis_index w), 1) { store %y[0], 1.0 } }\n",
     2},
    {TWO "  wgmma_wait 1\n } else {\n  store %y[0], 1.0\n } }\n", 0},
};
#define EDGES ((int)(sizeof edges / sizeof edges[0]))

TEST_EACH(every_edge_carries_groups, (EDGES * RUN_VARIANTS)) {
    run *r = run_logged(edges[_i % EDGES].text, _i / EDGES);
    ck_assert_uint_eq(wg_count, 1);
    ck_assert_uint_eq(wg_known[0], edges[_i % EDGES].known);
    run_delete(r);
}

/* ---- packing -----------------------------------------------------------------------------------
 */

/* Two threads share b; each packs its half of a: three tiles a turn, whatever the timing. */
TEST_EACH(operands_are_packed_once_for_each_content, RUN_VARIANTS) {
    run *r = run_new("kernel @k(%a: in gmem bf16[4, 128, 64], %c: out gmem f32[128, 64]) threads(w "
                     "= 2) {\n scratch %as : smem bf16[128, 64] tile(8, 64) swizzle(128)\n"
                     " scratch %bs : smem bf16[64, 64] tile(8, 64) swizzle(128)\n"
                     " scratch %acc : acc f32[64, 64]\n scratch %full : barrier[1]\n"
                     " scratch %free : barrier[1] arrivals(2)\n %half = mul (axis_index w), 64\n"
                     " for %i in 0..4 {\n  if (eq %half, 0) {\n   copy_gmem_to_smem %a[%i], %as, "
                     "%full[0]\n  }\n  barrier_wait %full[0]\n  if (eq (add %i, %half), 0) {\n"
                     "   store %bs, (broadcast 1.0 : bf16[64, 64])\n   commit_smem\n  }\n"
                     "  barrier_arrive %free[0]\n  barrier_wait %free[0]\n"
                     "  wgmma %acc, %as[ds(%half, 64), :], %bs\n"
                     "  wgmma %acc, %as[ds(%half, 64), :], %bs\n  wgmma_wait 0\n"
                     "  commit_smem\n  barrier_arrive %free[0]\n  barrier_wait %free[0]\n }\n"
                     " store %c[ds(%half, 64), :], (acc_load %acc)\n}\n",
                     _i);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    ck_assert_uint_eq(r->machine->tiles_packed, 4 * 2 + 1);
    for (size_t i = 0; i < 128; i++) {
        double sum = 0;
        for (size_t k = 0; k < (size_t)4 * 64; k++) {
            sum += 2 * run_get(r, 0, k / 64 * 128 * 64 + i * 64 + k % 64);
        }
        ck_assert(run_get(r, 1, i * 64 + 3) == sum);
    }
    run_delete(r);
}

/* Memory of the machine does not grow with the number of steps. */
TEST_EACH(memory_is_flat, RUN_VARIANTS) {
#define STEPS_OF(n)                                                                            \
    "kernel @k(%c: out gmem f32[64, 16]) {\n" SMALL                                            \
    " store %as, (broadcast 1.0 : bf16[64, 16])\n store %bs, (broadcast 1.0 : bf16[16, 16])\n" \
    " commit_smem\n for %i in 0.." #n " { wgmma_async %acc, %as, %bs\n"                        \
    "  wgmma_async %acc, (broadcast 1.0 : bf16[64, 16]), %bs }\n store %c, (load %acc)\n}\n"
    static const char *const texts[] = {STEPS_OF(100), STEPS_OF(1000)};
    uint64_t peaks[2];
    for (uint32_t i = 0; i < 2; i++) {
        run *r = run_new(texts[i], _i);
        ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
        peaks[i] = grout_machine_get_stats(r->machine).peak_bytes;
        run_delete(r);
    }
    /* In random timing luck decides how many records there are at once; never more than this many.
     */
    ck_assert_uint_le(peaks[1] - peaks[0],
                      run_variants[_i].timing == GROUT_TIMING_RANDOM ? 32 << 10 : 0);
}
