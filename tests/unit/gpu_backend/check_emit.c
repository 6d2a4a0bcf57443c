/*
 * check_emit.c - what the emitted CUDA of small kernels holds; tests/golden/cuda/ has whole texts.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu_backend/emit/emit.h"
#include "tests/tests.h"
#include "tests/unit/support/gpu_text.h"

#include <stdlib.h>

/* What the emitted text of a kernel must, or must not, hold. */
typedef struct text_case {
    const char *name, *text, *holds, *lacks;
} text_case;

static const text_case text_cases[] = {
    {"a commit fences, then the lanes meet",
     "kernel @k() {\n  scratch %s : smem f32[128]\n  store %s, (broadcast 1.0 : f32[128])\n"
     "  commit_smem\n}\n",
     "grout_commit_smem(thread);", "grout_thread_barrier"},
    {"without a commit there is no fence",
     "kernel @k(%y: out gmem f32[128]) {\n  scratch %s : smem f32[128]\n"
     "  store %s, (broadcast 1.0 : f32[128])\n  copy_smem_to_gmem %s, %y\n}\n",
     "grout_thread_barrier(thread); // one lane does the rest", "grout_commit_smem"},
    {"a copy waits for what the lanes have stored",
     "kernel @k(%y: out gmem f32[128]) {\n  scratch %s : smem f32[128]\n"
     "  store %s, (broadcast 1.0 : f32[128])\n  copy_smem_to_gmem %s, %y\n"
     "  store %s, (broadcast 2.0 : f32[128])\n}\n",
     "grout_thread_barrier(thread); // all lanes have written the source", NULL},
    {"a load after another load needs no barrier",
     "kernel @k(%y: out gmem f32[128]) {\n  scratch %s : smem f32[2, 128]\n"
     "  store %y, (add (load %s[0]), (load %s[1]))\n}\n",
     "grout_load_smem", "grout_thread_barrier"},
    {"a store after a load of the same bytes does",
     "kernel @k() {\n  scratch %s : smem f32[2, 128]\n  store %s[1], (load %s[0])\n}\n",
     "grout_thread_barrier(thread); // all lanes are done with the bytes", NULL},
    {"where copies arrive, an arrival counts for all lanes",
     "kernel @k(%x: in gmem f32[128]) {\n  scratch %s : smem f32[2, 128]\n"
     "  scratch %b : barrier[1] arrivals(2)\n  store %s[0], (broadcast 1.0 : f32[128])\n"
     "  barrier_arrive %b[0]\n  copy_gmem_to_smem %x, %s[1], %b[0]\n  barrier_wait %b[0]\n"
     "  store %s, (broadcast 1.0 : f32[2, 128])\n}\n",
     "grout_thread_barrier(thread); // one arrival counts for all lanes", "arrive_warp"},
    {"elsewhere each warp arrives, and none waits for the others",
     "kernel @k() {\n  scratch %s : smem f32[128]\n  scratch %b : barrier[1]\n"
     "  store %s, (broadcast 1.0 : f32[128])\n  barrier_arrive %b[0]\n  barrier_wait %b[0]\n"
     "  barrier_arrive %b[0]\n  barrier_wait %b[0]\n  commit_smem\n}\n",
     "grout_mbarrier_arrive_warp(b);", "grout_thread_barrier"},
    {"a barrier counts the warps that arrive",
     "kernel @k() threads(t = 3) {\n  scratch %b : barrier[1] arrivals(3)\n"
     "  barrier_arrive %b[0]\n  barrier_wait %b[0]\n  commit_smem\n}\n",
     "grout_mbarrier_init(smem + 0 + 8 * part, 12); // %b", "b_arrived"},
    {"with several threads no warp may be a phase ahead",
     "kernel @k() threads(t = 2) {\n  scratch %b : barrier[2] arrivals(2)\n  for %i in 0..4 {\n"
     "    barrier_arrive %b[(rem %i, 2)]\n    barrier_wait %b[(rem %i, 2)]\n"
     "    commit_smem\n  }\n}\n",
     "grout_barrier_arrive(thread, b, (grout_u32)(t0), b_arrived_0);", NULL},
    {"nor with more barriers than a word has bits",
     "kernel @k() threads(t = 2) {\n  scratch %b : barrier[40] arrivals(2)\n"
     "  for %i in 0..80 {\n    barrier_arrive %b[(rem %i, 40)]\n"
     "    barrier_wait %b[(rem %i, 40)]\n    commit_smem\n  }\n}\n",
     "grout_thread_barrier(thread); // no warp is a phase ahead", "b_arrived"},
    {"lanes may still wait when a copy arms the next phase",
     "kernel @k(%x: in gmem f32[128]) {\n  scratch %s : smem f32[128]\n"
     "  scratch %b : barrier[1]\n  for %i in 0..3 {\n    copy_gmem_to_smem %x, %s, %b[0]\n"
     "    barrier_wait %b[0]\n    commit_smem\n  }\n}\n",
     "grout_barrier_wait(b", NULL},
    {"what only waits and copies is done by one lane",
     "kernel @k(%x: in gmem f32[128], %y: out gmem f32[128]) {\n"
     "  scratch %s : smem f32[128]\n  scratch %b : barrier[1]\n  for %i in 0..3 {\n"
     "    copy_gmem_to_smem %x, %s, %b[0]\n    barrier_wait %b[0]\n"
     "    copy_smem_to_gmem %s, %y\n    wait_smem_to_gmem 0\n  }\n}\n",
     "    if (warp == 0 && grout_elect()) {\n        // for %i in 0..3", "grout_thread_barrier"},
    {"but not where all lanes come back to it",
     "kernel @k(%x: in gmem f32[128]) {\n  scratch %s : smem f32[128]\n"
     "  scratch %b : barrier[1]\n  for %i in 0..3 {\n    copy_gmem_to_smem %x, %s, %b[0]\n"
     "    barrier_wait %b[0]\n  }\n  store %s, (load %s)\n}\n",
     "grout_thread_barrier(thread); // all lanes are done with the bytes",
     "one lane does the rest"},
    {"what a loop's end leaves pending is settled at its start",
     "kernel @k() {\n  scratch %s : smem f32[128]\n  for %i in 0..3 {\n"
     "    store %s, (broadcast 1.0 : f32[128])\n  }\n}\n",
     "grout_thread_barrier(thread); // all lanes are done with the bytes", NULL},
    {"a commit at the loop's end settles",
     "kernel @k() {\n  scratch %s : smem f32[128]\n  for %i in 0..3 {\n"
     "    store %s, (broadcast 1.0 : f32[128])\n    commit_smem\n  }\n}\n",
     "grout_commit_smem(thread);", "grout_thread_barrier"},
    {"40 barriers take two words",
     "kernel @k(%n: i32) {\n  scratch %b : barrier[40]\n  barrier_arrive %b[%n]\n"
     "  barrier_wait %b[%n]\n}\n",
     "grout_u32 b_phases_0[2] = {};", NULL},
    {"smallest integer",
     "kernel @k(%n: i32, %y: out gmem i32[1]) {\n"
     "  store %y[0], (add %n, -2147483648)\n}\n",
     "GROUT_ADD(n, (-2147483647 - 1))", NULL},
    {"minus zero",
     "kernel @k(%n: f32, %y: out gmem f32[1]) {\n"
     "  store %y[0], (add %n, -0.0)\n}\n",
     "GROUT_ADD(n, -0.0f)", NULL},
    {"a pattern that is not a number",
     "kernel @k(%n: f32, %y: out gmem f32[1]) {\n"
     "  store %y[0], (add %n, f32:0x7f800001)\n}\n",
     "__uint_as_float(0x7f800001u)", NULL},
    {"words of C++ are not names",
     "kernel @k(%int: i32, %y: out gmem i32[1]) {\n"
     "  store %y[0], (add %int, 1)\n}\n",
     "const grout_i32 int__1", "(int,"},
    {"two loops may use one name",
     "kernel @k(%y: out gmem i32[4]) {\n  for %i in 0..4 {\n    store %y[%i], %i\n  }\n"
     "  for %i in 0..4 {\n    store %y[%i], %i\n  }\n}\n",
     "grout_i32 i = 0", "i__"},
    {"many CTAs index with 64 bits",
     "kernel @k(%y: out gmem f32[65536, 65536]) grid(i = 65536) {\n  %i = axis_index i\n"
     "  store %y[%i], (broadcast 0.0 : f32[65536])\n}\n",
     "i * 65536ll", NULL},
};

TEST_EACH(emitted_text_holds, COUNT_OF(text_cases)) {
    const text_case *row = &text_cases[_i];
    grout_diags *diags = grout_diags_new();
    grout_text emitted = {0};
    grout_module *module = bind_text(row->name, row->text, diags);
    ck_assert(grout_emit__kernel_text(module, 1, NULL, &emitted, diags));
    check_text(row->name, emitted.data, row->holds, row->lacks);
    grout_text_free(&emitted);
    grout_module_free(module);
    grout_diags_free(diags);
}

static const char two_kernels[] = "kernel @a(%y: out gmem f32[128]) {\n"
                                  "  store %y, (broadcast 1.0 : f32[128])\n}\n"
                                  "kernel @b(%y: out gmem f32[128]) {\n"
                                  "  store %y, (broadcast 2.0 : f32[128])\n}\n";

static uint32_t count_text(const char *text, const char *part) {
    uint32_t count = 0;
    for (const char *p = text; (p = strstr(p, part)) != NULL; p++) {
        count++;
    }
    return count;
}

TEST(kernels_of_one_text_share_the_header) {
    grout_diags *diags = grout_diags_new();
    const grout_emit_options options = {.watchdog = true, .line_directives = true};
    grout_text emitted = {0};
    grout_module *module = bind_text("two \"quoted\".grout", two_kernels, diags);
    ck_assert(grout_emit_cuda(module, 1, &options, &emitted, diags));
    ck_assert(grout_emit_cuda(module, 2, &options, &emitted, diags));
    ck_assert_uint_eq(count_text(emitted.data, "#pragma nv_diag_suppress"), 1);
    ck_assert_uint_eq(count_text(emitted.data, "#ifndef GROUT_DEVICE_CUH"), 1);
    ck_assert_uint_eq(count_text(emitted.data, "#include"), 0);
    ck_assert_uint_eq(count_text(emitted.data, "extern \"C\" __global__"), 2);
    ck_assert_uint_ge(count_text(emitted.data, "#line 2 \"two _quoted_.grout\""), 1);
    /* ptxas would leave warps apart around a path that ends so: docs/gpu.md, Watchdog. */
    ck_assert_uint_eq(count_text(emitted.data, "    __trap();"), 0);
    ck_assert_uint_eq(count_text(emitted.data, "\"trap"), 0);
    ck_assert_uint_eq(count_text(emitted.data, "\"exit"), 0);
    grout_text_free(&emitted);
    grout_module_free(module);
    grout_diags_free(diags);
}

/* SentryWard 0.1.1 misreads an elect.sync whose predicate is called p, and finds a wait only where
 * its loop is whole. */
TEST(asm_is_readable_for_others) {
    grout_diags *diags = grout_diags_new();
    grout_text emitted = {0};
    grout_module *module = bind_text("two.grout", two_kernels, diags);
    ck_assert(grout_emit_cuda(module, 1, NULL, &emitted, diags));
    static const char declares[] = "{ .reg .pred ";
    const char *name = emitted.data;
    ck_assert_uint_ge(count_text(name, declares), 4);
    while ((name = strstr(name, declares)) != NULL) {
        name += strlen(declares);
        ck_assert_msg(strcspn(name, ",;") > 1, "a register of one letter: %.60s", name);
    }
    ck_assert_uint_eq(count_text(emitted.data, " AGAIN: mbarrier.try_wait.parity"), 1);
    ck_assert_uint_eq(count_text(emitted.data, "@!done bra AGAIN; }"), 1);
    grout_text_free(&emitted);
    grout_module_free(module);
    grout_diags_free(diags);
}

TEST(too_much_smem_for_broadcasts_is_refused) {
    grout_diags *diags = grout_diags_new();
    grout_text emitted = {0};
    grout_module *module = bind_text("full",
                                     "kernel @k(%x: in gmem f32[512], %y: out gmem f32[2, 512]) {\n"
                                     "  scratch %s : smem f32[58112]\n"
                                     "  store %s[ds(0, 512)], (load %x)\n"
                                     "  store %y, (broadcast (load %x) : f32[2, 512])\n}\n",
                                     diags);
    ck_assert(!grout_emit_cuda(module, 1, NULL, &emitted, diags));
    const grout_diag *diag = grout_diags_get(diags, grout_diags_count(diags) - 1);
    ck_assert_int_eq(diag->code, GROUT_DIAG_GPU_UNSUPPORTED);
    ck_assert_uint_eq(diag->note_count, 3);
    grout_text_free(&emitted);
    grout_module_free(module);
    grout_diags_free(diags);
}

TEST(reserved_names_are_known) {
    static const char *const reserved[] = {"int",       "xor_eq",    "EOF",   "lane",
                                           "t0",        "x17",       "a_map", "bar_phases",
                                           "grout_add", "GROUT_ADD", "a__b",  "warp"};
    static const char *const free_names[] = {"i", "j", "t", "x", "tx1", "slot", "a", "row", "xs"};
    char symbol[GROUT_GPU_SYMBOL_MAX];
    for (size_t k = 0; k < sizeof reserved / sizeof reserved[0]; k++) {
        ck_assert_msg(grout_gpu__is_reserved_name(reserved[k]), "%s", reserved[k]);
    }
    for (size_t k = 0; k < sizeof free_names / sizeof free_names[0]; k++) {
        ck_assert_msg(!grout_gpu__is_reserved_name(free_names[k]), "%s", free_names[k]);
    }
    grout_gpu__get_symbol("add", symbol);
    ck_assert_str_eq(symbol, "add");
    grout_gpu__get_symbol("expf", symbol);
    ck_assert_str_eq(symbol, "expf_kernel");
}
