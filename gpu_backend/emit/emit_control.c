/* emit_control.c - loops, branches, scopes and what they yield.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit.h"

#include "invariant.h"

#include <inttypes.h>
#include <stdio.h>

/* target = operand, register by register where the target has several. */
static void assign(grout_emitter *e, grout_value_id target, const grout_operand *from) {
    const grout_register_layout *layout = grout_emit__layout(e, target);
    const char *name = grout_emit__name(e, target);
    if (!grout_emit__has_registers(layout)) {
        grout_emit__begin(e);
        grout_emit__add(e, "%s = ", name);
        grout_emit__operand(e, from, NULL);
        grout_emit__end(e, ";");
        return;
    }
    grout_emit__open_registers(e, layout->registers, 1);
    grout_emit__begin(e);
    grout_emit__add(e, "%s[reg] = ", name);
    grout_emit__operand(e, from, "reg");
    grout_emit__end(e, ";");
    grout_emit__close(e, "");
}

static bool is_same_name(grout_emitter *e, const grout_operand *from, grout_value_id target) {
    return from->kind == GROUT_OPERAND_VALUE &&
           (from->id == target || grout_emit__name(e, from->id) == grout_emit__name(e, target));
}

void grout_emit__declare_results(grout_emitter *e, const grout_op *op) {
    for (uint32_t k = 0; k < op->result_count; k++) {
        grout_emit__declare(e, op->first_result + k);
        grout_emit__end(e, ";");
    }
}

static const grout_op *get_yield(const grout_emitter *e, grout_block_id block) {
    const grout_op *op =
        grout_module_get_op(e->module, grout_module_get_block(e->module, block)->last);
    GROUT_ASSERT(grout_op_get_info((grout_opcode)op->opcode)->shape == GROUT_SHAPE_END);
    return op;
}

void grout_emit__assign_results(grout_emitter *e, const grout_op *op, grout_block_id block) {
    GROUT_ASSERT(op->result_count == 0 || get_yield(e, block)->operand_count == op->result_count);
    for (uint32_t k = 0; k < op->result_count; k++) {
        assign(e, op->first_result + k,
               grout_module_get_operand(e->module, get_yield(e, block), k));
    }
}

/* ---- loops ---- */

grout_emit_carries grout_emit__find_carries(const grout_emitter *e, const grout_op *loop) {
    const grout_region_info *region = grout_op_get_region((grout_opcode)loop->opcode);
    const grout_block *first = grout_module_get_block(e->module, loop->first_block);
    return (grout_emit_carries){.op = loop,
                                .first_operand = region->lead_operands,
                                .first_carry = first->first_arg + region->lead_args,
                                .yielding = loop->first_block + loop->block_count - 1};
}

/* Whether any yield is another carry of the same loop, which an assignment would already have
 * overwritten. */
static bool needs_copies(const grout_emitter *e, const grout_emit_carries *c) {
    for (uint32_t k = 0; k < c->op->result_count; k++) {
        const grout_operand *from =
            grout_module_get_operand(e->module, get_yield(e, c->yielding), k);
        if (from->kind == GROUT_OPERAND_VALUE && from->id >= c->first_carry &&
            from->id < c->first_carry + c->op->result_count && from->id != c->first_carry + k) {
            return true;
        }
    }
    return false;
}

/* Copies of what is yielded, all of them before the first assignment. */
static void copy_yields(grout_emitter *e, const grout_emit_carries *c, uint32_t first_copy) {
    for (uint32_t k = 0; k < c->op->result_count; k++) {
        const grout_operand *from =
            grout_module_get_operand(e->module, get_yield(e, c->yielding), k);
        const grout_value_id target = c->op->first_result + k;
        const grout_register_layout *layout = grout_emit__layout(e, target);
        if (!grout_emit__has_registers(layout)) {
            grout_emit__begin(e);
            grout_emit__add(e, "const %s x%" PRIu32 " = ", grout_emit__type_name(e, target),
                            first_copy + k);
            grout_emit__operand(e, from, NULL);
            grout_emit__end(e, ";");
            continue;
        }
        grout_emit__line(e, "%s x%" PRIu32 "[%" PRIu32 "];", grout_emit__type_name(e, target),
                         first_copy + k, layout->registers);
        grout_emit__open_registers(e, layout->registers, 1);
        grout_emit__begin(e);
        grout_emit__add(e, "x%" PRIu32 "[reg] = ", first_copy + k);
        grout_emit__operand(e, from, "reg");
        grout_emit__end(e, ";");
        grout_emit__close(e, "");
    }
}

static void assign_copies(grout_emitter *e, const grout_op *op, uint32_t first_copy) {
    for (uint32_t k = 0; k < op->result_count; k++) {
        const grout_value_id target = op->first_result + k;
        const grout_register_layout *layout = grout_emit__layout(e, target);
        const char *name = grout_emit__name(e, target);
        if (!grout_emit__has_registers(layout)) {
            grout_emit__line(e, "%s = x%" PRIu32 ";", name, first_copy + k);
            continue;
        }
        grout_emit__open_registers(e, layout->registers, 1);
        grout_emit__line(e, "%s[reg] = x%" PRIu32 "[reg];", name, first_copy + k);
        grout_emit__close(e, "");
    }
}

void grout_emit__assign_carries(grout_emitter *e, const grout_emit_carries *c) {
    if (needs_copies(e, c)) {
        const uint32_t first_copy = e->temp_count;
        e->temp_count += c->op->result_count;
        copy_yields(e, c, first_copy);
        assign_copies(e, c->op, first_copy);
        return;
    }
    for (uint32_t k = 0; k < c->op->result_count; k++) {
        const grout_operand *from =
            grout_module_get_operand(e->module, get_yield(e, c->yielding), k);
        if (!is_same_name(e, from, c->op->first_result + k) &&
            !(from->kind == GROUT_OPERAND_VALUE && from->id == c->first_carry + k)) {
            assign(e, c->op->first_result + k, from);
        }
    }
}

/* The variable of a carry, by the name of the loop's result that it becomes, with its first value.
 */
static void begin_carry(grout_emitter *e, const grout_emit_carries *c, uint32_t k) {
    const grout_operand *init = grout_module_get_operand(e->module, c->op, c->first_operand + k);
    const grout_value_id result = c->op->first_result + k;
    const char *name = grout_gpu__get_value_name(e->module, c->first_carry + k);
    grout_emit__declare(e, result);
    if (grout_emit__has_registers(grout_emit__layout(e, result))) {
        grout_emit__end(e, "; // carried as %%%s", name);
        assign(e, result, init);
    } else {
        grout_emit__add(e, " = ");
        grout_emit__operand(e, init, NULL);
        grout_emit__end(e, "; // carried as %%%s", name);
    }
    grout_emit__alias(e, c->first_carry + k, grout_emit__name(e, result));
}

void grout_emit__begin_carries(grout_emitter *e, const grout_emit_carries *c) {
    for (uint32_t k = 0; k < c->op->result_count; k++) {
        begin_carry(e, c, k);
    }
}

/* ---- for ---- */

/* Whether the index can step past the bound without leaving 32 bits. */
static bool is_narrow(const grout_emitter *e, const grout_op *op) {
    const grout_operand *high = grout_module_get_operand(e->module, op, 1);
    const grout_operand *step = grout_module_get_operand(e->module, op, 2);
    if (step->kind != GROUT_OPERAND_EXPR) {
        return false;
    }
    const int64_t by = grout_module_get_expr_value(e->module, step->id).integer;
    return by == 1 || (high->kind == GROUT_OPERAND_EXPR &&
                       grout_module_get_expr_value(e->module, high->id).integer + by <= INT32_MAX);
}

static void write_for_head(grout_emitter *e, const grout_op *op, const char *index,
                           int64_t unroll) {
    const grout_operand *step = grout_module_get_operand(e->module, op, 2);
    const bool is_narrow_loop = is_narrow(e, op);
    char counter[GROUT_NAME_MAX + 48];
    (void)snprintf(counter, sizeof counter, "%s%s", index, is_narrow_loop ? "" : "__wide");
    grout_emit__line(e, "#pragma unroll %" PRId64, unroll);
    grout_emit__begin(e);
    grout_emit__add(e, "for (%s %s = ", is_narrow_loop ? "grout_i32" : "grout_i64", counter);
    grout_emit__operand(e, grout_module_get_operand(e->module, op, 0), NULL);
    grout_emit__add(e, "; %s < ", counter);
    grout_emit__operand(e, grout_module_get_operand(e->module, op, 1), NULL);
    if (step->kind == GROUT_OPERAND_EXPR &&
        grout_module_get_expr_value(e->module, step->id).integer == 1) {
        grout_emit__add(e, "; %s++)", counter);
    } else {
        grout_emit__add(e, "; %s += ", counter);
        grout_emit__operand(e, step, NULL);
        grout_emit__add(e, ")");
    }
    grout_emit__open(e);
    if (!is_narrow_loop) {
        grout_emit__line(e, "const grout_i32 %s = (grout_i32)%s;", index, counter);
    }
}

/* The loop as it is, or unrolled as a whole. */
static void write_for(grout_emitter *e, const grout_op *op, const grout_emit_turns *turns,
                      const grout_emit_carries *carries) {
    const grout_block *body = grout_module_get_block(e->module, op->first_block);
    const int64_t unroll = grout_op_get_attr_integer(e->module, op, GROUT_ATTR_UNROLL, 1);
    const grout_emit_rounds before = e->rounds;
    if (turns->is_one_round) {
        e->rounds.body = op->first_block;
    }
    write_for_head(e, op, grout_emit__name(e, body->first_arg),
                   turns->is_one_round ? turns->in_round : unroll);
    grout_emit__block(e, op->first_block);
    grout_emit__assign_carries(e, carries);
    grout_emit__close(e, "");
    e->rounds = before;
}

void grout_emit__for(grout_emitter *e, grout_op_id id, const grout_op *op) {
    const grout_emit_carries carries = grout_emit__find_carries(e, op);
    const grout_emit_turns turns = grout_emit__find_turns(e, op);
    (void)id;
    grout_emit__begin_carries(e, &carries);
    const grout_emit_pending before = e->pending;
    grout_emit__collect_pending(e, op->first_block, &e->pending);
    if (turns.in_round > 0 && !turns.is_one_round) {
        grout_emit__write_rounds(e, op, &turns, &carries);
    } else {
        write_for(e, op, &turns, &carries);
    }
    grout_emit__leave_block(e, op->first_block);
    grout_emit__join_pending(&e->pending, &before);
}

/* ---- if, scoped ---- */

void grout_emit__if(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__declare_results(e, op);
    grout_emit__begin(e);
    grout_emit__add(e, "if (");
    grout_emit__operand(e, grout_module_get_operand(e->module, op, 0), NULL);
    grout_emit__add(e, ")");
    grout_emit__open(e);
    const grout_emit_pending before = e->pending;
    grout_emit__block(e, op->first_block);
    grout_emit__assign_results(e, op, op->first_block);
    grout_emit__leave_block(e, op->first_block);
    const grout_emit_pending then = e->pending;
    e->pending = before;
    if (op->block_count > 1) {
        e->indent--;
        grout_emit__begin(e);
        grout_emit__add(e, "} else");
        grout_emit__open(e);
        grout_emit__block(e, op->first_block + 1);
        grout_emit__assign_results(e, op, op->first_block + 1);
        grout_emit__leave_block(e, op->first_block + 1);
    }
    grout_emit__close(e, "");
    grout_emit__join_pending(&e->pending, &then);
}

/* The addresses of a scope's objects are constants of its block. */
static void declare_objects(grout_emitter *e, const grout_block *block) {
    for (uint32_t k = 0; k < block->arg_count; k++) {
        grout_emit__object(e, block->first_arg + k);
    }
}

/* The barriers of a scope come from a pool, at the parity where the scope before left them. A
 * thread that did not wait there does not know it, so all look, between two block barriers: after
 * the first all phases of the scope before are complete, before the second nobody arrives for this
 * one. */
static void read_phases(grout_emitter *e, const grout_block *block) {
    bool has_barriers = false;
    for (uint32_t k = 0; k < block->arg_count && e->plan->thread_count > 1; k++) {
        const uint32_t number = grout_gpu__plan_find_barrier(
            e->plan, grout_module_get_value(e->module, block->first_arg + k)->object);
        if (number == UINT32_MAX || e->plan->barriers[number].is_explicit) {
            continue;
        }
        const grout_gpu_barrier *barrier = &e->plan->barriers[number];
        const grout_gpu_name phases = grout_emit__phases_name(e, barrier->owner);
        grout_emit__begin(e);
        grout_emit__add(e, "grout_read_phases(%s", grout_emit__name(e, block->first_arg + k));
        FIELD_END(e, MBARRIER_ADDRESS);
        grout_emit__end(e, ", %" PRIu32 ", %s%s);", barrier->count, barrier->count > 32 ? "" : "&",
                        phases.text);
        has_barriers = true;
    }
    if (has_barriers) {
        grout_emit__line(e, "grout_block_barrier();");
    }
}

void grout_emit__scoped(grout_emitter *e, grout_op_id id, const grout_op *op) {
    const grout_block *block = grout_module_get_block(e->module, op->first_block);
    const bool is_collective = grout_module_find_attr(e->module, op, GROUT_ATTR_COLLECTIVE) != NULL;
    (void)id;
    grout_emit__declare_results(e, op);
    if (is_collective) {
        const bool is_fenced = grout_emit__begin_meeting(e, true);
        grout_emit__line(e, "grout_block_barrier();");
        grout_emit__end_meeting(e, is_fenced);
    }
    grout_emit__line(e, "{");
    e->indent++;
    declare_objects(e, block);
    if (is_collective) {
        read_phases(e, block);
    }
    grout_emit__block(e, op->first_block);
    grout_emit__assign_results(e, op, op->first_block);
    grout_emit__close(e, "");
    grout_emit__leave_block(e, op->first_block);
}

/* Its op has the assignments written. */
void grout_emit__yield(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)e;
    (void)id;
    (void)op;
}

/* The barriers of it are made in the prologue (emit_kernel.c). */
void grout_emit__scratch(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__object(e, op->first_result);
}
