/* check_equal.c - races of two writes: which inputs the second run has, what it keeps, and what is
 * not judged.
 * SPDX-License-Identifier: Apache-2.0 */
#include "grout-internal/equal.h"
#include "grout-internal/generate.h"

#include "tests/tests.h"
#include "tests/unit/support/bind_text.h"

typedef struct subject {
    bound_text text;
    grout_argument arguments[4];
    grout_launch launch;
} subject;

static void load(subject *it, const char *text) {
    *it = (subject){.text = bind_text(text, NULL, 0)};
    ck_assert_msg(it->text.bound != NULL &&
                      grout_verify(it->text.bound, GROUT_ARCH_SM_90A, it->text.diags),
                  "%s", get_said(it->text.diags));
    const grout_kernel *kernel = grout_module_get_kernel(it->text.bound, 1);
    it->launch = (grout_launch){.module = it->text.bound,
                                .kernel = 1,
                                .arguments = it->arguments,
                                .argument_count = kernel->param_count,
                                .track_undefined = true};
    ck_assert_uint_le(kernel->param_count, 4);
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        const grout_param *param = grout_module_get_param(it->text.bound, kernel, i);
        const bool is_scalar = param->direction == GROUT_DIRECTION_SCALAR;
        it->arguments[i].size =
            is_scalar ? grout_dtype_get_info((grout_dtype)param->dtype)->bytes
                      : (size_t)grout_object_get_layout(it->text.bound, param->object)->bytes;
        it->arguments[i].data = calloc(1, it->arguments[i].size);
        if (param->direction != GROUT_DIRECTION_OUT) {
            grout_param_fill_default(it->text.bound, kernel, i, it->arguments[i].data);
        }
    }
}

static void unload(subject *it) {
    for (size_t i = 0; i < it->launch.argument_count; i++) {
        free(it->arguments[i].data);
    }
    free_text(&it->text);
}

/* Runs it with a checker, and judges its writes. The codes of what is found, 'race' or 'equal'; ""
 * if nothing is. */
static const char *judge(subject *it, const bool *are_given) {
    grout_checker *checker = grout_checker_new(NULL, it->text.diags);
    grout_writes_judge *writes = grout_writes_judge_new(&it->launch, are_given, it->text.diags);
    ck_assert(checker != NULL && writes != NULL);
    grout_launch own = it->launch;
    own.progress = NULL;
    own.observers[own.observer_count++] = grout_checker_get_observer(checker);
    grout_machine *machine = grout_machine_new(&own, it->text.diags);
    ck_assert_int_eq(grout_machine_run(machine, 0, it->text.diags), GROUT_RUN_DONE);
    ck_assert(grout_writes_judge_run(writes, checker, it->text.diags));
    const char *said = "";
    for (uint32_t i = 0; i < grout_checker_get_count(checker); i++) {
        const grout_finding *finding = grout_checker_get_finding(checker, i);
        if (finding->code == GROUT_DIAG_OUTPUT_NOT_WRITTEN) {
            continue;
        }
        said = finding->code == GROUT_DIAG_SAME_VALUE_RACE ? "equal" : "race";
        ck_assert_int_eq(finding->severity, finding->code == GROUT_DIAG_SAME_VALUE_RACE
                                                ? GROUT_SEVERITY_WARNING
                                                : GROUT_SEVERITY_ERROR);
    }
    const grout_check_summary summary = grout_checker_get_summary(checker, false);
    ck_assert_int_eq(summary.has_equal_writes, strcmp(said, "equal") == 0);
    ck_assert_int_eq(summary.is_well_synchronised, strcmp(said, "race") != 0);
    grout_writes_judge_free(writes);
    grout_machine_free(machine);
    grout_checker_free(checker);
    return said;
}

/* ---- inputs --------------------------------------------------------------------------------- */

#define KERNEL(PARAMS, BODY) \
    "kernel @k(" PARAMS ", %y: out gmem i32[4]) grid(x = 2)\n{\n" BODY "}\n"
#define FLOATS(PARAMS, BODY) \
    "kernel @k(" PARAMS ", %y: out gmem f32[4]) grid(x = 2)\n{\n" BODY "}\n"

static const struct {
    const char *text, *given, *invented; /* what is said if all inputs are given, or none */
} inputs[] = {
    /* nothing to vary */
    {KERNEL("%n: i32", "  store %y, (broadcast 3 : i32[4])\n"), "equal", "equal"},
    {KERNEL("%n: i32", "  store %y, (broadcast (axis_index x) : i32[4])\n"), "race", "race"},
    /* the same element of an input, and another one: of floats, of integers */
    {FLOATS("%x: in gmem f32[2, 4]", "  store %y, (load %x[0])\n"), "equal", "equal"},
    {FLOATS("%x: in gmem f32[2, 4] init(zeros)", "  store %y, (load %x[(axis_index x)])\n"), "race",
     "race"},
    {KERNEL("%x: in gmem i32[2, 4]",
            "  store %y, (div (load %x[(axis_index x)]), (broadcast 9 : i32[4]))\n"),
     "equal", "race"},
    /* integers that were given change their places: the first row, and then another one */
    {KERNEL("%x: in gmem i32[2, 4] init([0, 0, 0, 0, 0, 0, 0, 1])",
            "  store %y[ds(0, 3)], (load %x[(axis_index x), ds(0, 3)])\n"),
     "race", "race"},
    /* indices: with others the loads would leave the array, so they stay */
    {KERNEL("%at: in gmem i32[4] init(arange), %x: in gmem i32[4]",
            "  store %y, (gather %x, (load %at) dim(0))\n"),
     "equal", "equal"},
    /* a bound of a loop stays; a float that nobody gave does not */
    {KERNEL("%n: i32", "  for %i in 0..%n {\n    store %y, (broadcast %n : i32[4])\n  }\n"
                       "  store %y, (broadcast 1 : i32[4])\n"),
     "equal", "equal"},
    {FLOATS("%z: f32", "  %mine = mul %z, (cast (axis_index x) : f32)\n"
                       "  store %y, (broadcast %mine : f32[4])\n"),
     "race", "race"},
    /* an inout array is as it was before the launch */
    {FLOATS("%s: inout gmem f32[4]", "  store %y, (broadcast 1.0 : f32[4])\n"
                                     "  store %s[ds((mul (axis_index x), 2), 2)], "
                                     "(broadcast 5.0 : f32[2])\n"),
     "equal", "equal"},
};

TEST_EACH(test_inputs, COUNT_OF(inputs)) {
    subject it;
    const bool none[4] = {false};
    load(&it, inputs[_i].text);
    ck_assert_str_eq(judge(&it, NULL), inputs[_i].given);
    unload(&it);
    load(&it, inputs[_i].text);
    ck_assert_str_eq(judge(&it, none), inputs[_i].invented);
    unload(&it);
}

/* The arrays of the caller are as the launch has left them. */
TEST(test_arrays_stay) {
    subject it;
    load(&it, FLOATS("%s: inout gmem f32[4] init(ones)",
                     "  store %y, (broadcast 1.0 : f32[4])\n"
                     "  %here = mul (axis_index x), 2\n"
                     "  store %s[ds(%here, 2)], (add (load %s[ds(%here, 2)]), 1.0)\n"));
    ck_assert_str_eq(judge(&it, NULL), "equal");
    const float *left = it.arguments[0].data;
    for (int i = 0; i < 4; i++) {
        ck_assert_float_eq(left[i], 2);
    }
    unload(&it);
}

/* ---- what is not judged --------------------------------------------------------------------- */

static uint32_t run_count;

static bool count_and_stop(void *payload, const grout_progress *progress) {
    (void)payload;
    (void)progress;
    run_count++;
    return false;
}

/* A run that is interrupted says nothing; one without a race is no run at all. */
TEST(test_interrupted) {
    subject it;
    load(&it, FLOATS("%x: in gmem f32[4]", "  store %y, (load %x)\n"));
    it.launch.progress = count_and_stop;
    run_count = 0;
    ck_assert_str_eq(judge(&it, NULL), "race");
    ck_assert_uint_eq(run_count, 1);
    unload(&it);
    load(&it, FLOATS("%x: in gmem f32[4]",
                     "  if (eq (axis_index x), 0) {\n    store %y, (load %x)\n  }\n"));
    it.launch.progress = count_and_stop;
    run_count = 0;
    ck_assert_str_eq(judge(&it, NULL), "");
    ck_assert_uint_eq(run_count, 0);
    unload(&it);
}

/* Without a judge a race of two writes is an error, and another run is judged by the first. */
TEST(test_applied_to_another_run) {
    subject it;
    load(&it, FLOATS("%x: in gmem f32[4]", "  store %y, (load %x)\n"));
    grout_writes_judge *writes = grout_writes_judge_new(&it.launch, NULL, it.text.diags);
    for (int i = 0; i < 2; i++) {
        grout_checker *checker = grout_checker_new(NULL, it.text.diags);
        grout_launch own = it.launch;
        own.observers[own.observer_count++] = grout_checker_get_observer(checker);
        grout_machine *machine = grout_machine_new(&own, it.text.diags);
        ck_assert_int_eq(grout_machine_run(machine, 0, it.text.diags), GROUT_RUN_DONE);
        ck_assert(grout_checker_has_racing_writes(checker));
        ck_assert_int_eq(grout_checker_get_finding(checker, 0)->code, GROUT_DIAG_GMEM_RACE);
        const uint64_t identity = grout_checker_get_finding(checker, 0)->identity;
        ck_assert(i == 0 ? grout_writes_judge_run(writes, checker, it.text.diags)
                         : grout_writes_judge_apply(writes, checker));
        ck_assert_int_eq(grout_checker_get_finding(checker, 0)->code, GROUT_DIAG_SAME_VALUE_RACE);
        ck_assert_uint_ne(grout_checker_get_finding(checker, 0)->identity, identity);
        ck_assert(!grout_checker_has_racing_writes(checker));
        grout_machine_free(machine);
        grout_checker_free(checker);
    }
    grout_writes_judge_free(writes);
    unload(&it);
}
