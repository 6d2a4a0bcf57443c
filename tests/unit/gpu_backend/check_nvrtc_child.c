/* check_nvrtc_child.c - compiling in a child process, with functions of our own in NVRTC's place:
 * all of the answer comes back, and a child that dies is an error.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fake_nvrtc.h"
#include "tests/tests.h"

#include <sys/wait.h>

static bool compile(const char *text, grout_gpu_compiled *out, grout_gpu_error *error) {
    const grout_gpu_source source = {.name = "k.cu", .text = text, .arch = "sm_90a"};
    return grout_gpu__nvrtc_compile(&fake_nvrtc, &source, out, error);
}

TEST(the_whole_image_comes_back) {
    grout_gpu_compiled compiled;
    grout_gpu_error error = {0};
    ck_assert_msg(compile("good", &compiled, &error), "%s", error.text);
    ck_assert_uint_eq(compiled.size, FAKE_IMAGE_SIZE);
    size_t wrong_count = 0;
    for (size_t i = 0; i < FAKE_IMAGE_SIZE; i++) {
        wrong_count += compiled.image[i] != i * 31 % 251;
    }
    ck_assert_uint_eq(wrong_count, 0);
    ck_assert_uint_eq(strlen(compiled.log), FAKE_LOG_SIZE - 1);
    grout_gpu__compiled_deinit(&compiled);
}

TEST(no_log_is_an_empty_log) {
    grout_gpu_compiled compiled;
    grout_gpu_error error = {0};
    ck_assert_msg(compile("silent", &compiled, &error), "%s", error.text);
    ck_assert_str_eq(compiled.log, "");
    grout_gpu__compiled_deinit(&compiled);
}

TEST(a_refusal_brings_the_log_back) {
    grout_gpu_compiled compiled;
    grout_gpu_error error = {0};
    ck_assert(!compile("refused", &compiled, &error));
    ck_assert_int_eq(error.code, GROUT_DIAG_NVRTC_FAILED);
    ck_assert_str_eq(error.text,
                     "NVRTC refuses 'k.cu': k.cu(7): error: identifier \"y\" is undefined");
    ck_assert_ptr_null(compiled.image);
    ck_assert_uint_eq(strlen(compiled.log), FAKE_LOG_SIZE - 1);
    ck_assert_mem_eq(compiled.log, fake_refusal, sizeof fake_refusal - 1);
    grout_gpu__compiled_deinit(&compiled);
}

static const struct {
    const char *source, *text;
} deaths[] = {
    {"killed", "the process that runs NVRTC ended without an answer"},
    {"ended", "the process that runs NVRTC ended without an answer"},
    {"cut off", "the process that runs NVRTC ended in the middle of its answer"},
};

TEST_EACH(a_child_that_dies_is_an_error, COUNT_OF(deaths)) {
    grout_gpu_compiled compiled;
    grout_gpu_error error = {0};
    ck_assert(!compile(deaths[_i].source, &compiled, &error));
    ck_assert_int_eq(error.code, GROUT_DIAG_NVRTC_FAILED);
    ck_assert_str_eq(error.text, deaths[_i].text);
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1); /* nothing is left of it */
    grout_gpu__compiled_deinit(&compiled);
}

static pid_t compiled_in; /* of those processes that see this variable */

static grout_nvrtc_result note_process(grout_nvrtc_program program, int option_count,
                                       const char *const *options) {
    compiled_in = getpid();
    return fake_compile_program(program, option_count, options);
}

/* A process with threads of its own asks for it: none is forked. */
TEST(no_child_on_request) {
    grout_gpu_nvrtc nvrtc = fake_nvrtc;
    grout_gpu_source source = {.name = "k.cu", .text = "good", .arch = "sm_90a"};
    grout_gpu_compiled compiled;
    grout_gpu_error error = {0};
    nvrtc.api.compile_program = note_process;
    compiled_in = 0;
    ck_assert_msg(grout_gpu__nvrtc_compile(&nvrtc, &source, &compiled, &error), "%s", error.text);
    grout_gpu__compiled_deinit(&compiled);
    ck_assert_int_eq(compiled_in, 0);
    source.is_in_process = true;
    ck_assert_msg(grout_gpu__nvrtc_compile(&nvrtc, &source, &compiled, &error), "%s", error.text);
    ck_assert_int_eq(compiled_in, getpid());
    ck_assert_uint_eq(compiled.size, FAKE_IMAGE_SIZE);
    grout_gpu__compiled_deinit(&compiled);
    source.text = "refused";
    ck_assert(!grout_gpu__nvrtc_compile(&nvrtc, &source, &compiled, &error));
    ck_assert_int_eq(error.code, GROUT_DIAG_NVRTC_FAILED);
    grout_gpu__compiled_deinit(&compiled);
}
