/*
 * warp.c - what children get from their parent, and give back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "warp.h"

#include "slot_flag.h"

#include <string.h>

grout_children grout_warp__get_warps(const grout_machine *machine, uint32_t thread) {
    return (grout_children){grout_clock_local_actor(&machine->plan->shape, thread, 1), GROUT_WARPS};
}

grout_children grout_warp__get_partitions(uint32_t body_count) {
    return (grout_children){1, body_count > 0 ? body_count - 1 : 0};
}

static void copy_values(const grout_cta *cta, uint32_t parent, uint32_t child,
                        const grout_inst *inst) {
    const grout_move *moves = grout_pool__at(&cta->machine->plan->moves, inst->first_move);
    for (uint32_t i = 0; i < inst->move_count; i++) {
        const grout_slot *slot = &moves[i].from;
        const uint8_t flag = grout_slot__get_flag(cta, parent, slot);
        memcpy(grout_slot__data(cta, child, slot), grout_slot__data(cta, parent, slot),
               (size_t)slot->count * slot->element_bytes);
        if (flag != 0 && slot->is_array) {
            memcpy(grout_slot__mask(cta, child, slot), grout_slot__mask(cta, parent, slot),
                   slot->count);
        }
        grout_slot__set_flag(cta, child, slot, flag);
    }
}

void grout_warp__start(const grout_cta *cta, uint32_t parent, uint32_t child,
                       const grout_inst *inst, uint32_t pc) {
    grout_machine *machine = cta->machine;
    GROUT_ASSERT(grout_cta__thread(cta, child)->state == GROUT_THREAD_IDLE && child != parent);
    grout_thread *own = grout_cta__thread(cta, child);
    copy_values(cta, parent, child, inst);
    memcpy(grout_cta__loops(cta, child), grout_cta__loops(cta, parent),
           inst->loop_depth * sizeof(grout_loop_state));
    own->pc = own->last_pc = pc;
    own->state = GROUT_THREAD_RUNNABLE;
    own->is_released = own->retry = own->stage = 0;
    own->parent_pc = (uint32_t)(inst - grout_plan__inst(machine->plan, 0));
    if (machine->has_clocks) {
        grout_order__seal(&machine->plan->order, grout_cta__clocks(cta, parent));
        grout_machine__carry(machine, grout_cta__clocks(cta, child), grout_cta__clocks(cta, parent),
                             GROUT_EDGE_STRONG);
        grout_order__admit(&machine->plan->order, grout_cta__clocks(cta, child));
        grout_cta__advance(cta, child);
    }
}

bool grout_warp__have_ended(const grout_cta *cta, grout_children children) {
    for (uint32_t i = 0; i < children.count; i++) {
        if (grout_cta__thread(cta, children.first + i)->state != GROUT_THREAD_IDLE) {
            return false;
        }
    }
    return true;
}

void grout_warp__publish(const grout_cta *cta, grout_event_kind kind, uint32_t parent,
                         const grout_inst *inst, grout_children children) {
    grout_machine *machine = cta->machine;
    uint32_t actors[GROUT_THREADS_MAX];
    if (!grout_machine__wants(machine, kind)) {
        return;
    }
    for (uint32_t i = 0; i < children.count; i++) {
        actors[i] = children.first + i;
    }
    grout_clocks clocks;
    grout_event event = grout_cta__event(cta, kind, parent, inst, &clocks);
    event.u.fork.actors = actors;
    event.u.fork.actor_count = children.count;
    grout_machine__publish(machine, &event);
}

void grout_warp__join(const grout_cta *cta, uint32_t parent, grout_children children) {
    grout_machine *machine = cta->machine;
    for (uint32_t i = 0; machine->has_clocks && i < children.count; i++) {
        grout_order__seal(&machine->plan->order, grout_cta__clocks(cta, children.first + i));
        grout_machine__carry(machine, grout_cta__clocks(cta, parent),
                             grout_cta__clocks(cta, children.first + i), GROUT_EDGE_STRONG);
    }
    if (machine->has_clocks) {
        grout_order__admit(&machine->plan->order, grout_cta__clocks(cta, parent));
    }
}
