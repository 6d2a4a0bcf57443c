/* check_memory.c - boxes: layouts, slices, bounds, poison, initialisation.
 * SPDX-License-Identifier: Apache-2.0 */
#include "interp/math/bits.h"

#include "tests/tests.h"
#include "tests/unit/support/run_kernel.h"

/* An array goes through SMEM of some layout, in by one way and out by another. */
static const char *const layouts[] = {
    "smem f32[16, 64]",
    "smem f32[16, 64] tile(8, 32) swizzle(128)",
    "smem f32[16, 64] tile(8, 16) swizzle(64)",
    "smem f32[16, 64] tile(8, 8) swizzle(32)",
    "smem f32[16, 64] tile(4, 64)",
    "smem f32[16, 64] transpose(1, 0)",
    "smem f32[16, 64] tile(8, 32)",
};
static const char *const ways_in[] = {
    "copy_gmem_to_smem %x, %s, %b[0]\n barrier_wait %b[0]",
    "store %s, (load %x)",
    "for %i in 0..16 { store %s[%i], (load %x[%i]) }",
    "for %i in 0..16 { for %j in 0..64 { store %s[%i, %j], (load %x[%i, %j]) } }",
    "for %i in 0..3 { store %s[ds(%i * 4, 8), :], (load %x[ds(%i * 4, 8), :]) }",
};
static const char *const ways_out[] = {
    "commit_smem\n copy_smem_to_gmem %s, %y\n wait_smem_to_gmem 0",
    "store %y, (load %s)",
    "for %j in 0..64 { store %y[:, %j], (load %s[:, %j]) }",
    "for %i in 0..2 { store %y[ds(%i * 8, 8)], (load %s[ds(%i * 8, 8)]) }",
};
#define LAYOUTS  ((int)(sizeof layouts / sizeof layouts[0]))
#define WAYS_IN  ((int)(sizeof ways_in / sizeof ways_in[0]))
#define WAYS_OUT ((int)(sizeof ways_out / sizeof ways_out[0]))

TEST_EACH(round_trip, (LAYOUTS * WAYS_IN * WAYS_OUT)) {
    const char *layout = layouts[_i % LAYOUTS];
    const char *in = ways_in[_i / LAYOUTS % WAYS_IN], *out = ways_out[_i / LAYOUTS / WAYS_IN];
    bool is_transposed = strstr(layout, "transpose") != NULL;
    if (is_transposed && (in == ways_in[0] || out == ways_out[0])) {
        return; /* TMA has no such copy */
    }
    char text[1024];
    snprintf(
        text, sizeof text,
        "kernel @k(%%x: in gmem f32[16, 64], %%y: out gmem f32[16, 64])\n{\n scratch %%s : %s\n"
        " scratch %%b : barrier[1]\n %s\n %s\n}\n",
        layout, in, out);
    for (int variant = 0; variant < 4; variant++) {
        run *r = run_new(text, variant);
        ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
        ck_assert_msg(memcmp(r->arguments[0].data, r->arguments[1].data, r->arguments[0].size) == 0,
                      "%s", text);
        ck_assert_msg(r->counts[GROUT_EVENT_FAULT] == 0, "%s", text);
        run_delete(r);
    }
}

/* ---- bounds -----------------------------------------------------------------------------------
 */

static const struct bounds_case {
    const char *text;
    uint32_t faults, dimension;
    int64_t start, limit;
} bounds_cases[] = {
    {"kernel @k(%x: in gmem f32[8], %y: out gmem f32[8]) { store %y, (load %x)\n %i = add 3, 3\n "
     "store %y[ds(0, 4)], (load %x[ds(%i, 4)]) }",
     1, 0, 6, 8},
    {"kernel @k(%x: in gmem f32[8], %y: out gmem f32[8]) { store %y, (load %x)\n %i = sub 1, 3\n "
     "store %y[ds(%i, 4)], (load %x[ds(0, 4)]) }",
     1, 0, -2, 8},
    {"kernel @k(%x: in gmem f32[4, 4], %y: out gmem f32[4, 4]) { store %y, (load %x)\n %i = add 2, "
     "2\n %v = load %x[1, %i] }",
     1, 1, 4, 4},
    {"kernel @k(%x: in gmem f32[4], %y: out gmem f32[4]) { scratch %s : smem f32[2, 4]\n store %y, "
     "(load %x)\n %i = add 1, 1\n store %s[%i], (load %x) }",
     1, 0, 2, 2},
    {"kernel @k(%x: in gmem f32[4], %y: out gmem f32[4]) { scratch %b : barrier[2]\n store %y, "
     "(load %x)\n %i = add 1, 1\n barrier_arrive %b[%i] }",
     1, 0, 2, 2},
    {"kernel @k(%x: in gmem f32[4], %y: out gmem f32[4]) { scratch %b : barrier[2]\n store %y, "
     "(load %x)\n %i = add 1, 1\n barrier_wait %b[%i] }",
     1, 0, 2, 2},
};

TEST_EACH(bounds, COUNT_OF(bounds_cases)) {
    const struct bounds_case *c = &bounds_cases[_i];
    run *r = run_new(c->text, 0);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    ck_assert_uint_eq(r->faults[GROUT_DIAG_OUT_OF_BOUNDS], c->faults);
    ck_assert_uint_eq(r->last_fault.dimension, c->dimension);
    ck_assert_int_eq(r->last_fault.start, c->start);
    ck_assert_int_eq(r->last_fault.limit, c->limit);
    run_delete(r);
}

/* Loads outside give poison, stores outside are dropped; what lies inside is right. */
TEST(outside_is_poison_or_dropped) {
    run *r = run_new(bounds_cases[0].text, 0);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    uint32_t bits[8];
    memcpy(bits, r->arguments[1].data, sizeof bits);
    ck_assert(run_get(r, 1, 0) == run_get(r, 0, 6) && run_get(r, 1, 1) == run_get(r, 0, 7));
    ck_assert_uint_eq(bits[2], 0x7f800001u);
    ck_assert_uint_eq(bits[3], 0x7f800001u);
    ck_assert_uint_eq(r->faults[GROUT_DIAG_UNINITIALISED_READ], 0);
    run_delete(r);
    r = run_new(bounds_cases[1].text, 0);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    ck_assert(run_get(r, 1, 0) == run_get(r, 0, 2) && run_get(r, 1, 1) == run_get(r, 0, 3));
    ck_assert(run_get(r, 1, 2) == run_get(r, 0, 2));
    run_delete(r);
}

TEST(unwritten_outputs_are_poison) {
    run *r = run_new(
        "kernel @k(%x: in gmem i16[4], %y: out gmem i16[4]) { store %y[0], (load %x[0]) }", 0);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    ck_assert_mem_eq((const char *)r->arguments[1].data + 2, "\xa5\xa5\xa5\xa5\xa5\xa5", 6);
    ck_assert_uint_eq(r->faults[GROUT_DIAG_OUTPUT_NOT_WRITTEN], 1);
    ck_assert_int_eq(r->last_fault.have, 3);
    ck_assert_int_eq(r->last_fault.start, 1);
    ck_assert(r->last_fault.is_static);
    run_delete(r);
}

/* The bytes of a scope are uninitialised each time it begins. */
TEST(scopes_forget) {
    run *r = run_new("kernel @k(%x: in gmem f32[4], %y: out gmem f32[4]) { for %i in 0..2 { "
                     "scoped(%s : smem f32[4]) {\n"
                     " if (eq %i, 0) { store %s, (load %x) }\n store %y, (load %s) } } }",
                     0);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    ck_assert_uint_eq(r->faults[GROUT_DIAG_UNINITIALISED_READ], 1);
    ck_assert_uint_eq(r->counts[GROUT_EVENT_SCOPE_BEGIN], 2);
    ck_assert_uint_eq(r->counts[GROUT_EVENT_SCOPE_END], 2);
    run_delete(r);
}

/* ---- bits ---------------------------------------------------------------------------------------
 */

TEST(ranges_of_bits) {
    bool model[200] = {false};
    uint64_t words[4] = {0};
    uint32_t seed = 12345;
    for (int round = 0; round < 2000; round++) {
        seed = seed * 1664525u + 1013904223u;
        int64_t first = seed / 7 % 200, count = seed / 1024 % (201 - (uint32_t)first), sum = 0,
                clear = 200;
        bool all = true, any = false;
        if (round % 3 == 0) {
            grout_bits__set(words, first, count);
        } else if (round % 3 == 1) {
            grout_bits__clear(words, first, count);
        }
        for (int64_t i = 0; i < 200; i++) {
            bool is_in = i >= first && i < first + count;
            model[i] = is_in && round % 3 != 2 ? round % 3 == 0 : model[i];
            all &= !is_in || model[i];
            any |= is_in && model[i];
            sum += model[i];
            clear = clear == 200 && !model[i] ? i : clear;
        }
        ck_assert_int_eq(grout_bits__has_all(words, first, count), all);
        ck_assert_int_eq(grout_bits__has_any(words, first, count), any);
        ck_assert_int_eq(grout_bits__count(words, 200), sum);
        ck_assert_int_eq(grout_bits__find_clear(words, 200), clear);
    }
}
