/* check_spin.c - actors that go round under pct: they let those run that can end it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/tests.h"
#include "tests/unit/support/run_kernel.h"

/* The lock is %lock[7], which is 0 at first (run_fill); %n[4] counts those who have had it. */
#define LOCKS_BEGIN                                                                          \
    "kernel @k(%lock: inout gmem i32[8], %n: inout gmem i32[8], %tries: inout gmem i32[8]) " \
    "grid(g = 8)\n{\n %g = axis_index g\n"
#define LOCKS_END " store %n[4], (add (load %n[4]), 1)\n"

typedef struct spin_case {
    const char *name, *text;
} spin_case;

static const spin_case spin_cases[] = {
    {"changes nothing",
     LOCKS_BEGIN " while {\n  %old = atomic_exchange %lock[7], 1 order(acquire)\n"
                 "  cond (ne %old, 0)\n } do {\n }\n" LOCKS_END
                 " %was = atomic_exchange %lock[7], 0 order(release)\n}"},
    {"counts its tries in memory",
     LOCKS_BEGIN " while {\n  %old = atomic_cas %lock[7], 0, 1 order(acquire)\n"
                 "  cond (ne %old, 0)\n } do {\n  atomic_add %tries[%g], 1\n }\n" LOCKS_END
                 " %was = atomic_exchange %lock[7], 0 order(release)\n}"},
    {"takes back what it has added",
     LOCKS_BEGIN " while {\n  %old = atomic_fetch_add %lock[7], 1 order(acquire)\n"
                 "  cond (ne %old, 0)\n } do {\n"
                 "  %back = atomic_fetch_add %lock[7], -1 order(relaxed)\n }\n" LOCKS_END
                 " %was = atomic_fetch_add %lock[7], -1 order(release)\n}"},
    {"has a loop around",
     LOCKS_BEGIN " for %i in 0..3 {\n while {\n"
                 "  %old = atomic_cas %lock[7], 0, 1 order(acquire)\n  cond (ne %old, 0)\n } do {\n"
                 "  atomic_add %tries[%g], 1\n }\n"
                 " if (eq %i, 2) {\n store %n[4], (add (load %n[4]), 1)\n }\n"
                 " %was = atomic_exchange %lock[7], 0 order(release)\n }\n}"},
};

static run *start(const spin_case *row, uint64_t seed) {
    run *r = run_new(row->text, 0);
    r->schedule = GROUT_SCHEDULE_PCT;
    r->pct_depth = 3;
    r->seed = seed;
    r->max_steps = 5000;
    return r;
}

TEST_EACH(locks_are_had_by_all, COUNT_OF(spin_cases)) {
    const spin_case *row = &spin_cases[_i];
    for (uint64_t seed = 0; seed < 200; seed++) {
        run *r = start(row, seed);
        ck_assert_msg(run_to_end(r) == GROUT_RUN_DONE, "%s, seed %u", row->name, (unsigned)seed);
        ck_assert_msg((int)run_get(r, 1, 4) == 8, "%s, seed %u", row->name, (unsigned)seed);
        run_delete(r);
    }
}

/* The decisions of such a run give it again, though a replay lowers nobody. */
TEST_EACH(lowered_runs_replay, COUNT_OF(spin_cases)) {
    const spin_case *row = &spin_cases[_i];
    for (uint64_t seed = 0; seed < 20; seed++) {
        grout_decisions decisions = {0};
        run *first = start(row, seed), *same = start(row, seed), *again = start(row, seed);
        first->record = &decisions;
        again->schedule = GROUT_SCHEDULE_REPLAY;
        again->replay = &decisions;
        ck_assert_int_eq(run_to_end(first), GROUT_RUN_DONE);
        ck_assert_int_eq(run_to_end(same), GROUT_RUN_DONE);
        ck_assert_int_eq(run_to_end(again), GROUT_RUN_DONE);
        ck_assert_msg(first->event_hash == same->event_hash, "%s: another run", row->name);
        ck_assert_msg(first->event_hash == again->event_hash, "%s: another replay", row->name);
        grout_decisions_deinit(&decisions);
        run_delete(first);
        run_delete(same);
        run_delete(again);
    }
}

/* Turns that each take another tile are no spinning: the one of the highest priority takes all. */
TEST(work_is_no_spinning) {
    static const spin_case tiles = {
        "tiles", "kernel @k(%next: inout gmem i32[8], %y: inout gmem i32[64]) grid(g = 4)\n{\n"
                 " while {\n  %tile = atomic_fetch_add %next[7], 1\n  cond (lt %tile, 64)\n"
                 " } do {\n  store %y[%tile], (axis_index g)\n }\n}"};
    for (uint64_t seed = 0; seed < 20; seed++) {
        run *r = start(&tiles, seed);
        r->pct_depth = 1;
        ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
        for (uint32_t i = 1; i < 64; i++) {
            ck_assert((int)run_get(r, 1, i) == (int)run_get(r, 1, 0));
        }
        run_delete(r);
    }
}
