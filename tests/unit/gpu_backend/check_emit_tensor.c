/*
 * check_emit_tensor.c - the CUDA of Blackwell's tensor core: NVRTC and ptxas take what is emitted
 * for the shipped kernels, for the kernel of each op, and for each kind of product, without spills
 * that nobody knows; and a text is for one hardware. The parts with NVRTC are skipped without it.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu_backend/run/ptxas_log.h"
#include "gpu_nvrtc.h"
#include "tests/tests.h"
#include "tests/unit/support/gpu_text.h"

static bool is_compiling;

/* Appends the kernels of a text up to 'last'. */
static void emit_kernels(const char *name, const char *text, grout_kernel_id last,
                         const grout_emit_options *options, grout_text *source) {
    grout_diags *diags = grout_diags_new();
    grout_module *module = bind_text(name, text, diags);
    for (grout_kernel_id id = 1; id < grout_module_get_kernel_count(module) && id <= last; id++) {
        if (!grout_emit_cuda(module, id, options, source, diags)) {
            fail_to_compile(name, NULL, diags);
        }
    }
    grout_module_free(module);
    grout_diags_free(diags);
}

static grout_arch target = GROUT_ARCH_SM_100A; /* of the test that runs */

/* Compiles all kernels of a source for the target: ptxas says something of count of them, and has
 * no warning. Spills of more bytes than the kernel may have fail. */
static void compile(const char *name, const grout_text *source, uint32_t count,
                    uint32_t spills_max) {
    grout_nvrtc_options options = nvrtc_options;
    grout_diags *diags = grout_diags_new();
    grout_binary binary = {0};
    grout_gpu_ptxas_log log;
    grout_gpu_error error;
    options.arch = target;
    if (!is_compiling) {
        grout_diags_free(diags);
        return;
    }
    if (!grout_compile_cuda(source->data, name, GROUT_BINARY_CUBIN, &options, &binary, diags)) {
        fail_to_compile(name, source->data, diags);
    }
    ck_assert(grout_gpu__ptxas_log_parse(binary.log, &log, &error));
    ck_assert_uint_eq(log.kernel_count, count);
    ck_assert_str_eq(log.notes, "");
    for (uint32_t i = 0; i < count; i++) {
        const grout_gpu_resources *found = &log.kernels[i];
        const uint32_t spills = found->spill_store_bytes + found->spill_load_bytes;
        ck_assert_msg(spills <= spills_max, "%s spills %u bytes", found->kernel, spills);
    }
    grout_gpu__ptxas_log_deinit(&log);
    grout_binary_free(&binary);
    grout_diags_free(diags);
}

/* ---- kernels of files ---- */

/* The kernels of a text are for the target, whose name differs in two digits. */
static void set_target(char *text) {
    static const char name[] = "sm_100a";
    const char *other = grout_arch_get_text(target);
    for (char *at = text; (at = strstr(at, name)) != NULL; at++) {
        for (size_t i = 0; i < sizeof name - 1; i++) {
            at[i] = other[i];
        }
    }
}

/* The kernels of files whose paths have a part. */
static void compile_files(const char *folder, const char *part, grout_kernel_id last,
                          uint32_t spills_max) {
    static const grout_emit_options options = {.watchdog = true};
    kernel_files files = {.count = 0};
    grout_text source = {0};
    uint32_t count = 0;
    find_files_for(folder, true, &files);
    for (int k = 0; k < files.count; k++) {
        if (strstr(files.paths[k], part) == NULL) {
            continue;
        }
        grout_text text = read_file(files.paths[k]);
        set_target(text.data);
        emit_kernels(files.paths[k], text.data, last, &options, &source);
        grout_text_free(&text);
    }
    for (const char *at = source.data; (at = strstr(at, "\nextern \"C\" __global__")) != NULL;
         at++) {
        count++;
    }
    compile(folder, &source, count, spills_max);
    grout_text_free(&source);
}

/* The attention takes the most registers; all are compiled in unit/emit_tensor_whole. */
TEST(shipped_kernels_compile) {
    const bool is_whole = getenv("GROUT_TEST_WHOLE") != NULL;
    /* With the watchdog, which has registers too, attention_blackwell_shared spills 36 bytes, and
     * attention_blackwell 132 on sm_103a; without it none does. */
    const grout_arch last = is_whole ? GROUT_ARCH_SM_110A : GROUT_ARCH_SM_100A;
    for (target = GROUT_ARCH_SM_100A; target <= last; target++) {
        const uint32_t spills_max = !is_whole ? 0 : target == GROUT_ARCH_SM_100A ? 64 : 160;
        compile_files(GROUT_TEST_SOURCE_DIR "/kernels",
                      is_whole ? "" : "/attention_blackwell.grout", UINT32_MAX, spills_max);
    }
    target = GROUT_ARCH_SM_100A;
}

TEST(kernels_of_ops_compile) {
    compile_files(GROUT_TEST_SOURCE_DIR "/tests/ops", "", 1, 0);
}

/* The CUDA of a kernel, after the functions that all have, holds each of these texts. */
static void check_holds(const char *name, const char *kernel, const char *const *holds,
                        size_t count) {
    static const grout_emit_options options = {.watchdog = false};
    grout_text source = {0};
    emit_kernels(name, kernel, UINT32_MAX, &options, &source);
    const char *text = strstr(source.data, "\n// kernel @");
    for (size_t k = 0; k < count; k++) {
        check_text(name, text, holds[k], NULL);
    }
    grout_text_free(&source);
}

/* ---- rows ---- */

/* A gather for both CTAs of a pair, and rows that are one value. */
static const char row_kernel[] =
    "kernel @k99(%x: in gmem bf16[40, 64], %y: out gmem bf16[40, 64]) cluster(cx = 2)\n"
    "    attr arch = \"sm_100a\"\n{\n"
    "  scratch %s : smem bf16[16, 64] tile(8, 64) swizzle(128)\n"
    "  scratch %t : tmem f32[128, 32] collective\n"
    "  scratch %both : mbarrier two_ctas\n"
    "  scratch %full : barrier\n"
    "  %me = axis_index cx\n"
    "  mbarrier_init %both, 1\n  cluster_barrier\n"
    "  mbarrier_expect %both, 16 * 64 * 2\n"
    "  if (eq %me, 0) {\n"
    "    tma_gather %x, %s, %both, (iota dim(0) : i32[16]) multicast(cx)\n"
    "    mbarrier_wait %both, 0\n  }\n"
    "  cluster_barrier\n"
    "  tma_gather %x, %s, %full, (broadcast 3 : i32[16])\n"
    "  barrier_wait %full\n"
    "  tma_scatter %s, %y, (broadcast 40 : i32[16])\n"
    "  wait_smem_to_gmem 0\n}\n";

/* ---- kinds of products ---- */

typedef struct kind {
    const char *a, *b, *sum, *function, *descriptor; /* of 128 by 64 by K, both along K */
    int elements;                                    /* in 64 bytes */
} kind;

/* The descriptors are worked out by hand: the types, N / 8 = 8 from bit 17, M / 16 = 8 from 24. */
static const kind kinds[] = {
    {"f16", "f16", "f16", "grout_tensor_f16<1>", "0x08100000u", 32},
    {"f16", "f16", "f32", "grout_tensor_f16<1>", "0x08100010u", 32},
    {"bf16", "bf16", "f32", "grout_tensor_f16<1>", "0x08100490u", 32},
    {"f32", "f32", "f32", "grout_tensor_tf32<1>", "0x08100910u", 16},
    {"f8e4m3", "f8e5m2", "f32", "grout_tensor_f8<1>", "0x08100410u", 64},
    {"f8e5m2", "f8e4m3", "f16", "grout_tensor_f8<1>", "0x08100080u", 64},
    {"u8", "i8", "i32", "grout_tensor_i8<1>", "0x08100420u", 64},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void add_product(grout_text *text, const kind *k, int number, int rows, bool has_tmem_a) {
    char a[160];
    if (has_tmem_a) {
        (void)snprintf(a, sizeof a, "tmem %s[128, %d]%s", k->a, k->elements,
                       k->elements == 16 ? "" : " packed");
    } else {
        (void)snprintf(a, sizeof a, "smem %s[%d, %d] tile(8, %d) swizzle(64)", k->a, rows,
                       k->elements, k->elements);
    }
    grout_text_add(text,
                   "kernel @k%d(%%use: i32) attr arch = \"sm_100a\"\n{\n"
                   "  scratch %%a : %s\n"
                   "  scratch %%b : smem %s[64, %d] tile(8, %d) swizzle(64)\n"
                   "  scratch %%done : barrier orders_tensor_core\n"
                   "  scratch %%acc : tmem %s[%d, 64]\n"
                   "  tcgen05_mma %%acc, %%a, %%b.transpose(1, 0), (eq %%use, 1)\n"
                   "  tcgen05_commit_arrive %%done\n  barrier_wait %%done\n}\n",
                   number, a, k->b, k->elements, k->elements, k->sum, rows);
}

TEST(every_kind_has_its_descriptor) {
    static const grout_emit_options options = {.watchdog = false};
    grout_text source = {0};
    for (int i = 0; i < KINDS; i++) {
        grout_text text = {0}, one = {0};
        add_product(&text, &kinds[i], 3 * i, 128, false);
        emit_kernels(kinds[i].a, text.data, UINT32_MAX, &options, &one);
        const char *kernel = strstr(one.data, "\n// kernel @");
        check_text(kinds[i].a, kernel, kinds[i].function, NULL);
        check_text(kinds[i].a, kernel, kinds[i].descriptor, NULL);
        add_product(&text, &kinds[i], 3 * i + 1, 64, false);
        add_product(&text, &kinds[i], 3 * i + 2, 128, true);
        emit_kernels(kinds[i].a, text.data, UINT32_MAX, &options, &source);
        grout_text_free(&one);
        grout_text_free(&text);
    }
    emit_kernels("rows", row_kernel, UINT32_MAX, &options, &source);
    compile("kinds and rows", &source, 3 * KINDS + 1, 0);
    grout_text_free(&source);
}

/* ---- pairs ---- */

/* Both CTAs load, the one that leads counts the bytes and multiplies, and tells both. */
TEST(a_pair_counts_on_the_leaders_barrier) {
    static const char *const holds[] = {
        "grout_tensor_allocate<2>(",
        "if (rank % 2u == 0) {\n                                grout_mbarrier_arrive_expect(full",
        "grout_tma_load_pair(as + ",
        "grout_peer_address(full + 8 * slot, rank & ~1u)",
        "grout_tensor_f16<2>(acc + ",
        "grout_tensor_commit_multicast<2>(summed + 8 * half, 0x3u)",
        "grout_arrive_leader<GROUT_RELEASE, GROUT_CTA>(free",
        "grout_cluster_exit();\n    if (warp == 0) {\n        grout_tensor_free<2>(tmem, 256)"};
    static const grout_emit_options options = {.watchdog = false};
    const char *path = GROUT_TEST_SOURCE_DIR "/kernels/matmul_blackwell_collective.grout";
    grout_text text = read_file(path), source = {0};
    emit_kernels(path, text.data, UINT32_MAX, &options, &source);
    const char *kernel = strstr(source.data, "\n// kernel @");
    for (size_t k = 0; k < sizeof holds / sizeof *holds; k++) {
        check_text(path, kernel, holds[k], NULL);
    }
    grout_text_free(&source);
    grout_text_free(&text);
}

/* ---- rows, in the text ---- */

/* Through the exchange area, unless they are one value. */
TEST(rows_go_to_the_lane_that_issues) {
    static const char *const holds[] = {"grout_store_smem(exchange",
                                        "grout_tma_gather_pair_multicast(s + ",
                                        ", x_map, grout_peer_address(",
                                        ", 0x3u, 0, grout_load_rows(exchange + ",
                                        "grout_mbarrier_arrive_expect(full, 2048);",
                                        ", x_map, full, 0, grout_repeat_row(t",
                                        "grout_tma_scatter(y_map, s + ",
                                        ", 0, grout_repeat_row(t"};
    check_holds("rows", row_kernel, holds, sizeof holds / sizeof *holds);
}

/* ---- aliases ---- */

/* The columns of the array and the starts of the names on the way add up. */
TEST(an_alias_begins_in_the_columns_of_its_array) {
    static const char kernel[] = "kernel @k(%y: out gmem f32[128, 8]) attr arch = \"sm_100a\"\n{\n"
                                 "  scratch %before : tmem f32[128, 32]\n"
                                 "  scratch %all : tmem u32[128, 64]\n"
                                 "  scratch %some : tmem f16[2, 128, 32] packed alias(%all, 24)\n"
                                 "  scratch %few : tmem f32[128, 8] alias(%some, 20)\n"
                                 "  %a = async_load_tmem %few\n"
                                 "  %b = async_load_tmem %some[1]\n"
                                 "  store %y, %a\n}\n";
    static const char *const holds[] = {
        "const grout_u32 before = tmem;", "const grout_u32 all = tmem + 32;",
        "const grout_u32 some = tmem + 56;", "const grout_u32 few = tmem + 76;",
        "= some + 16 + (warp % 4 << 21);"};
    check_holds("aliases", kernel, holds, sizeof holds / sizeof *holds);
}

/* ---- loads ---- */

/* The wait stands where the kernel waits, and before the first use where it does not. */
TEST(a_load_is_awaited_before_its_use) {
    static const char kernel[] =
        "kernel @k(%y: out gmem f32[128, 16]) attr arch = \"sm_100a\"\n{\n"
        "  scratch %t : tmem f32[128, 32]\n"
        "  async_store_tmem %t, (broadcast 1.0 : f32[128, 32])\n  commit_tmem\n"
        "  %a = async_load_tmem %t[:, ds(0, 16)]\n"
        "  %b = async_load_tmem %t[:, ds(16, 16)]\n"
        "  store %y, (add %a, %b)\n  wait_load_tmem\n}\n";
    static const grout_emit_options options = {.watchdog = false};
    grout_text source = {0};
    emit_kernels("load", kernel, UINT32_MAX, &options, &source);
    const char *text = strstr(source.data, "\n// kernel @");
    const char *first = strstr(text, "grout_tensor_load_32x32b_x16_f32(a");
    const char *second = strstr(text, "grout_tensor_load_32x32b_x16_f32(b");
    const char *wait = strstr(text, "grout_tensor_wait_loads();");
    const char *use = strstr(text, "grout_add_pair(");
    ck_assert(first != NULL && second != NULL && wait != NULL && use != NULL);
    ck_assert(first < second && second < wait && wait < use);
    ck_assert_ptr_null(strstr(wait + 1, "grout_tensor_wait_loads();"));
    grout_text_free(&source);
}

/* ---- two floats at once ---- */

/* Sums, products and both of f32 by pairs of registers, which Hopper has no instruction for; the
 * sum of a row too. Other types, and other functions, one by one. */
TEST(floats_are_computed_in_pairs) {
    static const char body[] = "\n{\n"
                               "  %a = load %x\n  %b = fma %a, 2.0, %a\n"
                               "  %c = mul (sub %b, 1.0), (max %a, %b)\n"
                               "  store %y, (add %c, (cast (neg (cast %c : f16)) : f32))\n}\n";
    static const grout_emit_options options = {.watchdog = false};
    for (int is_blackwell = 0; is_blackwell < 2; is_blackwell++) {
        grout_text text = {0}, source = {0};
        grout_text_add(&text,
                       "kernel @k(%%x: in gmem f32[128, 16], %%y: out gmem f32[128, 16])%s%s",
                       is_blackwell != 0 ? " attr arch = \"sm_100a\"" : "", body);
        emit_kernels("pairs", text.data, UINT32_MAX, &options, &source);
        const char *kernel = strstr(source.data, "\n// kernel @");
        static const char *const pairs[] = {"grout_fma_pair(", "grout_sub_pair(", "grout_mul_pair(",
                                            "grout_add_pair("};
        for (size_t k = 0; k < sizeof pairs / sizeof pairs[0]; k++) {
            check_text("pairs", kernel, is_blackwell != 0 ? pairs[k] : "GROUT_FMA(",
                       is_blackwell != 0 ? "GROUT_FMA(" : pairs[k]);
        }
        check_text("pairs", kernel, "GROUT_MAX(", "GROUT_NEG_pair");
        if (is_blackwell != 0) {
            compile("pairs", &source, 1, 0);
        }
        grout_text_free(&text);
        grout_text_free(&source);
    }
}

/* ---- what is refused ---- */

static void check_refusal(const char *text, const char *reason) {
    grout_diags *diags = grout_diags_new();
    grout_module *module = bind_text("refused", text, diags);
    const grout_render_options plain = {.color = false};
    grout_text source = {0}, shown = {0};
    bool is_emitted = true;
    for (grout_kernel_id id = 1; id < grout_module_get_kernel_count(module); id++) {
        is_emitted = is_emitted && grout_emit_cuda(module, id, NULL, &source, diags);
    }
    ck_assert(!is_emitted);
    grout_diags_render(diags, &plain, &shown);
    check_text("refused", shown.data, reason, NULL);
    grout_text_free(&shown);
    grout_text_free(&source);
    grout_module_free(module);
    grout_diags_free(diags);
}

TEST(a_text_is_for_one_hardware) {
    check_refusal("kernel @a() { }\nkernel @b() attr arch = \"sm_100a\" { }\n",
                  "kernel '@b' is for sm_100a, and the kernel before it in this text is not");
}

TEST(tests_of_a_pair_are_refused_by_name) {
    check_refusal("kernel @k(%y: out gmem i32[2]) grid(t = 1) cluster(pair = 2)\n"
                  "    attr arch = \"sm_100a\" cluster_exit = sync\n{\n"
                  "  scratch %m : mbarrier[1] two_ctas\n"
                  "  mbarrier_init %m[0], 2\n  cluster_barrier\n"
                  "  mbarrier_arrive %m[0]\n"
                  "  if (eq (axis_index pair), 0) {\n"
                  "    %done = mbarrier_test %m[0], 0\n"
                  "    store %y[0], (cast %done : i32)\n  }\n}\n",
                  "a test of an mbarrier of two_ctas has no CUDA yet");
}

int main(void) {
    is_compiling = has_nvrtc();
    return run_tests();
}
