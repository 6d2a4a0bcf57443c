/*
 * exec_cluster.c - the hardware barrier of a cluster, and stores to the SMEM of its other CTAs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "access.h"
#include "async_store.h"
#include "barrier.h"
#include "cluster.h"
#include "engine.h"
#include "exec.h"
#include "mbarrier.h"
#include "undo.h"

#include <string.h>

/* ---- the hardware barrier -----------------------------------------------------------------------
 */

static grout_meeting get_meeting(const grout_inst *inst) {
    return (grout_meeting){.is_relaxed = inst->order == GROUT_CHOICE_ORDER_RELAXED,
                           .is_for_all = inst->is_for_all};
}

grout_outcome grout_exec_cluster_arrive(const grout_cta *cta, uint32_t thread,
                                        const grout_inst *inst) {
    grout_cluster__arrive(cta, thread, inst, get_meeting(inst));
    return GROUT_OUTCOME_NEXT;
}

grout_outcome grout_exec_cluster_wait(const grout_cta *cta, uint32_t thread,
                                      const grout_inst *inst) {
    return grout_cluster__wait(cta, thread, inst, get_meeting(inst)) ? GROUT_OUTCOME_NEXT
                                                                     : GROUT_OUTCOME_BLOCKED;
}

grout_outcome grout_exec_cluster_barrier(const grout_cta *cta, uint32_t thread,
                                         const grout_inst *inst) {
    grout_thread *own = grout_cta__thread(cta, thread);
    if (own->stage == 0) {
        grout_cluster__arrive(cta, thread, inst, get_meeting(inst));
        own->stage = 1;
    }
    if (!grout_cluster__wait(cta, thread, inst, get_meeting(inst))) {
        return GROUT_OUTCOME_BLOCKED;
    }
    own->stage = 0;
    return GROUT_OUTCOME_NEXT;
}

/* ---- async_store_smem ---------------------------------------------------------------------------
 */

static void publish_store(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                          const grout_box *box, const grout_delivery *delivery) {
    grout_machine *machine = cta->machine;
    uint32_t number = box->rank * machine->plan->element_count + delivery->element;
    const grout_stamp stamp = {.cluster = grout_cta__cluster(cta)->index,
                               .component = grout_clock_phase(&machine->plan->shape, number),
                               .number = delivery->phase + 1,
                               .agent = GROUT_AGENT_GENERIC_ENGINE};
    const grout_stamp stamps[2] = {stamp, stamp};
    const grout_issue issue = {.bytes = box->plan->bytes, .read = stamp, .write = stamp};
    grout_flight__publish_issue(cta, thread, inst, &issue);
    if (box->is_inside) {
        grout_access__publish(cta, thread, inst, box, stamps);
    }
}

/* What combines is undefined after it if it was before, or the value is. */
static void combine_definedness(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                                const grout_box *box, const uint8_t *mask) {
    grout_machine *machine = cta->machine;
    if (mask == NULL && grout_box__is_defined(machine, box)) {
        return;
    }
    memset(machine->mask_linear, 0, (size_t)box->plan->count);
    if (mask != NULL) {
        memcpy(machine->mask_linear, mask, (size_t)box->plan->count);
    }
    grout_box__add_undefined(machine, box, machine->mask_linear);
    grout_box__set_written(machine, box, machine->mask_linear);
    grout_cta__publish_plain(cta, GROUT_EVENT_UNDEFINED, thread, inst);
}

static void set_definedness(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                            const grout_box *box) {
    grout_machine *machine = cta->machine;
    const grout_slot *slot = grout_plan__slot(machine->plan, inst, 0);
    const uint8_t *mask = NULL, is_undefined = 1;
    if (grout_slot__is_undefined(cta, thread, slot)) {
        mask = slot->is_array ? grout_slot__mask(cta, thread, slot) : &is_undefined;
    }
    if (inst->reduction == GROUT_UPDATE_NONE) {
        grout_box__set_written(machine, box, mask);
    } else {
        combine_definedness(cta, thread, inst, box, mask);
    }
}

/* Bytes to a peer's barrier, and data beside it; on a 'barrier' they announce themselves. */
grout_outcome grout_exec_async_store_smem(const grout_cta *cta, uint32_t thread,
                                          const grout_inst *inst) {
    grout_machine *machine = cta->machine;
    grout_box box = grout_box__resolve(cta, thread, inst, 0);
    grout_delivery delivery = {.rank = box.rank, .bytes = box.plan->bytes, .is_told = true};
    if (box.is_nowhere || !grout_barrier__find_element(cta, thread, inst, 1, &delivery.element)) {
        return GROUT_OUTCOME_NEXT;
    }
    if (grout_mbarrier__awaits_init(cta, thread, delivery.element, 1u << box.rank)) {
        return GROUT_OUTCOME_BLOCKED;
    }
    (void)grout_box__check_inside(cta, thread, inst, &box);
    delivery.is_armed = !machine->plan->elements[delivery.element].is_explicit;
    delivery.phase = grout_barrier__find_unknown(cta, thread, box.rank, delivery.element);
    publish_store(cta, thread, inst, &box, &delivery);
    if (machine->tracks && box.is_inside) {
        set_definedness(cta, thread, inst, &box);
    }
    if (machine->is_lazy && box.is_inside) {
        grout_undo__note_load(cta, inst, 0, &box);
        if (inst->reduction == GROUT_UPDATE_NONE) {
            grout_box__poison(machine, &box);
        }
    }
    uint32_t record = grout_barrier__deliver(cta, thread, inst, &delivery);
    grout_cta__advance(cta, thread); /* its bytes carry the clock as of now */
    if (record != 0) {
        grout_async_store__start(cta, thread, inst, &box, &delivery, record);
    }
    return GROUT_OUTCOME_NEXT;
}
