/* ahead.c - a list of jobs, and the OS threads that do them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ahead.h"

#include "alloc.h"
#include "invariant.h"
#include "wait.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define THREADS_MAX 64
#define JOBS_MAX    512 /* made or wanted; each keeps a trace */

typedef enum job_state {
    JOB_FREE,
    JOB_WANTED, /* nobody has begun */
    JOB_RUNS,
    JOB_DONE /* attempt NULL: it failed */
} job_state;

typedef struct job {
    job_state state;
    uint64_t order; /* of its asking */
    grout_decisions decisions;
    grout_attempt *attempt;
    const grout_observer *parts[GROUT_OBSERVERS_MAX]; /* of the launch's observers */
} job;

/* A thread, with arrays of its own. */
typedef struct helper {
    grout_ahead *ahead;
    pthread_t thread;
    bool is_started;
    grout_launch launch;
    grout_argument *arguments;
    grout_diags *diags;
} helper;

struct grout_ahead {
    const grout_attempts *all;
    helper *helpers;
    uint32_t helper_count;
    job jobs[JOBS_MAX];
    uint64_t asked;
    uint32_t wanted; /* jobs that nobody has begun */
    atomic_bool ends;
    pthread_mutex_t lock; /* of the jobs */
    pthread_cond_t has_job, has_result;
};

/* ---- a helper ------------------------------------------------------------------------------- */

static bool is_written(const grout_launch *launch, size_t index) {
    const grout_kernel *kernel = grout_module_get_kernel(launch->module, launch->kernel);
    uint8_t direction = grout_module_get_param(launch->module, kernel, (uint32_t)index)->direction;
    return grout_direction_is_written(direction);
}

static bool goes_on(void *payload, const grout_progress *progress) {
    const grout_ahead *ahead = payload;
    (void)progress;
    return !atomic_load(&ahead->ends);
}

static bool init_helper(grout_ahead *ahead, helper *own) {
    const grout_launch *launch = ahead->all->launch;
    own->ahead = ahead;
    own->launch = *launch;
    own->launch.progress = goes_on;
    own->launch.payload = ahead;
    own->launch.print = NULL;
    own->diags = grout_diags_new();
    own->arguments =
        grout__new(launch->allocator, launch->argument_count + 1, sizeof *own->arguments);
    own->launch.arguments = own->arguments;
    bool is_good = own->diags != NULL && own->arguments != NULL;
    for (size_t i = 0; is_good && i < launch->argument_count; i++) {
        own->arguments[i] = launch->arguments[i];
        if (is_written(launch, i)) {
            own->arguments[i].data =
                grout__resize(launch->allocator, NULL, launch->arguments[i].size + 1);
            is_good = own->arguments[i].data != NULL;
        }
    }
    return is_good;
}

static void deinit_helper(const grout_ahead *ahead, helper *own) {
    const grout_launch *launch = ahead->all->launch;
    for (size_t i = 0; own->arguments != NULL && i < launch->argument_count; i++) {
        if (is_written(launch, i)) {
            grout__free(own->arguments[i].data);
        }
    }
    grout__free(own->arguments);
    grout_diags_free(own->diags);
}

static void free_parts(const grout_ahead *ahead, job *it) {
    for (uint32_t i = 0; i < GROUT_OBSERVERS_MAX; i++) {
        if (it->parts[i] != NULL) {
            ahead->all->launch->observers[i]->free_part(it->parts[i]);
        }
        it->parts[i] = NULL;
    }
}

static bool add_parts(const grout_launch *launch, job *it, grout_launch *own) {
    for (uint32_t i = 0; i < launch->observer_count; i++) {
        it->parts[i] = launch->observers[i]->new_part(launch->observers[i]->self);
        if (it->parts[i] == NULL) {
            return false;
        }
        own->observers[i] = it->parts[i];
    }
    return true;
}

static grout_attempt *make_attempt(helper *own, job *it) {
    const grout_attempts *all = own->ahead->all;
    grout_launch launch = own->launch;
    grout_attempt *attempt = NULL;
    if (add_parts(all->launch, it, &launch)) {
        attempt = grout_attempt__run(all, &launch, &it->decisions, own->diags);
    }
    if (attempt != NULL && attempt->status == GROUT_RUN_INTERRUPTED) {
        grout_attempt__free(attempt);
        attempt = NULL;
    }
    return attempt;
}

/* The oldest job that nobody has begun. */
static job *find_job(grout_ahead *ahead) {
    job *found = NULL;
    for (uint32_t i = 0; i < JOBS_MAX; i++) {
        job *it = &ahead->jobs[i];
        if (it->state == JOB_WANTED && (found == NULL || it->order < found->order)) {
            found = it;
        }
    }
    return found;
}

static void *work(void *payload) {
    helper *own = payload;
    grout_ahead *ahead = own->ahead;
    (void)pthread_mutex_lock(&ahead->lock);
    while (!atomic_load(&ahead->ends)) {
        job *it = find_job(ahead);
        if (it == NULL) {
            (void)pthread_cond_wait(&ahead->has_job, &ahead->lock);
            continue;
        }
        it->state = JOB_RUNS;
        ahead->wanted--;
        (void)pthread_mutex_unlock(&ahead->lock);
        grout_attempt *attempt = make_attempt(own, it);
        (void)pthread_mutex_lock(&ahead->lock);
        it->attempt = attempt;
        it->state = JOB_DONE;
        (void)pthread_cond_broadcast(&ahead->has_result);
    }
    (void)pthread_mutex_unlock(&ahead->lock);
    return NULL;
}

/* ---- jobs ----------------------------------------------------------------------------------- */

uint32_t grout_ahead__add(grout_ahead *ahead, const grout_decisions *decisions) {
    uint32_t number = 0;
    (void)pthread_mutex_lock(&ahead->lock);
    for (uint32_t i = 0; ahead->wanted < 2 * ahead->helper_count && i < JOBS_MAX; i++) {
        job *it = &ahead->jobs[i];
        if (it->state != JOB_FREE) {
            continue;
        }
        if (grout_decisions__copy(ahead->all->launch->allocator, decisions, &it->decisions)) {
            it->state = JOB_WANTED;
            it->order = ahead->asked++;
            ahead->wanted++;
            number = i + 1;
            (void)pthread_cond_signal(&ahead->has_job);
        }
        break;
    }
    (void)pthread_mutex_unlock(&ahead->lock);
    return number;
}

/* Until a job is done; false: the launch's progress has interrupted it. */
static bool wait_for(grout_ahead *ahead, const job *it) {
    const grout_launch *launch = ahead->all->launch;
    const grout_progress progress = {0};
    bool is_cut = false;
    while (it->state == JOB_RUNS && !is_cut) {
        grout_wait__briefly(&ahead->has_result, &ahead->lock);
        (void)pthread_mutex_unlock(&ahead->lock);
        is_cut = launch->progress != NULL && !launch->progress(launch->payload, &progress);
        (void)pthread_mutex_lock(&ahead->lock);
    }
    return !is_cut;
}

grout_attempt *grout_ahead__take(grout_ahead *ahead, uint32_t number, bool *was_cut_out) {
    const grout_launch *launch = ahead->all->launch;
    GROUT_ASSERT(number > 0 && number <= JOBS_MAX);
    job *it = &ahead->jobs[number - 1];
    grout_attempt *attempt = NULL;
    (void)pthread_mutex_lock(&ahead->lock);
    GROUT_ASSERT(it->state != JOB_FREE);
    *was_cut_out = !wait_for(ahead, it);
    if (!*was_cut_out) {
        ahead->wanted -= it->state == JOB_WANTED ? 1 : 0;
        attempt = it->attempt;
        it->attempt = NULL;
        it->state = JOB_FREE;
        grout_decisions_deinit(&it->decisions);
        for (uint32_t i = 0; attempt != NULL && i < launch->observer_count; i++) {
            const grout_observer *observer = launch->observers[i];
            if (!observer->join_part(observer->self, it->parts[i])) {
                grout_attempt__free(attempt);
                attempt = NULL;
            }
        }
        free_parts(ahead, it);
    }
    (void)pthread_mutex_unlock(&ahead->lock);
    return attempt;
}

/* ---- all of them ---------------------------------------------------------------------------- */

/* A limit of memory is for one machine at a time. */
static bool may_help(const grout_launch *launch) {
    bool may = launch->workers > 1 && launch->max_memory == 0 && !grout_launch_shares_bytes(launch);
    for (uint32_t i = 0; i < launch->observer_count; i++) {
        may &= launch->observers[i]->new_part != NULL;
    }
    return may;
}

static void free_ahead(grout_ahead *ahead) {
    for (uint32_t i = 0; i < ahead->helper_count; i++) {
        deinit_helper(ahead, &ahead->helpers[i]);
    }
    for (uint32_t i = 0; i < JOBS_MAX; i++) {
        grout_attempt__free(ahead->jobs[i].attempt);
        free_parts(ahead, &ahead->jobs[i]);
        grout_decisions_deinit(&ahead->jobs[i].decisions);
    }
    grout__free(ahead->helpers);
    grout__free(ahead);
}

grout_ahead *grout_ahead__new(const grout_attempts *all) {
    const grout_launch *launch = all->launch;
    if (!may_help(launch)) {
        return NULL;
    }
    uint32_t threads = launch->workers < THREADS_MAX ? launch->workers : THREADS_MAX;
    grout_ahead *ahead = grout__new(launch->allocator, 1, sizeof *ahead);
    if (ahead == NULL) {
        return NULL;
    }
    ahead->all = all;
    ahead->helpers = grout__new(launch->allocator, threads - 1, sizeof *ahead->helpers);
    bool is_good = ahead->helpers != NULL;
    for (uint32_t i = 0; is_good && i + 1 < threads; i++) {
        ahead->helper_count++;
        is_good = init_helper(ahead, &ahead->helpers[i]);
    }
    if (!is_good) {
        free_ahead(ahead);
        return NULL;
    }
    (void)pthread_mutex_init(&ahead->lock, NULL);
    (void)pthread_cond_init(&ahead->has_job, NULL);
    (void)pthread_cond_init(&ahead->has_result, NULL);
    for (uint32_t i = 0; i < ahead->helper_count; i++) { /* who does not start does not help */
        helper *own = &ahead->helpers[i];
        own->is_started = pthread_create(&own->thread, NULL, work, own) == 0;
    }
    return ahead;
}

void grout_ahead__free(grout_ahead *ahead) {
    if (ahead == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&ahead->lock);
    atomic_store(&ahead->ends, true);
    (void)pthread_cond_broadcast(&ahead->has_job);
    (void)pthread_mutex_unlock(&ahead->lock);
    for (uint32_t i = 0; i < ahead->helper_count; i++) {
        if (ahead->helpers[i].is_started) {
            (void)pthread_join(ahead->helpers[i].thread, NULL);
        }
    }
    (void)pthread_cond_destroy(&ahead->has_result);
    (void)pthread_cond_destroy(&ahead->has_job);
    (void)pthread_mutex_destroy(&ahead->lock);
    free_ahead(ahead);
}
