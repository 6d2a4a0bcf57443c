/* check_tma.c - async copies: edges, refusals, and when they take effect.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/tests.h"
#include "tests/unit/support/run_kernel.h"

#include <math.h>

#define POISON 0x7f800001u

static uint32_t get_bits(const run *r, uint32_t index, size_t element) {
    uint32_t bits;
    memcpy(&bits, (const uint8_t *)r->arguments[index].data + 4 * element, sizeof bits);
    return bits;
}

/* A box over the edge: zeros come in, what is outside does not go out. */
TEST_EACH(edges_fill_with_zeros_and_clip, RUN_VARIANTS) {
    run *r = run_new(
        "kernel @k(%x: in gmem f32[10, 20], %y: out gmem f32[8, 16], %z: out gmem f32[10, 20]) {\n"
        " scratch %s : smem f32[8, 16]\n scratch %b : barrier[1]\n %i = add 2, 4\n %j = add 4, 4\n"
        " copy_gmem_to_smem %x[ds(%i, 8), ds(%j, 16)], %s, %b[0]\n barrier_wait %b[0]\n"
        " copy_smem_to_gmem %s, %y\n copy_smem_to_gmem %s, %z[ds(%i, 8), ds(%j, 16)]\n"
        " wait_smem_to_gmem 0 }",
        _i);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    for (size_t i = 0; i < 8; i++) {
        for (size_t j = 0; j < 16; j++) {
            bool is_inside = i + 6 < 10 && j + 8 < 20;
            double expected = is_inside ? run_get(r, 0, (i + 6) * 20 + j + 8) : 0;
            ck_assert(run_get(r, 1, i * 16 + j) == expected);
        }
    }
    for (size_t i = 0; i < 200; i++) {
        bool is_inside = i / 20 >= 6 && i % 20 >= 8;
        ck_assert(is_inside ? run_get(r, 2, i) == run_get(r, 0, i) : get_bits(r, 2, i) == POISON);
    }
    ck_assert_int_eq(r->last_fault.have, 200 - 4 * 12); /* output-not-written */
    run_delete(r);
}

/* Boxes wholly outside, before and after: all zeros, nothing written, no fault. */
TEST_EACH(boxes_outside_are_legal, RUN_VARIANTS) {
    run *r = run_new(
        "kernel @k(%x: in gmem f32[8, 8], %y: out gmem f32[8, 8]) {\n scratch %s : smem f32[8, 8]\n"
        " scratch %b : barrier[1]\n %i = sub 0, 16\n %j = add 8, 8\n"
        " copy_gmem_to_smem %x[ds(%i, 8), ds(0, 8)], %s, %b[0]\n barrier_wait %b[0]\n"
        " copy_smem_to_gmem %s, %y\n copy_smem_to_gmem %s, %y[ds(%j, 8), ds(0, 8)]\n "
        "wait_smem_to_gmem 0 }",
        _i);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    for (size_t i = 0; i < 64; i++) {
        ck_assert_uint_eq(get_bits(r, 1, i), 0);
    }
    ck_assert_uint_eq(r->counts[GROUT_EVENT_FAULT], 0);
    run_delete(r);
}

/* What arrives from outside the array: bits, by what the copy says; from the array as it is now,
 * and from one whose last stores the engine does not see yet. */
TEST_EACH(oob_says_what_comes_from_outside, RUN_VARIANTS) {
    static const struct {
        const char *oob, *store;
        uint32_t bits, faults;
    } cases[] = {{"", "", 0, 0},
                 {"oob(zero)", "", 0, 0},
                 {"oob(nan)", "", 0x7ff77ff7u, 0},
                 {"oob(undefined)", "", POISON, 1},
                 {"oob(nan)", "store %x[ds(60, 4)], (load %x[ds(60, 4)])\n", 0x7ff77ff7u, 0},
                 {"oob(undefined)", "store %x[ds(60, 4)], (load %x[ds(60, 4)])\n", POISON, 1}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        char text[512];
        (void)snprintf(text, sizeof text,
                       "kernel @k(%%x: inout gmem f32[64], %%y: out gmem f32[32]) {\n"
                       " scratch %%s : smem f32[32]\n scratch %%b : barrier[1]\n %s"
                       " copy_gmem_to_smem %%x[ds(48, 32)], %%s, %%b[0] %s\n"
                       " barrier_wait %%b[0]\n store %%y, (load %%s) }",
                       cases[c].store, cases[c].oob);
        run *r = run_new(text, _i);
        ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
        for (size_t i = 0; i < 32; i++) {
            ck_assert_uint_eq(get_bits(r, 1, i), i < 16 ? get_bits(r, 0, 48 + i) : cases[c].bits);
        }
        ck_assert_uint_eq(r->faults[GROUT_DIAG_UNINITIALISED_READ], cases[c].faults);
        ck_assert_uint_eq(r->counts[GROUT_EVENT_FAULT], cases[c].faults);
        run_delete(r);
    }
}

#define HEAD                                                                                       \
    "kernel @k(%x: in gmem f32[8, 64], %y: out gmem f32[8, 64]) {\n"                               \
    " scratch %s : smem f32[2, 8, 32]\n scratch %t : smem f32[16, 64] tile(8, 32) swizzle(128)\n"  \
    " scratch %b : barrier[1]\n store %y, (load %x)\n store %s, (broadcast 1.0 : f32[2, 8, 32])\n" \
    " store %t, (broadcast 1.0 : f32[16, 64])\n commit_smem\n %two = add 1, 1\n"

static const struct refusal {
    const char *text;
    grout_diag_code code;
    int64_t start, limit;
} refusals[] = {
    {HEAD "copy_gmem_to_smem %x[ds(0, 8), ds(%two, 32)], %s[0], %b[0]\n barrier_wait %b[0] }",
     GROUT_DIAG_MISALIGNED, 2, 16},
    {HEAD "copy_smem_to_gmem %s[0], %y[ds(0, 8), ds(%two, 32)]\n wait_smem_to_gmem 0 }",
     GROUT_DIAG_MISALIGNED, 2, 16},
    {HEAD
     "%n = sub 0, 4\n copy_smem_to_gmem %s[0], %y[ds(0, 8), ds(%n, 32)]\n wait_smem_to_gmem 0 }",
     GROUT_DIAG_OUT_OF_BOUNDS, -4, 64},
    {HEAD "copy_gmem_to_smem %x[ds(0, 8), ds(0, 32)], %s[%two], %b[0]\n barrier_wait %b[0] }",
     GROUT_DIAG_OUT_OF_BOUNDS, 2, 2},
    {HEAD "copy_gmem_to_smem %x, %t[ds(%two, 8), :], %b[0]\n barrier_wait %b[0] }",
     GROUT_DIAG_MISALIGNED, 2, 32},
    /* promises, of boxes and of runs of bytes, and the start of a run */
    {HEAD "copy_gmem_to_smem %x[ds(%two, 8), ds(0, 32)], %s[0], %b[0] oob(in_bounds)\n"
          " barrier_wait %b[0] }",
     GROUT_DIAG_OUT_OF_BOUNDS, 2, 8},
    {HEAD "copy_smem_to_gmem %s[0], %y[ds(%two, 8), ds(0, 32)] oob(in_bounds)\n"
          " wait_smem_to_gmem 0 }",
     GROUT_DIAG_OUT_OF_BOUNDS, 2, 8},
    {HEAD "copy_gmem_to_smem %x[%two * 4, ds(0, 32)], %s[0, 0], %b[0] oob(in_bounds)\n"
          " barrier_wait %b[0] }",
     GROUT_DIAG_OUT_OF_BOUNDS, 8, 8},
    {HEAD "copy_gmem_to_smem %x[0, ds(%two, 32)], %s[0, 0], %b[0] oob(in_bounds)\n"
          " barrier_wait %b[0] }",
     GROUT_DIAG_MISALIGNED, 2, 16},
};

/* A refused copy makes its arrival, and moves nothing. */
TEST_EACH(refusals_are_faults, COUNT_OF(refusals)) {
    const struct refusal *c = &refusals[_i];
    for (int variant = 0; variant < RUN_VARIANTS; variant++) {
        run *r = run_new(c->text, variant);
        ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
        ck_assert_uint_eq(r->faults[c->code], 1);
        ck_assert_uint_eq(r->counts[GROUT_EVENT_FAULT], 1);
        ck_assert_int_eq(r->last_fault.start, c->start);
        ck_assert_int_eq(r->last_fault.limit, c->limit);
        ck_assert_mem_eq(r->arguments[0].data, r->arguments[1].data, r->arguments[0].size);
        run_delete(r);
    }
}

#define LOAD_EARLY                                                                         \
    "kernel @k(%x: in gmem f32[32], %y: out gmem f32[32]) {\n scratch %s : smem f32[32]\n" \
    " scratch %b : barrier[1]\n store %s, (broadcast 5.0 : f32[32])\n commit_smem\n"       \
    " copy_gmem_to_smem %x, %s, %b[0]\n store %y, (load %s)\n barrier_wait %b[0] }"

/* Between issue and wait the destination is what the timing says: poison, or the data already. */
TEST_EACH(a_load_lands_when_the_timing_says, RUN_VARIANTS) {
    run *r = run_new(LOAD_EARLY, _i);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    bool is_data = get_bits(r, 1, 0) == get_bits(r, 0, 0), is_poison = get_bits(r, 1, 0) == POISON;
    ck_assert(r->timing == GROUT_TIMING_EAGER  ? is_data
              : r->timing == GROUT_TIMING_LAZY ? is_poison
                                               : is_data || is_poison);
    ck_assert_uint_eq(r->faults[GROUT_DIAG_UNINITIALISED_READ], 0);
    run_delete(r);
}

/* In random timing both happen, by seed. */
TEST(random_timing_is_random) {
    uint32_t poisoned = 0;
    for (uint64_t seed = 0; seed < 40; seed++) {
        run *r = run_new(LOAD_EARLY, 3);
        r->seed = seed;
        ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
        poisoned += get_bits(r, 1, 0) == POISON;
        run_delete(r);
    }
    ck_assert_uint_gt(poisoned, 10);
    ck_assert_uint_lt(poisoned, 40);
}

/* A source overwritten before the read side was awaited goes out new in lazy timing. After the
 * read-only wait it is safe, though the write is still to come. */
TEST(a_store_reads_at_the_read_side) {
    for (uint32_t is_safe = 0; is_safe < 2; is_safe++) {
        run *r =
            run_new(is_safe != 0 ? "kernel @k(%y: out gmem f32[32]) {\n scratch %s : smem "
                                   "f32[32]\n store %s, (broadcast 1.0 : f32[32])\n commit_smem\n"
                                   " copy_smem_to_gmem %s, %y\n wait_smem_to_gmem 0 read_only\n "
                                   "store %s, (broadcast 2.0 : f32[32])\n"
                                   " debug_print \"{}\", (load %y[0])\n wait_smem_to_gmem 0 }"
                                 : "kernel @k(%y: out gmem f32[32]) {\n scratch %s : smem "
                                   "f32[32]\n store %s, (broadcast 1.0 : f32[32])\n commit_smem\n"
                                   " copy_smem_to_gmem %s, %y\n store %s, (broadcast 2.0 : "
                                   "f32[32])\n wait_smem_to_gmem 0 }",
                    1);
        ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
        ck_assert(run_get(r, 0, 0) == (is_safe != 0 ? 1.0 : 2.0));
        ck_assert_msg(is_safe == 0 || strstr(r->printed, "nan") != NULL, "%s", r->printed);
        run_delete(r);
    }
}

/* Many stores in flight, read but not written: payload slots run out, and nothing is lost. */
TEST_EACH(payload_is_bounded, RUN_VARIANTS) {
    run *r = run_new(
        "const N = 400\nkernel @k(%y: out gmem f32[N * 8, 128]) {\n scratch %s : smem f32[8, 128]\n"
        " for %i in 0..N { store %s, (broadcast (cast %i : f32) : f32[8, 128])\n commit_smem\n"
        " copy_smem_to_gmem %s, %y[ds(%i * 8, 8), :]\n wait_smem_to_gmem 0 read_only } \n "
        "wait_smem_to_gmem 0 }",
        _i);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    for (size_t i = 0; i < 400; i++) {
        ck_assert(run_get(r, 0, i * 1024 + 1023) == (double)i);
    }
    ck_assert_uint_lt(grout_machine_get_stats(r->machine).peak_bytes, 3u << 20);
    run_delete(r);
}

/* What is captured takes a slot. If none is free, the oldest store lands to make room, by way of
 * the same scratch, and leaves its own mask in the slot: what is captured is of the new store
 * alone. */
TEST_EACH(making_room_leaves_no_trace, RUN_VARIANTS) {
    run *r = run_new(
        "const N = 10\n" /* pairs of stores of 64 KiB, for which there are 8 slots */
        "kernel @k(%y: out gmem f32[N * 512, 64]) {\n"
        " scratch %s : smem f32[256, 64]\n scratch %t : smem f32[256, 64]\n"
        " store %s, (broadcast 1.0 : f32[256, 64])\n store %t, (broadcast 2.0 : f32[256, 64])\n"
        " commit_smem\n store %s, (broadcast 3.0 : f32[256, 64])\n"
        " store %t[ds(0, 128), :], (broadcast 4.0 : f32[128, 64])\n"
        " for %i in 0..N {\n"
        "  copy_smem_to_gmem %s, %y[ds(%i * 512, 256), :]\n"
        "  copy_smem_to_gmem %t, %y[ds(%i * 512 + 256, 256), :] }\n"
        " wait_smem_to_gmem 0 }",
        _i);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    bool is_lazy = r->timing != GROUT_TIMING_EAGER;
    for (size_t i = 0; i < (size_t)10 * 512; i++) {
        size_t row = i % 512;
        double expected = row < 256   ? (is_lazy ? 1.0 : 3.0)
                          : row < 384 ? (is_lazy ? 2.0 : 4.0)
                                      : 2.0;
        ck_assert(run_get(r, 0, i * 64) == expected);
        ck_assert(run_get(r, 0, i * 64 + 63) == expected);
    }
    run_delete(r);
}

/* Each gather has a slot for the rows that it moves. The oldest one that lands to make room for the
 * next looks at all that are in flight, of which that one is none yet. */
TEST_EACH(room_is_made_before_a_gather_is_in_flight, RUN_VARIANTS) {
    run *r = run_new(
        "const N = 8\n" /* gathers, and 5 slots, by the size of the copy that nobody issues */
        "kernel @k(%x: in gmem f32[64, 128], %y: out gmem f32[N, 4, 128],\n"
        "          %z: inout gmem f32[192, 128]) attr arch = \"sm_100a\" {\n"
        " scratch %s : smem f32[N, 4, 128]\n scratch %t : smem f32[192, 128]\n"
        " scratch %b : barrier[N]\n %r = iota dim(0) : i32[4]\n"
        " if (eq 1, 2) { copy_smem_to_gmem %t, %z\n wait_smem_to_gmem 0 }\n"
        " for %i in 0..N { tma_gather %x, %s[%i], %b[%i], %r }\n"
        " for %i in 0..N { barrier_wait %b[%i]\n store %y[%i], (load %s[%i]) } }",
        _i);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    for (size_t i = 0; i < (size_t)8 * 512; i++) {
        ck_assert(run_get(r, 1, i) == run_get(r, 0, i % 512));
    }
    run_delete(r);
}

/* What an engine sees of two stores: as of the newest published one. */
TEST_EACH(stale_bytes_are_of_the_last_commit, RUN_VARIANTS) {
    run *r = run_new("kernel @k(%y: out gmem f32[32]) {\n scratch %s : smem f32[32]\n store %s, "
                     "(broadcast 1.0 : f32[32])\n"
                     " commit_smem\n store %s[ds(0, 16)], (broadcast 2.0 : f32[16])\n store "
                     "%s[ds(8, 8)], (broadcast 3.0 : f32[8])\n"
                     " copy_smem_to_gmem %s, %y\n wait_smem_to_gmem 0 }",
                     _i);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    for (size_t i = 0; i < 32; i++) {
        double current = i < 8 ? 2.0 : i < 16 ? 3.0 : 1.0;
        ck_assert(run_get(r, 0, i) == (r->timing == GROUT_TIMING_EAGER ? current : 1.0));
    }
    run_delete(r);
}

/* A load over committed stores: the engine's own write counts, not what was there before. */
TEST_EACH(loads_settle_stale_bytes, RUN_VARIANTS) {
    run *r = run_new("kernel @k(%x: in gmem f32[32], %y: out gmem f32[32]) {\n scratch %s : smem "
                     "f32[32]\n scratch %b : barrier[1]\n"
                     " store %s, (broadcast 9.0 : f32[32])\n commit_smem\n"
                     " copy_gmem_to_smem %x, %s, %b[0]\n barrier_wait %b[0]\n"
                     " copy_smem_to_gmem %s, %y\n wait_smem_to_gmem 0 }",
                     _i);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    ck_assert_mem_eq(r->arguments[0].data, r->arguments[1].data, 128);
    run_delete(r);
}

/* Over uncommitted ones it is not said which wins: neither does, unless the engine is at once. */
TEST_EACH(uncommitted_stores_may_win, RUN_VARIANTS) {
    run *r = run_new("kernel @k(%x: in gmem f32[32], %y: out gmem f32[32]) {\n scratch %s : smem "
                     "f32[32]\n scratch %b : barrier[1]\n"
                     " store %s[ds(0, 16)], (broadcast 9.0 : f32[16])\n"
                     " copy_gmem_to_smem %x, %s, %b[0]\n barrier_wait %b[0]\n"
                     " store %y, (load %s) }",
                     _i);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    for (size_t i = 0; i < 32; i++) {
        bool is_lost = i < 16 && r->timing != GROUT_TIMING_EAGER;
        ck_assert(is_lost ? isnan(run_get(r, 1, i)) : run_get(r, 1, i) == run_get(r, 0, i));
    }
    run_delete(r);
}

/* GMEM: a load sees plain stores as of the last commit_gmem; what was stored since may win over a
 * store by TMA. */
TEST_EACH(uncommitted_gmem_is_old, RUN_VARIANTS) {
    run *r =
        run_new("kernel @k(%x: inout gmem f32[32], %y: out gmem f32[32]) {\n scratch %s : smem "
                "f32[32]\n scratch %b : barrier[1]\n"
                " store %x[ds(0, 8)], (broadcast 5.0 : f32[8])\n commit_gmem\n"
                " store %x[ds(4, 8)], (broadcast 6.0 : f32[8])\n"
                " copy_gmem_to_smem %x, %s, %b[0]\n barrier_wait %b[0]\n"
                " store %y, (load %s) }",
                _i);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    bool is_lazy = r->timing != GROUT_TIMING_EAGER;
    ck_assert(run_get(r, 1, 3) == 5.0);
    ck_assert(run_get(r, 1, 4) == (is_lazy ? 5.0 : 6.0));
    ck_assert(run_get(r, 1, 11) == (is_lazy ? (7 * 11) % 9 - 4.0 : 6.0));
    ck_assert(run_get(r, 1, 12) == run_get(r, 0, 12));
    run_delete(r);
}

TEST_EACH(uncommitted_gmem_stores_may_win, RUN_VARIANTS) {
    run *r = run_new("kernel @k(%y: out gmem f32[32]) {\n scratch %s : smem f32[32]\n"
                     " store %y[ds(0, 8)], (broadcast 5.0 : f32[8])\n commit_gmem\n"
                     " store %y[ds(8, 8)], (broadcast 6.0 : f32[8])\n"
                     " store %s, (broadcast 7.0 : f32[32])\n commit_smem\n"
                     " copy_smem_to_gmem %s, %y\n wait_smem_to_gmem 0 }",
                     _i);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    bool is_lazy = r->timing != GROUT_TIMING_EAGER;
    for (size_t i = 0; i < 32; i++) {
        bool is_lost = is_lazy && i >= 8 && i < 16;
        ck_assert(is_lost ? isnan(run_get(r, 0, i)) : run_get(r, 0, i) == 7.0);
    }
    run_delete(r);
}

/* Two stores in flight to one place: in lazy timing the earlier one lands last. */
TEST_EACH(earlier_stores_land_last, RUN_VARIANTS) {
    run *r = run_new("kernel @k(%y: out gmem f32[32], %z: out gmem f32[32]) {\n"
                     " scratch %s : smem f32[2, 32]\n store %s[0], (broadcast 1.0 : f32[32])\n"
                     " store %s[1], (broadcast 2.0 : f32[32])\n commit_smem\n"
                     " copy_smem_to_gmem %s[0], %y\n copy_smem_to_gmem %s[1], %y\n"
                     " wait_smem_to_gmem 0\n"
                     " copy_smem_to_gmem %s[0], %z\n wait_smem_to_gmem 0\n"
                     " copy_smem_to_gmem %s[1], %z\n wait_smem_to_gmem 0 }",
                     _i);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    if (r->timing != GROUT_TIMING_RANDOM) {
        ck_assert(run_get(r, 0, 0) == (r->timing == GROUT_TIMING_LAZY ? 1.0 : 2.0));
    }
    ck_assert(run_get(r, 1, 31) == 2.0);
    run_delete(r);
}

/* A store in flight and a load of what it writes: the load, though later, is first; and a load in
 * flight, over which a store is issued, is last. */
TEST_EACH(loads_and_stores_in_flight, RUN_VARIANTS) {
    run *r = run_new("kernel @k(%x: inout gmem f32[2, 32], %y: out gmem f32[2, 32]) {\n"
                     " scratch %s : smem f32[32]\n scratch %t : smem f32[2, 32]\n"
                     " scratch %b : barrier[2]\n store %s, (broadcast 9.0 : f32[32])\n"
                     " commit_smem\n copy_smem_to_gmem %s, %x[0]\n"
                     " copy_gmem_to_smem %x[0], %t[0], %b[0]\n wait_smem_to_gmem 0\n"
                     " barrier_wait %b[0]\n"
                     " copy_gmem_to_smem %x[1], %t[1], %b[1]\n copy_smem_to_gmem %s, %x[1]\n"
                     " barrier_wait %b[1]\n wait_smem_to_gmem 0\n store %y, (load %t) }",
                     _i);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    if (r->timing == GROUT_TIMING_LAZY) {
        ck_assert(run_get(r, 1, 0) == -4.0);
        ck_assert(run_get(r, 1, 32) == 9.0);
    } else if (r->timing == GROUT_TIMING_EAGER) {
        ck_assert(run_get(r, 1, 0) == 9.0);
        ck_assert(run_get(r, 1, 32) == (7 * 32) % 9 - 4.0);
    }
    ck_assert(run_get(r, 0, 63) == 9.0);
    run_delete(r);
}

/* A commit by another thread, on the path, publishes too. */
TEST_EACH(another_threads_commit_publishes, RUN_VARIANTS) {
    run *r = run_new(
        "kernel @k(%y: out gmem f32[32]) threads(w = 2) {\n scratch %s : smem f32[32]\n scratch %b "
        ": barrier[1]\n"
        " if (eq (axis_index w), 0) { store %s, (broadcast 4.0 : f32[32])\n barrier_arrive %b[0] } "
        "else {\n"
        " barrier_wait %b[0]\n commit_smem\n copy_smem_to_gmem %s, %y\n wait_smem_to_gmem 0 } }",
        _i);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    ck_assert(run_get(r, 0, 31) == 4.0);
    run_delete(r);
}

/* An undefined element that is stored in bounds is reported once; outside it is not reported. */
TEST_EACH(undefined_elements_of_stores, RUN_VARIANTS) {
    static const char *const texts[] = {
        "kernel @k(%y: out gmem f32[6, 32]) { scratch %s : smem f32[8, 32]\n store %s[ds(0, 6), "
        ":], (broadcast 1.0 : f32[6, 32])\n"
        " commit_smem\n copy_smem_to_gmem %s, %y[ds(0, 8), :]\n wait_smem_to_gmem 0 }",
        "kernel @k(%y: out gmem f32[7, 32]) { scratch %s : smem f32[8, 32]\n store %s[ds(0, 6), "
        ":], (broadcast 1.0 : f32[6, 32])\n"
        " commit_smem\n copy_smem_to_gmem %s, %y[ds(0, 8), :]\n wait_smem_to_gmem 0 }"};
    for (uint32_t i = 0; i < 2; i++) {
        run *r = run_new(texts[i], _i);
        ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
        ck_assert_uint_eq(r->faults[GROUT_DIAG_UNINITIALISED_READ], i);
        ck_assert_uint_eq(r->faults[GROUT_DIAG_OUTPUT_NOT_WRITTEN], 0);
        run_delete(r);
    }
}
