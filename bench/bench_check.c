/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_check.c - what checking costs over plain emulation: each kernel of kernels/ with and
 * without the checker in turn, ratios of medians and their geometric mean; and the checker's shadow
 * while the trip count of a kernel grows.
 *
 * usage: bench_check [FOLDER]     where the kernels are; default kernels
 */
#include "bench_util.h"

#include <dirent.h>
#include <math.h>

enum { RUNS = 9, KERNELS_MAX = 64, PARAMS_MAX = 16 };

/* Runs last at least so long, by running the launch several times. */
static const double RUN_SECONDS = 0.02;

typedef struct loaded {
    grout_module *symbolic, *bound;
    grout_diags *diags;
    char *text;
} loaded;

static char *read_file(const char *path, size_t *size_out) {
    FILE *file = fopen(path, "rb");
    char *text = malloc(1 << 20);
    if (file == NULL || text == NULL) {
        bench_fail(path, NULL);
    }
    *size_out = fread(text, 1, 1 << 20, file);
    fclose(file);
    return text;
}

static loaded load(const char *path, const grout_define *defines, size_t define_count) {
    size_t size;
    loaded it = {.diags = grout_diags_new(), .text = read_file(path, &size)};
    it.symbolic = grout_parse(path, it.text, size, it.diags);
    it.bound = it.symbolic == NULL
                   ? NULL
                   : grout_module_bind(it.symbolic, defines, define_count, it.diags);
    if (it.bound == NULL || !grout_verify(it.bound, GROUT_ARCH_SM_90A, it.diags)) {
        bench_fail(path, it.diags);
    }
    return it;
}

static void unload(loaded *it) {
    grout_module_free(it->bound);
    grout_module_free(it->symbolic);
    grout_diags_free(it->diags);
    free(it->text);
}

/* Small whole numbers, so that no value is special. */
static void fill(void *data, size_t size, grout_dtype dtype) {
    size_t bytes = grout_dtype_get_info(dtype)->bytes;
    for (size_t i = 0; i < size / bytes; i++) {
        grout_element_from_double(dtype, (double)(int)(i * 7 % 9) - 4, (char *)data + i * bytes);
    }
}

static uint32_t make_arguments(const loaded *it, grout_kernel_id id, grout_argument *arguments) {
    const grout_kernel *kernel = grout_module_get_kernel(it->bound, id);
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        const grout_param *param = grout_module_get_param(it->bound, kernel, i);
        bool is_scalar = param->direction == GROUT_DIRECTION_SCALAR;
        grout_dtype dtype =
            is_scalar ? param->dtype : grout_object_get_type(it->bound, param->object)->dtype;
        arguments[i].size =
            is_scalar
                ? grout_dtype_get_info(dtype)->bytes
                : (size_t)grout_type_get_bytes(grout_object_get_type(it->bound, param->object));
        arguments[i].data = calloc(1, arguments[i].size + 1);
        if (arguments[i].data == NULL) {
            bench_fail("memory", NULL);
        }
        if (param->direction == GROUT_DIRECTION_IN) {
            fill(arguments[i].data, arguments[i].size, dtype);
        }
    }
    return kernel->param_count;
}

/* Seconds of one launch, all of it: plan, run, and the checker's own part. */
static double run(const loaded *it, grout_kernel_id id, const grout_argument *arguments,
                  uint32_t count, bool is_checked, uint64_t *shadow_out) {
    double begin = bench_seconds();
    grout_checker *checker = is_checked ? grout_checker_new(NULL, it->diags) : NULL;
    grout_launch launch = {.module = it->bound,
                           .kernel = id,
                           .arguments = arguments,
                           .argument_count = count,
                           .timing = GROUT_TIMING_LAZY,
                           .track_undefined = is_checked};
    if (checker != NULL) {
        launch.observers[launch.observer_count++] = grout_checker_get_observer(checker);
    }
    grout_machine *machine = grout_machine_new(&launch, it->diags);
    if (machine == NULL || grout_machine_run(machine, 0, it->diags) != GROUT_RUN_DONE) {
        bench_fail("the run failed", it->diags);
    }
    if (checker != NULL) {
        grout_check_summary summary = grout_checker_get_summary(checker, false);
        *shadow_out = summary.shadow_bytes_peak;
        if (summary.error_count > 0) {
            bench_fail("the kernel is not clean", it->diags);
        }
    }
    grout_machine_free(machine);
    grout_checker_free(checker);
    return bench_seconds() - begin;
}

/* Atomics on inout arrays would run on from the last launch's values. */
static void clear_inouts(const loaded *it, grout_kernel_id id, const grout_argument *arguments) {
    const grout_kernel *kernel = grout_module_get_kernel(it->bound, id);
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        if (grout_module_get_param(it->bound, kernel, i)->direction == GROUT_DIRECTION_INOUT &&
            arguments[i].data != NULL) {
            memset(arguments[i].data, 0, arguments[i].size);
        }
    }
}

static double run_often(const loaded *it, grout_kernel_id id, const grout_argument *arguments,
                        uint32_t count, bool is_checked, uint64_t *shadow) {
    double sum = 0;
    int times = 0;
    while (sum < RUN_SECONDS) {
        clear_inouts(it, id, arguments);
        sum += run(it, id, arguments, count, is_checked, shadow);
        times++;
    }
    return sum / times;
}

/* Prints a line; returns the ratio of checked to plain. */
static double measure(const loaded *it, grout_kernel_id id) {
    grout_argument arguments[PARAMS_MAX] = {{0}};
    uint32_t count = make_arguments(it, id, arguments);
    double plain[RUNS], checked[RUNS];
    uint64_t shadow = 0;
    for (int i = 0; i < RUNS; i++) { /* in turn, so that both see the same machine */
        plain[i] = run_often(it, id, arguments, count, false, &shadow);
        checked[i] = run_often(it, id, arguments, count, true, &shadow);
    }
    double without = bench_median(plain, RUNS), with = bench_median(checked, RUNS);
    const grout_kernel *kernel = grout_module_get_kernel(it->bound, id);
    printf("  %-24s %9.3f ms plain, %9.3f ms checked: %.2fx, shadow %llu KiB\n",
           grout_module_get_string(it->bound, kernel->name), without * 1e3, with * 1e3,
           with / without, (unsigned long long)(shadow >> 10));
    for (uint32_t i = 0; i < count; i++) {
        free(arguments[i].data);
    }
    return with / without;
}

static void measure_all(const char *folder) {
    char *names[KERNELS_MAX];
    int count = 0, kernels = 0;
    double logs = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
        size_t size = strlen(entry->d_name);
        if (size > 6 && strcmp(entry->d_name + size - 6, ".grout") == 0 && count < KERNELS_MAX) {
            names[count++] = strdup(entry->d_name);
        }
    }
    if (dir == NULL || count == 0) {
        bench_fail("no kernels: run it where kernels/ is, or name the folder", NULL);
    }
    closedir(dir);
    for (int i = 0; i < count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        loaded it = load(path, NULL, 0);
        for (grout_kernel_id id = 1; id < grout_module_get_kernel_count(it.bound); id++) {
            logs += log(measure(&it, id));
            kernels++;
        }
        unload(&it);
        free(names[i]);
    }
    printf("  geometric mean of %d kernels: %.2fx (asked: 2.5x at most)\n", kernels,
           exp(logs / kernels));
}

/* The shadow must not grow with what is run, only with what is live. */
static void measure_growth(const char *folder) {
    static const int64_t sizes[] = {256, 1024, 4096, 16384};
    char path[4096];
    snprintf(path, sizeof path, "%s/matmul_hopper_ws.grout", folder);
    printf("shadow of matmul_hopper_ws as its K loop gets longer:\n");
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const grout_define define = {.name = "K", .integer = sizes[i], .origin = "bench"};
        grout_argument arguments[PARAMS_MAX];
        uint64_t shadow = 0;
        loaded it = load(path, &define, 1);
        uint32_t count = make_arguments(&it, 1, arguments);
        double seconds = run(&it, 1, arguments, count, true, &shadow);
        printf("  K = %5lld: %6.1f ms, shadow %llu KiB\n", (long long)sizes[i], seconds * 1e3,
               (unsigned long long)(shadow >> 10));
        for (uint32_t k = 0; k < count; k++) {
            free(arguments[k].data);
        }
        unload(&it);
    }
}

int main(int argc, char **argv) {
    const char *folder = argc > 1 ? argv[1] : "kernels";
    printf("checking over plain emulation, lazy timing, medians of %d:\n", RUNS);
    measure_all(folder);
    measure_growth(folder);
    return 0;
}
