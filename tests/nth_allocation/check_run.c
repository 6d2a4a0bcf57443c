/* check_run.c - kernels interpreted under the checker with the n-th allocation failing, for every
 * n: the right outputs, or a reason; and never 'clean' because memory was missing.
 * SPDX-License-Identifier: Apache-2.0 */
#include "failing.h"
#include "grout-internal/interp.h"
#include "grout-internal/race.h"
#include "kernel_files.h"
#include "tests/tests.h"

#define ARRAYS_MAX 4

/* A launch and what came of it with memory enough. */
static const struct {
    const char *path;
    grout_kernel_id kernel;
    bool has_snapshot; /* go back to a snapshot half-way */
    grout_timing timing;
    grout_verdict verdict;
    grout_run_status status;
} launches[] = {
    {"kernels/add_one.grout", 1, false, GROUT_TIMING_LAZY, GROUT_VERDICT_CLEAN, GROUT_RUN_DONE},
    {"kernels/add_one.grout", 2, true, GROUT_TIMING_LAZY, GROUT_VERDICT_CLEAN, GROUT_RUN_DONE},
    {"kernels/producer_consumer.grout", 1, false, GROUT_TIMING_LAZY, GROUT_VERDICT_CLEAN,
     GROUT_RUN_DONE},
    {"kernels/producer_consumer.grout", 2, true, GROUT_TIMING_RANDOM, GROUT_VERDICT_CLEAN,
     GROUT_RUN_DONE},
    {"kernels/bugs/no_back_pressure.grout", 1, false, GROUT_TIMING_LAZY, GROUT_VERDICT_ERROR,
     GROUT_RUN_DONE},
    {"kernels/bugs/missing_arrive.grout", 1, true, GROUT_TIMING_LAZY, GROUT_VERDICT_ERROR,
     GROUT_RUN_DEADLOCK},
    {"kernels/softmax.grout", 1, false, GROUT_TIMING_LAZY, GROUT_VERDICT_CLEAN, GROUT_RUN_DONE},
    {"tests/behaviour/values/while-in-a-ring.grout", 1, true, GROUT_TIMING_RANDOM,
     GROUT_VERDICT_CLEAN, GROUT_RUN_DONE},
    {"tests/behaviour/wgmma/f16-accumulator.grout", 1, false, GROUT_TIMING_LAZY,
     GROUT_VERDICT_CLEAN, GROUT_RUN_DONE},
    {"tests/behaviour/wgmma/registers-in-flight.grout", 1, true, GROUT_TIMING_RANDOM,
     GROUT_VERDICT_CLEAN, GROUT_RUN_DONE},
};

typedef struct trial {
    int index; /* into launches */
    const grout_module *module;
    grout_argument arguments[ARRAYS_MAX];
    uint32_t argument_count;
    void *expected[ARRAYS_MAX]; /* the arrays after a run with memory enough */
    uint32_t finding_count;     /* the same */
} trial;

static void fill_arguments(const trial *t) {
    for (uint32_t i = 0; i < t->argument_count; i++) {
        float *numbers = t->arguments[i].data;
        for (size_t k = 0; k < t->arguments[i].size / sizeof *numbers; k++) {
            numbers[k] = (float)(k % 17);
        }
    }
}

static bool go_back(grout_machine *machine, grout_diags *diags) {
    const grout_run_status status = grout_machine_run(machine, 4, diags);
    if (status != GROUT_RUN_PAUSED) {
        return false;
    }
    grout_snapshot *snapshot = grout_machine_snapshot(machine, diags);
    const bool is_back = snapshot != NULL &&
                         grout_machine_run(machine, 2, diags) != GROUT_RUN_FAILED &&
                         grout_machine_restore(machine, snapshot, diags);
    grout_snapshot_free(snapshot);
    return is_back;
}

static grout_run_status run_machine(const trial *t, grout_checker *checker, grout_diags *diags) {
    const grout_launch launch = {.module = t->module,
                                 .kernel = launches[t->index].kernel,
                                 .arguments = t->arguments,
                                 .argument_count = t->argument_count,
                                 .timing = launches[t->index].timing,
                                 .track_undefined = true,
                                 .observers = {grout_checker_get_observer(checker)},
                                 .observer_count = 1};
    grout_machine *machine = grout_machine_new(&launch, diags);
    grout_run_status status = GROUT_RUN_FAILED;
    if (machine != NULL && (!launches[t->index].has_snapshot || go_back(machine, diags))) {
        status = grout_machine_run(machine, 0, diags);
    }
    grout_machine_free(machine);
    return status;
}

static void compare_outputs(const trial *t) {
    for (uint32_t i = 0; i < t->argument_count; i++) {
        ck_assert_mem_eq(t->arguments[i].data, t->expected[i], t->arguments[i].size);
    }
}

static bool work(void *payload) {
    const trial *t = payload;
    grout_diags *diags = grout_diags_new();
    grout_check_summary summary = {.verdict = GROUT_VERDICT_INCOMPLETE};
    grout_run_status status = GROUT_RUN_FAILED;
    uint32_t finding_count = 0;
    fill_arguments(t);
    failing_begin();
    grout_checker *checker = grout_checker_new(NULL, diags);
    if (checker != NULL) {
        status = run_machine(t, checker, diags);
        summary = grout_checker_get_summary(checker, status == GROUT_RUN_FAILED);
        finding_count = grout_checker_get_count(checker);
    }
    failing_end();
    if (status == GROUT_RUN_FAILED) {
        failing_assert_reported(diags);
    } else {
        ck_assert_int_eq(status, launches[t->index].status);
        compare_outputs(t);
    }
    const bool is_done = status != GROUT_RUN_FAILED && finding_count == t->finding_count &&
                         summary.verdict == launches[t->index].verdict;
    ck_assert_msg(is_done || summary.verdict != GROUT_VERDICT_CLEAN,
                  "clean, although it has not seen all");
    ck_assert_msg(launches[t->index].verdict == GROUT_VERDICT_ERROR ||
                      summary.verdict != GROUT_VERDICT_ERROR,
                  "an error that is none");
    grout_checker_free(checker);
    grout_diags_free(diags);
    return is_done;
}

/* The run that the others are compared with. */
static void run_once(trial *t) {
    grout_diags *diags = grout_diags_new();
    grout_checker *checker = grout_checker_new(NULL, diags);
    fill_arguments(t);
    ck_assert_int_eq(run_machine(t, checker, diags), launches[t->index].status);
    ck_assert_int_eq(grout_checker_get_summary(checker, false).verdict, launches[t->index].verdict);
    t->finding_count = grout_checker_get_count(checker);
    for (uint32_t i = 0; i < t->argument_count; i++) {
        memcpy(t->expected[i], t->arguments[i].data, t->arguments[i].size);
    }
    grout_checker_free(checker);
    grout_diags_free(diags);
}

TEST_EACH(runs_end_well_or_say_why_not, 2 * COUNT_OF(launches)) {
    trial t = {.index = _i / 2};
    grout_module *module = bind_source(launches[t.index].path);
    const grout_kernel *kernel = grout_module_get_kernel(module, launches[t.index].kernel);
    t.module = module;
    ck_assert_uint_le(kernel->param_count, ARRAYS_MAX);
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        const grout_param *param = grout_module_get_param(module, kernel, i);
        const size_t size = (size_t)grout_object_get_layout(module, param->object)->bytes;
        t.arguments[i] = (grout_argument){.data = malloc(size), .size = size};
        t.expected[i] = malloc(size);
        ck_assert(t.arguments[i].data != NULL && t.expected[i] != NULL);
        t.argument_count++;
    }
    run_once(&t);
    failing_try_all(_i % 2 == 1, work, &t);
    for (uint32_t i = 0; i < t.argument_count; i++) {
        free(t.arguments[i].data);
        free(t.expected[i]);
    }
    grout_module_free(module);
}
