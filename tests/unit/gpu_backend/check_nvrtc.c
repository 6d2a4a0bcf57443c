/* check_nvrtc.c - compiling with the machine's NVRTC; exit code 77 where there is none.
 * SPDX-License-Identifier: Apache-2.0 */
#include "gpu_backend/run/nvrtc.h"

#include "gpu_backend/emit/device_header.h"
#include "gpu_backend/run/ptxas_log.h"
#include "tests/tests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const grout_gpu_nvrtc_search anywhere = {.path = NULL};
static grout_gpu_nvrtc nvrtc;
static grout_gpu_error error;

static void open_library(void) {
    ck_assert_msg(grout_gpu__nvrtc_open(&anywhere, &nvrtc, &error), "%s", error.text);
}

static void close_library(void) {
    grout_gpu__nvrtc_close(&nvrtc);
}

static bool compile(const char *text, grout_gpu_output output, grout_gpu_compiled *out) {
    const grout_gpu_header headers[] = {
        {"grout_device.cuh", (const char *)grout_gpu__device_header},
        {"grout_num.cuh", (const char *)grout_gpu__num_header},
        {"grout/num.h", (const char *)grout_gpu__arithmetic},
    };
    static const char *const options[] = {"--fmad=false"};
    const grout_gpu_source source = {.name = "kernel.cu",
                                     .text = text,
                                     .headers = headers,
                                     .header_count = 3,
                                     .arch = "sm_90a",
                                     .options = options,
                                     .option_count = 1,
                                     .output = output};
    return grout_gpu__nvrtc_compile(&nvrtc, &source, out, &error);
}

static const char good[] =
    "#include \"grout_device.cuh\"\n"
    "extern \"C\" __global__ void k(grout_f32 *p) { *p = grout_add(*p, 1.0f); }\n";

TEST(a_cubin_and_its_resources) {
    grout_gpu_compiled compiled;
    grout_gpu_ptxas_log log;
    ck_assert_msg(compile(good, GROUT_GPU_OUTPUT_CUBIN, &compiled), "%s", error.text);
    ck_assert_mem_eq(compiled.image, "\177ELF", 4);
    ck_assert(grout_gpu__ptxas_log_parse(compiled.log, &log, &error));
    ck_assert_ptr_nonnull(grout_gpu__ptxas_log_find(&log, "k"));
    ck_assert_uint_gt(grout_gpu__ptxas_log_find(&log, "k")->registers, 0);
    grout_gpu__ptxas_log_deinit(&log);
    grout_gpu__compiled_deinit(&compiled);
}

TEST(ptx_is_a_text) {
    grout_gpu_compiled compiled;
    ck_assert_msg(compile(good, GROUT_GPU_OUTPUT_PTX, &compiled), "%s", error.text);
    ck_assert_uint_eq(strlen((const char *)compiled.image), compiled.size);
    ck_assert_ptr_nonnull(strstr((const char *)compiled.image, ".target sm_90a"));
    ck_assert_ptr_nonnull(strstr((const char *)compiled.image, "add.rn.f32"));
    grout_gpu__compiled_deinit(&compiled);
}

static const struct {
    const char *source, *text;
} refused[] = {
    {"#line 7 \"add.grout\"\n__device__ int x = y;\n", "add.grout(7): error: identifier \"y\""},
    {"extern \"C\" __global__ void k() { asm(\"tcgen05.fence::before_thread_sync;\"); }\n",
     "tcgen05"},
};

TEST_EACH(refusals_say_where, COUNT_OF(refused)) {
    grout_gpu_compiled compiled;
    ck_assert(!compile(refused[_i].source, GROUT_GPU_OUTPUT_CUBIN, &compiled));
    ck_assert_int_eq(error.code, GROUT_DIAG_NVRTC_FAILED);
    ck_assert_msg(strstr(error.text, refused[_i].text) != NULL, "%s", error.text);
    ck_assert_ptr_nonnull(strstr(compiled.log, refused[_i].text));
    grout_gpu__compiled_deinit(&compiled);
}

TEST(a_wrong_path_is_not_made_up_for) {
    grout_gpu_nvrtc other;
    const grout_gpu_nvrtc_search nowhere = {.path = "/nonexistent/libnvrtc.so"};
    const grout_gpu_nvrtc_search libc = {.path = "libm.so.6"};
    ck_assert(!grout_gpu__nvrtc_open(&nowhere, &other, &error));
    ck_assert_int_eq(error.code, GROUT_DIAG_NVRTC_MISSING);
    ck_assert_ptr_nonnull(strstr(error.text, "/nonexistent/libnvrtc.so"));
    ck_assert(!grout_gpu__nvrtc_open(&libc, &other, &error));
    ck_assert_ptr_nonnull(strstr(error.text, "libm.so.6 is not an NVRTC library"));
}

int main(void) {
    if (!grout_gpu__nvrtc_open(&anywhere, &nvrtc, &error)) {
        printf("skipped: %s\n", error.text);
        return 77;
    }
    grout_gpu__nvrtc_close(&nvrtc);
    const int failed = run_tests_between(open_library, close_library);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
