/* check_ptx_tensor_memory.c - tcgen05 on the machine: every kind of product from shared memory to
 * registers, and what no GPU could run. The matrices hold 0, 1, 2 and -1, so that sums are those of
 * integers. SPDX-License-Identifier: Apache-2.0 */
#include "grout-internal/diagnose.h"
#include "grout/ptx.h"
#include "tests/tests.h"

#include <string.h>

/* A CTA has 128 rows of A and 16 of B, 32 bytes each, and two blocks of scales. Core matrices of 8
 * rows by 16 bytes lie one after another, two for 8 rows. */
enum {
    THREADS = 128,
    COLUMNS = 32, /* that the kernel stores */
    ROW_BYTES = 32,
    B_AT = 4096,
    SCALES_AT = 8192,
    IMAGE = 9216,
    CTAS_MAX = 2
};

/* %r0: thread, %r1: address in tensor memory, %r2: warp, %r3: first byte of shared memory, %r4: the
 * mbarrier; %rd1: A's descriptor, %rd2: B's; %p0: thread 0. */
#define BEGINNING                                                                               \
    ".version 9.0\n.target sm_100a\n.address_size 64\n"                                         \
    ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n"                                   \
    ".reg .pred %%p<8>; .reg .b32 %%r<128>; .reg .b64 %%rd<16>;\n"                              \
    ".shared .align 1024 .b8 s[16384];\n"                                                       \
    "mov.u32 %%r0, %%tid.x; mov.u32 %%r3, s; add.u32 %%r4, %%r3, 10240; shr.u32 %%r2, %%r0, 5;" \
    " mov.u32 %%r6, %%ctaid.x; ld.param.u64 %%rd10, [in]; ld.param.u64 %%rd11, [out];\n"        \
    "mad.wide.u32 %%rd10, %%r6, 9216, %%rd10; mul.lo.u32 %%r5, %%r0, 4;\n"                      \
    "COPY: cvt.u64.u32 %%rd12, %%r5; add.u64 %%rd12, %%rd10, %%rd12; add.u32 %%r7, %%r3, %%r5;" \
    " ld.global.u32 %%r8, [%%rd12]; st.shared.u32 [%%r7], %%r8; add.u32 %%r5, %%r5, 512;"       \
    " setp.lt.u32 %%p1, %%r5, 9216; @%%p1 bra COPY;\n"                                          \
    "setp.eq.u32 %%p0, %%r0, 0; @%%p0 mbarrier.init.shared::cta.b64 [%%r4], 1;"                 \
    " setp.ne.u32 %%p2, %%r2, 0; @%%p2 bra NOALLOC;\n"                                          \
    "tcgen05.alloc.cta_group::%u.sync.aligned.shared::cta.b32 [%%r4+8], 64;\nNOALLOC:"          \
    " bar.sync 0; %s ld.shared.u32 %%r1, [%%r4+8];\n"                                           \
    "shr.u32 %%r5, %%r3, 4; cvt.u64.u32 %%rd1, %%r5; or.b64 %%rd1, %%rd1, 0x401000080000;\n"    \
    "add.u64 %%rd2, %%rd1, 256; sub.u64 %%rd3, %%rd1, 0x7fffffe00; add.u64 %%rd4, %%rd3, 32;\n" \
    "shl.b32 %%r5, %%r2, 21; add.u32 %%r9, %%r1, %%r5;\n"

#define LOADED                                                                                    \
    "{%r64,%r65,%r66,%r67,%r68,%r69,%r70,%r71,%r72,%r73,%r74,%r75,%r76,%r77,%r78,%r79,%r80,%r81," \
    "%r82,%r83,%r84,%r85,%r86,%r87,%r88,%r89,%r90,%r91,%r92,%r93,%r94,%r95}"
#define COMMIT_ONE " tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r4];\n"
#define WAIT                                                                    \
    "\nW: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r4], 0; @!%p3 bra W;" \
    " tcgen05.fence::after_thread_sync;\n"
#define LOAD     "tcgen05.ld.sync.aligned.32x32b.x32.b32 " LOADED ", [%r9];\n"
#define LOAD_ALL LOAD "tcgen05.wait::ld.sync.aligned;\n"

static void add_end(grout_text *text, uint32_t ctas) {
    grout_text_add(text,
                   "mad.lo.u32 %%r10, %%r6, 128, %%r0; mad.wide.u32 %%rd11, %%r10, %u, "
                   "%%rd11;\n",
                   COLUMNS * 4);
    for (uint32_t i = 0; i < COLUMNS; i++) {
        grout_text_add(text, "st.global.u32 [%%rd11+%u], %%r%u;\n", i * 4, 64 + i);
    }
    grout_text_add(text,
                   "bar.sync 0; @%%p2 bra E;\n"
                   "tcgen05.dealloc.cta_group::%u.sync.aligned.b32 %%r1, 64;\n"
                   "tcgen05.relinquish_alloc_permit.cta_group::%u.sync.aligned;\nE: ret;\n}\n",
                   ctas, ctas);
}

typedef struct trial {
    uint32_t ctas;
    uint64_t seed;
    grout_ptx_timing timing;
    size_t undefined; /* bytes of the results, after the run */
} trial;

/* body: from all allocated to all loaded. */
static bool run(const char *body, const uint8_t *image, trial *it, uint32_t *results,
                grout_diags *diags) {
    grout_text text = {0};
    const size_t size = (size_t)it->ctas * THREADS * COLUMNS * 4;
    grout_text_add(&text, BEGINNING, it->ctas,
                   it->ctas == 2 ? "barrier.cluster.arrive; barrier.cluster.wait;" : "");
    grout_text_add(&text, "%s", body);
    add_end(&text, it->ctas);
    grout_ptx_module *module = grout_ptx_parse("k.ptx", text.data, text.size, diags);
    grout_ptx_memory *memory = grout_ptx_memory_new();
    const uint64_t parameters[2] = {grout_ptx_memory_add(memory, image, (size_t)it->ctas * IMAGE),
                                    grout_ptx_memory_add(memory, NULL, size)};
    grout_ptx_launch launch = {.module = module,
                               .memory = memory,
                               .grid = {it->ctas, 1, 1},
                               .block = {THREADS, 1, 1},
                               .cluster = {it->ctas, 1, 1},
                               .parameters = parameters,
                               .parameter_bytes = sizeof parameters,
                               .seed = it->seed,
                               .timing = it->timing,
                               .max_steps = 1000000};
    bool is_done = module != NULL && grout_ptx_launch_run(&launch, NULL, diags);
    is_done =
        is_done && grout_ptx_memory_read(memory, parameters[1], results, size, &it->undefined);
    grout_ptx_memory_free(memory);
    grout_ptx_module_free(module);
    grout_text_free(&text);
    return is_done;
}

/* ---- matrices ---- */

/* Elements by their bits: of 0, 1, 2 and -1. */
typedef struct format {
    uint32_t bits, codes[4];
} format;

static const int32_t numbers[4] = {0, 1, 2, -1};
static const format f16 = {16, {0, 0x3c00, 0x4000, 0xbc00}};
static const format tf32 = {32, {0, 0x3f800000, 0x40000000, 0xbf800000}};
static const format e4m3 = {8, {0, 0x38, 0x40, 0xb8}};
static const format s8 = {8, {0, 1, 2, 0xff}};
static const format e2m1 = {4, {0, 2, 4, 10}};

/* Which number is in row i, column k of A, and in column j, row k of B. */
static uint32_t choose_a(uint32_t i, uint32_t k) {
    return (i * 3 + k * 5 + i * k) % 4;
}
static uint32_t choose_b(uint32_t j, uint32_t k) {
    return (j + k / 2 + 1) % 4;
}

static void put(uint8_t *matrix, const format *how, uint32_t row, uint32_t k, uint32_t number) {
    const uint32_t bit = k * how->bits, byte = bit / 8;
    uint8_t *at = matrix + (size_t)(row / 8 * 256 + byte / 16 * 128 + row % 8 * 16 + byte % 16);
    const uint32_t code = how->codes[number] << bit % 8;
    for (uint32_t i = 0; i < (how->bits + 7) / 8; i++) {
        at[i] = (uint8_t)(at[i] | code >> 8 * i);
    }
}

/* The CTA's rows of A and columns of B, and its scales: one value for all of A, one for B. */
static void fill(uint8_t *image, const format *how, uint32_t cta, const uint8_t scales[2]) {
    memset(image, 0, IMAGE);
    for (uint32_t k = 0; k < ROW_BYTES * 8 / how->bits; k++) {
        for (uint32_t i = 0; i < 128; i++) {
            put(image, how, i, k, choose_a(cta * 128 + i, k));
        }
        for (uint32_t j = 0; j < 16; j++) {
            put(image + B_AT, how, j, k, choose_b(cta * 16 + j, k));
        }
    }
    memset(image + SCALES_AT, scales[0], 512);
    memset(image + SCALES_AT + 512, scales[1], 512);
}

static int32_t multiply(const format *how, uint32_t i, uint32_t j) {
    int32_t sum = 0;
    for (uint32_t k = 0; k < ROW_BYTES * 8 / how->bits; k++) {
        sum += numbers[choose_a(i, k)] * numbers[choose_b(j, k)];
    }
    return sum;
}

static int32_t read_number(uint32_t bits, bool is_integer) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return is_integer ? (int32_t)bits : (int32_t)value;
}

/* M = 128, N = 16: 0x08040000. */
#define MMA(KIND, INSTR) "@%p0 tcgen05.mma.cta_group::1.kind::" KIND " [%r1], %rd1, %rd2, " INSTR
#define SCALED(KIND, VEC, INSTR)                                                          \
    "@%p0 tcgen05.cp.cta_group::1.32x128b.warpx4 [%r1+48], %rd3;"                         \
    " @%p0 tcgen05.cp.cta_group::1.32x128b.warpx4 [%r1+52], %rd4; add.u32 %r11, %r1, 52;" \
    "@%p0 tcgen05.mma.cta_group::1.kind::" KIND ".block_scale.scale_vec::" VEC            \
    " [%r1], %rd1, %rd2, " INSTR ", [%r1+48], [%r11], 0;"
#define FINISH "@%p0" COMMIT_ONE WAIT LOAD_ALL

static const struct product_case {
    const char *body;
    const format *how;
    uint8_t scales[2];
    int32_t factor;
    bool is_integer;
    bool is_top_kept; /* of rows 0 to 31 nothing was written */
} product_cases[] = {
    {MMA("f16", "0x08040010, 0;") FINISH, &f16, {0}, 1, false, false},
    {MMA("f16", "0x08040010, 0; ") MMA("f16.collector::a::lastuse", "0x08040010, 1;") FINISH,
     &f16,
     {0},
     2,
     false,
     false},
    {MMA("f16", "0x08040010, 0; ") MMA("f16", "0x08042010, 1; ") MMA("f16", "0x08040010, 1, 1;")
         FINISH,
     &f16,
     {0},
     1,
     false,
     false},
    {MMA("f16", "0x08040010, {-1, 0, 0, 0}, 0;") FINISH, &f16, {0}, 1, false, true},
    {MMA("tf32", "0x08040910, 0;") FINISH, &tf32, {0}, 1, false, false},
    {MMA("f8f6f4", "0x08040010, 0;") FINISH, &e4m3, {0}, 1, false, false},
    {MMA("i8", "0x080404a0, 0;") FINISH, &s8, {0}, 1, true, false},
    {SCALED("mxf8f6f4", "1X", "0x08840000") FINISH, &e4m3, {0x80, 0x7f}, 2, false, false},
    {SCALED("mxf4", "2X", "0x08840480") FINISH, &e2m1, {0x80, 0x81}, 8, false, false},
    {SCALED("mxf4nvf4", "4X", "0x08040480") FINISH, &e2m1, {0x40, 0x40}, 4, false, false},
    /* A from tensor memory: two registers of f16 a column */
    {"mov.u32 %r20, 0x3c003c00; tcgen05.st.sync.aligned.32x32b.x8.b32 [%r9+32],"
     " {%r20, %r20, %r20, %r20, %r20, %r20, %r20, %r20}; tcgen05.wait::st.sync.aligned;"
     " tcgen05.fence::before_thread_sync; bar.sync 0; tcgen05.fence::after_thread_sync;"
     "@%p0 tcgen05.mma.cta_group::1.kind::f16 [%r1], [%r1+32], %rd2, 0x08040010, 0;" FINISH,
     NULL,
     {0},
     1,
     false,
     false},
};

static int32_t expect(const struct product_case *c, uint32_t i, uint32_t j) {
    int32_t sum = 0;
    if (c->how != NULL) {
        return c->factor * multiply(c->how, i, j);
    }
    for (uint32_t k = 0; k < 16; k++) {
        sum += numbers[choose_b(j, k)];
    }
    return sum;
}

static void check_product(const struct product_case *c, const uint32_t *results, uint64_t seed) {
    for (uint32_t i = c->is_top_kept ? 32 : 0; i < 128; i++) {
        for (uint32_t j = 0; j < 16; j++) {
            const int32_t found = read_number(results[i * COLUMNS + j], c->is_integer);
            ck_assert_msg(found == expect(c, i, j), "seed %u: element (%u, %u) is %d, not %d",
                          (unsigned)seed, i, j, found, expect(c, i, j));
        }
    }
}

TEST_EACH(products, COUNT_OF(product_cases)) {
    const struct product_case *c = &product_cases[_i];
    uint8_t image[IMAGE];
    static uint32_t results[CTAS_MAX * THREADS * COLUMNS];
    fill(image, c->how != NULL ? c->how : &f16, 0, c->scales);
    for (uint32_t timing = GROUT_PTX_TIMING_RANDOM; timing <= GROUT_PTX_TIMING_EARLY; timing++) {
        trial it = {.ctas = 1, .seed = timing, .timing = (grout_ptx_timing)timing};
        grout_text text = {0};
        grout_diags *diags = grout_diags_new();
        bool is_done = run(c->body, image, &it, results, diags);
        grout_diags_render(diags, &(grout_render_options){0}, &text);
        ck_assert_msg(is_done, "%s", text.data);
        check_product(c, results, it.seed);
        /* columns 16 to 31 hold nothing, and with disabled lanes rows 0 to 31 neither */
        ck_assert_uint_ge(it.undefined, c->is_top_kept ? 2048 : 0);
        grout_text_free(&text);
        grout_diags_free(diags);
    }
}

/* M = 256, N = 32 over two CTAs; the even one multiplies, and both hear of it. */
TEST_EACH(pair, 4) {
    static const char body[] =
        "mov.u32 %r12, %cluster_ctarank; setp.eq.and.u32 %p4, %r12, 0, %p0;\n"
        "@%p4 tcgen05.mma.cta_group::2.kind::f16 [%r1], %rd1, %rd2, 0x10080010, 0;\n"
        "@%p4 tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster"
        ".multicast::cluster.b64 [%r4], 3;\n" WAIT LOAD_ALL
        "barrier.cluster.arrive; barrier.cluster.wait;\n";
    static const uint8_t scales[2] = {0, 0};
    uint8_t image[CTAS_MAX * IMAGE];
    static uint32_t results[CTAS_MAX * THREADS * COLUMNS];
    fill(image, &f16, 0, scales);
    fill(image + IMAGE, &f16, 1, scales);
    trial it = {.ctas = 2, .seed = (uint64_t)_i};
    grout_text text = {0};
    grout_diags *diags = grout_diags_new();
    bool is_done = run(body, image, &it, results, diags);
    grout_diags_render(diags, &(grout_render_options){0}, &text);
    ck_assert_msg(is_done, "%s", text.data);
    ck_assert_uint_eq(it.undefined, 0);
    for (uint32_t i = 0; i < 256; i++) {
        for (uint32_t j = 0; j < COLUMNS; j++) {
            ck_assert_int_eq(read_number(results[i * COLUMNS + j], false), multiply(&f16, i, j));
        }
    }
    grout_text_free(&text);
    grout_diags_free(diags);
}

/* ---- what has no value, and what cannot be ---- */

TEST(late) {
    /* a load that waits for no product finds nothing, if the product is late */
    static const char body[] = MMA("f16", "0x08040010, 0;") LOAD_ALL "@%p0" COMMIT_ONE WAIT;
    static const uint8_t scales[2] = {0, 0};
    uint8_t image[IMAGE];
    static uint32_t results[CTAS_MAX * THREADS * COLUMNS];
    trial it = {.ctas = 1, .timing = GROUT_PTX_TIMING_LATE};
    grout_diags *diags = grout_diags_new();
    fill(image, &f16, 0, scales);
    ck_assert(run(body, image, &it, results, diags));
    ck_assert_uint_gt(it.undefined, 0);
    grout_diags_free(diags);
}

/* Bytes 12288 on hold nothing but 4 of the first 16. */
#define HALF_WRITTEN                                                                    \
    "@%p0 st.shared.u32 [%r3+12288], 0x40490fdb; bar.sync 0; add.u64 %rd3, %rd3, 256; " \
    "@%p0 tcgen05.cp.cta_group::1.32x128b.warpx4 [%r1+48], %rd3;"

static const struct move_case {
    const char *body;
    uint32_t defined; /* bytes of the results */
} move_cases[] = {
    /* the word is in lane 0 of each quarter */
    {HALF_WRITTEN FINISH, 0},
    {HALF_WRITTEN "add.u32 %r9, %r9, 48;"
                  "@%p0" COMMIT_ONE WAIT
                  "tcgen05.ld.sync.aligned.32x32b.x4.b32 {%r64,%r65,%r66,%r67}, [%r9];"
                  "tcgen05.wait::ld.sync.aligned;",
     16},
    /* of the 8 columns that a shift moves, the first has values in a quarter's lanes */
    {"mov.u32 %r20, 7; @%p2 bra S; "
     "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r9], {%r20}; tcgen05.wait::st.sync.aligned; S: "
     "bar.sync 0; @%p0 tcgen05.shift.cta_group::1.down [%r1];" FINISH,
     32 * 4},
};

/* Sums of f16: each in the lower half of a register. */
TEST(halves) {
    static const char body[] = MMA("f16", "0x08040000, 0;") FINISH;
    static const uint8_t scales[2] = {0, 0};
    uint8_t image[IMAGE];
    static uint32_t results[2][CTAS_MAX * THREADS * COLUMNS];
    fill(image, &f16, 0, scales);
    for (uint64_t seed = 0; seed < 2; seed++) {
        trial it = {.ctas = 1, .seed = seed};
        grout_diags *diags = grout_diags_new();
        ck_assert(run(body, image, &it, results[seed], diags));
        ck_assert_uint_eq(it.undefined, (uintmax_t)THREADS * (COLUMNS - 16u) * 4u);
        grout_diags_free(diags);
    }
    uint32_t alike = 0;
    for (uint32_t i = 0; i < 128; i++) {
        for (uint32_t j = 0; j < 16; j++) {
            uint32_t one = results[0][i * COLUMNS + j], other = results[1][i * COLUMNS + j];
            ck_assert_uint_eq(one & 0xffff, other & 0xffff);
            ck_assert_uint_eq((one & 0x7fff) == 0, multiply(&f16, i, j) == 0);
            alike += one >> 16 == other >> 16;
        }
    }
    ck_assert_uint_lt(alike, 16);
}

TEST_EACH(moves, COUNT_OF(move_cases)) {
    /* what has no value has none where it is moved to, and that is no fault */
    const struct move_case *c = &move_cases[_i];
    static const uint8_t scales[2] = {0, 0};
    uint8_t image[IMAGE];
    static uint32_t results[CTAS_MAX * THREADS * COLUMNS];
    fill(image, &f16, 0, scales);
    for (uint32_t timing = GROUT_PTX_TIMING_RANDOM; timing <= GROUT_PTX_TIMING_EARLY; timing++) {
        trial it = {.ctas = 1, .timing = (grout_ptx_timing)timing};
        grout_text text = {0};
        grout_diags *diags = grout_diags_new();
        bool is_done = run(c->body, image, &it, results, diags);
        grout_diags_render(diags, &(grout_render_options){0}, &text);
        ck_assert_msg(is_done, "%s", text.data);
        ck_assert_uint_eq(it.undefined, THREADS * COLUMNS * 4 - c->defined);
        ck_assert_uint_eq(results[0], c->defined == 16 ? 0x40490fdb : results[0]);
        grout_text_free(&text);
        grout_diags_free(diags);
    }
}

static const struct fault_case {
    const char *body;
    grout_diag_code code;
    const char *message; /* what it begins with */
} fault_cases[] = {
    {LOAD "setp.eq.u32 %p5, %r64, 0; @%p5 bra X; X:", GROUT_DIAG_PTX_FAULT,
     "the guard of the instruction was never set"},
    {"ret;", GROUT_DIAG_PTX_FAULT, NULL},
    {"@%p0 tcgen05.mma.cta_group::1.kind::f16 [%r1+56], %rd1, %rd2, 0x08040010, 0;" FINISH,
     GROUT_DIAG_PTX_FAULT, "lane 0, column 64 of tensor memory is not allocated"},
    {MMA("f16", "0x08040010, 1;") FINISH, GROUT_DIAG_PTX_FAULT,
     "lane 0, column 0 of tensor memory was never written"},
    {MMA("f16",
         "0x08040010, 0;") "bar.sync 0; @%p2 bra O;"
                           " tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 64; O:" FINISH,
     GROUT_DIAG_PTX_FAULT, NULL},
    {"tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r64}, [%r1];", GROUT_DIAG_PTX_FAULT, NULL},
    {HALF_WRITTEN "mov.u32 %r11, %r1; "
                  "@%p0 tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X [%r1], "
                  "%rd1, %rd2, 0x08840000, [%r1+48], [%r1+48], 0;" FINISH,
     GROUT_DIAG_PTX_FAULT, "lane 1, column 48 of tensor memory was never written"},
    {"add.u64 %rd1, %rd1, 768; " MMA("f16", "0x08040010, 0;") FINISH, GROUT_DIAG_PTX_FAULT,
     "an operand in shared memory, at 0x"},
    {"@%p0 tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r64}, [%r9];", GROUT_DIAG_PTX_HANG, NULL},
    {"@%p0 tcgen05.mma.ws.cta_group::1.kind::f16 [%r1], %rd1, %rd2, 0x08040010, 0;",
     GROUT_DIAG_PTX_UNSUPPORTED, "the emulator does not run 'tcgen05.mma.ws' yet"},
    {"@%p0 tcgen05.mma.cta_group::2.kind::f16 [%r1], %rd1, %rd2, 0x10080010, 0;",
     GROUT_DIAG_PTX_UNSUPPORTED,
     "all instructions of tcgen05 in a kernel have the same .cta_group"},
    {"@%p0 tcgen05.mma.kind::f16 [%r1], %rd1, %rd2, 0x08040010, 0;", GROUT_DIAG_PTX_UNSUPPORTED,
     "'tcgen05.mma' needs .cta_group::1 or .cta_group::2"},
    {MMA("mxf4", "0x08840480, 0;"), GROUT_DIAG_PTX_UNSUPPORTED, ".block_scale is of the kinds"},
    {MMA("f16", "0x08040010, {0, 0}, 0;"), GROUT_DIAG_PTX_UNSUPPORTED,
     "the emulator does not know these operands of tcgen05.mma"},
    {"@%p0 tcgen05.cp.cta_group::1.64x128b [%r1], %rd1;", GROUT_DIAG_PTX_UNSUPPORTED,
     "tcgen05.cp has no such shape and multicast"},
    {"tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r64}, [%r9];", GROUT_DIAG_PTX_UNSUPPORTED,
     "1 registers: this shape has 2"},
    {"@%p0 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster"
     ".multicast::cluster.b64 [%r4], 2;",
     GROUT_DIAG_PTX_FAULT, NULL},
    {"@%p2 bra S; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r4+8], 48; S:",
     GROUT_DIAG_PTX_FAULT, NULL},
    /* 64 of 512 columns are taken: it waits for ever */
    {"@%p2 bra S; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r4+8], 512; S:",
     GROUT_DIAG_PTX_FAULT, NULL},
};

TEST_EACH(faults, COUNT_OF(fault_cases)) {
    const struct fault_case *c = &fault_cases[_i];
    static const uint8_t scales[2] = {0, 0};
    uint8_t image[IMAGE];
    static uint32_t results[CTAS_MAX * THREADS * COLUMNS];
    trial it = {.ctas = 1, .timing = GROUT_PTX_TIMING_LATE};
    grout_diags *diags = grout_diags_new();
    fill(image, &f16, 0, scales);
    ck_assert(!run(c->body, image, &it, results, diags));
    const grout_diag *diag = grout_diags_get(diags, 0);
    ck_assert_msg(diag->code == c->code, "%s", diag->message);
    if (c->message != NULL) {
        ck_assert_msg(strncmp(diag->message, c->message, strlen(c->message)) == 0, "%s",
                      diag->message);
    }
    ck_assert_uint_gt(diag->place.line, 0);
    grout_diags_free(diags);
}
