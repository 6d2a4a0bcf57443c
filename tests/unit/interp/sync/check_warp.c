/* check_warp.c - warps of a thread and partitions of a CTA: values, clocks, waits, lanes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/tests.h"
#include "tests/unit/interp/order_probe.h"

#define ANY UINT32_MAX

typedef struct row {
    const char *name, *text;
    uint32_t ordered, unordered; /* ANY: as the schedule has it */
    uint32_t forks, joins;
    grout_run_status status;
    double results[4]; /* of %y */
} row;

static const row ROWS[] = {
    {"each warp writes its own",
     "kernel @k(%y: inout gmem i32[4]) { %c = load %y[1]\n warp_map(%w) { store %y[%w], (add (mul "
     "%w, 10), %c) "
     "} }",
     0,
     0,
     1,
     1,
     GROUT_RUN_DONE,
     {3, 13, 23, 33}},
    {"what the thread did before is known, and what the warps did after",
     "kernel @k(%y: inout gmem i32[4]) { scratch %s : smem i32[1]\n scratch %u : smem i32[1]\n "
     "store %s[0], 5\n "
     "warp_map(%w) { %v = load %s[0]\n store %y[%w], %v\n if (eq %w, 2) { store %u[0], 9 } }\n "
     "store %y[3], "
     "(load %u[0]) }",
     5,
     0,
     1,
     1,
     GROUT_RUN_DONE,
     {5, 5, 5, 9}},
    {"one warp knows nothing of another",
     "kernel @k(%y: inout gmem i32[4]) { scratch %s : smem i32[1]\n warp_map(%w) { if (eq %w, 0) { "
     "store %s[0], "
     "5 }\n if (eq %w, 1) { store %y[0], (load %s[0]) } } }",
     0,
     ANY,
     1,
     1,
     GROUT_RUN_DONE,
     {-1000, 3, 1, -1}},
    {"unless a barrier tells it",
     "kernel @k(%y: inout gmem i32[4]) { scratch %s : smem i32[1]\n scratch %b : barrier[1]\n "
     "warp_map(%w) { if "
     "(eq %w, 0) { store %s[0], 5\n barrier_arrive %b[0] } else { barrier_wait %b[0]\n if (eq %w, "
     "1) { store "
     "%y[0], (load %s[0]) } } } }",
     1,
     0,
     1,
     1,
     GROUT_RUN_DONE,
     {5, 3, 1, -1}},
    {"in a loop, with loops inside",
     "kernel @k(%y: inout gmem i32[4]) threads(t = 2) { %n = axis_index t\n if (eq %n, 1) { for %i "
     "in 0..3 { "
     "warp_map(%w) { for %j in 0..2 { store %y[%w], (add (load %y[%w]), (add %i, %j)) } } } } }",
     ANY,
     ANY,
     3,
     3,
     GROUT_RUN_DONE,
     {-4 + 9, 3 + 9, 1 + 9, -1 + 9}},
    {"warps wait as far as their thread has waited, and back",
     "kernel @k(%y: inout gmem i32[4]) threads(t = 2) { scratch %b : barrier[1]\n scratch %s : "
     "smem i32[1]\n if (eq "
     "(axis_index t), 0) { for %i in 0..3 { store %s[0], %i\n barrier_arrive %b[0]\n "
     "named_barrier_sync 0, 2 } } "
     "else { barrier_wait %b[0]\n store %y[0], (load %s[0])\n named_barrier_sync 0, 2\n "
     "warp_map(%w) { "
     "barrier_wait %b[0]\n if (eq %w, 3) { store %y[1], (load %s[0]) } }\n named_barrier_sync 0, "
     "2\n barrier_wait "
     "%b[0]\n store %y[2], (load %s[0])\n named_barrier_sync 0, 2 } }",
     3,
     0,
     1,
     1,
     GROUT_RUN_DONE,
     {0, 1, 2, -1}},
    {"partitions",
     "kernel @k(%y: inout gmem i32[4]) threads(wg = 3) { scratch %s : smem i32[4]\n scratch %b : "
     "barrier[1] "
     "arrivals(2)\n %c = load %y[1]\n %r = warp_specialize { barrier_wait %b[0]\n %v = add (load "
     "%s[1]), (load "
     "%s[2])\n yield %v } partition { store %s[1], (add %c, (axis_index wg))\n barrier_arrive "
     "%b[0] } partition { "
     "store %s[2], (add %c, (axis_index wg))\n barrier_arrive %b[0] }\n store %y[0], %r\n store "
     "%y[1], (load "
     "%s[2]) }",
     3,
     0,
     1,
     1,
     GROUT_RUN_DONE,
     {9, 5, 1, -1}},
    {"partitions do not know of each other",
     "kernel @k(%y: inout gmem i32[4]) threads(wg = 2) { scratch %s : smem i32[1]\n "
     "warp_specialize { store %s[0], "
     "4 } partition { store %y[1], (load %s[0]) }\n store %y[0], (load %s[0]) }",
     0,
     ANY,
     1,
     1,
     GROUT_RUN_DONE,
     {4, -1000, 1, -1}},
    {"one that does not end",
     "kernel @k(%y: inout gmem i32[4]) threads(wg = 2) { scratch %b : barrier[1]\n warp_specialize "
     "{ store %y[0], 1 "
     "} partition { barrier_wait %b[0] } }",
     0,
     0,
     1,
     0,
     GROUT_RUN_DEADLOCK,
     {1, 3, 1, -1}},
};
enum { ROW_COUNT = sizeof ROWS / sizeof *ROWS };

TEST_EACH(children, (ROW_COUNT * RUN_VARIANTS)) {
    const row *it = &ROWS[_i / RUN_VARIANTS];
    order_probe probe;
    run *r = probe_run(it->text, _i % RUN_VARIANTS, &probe, it->status);
    ck_assert_msg((it->ordered == ANY || probe.ordered == it->ordered) &&
                      (it->unordered == ANY || probe.unordered == it->unordered),
                  "%s: %u ordered, %u not", it->name, probe.ordered, probe.unordered);
    ck_assert_uint_eq(r->counts[GROUT_EVENT_FORK], it->forks);
    ck_assert_uint_eq(r->counts[GROUT_EVENT_JOIN], it->joins);
    for (uint32_t i = 0; i < 4; i++) {
        ck_assert_msg(it->results[i] == -1000 || run_get(r, 0, i) == it->results[i],
                      "%s: element %u is %g", it->name, i, run_get(r, 0, i));
    }
    if (it->status == GROUT_RUN_DEADLOCK) {
        ck_assert_uint_eq(r->states[0], GROUT_THREAD_BLOCKED_JOIN);
        ck_assert_uint_eq(r->states[1], GROUT_THREAD_BLOCKED_BARRIER);
    }
    run_delete(r);
}

TEST_EACH(runs_go_on_from_every_step, (ROW_COUNT * RUN_VARIANTS)) {
    run_check_resumes(ROWS[_i / RUN_VARIANTS].text, _i % RUN_VARIANTS);
    run_check_unobserved(ROWS[_i / RUN_VARIANTS].text, _i % RUN_VARIANTS);
}

/* A warp's copies are its own lane's: the thread's wait covers all four. */
static const char *const LANES[] = {
    "kernel @k(%y: inout gmem f32[4, 32]) { scratch %s : smem f32[4, 32]\n store %s, (broadcast "
    "2.0 : "
    "f32[4, 32])\n commit_smem\n warp_map(%w) { copy_smem_to_gmem %s[%w], %y[%w] }\n "
    "wait_smem_to_gmem 0\n "
    "store %s, (broadcast 9.0 : f32[4, 32]) }",
    "kernel @k(%y: inout gmem f32[4, 32]) { scratch %s : smem f32[4, 32]\n store %s, (broadcast "
    "2.0 : "
    "f32[4, 32])\n commit_smem\n warp_map(%w) { copy_smem_to_gmem %s[%w], %y[%w]\n "
    "wait_smem_to_gmem 0 }\n "
    "store %s, (broadcast 9.0 : f32[4, 32]) }",
};

TEST_EACH(lanes, 2 * RUN_VARIANTS) {
    run *r = run_new(LANES[_i / RUN_VARIANTS], _i % RUN_VARIANTS);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    for (uint32_t i = 0; i < 128; i++) {
        ck_assert(run_get(r, 0, i) == 2.0);
    }
    run_delete(r);
}

TEST_EACH(memory_runs_out, ROW_COUNT) {
    run_check_memory(ROWS[_i].text, 1);
}
