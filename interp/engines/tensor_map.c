/*
 * tensor_map.c - tensor maps that a kernel makes, in their slots of GMEM.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tensor_map.h"
#include "access.h"

#include <string.h>

#define WORDS 16

_Static_assert(sizeof(grout_tensor_map) == WORDS * sizeof(uint64_t), "a slot is filled");

static grout_tensor_map get_identity(const grout_cta *cta, uint32_t thread, grout_op_id maker) {
    return (grout_tensor_map){
        .maker = maker, .cta = grout_cta__head(cta)->index, .actor = grout_cta__actor(cta, thread)};
}

static bool is_same(const grout_tensor_map *a, const grout_tensor_map *b) {
    return a->maker == b->maker && a->cta == b->cta && a->actor == b->actor;
}

void grout_tensor_map__make(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                            const grout_box *slot, bool is_void) {
    grout_tensor_map map = get_identity(cta, thread, inst->op);
    map.is_void = is_void ? 1 : 0;
    grout_box__scatter(cta->machine, slot, &map);
    if (cta->machine->tracks) {
        grout_box__set_written(cta->machine, slot, NULL);
    }
}

void grout_tensor_map__acquire(const grout_cta *cta, uint32_t thread, const grout_box *slot) {
    grout_tensor_map map;
    grout_box__gather(cta->machine, slot, &map);
    const grout_tensor_map own = get_identity(cta, thread, (grout_op_id)map.maker);
    if (map.maker != 0 && is_same(&map, &own)) {
        map.is_acquired = 1;
        grout_box__scatter(cta->machine, slot, &map);
    }
}

static const grout_box_plan *get_slot_plan(const grout_cta *cta, const grout_inst *inst) {
    return grout_pool__at(&cta->machine->plan->boxes, inst->u.copy.map_slot);
}

bool grout_tensor_map__is_void(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                               uint32_t operand) {
    if (inst->u.copy.map_slot == 0) {
        return false;
    }
    const grout_box slot = grout_box__resolve_plan(cta, thread, inst, get_slot_plan(cta, inst));
    if (!slot.is_inside) {
        return true;
    }
    const grout_tensor_map wanted = get_identity(cta, thread, inst->u.copy.map_maker);
    grout_fault fault = {.code = GROUT_DIAG_TENSORMAP_IN_FLIGHT,
                         .object = slot.plan->object,
                         .use = GROUT_MAP_REPLACED};
    grout_tensor_map map;
    grout_box__gather(cta->machine, &slot, &map);
    if (is_same(&map, &wanted) && (map.is_acquired != 0 || map.is_void != 0)) {
        return map.is_void != 0;
    }
    fault.use = is_same(&map, &wanted) ? GROUT_MAP_NOT_ACQUIRED : GROUT_MAP_REPLACED;
    grout_cta__fault(cta, thread, inst, operand, &fault);
    return true;
}

void grout_tensor_map__publish_read(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                                    const grout_stamp *stamp) {
    if (inst->u.copy.map_slot == 0) {
        return;
    }
    const grout_box slot = grout_box__resolve_plan(cta, thread, inst, get_slot_plan(cta, inst));
    grout_stamp read = *stamp;
    read.agent = GROUT_AGENT_GENERIC_ENGINE; /* its own rules order it after the write */
    grout_access__publish_read(cta, thread, inst, &slot, &read);
}
