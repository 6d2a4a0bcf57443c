/* check_while.c - while loops: values, what lives how long, turns in origins, conditions that
 * nobody wrote, endless loops, pauses. SPDX-License-Identifier: Apache-2.0 */
#include "tests/tests.h"
#include "tests/unit/support/run_kernel.h"

static const struct value_case {
    const char *text;
    uint32_t count;
    double expected[4]; /* of the last parameter */
} value_cases[] = {
    {"kernel @k(%y: out gmem i32[1]) { %r = while carry(%c = 0) { cond (lt %c, 5) } do { yield "
     "(add "
     "%c, 1) }\n store %y[0], %r }",
     1,
     {5}},
    /* the condition is asked first */
    {"kernel @k(%y: out gmem i32[1]) { %r = while carry(%c = 9) { cond (lt %c, 5) } do { yield 77 "
     "}\n store %y[0], %r }",
     1,
     {9}},
    /* carries change places */
    {"kernel @k(%y: out gmem i32[3]) { %n, %p, %q = while carry(%i = 0, %a = 1, %b = 2) { cond (lt "
     "%i, 7) } do { yield (add %i, 1), %b, %a }\n store %y[0], %n\n store %y[1], %p\n store %y[2], "
     "%q }",
     3,
     {7, 2, 1}},
    /* what the first body defines is known in the second */
    {"kernel @k(%y: out gmem i32[2]) { %n, %s = while carry(%i = 1, %s = 0) { %d = mul %i, %i\n %e "
     "= "
     "add %d, 1\n cond (lt %e, 100) } do { yield (add %i, 1), (add %s, (mul %e, %d)) }\n store "
     "%y[0], %n\n store %y[1], %s }",
     2,
     {10, 15618}},
    /* without carries; memory decides */
    {"kernel @k(%y: out gmem i32[1]) { scratch %s : smem i32[1]\n store %s[0], 3\n while { cond "
     "(gt "
     "(load %s[0]), 0) } do { store %s[0], (sub (load %s[0]), 1) }\n store %y[0], (load %s[0]) }",
     1,
     {0}},
    /* a while in a for in a while; outer values live through all of it */
    {"kernel @k(%y: out gmem i32[2]) grid(x = 1) { %k = add (axis_index x), 10\n %m = mul %k, 2\n"
     " %n, %t = while carry(%i = 0, %t = 0) { cond (lt %i, 3) } do {\n"
     "  %f = for %j in 0..2 carry(%u = %t) {\n"
     "   %w = while carry(%v = %u) { cond (ne (rem %v, 7), 6) } do { yield (add %v, 1) }\n"
     "   yield (add (add %w, %k), %j) }\n  yield (add %i, 1), %f }\n store %y[0], %t\n store "
     "%y[1], "
     "(add %m, %n) }",
     2,
     {87, 23}},
    /* arrays are carried too, and chains of operations run inside */
    {"kernel @k(%y: out gmem f32[4]) { %n, %v = while carry(%i = 0, %v = (iota dim(0) : f32[4])) { "
     "%sum = reduce_sum %v\n cond (lt %sum, 100.0) } do { %a = mul %v, 2.0\n %b = add %a, %sum\n "
     "yield (add %i, 1), (sub %b, %v) }\n store %y, %v }",
     4,
     {36, 37, 38, 39}},
    /* the result of a loop is another loop's beginning */
    {"kernel @k(%y: out gmem i32[2]) { %a = while carry(%c = 1) { cond (lt %c, 10) } do { yield "
     "(mul "
     "%c, 2) }\n %b = while carry(%d = %a) { cond (gt %d, 3) } do { yield (div %d, 2) }\n store "
     "%y[0], %a\n store %y[1], %b }",
     2,
     {16, 2}},
};

TEST_EACH(values, COUNT_OF(value_cases) * RUN_VARIANTS) {
    const struct value_case *c = &value_cases[_i / RUN_VARIANTS];
    run *r = run_new(c->text, _i % RUN_VARIANTS);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    for (uint32_t i = 0; i < c->count; i++) {
        double got = run_get(r, r->argument_count - 1, i);
        ck_assert_msg(got == c->expected[i], "case %d element %u: %g, not %g", _i / RUN_VARIANTS, i,
                      got, c->expected[i]);
    }
    ck_assert_uint_eq(r->counts[GROUT_EVENT_FAULT], 0);
    run_delete(r);
}

/* Every access of a turn says which turn it was. */
TEST(turns_are_counted_in_origins) {
    run *r =
        run_new("kernel @k(%y: out gmem i32[64]) { for %j in 5..7 { %r = while carry(%c = 0) { "
                "cond (lt %c, 12) } do { store %y[%c], %j\n yield (add %c, 4) } }\n store "
                "%y[63], 0 }",
                0);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    uint32_t stores = 0;
    for (uint32_t i = 0; i < r->event_count; i++) {
        const grout_origin *origin = &r->events[i].origin;
        if (r->events[i].kind == GROUT_EVENT_ACCESS && origin->loop_depth == 2) {
            ck_assert_int_eq(origin->loops[0], 5 + (int)stores / 3);
            ck_assert_int_eq(origin->loops[1], (int)stores % 3);
            stores++;
        }
    }
    ck_assert_uint_eq(stores, 6);
    run_delete(r);
}

/* One report, at cond, and the loop is left, whatever the unwritten value is. */
TEST(unwritten_conditions_end_the_loop) {
    static const char *const conditions[] = {"gt %v, 0", "lt %v, 0", "ne %v, 0", "eq %v, 0"};
    for (uint32_t i = 0; i < 4; i++) {
        char text[512];
        snprintf(
            text, sizeof text,
            "kernel @k(%%y: out gmem i32[1]) { scratch %%s : smem i32[1]\n %%r = while carry(%%c "
            "= 0) { %%v = load %%s[0]\n cond (%s) } do { yield (add %%c, 1) }\n store %%y[0], "
            "%%r }",
            conditions[i]);
        for (int variant = 0; variant < RUN_VARIANTS; variant++) {
            run *r = run_new(text, variant);
            ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
            ck_assert_uint_eq(r->faults[GROUT_DIAG_UNINITIALISED_READ], 1);
            ck_assert_int_eq(r->last_fault.use, GROUT_USE_BRANCH);
            ck_assert(run_get(r, 0, 0) == 0);
            run_delete(r);
        }
    }
}

/* A carry that is undefined stays so from turn to turn, and where it is written it is defined. */
TEST(undefined_carries) {
    run *r = run_new(
        "kernel @k(%y: out gmem f32[4]) { scratch %s : smem f32[4]\n store %y, (broadcast 0.0 : "
        "f32[4])\n %n, %v = while carry(%i = 0, %v = (load %s)) { cond (lt %i, 3) } do { yield "
        "(add "
        "%i, 1), (select (eq %i, 2), (broadcast 1.0 : f32[4]), %v) }\n store %y, %v }",
        1);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    ck_assert_uint_eq(r->counts[GROUT_EVENT_FAULT], 0);
    ck_assert(run_get(r, 0, 3) == 1);
    run_delete(r);
}

/* Their turns differ: no turn but the last, far away, ends as the one before. */
TEST(endless_loops_meet_the_step_limit) {
    static const char *const texts[] = {
        "kernel @k(%y: out gmem i32[1]) { %r = while carry(%c = 0) { cond (ge %c, 0) } do { yield "
        "(add %c, 1) } }",
        "kernel @k(%y: out gmem i32[1]) { %r = while carry(%c = 0) { cond (ne %c, 1) } do { yield "
        "(add %c, 2) }\n store %y[0], %r }"};
    for (uint32_t i = 0; i < 2; i++) {
        run *r = run_new(texts[i], 0);
        r->max_steps = 5000;
        ck_assert_int_eq(run_to_end(r), GROUT_RUN_STEP_LIMIT);
        ck_assert_uint_eq(r->counts[GROUT_EVENT_STEP_LIMIT], 1);
        ck_assert_uint_eq(grout_machine_get_stats(r->machine).steps, 5000);
        run_delete(r);
        r = run_new(texts[i], 0);
        r->steps_allowed = 3000;
        ck_assert_int_eq(run_to_end(r), GROUT_RUN_INTERRUPTED);
        run_delete(r);
    }
}

/* Also with nothing in it. */
TEST(loops_whose_turns_are_alike_are_deadlocks) {
    static const char *const texts[] = {
        "kernel @k(%y: out gmem i32[1]) { while { cond true } do { } }",
        "kernel @k(%y: out gmem i32[1]) { %r = while carry(%c = 0) { cond (ge %c, 0) } do { yield "
        "%c }\n store %y[0], %r }",
        "kernel @k(%y: out gmem i32[1]) { %r, %n = while carry(%c = 0, %n = 0) { cond (ge %c, 0) } "
        "do { yield (sub 7, %c), (add %n, 1) }\n store %y[0], %n }"};
    for (uint32_t i = 0; i < 3; i++) {
        run *r = run_new(texts[i], 0);
        r->max_steps = 5000;
        ck_assert_int_eq(run_to_end(r), GROUT_RUN_DEADLOCK);
        run_delete(r);
    }
}

TEST_EACH(pauses_do_not_change_the_run, 2) {
    const char *text = value_cases[5 + _i].text;
    run *whole = run_new(text, 0);
    ck_assert_int_eq(run_to_end(whole), GROUT_RUN_DONE);
    uint64_t steps = grout_machine_get_stats(whole->machine).steps;
    for (uint64_t at = 1; at < steps; at++) {
        run *r = run_new(text, 0);
        run_start(r);
        ck_assert_int_eq(grout_machine_run(r->machine, at, r->diags), GROUT_RUN_PAUSED);
        grout_snapshot *snapshot = grout_machine_snapshot(r->machine, r->diags);
        for (uint32_t round = 0; round < 2; round++) {
            ck_assert_int_eq(grout_machine_run(r->machine, 0, r->diags), GROUT_RUN_DONE);
            ck_assert_mem_eq(r->arguments[0].data, whole->arguments[0].data, r->arguments[0].size);
            ck_assert(grout_machine_hash(r->machine) == grout_machine_hash(whole->machine));
            ck_assert(grout_machine_restore(r->machine, snapshot, r->diags));
        }
        grout_snapshot_free(snapshot);
        run_delete(r);
    }
    run_delete(whole);
}
