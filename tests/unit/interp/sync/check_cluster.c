/* check_cluster.c - clusters: peers' SMEM, copies to several CTAs, barriers of the cluster, several
 * clusters in flight.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/tests.h"
#include "tests/unit/support/run_kernel.h"

#include <math.h>

static void expect_clean(const run *r) {
    for (uint32_t i = 0; i < GROUT_DIAG_COUNT; i++) {
        ck_assert_msg(r->faults[i] == 0, "fault %u", i);
    }
    ck_assert_uint_eq(r->counts[GROUT_EVENT_DEADLOCK], 0);
}

/* ---- peers ------------------------------------------------------------------------------------
 */

TEST_EACH(stores_reach_peers, RUN_VARIANTS) {
    run *r = run_new("kernel @k(%y: out gmem f32[4, 32]) grid(x = 2) cluster(c = 2) {\n"
                     " scratch %s : smem f32[32]\n %c = axis_index c\n"
                     " store %s.cluster(1 - %c), (broadcast (cast %c : f32) : f32[32])\n"
                     " cluster_barrier\n"
                     " store %y[(axis_index x) * 2 + %c], (load %s)\n cluster_barrier }",
                     _i);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    expect_clean(r);
    for (size_t cta = 0; cta < 4; cta++) {
        ck_assert(run_get(r, 0, cta * 32 + 31) == (double)(1 - cta % 2));
    }
    ck_assert_uint_eq(r->counts[GROUT_EVENT_CLUSTER_ARRIVE], 8);
    ck_assert_uint_eq(r->counts[GROUT_EVENT_CLUSTER_WAIT], 8);
    run_delete(r);
}

/* Also by rank of two axes, read from the peer. */
TEST_EACH(places_are_by_axis, RUN_VARIANTS) {
    run *r = run_new("kernel @k(%y: out gmem f32[6]) cluster(a = 2, b = 3) {\n"
                     " scratch %s : smem f32[1]\n %a = axis_index a\n %b = axis_index b\n"
                     " store %s[0], (cast (%a * 10 + %b) : f32)\n cluster_barrier\n"
                     " %v = load %s.cluster(1 - %a, (rem %b + 1, 3))[0]\n"
                     " store %y[%a * 3 + %b], %v\n cluster_barrier }",
                     _i);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    expect_clean(r);
    static const double expected[] = {11, 12, 10, 1, 2, 0};
    for (size_t i = 0; i < 6; i++) {
        ck_assert(run_get(r, 0, i) == expected[i]);
    }
    run_delete(r);
}

TEST_EACH(places_outside_are_found, RUN_VARIANTS) {
    run *r = run_new("kernel @k(%y: out gmem f32[2]) cluster(c = 2) {\n scratch %s : smem f32[1]\n"
                     " %c = axis_index c\n store %s[0], 1.0\n store %s.cluster(%c + 1)[0], 2.0\n"
                     " cluster_barrier\n store %y[%c], (load %s[0]) }",
                     _i);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    ck_assert_uint_eq(r->faults[GROUT_DIAG_OUT_OF_BOUNDS], 1);
    ck_assert_uint_eq(r->last_fault.dimension, GROUT_RANK_MAX);
    ck_assert_int_eq(r->last_fault.start, 2);
    ck_assert_int_eq(r->last_fault.limit, 2);
    ck_assert(run_get(r, 0, 1) == 2.0);
    run_delete(r);
}

/* Bytes to a peer's barrier; summed up where they say so. */
TEST_EACH(async_stores_land_on_the_peer, RUN_VARIANTS) {
    run *r = run_new(
        "kernel @k(%y: out gmem f32[2, 64], %z: out gmem i32[2, 4]) cluster(c = 2) {\n"
        " scratch %s : smem f32[64]\n scratch %t : smem i32[4]\n"
        " scratch %b : barrier[2]\n %c = axis_index c\n store %t, (iota dim(0) : i32[4])\n"
        " cluster_barrier\n"
        " async_store_smem (broadcast (cast %c : f32) : f32[64]), %s.cluster(1 - %c), %b[0]\n"
        " async_store_smem (broadcast 5 : i32[4]), %t.cluster(1 - %c), %b[1] reduce(add)\n"
        " cluster_barrier\n barrier_arrive %b[0]\n barrier_arrive %b[1]\n barrier_wait %b[0]\n"
        " barrier_wait %b[1]\n store %y[%c], (load %s)\n store %z[%c], (load %t)\n"
        " cluster_barrier }",
        _i);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    expect_clean(r);
    ck_assert(run_get(r, 0, 0) == 1.0 && run_get(r, 0, 127) == 0.0);
    ck_assert(run_get(r, 1, 0) == 5.0 && run_get(r, 1, 7) == 8.0);
    run_delete(r);
}

/* ---- copies to several CTAs ---------------------------------------------------------------------
 */

static void expect_copies(const run *r, uint32_t array, size_t ctas, size_t elements) {
    for (size_t i = 0; i < ctas * elements; i++) {
        ck_assert(run_get(r, array, i) == run_get(r, 0, i % elements));
    }
}

/* Every CTA loads a part for all: each destination is an access of its own. */
TEST_EACH(collective_copies_are_shared, RUN_VARIANTS) {
    run *r = run_new("kernel @k(%x: in gmem f32[32, 32], %y: out gmem f32[4, 32, 32]) "
                     "cluster(a = 2, b = 2) {\n scratch %s : smem f32[32, 32]\n"
                     " scratch %f : barrier[1]\n %n = add (mul (axis_index a), 2), (axis_index b)\n"
                     " copy_gmem_to_smem %x, %s, %f[0] collective_axes(a, b)\n barrier_wait %f[0]\n"
                     " store %y[%n], (load %s)\n cluster_barrier }",
                     _i);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    expect_clean(r);
    expect_copies(r, 1, 4, 1024);
    ck_assert_uint_eq(r->counts[GROUT_EVENT_COLLECTIVE], 0);
    ck_assert_uint_eq(r->counts[GROUT_EVENT_ARRIVE], 16);
    ck_assert_uint_eq(r->counts[GROUT_EVENT_PHASE], 4);
    ck_assert_uint_eq(r->counts[GROUT_EVENT_ACCESS], 4 * (1 + 4) + 2 * 4);
    run_delete(r);
}

/* Along one axis of two: the other CTAs' copies are others. */
TEST_EACH(collective_copies_along_an_axis, RUN_VARIANTS) {
    run *r =
        run_new("kernel @k(%x: in gmem f32[2, 32, 32], %y: out gmem f32[2, 2, 32, 32]) "
                "cluster(a = 2, b = 2) {\n scratch %s : smem f32[32, 32]\n"
                " scratch %f : barrier[1]\n %a = axis_index a\n %b = axis_index b\n"
                " copy_gmem_to_smem %x[%a], %s, %f[0] collective_axes(b)\n barrier_wait %f[0]\n"
                " store %y[%b, %a], (load %s)\n cluster_barrier }",
                _i);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    expect_clean(r);
    expect_copies(r, 1, 2, 2048);
    run_delete(r);
}

TEST_EACH(one_cta_multicasts, RUN_VARIANTS) {
    run *r = run_new("kernel @k(%x: in gmem f32[8, 32], %y: out gmem f32[2, 8, 32]) "
                     "cluster(c = 2) {\n scratch %s : smem f32[8, 32]\n scratch %m : mbarrier[1]\n"
                     " %c = axis_index c\n mbarrier_init %m[0], 1\n mbarrier_expect %m[0], 1024\n"
                     " if (eq %c, 1) { copy_gmem_to_smem %x, %s, %m[0] multicast(c) }\n"
                     " mbarrier_wait %m[0], 0\n store %y[%c], (load %s) }",
                     _i);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    expect_clean(r);
    expect_copies(r, 1, 2, 256);
    run_delete(r);
}

static const grout_event *find_event(const run *r, grout_event_kind kind, uint32_t skip) {
    for (uint32_t i = 0; i < r->event_count; i++) {
        if (r->events[i].kind == kind && skip-- == 0) {
            return &r->events[i];
        }
    }
    return NULL;
}

/* A CTA that never issues the copy is named; the others hang, and an event says why. */
TEST_EACH(divergent_copies_are_named, RUN_VARIANTS) {
    run *r =
        run_new("kernel @k(%x: in gmem f32[32, 32], %y: out gmem f32[2]) cluster(c = 2) {\n"
                " scratch %s : smem f32[32, 32]\n scratch %f : barrier[1]\n %c = axis_index c\n"
                " if (eq %c, 0) {\n"
                "  copy_gmem_to_smem %x, %s, %f[0] collective_axes(c)\n barrier_wait %f[0] }\n"
                " store %y[%c], 1.0 }",
                _i);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DEADLOCK);
    const grout_event *told = NULL;
    for (uint32_t i = 0; i < r->counts[GROUT_EVENT_COLLECTIVE]; i++) {
        const grout_event *event = find_event(r, GROUT_EVENT_COLLECTIVE, i);
        told = event->u.collective.divergence != GROUT_DIVERGENCE_NONE ? event : told;
    }
    ck_assert_ptr_nonnull(told);
    ck_assert_uint_eq(told->u.collective.other, 0);
    ck_assert_uint_eq(told->u.collective.other_cta, 1);
    ck_assert_uint_eq(told->origin.cta, 0);
    run_delete(r);
}

/* ---- barriers
 * ------------------------------------------------------------------------------------ */

/* One arrive, simultaneous on all its targets: rows and columns of the cluster. */
TEST_EACH(cluster_barriers_take_rows_and_columns, RUN_VARIANTS) {
    run *r = run_new("kernel @k(%y: out gmem f32[4]) cluster(a = 2, b = 2) {\n"
                     " scratch %e : barrier[1] cluster(a, b)\n"
                     " %n = add (mul (axis_index a), 2), (axis_index b)\n"
                     " for %i in 0..3 { barrier_arrive %e[0] barrier_wait %e[0] }\n"
                     " store %y[%n], 1.0\n cluster_barrier }",
                     _i);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    expect_clean(r);
    ck_assert_uint_eq(r->counts[GROUT_EVENT_ARRIVE], 36);
    ck_assert_uint_eq(r->counts[GROUT_EVENT_PHASE], 12);
    uint32_t first = 0;
    for (uint32_t i = 0; i < r->counts[GROUT_EVENT_ARRIVE]; i++) {
        first += find_event(r, GROUT_EVENT_ARRIVE, i)->u.arrive.is_first;
    }
    ck_assert_uint_eq(first, 12);
    run_delete(r);
}

/* A thread that has ended counts as arrived for good. */
TEST_EACH(ended_threads_have_arrived, RUN_VARIANTS) {
    run *r = run_new("kernel @k(%y: out gmem f32[2]) cluster(c = 2) threads(w = 2) {\n"
                     " if (eq (axis_index w), 0) {\n"
                     "  for %i in 0..3 { cluster_arrive cluster_wait }\n"
                     "  store %y[(axis_index c)], 1.0 } }",
                     _i);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    expect_clean(r);
    ck_assert_uint_eq(r->counts[GROUT_EVENT_CLUSTER_WAIT], 6);
    run_delete(r);
}

TEST_EACH(deadlocks_show_the_whole_cluster, RUN_VARIANTS) {
    run *r =
        run_new("kernel @k(%y: out gmem f32[2]) cluster(c = 2) threads(w = 2) {\n"
                " scratch %b : barrier[1]\n"
                " if (eq (axis_index c), 0) { if (eq (axis_index w), 0) { barrier_wait %b[0] } }\n"
                " cluster_barrier\n store %y[(axis_index c)], 1.0 }",
                _i);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DEADLOCK);
    ck_assert_uint_eq(r->state_count, 4);
    ck_assert_uint_eq(r->states[0], GROUT_THREAD_BLOCKED_BARRIER);
    for (uint32_t i = 1; i < 4; i++) {
        ck_assert_uint_eq(r->states[i], GROUT_THREAD_BLOCKED_CLUSTER);
    }
    run_delete(r);
}

/* An exit sync keeps a CTA alive until its peers have read its SMEM. */
TEST_EACH(exit_sync_waits_for_peers, RUN_VARIANTS) {
    run *r = run_new("kernel @k(%y: out gmem f32[2]) cluster(c = 2)\n attr cluster_exit = sync {\n"
                     " scratch %s : smem f32[1]\n %c = axis_index c\n"
                     " store %s[0], (cast %c : f32)\n cluster_barrier\n"
                     " store %y[%c], (load %s.cluster(1 - %c)[0]) }",
                     _i);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    expect_clean(r);
    ck_assert_uint_eq(r->counts[GROUT_EVENT_CLUSTER_ARRIVE], 4);
    uint32_t exits = 0;
    for (uint32_t i = 0; i < r->event_count; i++) {
        exits += r->events[i].kind == GROUT_EVENT_THREAD_EXIT;
        ck_assert(exits == 0 || r->events[i].kind != GROUT_EVENT_CLUSTER_ARRIVE);
    }
    ck_assert(run_get(r, 0, 0) == 1.0 && run_get(r, 0, 1) == 0.0);
    run_delete(r);
}

/* ---- several clusters in flight
 * ------------------------------------------------------------------ */

static const char *const ring_text =
    "kernel @k(%x: in gmem f32[8, 32], %y: out gmem f32[8, 32]) grid(g = 4) cluster(c = 2) {\n"
    " scratch %s : semaphore[4] global\n scratch %p : gmem f32[8, 32]\n %c = axis_index c\n"
    " %g = axis_index g\n %n = add (mul %g, 2), %c\n store %p[%n], (load %x[%n])\n"
    " cluster_barrier\n if (eq %c, 0) { semaphore_signal %s[%g], 2 }\n %o = rem %g + 1, 4\n"
    " semaphore_wait %s[%o], 1\n store %y[%n], (load %p[%o * 2 + %c]) }";

TEST_EACH(clusters_wait_for_each_other, RUN_VARIANTS) {
    run *r = run_new(ring_text, _i);
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    expect_clean(r);
    for (size_t i = 0; i < 8; i++) {
        ck_assert(run_get(r, 1, i * 32 + 5) == run_get(r, 0, (i + 2) % 8 * 32 + 5));
    }
    run_delete(r);
}

/* Without room for all of them at once they hang, as on a GPU. */
TEST_EACH(clusters_without_room_hang, RUN_VARIANTS) {
    run *r = run_new("kernel @k(%y: out gmem f32[4, 2]) grid(g = 4) cluster(c = 2) {\n"
                     " scratch %s : semaphore[4] global\n %c = axis_index c\n %g = axis_index g\n"
                     " semaphore_signal %s[%g], 1\n semaphore_wait %s[(rem %g + 2, 4)], 1\n"
                     " store %y[%g, %c], 1.0 }",
                     _i);
    r->resident = 4;
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DEADLOCK);
    ck_assert_int_eq(r->resident_ctas, 4);
    ck_assert_int_eq(r->waiting_ctas, 4);
    ck_assert_uint_eq(r->state_count, 4);
    run_delete(r);
}

/* Those that only take turns run in as little room as there is. */
TEST_EACH(clusters_begin_as_room_frees, RUN_VARIANTS) {
    run *r = run_new("kernel @k(%y: out gmem i32[9]) grid(g = 9) {\n"
                     " scratch %n : gmem i32[1]\n scratch %s : semaphore[1] global\n"
                     " if (eq (axis_index g), 0) { store %n[0], 0\n semaphore_signal %s[0], 9 }\n"
                     " semaphore_wait %s[0], 1\n"
                     " %i = atomic_fetch_add %n[0], 1\n store %y[%i], 1 }",
                     _i);
    r->resident = 2;
    ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
    for (size_t i = 0; i < 9; i++) {
        ck_assert(run_get(r, 0, i) == 1.0);
    }
    run_delete(r);
}

/* ---- schedules
 * ------------------------------------------------------------------------------------ */

/* What was decided under a random schedule, done again. */
TEST_EACH(decisions_replay, 8) {
    grout_decisions decisions = {0};
    run *first = run_new(ring_text, 1);
    first->schedule = _i % 2 == 0 ? GROUT_SCHEDULE_RANDOM : GROUT_SCHEDULE_PCT;
    first->pct_depth = 3;
    first->seed = (uint64_t)_i;
    first->record = &decisions;
    ck_assert_int_eq(run_to_end(first), GROUT_RUN_DONE);
    ck_assert_uint_gt(decisions.count, 0);
    for (size_t i = 0; i < decisions.count; i++) {
        ck_assert_uint_lt(decisions.actors[i], 8);
    }
    run *again = run_new(ring_text, 1);
    again->schedule = GROUT_SCHEDULE_REPLAY;
    again->replay = &decisions;
    ck_assert_int_eq(run_to_end(again), GROUT_RUN_DONE);
    ck_assert(first->event_hash == again->event_hash);
    grout_decisions_deinit(&decisions);
    run_delete(first);
    run_delete(again);
}

/* Seeds give different orders of priorities: all threads of a race come first some time. */
TEST(pct_reaches_every_order) {
    uint32_t seen = 0;
    for (uint64_t seed = 0; seed < 32; seed++) {
        run *r = run_new("kernel @k(%y: inout gmem i32[1]) threads(w = 3) {\n"
                         " store %y[0], (axis_index w) }",
                         0);
        r->schedule = GROUT_SCHEDULE_PCT;
        r->pct_depth = 2;
        r->seed = seed;
        ck_assert_int_eq(run_to_end(r), GROUT_RUN_DONE);
        seen |= 1u << (uint32_t)run_get(r, 0, 0);
        run_delete(r);
    }
    ck_assert_uint_eq(seen, 7);
}

TEST(memory_limit_is_respected) {
    run *r = run_new(ring_text, 1);
    r->max_memory = 64 << 10;
    run_start(r);
    ck_assert(r->machine == NULL || grout_machine_run(r->machine, 0, r->diags) == GROUT_RUN_FAILED);
    run_delete(r);
}
