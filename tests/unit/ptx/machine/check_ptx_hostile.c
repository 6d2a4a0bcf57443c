/* check_ptx_hostile.c - texts and launches that nobody means well with: each has a diagnostic, and
 * none reaches for memory that is not its own.
 * SPDX-License-Identifier: Apache-2.0 */
#include "grout-internal/diagnose.h"
#include "grout/ptx.h"
#include "tests/tests.h"

#include <string.h>

#define HEAD ".version 9.0\n.target sm_90a\n.address_size 64\n"
#define REGISTERS                                                                                \
    ".reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<16>; .reg .b64 %rd<8>; .reg .b128 %q<4>;\n" \
    ".reg .f64 %fd<2>; .shared .align 16 .b8 s[64];\n"

/* ---- texts ---- */

/* Functions, then the body of an entry with an array of 8 bytes, then what is said of it. NULL: it
 * runs. */
static const struct text_case {
    const char *functions, *body, *message;
} text_cases[] = {
    /* what a call takes is a variable of a lane */
    {".global .b8 g[4];\n.func f(.param .b32 a) { ret; }\n", "call f, (g);",
     "a call takes variables of parameter space"},
    {".shared .b8 g[60000];\n.func f(.param .b32 a) { ret; }\n", "call f, (g);",
     "a call takes variables of parameter space"},
    {".func f(.param .b64 a) { ret; }\n", "call f, (x);",
     "a call takes variables of parameter space"},
    {".func f(.param .b64 a) { ret; }\n", "{ .param .b64 p; call f, (p+8); }",
     "a call takes variables of parameter space"},
    {".global .b8 g[4];\n.extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n",
     "{ .param .b64 p; call (g), vprintf, (p, p); }", "a call takes variables of parameter space"},
    {".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n",
     "{ .param .b64 p; .param .b8 r; call (r), vprintf, (p, p); }",
     "the result of 'vprintf' has 4 bytes"},
    {".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n",
     "{ .param .b64 p; .param .b32 r; call (r), vprintf, (p, p); }", NULL},
    /* registers of another width than the value */
    {"", "ld.shared.b128 %r0, [s];", "a register of 32 bits for 16 bytes"},
    {"", "ld.shared.b32 %q0, [s];", "a register of 128 bits for 4 bytes"},
    {"", "mov.b128 %q0, {%rd0, %rd0}; st.shared.b32 [s], %q0;",
     "a register of 128 bits for 4 bytes"},
    {"", "mov.u32 %r0, 1; st.shared.b64 [s], %r0;", "a register of 32 bits for a value of 64"},
    {"", "mov.b64 %rd0, %r0;", "a register of 32 bits for a value of 64"},
    {"", "mov.u32 _, 5; mov.b128 %q0, {1, 2}; mov.b128 _, %q0; mov.u32 _, %r9;", NULL},
    {"", "rcp.rn.f64 %r0, 0d4000000000000000;", "a register of 32 bits for a value of 64"},
    {"", "rcp.rn.f64 %fd0, %r0;", "a register of 32 bits for a value of 64"},
    {"", "rcp.rn.f64 _, 0d4000000000000000; ld.shared.v2.b32 {_, %r0}, [s];", NULL},
    /* vectors that are longer, shorter or wider than they may be */
    {"", "mov.u64 %rd0, 1; st.shared.v8.b64 [s], {%rd0, %rd0, %rd0, %rd0, %rd0, %rd0, %rd0, %rd0};",
     "a vector has at most 32 bytes"},
    {"", "ld.shared.b32 {}, [s];", "0 values for a vector of 1"},
    {"", "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [s], {}, [s];",
     "0 values for a vector of 1"},
    {"", "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [s], {1, 2, 3}, [s];",
     "3 values for a vector of 2"},
    {"", "red.shared.add.u32 [s], {};", "0 values for a vector of 1"},
    {"", "atom.shared.add.u32 {%r0, %r1}, [s], 1;", "2 results for 1 values"},
    /* results that are none */
    {"", "setp.eq.u32 1|%p0, 1, 1;", "the result of 'setp' is not a register"},
    {"", "shfl.sync.idx.b32 5|%p0, 1, 0, 31, -1;", "the result of 'shfl' is not a register"},
    {"", "elect.sync _|s, -1;", "the result of 'elect' is not a register"},
    /* types that do not go together */
    {"",
     "mma.sync.aligned.m16n8k16.row.col.e4m3.f16.f16.e4m3 {%r0}, {%r0, %r1, %r2, %r3}, {%r0, %r1}, "
     "{%r0};",
     "the emulator does not know this form of 'mma'"},
    {"",
     "mma.sync.aligned.m16n8k0.row.col.f32.f16.f16.f32 {%r0, %r1, %r2, %r3}, {}, {}, {%r0, %r1, "
     "%r2, %r3};",
     "the emulator does not know this form of 'mma'"},
    {"",
     "mma.sync.aligned.m16n8k16.row.col.f32.f16.s8.f32 {%r0, %r1, %r2, %r3}, {%r0, %r1, %r2, %r3}, "
     "{%r0, %r1}, {%r0, %r1, %r2, %r3};",
     "the emulator does not know this form of 'mma'"},
    /* what only other entries and functions have is no matter */
    {".func f() { .local .b8 l[500000]; .shared .b8 t[200000]; multimem.red.global.add.u32 [0], 1; "
     "ret; }\n.visible .entry other(.param .b8 y[30000]) { .local .b8 m[500000]; call f; ret; }\n",
     "", NULL},
    {".func f() { .local .b8 l[500000]; ret; }\n", "{ .local .b8 m[500000]; call f; }",
     "a thread has at most 512 KiB of local memory and a kernel at most 32764 bytes of parameters, "
     "not 1000000 and 8"},
    {".func g();\n.func f() { call g; ret; }\n.func g() { multimem.red.global.add.u32 [0], 1; ret; "
     "}\n",
     "call f;", "the emulator does not run 'multimem.red' yet"},
};

static const grout_diag *run_text(const struct text_case *it, const char *directives,
                                  grout_ptx_launch launch, grout_diags *diags) {
    const uint64_t x = 0;
    grout_text text = {0};
    grout_text_add(&text, "%s%s.visible .entry k(.param .u64 x) %s\n{\n%s%s\nret;\n}\n", HEAD,
                   it->functions, directives, REGISTERS, it->body);
    grout_ptx_module *module = grout_ptx_parse("k.ptx", text.data, text.size, diags);
    ck_assert_msg(module != NULL, "%s", text.data);
    launch.module = module;
    launch.entry = "k";
    launch.memory = grout_ptx_memory_new();
    launch.parameters = &x;
    launch.parameter_bytes = sizeof x;
    launch.finds_races = true;
    const bool is_done = grout_ptx_launch_run(&launch, NULL, diags);
    ck_assert_uint_eq(is_done, grout_diags_count(diags) == 0);
    grout_ptx_memory_free(launch.memory);
    grout_ptx_module_free(module);
    grout_text_free(&text);
    return is_done ? NULL : grout_diags_get(diags, 0);
}

TEST_EACH(texts_are_refused, COUNT_OF(text_cases)) {
    const struct text_case *it = &text_cases[_i];
    grout_diags *diags = grout_diags_new();
    const grout_diag *diag = run_text(it, "", (grout_ptx_launch){.block = {32, 1, 1}}, diags);
    ck_assert_msg((diag == NULL) == (it->message == NULL), "%s: %s", it->body,
                  diag == NULL ? "it runs" : diag->message);
    if (diag != NULL) {
        ck_assert_str_eq(diag->message, it->message);
    }
    grout_diags_free(diags);
}

/* Numbers of directives that the machine reckons with. */
static const char *const directives[] = {".minnctapersm 4194304", ".minnctapersm 4294967295",
                                         ".maxnreg 4194304", ".maxnreg 4294967295",
                                         ".maxntid 4294967295, 4294967295, 4294967295"};

TEST_EACH(numbers_do_not_overflow, COUNT_OF(directives)) {
    static const struct text_case empty = {"", "", NULL};
    const grout_ptx_launch launch = {.grid = {300, 1, 1}, .block = {1024, 1, 1}};
    grout_diags *diags = grout_diags_new();
    ck_assert(run_text(&empty, directives[_i], launch, diags) == NULL);
    grout_diags_free(diags);
}

/* ---- launches ---- */

#define MOST UINT32_MAX
static const struct launch_case {
    uint32_t grid[3], block[3], cluster[3], shared;
    const char *message;
} launch_cases[] = {
    {{1u << 31, 1, 1}, {0}, {0}, 0, "a grid has at most 2^24 CTAs here (2147483648)"},
    {{MOST, MOST, MOST}, {0}, {0}, 0, "a grid has at most 2^24 CTAs here (4294967295)"},
    {{1 << 12, 1 << 12, 2}, {0}, {0}, 0, "a grid has at most 2^24 CTAs here (33554432)"},
    {{0}, {MOST, 1, 1}, {0}, 0, "a CTA has at most 1024 threads (4294967295)"},
    {{0}, {MOST, MOST, MOST}, {0}, 0, "a CTA has at most 64 threads along z (4294967295)"},
    {{0}, {32, 32, 2}, {0}, 0, "a CTA has at most 1024 threads (2048)"},
    {{0},
     {0},
     {MOST, MOST, MOST},
     0,
     "a grid is made of whole clusters, of at most 16 CTAs (4294967295)"},
    {{6, 1, 1}, {0}, {4, 1, 1}, 0, "a grid is made of whole clusters, of at most 16 CTAs (4)"},
    {{0}, {0}, {0}, MOST, "a CTA has at most 227 KiB of shared memory (4294967359)"},
};

TEST_EACH(sizes_are_refused, COUNT_OF(launch_cases)) {
    static const struct text_case use = {"", "mov.u32 %r0, s;", NULL};
    const struct launch_case *it = &launch_cases[_i];
    grout_ptx_launch launch = {.dynamic_shared_bytes = it->shared, .max_memory = 1 << 20};
    memcpy(launch.grid, it->grid, sizeof launch.grid);
    memcpy(launch.block, it->block, sizeof launch.block);
    memcpy(launch.cluster, it->cluster, sizeof launch.cluster);
    grout_diags *diags = grout_diags_new();
    const grout_diag *diag = run_text(&use, "", launch, diags);
    ck_assert_ptr_nonnull(diag);
    ck_assert_int_eq(diag->code, GROUT_DIAG_BAD_ARGUMENT);
    ck_assert_str_eq(diag->message, it->message);
    grout_diags_free(diags);
}

static void expect_bad(const grout_ptx_launch *launch) {
    grout_diags *diags = grout_diags_new();
    grout_ptx_result result = {0};
    ck_assert(!grout_ptx_launch_run(launch, &result, diags));
    ck_assert_uint_eq(grout_diags_count(diags), 1);
    ck_assert_int_eq(grout_diags_get(diags, 0)->code, GROUT_DIAG_BAD_ARGUMENT);
    grout_diags_free(diags);
    ck_assert(!grout_ptx_launch_run(launch, NULL, NULL));
}

TEST(what_is_missing_is_said) {
    static const char text[] = HEAD ".visible .entry k(.param .u64 x) { ret; }";
    grout_ptx_module *module = grout_ptx_parse(NULL, text, sizeof text - 1, NULL);
    grout_ptx_memory *memory = grout_ptx_memory_new();
    const uint64_t x = 0;
    const grout_ptx_launch right = {
        .module = module, .memory = memory, .parameters = &x, .parameter_bytes = sizeof x};
    ck_assert(grout_ptx_launch_run(&right, NULL, NULL));
    grout_ptx_launch wrong = right;
    wrong.module = NULL;
    expect_bad(&wrong);
    wrong = right;
    wrong.memory = NULL;
    expect_bad(&wrong);
    wrong = right;
    wrong.parameters = NULL;
    expect_bad(&wrong);
    wrong = right;
    wrong.parameter_bytes = SIZE_MAX;
    expect_bad(&wrong);
    wrong = right;
    wrong.timing = (grout_ptx_timing)77;
    expect_bad(&wrong);
    wrong = right;
    wrong.entry = "";
    expect_bad(&wrong);
    expect_bad(NULL);
    grout_ptx_memory_free(memory);
    grout_ptx_module_free(module);
    ck_assert_ptr_null(grout_ptx_parse("k.ptx", NULL, 100, NULL));
}

TEST(arrays_are_where_addresses_are) {
    grout_ptx_memory *memory = grout_ptx_memory_new();
    const uint8_t byte = 1;
    uint8_t read = 0;
    size_t undefined = 7;
    const uint64_t place = grout_ptx_memory_add(memory, &byte, 1);
    ck_assert_uint_ne(place, 0);
    ck_assert_uint_eq(grout_ptx_memory_add(memory, NULL, SIZE_MAX), 0);
    ck_assert_uint_eq(grout_ptx_memory_add(memory, NULL, (size_t)1 << 62), 0);
    ck_assert_uint_eq(grout_ptx_memory_add(memory, NULL, (size_t)1 << 47), 0);
    ck_assert_uint_eq(grout_ptx_memory_add(NULL, &byte, 1), 0);
    ck_assert(!grout_ptx_memory_set_elements(memory, place + 1, GROUT_PTX_ELEMENTS_I8));
    ck_assert(!grout_ptx_memory_set_elements(NULL, place, GROUT_PTX_ELEMENTS_I8));
    ck_assert(!grout_ptx_memory_read(memory, place, &read, 2, &undefined));
    ck_assert(!grout_ptx_memory_read(memory, place, &read, SIZE_MAX, &undefined));
    ck_assert(!grout_ptx_memory_read(memory, 0, &read, 1, &undefined));
    ck_assert(!grout_ptx_memory_read(memory, UINT64_MAX, &read, 1, &undefined));
    ck_assert(!grout_ptx_memory_read(memory, place, NULL, 1, &undefined));
    ck_assert(!grout_ptx_memory_read(NULL, place, &read, 1, &undefined));
    ck_assert(grout_ptx_memory_read(memory, place, &read, 1, NULL));
    ck_assert_uint_eq(read, 1);
    ck_assert_uint_eq(grout_ptx_memory_get_cost(100), 200);
    ck_assert_uint_gt(grout_ptx_memory_get_cost(UINT64_MAX), UINT64_MAX / 4);
    grout_ptx_memory_free(memory);
}
