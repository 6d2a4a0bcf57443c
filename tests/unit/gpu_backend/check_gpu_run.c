/* check_gpu_run.c - a launch where there is no GPU: it says so and leaves the outputs alone.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/tests.h"
#include "tests/unit/support/gpu_text.h"

static const char kernel[] = "kernel @k(%x: in gmem f32[128], %s: f32, %y: out gmem f32[128]) {\n"
                             "  store %y, (mul (load %x), %s)\n"
                             "}\n";

/* Either the launch works, or it fails for a reason that is not ours. */
TEST(runs_or_says_what_is_missing) {
    static const char *const search_dirs[] = {"/usr/local/cuda/lib64"};
    grout_diags *diags = grout_diags_new();
    grout_module *module = bind_text("run.grout", kernel, diags);
    float x[128], y[128], s = 2;
    for (int k = 0; k < 128; k++) {
        x[k] = (float)k;
        y[k] = -1;
    }
    const grout_argument arguments[] = {{x, sizeof x}, {&s, sizeof s}, {y, sizeof y}};
    const grout_gpu_launch launch = {.module = module,
                                     .kernel = 1,
                                     .arguments = arguments,
                                     .argument_count = 3,
                                     .nvrtc = {.search_dirs = search_dirs, .search_dir_count = 1}};
    grout_gpu_result result;
    const bool is_done = grout_gpu_run(&launch, &result, diags);
    for (int k = 0; k < 128; k++) {
        ck_assert_float_eq(y[k], is_done ? 2 * x[k] : -1.0f);
    }
    if (!is_done) {
        const grout_diag *diag = grout_diags_get(diags, grout_diags_count(diags) - 1);
        ck_assert_msg(diag->code == GROUT_DIAG_GPU_MISSING ||
                          diag->code == GROUT_DIAG_NVRTC_MISSING,
                      "%s", diag->message);
        ck_assert_uint_eq(diag->place.line, 0); /* the machine's fault, not the kernel's */
        ck_assert(diag->code != GROUT_DIAG_GPU_MISSING || diag->note_count == 1);
    }
    grout_module_free(module);
    grout_diags_free(diags);
}

TEST(wrong_arguments_are_refused) {
    grout_diags *diags = grout_diags_new();
    grout_module *module = bind_text("run.grout", kernel, diags);
    const grout_gpu_launch launch = {.module = module, .kernel = 1};
    grout_gpu_result result;
    ck_assert(!grout_gpu_run(&launch, &result, diags));
    ck_assert_int_eq(grout_diags_get(diags, grout_diags_count(diags) - 1)->code,
                     GROUT_DIAG_INTERNAL_ERROR);
    grout_module_free(module);
    grout_diags_free(diags);
}

/* In this process: no CUDA, another GPU, or no context that is current. */
TEST(kernels_need_a_context) {
    grout_diags *diags = grout_diags_new();
    grout_module *module = bind_text("run.grout", kernel, diags);
    ck_assert_ptr_null(grout_gpu_kernel_new(module, 1, NULL, diags));
    const grout_diag *diag = grout_diags_get(diags, grout_diags_count(diags) - 1);
    ck_assert_msg(diag->code == GROUT_DIAG_GPU_MISSING || diag->code == GROUT_DIAG_BAD_ARGUMENT,
                  "%s", diag->message);
    grout_module_free(module);
    grout_diags_free(diags);
}

TEST(no_nvrtc_says_so) {
    grout_diags *diags = grout_diags_new();
    const grout_nvrtc_options options = {.library = "/nowhere/libnvrtc.so"};
    grout_binary binary;
    ck_assert(!grout_compile_cuda("", "k", GROUT_BINARY_CUBIN, &options, &binary, diags));
    ck_assert_int_eq(grout_diags_get(diags, 0)->code, GROUT_DIAG_NVRTC_MISSING);
    ck_assert_ptr_null(binary.data);
    grout_diags_free(diags);
}

TEST(doctor_describes) {
    const grout_nvrtc_options options = {.library = "/nowhere/libnvrtc.so"};
    grout_text text = {0};
    ck_assert(!grout_gpu_describe(&options, &text));
    ck_assert_ptr_nonnull(strstr(text.data, "gpu"));
    ck_assert_ptr_nonnull(strstr(text.data, "nvrtc: none"));
    grout_text_free(&text);
}
