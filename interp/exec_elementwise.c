/*
 * exec_elementwise.c - arithmetic on scalars and register arrays. The loops come from the
 * expressions of ops.def, one for each element type of the class; the compiler vectorises them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "convert.h"
#include "exec.h"
#include "planner.h"

#include "grout/num.h"

#include <string.h>

/* Elements of a strip: what a scalar operand is repeated for. */
#define STRIP 1024

/* Which operands a form has. */
#define BIND1(TYPE)  const TYPE a = (TYPE)from_a[i]
#define BIND2(TYPE)  BIND1(TYPE), b = (TYPE)from_b[i]
#define BIND3(TYPE)  BIND2(TYPE), c = (TYPE)from_c[i]
#define BIND_UNARY   BIND1
#define BIND_BINARY  BIND2
#define BIND_COMPARE BIND2
#define BIND_TERNARY BIND3

/* A loop over elements of one type; a bool is a byte, 0 or 1. */
#define LOOP_OF(NAME, SUFFIX, FORM, TYPE, STORED, RESULT, EXPRESSION)             \
    static void NAME##_##SUFFIX(void *result, const void *in_a, const void *in_b, \
                                const void *in_c, int64_t count) {                \
        RESULT *restrict to = result;                                             \
        const STORED *from_a = in_a, *from_b = in_b, *from_c = in_c;              \
        (void)from_b;                                                             \
        (void)from_c;                                                             \
        for (int64_t i = 0; i < count; i++) {                                     \
            BIND_##FORM(TYPE);                                                    \
            to[i] = (RESULT)(EXPRESSION);                                         \
        }                                                                         \
    }

/* The element types of each class (TYPES column), as loops and as table entries. */
#define I32(NAME, FORM, E)  LOOP_OF(NAME, i32, FORM, int32_t, int32_t, int32_t, E)
#define U32(NAME, FORM, E)  LOOP_OF(NAME, u32, FORM, uint32_t, uint32_t, uint32_t, E)
#define F32(NAME, FORM, E)  LOOP_OF(NAME, f32, FORM, float, float, float, E)
#define BOOL(NAME, FORM, E) LOOP_OF(NAME, bool, FORM, bool, uint8_t, uint8_t, E)
#define LOOPS_NUM(NAME, FORM, E) \
    I32(NAME, FORM, E)           \
    U32(NAME, FORM, E)           \
    F32(NAME, FORM, E)
#define LOOPS_INT(NAME, FORM, E) \
    I32(NAME, FORM, E)           \
    U32(NAME, FORM, E)
#define LOOPS_FLOAT(NAME, FORM, E) F32(NAME, FORM, E)
#define LOOPS_LOGIC(NAME, FORM, E) \
    I32(NAME, FORM, E)             \
    U32(NAME, FORM, E)             \
    BOOL(NAME, FORM, E)
#define LOOPS_CMP(NAME, FORM, E)                             \
    LOOP_OF(NAME, i32, FORM, int32_t, int32_t, uint8_t, E)   \
    LOOP_OF(NAME, u32, FORM, uint32_t, uint32_t, uint8_t, E) \
    LOOP_OF(NAME, f32, FORM, float, float, uint8_t, E)

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wfloat-equal"
#endif
#define GROUT_ALU(NAME, text, FORM, TYPES, EXPRESSION, DOC) LOOPS_##TYPES(NAME, FORM, EXPRESSION)
#include "grout/ops.def"
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#define ENTRY(NAME, TYPE, SUFFIX) [GROUT_OP_##NAME][GROUT_DTYPE_##TYPE] = NAME##_##SUFFIX,
#define ENTRIES_NUM(NAME)         ENTRY(NAME, I32, i32) ENTRY(NAME, U32, u32) ENTRY(NAME, F32, f32)
#define ENTRIES_INT(NAME)         ENTRY(NAME, I32, i32) ENTRY(NAME, U32, u32)
#define ENTRIES_FLOAT(NAME)       ENTRY(NAME, F32, f32)
#define ENTRIES_LOGIC(NAME)       ENTRY(NAME, I32, i32) ENTRY(NAME, U32, u32) ENTRY(NAME, BOOL, bool)
#define ENTRIES_CMP(NAME)         ENTRIES_NUM(NAME)

/* fmaf is a call for each element where the compiler may not assume the instruction: ask for it. */
#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("fma,avx2"))) static void fma_f32_x86(void *result, const void *in_a,
                                                            const void *in_b, const void *in_c,
                                                            int64_t count) {
    float *restrict to = result;
    const float *a = in_a, *b = in_b, *c = in_c;
    for (int64_t i = 0; i < count; i++) {
        to[i] = __builtin_fmaf(a[i], b[i], c[i]);
    }
}
static grout_loop *find_wide(grout_opcode opcode) {
    return opcode == GROUT_OP_FMA && __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2")
               ? fma_f32_x86
               : NULL;
}
#else
static grout_loop *find_wide(grout_opcode opcode) {
    (void)opcode;
    return NULL;
}
#endif

grout_loop *grout_elementwise__find(grout_opcode opcode, grout_dtype dtype) {
    static grout_loop *const loops[GROUT_OP_COUNT][GROUT_DTYPE_COUNT] = {
#define GROUT_ALU(NAME, text, FORM, TYPES, EXPRESSION, DOC) ENTRIES_##TYPES(NAME)
#include "grout/ops.def"
    };
    grout_loop *wide = dtype == GROUT_DTYPE_F32 ? find_wide(opcode) : NULL;
    return wide != NULL ? wide : loops[opcode][dtype];
}

/* ---- operands ----------------------------------------------------------------------------------
 */

/* Operands of an instruction, as pointers that move on from strip to strip. */
typedef struct operand_set {
    const uint8_t *data[3];
    uint32_t step[3]; /* bytes from element to element; 0: a scalar, repeated in its strip */
    bool has_scalar;
} operand_set;

/* Finds the operands; scalars beside an array result are repeated in a strip each. */
static operand_set get_operands(grout_machine *machine, uint32_t thread, const grout_inst *inst) {
    const uint8_t *none = machine->strips;
    operand_set set = {{none, none, none}, {0, 0, 0}, false};
    for (uint32_t i = 0; i < inst->slot_count && i < 3; i++) {
        const grout_slot *slot = grout_plan__slot(machine->plan, inst, i);
        const uint8_t *data = grout_slot__data(machine, thread, slot);
        set.data[i] = data;
        set.step[i] = slot->element_bytes;
        if (slot->count == 1 && inst->result.count > 1) {
            uint8_t *strip = machine->strips + (size_t)i * STRIP * 8;
            int64_t count = inst->result.count < STRIP ? inst->result.count : STRIP;
            grout_fill_element(slot->element_bytes, data, strip, count);
            set.data[i] = strip;
            set.step[i] = 0;
            set.has_scalar = true;
        }
    }
    return set;
}

static void run_loop(grout_loop *loop, operand_set *set, uint8_t *result, uint32_t result_bytes,
                     int64_t count) {
    if (!set->has_scalar) {
        loop(result, set->data[0], set->data[1], set->data[2], count);
        return;
    }
    for (int64_t first = 0; first < count; first += STRIP) {
        int64_t length = count - first < STRIP ? count - first : STRIP;
        loop(result + first * result_bytes, set->data[0], set->data[1], set->data[2], length);
        for (uint32_t i = 0; i < 3; i++) {
            set->data[i] += (size_t)length * set->step[i];
        }
    }
}

/* Whether element i of an operand is undefined. */
static uint8_t get_undefined(const grout_machine *machine, uint32_t thread, const grout_slot *slot,
                             uint32_t i) {
    if (!grout_slot__is_undefined(machine, thread, slot)) {
        return 0;
    }
    return slot->is_array ? grout_slot__mask(machine, thread, slot)[i] : 1;
}

/* An element is undefined if it is in one of the operands. */
static void join_masks(grout_machine *machine, uint32_t thread, const grout_inst *inst) {
    const grout_slot *result = &inst->result;
    bool is_undefined = false;
    for (uint32_t i = 0; i < inst->slot_count; i++) {
        is_undefined |=
            grout_slot__is_undefined(machine, thread, grout_plan__slot(machine->plan, inst, i));
    }
    grout_slot__set_undefined(machine, thread, result, is_undefined);
    if (!is_undefined || !result->is_array) {
        return;
    }
    uint8_t *mask = grout_slot__mask(machine, thread, result);
    memset(mask, 0, result->count);
    for (uint32_t i = 0; i < inst->slot_count; i++) {
        const grout_slot *slot = grout_plan__slot(machine->plan, inst, i);
        for (uint32_t k = 0; k < result->count; k++) {
            mask[k] |= get_undefined(machine, thread, slot, slot->count == 1 ? 0 : k);
        }
    }
}

/* ---- arithmetic ---------------------------------------------------------------------------------
 */

static uint32_t get_word(const uint8_t *data, uint32_t i) {
    uint32_t word;
    memcpy(&word, data + (size_t)i * sizeof word, sizeof word);
    return word;
}

/* By zero, or the least i32 by -1: the quotient is not an integer, or not an i32. */
static bool has_no_quotient(grout_machine *machine, uint32_t thread, const grout_inst *inst) {
    const grout_slot *slots = grout_plan__slot(machine->plan, inst, 0);
    const uint8_t *dividends = grout_slot__data(machine, thread, &slots[0]);
    const uint8_t *divisors = grout_slot__data(machine, thread, &slots[1]);
    bool has_zero = false, has_minus_one = false;
    for (uint32_t i = 0; i < slots[1].count; i++) {
        uint32_t divisor = get_word(divisors, i);
        has_zero |= divisor == 0;
        has_minus_one |= divisor == UINT32_MAX;
    }
    if (has_zero || !has_minus_one || slots[0].dtype != GROUT_DTYPE_I32) {
        return has_zero;
    }
    for (uint32_t i = 0; i < inst->result.count; i++) {
        if (get_word(divisors, slots[1].count == 1 ? 0 : i) == UINT32_MAX &&
            get_word(dividends, slots[0].count == 1 ? 0 : i) == UINT32_C(1) << 31) {
            return true;
        }
    }
    return false;
}

static void check_division(grout_machine *machine, uint32_t thread, const grout_inst *inst) {
    bool is_float = grout_plan__slot(machine->plan, inst, 1)->dtype == GROUT_DTYPE_F32;
    if (!is_float && has_no_quotient(machine, thread, inst)) {
        grout_fault fault = {.code = GROUT_DIAG_DIVISION_BY_ZERO};
        grout_machine__fault(machine, thread, inst, 1, &fault);
    }
}

grout_outcome grout_exec_alu(grout_machine *machine, uint32_t thread, const grout_inst *inst) {
    const grout_slot *result = &inst->result;
    operand_set set = get_operands(machine, thread, inst);
    if (inst->opcode == GROUT_OP_DIV || inst->opcode == GROUT_OP_REM ||
        inst->opcode == GROUT_OP_CDIV) {
        check_division(machine, thread, inst);
    }
    run_loop(inst->loop, &set, grout_slot__data(machine, thread, result), result->element_bytes,
             result->count);
    join_masks(machine, thread, inst);
    return GROUT_OUTCOME_NEXT;
}

#define SELECT_LOOP(NAME, TYPE)                                                          \
    static void NAME(void *result, const void *in_a, const void *in_b, const void *in_c, \
                     int64_t count) {                                                    \
        TYPE *restrict to = result;                                                      \
        const uint8_t *condition = in_a;                                                 \
        const TYPE *from_b = in_b, *from_c = in_c;                                       \
        for (int64_t i = 0; i < count; i++) {                                            \
            to[i] = condition[i] != 0 ? from_b[i] : from_c[i];                           \
        }                                                                                \
    }
SELECT_LOOP(select_8, uint8_t)
SELECT_LOOP(select_16, uint16_t)
SELECT_LOOP(select_32, uint32_t)
SELECT_LOOP(select_64, uint64_t)

/* Undefined where the condition is, or the side that it takes. */
static void select_masks(grout_machine *machine, uint32_t thread, const grout_inst *inst) {
    const grout_slot *slots = grout_plan__slot(machine->plan, inst, 0);
    const grout_slot *result = &inst->result;
    const uint8_t *condition = grout_slot__data(machine, thread, &slots[0]);
    bool is_undefined = false;
    for (uint32_t i = 0; i < 3; i++) {
        is_undefined |= grout_slot__is_undefined(machine, thread, &slots[i]);
    }
    uint8_t *mask = grout_slot__mask(machine, thread, result);
    uint8_t any = 0;
    for (uint32_t i = 0; is_undefined && i < result->count; i++) {
        uint32_t at = slots[0].count == 1 ? 0 : i;
        const grout_slot *side = condition[at] != 0 ? &slots[1] : &slots[2];
        uint8_t here = get_undefined(machine, thread, &slots[0], at) |
                       get_undefined(machine, thread, side, side->count == 1 ? 0 : i);
        any |= here;
        if (result->is_array) {
            mask[i] = here;
        }
    }
    grout_slot__set_undefined(machine, thread, result, any != 0);
}

grout_outcome grout_exec_select(grout_machine *machine, uint32_t thread, const grout_inst *inst) {
    const grout_slot *result = &inst->result;
    operand_set set = get_operands(machine, thread, inst);
    grout_loop *loop = result->element_bytes == 1   ? select_8
                       : result->element_bytes == 2 ? select_16
                       : result->element_bytes == 4 ? select_32
                                                    : select_64;
    run_loop(loop, &set, grout_slot__data(machine, thread, result), result->element_bytes,
             result->count);
    select_masks(machine, thread, inst);
    return GROUT_OUTCOME_NEXT;
}

grout_outcome grout_exec_cast(grout_machine *machine, uint32_t thread, const grout_inst *inst) {
    const grout_slot *from = grout_plan__slot(machine->plan, inst, 0), *to = &inst->result;
    grout_convert(from->dtype, grout_slot__data(machine, thread, from), to->dtype,
                  grout_slot__data(machine, thread, to), to->count);
    join_masks(machine, thread, inst);
    return GROUT_OUTCOME_NEXT;
}

/* ---- shapes -------------------------------------------------------------------------------------
 */

/*
 * Repeats a source to the result's shape. The instruction's moves are the result's dimensions from
 * the innermost out: extent, and stride in the source, 0 where it is repeated.
 */
static void broadcast(const grout_inst *inst, const grout_move *dims, uint32_t bytes,
                      const uint8_t *from, uint8_t *to) {
    uint32_t index[GROUT_RANK_MAX] = {0}, rank = inst->move_count;
    uint32_t row = rank > 0 ? dims[0].to.count : 1;
    uint32_t stride = rank > 0 ? dims[0].to.data : 0;
    for (uint32_t done = 0; done < inst->result.count; done += row) {
        uint32_t at = 0;
        for (uint32_t i = 1; i < rank; i++) {
            at += index[i] * dims[i].to.data;
        }
        if (stride == 0) {
            grout_fill_element(bytes, from + (size_t)at * bytes, to + (size_t)done * bytes, row);
        } else {
            memcpy(to + (size_t)done * bytes, from + (size_t)at * bytes, (size_t)row * bytes);
        }
        for (uint32_t i = 1; i < rank && ++index[i] == dims[i].to.count; i++) {
            index[i] = 0;
        }
    }
}

grout_outcome grout_exec_broadcast(grout_machine *machine, uint32_t thread,
                                   const grout_inst *inst) {
    const grout_slot *from = grout_plan__slot(machine->plan, inst, 0), *to = &inst->result;
    const grout_move *dims = grout_pool__at(&machine->plan->moves, inst->first_move);
    uint8_t *data = grout_slot__data(machine, thread, to);
    bool is_undefined = grout_slot__is_undefined(machine, thread, from);
    const uint8_t *source = grout_slot__data(machine, thread, from);
    if (from->count == 1) {
        grout_fill_element(to->element_bytes, source, data, to->count);
    } else {
        broadcast(inst, dims, to->element_bytes, source, data);
    }
    grout_slot__set_undefined(machine, thread, to, is_undefined);
    if (is_undefined && to->is_array && from->is_array) {
        broadcast(inst, dims, 1, grout_slot__mask(machine, thread, from),
                  grout_slot__mask(machine, thread, to));
    } else if (is_undefined && to->is_array) {
        memset(grout_slot__mask(machine, thread, to), 1, to->count);
    }
    return GROUT_OUTCOME_NEXT;
}

grout_outcome grout_exec_iota(grout_machine *machine, uint32_t thread, const grout_inst *inst) {
    const grout_slot *result = &inst->result;
    uint8_t *data = grout_slot__data(machine, thread, result);
    uint32_t inner = (uint32_t)inst->divisor, extent = (uint32_t)inst->number;
    for (uint32_t i = 0; i < result->count; i++) {
        uint32_t index = i / inner % extent;
        float number = (float)index;
        memcpy(data + (size_t)i * 4,
               result->dtype == GROUT_DTYPE_F32 ? (const void *)&number : (const void *)&index, 4);
    }
    grout_slot__set_undefined(machine, thread, result, false);
    return GROUT_OUTCOME_NEXT;
}

grout_outcome grout_exec_axis_index(grout_machine *machine, uint32_t thread,
                                    const grout_inst *inst) {
    int64_t linear = inst->flag ? thread : grout_machine__cta(machine)->index;
    int32_t index = (int32_t)(linear / inst->divisor % inst->number);
    memcpy(grout_slot__data(machine, thread, &inst->result), &index, sizeof index);
    grout_slot__set_undefined(machine, thread, &inst->result, false);
    return GROUT_OUTCOME_NEXT;
}
