/*
 * well_synchronised.c - does the verdict hold for every schedule?
 * SPDX-License-Identifier: Apache-2.0
 *
 * A run without a finding of the ordering or barrier kind has every conflict and every pair of
 * phases in order by happens-before; no operation of this stage lets a value depend on the
 * schedule. Then every schedule has the same graph, and what was found is what any of them finds.
 *
 * One thing is taken in the order of arrival: registers. Whether a thread that asks for them gets
 * them, or blocks for ever, depends on who asked before, unless no increase can hold up a decrease:
 * then all that the pool will ever have comes back under every schedule, and the increases either
 * all fit or not.
 */
#include "checker.h"
#include "statement.h"

static const grout_diag_code ORDER_CODES[] = {GROUT_DIAG_MISSING_COMMIT_SMEM,
                                              GROUT_DIAG_MISSING_COMMIT_SMEM_WAR,
                                              GROUT_DIAG_MISSING_COMMIT_GMEM,
                                              GROUT_DIAG_ASYNC_NOT_AWAITED,
                                              GROUT_DIAG_SMEM_RACE,
                                              GROUT_DIAG_GMEM_RACE,
                                              GROUT_DIAG_SMEM_SOURCE_REUSE,
                                              GROUT_DIAG_MMA_OPERAND_REUSE,
                                              GROUT_DIAG_ACCUMULATOR_IN_FLIGHT,
                                              GROUT_DIAG_GMEM_WRITE_NOT_VISIBLE,
                                              GROUT_DIAG_BARRIER_OVERRUN,
                                              GROUT_DIAG_BARRIER_UNOBSERVED,
                                              GROUT_DIAG_BARRIER_SKIPPED,
                                              GROUT_DIAG_BARRIER_PARTIAL,
                                              GROUT_DIAG_BARRIER_TOO_MANY,
                                              GROUT_DIAG_BARRIER_TX_MISMATCH,
                                              GROUT_DIAG_DEADLOCK,
                                              GROUT_DIAG_COLLECTIVE_DIVERGENCE,
                                              GROUT_DIAG_ASYNC_AT_EXIT};

static bool is_order(grout_diag_code code) {
    for (size_t i = 0; i < sizeof ORDER_CODES / sizeof *ORDER_CODES; i++) {
        if (ORDER_CODES[i] == code) {
            return true;
        }
    }
    return false;
}

static bool is_register_op(const grout_module *module, const grout_op *op, grout_attr attr) {
    return op->opcode == GROUT_OP_SET_MAX_REGISTERS && grout_module_find_attr(module, op, attr);
}

/* May a thread execute the one and later the other? */
static bool leads_to(const grout_module *module, grout_op_id first, grout_op_id second) {
    grout_reach_fact fact = grout_op__find_reach(module, first, second);
    if (fact.kind == GROUT_REACH_OTHER_BRANCH) { /* in another round, perhaps */
        return grout_op__get_loop(module, fact.through) != 0;
    }
    return fact.kind != GROUT_REACH_PASSED;
}

static bool is_in_kernel(const grout_checker *checker, const grout_op *op) {
    return grout_module_get_block(checker->info.module, op->parent)->kernel == checker->info.kernel;
}

/* Can a thread that waits for registers keep another from giving some back? */
static bool can_hold_up(const grout_checker *checker, grout_op_id increase, grout_op_id decrease) {
    const grout_module *module = checker->info.module;
    if (leads_to(module, increase, decrease)) {
        return true;
    }
    for (grout_op_id i = 1; i < grout_module_get_op_count(module); i++) {
        const grout_op *op = grout_module_get_op(module, i);
        bool is_scope = op->opcode == GROUT_OP_SCOPED &&
                        grout_module_find_attr(module, op, GROUT_ATTR_COLLECTIVE);
        if ((op->opcode == GROUT_OP_BARRIER_WAIT || is_scope) && is_in_kernel(checker, op) &&
            leads_to(module, i, decrease) && (!is_scope || leads_to(module, increase, i))) {
            return true;
        }
    }
    return false;
}

static bool is_register_order_open(const grout_checker *checker) {
    const grout_module *module = checker->info.module;
    uint32_t count = grout_module_get_op_count(module);
    for (grout_op_id i = 1; i < count; i++) {
        const grout_op *op = grout_module_get_op(module, i);
        if (!is_register_op(module, op, GROUT_ATTR_INCREASE) || !is_in_kernel(checker, op)) {
            continue;
        }
        for (grout_op_id k = 1; k < count; k++) {
            const grout_op *other = grout_module_get_op(module, k);
            if (is_register_op(module, other, GROUT_ATTR_DECREASE) &&
                is_in_kernel(checker, other) && can_hold_up(checker, i, k)) {
                return true;
            }
        }
    }
    return false;
}

const char *grout_checker__find_doubt(const grout_checker *checker, bool was_cut) {
    const grout_findings *findings = &checker->findings;
    if (checker->has_deadlock) {
        return "the run ended in a deadlock";
    }
    if (checker->has_step_limit || was_cut) {
        return "the run did not reach its end";
    }
    for (uint32_t i = 0; i < findings->count; i++) {
        if (is_order(findings->records[i].code)) {
            return "accesses or barrier phases are out of order: other schedules may show more";
        }
    }
    if (is_register_order_open(checker)) {
        return "set_max_registers: which thread gets registers first depends on the schedule";
    }
    return "";
}
