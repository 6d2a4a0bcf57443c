/*
 * access.c - the accesses of an instruction, as its effect row lists them, as events.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "access.h"

/* What an access touches: a box or, if they are given, runs of the box's object. */
typedef struct touched {
    const grout_box *box;
    const grout_runs *runs;
} touched;

/* One line of an effect row. */
static void publish_access(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                           const grout_access_plan *plan, touched bytes,
                           const grout_stamp *stamps) {
    grout_machine *machine = cta->machine;
    const grout_box *box = bytes.box;
    grout_clocks clocks;
    grout_event event = grout_cta__event(cta, GROUT_EVENT_ACCESS, thread, inst, &clocks);
    grout_access access = {.object = box->plan->object,
                           .space = box->plan->space,
                           .owner = event.origin.cta - cta->rank + box->rank,
                           .is_write = plan->is_write};
    if (plan->is_atomic) {
        access.is_atomic = true;
        access.atomic_scope =
            inst->reduction != GROUT_UPDATE_NONE ? GROUT_CHOICE_SCOPE_GPU : inst->edge_scope;
        access.atomic_width = box->plan->element_bytes;
    }
    if (plan->is_async && stamps != NULL) {
        access.stamp = stamps[plan->is_write ? 1 : 0];
    } else {
        access.stamp.cluster = clocks.cluster;
        access.stamp.component =
            grout_clock_released(&machine->plan->shape, grout_cta__actor(cta, thread));
        access.stamp.number = clocks.known[access.stamp.component];
    }
    if (bytes.runs != NULL) {
        access.runs = bytes.runs->first;
        access.run_count = bytes.runs->count;
    } else {
        access.runs = grout_box__get_runs(machine, box, &access.run_count);
    }
    if (access.runs == NULL) {
        machine->run.has_failed = true;
        return;
    }
    event.origin.operand = plan->operand;
    event.u.access = &access;
    if (access.run_count > 0) {
        grout_machine__publish(machine, &event);
    }
}

void grout_access__publish_some(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                                const grout_box *boxes, const grout_stamp *stamps, uint32_t which) {
    grout_machine *machine = cta->machine;
    const grout_access_plan *plans = grout_pool__at(&machine->plan->accesses, inst->first_access);
    if (!grout_machine__wants(machine, GROUT_EVENT_ACCESS)) {
        return;
    }
    for (uint32_t i = 0; i < inst->access_count; i++) {
        uint32_t kind = plans[i].is_write ? GROUT_PUBLISH_WRITES : GROUT_PUBLISH_READS;
        if ((which & kind) != 0) {
            const touched bytes = {.box = &boxes[plans[i].box]};
            publish_access(cta, thread, inst, &plans[i], bytes, stamps);
        }
    }
}

void grout_access__publish(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                           const grout_box *boxes, const grout_stamp *stamps) {
    grout_access__publish_some(cta, thread, inst, boxes, stamps,
                               GROUT_PUBLISH_READS | GROUT_PUBLISH_WRITES);
}

void grout_access__publish_runs(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                                const grout_box *box, const grout_runs *runs,
                                const grout_stamp *stamps) {
    grout_machine *machine = cta->machine;
    const grout_access_plan *plans = grout_pool__at(&machine->plan->accesses, inst->first_access);
    for (uint32_t i = 0; i < inst->access_count; i++) {
        if (plans[i].operand == box->plan->operand && runs->count > 0 &&
            grout_machine__wants(machine, GROUT_EVENT_ACCESS)) {
            const touched bytes = {.box = box, .runs = runs};
            publish_access(cta, thread, inst, &plans[i], bytes, stamps);
        }
    }
}

void grout_access__publish_read(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                                const grout_box *box, const grout_stamp *stamp) {
    const grout_access_plan plan = {
        .operand = (uint8_t)box->plan->operand, .is_async = true, .agent = stamp->agent};
    if (grout_machine__wants(cta->machine, GROUT_EVENT_ACCESS)) {
        const touched bytes = {.box = box};
        publish_access(cta, thread, inst, &plan, bytes, stamp);
    }
}
