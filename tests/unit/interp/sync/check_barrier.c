/* check_barrier.c - arrivals, phases, bytes, waits: what observers hear.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/tests.h"
#include "tests/unit/support/run_kernel.h"

/* What a barrier's events said, copied in the callback. */
typedef struct record {
    uint32_t arrives, phases, waits, late, ends;
    uint32_t arrive_phase[64], arrive_count[64];
    bool previous_complete[64], previous_bytes[64];
    uint32_t phase_number[64], phase_contributions[64], phase_ph[64];
    uint32_t wait_phase[64], wait_ph[64], wait_x[64]; /* x: of thread 0 */
    uint32_t bases[64];
    grout_barrier_fact last_end;
    uint32_t end_waits[GROUT_THREADS_MAX];
    grout_clock_shape shape;
    uint32_t faults[GROUT_DIAG_COUNT];
    grout_fault fault;
} record;

static bool on_begin(void *self, const grout_launch_info *info) {
    ((record *)self)->shape = info->shape;
    return true;
}

static bool on_event(void *self, const grout_event *event) {
    record *r = self;
    if (event->kind == GROUT_EVENT_ARRIVE) {
        uint32_t i = r->arrives++ % 64;
        r->arrive_phase[i] = event->u.arrive.phase;
        r->arrive_count[i] = event->u.arrive.count;
        r->previous_complete[i] = event->u.arrive.previous.is_complete;
        r->previous_bytes[i] = event->u.arrive.previous.had_bytes;
        r->bases[i] = event->u.arrive.phase_base;
    } else if (event->kind == GROUT_EVENT_PHASE) {
        uint32_t i = r->phases++ % 64;
        uint32_t element = event->u.phase.barrier->element;
        r->phase_number[i] = event->u.phase.phase;
        r->phase_contributions[i] = event->u.phase.contribution_count;
        r->phase_ph[i] = event->u.phase.completion[grout_clock_phase(&r->shape, element)];
    } else if (event->kind == GROUT_EVENT_WAIT) {
        uint32_t i = r->waits++ % 64, element = event->u.wait.barrier->element;
        r->late += event->u.wait.is_late;
        r->wait_phase[i] = event->u.wait.phase;
        r->wait_x[i] = event->clocks->known[grout_clock_epoch(&r->shape, 0)];
        r->wait_ph[i] = event->clocks->known[grout_clock_phase(&r->shape, element)];
        ck_assert_uint_eq(event->u.wait.barrier->waits[event->origin.thread].waits,
                          event->u.wait.phase + 1);
    } else if (event->kind == GROUT_EVENT_BARRIER_END) {
        r->ends++;
        r->last_end = *event->u.barrier_end.barrier;
        for (uint32_t i = 0; i < r->shape.thread_count; i++) {
            r->end_waits[i] = event->u.barrier_end.barrier->waits[i].waits;
        }
    } else if (event->kind == GROUT_EVENT_FAULT) {
        r->faults[event->u.fault->code]++;
        r->fault = *event->u.fault;
    }
    return true;
}

/* Runs the text with a recorder in place of the fixture's observer. */
static record observe(const char *text, int variant, grout_run_status expected) {
    record result = {0};
    run *r = run_new(text, variant);
    r->is_unobserved = true;
    run_start(r);
    grout_machine_free(r->machine);
    grout_observer observer = {
        .self = &result, .interest = UINT64_MAX, .begin = on_begin, .event = on_event};
    grout_launch launch = {.module = r->module,
                           .kernel = 1,
                           .arguments = r->arguments,
                           .argument_count = r->argument_count,
                           .timing = r->timing,
                           .schedule = r->schedule,
                           .seed = r->seed,
                           .track_undefined = true,
                           .observers = {&observer},
                           .observer_count = 1};
    r->machine = grout_machine_new(&launch, r->diags);
    ck_assert_int_eq(grout_machine_run(r->machine, 0, r->diags), expected);
    run_delete(r);
    return result;
}

/* Arrival j belongs to phase j div n. */
TEST_EACH(arrivals_make_phases, RUN_VARIANTS) {
    record r = observe("kernel @k() { scratch %b : barrier[1] arrivals(3)\n for %i in 0..7 { "
                       "barrier_arrive %b[0] }\n"
                       " for %i in 0..2 { barrier_wait %b[0] } }",
                       _i, GROUT_RUN_DONE);
    ck_assert_uint_eq(r.arrives, 7);
    for (uint32_t i = 0; i < 7; i++) {
        ck_assert_uint_eq(r.arrive_phase[i], i / 3);
    }
    ck_assert_uint_eq(r.phases, 2);
    ck_assert_uint_eq(r.phase_contributions[1], 3);
    ck_assert_uint_eq(r.phase_ph[0], 1);
    ck_assert_uint_eq(r.phase_ph[1], 2);
    ck_assert_uint_eq(r.waits, 2);
    ck_assert_uint_eq(r.late, 1); /* the first wait looks when both phases are over */
    ck_assert_uint_eq(r.ends, 1);
    ck_assert_uint_eq(r.last_end.completed, 2);
    ck_assert_uint_eq(r.last_end.full, 2);
    ck_assert_uint_eq(r.last_end.arrived, 1);
    ck_assert_uint_eq(r.end_waits[0], 2);
}

TEST_EACH(counts_arrive_at_once, RUN_VARIANTS) {
    record r = observe(
        "kernel @k() { scratch %b : barrier[1] arrivals(4)\n barrier_arrive %b[0] count(3)\n"
        " barrier_arrive %b[0]\n barrier_wait %b[0] }",
        _i, GROUT_RUN_DONE);
    ck_assert_uint_eq(r.arrives, 2);
    ck_assert_uint_eq(r.arrive_count[0], 3);
    ck_assert_uint_eq(r.phase_contributions[0], 2);
    ck_assert_uint_eq(r.faults[GROUT_DIAG_BARRIER_TOO_MANY], 0);
}

/* What one op brings beyond the phase is dropped, and said. */
TEST_EACH(surplus_is_dropped, RUN_VARIANTS) {
    record r = observe(
        "kernel @k() { scratch %b : barrier[1] arrivals(4)\n barrier_arrive %b[0] count(3)\n"
        " barrier_arrive %b[0] count(3)\n barrier_wait %b[0] }",
        _i, GROUT_RUN_DONE);
    ck_assert_uint_eq(r.faults[GROUT_DIAG_BARRIER_TOO_MANY], 1);
    ck_assert_int_eq(r.fault.have, 3);
    ck_assert_int_eq(r.fault.need, 1);
    ck_assert_uint_eq(r.last_end.full, 1);
    ck_assert_uint_eq(r.last_end.arrived, 0);
    ck_assert_uint_eq(r.last_end.completed, 1);
}

/* A thread that made all arrivals of a phase without bytes knows it complete; of one with bytes it
 * does not, until it has waited. */
TEST_EACH(knowing_a_phase_complete, RUN_VARIANTS) {
    record plain = observe(
        "kernel @k() { scratch %b : barrier[1]\n barrier_arrive %b[0]\n barrier_wait %b[0] }", _i,
        GROUT_RUN_DONE);
    ck_assert_uint_eq(plain.wait_ph[0], 1);
    record bytes = observe(
        "kernel @k(%x: in gmem f32[32]) { scratch %b : barrier[1]\n scratch %s : smem f32[32]\n"
        " copy_gmem_to_smem %x, %s, %b[0]\n barrier_wait %b[0]\n copy_gmem_to_smem %x, %s, %b[0]\n"
        " barrier_wait %b[0] }",
        _i, GROUT_RUN_DONE);
    ck_assert_uint_eq(bytes.wait_ph[0], 0);
    ck_assert_uint_eq(bytes.wait_ph[1], 1);
    ck_assert_uint_eq(bytes.phase_ph[1], 2);
    ck_assert(bytes.previous_complete[1] && bytes.previous_bytes[1]);
}

/* The second phase's arrival while the first one's bytes may be in flight. */
TEST_EACH(phases_in_flight, RUN_VARIANTS) {
    record r = observe(
        "kernel @k(%x: in gmem f32[32]) { scratch %b : barrier[1]\n scratch %s : smem f32[3, 32]\n"
        " for %i in 0..3 { copy_gmem_to_smem %x, %s[%i], %b[0] }\n"
        " for %i in 0..3 { barrier_wait %b[0] } }",
        _i, GROUT_RUN_DONE);
    ck_assert_uint_eq(r.phases, 3);
    for (uint32_t i = 0; i < 3; i++) {
        ck_assert_uint_eq(r.phase_number[i], i);
        ck_assert_uint_eq(r.arrive_phase[i], i);
        ck_assert_uint_eq(r.wait_phase[i], i);
    }
    ck_assert(r.previous_bytes[1]);
    ck_assert_uint_eq(r.last_end.completed, 3);
}

TEST_EACH(bytes_of_a_phase_are_limited, RUN_VARIANTS) {
    record r =
        observe("kernel @k(%x: in gmem f32[128, 256]) { scratch %b : barrier[1] arrivals(10)\n"
                " scratch %s : smem f32[128, 256]\n"
                " for %i in 0..10 { copy_gmem_to_smem %x, %s, %b[0] }\n barrier_wait %b[0] }",
                _i, GROUT_RUN_DONE);
    ck_assert_uint_eq(r.faults[GROUT_DIAG_BARRIER_TX_MISMATCH], 1);
    ck_assert_int_eq(r.fault.need, (1 << 20) - 1);
    ck_assert_int_eq(r.fault.have, INT64_C(8) * 128 * 256 * 4);
}

/* A barrier of a scope that runs again starts anew; the clock's component counts on. */
TEST_EACH(lives_of_a_scoped_barrier, RUN_VARIANTS) {
    record r = observe("kernel @k() { for %i in 0..3 { scoped(%b : barrier[1]) { for %j in 0..2 {\n"
                       " barrier_arrive %b[0]\n barrier_wait %b[0] } } } }",
                       _i, GROUT_RUN_DONE);
    ck_assert_uint_eq(r.ends, 3);
    ck_assert_uint_eq(r.phases, 6);
    for (uint32_t i = 0; i < 6; i++) {
        ck_assert_uint_eq(r.arrive_phase[i], i % 2);
        ck_assert_uint_eq(r.bases[i], (uint64_t)i / 2 * 2);
        ck_assert_uint_eq(r.phase_ph[i], i + 1);
        ck_assert_uint_eq(r.wait_phase[i], i % 2);
    }
    ck_assert_uint_eq(r.late, 0);
}

/* A wait acquires what its own phase released, neither less nor more, however late it comes. */
TEST_EACH(late_waits_acquire_their_phase, RUN_VARIANTS) {
    record r = observe("kernel @k(%x: in gmem f32[32], %z: out gmem i32[1]) threads(w = 2) {\n"
                       " scratch %s : smem f32[32]\n scratch %b : barrier[1]\n"
                       " if (eq (axis_index w), 0) { for %i in 0..60 { copy_gmem_to_smem %x, %s, "
                       "%b[0] } } else {\n for %i in 0..200 { store %z[0], %i }\n"
                       " for %i in 0..60 { barrier_wait %b[0] } } }",
                       _i, GROUT_RUN_DONE);
    ck_assert_uint_eq(r.waits, 60);
    for (uint32_t i = 1; i < 60; i++) { /* clocks before the wait: of the one before */
        ck_assert_uint_eq(r.wait_x[i], i);
        ck_assert_uint_eq(r.wait_ph[i], i);
    }
}

TEST_EACH(half_a_phase_is_left, RUN_VARIANTS) {
    record r = observe("kernel @k() { scratch %b : barrier[1] arrivals(2)\n barrier_arrive %b[0] }",
                       _i, GROUT_RUN_DONE);
    ck_assert_uint_eq(r.last_end.completed, 0);
    ck_assert_uint_eq(r.last_end.arrived, 1);
    ck_assert(r.last_end.has_contribution);
}
