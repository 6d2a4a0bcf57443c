/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_matmul.c - time and memory of interpreter and checker for a matmul of Hopper and one of
 * Blackwell, or the one that is named, in bf16, beside the rate of the loop that multiplies its
 * tiles, in the same run on one OS thread. Each mode runs in a process of its own, so that its peak
 * memory is its own.
 * usage: bench_matmul [KERNEL [NAME=VALUE]..]
 */
#include "bench_util.h"
#include "interp/math/gemm.h" /* lint-allow: interp/math/gemm.h, the tile rate is that of the loop inside */

#include <stdint.h>

enum { DEFINES_MAX = 8, OWN_DEFINES = 3 };
enum { SIZE = 1024, RUNS = 9, TILE_M = 64, TILE_N = 256, TILE_K = 64, TILE_CALLS = 2000 };

/* A kernel with parameters %a, %b and %c and consts M, N and K, and what other consts are. */
typedef struct subject {
    const char *path;
    grout_define defines[DEFINES_MAX];
    uint32_t define_count;
} subject;

typedef struct mode {
    const char *name;
    grout_timing timing;
    bool check;
    int64_t k; /* depth of the product */
} mode;

typedef struct result {
    double seconds, mib_on_top, machine_mib, shadow_mib;
} result;

typedef struct arrays {
    uint16_t *a, *b, *c;
} arrays;

/* Small integers as bf16: their sums are exact. */
static uint16_t make_bf16(size_t i) {
    static const uint16_t values[] = {0xc040, 0xc000, 0xbf80, 0x0000, 0x3f80, 0x4000, 0x4040};
    return values[i * 2654435761u % 4294967291u % 7];
}

static arrays make_arrays(int64_t k) {
    size_t side = SIZE, depth = (size_t)k;
    arrays made = {malloc(side * depth * 2), malloc(side * depth * 2), malloc(side * side * 2)};
    if (made.a == NULL || made.b == NULL || made.c == NULL) {
        bench_fail("no memory for the arrays", NULL);
    }
    for (size_t i = 0; i < side * depth; i++) {
        made.a[i] = make_bf16(i);
        made.b[i] = make_bf16(i + 12345);
    }
    memset(made.c, 0, side * side * 2);
    return made;
}

/* The kernels of Blackwell have it in their names. */
static grout_arch get_arch(const char *path) {
    return strstr(path, "_blackwell") != NULL ? GROUT_ARCH_SM_100A : GROUT_ARCH_SM_90A;
}

static grout_module *load_matmul(const subject *its, int64_t k, grout_diags *diags) {
    static char text[1 << 16];
    const char *path = its->path;
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        bench_fail("cannot open the kernel; run from the top folder", NULL);
    }
    size_t size = fread(text, 1, sizeof text, file);
    fclose(file);
    grout_module *module = grout_parse(path, text, size, diags);
    grout_define defines[OWN_DEFINES + DEFINES_MAX] = {
        {.name = "M", .integer = SIZE, .origin = "bench"},
        {.name = "N", .integer = SIZE, .origin = "bench"},
        {.name = "K", .integer = k, .origin = "bench"}};
    memcpy(&defines[OWN_DEFINES], its->defines, its->define_count * sizeof *defines);
    grout_module *bound =
        module == NULL ? NULL
                       : grout_module_bind(module, defines, OWN_DEFINES + its->define_count, diags);
    if (bound == NULL || !grout_verify(bound, get_arch(path), diags)) {
        bench_fail("the kernel is refused", diags);
    }
    return bound;
}

static double run_once(const grout_module *bound, arrays data, const mode *how, result *out) {
    size_t side = SIZE, depth = (size_t)how->k;
    grout_argument arguments[3] = {
        {data.a, side * depth * 2}, {data.b, side * depth * 2}, {data.c, side * side * 2}};
    grout_diags *diags = grout_diags_new();
    grout_checker *checker = how->check ? grout_checker_new(NULL, diags) : NULL;
    grout_launch launch = {.module = bound,
                           .kernel = 1,
                           .arguments = arguments,
                           .argument_count = 3,
                           .timing = how->timing,
                           .track_undefined = how->check};
    if (checker != NULL) {
        launch.observers[launch.observer_count++] = grout_checker_get_observer(checker);
    }
    double begin = bench_cpu_seconds();
    grout_machine *machine = grout_machine_new(&launch, diags);
    if (machine == NULL || grout_machine_run(machine, 0, diags) != GROUT_RUN_DONE) {
        bench_fail("the run failed", diags);
    }
    double seconds = bench_cpu_seconds() - begin;
    out->machine_mib = (double)grout_machine_get_stats(machine).peak_bytes / (1024.0 * 1024.0);
    if (checker != NULL) {
        grout_check_summary summary = grout_checker_get_summary(checker, false);
        if (summary.verdict != GROUT_VERDICT_CLEAN) {
            bench_fail("the kernel is not clean", diags);
        }
        out->shadow_mib = (double)summary.shadow_bytes_peak / (1024.0 * 1024.0);
    }
    grout_machine_free(machine);
    grout_checker_free(checker);
    grout_diags_free(diags);
    return seconds;
}

static double get_bf16(uint16_t bits) {
    return grout_element_to_double(GROUT_DTYPE_BF16, &bits);
}

static void check_some(arrays data, int64_t depth) {
    for (size_t i = 0; i < (size_t)SIZE * SIZE; i += 50021) {
        double sum = 0;
        uint16_t wanted;
        for (size_t k = 0; k < (size_t)depth; k++) {
            sum += get_bf16(data.a[i / SIZE * (size_t)depth + k]) *
                   get_bf16(data.b[k * SIZE + i % SIZE]);
        }
        grout_element_from_double(GROUT_DTYPE_BF16, sum, &wanted);
        if (data.c[i] != wanted) {
            bench_fail("wrong product", NULL);
        }
    }
}

/* The mode's figures, measured in the calling process. */
static result measure(const subject *its, const mode *how) {
    result out = {0};
    double times[RUNS];
    arrays data = make_arrays(how->k);
    grout_diags *diags = grout_diags_new();
    double base_mib = bench_peak_mib();
    grout_module *bound = load_matmul(its, how->k, diags);
    for (int i = 0; i < RUNS; i++) {
        times[i] = run_once(bound, data, how, &out);
    }
    check_some(data, how->k);
    out.seconds = bench_median(times, RUNS);
    out.mib_on_top = bench_peak_mib() - base_mib;
    return out;
}

/* What the child is asked for. */
typedef struct request {
    const subject *its;
    const mode *how;
} request;

static void answer(const void *payload, void *out) {
    const request *wish = payload;
    *(result *)out = measure(wish->its, wish->how);
}

static result measure_in_child(const subject *its, const mode *how) {
    const request wish = {its, how};
    result out = {0};
    bench_run_in_child(answer, &wish, &out, sizeof out);
    return out;
}

/* Operations a second of one loop on packed tiles that stay in the caches. */
static double measure_tile(grout_gemm_kind kind, const char **name_out) {
    static float a[TILE_M * TILE_K], b[TILE_N * TILE_K], c[TILE_M * TILE_N];
    grout_gemm gemm = {.m = TILE_M, .n = TILE_N, .k = TILE_K, .has_k_rows = true};
    double times[RUNS];
    grout_gemm__init(&gemm, kind);
    *name_out = grout_gemm__get_text((grout_gemm_kind)gemm.kind);
    for (int i = 0; i < RUNS; i++) {
        double begin = bench_cpu_seconds();
        for (int k = 0; k < TILE_CALLS; k++) {
            grout_gemm__run(&gemm, c, a, b);
        }
        times[i] = bench_cpu_seconds() - begin;
    }
    grout_gemm__deinit(&gemm);
    return 2.0 * TILE_M * TILE_N * TILE_K * TILE_CALLS / bench_median(times, RUNS);
}

/* tile: operations a second. */
static void print_subject(const subject *its, double tile) {
    static const mode modes[] = {
        {"eager, nothing watches", GROUT_TIMING_EAGER, false, SIZE},
        {"lazy, nothing watches", GROUT_TIMING_LAZY, false, SIZE},
        {"eager, checker", GROUT_TIMING_EAGER, true, SIZE},
        {"lazy, checker (grout check)", GROUT_TIMING_LAZY, true, SIZE},
    };
    static const mode depths[] = {
        {"K = 512", GROUT_TIMING_LAZY, true, 512},
        {"K = 4096", GROUT_TIMING_LAZY, true, 4096},
    };
    double base[2] = {0, 0}, work = 2.0 * SIZE * SIZE * SIZE;
    printf("%s", its->path);
    for (uint32_t i = 0; i < its->define_count; i++) {
        printf(" %s=%lld", its->defines[i].name, (long long)its->defines[i].integer);
    }
    printf(" %d x %d x %d bf16, medians of %d, CPU time of one OS thread\n", SIZE, SIZE, SIZE,
           RUNS);
    printf("%-30s %9s %10s %15s %12s\n", "", "ms", "GFLOP/s", "% of tile rate", "x unchecked");
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        result r = measure_in_child(its, &modes[i]);
        size_t timing = modes[i].timing == GROUT_TIMING_LAZY ? 1 : 0;
        base[timing] = modes[i].check ? base[timing] : r.seconds;
        printf("%-30s %9.1f %10.1f %15.1f %12.2f\n", modes[i].name, r.seconds * 1e3,
               work / r.seconds * 1e-9, 100.0 * work / r.seconds / tile, r.seconds / base[timing]);
    }
    printf("%-30s %9s %15s %14s %12s\n", "memory, lazy with checker", "ms", "MiB on arrays",
           "machine MiB", "shadow MiB");
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
        result r = measure_in_child(its, &depths[i]);
        printf("%-30s %9.1f %15.2f %14.2f %12.2f\n", depths[i].name, r.seconds * 1e3, r.mib_on_top,
               r.machine_mib, r.shadow_mib);
    }
}

/* What the arguments say: a kernel, then NAME=VALUE. */
static subject read_arguments(int argc, char **argv) {
    subject its = {.path = argv[1]};
    for (int i = 2; i < argc; i++) {
        char *equals = strchr(argv[i], '=');
        if (equals == NULL || its.define_count == DEFINES_MAX) {
            bench_fail("usage: bench_matmul [KERNEL [NAME=VALUE]..]", NULL);
        }
        *equals = '\0';
        its.defines[its.define_count++] = (grout_define){
            .name = argv[i], .integer = strtoll(equals + 1, NULL, 10), .origin = "bench"};
    }
    return its;
}

int main(int argc, char **argv) {
    static const subject subjects[] = {
        {.path = "kernels/matmul_hopper_ws.grout"},
        {.path = "kernels/matmul_blackwell_collective.grout",
         .defines = {{.name = "TN", .integer = 128, .origin = "bench"},
                     {.name = "TK", .integer = 128, .origin = "bench"}},
         .define_count = 2},
    };
    const char *name, *own;
    const double tile = measure_tile(GROUT_GEMM_LIBXSMM, &name);
    const double own_tile = measure_tile(GROUT_GEMM_AVX512, &own);
    printf("tiles of %d x %d x %d in f32: %s %.1f GFLOP/s, own loop (%s) %.1f GFLOP/s\n", TILE_M,
           TILE_N, TILE_K, name, tile * 1e-9, own, own_tile * 1e-9);
    if (argc > 1) {
        const subject its = read_arguments(argc, argv);
        print_subject(&its, tile);
        return EXIT_SUCCESS;
    }
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
        print_subject(&subjects[i], tile);
    }
    return EXIT_SUCCESS;
}
