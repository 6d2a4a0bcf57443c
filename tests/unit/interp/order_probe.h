/*
 * order_probe.h - for the tests of interp/: whether a run's reads know of the writes before them.
 * It looks at accesses that begin at the same word: the last write, and every later read by another
 * actor.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_TESTS_ORDER_PROBE_H
#define GROUT_TESTS_ORDER_PROBE_H

#include "tests/unit/support/run_kernel.h"

#define PROBE_OBJECTS 32
#define PROBE_CTAS    4
#define PROBE_WORDS   64

typedef struct order_probe {
    run *r;
    struct {
        bool is_written;
        grout_stamp stamp;
        uint32_t cta;
        uint8_t thread, warp;
    } writes[PROBE_OBJECTS * PROBE_CTAS * PROBE_WORDS];
    uint32_t ordered, unordered; /* reads */
} order_probe;

static inline bool probe_knows(const grout_clocks *clocks, const grout_stamp *stamp) {
    const uint32_t *known = grout_clocks_find_known(clocks, stamp->cluster);
    return known != NULL && known[stamp->component] >= stamp->number;
}

static inline bool probe_on_event(void *self, const grout_event *event) {
    order_probe *probe = self;
    const grout_access *access = event->u.access;
    if (event->kind == GROUT_EVENT_ACCESS && access->object < PROBE_OBJECTS) {
        uint32_t cta = access->space == GROUT_SPACE_SMEM ? access->owner % PROBE_CTAS : 0;
        uint32_t word = (uint32_t)(access->runs[0].base / 4) % PROBE_WORDS;
        uint32_t place = (access->object * PROBE_CTAS + cta) * PROBE_WORDS + word;
        bool is_own = probe->writes[place].stamp.agent == GROUT_AGENT_ACTOR &&
                      probe->writes[place].cta == event->origin.cta &&
                      probe->writes[place].thread == event->origin.thread &&
                      probe->writes[place].warp == event->origin.warp;
        if (!access->is_write && probe->writes[place].is_written && !is_own) {
            bool is_known = probe_knows(event->clocks, &probe->writes[place].stamp);
            probe->ordered += is_known;
            probe->unordered += !is_known;
        }
        if (access->is_write && !access->is_atomic) {
            probe->writes[place].is_written = true;
            probe->writes[place].stamp = access->stamp;
            probe->writes[place].cta = event->origin.cta;
            probe->writes[place].thread = event->origin.thread;
            probe->writes[place].warp = event->origin.warp;
        }
    }
    return run_on_event(probe->r, event);
}

/* The machine of r is there and has not run. */
static inline void probe_start(order_probe *probe, run *r) {
    memset(probe, 0, sizeof *probe);
    probe->r = r;
    r->observer.self = probe;
    r->observer.event = probe_on_event;
    r->observer.snapshot = NULL;
    r->observer.hash = NULL;
}

/* Runs a kernel to the end under a variant; the caller deletes the run. */
static inline run *probe_run(const char *text, int variant, order_probe *probe,
                             grout_run_status expected) {
    run *r = run_new(text, variant);
    run_start(r);
    ck_assert_ptr_nonnull(r->machine);
    probe_start(probe, r);
    ck_assert_int_eq(grout_machine_run(r->machine, 0, r->diags), expected);
    return r;
}

/* ---- going on from any step ------------------------------------------------------------------ */

static inline void probe_compare(const run *a, const run *b) {
    for (uint32_t i = 0; i < a->argument_count; i++) {
        ck_assert_mem_eq(a->arguments[i].data, b->arguments[i].data, a->arguments[i].size);
    }
    ck_assert(a->event_hash == b->event_hash);
    ck_assert_mem_eq(a->counts, b->counts, sizeof a->counts);
    ck_assert(grout_machine_hash(a->machine) == grout_machine_hash(b->machine));
}

/* A run that stops, is saved, goes on, and goes on again from what was saved, is the run. It stops
 * often in the beginning, under each variant elsewhere. */
static inline void run_check_resumes(const char *text, int variant) {
    run *whole = run_new(text, variant);
    grout_run_status status = run_to_end(whole);
    uint64_t steps = grout_machine_get_stats(whole->machine).steps;
    for (uint64_t at = 1; at < steps; at += 1 + (at + (uint32_t)variant) / 3) {
        run *r = run_new(text, variant);
        run_start(r);
        ck_assert_int_eq(grout_machine_run(r->machine, at, r->diags), GROUT_RUN_PAUSED);
        uint64_t hash = grout_machine_hash(r->machine);
        grout_snapshot *snapshot = grout_machine_snapshot(r->machine, r->diags);
        ck_assert_ptr_nonnull(snapshot);
        for (uint32_t round = 0; round < 2; round++) {
            ck_assert_int_eq(grout_machine_run(r->machine, 0, r->diags), status);
            probe_compare(whole, r);
            ck_assert(grout_machine_restore(r->machine, snapshot, r->diags));
            ck_assert(grout_machine_hash(r->machine) == hash);
        }
        grout_snapshot_free(snapshot);
        run_delete(r);
    }
    run_delete(whole);
}

/* Nobody looks, and the run is the same. */
static inline void run_check_unobserved(const char *text, int variant) {
    run *seen = run_new(text, variant), *unseen = run_new(text, variant);
    unseen->is_unobserved = true;
    grout_run_status status = run_to_end(seen);
    ck_assert_int_eq(run_to_end(unseen), status);
    for (uint32_t i = 0; i < seen->argument_count; i++) {
        ck_assert_mem_eq(seen->arguments[i].data, unseen->arguments[i].data,
                         seen->arguments[i].size);
    }
    run_delete(seen);
    run_delete(unseen);
}

/* Memory runs out early, later, and at last not at all: the run fails, and nothing else happens. */
static inline void run_check_memory(const char *text, int variant) {
    bool is_over = false;
    for (uint64_t limit = 2048; !is_over; limit += limit / 8) {
        run *r = run_new(text, variant);
        r->max_memory = limit;
        run_start(r);
        grout_run_status status =
            r->machine == NULL ? GROUT_RUN_FAILED : grout_machine_run(r->machine, 0, r->diags);
        is_over = status != GROUT_RUN_FAILED;
        run_delete(r);
    }
}

#endif
