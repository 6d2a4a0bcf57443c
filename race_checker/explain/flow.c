/*
 * flow.c - where values that depend on the schedule come from, and where they go.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow.h"

#include "statement.h"

#include "alloc.h"

#define FIRST_CLASS 24
_Static_assert(GROUT_UPDATE_COUNT <= FIRST_CLASS, "grout_flow.kinds has a bit for each update");

/* Updates after which an element is defined though it was not before. */
#define REPLACING (1u << GROUT_UPDATE_EXCHANGE | 1u << GROUT_UPDATE_COMPARE_SWAP)

/* ---- spreading ---- */

bool grout_flow__is_in_kernel(const grout_flow *it, grout_op_id id) {
    return grout_op__is_in_kernel(it->module, id, it->kernel);
}

/* Whether operations are followed that the caller names. */
static bool has_reads(const grout_flow *it) {
    return it->read != 0 || it->reads != NULL;
}

grout_op_id grout_flow__choose(const grout_flow *it, grout_op_id a, grout_op_id b) {
    const bool is_second = a == 0 || (it->reads != NULL && b != 0 && b < a);
    return is_second ? b : a;
}

static void mark(grout_flow *it, grout_op_id *place, grout_op_id source) {
    const grout_op_id chosen = grout_flow__choose(it, *place, source);
    if (chosen != *place) {
        *place = chosen;
        it->has_changed = it->has_marks = true;
    }
}

static grout_object_id find_object(const grout_flow *it, const grout_op *op, uint32_t index) {
    const grout_object_id object = grout_op__find_object(it->module, op, index);
    return object == 0 ? 0 : grout_object_get_root(it->module, object);
}

/* Whether nobody but the kernel gives the object its values. */
static bool is_empty_at_first(const grout_flow *it, grout_object_id object) {
    const grout_kernel *kernel = grout_module_get_kernel(it->module, it->kernel);
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        const grout_param *param = grout_module_get_param(it->module, kernel, i);
        if (param->object == object) {
            return param->direction == GROUT_DIRECTION_OUT;
        }
    }
    return true;
}

grout_op_id grout_flow__find_operand(const grout_flow *it, const grout_op *op, uint32_t index,
                                     grout_trait trait) {
    const grout_operand *operand = grout_module_get_operand(it->module, op, index);
    grout_object_id object = find_object(it, op, index);
    if (object) {
        return it->objects[trait][object];
    }
    return operand->kind == GROUT_OPERAND_VALUE ? it->values[trait][operand->id] : 0;
}

grout_op_id grout_flow__find_input(const grout_flow *it, const grout_op *op, grout_trait trait) {
    grout_op_id found = 0;
    for (uint32_t i = 0; i < op->operand_count && (!found || it->reads != NULL); i++) {
        found = grout_flow__choose(it, found, grout_flow__find_operand(it, op, i, trait));
    }
    return found;
}

/* ---- what earlier launches left ---- */

/* A source that is no operation: this bit, and which of a parameter's chances it is. */
#define OF_PAST (UINT32_C(1) << 31)

_Static_assert((int)GROUT_TRAIT_VALUE == (int)GROUT_CHANCE_VALUE &&
                   (int)GROUT_TRAIT_DEFINED == (int)GROUT_CHANCE_DEFINED,
               "a chance is the trait of its name");

const grout_chance *grout_flow__get_chance(const grout_checker *checker, grout_op_id source) {
    const uint32_t index = source & ~OF_PAST;
    return (source & OF_PAST) == 0
               ? NULL
               : &checker->pasts[index / GROUT_CHANCE_COUNT].chances[index % GROUT_CHANCE_COUNT];
}

static void mark_pasts(grout_flow *it) {
    const grout_checker *checker = it->checker;
    const grout_kernel *kernel = grout_module_get_kernel(it->module, it->kernel);
    const bool has_pasts = checker != NULL && checker->pasts != NULL && !has_reads(it);
    for (uint32_t i = 0; has_pasts && i < kernel->param_count * GROUT_CHANCE_COUNT; i++) {
        const grout_param *param =
            grout_module_get_param(it->module, kernel, i / GROUT_CHANCE_COUNT);
        if (param->object != 0 && param->direction != GROUT_DIRECTION_OUT &&
            checker->pasts[i / GROUT_CHANCE_COUNT].chances[i % GROUT_CHANCE_COUNT].op != 0) {
            it->objects[i % GROUT_CHANCE_COUNT][param->object] = OF_PAST | i;
            it->has_marks = true;
        }
    }
}

/* Atomics of earlier grids that meet those of this one. */
static void mark_grids(grout_flow *it) {
    const uint32_t count = it->checker == NULL || has_reads(it) ? 0 : it->checker->run.object_count;
    for (uint32_t i = 0; i < count; i++) {
        it->kinds[i] |= it->checker->run.grid_updates[i];
    }
}

/* To every object that the op writes or combines with. */
static void spread_to_memory(grout_flow *it, const grout_op *op, grout_trait trait,
                             grout_op_id source) {
    uint32_t count = 0;
    const grout_op_info *info = grout_op_get_info((grout_opcode)op->opcode);
    const grout_effect *effects =
        grout_effect_row_get_effects((grout_effect_row)info->effect_row, &count);
    for (uint32_t i = 0; i < count; i++) {
        bool writes =
            effects[i].access == GROUT_ACCESS_WRITE || effects[i].access == GROUT_ACCESS_ATOMIC;
        grout_object_id object = writes && effects[i].operand < op->operand_count
                                     ? find_object(it, op, effects[i].operand)
                                     : 0;
        if (object) {
            mark(it, &it->objects[trait][object], source);
        }
    }
}

/* Whether the op has met something undefined; without a checker, whether it may. */
static bool meets_undefined(const grout_flow *it, grout_op_id id) {
    const grout_op *op = grout_module_get_op(it->module, id);
    return it->checker != NULL ? it->checker->run.undefined_ops[id] != 0
                               : grout_flow__find_input(it, op, GROUT_TRAIT_UNDEFINED) != 0;
}

/*
 * Whether it depends on the order of the object's atomics which of them find it defined: one of
 * them brings, or replaces, what is undefined.
 */
static bool is_definedness_open(const grout_flow *it, grout_op_id id, grout_object_id object) {
    const grout_op *op = grout_module_get_op(it->module, id);
    uint32_t target = grout_op_find_target((grout_opcode)op->opcode);
    bool is_open = it->checker != NULL || (it->kinds[object] & REPLACING) != 0;
    for (uint32_t i = 0; i < op->operand_count && !is_open; i++) {
        is_open = i != target && grout_flow__find_operand(it, op, i, GROUT_TRAIT_UNDEFINED) != 0;
    }
    return is_open &&
           (meets_undefined(it, id) || (it->checker == NULL && is_empty_at_first(it, object)));
}

/* The bits of an update, and of the numbers that it takes the bytes for: an array may have names of
 * several types. Signed numbers are others than unsigned ones where one is the smaller. */
static uint32_t get_kind(grout_update update, grout_dtype dtype) {
    const bool compares = update == GROUT_UPDATE_MIN || update == GROUT_UPDATE_MAX;
    const uint32_t class_ = grout_dtype_get_info(dtype)->class_;
    const uint32_t of = class_ == GROUT_CLASS_SINT && !compares ? GROUT_CLASS_UINT : class_;
    return 1u << update | 1u << (FIRST_CLASS + of);
}

/* Memory whose contents depend on the order in which atomics come. */
static void spread_atomic(grout_flow *it, grout_op_id id, const grout_op *op) {
    grout_update update = grout_op_get_update(it->module, op);
    const uint32_t target = grout_op_find_target((grout_opcode)op->opcode);
    grout_object_id object = update != GROUT_UPDATE_NONE ? find_object(it, op, target) : 0;
    bool is_open = false;
    if (!object || (it->only != 0 && object != it->only)) {
        return;
    }
    const grout_dtype dtype = (grout_dtype)grout_object_get_type(
                                  it->module, grout_op__find_object(it->module, op, target))
                                  ->dtype;
    const uint32_t kind = get_kind(update, dtype);
    it->has_changed = it->has_changed || !(it->kinds[object] & kind);
    it->kinds[object] |= kind;
    is_open = it->kinds[object] != kind || grout_update_is_ordered(update, dtype);
    mark(it, &it->objects[GROUT_TRAIT_VALUE][object], is_open ? id : 0);
    mark(it, &it->objects[GROUT_TRAIT_DEFINED][object],
         is_definedness_open(it, id, object) ? id : 0);
}

/* What a choice by a value that depends on the schedule finds, where one of the two is undefined.
 */
static grout_op_id find_choice(const grout_flow *it, grout_op_id id, const grout_op *op) {
    bool is_choice = grout_op_get_info((grout_opcode)op->opcode)->rule == GROUT_RULE_SELECT;
    const grout_op_id source = is_choice && meets_undefined(it, id)
                                   ? grout_flow__find_operand(it, op, 0, GROUT_TRAIT_VALUE)
                                   : 0;
    return source == 0 || it->reads != NULL ? source : id;
}

/* A constant, or an array of copies of one. */
static bool is_constant(const grout_flow *it, const grout_operand *operand, int64_t *value_out) {
    while (operand->kind == GROUT_OPERAND_VALUE) {
        const grout_value *value = grout_module_get_value(it->module, operand->id);
        const grout_op *op = grout_module_get_op(it->module, value->op);
        if (value->kind != GROUT_VALUE_RESULT ||
            grout_op_get_info((grout_opcode)op->opcode)->rule != GROUT_RULE_BROADCAST) {
            return false;
        }
        operand = grout_module_get_operand(it->module, op, 0);
    }
    if (operand->kind == GROUT_OPERAND_EXPR) {
        *value_out = grout_module_get_expr_value(it->module, operand->id).integer;
    }
    return operand->kind == GROUT_OPERAND_EXPR;
}

/* Whether an op divides integers. */
static bool is_integer_division(const grout_flow *it, const grout_op *op) {
    return grout_op_is_partial((grout_opcode)op->opcode) &&
           grout_dtype_get_info(
               (grout_dtype)grout_module_get_type(it->module, op->first_result)->dtype)
                   ->class_ != GROUT_CLASS_FLOAT;
}

/* Whether the divisor may be -1, by which the least integer has no quotient. */
static bool may_overflow(const grout_flow *it, const grout_op *op) {
    int64_t divisor = 0;
    return grout_dtype_get_info(
               (grout_dtype)grout_module_get_type(it->module, op->first_result)->dtype)
                   ->class_ == GROUT_CLASS_SINT &&
           (!is_constant(it, grout_module_get_operand(it->module, op, 1), &divisor) ||
            divisor == -1);
}

/* A division whose divisor, or, if that may be -1, whose dividend depends on the schedule: there
 * may be no quotient under some of them. */
static grout_op_id find_quotient(const grout_flow *it, grout_op_id id, const grout_op *op) {
    if (!is_integer_division(it, op)) {
        return 0;
    }
    const grout_op_id divisor = grout_flow__find_operand(it, op, 1, GROUT_TRAIT_VALUE);
    const grout_op_id dividend = grout_flow__find_operand(it, op, 0, GROUT_TRAIT_VALUE);
    const grout_op_id source =
        grout_flow__choose(it, divisor, dividend != 0 && may_overflow(it, op) ? dividend : 0);
    return source == 0 || it->reads != NULL ? source : id;
}

/* Whether a division may have no quotient, for all that its text says. */
static bool may_be_open(const grout_flow *it, const grout_op *op) {
    int64_t divisor = 0;
    return is_integer_division(it, op) &&
           (!is_constant(it, grout_module_get_operand(it->module, op, 1), &divisor) ||
            divisor == 0 || may_overflow(it, op));
}

/* What is not known to be written when the kernel reads it, or to have a quotient. */
static grout_op_id find_unwritten(const grout_flow *it, grout_op_id id, const grout_op *op) {
    grout_op_id found = may_be_open(it, op) ? id : 0;
    for (uint32_t i = 0; i < op->operand_count && !found && op->result_count > 0; i++) {
        grout_object_id object = find_object(it, op, i);
        found = object != 0 && is_empty_at_first(it, object) ? id : 0;
    }
    return found;
}

static void spread_to_results(grout_flow *it, const grout_op *op, grout_trait trait,
                              grout_op_id source) {
    for (uint32_t i = 0; i < op->result_count; i++) {
        mark(it, &it->values[trait][op->first_result + i], source);
    }
}

/* A value that a region's op takes or yields, to what carries it inside and after the region. */
static void spread_carried(grout_flow *it, const grout_op *op, uint32_t index, grout_trait trait,
                           grout_op_id source) {
    const grout_block *block = grout_module_get_block(it->module, op->first_block);
    const grout_region_info *region = grout_op_get_region((grout_opcode)op->opcode);
    uint32_t arg = region->lead_args + index;
    if (region->kind == GROUT_REGION_LOOP && arg < block->arg_count) {
        mark(it, &it->values[trait][block->first_arg + arg], source);
    }
    if (index < op->result_count) {
        mark(it, &it->values[trait][op->first_result + index], source);
    }
}

uint8_t grout_flow__get_letter_kind(const grout_op *op, uint32_t operand) {
    return grout_letter_get_info(grout_op_get_letter((grout_opcode)op->opcode, operand))->kind;
}

uint32_t grout_flow__get_lead_count(const grout_op *op) {
    uint8_t shape = grout_op_get_info((grout_opcode)op->opcode)->shape;
    uint32_t count = 0;
    if (shape == GROUT_SHAPE_REGION || shape == GROUT_SHAPE_END) {
        while (count < op->operand_count &&
               grout_flow__get_letter_kind(op, count) != GROUT_LETTER_REST) {
            count++;
        }
    }
    return count;
}

/* What the op carries into its blocks, or yields to the op around it. */
static void spread_to_region(grout_flow *it, const grout_op *op, grout_op_id region,
                             grout_trait trait) {
    uint32_t first = grout_flow__get_lead_count(op);
    for (uint32_t i = first; region && i < op->operand_count; i++) {
        spread_carried(it, grout_module_get_op(it->module, region), i - first, trait,
                       grout_flow__find_operand(it, op, i, trait));
    }
}

static void spread_trait(grout_flow *it, const grout_op *op, grout_trait trait,
                         grout_op_id source) {
    source = grout_flow__choose(it, source, grout_flow__find_input(it, op, trait));
    spread_to_results(it, op, trait, source);
    spread_to_memory(it, op, trait, source);
}

/* What begins at the op. */
static void spread_sources(grout_flow *it, grout_op_id id, const grout_op *op) {
    bool has_run = it->checker == NULL || it->checker->run.op_threads[id] != 0;
    if (has_reads(it) && (it->read == id || (it->reads != NULL && it->reads[id] != 0))) {
        spread_to_results(it, op, GROUT_TRAIT_VALUE, id);
        spread_to_memory(it, op, GROUT_TRAIT_VALUE, id);
    }
    if (has_reads(it) || !has_run) {
        return;
    }
    if (grout_op_returns_old_value((grout_opcode)op->opcode) &&
        (it->only == 0 || find_object(it, op, 0) == it->only)) {
        spread_to_results(it, op, GROUT_TRAIT_VALUE, id);
    }
    spread_atomic(it, id, op);
}

/* Whether the op can hand on anything: while nothing has a trait, what is undefined whatever the
 * schedule, which a checker knows of the run, is the only one to come from no source. Most kernels
 * end here. */
static bool may_hand_on(const grout_flow *it) {
    return it->has_marks || it->checker == NULL;
}

static void spread(grout_flow *it, grout_op_id id) {
    const grout_op *op = grout_module_get_op(it->module, id);
    const grout_op_info *info = grout_op_get_info((grout_opcode)op->opcode);
    bool is_control =
        grout_effect_row_get_class((grout_effect_row)info->effect_row) == GROUT_EFFECT_CONTROL;
    if (info->shape == GROUT_SHAPE_REGION || info->shape == GROUT_SHAPE_END) {
        for (uint32_t trait = 0; trait < GROUT_TRAIT_COUNT && may_hand_on(it); trait++) {
            spread_to_region(
                it, op,
                info->shape == GROUT_SHAPE_REGION ? id : grout_op__get_parent(it->module, id),
                (grout_trait)trait);
        }
        return;
    }
    spread_sources(it, id, op);
    if (!is_control && may_hand_on(it)) {
        spread_trait(it, op, GROUT_TRAIT_VALUE, 0);
        grout_op_id open = find_choice(it, id, op);
        spread_trait(it, op, GROUT_TRAIT_DEFINED,
                     grout_flow__choose(it, open, find_quotient(it, id, op)));
        spread_trait(it, op, GROUT_TRAIT_UNDEFINED,
                     it->checker == NULL ? find_unwritten(it, id, op) : 0);
    }
}

/* What a loop that is asked about hands on, into its turns and out of it. */
static void mark_carried(grout_flow *it, grout_op_id read) {
    const grout_op *op = grout_module_get_op(it->module, read);
    if (op->block_count > 0) {
        spread_carried(it, op, it->carried, GROUT_TRAIT_VALUE, read);
    }
}

static void mark_reads(grout_flow *it) {
    for (grout_op_id i = 1; it->reads != NULL && i < grout_module_get_op_count(it->module); i++) {
        if (it->reads[i] != 0) {
            mark_carried(it, i);
        }
    }
    if (it->read != 0) {
        mark_carried(it, it->read);
    }
}

static grout_op_id *make_marks(const grout_flow *it, uint32_t count) {
    return grout__new(it->allocator, count, sizeof(grout_op_id));
}

static bool allocate(grout_flow *it) {
    uint32_t values = grout_module_get_value_count(it->module);
    uint32_t objects = grout_module_get_object_count(it->module);
    it->kinds = grout__new(it->allocator, objects, sizeof *it->kinds);
    for (uint32_t trait = 0; trait < GROUT_TRAIT_COUNT; trait++) {
        it->values[trait] = make_marks(it, values);
        it->objects[trait] = make_marks(it, objects);
        if (!it->values[trait] || !it->objects[trait]) {
            return false;
        }
    }
    return it->kinds != NULL;
}

bool grout_flow__run(grout_flow *it) {
    uint32_t count = grout_module_get_op_count(it->module);
    if (!allocate(it)) {
        return false;
    }
    mark_pasts(it);
    mark_grids(it);
    mark_reads(it);
    do {
        it->has_changed = false;
        for (grout_op_id i = 1; i < count; i++) {
            if (grout_flow__is_in_kernel(it, i)) {
                spread(it, i);
            }
        }
    } while (it->has_changed);
    return true;
}

void grout_flow__deinit(grout_flow *it) {
    for (uint32_t trait = 0; trait < GROUT_TRAIT_COUNT; trait++) {
        grout__free(it->values[trait]);
        grout__free(it->objects[trait]);
    }
    grout__free(it->kinds);
}
