/* check_ptx_requests.c - clusterlaunchcontrol, and the tensor copies of sm_100a, on the machine.
 * SPDX-License-Identifier: Apache-2.0 */
#include "grout-internal/diagnose.h"
#include "grout/ptx.h"
#include "tests/tests.h"

#include <string.h>

#define BEGINNING                                                                                 \
    ".version 9.0\n.target sm_100a\n.address_size 64\n"                                           \
    ".visible .entry k(.param .u64 out, .param .align 64 .b8 map[128])\n{\n"                      \
    ".reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<16>; .reg .b128 %q<2>; .reg .b16 %h<2>;\n" \
    ".shared .align 1024 .b8 s[4096];\n"                                                          \
    "mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, s; add.u32 %r3, %r2, 2048;"         \
    " mov.u32 %r9, %cluster_ctarank; ld.param.u64 %rd0, [out]; mov.b64 %rd1, map;"                \
    " cvta.param.u64 %rd1, %rd1; setp.eq.u32 %p0, %r0, 0;\n"                                      \
    "@%p0 mbarrier.init.shared::cta.b64 [%r3], 1; barrier.cluster.arrive; barrier.cluster.wait;\n"
#define WAIT(NAME, PARITY)                                                                        \
    NAME ": mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r3], " PARITY "; @!%p1 bra " NAME ";" \
         "\n"
#define EXPECT(BYTES) "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], " BYTES ";\n"

enum { WORDS = 64, ROWS = 16, COLUMNS = 8 };

typedef struct trial {
    uint32_t ctas, cluster;
    uint64_t seed;
    const grout_ptx_tensor *tensor; /* NULL: none */
    uint32_t table[ROWS * COLUMNS]; /* of the tensor, before and after */
} trial;

static bool run(const char *body, trial *it, uint32_t *words, grout_diags *diags) {
    grout_text text = {0};
    uint8_t parameters[192] = {0};
    size_t undefined = 0;
    memset(words, 0, WORDS * sizeof *words);
    grout_text_add(&text, "%s%s\nret;\n}\n", BEGINNING, body);
    grout_ptx_module *module = grout_ptx_parse("k.ptx", text.data, text.size, diags);
    grout_ptx_memory *memory = grout_ptx_memory_new();
    const uint64_t out = grout_ptx_memory_add(memory, words, WORDS * sizeof *words);
    const uint64_t table = grout_ptx_memory_add(memory, it->table, sizeof it->table);
    memcpy(parameters, &out, sizeof out);
    if (it->tensor != NULL) {
        grout_ptx_tensor tensor = *it->tensor;
        tensor.address = table;
        ck_assert(grout_ptx_encode_tensor(&tensor, parameters + 64, diags));
    }
    grout_ptx_launch launch = {.module = module,
                               .memory = memory,
                               .grid = {it->ctas, 1, 1},
                               .block = {32, 1, 1},
                               .cluster = {it->cluster, 1, 1},
                               .parameters = parameters,
                               .parameter_bytes = sizeof parameters,
                               .seed = it->seed,
                               .max_steps = 1000000};
    bool is_done = module != NULL && grout_ptx_launch_run(&launch, NULL, diags);
    is_done = is_done &&
              grout_ptx_memory_read(memory, out, words, WORDS * sizeof *words, &undefined) &&
              grout_ptx_memory_read(memory, table, it->table, sizeof it->table, &undefined);
    grout_ptx_memory_free(memory);
    grout_ptx_module_free(module);
    grout_text_free(&text);
    return is_done;
}

static void expect_done(const char *body, trial *it, uint32_t *words) {
    grout_text text = {0};
    grout_diags *diags = grout_diags_new();
    bool is_done = run(body, it, words, diags);
    grout_diags_render(diags, &(grout_render_options){0}, &text);
    ck_assert_msg(is_done, "%s", text.data);
    grout_text_free(&text);
    grout_diags_free(diags);
}

/* Each CTA counts its own piece of work, and those of the clusters that it cancels: each piece is
 * done once, by any of them. */
TEST_EACH(requests, 6) {
    static const char body[] =
        "@!%p0 bra E; mov.u32 %r4, 0; mov.u32 %r5, %r1;\n"
        "L: mul.wide.u32 %rd2, %r5, 4; add.u64 %rd2, %rd0, %rd2;"
        " atom.global.add.u32 %r6, [%rd2], 1;\n" EXPECT(
            "16") "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes."
                  "b128"
                  " [%r2], [%r3];\n" WAIT(
                      "W",
                      "%r4") "xor.b32 %r4, %r4, 1; ld.shared.b128 %q0, [%r2];\n"
                             "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p2, %q0;\n"
                             "@!%p2 bra E; "
                             "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128"
                             " {%r5, %r7, %r8, _}, %q0;\n"
                             "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r10, "
                             "%q0;\n"
                             "setp.ne.u32 %p3, %r5, %r10; @%p3 trap; bra L;\nE:";
    uint32_t words[WORDS];
    trial it = {.ctas = 40, .cluster = 1, .seed = (uint64_t)_i};
    expect_done(body, &it, words);
    for (uint32_t i = 0; i < WORDS; i++) {
        ck_assert_uint_eq(words[i], i < 40 ? 1 : 0);
    }
}

/* ---- tensor copies ---- */

/* 16 rows of 8 words. */
static const grout_ptx_tensor rows_tensor = {.type = 2,
                                             .rank = 2,
                                             .dims = {COLUMNS, ROWS},
                                             .strides_bytes = {COLUMNS * sizeof(uint32_t)},
                                             .box = {COLUMNS, 1},
                                             .element_strides = {1, 1}};
static const grout_ptx_tensor tile_tensor = {.type = 2,
                                             .rank = 2,
                                             .dims = {COLUMNS, ROWS},
                                             .strides_bytes = {COLUMNS * sizeof(uint32_t)},
                                             .box = {COLUMNS, 4},
                                             .element_strides = {1, 1}};
#define STORE_WORD                                                                      \
    "mad.lo.u32 %r5, %r0, 4, %r2; ld.shared.u32 %r6, [%r5]; mul.wide.u32 %rd2, %r0, 4;" \
    " add.u64 %rd2, %rd0, %rd2; st.global.u32 [%rd2], %r6;\n"

static void number(trial *it) {
    for (uint32_t i = 0; i < ROWS * COLUMNS; i++) {
        it->table[i] = 1000 + i;
    }
}

TEST_EACH(gather, 2) {
    static const uint32_t rows[4] = {3, 15, 3, 0};
    uint32_t words[WORDS];
    trial it = {.ctas = 1, .cluster = 1, .seed = (uint64_t)_i, .tensor = &rows_tensor};
    number(&it);
    expect_done(EXPECT("128") "@%p0 cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4"
                              ".mbarrier::complete_tx::bytes [%r2], [%rd1, {0, 3, 15, 3, 0}],"
                              " [%r3];\n" WAIT("W", "0") STORE_WORD,
                &it, words);
    for (uint32_t i = 0; i < 32; i++) {
        ck_assert_uint_eq(words[i], 1000 + rows[i / COLUMNS] * COLUMNS + i % COLUMNS);
    }
}

TEST_EACH(scatter, 2) {
    static const uint32_t rows[4] = {9, 1, 0, 14};
    uint32_t words[WORDS];
    trial it = {.ctas = 1, .cluster = 1, .seed = (uint64_t)_i, .tensor = &rows_tensor};
    number(&it);
    expect_done("mad.lo.u32 %r5, %r0, 4, %r2; st.shared.u32 [%r5], %r0;"
                " fence.proxy.async.shared::cta; bar.sync 0;\n"
                "@%p0 cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group"
                " [%rd1, {0, 9, 1, 0, 14}], [%r2]; @%p0 cp.async.bulk.commit_group;"
                " @%p0 cp.async.bulk.wait_group 0;",
                &it, words);
    for (uint32_t i = 0; i < 32; i++) {
        ck_assert_uint_eq(it.table[rows[i / COLUMNS] * COLUMNS + i % COLUMNS], i);
    }
    ck_assert_uint_eq(it.table[(size_t)2 * COLUMNS], 1000 + 2 * COLUMNS);
}

/* Each CTA of a pair loads 4 rows into its own memory, and the even one's mbarrier hears of both.
 */
TEST_EACH(pair_copy, 4) {
    uint32_t words[WORDS];
    trial it = {.ctas = 2, .cluster = 2, .seed = (uint64_t)_i, .tensor = &tile_tensor};
    number(&it);
    expect_done(
        "setp.eq.and.u32 %p4, %r9, 0, %p0;\n"
        "@%p4 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 256;\n"
        "mapa.shared::cluster.u32 %r11, %r3, 0; shl.b32 %r12, %r9, 2;\n"
        "@%p0 cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global"
        ".mbarrier::complete_tx::bytes [%r2], [%rd1, {0, %r12}], [%r11];\n"
        "setp.ne.u32 %p5, %r9, 0; @%p5 bra A;\n" WAIT(
            "W",
            "0") "A: barrier.cluster.arrive; barrier.cluster.wait;\n"
                 "mad.lo.u32 %r5, %r0, 4, %r2; ld.shared.u32 %r6, [%r5]; mad.lo.u32 %r7, %r9, 32,"
                 " %r0; mul.wide.u32 %rd2, %r7, 4; add.u64 %rd2, %rd0, %rd2;"
                 " st.global.u32 [%rd2], %r6;",
        &it, words);
    for (uint32_t i = 0; i < WORDS; i++) {
        ck_assert_uint_eq(words[i], 1000 + i);
    }
}

/* With a mask both get the rows, and the odd one's mbarrier hears of both copies. */
TEST_EACH(pair_multicast, 4) {
    uint32_t words[WORDS];
    trial it = {.ctas = 2, .cluster = 2, .seed = (uint64_t)_i, .tensor = &tile_tensor};
    number(&it);
    expect_done(
        "setp.ne.u32 %p5, %r9, 0; and.pred %p4, %p5, %p0;\n"
        "@%p4 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 256;\n"
        "mapa.shared::cluster.u32 %r11, %r3, 1; mov.b16 %h0, 3; setp.eq.and.u32 %p6, %r9,"
        " 0, %p0;\n"
        "@%p6 cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global"
        ".mbarrier::complete_tx::bytes.multicast::cluster [%r2], [%rd1, {0, 8}], [%r11],"
        " %h0;\n@!%p5 bra A;\n" WAIT(
            "W",
            "0") "A: barrier.cluster.arrive; barrier.cluster.wait;\n"
                 "mad.lo.u32 %r5, %r0, 4, %r2; ld.shared.u32 %r6, [%r5]; mad.lo.u32 %r7, %r9, 32,"
                 " %r0; mul.wide.u32 %rd2, %r7, 4; add.u64 %rd2, %rd0, %rd2;"
                 " st.global.u32 [%rd2], %r6;",
        &it, words);
    for (uint32_t i = 0; i < WORDS; i++) {
        ck_assert_uint_eq(words[i], 1000 + 8 * COLUMNS + i % 32);
    }
}

static const struct fault_case {
    const char *body;
    grout_diag_code code;
    const char *message;
} fault_cases[] = {
    {"mov.b128 %q0, {%rd0, %rd0}; clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p2,"
     " %q0;",
     GROUT_DIAG_PTX_FAULT,
     "clusterlaunchcontrol.query_cancel of bytes that no try_cancel has written"},
    {EXPECT("16") "@%p0 clusterlaunchcontrol.try_cancel.async.shared::cta"
                  ".mbarrier::complete_tx::bytes.b128 [%r2+8], [%r3];\n" WAIT("W", "0"),
     GROUT_DIAG_PTX_FAULT,
     "no answer can be at 0x408: it takes 16 bytes at a multiple of 16 in shared memory"},
    {"ld.shared.b128 %q0, [%r2]; clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p2,"
     " %q0;",
     GROUT_DIAG_PTX_FAULT, "the answer of a request was never set"},
    {EXPECT(
         "16") "@%p0 clusterlaunchcontrol.try_cancel.async.shared::cta"
               ".mbarrier::complete_tx::bytes.b128 [%r2], [%r3];\n" WAIT(
                   "W",
                   "0") "ld.shared.b128 %q0, [%r2];"
                        " clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r5, %q0;",
     GROUT_DIAG_PTX_FAULT,
     "query_cancel.get_first_ctaid of an answer that has cancelled nothing: ask is_canceled first"},
    {"clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r5, %rd0;",
     GROUT_DIAG_PTX_UNSUPPORTED, "a register of 64 bits for a value of 128"},
};

TEST_EACH(faults, COUNT_OF(fault_cases)) {
    const struct fault_case *c = &fault_cases[_i];
    uint32_t words[WORDS];
    trial it = {.ctas = 1, .cluster = 1};
    grout_diags *diags = grout_diags_new();
    ck_assert(!run(c->body, &it, words, diags));
    const grout_diag *diag = grout_diags_get(diags, 0);
    ck_assert_msg(diag->code == c->code, "%s", diag->message);
    ck_assert_str_eq(diag->message, c->message);
    grout_diags_free(diags);
}
