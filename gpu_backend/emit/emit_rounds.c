/* emit_rounds.c - loops whose turns take turns with registers that the tensor core reads.
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a turn writes for a wgmma must not lie in the registers of one that is still in flight. So a
 * loop whose turns leave wgmmas of an a in registers in flight is written in rounds of as many
 * turns as there are sets of registers. The compiler unrolls a round, each turn has variables of
 * its own, and ptxas keeps those apart that are in flight at a time. Nothing leaves a round before
 * its end: with a jump out of one, ptxas runs the wgmmas one after another (C7513). The turns that
 * make no whole round follow, after a wait for all, in a loop that waits for each wgmma at once.
 */
#include "emit.h"

#include "wgmma_turns.h"

#include <inttypes.h>
#include <stdio.h>

#define LANE_REGISTERS_MAX 255

/* ---- registers of a lane ---- */

/* by name: the number of this op alone is that of a lane's registers */
static bool find_most(void *payload, grout_op_id id, const grout_op *op) {
    struct most {
        const grout_emitter *e;
        int64_t registers;
    } *most = payload;
    (void)id;
    if (op->opcode == GROUT_OP_SET_MAX_REGISTERS) {
        const int64_t registers = grout_emit__get_integer(most->e, op, 0);
        most->registers = registers > most->registers ? registers : most->registers;
    }
    return true;
}

uint32_t grout_emit__find_registers_max(const grout_emitter *e) {
    struct most {
        const grout_emitter *e;
        int64_t registers;
    } most = {.e = e};
    uint32_t warps = 0;
    (void)grout_gpu__walk(e->module, e->kernel->body, find_most, &most);
    for (uint32_t k = 0; k < e->plan->thread_count; k++) {
        warps += e->plan->thread_warps[k];
    }
    const uint32_t registers =
        most.registers > 0
            ? (uint32_t)most.registers
            : grout_get_entry_registers((warps + GROUT_GPU_WARPS - 1) / GROUT_GPU_WARPS);
    return registers < LANE_REGISTERS_MAX ? registers : LANE_REGISTERS_MAX;
}

/* ---- how many turns ---- */

/* Whether the step is known before the run. */
static bool has_step(const grout_emitter *e, const grout_op *op) {
    return grout_module_get_operand(e->module, op, 2)->kind == GROUT_OPERAND_EXPR;
}

/* How many turns a loop has, or -1 if only the run knows. */
static int64_t count_turns(const grout_emitter *e, const grout_op *op) {
    const grout_operand *low = grout_module_get_operand(e->module, op, 0);
    const grout_operand *high = grout_module_get_operand(e->module, op, 1);
    if (low->kind != GROUT_OPERAND_EXPR || high->kind != GROUT_OPERAND_EXPR || !has_step(e, op)) {
        return -1;
    }
    const int64_t step = grout_emit__get_integer(e, op, 2);
    const int64_t first = grout_module_get_expr_value(e->module, low->id).integer;
    const int64_t end = grout_module_get_expr_value(e->module, high->id).integer;
    return end <= first ? 0 : (end - first + step - 1) / step;
}

/* A round of this many turns, or of less than twice as many, if that leaves no rest of count. */
static int64_t fit_round(int64_t fewest, int64_t count) {
    if (count >= 0 && count <= fewest) {
        return count > 0 ? count : 1;
    }
    for (int64_t turns = fewest; count > 0 && turns < 2 * fewest; turns++) {
        if (count % turns == 0) {
            return turns;
        }
    }
    return fewest;
}

grout_emit_turns grout_emit__find_turns(const grout_emitter *e, const grout_op *op) {
    const grout_wgmma_turns plan = grout_gpu__plan_turns(e->module, op, e->forks.registers_max);
    const int64_t count = count_turns(e, op);
    const int64_t unroll = grout_op_get_attr_integer(e->module, op, GROUT_ATTR_UNROLL, 1);
    grout_emit_turns turns = {.in_round = 0};
    if (plan.fault != GROUT_WGMMA_TURNS_NONE || plan.sets == 0) {
        return turns;
    }
    turns.in_round = fit_round(unroll > plan.sets ? unroll : plan.sets, count);
    turns.is_one_round = turns.in_round == 1 || (count >= 0 && count <= turns.in_round);
    turns.is_rest_empty = count > 0 && count % turns.in_round == 0;
    return turns;
}

/* ---- the loops ---- */

/* This many steps, in 64 bits. */
static void add_steps(grout_emitter *e, const grout_op *op, int64_t count) {
    if (has_step(e, op)) {
        grout_emit__add(e, "%" PRId64, count * grout_emit__get_integer(e, op, 2));
        return;
    }
    grout_emit__add(e, "%" PRId64 " * (grout_i64)", count);
    grout_emit__operand(e, grout_module_get_operand(e->module, op, 2), NULL);
}

static void open_turn(grout_emitter *e, const char *index, const char *counter) {
    grout_emit__open(e);
    grout_emit__line(e, "const grout_i32 %s = (grout_i32)%s;", index, counter);
}

/* Whole rounds, and in each the loop over its turns, which is left open. */
static void open_rounds(grout_emitter *e, const grout_op *op, const grout_emit_turns *turns,
                        const char *counter) {
    const uint32_t turn = e->temp_count++;
    grout_emit__line(e,
                     "// Rounds of %" PRId64 " turns: a turn's registers are its own while the "
                     "tensor core reads them.",
                     turns->in_round);
    grout_emit__line(e, "#pragma unroll 1");
    grout_emit__begin(e);
    grout_emit__add(e, "while (%s + ", counter);
    add_steps(e, op, turns->in_round - 1);
    grout_emit__add(e, " < ");
    grout_emit__operand(e, grout_module_get_operand(e->module, op, 1), NULL);
    grout_emit__add(e, ")");
    grout_emit__open(e);
    grout_emit__line(e, "#pragma unroll");
    grout_emit__begin(e);
    grout_emit__add(
        e, "for (int x%" PRIu32 " = 0; x%" PRIu32 " < %" PRId64 "; x%" PRIu32 "++, %s += ", turn,
        turn, turns->in_round, turn, counter);
    add_steps(e, op, 1);
    grout_emit__add(e, ")");
}

static void open_rest(grout_emitter *e, const grout_op *op, const char *counter) {
    grout_emit__line(e, "// The turns that make no whole round.");
    grout_emit__wait_wgmmas(e, 0);
    grout_emit__line(e, "#pragma unroll 1");
    grout_emit__begin(e);
    grout_emit__add(e, "for (; %s < ", counter);
    grout_emit__operand(e, grout_module_get_operand(e->module, op, 1), NULL);
    grout_emit__add(e, "; %s += ", counter);
    add_steps(e, op, 1);
    grout_emit__add(e, ")");
}

static void write_body(grout_emitter *e, const grout_op *op, const grout_emit_carries *carries) {
    grout_emit__block(e, op->first_block);
    grout_emit__assign_carries(e, carries);
    grout_emit__close(e, "");
}

/* The same ops once more: what is noted of them has been noted. */
static void write_rest(grout_emitter *e, const grout_op *op, const grout_emit_carries *carries,
                       const char *counter) {
    const grout_emit_rounds before = e->rounds;
    grout_text *notes = e->options.notes;
    e->rounds = (grout_emit_rounds){.body = 0, .is_rest = true};
    e->options.notes = NULL;
    grout_emit__forget_names(e, op->first_block);
    grout_emit__collect_pending(e, op->first_block, &e->pending);
    open_rest(e, op, counter);
    open_turn(e, grout_emit__name(e, grout_module_get_block(e->module, op->first_block)->first_arg),
              counter);
    write_body(e, op, carries);
    e->options.notes = notes;
    e->rounds = before;
}

void grout_emit__write_rounds(grout_emitter *e, const grout_op *op, const grout_emit_turns *turns,
                              const grout_emit_carries *carries) {
    const char *index =
        grout_emit__name(e, grout_module_get_block(e->module, op->first_block)->first_arg);
    const grout_emit_rounds before = e->rounds;
    char counter[16];
    (void)snprintf(counter, sizeof counter, "x%" PRIu32, e->temp_count++);
    grout_emit__begin(e);
    grout_emit__add(e, "grout_i64 %s = ", counter);
    grout_emit__operand(e, grout_module_get_operand(e->module, op, 0), NULL);
    grout_emit__end(e, ";");
    e->rounds.body = op->first_block;
    open_rounds(e, op, turns, counter);
    open_turn(e, index, counter);
    write_body(e, op, carries);
    grout_emit__close(e, "");
    e->rounds = before;
    if (!turns->is_rest_empty && !e->failed) {
        write_rest(e, op, carries, counter);
    }
}
