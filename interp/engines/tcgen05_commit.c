/*
 * tcgen05_commit.c - arrivals that the tensor core makes when the operations of a lane are done.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "barrier.h"
#include "engine.h"
#include "tcgen05.h"

/* An arrival that waits for MMAs, in flight to the barrier of a CTA. */
static void start_commit(const grout_cta *cta, uint32_t actor, const grout_inst *inst,
                         const grout_arrival *arrival, uint32_t record) {
    const uint32_t index =
        grout_flight__add(cta, actor, inst, GROUT_ENGINE_TCGEN05_COMMIT, cta->rank);
    if (index != 0) {
        grout_flight *flight = grout_flight__get(cta->machine, index);
        flight->is_part = true;
        flight->group = arrival->mmas;
        flight->phase.bytes = arrival->bytes;
        grout_flight__attach(grout_cta__peer(cta, arrival->rank), arrival->element, record, index);
    }
}

/* All MMAs of the lane up to the commit. */
void grout_engine__land_tcgen05_commit(const grout_cta *cta, uint32_t index) {
    const grout_flight *flight = grout_flight__get(cta->machine, index);
    grout_flight__finish_groups(cta, GROUT_ENGINE_TCGEN05,
                                grout_machine__lane_of(cta->machine, flight->actor), flight->group);
}

int64_t grout_engine__bytes_tcgen05_commit(const grout_machine *machine, const grout_inst *inst) {
    (void)machine;
    (void)inst;
    return 0;
}

void grout_engine__stamps_tcgen05_commit(const grout_cta *cta, const grout_flight *flight,
                                         grout_stamp *read_out, grout_stamp *write_out) {
    grout_engine__stamps_tcgen05(cta, flight, read_out, write_out);
}

/* The arrival counts for the phase that is open now. The phase stays open until the MMAs are done:
 * it waits for one byte, which the last of them brings. A commit has a number in the queue too: an
 * actor that knows a later one to be over knows its arrivals; one that has heard of a single
 * arrival does not know the others. */
void grout_tcgen05__commit(const grout_cta *cta, uint32_t actor, const grout_inst *inst,
                           uint32_t element, uint32_t ranks) {
    const grout_machine *machine = cta->machine;
    const uint32_t lane = grout_machine__lane_of(machine, actor);
    uint32_t records[GROUT_CLUSTER_MAX];
    const uint32_t number = ++grout_cta__lane(cta, lane)->mmas;
    grout_tcgen05__note_issue(cta, actor, lane, number);
    grout_arrival arrival = {.rank = cta->rank,
                             .element = element,
                             .count = 1,
                             .is_deferred = true,
                             .bytes = 1,
                             .order = inst->order,
                             .scope = inst->edge_scope,
                             .is_tensor = true,
                             .lane = cta->lane_base + lane,
                             .mmas = number};
    grout_barrier__arrive_all(cta, actor, inst, &arrival, ranks, records);
    for (uint32_t rank = 0; rank < machine->plan->shape.cta_count; rank++) {
        arrival.rank = rank;
        if (records[rank] != 0 && machine->is_lazy) {
            start_commit(cta, actor, inst, &arrival, records[rank]);
        } else if (records[rank] != 0) {
            grout_barrier__land(grout_cta__peer(cta, rank), element, records[rank], arrival.bytes);
        }
    }
}
