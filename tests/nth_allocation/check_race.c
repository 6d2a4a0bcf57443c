/* check_race.c - a racy kernel checked and reported with the n-th allocation failing, for every n.
 * Allocations fail from the checker's making to its report only.
 * SPDX-License-Identifier: Apache-2.0 */
#include "failing.h"
#include "grout-internal/equal.h"
#include "grout-internal/interp.h"
#include "grout-internal/race.h"
#include "grout-internal/text.h"
#include "tests/tests.h"

#include <string.h>

/* Races in pieces, an overrun, an unawaited load, a wgmma in flight, fences to list, and a deadlock
 * to explain at the end. */
static const char KERNEL[] =
    "kernel @k(%x: in gmem f32[64], %y: out gmem f32[64]) grid(x = 2) threads(wg = 2) {\n"
    "  scratch %s : smem f32[64]\n"
    "  scratch %full : barrier[2]\n"
    "  scratch %as : smem f16[64, 16] tile(8, 16) swizzle(32)\n"
    "  scratch %bs : smem f16[16, 8] tile(8, 8)\n"
    "  scratch %acc : acc f32[64, 8]\n"
    "  if (eq (axis_index wg), 0) {\n"
    "    for %i in 0..40 {\n"
    "      store %s[%i], 1.0\n"
    "      commit_smem\n"
    "      barrier_arrive %full[1]\n"
    "    }\n"
    "    copy_gmem_to_smem %x, %s, %full[0]\n"
    "    copy_smem_to_gmem %s, %y\n"
    "  } else {\n"
    "    store %y, (load %s)\n"
    "    wgmma_async %acc, %as, %bs\n"
    "    store %as, (broadcast 1.0 : f16[64, 16])\n"
    "    %v = acc_load %acc\n"
    "    barrier_wait %full[0]\n"
    "    barrier_wait %full[0]\n"
    "  }\n"
    "}\n";

/* Two racing writes, of which an earlier one of the same line is kept. */
static const char EQUAL[] =
    "kernel @k(%x: in gmem f32[64], %y: out gmem f32[64]) grid(x = 2) threads(wg = 1) {\n"
    "  for %i in 0..2 {\n"
    "    store %y, (load %x)\n"
    "  }\n"
    "}\n";

static grout_module *bound;
static grout_diags *setup_diags;

static void load_kernel(const char *text) {
    grout_module *symbolic = NULL;
    setup_diags = grout_diags_new();
    symbolic = grout_parse("k.grout", text, strlen(text), setup_diags);
    ck_assert_ptr_nonnull(symbolic);
    bound = grout_module_bind(symbolic, NULL, 0, setup_diags);
    ck_assert_ptr_nonnull(bound);
    grout_module_free(symbolic);
}

static void free_kernel(void) {
    grout_module_free(bound);
    grout_diags_free(setup_diags);
}

static bool run_with(grout_checker *checker, grout_diags *diags) {
    static float x[64], y[64];
    const grout_argument arguments[] = {{x, sizeof x}, {y, sizeof y}};
    grout_launch launch = {.module = bound,
                           .kernel = 1,
                           .arguments = arguments,
                           .argument_count = 2,
                           .track_undefined = true};
    grout_machine *machine = NULL;
    grout_run_status status = GROUT_RUN_FAILED;
    launch.observers[0] = grout_checker_get_observer(checker);
    launch.observer_count = 1;
    machine = grout_machine_new(&launch, diags);
    if (machine != NULL) {
        status = grout_machine_run(machine, 0, diags);
    }
    grout_machine_free(machine);
    return status == GROUT_RUN_DEADLOCK;
}

/* True if it could do all it should. */
static bool check_kernel(void *payload) {
    (void)payload;
    const grout_checker_options options = {.strict_fences = true};
    grout_diags *diags = grout_diags_new();
    grout_checker *checker = NULL;
    bool ok = false;
    failing_begin();
    checker = grout_checker_new(&options, diags);
    if (checker != NULL) {
        bool was_run = run_with(checker, diags);
        ok = grout_checker_get_count(checker) >= 5 && was_run;
        ok = grout_checker_get_summary(checker, !was_run).verdict == GROUT_VERDICT_ERROR && ok;
    }
    failing_end();
    grout_checker_free(checker);
    grout_diags_free(diags);
    return ok;
}

/* The same of the judge of racing writes: all runs again. */
static bool check_equal(void *payload) {
    (void)payload;
    static float x[64], y[64];
    const grout_argument arguments[] = {{x, sizeof x}, {y, sizeof y}};
    grout_launch launch = {.module = bound,
                           .kernel = 1,
                           .arguments = arguments,
                           .argument_count = 2,
                           .track_undefined = true};
    grout_diags *diags = grout_diags_new();
    bool ok = false;
    failing_begin();
    grout_checker *checker = grout_checker_new(NULL, diags);
    grout_writes_judge *judge = grout_writes_judge_new(&launch, NULL, diags);
    if (checker != NULL && judge != NULL) {
        launch.observers[launch.observer_count++] = grout_checker_get_observer(checker);
        grout_machine *machine = grout_machine_new(&launch, diags);
        ok = machine != NULL && grout_machine_run(machine, 0, diags) == GROUT_RUN_DONE;
        grout_machine_free(machine);
        ok = ok && grout_writes_judge_run(judge, checker, diags);
        ok = grout_checker_get_summary(checker, !ok).has_equal_writes && ok;
        ok = grout_checker_get_count(checker) == 1 && ok;
    }
    failing_end();
    grout_writes_judge_free(judge);
    grout_checker_free(checker);
    grout_diags_free(diags);
    return ok;
}

TEST_EACH(nothing_crashes_or_leaks_without_memory, 2) {
    load_kernel(KERNEL);
    failing_try_all(_i == 1, check_kernel, NULL);
    free_kernel();
}

TEST_EACH(nor_where_writes_are_judged, 2) {
    load_kernel(EQUAL);
    failing_try_all(_i == 1, check_equal, NULL);
    free_kernel();
}
