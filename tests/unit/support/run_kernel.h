/*
 * run_kernel.h - for the tests of interp/: a kernel as text, run once, its events counted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_TESTS_RUN_KERNEL_H
#define GROUT_TESTS_RUN_KERNEL_H

#include "grout-internal/interp.h"
#include "grout-internal/text.h"
#include "grout-internal/verify.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUN_ARRAYS_MAX 12
#define RUN_EVENTS_MAX 4096

/* One run: set text and what differs from the defaults, then run_start; the rest is filled in. */
typedef struct run {
    const char *text;
    grout_timing timing;
    grout_schedule schedule;
    uint64_t seed, max_steps, max_memory;
    uint32_t pct_depth, resident;
    const grout_decisions *replay;
    grout_decisions *record;
    bool is_unobserved;
    bool is_unfused;
    bool tracks_non_finite;
    /* filled in */
    grout_diags *diags;
    grout_module *symbolic, *module;
    grout_kernel_id kernel;
    grout_argument arguments[RUN_ARRAYS_MAX];
    uint32_t argument_count;
    grout_machine *machine;
    grout_observer observer;
    const grout_observer *other_observer; /* beside it; NULL: none */
    uint32_t counts[GROUT_EVENT_KIND_COUNT];
    uint32_t faults[GROUT_DIAG_COUNT];
    grout_event events[RUN_EVENTS_MAX]; /* their pointers are void, except those kept below */
    uint32_t event_count;
    grout_fault last_fault;
    uint64_t event_hash;
    uint32_t late_waits;
    uint32_t states[GROUT_THREADS_MAX * GROUT_CLUSTER_MAX]; /* of the deadlock event */
    uint32_t state_count;
    int64_t waiting_ctas, resident_ctas;
    char printed[1024];
    int64_t steps_allowed; /* progress() says stop after this many steps; 0: never */
    /* while the machine is made, the end comes after this many questions; 0: never */
    uint64_t questions_allowed, questions;
    bool ends_by_list; /* the list of diagnostics brings it, not progress() */
} run;

static inline bool run_on_event(void *self, const grout_event *event) {
    run *r = self;
    uint32_t kind = event->kind;
    r->counts[kind]++;
    if (r->event_count < RUN_EVENTS_MAX) {
        r->events[r->event_count++] = *event;
    }
    uint64_t word = ((uint64_t)kind << 48) ^ ((uint64_t)event->origin.op << 16) ^
                    ((uint64_t)event->origin.cta << 8) ^ event->origin.thread;
    if (kind == GROUT_EVENT_FAULT) {
        r->faults[event->u.fault->code]++;
        r->last_fault = *event->u.fault;
        word ^= (uint64_t)event->u.fault->code << 32;
    } else if (kind == GROUT_EVENT_WAIT) {
        r->late_waits += event->u.wait.is_late;
    } else if (kind == GROUT_EVENT_DEADLOCK) {
        r->state_count = event->u.deadlock.thread_count;
        r->waiting_ctas = event->u.deadlock.waiting_ctas;
        r->resident_ctas = event->u.deadlock.resident_ctas;
        for (uint32_t i = 0; i < r->state_count && i < GROUT_THREADS_MAX * GROUT_CLUSTER_MAX; i++) {
            r->states[i] = event->u.deadlock.threads[i].state;
        }
    } else if (kind == GROUT_EVENT_ACCESS) {
        word ^= event->u.access->stamp.number * UINT64_C(0x100000001b3);
    }
    r->event_hash = (r->event_hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return true;
}

static inline void *run_save(void *self) {
    run *copy = malloc(sizeof *copy);
    memcpy(copy, self, sizeof *copy);
    return copy;
}
static inline bool run_restore(void *self, const void *snapshot) {
    run *r = self;
    const run *from = snapshot;
    memcpy(r->counts, from->counts, sizeof r->counts);
    memcpy(r->faults, from->faults, sizeof r->faults);
    r->event_count = from->event_count;
    r->event_hash = from->event_hash;
    return true;
}
static inline void run_snapshot_free(void *self, void *snapshot) {
    (void)self;
    free(snapshot);
}
static inline uint64_t run_hash(void *self) {
    return ((run *)self)->event_hash;
}

static inline void run_on_print(void *payload, const char *line) {
    run *r = payload;
    size_t used = strlen(r->printed);
    snprintf(r->printed + used, sizeof r->printed - used, "%s\n", line);
}
static inline bool run_may_prepare(run *r) {
    return ++r->questions <= r->questions_allowed || r->questions_allowed == 0;
}
static inline bool run_on_progress(void *payload, const grout_progress *progress) {
    run *r = payload;
    if (r->machine == NULL) {
        return run_may_prepare(r);
    }
    return r->steps_allowed == 0 || progress->steps < (uint64_t)r->steps_allowed;
}

static inline grout_diag_code run_why_end(void *payload) {
    run *r = payload;
    return !r->ends_by_list || run_may_prepare(r) ? GROUT_DIAG_NONE : GROUT_DIAG_TIME_LIMIT;
}

static inline void run_fail(const run *r) {
    grout_text text = {0};
    grout_render_options options = {0};
    grout_diags_render(r->diags, &options, &text);
    ck_abort_msg("%s", text.data);
}

/* Inputs: element j of parameter i is (7 j + 3 i) mod 9 - 4. */
static inline void run_fill(grout_dtype dtype, void *data, size_t size, uint32_t index) {
    uint32_t bytes = grout_dtype_get_info(dtype)->bytes;
    for (size_t j = 0; j < size / bytes; j++) {
        double value = (double)((7 * j + 3 * (size_t)index) % 9) - 4.0;
        grout_element_from_double(dtype, value, (uint8_t *)data + j * bytes);
    }
}

/* Parses, binds and verifies the first kernel of r->text, and makes the machine (NULL if refused).
 */
static inline void run_start(run *r) {
    r->diags = grout_diags_new();
    r->symbolic = grout_parse("kernel.grout", r->text, strlen(r->text), r->diags);
    r->module = r->symbolic == NULL ? NULL : grout_module_bind(r->symbolic, NULL, 0, r->diags);
    if (r->module == NULL || !grout_verify(r->module, GROUT_ARCH_ANY, r->diags)) {
        run_fail(r);
    }
    r->kernel = 1;
    const grout_kernel *kernel = grout_module_get_kernel(r->module, r->kernel);
    r->argument_count = kernel->param_count;
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        const grout_param *param = grout_module_get_param(r->module, kernel, i);
        bool is_scalar = param->direction == GROUT_DIRECTION_SCALAR;
        grout_dtype dtype =
            is_scalar ? (grout_dtype)param->dtype
                      : (grout_dtype)grout_object_get_type(r->module, param->object)->dtype;
        size_t size = is_scalar ? grout_dtype_get_info(dtype)->bytes
                                : (size_t)grout_object_get_layout(r->module, param->object)->bytes;
        r->arguments[i].size = size;
        r->arguments[i].data = aligned_alloc(64, (size + 63) / 64 * 64);
        run_fill(dtype, r->arguments[i].data, size, i);
    }
    r->observer = (grout_observer){.self = r,
                                   .interest = UINT64_MAX,
                                   .event = run_on_event,
                                   .snapshot = run_save,
                                   .restore = run_restore,
                                   .snapshot_free = run_snapshot_free,
                                   .hash = run_hash};
    grout_launch launch = {.module = r->module,
                           .kernel = r->kernel,
                           .arguments = r->arguments,
                           .argument_count = r->argument_count,
                           .schedule = r->schedule,
                           .timing = r->timing,
                           .seed = r->seed,
                           .pct_depth = r->pct_depth,
                           .resident = r->resident,
                           .replay = r->replay,
                           .record = r->record,
                           .max_steps = r->max_steps,
                           .max_memory = r->max_memory,
                           .track_undefined = !r->is_unobserved,
                           .is_unfused = r->is_unfused,
                           .track_non_finite = r->tracks_non_finite,
                           .progress = r->ends_by_list ? NULL : run_on_progress,
                           .print = run_on_print,
                           .payload = r};
    if (!r->is_unobserved) {
        launch.observers[launch.observer_count++] = &r->observer;
    }
    if (r->other_observer != NULL) {
        launch.observers[launch.observer_count++] = r->other_observer;
    }
    grout_diags_set_why_end(r->diags, run_why_end, r);
    r->machine = grout_machine_new(&launch, r->diags);
    grout_diags_set_why_end(r->diags, NULL, NULL);
}

static inline grout_run_status run_to_end(run *r) {
    run_start(r);
    ck_assert_ptr_nonnull(r->machine);
    return grout_machine_run(r->machine, 0, r->diags);
}

static inline void run_free(run *r) {
    grout_machine_free(r->machine);
    for (uint32_t i = 0; i < r->argument_count; i++) {
        free(r->arguments[i].data);
    }
    grout_module_free(r->module);
    grout_module_free(r->symbolic);
    grout_diags_free(r->diags);
}

/* Element j of parameter i, as a double. */
static inline double run_get(const run *r, uint32_t index, size_t element) {
    const grout_kernel *kernel = grout_module_get_kernel(r->module, r->kernel);
    const grout_param *param = grout_module_get_param(r->module, kernel, index);
    grout_dtype dtype = (grout_dtype)grout_object_get_type(r->module, param->object)->dtype;
    uint32_t bytes = grout_dtype_get_info(dtype)->bytes;
    return grout_element_to_double(dtype, (uint8_t *)r->arguments[index].data + element * bytes);
}

/* The order in which every test runs a kernel that must not depend on it. */
static const struct run_variant {
    grout_timing timing;
    grout_schedule schedule;
    uint64_t seed;
} run_variants[] = {
    {GROUT_TIMING_EAGER, GROUT_SCHEDULE_FAIR, 0},
    {GROUT_TIMING_LAZY, GROUT_SCHEDULE_FAIR, 0},
    {GROUT_TIMING_LAZY, GROUT_SCHEDULE_RANDOM, 1},
    {GROUT_TIMING_RANDOM, GROUT_SCHEDULE_RANDOM, 2},
    {GROUT_TIMING_RANDOM, GROUT_SCHEDULE_RANDOM, 3},
    {GROUT_TIMING_RANDOM, GROUT_SCHEDULE_FAIR, 4},
};
#define RUN_VARIANTS ((int)(sizeof run_variants / sizeof run_variants[0]))

static inline run *run_new(const char *text, int variant) {
    run *r = calloc(1, sizeof *r);
    r->text = text;
    r->timing = run_variants[variant].timing;
    r->schedule = run_variants[variant].schedule;
    r->seed = run_variants[variant].seed;
    return r;
}
static inline void run_delete(run *r) {
    run_free(r);
    free(r);
}

/* main() of a test program with one suite. */
/* For unit/trial, whose programs list their tests. */
static inline int run_suite(Suite *suite) {
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
