/* check_mbarrier.c - barriers of the explicit style: lives, parities, bytes, tests.
 * SPDX-License-Identifier: Apache-2.0 */
#include "interp/sync/mbarrier.h"
#include "tests/tests.h"
#include "tests/unit/interp/order_probe.h"

TEST(served) {
    ck_assert_uint_eq(grout_mbarrier__get_served(0, 0, 4), 0xf); /* one for all */
    ck_assert_uint_eq(grout_mbarrier__get_served(1, 0, 4), 0);
    ck_assert_uint_eq(grout_mbarrier__get_served(2, 2, 4), 0xc); /* 2 and 3 */
    ck_assert_uint_eq(grout_mbarrier__get_served(3, 3, 4), 0x8); /* each its own */
    ck_assert_uint_eq(grout_mbarrier__get_served(0, 1, 2), 0x1);
}

typedef struct row {
    const char *name, *text;
    uint32_t ordered, unordered;
    uint32_t uninitialised;
    grout_run_status status;
    double result; /* of %y[0], if the run is done */
} row;

#define ANY_RESULT (-1000.0)
#define HEAD(THREADS)                                                                            \
    "kernel @k(%x: in gmem f32[64], %y: inout gmem f32[64]) threads(w = " #THREADS               \
    ") {\n scratch "                                                                             \
    "%s : smem f32[64]\n scratch %d : smem f32[1]\n scratch %b : mbarrier[2]\n %t = axis_index " \
    "w\n"
#define INIT(N0, N1)                                                            \
    " if (eq %t, 0) { mbarrier_init %b[0], " #N0 "\n mbarrier_init %b[1], " #N1 \
    " }\n block_barrier\n"

static const row ROWS[] = {
    {"an arrive",
     HEAD(2) INIT(1, 1) " if (eq %t, 0) { store %d[0], 7.0\n mbarrier_arrive %b[0] } else { "
                        "mbarrier_wait %b[0], 0\n store "
                        "%y[0], (load %d[0]) } }",
     1, 0, 0, GROUT_RUN_DONE, 7},
    {"a relaxed one",
     HEAD(2) INIT(1, 1) " if (eq %t, 0) { store %d[0], 7.0\n mbarrier_arrive %b[0] order(relaxed) "
                        "} else { mbarrier_wait %b[0], "
                        "0\n store %y[0], (load %d[0]) } }",
     0, 1, 0, GROUT_RUN_DONE, 7},
    {"fresh, parity 1 passes",
     HEAD(2) INIT(1, 1) " if (eq %t, 0) { store %d[0], 7.0 } else { mbarrier_wait %b[0], 1\n store "
                        "%y[0], (load %d[0]) } }",
     0, 1, 0, GROUT_RUN_DONE, 0},
    {"fresh, parity 0 blocks", HEAD(1) INIT(1, 1) " mbarrier_wait %b[0], 0 }", 0, 0, 0,
     GROUT_RUN_DEADLOCK, 0},
    {"two arrivals",
     HEAD(2) INIT(2, 1) " if (eq %t, 0) { store %d[0], 7.0 }\n mbarrier_arrive %b[0]\n "
                        "mbarrier_wait %b[0], 0\n if (eq %t, 1) { "
                        "store %y[0], (load %d[0]) } }",
     1, 0, 0, GROUT_RUN_DONE, 7},
    {"bytes",
     HEAD(1) " mbarrier_init %b[0], 1\n mbarrier_expect %b[0], 256\n copy_gmem_to_smem %x, %s, "
             "%b[0]\n "
             "mbarrier_wait %b[0], 0\n store %y, (load %s) }",
     1, 0, 0, GROUT_RUN_DONE, -4},
    {"bytes before they are expected",
     HEAD(1) " mbarrier_init %b[0], 1\n copy_gmem_to_smem %x, %s, %b[0]\n mbarrier_expect %b[0], "
             "256\n "
             "mbarrier_wait %b[0], 0\n store %y, (load %s) }",
     1, 0, 0, GROUT_RUN_DONE, -4},
    {"bytes that nobody expects",
     HEAD(1) " mbarrier_init %b[0], 1\n copy_gmem_to_smem %x, %s, %b[0]\n mbarrier_arrive %b[0]\n "
             "mbarrier_wait "
             "%b[0], 0 }",
     0, 0, 0, GROUT_RUN_DEADLOCK, 0},
    {"bytes that nobody brings",
     HEAD(1) " mbarrier_init %b[0], 1\n mbarrier_expect %b[0], 256\n mbarrier_wait %b[0], 0 }", 0,
     0, 0, GROUT_RUN_DEADLOCK, 0},
    {"a ring of parities",
     HEAD(2) INIT(1, 1) " for %i in 0..7 { %p = and %i, 1\n if (eq %t, 0) { mbarrier_wait %b[1], "
                        "(xor %p, 1)\n store %d[0], 2.0\n "
                        "mbarrier_arrive %b[0] } else { mbarrier_wait %b[0], %p\n store %y[%i], "
                        "(load %d[0])\n mbarrier_arrive "
                        "%b[1] } } }",
     7, 0, 0, GROUT_RUN_DONE, 2},
    {"not initialised",
     HEAD(1) " mbarrier_arrive %b[0]\n mbarrier_wait %b[0], 0\n store %y[0], 1.0 }", 0, 0, 2,
     GROUT_RUN_DONE, 1},
    {"invalidated",
     HEAD(1) " mbarrier_init %b[0], 1\n mbarrier_arrive %b[0]\n mbarrier_wait %b[0], 0\n "
             "mbarrier_invalidate %b[0]\n "
             "mbarrier_arrive %b[0]\n mbarrier_invalidate %b[0]\n store %y[0], 1.0 }",
     0, 0, 2, GROUT_RUN_DONE, 1},
    {"a second life",
     HEAD(1) " for %i in 0..3 { if (ge %i, 0) { mbarrier_init %b[0], 1 }\n mbarrier_arrive %b[0]\n "
             "mbarrier_wait %b[0], "
             "0\n mbarrier_arrive %b[0]\n mbarrier_invalidate %b[0] }\n store %y[0], 1.0 }",
     0, 0, 0, GROUT_RUN_DONE, 1},
    {"the rendezvous carries no accesses",
     HEAD(2) " scratch %c : mbarrier[2]\n store %d[0], 1.0\n mbarrier_init %c[%t], 1\n if (eq %t, "
             "1) { store "
             "%y[0], (load %s[0]) } }",
     0, 0, 0, GROUT_RUN_DONE, ANY_RESULT},
    {"arrives from a peer",
     "kernel @k(%x: in gmem f32[64], %y: inout gmem f32[64]) cluster(c = 2) { scratch %b : "
     "mbarrier[1]\n scratch "
     "%d : smem f32[1]\n %r = axis_index c\n mbarrier_init %b[0], 2\n store %d.cluster((sub 1, "
     "%r))[0], 3.0\n "
     "mbarrier_arrive %b[0]\n mbarrier_arrive %b[0].cluster((sub 1, %r))\n mbarrier_wait %b[0], "
     "0\n if (eq %r, "
     "1) { store %y[0], (load %d[0]) }\n cluster_barrier }",
     1, 0, 0, GROUT_RUN_DONE, 3},
    {"one CTA serves all",
     "kernel @k(%x: in gmem f32[64], %y: inout gmem f32[64]) cluster(c = 4) { scratch %b : "
     "mbarrier[2]\n scratch "
     "%s : smem f32[64]\n %r = axis_index c\n mbarrier_init %b[0], 1\n mbarrier_init %b[1], 1\n "
     "mbarrier_expect %b[0], 256 from_cta(0)\n copy_gmem_to_smem %x, %s, %b[0]\n mbarrier_arrive "
     "%b[1] "
     "from_cta(2)\n mbarrier_wait %b[0], 0\n mbarrier_wait %b[1], 0\n if (eq %r, 3) { store %y, "
     "(load %s) }\n "
     "cluster_barrier }",
     1, 0, 0, GROUT_RUN_DONE, -4},
    {"invalidated under a waiter",
     HEAD(2) INIT(
         1, 1) " if (eq %t, 0) { mbarrier_arrive %b[1]\n for %i in 0..40 { store %d[0], 1.0 }\n "
               "mbarrier_invalidate %b[0] } else { mbarrier_wait %b[0], 0 }\n store %y[%t], 2.0 }",
     0, 0, 1, GROUT_RUN_DONE, 2},
    {"tests",
     HEAD(2) INIT(1, 1) " if (eq %t, 0) { store %d[0], 7.0\n mbarrier_arrive %b[0] } else { while "
                        "{ %ok = mbarrier_test %b[0], 0\n "
                        "cond (not %ok) } do { }\n store %y[0], (load %d[0]) } }",
     1, 0, 0, GROUT_RUN_DONE, 7},
    {"tests of a barrier",
     "kernel @k(%x: in gmem f32[64], %y: inout gmem f32[64]) threads(w = 2) { scratch %s : smem "
     "f32[64]\n "
     "scratch %b : barrier[1]\n if (eq (axis_index w), 0) { copy_gmem_to_smem %x, %s, %b[0] } else "
     "{ while { "
     "%ok = barrier_test %b[0]\n cond (not %ok) } do { }\n store %y, (load %s) } }",
     1, 0, 0, GROUT_RUN_DONE, -4},
    {"a test that is false",
     HEAD(1) INIT(1, 1) " %ok = mbarrier_test %b[0], 0\n if %ok { store %y[0], 1.0 } else { store "
                        "%y[0], 2.0 } }",
     0, 0, 0, GROUT_RUN_DONE, 2},
};
enum { ROW_COUNT = sizeof ROWS / sizeof *ROWS };

TEST_EACH(phases, (ROW_COUNT * RUN_VARIANTS)) {
    const row *it = &ROWS[_i / RUN_VARIANTS];
    order_probe probe;
    run *r = probe_run(it->text, _i % RUN_VARIANTS, &probe, it->status);
    /* Under a random schedule the load may come before the store that it is in no order with. */
    bool may_miss = run_variants[_i % RUN_VARIANTS].schedule == GROUT_SCHEDULE_RANDOM;
    ck_assert_msg(probe.ordered == it->ordered &&
                      (probe.unordered == it->unordered || (may_miss && probe.unordered == 0)),
                  "%s: %u ordered, %u not", it->name, probe.ordered, probe.unordered);
    ck_assert_msg(r->faults[GROUT_DIAG_BARRIER_UNINITIALISED] == it->uninitialised, "%s: %u",
                  it->name, r->faults[GROUT_DIAG_BARRIER_UNINITIALISED]);
    if (it->status == GROUT_RUN_DONE && it->unordered == 0 && it->result != ANY_RESULT) {
        ck_assert_msg(run_get(r, 1, 0) == it->result, "%s: %g", it->name, run_get(r, 1, 0));
    }
    run_delete(r);
}

TEST_EACH(runs_go_on_from_every_step, (ROW_COUNT * RUN_VARIANTS)) {
    run_check_resumes(ROWS[_i / RUN_VARIANTS].text, _i % RUN_VARIANTS);
    run_check_unobserved(ROWS[_i / RUN_VARIANTS].text, _i % RUN_VARIANTS);
}

/* The phase that each wait is for, and for how many waits the real parity meant another one. */
typedef struct waits {
    run *r;
    uint32_t phases[8], count;
    uint32_t others;
} waits;

static bool note_wait(void *self, const grout_event *event) {
    waits *it = self;
    if (event->kind == GROUT_EVENT_WAIT && it->count < 8) {
        it->phases[it->count++] = event->u.wait.phase;
        it->others += event->u.wait.is_other;
        ck_assert(event->u.wait.has_parity);
    }
    return run_on_event(it->r, event);
}

static const struct parity_row {
    const char *text;
    uint32_t count, others;
    uint32_t phases[4];
} PARITIES[] = {
    /* one actor: it knows what it has arrived for */
    {"kernel @k() { scratch %b : mbarrier[1]\n mbarrier_init %b[0], 1\n mbarrier_wait %b[0], 1\n "
     "mbarrier_arrive %b[0]\n mbarrier_wait %b[0], 0\n mbarrier_wait %b[0], 0\n mbarrier_arrive "
     "%b[0]\n "
     "mbarrier_wait %b[0], 1 }",
     4,
     0,
     {GROUT_PHASE_NONE, 0, 0, 1}},
};

TEST_EACH(parities, RUN_VARIANTS) {
    const struct parity_row *expected = &PARITIES[0];
    run *r = run_new(expected->text, _i);
    waits it = {.r = r};
    run_start(r);
    r->observer.self = &it;
    r->observer.event = note_wait;
    ck_assert_int_eq(grout_machine_run(r->machine, 0, r->diags), GROUT_RUN_DONE);
    ck_assert_uint_eq(it.count, expected->count);
    ck_assert_uint_eq(it.others, expected->others);
    for (uint32_t i = 0; i < it.count; i++) {
        ck_assert_uint_eq(it.phases[i], expected->phases[i]);
    }
    run_delete(r);
}

/* The same parity names the phase before the first, or the second one, by what the waiter knows. */
TEST_EACH(other_parity, RUN_VARIANTS) {
    run *r =
        run_new("kernel @k() threads(w = 2) { scratch %b : mbarrier[1]\n"
                " %t = axis_index w\n if (eq %t, 0) { mbarrier_init %b[0], 1 }\n block_barrier\n"
                " if (eq %t, 0) { mbarrier_arrive %b[0]\n mbarrier_arrive %b[0]\n }\n"
                " block_barrier\n if (eq %t, 1) { mbarrier_wait %b[0], 1 } }",
                _i);
    waits it = {.r = r};
    run_start(r);
    r->observer.self = &it;
    r->observer.event = note_wait;
    ck_assert_int_eq(grout_machine_run(r->machine, 0, r->diags), GROUT_RUN_DONE);
    ck_assert_uint_eq(it.count, 1);
    ck_assert_uint_eq(it.phases[0], 1); /* it knows of both by the block barrier */
    ck_assert_uint_eq(it.others, 0);
    run_delete(r);
}

TEST_EACH(memory_runs_out, ROW_COUNT) {
    run_check_memory(ROWS[_i].text, 1);
}
