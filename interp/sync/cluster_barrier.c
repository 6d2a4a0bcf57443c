/*
 * cluster_barrier.c - the hardware barrier of a cluster.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "machine.h"

#include <string.h>

static void wake_cluster(grout_machine *machine) {
    uint32_t own = machine->rank;
    for (uint32_t rank = 0; rank < machine->plan->shape.cta_count; rank++) {
        grout_machine__select(machine, rank);
        grout_machine__wake(machine, GROUT_THREAD_BLOCKED_CLUSTER, 0);
    }
    grout_machine__select(machine, own);
}

/* Generations whose arrivals are all in are complete; the next one begins with who has exited. */
static void complete_generations(grout_machine *machine) {
    grout_cluster *cluster = grout_machine__cluster(machine);
    uint32_t needed = machine->plan->runner_count * machine->plan->shape.cta_count;
    if (cluster->arrived >= needed && cluster->exited < needed) {
        cluster->generation++;
        cluster->arrived = cluster->exited;
        memset(grout_machine__generation(machine, cluster->generation), 0,
               machine->plan->order.words * sizeof(uint32_t));
        wake_cluster(machine);
    }
}

static void publish_rendezvous(grout_machine *machine, grout_event_kind kind, uint32_t thread,
                               const grout_inst *inst, uint32_t generation, bool is_relaxed) {
    if (grout_machine__wants(machine, kind)) {
        grout_clocks clocks;
        grout_event event = grout_machine__event(machine, kind, thread, inst, &clocks);
        event.u.rendezvous.generation = generation;
        event.u.rendezvous.is_relaxed = is_relaxed;
        grout_machine__publish(machine, &event);
    }
}

bool grout_cluster__arrive(grout_machine *machine, uint32_t thread, const grout_inst *inst,
                           bool is_relaxed) {
    grout_cluster *cluster = grout_machine__cluster(machine);
    grout_thread *own = grout_machine__thread(machine, thread);
    publish_rendezvous(machine, GROUT_EVENT_CLUSTER_ARRIVE, thread, inst, own->cluster_arrives,
                       is_relaxed);
    if (own->cluster_arrives > own->cluster_waits) {
        return false;
    }
    own->cluster_arrives++;
    if (machine->has_clocks) {
        grout_machine__release(machine, thread,
                               grout_machine__generation(machine, cluster->generation),
                               is_relaxed ? GROUT_EDGE_WEAK : GROUT_EDGE_STRONG);
    }
    cluster->arrived++;
    complete_generations(machine);
    return true;
}

void grout_cluster__leave(grout_machine *machine, uint32_t thread) {
    grout_cluster *cluster = grout_machine__cluster(machine);
    const grout_thread *own = grout_machine__thread(machine, thread);
    if (thread < machine->plan->runner_count) {
        cluster->exited++;
        cluster->arrived += own->cluster_arrives > cluster->generation ? 0 : 1;
        complete_generations(machine);
    }
}

bool grout_cluster__wait(grout_machine *machine, uint32_t thread, const grout_inst *inst,
                         bool is_relaxed) {
    grout_thread *own = grout_machine__thread(machine, thread);
    uint32_t generation = own->cluster_waits;
    if (grout_machine__cluster(machine)->generation <= generation) {
        grout_machine__block(machine, thread, GROUT_THREAD_BLOCKED_CLUSTER, 0, generation);
        return false;
    }
    publish_rendezvous(machine, GROUT_EVENT_CLUSTER_WAIT, thread, inst, generation, is_relaxed);
    own->cluster_waits++;
    if (machine->has_clocks) {
        grout_machine__carry(machine, grout_machine__clocks(machine, thread),
                             grout_machine__generation(machine, generation),
                             is_relaxed ? GROUT_EDGE_WEAK : GROUT_EDGE_STRONG);
    }
    return true;
}
