/* check_named.c - block_barrier and named barriers: generations, who waits for whom.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/tests.h"
#include "tests/unit/interp/order_probe.h"

typedef struct row {
    const char *name, *text;
    uint32_t ordered, unordered;
    uint32_t arrives, syncs, meets; /* events */
    grout_run_status status;
} row;

#define HEAD(THREADS)                                        \
    "kernel @k(%y: inout gmem i32[8]) threads(w = " #THREADS \
    ") {\n scratch %x : smem i32[1]\n scratch %z : smem i32[1]\n %t = axis_index w\n"

static const row ROWS[] = {
    {"all meet",
     HEAD(3) " if (eq %t, 0) { store %x[0], 7 }\n block_barrier\n store %y[%t], (load %x[0]) }", 2,
     0, 0, 0, 1, GROUT_RUN_DONE},
    {"they meet wherever they stand",
     HEAD(2) " if (eq %t, 0) { store %x[0], 7\n block_barrier } else { block_barrier\n store "
             "%y[1], (load %x[0]) } }",
     1, 0, 0, 0, 1, GROUT_RUN_DONE},
    {"one does not come", HEAD(2) " if (ge (load %y[0]), (sub %t, 4)) { block_barrier } }", 0, 0, 0,
     0, 0, GROUT_RUN_DEADLOCK},
    {"two of three meet",
     HEAD(3) " if (lt %t, 2) { if (eq %t, 0) { store %x[0], 7 }\n named_barrier_sync 1, 2\n if (eq "
             "%t, 1) { "
             "store %y[1], (load %x[0]) } } }",
     1, 0, 2, 2, 0, GROUT_RUN_DONE},
    {"arrive and sync",
     HEAD(2) " if (eq %t, 0) { store %x[0], 7\n named_barrier_arrive 0, 2 } else { "
             "named_barrier_sync 0, 2\n "
             "store %y[1], (load %x[0]) } }",
     1, 0, 2, 1, 0, GROUT_RUN_DONE},
    {"another barrier says nothing",
     HEAD(3) " if (eq %t, 0) { store %x[0], 7\n named_barrier_arrive 0, 2 }\n if (eq %t, 1) { "
             "named_barrier_sync 1, 2\n store %y[1], (load %x[0]) }\n if (eq %t, 2) { "
             "named_barrier_sync 0, 2\n "
             "named_barrier_arrive 1, 2 } }",
     1, 0, 4, 2, 0, GROUT_RUN_DONE},
    {"what is done after the arrive is not covered",
     HEAD(2) " if (eq %t, 0) { named_barrier_arrive 0, 2\n store %x[0], 7\n named_barrier_arrive "
             "1, 2 } else { "
             "named_barrier_sync 0, 2\n store %y[1], (load %z[0])\n named_barrier_sync 1, 2\n "
             "store %y[2], "
             "(load %x[0]) } }",
     1, 0, 4, 2, 0, GROUT_RUN_DONE},
    {"many generations",
     HEAD(2) " for %i in 0..9 { if (eq %t, 0) { store %x[0], %i\n named_barrier_sync 2, 2\n "
             "named_barrier_sync 3, "
             "2 } else { named_barrier_sync 2, 2\n store %y[%i - %i / 8 * 8], (load %x[0])\n "
             "named_barrier_sync 3, 2 } } }",
     9, 0, 36, 36, 0, GROUT_RUN_DONE},
    {"one too few", HEAD(2) " if (eq %t, 0) { named_barrier_sync 0, 2 } }", 0, 0, 1, 0, 0,
     GROUT_RUN_DEADLOCK},
    {"alone", HEAD(1) " named_barrier_sync 6, 1\n block_barrier }", 0, 0, 1, 1, 1, GROUT_RUN_DONE},
};
enum { ROW_COUNT = sizeof ROWS / sizeof *ROWS };

TEST_EACH(generations, (ROW_COUNT * RUN_VARIANTS)) {
    const row *it = &ROWS[_i / RUN_VARIANTS];
    order_probe probe;
    run *r = probe_run(it->text, _i % RUN_VARIANTS, &probe, it->status);
    ck_assert_msg(probe.ordered == it->ordered && probe.unordered == it->unordered,
                  "%s: %u ordered, %u not", it->name, probe.ordered, probe.unordered);
    ck_assert_uint_eq(r->counts[GROUT_EVENT_NAMED_ARRIVE], it->arrives);
    ck_assert_uint_eq(r->counts[GROUT_EVENT_NAMED_SYNC], it->syncs);
    ck_assert_uint_eq(r->counts[GROUT_EVENT_BLOCK_BARRIER], it->meets);
    if (it->status == GROUT_RUN_DEADLOCK) {
        ck_assert(r->states[0] == GROUT_THREAD_BLOCKED_BLOCK ||
                  r->states[0] == GROUT_THREAD_BLOCKED_NAMED);
    }
    run_delete(r);
}

TEST_EACH(runs_go_on_from_every_step, (ROW_COUNT * RUN_VARIANTS)) {
    run_check_resumes(ROWS[_i / RUN_VARIANTS].text, _i % RUN_VARIANTS);
    run_check_unobserved(ROWS[_i / RUN_VARIANTS].text, _i % RUN_VARIANTS);
}

/* Whether each arrival after the first generation knows that the one before is complete. */
typedef struct overrun {
    run *r;
    uint32_t known, unknown, incomplete;
} overrun;

static bool judge_arrive(void *self, const grout_event *event) {
    overrun *it = self;
    if (event->kind == GROUT_EVENT_NAMED_ARRIVE && event->u.named.generation > 0) {
        const grout_phase_fact *fact = &event->u.named.previous;
        bool is_known = fact->is_complete && fact->completion != NULL;
        for (uint32_t i = 0; is_known && i < 2; i++) { /* x of both threads */
            is_known = fact->completion[2 + i] <= event->clocks->known[2 + i];
        }
        it->known += is_known;
        it->unknown += !is_known;
        it->incomplete += !fact->is_complete;
    }
    return run_on_event(it->r, event);
}

static const struct overrun_row {
    const char *text;
    bool is_known;
} OVERRUNS[] = {
    /* two that sync in turn know of each other */
    {"kernel @k() threads(w = 2) { for %i in 0..4 { named_barrier_sync 0, 2 } }", true},
    /* one that only arrives does not know whether the other has come */
    {"kernel @k() threads(w = 2) { if (eq (axis_index w), 0) { for %i in 0..4 { "
     "named_barrier_arrive 0, 2 } } else { for %i in 0..4 { named_barrier_sync 0, 2 } } }",
     false},
    /* unless it hears of that by another one */
    {"kernel @k() threads(w = 2) { if (eq (axis_index w), 0) { for %i in 0..4 { "
     "named_barrier_arrive 0, 2\n named_barrier_sync 1, 2 } } else { for %i in 0..4 { "
     "named_barrier_sync 0, 2\n named_barrier_arrive 1, 2 } } }",
     true},
};
enum { OVERRUN_COUNT = sizeof OVERRUNS / sizeof *OVERRUNS };

TEST_EACH(generations_before, (OVERRUN_COUNT * RUN_VARIANTS)) {
    const struct overrun_row *expected = &OVERRUNS[_i / RUN_VARIANTS];
    run *r = run_new(expected->text, _i % RUN_VARIANTS);
    overrun it = {.r = r};
    run_start(r);
    r->observer.self = &it;
    r->observer.event = judge_arrive;
    ck_assert(grout_machine_run(r->machine, 0, r->diags) != GROUT_RUN_FAILED);
    /* an early arrival does not take the other's place, but one in the generation after it */
    ck_assert(it.incomplete == 0 || !expected->is_known);
    ck_assert_uint_gt(it.known + it.unknown, 0);
    ck_assert_msg((it.unknown == 0) == expected->is_known, "%s: %u known, %u not", expected->text,
                  it.known, it.unknown);
    run_delete(r);
}

TEST_EACH(memory_runs_out, ROW_COUNT) {
    run_check_memory(ROWS[_i].text, 1);
}
