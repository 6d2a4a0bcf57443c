/* check_nvrtc_child.c - compiling in a child process, with functions of our own in NVRTC's place:
 * all of the answer comes back, and a child that dies is an error.
 * SPDX-License-Identifier: Apache-2.0 */
#include "gpu_backend/nvrtc.h"

#include <check.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* More than a pipe holds, so that both sides have to write and read several times. */
#define IMAGE_SIZE ((size_t)1 << 20)
#define LOG_SIZE   ((size_t)300000)

static const char refusal[] = "k.cu(7): error: identifier \"y\" is undefined\n";

static const char *get_error_string(grout_nvrtc_result result) {
    return result == 0 ? "fine" : "NVRTC_ERROR_FAKE";
}
/* The source itself stands for the program. */
static grout_nvrtc_result create_program(grout_nvrtc_program *out, const char *source,
                                         const char *name, int header_count,
                                         const char *const *headers, const char *const *names) {
    memcpy(out, &source, sizeof source);
    return name == NULL || header_count != 0 || headers == NULL || names == NULL;
}
static bool is(grout_nvrtc_program program, const char *word) {
    const char *source = NULL;
    memcpy(&source, &program, sizeof source);
    return strcmp(source, word) == 0;
}
static grout_nvrtc_result destroy_program(grout_nvrtc_program *program) {
    *program = NULL;
    return 0;
}
static grout_nvrtc_result compile_program(grout_nvrtc_program program, int option_count,
                                          const char *const *options) {
    if (is(program, "killed")) {
        (void)raise(SIGKILL);
    } else if (is(program, "ended")) {
        _exit(0);
    }
    return is(program, "refused") ? 6 : option_count < 2 || options[0] == NULL;
}
static grout_nvrtc_result get_size(grout_nvrtc_program program, size_t *out) {
    (void)program;
    *out = IMAGE_SIZE;
    return 0;
}
static grout_nvrtc_result get_image(grout_nvrtc_program program, char *out) {
    const size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t i = 0; i < IMAGE_SIZE; i++) {
        out[i] = (char)(i * 31 % 251);
    }
    /* The kernel reads up to the page that nobody may read, and the child cannot send the rest. */
    if (is(program, "cut off")) {
        char *middle = out + IMAGE_SIZE / 2;
        middle += page_size - (uintptr_t)middle % page_size;
        return mprotect(middle, page_size, PROT_NONE);
    }
    return 0;
}
static grout_nvrtc_result get_log_size(grout_nvrtc_program program, size_t *out) {
    *out = is(program, "silent") ? 0 : LOG_SIZE;
    return 0;
}
static grout_nvrtc_result get_log(grout_nvrtc_program program, char *out) {
    (void)program;
    memset(out, '.', LOG_SIZE - 1);
    memcpy(out, refusal, sizeof refusal - 1);
    out[LOG_SIZE - 1] = '\0';
    return 0;
}

static const grout_gpu_nvrtc nvrtc = {.major = 13,
                                      .api = {.get_error_string = get_error_string,
                                              .create_program = create_program,
                                              .destroy_program = destroy_program,
                                              .compile_program = compile_program,
                                              .get_ptx_size = get_size,
                                              .get_ptx = get_image,
                                              .get_cubin_size = get_size,
                                              .get_cubin = get_image,
                                              .get_log_size = get_log_size,
                                              .get_log = get_log}};

static bool compile(const char *text, grout_gpu_compiled *out, grout_gpu_error *error) {
    const grout_gpu_source source = {.name = "k.cu", .text = text, .arch = "sm_90a"};
    return grout_gpu__nvrtc_compile(&nvrtc, &source, out, error);
}

START_TEST(the_whole_image_comes_back) {
    grout_gpu_compiled compiled;
    grout_gpu_error error = {0};
    ck_assert_msg(compile("good", &compiled, &error), "%s", error.text);
    ck_assert_uint_eq(compiled.size, IMAGE_SIZE);
    size_t wrong_count = 0;
    for (size_t i = 0; i < IMAGE_SIZE; i++) {
        wrong_count += compiled.image[i] != i * 31 % 251;
    }
    ck_assert_uint_eq(wrong_count, 0);
    ck_assert_uint_eq(strlen(compiled.log), LOG_SIZE - 1);
    grout_gpu__compiled_deinit(&compiled);
}
END_TEST

START_TEST(no_log_is_an_empty_log) {
    grout_gpu_compiled compiled;
    grout_gpu_error error = {0};
    ck_assert_msg(compile("silent", &compiled, &error), "%s", error.text);
    ck_assert_str_eq(compiled.log, "");
    grout_gpu__compiled_deinit(&compiled);
}
END_TEST

START_TEST(a_refusal_brings_the_log_back) {
    grout_gpu_compiled compiled;
    grout_gpu_error error = {0};
    ck_assert(!compile("refused", &compiled, &error));
    ck_assert_int_eq(error.code, GROUT_DIAG_NVRTC_FAILED);
    ck_assert_str_eq(error.text,
                     "NVRTC refuses 'k.cu': k.cu(7): error: identifier \"y\" is undefined");
    ck_assert_ptr_null(compiled.image);
    ck_assert_uint_eq(strlen(compiled.log), LOG_SIZE - 1);
    ck_assert_mem_eq(compiled.log, refusal, sizeof refusal - 1);
    grout_gpu__compiled_deinit(&compiled);
}
END_TEST

static const struct {
    const char *source, *text;
} deaths[] = {
    {"killed", "the process that runs NVRTC ended without an answer"},
    {"ended", "the process that runs NVRTC ended without an answer"},
    {"cut off", "the process that runs NVRTC ended in the middle of its answer"},
};

START_TEST(a_child_that_dies_is_an_error) {
    grout_gpu_compiled compiled;
    grout_gpu_error error = {0};
    ck_assert(!compile(deaths[_i].source, &compiled, &error));
    ck_assert_int_eq(error.code, GROUT_DIAG_NVRTC_FAILED);
    ck_assert_str_eq(error.text, deaths[_i].text);
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1); /* nothing is left of it */
    grout_gpu__compiled_deinit(&compiled);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("nvrtc_child");
    TCase *tcase = tcase_create("answers");
    tcase_add_test(tcase, the_whole_image_comes_back);
    tcase_add_test(tcase, no_log_is_an_empty_log);
    tcase_add_test(tcase, a_refusal_brings_the_log_back);
    tcase_add_loop_test(tcase, a_child_that_dies_is_an_error, 0,
                        (int)(sizeof deaths / sizeof deaths[0]));
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
