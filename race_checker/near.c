/* near.c - the synchronisation that came closest, and why it does not help.
 * SPDX-License-Identifier: Apache-2.0 */
#include "checker.h"

void grout_checker__note(grout_checker *checker, const grout_event *event, grout_cta_state *state) {
    grout_thread_history *thread = &state->threads[event->origin.thread];
    if (event->kind == GROUT_EVENT_COMMIT_SMEM) {
        thread->commit = event->origin;
        thread->commit_epoch =
            event->clocks->known[grout_clock_x(&checker->shape, event->origin.thread)];
    } else if (event->kind == GROUT_EVENT_COMMIT_GROUP) {
        thread->groups_closed = event->u.group.number;
    } else if (event->kind == GROUT_EVENT_GROUP_WAIT) {
        thread->group_wait = event->origin;
        thread->group_allowed = event->u.group.allowed;
        thread->group_read_only = event->u.group.read_only;
        thread->group_closed = thread->groups_closed;
        thread->group_issued = thread->groups_issued;
    } else if (event->kind == GROUT_EVENT_ISSUE) {
        const grout_stamp *read = &event->u.issue->read;
        grout_mechanism mechanism =
            grout_clock__get_mechanism(&checker->shape, read->component, NULL);
        if (mechanism == GROUT_MECHANISM_BULK_READ) {
            thread->groups_issued = read->number;
        } else if (mechanism == GROUT_MECHANISM_WGMMA) {
            grout_checker__note_wgmma(checker, event, thread);
        }
    } else if (event->kind == GROUT_EVENT_WGMMA_WAIT || event->kind == GROUT_EVENT_ARRIVE) {
        grout_checker__note_wgmma(checker, event, thread);
    } else if (event->kind == GROUT_EVENT_WAIT) {
        uint32_t element = event->u.wait.barrier->element;
        thread->wait = event->origin;
        thread->wait_element = element;
        state->waits[event->origin.thread * checker->shape.barrier_count + element] =
            event->u.wait.barrier->waits[event->origin.thread];
    }
}

/* A plain access that was not published to an engine. */
static grout_near find_commit(const grout_cta_state *state, const grout_side *access,
                              const grout_side *issue) {
    const grout_thread_history *owner = &state->threads[access->origin.thread];
    const grout_thread_history *issuer = &state->threads[issue->origin.thread];
    grout_near near = {.kind = GROUT_NEAR_NO_COMMIT};
    if (owner->commit.op) {
        near.origin = owner->commit;
        near.kind = owner->commit_epoch < access->stamp.number ? GROUT_NEAR_COMMIT_BEFORE
                                                               : GROUT_NEAR_COMMIT_OFF_PATH;
    } else if (issuer->commit.op) {
        near.origin = issuer->commit;
        near.kind = GROUT_NEAR_COMMIT_OFF_PATH;
    }
    return near;
}

/* The phase that completes a load, in the life of its barrier; false if that life is over. */
static bool find_phase(const grout_checker *checker, const grout_cta_state *state,
                       const grout_side *load, grout_near *near) {
    const grout_element_state *element = NULL;
    (void)grout_clock__get_mechanism(&checker->shape, load->stamp.component, &near->element);
    element = &state->elements[near->element];
    if (load->stamp.number == GROUT_ENTRY_NEVER_OVER) {
        near->kind = GROUT_NEAR_BARRIER_GONE;
        return false;
    }
    near->phase = load->stamp.number - 1;
    near->phase -= near->phase < element->phase_base ? near->phase : element->phase_base;
    near->is_full = near->phase < element->full;
    return true;
}

/* The destination of a load, used by a thread that does not know that the load is done. */
static grout_near find_wait(const grout_checker *checker, const grout_cta_state *state,
                            const grout_side *access, const grout_side *load) {
    const grout_thread_history *thread = &state->threads[access->origin.thread];
    grout_near near = {.kind = GROUT_NEAR_NEVER_WAITED};
    const grout_wait_fact *fact = NULL;
    if (!find_phase(checker, state, load, &near)) {
        return near;
    }
    fact = &state->waits[access->origin.thread * checker->shape.barrier_count + near.element];
    if (thread->wait.op && thread->wait_element != near.element &&
        checker->info.element_objects[thread->wait_element] ==
            checker->info.element_objects[near.element]) {
        near.kind = GROUT_NEAR_WAIT_ELSEWHERE;
        near.origin = thread->wait;
        near.number = thread->wait_element;
    } else if (fact->waits) {
        near.kind = GROUT_NEAR_WAIT_EARLIER;
        near.origin = fact->origin;
    }
    return near;
}

/* GMEM that a load reads, written by who knows of its issue. */
static grout_near find_reading(const grout_checker *checker, const grout_cta_state *state,
                               const grout_side *load) {
    grout_near near = {.kind = GROUT_NEAR_STILL_READING};
    (void)find_phase(checker, state, load, &near);
    return near;
}

/* Why the thread's latest wait for groups, if any, does not cover its own copy. */
static void find_own_wait(const grout_thread_history *thread, const grout_side *copy,
                          grout_near *near) {
    bool is_after = thread->group_wait.op && thread->group_issued >= copy->stamp.number;
    if (near->is_open) {
        static const grout_origin nowhere;
        near->kind = GROUT_NEAR_GROUP_OPEN;
        near->origin = is_after ? near->origin : nowhere;
    } else if (!thread->group_wait.op) {
        near->kind = GROUT_NEAR_GROUP_NEVER;
    } else if (copy->stamp.number <= thread->group_closed) {
        near->kind = GROUT_NEAR_GROUP_LEFT;
    } else {
        near->kind = is_after ? GROUT_NEAR_GROUP_WAS_OPEN : GROUT_NEAR_GROUP_BEFORE;
    }
}

/* A bulk copy whose group the thread has not waited for as it should. */
static grout_near find_group_wait(const grout_checker *checker, const grout_cta_state *state,
                                  const grout_side *copy, const grout_side *access,
                                  const grout_clocks *clocks) {
    const grout_thread_history *thread = &state->threads[copy->origin.thread];
    grout_near near = {.kind = GROUT_NEAR_GROUP_NEVER};
    uint32_t lane = 0;
    grout_mechanism mechanism =
        grout_clock__get_mechanism(&checker->shape, copy->stamp.component, &lane);
    near.origin = thread->group_wait;
    near.number = thread->group_allowed;
    near.is_open = copy->stamp.number > thread->groups_closed;
    if (copy->origin.thread != access->origin.thread) {
        near.kind = GROUT_NEAR_GROUP_OTHER_THREAD;
        near.origin = state->threads[access->origin.thread].group_wait;
    } else if (mechanism == GROUT_MECHANISM_BULK_WRITE &&
               clocks->known[grout_clock_br(&checker->shape, lane)] >= copy->stamp.number) {
        near.kind = GROUT_NEAR_GROUP_READ_ONLY;
    } else {
        find_own_wait(thread, copy, &near);
    }
    return near;
}

grout_near grout_near__find(const grout_checker *checker, const grout_cta_state *state,
                            grout_diag_code code, const grout_facts *facts,
                            const grout_clocks *clocks) {
    const grout_side *primary = &facts->sides[0];
    const grout_side *related = &facts->sides[1];
    const grout_near nothing = {.kind = GROUT_NEAR_NOTHING};
    if (code == GROUT_DIAG_MISSING_COMMIT_SMEM || code == GROUT_DIAG_MISSING_COMMIT_SMEM_WAR) {
        return find_commit(state, related, primary);
    }
    if (code == GROUT_DIAG_ASYNC_NOT_AWAITED) {
        return find_wait(checker, state, primary, related);
    }
    if (code == GROUT_DIAG_SMEM_SOURCE_REUSE || code == GROUT_DIAG_GMEM_WRITE_NOT_VISIBLE) {
        return find_group_wait(checker, state, related, primary, clocks);
    }
    if (grout_code__is_about_wgmma(code)) {
        return grout_near__find_wgmma(checker, state, facts, clocks);
    }
    if (code == GROUT_DIAG_GMEM_RACE && facts->knows_issue && (related->stamp.agent != GROUT_AGENT_ACTOR) &&
        !related->is_write && !facts->primary_is_earlier) {
        return find_reading(checker, state, related);
    }
    return nothing;
}

grout_near grout_near__find_at_exit(grout_checker *checker, const grout_event *event,
                                    const grout_side *copy) {
    const grout_cta_state *state = grout_checker__find_cta(checker, event->origin.cta);
    const grout_object_id *objects = event->u.scope.objects;
    grout_near near = {.kind = GROUT_NEAR_NOTHING};
    grout_mechanism mechanism =
        grout_clock__get_mechanism(&checker->shape, copy->stamp.component, &near.element);
    bool is_load = mechanism == GROUT_MECHANISM_PHASE;
    if (!state) {
        return near;
    }
    if (mechanism == GROUT_MECHANISM_WGMMA) {
        return grout_near__find_wgmma_at_exit(state, copy);
    }
    if (!is_load) {
        const grout_thread_history *thread = &state->threads[copy->origin.thread];
        near.is_open = copy->stamp.number > thread->groups_closed;
        near.kind = near.is_open ? GROUT_NEAR_GROUP_OPEN : GROUT_NEAR_NOTHING;
    }
    for (uint32_t i = 0; is_load && i < event->u.scope.object_count; i++) {
        if (event->u.scope.is_inner && objects[i] == checker->info.element_objects[near.element]) {
            near.kind = GROUT_NEAR_BARRIER_GONE;
        }
    }
    return near;
}
