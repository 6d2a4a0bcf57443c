/*
 * exec_traced.c - integers that have wrapped around, from where they do to where one says which
 * memory is touched, how much, or how often a loop runs: index-overflow.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A register that has wrapped has the number of the instruction that wrapped it in its flag, times
 * two, and of an array the elements in its mask. What is undefined goes before what has wrapped:
 * where both meet, the trace ends. plan_wraps.c chooses the instructions that come here; most
 * kernels have none.
 */
#include "exec.h"
#include "slot_flag.h"
#include "wraps.h"

#include <string.h>

/* ---- registers ----------------------------------------------------------------------------------
 */

/* The number of the instruction that an operand has wrapped at; 0: it has not. */
static uint8_t get_number(const grout_cta *cta, uint32_t thread, const grout_slot *slot) {
    return grout_slot__get_flag(cta, thread, slot) >> 1;
}

static void set_number(const grout_cta *cta, uint32_t thread, const grout_slot *slot,
                       uint8_t number) {
    grout_slot__set_flag(cta, thread, slot, (uint8_t)(number << 1));
}

/* The least number of all operands; 0 too if one of them is undefined. */
static uint8_t get_least_number(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    uint8_t number = 0;
    for (uint32_t i = 0; i < inst->slot_count; i++) {
        const grout_slot *slot = grout_plan__slot(cta->machine->plan, inst, i);
        const uint8_t own = get_number(cta, thread, slot);
        if (grout_slot__is_undefined(cta, thread, slot)) {
            return 0;
        }
        number = own != 0 && (number == 0 || own < number) ? own : number;
    }
    return number;
}

static bool has_wrapped(const grout_cta *cta, uint32_t thread, const grout_slot *slot, uint32_t i) {
    if (get_number(cta, thread, slot) == 0) {
        return false;
    }
    return !slot->is_array || grout_slot__mask(cta, thread, slot)[slot->count == 1 ? 0 : i] != 0;
}

/* ---- numbers ------------------------------------------------------------------------------------
 */

/* An integer type: what it holds, of u64 as far as an int64_t goes. */
typedef struct kind {
    int64_t low, high;
    uint32_t bits;
    bool is_signed;
} kind;

static kind get_kind(const grout_slot *slot) {
    const bool is_signed = grout_dtype_get_info(slot->dtype)->class_ == GROUT_CLASS_SINT;
    const uint32_t bits = grout_dtype_get_info(slot->dtype)->bits;
    kind it = {.bits = bits, .is_signed = is_signed, .high = INT64_MAX};
    if (is_signed) {
        it.high = bits < 64 ? (INT64_C(1) << (bits - 1)) - 1 : INT64_MAX;
        it.low = -it.high - 1;
    } else if (bits < 64) {
        it.high = (INT64_C(1) << bits) - 1;
    }
    return it;
}

static int64_t read(const grout_slot *slot, const kind *type, const uint8_t *data, uint32_t i) {
    uint64_t bits = 0;
    memcpy(&bits, data + (size_t)(slot->count == 1 ? 0 : i) * slot->element_bytes,
           slot->element_bytes);
    if (type->is_signed && type->bits < 64 && (bits >> (type->bits - 1) & 1) != 0) {
        bits |= ~UINT64_C(0) << type->bits;
    }
    return (int64_t)bits;
}

/* a OP b, where it leaves 64 bits or not. */
static bool leaves_64_bits(grout_wrap_result how, bool is_signed, int64_t a, int64_t b,
                           int64_t *out) {
    uint64_t all = 0;
    bool leaves = false;
    if (is_signed) {
        return how == GROUT_WRAP_SUM          ? __builtin_add_overflow(a, b, out)
               : how == GROUT_WRAP_DIFFERENCE ? __builtin_sub_overflow(a, b, out)
                                              : __builtin_mul_overflow(a, b, out);
    }
    leaves = how == GROUT_WRAP_SUM ? __builtin_add_overflow((uint64_t)a, (uint64_t)b, &all)
             : how == GROUT_WRAP_DIFFERENCE
                 ? __builtin_sub_overflow((uint64_t)a, (uint64_t)b, &all)
                 : __builtin_mul_overflow((uint64_t)a, (uint64_t)b, &all);
    *out = (int64_t)all;
    return leaves;
}

/* Whether a OP b has no place in the type. */
static bool has_no_place(grout_wrap_result how, const kind *type, int64_t a, int64_t b) {
    int64_t result = 0;
    if (leaves_64_bits(how, type->bits < 64 || type->is_signed, a, b, &result)) {
        return true;
    }
    return type->bits < 64 && (result < type->low || result > type->high);
}

static bool wraps_shifted(const kind *type, int64_t a, int64_t b) {
    if (b < 0 || b >= (int64_t)type->bits || b >= 63) {
        return a != 0 && b != 0;
    }
    return has_no_place(GROUT_WRAP_PRODUCT, type, a, INT64_C(1) << b);
}

static bool wraps_converted(const kind *from, const kind *to, int64_t a) {
    const bool is_huge = !from->is_signed && from->bits == 64 && a < 0;
    if (is_huge) {
        return to->is_signed || to->bits < 64;
    }
    return a < to->low || (a > to->high && (to->is_signed || to->bits < 64));
}

/* Whether one element of what the instruction makes has wrapped here. */
static bool wraps_at(const grout_inst *inst, const grout_slot *slots, const kind *from,
                     const kind *to, const uint8_t *const data[2], uint32_t i) {
    const grout_wrap_result how =
        (grout_wrap_result)grout_wrap__get_info((grout_opcode)inst->opcode).result;
    const int64_t a = read(&slots[0], from, data[0], i);
    const int64_t b = inst->slot_count > 1 ? read(&slots[1], from, data[1], i) : 0;
    if (how == GROUT_WRAP_NEGATIVE || how == GROUT_WRAP_MAGNITUDE) {
        return (how == GROUT_WRAP_NEGATIVE || (to->is_signed && a < 0)) &&
               has_no_place(GROUT_WRAP_DIFFERENCE, to, 0, a);
    }
    return how == GROUT_WRAP_SHIFTED_LEFT ? wraps_shifted(to, a, b)
           : how == GROUT_WRAP_CONVERTED  ? wraps_converted(from, to, a)
                                          : has_no_place(how, to, a, b);
}

/* ---- sums and products of many ------------------------------------------------------------------
 */

/* Elements of one column of a block, one after another. */
typedef struct column {
    const grout_slot *slot;
    const kind *type;
    const uint8_t *data;
    int64_t first, step, count;
    grout_wrap_result how;
} column;

/* Marks in 'mask', at each element's place or, of a scan that is exclusive, at the next one's,
 * where what has come together has no place; whether it has none in the end. */
static bool fold(const column *it, uint8_t *mask, bool is_exclusive) {
    int64_t all = it->how == GROUT_WRAP_SUM ? 0 : 1;
    bool leaves = false, is_out = false;
    for (int64_t i = 0; i < it->count; i++) {
        const int64_t at = it->first + i * it->step;
        if (mask != NULL && is_exclusive && is_out) {
            mask[at] = 1;
        }
        leaves |= leaves_64_bits(it->how, it->type->bits < 64 || it->type->is_signed, all,
                                 read(it->slot, it->type, it->data, (uint32_t)at), &all);
        is_out = leaves || (it->type->bits < 64 && (all < it->type->low || all > it->type->high));
        if (mask != NULL && !is_exclusive && is_out) {
            mask[at] = 1;
        }
    }
    return is_out;
}

/* The elements of a reduction or a scan that have wrapped; mask: of the result. */
static void fold_all(const grout_cta *cta, uint32_t thread, const grout_inst *inst, uint8_t *mask) {
    const grout_slot *from = grout_plan__slot(cta->machine->plan, inst, 0);
    const int64_t rows = inst->u.reduce.rows.rows, columns = inst->u.reduce.rows.columns;
    const bool is_scan = grout_op_get_info((grout_opcode)inst->opcode)->rule == GROUT_RULE_SCAN;
    const bool is_reverse = is_scan && (inst->attrs & GROUT_ATTR_BIT(REVERSE)) != 0;
    const kind type = get_kind(from);
    column it = {.slot = from,
                 .type = &type,
                 .data = grout_slot__data(cta, thread, from),
                 .step = is_reverse ? -columns : columns,
                 .count = rows,
                 .how = grout_wrap__get_info((grout_opcode)inst->opcode).result == GROUT_WRAP_SUMS
                            ? GROUT_WRAP_SUM
                            : GROUT_WRAP_PRODUCT};
    for (int64_t block = 0; block * rows * columns < from->count; block++) {
        for (int64_t c = 0; c < columns; c++) {
            it.first = block * rows * columns + c + (is_reverse ? (rows - 1) * columns : 0);
            const bool is_out =
                fold(&it, is_scan ? mask : NULL, (inst->attrs & GROUT_ATTR_BIT(EXCLUSIVE)) != 0);
            if (!is_scan && is_out) {
                mask[block * columns + c] = 1;
            }
        }
    }
}

/* ---- instructions -------------------------------------------------------------------------------
 */

/* Whether the result only has elements of the operands in other places, or is combined of many. */
static bool moves_elements(const grout_inst *inst) {
    const grout_rule rule = (grout_rule)grout_op_get_info((grout_opcode)inst->opcode)->rule;
    return grout_rule__moves(rule) || rule == GROUT_RULE_REDUCE || rule == GROUT_RULE_SCAN;
}

/* Where undefined elements would go, those that have wrapped go: they are taken for such meanwhile,
 * and keep their numbers. */
static void move_wrapped(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                         uint8_t number) {
    uint8_t *registers = grout_cta__registers(cta, thread);
    for (uint32_t i = 0; i < inst->slot_count; i++) {
        const grout_slot *slot = grout_plan__slot(cta->machine->plan, inst, i);
        if (get_number(cta, thread, slot) != 0) {
            registers[slot->flag] |= 1;
        }
    }
    (void)inst->inner(cta, thread, inst);
    for (uint32_t i = 0; i < inst->slot_count; i++) {
        const grout_slot *slot = grout_plan__slot(cta->machine->plan, inst, i);
        if (get_number(cta, thread, slot) != 0) {
            registers[slot->flag] &= (uint8_t)~1u;
        }
    }
    const bool is_any = grout_slot__is_undefined(cta, thread, &inst->result);
    set_number(cta, thread, &inst->result, is_any ? number : 0);
}

/* The number of what an element of the result comes of; 0: nothing that has wrapped. */
static uint8_t get_source(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                          uint32_t i) {
    const grout_slot *slots = grout_plan__slot(cta->machine->plan, inst, 0);
    const bool is_choice = grout_op_get_info((grout_opcode)inst->opcode)->rule == GROUT_RULE_SELECT;
    const bool is_bounded =
        grout_wrap__get_info((grout_opcode)inst->opcode).trace == GROUT_TRACE_BOUNDED;
    uint32_t first = 0, end = inst->slot_count;
    uint8_t number = 0;
    if (is_choice) {
        const uint8_t *condition = grout_slot__data(cta, thread, &slots[0]);
        first = condition[slots[0].count == 1 ? 0 : i] != 0 ? 1 : 2;
        end = first + 1;
    }
    for (uint32_t k = first; k < end; k++) {
        const uint8_t own =
            has_wrapped(cta, thread, &slots[k], i) ? get_number(cta, thread, &slots[k]) : 0;
        if (own == 0 && is_bounded) {
            return 0;
        }
        number = own != 0 && (number == 0 || own < number) ? own : number;
    }
    return number;
}

/* The mask of the result, with nothing in it unless it has wrapped elements already. */
static uint8_t *begin_mask(const grout_cta *cta, uint32_t thread, const grout_slot *result,
                           uint8_t *alone) {
    if (!result->is_array) {
        return alone;
    }
    uint8_t *mask = grout_slot__mask(cta, thread, result);
    if (get_number(cta, thread, result) == 0) {
        memset(mask, 0, result->count);
    }
    return mask;
}

/* Marks the elements of the result that come of wrapped ones, or wrap here. */
static void mark_elements(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                          uint8_t came) {
    const grout_slot *slots = grout_plan__slot(cta->machine->plan, inst, 0);
    const grout_slot *result = &inst->result;
    const kind from = get_kind(&slots[0]), to = get_kind(result);
    const uint8_t *const data[2] = {grout_slot__data(cta, thread, &slots[0]),
                                    inst->slot_count > 1 ? grout_slot__data(cta, thread, &slots[1])
                                                         : NULL};
    uint8_t alone = get_number(cta, thread, result) != 0 ? 1 : 0, any = 0, least = 0;
    uint8_t *mask = begin_mask(cta, thread, result, &alone);
    const bool is_moved = moves_elements(inst);
    if (is_moved && inst->wrap != 0) {
        fold_all(cta, thread, inst, mask);
    }
    for (uint32_t i = 0; i < result->count; i++) {
        const uint8_t source = came != 0 && !is_moved ? get_source(cta, thread, inst, i) : 0;
        if (source != 0 ||
            (!is_moved && inst->wrap != 0 && wraps_at(inst, slots, &from, &to, data, i))) {
            mask[i] = 1;
        }
        least = source != 0 && (least == 0 || source < least) ? source : least;
        any |= mask[i];
    }
    least = is_moved ? came : least;
    set_number(cta, thread, result, any == 0 ? 0 : least != 0 ? least : inst->wrap);
}

/* The commonest ones: two scalars of 32 bits, none of which has wrapped, and neither does this. */
static bool is_plainly_right(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    const grout_slot *slots = grout_plan__slot(cta->machine->plan, inst, 0);
    const grout_wrap_info info = grout_wrap__get_info((grout_opcode)inst->opcode);
    int32_t a, b, result;
    if (inst->result.dtype != GROUT_DTYPE_I32 || inst->result.is_array ||
        info.result > GROUT_WRAP_PRODUCT) {
        return inst->wrap == 0;
    }
    memcpy(&a, grout_slot__data(cta, thread, &slots[0]), sizeof a);
    memcpy(&b, grout_slot__data(cta, thread, &slots[1]), sizeof b);
    return !(info.result == GROUT_WRAP_SUM          ? __builtin_add_overflow(a, b, &result)
             : info.result == GROUT_WRAP_DIFFERENCE ? __builtin_sub_overflow(a, b, &result)
                                                    : __builtin_mul_overflow(a, b, &result));
}

grout_outcome grout_exec_traced(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    const uint8_t came = get_least_number(cta, thread, inst);
    if (came != 0 && moves_elements(inst)) {
        move_wrapped(cta, thread, inst, came);
    } else {
        (void)inst->inner(cta, thread, inst);
    }
    const bool is_done =
        came != 0 ? inst->wrap == 0 && moves_elements(inst) : is_plainly_right(cta, thread, inst);
    if (!is_done && !grout_slot__is_undefined(cta, thread, &inst->result)) {
        mark_elements(cta, thread, inst, came);
    }
    return GROUT_OUTCOME_NEXT;
}

/* The first element that has wrapped. */
static int64_t get_wrapped(const grout_cta *cta, uint32_t thread, const grout_slot *slot) {
    const kind type = get_kind(slot);
    uint32_t i = 0;
    while (i + 1 < slot->count && !has_wrapped(cta, thread, slot, i)) {
        i++;
    }
    return read(slot, &type, grout_slot__data(cta, thread, slot), i);
}

grout_outcome grout_exec_watched(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    const grout_outcome outcome = inst->inner(cta, thread, inst);
    const grout_plan *plan = cta->machine->plan;
    for (uint32_t i = 0; i < inst->watch_count && outcome == GROUT_OUTCOME_NEXT; i++) {
        const grout_watch *watch = grout_pool__at(&plan->watches, inst->first_watch + i);
        const uint8_t number = get_number(cta, thread, &watch->slot);
        if (number != 0) {
            const grout_fault fault = {.code = GROUT_DIAG_INDEX_OVERFLOW,
                                       .have = get_wrapped(cta, thread, &watch->slot),
                                       .need = plan->wrap_ops[number],
                                       .use = watch->use};
            grout_cta__fault(cta, thread, inst, watch->operand, &fault);
        }
    }
    return outcome;
}
