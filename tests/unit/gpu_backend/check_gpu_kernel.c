/* check_gpu_kernel.c - kernels in the caller's context, on the fake driver of fake_cuda.c: what
 * their launches put on the stream, and every way to fail.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fake_cuda.h"
#include "gpu_backend/run/launch_child.h"
#include "tests/tests.h"
#include "tests/unit/support/gpu_text.h"

#include <dlfcn.h>

static const char plain[] =
    "kernel @k(%x: in gmem f32[256], %s: f32, %n: i8, %y: out gmem f32[256])"
    " grid(i = 2) {\n"
    "  %i = axis_index i\n"
    "  %sum = add (load %x[ds(%i * 128, 128)]), (cast %n : f32)\n"
    "  store %y[ds(%i * 128, 128)], (mul %sum, %s)\n"
    "}\n";
enum { PLAIN_BYTES = 1024 };

static const char tiles[] = "kernel @k(%x: in gmem f32[64, 64], %y: out gmem f32[64, 64])\n"
                            "    grid(i = 2) cluster(c = 2) {\n"
                            "  scratch %xs : smem f32[32, 64]\n"
                            "  scratch %full : barrier[1]\n"
                            "  %row = mul (axis_index i), 32\n"
                            "  copy_gmem_to_smem %x[ds(%row, 32), :], %xs, %full[0]\n"
                            "  barrier_wait %full[0]\n"
                            "  copy_smem_to_gmem %xs, %y[ds(%row, 32), :]\n"
                            "  wait_smem_to_gmem 0\n"
                            "}\n";
enum { TILES_BYTES = 64 * 64 * 4 };

static const char spaces[] = "kernel @k(%y: out gmem i32[128]) grid(i = 2) {\n"
                             "  scratch %list : gmem i32[128] init(arange)\n"
                             "  scratch %zeros : gmem i32[4] init(zeros)\n"
                             "  scratch %pairs : gmem f64[2] init(1.5)\n"
                             "  scratch %done : semaphore[1] global\n"
                             "  if (eq (axis_index i), 0) {\n"
                             "    semaphore_signal %done[0], 1\n"
                             "  } else {\n"
                             "    semaphore_wait %done[0], 1\n"
                             "    atomic_add %zeros[0], 1\n"
                             "    store %y, (add (load %list), (cast (load %pairs[0]) : i32))\n"
                             "  }\n"
                             "}\n";
enum { SPACES_BYTES = 512 };

static const char grids[] = "kernel @first(%x: inout gmem i32[128]) {\n"
                            "  store %x, (add (load %x), 1)\n"
                            "}\n"
                            "kernel @k(%x: inout gmem i32[128]) {\n"
                            "  griddepcontrol_wait\n"
                            "  store %x, (add (load %x), 1)\n"
                            "}\n"
                            "launch @first(%x)\n"
                            "launch @k(%x) dependent\n";

static const size_t plain_sizes[] = {8, 4, 1, 8, 32};
static const size_t tiles_sizes[] = {128, 128, 32};
static const size_t spaces_sizes[] = {8, 8, 8, 8, 8, 32};
static const size_t grids_sizes[] = {8, 32};

static fake_cuda_state *fake;
static char first_context[] = "context", other_context[] = "other context";
static _Alignas(256) char memory[8][TILES_BYTES]; /* of the device */

static grout_cu_context as_context(char *name) {
    return (grout_cu_context)(void *)name;
}

/* What the last launch had. */
static struct {
    grout_cu_launch_config config;
    grout_cu_launch_attribute attributes[4];
    uint64_t values[8][16]; /* of the first parameters, as many bytes as they have */
} seen;

static void see(const grout_cu_launch_config *config, void **params) {
    seen.config = *config;
    ck_assert_uint_le(config->attribute_count, 4);
    for (uint32_t i = 0; i < config->attribute_count; i++) {
        seen.attributes[i] = config->attributes[i];
    }
    memset(seen.values, 0, sizeof seen.values);
    for (size_t i = 0; i < fake->param_count; i++) {
        memcpy(seen.values[i], params[i], fake->param_sizes[i]);
    }
}

static void reset(const size_t *sizes, size_t count) {
    memset(fake, 0, sizeof *fake);
    fake->context = as_context(first_context);
    fake->cc_major = 9;
    fake->on_launch = see;
    fake->param_count = count;
    memcpy(fake->param_sizes, sizes, count * sizeof *sizes);
}
#define RESET(sizes) reset(sizes, sizeof sizes / sizeof sizes[0])

static const grout_binary good = {.data = (char[]){"good"}, .size = 5};

static grout_gpu_kernel *make(const char *text, grout_gpu_kernel_options options,
                              grout_diags *diags) {
    grout_module *module = bind_text("k.grout", text, diags);
    options.binary = options.binary == NULL ? &good : options.binary;
    grout_gpu_kernel *kernel =
        grout_gpu_kernel_new(module, grout_module_find_kernel(module, "k"), &options, diags);
    grout_module_free(module); /* the kernel needs it no more */
    return kernel;
}

static grout_gpu_kernel *make_good(const char *text, grout_gpu_kernel_options options,
                                   grout_diags *diags) {
    grout_gpu_kernel *kernel = make(text, options, diags);
    if (kernel == NULL) {
        fail_with_diags("make_good", diags, text);
    }
    return kernel;
}

static void end(grout_gpu_kernel *kernel, grout_diags *diags) {
    grout_gpu_kernel_free(kernel);
    grout_diags_free(diags);
    ck_assert_int_eq(fake->live, 0);
}

static void *as_pointer(uint64_t address) {
    void *pointer = NULL;
    memcpy(&pointer, &address, sizeof pointer);
    return pointer;
}

static void *as_stream(int number) {
    return as_pointer((uint64_t)number);
}

static void launch(grout_gpu_kernel *kernel, const grout_argument *arguments, size_t count,
                   int stream, grout_diags *diags) {
    fake->log_size = 0;
    fake->log[0] = '\0';
    if (!grout_gpu_kernel_launch(kernel, arguments, count, as_stream(stream), diags)) {
        fail_with_diags("launch", diags, fake->log);
    }
}

static int count_lines(const char *line) {
    int count = 0;
    for (const char *at = fake->log; (at = strstr(at, line)) != NULL; at += strlen(line)) {
        count++;
    }
    return count;
}

/* A refusal that says so, and has left nothing on a stream. */
static void expect_refusal(grout_gpu_kernel *kernel, const grout_argument *arguments, size_t count,
                           const char *words) {
    grout_diags *diags = grout_diags_new();
    fake->log_size = 0;
    fake->log[0] = '\0';
    ck_assert_msg(!grout_gpu_kernel_launch(kernel, arguments, count, NULL, diags), "%s", words);
    ck_assert_uint_eq(grout_diags_count(diags), 1);
    ck_assert_int_eq(grout_diags_get(diags, 0)->code, GROUT_DIAG_BAD_ARGUMENT);
    ck_assert_msg(strstr(grout_diags_get(diags, 0)->message, words) != NULL, "%s: %s", words,
                  grout_diags_get(diags, 0)->message);
    ck_assert_msg(strstr(fake->log, " on ") == NULL, "%s: %s", words, fake->log);
    grout_diags_free(diags);
}

TEST(parameters_arrive) {
    grout_diags *diags = grout_diags_new();
    RESET(plain_sizes);
    grout_gpu_kernel *kernel = make_good(plain, (grout_gpu_kernel_options){0}, diags);
    float s = 2.5f;
    signed char n = -3;
    const grout_argument arguments[] = {
        {memory[0], PLAIN_BYTES}, {&s, 4}, {&n, 1}, {memory[1], PLAIN_BYTES}};
    launch(kernel, arguments, 4, 7, diags);
    ck_assert_ptr_eq(as_pointer(seen.values[0][0]), memory[0]);
    ck_assert_mem_eq(seen.values[1], &s, 4);
    ck_assert_mem_eq(seen.values[2], &n, 1);
    ck_assert_ptr_eq(as_pointer(seen.values[3][0]), memory[1]);
    ck_assert_uint_eq(seen.config.grid[0], 2);
    ck_assert_uint_eq(seen.config.grid[1], 1);
    ck_assert_uint_eq(seen.config.block[0], 128);
    ck_assert_uint_eq(seen.config.attribute_count, 0);
    ck_assert_ptr_eq(seen.config.stream, as_stream(7));
    ck_assert_str_eq(fake->log, "ask\nask\nlaunch k on 7\n"); /* 'out' is not filled */
    s = 1;
    launch(kernel, arguments, 4, 7, diags); /* the same addresses: nothing is asked */
    ck_assert_str_eq(fake->log, "launch k on 7\n");
    ck_assert_mem_eq(seen.values[1], &s, 4);
    end(kernel, diags);
}

/* Elements of less than a byte have others beside them in it. */
TEST(bits_above_a_scalar_do_not_count) {
    static const char text[] = "kernel @k(%n: i4, %y: out gmem i32[128]) {\n"
                               "  store %y, (broadcast (cast %n : i32) : i32[128])\n"
                               "}\n";
    static const size_t sizes[] = {1, 8, 32};
    grout_diags *diags = grout_diags_new();
    RESET(sizes);
    grout_gpu_kernel *kernel = make_good(text, (grout_gpu_kernel_options){0}, diags);
    unsigned char n = 0xfe;
    const grout_argument arguments[] = {{&n, 1}, {memory[0], 512}};
    launch(kernel, arguments, 2, 1, diags);
    ck_assert_uint_eq(seen.values[0][0], 0x0e);
    end(kernel, diags);
}

TEST(a_watchdog_of_the_binary_never_ends_a_wait) {
    grout_diags *diags = grout_diags_new();
    RESET(grids_sizes);
    grout_gpu_kernel *kernel = make_good(grids, (grout_gpu_kernel_options){0}, diags);
    const grout_argument x = {memory[0], 512};
    launch(kernel, &x, 1, 1, diags);
    grout_gpu__watchdog dog;
    memcpy(&dog, seen.values[1], sizeof dog);
    ck_assert_uint_eq(dog.limit_ns, UINT64_MAX);
    ck_assert_uint_eq(dog.capacity, 0);
    const uint64_t *state = as_pointer(dog.state);
    ck_assert_ptr_nonnull(state);
    ck_assert_uint_eq(*state, 0);
    end(kernel, diags);
}

TEST(outputs_are_filled_on_request) {
    grout_diags *diags = grout_diags_new();
    RESET(plain_sizes);
    grout_gpu_kernel *kernel =
        make_good(plain, (grout_gpu_kernel_options){.fills_outputs = true}, diags);
    float s = 2;
    signed char n = 0;
    const grout_argument arguments[] = {
        {memory[0], PLAIN_BYTES}, {&s, 4}, {&n, 1}, {memory[1], PLAIN_BYTES}};
    memset(memory[1], 0, PLAIN_BYTES);
    launch(kernel, arguments, 4, 3, diags);
    ck_assert_ptr_nonnull(strstr(fake->log, "fill 256 of "));
    ck_assert_ptr_nonnull(strstr(fake->log, " on 3\nlaunch k on 3\n"));
    ck_assert(memory[1][0] != 0);
    end(kernel, diags);
}

/* A map is encoded once for each of the last four addresses. */
TEST(maps_are_encoded_once) {
    grout_diags *diags = grout_diags_new();
    RESET(tiles_sizes);
    grout_gpu_kernel *kernel = make_good(tiles, (grout_gpu_kernel_options){0}, diags);
    static const struct {
        int x, encodings;
    } launches[] = {{0, 2}, {0, 0}, {1, 1}, {0, 0}, {2, 1}, {3, 1}, {1, 0}, {0, 0}, {4, 1}, {0, 1}};
    for (size_t i = 0; i < sizeof launches / sizeof launches[0]; i++) {
        const grout_argument arguments[] = {{memory[launches[i].x], TILES_BYTES},
                                            {memory[7], TILES_BYTES}};
        launch(kernel, arguments, 2, 1, diags);
        ck_assert_msg(count_lines("encode\n") == launches[i].encodings, "launch %zu: %s", i,
                      fake->log);
        /* what the fake encodes has the address third */
        ck_assert_ptr_eq(as_pointer(seen.values[0][2]), memory[launches[i].x]);
        ck_assert_ptr_eq(as_pointer(seen.values[1][2]), memory[7]);
    }
    ck_assert_uint_eq(seen.config.attribute_count, 1);
    ck_assert_uint_eq(seen.attributes[0].id, GROUT_CU_LAUNCH_CLUSTER_DIMENSION);
    ck_assert_uint_eq(seen.attributes[0].value.cluster[0], 2);
    ck_assert_uint_ge(seen.config.dynamic_smem_bytes, 8192);
    end(kernel, diags);
}

/* A kernel that spoils its workspaces. */
static void spoil(const grout_cu_launch_config *config, void **params) {
    see(config, params);
    int *list = as_pointer(seen.values[1][0]);
    int *zeros = as_pointer(seen.values[2][0]);
    double *pairs = as_pointer(seen.values[3][0]);
    uint64_t *done = as_pointer(seen.values[4][0]);
    for (int i = 0; i < 128; i++) {
        ck_assert_int_eq(list[i], i);
        list[i] = -1;
    }
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(zeros[i], 0);
        zeros[i] = 5;
    }
    ck_assert_double_eq(pairs[0], 1.5);
    ck_assert_double_eq(pairs[1], 1.5);
    pairs[0] = pairs[1] = 0;
    ck_assert_uint_eq(*done, 0);
    *done = 77;
}

TEST(workspaces_are_as_new_in_each_launch) {
    grout_diags *diags = grout_diags_new();
    const grout_argument y = {memory[0], SPACES_BYTES};
    RESET(spaces_sizes);
    fake->on_launch = spoil;
    grout_gpu_kernel *kernel = make_good(spaces, (grout_gpu_kernel_options){0}, diags);
    fake->log_size = 0;
    launch(kernel, &y, 1, 5, diags);
    launch(kernel, &y, 1, 5, diags);
    /* in the order of the stream: what came before, fills, kernel, mark */
    ck_assert_ptr_eq(strstr(fake->log, "wait "), fake->log);
    const char *start = strstr(fake->log, "\ncopy 1280 on 5\nlaunch k on 5\nrecord "); /* at once */
    ck_assert_ptr_nonnull(start);
    ck_assert_int_eq(count_lines(" on 5\n"), 4);
    /* CTAs that wait for each other begin together */
    ck_assert_uint_eq(seen.config.attribute_count, 1);
    ck_assert_uint_eq(seen.attributes[0].id, GROUT_CU_LAUNCH_COOPERATIVE);
    end(kernel, diags);
}

static const char large[] =
    "kernel @k(%y: out gmem i32[128]) {\n"
    "  scratch %zeros : gmem i32[4] init(zeros)\n"
    "  scratch %many : gmem i32[16385] init(zeros)\n"
    "  scratch %pairs : gmem f64[8193] init(1.5)\n"
    "  scratch %edge : gmem u16[32768] init(zeros)\n"
    "  scratch %done : semaphore[1] global\n"
    "  semaphore_signal %done[0], 1\n"
    "  semaphore_wait %done[0], 1\n"
    "  %some = add (load %zeros[0]), (load %many[0])\n"
    "  %others = add (cast (load %pairs[0]) : i32), (cast (load %edge[0]) : i32)\n"
    "  store %y, (broadcast (add %some, %others) : i32[128])\n"
    "}\n";
static const size_t large_sizes[] = {8, 8, 8, 8, 8, 8, 32};

/* A kernel that spoils large workspaces. */
static void spoil_large(const grout_cu_launch_config *config, void **params) {
    see(config, params);
    unsigned char *const zeros[] = {as_pointer(seen.values[1][0]), as_pointer(seen.values[2][0]),
                                    as_pointer(seen.values[4][0]), as_pointer(seen.values[5][0])};
    const size_t zero_sizes[] = {16, 65540, 65536, 8};
    double *pairs = as_pointer(seen.values[3][0]);
    for (int i = 0; i < 4; i++) {
        /* the first byte, and each like the one before */
        ck_assert_uint_eq(zeros[i][0], 0);
        ck_assert_mem_eq(zeros[i], zeros[i] + 1, zero_sizes[i] - 1);
        memset(zeros[i], 0xff, zero_sizes[i]);
    }
    int wrong = 0;
    for (int i = 0; i < 8193; i++) {
        wrong += pairs[i] < 1.5 || pairs[i] > 1.5;
        pairs[i] = 0;
    }
    ck_assert_int_eq(wrong, 0);
}

/* What has one pattern is filled at once; 64 KiB are small, a word more is large. */
TEST(large_workspaces_are_filled) {
    grout_diags *diags = grout_diags_new();
    const grout_argument y = {memory[0], SPACES_BYTES};
    RESET(large_sizes);
    fake->on_launch = spoil_large;
    grout_gpu_kernel *kernel = make_good(large, (grout_gpu_kernel_options){0}, diags);
    launch(kernel, &y, 1, 6, diags);
    launch(kernel, &y, 1, 6, diags);
    /* 256 + 65,536 + 256 bytes of small ones, 65,792 of %many; 65,792 in 8-byte halves of 1.5 */
    ck_assert_int_eq(count_lines("fill 32960 of 00000000 on 6\nfill 8224 rows of "), 1);
    ck_assert_int_eq(count_lines("fill "), 3);
    ck_assert_int_eq(count_lines("copy "), 0);
    end(kernel, diags);
}

TEST(streams_share_sets_of_workspaces) {
    const grout_argument y = {memory[0], SPACES_BYTES};
    static const struct {
        uint32_t sets;
        int stream;
        bool is_waiting; /* for a launch before */
        int same_as;     /* the launch whose memory it has; -1: none */
    } launches[] = {{1, 1, false, -1}, {1, 2, true, 0}, {1, 1, true, 0}, {2, 1, false, -1},
                    {2, 2, false, -1}, {2, 1, true, 3}, {2, 2, true, 4}, {2, 3, true, 4},
                    {2, 3, true, 4},   {2, 2, true, 3}};
    uint64_t bases[sizeof launches / sizeof launches[0]];
    grout_diags *diags = grout_diags_new();
    grout_gpu_kernel *kernel = NULL;
    RESET(spaces_sizes);
    for (int i = 0; i < (int)(sizeof launches / sizeof launches[0]); i++) {
        /* A new kernel may get the memory that the one before has given back. */
        const bool is_first = i == 0 || launches[i].sets != launches[i - 1].sets;
        if (is_first) {
            grout_gpu_kernel_free(kernel);
            kernel = make_good(
                spaces, (grout_gpu_kernel_options){.workspace_set_count = launches[i].sets}, diags);
        }
        launch(kernel, &y, 1, launches[i].stream, diags);
        bases[i] = seen.values[1][0];
        ck_assert_msg((count_lines("wait ") == 1) == launches[i].is_waiting, "launch %d: %s", i,
                      fake->log);
        for (int k = 0; k < i; k++) {
            ck_assert_msg(k != launches[i].same_as || bases[k] == bases[i], "launch %d", i);
        }
        ck_assert_msg(is_first || launches[i].same_as >= 0 || bases[i] != bases[i - 1], "launch %d",
                      i);
    }
    end(kernel, diags);
}

TEST(wrong_arguments_are_refused) {
    grout_diags *diags = grout_diags_new();
    RESET(plain_sizes);
    grout_gpu_kernel *kernel = make_good(plain, (grout_gpu_kernel_options){0}, diags);
    float s = 2;
    signed char n = 0;
    const grout_argument right[] = {
        {memory[0], PLAIN_BYTES}, {&s, 4}, {&n, 1}, {memory[1], PLAIN_BYTES}};
    const struct {
        uint32_t index;
        grout_argument argument;
        const char *words;
    } wrong[] = {
        {0, {NULL, PLAIN_BYTES}, "argument 'x' of kernel '@k' is NULL"},
        {1, {NULL, 4}, "argument 's' of kernel '@k' is NULL"},
        {3, {memory[1], PLAIN_BYTES - 4}, "'y' of kernel '@k' has 1024 bytes, but 1020 were given"},
        {1, {&s, 8}, "'s' of kernel '@k' has 4 bytes, but 8 were given"},
        {0, {memory[0] + 8, PLAIN_BYTES}, "which is not a multiple of 16 bytes"},
        {0, {memory[2], PLAIN_BYTES}, "where kernels of this context have no memory"},
        {3,
         {memory[0] + PLAIN_BYTES - 16, PLAIN_BYTES},
         "the arguments for 'y', which kernel '@k' writes, and 'x' have bytes in common"},
        {0,
         {memory[1] + PLAIN_BYTES - 16, PLAIN_BYTES},
         "the arguments for 'y', which kernel '@k' writes, and 'x' have bytes in common"},
        {0,
         {memory[0] + TILES_BYTES - PLAIN_BYTES + 16, PLAIN_BYTES},
         "the arguments for 'y', which kernel '@k' writes, and 'x' have bytes in common"},
        {0,
         {memory[1], PLAIN_BYTES},
         "the arguments for 'y', which kernel '@k' writes, and 'x' have bytes in common"},
    };
    fake->on_host = memory[2];
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        grout_argument arguments[4];
        memcpy(arguments, right, sizeof arguments);
        arguments[wrong[i].index] = wrong[i].argument;
        expect_refusal(kernel, arguments, 4, wrong[i].words);
        launch(kernel, right, 4, 1, diags); /* what was refused has left nothing behind */
        expect_refusal(kernel, arguments, 4, wrong[i].words);
    }
    expect_refusal(kernel, right, 3, "kernel '@k' takes 4 arguments, but 3 were given");
    const grout_argument neighbours[] = {
        {memory[0], PLAIN_BYTES}, {&s, 4}, {&n, 1}, {memory[0] + PLAIN_BYTES, PLAIN_BYTES}};
    launch(kernel, neighbours, 4, 1, diags);
    end(kernel, diags);
}

TEST(wrong_contexts_and_streams_are_refused) {
    grout_diags *diags = grout_diags_new();
    const grout_argument y = {memory[0], SPACES_BYTES};
    RESET(spaces_sizes);
    grout_gpu_kernel *kernel = make_good(spaces, (grout_gpu_kernel_options){0}, diags);
    fake->context = as_context(other_context);
    expect_refusal(kernel, &y, 1, "than the one that is current in this OS thread");
    fake->context = NULL;
    expect_refusal(kernel, &y, 1, "than the one that is current in this OS thread");
    fake->context = as_context(first_context);
    fake->stream_context = as_context(other_context);
    expect_refusal(kernel, &y, 1, "than that of the stream");
    fake->stream_context = NULL;
    fake->is_capturing = 1;
    expect_refusal(kernel, &y, 1, "the stream is being captured");
    fake->is_capturing = 0;
    launch(kernel, &y, 1, 1, diags);
    grout_gpu_kernel_free(kernel);
    RESET(plain_sizes);
    kernel = make_good(plain, (grout_gpu_kernel_options){0}, diags);
    float s = 2;
    signed char n = 0;
    const grout_argument arguments[] = {
        {memory[0], PLAIN_BYTES}, {&s, 4}, {&n, 1}, {memory[1], PLAIN_BYTES}};
    fake->is_capturing = 1;
    launch(kernel, arguments, 4, 1, diags); /* without workspaces a graph can hold it */
    end(kernel, diags);
}

/* Making fails: the code and words of the last diagnostic, and nothing stays on the device. */
static void expect_unmade(const char *text, grout_gpu_kernel_options options, grout_diag_code code,
                          const char *words) {
    grout_diags *diags = grout_diags_new();
    ck_assert_msg(make(text, options, diags) == NULL, "%s", words);
    const grout_diag *diag = grout_diags_get(diags, grout_diags_count(diags) - 1);
    ck_assert_msg(diag->code == code && strstr(diag->message, words) != NULL, "%s: %s", words,
                  diag->message);
    ck_assert_int_eq(fake->live, 0);
    grout_diags_free(diags);
}

TEST(what_cannot_be_loaded_is_refused) {
    const grout_binary wrong = {.data = (char[]){"wrong"}, .size = 6};
    const grout_binary empty = {.size = 0};
    const grout_gpu_kernel_options none = {0};
    RESET(spaces_sizes);
    fake->context = NULL;
    expect_unmade(spaces, none, GROUT_DIAG_BAD_ARGUMENT, "no CUDA context is current");
    RESET(spaces_sizes);
    fake->cc_major = 8;
    expect_unmade(spaces, none, GROUT_DIAG_GPU_MISSING, "(Fake H200) has 8.0");
    RESET(spaces_sizes);
    expect_unmade(spaces, (grout_gpu_kernel_options){.binary = &wrong}, GROUT_DIAG_GPU_UNSUPPORTED,
                  "load the compiled kernel");
    expect_unmade(spaces, (grout_gpu_kernel_options){.binary = &empty}, GROUT_DIAG_BAD_ARGUMENT,
                  "has no data");
    expect_unmade(plain, none, GROUT_DIAG_BAD_ARGUMENT, "takes other parameters");
    expect_unmade(spaces, (grout_gpu_kernel_options){.is_dependent = true}, GROUT_DIAG_BAD_ARGUMENT,
                  "no launch of kernel '@k' is 'dependent'");
    expect_unmade(spaces, (grout_gpu_kernel_options){.workspace_set_count = 17},
                  GROUT_DIAG_BAD_ARGUMENT, "17 sets of workspaces were asked for, of at most 16");
    fake->param_sizes[0] = 4;
    expect_unmade(spaces, none, GROUT_DIAG_BAD_ARGUMENT, "takes other parameters");
    RESET(spaces_sizes);
    fake->param_count--;
    expect_unmade(spaces, none, GROUT_DIAG_BAD_ARGUMENT, "takes other parameters");
    RESET(spaces_sizes);
    fake->param_sizes[fake->param_count++] = 8;
    expect_unmade(spaces, none, GROUT_DIAG_BAD_ARGUMENT, "takes other parameters");
}

TEST(sets_may_be_sixteen) {
    grout_diags *diags = grout_diags_new();
    RESET(spaces_sizes);
    grout_gpu_kernel *kernel = make_good(
        spaces, (grout_gpu_kernel_options){.workspace_set_count = GROUT_GPU_WORKSPACE_SETS_MAX},
        diags);
    ck_assert_int_eq(fake->live, 1 + 1 + GROUT_GPU_WORKSPACE_SETS_MAX); /* code, memory, events */
    end(kernel, diags);
}

TEST(dependent_launches_say_so) {
    grout_diags *diags = grout_diags_new();
    const grout_argument x = {memory[0], 512};
    RESET(grids_sizes);
    grout_gpu_kernel *kernel =
        make_good(grids, (grout_gpu_kernel_options){.is_dependent = true}, diags);
    launch(kernel, &x, 1, 1, diags);
    ck_assert_uint_eq(seen.config.attribute_count, 1);
    ck_assert_uint_eq(seen.attributes[0].id, GROUT_CU_LAUNCH_PROGRAMMATIC_SERIALIZATION);
    ck_assert_int_eq(seen.attributes[0].value.flag, 1);
    grout_gpu_kernel_free(kernel);
    kernel = make_good(grids, (grout_gpu_kernel_options){0}, diags);
    launch(kernel, &x, 1, 1, diags);
    ck_assert_uint_eq(seen.config.attribute_count, 0);
    end(kernel, diags);
}

/* Each call of the driver that making consists of. */
TEST(failures_while_loading_leave_nothing) {
    static const char *const calls[] = {"cuCtxGetCurrent", "cuCtxGetDevice", "cuModuleLoadData",
                                        "cuMemAlloc",      "cuMemcpyHtoD",   "cuEventCreate"};
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        RESET(spaces_sizes);
        fake->failing = calls[i];
        fake->failure = 715;
        expect_unmade(spaces, (grout_gpu_kernel_options){.workspace_set_count = 2},
                      GROUT_DIAG_GPU_FAULT, "CUDA_ERROR_ILLEGAL_INSTRUCTION");
    }
}

/* Each call of the driver that a launch consists of; the next launch works. */
TEST(failures_while_launching_are_reported) {
    static const char *const calls[] = {
        "cuCtxGetCurrent",   "cuStreamGetCtx",    "cuPointerGetAttribute", "cuStreamIsCapturing",
        "cuStreamWaitEvent", "cuMemcpyDtoDAsync", "cuLaunchKernelEx",      "cuEventRecord",
        "cuMemsetD32Async",  "cuMemsetD2D32Async"};
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        const bool is_large = strstr(calls[i], "cuMemset") != NULL;
        grout_diags *diags = grout_diags_new();
        const grout_argument first = {memory[0], SPACES_BYTES};
        const grout_argument second = {memory[1], SPACES_BYTES};
        if (is_large) {
            RESET(large_sizes);
        } else {
            RESET(spaces_sizes);
        }
        grout_gpu_kernel *kernel =
            make_good(is_large ? large : spaces, (grout_gpu_kernel_options){0}, diags);
        launch(kernel, &first, 1, 1, diags);
        fake->failing = calls[i];
        fake->failure = i % 2 == 0 ? 715 : 999;
        ck_assert_msg(!grout_gpu_kernel_launch(kernel, &second, 1, NULL, diags), "%s", calls[i]);
        const grout_diag *diag = grout_diags_get(diags, 0);
        ck_assert_int_eq(diag->code, i % 2 == 0 ? GROUT_DIAG_GPU_FAULT : GROUT_DIAG_GPU_DRIVER);
        ck_assert_ptr_nonnull(strstr(diag->message, i % 2 == 0 ? "CUDA_ERROR_ILLEGAL_INSTRUCTION"
                                                               : "CUDA_ERROR_FAKE"));
        fake->failing = NULL;
        launch(kernel, &second, 1, 2, diags);
        end(kernel, diags);
    }
}

TEST(a_map_that_cannot_be_encoded_is_reported) {
    grout_diags *diags = grout_diags_new();
    const grout_argument arguments[] = {{memory[0], TILES_BYTES}, {memory[1], TILES_BYTES}};
    RESET(tiles_sizes);
    grout_gpu_kernel *kernel = make_good(tiles, (grout_gpu_kernel_options){0}, diags);
    fake->failing = "cuTensorMapEncodeTiled";
    fake->failure = 1;
    ck_assert(!grout_gpu_kernel_launch(kernel, arguments, 2, NULL, diags));
    ck_assert_ptr_nonnull(strstr(grout_diags_get(diags, 0)->message, "encode a tensor map"));
    fake->failing = NULL;
    launch(kernel, arguments, 2, 1, diags); /* what failed is not kept */
    ck_assert_int_eq(count_lines("encode\n"), 2);
    end(kernel, diags);
}

/* The context is gone before the kernel: nothing of the device is touched. */
TEST(a_kernel_outlives_its_context) {
    grout_diags *diags = grout_diags_new();
    RESET(plain_sizes);
    grout_gpu_kernel *kernel = make_good(plain, (grout_gpu_kernel_options){0}, diags);
    const int live = fake->live;
    fake->failing = "cuCtxPushCurrent";
    fake->failure = 709;
    grout_gpu_kernel_free(kernel);
    ck_assert_int_eq(fake->live, live);
    free(fake->last_memory);
    grout_gpu_kernel_free(NULL);
    grout_diags_free(diags);
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
