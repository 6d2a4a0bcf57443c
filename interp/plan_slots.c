/*
 * plan_slots.c - registers: each value gets bytes at its definition and gives them back after its
 * last use, so that the registers of a thread hold what is alive at once and not more.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "planner.h"

#include <string.h>

#define SCALAR_BYTES 16 /* flag, then data at 8 */
#define ARRAY_ALIGN  64 /* flag in the first line, data from the next */

static grout_span *get_span(grout_planner *planner, uint32_t index) {
    return grout_pool__at(&planner->spans, index);
}

static uint32_t align_up(uint32_t value, uint32_t alignment) {
    return (value + alignment - 1) / alignment * alignment;
}

/* Spans are kept in pool entries 1..count-1, sorted; none touches the next. */
static void insert_span(grout_planner *planner, uint32_t at, grout_span span) {
    if (span.size == 0) {
        return;
    }
    if (grout_pool__take(&planner->spans, planner->plan->heap) == 0) {
        planner->failed = true;
        return;
    }
    memmove(get_span(planner, at + 1), get_span(planner, at),
            (planner->spans.count - 1 - at) * sizeof(grout_span));
    *get_span(planner, at) = span;
}

static void remove_span(grout_planner *planner, uint32_t at) {
    memmove(get_span(planner, at), get_span(planner, at + 1),
            (planner->spans.count - 1 - at) * sizeof(grout_span));
    planner->spans.count--;
}

/* First fit. The registers grow by what does not fit. */
static uint32_t take_bytes(grout_planner *planner, uint32_t size, uint32_t alignment) {
    grout_plan *plan = planner->plan;
    for (uint32_t i = 1; i < planner->spans.count; i++) {
        grout_span span = *get_span(planner, i);
        uint32_t offset = align_up(span.offset, alignment);
        if (offset + size <= span.offset + span.size) {
            remove_span(planner, i);
            insert_span(planner, i,
                        (grout_span){offset + size, span.offset + span.size - offset - size});
            insert_span(planner, i, (grout_span){span.offset, offset - span.offset});
            return offset;
        }
    }
    uint32_t offset = align_up(plan->register_bytes, alignment);
    if (planner->spans.count == 0) {
        planner->spans.count = 1; /* entry 0 is never used */
        planner->failed |= !grout_pool__reserve(&planner->spans, plan->heap, 16);
    }
    if (planner->failed || size > UINT32_MAX / 2 - offset) {
        planner->failed = true;
        return 0;
    }
    insert_span(planner, planner->spans.count,
                (grout_span){plan->register_bytes, offset - plan->register_bytes});
    plan->register_bytes = offset + size;
    return offset;
}

static void give_bytes(grout_planner *planner, uint32_t offset, uint32_t size) {
    uint32_t i = 1;
    while (i < planner->spans.count && get_span(planner, i)->offset < offset) {
        i++;
    }
    if (i > 1 && get_span(planner, i - 1)->offset + get_span(planner, i - 1)->size == offset) {
        offset = get_span(planner, i - 1)->offset;
        size += get_span(planner, i - 1)->size;
        remove_span(planner, --i);
    }
    if (i < planner->spans.count && offset + size == get_span(planner, i)->offset) {
        size += get_span(planner, i)->size;
        remove_span(planner, i);
    }
    insert_span(planner, i, (grout_span){offset, size});
}

static uint32_t get_slot_bytes(const grout_planner *planner, const grout_slot *slot) {
    if (!slot->is_array) {
        return SCALAR_BYTES;
    }
    uint32_t mask = planner->plan->has_masks ? align_up(slot->count, ARRAY_ALIGN) : 0;
    return ARRAY_ALIGN + align_up(slot->count * slot->element_bytes, ARRAY_ALIGN) + mask;
}

grout_slot grout_planner__add_slot(grout_planner *planner, const grout_type *type) {
    grout_slot slot = {.dtype = type->dtype,
                       .element_bytes = grout_dtype_get_info(type->dtype)->bytes,
                       .is_array = type->kind == GROUT_TYPE_ARRAY};
    int64_t count = grout_type_get_count(type);
    if (count > INT32_MAX / 16) {
        planner->failed = true;
        count = 1;
    }
    slot.count = (uint32_t)count;
    uint32_t size = get_slot_bytes(planner, &slot);
    slot.flag = take_bytes(planner, size, slot.is_array ? ARRAY_ALIGN : SCALAR_BYTES);
    slot.data = slot.flag + (slot.is_array ? ARRAY_ALIGN : 8);
    slot.mask = slot.data + align_up(slot.count * slot.element_bytes, ARRAY_ALIGN);
    return slot;
}

void grout_planner__define(grout_planner *planner, grout_value_id value) {
    planner->value_slots[value] =
        grout_planner__add_slot(planner, grout_module_get_type(planner->module, value));
}

void grout_planner__expire(grout_planner *planner, uint32_t position) {
    grout_value_id value = planner->expire_first[position];
    for (; value != 0; value = planner->expire_next[value]) {
        const grout_slot *slot = &planner->value_slots[value];
        if (slot->dtype != GROUT_DTYPE_NONE && !slot->is_constant) {
            give_bytes(planner, slot->flag, get_slot_bytes(planner, slot));
        }
    }
    planner->expire_first[position] = 0;
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
