/*
 * launch_on_gpu.c - kernels launched in this process, on several streams, against the interpreter;
 * and what a launch costs the host.
 * SPDX-License-Identifier: Apache-2.0
 *
 * usage: launch_on_gpu SOURCE_FOLDER [NVRTC]
 *
 * Exit code 77 without a GPU. Each kernel has STREAMS streams with arrays of their own, and is
 * launched ROUNDS times on each in turn, so that launches of one kernel overlap.
 */
#include "gpu_backend/run/driver.h"
#include "grout-internal/compare.h"
#include "grout-internal/generate.h"
#include "grout-internal/gpu.h"
#include "grout-internal/interp.h"
#include "grout-internal/text.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STREAMS  3
#define ROUNDS   4
#define LAUNCHES 1000
#define PARAMS   16

/* Clusters whose CTAs wait for those of others: all have to be on the GPU at once. */
static const char meeting[] =
    "kernel @meet(%x: in gmem i32[8, 128], %y: out gmem i32[8, 128]) grid(g = 4) cluster(c = 2) {\n"
    "  scratch %done : semaphore[8] global\n"
    "  %me = add (mul (axis_index g), 2), (axis_index c)\n"
    "  semaphore_signal %done[(rem (add %me, 3), 8)], 1\n"
    "  semaphore_wait %done[%me], 1\n"
    "  store %y[%me], (add (load %x[%me]), %me)\n"
    "}\n";

typedef struct subject {
    const char *file, *kernel; /* file NULL: the text above */
    const char *what;          /* it is here for */
    uint32_t set_count;
    bool is_timed;
} subject;

static const subject subjects[] = {
    {"kernels/add_tma.grout", "add_tma", "TMA", 0, true},
    {"kernels/matmul_hopper_ws.grout", "matmul_hopper_ws", "TMA, wgmma, registers", 0, true},
    {"kernels/matmul_hopper_cluster.grout", "matmul_hopper_cluster", "clusters, multicast", 0,
     true},
    {"kernels/softmax_cluster.grout", "softmax_cluster", "clusters, no TMA", 0, false},
    {"kernels/conv_implicit_gemm.grout", "conv_implicit_gemm", "im2col", 0, false},
    {"kernels/split_k.grout", "ordered", "semaphores", 0, true},
    {"kernels/split_k.grout", "ordered", "semaphores, two sets", 2, false},
    {"kernels/split_k.grout", "unordered", "inout, atomics", 0, false},
    {"kernels/matmul_stream_k.grout", "matmul_stream_k", "scratch, semaphores", 3, true},
    {"kernels/scan.grout", "scan", "scratch, CTAs that wait for others", 0, true},
    {"kernels/normalise_grid.grout", "normalise_grid", "a grid that meets", 2, true},
    {NULL, "meet", "clusters that meet", 2, true},
    {"kernels/tiles_dynamic.grout", "tiles_dynamic", "inout counter", 0, false},
    {"tests/differential/inits.grout", "inits", "scalars, scratch with contents", 2, true},
};

/* What this test calls of the driver, beside what grout does. */
typedef struct cuda {
    grout_gpu_driver driver;
    grout_cu_result (*stream_create)(grout_cu_stream *, unsigned);
    grout_cu_result (*stream_synchronize)(grout_cu_stream);
    grout_cu_result (*copy_in)(grout_cu_address, const void *, size_t, grout_cu_stream);
    grout_cu_result (*launch_kernel)(grout_cu_function, unsigned, unsigned, unsigned, unsigned,
                                     unsigned, unsigned, unsigned, grout_cu_stream, void **,
                                     void **);
} cuda;

static void die(const char *what, const grout_diags *diags) {
    const grout_render_options plain = {.color = false};
    grout_text shown = {0};
    if (diags != NULL) {
        grout_diags_render(diags, &plain, &shown);
    }
    printf("FAILED: %s\n%s", what, shown.data == NULL ? "" : shown.data);
    exit(1);
}

static void must(int result, const char *what) {
    if (result != 0) {
        printf("FAILED: %s: CUDA error %d\n", what, result);
        exit(1);
    }
}

static void find(const cuda *c, const char *name, void *function) {
    void *symbol = dlsym(c->driver.library, name);
    must(symbol == NULL, name);
    memcpy(function, &symbol, sizeof symbol);
}

/* A context of the caller's, as PyTorch would have it. */
static void open_cuda(cuda *c) {
    grout_gpu_error error = {0};
    grout_gpu_device device;
    if (!grout_gpu__driver_open(&c->driver, &error) ||
        !grout_gpu__driver_device_info(&c->driver, 0, &device, &error)) {
        printf("skipped: %s\n", error.text);
        exit(77);
    }
    if (device.cc_major != 9) {
        printf("skipped: the GPU is a %s, not of compute capability 9.0\n", device.name);
        exit(77);
    }
    printf("%s\n", device.name);
    if (!grout_gpu__driver_select(&c->driver, 0, &error)) {
        die(error.text, NULL);
    }
    find(c, "cuStreamCreate", &c->stream_create);
    find(c, "cuStreamSynchronize", &c->stream_synchronize);
    find(c, "cuMemcpyHtoDAsync_v2", &c->copy_in);
    find(c, "cuLaunchKernel", &c->launch_kernel);
}

/* ---- kernels ---- */

static char *read_text(const char *folder, const char *name, size_t *size_out) {
    char path[1024];
    char *text = malloc(1 << 20);
    must(text == NULL, "no memory");
    if (name == NULL) {
        *size_out = sizeof meeting - 1;
        memcpy(text, meeting, sizeof meeting);
        return text;
    }
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        die(path, NULL);
    }
    *size_out = fread(text, 1, 1 << 20, file);
    (void)fclose(file);
    return text;
}

static grout_module *bind(const char *folder, const char *name, grout_diags *diags) {
    size_t size;
    char *text = read_text(folder, name, &size);
    grout_module *symbolic = grout_parse(name == NULL ? "meeting" : name, text, size, diags);
    grout_module *bound = symbolic == NULL ? NULL : grout_module_bind(symbolic, NULL, 0, diags);
    if (bound == NULL || !grout_verify(bound, GROUT_ARCH_SM_90A, diags)) {
        die("a kernel", diags);
    }
    grout_module_free(symbolic);
    free(text);
    return bound;
}

/* A kernel with the arrays of the host: what it is given, and what the interpreter makes of it. */
typedef struct example {
    grout_module *module;
    grout_kernel_id id;
    const grout_kernel *kernel;
    grout_argument given[PARAMS], expected[PARAMS];
    uint32_t count;
} example;

static bool is_array(const example *e, uint32_t i) {
    return grout_module_get_param(e->module, e->kernel, i)->direction != GROUT_DIRECTION_SCALAR;
}

static size_t size_of_param(const example *e, uint32_t i) {
    const grout_param *param = grout_module_get_param(e->module, e->kernel, i);
    return is_array(e, i)
               ? (size_t)grout_type_get_bytes(grout_module_get_type(e->module, param->value))
               : grout_dtype_get_info((grout_dtype)param->dtype)->bytes;
}

static void interpret(example *e, grout_diags *diags) {
    const grout_launch launch = {.module = e->module,
                                 .kernel = e->id,
                                 .arguments = e->expected,
                                 .argument_count = e->count,
                                 .numerics = GROUT_NUMERICS_EXACT};
    grout_machine *machine = grout_machine_new(&launch, diags);
    if (machine == NULL || grout_machine_run(machine, 0, diags) != GROUT_RUN_DONE) {
        die("the interpreter", diags);
    }
    grout_machine_free(machine);
}

static void make_example(example *e, const char *folder, const subject *s, grout_diags *diags) {
    e->module = bind(folder, s->file, diags);
    e->id = grout_module_find_kernel(e->module, s->kernel);
    must(e->id == 0, s->kernel);
    e->kernel = grout_module_get_kernel(e->module, e->id);
    e->count = e->kernel->param_count;
    must(e->count > PARAMS, "too many parameters");
    for (uint32_t i = 0; i < e->count; i++) {
        const size_t size = size_of_param(e, i);
        e->given[i] = (grout_argument){calloc(1, size), size};
        e->expected[i] = (grout_argument){calloc(1, size), size};
        if (grout_module_get_param(e->module, e->kernel, i)->direction != GROUT_DIRECTION_OUT) {
            grout_param_fill_default(e->module, e->kernel, i, e->given[i].data);
        }
        memcpy(e->expected[i].data, e->given[i].data, size);
    }
    interpret(e, diags);
}

static void free_example(example *e) {
    for (uint32_t i = 0; i < e->count; i++) {
        free(e->given[i].data);
        free(e->expected[i].data);
    }
    grout_module_free(e->module);
}

/* ---- on the GPU ---- */

static void *as_data(grout_cu_address address) {
    void *data = NULL;
    memcpy(&data, &address, sizeof data);
    return data;
}

static void allocate(const cuda *c, const example *e, grout_argument *out) {
    for (uint32_t i = 0; i < e->count; i++) {
        grout_cu_address address = 0;
        out[i] = e->given[i];
        if (is_array(e, i)) {
            must(c->driver.cu.mem_alloc(&address, e->given[i].size), "allocate");
            out[i].data = as_data(address);
        }
    }
}

static void upload(const cuda *c, const example *e, const grout_argument *to,
                   grout_cu_stream stream) {
    for (uint32_t i = 0; i < e->count; i++) {
        if (is_array(e, i)) {
            must(c->copy_in((grout_cu_address)(uintptr_t)to[i].data, e->given[i].data,
                            e->given[i].size, stream),
                 "copy in");
        }
    }
}

static void compare(const cuda *c, const example *e, const grout_argument *from,
                    grout_diags *diags) {
    const grout_compare_options options = grout_compare_get_default(e->module, e->id, true, true);
    for (uint32_t i = 0; i < e->count; i++) {
        if (!is_array(e, i)) {
            continue;
        }
        void *got = malloc(from[i].size);
        must(got == NULL, "no memory");
        must(c->driver.cu.memcpy_to_host(got, (grout_cu_address)(uintptr_t)from[i].data,
                                         from[i].size),
             "copy out");
        if (!grout_compare_array(e->module, e->id, i, e->expected[i].data, got, &options, diags)) {
            die("not what the interpreter says", diags);
        }
        free(got);
    }
}

static void run_on_streams(const cuda *c, const example *e, grout_gpu_kernel *kernel,
                           const grout_cu_stream *streams, grout_diags *diags) {
    grout_argument arguments[STREAMS][PARAMS];
    for (int s = 0; s < STREAMS; s++) {
        allocate(c, e, arguments[s]);
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (int s = 0; s < STREAMS; s++) {
            upload(c, e, arguments[s], streams[s]);
        }
        for (int s = 0; s < STREAMS; s++) {
            if (!grout_gpu_kernel_launch(kernel, arguments[s], e->count, streams[s], diags)) {
                die("a launch", diags);
            }
        }
    }
    for (int s = 0; s < STREAMS; s++) {
        must(c->stream_synchronize(streams[s]), "synchronise");
        compare(c, e, arguments[s], diags);
        for (uint32_t i = 0; i < e->count; i++) {
            if (is_array(e, i)) {
                must(c->driver.cu.mem_free((grout_cu_address)(uintptr_t)arguments[s][i].data),
                     "free");
            }
        }
    }
}

/* ---- times ---- */

static double now_us(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static int compare_doubles(const void *a, const void *b) {
    const double first = *(const double *)a, second = *(const double *)b;
    return (first > second) - (first < second);
}

static double take_median(double *times) {
    qsort(times, LAUNCHES, sizeof *times, compare_doubles);
    return times[LAUNCHES / 2];
}

/* Few at a time, so that no launch waits for room in the stream's queue. */
static void drain(const cuda *c, int i, grout_cu_stream stream) {
    if (i % 50 == 49) {
        must(c->stream_synchronize(stream), "synchronise");
    }
}

static const char empty_ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry empty(.param .align 64 .b8 a[128], .param .align 64 .b8 b[128],\n"
    "    .param .align 64 .b8 c[128], .param .align 8 .b8 d[32]) { ret; }\n";

/* cuLaunchKernel of a kernel that does nothing, with the parameters of one with three maps. */
static double time_bare(const cuda *c, grout_cu_stream stream) {
    static double times[LAUNCHES];
    static uint64_t values[4][16];
    void *params[] = {values[0], values[1], values[2], values[3]};
    grout_cu_module module = NULL;
    grout_cu_function function = NULL;
    must(c->driver.cu.module_load_data(&module, empty_ptx), "load the empty kernel");
    must(c->driver.cu.module_get_function(&function, module, "empty"), "find the empty kernel");
    for (int i = 0; i < LAUNCHES; i++) {
        const double start = now_us();
        const int result = c->launch_kernel(function, 4, 1, 1, 384, 1, 1, 0, stream, params, NULL);
        times[i] = now_us() - start;
        must(result, "launch the empty kernel");
        drain(c, i, stream);
    }
    must(c->driver.cu.module_unload(module), "unload");
    return take_median(times);
}

static double time_kernel(const cuda *c, const example *e, grout_gpu_kernel *kernel,
                          grout_cu_stream stream, grout_diags *diags) {
    static double times[LAUNCHES];
    grout_argument arguments[PARAMS];
    allocate(c, e, arguments);
    for (int i = 0; i < LAUNCHES; i++) {
        if (i % 50 == 0) {
            upload(c, e, arguments, stream);
            must(c->stream_synchronize(stream), "synchronise");
        }
        const double start = now_us();
        const bool is_done = grout_gpu_kernel_launch(kernel, arguments, e->count, stream, diags);
        times[i] = now_us() - start;
        if (!is_done) {
            die("a timed launch", diags);
        }
        drain(c, i, stream);
    }
    for (uint32_t i = 0; i < e->count; i++) {
        if (is_array(e, i)) {
            must(c->driver.cu.mem_free((grout_cu_address)(uintptr_t)arguments[i].data), "free");
        }
    }
    return take_median(times);
}

/* ---- what is refused ---- */

static void expect_refusal(const example *e, grout_gpu_kernel *kernel,
                           const grout_argument *arguments, const char *words) {
    grout_diags *diags = grout_diags_new();
    if (grout_gpu_kernel_launch(kernel, arguments, e->count, NULL, diags)) {
        die(words, NULL);
    }
    const grout_diag *diag = grout_diags_get(diags, 0);
    if (diag->code != GROUT_DIAG_BAD_ARGUMENT || strstr(diag->message, words) == NULL) {
        die(words, diags);
    }
    grout_diags_free(diags);
}

static void check_refusals(const cuda *c, const example *e, grout_gpu_kernel *kernel) {
    grout_argument good[PARAMS], bad[PARAMS];
    allocate(c, e, good);
    memcpy(bad, good, sizeof bad);
    bad[0].data = e->given[0].data;
    expect_refusal(e, kernel, bad, "where kernels of this context have no memory");
    bad[0].data = (char *)good[0].data + 4;
    expect_refusal(e, kernel, bad, "no multiple of 16 bytes");
    bad[0].data = good[e->count - 1].data;
    expect_refusal(e, kernel, bad, "have bytes in common");
    for (uint32_t i = 0; i < e->count; i++) {
        must(c->driver.cu.mem_free((grout_cu_address)(uintptr_t)good[i].data), "free");
    }
}

/* ---- OS threads ---- */

typedef struct worker {
    const cuda *c;
    const example *e;
    grout_gpu_kernel *kernel;
    grout_cu_stream stream;
} worker;

static void *work(void *payload) {
    const worker *w = payload;
    grout_argument arguments[PARAMS];
    grout_diags *diags = grout_diags_new();
    must(w->c->driver.cu.context_set_current(w->c->driver.context), "use the context");
    allocate(w->c, w->e, arguments);
    upload(w->c, w->e, arguments, w->stream);
    for (int i = 0; i < 200; i++) {
        if (!grout_gpu_kernel_launch(w->kernel, arguments, w->e->count, w->stream, diags)) {
            die("a launch of another OS thread", diags);
        }
    }
    must(w->c->stream_synchronize(w->stream), "synchronise");
    compare(w->c, w->e, arguments, diags);
    grout_diags_free(diags);
    return NULL;
}

static void run_in_threads(const cuda *c, const example *e, grout_gpu_kernel *kernel,
                           const grout_cu_stream *streams) {
    pthread_t threads[STREAMS];
    worker workers[STREAMS];
    for (int s = 0; s < STREAMS; s++) {
        workers[s] = (worker){c, e, kernel, streams[s]};
        must(pthread_create(&threads[s], NULL, work, &workers[s]), "start a thread");
    }
    for (int s = 0; s < STREAMS; s++) {
        must(pthread_join(threads[s], NULL), "join a thread");
    }
}

/* ---- dependent launches ---- */

enum { PARTIAL, WEIGHTED, TOTAL, CHAIN };

/* What a kernel of tests/differential/launches.grout writes, the next one reads. */
static void share(grout_argument (*arguments)[PARAMS]) {
    arguments[WEIGHTED][0] = arguments[PARTIAL][1];
    arguments[TOTAL][0] = arguments[WEIGHTED][2];
}

static void check_dependent(const cuda *c, const char *folder, const char *nvrtc,
                            grout_cu_stream stream) {
    static const char *const names[CHAIN] = {"partial", "weighted", "total"};
    grout_argument on_device[CHAIN][PARAMS], allocated[CHAIN][PARAMS];
    grout_gpu_kernel *kernels[CHAIN];
    example examples[CHAIN] = {{0}};
    grout_diags *diags = grout_diags_new();
    for (int i = 0; i < CHAIN; i++) {
        const subject s = {"tests/differential/launches.grout", names[i], "", 0, false};
        example *e = &examples[i];
        const grout_gpu_kernel_options options = {.nvrtc = {.library = nvrtc},
                                                  .is_dependent = i != PARTIAL};
        make_example(e, folder, &s, diags);
        if (i != PARTIAL) { /* again, with what the kernel before has made */
            const grout_argument *made = &examples[i - 1].expected[i == WEIGHTED ? 1 : 2];
            memcpy(e->expected[0].data, made->data, made->size);
            interpret(e, diags);
        }
        allocate(c, e, allocated[i]);
        upload(c, e, allocated[i], stream);
        memcpy(on_device[i], allocated[i], sizeof on_device[i]);
        kernels[i] = grout_gpu_kernel_new(e->module, e->id, &options, diags);
        if (kernels[i] == NULL) {
            die(names[i], diags);
        }
    }
    share(on_device);
    for (int i = 0; i < 20 * CHAIN; i++) {
        if (!grout_gpu_kernel_launch(kernels[i % CHAIN], on_device[i % CHAIN],
                                     examples[i % CHAIN].count, stream, diags)) {
            die("a dependent launch", diags);
        }
    }
    must(c->stream_synchronize(stream), "synchronise");
    for (int i = 0; i < CHAIN; i++) {
        compare(c, &examples[i], on_device[i], diags);
    }
    for (int i = 0; i < CHAIN; i++) {
        grout_gpu_kernel_free(kernels[i]);
        for (uint32_t k = 0; k < examples[i].count; k++) {
            must(c->driver.cu.mem_free((grout_cu_address)(uintptr_t)allocated[i][k].data), "free");
        }
        free_example(&examples[i]);
    }
    grout_diags_free(diags);
    printf("dependent launches       equal, 20 chains of %d\n", CHAIN);
}

int main(int argc, char **argv) {
    cuda c = {0};
    grout_cu_stream streams[STREAMS];
    must(argc < 2, "usage: launch_on_gpu SOURCE_FOLDER [NVRTC]");
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    open_cuda(&c);
    for (int s = 0; s < STREAMS; s++) {
        must(c.stream_create(&streams[s], 1), "make a stream"); /* 1: not blocking */
    }
    const double bare = time_bare(&c, streams[0]);
    printf("bare cuLaunchKernel: %.2f us\n", bare);
    double largest = 0;
    for (size_t i = 0; i < sizeof subjects / sizeof subjects[0]; i++) {
        const subject *s = &subjects[i];
        grout_diags *diags = grout_diags_new();
        example e = {0};
        make_example(&e, argv[1], s, diags);
        const grout_gpu_kernel_options options = {.nvrtc = {.library = argc > 2 ? argv[2] : NULL},
                                                  .fills_outputs = !s->is_timed,
                                                  .workspace_set_count = s->set_count};
        grout_gpu_kernel *kernel = grout_gpu_kernel_new(e.module, e.id, &options, diags);
        if (kernel == NULL) {
            die(s->kernel, diags);
        }
        run_on_streams(&c, &e, kernel, streams, diags);
        printf("%-24s equal on %d streams (%s)", s->kernel, STREAMS, s->what);
        if (s->is_timed) {
            const double time = time_kernel(&c, &e, kernel, streams[0], diags);
            printf(", %.2f us a launch: %+.2f us", time, time - bare);
            largest = time - bare > largest ? time - bare : largest;
        }
        printf("\n");
        if (i == 0) {
            check_refusals(&c, &e, kernel);
        }
        if (strcmp(s->kernel, "matmul_stream_k") == 0 || i == 1) {
            run_in_threads(&c, &e, kernel, streams);
        }
        grout_gpu_kernel_free(kernel);
        grout_diags_free(diags);
        free_example(&e);
    }
    check_dependent(&c, argv[1], argc > 2 ? argv[2] : NULL, streams[0]);
    printf("at most %.2f us more than cuLaunchKernel\n", largest);
    return 0;
}
