/* check_xla_handler.c - kernels as custom calls of XLA: what they compute, refuse and say of
 * themselves.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fake_xla.h"

#include "tests/tests.h"
#include "tests/unit/gpu_backend/fake_cuda.h"
#include "tests/unit/support/bind_text.h"

#include <dlfcn.h>

static const char scale[] = "kernel @scale(%x: in gmem f32[4], %by: f32, %n: i8,\n"
                            "    %z: inout gmem f32[4], %y: out gmem f32[4])\n"
                            "{\n"
                            "  store %y, (mul (load %x), %by)\n"
                            "  store %z, (add (load %z), (cast %n : f32))\n"
                            "}\n";

static const char copy[] = "kernel @copy(%x: in gmem f32[128], %y: out gmem f32[128]) {\n"
                           "  store %y, (load %x)\n"
                           "}\n";

/* ---- subjects ---- */

typedef struct subject {
    bound_text text;
    grout_xla_handler *handler;
    fake_handler *call;
} subject;

static subject load_with(const char *text, grout_xla_handler_options options) {
    subject it = {.text = bind_text(text, NULL, 0)};
    ck_assert_msg(it.text.bound != NULL &&
                      grout_verify(it.text.bound, GROUT_ARCH_SM_90A, it.text.diags),
                  "%s", get_said(it.text.diags));
    options.launch.module = it.text.bound;
    options.launch.kernel = 1;
    it.handler = grout_xla_handler_make(&options, it.text.diags);
    if (it.handler != NULL) {
        it.call = (fake_handler *)grout_xla_handler_get(it.handler);
    }
    return it;
}

static subject load(const char *text) {
    subject it = load_with(text, (grout_xla_handler_options){0});
    ck_assert_msg(it.handler != NULL, "%s", get_said(it.text.diags));
    return it;
}

static void unload(subject *it) {
    grout_xla_handler_free(it->handler);
    free_text(&it->text);
}

/* What a call of @scale works on. */
typedef struct scaled {
    fake_call call;
    float x[4], z[4], y[4];
    int64_t words[2];
} scaled;

static int64_t get_word(float value) {
    int32_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* The operands are x and z, the results z and y. */
static void begin_scale(scaled *s) {
    *s = (scaled){.x = {1, 2, 3, 4}, .z = {5, 6, 7, 8}, .words = {get_word(2.5F), 0xfd}};
    fake_begin(&s->call);
    fake_add(&s->call, false, GROUT_XLA_F32, 4, s->x);
    fake_add(&s->call, false, GROUT_XLA_F32, 4, s->z);
    fake_add(&s->call, true, GROUT_XLA_F32, 4, s->z);
    fake_add(&s->call, true, GROUT_XLA_F32, 4, s->y);
    fake_add_words(&s->call, "scalars", s->words, 2);
}

static void expect_error(const subject *it, fake_call *call, int code, const char *words) {
    const grout_xla_error *error = it->call(&call->frame);
    ck_assert_ptr_nonnull(error);
    ck_assert_msg(error->code == code && strstr(error->message, words) != NULL, "%d: %s",
                  error->code, error->message);
}

/* ---- on the CPU ---- */

TEST(values_arrive) {
    subject it = load(scale);
    for (int is_alias = 0; is_alias < 2; is_alias++) {
        scaled s;
        float elsewhere[4] = {0};
        begin_scale(&s);
        float *z = is_alias ? s.z : elsewhere;
        s.call.rets[0].data = z;
        ck_assert_ptr_null(it.call(&s.call.frame));
        for (int i = 0; i < 4; i++) {
            ck_assert_float_eq(s.y[i], 2.5F * (float)(i + 1));
            ck_assert_float_eq(z[i], (float)(i + 2));
            ck_assert_float_eq(s.z[i], (float)(i + (is_alias ? 2 : 5)));
        }
    }
    unload(&it);
}

/* As XLA passes what a kernel has as bytes, and the sizes of its types. */
TEST(elements_have_sizes) {
    static const struct {
        const char *dtype;
        int xla;
        int64_t count; /* of 16 elements */
    } types[] = {{"bool", GROUT_XLA_PRED, 16},     {"i8", GROUT_XLA_S8, 16},
                 {"u8", GROUT_XLA_U8, 16},         {"i16", GROUT_XLA_S16, 16},
                 {"u16", GROUT_XLA_U16, 16},       {"i32", GROUT_XLA_S32, 16},
                 {"u32", GROUT_XLA_U32, 16},       {"i64", GROUT_XLA_S64, 16},
                 {"u64", GROUT_XLA_U64, 16},       {"f16", GROUT_XLA_F16, 16},
                 {"bf16", GROUT_XLA_BF16, 16},     {"f32", GROUT_XLA_F32, 16},
                 {"f64", GROUT_XLA_F64, 16},       {"f8e4m3", GROUT_XLA_F8E4M3FN, 16},
                 {"f8e5m2", GROUT_XLA_F8E5M2, 16}, {"f8e8m0", GROUT_XLA_F8E8M0FNU, 16},
                 {"i4", GROUT_XLA_U8, 8}};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        char text[200];
        _Alignas(8) unsigned char x[128], y[128] = {0};
        fake_call call;
        (void)snprintf(text, sizeof text,
                       "kernel @k(%%x: in gmem %s[16], %%y: out gmem %s[16]) {\n"
                       "  store %%y, (load %%x)\n}\n",
                       types[i].dtype, types[i].dtype);
        subject it = load(text);
        memset(x, 1, sizeof x);
        fake_begin(&call);
        fake_add(&call, false, types[i].xla, types[i].count, x);
        fake_add(&call, true, types[i].xla, types[i].count, y);
        ck_assert_msg(it.call(&call.frame) == NULL, "%s: %s", types[i].dtype, fake_error.message);
        ck_assert_msg(y[0] == 1 && y[types[i].count - 1] == 1, "%s", types[i].dtype);
        call.rets[0].dtype = 15; /* of complex numbers */
        expect_error(&it, &call, GROUT_XLA_INVALID_ARGUMENT, "other bytes for 'y'");
        unload(&it);
    }
}

TEST(what_does_not_fit_is_refused) {
    subject it = load(scale);
    scaled s;
    const int code = GROUT_XLA_INVALID_ARGUMENT;
    begin_scale(&s);
    s.call.frame.args.size = 1;
    expect_error(&it, &s.call, code, "has 1 operands and 2 results; the kernel has 2 and 2");
    begin_scale(&s);
    s.call.frame.rets.size = 1;
    expect_error(&it, &s.call, code, "has 2 operands and 1 results");
    begin_scale(&s);
    s.call.dims[0][0] = 3;
    expect_error(&it, &s.call, code, "has other bytes for 'x' than its 16");
    begin_scale(&s);
    s.call.dims[1][0] = 5;
    expect_error(&it, &s.call, code, "has other bytes for 'z' than its 16");
    begin_scale(&s);
    s.call.types[1][1] = 2;
    expect_error(&it, &s.call, code, "has other bytes for 'y'");
    for (int i = 0; i < 4; i++) {
        ck_assert(s.z[i] == (float)(i + 5) && s.y[i] == 0);
    }
    unload(&it);
}

TEST(scalars_have_to_be_there) {
    subject it = load(scale);
    scaled s;
    for (int i = 0; i < 5; i++) {
        begin_scale(&s);
        switch (i) {
        case 0:
            s.call.frame.attrs.size = 0;
            break;
        case 1:
            s.call.name = (grout_xla_span){"scalar", 6};
            break;
        case 2:
            s.call.name = (grout_xla_span){"Scalars", 7};
            break;
        case 3:
            s.call.array.size = 1;
            break;
        default:
            s.call.array.dtype = GROUT_XLA_S32;
            break;
        }
        expect_error(&it, &s.call, GROUT_XLA_INVALID_ARGUMENT, "no attribute 'scalars'");
    }
    begin_scale(&s);
    s.call.attr_type = 3;
    expect_error(&it, &s.call, GROUT_XLA_INVALID_ARGUMENT, "no attribute 'scalars'");
    begin_scale(&s);
    s.call.array.dtype = GROUT_XLA_U64;
    ck_assert_ptr_null(it.call(&s.call.frame));
    unload(&it);
}

TEST(what_goes_wrong_in_a_run_is_said) {
    static const char stuck[] = "kernel @stuck(%y: out gmem f32[4]) {\n"
                                "  scratch %b : barrier[1]\n"
                                "  barrier_wait %b[0]\n"
                                "}\n";
    static const char checked[] = "kernel @checked(%y: out gmem i32[4]) {\n"
                                  "  debug_check (lt 1, 0), \"never\"\n"
                                  "  store %y[0], 0\n"
                                  "}\n";
    static const struct {
        const char *text, *words;
    } runs[] = {{stuck, "no thread of '@stuck' can run on"},
                {stuck, "help: 'grout check', or kernel.check(), says who waits"},
                {stuck, "kernel @stuck"}, /* the line */
                {checked, "never"}};
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        subject it = load(runs[i].text);
        int32_t y[4];
        fake_call call;
        fake_begin(&call);
        fake_add(&call, true, GROUT_XLA_S32, 4, y);
        expect_error(&it, &call, GROUT_XLA_INTERNAL, runs[i].words);
        unload(&it);
    }
}

/* ---- the runtime ---- */

/* What the handler says it is. */
static grout_xla_metadata ask(const subject *it, int runtime_minor) {
    fake_call call;
    grout_xla_metadata metadata = {.struct_size = 36, .traits = 77, .state_type = 5};
    grout_xla_metadata_extension extension = {
        .base = {.struct_size = sizeof extension.base, .type = GROUT_XLA_METADATA},
        .metadata = &metadata};
    grout_xla_extension first = {.struct_size = sizeof first, .type = 9, .next = &extension.base};
    fake_begin(&call);
    call.api.version.minor_version = runtime_minor;
    call.frame.extension_start = &first;
    ck_assert_ptr_null(it->call(&call.frame));
    ck_assert_int_eq(metadata.version.major_version, 0);
    ck_assert_int_eq(metadata.version.minor_version, GROUT_XLA_MINOR);
    return metadata;
}

TEST(a_handler_says_what_it_is) {
    subject it = load(copy);
    ck_assert_uint_eq(ask(&it, GROUT_XLA_MINOR).traits, 0);
    ck_assert_int_eq(ask(&it, GROUT_XLA_MINOR).state_type, 0);
    ck_assert_int_eq(ask(&it, GROUT_XLA_MINOR - 1).state_type, 5); /* may not be there */
    unload(&it);
}

TEST(other_runtimes_are_refused) {
    subject it = load(scale);
    scaled s;
    for (int i = 0; i < 3; i++) {
        begin_scale(&s);
        if (i == 0) {
            s.call.api.version = (grout_xla_version){.major_version = 1, .minor_version = 2};
        } else if (i == 1) {
            s.call.frame.struct_size--;
        } else {
            s.call.api.struct_size = sizeof s.call.api - 1;
        }
        expect_error(&it, &s.call, GROUT_XLA_INVALID_ARGUMENT,
                     i == 0 ? "has version 1.2, and this grout was made for 0.3"
                            : "and this grout was made for 0.3");
    }
    unload(&it);
}

/* ---- on a GPU ---- */

static fake_cuda_state *fake;
static char context[] = "context";
static int launches;

static const char inout[] = "kernel @next(%x: inout gmem f32[128]) {\n"
                            "  store %x, (add (load %x), 1.0)\n"
                            "}\n";

static void see(const grout_cu_launch_config *config, void **params) {
    ck_assert_ptr_eq((void *)config->stream, fake_stream);
    memcpy(*(void **)params[1], *(void **)params[0], 512);
    launches++;
}

/* A handler for a program, and what it has of its own. */
typedef struct on_gpu {
    bound_text text;
    grout_gpu_program *program;
    subject it;
} on_gpu;

static on_gpu load_on_gpu(const char *text, const size_t *sizes, size_t count) {
    const grout_binary binary = {.data = (char[]){"good"}, .size = 5};
    const grout_gpu_kernel_options options = {.binary = &binary};
    memset(fake, 0, sizeof *fake);
    fake->context = (grout_cu_context)(void *)context;
    fake->cc_major = 9;
    fake->param_count = count;
    memcpy(fake->param_sizes, sizes, count * sizeof *sizes);
    on_gpu made = {.text = bind_text(text, NULL, 0)};
    ck_assert(grout_verify(made.text.bound, GROUT_ARCH_SM_90A, made.text.diags));
    made.program = grout_gpu_program_new(made.text.bound, 1, &options, made.text.diags);
    ck_assert_msg(made.program != NULL, "%s", get_said(made.text.diags));
    made.it = load_with(text, (grout_xla_handler_options){.program = made.program});
    ck_assert_uint_eq(ask(&made.it, GROUT_XLA_MINOR).traits, GROUT_XLA_IS_CAPTURABLE);
    return made;
}

static void unload_on_gpu(on_gpu *made) {
    unload(&made->it);
    grout_gpu_program_free(made->program);
    free_text(&made->text);
}

TEST(a_program_is_launched) {
    static _Alignas(256) float x[128], y[128];
    static const size_t sizes[] = {8, 8, 32};
    on_gpu made = load_on_gpu(copy, sizes, 3);
    fake_call call;
    fake->on_launch = see;
    x[5] = 7;
    fake_stream = &call;
    fake_begin(&call);
    fake_add(&call, false, GROUT_XLA_F32, 128, x);
    fake_add(&call, true, GROUT_XLA_F32, 128, y);
    ck_assert_msg(made.it.call(&call.frame) == NULL, "%s", fake_error.message);
    ck_assert(launches == 1 && y[5] == 7);
    fake_stream_fails = true;
    expect_error(&made.it, &call, 99, "");
    fake_stream_fails = false;
    fake->failing = "cuLaunchKernelEx";
    fake->failure = GROUT_CU_LAUNCH_FAILED;
    expect_error(&made.it, &call, GROUT_XLA_INTERNAL, "[gpu-fault]");
    unload_on_gpu(&made);
}

TEST(an_operand_without_alias_is_copied) {
    static _Alignas(256) float x[128], y[128];
    static const size_t sizes[] = {8, 32};
    on_gpu made = load_on_gpu(inout, sizes, 2);
    fake_call call;
    x[5] = 7;
    fake_stream = NULL;
    for (int is_alias = 1; is_alias >= 0; is_alias--) {
        fake->log_size = 0;
        fake->log[0] = '\0';
        fake_begin(&call);
        fake_add(&call, false, GROUT_XLA_F32, 128, x);
        fake_add(&call, true, GROUT_XLA_F32, 128, is_alias ? x : y);
        ck_assert_msg(made.it.call(&call.frame) == NULL, "%s", fake_error.message);
        ck_assert_msg((strstr(fake->log, "copy ") == NULL) == is_alias, "%s", fake->log);
    }
    ck_assert(y[5] == 7);
    fake->failing = "cuMemcpyDtoDAsync";
    fake->failure = 1;
    expect_error(&made.it, &call, GROUT_XLA_INTERNAL, "copy an 'inout' array");
    unload_on_gpu(&made);
}

/* ---- making one ---- */

static void add_param(char *text, size_t size, int i) {
    (void)snprintf(text + strlen(text), size - strlen(text), "%s%%x%d: in gmem f32[4]",
                   i == 0 ? "" : ", ", i);
}

TEST(parameters_may_be_sixty_four) {
    for (int count = GROUT_XLA_PARAMS_MAX; count <= GROUT_XLA_PARAMS_MAX + 1; count++) {
        char text[4096] = "kernel @many(";
        float x[4] = {0};
        fake_call call;
        fake_begin(&call);
        for (int i = 0; i < count; i++) {
            add_param(text, sizeof text, i);
            fake_add(&call, false, GROUT_XLA_F32, 4, x);
        }
        (void)strncat(text, ") {\n  %v = load %x0\n}\n", sizeof text - strlen(text) - 1);
        subject it = load_with(text, (grout_xla_handler_options){0});
        if (count == GROUT_XLA_PARAMS_MAX) {
            ck_assert_ptr_null(it.call(&call.frame));
        } else {
            ck_assert_ptr_null(it.handler);
            ck_assert_ptr_nonnull(strstr(get_said(it.text.diags),
                                         "'@many' has 65 parameters; a custom call takes at most"));
        }
        unload(&it);
    }
}

TEST(wrong_launches_are_refused) {
    bound_text text = bind_text(copy, NULL, 0);
    const grout_argument argument = {0};
    const struct {
        grout_launch launch;
        const char *words;
    } wrong[] = {{{.module = NULL, .kernel = 1}, "needs a bound module"},
                 {{.module = text.symbolic, .kernel = 1}, "needs a bound module"},
                 {{.module = text.bound, .kernel = 0}, "names no kernel"},
                 {{.module = text.bound, .kernel = 2}, "names no kernel"},
                 {{.module = text.bound, .kernel = 1, .arguments = &argument}, "has arguments"},
                 {{.module = text.bound, .kernel = 1, .observer_count = GROUT_OBSERVERS_MAX},
                  "too many observers"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        grout_diags *diags = grout_diags_new();
        const grout_xla_handler_options options = {.launch = wrong[i].launch};
        ck_assert_ptr_null(grout_xla_handler_make(&options, diags));
        ck_assert_msg(strstr(get_said(diags), wrong[i].words) != NULL, "%s", get_said(diags));
        grout_diags_free(diags);
    }
    grout_xla_handler_free(NULL);
    free_text(&text);
}

int main(void) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    fake = library == NULL ? NULL : dlsym(library, "fake_cuda");
    if (fake == NULL) {
        fprintf(stderr, "the fake driver is not there\n");
        return EXIT_FAILURE;
    }
    const int failed = run_tests();
    (void)dlclose(library);
    return failed;
}
