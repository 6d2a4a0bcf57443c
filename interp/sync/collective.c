/*
 * collective.c - copies that all CTAs of a set have to issue, and those that some have not issued.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "collective.h"
#include "cluster.h"
#include "generation.h"

#include <string.h>

static grout_collective *get_record(const grout_machine *machine, uint32_t index) {
    return grout_pool__at(&machine->pools[GROUT_POOL_COLLECTIVES], index);
}

static grout_collective_progress *get_progress(const grout_cta *cta, const grout_inst *inst,
                                               uint32_t element) {
    const grout_machine *machine = cta->machine;
    void *all = cta->state + machine->at.collectives;
    return (grout_collective_progress *)all +
           (size_t)inst->u.copy.collective * machine->plan->element_count + element;
}

/* ---- the list of a cluster ------------------------------------------------------------------- */

static uint32_t add_record(const grout_cta *cta, const grout_collective *record) {
    grout_machine *machine = cta->machine;
    grout_cluster *cluster = grout_cta__cluster(cta);
    uint32_t index = grout_pool__take(&machine->pools[GROUT_POOL_COLLECTIVES], &machine->heap);
    if (index == 0) {
        machine->run.has_failed = true;
        return 0;
    }
    *get_record(machine, index) = *record;
    if (cluster->last_collective != 0) {
        get_record(machine, cluster->last_collective)->next = index;
    } else {
        cluster->first_collective = index;
    }
    cluster->last_collective = index;
    return index;
}

static void drop_record(const grout_cta *cta, uint32_t index) {
    grout_machine *machine = cta->machine;
    grout_cluster *cluster = grout_cta__cluster(cta);
    uint32_t next = get_record(machine, index)->next, before = 0;
    for (uint32_t i = cluster->first_collective; i != index;) {
        before = i;
        i = get_record(machine, i)->next;
    }
    if (before != 0) {
        get_record(machine, before)->next = next;
    } else {
        cluster->first_collective = next;
    }
    cluster->last_collective = next == 0 ? before : cluster->last_collective;
    grout_pool__give(&machine->pools[GROUT_POOL_COLLECTIVES], index);
}

/* ---- what makes two copies one --------------------------------------------------------------- */

/* Whether a box of a CTA's memory lies in its array. */
static bool has_bytes(const grout_box_plan *plan, const int64_t *start) {
    bool has = grout_space_is_of_cta(plan->space);
    for (uint32_t dim = 0; dim < plan->rank && has; dim++) {
        has = start[dim] >= 0 && start[dim] + plan->extent[dim] <= plan->dims[dim];
    }
    return has;
}

/* Where in the CTA's memory a byte of the box is; counted in the order of its elements. */
static int64_t find_byte(const grout_box_plan *plan, const int64_t *start, int64_t byte) {
    int64_t index[GROUT_RANK_MAX], element = byte / plan->element_bytes;
    for (uint32_t i = plan->rank; i-- > 0;) {
        const uint32_t dim = plan->order[i];
        index[dim] = start[dim] + element % plan->extent[dim];
        element /= plan->extent[dim];
    }
    return plan->memory_offset + grout_layout_get_offset(plan->layout, index) +
           byte % plan->element_bytes;
}

/* The same of two boxes of arrays with two names: the bytes count. */
static bool has_same_bytes(const grout_box_plan *a, const int64_t *a_start, const grout_box_plan *b,
                           const int64_t *b_start) {
    const int64_t step = a->element_bytes < b->element_bytes ? a->element_bytes : b->element_bytes;
    if (!has_bytes(a, a_start) || !has_bytes(b, b_start) || a->bytes != b->bytes) {
        return false;
    }
    for (int64_t byte = 0; byte < a->bytes; byte += step) {
        if (find_byte(a, a_start, byte) != find_byte(b, b_start, byte)) {
            return false;
        }
    }
    return true;
}

/* Whether two boxes have the same elements in the same order; dimensions of one element have no
 * place in it. */
static bool is_same_box(const grout_box_plan *a, const int64_t *a_start, const grout_box_plan *b,
                        const int64_t *b_start) {
    if (a->object != b->object) {
        return has_same_bytes(a, a_start, b, b_start);
    }
    if (a->rank != b->rank || memcmp(a_start, b_start, a->rank * sizeof *a_start) != 0 ||
        memcmp(a->extent, b->extent, a->rank * sizeof *a->extent) != 0) {
        return false;
    }
    uint32_t i = 0, k = 0;
    for (;;) {
        while (i < a->rank && a->extent[a->order[i]] == 1) {
            i++;
        }
        while (k < b->rank && b->extent[b->order[k]] == 1) {
            k++;
        }
        if (i == a->rank || k == b->rank) {
            return i == a->rank && k == b->rank;
        }
        if (a->order[i++] != b->order[k++]) {
            return false;
        }
    }
}

/* Bytes of the destination that the CTAs share out, again and again to its end; 0: each gets all.
 */
static int64_t get_cut(const grout_machine *machine, const grout_inst *inst) {
    if (inst->u.copy.part_dim < 0) {
        return 0;
    }
    const grout_box_plan *to = grout_plan__box(machine->plan, inst, 1);
    int64_t bytes = to->element_bytes;
    for (int32_t i = 0; i <= inst->u.copy.part_dim; i++) {
        bytes *= to->extent[to->order[to->rank - 1 - (uint32_t)i]];
    }
    return bytes;
}

static grout_divergence compare(const grout_machine *machine, const grout_collective *a,
                                const grout_collective *b) {
    const grout_inst *a_inst = grout_plan__inst(machine->plan, a->pc);
    const grout_inst *b_inst = grout_plan__inst(machine->plan, b->pc);
    if (a_inst->box_count != b_inst->box_count) {
        return GROUT_DIVERGENCE_SOURCE;
    }
    const uint32_t count = a_inst->box_count - 1u; /* without the barrier */
    for (uint32_t i = 0; i < count; i++) {
        if (!is_same_box(grout_plan__box(machine->plan, a_inst, i), a->start[i],
                         grout_plan__box(machine->plan, b_inst, i), b->start[i])) {
            return i + 1 < count ? GROUT_DIVERGENCE_SOURCE : GROUT_DIVERGENCE_DESTINATION;
        }
    }
    if (a->element != b->element) {
        return GROUT_DIVERGENCE_BARRIER;
    }
    return get_cut(machine, a_inst) == get_cut(machine, b_inst) ? GROUT_DIVERGENCE_NONE
                                                                : GROUT_DIVERGENCE_PARTS;
}

/* Whether both are for one phase, as the CTAs of the set count them. */
static bool is_same_phase(const grout_collective *a, const grout_collective *b) {
    return a->mask == b->mask && a->element == b->element && a->number == b->number;
}

/* The record of this copy that the CTA has not issued, or 0. */
static uint32_t find_record(const grout_cta *cta, const grout_collective *copy) {
    uint32_t index = grout_cta__cluster(cta)->first_collective;
    while (index != 0) {
        const grout_collective *record = get_record(cta->machine, index);
        if (is_same_phase(record, copy) && (record->issued >> cta->rank & 1u) == 0 &&
            compare(cta->machine, record, copy) == GROUT_DIVERGENCE_NONE) {
            break;
        }
        index = record->next;
    }
    return index;
}

/* ---- divergence ------------------------------------------------------------------------------ */

/* other_cta has issued the other copy instead, or none. */
static void publish_divergence(const grout_cta *cta, const grout_collective *record,
                               const grout_collective *other, uint32_t other_cta) {
    grout_machine *machine = cta->machine;
    if (!grout_machine__wants(machine, GROUT_EVENT_COLLECTIVE)) {
        return;
    }
    grout_event event;
    memset(&event, 0, sizeof event);
    event.kind = GROUT_EVENT_COLLECTIVE;
    event.step = machine->run.stats.steps;
    event.origin = record->origin;
    event.u.collective.mask = record->mask;
    event.u.collective.other = other == NULL ? 0 : other->origin.op;
    event.u.collective.other_cta = other == NULL ? other_cta : other->origin.cta;
    event.u.collective.divergence =
        (uint8_t)(other == NULL ? GROUT_DIVERGENCE_ENDED : compare(machine, record, other));
    grout_machine__publish(machine, &event);
}

/* What the CTA has issued for the phase of a record that it has no part in, or NULL: a copy that
 * the record's CTAs have no part in either. */
static grout_collective *find_instead(const grout_cta *cta, const grout_collective *record) {
    for (uint32_t i = grout_cta__cluster(cta)->first_collective; i != 0;) {
        grout_collective *other = get_record(cta->machine, i);
        if (is_same_phase(other, record) && (other->issued >> cta->rank & 1u) != 0 &&
            (other->issued & record->issued) == 0) {
            return other;
        }
        i = other->next;
    }
    return NULL;
}

/* The CTA issues nothing more for the phase of a record that it has no part in. Says so where it
 * has issued something else; where it has not, only once it has ended. */
static void judge(const grout_cta *cta, grout_collective *record, bool has_ended) {
    grout_collective *other = find_instead(cta, record);
    if (record->is_told || (other == NULL && !has_ended)) {
        return;
    }
    publish_divergence(cta, record, other, grout_cta__head(cta)->index);
    record->is_told = other != NULL;
    if (other != NULL) {
        other->is_told = true;
    }
}

/* Whether each CTA of the set has gone on to a later phase of the element. */
static bool is_passed(const grout_cta *cta, const grout_inst *inst,
                      const grout_collective *record) {
    for (uint32_t rank = 0; rank < grout_machine__cluster_size(cta->machine); rank++) {
        if ((record->mask >> rank & 1u) != 0 &&
            get_progress(grout_cta__peer(cta, rank), inst, record->element)->phases <=
                record->number + 1) {
            return false;
        }
    }
    return true;
}

/* The CTA goes on to its next phase of an element: judges what it has left out of those before. */
static void leave_phases(const grout_cta *cta, const grout_inst *inst,
                         const grout_collective *copy) {
    for (uint32_t i = grout_cta__cluster(cta)->first_collective; i != 0;) {
        grout_collective *record = get_record(cta->machine, i);
        uint32_t next = record->next;
        if (record->mask == copy->mask && record->element == copy->element &&
            record->number < copy->number) {
            if ((record->issued >> cta->rank & 1u) == 0) {
                judge(cta, record, false);
            }
            if (record->is_told && is_passed(cta, inst, record)) {
                drop_record(cta, i);
            }
        }
        i = next;
    }
}

/* Whether the CTA issues nothing more: it has ended, or all its threads wait to end. */
static bool is_over(const grout_cta *cta) {
    for (uint32_t i = 0; i < cta->machine->plan->runner_count; i++) {
        const grout_thread *thread = grout_cta__thread(cta, i);
        if (thread->state != GROUT_THREAD_EXITED && thread->is_leaving == 0) {
            return grout_cta__head(cta)->has_ended != 0;
        }
    }
    return true;
}

/* CTAs of the set that have ended without the copy. */
static void judge_ended(const grout_cta *cta, grout_collective *record) {
    for (uint32_t rank = 0; rank < grout_machine__cluster_size(cta->machine); rank++) {
        const grout_cta *peer = grout_cta__peer(cta, rank);
        if (((record->mask & ~record->issued) >> rank & 1u) != 0 && is_over(peer)) {
            judge(peer, record, true);
        }
    }
}

void grout_cluster__check_collectives(const grout_cta *cta) {
    for (uint32_t i = grout_cta__cluster(cta)->first_collective; i != 0;) {
        grout_collective *record = get_record(cta->machine, i);
        if (((record->mask & ~record->issued) >> cta->rank & 1u) != 0) {
            judge(cta, record, true);
        }
        i = record->next;
    }
}

void grout_cluster__note_leaving(const grout_cta *cta) {
    if (is_over(cta)) {
        grout_cluster__check_collectives(cta);
    }
}

/* A copy that the same thread of another CTA has issued, each without the other's: they wait for
 * each other. */
static grout_collective *find_crossing(const grout_cta *cta, const grout_collective *record) {
    for (uint32_t i = record->next; i != 0;) {
        grout_collective *other = get_record(cta->machine, i);
        if (other->mask == record->mask && (other->issued & record->issued) == 0 &&
            !other->is_told && other->origin.thread == record->origin.thread &&
            other->origin.warp == record->origin.warp) {
            return other;
        }
        i = other->next;
    }
    return NULL;
}

void grout_cluster__check_crossed(grout_machine *machine) {
    for (const grout_cta *cta = grout_machine__next_cta(machine, NULL); cta != NULL;
         cta = grout_machine__next_cta(machine, cta)) {
        uint32_t index = cta->rank == 0 ? grout_cta__cluster(cta)->first_collective : 0;
        while (index != 0) {
            grout_collective *record = get_record(machine, index);
            grout_collective *other = record->is_told ? NULL : find_crossing(cta, record);
            if (other != NULL && compare(machine, record, other) != GROUT_DIVERGENCE_NONE) {
                publish_divergence(cta, record, other, 0);
                record->is_told = other->is_told = true;
            }
            index = record->next;
        }
    }
}

bool grout_cluster__add_copy_facts(const grout_cta *cta) {
    grout_machine *machine = cta->machine;
    grout_pool *facts = &machine->scratch[GROUT_SCRATCH_COPY_FACTS];
    const uint32_t size = grout_machine__cluster_size(machine);
    for (uint32_t i = grout_cta__cluster(cta)->first_collective; i != 0;) {
        const grout_collective *record = get_record(machine, i);
        if (!grout_pool__reserve(facts, &machine->heap, facts->count + size)) {
            return false;
        }
        for (uint32_t rank = 0; rank < size && !record->is_told; rank++) {
            if (((record->mask & ~record->issued) >> rank & 1u) != 0) {
                *(grout_copy_fact *)grout_pool__at(facts, facts->count++) = (grout_copy_fact){
                    .origin = record->origin,
                    .missing = grout_cta__head(grout_cta__peer(cta, rank))->index};
            }
        }
        i = record->next;
    }
    return true;
}

uint32_t grout_cluster__count_led(const grout_cta *cta, const grout_inst *inst, uint32_t element) {
    return get_progress(cta, inst, element)->copies++;
}

/* ---- issue ----------------------------------------------------------------------------------- */

/* The number of the phase among those with copies of the set; a later one is a new one. */
static uint32_t count_phase(const grout_cta *cta, const grout_inst *inst,
                            const grout_collective_issue *issue) {
    grout_collective_progress *own = get_progress(cta, inst, issue->element);
    if (own->end != issue->phase + 1) {
        own->end = issue->phase + 1;
        own->phases++;
    }
    return own->phases - 1;
}

uint32_t grout_cluster__note_collective(const grout_cta *cta, uint32_t thread,
                                        const grout_inst *inst,
                                        const grout_collective_issue *issue) {
    grout_machine *machine = cta->machine;
    grout_collective copy = {.mask = issue->mask,
                             .element = issue->element,
                             .number = count_phase(cta, inst, issue),
                             .pc = (uint32_t)(inst - grout_plan__inst(machine->plan, 0)),
                             .origin = grout_cta__origin(cta, thread, inst)};
    memcpy(copy.start[0], issue->boxes[0].start, sizeof copy.start[0]);
    memcpy(copy.start[1], issue->boxes[1].start, sizeof copy.start[1]);
    leave_phases(cta, inst, &copy);
    uint32_t index = find_record(cta, &copy);
    index = index == 0 ? add_record(cta, &copy) : index;
    if (index == 0) {
        return copy.number;
    }
    grout_collective *record = get_record(machine, index);
    record->issued |= 1u << cta->rank;
    judge_ended(cta, record);
    if ((record->mask & ~record->issued) == 0) {
        drop_record(cta, index);
    }
    return copy.number;
}

/*
 * A peer that has issued its own copy has said which phase it is for. Where it has not, the phase
 * follows those that have copies of the set. If the actor knows less than that to be complete, the
 * peer may still be in an earlier phase when the bytes come: an overrun.
 */
void grout_cluster__find_phases(const grout_cta *cta, const grout_inst *inst,
                                const grout_collective_issue *issue, uint32_t number,
                                uint32_t *phases) {
    for (uint32_t rank = 0; rank < grout_machine__cluster_size(cta->machine); rank++) {
        if (rank == cta->rank || (issue->mask >> rank & 1u) == 0) {
            continue;
        }
        const grout_collective_progress *peer =
            get_progress(grout_cta__peer(cta, rank), inst, issue->element);
        if (number + 1 == peer->phases) {
            phases[rank] = peer->end - 1;
        } else if (number >= peer->phases) {
            phases[rank] = phases[rank] < peer->end ? peer->end : phases[rank];
            phases[rank] += number - peer->phases;
        }
    }
}

uint64_t grout_cluster__hash(const grout_cta *cta, uint64_t hash) {
    const grout_machine *machine = cta->machine;
    const grout_cluster *cluster = grout_cta__cluster(cta);
    if (cta->rank != 0) {
        return hash;
    }
    hash = GROUT_HASH_FACTS(hash, cluster, grout_cluster, index);
    for (uint32_t i = cluster->first_collective; i != 0;) {
        const grout_collective *record = get_record(machine, i);
        hash = GROUT_HASH_FACTS(hash, record, grout_collective, mask);
        i = record->next;
    }
    return grout_foreign__hash_sets(machine, hash, grout_cta__generation(cta, 0),
                                    grout_machine__generation_sets(machine));
}
