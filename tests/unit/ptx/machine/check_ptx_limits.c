/* check_ptx_limits.c - what the machine bounds: a run that needs more is incomplete, and says of
 * what. SPDX-License-Identifier: Apache-2.0 */
#include "grout-internal/diagnose.h"
#include "grout/ptx.h"
#include "lanes.h"
#include "tests/tests.h"

#include <string.h>

enum { CALLS = 9, CTAS = 300, THREADS = 32 };
static const ptx_means means = {.allocator = NULL};

#define HEAD ".version 9.0\n.target sm_100a\n.address_size 64\n"
#define REGISTERS                                                                       \
    ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<4>; .shared .align 8 .b64 bar;\n" \
    ".shared .align 16 .b8 s[1024]; mov.u32 %r7, %tid.x; mov.u32 %r6, bar; mov.u32 %r5, s;\n"
typedef struct shape {
    uint32_t grid, threads;
    uint64_t max_steps;
    bool finds_races;
    uint32_t y, z; /* CTAs along y, threads along z */
} shape;

/* A text whose entry has an array of 8 bytes; true: it runs to its end. */
static bool run(const char *text, shape how, grout_diags *diags) {
    grout_ptx_module *module = grout_ptx_parse("k.ptx", text, strlen(text), diags);
    grout_ptx_memory *memory = grout_ptx_memory_new();
    const uint64_t zero = 0, address = grout_ptx_memory_add(memory, &zero, sizeof zero);
    const grout_ptx_launch launch = {.module = module,
                                     .memory = memory,
                                     .grid = {how.grid, how.y, 1},
                                     .block = {how.threads, 1, how.z},
                                     .parameters = &address,
                                     .parameter_bytes = sizeof address,
                                     .timing = GROUT_PTX_TIMING_EARLY,
                                     .max_steps = how.max_steps,
                                     .finds_races = how.finds_races};
    bool is_done = module != NULL && grout_ptx_launch_run(&launch, NULL, diags);
    grout_ptx_memory_free(memory);
    grout_ptx_module_free(module);
    return is_done;
}

/* Runs to its end, or (message) with the limit. */
static void expect(const char *text, shape how, const char *message) {
    grout_diags *diags = grout_diags_new();
    bool is_done = run(text, how, diags);
    const grout_diag *diag = grout_diags_count(diags) == 0 ? NULL : grout_diags_get(diags, 0);
    ck_assert_msg(is_done == (message == NULL), "%s", diag == NULL ? "" : diag->message);
    if (message != NULL) {
        ck_assert_ptr_nonnull(diag);
        ck_assert_int_eq(diag->code, GROUT_DIAG_LIMIT_REACHED);
        ck_assert_msg(strncmp(diag->message, message, strlen(message)) == 0, "%s", diag->message);
    }
    grout_diags_free(diags);
}

/* Functions that call each other, this many deep. */
static void expect_calls(uint32_t calls, const char *message) {
    grout_text text = {0};
    grout_text_add(&text, "%s.func f0() { ret; }\n", HEAD);
    for (uint32_t i = 1; i < calls; i++) {
        grout_text_add(&text, ".func f%u() { call f%u; ret; }\n", i, i - 1);
    }
    grout_text_add(&text, ".visible .entry k(.param .u64 out) { call f%u; ret; }\n", calls - 1);
    expect(text.data, (shape){1, THREADS, 0, false, 1, 1}, message);
    grout_text_free(&text);
}

TEST(calls) {
    expect_calls(CALLS - 1, NULL);
    expect_calls(CALLS, "limit ptx-calls: more than 8 calls in one another");
}

TEST(steps) {
    static const char text[] = HEAD ".visible .entry k(.param .u64 out) { L: bra L; }";
    expect(text, (shape){1, THREADS, 1000, false, 1, 1},
           "limit ptx-steps: the run takes more than");
}

/* Arrivals of cp.async in one group: 4,095 are told apart. */
static void expect_marks(const char *count, const char *message) {
    static const char before[] = HEAD ".visible .entry k(.param .u64 out) {\n" REGISTERS
                                      "setp.ne.u32 %p0, %r7, 0; @%p0 bra E;\n"
                                      "mbarrier.init.shared::cta.b64 [%r6], 1; mov.u32 %r0, 0;\n"
                                      "L: cp.async.mbarrier.arrive.shared::cta.b64 [%r6];\n"
                                      "add.u32 %r0, %r0, 1; setp.lt.u32 %p1, %r0, ";
    grout_text text = {0};
    grout_text_add(&text, "%s%s; @%%p1 bra L; E: ret; }", before, count);
    expect(text.data, (shape){1, THREADS, 0, true, 1, 1}, message);
    grout_text_free(&text);
}

TEST(copy_groups) {
    expect_marks("4095", NULL);
    expect_marks("4096", "limit ptx-copy-groups: the search for races tells at most");
}

/* Lanes of two warps that read one word again and again: of each lane the last time counts, so that
 * what is known of the word does not grow. */
TEST(readers) {
    static const char text[] = HEAD ".visible .entry k(.param .u64 out) {\n" REGISTERS
                                    "ld.param.u64 %rd0, [out]; mov.u32 %r0, 0;\n"
                                    "L: ld.global.u32 %r1, [%rd0]; add.u32 %r0, %r0, 1;\n"
                                    "setp.lt.u32 %p1, %r0, 20000; @%p1 bra L; ret; }";
    expect(text, (shape){1, 2 * THREADS, 0, true, 1, 1}, NULL);
}

/* CTAs that wait for each other run side by side, as many as a GPU holds: 32 of one warp an SM. */
TEST(resident) {
    grout_text text = {0};
    grout_text_add(&text, "%s",
                   HEAD ".visible .entry k(.param .u64 out) {\n" REGISTERS
                        "ld.param.u64 %rd0, [out]; setp.ne.u32 %p0, %r7, 0; @%p0 bra E;\n"
                        "atom.global.add.u32 %r1, [%rd0], 1;\n"
                        "W: ld.relaxed.gpu.global.u32 %r1, [%rd0]; setp.lt.u32 %p1, %r1, ");
    grout_text_add(&text, "%d; @%%p1 bra W; E: ret; }", CTAS);
    expect(text.data, (shape){CTAS, THREADS, 0, false, 1, 1}, NULL);
    grout_text_free(&text);
}

TEST(grid) {
    static const char text[] = HEAD ".visible .entry k(.param .u64 out) { ret; }";
    static const struct {
        shape shape;
        const char *message; /* NULL: there is such a launch */
    } cases[] = {
        {{.grid = (1u << 24) + 1, .threads = 32}, "a grid has at most 2^24 CTAs here (16777217)"},
        {{.grid = 1, .threads = 1, .y = 65536},
         "a grid has at most 65535 CTAs along y and z (65536)"},
        {{.grid = 1, .threads = 1, .y = 65535}, NULL},
        {{.grid = 1, .threads = 1, .z = 65}, "a CTA has at most 64 threads along z (65)"},
        {{.grid = 1, .threads = 1, .z = 64}, NULL},
        {{.grid = UINT32_MAX, .threads = 1, .y = UINT32_MAX},
         "a grid has at most 2^24 CTAs here (4294967295)"},
        {{.grid = 1, .threads = UINT32_MAX, .z = 64},
         "a CTA has at most 1024 threads (4294967295)"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        grout_diags *diags = grout_diags_new();
        ck_assert_int_eq(run(text, cases[i].shape, diags), cases[i].message == NULL);
        if (cases[i].message != NULL) {
            ck_assert_int_eq(grout_diags_get(diags, 0)->code, GROUT_DIAG_BAD_ARGUMENT);
            ck_assert_str_eq(grout_diags_get(diags, 0)->message, cases[i].message);
        }
        grout_diags_free(diags);
    }
}

/* What takes too long, or too much memory, to be reached by a run: counters that stand at the end.
 */
TEST(times) {
    ptx_order *order = grout_ptx__new_order(&means, 1, 1);
    uint32_t time = UINT32_MAX - 1;
    ck_assert(order != NULL);
    ck_assert_uint_eq(grout_ptx__tick(order, &time), UINT32_MAX - 1);
    ck_assert(grout_ptx__get_limit(order) == NULL);
    ck_assert_uint_eq(grout_ptx__tick(order, &time), UINT32_MAX);
    ck_assert_uint_eq(time, UINT32_MAX);
    ck_assert(strncmp(grout_ptx__get_limit(order), "limit ptx-times:", 16) == 0);
    grout_ptx__free_order(order);
}

TEST(tensor_maps) {
    ptx_order *order = grout_ptx__new_order(&means, 1, 1);
    ptx_cell cells[2];
    memset(cells, 0, sizeof cells);
    ck_assert(order != NULL);
    ck_assert(GROUT_ARRAY_RESERVE(&order->maps, NULL, PTX_MAPS_MAX));
    memset(order->maps.items, 0, (PTX_MAPS_MAX - 2) * sizeof *order->maps.items);
    order->maps.count = PTX_MAPS_MAX - 2;
    ck_assert_uint_eq(grout_ptx__number_map(order, &cells[0]), PTX_MAPS_MAX - 1);
    ck_assert(grout_ptx__get_limit(order) == NULL);
    ck_assert_uint_eq(grout_ptx__number_map(order, &cells[1]), 0);
    ck_assert(strncmp(grout_ptx__get_limit(order), "limit ptx-tensor-maps:", 22) == 0);
    grout_ptx__free_order(order);
}

TEST(accesses) {
    ptx_order *order = grout_ptx__new_order(&means, 1, 1);
    ptx_cell cell;
    const ptx_actor actor = {0, 0, 1};
    const ptx_touch touch = {
        .is_write = true, .size = 1, .span = {.cells = &cell, .count = 1, .kind = PTX_SPAN_GLOBAL}};
    ptx_race race;
    memset(&cell, 0, sizeof cell);
    ck_assert(order != NULL && grout_ptx__begin_order(order, 0));
    order->shadow.records.count = 1 << 24;
    ck_assert(!grout_ptx__touch(order, &actor, &touch, &race));
    ck_assert_int_eq(race.missing, PTX_MISSING_NONE);
    ck_assert(strncmp(grout_ptx__get_limit(order), "limit ptx-accesses:", 19) == 0);
    order->shadow.records.count = 0;
    grout_ptx__free_order(order);
}
