/*
 * issue.c - async copies at their issue: what the engine refuses, what is told, what is marked as
 * written. Nothing here depends on when the copy takes effect.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "issue.h"

#include "barrier.h"
#include "exec.h"
#include "tma.h"
#include "undo.h"
#include "wgmma.h"

#include <string.h>

#define ALIGNMENT      16  /* of the innermost start: docs/hardware.md 2.2 */
#define SMEM_ALIGNMENT 128 /* of the box in SMEM: docs/hardware.md 1.2 */

/* ---- refusals -----------------------------------------------------------------------------------
 */

static bool refuse(grout_machine *machine, uint32_t thread, const grout_inst *inst,
                   const grout_box *box, grout_fault fault) {
    fault.object = box->plan->object;
    fault.start = box->start[fault.dimension];
    fault.extent = box->plan->extent[fault.dimension];
    grout_machine__fault(machine, thread, inst, box->plan->operand, &fault);
    return true;
}

static bool check_gmem(grout_machine *machine, uint32_t thread, const grout_inst *inst,
                       const grout_box *box, bool is_store) {
    uint32_t inner = box->plan->rank - 1u;
    if (box->plan->rank == 0) {
        return false;
    }
    if (is_store && box->start[inner] < 0) {
        grout_fault fault = {
            .code = GROUT_DIAG_OUT_OF_BOUNDS, .dimension = inner, .limit = box->plan->dims[inner]};
        return refuse(machine, thread, inst, box, fault);
    }
    if (box->start[inner] * box->plan->element_bytes % ALIGNMENT != 0) {
        grout_fault fault = {.code = GROUT_DIAG_MISALIGNED, .dimension = inner, .limit = ALIGNMENT};
        return refuse(machine, thread, inst, box, fault);
    }
    return false;
}

static bool check_smem(grout_machine *machine, uint32_t thread, const grout_inst *inst,
                       const grout_box *box) {
    if (!box->is_inside) {
        grout_fault fault = {.code = GROUT_DIAG_OUT_OF_BOUNDS,
                             .dimension = box->outside,
                             .limit = box->plan->dims[box->outside]};
        return refuse(machine, thread, inst, box, fault);
    }
    for (uint32_t dim = 0; dim < box->plan->rank; dim++) {
        if (box->start[dim] % box->plan->tile[dim] != 0) {
            grout_fault fault = {.code = GROUT_DIAG_MISALIGNED,
                                 .dimension = dim,
                                 .limit = box->plan->tile[dim] * box->plan->element_bytes};
            return refuse(machine, thread, inst, box, fault);
        }
    }
    if (box->is_shaped && box->offset % SMEM_ALIGNMENT != 0) {
        uint32_t dim = 0;
        while (box->start[dim] == box->plan->home[dim] ||
               box->plan->weight[dim] % SMEM_ALIGNMENT == 0) {
            dim++;
        }
        grout_fault fault = {
            .code = GROUT_DIAG_MISALIGNED, .dimension = dim, .limit = SMEM_ALIGNMENT};
        return refuse(machine, thread, inst, box, fault);
    }
    return false;
}

/* ---- definedness --------------------------------------------------------------------------------
 */

/* The destination becomes as defined as the source is now, whenever the bytes move. */
static void copy_definedness(grout_machine *machine, uint32_t thread, const grout_inst *inst,
                             const grout_box *boxes) {
    const grout_box *from = &boxes[0], *to = &boxes[1];
    if (grout_box__is_defined(machine, from)) {
        grout_box__set_written(machine, to, NULL);
        return;
    }
    uint8_t *mask = machine->mask_linear;
    memset(mask, 0, (size_t)from->plan->count); /* what lies outside arrives as zeros */
    grout_box__get_undefined(machine, from, mask);
    grout_box__set_written(machine, to, mask);
    if (to->plan->space == GROUT_SPACE_GMEM && grout_box__has_undefined(machine, to, mask)) {
        grout_fault fault = {.code = GROUT_DIAG_UNINITIALISED_READ,
                             .use = GROUT_USE_OUTPUT,
                             .object = to->plan->object};
        grout_machine__fault(machine, thread, inst, 0, &fault);
    }
}

/* ---- telling
 * ------------------------------------------------------------------------------------- */

static void get_stamps(const grout_machine *machine, const grout_async *async, grout_stamp *read,
                       grout_stamp *write) {
    const grout_clock_shape *shape = &machine->plan->shape;
    *read = (grout_stamp){.cluster = grout_machine__cta(machine)->index, .agent = GROUT_AGENT_ENGINE};
    if ((async->flags & GROUT_ASYNC_WGMMA) != 0) {
        read->number = async->group;
        read->component = grout_clock_wg(shape, async->origin.thread);
        *write = *read;
        return;
    }
    if ((async->flags & GROUT_ASYNC_STORE) != 0) {
        read->number = async->group;
        *write = *read;
        read->component = grout_clock_br(shape, async->origin.thread);
        write->component = grout_clock_bw(shape, async->origin.thread);
        return;
    }
    read->component = grout_clock_ph(shape, async->element);
    read->number = grout_machine__barrier(machine, async->element)->phase_base + async->phase + 1;
    *write = *read;
}

void grout_tma__publish_complete(grout_machine *machine, const grout_async *async) {
    const grout_inst *inst = grout_plan__inst(machine->plan, async->pc);
    bool is_wgmma = (async->flags & GROUT_ASYNC_WGMMA) != 0;
    grout_issue issue = {.serial = async->serial,
                         .bytes = is_wgmma ? grout_wgmma__get_bytes(machine, inst)
                                           : grout_plan__box(machine->plan, inst, 1)->bytes};
    grout_event event;
    memset(&event, 0, sizeof event);
    get_stamps(machine, async, &issue.read, &issue.write);
    event.kind = GROUT_EVENT_COMPLETE;
    event.origin = async->origin;
    event.u.issue = &issue;
    grout_machine__publish_cta(machine, &event);
}

void grout_tma__publish_issue(grout_machine *machine, uint32_t thread, const grout_inst *inst,
                              const grout_issue *issue) {
    grout_issue numbered = *issue;
    numbered.serial = grout_machine__cta(machine)->async_serial;
    if (grout_machine__wants(machine, GROUT_EVENT_ISSUE)) {
        grout_clocks clocks;
        grout_event event = grout_machine__event(machine, GROUT_EVENT_ISSUE, thread, inst, &clocks);
        event.u.issue = &numbered;
        grout_machine__publish(machine, &event);
    }
    grout_machine__cta(machine)->async_serial++;
    machine->stats.async_ops++;
}

/* ISSUE, then the accesses of the effect row, unless the engine refuses to make them. */
static void publish_issue(grout_machine *machine, uint32_t thread, const grout_inst *inst,
                          const grout_box *boxes, const grout_async *facts) {
    grout_stamp stamps[2];
    grout_async async = *facts;
    async.origin.thread = (uint8_t)thread;
    get_stamps(machine, &async, &stamps[0], &stamps[1]);
    grout_issue issue = {.bytes = boxes[1].plan->bytes, .read = stamps[0], .write = stamps[1]};
    grout_tma__publish_issue(machine, thread, inst, &issue);
    if ((async.flags & GROUT_ASYNC_VOID) == 0) {
        grout_exec__publish_accesses(machine, thread, inst, boxes, stamps);
    }
}

/* ---- the two copies
 * -------------------------------------------------------------------------------- */

/* The barrier element of a box, or false if its index lies outside. */
static bool find_element(grout_machine *machine, uint32_t thread, const grout_inst *inst,
                         const grout_box *box, uint32_t *element_out) {
    int64_t index = box->plan->rank > 0 ? box->start[0] : 0;
    int64_t count = box->plan->rank > 0 ? box->plan->dims[0] : 1;
    if (index < 0 || index >= count) {
        grout_fault fault = {.code = GROUT_DIAG_OUT_OF_BOUNDS, .limit = count};
        if (grout_machine__thread(machine, thread)->is_retry == 0) {
            refuse(machine, thread, inst, box, fault);
        }
        return false;
    }
    *element_out = box->plan->first_element + (uint32_t)index;
    return true;
}

bool grout_exec__find_element(grout_machine *machine, uint32_t thread, const grout_inst *inst,
                              uint32_t box_index, uint32_t *element_out) {
    grout_box box = grout_box__resolve(machine, thread, inst, box_index);
    return find_element(machine, thread, inst, &box, element_out);
}

void grout_tma__issue_load(grout_machine *machine, uint32_t thread, const grout_inst *inst) {
    grout_box boxes[2] = {grout_box__resolve(machine, thread, inst, 0),
                          grout_box__resolve(machine, thread, inst, 1)};
    grout_load load = {0};
    if (!grout_exec__find_element(machine, thread, inst, 2, &load.element)) {
        return;
    }
    load.is_void = check_gmem(machine, thread, inst, &boxes[0], false);
    load.is_void |= check_smem(machine, thread, inst, &boxes[1]);
    load.phase = grout_barrier__get_phase(machine, load.element);
    grout_async facts = {
        .element = load.element, .phase = load.phase, .flags = load.is_void ? GROUT_ASYNC_VOID : 0};
    publish_issue(machine, thread, inst, boxes, &facts);
    if (machine->tracks && !load.is_void) {
        copy_definedness(machine, thread, inst, boxes);
    } else if (machine->tracks) {
        grout_box__set_written(machine, &boxes[1], NULL);
    }
    if (machine->is_lazy) {
        grout_undo__note_load(machine, inst, 1, &boxes[1]);
    }
    if (machine->is_lazy || load.is_void) {
        grout_box__poison(machine, &boxes[1]);
    }
    grout_arrival arrival = {
        .element = load.element, .count = 1, .by_copy = true, .bytes = boxes[1].plan->bytes};
    load.record = grout_barrier__arrive(machine, thread, inst, &arrival);
    if (load.record != 0) {
        grout_tma__start_load(machine, thread, inst, boxes, &load);
    }
}

void grout_tma__commit_group(grout_machine *machine, uint32_t thread, const grout_inst *inst) {
    grout_thread *owner = grout_machine__thread(machine, thread);
    if (grout_machine__wants(machine, GROUT_EVENT_COMMIT_GROUP)) {
        grout_clocks clocks;
        grout_event event =
            grout_machine__event(machine, GROUT_EVENT_COMMIT_GROUP, thread, inst, &clocks);
        event.u.group.lane = thread;
        event.u.group.number = owner->committed + 1;
        grout_machine__publish(machine, &event);
    }
    owner->committed++;
}

void grout_tma__issue_store(grout_machine *machine, uint32_t thread, const grout_inst *inst) {
    grout_box boxes[2] = {grout_box__resolve(machine, thread, inst, 0),
                          grout_box__resolve(machine, thread, inst, 1)};
    bool is_void = check_gmem(machine, thread, inst, &boxes[1], true);
    is_void |= check_smem(machine, thread, inst, &boxes[0]);
    grout_async facts = {.group = grout_machine__thread(machine, thread)->committed + 1,
                         .flags = GROUT_ASYNC_STORE | (is_void ? (uint32_t)GROUT_ASYNC_VOID : 0)};
    publish_issue(machine, thread, inst, boxes, &facts);
    if (machine->tracks && !is_void) {
        copy_definedness(machine, thread, inst, boxes);
    }
    grout_tma__start_store(machine, thread, inst, boxes, is_void);
    if (!inst->flag) {
        grout_tma__commit_group(machine, thread, inst);
    }
}
