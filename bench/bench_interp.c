/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_interp.c - time and memory of interpreter and checker for kernels/add_tma.grout at
 * 4096 x 4096, beside a plain C loop over the same arrays. Each mode runs in a process of its own,
 * so that its peak memory is its own.
 */
#include "bench_util.h"

enum { SIZE = 4096, RUNS = 5 };

typedef struct mode {
    const char *name;
    grout_timing timing;
    bool check, undefined;
} mode;

typedef struct result {
    double seconds, peak_mib, base_mib;
    uint64_t shadow_bytes;
    uint64_t accesses;
} result;

typedef struct arrays {
    float *a, *b, *c;
} arrays;

static arrays make_arrays(void) {
    size_t count = (size_t)SIZE * SIZE;
    arrays made = {malloc(count * sizeof(float)), malloc(count * sizeof(float)),
                   malloc(count * sizeof(float))};
    if (made.a == NULL || made.b == NULL || made.c == NULL) {
        bench_fail("no memory for the arrays", NULL);
    }
    for (size_t i = 0; i < count; i++) {
        made.a[i] = (float)(i % 9) - 4.0f;
        made.b[i] = (float)(i % 7) - 3.0f;
        made.c[i] = 1.0f;
    }
    return made;
}

static grout_module *load_add_tma(const char *path, grout_diags *diags) {
    static char text[1 << 16];
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        bench_fail("cannot open the kernel; run from the top folder", NULL);
    }
    size_t size = fread(text, 1, sizeof text, file);
    fclose(file);
    grout_module *module = grout_parse(path, text, size, diags);
    grout_define defines[2] = {{.name = "X", .integer = SIZE, .origin = "bench"},
                               {.name = "Y", .integer = SIZE, .origin = "bench"}};
    grout_module *bound = module != NULL ? grout_module_bind(module, defines, 2, diags) : NULL;
    if (bound == NULL || !grout_verify(bound, GROUT_ARCH_SM_90A, diags)) {
        bench_fail("the kernel is refused", diags);
    }
    return bound;
}

static double run_once(const grout_module *bound, arrays data, const mode *how, result *out) {
    size_t bytes = (size_t)SIZE * SIZE * sizeof(float);
    grout_argument arguments[3] = {{data.a, bytes}, {data.b, bytes}, {data.c, bytes}};
    grout_diags *diags = grout_diags_new();
    grout_checker *checker = how->check ? grout_checker_new(NULL, diags) : NULL;
    grout_launch launch = {.module = bound,
                           .kernel = 1,
                           .arguments = arguments,
                           .argument_count = 3,
                           .timing = how->timing,
                           .track_undefined = how->undefined};
    if (checker != NULL) {
        launch.observers[launch.observer_count++] = grout_checker_get_observer(checker);
    }
    double begin = bench_seconds();
    grout_machine *machine = grout_machine_new(&launch, diags);
    if (machine == NULL || grout_machine_run(machine, 0, diags) != GROUT_RUN_DONE) {
        bench_fail("the run failed", diags);
    }
    double seconds = bench_seconds() - begin;
    if (checker != NULL) {
        grout_check_summary summary = grout_checker_get_summary(checker, false);
        if (summary.verdict != GROUT_VERDICT_CLEAN) {
            bench_fail("add_tma is not clean", diags);
        }
        out->shadow_bytes = summary.shadow_bytes_peak;
        out->accesses = summary.accesses;
    }
    grout_machine_free(machine);
    grout_checker_free(checker);
    grout_diags_free(diags);
    return seconds;
}

static void plain_loop(arrays data) {
    size_t count = (size_t)SIZE * SIZE;
    for (size_t i = 0; i < count; i++) {
        data.c[i] = data.a[i] + data.b[i];
    }
}

/* The mode's figures, measured in the calling process. */
static result measure(const char *path, const mode *how) {
    result out = {0};
    double times[RUNS];
    arrays data = make_arrays();
    out.base_mib = bench_peak_mib();
    grout_diags *diags = grout_diags_new();
    grout_module *bound = how != NULL ? load_add_tma(path, diags) : NULL;
    for (int i = 0; i < RUNS; i++) {
        double begin = bench_seconds();
        if (how == NULL) {
            plain_loop(data);
            times[i] = bench_seconds() - begin;
        } else {
            times[i] = run_once(bound, data, how, &out);
        }
    }
    for (size_t i = 0; i < (size_t)SIZE * SIZE; i += 4097) {
        if (data.c[i] != data.a[i] + data.b[i]) {
            bench_fail("wrong sum", NULL);
        }
    }
    out.seconds = bench_median(times, RUNS);
    out.peak_mib = bench_peak_mib();
    return out;
}

/* What the child is asked for. */
typedef struct request {
    const char *path;
    const mode *how;
} request;

static void answer(const void *payload, void *out) {
    const request *wish = payload;
    *(result *)out = measure(wish->path, wish->how);
}

static result measure_in_child(const char *path, const mode *how) {
    const request wish = {path, how};
    result out = {0};
    bench_run_in_child(answer, &wish, &out, sizeof out);
    return out;
}

int main(int argc, char **argv) {
    const char *path = argc > 1 ? argv[1] : "kernels/add_tma.grout";
    static const mode modes[] = {
        {"eager, nothing watches", GROUT_TIMING_EAGER, false, false},
        {"lazy, nothing watches", GROUT_TIMING_LAZY, false, false},
        {"eager, checker", GROUT_TIMING_EAGER, true, true},
        {"lazy, checker (grout check)", GROUT_TIMING_LAZY, true, true},
    };
    result plain = measure_in_child(path, NULL);
    result base[2];

    memset(base, 0, sizeof base);

    printf("add_tma %d x %d f32, medians of %d, one OS thread\n", SIZE, SIZE, RUNS);
    printf("%-30s %9s %10s %12s %12s %12s\n", "", "ms", "x C loop", "x unchecked", "MiB on top",
           "shadow MiB");
    printf("%-30s %9.1f %10.2f %12s %12.1f %12s\n", "plain C loop", plain.seconds * 1e3, 1.0, "-",
           plain.peak_mib - plain.base_mib, "-");
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        result r = measure_in_child(path, &modes[i]);
        size_t timing = modes[i].timing == GROUT_TIMING_LAZY ? 1 : 0;
        if (!modes[i].check) {
            base[timing] = r;
        }
        printf("%-30s %9.1f %10.2f %12.2f %12.1f %12.2f\n", modes[i].name, r.seconds * 1e3,
               r.seconds / plain.seconds, r.seconds / base[timing].seconds, r.peak_mib - r.base_mib,
               (double)r.shadow_bytes / (1024.0 * 1024.0));
    }
    return EXIT_SUCCESS;
}
