/*
 * check_engine.c - what a new engine costs: a line (test_engines.def) and four functions
 * (test_engine.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each flight of the engine is due at a phase of a barrier and is in a group of its thread at once:
 * a thread that waits for either finds it done.
 */
#include "test_engine.h"

#include "interp/engines/engine.h"
#include "interp/sync/barrier.h"
#include "tests/unit/support/run_kernel.h"

/* ---- a kernel that has flights of it -----------------------------------------------------------
 */

/* The copy brings its bytes to the phase; the engine brings 4 more, which the expect counts. */
static const char text[] =
    "kernel @k(%x: in gmem f32[64], %y: out gmem f32[64]) {\n"
    " scratch %s : smem f32[64]\n scratch %r : smem f32[64]\n scratch %m : mbarrier[1]\n"
    " mbarrier_init %m[0], 1\n store %s, (broadcast 0.0 : f32[64])\n store %s[0], 7.0\n "
    "mbarrier_expect %m[0], 260\n"
    " copy_gmem_to_smem %x, %r, %m[0]\n mbarrier_wait %m[0], 0\n store %y, (load %s) }";

/* A flight over the box at the start of SMEM, at the copy; it brings 4 bytes to the phase. */
static uint32_t start(const grout_cta *cta) {
    grout_machine *machine = cta->machine;
    const grout_inst *inst = grout_plan__inst(machine->plan, grout_cta__thread(cta, 0)->pc);
    const uint32_t record = grout_cta__barrier(cta, 0)->first_open;
    const uint32_t index = grout_flight__add(cta, 0, inst, GROUT_ENGINE_TEST_FILL, cta->rank);
    ck_assert_uint_ne(index, 0);
    grout_flight *flight = grout_flight__get(machine, index);
    flight->is_part = true; /* the checker knows of no issue */
    flight->phase.bytes = 4;
    grout_machine__phase(machine, record)->bytes_flying += 4;
    grout_flight__attach(cta, 0, record, index);
    grout_flight__enqueue(cta, 0, 1, index);
    return index;
}

/* Runs to the wait, with a flight of the engine under way. */
static run *run_to_wait(int variant) {
    run *r = run_new(text, variant);
    run_start(r);
    test_engine_landed = 0;
    const grout_cta *cta = grout_machine__get_cta(r->machine, 0, 0);
    while (grout_cta__head(cta)->first_flight == 0) {
        ck_assert_int_eq(grout_machine_run(r->machine, 1, r->diags), GROUT_RUN_PAUSED);
    }
    start(cta);
    return r;
}

static void check_result(run *r) {
    ck_assert_int_eq(grout_machine_run(r->machine, 0, r->diags), GROUT_RUN_DONE);
    const float *y = r->arguments[1].data;
    for (uint32_t i = 0; i < 64; i++) {
        ck_assert_float_eq(y[i], 7.0f);
    }
    ck_assert_uint_eq(test_engine_landed, 1);
    ck_assert_uint_eq(grout_cta__head(grout_machine__get_cta(r->machine, 0, 0))->first_flight, 0);
}

/* The wait for the phase lands it: the thread sees what it wrote. */
START_TEST(a_phase_waits_for_it) {
    run *r = run_to_wait(1);
    ck_assert_uint_eq(test_engine_landed, 0);
    check_result(r);
    run_delete(r);
}
END_TEST

/* A wait for its group lands it too, once; the phase then has its bytes. */
START_TEST(a_group_waits_for_it) {
    run *r = run_to_wait(1);
    const grout_cta *cta = grout_machine__get_cta(r->machine, 0, 0);
    grout_flight__read_groups(cta, GROUT_ENGINE_TEST_FILL, 0, 1);
    ck_assert_uint_eq(test_engine_landed, 0);
    grout_flight__finish_groups(cta, GROUT_ENGINE_TEST_FILL, 0, 0);
    ck_assert_uint_eq(test_engine_landed, 0);
    grout_flight__finish_groups(cta, GROUT_ENGINE_TEST_FILL, 0, 1);
    ck_assert_uint_eq(test_engine_landed, 1);
    ck_assert_uint_eq(grout_flight__queue(cta, GROUT_ENGINE_TEST_FILL, 0)->first, 0);
    check_result(r);
    run_delete(r);
}
END_TEST

/* It is in snapshots and in hashes like any other. */
START_TEST(a_snapshot_has_it) {
    run *r = run_to_wait(1);
    const uint64_t hash = grout_machine_hash(r->machine);
    grout_snapshot *snapshot = grout_machine_snapshot(r->machine, r->diags);
    ck_assert_ptr_nonnull(snapshot);
    for (uint32_t round = 0; round < 2; round++) {
        test_engine_landed = 0;
        check_result(r);
        ck_assert(grout_machine_restore(r->machine, snapshot, r->diags));
        ck_assert(grout_machine_hash(r->machine) == hash);
    }
    grout_snapshot_free(snapshot);
    run_delete(r);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("engine");
    TCase *tests = tcase_create("engine");
    tcase_add_test(tests, a_phase_waits_for_it);
    tcase_add_test(tests, a_group_waits_for_it);
    tcase_add_test(tests, a_snapshot_has_it);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
