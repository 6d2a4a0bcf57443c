/* check_snapshot.c - a run that goes on from a snapshot is the run.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/tests.h"
#include "tests/unit/support/run_kernel.h"
#include "tests/unit/support/snapshot_texts.h"

static void compare(const run *a, const run *b) {
    ck_assert_mem_eq(a->arguments[1].data, b->arguments[1].data, a->arguments[1].size);
    ck_assert(a->event_hash == b->event_hash);
    ck_assert_mem_eq(a->counts, b->counts, sizeof a->counts);
    ck_assert(grout_machine_hash(a->machine) == grout_machine_hash(b->machine));
    ck_assert_uint_eq(grout_machine_get_stats(a->machine).steps,
                      grout_machine_get_stats(b->machine).steps);
}

/* It stops often in the beginning, under each variant elsewhere. */
TEST_EACH(runs_go_on_from_many_steps, (TEXTS * RUN_VARIANTS)) {
    const char *text = texts[_i % TEXTS];
    int variant = _i / TEXTS;
    run *whole = run_new(text, variant);
    ck_assert_int_eq(run_to_end(whole), GROUT_RUN_DONE);
    uint64_t steps = grout_machine_get_stats(whole->machine).steps;
    for (uint64_t at = 1; at < steps; at += 1 + (at + (uint32_t)variant) / 3) {
        run *r = run_new(text, variant);
        run_start(r);
        ck_assert_int_eq(grout_machine_run(r->machine, at, r->diags), GROUT_RUN_PAUSED);
        uint64_t hash = grout_machine_hash(r->machine);
        grout_snapshot *snapshot = grout_machine_snapshot(r->machine, r->diags);
        ck_assert_ptr_nonnull(snapshot);
        for (uint32_t round = 0; round < 2; round++) {
            ck_assert_int_eq(grout_machine_run(r->machine, 0, r->diags), GROUT_RUN_DONE);
            compare(whole, r);
            ck_assert(grout_machine_restore(r->machine, snapshot, r->diags));
            ck_assert(grout_machine_hash(r->machine) == hash);
        }
        grout_snapshot_free(snapshot);
        run_delete(r);
    }
    run_delete(whole);
}

/* Different states differ. */
TEST_EACH(hashes_tell_states_apart, TEXTS) {
    run *r = run_new(texts[_i], 1);
    run_start(r);
    uint64_t last = grout_machine_hash(r->machine);
    while (grout_machine_run(r->machine, 1, r->diags) == GROUT_RUN_PAUSED) {
        uint64_t hash = grout_machine_hash(r->machine);
        ck_assert(hash != last);
        last = hash;
    }
    run_delete(r);
}
