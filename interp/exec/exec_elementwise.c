/*
 * exec_elementwise.c - arithmetic, choices, casts and shapes of scalars and register arrays. Each
 * op can compute any strip of its result; here one op at a time computes all of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "convert.h"
#include "exec.h"
#include "strip.h"

#include <string.h>

/* ---- strips -------------------------------------------------------------------------------------
 */

void grout_strip__alu(grout_machine *machine, const grout_inst *inst, const grout_strip *strip) {
    if (!inst->u.elementwise.is_wide) {
        inst->u.elementwise.loop(strip->result, strip->operands[0], strip->operands[1],
                                 strip->operands[2], strip->count);
        return;
    }
    const grout_slot *slots = grout_plan__slot(machine->plan, inst, 0);
    grout_dtype narrow = slots[0].dtype, result = inst->result.dtype;
    const void *wide[3] = {NULL, NULL, NULL};
    for (uint32_t i = 0; i < inst->slot_count && i < 3; i++) {
        wide[i] = strip->operands[i];
        if ((strip->widened >> i & 1) == 0) {
            float *buffer = grout_strip__wide(machine, i);
            grout_convert(narrow, wide[i], GROUT_DTYPE_F32, buffer, strip->count);
            wide[i] = buffer;
        }
    }
    if (result != narrow) { /* a comparison */
        inst->u.elementwise.loop(strip->result, wide[0], wide[1], wide[2], strip->count);
        return;
    }
    if ((strip->widened >> 3 & 1) != 0) {
        inst->u.elementwise.loop(strip->result, wide[0], wide[1], wide[2], strip->count);
        grout_round_to(narrow, (float *)(void *)strip->result, strip->count);
        return;
    }
    float *buffer = grout_strip__wide(machine, 3);
    inst->u.elementwise.loop(buffer, wide[0], wide[1], wide[2], strip->count);
    grout_convert(GROUT_DTYPE_F32, buffer, result, strip->result, strip->count);
}

void grout_strip__select(grout_machine *machine, const grout_inst *inst, const grout_strip *strip) {
    (void)machine;
    inst->u.elementwise.loop(strip->result, strip->operands[0], strip->operands[1],
                             strip->operands[2], strip->count);
}

void grout_strip__cast(grout_machine *machine, const grout_inst *inst, const grout_strip *strip) {
    grout_convert(grout_plan__slot(machine->plan, inst, 0)->dtype, strip->operands[0],
                  inst->result.dtype, strip->result, strip->count);
}

void grout_strip__copy(grout_machine *machine, const grout_inst *inst, const grout_strip *strip) {
    (void)machine;
    memcpy(strip->result, strip->operands[0], (size_t)strip->count * inst->result.element_bytes);
}

/*
 * Repeats a source to the result's shape. The instruction's moves are the result's dimensions from
 * the innermost out: extent, and stride in the source, 0 where it is repeated; the innermost one's
 * is 0 or 1.
 */
static void broadcast(const grout_machine *machine, const grout_inst *inst, uint32_t bytes,
                      const grout_strip *strip) {
    const grout_move *dims = grout_pool__at(&machine->plan->moves, inst->first_move);
    uint32_t index[GROUT_RANK_MAX] = {0}, rank = inst->move_count;
    int64_t row = rank > 0 ? dims[0].to.count : 1;
    int64_t column = strip->first % row, rest = strip->first / row;
    bool is_repeated = rank == 0 || dims[0].to.data == 0;
    for (uint32_t i = 1; i < rank; i++) {
        index[i] = (uint32_t)(rest % dims[i].to.count);
        rest /= dims[i].to.count;
    }
    for (int64_t done = 0, run; done < strip->count; done += run, column = 0) {
        int64_t at = is_repeated ? 0 : column;
        for (uint32_t i = 1; i < rank; i++) {
            at += (int64_t)index[i] * dims[i].to.data;
        }
        run = row - column < strip->count - done ? row - column : strip->count - done;
        if (is_repeated) {
            grout_fill_element(bytes, strip->operands[0] + at * bytes, strip->result + done * bytes,
                               run);
        } else {
            memcpy(strip->result + done * bytes, strip->operands[0] + at * bytes,
                   (size_t)(run * bytes));
        }
        for (uint32_t i = 1; i < rank && ++index[i] == dims[i].to.count; i++) {
            index[i] = 0;
        }
    }
}

void grout_strip__broadcast(grout_machine *machine, const grout_inst *inst,
                            const grout_strip *strip) {
    const grout_slot *to = &inst->result;
    if (grout_plan__slot(machine->plan, inst, 0)->count == 1) {
        grout_fill_element(to->element_bytes, strip->operands[0], strip->result, strip->count);
    } else {
        broadcast(machine, inst, to->element_bytes, strip);
    }
}

void grout_strip__iota(grout_machine *machine, const grout_inst *inst, const grout_strip *strip) {
    int64_t inner = inst->u.elementwise.rows.columns, extent = inst->u.elementwise.rows.rows;
    int64_t index = strip->first / inner % extent, left = inner - strip->first % inner;
    grout_dtype dtype = inst->result.dtype;
    int32_t *indices = inst->u.elementwise.is_wide ? (int32_t *)grout_strip__wide(machine, 0)
                                                   : (int32_t *)(void *)strip->result;
    for (int64_t i = 0; i < strip->count; i++) {
        indices[i] = (int32_t)index;
        left--;
        if (left == 0) {
            left = inner;
            index = index + 1 == extent ? 0 : index + 1;
        }
    }
    if (inst->u.elementwise.is_wide) {
        grout_convert(GROUT_DTYPE_I32, indices, dtype, strip->result, strip->count);
    }
}

/* ---- one op -------------------------------------------------------------------------------------
 */

void grout_strip__repeat(const grout_inst *inst, const grout_slot *slot, const uint8_t *data,
                         void *buffer, int64_t count) {
    if (inst->u.elementwise.is_wide) {
        float wide;
        grout_convert(slot->dtype, data, GROUT_DTYPE_F32, &wide, 1);
        grout_fill_element(sizeof wide, &wide, buffer, count);
    } else {
        grout_fill_element(slot->element_bytes, data, buffer, count);
    }
}

/* Computes the whole result: at once if no operand goes through a buffer. */
static void run_strips(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    grout_machine *machine = cta->machine;
    const grout_slot *result = &inst->result;
    grout_strip strip = {.result = grout_slot__data(cta, thread, result)};
    uint32_t steps[3] = {0};
    int64_t length = inst->u.elementwise.is_wide ? GROUT_STRIP : result->count;
    bool is_whole = inst->u.elementwise.strip == grout_strip__broadcast;
    for (uint32_t i = 0; i < inst->slot_count && i < 3; i++) {
        const grout_slot *slot = grout_plan__slot(machine->plan, inst, i);
        const uint8_t *data = grout_slot__data(cta, thread, slot);
        strip.operands[i] = data;
        if (grout_strip__is_repeated(inst, slot)) {
            uint8_t *buffer = grout_strip__scalar(machine, i);
            int64_t count = result->count < GROUT_STRIP ? result->count : GROUT_STRIP;
            grout_strip__repeat(inst, slot, data, buffer, count);
            strip.operands[i] = buffer;
            strip.widened |= (uint8_t)((inst->u.elementwise.is_wide ? 1u : 0u) << i);
            length = GROUT_STRIP;
        } else if (!is_whole) {
            steps[i] = slot->element_bytes;
        }
    }
    for (strip.first = 0; strip.first < result->count; strip.first += length) {
        strip.count = result->count - strip.first < length ? result->count - strip.first : length;
        inst->u.elementwise.strip(machine, inst, &strip);
        strip.result += length * result->element_bytes;
        for (uint32_t i = 0; i < 3; i++) {
            strip.operands[i] =
                steps[i] == 0 ? strip.operands[i] : strip.operands[i] + length * steps[i];
        }
    }
}

/* Whether element i of an operand is undefined. */
static uint8_t get_undefined(const grout_cta *cta, uint32_t thread, const grout_slot *slot,
                             uint32_t i) {
    if (!grout_slot__is_undefined(cta, thread, slot)) {
        return 0;
    }
    return slot->is_array ? grout_slot__mask(cta, thread, slot)[i] : 1;
}

/* An element is undefined if it is in one of the operands. */
static void join_masks(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    grout_machine *machine = cta->machine;
    const grout_slot *result = &inst->result;
    bool is_undefined = false;
    for (uint32_t i = 0; i < inst->slot_count; i++) {
        is_undefined |=
            grout_slot__is_undefined(cta, thread, grout_plan__slot(machine->plan, inst, i));
    }
    grout_slot__set_undefined(cta, thread, result, is_undefined);
    if (!is_undefined || !result->is_array) {
        return;
    }
    uint8_t *mask = grout_slot__mask(cta, thread, result);
    memset(mask, 0, result->count);
    for (uint32_t i = 0; i < inst->slot_count; i++) {
        const grout_slot *slot = grout_plan__slot(machine->plan, inst, i);
        for (uint32_t k = 0; k < result->count; k++) {
            mask[k] |= get_undefined(cta, thread, slot, slot->count == 1 ? 0 : k);
        }
    }
}

/* ---- arithmetic ---------------------------------------------------------------------------------
 */

/* The low bits of an element of an integer type. */
static uint64_t get_bits(const grout_slot *slot, const uint8_t *data, uint32_t i) {
    uint32_t bytes = slot->element_bytes;
    uint64_t bits = 0;
    data += (size_t)i * bytes;
    for (uint32_t k = 0; k < bytes; k++) {
        bits |= (uint64_t)data[k] << (8 * k);
    }
    return bits;
}

/* By zero, or the least integer by -1: the quotient is no integer, or none of the type. */
static bool has_no_quotient(const grout_slot *slots, uint64_t dividend, uint64_t divisor) {
    const uint64_t least = UINT64_C(1) << (8 * slots[1].element_bytes - 1);
    return divisor == 0 || (divisor == (least | (least - 1)) && dividend == least &&
                            grout_dtype_get_info(slots[1].dtype)->class_ == GROUT_CLASS_SINT);
}

/* Whether a divisor is one by which not everything has a quotient: nearly always none is. */
static bool has_open_divisor(const grout_cta *cta, uint32_t thread, const grout_slot *slots) {
    const uint8_t *divisors = grout_slot__data(cta, thread, &slots[1]);
    const uint64_t least = UINT64_C(1) << (8 * slots[1].element_bytes - 1);
    bool found = false;
    for (uint32_t i = 0; i < slots[1].count; i++) {
        found |= has_no_quotient(slots, least, get_bits(&slots[1], divisors, i));
    }
    return found;
}

/* Elements without a quotient have no value: they are undefined, as what nobody has written. */
static void mark_quotients(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    const grout_slot *slots = grout_plan__slot(cta->machine->plan, inst, 0);
    const grout_slot *result = &inst->result;
    if (grout_dtype_get_info(slots[1].dtype)->class_ == GROUT_CLASS_FLOAT ||
        !has_open_divisor(cta, thread, slots)) {
        return;
    }
    const uint8_t *dividends = grout_slot__data(cta, thread, &slots[0]);
    const uint8_t *divisors = grout_slot__data(cta, thread, &slots[1]);
    uint8_t alone = grout_slot__is_undefined(cta, thread, result) ? 1 : 0;
    uint8_t *mask = result->is_array ? grout_slot__mask(cta, thread, result) : &alone;
    bool is_open = false;
    if (result->is_array && alone == 0) {
        memset(mask, 0, result->count);
    }
    for (uint32_t i = 0; i < result->count; i++) {
        uint64_t dividend = get_bits(&slots[0], dividends, slots[0].count == 1 ? 0 : i);
        uint64_t divisor = get_bits(&slots[1], divisors, slots[1].count == 1 ? 0 : i);
        if (mask[i] == 0 && has_no_quotient(slots, dividend, divisor)) {
            mask[i] = 1;
            is_open = true;
        }
    }
    if (is_open) {
        grout_slot__set_undefined(cta, thread, result, true);
        grout_cta__publish_plain(cta, GROUT_EVENT_UNDEFINED, thread, inst);
    }
}

grout_outcome grout_exec_alu(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    run_strips(cta, thread, inst);
    join_masks(cta, thread, inst);
    if (cta->machine->tracks && grout_op_is_partial((grout_opcode)inst->opcode)) {
        mark_quotients(cta, thread, inst);
    }
    return GROUT_OUTCOME_NEXT;
}

/* Undefined where the condition is, or the side that it takes. */
static void select_masks(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    const grout_slot *slots = grout_plan__slot(cta->machine->plan, inst, 0);
    const grout_slot *result = &inst->result;
    const uint8_t *condition = grout_slot__data(cta, thread, &slots[0]);
    bool is_undefined = false;
    for (uint32_t i = 0; i < 3; i++) {
        is_undefined |= grout_slot__is_undefined(cta, thread, &slots[i]);
    }
    uint8_t *mask = grout_slot__mask(cta, thread, result);
    uint8_t any = 0;
    if (is_undefined) {
        grout_cta__publish_plain(cta, GROUT_EVENT_UNDEFINED, thread, inst);
    }
    for (uint32_t i = 0; is_undefined && i < result->count; i++) {
        uint32_t at = slots[0].count == 1 ? 0 : i;
        const grout_slot *side = condition[at] != 0 ? &slots[1] : &slots[2];
        uint8_t here = get_undefined(cta, thread, &slots[0], at) |
                       get_undefined(cta, thread, side, side->count == 1 ? 0 : i);
        any |= here;
        if (result->is_array) {
            mask[i] = here;
        }
    }
    grout_slot__set_undefined(cta, thread, result, any != 0);
}

grout_outcome grout_exec_select(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    run_strips(cta, thread, inst);
    select_masks(cta, thread, inst);
    return GROUT_OUTCOME_NEXT;
}

grout_outcome grout_exec_cast(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    return grout_exec_alu(cta, thread, inst);
}

grout_outcome grout_exec_bitcast(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    return grout_exec_alu(cta, thread, inst);
}

/* A layout says which lanes of the GPU hold the elements; it has no meaning on the CPU. */
grout_outcome grout_exec_layout_cast(const grout_cta *cta, uint32_t thread,
                                     const grout_inst *inst) {
    return grout_exec_alu(cta, thread, inst);
}

grout_outcome grout_exec_relayout(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    return grout_exec_alu(cta, thread, inst);
}

grout_outcome grout_exec_broadcast(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    grout_machine *machine = cta->machine;
    const grout_slot *from = grout_plan__slot(machine->plan, inst, 0), *to = &inst->result;
    bool is_undefined = grout_slot__is_undefined(cta, thread, from);
    run_strips(cta, thread, inst);
    grout_slot__set_undefined(cta, thread, to, is_undefined);
    if (is_undefined && to->is_array) {
        grout_strip masks = {.result = grout_slot__mask(cta, thread, to), .count = to->count};
        memset(masks.result, 1, to->count);
        if (from->is_array) {
            masks.operands[0] = grout_slot__mask(cta, thread, from);
            broadcast(machine, inst, 1, &masks);
        }
    }
    return GROUT_OUTCOME_NEXT;
}

grout_outcome grout_exec_iota(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    run_strips(cta, thread, inst);
    grout_slot__set_undefined(cta, thread, &inst->result, false);
    return GROUT_OUTCOME_NEXT;
}

grout_outcome grout_exec_axis_index(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    int64_t linear = inst->u.axis.kind == GROUT_AXIS_THREADS
                         ? grout_machine__thread_of(cta->machine, thread)
                     : inst->u.axis.kind == GROUT_AXIS_CLUSTER ? cta->rank
                                                               : grout_cta__cluster(cta)->index;
    int32_t index = (int32_t)(linear / inst->u.axis.divisor % inst->u.axis.size);
    memcpy(grout_slot__data(cta, thread, &inst->result), &index, sizeof index);
    grout_slot__set_undefined(cta, thread, &inst->result, false);
    return GROUT_OUTCOME_NEXT;
}
