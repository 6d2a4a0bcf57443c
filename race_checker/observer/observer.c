/* observer.c - events, each to the file that judges it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "observer.h"

#include "access.h"
#include "deadlock.h"
#include "explain.h"
#include "protocols.h"
#include "unwritten.h"
#include "values.h"
#include "visits.h"

#include "alloc.h"

#include <string.h>

static bool end_cta(grout_checker *checker, const grout_event *event) {
    grout_cta_state *state = grout_checker__find_cta(checker, event->origin.cta);
    return state && grout_checker__scope_end(checker, event) &&
           grout_checker__cta_exit(checker, event, state) && grout_checker__end_cta(checker, state);
}

/* ---- the observer ---- */

void grout_checker__forget_launch(grout_checker *checker) {
    grout_explained__free(checker->cache->explained);
    checker->cache->explained = NULL;
    grout_checker__deinit_state(checker);
    grout__free(checker->element_objects);
    grout__free(checker->element_indices);
    grout__free(checker->homes);
    grout__free(checker->local_plane_sizes);
    grout__free(checker->local_plane_pitches);
    grout__free(checker->wgmma_shapes);
    grout__free(checker->sync_ops);
    grout_pairs__deinit(&checker->pairs);
    grout__free(checker->pasts);
    grout_values__free(checker->values);
}

/* What of the pasts is asked for when the launch is over. */
static bool copy_pasts(grout_checker *checker, const grout_launch_info *info) {
    const grout_kernel *kernel = grout_module_get_kernel(info->module, info->kernel);
    checker->info.pasts = NULL;
    if (info->pasts == NULL) {
        return true;
    }
    checker->pasts =
        grout__new(checker->allocator, kernel->param_count + 1, sizeof *checker->pasts);
    for (uint32_t i = 0; checker->pasts != NULL && i < kernel->param_count; i++) {
        checker->pasts[i] = info->pasts[i];
        checker->pasts[i].undefined = NULL;
    }
    return checker->pasts != NULL;
}

static bool copy_elements(grout_checker *checker, const grout_launch_info *info) {
    uint32_t count = checker->local_elements;
    checker->element_objects =
        grout__new(checker->allocator, count, sizeof *checker->element_objects);
    checker->element_indices =
        grout__new(checker->allocator, count, sizeof *checker->element_indices);
    if (!checker->element_objects || !checker->element_indices) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        checker->element_objects[i] = info->element_objects[i];
        checker->element_indices[i] = info->element_indices[i];
    }
    checker->info.element_objects = checker->element_objects;
    checker->info.element_indices = checker->element_indices;
    return true;
}

static bool begin(void *self, const grout_launch_info *info) {
    grout_checker *checker = self;
    grout_checker kept = *checker;
    grout_checker__forget_launch(checker);
    memset(checker, 0, sizeof *checker);
    checker->observer = kept.observer;
    checker->allocator = kept.allocator;
    checker->diags = kept.diags;
    checker->max_findings = kept.max_findings;
    checker->strict_fences = kept.strict_fences;
    checker->judged = kept.judged;
    checker->cache = kept.cache;
    checker->has_launch = true;
    checker->info = *info;
    checker->shape = info->shape;
    GROUT_ASSERT(info->shape.cta_count > 0 && info->cta_count % info->shape.cta_count == 0);
    GROUT_ASSERT(info->shape.actor_count % info->shape.cta_count == 0 &&
                 info->shape.barrier_count % info->shape.cta_count == 0);
    checker->local_actors = info->shape.actor_count / info->shape.cta_count;
    checker->local_elements = info->shape.barrier_count / info->shape.cta_count;
    checker->memory.findings.module = info->module;
    checker->memory.findings.allocator = checker->allocator;
    checker->pairs.allocator = checker->allocator;
    checker->run.op_threads =
        grout__new(checker->allocator, grout_module_get_op_count(info->module), 1);
    checker->run.undefined_ops =
        grout__new(checker->allocator, grout_module_get_op_count(info->module), 1);
    checker->run.op_count = checker->run.op_threads ? grout_module_get_op_count(info->module) : 0;
    checker->run.undefined_op_count =
        checker->run.undefined_ops ? grout_module_get_op_count(info->module) : 0;
    checker->run.grid_updates =
        grout__new(checker->allocator, grout_module_get_object_count(info->module),
                   sizeof *checker->run.grid_updates);
    checker->run.object_count =
        checker->run.grid_updates ? grout_module_get_object_count(info->module) : 0;
    checker->values = checker->judged ? grout_values__new(checker) : NULL;
    if ((checker->judged && !checker->values) || !checker->run.op_threads ||
        !checker->run.undefined_ops || !checker->run.grid_updates ||
        !copy_elements(checker, info) || !copy_pasts(checker, info) ||
        !grout_checker__place_objects(checker) || !grout_checker__find_shapes(checker) ||
        !grout_checker__number_sync_ops(checker)) {
        return grout_checker__fail(checker);
    }
    return true;
}

/* What a thread did that no rule asks about, and that a report may mention. */
static bool note_event(grout_checker *checker, const grout_event *event) {
    grout_cta_state *state = grout_checker__find_cta(checker, event->origin.cta);
    if (!state) {
        return !checker->has_failed;
    }
    grout_checker__note(checker, event, state);
    return true;
}

/* What the summary, and what judges the whole run, know of each op. */
static void count_event(grout_checker *checker, const grout_event *event) {
    GROUT_ASSERT(event->origin.op < checker->run.op_count);
    if (event->clocks) {
        checker->run.op_threads[event->origin.op] |= (uint8_t)(1u << event->origin.thread);
    }
    checker->run.async_ops += event->kind == GROUT_EVENT_ISSUE;
    if (event->kind == GROUT_EVENT_UNDEFINED) {
        checker->run.undefined_ops[event->origin.op] = 1;
    }
}

/* The operation whose writes are to be compared is over. */
static bool compare_values(grout_checker *checker, const grout_event *event) {
    const grout_values *values = checker->values;
    const bool is_over = values->pairs.count > 0 &&
                         (event->step != values->step || event->kind == GROUT_EVENT_SCOPE_END ||
                          event->kind == GROUT_EVENT_CTA_END);
    return !is_over || grout_values__compare(checker);
}

static bool dispatch(grout_checker *checker, const grout_event *event) {
    switch ((grout_event_kind)event->kind) {
    case GROUT_EVENT_CTA_BEGIN:
        return grout_checker__begin_cta(checker, event->origin.cta) != NULL;
    case GROUT_EVENT_ACCESS:
        return grout_checker__access(checker, event);
    case GROUT_EVENT_ARRIVE:
        return grout_checker__arrive(checker, event);
    case GROUT_EVENT_PHASE:
        return grout_checker__phase(checker, event);
    case GROUT_EVENT_WAIT:
        return grout_checker__wait(checker, event);
    case GROUT_EVENT_COMMIT_SMEM:
    case GROUT_EVENT_COMMIT_GMEM:
        return note_event(checker, event) && grout_checker__note_fence(checker, event);
    case GROUT_EVENT_COMMIT_GROUP:
    case GROUT_EVENT_GROUP_WAIT:
    case GROUT_EVENT_WGMMA_WAIT:
    case GROUT_EVENT_ASYNC_COPY_COMMIT:
    case GROUT_EVENT_ASYNC_COPY_WAIT:
    case GROUT_EVENT_ISSUE:
        return note_event(checker, event);
    case GROUT_EVENT_SCOPE_BEGIN:
        return grout_checker__scope_begin(checker, event);
    case GROUT_EVENT_SCOPE_END:
        return grout_checker__scope_end(checker, event);
    case GROUT_EVENT_BARRIER_END:
        return grout_checker__barrier_end(checker, event);
    case GROUT_EVENT_THREAD_EXIT:
        return grout_checker__thread_exit(checker, event);
    case GROUT_EVENT_CTA_END:
        return end_cta(checker, event);
    case GROUT_EVENT_FAULT:
        return grout_checker__fault(checker, event);
    case GROUT_EVENT_DEADLOCK:
        return grout_checker__deadlock(checker, event);
    case GROUT_EVENT_STEP_LIMIT:
        return grout_checker__step_limit(checker, event);
    case GROUT_EVENT_NAMED_ARRIVE:
    case GROUT_EVENT_NAMED_SYNC:
        return grout_checker__named(checker, event);
    case GROUT_EVENT_CLUSTER_ARRIVE:
    case GROUT_EVENT_CLUSTER_WAIT:
        return grout_checker__rendezvous(checker, event);
    case GROUT_EVENT_SIGNAL:
    case GROUT_EVENT_SEMAPHORE_WAIT:
    case GROUT_EVENT_SEMAPHORE_READ:
        return note_event(checker, event) && grout_checker__semaphore(checker, event);
    case GROUT_EVENT_BARRIER_INIT:
    case GROUT_EVENT_BARRIER_INVALIDATE:
        return grout_checker__init(checker, event);
    case GROUT_EVENT_COLLECTIVE:
        return grout_checker__collective(checker, event);
    case GROUT_EVENT_REGISTERS:
        return grout_checker__registers(checker, event);
    case GROUT_EVENT_UNWRITTEN:
        return grout_checker__note_unwritten(checker, event);
    case GROUT_EVENT_UNDEFINED:
    case GROUT_EVENT_TMEM_WAIT: /* the clocks say what it covers */
    case GROUT_EVENT_GRID_WAIT:
    case GROUT_EVENT_GRID_TRIGGER:
    case GROUT_EVENT_FORK: /* the clocks say what it orders */
    case GROUT_EVENT_JOIN:
    case GROUT_EVENT_COMPLETE:
    case GROUT_EVENT_BLOCK_BARRIER:
    case GROUT_EVENT_TEST_FALSE:
    case GROUT_EVENT_KIND_COUNT:
        break;
    }
    return true;
}

bool grout_checker__observe(void *self, const grout_event *event) {
    grout_checker *checker = self;
    if (checker->values && !compare_values(checker, event)) {
        return false;
    }
    count_event(checker, event);
    return dispatch(checker, event);
}

static bool end(void *self) {
    grout_checker *checker = self;
    return !checker->has_failed && (!checker->values || grout_values__end(checker)) &&
           (!checker->run.op_threads || (grout_checker__withhold_follow_ons(checker) &&
                                         grout_checker__name_divisions(checker)));
}

/* All but what only traces look at. */
static const uint64_t INTEREST =
    ((UINT64_C(1) << GROUT_EVENT_KIND_COUNT) - 1) &
    ~(UINT64_C(1) << GROUT_EVENT_COMPLETE | UINT64_C(1) << GROUT_EVENT_BLOCK_BARRIER);

grout_observer grout_checker__make_observer(grout_checker *checker) {
    return (grout_observer){.self = checker,
                            .interest = INTEREST,
                            .begin = begin,
                            .event = grout_checker__observe,
                            .end = end,
                            .snapshot = grout_checker__snapshot,
                            .restore = grout_checker__restore,
                            .snapshot_free = grout_checker__snapshot_free,
                            .hash = grout_checker__hash,
                            .new_part = grout_checker__new_part,
                            .join_part = grout_checker__join_part,
                            .free_part = grout_checker__free_part};
}
