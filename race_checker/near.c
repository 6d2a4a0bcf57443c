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

/* The destination of a load, used by a thread that does not know that the load is done. */
static grout_near find_wait(const grout_checker *checker, const grout_cta_state *state,
                            const grout_side *access, const grout_side *load) {
    const grout_thread_history *thread = &state->threads[access->origin.thread];
    grout_near near = {.kind = GROUT_NEAR_NEVER_WAITED};
    const grout_wait_fact *fact = NULL;
    (void)grout_clock__get_mechanism(&checker->shape, load->stamp.component, &near.element);
    near.phase = load->stamp.number - 1;
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
    if (copy->origin.thread != access->origin.thread) {
        near.kind = GROUT_NEAR_GROUP_OTHER_THREAD;
        near.origin = state->threads[access->origin.thread].group_wait;
    } else if (mechanism == GROUT_MECHANISM_BULK_WRITE &&
               clocks->known[grout_clock_br(&checker->shape, lane)] >= copy->stamp.number) {
        near.kind = GROUT_NEAR_GROUP_READ_ONLY;
    } else if (thread->group_wait.op) {
        near.kind = copy->stamp.number <= thread->group_closed ? GROUT_NEAR_GROUP_LEFT
                                                               : GROUT_NEAR_GROUP_BEFORE;
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
    return nothing;
}
