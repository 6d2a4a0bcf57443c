/* check_tcgen05_engine.c - when MMAs, commits and stores of tensor memory take effect.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/tests.h"
#include "tests/unit/support/run_kernel.h"

#define POISON 0x7f800001u
#define COLS   16

static uint32_t get_word(const run *r, uint32_t index, size_t element) {
    uint32_t word;
    memcpy(&word, (const uint8_t *)r->arguments[index].data + 4 * element, sizeof word);
    return word;
}

/* The first two of run_variants: the rest is about schedules, and one thread has none. */
enum { EAGER = 0, LAZY = 1, TIMINGS };

/* K is 16, and a and b are 1: an MMA adds 16. */
#define HEAD                                                             \
    "kernel @k(%y: out gmem f32[128, 16]) {\n"                           \
    " scratch %a : smem f16[128, 16] tile(8, 16) swizzle(32)\n"          \
    " scratch %b : smem f16[16, 16] tile(8, 16) swizzle(32)\n"           \
    " scratch %done : barrier orders_tensor_core\n"                      \
    " scratch %again : barrier orders_tensor_core\n"                     \
    " scratch %t : tmem f32[128, 16]\n scratch %u : tmem f32[128, 16]\n" \
    " store %a, (broadcast 1.0 : f16[128, 16])\n"                        \
    " store %b, (broadcast 1.0 : f16[16, 16])\n commit_smem\n"           \
    " async_store_tmem %t, (broadcast 1.0 : f32[128, 16])\n commit_tmem\n"
#define MMA    " tcgen05_mma %t, %a, %b, true\n"
#define FRESH  " tcgen05_mma %t, %a, %b, false\n"
#define OTHER  " tcgen05_mma %u, %a, %b, false\n"
#define COMMIT " tcgen05_commit_arrive %done\n"
#define AWAIT  " barrier_wait %done\n"
#define READ   " store %y, (async_load_tmem %t)\n wait_load_tmem\n"

/* Element (0, 0) of the output, which all others equal; its bits. */
static uint32_t get_all(const char *text, int variant) {
    run *r = run_new(text, variant);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    const uint32_t first = get_word(r, 0, 0);
    for (size_t i = 0; i < (size_t)128 * COLS; i++) {
        ck_assert_uint_eq(get_word(r, 0, i), first);
    }
    run_delete(r);
    return first;
}

static uint32_t get_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Lazy timing: one value; eager: another. */
static void expect(const char *text, int variant, uint32_t lazy, uint32_t eager) {
    ck_assert_uint_eq(get_all(text, variant), variant == LAZY ? lazy : eager);
}

/* ---- MMAs and commits ------------------------------------------------------------------------ */

TEST_FROM(an_mma_is_performed_when_its_commit_is_awaited, EAGER, TIMINGS) {
    expect(HEAD MMA COMMIT AWAIT READ "}\n", _i, get_bits(17), get_bits(17));
    expect(HEAD MMA COMMIT READ AWAIT "}\n", _i, POISON, get_bits(17));
    expect(HEAD MMA READ COMMIT AWAIT "}\n", _i, POISON, get_bits(17));
    expect(HEAD COMMIT MMA AWAIT READ "}\n", _i, POISON, get_bits(17)); /* too early a commit */
}

TEST_FROM(mmas_of_a_lane_are_in_order, EAGER, TIMINGS) {
    expect(HEAD MMA FRESH MMA COMMIT AWAIT READ "}\n", _i, get_bits(32), get_bits(32));
    expect(HEAD FRESH MMA FRESH COMMIT AWAIT READ "}\n", _i, get_bits(16), get_bits(16));
    /* more than a lane has in flight */
    expect(HEAD " for %i in 0..66 {\n" MMA " }\n" COMMIT AWAIT READ "}\n", _i, get_bits(1057),
           get_bits(1057));
}

TEST_FROM(a_commit_is_for_the_mmas_before_it, EAGER, TIMINGS) {
    expect(HEAD OTHER COMMIT MMA " tcgen05_commit_arrive %again\n" AWAIT READ
                                 " barrier_wait %again\n}\n",
           _i, POISON, get_bits(17));
    expect(HEAD MMA " tcgen05_commit_arrive %again\n" OTHER COMMIT AWAIT READ
                    " barrier_wait %again\n}\n",
           _i, get_bits(17), get_bits(17));
}

#define WARP(w, text) " if (eq %w, " #w ") {\n" text " }\n"

TEST_FROM(a_commit_is_for_its_own_lane, EAGER, TIMINGS) {
    expect(HEAD " warp_map(%w) {\n" WARP(2, MMA) WARP(1, COMMIT) " }\n" AWAIT READ "}\n", _i,
           POISON, get_bits(17));
    expect(HEAD " warp_map(%w) {\n" WARP(2, MMA COMMIT) " }\n" AWAIT READ "}\n", _i, get_bits(17),
           get_bits(17));
    /* lane 0 of warp 0 is the thread's */
    expect(HEAD " warp_map(%w) {\n" WARP(0, MMA) " }\n" COMMIT AWAIT READ "}\n", _i, get_bits(17),
           get_bits(17));
    expect(HEAD MMA " warp_map(%w) {\n" WARP(0, COMMIT) " }\n" AWAIT READ "}\n", _i, get_bits(17),
           get_bits(17));
    expect(HEAD " warp_map(%w) {\n" WARP(3, MMA) " }\n" COMMIT AWAIT READ "}\n", _i, POISON,
           get_bits(17));
}

/* ---- operands -------------------------------------------------------------------------------- */

#define TWO " store %a, (broadcast 2.0 : f16[128, 16])\n"

TEST_FROM(operands_are_read_when_it_is_performed, EAGER, TIMINGS) {
    expect(HEAD MMA TWO COMMIT AWAIT READ "}\n", _i, get_bits(33), get_bits(17));
    expect(HEAD MMA COMMIT AWAIT TWO READ "}\n", _i, get_bits(17), get_bits(17));
    /* not published at the issue: the bytes before */
    expect(HEAD TWO MMA COMMIT AWAIT READ "}\n", _i, get_bits(17), get_bits(33));
    expect(HEAD TWO " commit_smem\n" MMA COMMIT AWAIT READ "}\n", _i, get_bits(33), get_bits(33));
}

#define PACKED                                      \
    HEAD " scratch %p : tmem f16[128, 16] packed\n" \
         " async_store_tmem %p, (broadcast 1.0 : f16[128, 16])\n commit_tmem\n"
#define OVER " async_store_tmem %p, (broadcast 2.0 : f16[128, 16])\n commit_tmem\n"
#define BY_P " tcgen05_mma %t, %p, %b, true\n"

TEST_FROM(an_a_in_tensor_memory_is_read_when_it_is_performed, EAGER, TIMINGS) {
    expect(PACKED BY_P COMMIT AWAIT READ "}\n", _i, get_bits(17), get_bits(17));
    expect(PACKED BY_P OVER COMMIT AWAIT READ "}\n", _i, get_bits(33), get_bits(17));
    expect(PACKED BY_P COMMIT AWAIT OVER READ "}\n", _i, get_bits(17), get_bits(17));
}

/* Whether or not use_acc holds is read at the issue. */
TEST_FROM(use_acc_is_read_at_the_issue, EAGER, TIMINGS) {
    expect(HEAD " for %i in 0..3 {\n tcgen05_mma %t, %a, %b, (gt %i, 0)\n }\n" COMMIT AWAIT READ
                "}\n",
           _i, get_bits(48), get_bits(48));
}

/* ---- stores ---------------------------------------------------------------------------------- */

#define STORE " async_store_tmem %t, (broadcast 5.0 : f32[128, 16])\n"

/* Or before a later load of its own thread. */
TEST_FROM(a_store_lands_at_its_commit, EAGER, TIMINGS) {
    expect(HEAD STORE " commit_tmem\n" READ "}\n", _i, get_bits(5), get_bits(5));
    expect(HEAD STORE READ " commit_tmem\n}\n", _i, get_bits(5), get_bits(5));
    expect(HEAD STORE " wait_load_tmem\n" READ " commit_tmem\n}\n", _i, get_bits(5), get_bits(5));
    expect(HEAD STORE " async_store_tmem %t, (broadcast 6.0 : f32[128, 16])\n commit_tmem\n" READ
                      "}\n",
           _i, get_bits(6), get_bits(6));
}

/* The registers of a store are those of its issue. */
TEST_FROM(a_store_has_the_values_of_its_issue, EAGER, TIMINGS) {
    expect(HEAD " %v = for %i in 0..3 carry(%x = (broadcast 1.0 : f32[128, 16])) {\n"
                "  async_store_tmem %t, %x\n  yield (mul %x, 2.0)\n }\n commit_tmem\n" READ "}\n",
           _i, get_bits(4), get_bits(4));
}

/* Other columns stay as they are, and hold no poison. */
TEST_FROM(only_the_columns_in_flight_hold_poison, EAGER, TIMINGS) {
    run *r = run_new(
        HEAD " tcgen05_mma %t[:, ds(8, 8)], %a, %b[:, ds(0, 8)], true\n" READ COMMIT AWAIT "}\n",
        _i);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    for (size_t i = 0; i < (size_t)128 * COLS; i++) {
        const bool is_poison = get_word(r, 0, i) == POISON;
        ck_assert(i % COLS >= 8 || get_word(r, 0, i) == get_bits(1));
        ck_assert(is_poison == (_i == LAZY && i % COLS >= 8));
    }
    run_delete(r);
}

/* ---- what it publishes ----------------------------------------------------------------------- */

/* An MMA is issued once and completes once, also one that nobody waits for, in each timing. */
TEST_FROM(each_mma_completes_once, EAGER, TIMINGS) {
    run *r = run_new(HEAD MMA OTHER COMMIT AWAIT MMA " store %y, (async_load_tmem %u)\n}\n", _i);
    uint32_t issues = 0, completions = 0;
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    for (uint32_t i = 0; i < r->event_count; i++) {
        const grout_op *op = grout_module_get_op(r->module, r->events[i].origin.op);
        const bool is_mma = r->events[i].origin.op != 0 &&
                            strcmp(grout_op_get_info(op->opcode)->text, "tcgen05_mma") == 0;
        issues += is_mma && r->events[i].kind == GROUT_EVENT_ISSUE;
        completions += is_mma && r->events[i].kind == GROUT_EVENT_COMPLETE;
        ck_assert_uint_le(completions, issues);
    }
    ck_assert_uint_eq(issues, 3);
    ck_assert_uint_eq(completions, 3);
    run_delete(r);
}
