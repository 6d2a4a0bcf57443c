/*
 * check_emit_compile.c - NVRTC takes what is emitted: every kernel of kernels/, of
 * tests/differential/ and of tests/golden/cuda/text/, that of each op in tests/ops/, and generated
 * ones for each op on each element type, each cast, each element type in each SMEM layout. The
 * shipped kernels keep everything in registers, and no array of the others is in local memory: of
 * those of tests/differential/ the case 'firsts' looks at the first of each file, 'whole' at all.
 * Skipped without NVRTC.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu_backend/run/ptxas_log.h"
#include "gpu_nvrtc.h"
#include "tests/unit/support/each.h"
#include "tests/unit/support/gpu_text.h"

/* Those of the other tests too; but with an option of the worker's, which no key of the cache
 * holds, a cache of its own. */
static grout_nvrtc_options own_options;
static char own_cache[sizeof GROUT_TEST_NVRTC_CACHE + 64];

static void choose_cache(void) {
    const char *option = getenv("GROUT_TEST_NVRTC_OPTION");
    const char *value = option == NULL ? NULL : strrchr(option, '=');
    own_options = nvrtc_options;
    if (value != NULL) {
        (void)snprintf(own_cache, sizeof own_cache, "%s_%.32s", GROUT_TEST_NVRTC_CACHE, value + 1);
        own_options.cache_dir = own_cache;
    }
}

/* What a kernel may have in local memory. */
typedef enum local_memory {
    LOCAL_ANY,
    LOCAL_SMALL, /* spilled registers, arguments of printf, what sine's large numbers take; no array
                  */
    LOCAL_NONE
} local_memory;

#define LOCAL_SMALL_BYTES 64

static void check_local_memory(const char *name, const grout_gpu_resources *found,
                               local_memory allowed) {
    const uint32_t spills = found->spill_store_bytes + found->spill_load_bytes;
    ck_assert_msg(
        allowed == LOCAL_ANY ||
            (allowed == LOCAL_SMALL ? found->stack_bytes <= LOCAL_SMALL_BYTES : spills == 0),
        "%s: %s has %u bytes of local memory, spills %u bytes", name, found->kernel,
        found->stack_bytes, spills);
}

/* What ptxas says about each of this many kernels. */
static void check_binary(const char *name, const grout_binary *binary, uint32_t count,
                         local_memory allowed) {
    grout_gpu_ptxas_log log;
    grout_gpu_error error;
    ck_assert_msg(binary->size > 0 && binary->registers > 0, "%s: no cubin", name);
    ck_assert(grout_gpu__ptxas_log_parse(binary->log, &log, &error));
    ck_assert_uint_eq(log.kernel_count, count);
    for (uint32_t i = 0; i < count; i++) {
        check_local_memory(name, &log.kernels[i], allowed);
    }
    grout_gpu__ptxas_log_deinit(&log);
}

/* What the kernels of tests/ops call. */
static grout_text externs;

static void emit_kernel(const char *name, const grout_module *module, grout_kernel_id id,
                        grout_text *source) {
    grout_diags *diags = grout_diags_new();
    const grout_emit_options options = {.watchdog = true, .extern_source = externs.data};
    if (!grout_emit_cuda(module, id, &options, source, diags)) {
        fail_to_compile(name, NULL, diags);
    }
    grout_diags_free(diags);
}

/* The kernels of a file, by the order in it. */
typedef struct kernel_range {
    grout_kernel_id first, last;
} kernel_range;

static const kernel_range every_kernel = {1, UINT32_MAX}, first_kernel = {1, 1},
                          later_kernels = {2, UINT32_MAX};

/* Emits kernels of a text and compiles them together: most of the time that a small one takes
 * alone is NVRTC's start and the device header. */
static void compile_kernels(const char *name, const char *text, kernel_range range,
                            local_memory allowed) {
    grout_diags *diags = grout_diags_new();
    grout_module *module = bind_text(name, text, diags);
    grout_text source = {0};
    grout_binary binary = {0};
    grout_kernel_id id = range.first;
    for (; id < grout_module_get_kernel_count(module) && id <= range.last; id++) {
        emit_kernel(name, module, id, &source);
    }
    if (id > range.first) {
        const grout_kernel *kernel = grout_module_get_kernel(module, range.first);
        const char *first = grout_module_get_string(module, kernel->name);
        if (!grout_compile_cuda(source.data, first, GROUT_BINARY_CUBIN, &own_options, &binary,
                                diags)) {
            fail_to_compile(name, source.data, diags);
        }
        check_binary(name, &binary, id - range.first, allowed);
    }
    grout_binary_free(&binary);
    grout_text_free(&source);
    grout_module_free(module);
    grout_diags_free(diags);
}

static void compile_text(const char *name, const char *text, local_memory allowed) {
    compile_kernels(name, text, every_kernel, allowed);
}

/* ---- shipped kernels, and those of the differential tests ---- */

static kernel_files files;
static int shipped_count;

static void compile_file(const char *path, kernel_range range, local_memory allowed) {
    grout_text text = read_file(path);
    compile_kernels(path, text.data, range, allowed);
    grout_text_free(&text);
}

START_TEST(shipped_kernels_compile_without_spills) {
    compile_file(files.paths[_i], every_kernel, LOCAL_NONE);
}
END_TEST

/* The case 'whole' has all files of the differential tests. */
static bool is_chosen(int index) {
    return (uint32_t)(index - shipped_count) % get_each() == 0;
}

START_TEST(later_kernels_compile) {
    if (is_chosen(_i)) {
        compile_file(files.paths[_i], later_kernels, LOCAL_ANY);
    }
}
END_TEST

START_TEST(first_kernels_compile_without_arrays_in_memory) {
    if (is_chosen(_i)) {
        compile_file(files.paths[_i], first_kernel, LOCAL_SMALL);
    }
}
END_TEST

START_TEST(kernels_compile_without_arrays_in_memory) {
    compile_file(files.paths[_i], every_kernel, LOCAL_SMALL);
}
END_TEST

/* ---- the kernel that an op comes with ---- */

static kernel_files op_files;

/* The first kernel of the file: the second one computes the same without the op. */
START_TEST(ops_compile) {
    grout_text text = read_file(op_files.paths[_i]);
    externs = read_file(GROUT_TEST_SOURCE_DIR "/tests/ops/externs.c");
    compile_kernels(op_files.paths[_i], text.data, first_kernel, LOCAL_SMALL);
    grout_text_free(&externs);
    grout_text_free(&text);
}
END_TEST

/* ---- generated kernels ---- */

static const grout_dtype alu_dtypes[] = {
    GROUT_DTYPE_I8,  GROUT_DTYPE_U8,  GROUT_DTYPE_I16, GROUT_DTYPE_U16, GROUT_DTYPE_I32,
    GROUT_DTYPE_U32, GROUT_DTYPE_I64, GROUT_DTYPE_U64, GROUT_DTYPE_F16, GROUT_DTYPE_BF16,
    GROUT_DTYPE_F32, GROUT_DTYPE_F64, GROUT_DTYPE_BOOL};
enum { ALU_DTYPES = sizeof alu_dtypes / sizeof *alu_dtypes };

/* Array op, scalar op, and array op with a scalar of each ALU and MATH op; reductions of arrays. */
static void add_alu_ops(grout_text *text, grout_dtype dtype) {
    const char *name = grout_dtype_get_info(dtype)->text;
    for (uint32_t k = 1; k < GROUT_OP_COUNT; k++) {
        const grout_op_info *info = grout_op_get_info((grout_opcode)k);
        if (info->expression == NULL ||
            !grout_type_rule_takes((grout_type_rule)info->types, dtype)) {
            continue;
        }
        if (info->form == GROUT_FORM_REDUCE) {
            grout_text_add(text, "  store %%out[5], (%s %%x)\n", info->text);
            continue;
        }
        const size_t count = strlen(info->operands);
        const char *arrays[] = {"", "%x", "%x, %y", "%x, %y, %x"};
        const char *scalars[] = {"", "%s", "%s, %s", "%s, %s, %s"};
        const char *result = info->rule == GROUT_RULE_COMPARE ? "bool" : name;
        const char *out = info->rule == GROUT_RULE_COMPARE ? "flags" : "out";
        grout_text_add(text, "  store %%%s, (%s %s)\n", out, info->text, arrays[count]);
        grout_text_add(text, "  store %%%s[3], (%s %s)\n", out, info->text, scalars[count]);
        grout_text_add(text, "  store %%%s, (broadcast (%s %s) : %s[640])\n", out, info->text,
                       scalars[count], result);
    }
}

START_TEST(every_alu_op_compiles) {
    const grout_dtype dtype = alu_dtypes[_i];
    const char *name = grout_dtype_get_info(dtype)->text;
    grout_text text = {0};
    grout_text_add(&text,
                   "kernel @alu(%%a: in gmem %s[640], %%s: %s, %%out: out gmem %s[640], "
                   "%%flags: out gmem bool[640]) {\n"
                   "  %%x = load %%a\n  %%y = load %%a[ds(0, 640)]\n",
                   name, name, name);
    add_alu_ops(&text, dtype);
    grout_text_add(&text,
                   "  store %%out, (select (eq (iota dim(0) : i32[640]), 7), %%x, %%y)\n}\n");
    compile_text(name, text.data, LOCAL_ANY);
    grout_text_free(&text);
}
END_TEST

/* sm_90a has no cast from f64 to an 8-bit float that rounds once, and the verifier says so. */
static bool has_cast(grout_dtype from, grout_dtype to) {
    return from != GROUT_DTYPE_F64 || (to != GROUT_DTYPE_F8E4M3 && to != GROUT_DTYPE_F8E5M2);
}

/* Two elements in a byte of memory: no reference takes one alone, and no transpose parts them. */
static bool is_packed(grout_dtype dtype) {
    return grout_dtype_get_info(dtype)->packed > 1;
}

START_TEST(every_cast_compiles) {
    const char *from = grout_dtype_get_info((grout_dtype)_i)->text;
    const bool has_scalar = !is_packed((grout_dtype)_i);
    grout_text text = {0};
    grout_text_add(&text, "kernel @casts(%%a: in gmem %s[300]", from);
    for (grout_dtype to = 1; to < GROUT_DTYPE_COUNT; to++) {
        grout_text_add(&text, ", %%o%d: out gmem %s[300]", to, grout_dtype_get_info(to)->text);
    }
    grout_text_add(&text, ") {\n  %%v = load %%a\n%s", has_scalar ? "  %s = load %a[7]\n" : "");
    for (grout_dtype to = 1; to < GROUT_DTYPE_COUNT; to++) {
        const char *name = grout_dtype_get_info(to)->text;
        if (has_cast((grout_dtype)_i, to)) {
            grout_text_add(&text, "  store %%o%d, (cast %%v : %s)\n", to, name);
        }
        if (has_cast((grout_dtype)_i, to) && has_scalar && !is_packed(to)) {
            grout_text_add(&text, "  store %%o%d[1], (cast %%s : %s)\n", to, name);
        }
    }
    grout_text_add(&text, "}\n");
    compile_text(from, text.data, LOCAL_ANY);
    grout_text_free(&text);
}
END_TEST

/* What moves single elements, and along the other dimension. */
static const char single_elements[] =
    "  store %turned, (load %plain)\n  store %tiled[:, ds(C, C)], (load %turned)\n"
    "  store %z, (load %rows.transpose(1, 0))\n  store %y[%n, 3], (load %rows[1, 5])\n"
    "  debug_print \"{}\", (cast (load %rows[0, 0]) : f32)\n";
static const char element_pairs[] =
    "  store %tiled[:, ds(C, C)], (load %plain)\n  store %z, (transpose %v perm(1, 0))\n"
    "  store %y[%n, ds(2, 2)], (load %rows[1, ds(4, 2)])\n";

/* Loads and stores of one element type through SMEM in every kind of layout. */
START_TEST(every_layout_compiles) {
    const grout_dtype dtype = (grout_dtype)_i;
    const grout_dtype_info *info = grout_dtype_get_info(dtype);
    const char *name = info->text;
    const int row = 128 * info->packed / info->bytes; /* elements that a swizzle spans */
    grout_text text = {0};
    grout_text_add(&text,
                   "const C = %d\n"
                   "kernel @layouts(%%a: in gmem %s[64, C], %%n: i32, %%y: out gmem %s[64, C], "
                   "%%z: out gmem %s[C, 64]) threads(t = 2) {\n"
                   "  scratch %%plain : smem %s[64, C]\n"
                   "  scratch %%tiled : smem %s[64, 2 * C] tile(8, C) swizzle(128)\n"
                   "  scratch %%rows : smem %s[64, C] swizzle(128)\n"
                   "  scratch %%full : barrier[2]\n",
                   row, name, name, name, name, name, name);
    if (!is_packed(dtype)) {
        grout_text_add(&text, "  scratch %%turned : smem %s[64, C] transpose(1, 0)\n", name);
    }
    grout_text_add(&text, "  %%v = load %%a\n  store %%plain, %%v\n%s",
                   is_packed(dtype) ? element_pairs : single_elements);
    grout_text_add(&text, "  store %%rows, (load %%tiled[:, ds(%%n * C, C)])\n"
                          "  store %%y[ds(%%n, 5)], (load %%rows[ds(3, 5)])\n"
                          "  commit_smem\n"
                          "  copy_gmem_to_smem %%a, %%rows, %%full[0]\n"
                          "  copy_gmem_to_smem %%a[ds(32, 32)], %%tiled[ds(0, 32), ds(0, C)], "
                          "%%full[1]\n"
                          "  barrier_wait %%full[0]\n  barrier_wait %%full[1]\n"
                          "  copy_smem_to_gmem %%plain, %%y\n  wait_smem_to_gmem 0\n"
                          "  debug_print \"{}\", (cast (load %%plain[0, ds(0, 4)]) : f32)\n"
                          "}\n");
    compile_text(name, text.data, LOCAL_ANY);
    grout_text_free(&text);
}
END_TEST

int main(void) {
    if (!has_nvrtc()) {
        printf("skipped: no usable NVRTC on this machine\n");
        return 77;
    }
    choose_cache();
    TCase *shipped_case = tcase_create("shipped"), *files_case = tcase_create("files");
    TCase *firsts_case = tcase_create("firsts"), *whole_case = tcase_create("whole");
    TCase *types_case = tcase_create("types");
    find_kernel_files(GROUT_TEST_SOURCE_DIR "/kernels", &files);
    find_kernel_files(GROUT_TEST_BUGS, &files);
    shipped_count = files.count;
    find_kernel_files(GROUT_TEST_SOURCE_DIR "/tests/differential", &files);
    find_kernel_files(GROUT_TEST_LISTS, &files);
    find_kernel_files(GROUT_TEST_SOURCE_DIR "/tests/golden/cuda/text", &files);
    find_kernel_files(GROUT_TEST_SOURCE_DIR "/tests/ops", &op_files);
    tcase_add_loop_test(shipped_case, shipped_kernels_compile_without_spills, 0, shipped_count);
    tcase_add_loop_test(files_case, later_kernels_compile, shipped_count, files.count);
    tcase_add_loop_test(firsts_case, first_kernels_compile_without_arrays_in_memory, shipped_count,
                        files.count);
    tcase_add_loop_test(firsts_case, ops_compile, 0, op_files.count);
    tcase_add_loop_test(whole_case, kernels_compile_without_arrays_in_memory, shipped_count,
                        files.count);
    tcase_add_loop_test(types_case, every_alu_op_compiles, 0,
                        (int)(sizeof alu_dtypes / sizeof alu_dtypes[0]));
    tcase_add_loop_test(types_case, every_cast_compiles, 1, GROUT_DTYPE_COUNT);
    tcase_add_loop_test(types_case, every_layout_compiles, 1, GROUT_DTYPE_COUNT);
    Suite *suite = suite_create("emit_compile");
    suite_add_tcase(suite, shipped_case);
    suite_add_tcase(suite, files_case);
    suite_add_tcase(suite, firsts_case);
    suite_add_tcase(suite, whole_case);
    suite_add_tcase(suite, types_case);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
