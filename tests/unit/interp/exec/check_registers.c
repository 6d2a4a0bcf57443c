/* check_registers.c - set_max_registers: threads that wait for registers, and those that never get
 * them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/tests.h"
#include "tests/unit/support/run_kernel.h"

/* Three threads start with 168 registers a lane each. Two take 232 once the third has given back
 * 128. */
#define HAND_OVER                                                                             \
    "kernel @k(%y: out gmem i32[3]) threads(w = 3) {\n %t = axis_index w\n"                   \
    " if (eq %t, 2) { for %i in 0..30 { store %y[2], %i }\n set_max_registers 40 decrease } " \
    "else { set_max_registers 232 increase }\n store %y[%t], %t }"

TEST_EACH(an_increase_waits_for_a_decrease, RUN_VARIANTS) {
    run *r = run_new(HAND_OVER, _i);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    for (uint32_t i = 0; i < 3; i++) {
        ck_assert(run_get(r, 0, i) == i);
    }
    ck_assert_uint_eq(r->counts[GROUT_EVENT_FAULT], 0);
    run_delete(r);
}

/* Both threads' stores come after the third's thirty. */
TEST_EACH(nobody_takes_what_is_not_there, RUN_VARIANTS) {
    run *r = run_new(HAND_OVER, _i);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    uint32_t stores = 0;
    for (uint32_t i = 0; i < r->event_count; i++) {
        if (r->events[i].kind == GROUT_EVENT_ACCESS) {
            stores++;
            ck_assert(stores > 30 || r->events[i].origin.thread == 2);
        }
    }
    ck_assert_uint_eq(stores, 33);
    run_delete(r);
}

typedef struct register_facts {
    grout_observer observer;
    grout_thread_fact facts[3];
    uint32_t count;
} register_facts;

static bool keep_facts(void *self, const grout_event *event) {
    register_facts *facts = self;
    facts->count = event->u.deadlock.thread_count;
    memcpy(facts->facts, event->u.deadlock.threads, facts->count * sizeof *facts->facts);
    return true;
}

/* 128 given back: enough for one, not for both. */
TEST_EACH(a_deadlock_says_how_many, RUN_VARIANTS) {
    run *r =
        run_new("kernel @k(%y: out gmem i32[3]) threads(w = 3) {\n %t = axis_index w\n"
                " if (eq %t, 2) { set_max_registers 40 decrease } else { set_max_registers 240 "
                "increase }\n store %y[%t], %t }",
                _i);
    register_facts facts = {
        .observer = {.interest = UINT64_C(1) << GROUT_EVENT_DEADLOCK, .event = keep_facts}};
    facts.observer.self = &facts;
    run_start(r);
    grout_machine_free(r->machine);
    grout_launch launch = {.module = r->module,
                           .kernel = r->kernel,
                           .arguments = r->arguments,
                           .argument_count = r->argument_count,
                           .schedule = r->schedule,
                           .timing = r->timing,
                           .seed = r->seed,
                           .observers = {&facts.observer},
                           .observer_count = 1};
    r->machine = grout_machine_new(&launch, r->diags);
    ck_assert_int_eq(grout_machine_run(r->machine, 0, r->diags), GROUT_RUN_DEADLOCK);
    uint32_t blocked = 0, exited = 0;
    for (uint32_t i = 0; i < 3; i++) {
        if (facts.facts[i].state == GROUT_THREAD_BLOCKED_REGISTERS) {
            blocked++;
            ck_assert_uint_eq(facts.facts[i].registers, 240);
            ck_assert_uint_eq(facts.facts[i].registers_free, 128 - 72);
            ck_assert_uint_ne(facts.facts[i].origin.op, 0);
        }
        exited += facts.facts[i].state == GROUT_THREAD_EXITED;
    }
    ck_assert_uint_eq(blocked, 1);
    ck_assert_uint_eq(exited, 2);
    run_delete(r);
}

/* An increase to what is there, a decrease to more: nothing to do, nothing to wait for. */
TEST_EACH(no_change_is_no_wait, RUN_VARIANTS) {
    run *r = run_new("kernel @k(%y: out gmem i32[3]) threads(w = 3) {\n %t = axis_index w\n"
                     " set_max_registers 168 increase\n set_max_registers 200 decrease\n"
                     " set_max_registers 168 increase\n store %y[%t], %t }",
                     _i);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    run_delete(r);
}

/* The pool is part of the state. */
TEST_EACH(runs_go_on_from_every_step, RUN_VARIANTS) {
    run *whole = run_new(HAND_OVER, _i);
    ck_assert_int_eq(run_to_end(whole), GROUT_RUN_DONE);
    uint64_t steps = grout_machine_get_stats(whole->machine).steps;
    for (uint64_t at = 1; at < steps; at++) {
        run *r = run_new(HAND_OVER, _i);
        run_start(r);
        ck_assert_int_eq(grout_machine_run(r->machine, at, r->diags), GROUT_RUN_PAUSED);
        uint64_t hash = grout_machine_hash(r->machine);
        grout_snapshot *snapshot = grout_machine_snapshot(r->machine, r->diags);
        for (uint32_t round = 0; round < 2; round++) {
            ck_assert_int_eq(grout_machine_run(r->machine, 0, r->diags), GROUT_RUN_DONE);
            ck_assert(r->event_hash == whole->event_hash);
            ck_assert(grout_machine_hash(r->machine) == grout_machine_hash(whole->machine));
            ck_assert(grout_machine_restore(r->machine, snapshot, r->diags));
            ck_assert(grout_machine_hash(r->machine) == hash);
        }
        grout_snapshot_free(snapshot);
        run_delete(r);
    }
    run_delete(whole);
}
