/* check_gpu.c - compilation, cache and launch with the n-th allocation failing, for every n; on
 * fakes of NVRTC and of the driver. Their child processes' allocations count too. A kernel in this
 * process is loaded and launched.
 * SPDX-License-Identifier: Apache-2.0 */
#include "failing.h"
#include "gpu_backend/run/cache.h"
#include "gpu_backend/run/launch.h"
#include "gpu_backend/run/ptxas_log.h"
#include "grout-internal/gpu.h"
#include "tests/tests.h"
#include "tests/unit/gpu_backend/fake_cuda.h"
#include "tests/unit/gpu_backend/fake_nvrtc.h"
#include "tests/unit/support/gpu_text.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static char directory[64];

static void make_directory(void) {
    (void)snprintf(directory, sizeof directory, "/tmp/grout-check-nth-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
}

static void remove_directory(void) {
    char command[128];
    (void)snprintf(command, sizeof command, "rm -rf '%s'", directory);
    ck_assert_int_eq(system(command), 0);
}

static bool is_same_image(const grout_gpu_compiled *compiled) {
    bool is_same = compiled->size == FAKE_IMAGE_SIZE;
    for (size_t i = 0; is_same && i < FAKE_IMAGE_SIZE; i += 997) {
        is_same = compiled->image[i] == i * 31 % 251;
    }
    return is_same;
}

/* Compiles, then finds it in the cache; a cache without memory is one without the file. */
static bool compile(void *payload) {
    const grout_gpu_source source = {.name = "k.cu", .text = "good", .arch = "sm_90a"};
    grout_gpu_compiled compiled = {0}, again = {0};
    grout_gpu_cache cache;
    grout_gpu_cache_usage usage;
    grout_gpu_error error = {0};
    bool is_hit = false;
    (void)payload;
    ck_assert_msg(grout_gpu__cache_open(&cache, directory, 0, &error), "%s", error.text);
    ck_assert_msg(grout_gpu__cache_clear(&cache, &usage, &error), "%s", error.text);
    failing_begin();
    bool is_done =
        grout_gpu__cache_compile(&cache, &fake_nvrtc, &source, &compiled, NULL, &error) &&
        grout_gpu__cache_compile(&cache, &fake_nvrtc, &source, &again, &is_hit, &error) &&
        grout_gpu__cache_measure(&cache, &usage, &error);
    failing_end();
    if (is_done) {
        ck_assert(is_same_image(&compiled) && is_same_image(&again));
        ck_assert_uint_eq(usage.file_count, 1);
    } else {
        ck_assert_msg(error.code == GROUT_DIAG_OUT_OF_MEMORY, "%s", error.text);
    }
    grout_gpu__compiled_deinit(&compiled);
    grout_gpu__compiled_deinit(&again);
    grout_gpu__cache_close(&cache);
    return is_done && is_hit;
}

static bool launch(void *payload) {
    static int32_t a[64], b[64], c[64];
    static const void *const images[] = {"good"};
    const grout_gpu_buffer buffers[] = {
        {.name = "a", .direction = GROUT_GPU_IN, .size = sizeof a, .input = a},
        {.name = "b", .direction = GROUT_GPU_IN, .size = sizeof b, .input = b},
        {.name = "c", .direction = GROUT_GPU_OUT, .size = sizeof c, .output = c},
    };
    const grout_gpu_param params[] = {
        {.kind = GROUT_GPU_PARAM_BUFFER, .buffer = 0},
        {.kind = GROUT_GPU_PARAM_BUFFER, .buffer = 1},
        {.kind = GROUT_GPU_PARAM_BUFFER, .buffer = 2},
        {.kind = GROUT_GPU_PARAM_SCALAR, .scalar = {64}, .scalar_size = 4},
    };
    const grout_gpu_step step = {.kernel = "add",
                                 .shape = {.grid = {1, 1, 1}, .block = {128, 1, 1}},
                                 .params = params,
                                 .param_count = 4,
                                 .is_timed = true};
    const grout_gpu_job job = {.cc_major = 9,
                               .images = images,
                               .image_count = 1,
                               .buffers = buffers,
                               .buffer_count = 3,
                               .steps = &step,
                               .step_count = 1,
                               .timing = {.repeats = 2},
                               .timeout_ms = GROUT_TEST_SECONDS * 1000};
    grout_gpu_outcome outcome;
    grout_gpu_error error = {0};
    (void)payload;
    for (int i = 0; i < 64; i++) {
        a[i] = i;
        b[i] = 2 * i;
        c[i] = -1;
    }
    failing_begin();
    const bool is_done = grout_gpu__launch_run(&job, &outcome, &error);
    failing_end();
    if (!is_done) {
        ck_assert_msg(error.code == GROUT_DIAG_OUT_OF_MEMORY, "%s", error.text);
    }
    for (int i = 0; i < 64; i++) {
        ck_assert_int_eq(c[i], is_done ? 3 * i : -1);
    }
    grout_gpu__outcome_deinit(&outcome);
    return is_done;
}

static bool read_log(void *payload) {
    static const char text[] =
        "ptxas info    : Compiling entry function 'k' for 'sm_90a'\n"
        "ptxas info    : Used 40 registers, used 2 barriers, 128 bytes smem\n";
    grout_gpu_ptxas_log log;
    grout_gpu_error error = {0};
    (void)payload;
    failing_begin();
    const bool is_done = grout_gpu__ptxas_log_parse(text, &log, &error);
    failing_end();
    if (is_done) {
        ck_assert_uint_eq(grout_gpu__ptxas_log_find(&log, "k")->registers, 40);
    } else {
        ck_assert_int_eq(error.code, GROUT_DIAG_OUT_OF_MEMORY);
    }
    grout_gpu__ptxas_log_deinit(&log);
    return is_done;
}

/* The reason comes back, or that there was no memory for it. */
static bool miss_nvrtc(void *payload) {
    static const char *const search_dirs[] = {"/nowhere", "/nowhere/else"};
    const grout_nvrtc_options options = {
        .library = "/nowhere/libnvrtc.so", .search_dirs = search_dirs, .search_dir_count = 2};
    grout_diags *diags = grout_diags_new();
    grout_binary binary;
    (void)payload;
    failing_begin();
    const bool is_done = grout_compile_cuda("", "k", GROUT_BINARY_CUBIN, &options, &binary, diags);
    failing_end();
    ck_assert(!is_done && binary.data == NULL && binary.log == NULL);
    const bool has_reason = grout_diags_get(diags, 0)->code == GROUT_DIAG_NVRTC_MISSING;
    if (!has_reason) {
        failing_assert_reported(diags);
    }
    grout_diags_free(diags);
    return has_reason;
}

/* A kernel in the context of this process: what was made before a failure is given back. */
static bool load(void *payload) {
    static const char text[] =
        "kernel @k(%x: in gmem f32[64, 64], %s: f32, %y: out gmem i32[128]) {\n"
        "  scratch %xs : smem f32[64, 64]\n"
        "  scratch %full : barrier[1]\n"
        "  scratch %list : gmem i32[128] init(arange)\n"
        "  scratch %done : semaphore[1]\n"
        "  copy_gmem_to_smem %x, %xs, %full[0]\n"
        "  barrier_wait %full[0]\n"
        "  semaphore_signal %done[0], 1\n"
        "  semaphore_wait %done[0], 1\n"
        "  store %y, (add (load %list), (cast %s : i32))\n"
        "}\n";
    static _Alignas(256) char x[64 * 64 * 4], y[512];
    static char context[] = "context";
    static const size_t sizes[] = {4, 8, 128, 8, 8, 32};
    const grout_binary binary = {.data = x, .size = 1};
    const grout_gpu_kernel_options options = {.binary = &binary, .workspace_set_count = 3};
    float s = 1;
    const grout_argument arguments[] = {{x, sizeof x}, {&s, sizeof s}, {y, sizeof y}};
    grout_diags *diags = grout_diags_new();
    grout_module *module = bind_text("k.grout", text, diags);
    fake_cuda_state *fake = payload;
    fake->context = (grout_cu_context)(void *)context;
    fake->param_count = sizeof sizes / sizeof sizes[0];
    memcpy(fake->param_sizes, sizes, sizeof sizes);
    fake->log_size = 0;
    const int live = fake->live;
    failing_begin();
    grout_gpu_kernel *kernel = grout_gpu_kernel_new(module, 1, &options, diags);
    const bool is_done =
        kernel != NULL && grout_gpu_kernel_launch(kernel, arguments, 3, NULL, diags);
    failing_end();
    if (!is_done) {
        ck_assert_ptr_null(kernel); /* a launch allocates nothing */
        failing_assert_reported(diags);
    }
    grout_gpu_kernel_free(kernel);
    ck_assert_int_eq(fake->live, live);
    grout_module_free(module);
    grout_diags_free(diags);
    return is_done;
}

/* A launch of a program, which loads the kernel. */
static bool load_program(void *payload) {
    static const char text[] = "kernel @k(%x: in gmem f32[128], %y: out gmem f32[128]) {\n"
                               "  store %y, (load %x)\n"
                               "}\n";
    static _Alignas(256) char x[512], y[512];
    static char context[] = "context";
    static const size_t sizes[] = {8, 8, 32};
    const grout_binary binary = {.data = x, .size = 8};
    const grout_gpu_kernel_options options = {.binary = &binary};
    const grout_argument arguments[] = {{x, sizeof x}, {y, sizeof y}};
    grout_diags *diags = grout_diags_new();
    grout_module *module = bind_text("k.grout", text, diags);
    fake_cuda_state *fake = payload;
    fake->context = (grout_cu_context)(void *)context;
    fake->param_count = sizeof sizes / sizeof sizes[0];
    memcpy(fake->param_sizes, sizes, sizeof sizes);
    fake->log_size = 0;
    const int live = fake->live;
    failing_begin();
    grout_gpu_program *program = grout_gpu_program_new(module, 1, &options, diags);
    const bool is_done =
        program != NULL && grout_gpu_program_launch(program, arguments, 2, NULL, diags);
    failing_end();
    if (!is_done) {
        failing_assert_reported(diags);
    }
    grout_gpu_program_free(program);
    ck_assert_int_eq(fake->live, live);
    grout_module_free(module);
    grout_diags_free(diags);
    return is_done;
}

static bool (*const works[])(void *payload) = {compile,    launch, read_log,
                                               miss_nvrtc, load,   load_program};
static void *fake;

TEST_EACH(what_fails_says_so, 2 * COUNT_OF(works)) {
    failing_try_all(_i % 2 == 1, works[_i / 2], fake);
}

int main(void) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    fake = library == NULL ? NULL : dlsym(library, "fake_cuda");
    if (fake == NULL) {
        fprintf(stderr, "the fake driver is not there\n");
        return EXIT_FAILURE;
    }
    const int failed = run_tests_between(make_directory, remove_directory);
    (void)dlclose(library);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
