/* check_ptx_bounds.c - what ends the parsing and the run of PTX from outside: a progress callback
 * that says no, and a limit of memory. Both at every place where they may come.
 * SPDX-License-Identifier: Apache-2.0 */
#include "grout-internal/diagnose.h"
#include "grout-internal/ptx_counts.h"
#include "tests/tests.h"

#include <stdio.h>
#include <string.h>

#define HEAD ".version 9.0\n.target sm_90a\n.address_size 64\n"
/* Two warps write the same to one place, which begins as it does not matter what. */
#define TWINS                                                                                    \
    HEAD ".global .b32 g[64];\n.visible .entry k(.param .u64 x)\n{\n"                            \
         ".reg .b32 %r<4>; .reg .b64 %rd<4>; .shared .align 8 .b8 s[4096];\n"                    \
         "ld.param.u64 %rd0, [x]; mov.u64 %rd1, g; mov.u32 %r0, 7; ld.global.f32 %r1, [%rd0];\n" \
         "st.global.b32 [%rd1], %r0; st.global.b32 [%rd0+64], %r0; ret;\n}\n"
#define ENDLESS HEAD ".visible .entry k(.param .u64 x) { L: bra L; }"

enum { BYTES = 4096, THREADS = 64, STEPS_MAX = 100000000 };

/* Says yes so often. */
typedef struct patience {
    uint64_t calls, calls_max, steps;
    int64_t ctas_done, ctas_total;
} patience;

static bool goes_on(void *payload, const grout_progress *progress) {
    patience *it = payload;
    it->calls++;
    it->steps = progress->steps;
    it->ctas_done = progress->ctas_done;
    it->ctas_total = progress->ctas_total;
    return it->calls <= it->calls_max;
}

typedef struct bounds {
    patience *patience; /* NULL: no callback */
    uint64_t max_memory;
    bool finds_races;
    uint32_t grid;
} bounds;

static bool run(const grout_ptx_module *module, bounds how, grout_ptx_result *result_out,
                grout_diags *diags) {
    static const uint8_t contents[BYTES];
    grout_ptx_memory *memory = grout_ptx_memory_new();
    const uint64_t x = grout_ptx_memory_add(memory, contents, sizeof contents);
    ck_assert(grout_ptx_memory_set_elements(memory, x, GROUT_PTX_ELEMENTS_F32));
    const grout_ptx_launch launch = {.module = module,
                                     .memory = memory,
                                     .grid = {how.grid, 1, 1},
                                     .block = {THREADS, 1, 1},
                                     .parameters = &x,
                                     .parameter_bytes = sizeof x,
                                     .max_steps = STEPS_MAX,
                                     .finds_races = how.finds_races,
                                     .max_memory = how.max_memory,
                                     .progress = how.patience != NULL ? goes_on : NULL,
                                     .payload = how.patience};
    const bool is_done = grout_ptx_launch_run(&launch, result_out, diags);
    grout_ptx_memory_free(memory);
    return is_done;
}

/* Runs a text; what is wrong with it is one thing, of a code. */
static void expect(const char *text, bounds how, grout_diag_code code,
                   grout_ptx_result *result_out) {
    grout_diags *diags = grout_diags_new();
    grout_ptx_module *module = grout_ptx_parse("k.ptx", text, strlen(text), diags);
    ck_assert_ptr_nonnull(module);
    const bool is_done = run(module, how, result_out, diags);
    uint32_t errors = 0;
    for (uint32_t i = 0; i < grout_diags_count(diags); i++) {
        const grout_diag *diag = grout_diags_get(diags, i);
        const bool is_error = diag->severity == GROUT_SEVERITY_ERROR;
        errors += is_error;
        ck_assert_msg(!is_error || diag->code == code, "%s", diag->message);
    }
    ck_assert_int_eq(is_done, code == GROUT_DIAG_NONE);
    ck_assert_uint_eq(errors, code != GROUT_DIAG_NONE);
    grout_ptx_module_free(module);
    grout_diags_free(diags);
}

/* ---- progress ---- */

TEST_EACH(an_endless_run_ends, 2) {
    patience it = {.calls_max = 10};
    expect(ENDLESS, (bounds){&it, 0, _i != 0, 3}, GROUT_DIAG_INTERRUPTED, NULL);
    ck_assert_uint_eq(it.calls, 11);
    ck_assert_uint_gt(it.steps, 0);
    ck_assert_uint_lt(it.steps, STEPS_MAX / 100);
    ck_assert_int_eq(it.ctas_total, 3);
    ck_assert_int_eq(it.ctas_done, 0);
}

TEST(progress_counts_ctas) {
    static const char text[] = HEAD ".visible .entry k(.param .u64 x) { ret; }";
    patience it = {.calls_max = UINT64_MAX};
    grout_ptx_result result = {0};
    expect(text, (bounds){&it, 0, false, 5000}, GROUT_DIAG_NONE, &result);
    ck_assert_uint_gt(it.calls, 2);
    ck_assert_int_eq(it.ctas_total, 5000);
    ck_assert_int_gt(it.ctas_done, 2000);
    ck_assert_uint_eq(result.warp_instructions, UINT64_C(5000) * 2);
}

/* A run of which a second one is made is ended at each of its questions in turn. */
TEST(no_question_is_in_vain) {
    patience all = {.calls_max = UINT64_MAX};
    grout_diags *diags = grout_diags_new();
    grout_ptx_module *module = grout_ptx_parse("k.ptx", TWINS, sizeof TWINS - 1, diags);
    ck_assert_ptr_nonnull(module);
    ck_assert(run(module, (bounds){&all, 0, true, 2}, NULL, diags));
    ck_assert_uint_gt(grout_diags_count(diags), 0); /* same-value-race */
    ck_assert_uint_gt(all.calls, 4);
    ck_assert_int_eq(all.ctas_done, 2);
    for (uint64_t calls = 0; calls < all.calls; calls++) {
        patience it = {.calls_max = calls};
        grout_diags *own = grout_diags_new();
        ck_assert(!run(module, (bounds){&it, 0, true, 2}, NULL, own));
        const grout_diag *last = grout_diags_get(own, grout_diags_count(own) - 1);
        ck_assert_int_eq(last->code, GROUT_DIAG_INTERRUPTED);
        ck_assert_uint_eq(it.calls, calls + 1);
        grout_diags_free(own);
    }
    grout_ptx_module_free(module);
    grout_diags_free(diags);
}

/* What bounds all work with the list of diagnostics bounds this, too: parsing, running, the run of
 * which the first one makes a second. */
static grout_diag_code say_over(void *payload) {
    patience *it = payload;
    return ++it->calls <= it->calls_max ? GROUT_DIAG_NONE : GROUT_DIAG_TIME_LIMIT;
}

static void expect_over(const grout_diags *diags, const patience *it) {
    const grout_diag *last = NULL;
    for (uint32_t i = 0; i < grout_diags_count(diags); i++) {
        const grout_diag *diag = grout_diags_get(diags, i);
        last = diag->severity == GROUT_SEVERITY_ERROR ? diag : last;
    }
    ck_assert_ptr_nonnull(last);
    ck_assert_int_eq(last->code, GROUT_DIAG_TIME_LIMIT);
    ck_assert_uint_eq(it->calls, it->calls_max + 1);
}

TEST(the_list_ends_it) {
    patience all = {.calls_max = UINT64_MAX};
    grout_diags *diags = grout_diags_new();
    grout_ptx_module *module = grout_ptx_parse("k.ptx", TWINS, sizeof TWINS - 1, diags);
    grout_diags_set_why_end(diags, say_over, &all);
    ck_assert(run(module, (bounds){NULL, 0, true, 2}, NULL, diags));
    ck_assert_uint_gt(all.calls, 4);
    for (uint64_t calls = 0; calls < all.calls; calls++) {
        patience it = {.calls_max = calls};
        grout_diags *own = grout_diags_new();
        grout_diags_set_why_end(own, say_over, &it);
        ck_assert(!run(module, (bounds){NULL, 0, true, 2}, NULL, own));
        expect_over(own, &it);
        grout_diags_free(own);
    }
    grout_ptx_module_free(module);
    grout_diags_free(diags);
}

/* ---- memory ---- */

/* What a run takes is enough, and a byte less is not; nor is any smaller part of it. */
TEST_EACH(memory_is_counted, 2) {
    const bool finds_races = _i != 0;
    grout_ptx_result result = {0};
    expect(TWINS, (bounds){NULL, 0, finds_races, 9}, GROUT_DIAG_NONE, &result);
    ck_assert_uint_gt(result.peak_bytes, finds_races ? BYTES * 16 : 4096);
    const uint64_t peak = result.peak_bytes;
    expect(TWINS, (bounds){NULL, peak, finds_races, 9}, GROUT_DIAG_NONE, &result);
    ck_assert_uint_eq(result.peak_bytes, peak);
    for (uint64_t limit = peak - 1; limit > 0; limit -= limit / 10 + 1) {
        expect(TWINS, (bounds){NULL, limit, finds_races, 9}, GROUT_DIAG_OUT_OF_MEMORY, &result);
        ck_assert_uint_le(result.peak_bytes, limit);
    }
}

/* What a run would need is asked for before any of it is taken. */
static const struct size_case {
    const char *body;
    uint32_t grid;
    bool finds_races;
} size_cases[] = {
    {".global .b8 g[4294967296];\n.visible .entry k(.param .u64 x) { .reg .b64 %rd; mov.u64 %rd, "
     "g; ret; }",
     1, false},
    {".visible .entry k(.param .u64 x) { .local .b8 l[524288]; .reg .b64 %rd; mov.u64 %rd, l; ret; "
     "}",
     1, false},
    {".visible .entry k(.param .u64 x) { .reg .b128 %rq<1000000>; ret; }", 1, false},
    {".visible .entry k(.param .u64 x) { .shared .b8 s[200000]; .reg .b64 %rd; mov.u64 %rd, s; "
     "ret; }",
     1, true},
};

TEST_EACH(large_needs_are_refused, COUNT_OF(size_cases)) {
    const struct size_case *it = &size_cases[_i];
    grout_text text = {0};
    grout_text_add(&text, "%s%s", HEAD, it->body);
    grout_ptx_result result = {0};
    expect(text.data, (bounds){NULL, 1 << 20, it->finds_races, it->grid}, GROUT_DIAG_OUT_OF_MEMORY,
           &result);
    ck_assert_uint_le(result.peak_bytes, 1 << 20);
    grout_text_free(&text);
}

/* A grid of 2^24 CTAs takes no more than those that run side by side. */
TEST(a_large_grid_takes_little) {
    static const char text[] = HEAD ".visible .entry k(.param .u64 x) { L: bra L; }";
    patience it = {.calls_max = 3};
    grout_ptx_result result = {0};
    expect(text, (bounds){&it, 4 << 20, true, 1 << 24}, GROUT_DIAG_INTERRUPTED, &result);
    ck_assert_int_eq(it.ctas_total, 1 << 24);
    ck_assert_uint_lt(result.peak_bytes, 4 << 20);
}

/* ---- parsing ---- */

static void add_entries(grout_text *text, uint32_t count) {
    grout_text_add(text, "%s", HEAD);
    for (uint32_t i = 0; i < count; i++) {
        grout_text_add(
            text,
            ".visible .entry k%u(.param .u64 x) {\n.reg .b32 %%r<8>; .shared .b8 s[900];\n"
            "L: add.s32 %%r1, %%r2, %u; mov.u32 %%r3, s; bra M;\nM: ret;\n}\n",
            i, i);
    }
}

static grout_ptx_module *parse(const grout_text *text, patience *asked, uint64_t max_memory,
                               grout_diags *diags) {
    const grout_ptx_bounds how = {
        .max_memory = max_memory, .progress = asked != NULL ? goes_on : NULL, .payload = asked};
    return grout_ptx_parse_within("k.ptx", text->data, text->size, &how, diags);
}

static void expect_no_module(const grout_text *text, patience *asked, uint64_t max_memory,
                             grout_diag_code code) {
    grout_diags *diags = grout_diags_new();
    ck_assert_ptr_null(parse(text, asked, max_memory, diags));
    ck_assert_uint_eq(grout_diags_count(diags), 1);
    ck_assert_int_eq(grout_diags_get(diags, 0)->code, code);
    grout_diags_free(diags);
}

TEST(parsing_ends_and_is_bounded) {
    grout_text text = {0};
    grout_diags *diags = grout_diags_new();
    patience all = {.calls_max = UINT64_MAX};
    add_entries(&text, 60);
    grout_ptx_module *module = parse(&text, &all, 0, diags);
    ck_assert_ptr_nonnull(module);
    ck_assert_uint_gt(all.calls, 10);
    ck_assert_uint_gt(all.steps, text.size / 2);
    grout_ptx_module_free(module);
    for (uint64_t calls = 0; calls < all.calls; calls++) {
        patience it = {.calls_max = calls};
        expect_no_module(&text, &it, 0, GROUT_DIAG_INTERRUPTED);
        ck_assert_uint_eq(it.calls, calls + 1);
        it.calls = 0;
        grout_diags *own = grout_diags_new();
        grout_diags_set_why_end(own, say_over, &it);
        ck_assert_ptr_null(parse(&text, NULL, 0, own));
        ck_assert_uint_eq(grout_diags_count(own), 1);
        expect_over(own, &it);
        grout_diags_free(own);
    }
    uint64_t limit = 1;
    for (; (module = parse(&text, NULL, limit, diags)) == NULL; limit += limit / 3 + 1) {
        expect_no_module(&text, NULL, limit, GROUT_DIAG_OUT_OF_MEMORY);
    }
    ck_assert_uint_gt(limit, text.size);
    grout_ptx_module_free(module);
    grout_text_free(&text);
    grout_diags_free(diags);
}

/* A module of many entries costs a run of one of them little more than that entry. */
TEST(one_of_many_entries_runs_alone) {
    enum { ENTRIES = 500 };
    grout_text text = {0};
    grout_diags *diags = grout_diags_new();
    add_entries(&text, ENTRIES);
    grout_ptx_module *module = parse(&text, NULL, 0, diags);
    ck_assert_ptr_nonnull(module);
    ck_assert_uint_eq(grout_ptx_module_get_entry_count(module), ENTRIES);
    grout_ptx_memory *memory = grout_ptx_memory_new();
    for (uint32_t i = 0; i < ENTRIES; i++) {
        char name[16];
        size_t offset = 1, size = 0;
        (void)snprintf(name, sizeof name, "k%u", i);
        ck_assert_str_eq(grout_ptx_module_get_entry_name(module, i), name);
        ck_assert(grout_ptx_module_get_parameter(module, name, 0, &offset, &size));
        ck_assert(offset == 0 && size == 8);
        ck_assert(!grout_ptx_module_get_parameter(module, name, 1, &offset, &size));
        const uint64_t x = 0;
        grout_ptx_result result = {0};
        const grout_ptx_launch launch = {.module = module,
                                         .entry = name,
                                         .memory = memory,
                                         .parameters = &x,
                                         .parameter_bytes = sizeof x};
        ck_assert(grout_ptx_launch_run(&launch, &result, diags));
        ck_assert_uint_eq(result.warp_instructions, 4);
        ck_assert_uint_lt(result.peak_bytes, 100000);
    }
    size_t offset = 0, size = 0;
    ck_assert(!grout_ptx_module_get_parameter(module, "k", 0, &offset, &size));
    ck_assert(!grout_ptx_module_get_parameter(module, NULL, 0, &offset, &size));
    ck_assert_ptr_null(grout_ptx_module_get_entry_name(module, ENTRIES));
    grout_ptx_memory_free(memory);
    grout_ptx_module_free(module);
    grout_text_free(&text);
    grout_diags_free(diags);
}
