/*
 * workers.c - a launch by several OS threads.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Where no cluster can hear of another, a machine runs them one after the other, each from a fresh
 * state (cluster.c). So each worker has a machine of its own, takes the next cluster that nobody
 * has taken, and runs it as the one machine would have. The machines share the module and the
 * arrays that are only read. A worker has a copy of each array that the kernel writes, and claims
 * (claims.h) say in the end whether that made a difference.
 *
 * Only a run in which nothing is remarkable is kept. If a worker meets a deadlock, the limit of
 * steps or of memory, a debug_print, an observer that has found something, or clusters have touched
 * the same elements, all is dropped and the machine runs alone: its report is then that of one
 * worker by construction. So there is no second way in which findings come about.
 */
#include "workers.h"
#include "alloc.h"
#include "claims.h"
#include "run.h"
#include "wait.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define WORKERS_MAX 256

typedef struct worker worker;

typedef struct crew {
    grout_machine *machine; /* whose launch it is */
    worker *workers;
    uint32_t count;
    int64_t clusters;
    _Atomic int64_t next; /* cluster that nobody has taken */
    _Atomic int64_t ctas_done;
    _Atomic uint64_t steps;
    atomic_bool stops; /* somebody cannot go on */
    bool is_interrupted;
    /* workers that have not ended */
    pthread_mutex_t lock;
    pthread_cond_t has_ended;
    uint32_t running;
} crew;

struct worker {
    crew *crew;
    grout_machine *machine;
    grout_launch launch;
    grout_argument *arguments;
    const grout_observer *parts[GROUT_OBSERVERS_MAX];
    grout_diags *diags;
    int64_t ctas_told; /* of the crew's sums */
    uint64_t steps_told;
    pthread_t thread;
    bool is_first; /* runs in the OS thread that runs the machine */
    bool is_started;
};

/* ---- whether several may ------------------------------------------------------------------- */

static bool have_parts(const grout_launch *launch) {
    for (uint32_t i = 0; i < launch->observer_count; i++) {
        if (launch->observers[i]->new_part == NULL) {
            return false;
        }
    }
    return true;
}

/* Decisions are numbered over the launch, and so are the change points of pct. */
static bool is_divisible(const grout_machine *machine) {
    const grout_launch *launch = &machine->launch;
    const grout_plan *plan = machine->plan;
    bool has_free_schedule =
        launch->schedule == GROUT_SCHEDULE_FAIR || launch->schedule == GROUT_SCHEDULE_RANDOM;
    return launch->workers > 1 && launch->earlier_count == 0 && launch->stale == NULL &&
           plan->cta_count / plan->shape.cta_count > 1 && has_free_schedule &&
           launch->record == NULL && !plan->has_foreign_order && !plan->has_gmem_updates &&
           have_parts(launch) && !machine->shares_bytes;
}

/* ---- what a worker calls back -------------------------------------------------------------- */

/* Adds to the sums what has come since the last call. */
static void tell(worker *own, const grout_progress *progress) {
    atomic_fetch_add(&own->crew->ctas_done, progress->ctas_done - own->ctas_told);
    atomic_fetch_add(&own->crew->steps, progress->steps - own->steps_told);
    own->ctas_told = progress->ctas_done;
    own->steps_told = progress->steps;
}

/* The machine's own progress, with the sums. False: it interrupts. */
static bool ask(crew *it) {
    const grout_launch *launch = &it->machine->launch;
    grout_progress progress = {.ctas_done = atomic_load(&it->ctas_done),
                               .ctas_total = it->machine->plan->cta_count,
                               .steps = atomic_load(&it->steps)};
    if (launch->progress != NULL && !launch->progress(launch->payload, &progress)) {
        it->is_interrupted = true;
        atomic_store(&it->stops, true);
        return false;
    }
    return true;
}

static bool note_progress(void *payload, const grout_progress *progress) {
    worker *own = payload;
    tell(own, progress);
    return (!own->is_first || ask(own->crew)) && !atomic_load(&own->crew->stops);
}

/* Lines have an order, which one worker keeps. */
static void refuse_print(void *payload, const char *line) {
    worker *own = payload;
    (void)line;
    atomic_store(&own->crew->stops, true);
}

/* ---- a worker ------------------------------------------------------------------------------ */

/* The arrays that the kernel writes are its own; the machine fills those of 'out'. */
static bool add_arguments(worker *own) {
    const grout_machine *machine = own->crew->machine;
    size_t count = machine->launch.argument_count;
    own->arguments = grout__new(machine->launch.allocator, count + 1, sizeof *own->arguments);
    for (size_t i = 0; own->arguments != NULL && i < count; i++) {
        const grout_gmem_array *array = &machine->arrays[i];
        own->arguments[i] = machine->arguments[i];
        if (!grout_direction_is_written(array->direction)) {
            continue;
        }
        own->arguments[i].data = grout__resize(machine->launch.allocator, NULL,
                                               array->size == 0 ? 1 : (size_t)array->size);
        if (own->arguments[i].data == NULL) {
            return false;
        }
        if (array->direction == GROUT_DIRECTION_INOUT) {
            memcpy(own->arguments[i].data, array->data, (size_t)array->size);
        }
    }
    return own->arguments != NULL;
}

static bool add_parts(worker *own) {
    grout_launch *launch = &own->launch;
    for (uint32_t i = 0; i < launch->observer_count; i++) {
        const grout_observer *observer = launch->observers[i];
        own->parts[i] = observer->new_part(observer->self);
        if (own->parts[i] == NULL) {
            return false;
        }
        launch->observers[i] = own->parts[i];
    }
    return true;
}

/* What a worker's machine may take of the launch's limit: its part of what is left, less the copies
 * of the arrays. 1 if that is nothing: it then fails, and one worker runs the launch. */
static uint64_t get_share(const crew *it) {
    const grout_machine *machine = it->machine;
    uint64_t limit = machine->launch.max_memory, used = machine->heap.used, copies = 0;
    for (size_t i = 0; i < machine->launch.argument_count; i++) {
        const grout_gmem_array *array = &machine->arrays[i];
        copies += grout_direction_is_written(array->direction) ? (uint64_t)array->size : 0;
    }
    uint64_t share = limit > used ? (limit - used) / it->count : 0;
    return share > copies ? share - copies : 1;
}

/* Everything but the machine, which the worker's own OS thread makes. */
static bool prepare_worker(crew *it, worker *own) {
    const grout_launch *launch = &it->machine->launch;
    own->crew = it;
    own->launch = *launch;
    own->launch.workers = 1;
    own->launch.progress = note_progress;
    own->launch.print = launch->print == NULL ? NULL : refuse_print;
    own->launch.payload = own;
    if (launch->max_memory != 0) {
        own->launch.max_memory = get_share(it);
    }
    own->diags = grout_diags_new();
    bool is_ready = own->diags != NULL && add_arguments(own) && add_parts(own);
    own->launch.arguments = own->arguments;
    return is_ready;
}

static void free_worker(const crew *it, worker *own) {
    const grout_machine *machine = it->machine;
    grout_machine_free(own->machine);
    for (size_t i = 0; own->arguments != NULL && i < machine->launch.argument_count; i++) {
        if (grout_direction_is_written(machine->arrays[i].direction)) {
            grout__free(own->arguments[i].data);
        }
    }
    grout__free(own->arguments);
    for (uint32_t i = 0; i < GROUT_OBSERVERS_MAX; i++) {
        if (own->parts[i] != NULL) {
            machine->launch.observers[i]->free_part(own->parts[i]);
        }
    }
    grout_diags_free(own->diags);
}

static bool run_cluster(grout_machine *machine, int64_t index) {
    machine->run.facts.next_cluster = index;
    if (!grout_cluster__begin_all(machine) || !grout_machine__run(machine, UINT64_MAX)) {
        return false;
    }
    grout_cluster__end_all(machine);
    return !machine->run.has_failed;
}

static bool run_clusters(worker *own) {
    own->machine = grout_machine_new(&own->launch, own->diags);
    if (own->machine == NULL || own->machine->plan->is_cut || !grout_claims__add(own->machine)) {
        return false;
    }
    bool is_good = true;
    while (is_good && !atomic_load(&own->crew->stops)) {
        int64_t index = atomic_fetch_add(&own->crew->next, 1);
        if (index >= own->crew->clusters) {
            break;
        }
        is_good = run_cluster(own->machine, index);
    }
    grout_run_stats stats = grout_machine_get_stats(own->machine);
    tell(own, &(grout_progress){.ctas_done = stats.ctas_done, .steps = stats.steps});
    return is_good;
}

static void *work(void *payload) {
    worker *own = payload;
    crew *it = own->crew;
    if (!run_clusters(own)) {
        atomic_store(&it->stops, true);
    }
    (void)pthread_mutex_lock(&it->lock);
    it->running--;
    (void)pthread_cond_signal(&it->has_ended);
    (void)pthread_mutex_unlock(&it->lock);
    return NULL;
}

/* ---- the crew ------------------------------------------------------------------------------ */

/* Until the last has ended; meanwhile a launch can be interrupted. */
static void wait_for_all(crew *it) {
    (void)pthread_mutex_lock(&it->lock);
    while (it->running > 0) {
        grout_wait__briefly(&it->has_ended, &it->lock);
        (void)pthread_mutex_unlock(&it->lock);
        (void)(it->is_interrupted || ask(it));
        (void)pthread_mutex_lock(&it->lock);
    }
    (void)pthread_mutex_unlock(&it->lock);
}

/* The first worker is the OS thread that is here. The others may have taken all clusters before it
 * comes to ask for progress, so it asks first. */
static void run_all(crew *it) {
    if (!ask(it)) {
        return;
    }
    it->running = it->count;
    for (uint32_t i = 1; i < it->count; i++) {
        worker *own = &it->workers[i];
        own->is_started = pthread_create(&own->thread, NULL, work, own) == 0;
        if (!own->is_started) {
            (void)pthread_mutex_lock(&it->lock);
            it->running--;
            (void)pthread_mutex_unlock(&it->lock);
            atomic_store(&it->stops, true);
        }
    }
    it->workers[0].is_first = true;
    (void)work(&it->workers[0]);
    wait_for_all(it);
    for (uint32_t i = 1; i < it->count; i++) {
        if (it->workers[i].is_started) {
            (void)pthread_join(it->workers[i].thread, NULL);
        }
    }
}

/* Whether one machine would have come to the same. */
static bool is_sound(const crew *it) {
    if (atomic_load(&it->stops) || atomic_load(&it->steps) > it->machine->max_steps) {
        return false;
    }
    for (uint32_t i = 0; i < it->count; i++) {
        for (uint32_t k = 0; k < i; k++) {
            if (grout_claims__has_conflict(it->workers[i].machine, it->workers[k].machine)) {
                return false;
            }
        }
    }
    return true;
}

static void add_stats(grout_machine *machine, const grout_machine *part) {
    grout_run_stats *sum = &machine->run.stats;
    const grout_run_stats *more = &part->run.stats;
    sum->steps += more->steps;
    sum->work += more->work;
    sum->async_ops += more->async_ops;
    sum->events += more->events;
    sum->ctas_done += more->ctas_done;
    sum->non_finite_made += more->non_finite_made;
    sum->non_finite_follow += more->non_finite_follow;
    machine->heap.peak += part->heap.peak;
}

/* What a worker did becomes the machine's. */
static void join_worker(crew *it, const worker *own) {
    grout_machine *machine = it->machine;
    if (own->machine == NULL) {
        return;
    }
    add_stats(machine, own->machine);
    if (!it->is_interrupted) {
        grout_claims__merge(machine, own->machine);
    }
    for (uint32_t i = 0; i < machine->launch.observer_count; i++) {
        const grout_observer *observer = machine->launch.observers[i];
        machine->run.has_failed |= !observer->join_part(observer->self, own->parts[i]);
    }
}

static bool run_crew(crew *it, grout_run_status *status_out) {
    for (uint32_t i = 0; i < it->count; i++) {
        if (!prepare_worker(it, &it->workers[i])) {
            return false;
        }
    }
    run_all(it);
    for (uint32_t i = 0; i < it->count; i++) {
        const grout_machine *own = it->workers[i].machine;
        it->is_interrupted = it->is_interrupted || (own != NULL && own->is_stopped);
    }
    if (!it->is_interrupted && !is_sound(it)) {
        return false;
    }
    for (uint32_t i = 0; i < it->count; i++) {
        join_worker(it, &it->workers[i]);
    }
    *status_out = it->machine->run.has_failed ? GROUT_RUN_FAILED
                  : it->is_interrupted        ? GROUT_RUN_INTERRUPTED
                                              : GROUT_RUN_DONE;
    it->machine->run.facts.next_cluster = it->clusters;
    return true;
}

bool grout_workers__run(grout_machine *machine, grout_run_status *status_out) {
    if (!is_divisible(machine)) {
        return false;
    }
    const grout_plan *plan = machine->plan;
    crew it = {.machine = machine, .clusters = plan->cta_count / plan->shape.cta_count};
    uint32_t wanted = machine->launch.workers < WORKERS_MAX ? machine->launch.workers : WORKERS_MAX;
    it.count = (int64_t)wanted < it.clusters ? wanted : (uint32_t)it.clusters;
    it.workers = grout__new(machine->launch.allocator, it.count, sizeof *it.workers);
    if (it.workers == NULL) {
        return false;
    }
    (void)pthread_mutex_init(&it.lock, NULL);
    (void)pthread_cond_init(&it.has_ended, NULL);
    bool is_run = run_crew(&it, status_out);
    for (uint32_t i = 0; i < it.count; i++) {
        free_worker(&it, &it.workers[i]);
    }
    (void)pthread_cond_destroy(&it.has_ended);
    (void)pthread_mutex_destroy(&it.lock);
    grout__free(it.workers);
    return is_run;
}
