/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * plan_chain.c - which ops run together, strip by strip (exec_chain.c), and where in the buffers
 * their values are.
 *
 * A chain is a longest run of neighbouring ops of a block that are pure, elementwise, and give
 * arrays of one count. No other thread runs between them and nothing that they do is an event, so
 * nobody can tell in which order their elements are computed. An integer division is left out: its
 * quotients may be undefined, and masks are for whole arrays. So are indices that may wrap.
 *
 * A value that nothing after the chain uses is temporary: it lives in a buffer of one strip. It has
 * registers too, for when the members run one by one. These lie after all others, and all chains
 * share them.
 */
#include "exec.h"
#include "planner.h"

#define CHAIN_BYTES (12 * 1024) /* that the buffers of a chain may take of the nearest cache */
#define STRIP_MIN   128
#define STRIP_UNIT  64
#define REPEATED    (UINT32_C(1) << 31) /* numbers of buffers of repeated scalars */

/* ---- finding ------------------------------------------------------------------------------------
 */

/* Whether its result may be undefined though its operands are not: a division of integers. */
static bool may_be_open(const grout_planner *planner, const grout_op *op) {
    grout_dtype dtype = grout_module_get_type(planner->module, op->first_result)->dtype;
    return grout_op_is_partial((grout_opcode)op->opcode) &&
           grout_dtype_get_info(dtype)->class_ != GROUT_CLASS_FLOAT;
}

static bool is_elementwise(const grout_planner *planner, const grout_op *op) {
    if (grout_planner__is_traced(planner, op)) {
        return false; /* which of its elements have wrapped is asked one op at a time */
    }
    switch ((grout_rule)grout_op_get_info(op->opcode)->rule) {
    case GROUT_RULE_JOIN:
    case GROUT_RULE_COMPARE:
        return !may_be_open(planner, op);
    case GROUT_RULE_SELECT:
    case GROUT_RULE_CONVERT:
    case GROUT_RULE_BITCAST:
    case GROUT_RULE_RESHAPE:
    case GROUT_RULE_LAYOUT:
    case GROUT_RULE_BROADCAST:
    case GROUT_RULE_IOTA:
        return true;
    case GROUT_RULE_NONE:
    case GROUT_RULE_TRUTH:
    case GROUT_RULE_INTEGER:
    case GROUT_RULE_SLICE:
    case GROUT_RULE_CONCATENATE:
    case GROUT_RULE_TRANSPOSE:
    case GROUT_RULE_REDUCE:
    case GROUT_RULE_LOAD:
    case GROUT_RULE_STORE:
    case GROUT_RULE_SCAN:
    case GROUT_RULE_MASKED_LOAD:
    case GROUT_RULE_MASKED_STORE:
    case GROUT_RULE_GATHER:
    case GROUT_RULE_SCATTER:
    case GROUT_RULE_MASKED_COPY:
    case GROUT_RULE_GATHER_COPY:
    case GROUT_RULE_FETCH:
    case GROUT_RULE_COPY:
    case GROUT_RULE_IM2COL:
    case GROUT_RULE_ROWS:
    case GROUT_RULE_DESCRIPTOR:
    case GROUT_RULE_WGMMA:
    case GROUT_RULE_TCGEN05:
    case GROUT_RULE_TCGEN05_COPY:
    case GROUT_RULE_MMA:
    case GROUT_RULE_PRINT:
    case GROUT_RULE_PRINT_LAYOUT:
    case GROUT_RULE_CHECK:
    case GROUT_RULE_PROMISE: /* may be a finding */
    case GROUT_RULE_EXTERN:  /* calls what is not ours, an element at a time */
    case GROUT_RULE_OBJECT:
    case GROUT_RULE_CONDITION:
    case GROUT_RULE_YIELD:
    case GROUT_RULE_REGION:
        break;
    }
    return false;
}

static bool is_broadcast(const grout_op *op) {
    return grout_op_get_info(op->opcode)->rule == GROUT_RULE_BROADCAST;
}

/* How many elements an op of the chain that begins at a position has; 0 if it cannot be in it. A
 * broadcast needs all of its source, which therefore may not come from the chain. */
static int64_t get_count(const grout_planner *planner, const grout_op *op, uint32_t begin) {
    const grout_module *module = planner->module;
    if (!is_elementwise(planner, op)) {
        return 0;
    }
    const grout_type *type = grout_module_get_type(module, op->first_result);
    if (is_broadcast(op)) {
        const grout_operand *source = grout_module_get_operand(module, op, 0);
        if (source->kind == GROUT_OPERAND_VALUE && planner->defined[source->id] >= begin) {
            return 0;
        }
    }
    return type->kind == GROUT_TYPE_ARRAY && type->rank > 0 ? grout_type_get_count(type) : 0;
}

/* The last op of the chain that begins with an op; 0 if none does. */
static grout_op_id find_end(const grout_planner *planner, grout_op_id first) {
    const grout_module *module = planner->module;
    uint32_t begin = planner->op_begin[first];
    const grout_op *op = grout_module_get_op(module, first);
    int64_t count = get_count(planner, op, begin);
    grout_op_id last = 0, next = op->next;
    while (count > 1 && next != 0) {
        op = grout_module_get_op(module, next);
        if (get_count(planner, op, begin) != count) {
            break;
        }
        last = next;
        next = op->next;
    }
    return last;
}

/* ---- buffers ------------------------------------------------------------------------------------
 */

/* The state while a chain is lowered. Buffers are numbered from 1. Those of repeated scalars are
 * filled before the first strip, so they have numbers of their own. */
typedef struct chain_state {
    uint32_t head, chain; /* of the plan's instructions, of its chains */
    uint32_t buffer_count, repeated_count;
    uint32_t bytes_max; /* of an element */
} chain_state;

static grout_chain_plan *get_chain(const grout_planner *planner, const chain_state *state) {
    return grout_pool__at(&planner->plan->chains, state->chain);
}

static uint32_t take_buffer(grout_planner *planner, chain_state *state, grout_value_id value) {
    uint32_t buffer = grout_pool__take(&planner->buffers, planner->plan->heap);
    planner->failed |= buffer == 0;
    state->buffer_count = state->buffer_count < buffer ? buffer : state->buffer_count;
    planner->value_buffers[value] = buffer;
    return buffer;
}

/* A scalar that is used again is in the same buffer, unless it is repeated there in f32. */
static void place_operand(grout_planner *planner, chain_state *state, const grout_inst *inst,
                          grout_chain_step *step, uint32_t index) {
    const grout_slot *slot = grout_plan__slot(planner->plan, inst, index);
    const grout_op *op = grout_module_get_op(planner->module, inst->op);
    const grout_operand *operand = grout_module_get_operand(planner->module, op, index);
    bool is_scalar = slot->count == 1 && !is_broadcast(op);
    bool is_shared =
        operand->kind == GROUT_OPERAND_VALUE && !(is_scalar && inst->u.elementwise.is_wide);
    grout_value_id value = is_shared ? operand->id : 0;
    uint32_t bytes = inst->u.elementwise.is_wide ? sizeof(float) : slot->element_bytes;
    state->bytes_max = state->bytes_max < bytes ? bytes : state->bytes_max;
    bool is_widened = is_scalar ? inst->u.elementwise.is_wide : planner->value_is_widened[value];
    if (is_scalar && (value == 0 || planner->value_buffers[value] == 0)) {
        step->operands[index] = ++state->repeated_count | REPEATED;
        step->fills |= (uint8_t)(1u << index);
        planner->value_buffers[value] = step->operands[index]; /* value 0: a constant */
    } else if (is_scalar || slot->is_temporary) {
        step->operands[index] = planner->value_buffers[value];
    }
    if (is_widened && (is_scalar || slot->is_temporary)) {
        step->widened |= (uint8_t)(1u << index);
    }
}

/* Buffers of temporaries whose last use this was. */
static void give_buffers(grout_planner *planner, const grout_inst *inst) {
    const grout_op *op = grout_module_get_op(planner->module, inst->op);
    uint32_t position = planner->op_begin[inst->op];
    for (uint32_t i = 0; i <= op->operand_count; i++) {
        grout_value_id value = op->first_result;
        if (i < op->operand_count) {
            const grout_operand *operand = grout_module_get_operand(planner->module, op, i);
            value = operand->kind == GROUT_OPERAND_VALUE ? operand->id : 0;
        }
        if (value != 0 && planner->value_slots[value].is_temporary &&
            planner->last_use[value] == position && planner->value_buffers[value] != 0) {
            grout_pool__give(&planner->buffers, planner->value_buffers[value]);
            planner->value_buffers[value] = 0;
        }
    }
}

/* The step of the instruction that was lowered last. A result never shares a buffer with an
 * operand: loops read and write different memory. */
static void add_step(grout_planner *planner, chain_state *state) {
    grout_plan *plan = planner->plan;
    uint32_t inst_index = grout_plan__get_next(&plan->insts) - 1;
    uint32_t index = grout_pool__take(&plan->steps, plan->heap);
    if (index == 0) {
        planner->failed = true;
        return;
    }
    grout_inst *inst = grout_planner__get_inst(planner, inst_index);
    grout_chain_step *step = grout_pool__at(&plan->steps, index);
    inst->is_member = true;
    step->inst = inst_index;
    for (uint32_t i = 0; i < inst->slot_count; i++) {
        place_operand(planner, state, inst, step, i);
    }
    uint8_t bytes = inst->result.element_bytes;
    state->bytes_max = state->bytes_max < bytes ? bytes : state->bytes_max;
    if (inst->result.is_temporary) {
        grout_value_id value = grout_module_get_op(planner->module, inst->op)->first_result;
        step->result = take_buffer(planner, state, value);
        step->widened |= planner->value_is_widened[value] ? 1u << 3 : 0;
    }
    give_buffers(planner, inst);
    get_chain(planner, state)->step_count++;
    get_chain(planner, state)->work += inst->work;
}

/* As long as the buffers fit, and whole vectors. */
static void set_strip(grout_planner *planner, const chain_state *state) {
    grout_plan *plan = planner->plan;
    grout_chain_plan *chain = get_chain(planner, state);
    uint32_t count = state->buffer_count + state->repeated_count;
    uint32_t strip = CHAIN_BYTES / (state->bytes_max * (count + 1)) / STRIP_UNIT * STRIP_UNIT;
    strip = strip < STRIP_MIN ? STRIP_MIN : strip;
    chain->strip = strip > GROUT_STRIP ? GROUT_STRIP : strip;
    uint32_t buffer_bytes = chain->strip * state->bytes_max;
    for (uint32_t i = 0; i < chain->step_count; i++) {
        grout_chain_step *step =
            (grout_chain_step *)(void *)plan->steps.data + chain->first_step + i;
        uint32_t *places[] = {&step->result, &step->operands[0], &step->operands[1],
                              &step->operands[2]};
        for (uint32_t k = 0; k < 4; k++) {
            uint32_t number = *places[k] & ~REPEATED;
            number += (*places[k] & REPEATED) != 0 ? state->buffer_count : 0;
            *places[k] = number == 0 ? 0 : (number - 1) * buffer_bytes + 1;
        }
    }
    if (count > GROUT_PLAN_BYTES_MAX / buffer_bytes) {
        planner->failed = planner->is_too_large = true;
    } else if (plan->chain_bytes_max < count * buffer_bytes) {
        plan->chain_bytes_max = count * buffer_bytes;
    }
    if (plan->chain_steps_max < chain->step_count) {
        plan->chain_steps_max = chain->step_count;
    }
}

/* Finds the f16 and bf16 values that stay in f32, rounded: arithmetic gives them and only
 * arithmetic takes them. A use comes after the definition. */
static void find_widened(grout_planner *planner, grout_op_id first, grout_op_id end) {
    const grout_module *module = planner->module;
    for (grout_op_id id = first; id != end; id = grout_module_get_op(module, id)->next) {
        const grout_op *op = grout_module_get_op(module, id);
        const grout_type *type = grout_module_get_type(module, op->first_result);
        bool is_arithmetic = grout_op_get_info(op->opcode)->expression != NULL;
        planner->value_is_widened[op->first_result] =
            is_arithmetic && grout_loops__get_compute_dtype(type->dtype) != type->dtype;
        for (uint32_t i = 0; i < op->operand_count && !is_arithmetic; i++) {
            const grout_operand *operand = grout_module_get_operand(module, op, i);
            if (operand->kind == GROUT_OPERAND_VALUE) {
                planner->value_is_widened[operand->id] = false;
            }
        }
    }
}

/* ---- lowering -----------------------------------------------------------------------------------
 */

/* Adds the chain's inputs, each as often as it is used, as slots of the chain's own instruction. */
static void add_inputs(grout_planner *planner, uint32_t head, grout_op_id first, grout_op_id end) {
    const grout_module *module = planner->module;
    for (grout_op_id id = first; id != end; id = grout_module_get_op(module, id)->next) {
        const grout_op *op = grout_module_get_op(module, id);
        for (uint32_t i = 0; i < op->operand_count; i++) {
            const grout_operand *operand = grout_module_get_operand(module, op, i);
            if (operand->kind == GROUT_OPERAND_VALUE &&
                planner->defined[operand->id] < planner->op_begin[first]) {
                grout_planner__add_slot_to(planner, head, planner->value_slots[operand->id]);
            }
        }
    }
}

static bool begin_chain(grout_planner *planner, chain_state *state, grout_op_id first) {
    grout_plan *plan = planner->plan;
    state->head = grout_planner__add_inst(planner, grout_exec_chain, 0);
    state->chain = grout_pool__take(&plan->chains, plan->heap);
    if (planner->failed || state->chain == 0) {
        planner->failed = true;
        return false;
    }
    grout_inst *inst = grout_planner__get_inst(planner, state->head);
    inst->is_silent = true;
    inst->u.chain = state->chain;
    const grout_op *op = grout_module_get_op(planner->module, first);
    grout_chain_plan *chain = get_chain(planner, state);
    chain->first_step = grout_plan__get_next(&plan->steps);
    chain->count =
        (uint32_t)grout_type_get_count(grout_module_get_type(planner->module, op->first_result));
    return true;
}

/* A chain knows nothing of the buffers of the chain before it. */
static void forget_buffers(grout_planner *planner, grout_op_id first, grout_op_id end) {
    const grout_module *module = planner->module;
    for (grout_op_id id = first; id != end; id = grout_module_get_op(module, id)->next) {
        const grout_op *op = grout_module_get_op(module, id);
        planner->value_buffers[op->first_result] = 0;
        for (uint32_t i = 0; i < op->operand_count; i++) {
            const grout_operand *operand = grout_module_get_operand(module, op, i);
            if (operand->kind == GROUT_OPERAND_VALUE) {
                planner->value_buffers[operand->id] = 0;
            }
        }
    }
    grout_pool__clear(&planner->buffers);
}

grout_op_id grout_planner__lower_chain(grout_planner *planner, grout_op_id first) {
    const grout_module *module = planner->module;
    grout_op_id last = planner->launch->is_unfused || planner->launch->track_non_finite
                           ? 0
                           : find_end(planner, first);
    chain_state state = {.bytes_max = 1};
    if (last == 0 || !begin_chain(planner, &state, first)) {
        return last;
    }
    grout_op_id end = grout_module_get_op(module, last)->next;
    add_inputs(planner, state.head, first, end);
    find_widened(planner, first, end);
    planner->chain_end = planner->op_begin[last];
    for (grout_op_id id = first; id != end && grout_planner__goes_on(planner);
         id = grout_module_get_op(module, id)->next) {
        grout_planner__lower_op(planner, id);
        if (!planner->failed) {
            add_step(planner, &state);
        }
        grout_planner__expire(planner, planner->op_begin[id]);
    }
    planner->chain_end = 0;
    if (planner->failed) {
        return last;
    }
    for (grout_op_id id = first; id != end; id = grout_module_get_op(module, id)->next) {
        grout_planner__expire(planner, planner->op_begin[id]);
    }
    set_strip(planner, &state);
    forget_buffers(planner, first, end);
    grout_planner__get_inst(planner, state.head)->target =
        grout_plan__get_next(&planner->plan->insts);
    return last;
}
