/*
 * plan_slots.c - registers: each value gets bytes at its definition and gives them back after its
 * last use, so that a thread has registers for the live values only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "planner.h"

#include <string.h>

#define SCALAR_BYTES 16 /* flag, then data at 8 */
#define ARRAY_ALIGN  64 /* flag in the first line, data from the next */

static grout_span *get_span(const grout_region *region, uint32_t index) {
    return grout_pool__at(&region->spans, index);
}

/* Spans are kept in pool entries 1..count-1, sorted; none touches the next. */
static void insert_span(grout_planner *planner, grout_region *region, uint32_t at,
                        grout_span span) {
    if (span.size == 0) {
        return;
    }
    if (grout_pool__take(&region->spans, planner->plan->heap) == 0) {
        planner->failed = true;
        return;
    }
    memmove(get_span(region, at + 1), get_span(region, at),
            (region->spans.count - 1 - at) * sizeof(grout_span));
    *get_span(region, at) = span;
}

static void remove_span(grout_region *region, uint32_t at) {
    memmove(get_span(region, at), get_span(region, at + 1),
            (region->spans.count - 1 - at) * sizeof(grout_span));
    region->spans.count--;
}

/* First fit. The region grows if nothing fits. */
static uint32_t take_bytes(grout_planner *planner, grout_region *region, uint32_t size,
                           uint32_t alignment) {
    for (uint32_t i = 1; i < region->spans.count; i++) {
        grout_span span = *get_span(region, i);
        uint32_t offset = grout_planner__align_up(span.offset, alignment);
        if (offset + size <= span.offset + span.size) {
            remove_span(region, i);
            insert_span(planner, region, i,
                        (grout_span){offset + size, span.offset + span.size - offset - size});
            insert_span(planner, region, i, (grout_span){span.offset, offset - span.offset});
            return offset;
        }
    }
    uint32_t offset = grout_planner__align_up(region->size, alignment);
    if (region->spans.count == 0) {
        region->spans.count = 1; /* entry 0 is never used */
        planner->failed |= !grout_pool__reserve(&region->spans, planner->plan->heap, 16);
    }
    planner->is_too_large |= size > GROUT_PLAN_BYTES_MAX - offset;
    planner->failed |= planner->is_too_large;
    if (planner->failed) {
        return 0;
    }
    insert_span(planner, region, region->spans.count,
                (grout_span){region->size, offset - region->size});
    region->size = offset + size;
    return offset;
}

static void give_bytes(grout_planner *planner, grout_region *region, uint32_t offset,
                       uint32_t size) {
    uint32_t i = 1;
    while (i < region->spans.count && get_span(region, i)->offset < offset) {
        i++;
    }
    if (i > 1 && get_span(region, i - 1)->offset + get_span(region, i - 1)->size == offset) {
        offset = get_span(region, i - 1)->offset;
        size += get_span(region, i - 1)->size;
        remove_span(region, --i);
    }
    if (i < region->spans.count && offset + size == get_span(region, i)->offset) {
        size += get_span(region, i)->size;
        remove_span(region, i);
    }
    insert_span(planner, region, i, (grout_span){offset, size});
}

static uint32_t get_slot_bytes(const grout_planner *planner, const grout_slot *slot) {
    if (!slot->is_array) {
        return SCALAR_BYTES;
    }
    uint32_t mask =
        planner->plan->has_masks ? grout_planner__align_up(slot->count, ARRAY_ALIGN) : 0;
    return ARRAY_ALIGN + grout_planner__align_up(slot->count * slot->element_bytes, ARRAY_ALIGN) +
           mask;
}

static grout_region *get_region(grout_planner *planner, const grout_slot *slot) {
    return slot->is_temporary ? &planner->temporary : &planner->lasting;
}

static grout_slot add_slot(grout_planner *planner, const grout_type *type, bool is_temporary) {
    grout_slot slot = {.dtype = type->dtype,
                       .element_bytes = grout_dtype_get_info(type->dtype)->bytes,
                       .is_array = type->kind == GROUT_TYPE_ARRAY,
                       .is_temporary = is_temporary};
    int64_t count = grout_type_get_count(type);
    if (count > INT32_MAX / 16) {
        planner->failed = true;
        count = 1;
    }
    slot.count = (uint32_t)count;
    uint32_t size = get_slot_bytes(planner, &slot);
    slot.flag = take_bytes(planner, get_region(planner, &slot), size,
                           slot.is_array ? ARRAY_ALIGN : SCALAR_BYTES);
    slot.data = slot.flag + (slot.is_array ? ARRAY_ALIGN : 8);
    slot.mask = slot.data + grout_planner__align_up(slot.count * slot.element_bytes, ARRAY_ALIGN);
    return slot;
}

grout_slot grout_planner__add_slot(grout_planner *planner, const grout_type *type) {
    return add_slot(planner, type, false);
}

void grout_planner__define(grout_planner *planner, grout_value_id value) {
    bool is_temporary = planner->chain_end != 0 && planner->last_use[value] <= planner->chain_end;
    planner->value_slots[value] =
        add_slot(planner, grout_module_get_type(planner->module, value), is_temporary);
}

void grout_planner__expire(grout_planner *planner, uint32_t position) {
    grout_value_id value = planner->expire_first[position], kept = 0;
    while (value != 0) {
        grout_value_id next = planner->expire_next[value];
        const grout_slot *slot = &planner->value_slots[value];
        if (planner->chain_end != 0 && !slot->is_temporary) {
            planner->expire_next[value] = kept; /* later members may still read it */
            kept = value;
        } else if (slot->dtype != GROUT_DTYPE_NONE && !slot->is_constant) {
            give_bytes(planner, get_region(planner, slot), slot->flag,
                       get_slot_bytes(planner, slot));
        }
        value = next;
    }
    planner->expire_first[position] = kept;
}

static void move_slot(grout_slot *slot, uint32_t bytes) {
    if (slot->is_temporary) {
        slot->flag += bytes;
        slot->data += bytes;
        slot->mask += bytes;
    }
}

void grout_planner__place_registers(grout_planner *planner) {
    grout_plan *plan = planner->plan;
    plan->temporary_at = grout_planner__align_up(planner->lasting.size, ARRAY_ALIGN);
    if (planner->temporary.size > GROUT_PLAN_BYTES_MAX - plan->temporary_at) {
        planner->failed = planner->is_too_large = true;
        return;
    }
    plan->register_bytes =
        plan->temporary_at + grout_planner__align_up(planner->temporary.size, ARRAY_ALIGN);
    for (uint32_t i = 1; i < plan->slots.count; i++) {
        move_slot(grout_pool__at(&plan->slots, i), plan->temporary_at);
    }
    for (uint32_t i = 1; i < plan->insts.count; i++) {
        move_slot(&((grout_inst *)grout_pool__at(&plan->insts, i))->result, plan->temporary_at);
    }
}

grout_slot grout_planner__add_constant(grout_planner *planner, grout_dtype dtype, uint64_t bits) {
    grout_pool *pool = &planner->plan->constants;
    uint32_t index = grout_pool__take(pool, planner->plan->heap);
    grout_slot slot = {.dtype = (uint8_t)dtype, .count = 1, .is_constant = true};
    if (index == 0) {
        planner->failed = true;
        return slot;
    }
    slot.element_bytes = grout_dtype_get_info(dtype)->bytes;
    slot.data = index * pool->item_size;
    uint8_t *bytes = grout_pool__at(pool, index);
    for (uint32_t i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)(bits >> (8 * i));
    }
    return slot;
}

grout_slot grout_planner__get_operand(grout_planner *planner, const grout_operand *operand) {
    if (operand->kind == GROUT_OPERAND_EXPR) {
        grout_dtype dtype = grout_module_get_operand_dtype(planner->module, operand);
        dtype = dtype == GROUT_DTYPE_NONE ? GROUT_DTYPE_I32 : dtype;
        grout_expr_value value = grout_module_get_expr_value(planner->module, operand->id);
        return grout_planner__add_constant(planner, dtype, grout_expr_value_to_bits(value, dtype));
    }
    return planner->value_slots[operand->kind == GROUT_OPERAND_VALUE ? operand->id : 0];
}
