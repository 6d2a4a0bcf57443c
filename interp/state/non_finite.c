/* non_finite.c - NaN and infinity, where an operation makes them out of numbers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "non_finite.h"

#include "atomic_math.h"

#include <string.h>

/* ---- elements -----------------------------------------------------------------------------------
 */

/* The bits of the exponent, all set in what is not finite, and of the mantissa. */
typedef struct float_bits {
    uint64_t exponent, mantissa;
} float_bits;

static const float_bits ALL_BITS[GROUT_DTYPE_COUNT] = {
    [GROUT_DTYPE_F8E5M2] = {0x7c, 0x03},
    [GROUT_DTYPE_F16] = {0x7c00, 0x03ff},
    [GROUT_DTYPE_BF16] = {0x7f80, 0x007f},
    [GROUT_DTYPE_F32] = {0x7f800000, 0x007fffff},
    [GROUT_DTYPE_F64] = {UINT64_C(0x7ff0000000000000), UINT64_C(0x000fffffffffffff)}};

static grout_finiteness get_of_bits(grout_dtype dtype, uint64_t bits) {
    if (dtype == GROUT_DTYPE_F8E4M3) { /* it has no infinity, and one NaN */
        return (bits & 0x7f) == 0x7f ? GROUT_NAN : GROUT_FINITE;
    }
    if (dtype == GROUT_DTYPE_F8E8M0) {
        return bits == 0xff ? GROUT_NAN : GROUT_FINITE;
    }
    const float_bits *all = &ALL_BITS[dtype];
    if (all->exponent == 0 || (bits & all->exponent) != all->exponent) {
        return GROUT_FINITE;
    }
    return (bits & all->mantissa) == 0 ? GROUT_INFINITE : GROUT_NAN;
}

static uint64_t get_bits(grout_dtype dtype, const void *element) {
    uint64_t bits = 0;
    memcpy(&bits, element, grout_dtype_get_info(dtype)->bytes);
    return bits;
}

grout_finiteness grout_finiteness_get(grout_dtype dtype, const void *element) {
    return get_of_bits(dtype, get_bits(dtype, element));
}

static bool is_float(grout_dtype dtype) {
    return grout_dtype_get_info(dtype)->class_ == GROUT_CLASS_FLOAT;
}

/* ---- one operation ------------------------------------------------------------------------------
 */

void grout_non_finite__note(grout_non_finite *noted, int64_t at, grout_finiteness from,
                            grout_dtype dtype, const void *element) {
    const uint64_t bits = get_bits(dtype, element);
    const grout_finiteness kind = get_of_bits(dtype, bits);
    if (kind == GROUT_FINITE || from == GROUT_FINITENESS_COUNT) {
        return; /* a number, or made of nothing: what a sum of no elements is */
    }
    if (from >= kind) {
        noted->follow++;
        return;
    }
    if (noted->made++ == 0) {
        noted->first = at;
        noted->bits = bits;
        noted->dtype = dtype;
    }
}

static grout_fault make_fault(const grout_non_finite *noted) {
    return (grout_fault){.code = GROUT_DIAG_NON_FINITE,
                         .start = noted->first,
                         .extent = noted->extent,
                         .have = (int64_t)noted->made,
                         .need = (int64_t)noted->bits,
                         .dtype = (uint8_t)noted->dtype};
}

static void count(grout_machine *machine, const grout_non_finite *noted) {
    machine->run.stats.non_finite_made += noted->made;
    machine->run.stats.non_finite_follow += noted->follow;
}

void grout_non_finite__publish(grout_machine *machine, const grout_non_finite *noted) {
    count(machine, noted);
    if (noted->made == 0 || !grout_machine__wants(machine, GROUT_EVENT_FAULT)) {
        return;
    }
    const grout_fault fault = make_fault(noted);
    grout_event event;
    memset(&event, 0, sizeof event);
    event.kind = GROUT_EVENT_FAULT;
    event.step = machine->run.stats.steps;
    event.origin = noted->origin;
    event.u.fault = &fault;
    grout_machine__publish(machine, &event);
}

void grout_non_finite__update(grout_machine *machine, const grout_origin *origin,
                              const grout_update_plan *plan, void *elements, const void *values,
                              int64_t count) {
    const uint32_t bytes = grout_dtype_get_info(plan->dtype)->bytes;
    if (!machine->launch.track_non_finite || !is_float(plan->dtype)) {
        grout_update__apply(plan->update, plan->dtype, plan->is_gmem, elements, values, count);
        return;
    }
    grout_non_finite noted = {
        .origin = *origin, .extent = plan->is_picked ? 0 : count, .first = -1};
    for (int64_t i = 0; i < count; i++) {
        uint8_t *element = (uint8_t *)elements + i * bytes;
        const uint8_t *value = (const uint8_t *)values + i * bytes;
        const grout_finiteness held = grout_finiteness_get(plan->dtype, element);
        const grout_finiteness more = grout_finiteness_get(plan->dtype, value);
        grout_update__apply(plan->update, plan->dtype, plan->is_gmem, element, value, 1);
        grout_non_finite__note(&noted, i, held > more ? held : more, plan->dtype, element);
    }
    grout_non_finite__publish(machine, &noted);
}

/* ---- instructions -------------------------------------------------------------------------------
 */

/* Operands and result of an instruction that computes. */
typedef struct computing {
    const grout_cta *cta;
    uint32_t thread;
    const grout_inst *inst;
    const grout_slot *slots;
} computing;

static const uint8_t *get_element(const computing *it, const grout_slot *slot, uint32_t i) {
    return grout_slot__data(it->cta, it->thread, slot) +
           (size_t)(slot->count == 1 ? 0 : i) * slot->element_bytes;
}

static bool is_undefined(const computing *it, uint32_t i) {
    const grout_slot *slot = &it->inst->result;
    return grout_slot__is_undefined(it->cta, it->thread, slot) &&
           (!slot->is_array || grout_slot__mask(it->cta, it->thread, slot)[i] != 0);
}

/* The worst of the operands' elements that made this one. */
static grout_finiteness get_worst_operand(const computing *it, uint32_t i) {
    grout_finiteness worst = GROUT_FINITE;
    for (uint32_t k = 0; k < it->inst->slot_count; k++) {
        const grout_finiteness kind =
            grout_finiteness_get(it->slots[k].dtype, get_element(it, &it->slots[k], i));
        worst = kind > worst ? kind : worst;
    }
    return worst;
}

/* The same of the elements that a reduction has combined. */
static grout_finiteness get_worst_reduced(const computing *it, uint32_t i) {
    const grout_slot *from = &it->slots[0];
    const int64_t columns = it->inst->u.reduce.rows.columns, rows = it->inst->u.reduce.rows.rows;
    const int64_t first = i / columns * columns * rows + i % columns;
    grout_finiteness worst = GROUT_FINITE;
    for (int64_t k = 0; k < rows; k++) {
        const grout_finiteness kind = grout_finiteness_get(
            from->dtype, get_element(it, from, (uint32_t)(first + k * columns)));
        worst = kind > worst ? kind : worst;
    }
    return worst;
}

static void add_operands(const computing *it, grout_fault *fault) {
    for (uint32_t k = 0; k < it->inst->slot_count && k < GROUT_FAULT_VALUES_MAX; k++) {
        fault->values[k] =
            get_bits(it->slots[k].dtype, get_element(it, &it->slots[k], (uint32_t)fault->start));
    }
}

/* The same of a scan: the element and those before it; COUNT if there is none. */
static grout_finiteness get_worst_scanned(const computing *it, uint32_t i) {
    const grout_slot *from = &it->slots[0];
    const int64_t columns = it->inst->u.reduce.rows.columns, rows = it->inst->u.reduce.rows.rows;
    const int64_t row = i / columns % rows, first = i - row * columns;
    const bool is_reverse = (it->inst->attrs & GROUT_ATTR_BIT(REVERSE)) != 0;
    const int64_t number = (is_reverse ? rows - row : row + 1) -
                           ((it->inst->attrs & GROUT_ATTR_BIT(EXCLUSIVE)) != 0 ? 1 : 0);
    grout_finiteness worst = number == 0 ? GROUT_FINITENESS_COUNT : GROUT_FINITE;
    for (int64_t k = 0; k < number; k++) {
        const int64_t at = first + (is_reverse ? rows - 1 - k : k) * columns;
        const grout_finiteness kind =
            grout_finiteness_get(from->dtype, get_element(it, from, (uint32_t)at));
        worst = kind > worst ? kind : worst;
    }
    return worst;
}

/* The same of an mma c, a, b: an element of c, a row of a and a column of b. */
static grout_finiteness get_worst_product(const computing *it, uint32_t i) {
    const grout_module *module = it->cta->machine->launch.module;
    const grout_op *op = grout_module_get_op(module, it->inst->op);
    const grout_type *type = grout_module_get_type(module, op->first_result);
    const uint32_t columns = (uint32_t)type->dims[type->rank - 1];
    const uint32_t depth = it->slots[2].count / columns, row = i / columns, column = i % columns;
    grout_finiteness worst =
        grout_finiteness_get(it->slots[0].dtype, get_element(it, &it->slots[0], i));
    for (uint32_t k = 0; k < depth; k++) {
        const grout_finiteness left = grout_finiteness_get(
            it->slots[1].dtype, get_element(it, &it->slots[1], row * depth + k));
        const grout_finiteness right = grout_finiteness_get(
            it->slots[2].dtype, get_element(it, &it->slots[2], k * columns + column));
        worst = left > worst ? left : worst;
        worst = right > worst ? right : worst;
    }
    return worst;
}

/* The worst element that this one of the result was made of. */
typedef grout_finiteness get_worst(const computing *it, uint32_t i);

static void check(const computing *it, get_worst *get) {
    const grout_slot *result = &it->inst->result;
    grout_non_finite noted = {.first = -1, .extent = result->is_array ? result->count : 0};
    for (uint32_t i = 0; i < result->count; i++) {
        const uint8_t *element = get_element(it, result, i);
        if (grout_finiteness_get(result->dtype, element) != GROUT_FINITE && !is_undefined(it, i)) {
            grout_non_finite__note(&noted, i, get(it, i), result->dtype, element);
        }
    }
    count(it->cta->machine, &noted);
    if (noted.made > 0) {
        grout_fault fault = make_fault(&noted);
        if (get == get_worst_operand) {
            add_operands(it, &fault);
        }
        grout_cta__fault(it->cta, it->thread, it->inst, 0, &fault);
    }
}

void grout_non_finite__check(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    if (inst->op == 0 || inst->result.count == 0 || inst->slot_count == 0 ||
        !is_float(inst->result.dtype)) {
        return;
    }
    const computing it = {cta, thread, inst, grout_plan__slot(cta->machine->plan, inst, 0)};
    const grout_rule rule = (grout_rule)grout_op_get_info((grout_opcode)inst->opcode)->rule;
    /* The other rules move elements, or have none that are computed. */
    if (rule == GROUT_RULE_JOIN || rule == GROUT_RULE_CONVERT || rule == GROUT_RULE_EXTERN) {
        check(&it, get_worst_operand);
    } else if (rule == GROUT_RULE_REDUCE) {
        check(&it, get_worst_reduced);
    } else if (rule == GROUT_RULE_SCAN) {
        check(&it, get_worst_scanned);
    } else if (rule == GROUT_RULE_MMA) {
        check(&it, get_worst_product);
    }
}

/* ---- inputs -------------------------------------------------------------------------------------
 */

static void publish_input(grout_machine *machine, grout_object_id object,
                          const grout_non_finite *noted) {
    const grout_fault fault = {.code = GROUT_DIAG_NON_FINITE_INPUT,
                               .object = object,
                               .start = noted->first,
                               .extent = noted->extent,
                               .have = (int64_t)noted->made,
                               .need = (int64_t)noted->bits,
                               .dtype = (uint8_t)noted->dtype,
                               .is_static = true};
    grout_event event;
    memset(&event, 0, sizeof event);
    event.kind = GROUT_EVENT_FAULT;
    event.u.fault = &fault;
    grout_machine__publish(machine, &event);
}

void grout_non_finite__inputs(grout_machine *machine) {
    const grout_module *module = machine->launch.module;
    const grout_kernel *kernel = grout_module_get_kernel(module, machine->launch.kernel);
    for (uint32_t i = 0; i < machine->array_count && i < kernel->param_count; i++) {
        const grout_gmem_array *array = &machine->arrays[i];
        const grout_param *param = grout_module_get_param(module, kernel, i);
        if (array->data == NULL || param->object == 0 || array->direction == GROUT_DIRECTION_OUT) {
            continue;
        }
        const grout_dtype dtype = (grout_dtype)grout_object_get_type(module, param->object)->dtype;
        const uint32_t bytes = grout_dtype_get_info(dtype)->bytes;
        grout_non_finite noted = {.first = -1, .extent = array->count};
        for (int64_t k = 0; is_float(dtype) && k < array->count; k++) {
            grout_non_finite__note(&noted, k, GROUT_FINITE, dtype,
                                   (const uint8_t *)array->data + k * bytes);
        }
        if (noted.made > 0 && grout_machine__wants(machine, GROUT_EVENT_FAULT)) {
            publish_input(machine, param->object, &noted);
        }
    }
}
