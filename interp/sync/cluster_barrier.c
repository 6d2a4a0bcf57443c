/*
 * cluster_barrier.c - the hardware barrier of a cluster.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cluster.h"
#include "machine.h"

#include <string.h>

static void wake_cluster(const grout_cta *cta) {
    for (uint32_t rank = 0; rank < grout_machine__cluster_size(cta->machine); rank++) {
        grout_cta__wake(grout_cta__peer(cta, rank), GROUT_THREAD_BLOCKED_CLUSTER, 0);
    }
}

/* A generation is complete when its arrivals are all in. Exited threads count in the next one. */
static void complete_generations(const grout_cta *cta) {
    grout_machine *machine = cta->machine;
    grout_cluster *cluster = grout_cta__cluster(cta);
    uint32_t needed = machine->plan->runner_count * machine->plan->shape.cta_count;
    if (cluster->arrived >= needed && cluster->exited < needed) {
        cluster->generation++;
        cluster->arrived = cluster->exited;
        memset(grout_cta__generation(cta, cluster->generation), 0,
               machine->plan->order.words * sizeof(uint32_t));
        wake_cluster(cta);
    }
}

static void publish_rendezvous(const grout_cta *cta, grout_event_kind kind, uint32_t thread,
                               const grout_inst *inst, uint32_t generation, bool is_relaxed) {
    grout_machine *machine = cta->machine;
    if (grout_machine__wants(machine, kind)) {
        grout_clocks clocks;
        grout_event event = grout_cta__event(cta, kind, thread, inst, &clocks);
        event.u.rendezvous.generation = generation;
        event.u.rendezvous.is_relaxed = is_relaxed;
        grout_machine__publish(machine, &event);
    }
}

bool grout_cluster__arrive(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                           bool is_relaxed) {
    grout_cluster *cluster = grout_cta__cluster(cta);
    grout_thread *own = grout_cta__thread(cta, thread);
    publish_rendezvous(cta, GROUT_EVENT_CLUSTER_ARRIVE, thread, inst, own->cluster_arrives,
                       is_relaxed);
    if (own->cluster_arrives > own->cluster_waits) {
        return false;
    }
    own->cluster_arrives++;
    if (cta->machine->has_clocks) {
        grout_cta__release(cta, thread, grout_cta__generation(cta, cluster->generation),
                           is_relaxed ? GROUT_EDGE_WEAK : GROUT_EDGE_STRONG);
    }
    cluster->arrived++;
    GROUT_ASSERT(own->cluster_arrives == own->cluster_waits + 1);
    complete_generations(cta);
    return true;
}

void grout_cluster__leave(const grout_cta *cta, uint32_t thread) {
    grout_cluster *cluster = grout_cta__cluster(cta);
    const grout_thread *own = grout_cta__thread(cta, thread);
    if (thread < cta->machine->plan->runner_count) {
        cluster->exited++;
        cluster->arrived += own->cluster_arrives > cluster->generation ? 0 : 1;
        complete_generations(cta);
    }
}

bool grout_cluster__wait(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                         bool is_relaxed) {
    grout_machine *machine = cta->machine;
    grout_thread *own = grout_cta__thread(cta, thread);
    uint32_t generation = own->cluster_waits;
    if (grout_cta__cluster(cta)->generation <= generation) {
        grout_cta__block(cta, thread, GROUT_THREAD_BLOCKED_CLUSTER, 0, generation);
        return false;
    }
    publish_rendezvous(cta, GROUT_EVENT_CLUSTER_WAIT, thread, inst, generation, is_relaxed);
    own->cluster_waits++;
    if (machine->has_clocks) {
        grout_machine__carry(machine, grout_cta__clocks(cta, thread),
                             grout_cta__generation(cta, generation),
                             is_relaxed ? GROUT_EDGE_WEAK : GROUT_EDGE_STRONG);
    }
    return true;
}
