/*
 * cluster_barrier.c - the hardware barrier of a cluster.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cluster.h"
#include "generation.h"
#include "machine.h"

#include <string.h>

static void wake_cluster(const grout_cta *cta) {
    for (uint32_t rank = 0; rank < grout_machine__cluster_size(cta->machine); rank++) {
        grout_cta__wake(grout_cta__peer(cta, rank), GROUT_THREAD_BLOCKED_CLUSTER, 0);
    }
}

/* The threads that one comes for: from, as many as count. */
typedef struct party {
    uint32_t from, count;
} party;

static party get_party(const grout_cta *cta, uint32_t thread, bool is_for_all) {
    GROUT_ASSERT(!is_for_all || thread == 0);
    return (party){thread, is_for_all ? cta->machine->plan->shape.thread_count : 1};
}

/* The next generation has nothing yet. */
static void clear_generation(const grout_cta *cta, uint32_t generation) {
    const grout_machine *machine = cta->machine;
    const size_t bytes = machine->plan->order.words * sizeof(uint32_t);
    memset(grout_cta__generation(cta, generation), 0, bytes);
    for (uint32_t rank = 0;
         machine->plan->has_relaxed_meetings && rank < machine->plan->shape.cta_count; rank++) {
        memset(grout_cta__own_generation(grout_cta__peer(cta, rank), generation), 0, bytes);
    }
}

/* A generation is complete when its arrivals are all in. Exited threads count in the next one. */
static void complete_generations(const grout_cta *cta) {
    grout_machine *machine = cta->machine;
    grout_cluster *cluster = grout_cta__cluster(cta);
    uint32_t needed = machine->plan->shape.thread_count * machine->plan->shape.cta_count;
    if (cluster->arrived >= needed && cluster->exited < needed) {
        cluster->generation++;
        cluster->arrived = cluster->exited;
        clear_generation(cta, cluster->generation);
        wake_cluster(cta);
    }
}

static void publish_rendezvous(const grout_cta *cta, grout_event_kind kind, party own,
                               const grout_inst *inst, uint32_t generation, bool is_relaxed) {
    grout_machine *machine = cta->machine;
    if (grout_machine__wants(machine, kind)) {
        grout_clocks clocks;
        grout_event event = grout_cta__event(cta, kind, own.from, inst, &clocks);
        event.u.rendezvous.generation = generation;
        event.u.rendezvous.is_for_all = own.count > 1;
        event.u.rendezvous.is_relaxed = is_relaxed;
        grout_machine__publish(machine, &event);
    }
}

/* Counts the arrivals of those that owe no wait; how many there are. */
static uint32_t count_arrivals(const grout_cta *cta, party own) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < own.count; i++) {
        grout_thread *member = grout_cta__thread(cta, own.from + i);
        if (member->cluster_arrives == member->cluster_waits) {
            member->cluster_arrives++;
            count++;
        }
        GROUT_ASSERT(member->cluster_arrives == member->cluster_waits + 1);
    }
    return count;
}

/* What an arrival leaves in a generation; the thread's epoch advances. */
static void leave_clocks(const grout_cta *cta, uint32_t thread, uint32_t generation,
                         bool is_relaxed) {
    uint32_t *own = grout_cta__own_generation(cta, generation);
    if (own != NULL) {
        grout_machine__carry(cta->machine, own, grout_cta__clocks(cta, thread), GROUT_EDGE_WEAK);
    }
    grout_cta__release(cta, thread, grout_cta__generation(cta, generation),
                       is_relaxed ? GROUT_EDGE_NARROW : GROUT_EDGE_STRONG);
}

static void take_clocks(const grout_cta *cta, uint32_t thread, uint32_t generation,
                        bool is_relaxed) {
    const uint32_t *own = grout_cta__own_generation(cta, generation);
    uint32_t *clocks = grout_cta__clocks(cta, thread);
    if (own != NULL) {
        grout_machine__carry(cta->machine, clocks, own, GROUT_EDGE_WEAK);
    }
    grout_machine__carry(cta->machine, clocks, grout_cta__generation(cta, generation),
                         is_relaxed ? GROUT_EDGE_NARROW : GROUT_EDGE_STRONG);
}

void grout_cluster__arrive(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                           grout_meeting meeting) {
    grout_cluster *cluster = grout_cta__cluster(cta);
    party own = get_party(cta, thread, meeting.is_for_all);
    publish_rendezvous(cta, GROUT_EVENT_CLUSTER_ARRIVE, own, inst,
                       grout_cta__thread(cta, thread)->cluster_arrives, meeting.is_relaxed);
    uint32_t count = count_arrivals(cta, own);
    if (count > 0 && cta->machine->has_clocks) {
        leave_clocks(cta, thread, cluster->generation, meeting.is_relaxed);
    }
    cluster->arrived += count;
    complete_generations(cta);
}

void grout_cluster__leave(const grout_cta *cta, uint32_t thread, bool is_for_all) {
    grout_cluster *cluster = grout_cta__cluster(cta);
    party own = get_party(cta, thread, is_for_all);
    for (uint32_t i = 0; i < own.count; i++) {
        const grout_thread *member = grout_cta__thread(cta, own.from + i);
        cluster->arrived += member->cluster_arrives > cluster->generation ? 0 : 1;
    }
    cluster->exited += own.count;
    complete_generations(cta);
}

bool grout_cluster__owes_wait(const grout_cta *cta, uint32_t thread, bool is_for_all) {
    party own = get_party(cta, thread, is_for_all);
    for (uint32_t i = 0; i < own.count; i++) {
        const grout_thread *member = grout_cta__thread(cta, own.from + i);
        if (member->cluster_arrives > member->cluster_waits) {
            return true;
        }
    }
    return false;
}

/* The last generation that one of them waits for. */
static uint32_t find_generation(const grout_cta *cta, party own) {
    uint32_t generation = 0;
    for (uint32_t i = 0; i < own.count; i++) {
        uint32_t waits = grout_cta__thread(cta, own.from + i)->cluster_waits;
        generation = waits > generation ? waits : generation;
    }
    return generation;
}

bool grout_cluster__wait(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                         grout_meeting meeting) {
    grout_machine *machine = cta->machine;
    party own = get_party(cta, thread, meeting.is_for_all);
    uint32_t generation = find_generation(cta, own);
    if (grout_cta__cluster(cta)->generation <= generation) {
        grout_cta__block(cta, thread, GROUT_THREAD_BLOCKED_CLUSTER, 0, generation);
        return false;
    }
    publish_rendezvous(cta, GROUT_EVENT_CLUSTER_WAIT, own, inst, generation, meeting.is_relaxed);
    for (uint32_t i = 0; i < own.count; i++) {
        grout_cta__thread(cta, own.from + i)->cluster_waits++;
    }
    if (machine->has_clocks) {
        take_clocks(cta, thread, generation, meeting.is_relaxed);
    }
    return true;
}
