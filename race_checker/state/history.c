/*
 * history.c - what actors did that no rule asks about, and that a report may mention.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "history.h"

#include "alloc.h"
#include "checker.h"

#include <string.h>

static uint32_t get_epoch(const grout_checker *checker, const grout_event *event) {
    return event->clocks->known[grout_clock_epoch(
        &checker->shape, grout_checker__get_actor(checker, &event->origin))];
}

/* An arrive or signal that carries no memory facts, or not to everyone. */
static void note_release(const grout_checker *checker, const grout_event *event, uint8_t order,
                         uint8_t scope, grout_thread_history *thread) {
    bool is_relaxed = order == GROUT_CHOICE_ORDER_RELAXED;
    if (is_relaxed || scope == GROUT_CHOICE_SCOPE_CTA || scope == GROUT_CHOICE_SCOPE_CLUSTER) {
        thread->release = event->origin;
        thread->release_epoch = get_epoch(checker, event);
        thread->release_is_relaxed = is_relaxed;
        thread->release_scope = scope;
    }
}

static void add_bulk_wait(grout_checker *checker, const grout_event *event) {
    grout_run_state *run = &checker->run;
    void *list = run->bulk_waits;
    if (!grout_check__reserve(checker->allocator, &list, run->bulk_wait_count,
                              &run->bulk_wait_capacity, sizeof *run->bulk_waits)) {
        (void)grout_checker__fail(checker);
        return;
    }
    run->bulk_waits = list;
    run->bulk_waits[run->bulk_wait_count++] =
        (grout_bulk_wait){.cta = event->origin.cta,
                          .actor = grout_checker__get_local(checker, &event->origin),
                          .epoch = get_epoch(checker, event),
                          .number = event->u.group.number};
}

static void note_group_wait(grout_checker *checker, const grout_event *event,
                            grout_thread_history *thread) {
    thread->group_wait = event->origin;
    thread->group_allowed = event->u.group.allowed;
    thread->group_read_only = event->u.group.read_only;
    thread->group_closed = thread->groups_closed;
    thread->group_issued = thread->groups_issued;
    if (!event->u.group.read_only && thread->bulk_waited < event->u.group.number) {
        thread->bulk_waited = event->u.group.number;
        add_bulk_wait(checker, event);
    }
}

static void note_wgmma(const grout_checker *checker, const grout_event *event,
                       grout_thread_history *thread) {
    if (event->kind == GROUT_EVENT_WGMMA_WAIT) {
        thread->wgmma_wait.origin = event->origin;
        thread->wgmma_wait.allowed = event->u.group.allowed;
        thread->wgmma_wait.issued = thread->wgmma_issued;
    } else if (event->kind == GROUT_EVENT_ISSUE) {
        thread->wgmma_issued = event->u.issue->read.number;
    } else {
        grout_handover *handover =
            &thread->handovers[thread->handover_count++ % GROUT_HANDOVERS_MAX];
        handover->origin = event->origin;
        handover->element = event->u.arrive.element;
        handover->epoch = event->clocks->known[grout_clock_epoch(
            &checker->shape, grout_checker__get_actor(checker, &event->origin))];
        handover->issued = thread->wgmma_issued;
        handover->wait = thread->wgmma_wait;
    }
}

uint32_t grout_checker__get_lane(const grout_checker *checker, const grout_origin *origin) {
    const grout_clock_shape *shape = &checker->shape;
    return grout_clock_lane(shape, grout_checker__get_rank(checker, origin->cta),
                            grout_clock_local_lane(shape, origin->thread, origin->warp));
}

uint32_t grout_checker__count_mmas(const grout_checker *checker, const grout_event *event) {
    const uint32_t lane = grout_checker__get_lane(checker, &event->origin);
    return checker->shape.has_tensor_facts == 0
               ? 0
               : event->clocks->admitted[grout_clock_admitted_issue(&checker->shape, lane)];
}

/* An arrival that MMAs of tcgen05 make later. */
static void note_mma_commit(const grout_checker *checker, const grout_event *event,
                            grout_thread_history *thread) {
    if (event->u.arrive.is_deferred && checker->shape.has_tensor_facts != 0) {
        thread->mma_commit = event->origin;
        thread->mma_commit_element = event->u.arrive.element;
        thread->mma_committed = grout_checker__count_mmas(checker, event);
    }
}

static void note_issue(const grout_checker *checker, const grout_event *event,
                       grout_thread_history *thread) {
    const grout_stamp *read = &event->u.issue->read;
    grout_mechanism mechanism = grout_clock__get_mechanism(&checker->shape, read->component, NULL);
    if (mechanism == GROUT_MECHANISM_BULK_READ) {
        thread->groups_issued = read->number;
    } else if (mechanism == GROUT_MECHANISM_WGMMA) {
        note_wgmma(checker, event, thread);
    }
}

void grout_checker__note(grout_checker *checker, const grout_event *event, grout_cta_state *state) {
    grout_thread_history *thread =
        &state->notes.threads[grout_checker__get_local(checker, &event->origin)];
    GROUT_ASSERT(state->life.is_live && state->life.cta == event->origin.cta);
    switch (event->kind) {
    case GROUT_EVENT_COMMIT_SMEM:
        thread->commit = event->origin;
        thread->commit_epoch = get_epoch(checker, event);
        break;
    case GROUT_EVENT_COMMIT_GMEM:
        thread->gmem_commit = event->origin;
        thread->gmem_commit_epoch = get_epoch(checker, event);
        break;
    case GROUT_EVENT_COMMIT_GROUP:
        thread->groups_closed = event->u.group.number;
        break;
    case GROUT_EVENT_GROUP_WAIT:
        note_group_wait(checker, event, thread);
        break;
    case GROUT_EVENT_ASYNC_COPY_COMMIT:
        thread->copies_closed = event->u.group.number;
        break;
    case GROUT_EVENT_ASYNC_COPY_WAIT:
        thread->copy_wait = event->origin;
        thread->copy_allowed = event->u.group.allowed;
        thread->copy_closed = thread->copies_closed;
        break;
    case GROUT_EVENT_ISSUE:
        note_issue(checker, event, thread);
        break;
    case GROUT_EVENT_WGMMA_WAIT:
        note_wgmma(checker, event, thread);
        break;
    case GROUT_EVENT_ARRIVE:
        note_wgmma(checker, event, thread);
        note_mma_commit(checker, event, thread);
        if (!event->u.arrive.by_copy && !event->u.arrive.is_bytes) {
            note_release(checker, event, event->u.arrive.order, event->u.arrive.scope, thread);
        }
        break;
    case GROUT_EVENT_SIGNAL:
        note_release(checker, event, event->u.semaphore.order, event->u.semaphore.scope, thread);
        break;
    case GROUT_EVENT_CLUSTER_ARRIVE:
        note_release(checker, event,
                     event->u.rendezvous.is_relaxed ? GROUT_CHOICE_ORDER_RELAXED
                                                    : GROUT_CHOICE_ORDER_RELEASE,
                     GROUT_CHOICE_NONE, thread);
        break;
    case GROUT_EVENT_WAIT:
        thread->wait = event->origin;
        thread->wait_element = event->u.wait.barrier->element;
        break;
    default:
        break;
    }
}

const grout_thread_history *grout_checker__get_history(const grout_checker *checker,
                                                       const grout_origin *origin) {
    static const grout_thread_history nothing;
    const grout_cta_state *state = grout_checker__get_cta(checker, origin->cta);
    return state ? &state->notes.threads[grout_checker__get_local(checker, origin)] : &nothing;
}

/* ---- bulk groups ---- */

void grout_checker__drop_waits(grout_checker *checker, const grout_cta_state *state) {
    grout_run_state *run = &checker->run;
    uint32_t kept = 0;
    if (grout_checker__is_heard_of(checker)) {
        return;
    }
    for (uint32_t i = 0; i < run->bulk_wait_count; i++) {
        if (run->bulk_waits[i].cta != state->life.cta) {
            run->bulk_waits[kept++] = run->bulk_waits[i];
        }
    }
    run->bulk_wait_count = kept;
}
