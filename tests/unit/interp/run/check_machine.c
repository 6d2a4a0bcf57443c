/* check_machine.c - whole kernels: values under every order of things, control, ends of a run.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/tests.h"
#include "tests/unit/support/each.h"
#include "tests/unit/support/run_kernel.h"

#include <fenv.h>
#ifdef __SSE__
#include <xmmintrin.h>
#endif

#define ADD_TMA(COMMIT)                                                                           \
    "const X = 40, Y = 72, XB = 16, YB = 32, BUF = 2\n"                                           \
    "kernel @add(%a: in gmem f32[X, Y], %b: in gmem f32[X, Y], %c: out gmem f32[X, Y]) grid(x = " \
    "cdiv(X, XB))\n"                                                                              \
    "{\n scratch %as : smem f32[BUF, XB, YB]\n scratch %bs : smem f32[BUF, XB, YB]\n"             \
    " scratch %cs : smem f32[XB, YB]\n scratch %bar : barrier[BUF] arrivals(2)\n"                 \
    " %row = mul (axis_index x), XB\n"                                                            \
    " for %j in 0..cdiv(Y, YB) {\n  %s = rem %j, BUF\n"                                           \
    "  copy_gmem_to_smem %a[ds(%row, XB), ds(%j * YB, YB)], %as[%s], %bar[%s]\n"                  \
    "  copy_gmem_to_smem %b[ds(%row, XB), ds(%j * YB, YB)], %bs[%s], %bar[%s]\n"                  \
    "  barrier_wait %bar[%s]\n  %v = add (load %as[%s]), (load %bs[%s])\n"                        \
    "  wait_smem_to_gmem 0 read_only\n  store %cs, %v\n  " COMMIT "\n"                            \
    "  copy_smem_to_gmem %cs, %c[ds(%row, XB), ds(%j * YB, YB)]\n }\n wait_smem_to_gmem 0\n}\n"

#define QUEUE                                                                                    \
    "const STEPS = 7, SLOTS = 3, N = 64\n"                                                       \
    "kernel @queue(%x: in gmem f32[STEPS, N], %y: out gmem f32[STEPS, N]) threads(wg = 2)\n{\n"  \
    " scratch %q : smem f32[SLOTS, N]\n scratch %full : barrier[SLOTS]\n scratch %free : "       \
    "barrier[SLOTS]\n"                                                                           \
    " if (eq (axis_index wg), 0) {\n  for %i in 0..STEPS {\n   %s = rem %i, SLOTS\n"             \
    "   if (ge %i, SLOTS) { barrier_wait %free[%s] }\n"                                          \
    "   copy_gmem_to_smem %x[%i], %q[%s], %full[%s]\n  }\n"                                      \
    "  for %i in 0..SLOTS { %s = rem %i + STEPS, SLOTS\n barrier_wait %free[%s] }\n"             \
    " } else {\n  for %i in 0..STEPS {\n   %s = rem %i, SLOTS\n   barrier_wait %full[%s]\n"      \
    "   store %y[%i], (add (load %q[%s]), 1.0)\n   commit_smem\n   barrier_arrive %free[%s]\n  " \
    "}\n }\n}\n"

TEST_EACH(add_is_right_in_every_order, RUN_VARIANTS) {
    run *r = run_new(ADD_TMA("commit_smem"), _i);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    for (size_t i = 0; i < (size_t)40 * 72; i++) {
        ck_assert(run_get(r, 2, i) == run_get(r, 0, i) + run_get(r, 1, i));
    }
    ck_assert_uint_eq(r->counts[GROUT_EVENT_FAULT], 0);
    ck_assert_uint_eq(r->counts[GROUT_EVENT_COMPLETE], r->counts[GROUT_EVENT_ISSUE]);
    ck_assert_uint_eq(r->counts[GROUT_EVENT_CTA_END], 3);
    run_delete(r);
}

/* The same run twice: every value, event and stamp. */
TEST_EACH(runs_are_deterministic, RUN_VARIANTS) {
    const char *texts[] = {ADD_TMA("commit_smem"), QUEUE, ADD_TMA("")};
    for (uint32_t i = 0; i < 3; i++) {
        run *a = run_new(texts[i], _i), *b = run_new(texts[i], _i);
        ck_assert_int_eq(run_to_end(a), GROUT_RUN_DONE);
        ck_assert_int_eq(run_to_end(b), GROUT_RUN_DONE);
        uint32_t last = a->argument_count - 1;
        ck_assert_mem_eq(a->arguments[last].data, b->arguments[last].data, a->arguments[last].size);
        ck_assert(a->event_hash == b->event_hash);
        ck_assert(grout_machine_hash(a->machine) == grout_machine_hash(b->machine));
        run_delete(a);
        run_delete(b);
    }
}

TEST_EACH(queue_is_right_in_every_order, RUN_VARIANTS) {
    run *r = run_new(QUEUE, _i);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    for (size_t i = 0; i < (size_t)7 * 64; i++) {
        ck_assert(run_get(r, 1, i) == run_get(r, 0, i) + 1.0);
    }
    ck_assert_uint_eq(r->late_waits, 0);
    run_delete(r);
}

/* Without an observer in eager timing no clocks are kept; the values are the same. */
TEST(unobserved_runs_are_right) {
    run *r = run_new(QUEUE, 0);
    r->is_unobserved = true;
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    ck_assert(run_get(r, 1, 65) == run_get(r, 0, 65) + 1.0);
    ck_assert_uint_eq(grout_machine_get_stats(r->machine).events, 0);
    run_delete(r);
}

/* Without the commit the engine reads what %cs held before: only eager timing hides it. */
TEST_EACH(a_missing_commit_computes_wrong, RUN_VARIANTS) {
    run *r = run_new(ADD_TMA(""), _i);
    size_t wrong = 0;
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    for (size_t i = 0; i < (size_t)40 * 72; i++) {
        wrong += run_get(r, 2, i) != run_get(r, 0, i) + run_get(r, 1, i);
    }
    if (r->timing == GROUT_TIMING_EAGER) {
        ck_assert_uint_eq(wrong, 0);
    } else {
        ck_assert_uint_gt(wrong, (size_t)40 * 72 / 2);
    }
    ck_assert_uint_eq(r->faults[GROUT_DIAG_UNINITIALISED_READ], 0);
    run_delete(r);
}

/* ---- control
 * ------------------------------------------------------------------------------------- */

static const struct control_case {
    const char *text;
    double expected[4];
} control_cases[] = {
    {"kernel @k(%y: out gmem i32[1]) { %s = for %i in 0..5 carry(%a = 0) { %n = add %a, %i\n yield "
     "%n }\n store %y[0], %s }",
     {10}},
    {"kernel @k(%y: out gmem i32[2]) { %p, %q = for %i in 0..5 carry(%a = 1, %b = 2) { yield %b, "
     "%a }\n"
     " store %y[0], %p\n store %y[1], %q }",
     {2, 1}},
    {"kernel @k(%y: out gmem i32[3]) { %p, %q, %r = for %i in 0..4 carry(%a = 1, %b = 2, %c = 3) { "
     "yield %b, %c, %a }\n"
     " store %y[0], %p\n store %y[1], %q\n store %y[2], %r }",
     {2, 3, 1}},
    {"kernel @k(%y: out gmem i32[1]) { %s = for %i in 3..3 carry(%a = 7) { yield 9 }\n store "
     "%y[0], %s }",
     {7}},
    {"kernel @k(%y: out gmem i32[1]) { %s = for %i in 0..10 step 4 carry(%a = 0) { %n = add %a, "
     "%i\n yield %n }\n store %y[0], %s }",
     {12}},
    {"kernel @k(%n: i32, %y: out gmem i32[1]) { %s = for %i in 0..%n carry(%a = 0) { %m = add %a, "
     "2\n yield %m }\n store %y[0], %s }",
     {0}},
    {"kernel @k(%y: out gmem i32[2]) { %t = if (lt 1, 2) { yield 5 } else { yield 6 }\n %f = if "
     "(lt 2, 1) { yield 5 } else { yield 6 }\n"
     " store %y[0], %t\n store %y[1], %f }",
     {5, 6}},
    {"kernel @k(%y: out gmem i32[4]) { for %i in 0..2 { for %j in 0..2 { %v = add (mul %i, 10), "
     "%j\n store %y[%i * 2 + %j], %v } } }",
     {0, 1, 10, 11}},
    {"kernel @k(%y: out gmem f32[4]) { %v = for %i in 0..3 carry(%a = (broadcast 1.0 : f32[4])) { "
     "%d = add %a, %a\n yield %d }\n store %y, %v }",
     {8, 8, 8, 8}},
    {"kernel @k(%y: out gmem i32[4]) grid(x = 2, z = 2) { %i = axis_index x\n %j = axis_index z\n "
     "store %y[%i * 2 + %j], (add (mul %i, 10), %j) }",
     {0, 1, 10, 11}},
    {"kernel @k(%y: out gmem i32[4]) threads(a = 2, b = 2) { %i = axis_index a\n %j = axis_index "
     "b\n store %y[%i * 2 + %j], (add (mul %i, 10), %j) }",
     {0, 1, 10, 11}},
    {"kernel @k(%y: out gmem f32[4]) { %r = scoped(%s : smem f32[4]) { store %s, (broadcast 3.0 : "
     "f32[4])\n yield (load %s) }\n store %y, %r }",
     {3, 3, 3, 3}},
    {"kernel @k(%y: out gmem f32[2]) threads(w = 2) { scoped(%s : smem f32[2], %b : barrier[1] "
     "arrivals(2)) collective {\n"
     " %t = axis_index w\n store %s[%t], (cast %t : f32)\n barrier_arrive %b[0]\n barrier_wait "
     "%b[0]\n"
     " %o = sub 1, %t\n store %y[%t], (load %s[%o]) } }",
     {1, 0}},
    {"kernel @k(%y: out gmem f32[2]) threads(w = 2) { %t = axis_index w\n for %i in 0..3 {\n"
     " scoped(%s : smem f32[2], %b : barrier[1] arrivals(2)) collective {\n store %s[%t], (cast "
     "(add %t, %i) : f32)\n"
     " barrier_arrive %b[0]\n barrier_wait %b[0]\n store %y[%t], (load %s[(sub 1, %t)]) } } }",
     {3, 2}},
    /* thread 0 is out of both scopes, or at the next round, long before thread 1 */
    {"kernel @k(%y: out gmem f32[2]) threads(w = 2) { %t = axis_index w\n for %r in 0..2 {\n"
     " scoped(%s : smem f32[2]) collective {\n store %s[%t], 1.0\n"
     " scoped(%u : smem f32[2]) collective {\n store %u[%t], 2.0\n for %i in 0..%t * 9 { store "
     "%u[%t], (add (load %u[%t]), (load %s[%t])) }\n store %y[%t], (load %u[%t]) } } } }",
     {2, 11}},
};

TEST_EACH(control, COUNT_OF(control_cases)) {
    const struct control_case *c = &control_cases[_i];
    for (int variant = 0; variant < RUN_VARIANTS; variant++) {
        run *r = run_new(c->text, variant);
        run_start(r);
        ck_assert_ptr_nonnull(r->machine);
        ck_assert_int_eq(grout_machine_run(r->machine, 0, r->diags), GROUT_RUN_DONE);
        uint32_t last = r->argument_count - 1;
        for (uint32_t i = 0; i < 4 && (size_t)i * 4 < r->arguments[last].size; i++) {
            double got = run_get(r, last, i), expected = c->expected[i];
            if (last == 1) { /* the kernel with a scalar parameter: 2 n */
                expected = 2.0 * *(const int32_t *)r->arguments[0].data > 0
                               ? 2.0 * *(const int32_t *)r->arguments[0].data
                               : 0;
            }
            ck_assert_msg(got == expected, "case %d element %u: %g, not %g", _i, i, got, expected);
        }
        ck_assert_uint_eq(r->counts[GROUT_EVENT_FAULT], 0);
        run_delete(r);
    }
}

/* ---- scopes
 * -------------------------------------------------------------------------------------- */

/* The ends of scopes in their order, and what was known at them. */
typedef struct scope_ends {
    grout_clock_shape shape;
    uint32_t count;
    grout_op_id ops[16];
    uint32_t reads_known[16];
} scope_ends;

static bool on_scopes_begin(void *self, const grout_launch_info *info) {
    ((scope_ends *)self)->shape = info->shape;
    return true;
}
static bool on_scope_end(void *self, const grout_event *event) {
    scope_ends *ends = self;
    uint32_t i = ends->count++ % 16;
    ends->ops[i] = event->origin.op;
    ends->reads_known[i] = event->u.scope.last[grout_clock_bulk_read(&ends->shape, 0)];
    return true;
}

static scope_ends watch_scopes(const char *text, int variant) {
    scope_ends ends = {0};
    run *r = run_new(text, variant);
    r->is_unobserved = true;
    run_start(r);
    grout_machine_free(r->machine);
    grout_observer observer = {.self = &ends,
                               .interest = UINT64_C(1) << GROUT_EVENT_SCOPE_END |
                                           UINT64_C(1) << GROUT_EVENT_CTA_END,
                               .begin = on_scopes_begin,
                               .event = on_scope_end};
    grout_launch launch = {.module = r->module,
                           .kernel = 1,
                           .arguments = r->arguments,
                           .argument_count = r->argument_count,
                           .timing = r->timing,
                           .schedule = r->schedule,
                           .seed = r->seed,
                           .observers = {&observer},
                           .observer_count = 1};
    r->machine = grout_machine_new(&launch, r->diags);
    ck_assert_int_eq(grout_machine_run(r->machine, 0, r->diags), GROUT_RUN_DONE);
    run_delete(r);
    return ends;
}

/* Each instance of a scope ends once, the inner before the outer. */
TEST_EACH(scopes_end_inside_out, RUN_VARIANTS) {
    scope_ends ends = watch_scopes(
        "kernel @k(%y: out gmem f32[2]) threads(w = 2) { %t = axis_index w\n for %r in 0..3 {\n"
        " scoped(%s : smem f32[2]) collective { scoped(%u : smem f32[2]) collective {\n"
        " for %i in 0..%t * 20 { store %u[%t], 1.0 }\n store %y[%t], 1.0 } } } }",
        _i);
    ck_assert_uint_eq(ends.count, 7);
    ck_assert_uint_gt(ends.ops[0], ends.ops[1]);
    for (uint32_t i = 0; i < 6; i++) {
        ck_assert_uint_eq(ends.ops[i], ends.ops[i % 2]);
    }
}

/* What a thread learns after it has left a scope is not known at the end of that scope. */
TEST_EACH(late_waits_are_not_known_at_the_end, RUN_VARIANTS) {
    static const char text[] =
        "kernel @k(%y: out gmem f32[2, 64], %z: out gmem i32[1]) threads(w = 2) {\n"
        " %t = axis_index w\n for %r in 0..2 {\n scoped(%s : smem f32[64]) collective {\n"
        " if (eq %t, 0) { store %s, (broadcast 1.0 : f32[64])\n commit_smem\n"
        " copy_smem_to_gmem %s, %y[%r] } else { for %i in 0..40 { store %z[0], %i } } }\n"
        " wait_smem_to_gmem 0 } }";
    scope_ends ends = watch_scopes(text, _i);
    ck_assert_uint_eq(ends.count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        ck_assert_uint_eq(ends.reads_known[i], i);
    }
}

TEST(prints) {
    run *r =
        run_new("kernel @k(%x: in gmem f32[2, 2]) grid(x = 2) threads(w = 1) { %i = axis_index x\n"
                " debug_print \"i {} of {}: {}\", %i, 0.1, (load %x) }",
                0);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    ck_assert_str_eq(r->printed,
                     "CTA (x=0), thread w=0: i 0 of 0.1:\n  [[-4,  3],\n   [ 1, -1]]\n"
                     "CTA (x=1), thread w=0: i 1 of 0.1:\n  [[-4,  3],\n   [ 1, -1]]\n");
    run_delete(r);
}

/* ---- ends
 * ----------------------------------------------------------------------------------------- */

TEST_EACH(deadlock_is_told, RUN_VARIANTS) {
    run *r = run_new("kernel @k(%y: out gmem f32[1]) threads(w = 2) { scratch %b : barrier[2]\n"
                     " if (eq (axis_index w), 0) { barrier_wait %b[1] } }",
                     _i);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DEADLOCK);
    ck_assert_uint_eq(r->counts[GROUT_EVENT_DEADLOCK], 1);
    ck_assert_uint_eq(r->counts[GROUT_EVENT_CTA_END], 0);
    ck_assert_uint_eq(r->states[0], GROUT_THREAD_BLOCKED_BARRIER);
    ck_assert_uint_eq(r->states[1], GROUT_THREAD_EXITED);
    ck_assert_uint_eq(r->faults[GROUT_DIAG_OUTPUT_NOT_WRITTEN], 0);
    run_delete(r);
}

TEST(step_limit_is_told) {
    run *r = run_new("kernel @k(%y: out gmem i32[1]) { for %i in 0..1000 { store %y[0], %i } }", 0);
    r->max_steps = 100;
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_STEP_LIMIT);
    ck_assert_uint_eq(r->counts[GROUT_EVENT_STEP_LIMIT], 1);
    ck_assert_uint_eq(grout_machine_get_stats(r->machine).steps, 100);
    ck_assert_int_eq(grout_machine_run(r->machine, 0, r->diags), GROUT_RUN_STEP_LIMIT);
    run_delete(r);
}

TEST(progress_can_interrupt) {
    run *r =
        run_new("kernel @k(%y: out gmem i32[1]) { for %i in 0..100000 { store %y[0], %i } }", 0);
    r->steps_allowed = 2000;
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_INTERRUPTED);
    ck_assert_uint_lt(grout_machine_get_stats(r->machine).steps, 5000);
    run_delete(r);
}

TEST_EACH(pauses_do_not_change_the_run, RUN_VARIANTS) {
    run *whole = run_new(QUEUE, _i), *parts = run_new(QUEUE, _i);
    ck_assert_int_eq(run_to_end(whole), GROUT_RUN_DONE);
    run_start(parts);
    grout_run_status status = GROUT_RUN_PAUSED;
    uint32_t pauses = 0;
    for (; status == GROUT_RUN_PAUSED; pauses++) {
        status = grout_machine_run(parts->machine, 1 + pauses % 3, parts->diags);
    }
    ck_assert_int_eq(status, GROUT_RUN_DONE);
    ck_assert_uint_gt(pauses, 20);
    ck_assert(whole->event_hash == parts->event_hash);
    ck_assert(grout_machine_hash(whole->machine) == grout_machine_hash(parts->machine));
    run_delete(whole);
    run_delete(parts);
}

TEST(memory_limit_is_a_diagnostic) {
    run *r = run_new(ADD_TMA("commit_smem"), 1);
    r->max_memory = 20000;
    run_start(r);
    ck_assert_ptr_null(r->machine);
    ck_assert(grout_diags_has_errors(r->diags));
    ck_assert_int_eq(grout_diags_get(r->diags, grout_diags_count(r->diags) - 1)->code,
                     GROUT_DIAG_OUT_OF_MEMORY);
    run_delete(r);
}

/* Wherever memory runs out: no crash, no leak, and a reason. */
TEST(any_memory_limit_is_survived) {
    uint32_t refused = 0, failed = 0, done = 0;
    for (uint64_t limit = 500; done == 0; limit += limit / 40 + 100) {
        run *r = run_new(QUEUE, 1);
        r->max_memory = limit;
        run_start(r);
        if (r->machine == NULL) {
            refused++;
            ck_assert(grout_diags_has_errors(r->diags));
        } else if (grout_machine_run(r->machine, 0, r->diags) == GROUT_RUN_FAILED) {
            failed++;
            ck_assert(grout_diags_has_errors(r->diags));
        } else {
            done++;
        }
        run_delete(r);
    }
    ck_assert_uint_gt(refused, 10);
    ck_assert_uint_lt(failed, 100);
}

TEST(wrong_arguments_are_a_diagnostic) {
    run *r = run_new(QUEUE, 0);
    run_start(r);
    grout_argument arguments[2] = {r->arguments[0], r->arguments[1]};
    grout_launch launch = {
        .module = r->module, .kernel = 1, .arguments = arguments, .argument_count = 1};
    ck_assert_ptr_null(grout_machine_new(&launch, r->diags));
    launch.argument_count = 2;
    arguments[1].size--;
    ck_assert_ptr_null(grout_machine_new(&launch, r->diags));
    ck_assert_uint_eq(grout_diags_count(r->diags), 2);
    run_delete(r);
}

/* XLA's threads take subnormal numbers for 0, and a program may round upwards: neither is seen in
 * what a kernel computes, and both are there afterwards. 1.0 as a float of 4 bits is widened by way
 * of a subnormal number. */
TEST(settings_of_the_caller_do_not_count) {
    const char *text =
        "kernel @k(%x: in gmem f32[128], %y: out gmem f32[128], %z: out gmem f32[128])\n"
        "{\n %v = load %x\n store %y, (mul (mul %v, 1e-40), 1e3)\n"
        " store %z, (cast (cast (mul %v, 0.5) : f4e2m1) : f32)\n}\n";
    run *wanted = run_new(text, 0), *r = run_new(text, 0);
    ck_assert_int_eq(run_to_end(wanted), GROUT_RUN_DONE);
    fenv_t before;
    ck_assert_int_eq(fegetenv(&before), 0);
    ck_assert_int_eq(fesetround(FE_UPWARD), 0);
#ifdef __SSE__
    _mm_setcsr(_mm_getcsr() | 0x8040u);
#endif
    grout_run_status status = run_to_end(r);
    ck_assert_int_eq(fegetround(), FE_UPWARD);
#ifdef __SSE__
    ck_assert_uint_eq(_mm_getcsr() & 0x8040u, 0x8040u);
#endif
    ck_assert_int_eq(fesetenv(&before), 0);
    ck_assert_int_eq(status, GROUT_RUN_DONE);
    for (uint32_t i = 1; i < 3; i++) {
        ck_assert_mem_eq(r->arguments[i].data, wanted->arguments[i].data, r->arguments[i].size);
    }
    ck_assert(run_get(r, 1, 1) != 0.0 && run_get(r, 2, 1) == run_get(r, 0, 1) / 2);
    run_delete(r);
    run_delete(wanted);
}

TEST(names_are_found) {
    grout_timing timing;
    grout_numerics numerics;
    grout_schedule schedule;
    ck_assert(grout_timing_find("random", &timing) && timing == GROUT_TIMING_RANDOM);
    ck_assert(grout_timing_find("eager", &timing) && timing == GROUT_TIMING_EAGER);
    ck_assert(!grout_timing_find("late", &timing));
    ck_assert(grout_numerics_find("exact", &numerics) && numerics == GROUT_NUMERICS_EXACT);
    ck_assert(grout_numerics_find("fast", &numerics) && numerics == GROUT_NUMERICS_FAST);
    ck_assert(!grout_numerics_find("fastest", &numerics));
    ck_assert(grout_schedule_find("random", &schedule) && schedule == GROUT_SCHEDULE_RANDOM);
    ck_assert(!grout_schedule_find("", &schedule));
}

/* ---- the end of the time while a launch is prepared ------------------------------------------ */

/* Many operations of each kind that planning has loops for: plain ones, those that work in one go,
 * a loop whose values go round, branches, looks at a flag in a while, indices that may wrap. */
static grout_text make_long_text(void) {
    grout_text text = {0};
    grout_text_add(&text, "kernel @k(%%f: inout gmem i32[8], %%x: in gmem f32[64], "
                          "%%y: inout gmem i32[64], %%z: out gmem f32[64]) threads(wg = 2)\n{\n"
                          " %%i0 = load %%y[0]\n %%v0 = load %%x\n");
    for (int i = 0; i < 300; i++) {
        grout_text_add(&text, " %%i%d = mul %%i%d, 3\n %%v%d = add %%v%d, 1.0\n", i + 1, i, i + 1,
                       i);
    }
    grout_text_add(&text,
                   " if (eq (axis_index wg), 0) {\n  store %%y[(rem (max %%i300, 0), 64)], 1\n"
                   "  store %%z, %%v300\n"
                   " }\n %%r, %%q = for %%k in 0..3 carry(%%c = 1, %%d = 2) {\n"
                   "  yield %%d, (mul %%c, 7)\n }\n store %%y[%%r], 2\n"
                   " while {\n  cond (lt (load %%f[0]), 0)\n } do {\n");
    for (int i = 0; i < 60; i++) {
        grout_text_add(&text, "  %%o%d = atomic_exchange %%f[%d], %%i1\n", i, i % 8);
    }
    grout_text_add(&text, " }\n}\n");
    ck_assert(!text.failed);
    return text;
}

/* Scratches of the launch whose contents take time: between two of them it is asked, too. */
static grout_text make_long_contents(void) {
    grout_text text = {0};
    grout_text_add(&text, "kernel @k(%%y: inout gmem f32[64])\n{\n"
                          "  scratch %%a : gmem f32[100000] init(randn(7))\n"
                          "  scratch %%b : gmem i32[100000] init(ints)\n"
                          "  for %%i in 0..20000 {\n    store %%b[%%i], %%i\n  }\n"
                          "  store %%y[0], (load %%a[1])\n}\n");
    ck_assert(!text.failed);
    return text;
}

/* What progress ends is a run that is interrupted; what the list of diagnostics ends has failed. */
static void expect_end(run *r, uint64_t all) {
    const bool is_whole = r->questions_allowed == 0 || r->questions_allowed == all;
    ck_assert_uint_eq(r->questions, is_whole ? all : r->questions_allowed + 1);
    if (r->ends_by_list && !is_whole) {
        ck_assert_ptr_null(r->machine);
        ck_assert_uint_eq(grout_diags_count(r->diags), 1);
        const grout_diag *diag = grout_diags_get(r->diags, 0);
        ck_assert_int_eq(diag->code, GROUT_DIAG_TIME_LIMIT);
        ck_assert_str_eq(diag->message, "the time was over while the launch was prepared");
        return;
    }
    ck_assert_ptr_nonnull(r->machine);
    if (r->ends_by_list) {
        return;
    }
    r->steps_allowed = 1; /* that it can run is for other tests */
    ck_assert_int_eq(grout_machine_run(r->machine, 0, r->diags), GROUT_RUN_INTERRUPTED);
    ck_assert_uint_eq(grout_diags_count(r->diags), 0);
    ck_assert(is_whole || grout_machine_get_stats(r->machine).steps == 0);
    ck_assert_int_eq(grout_machine_run(r->machine, 0, r->diags), GROUT_RUN_INTERRUPTED);
}

TEST_EACH(preparing_ends_in_time, 4) {
    grout_text text = _i < 2 ? make_long_text() : make_long_contents();
    uint64_t all = 0, allowed = 0, step = 1;
    for (bool is_last = false; !is_last; allowed = allowed + step < all ? allowed + step : all) {
        run *r = run_new(text.data, 1);
        r->ends_by_list = _i % 2 != 0;
        r->questions_allowed = allowed;
        run_start(r);
        all = allowed == 0 ? r->questions : all;
        step = get_each();
        is_last = allowed == all;
        expect_end(r, all);
        run_delete(r);
    }
    ck_assert_uint_gt(all, 30);
    grout_text_free(&text);
}
