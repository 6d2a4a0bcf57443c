/* wgmma_turns.c - for how many turns of its loop a wgmma goes on reading registers.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A walk over the ops of the body, turn after turn, counts the groups that are started after the
 * wgmma, up to the wait that leaves no more than those in flight. Ops in blocks of the body do not
 * count, neither waits nor groups: the run may leave them out, and either only ends it sooner.
 *
 * ptxas knows that a register is read until a wait covers the wgmma, but not if the register's own
 * next value is computed before that wait: then the new value is written into it (seen in machine
 * code, and as wrong sums on an H100). Moves do not help, since it looks through them. So a set may
 * come again in the first turn that begins after the wait: the values are computed somewhere in
 * their turn, or, if a carry brings them, in one of the turns before.
 */
#include "wgmma_turns.h"

#include "invariant.h"
#include "wgmma.h"

#define TURNS_MAX (GROUT_WGMMA_GROUPS_MAX + 2) /* who waits at all has waited by then */
/* What a lane needs beside the sets and accumulators, for addresses and what it computes. */
#define OTHER_REGISTERS 24
#define CHAIN_MAX       8 /* ops that are followed from an operand back to the carries */

static bool starts_group(const grout_op *op) {
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    return sync != NULL && sync->object == GROUT_SYNC_OBJECT_WGMMA &&
           sync->mode == GROUT_SYNC_MODE_STARTS;
}

/* The registers of a lane that the tensor core reads after a wgmma has been issued. */
static uint32_t count_registers(const grout_module *module, grout_op_id id) {
    grout_wgmma wgmma;
    if (!starts_group(grout_module_get_op(module, id)) ||
        !grout_wgmma_plan(module, id, &wgmma, NULL)) {
        return 0;
    }
    const uint32_t steps = wgmma.step_count * wgmma.block_count;
    return (wgmma.a.is_register ? 4 * steps : 0) + (wgmma.is_sparse ? steps : 0);
}

static int64_t get_constant(const grout_module *module, const grout_op *op) {
    const grout_operand *operand = grout_module_get_operand(module, op, 0);
    return operand->kind != GROUT_OPERAND_EXPR
               ? -1
               : grout_module_get_expr_value(module, operand->id).integer;
}

static bool is_accumulator(const grout_module *module, grout_object_id object) {
    return object != 0 && grout_module_get_object(module, object)->space == GROUT_SPACE_ACC;
}

/* How many of the thread's groups an op may leave in flight; -1: it waits for none. */
static int64_t get_left(const grout_module *module, const grout_op *op) {
    const grout_op_info *info = grout_op_get_info((grout_opcode)op->opcode);
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    const bool is_of_wgmma = sync != NULL && sync->object == GROUT_SYNC_OBJECT_WGMMA;
    grout_view view;
    if (is_of_wgmma && sync->mode == GROUT_SYNC_MODE_STARTS) {
        return sync->covers != 0 ? 1 : -1;
    }
    if (is_of_wgmma && info->operands[0] == 'k') {
        return get_constant(module, op);
    }
    if (is_of_wgmma) {
        return grout_op_get_attr_integer(module, op, GROUT_ATTR_WAIT_GROUPS, -1);
    }
    const bool is_load =
        info->rule == GROUT_RULE_LOAD &&
        grout_module_get_view(module, grout_module_get_operand(module, op, 0), &view) &&
        is_accumulator(module, view.object);
    return is_load ? 0 : -1;
}

/* The first op from one to the end of its block that waits for a group after which *issued others
 * have been started, or 0. */
static grout_op_id find_wait(const grout_module *module, grout_op_id from, uint32_t *issued) {
    for (grout_op_id at = from; at != 0; at = grout_module_get_op(module, at)->next) {
        const grout_op *op = grout_module_get_op(module, at);
        const int64_t left = get_left(module, op);
        *issued += starts_group(op) ? 1 : 0;
        if (left >= 0 && *issued >= left) {
            return at;
        }
    }
    return 0;
}

grout_op_id grout_gpu__find_wgmma_cover(const grout_module *module, grout_op_id wgmma) {
    uint32_t issued = 0;
    return find_wait(module, grout_module_get_op(module, wgmma)->next, &issued);
}

/* In how many turns after its own a wait covers a wgmma that its own turn does not wait for; 0: in
 * none. */
static uint32_t count_turns(const grout_module *module, grout_op_id wgmma) {
    const grout_op *op = grout_module_get_op(module, wgmma);
    const grout_op_id first = grout_module_get_block(module, op->parent)->first;
    uint32_t issued = 0;
    (void)find_wait(module, op->next, &issued);
    for (uint32_t turn = 1; turn <= TURNS_MAX; turn++) {
        if (find_wait(module, first, &issued) != 0) {
            return turn;
        }
    }
    return 0;
}

/* ---- what carries bring ---- */

#define ALL_CARRIES UINT64_MAX /* or nobody knows which */

/* The carries of a loop, as bits, of which a value may be made. */
static uint64_t find_carries(const grout_module *module, const grout_op *loop, grout_value_id id,
                             uint32_t depth) {
    const grout_value *value = grout_module_get_value(module, id);
    const grout_block *body = grout_module_get_block(module, loop->first_block);
    const grout_value_id first = body->first_arg + body->arg_count - loop->result_count;
    uint64_t found = 0;
    if (id >= first && id < first + loop->result_count) {
        return id - first < 64 ? UINT64_C(1) << (id - first) : ALL_CARRIES;
    }
    if (value->kind != GROUT_VALUE_RESULT ||
        grout_module_get_op(module, value->op)->parent != loop->first_block) {
        return 0; /* from around the loop, or an index */
    }
    const grout_op *op = grout_module_get_op(module, value->op);
    if (depth == 0 || op->block_count > 0) {
        return ALL_CARRIES;
    }
    for (uint32_t k = 0; k < op->operand_count && found != ALL_CARRIES; k++) {
        const grout_operand *operand = grout_module_get_operand(module, op, k);
        if (operand->kind == GROUT_OPERAND_VALUE) {
            found |= find_carries(module, loop, operand->id, depth - 1);
        }
    }
    return found;
}

static uint64_t find_carries_of(const grout_module *module, const grout_op *loop,
                                const grout_operand *operand) {
    return operand == NULL || operand->kind != GROUT_OPERAND_VALUE || loop->result_count == 0
               ? 0
               : find_carries(module, loop, operand->id, CHAIN_MAX);
}

/* How many turns before its own an operand of a wgmma may have been computed: carries that bring it
 * on, each once, since what comes back to the same is either new or has stayed where it is. */
static uint32_t count_carries(const grout_module *module, const grout_op *loop, uint64_t carries) {
    const grout_op *yield = grout_block_find_yield(module, loop->first_block);
    uint64_t seen = 0, next = carries;
    uint32_t turns = 0;
    GROUT_ASSERT(carries == 0 || yield != NULL);
    while ((next & ~seen) != 0) {
        const uint64_t now = next & ~seen;
        seen |= now;
        turns++;
        for (uint32_t k = 0; k < loop->result_count && k < 64; k++) {
            if ((now >> k & 1) != 0) {
                next |= find_carries_of(module, loop, grout_module_get_operand(module, yield, k));
            }
        }
    }
    return turns;
}

bool grout_gpu__is_from_around(const grout_module *module, const grout_op *wgmma,
                               const grout_operand *operand) {
    if (operand == NULL || operand->kind != GROUT_OPERAND_VALUE) {
        return true;
    }
    const grout_value *value = grout_module_get_value(module, operand->id);
    return value->kind == GROUT_VALUE_BLOCK_ARG
               ? value->block != wgmma->parent
               : value->kind != GROUT_VALUE_RESULT ||
                     grout_module_get_op(module, value->op)->parent != wgmma->parent;
}

/* How many turns in a row write to registers of a wgmma of the body before those of the first are
 * free; 0: they are never. 1: all turns read what has been written before the loop. */
static uint32_t count_sets(const grout_module *module, const grout_op *loop, grout_op_id wgmma) {
    const grout_op *op = grout_module_get_op(module, wgmma);
    const grout_operand *a = grout_module_get_operand(module, op, 1);
    const grout_operand *metadata = grout_wgmma_get_metadata(module, op);
    if (grout_gpu__is_from_around(module, op, a) &&
        grout_gpu__is_from_around(module, op, metadata)) {
        return 1;
    }
    const uint32_t turns = count_turns(module, wgmma);
    const uint64_t carries =
        find_carries_of(module, loop, a) | find_carries_of(module, loop, metadata);
    return turns == 0 ? 0 : turns + 1 + count_carries(module, loop, carries);
}

static bool is_loop(const grout_op *op) {
    return grout_op_get_region_kind(op) == GROUT_REGION_LOOP;
}

/* Whether a wait covers the wgmma of a loop's last turn before the loop can come again. */
static bool is_covered_outside(const grout_module *module, const grout_op *loop,
                               grout_op_id wgmma) {
    uint32_t issued = 0;
    (void)find_wait(module, grout_module_get_op(module, wgmma)->next, &issued);
    for (const grout_op *at = loop;;) {
        const grout_op_id around = grout_module_get_block(module, at->parent)->parent;
        if (find_wait(module, at->next, &issued) != 0 || around == 0) {
            return true;
        }
        at = grout_module_get_op(module, around);
        if (is_loop(at)) {
            return false;
        }
    }
}

static uint32_t count_of_values(const grout_module *module, grout_value_id first, uint32_t count) {
    uint32_t registers = 0;
    for (grout_value_id value = first; value < first + count; value++) {
        const grout_object_id object = grout_module_get_value(module, value)->object;
        if (is_accumulator(module, object)) {
            registers += (uint32_t)grout_wgmma__count_registers(module, object);
        }
    }
    return registers;
}

/* Registers of the accumulators that a block, or one around it, has made. */
static uint32_t count_accumulators(const grout_module *module, grout_block_id block) {
    uint32_t registers = 0;
    for (grout_block_id at = block;;) {
        const grout_block *b = grout_module_get_block(module, at);
        registers += count_of_values(module, b->first_arg, b->arg_count);
        for (grout_op_id id = b->first; id != 0; id = grout_module_get_op(module, id)->next) {
            const grout_op *op = grout_module_get_op(module, id);
            registers += count_of_values(module, op->first_result, op->result_count);
        }
        if (b->parent == 0) {
            return registers;
        }
        at = grout_module_get_op(module, b->parent)->parent;
    }
}

/* Adds what a wgmma of a loop's body needs. */
static void add_wgmma(const grout_module *module, const grout_op *loop, grout_op_id id,
                      grout_wgmma_turns *turns) {
    const uint32_t registers = count_registers(module, id);
    if (registers == 0 || grout_gpu__find_wgmma_cover(module, id) != 0) {
        return;
    }
    const uint32_t sets = count_sets(module, loop, id);
    turns->registers += registers;
    turns->sets = sets > turns->sets ? sets : turns->sets;
    if (turns->fault == GROUT_WGMMA_TURNS_NONE && sets == 0) {
        turns->fault = GROUT_WGMMA_TURNS_UNCOVERED;
    } else if (turns->fault == GROUT_WGMMA_TURNS_NONE && sets > GROUT_WGMMA_SETS_MAX) {
        turns->fault = GROUT_WGMMA_TURNS_MANY;
    } else if (turns->fault == GROUT_WGMMA_TURNS_NONE && !is_covered_outside(module, loop, id)) {
        turns->fault = GROUT_WGMMA_TURNS_AGAIN;
    }
}

grout_wgmma_turns grout_gpu__plan_turns(const grout_module *module, const grout_op *loop,
                                        uint32_t registers_max) {
    const bool has_index = grout_op_get_region((grout_opcode)loop->opcode)->lead_args > 0;
    const grout_block_id body = loop->first_block + loop->block_count - 1;
    grout_wgmma_turns turns = {.fault =
                                   has_index ? GROUT_WGMMA_TURNS_NONE : GROUT_WGMMA_TURNS_WHILE};
    for (grout_op_id id = grout_module_get_block(module, body)->first; id != 0;
         id = grout_module_get_op(module, id)->next) {
        add_wgmma(module, loop, id, &turns);
    }
    if (turns.registers == 0) {
        return (grout_wgmma_turns){.fault = GROUT_WGMMA_TURNS_NONE};
    }
    turns.accumulators = count_accumulators(module, body);
    if (turns.fault == GROUT_WGMMA_TURNS_NONE &&
        turns.accumulators + turns.sets * turns.registers + OTHER_REGISTERS > registers_max) {
        turns.fault = GROUT_WGMMA_TURNS_REGISTERS;
    }
    return turns;
}

grout_wgmma_turns grout_gpu__plan_wgmma_turns(const grout_module *module, const grout_op *wgmma,
                                              uint32_t registers_max) {
    const grout_op_id around = grout_module_get_block(module, wgmma->parent)->parent;
    const grout_op *op = around == 0 ? NULL : grout_module_get_op(module, around);
    if (op == NULL || !is_loop(op)) {
        return (grout_wgmma_turns){.fault = GROUT_WGMMA_TURNS_NESTED};
    }
    return grout_gpu__plan_turns(module, op, registers_max);
}
