/* check_gpu_program.c - a kernel in every context, on the fake driver of fake_cuda.c.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fake_cuda.h"
#include "tests/tests.h"
#include "tests/unit/support/gpu_text.h"

#include <dlfcn.h>

static const char plain[] = "kernel @k(%x: in gmem f32[128], %y: out gmem f32[128]) {\n"
                            "  store %y, (load %x)\n"
                            "}\n";
static const size_t plain_sizes[] = {8, 8, 32};
enum { BYTES = 512 };

static const char spaces[] = "kernel @k(%x: in gmem f32[128], %y: out gmem f32[128]) {\n"
                             "  scratch %z : gmem f32[128]\n"
                             "  store %z, (load %x)\n"
                             "  store %y, (load %z)\n"
                             "}\n";
static const size_t spaces_sizes[] = {8, 8, 8, 32};

static fake_cuda_state *fake;
static char contexts[2][8];
static _Alignas(256) char memory[2][BYTES]; /* of the device */
static int launches;

static grout_cu_context get_context(int number) {
    return (grout_cu_context)(void *)contexts[number];
}

/* The kernel runs where the stream is. */
static void see(const grout_cu_launch_config *config, void **params) {
    (void)config;
    (void)params;
    ck_assert_ptr_eq(fake->context, fake->stream_context);
    launches++;
}

static void reset(const size_t *sizes, size_t count) {
    memset(fake, 0, sizeof *fake);
    fake->cc_major = 9;
    fake->on_launch = see;
    fake->param_count = count;
    memcpy(fake->param_sizes, sizes, count * sizeof *sizes);
    launches = 0;
}
#define RESET(sizes) reset(sizes, sizeof sizes / sizeof sizes[0])

typedef struct subject {
    grout_diags *diags;
    grout_module *module;
    grout_gpu_program *program;
} subject;

static subject make(const char *text, grout_gpu_kernel_options options) {
    const grout_binary good = {.data = (char[]){"good"}, .size = 5};
    subject it = {.diags = grout_diags_new()};
    it.module = bind_text("k.grout", text, it.diags);
    options.binary = options.binary == NULL ? &good : options.binary;
    it.program = grout_gpu_program_new(it.module, grout_module_find_kernel(it.module, "k"),
                                       &options, it.diags);
    return it;
}

static void end(subject *it) {
    grout_gpu_program_free(it->program);
    grout_module_free(it->module);
    grout_diags_free(it->diags);
    ck_assert_int_eq(fake->live, 0);
}

/* A launch on a stream of a context. */
static bool launch(subject *it, int context) {
    const grout_argument arguments[] = {{memory[0], BYTES}, {memory[1], BYTES}};
    fake->stream_context = get_context(context);
    return grout_gpu_program_launch(it->program, arguments, 2, NULL, it->diags);
}

static void expect_launch(subject *it, int context) {
    const int before = launches;
    if (!launch(it, context)) {
        fail_with_diags("launch", it->diags, fake->log);
    }
    ck_assert_int_eq(launches, before + 1);
}

static void expect_refusal(subject *it, int context, const char *words) {
    const uint32_t before = grout_diags_count(it->diags);
    ck_assert(!launch(it, context));
    ck_assert_uint_eq(grout_diags_count(it->diags), before + 1);
    const char *said = grout_diags_get(it->diags, before)->message;
    ck_assert_msg(strstr(said, words) != NULL, "%s", said);
}

TEST(each_context_has_its_own) {
    RESET(plain_sizes);
    subject it = make(plain, (grout_gpu_kernel_options){0});
    ck_assert(grout_gpu_program_is_capturable(it.program));
    ck_assert_int_eq(fake->live, 0); /* nothing is loaded before a launch */
    static const struct {
        int current; /* -1: none */
        int stream, live;
    } launched[] = {{0, 0, 1}, {0, 0, 1}, {0, 1, 2}, {1, 1, 2}, {-1, 0, 2}, {1, 0, 2}, {-1, 1, 2}};
    for (size_t i = 0; i < sizeof launched / sizeof launched[0]; i++) {
        grout_cu_context current =
            launched[i].current < 0 ? NULL : get_context(launched[i].current);
        fake->context = current;
        expect_launch(&it, launched[i].stream);
        ck_assert_ptr_eq(fake->context, current);
        ck_assert_int_eq(fake->live, launched[i].live);
    }
    end(&it);
}

/* A kernel is loaded in the relaxed mode, which does not stay. */
TEST(a_captured_launch_loads) {
    RESET(plain_sizes);
    subject it = make(plain, (grout_gpu_kernel_options){0});
    fake->is_capturing = 1;
    fake->capture_mode = 1;
    expect_launch(&it, 0);
    ck_assert_int_eq(fake->capture_mode, 1);
    expect_launch(&it, 0);
    end(&it);
}

TEST(workspaces_are_not_captured) {
    RESET(spaces_sizes);
    subject it = make(spaces, (grout_gpu_kernel_options){0});
    ck_assert(!grout_gpu_program_is_capturable(it.program));
    expect_launch(&it, 0);
    fake->is_capturing = 1;
    expect_refusal(&it, 0, "the stream is being captured");
    fake->is_capturing = 0;
    expect_launch(&it, 1);
    end(&it);
}

TEST(wrong_options_are_refused) {
    const grout_binary empty = {.data = NULL};
    const struct {
        grout_gpu_kernel_options options;
        const char *words;
    } wrong[] = {
        {{.workspace_set_count = GROUT_GPU_WORKSPACE_SETS_MAX + 1}, "17 sets of workspaces"},
        {{.is_dependent = true}, "no launch of kernel '@k' is 'dependent'"},
        {{.binary = &empty}, "the binary for kernel '@k' has no data"},
    };
    RESET(spaces_sizes);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        subject it = make(spaces, wrong[i].options);
        ck_assert_ptr_null(it.program);
        const char *said = grout_diags_get(it.diags, 0)->message;
        ck_assert_msg(strstr(said, wrong[i].words) != NULL, "%s", said);
        end(&it);
    }
    subject it = make(
        spaces, (grout_gpu_kernel_options){.workspace_set_count = GROUT_GPU_WORKSPACE_SETS_MAX});
    expect_launch(&it, 0);
    end(&it);
}

/* What failed is tried again. */
TEST(failures_are_reported) {
    static const struct {
        const char *function, *words;
    } failures[] = {{"cuStreamGetCtx", "ask for the stream's context"},
                    {"cuCtxGetCurrent", "ask for the current context"},
                    {"cuCtxPushCurrent", "make the stream's context current"},
                    {"cuThreadExchangeStreamCaptureMode", "change the capture mode"},
                    {"cuModuleLoadData", "load"}};
    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++) {
        RESET(plain_sizes);
        subject it = make(plain, (grout_gpu_kernel_options){0});
        fake->failing = failures[i].function;
        fake->failure = 999;
        expect_refusal(&it, 0, failures[i].words);
        ck_assert_ptr_null(fake->context);
        fake->failing = NULL;
        expect_launch(&it, 0);
        fake->failing = "cuLaunchKernelEx";
        expect_refusal(&it, 0, "launch");
        ck_assert_ptr_null(fake->context);
        fake->failing = NULL;
        expect_launch(&it, 0);
        end(&it);
    }
    grout_gpu_program_free(NULL);
}

int main(void) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    void *state = library == NULL ? NULL : dlsym(library, "fake_cuda");
    if (state == NULL) {
        fprintf(stderr, "the fake driver is not there\n");
        return 1;
    }
    fake = state;
    const int failed = run_tests();
    (void)dlclose(library);
    return failed;
}
