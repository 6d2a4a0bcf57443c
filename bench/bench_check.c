/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_check.c - what checking costs over plain emulation: each kernel with the checker and
 * without in turn, and, where a check explores by itself, with that too; medians of the ratios and
 * their geometric means; and the checker's shadow while the trip count of a kernel grows.
 *
 * usage: bench_check [FOLDER...]     where the kernels are; default kernels and bench/polls
 */
#include "bench_util.h"

#include <dirent.h>
#include <math.h>

enum { RUNS = 9, FILES_MAX = 128, PARAMS_MAX = 16 };

/* What a run does. */
typedef enum mode {
    MODE_PLAIN,   /* nothing watches */
    MODE_CHECKED, /* as 'grout check --no-explore' */
    MODE_EXPLORED /* as 'grout check' */
} mode;

/* Runs last at least so long, by running the launch several times. */
static const double RUN_SECONDS = 0.02;

typedef struct loaded {
    grout_module *symbolic, *bound;
    grout_diags *diags;
    char *text;
} loaded;

typedef struct arguments {
    grout_argument items[PARAMS_MAX];
    uint32_t count;
} arguments;

/* What a run with the checker says besides. */
typedef struct result {
    uint64_t shadow_bytes;
    uint64_t schedules; /* explored; 0: there was no reason to */
} result;

/* Sums over all kernels: of seconds, and of logarithms of ratios. */
typedef struct sums {
    uint32_t kernels, exploring;
    double checked_logs, exploring_logs; /* over a plain run; the latter where a check explores */
    double checked_seconds, explored_seconds;
} sums;

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
    if (it.bound == NULL || !grout_verify(it.bound, GROUT_ARCH_OWN, it.diags)) {
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

/* The arrays that the kernel reads hold what their init(..) says, as under 'grout check'. */
static void fill(const loaded *it, grout_kernel_id id, const arguments *given) {
    const grout_kernel *kernel = grout_module_get_kernel(it->bound, id);
    for (uint32_t i = 0; i < given->count; i++) {
        if (grout_module_get_param(it->bound, kernel, i)->direction != GROUT_DIRECTION_OUT) {
            grout_param_fill_default(it->bound, kernel, i, given->items[i].data);
        }
    }
}

static arguments make_arguments(const loaded *it, grout_kernel_id id) {
    const grout_kernel *kernel = grout_module_get_kernel(it->bound, id);
    arguments made = {.count = kernel->param_count};
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        const grout_param *param = grout_module_get_param(it->bound, kernel, i);
        made.items[i].size =
            param->direction == GROUT_DIRECTION_SCALAR
                ? grout_dtype_get_info(param->dtype)->bytes
                : (size_t)grout_type_get_bytes(grout_object_get_type(it->bound, param->object));
        made.items[i].data = calloc(1, made.items[i].size + 1);
        if (made.items[i].data == NULL) {
            bench_fail("memory", NULL);
        }
    }
    fill(it, id, &made);
    return made;
}

static void free_arguments(arguments *given) {
    for (uint32_t i = 0; i < given->count; i++) {
        free(given->items[i].data);
    }
}

/* The schedules that a check explores by itself after its run. */
static uint64_t look_again(grout_second_look *look, const grout_checker *checker,
                           const grout_machine *machine, grout_diags *diags) {
    grout_run_stats stats = grout_machine_get_stats(machine);
    grout_exploration exploration;
    bool has_looked;
    if (!grout_second_look_run(look, checker, &stats, &exploration, &has_looked, diags)) {
        bench_fail("the exploration failed", diags);
    }
    if (exploration.failing + exploration.random_failing > 0) {
        bench_fail("the kernel is not clean under every schedule", diags);
    }
    uint64_t schedules = has_looked ? exploration.schedules : 0;
    grout_exploration_deinit(&exploration);
    return schedules;
}

/* Seconds of one launch, all of it: plan, run, and the checker's own part. */
static double run(const loaded *it, grout_kernel_id id, const arguments *given, mode how,
                  result *out) {
    double begin = bench_cpu_seconds();
    grout_checker *checker = how != MODE_PLAIN ? grout_checker_new(NULL, it->diags) : NULL;
    grout_second_look *look = NULL;
    grout_launch launch = {.module = it->bound,
                           .kernel = id,
                           .arguments = given->items,
                           .argument_count = given->count,
                           .timing = GROUT_TIMING_LAZY,
                           .track_undefined = how != MODE_PLAIN};
    if (checker != NULL) {
        launch.observers[launch.observer_count++] = grout_checker_get_observer(checker);
    }
    if (how == MODE_EXPLORED) {
        look = grout_second_look_new(&launch, &(grout_explore_options){0}, it->diags);
    }
    grout_machine *machine = grout_machine_new(&launch, it->diags);
    if (machine == NULL || grout_machine_run(machine, 0, it->diags) != GROUT_RUN_DONE) {
        bench_fail("the run failed", it->diags);
    }
    if (checker != NULL) {
        grout_check_summary summary = grout_checker_get_summary(checker, false);
        out->shadow_bytes = summary.shadow_bytes_peak;
        if (summary.error_count > 0) {
            bench_fail("the kernel is not clean", it->diags);
        }
    }
    if (look != NULL) {
        out->schedules = look_again(look, checker, machine, it->diags);
    }
    grout_machine_free(machine);
    grout_second_look_free(look);
    grout_checker_free(checker);
    return bench_cpu_seconds() - begin;
}

static double run_often(const loaded *it, grout_kernel_id id, const arguments *given, mode how,
                        result *out) {
    double sum = 0;
    int times = 0;
    while (sum < RUN_SECONDS) {
        fill(it, id, given); /* else atomics would go on from what the last launch has left */
        sum += run(it, id, given, how, out);
        times++;
    }
    return sum / times;
}

/* The median of the ratios of runs beside each other: the machine's speed changes meanwhile. */
static double get_ratio(const double *above, const double *below) {
    double ratios[RUNS];
    for (int i = 0; i < RUNS; i++) {
        ratios[i] = above[i] / below[i];
    }
    return bench_median(ratios, RUNS);
}

/* Prints a line and adds to the totals. */
static void measure(const loaded *it, grout_kernel_id id, sums *totals) {
    const char *name =
        grout_module_get_string(it->bound, grout_module_get_kernel(it->bound, id)->name);
    arguments given = make_arguments(it, id);
    double plain[RUNS], checked[RUNS], explored[RUNS];
    result got = {0};
    (void)run(it, id, &given, MODE_EXPLORED, &got); /* the first one has the memory to get, too */
    for (int i = 0; i < RUNS; i++) {                /* in turn */
        plain[i] = run_often(it, id, &given, MODE_PLAIN, NULL);
        checked[i] = run_often(it, id, &given, MODE_CHECKED, &got);
        explored[i] =
            got.schedules > 0 ? run_often(it, id, &given, MODE_EXPLORED, &got) : checked[i];
    }
    double ratio = get_ratio(checked, plain), whole = get_ratio(explored, plain);
    double share = 1 - get_ratio(checked, explored);
    double with = bench_median(checked, RUNS), with_all = bench_median(explored, RUNS);
    printf("  %-32s %9.3f ms plain, %9.3f ms checked: %.2fx, shadow %llu KiB", name,
           bench_median(plain, RUNS) * 1e3, with * 1e3, ratio,
           (unsigned long long)(got.shadow_bytes >> 10));
    totals->kernels++;
    totals->checked_logs += log(ratio);
    totals->checked_seconds += with;
    totals->explored_seconds += with_all;
    if (got.schedules > 0) {
        totals->exploring++;
        totals->exploring_logs += log(whole);
        printf("; exploring %llu schedules %.3f ms: %.1fx, %.0f %% of it",
               (unsigned long long)got.schedules, with_all * 1e3, whole, 100 * share);
    }
    printf("\n");
    free_arguments(&given);
}

/* The paths of a folder's kernels, in the order of their names. */
static int list_kernels(const char *folder, char **paths, int count) {
    struct dirent **entries;
    int all = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < all; i++) {
        size_t size = strlen(entries[i]->d_name);
        if (size > 6 && strcmp(entries[i]->d_name + size - 6, ".grout") == 0 && count < FILES_MAX) {
            char path[4096];
            snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
            paths[count++] = strdup(path);
        }
        free(entries[i]);
    }
    if (all < 0) {
        bench_fail("no kernels: run it where kernels/ is, or name the folders", NULL);
    }
    free(entries);
    return count;
}

static void measure_all(char *const *folders, int folder_count) {
    char *paths[FILES_MAX];
    int count = 0;
    sums totals = {0};
    for (int i = 0; i < folder_count; i++) {
        count = list_kernels(folders[i], paths, count);
    }
    for (int i = 0; i < count; i++) {
        loaded it = load(paths[i], NULL, 0);
        for (grout_kernel_id id = 1; id < grout_module_get_kernel_count(it.bound); id++) {
            measure(&it, id, &totals);
        }
        unload(&it);
        free(paths[i]);
    }
    if (totals.kernels == 0) {
        bench_fail("the folders have no kernels", NULL);
    }
    printf("  geometric mean of %u kernels, without exploring: %.2fx (asked: 1.5x at most)\n",
           totals.kernels, exp(totals.checked_logs / totals.kernels));
    if (totals.exploring > 0) {
        printf("  of %u a check explores other schedules, too: %.1fx on the geometric mean there; "
               "%.0f %% "
               "of the time of all checks\n",
               totals.exploring, exp(totals.exploring_logs / totals.exploring),
               100 * (1 - totals.checked_seconds / totals.explored_seconds));
    }
}

/* The shadow must not grow with what is run, only with what is live. */
static void measure_growth(const char *folder) {
    static const int64_t sizes[] = {256, 1024, 4096, 16384};
    char path[4096];
    snprintf(path, sizeof path, "%s/matmul_hopper_ws.grout", folder);
    printf("shadow of matmul_hopper_ws as its K loop gets longer:\n");
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const grout_define define = {.name = "K", .integer = sizes[i], .origin = "bench"};
        result got = {0};
        loaded it = load(path, &define, 1);
        arguments given = make_arguments(&it, 1);
        double seconds = run(&it, 1, &given, MODE_CHECKED, &got);
        printf("  K = %5lld: %6.1f ms, shadow %llu KiB\n", (long long)sizes[i], seconds * 1e3,
               (unsigned long long)(got.shadow_bytes >> 10));
        free_arguments(&given);
        unload(&it);
    }
}

int main(int argc, char **argv) {
    static char *const folders[] = {"kernels", "bench/polls"};
    printf("checking over plain emulation, lazy timing, CPU time, medians of %d:\n", RUNS);
    measure_all(argc > 1 ? argv + 1 : folders, argc > 1 ? argc - 1 : 2);
    measure_growth(argc > 1 ? argv[1] : folders[0]);
    return 0;
}
