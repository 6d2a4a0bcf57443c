/*
 * semaphores.c - whose units a wait takes, and whether that could have been others.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A wait takes the oldest units. It is ambiguous if some signal that neither it nor an earlier wait
 * has taken does not happen after it: that one could have served it. Unless it happens after all
 * those whose units the wait took: then it stands after them in the queue under every schedule.
 * Those signals are in the queue when the wait returns, or come later; a later
 * one is held against the newest wait of each op of an actor alone, since the actor's earlier ones
 * are known with it. Two waits that take units and are in no order compete: which of them gets
 * whose is chance, and no finding. Units of one signal are alike: waits that take nothing else do
 * not compete.
 */
#include "protocols.h"
#include "visits.h"

#include "alloc.h"
#include "hash.h"

#include <string.h>

/* ---- by object, index and CTA ---- */

/* The first semaphores are buckets too, so that a copy of the list is a copy of the table: as many
 * as the largest power of two that there are. */
static uint32_t get_bucket_count(const grout_protocol *protocol) {
    uint32_t count = 1;
    while (count <= protocol->semaphore_count / 2) {
        count *= 2;
    }
    return count;
}

static uint32_t *get_bucket(const grout_protocol *protocol, uint32_t object, uint32_t index,
                            uint32_t cta) {
    uint64_t hash = grout_hash__word(grout_hash__word(object, index), cta);
    uint32_t bucket = grout_hash__index(hash) & (get_bucket_count(protocol) - 1);
    return &protocol->semaphores[bucket].first;
}

static void put(const grout_protocol *protocol, uint32_t at) {
    grout_semaphore_state *it = &protocol->semaphores[at];
    uint32_t *first = get_bucket(protocol, it->object, it->index, it->cta);
    it->next = *first;
    *first = at + 1;
}

/* The newest semaphore comes into the table; all do where there are more buckets now. */
static void put_newest(const grout_protocol *protocol) {
    uint32_t count = protocol->semaphore_count, at = count - 1;
    if (get_bucket_count(protocol) == count) {
        for (uint32_t i = 0; i < count; i++) {
            protocol->semaphores[i].first = 0;
        }
        at = 0;
    }
    for (; at < count; at++) {
        put(protocol, at);
    }
}

static grout_semaphore_state *find_semaphore(grout_checker *checker,
                                             const grout_semaphore_fact *fact) {
    grout_protocol *protocol = &checker->memory.protocol;
    void *list = protocol->semaphores;
    grout_semaphore_state *it = NULL;
    uint32_t at = protocol->semaphore_count == 0
                      ? 0
                      : *get_bucket(protocol, fact->object, fact->index, fact->cta);
    for (; at != 0; at = it->next) {
        it = &protocol->semaphores[at - 1];
        if (it->object == fact->object && it->index == fact->index && it->cta == fact->cta) {
            return it;
        }
    }
    if (!grout_check__reserve(checker->allocator, &list, protocol->semaphore_count,
                              &protocol->semaphore_capacity, sizeof *it)) {
        (void)grout_checker__fail(checker);
        return NULL;
    }
    protocol->semaphores = list;
    it = &protocol->semaphores[protocol->semaphore_count++];
    memset(it, 0, sizeof *it);
    it->object = fact->object;
    it->index = fact->index;
    it->cta = fact->cta;
    put_newest(protocol);
    return it;
}

/* ---- what is known ---- */

/* Whether the actor of the event knows of another one as it was at an epoch. */
static bool knows_epoch(const grout_checker *checker, const grout_event *event, uint32_t cluster,
                        uint32_t actor, uint32_t epoch) {
    const uint32_t *known = event->clocks->cluster == cluster
                                ? event->clocks->known
                                : grout_clocks_find_known(event->clocks, cluster);
    return epoch == 0 || (known && known[grout_clock_epoch(&checker->shape, actor)] >= epoch);
}

/* Whether it knows of the wait. */
static bool knows_wait(const grout_checker *checker, const grout_event *event,
                       const grout_unit_wait *wait) {
    return knows_epoch(checker, event, wait->cluster, wait->actor, wait->epoch);
}

/* Serial number of the oldest signal that it does not know of; UINT32_MAX: there is none. */
static uint32_t find_unknown(const grout_checker *checker, const grout_event *event,
                             const grout_semaphore_state *semaphore) {
    uint32_t unknown = UINT32_MAX;
    for (uint32_t i = 0; i < semaphore->signal_count; i++) {
        const grout_unit_signal *signal = &semaphore->signals[i];
        if (signal->oldest < unknown &&
            !knows_epoch(checker, event, signal->cluster, signal->actor, signal->epoch)) {
            unknown = signal->oldest;
        }
    }
    return unknown;
}

static bool report_ambiguous(grout_checker *checker, const grout_semaphore_state *semaphore,
                             const grout_origin *wait, const grout_origin *signal) {
    const grout_module *module = checker->info.module;
    grout_finding_key key = {.code = GROUT_DIAG_SEMAPHORE_AMBIGUOUS,
                             .severity = grout_diag_get(GROUT_DIAG_SEMAPHORE_AMBIGUOUS)->severity,
                             .primary = grout_origin__get_loc(module, wait),
                             .related = grout_origin__get_loc(module, signal)};
    grout_facts facts;
    memset(&facts, 0, sizeof facts);
    facts.fault.object = semaphore->object;
    facts.element = semaphore->index;
    facts.sides[0].origin = *wait;
    facts.sides[1].origin = *signal;
    facts.side_count = 2;
    return grout_checker__find(checker, &key, &facts);
}

/* ---- signals ---- */

static bool add_signal(grout_checker *checker, const grout_event *event,
                       grout_semaphore_state *semaphore) {
    void *list = semaphore->signals;
    uint32_t actor = grout_checker__get_actor(checker, &event->origin);
    uint32_t unknown = find_unknown(checker, event, semaphore);
    for (uint32_t i = 0; i < semaphore->wait_count; i++) {
        const grout_unit_wait *wait = &semaphore->waits[i];
        if (unknown < wait->end && !knows_wait(checker, event, wait) &&
            !report_ambiguous(checker, semaphore, &wait->origin, &event->origin)) {
            return false;
        }
    }
    if (!grout_check__reserve(checker->allocator, &list, semaphore->signal_count,
                              &semaphore->signal_capacity, sizeof *semaphore->signals)) {
        return grout_checker__fail(checker);
    }
    semaphore->signals = list;
    semaphore->signals[semaphore->signal_count++] = (grout_unit_signal){
        .origin = event->origin,
        .cluster = event->clocks->cluster,
        .actor = actor,
        .epoch = event->clocks->known[grout_clock_epoch(&checker->shape, actor)],
        .serial = event->u.semaphore.serial,
        .oldest = event->u.semaphore.serial,
        .unknown = unknown};
    return true;
}

/* ---- waits ---- */

/* A newer signal of the actor that has been taken too, or NULL. */
static grout_unit_signal *find_newer(const grout_semaphore_state *semaphore,
                                     const grout_unit_signal *signal) {
    for (uint32_t i = 0; i < semaphore->signal_count; i++) {
        grout_unit_signal *newer = &semaphore->signals[i];
        if (newer->serial > signal->serial && newer->serial < semaphore->taken &&
            newer->cluster == signal->cluster && newer->actor == signal->actor) {
            return newer;
        }
    }
    return NULL;
}

/* A clock that knows an actor's newest signal knows those before. */
static void drop_taken(grout_semaphore_state *semaphore) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < semaphore->signal_count; i++) {
        const grout_unit_signal signal = semaphore->signals[i];
        grout_unit_signal *newer =
            signal.serial < semaphore->taken ? find_newer(semaphore, &signal) : NULL;
        if (newer) {
            newer->oldest = newer->oldest < signal.oldest ? newer->oldest : signal.oldest;
        } else {
            semaphore->signals[kept++] = signal;
        }
    }
    semaphore->signal_count = kept;
}

/* Units are taken oldest first, so what is left is newer than all that was taken. Signals that are
 * left could have served the wait too, unless they come after all that it took. */
static bool take_signals(grout_checker *checker, const grout_event *event,
                         grout_semaphore_state *semaphore, uint32_t end) {
    uint32_t taken = semaphore->taken < end ? end : semaphore->taken;
    GROUT_ASSERT(semaphore->signal_count <= semaphore->signal_capacity);
    for (uint32_t i = 0; i < semaphore->signal_count; i++) {
        const grout_unit_signal *signal = &semaphore->signals[i];
        if (signal->serial >= taken && signal->unknown < end &&
            !report_ambiguous(checker, semaphore, &event->origin, &signal->origin)) {
            return false;
        }
    }
    if (!event->u.semaphore.no_decrement && taken > semaphore->taken) {
        semaphore->taken = taken;
        drop_taken(semaphore);
    }
    return true;
}

/*
 * Which of two waits that take units comes first is chance, unless the later one has heard of the
 * other before: what comes with the units that it waits for does not count, since it could have
 * taken the other's. Units of one signal are alike.
 */
static void check_order(grout_checker *checker, const grout_event *event,
                        const grout_semaphore_state *semaphore, const grout_unit_wait *own) {
    const grout_module *module = checker->info.module;
    for (uint32_t i = 0; i < semaphore->wait_count && !own->no_decrement; i++) {
        const grout_unit_wait *other = &semaphore->waits[i];
        bool is_alike =
            own->serial != UINT32_MAX && own->serial == other->serial &&
            knows_epoch(checker, event, other->cluster, other->actor, other->before_epoch);
        if (!other->no_decrement && !is_alike && !knows_wait(checker, event, other)) {
            grout_origin__keep(module, &checker->memory.protocol.competing, &own->origin, -1);
            grout_origin__keep(module, &checker->memory.protocol.competing, &other->origin, -1);
        }
    }
}

static grout_unit_wait make_wait(const grout_checker *checker, const grout_event *event) {
    uint32_t actor = grout_checker__get_actor(checker, &event->origin), end = 0;
    for (uint32_t i = 0; i < event->u.semaphore.serial_count; i++) {
        uint32_t after = event->u.semaphore.serials[i] + 1;
        end = end < after ? after : end;
    }
    return (grout_unit_wait){
        .origin = event->origin,
        .cluster = event->clocks->cluster,
        .actor = actor,
        .epoch = event->clocks->known[grout_clock_epoch(&checker->shape, actor)],
        .serial = event->u.semaphore.serial_count == 1 ? event->u.semaphore.serials[0] : UINT32_MAX,
        .end = end,
        .no_decrement = event->u.semaphore.no_decrement};
}

/* The newest wait of an op takes the place of the one before. */
static bool add_wait(grout_checker *checker, grout_semaphore_state *semaphore,
                     const grout_unit_wait *own) {
    void *list = semaphore->waits;
    for (uint32_t i = 0; i < semaphore->wait_count; i++) {
        grout_unit_wait *other = &semaphore->waits[i];
        if (other->cluster == own->cluster && other->actor == own->actor &&
            other->origin.op == own->origin.op) {
            grout_unit_wait newest = *own;
            newest.before_epoch = other->serial == own->serial ? other->before_epoch : other->epoch;
            *other = newest;
            return true;
        }
    }
    if (!grout_check__reserve(checker->allocator, &list, semaphore->wait_count,
                              &semaphore->wait_capacity, sizeof *semaphore->waits)) {
        return grout_checker__fail(checker);
    }
    semaphore->waits = list;
    semaphore->waits[semaphore->wait_count++] = *own;
    return true;
}

/* Whether one cluster signals what another one waits for, whichever came first. */
static void note_foreign_wait(grout_checker *checker, const grout_event *event,
                              const grout_semaphore_state *semaphore) {
    bool is_signal = event->kind == GROUT_EVENT_SIGNAL, is_foreign = false;
    for (uint32_t i = 0; is_signal && i < semaphore->wait_count; i++) {
        is_foreign |= semaphore->waits[i].cluster != event->clocks->cluster;
    }
    for (uint32_t i = 0; !is_signal && i < semaphore->signal_count; i++) {
        is_foreign |= semaphore->signals[i].cluster != event->clocks->cluster;
    }
    checker->run.has_foreign_wait |= is_foreign;
}

bool grout_checker__semaphore(grout_checker *checker, const grout_event *event) {
    grout_semaphore_state *semaphore = NULL;
    grout_unit_wait own;
    if (event->kind == GROUT_EVENT_SEMAPHORE_READ) {
        return true;
    }
    grout_checker__note_visit(checker, event);
    semaphore = find_semaphore(checker, event->u.semaphore.semaphore);
    if (!semaphore) {
        return false;
    }
    if (checker->info.has_late_clusters && !checker->run.has_foreign_wait) {
        note_foreign_wait(checker, event, semaphore);
    }
    if (event->kind == GROUT_EVENT_SIGNAL) {
        return add_signal(checker, event, semaphore);
    }
    own = make_wait(checker, event);
    check_order(checker, event, semaphore, &own);
    return take_signals(checker, event, semaphore, own.end) && add_wait(checker, semaphore, &own);
}
