/* near.c - the synchronisation that came closest, and why it does not help.
 * SPDX-License-Identifier: Apache-2.0 */
#include "access.h"
#include "cover.h"

#include <string.h>

/* ---- commits ---- */

/* The commit of an actor, up to which of its epochs; op 0: there is none. */
typedef struct last_commit {
    grout_origin origin;
    uint32_t epoch;
} last_commit;

static last_commit get_commit(const grout_checker *checker, const grout_origin *actor,
                              bool is_gmem) {
    const grout_thread_history *it = grout_checker__get_history(checker, actor);
    last_commit commit = {it->commit, it->commit_epoch};
    if (is_gmem) {
        commit = (last_commit){it->gmem_commit, it->gmem_commit_epoch};
    }
    return commit;
}

static bool is_of_cluster(const grout_module *module, const grout_origin *commit) {
    const grout_op *op = grout_module_get_op(module, commit->op);
    return grout_module_find_attr(module, op, GROUT_ATTR_CLUSTER) != NULL;
}

/* Whether a commit_gmem on the way has published the access, of whatever CTA. */
static bool is_published_gmem(const grout_side *access, const grout_clocks *clocks) {
    const uint32_t *clock = grout_clocks_find_gmem(clocks, access->stamp.cluster);
    return clock && clock[access->stamp.component] >= access->stamp.number;
}

/* An access that was not published to an engine. */
static grout_near find_commit(const grout_checker *checker, const grout_facts *facts, bool is_gmem,
                              const grout_clocks *clocks) {
    const grout_side *access = &facts->sides[1];
    last_commit owner = get_commit(checker, &access->origin, is_gmem);
    last_commit issuer = get_commit(checker, &facts->sides[0].origin, is_gmem);
    grout_near near = {.kind = GROUT_NEAR_NO_COMMIT};
    if (is_gmem && is_published_gmem(access, clocks)) {
        bool is_owners = owner.origin.op && owner.epoch >= access->epoch;
        near.kind = GROUT_NEAR_COMMIT_ABROAD;
        near.origin = is_owners ? owner.origin : near.origin;
        return near;
    }
    if (owner.origin.op && access->stamp.agent != GROUT_AGENT_ENGINE) {
        near.origin = owner.origin;
        near.kind =
            owner.epoch < access->epoch ? GROUT_NEAR_COMMIT_BEFORE : GROUT_NEAR_COMMIT_OFF_PATH;
    } else if (issuer.origin.op) {
        near.origin = issuer.origin;
        near.kind = GROUT_NEAR_COMMIT_OFF_PATH;
    }
    if (near.kind == GROUT_NEAR_COMMIT_OFF_PATH && !is_gmem && near.origin.cta != facts->owner &&
        !is_of_cluster(checker->info.module, &near.origin)) {
        near.kind = GROUT_NEAR_COMMIT_OTHER_CTA;
    }
    return near;
}

/* ---- writes that an engine's write hides ---- */

bool grout_checker__is_write_lost(const grout_checker *checker, const grout_entry *copy,
                                  const grout_clocks *clocks) {
    const grout_clock_shape *shape = &checker->shape;
    const uint32_t *known = grout_clocks_find_known(clocks, copy->cluster);
    const uint32_t actor = grout_entry__get_actor(shape, copy);
    const uint32_t local = grout_checker__get_local(checker, &copy->origin);
    for (uint32_t i = 0; known != NULL && i < checker->run.bulk_wait_count; i++) {
        const grout_bulk_wait *wait = &checker->run.bulk_waits[i];
        if (wait->cta == copy->origin.cta && wait->actor == local && wait->number >= copy->number &&
            known[grout_clock_handed(shape, actor)] >= wait->epoch &&
            known[grout_clock_released(shape, actor)] < wait->epoch) {
            return true;
        }
    }
    return false;
}

/* ---- loads ---- */

/* The phase that completes a load, in the life of its barrier; false if that life is over. */
static bool find_phase(const grout_checker *checker, const grout_side *load, grout_near *near) {
    const grout_cta_state *state = NULL;
    const grout_element_state *element = NULL;
    uint32_t cluster_element = 0, rank = 0;
    (void)grout_clock__get_mechanism(&checker->shape, load->stamp.component, &cluster_element);
    rank = cluster_element / checker->local_elements;
    near->element = cluster_element % checker->local_elements;
    near->cta = load->stamp.cluster * checker->shape.cta_count + rank;
    if (load->stamp.number == GROUT_ENTRY_NEVER_OVER) {
        near->kind = GROUT_NEAR_BARRIER_GONE;
        return false;
    }
    near->phase = load->stamp.number - 1;
    state = grout_checker__get_cta(checker, near->cta);
    if (state) {
        element = &state->elements[near->element];
        near->phase -= near->phase < element->phase_base ? near->phase : element->phase_base;
        near->is_full = near->phase < element->facts.full;
    }
    return true;
}

/* The destination of a load, used by an actor that does not know that the load is done. */
static grout_near find_wait(const grout_checker *checker, const grout_side *access,
                            const grout_side *load) {
    const grout_cta_state *state = grout_checker__get_cta(checker, access->origin.cta);
    const grout_thread_history *thread = grout_checker__get_history(checker, &access->origin);
    grout_near near = {.kind = GROUT_NEAR_NEVER_WAITED};
    size_t at = 0;
    if (!find_phase(checker, load, &near) || !state) {
        return near;
    }
    if (near.cta != access->origin.cta) {
        near.kind = GROUT_NEAR_WAIT_ABROAD;
        return near;
    }
    at = (size_t)grout_checker__get_local(checker, &access->origin) * checker->local_elements +
         near.element;
    if (thread->wait.op && thread->wait_element != near.element &&
        checker->info.element_objects[thread->wait_element] ==
            checker->info.element_objects[near.element]) {
        near.kind = GROUT_NEAR_WAIT_ELSEWHERE;
        near.origin = thread->wait;
        near.number = thread->wait_element;
    } else if (thread->wait.op && thread->wait_element == near.element &&
               state->facts.waits[at].waits == 0) {
        near.kind = GROUT_NEAR_WAIT_FRESH;
        near.origin = thread->wait;
    } else if (state->facts.waits[at].waits) {
        near.kind = GROUT_NEAR_WAIT_EARLIER;
        near.origin = state->notes.waits[at];
    }
    return near;
}

/* A cp.async whose group its thread has not waited for as it should, or that is another's. */
static grout_near find_copy_wait(const grout_checker *checker, const grout_side *access,
                                 const grout_side *copy) {
    const grout_thread_history *thread = grout_checker__get_history(checker, &copy->origin);
    grout_near near = {
        .kind = GROUT_NEAR_COPY_LEFT, .origin = thread->copy_wait, .number = thread->copy_allowed};
    near.is_open = copy->stamp.number > thread->copies_closed;
    near.wait_needed = thread->copy_closed - copy->stamp.number;
    near.needed = near.is_open ? 0 : (uint32_t)(thread->copies_closed - copy->stamp.number);
    if (access && !grout_origin__is_same_actor(&access->origin, &copy->origin)) {
        near.kind = GROUT_NEAR_COPY_OTHER_THREAD;
        near.origin = grout_checker__get_history(checker, &access->origin)->copy_wait;
    } else if (near.is_open) {
        near.kind = GROUT_NEAR_COPY_OPEN;
    } else if (!thread->copy_wait.op) {
        near.kind = GROUT_NEAR_COPY_NEVER;
    } else if (copy->stamp.number > thread->copy_closed) {
        near.kind = GROUT_NEAR_COPY_BEFORE;
    }
    return near;
}

static grout_mechanism get_mechanism(const grout_checker *checker, const grout_side *side) {
    return grout_clock__get_mechanism(&checker->shape, side->stamp.component, NULL);
}

static bool is_async_copy(const grout_checker *checker, const grout_side *side) {
    return side->stamp.agent == GROUT_AGENT_GENERIC_ENGINE &&
           get_mechanism(checker, side) == GROUT_MECHANISM_ASYNC_COPY;
}

/* GMEM that a load reads, written by a thread that knows of its issue. */
static grout_near find_reading(const grout_checker *checker, const grout_side *load) {
    grout_near near = {.kind = GROUT_NEAR_STILL_READING};
    if (is_async_copy(checker, load)) {
        return find_copy_wait(checker, NULL, load);
    }
    (void)find_phase(checker, load, &near);
    return near;
}

/* ---- bulk groups ---- */

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
static grout_near find_group_wait(const grout_checker *checker, const grout_side *copy,
                                  const grout_side *access, const grout_clocks *clocks) {
    const grout_thread_history *thread = grout_checker__get_history(checker, &copy->origin);
    const uint32_t *known = grout_clocks_find_known(clocks, copy->stamp.cluster);
    grout_near near = {.kind = GROUT_NEAR_GROUP_NEVER};
    uint32_t lane = 0;
    grout_mechanism mechanism =
        grout_clock__get_mechanism(&checker->shape, copy->stamp.component, &lane);
    near.origin = thread->group_wait;
    near.number = thread->group_allowed;
    near.is_open = copy->stamp.number > thread->groups_closed;
    near.wait_needed = thread->group_closed - copy->stamp.number;
    near.needed = near.is_open ? 0 : (uint32_t)(thread->groups_closed - copy->stamp.number);
    if (!grout_origin__is_same_actor(&copy->origin, &access->origin)) {
        near.kind = GROUT_NEAR_GROUP_OTHER_THREAD;
        near.origin = grout_checker__get_history(checker, &access->origin)->group_wait;
    } else if (mechanism == GROUT_MECHANISM_BULK_WRITE && known &&
               known[grout_clock_bulk_read(&checker->shape, lane)] >= copy->stamp.number) {
        near.kind = GROUT_NEAR_GROUP_READ_ONLY;
    } else {
        find_own_wait(thread, copy, &near);
    }
    return near;
}

/* ---- all of them ---- */

/* An MMA, load or store of tcgen05: what is missing has its own words (explain/tensor_words.c). */
static bool is_of_tensor_memory(const grout_checker *checker, const grout_side *side) {
    const grout_mechanism mechanism = get_mechanism(checker, side);
    return side->stamp.agent != GROUT_AGENT_ACTOR &&
           (mechanism == GROUT_MECHANISM_TCGEN05 || mechanism == GROUT_MECHANISM_TMEM_LOAD ||
            mechanism == GROUT_MECHANISM_TMEM_STORE);
}

/* The commit of another actor of the MMA's CTA that the access waited for last; NULL: none. */
static const grout_thread_history *find_foreign_commit(const grout_checker *checker,
                                                       const grout_side *access,
                                                       const grout_side *mma) {
    const grout_cta_state *state = grout_checker__get_cta(checker, mma->origin.cta);
    const grout_thread_history *waiting = grout_checker__get_history(checker, &access->origin);
    const uint32_t own = grout_checker__get_local(checker, &mma->origin);
    if (!state || !waiting->wait.op || access->origin.cta != mma->origin.cta) {
        return NULL;
    }
    for (uint32_t i = 0; i < checker->local_actors; i++) {
        const grout_thread_history *it = &state->notes.threads[i];
        if (i != own && it->mma_commit.op && it->mma_commit_element == waiting->wait_element) {
            return it;
        }
    }
    return NULL;
}

/* The newest commit of the actor that has issued an MMA, or a copy to tensor memory. */
static grout_near find_own_commit(const grout_checker *checker, const grout_side *mma) {
    const grout_thread_history *own = grout_checker__get_history(checker, &mma->origin);
    grout_near near = {.kind = GROUT_NEAR_NOTHING};
    if (own->mma_commit.op) {
        near.kind = own->mma_committed < mma->stamp.number ? GROUT_NEAR_MMA_COMMIT_BEFORE
                                                           : GROUT_NEAR_MMA_COMMIT_UNSEEN;
        near.origin = own->mma_commit;
        near.element = own->mma_commit_element;
    }
    return near;
}

/* An MMA, or a copy to tensor memory, that no commit is known to have ended. */
static grout_near find_mma_commit(const grout_checker *checker, const grout_side *access,
                                  const grout_side *mma) {
    const grout_thread_history *foreign = find_foreign_commit(checker, access, mma);
    if (foreign) {
        return (grout_near){.kind = GROUT_NEAR_MMA_COMMIT_OTHERS, .origin = foreign->mma_commit};
    }
    return find_own_commit(checker, mma);
}

/* The last wait of the access' thread, if its barrier does not order the tensor core. */
static grout_near find_tensor_wait(const grout_checker *checker, const grout_side *access) {
    const grout_thread_history *thread = grout_checker__get_history(checker, &access->origin);
    grout_near near = {.kind = GROUT_NEAR_NOTHING};
    if (thread->wait.op) {
        const grout_object *barrier = grout_module_get_object(
            checker->info.module, checker->info.element_objects[thread->wait_element]);
        if (!barrier->is_explicit && !barrier->orders_tensor_core) {
            near.kind = GROUT_NEAR_TENSOR_WAIT;
            near.origin = thread->wait;
            near.element = thread->wait_element;
        }
    }
    return near;
}

/* Two plain accesses, and between them a commit that the later actor waited for last. */
static grout_near find_commit_only(const grout_checker *checker, const grout_facts *facts) {
    const grout_side *earlier = &facts->sides[facts->primary_is_earlier ? 0 : 1];
    const grout_side *later = &facts->sides[facts->primary_is_earlier ? 1 : 0];
    const grout_thread_history *own = grout_checker__get_history(checker, &earlier->origin);
    const grout_thread_history *waiting = grout_checker__get_history(checker, &later->origin);
    grout_near near = {.kind = GROUT_NEAR_NOTHING};
    if (earlier->stamp.agent == GROUT_AGENT_ACTOR && own->mma_commit.op && waiting->wait.op &&
        own->mma_commit_element == waiting->wait_element &&
        earlier->origin.cta == later->origin.cta) {
        near.kind = GROUT_NEAR_MMA_COMMIT_ONLY;
        near.origin = own->mma_commit;
    }
    return near;
}

/* Whether edges lead from a write in tensor memory that show it, although its fences go by others.
 */
static bool is_shown(const grout_checker *checker, const grout_side *write,
                     const grout_clocks *clocks) {
    return is_of_tensor_memory(checker, write) &&
           clocks->known[grout_clock_seen(&checker->shape, write->stamp.component)] >=
               write->stamp.number;
}

grout_near grout_near__find(const grout_checker *checker, grout_diag_code code,
                            const grout_facts *facts, const grout_clocks *clocks) {
    const grout_side *primary = &facts->sides[0];
    const grout_side *related = &facts->sides[1];
    const grout_near nothing = {.kind = GROUT_NEAR_NOTHING};
    if (code == GROUT_DIAG_MISSING_COMMIT_SMEM || code == GROUT_DIAG_MISSING_COMMIT_SMEM_WAR ||
        code == GROUT_DIAG_MISSING_COMMIT_GMEM) {
        return find_commit(checker, facts, code == GROUT_DIAG_MISSING_COMMIT_GMEM, clocks);
    }
    if (code == GROUT_DIAG_INSUFFICIENT_SCOPE) {
        grout_near near = grout_near__find_weak_edge(checker, primary, related);
        near.is_shown = is_shown(checker, related, clocks);
        return near;
    }
    if (code == GROUT_DIAG_ASYNC_NOT_AWAITED) {
        return is_async_copy(checker, related) ? find_copy_wait(checker, primary, related)
                                               : find_wait(checker, primary, related);
    }
    if (code == GROUT_DIAG_SMEM_SOURCE_REUSE || code == GROUT_DIAG_GMEM_WRITE_NOT_VISIBLE) {
        return find_group_wait(checker, related, primary, clocks);
    }
    if (code == GROUT_DIAG_TENSORMAP_IN_FLIGHT) {
        const grout_mechanism mechanism = get_mechanism(checker, related);
        return mechanism == GROUT_MECHANISM_BULK_READ
                   ? find_group_wait(checker, related, primary, clocks)
               : mechanism == GROUT_MECHANISM_PHASE ? find_reading(checker, related)
                                                    : nothing;
    }
    if (grout_code__is_about_wgmma(code)) {
        /* An MMA of tcgen05 is waited for by a commit: it has no groups. */
        return get_mechanism(checker, related) == GROUT_MECHANISM_WGMMA
                   ? grout_near__find_wgmma(checker, facts, clocks)
                   : find_mma_commit(checker, primary, related);
    }
    if (code == GROUT_DIAG_TENSOR_CORE_ORDER) {
        return find_tensor_wait(checker, primary);
    }
    if (code == GROUT_DIAG_SMEM_RACE) {
        return find_commit_only(checker, facts);
    }
    if (code == GROUT_DIAG_GMEM_RACE && facts->knows_issue &&
        related->stamp.agent != GROUT_AGENT_ACTOR && !related->is_write &&
        !facts->primary_is_earlier) {
        return find_reading(checker, related);
    }
    return nothing;
}

grout_near grout_near__find_at_exit(grout_checker *checker, const grout_event *event,
                                    const grout_side *copy) {
    const grout_object_id *objects = event->u.scope.objects;
    const grout_thread_history *thread = grout_checker__get_history(checker, &copy->origin);
    grout_near near = {.kind = GROUT_NEAR_NOTHING};
    uint32_t element = 0;
    grout_mechanism mechanism =
        grout_clock__get_mechanism(&checker->shape, copy->stamp.component, &element);
    bool is_load = mechanism == GROUT_MECHANISM_PHASE;
    if (mechanism == GROUT_MECHANISM_WGMMA) {
        return grout_near__find_wgmma_at_exit(checker, copy);
    }
    if (mechanism == GROUT_MECHANISM_ASYNC_COPY) {
        return find_copy_wait(checker, NULL, copy);
    }
    if (is_of_tensor_memory(checker, copy)) {
        return mechanism == GROUT_MECHANISM_TCGEN05 ? find_own_commit(checker, copy) : near;
    }
    if (!is_load) {
        near.is_open = copy->stamp.number > thread->groups_closed;
        near.kind = near.is_open ? GROUT_NEAR_GROUP_OPEN : GROUT_NEAR_NOTHING;
        return near;
    }
    near.element = element % checker->local_elements;
    for (uint32_t i = 0; i < event->u.scope.object_count; i++) {
        if (event->u.scope.is_inner && objects[i] == checker->info.element_objects[near.element]) {
            near.kind = GROUT_NEAR_BARRIER_GONE;
        }
    }
    return near;
}
