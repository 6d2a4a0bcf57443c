/*
 * well_synchronised.c - whether the verdict holds for every schedule.
 * SPDX-License-Identifier: Apache-2.0
 *
 * In a run without a finding of the ordering or barrier kind every conflict and every pair of
 * phases is in order by happens-before, and each contribution knows its phase. If besides every
 * semaphore wait can be served in one way only, and no value that depends on the schedule decides
 * anything, every schedule has the same graph, and what was found is what any of them finds.
 *
 * A test of a barrier is such a value, and more: whether it has waited decides what its thread
 * knows and which phase its next wait means. So is an atomic that acquires: whose release it meets
 * is chance.
 *
 * Registers are taken in the order of arrival. Whether a thread that asks for them gets them, or
 * blocks for ever, depends on which thread asked before, unless no decrease happens after an
 * increase (registers.c).
 */
#include "explain.h"
#include "statement.h"
#include "taint.h"

#include <inttypes.h>
#include <stdio.h>

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
                                              GROUT_DIAG_CLUSTER_SMEM_REUSE,
                                              GROUT_DIAG_CLUSTER_EXIT,
                                              GROUT_DIAG_INSUFFICIENT_SCOPE,
                                              GROUT_DIAG_INIT_NOT_VISIBLE,
                                              GROUT_DIAG_BARRIER_OVERRUN,
                                              GROUT_DIAG_BARRIER_UNOBSERVED,
                                              GROUT_DIAG_BARRIER_SKIPPED,
                                              GROUT_DIAG_BARRIER_PARTIAL,
                                              GROUT_DIAG_BARRIER_TOO_MANY,
                                              GROUT_DIAG_BARRIER_TX_MISMATCH,
                                              GROUT_DIAG_BARRIER_WRONG_PARITY,
                                              GROUT_DIAG_BARRIER_UNINITIALISED,
                                              GROUT_DIAG_BARRIER_LEFT_LIVE,
                                              GROUT_DIAG_DEADLOCK,
                                              GROUT_DIAG_COLLECTIVE_DIVERGENCE,
                                              GROUT_DIAG_ASYNC_AT_EXIT};

/* A phase that nobody had to see: the arrive in the next one comes after it all the same. And where
 * a fence stands on the way is no question of order. */
static bool is_order(const grout_record *record) {
    if (record->facts.subject == GROUT_SUBJECT_GONE_ON ||
        record->facts.near.kind == GROUT_NEAR_COMMIT_OF_OTHERS) {
        return false;
    }
    for (size_t i = 0; i < sizeof ORDER_CODES / sizeof *ORDER_CODES; i++) {
        if (ORDER_CODES[i] == record->code) {
            return true;
        }
    }
    return false;
}

/* ---- semaphores, tests and values ---- */

static uint32_t get_line(const grout_checker *checker, grout_op_id op) {
    const grout_module *module = checker->info.module;
    return grout_module_get_place(module, grout_module_get_op(module, op)->loc).line;
}

/* A false test publishes no event, so any test in the kernel's text counts. */
static grout_op_id find_test(const grout_checker *checker) {
    const grout_module *module = checker->info.module;
    for (grout_op_id i = 1; i < grout_module_get_op_count(module); i++) {
        const grout_op *op = grout_module_get_op(module, i);
        const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
        bool is_test = sync != NULL && sync->mode == GROUT_SYNC_MODE_TESTS &&
                       (sync->side & GROUT_SYNC_SIDE_ACQUIRE) != 0;
        if (is_test && grout_op__is_in_kernel(module, i, checker->info.kernel)) {
            return i;
        }
    }
    return 0;
}

/* An atomic that orders, and has run: an access that says order(..). */
static grout_op_id find_ordered_atomic(const grout_checker *checker) {
    const grout_module *module = checker->info.module;
    for (grout_op_id i = 1; i < grout_module_get_op_count(module); i++) {
        const grout_op *op = grout_module_get_op(module, i);
        bool is_access = grout_op_get_sync((grout_opcode)op->opcode) == NULL;
        grout_choice order = grout_op_get_choice(module, op, GROUT_ATTR_ORDER);
        if (is_access && checker->run.op_threads[i] && order != GROUT_CHOICE_NONE &&
            order != GROUT_CHOICE_ORDER_RELAXED) {
            return i;
        }
    }
    return 0;
}

static const char *find_value_doubt(const grout_checker *checker) {
    const grout_module *module = checker->info.module;
    char *text = checker->cache->doubt;
    size_t size = sizeof checker->cache->doubt;
    grout_op_id test = find_test(checker), atomic = find_ordered_atomic(checker);
    grout_taint taint;
    if (test) {
        (void)snprintf(
            text, size, "what the %s at line %" PRIu32 " finds depends on the schedule",
            grout_op_get_info((grout_opcode)grout_module_get_op(module, test)->opcode)->text,
            get_line(checker, test));
        return text;
    }
    if (atomic) {
        (void)snprintf(text, size,
                       "from whom the atomic at line %" PRIu32 " acquires depends on the schedule",
                       get_line(checker, atomic));
        return text;
    }
    if (!grout_checker__find_taint(checker, &taint)) {
        return "there was no memory to follow the values that depend on the schedule";
    }
    if (!taint.source) {
        return "";
    }
    (void)snprintf(
        text, size, "%s, from the %s at line %" PRIu32 ", %s at line %" PRIu32,
        taint.is_undefined ? "a value that is undefined under some schedules only"
                           : "a value that depends on the schedule",
        grout_op_get_info((grout_opcode)grout_module_get_op(module, taint.source)->opcode)->text,
        get_line(checker, taint.source), taint.what, get_line(checker, taint.sink));
    return text;
}

static const char *find_semaphore_doubt(const grout_checker *checker) {
    if (!checker->memory.protocol.competing.op) {
        return "";
    }
    (void)snprintf(checker->cache->doubt, sizeof checker->cache->doubt,
                   "the semaphore_wait at line %" PRIu32
                   " competes for units with another that it is in no order with",
                   get_line(checker, checker->memory.protocol.competing.op));
    return checker->cache->doubt;
}

static const char *find_finding_doubt(const grout_checker *checker) {
    const grout_findings *findings = &checker->memory.findings;
    bool is_ambiguous = false, is_unobserved = false;
    for (uint32_t i = 0; i < findings->count; i++) {
        grout_diag_code code = findings->records[i].code;
        if (is_order(&findings->records[i]) && code != GROUT_DIAG_BARRIER_UNOBSERVED) {
            return "accesses or barrier phases are out of order: other schedules may show more";
        }
        is_unobserved = is_unobserved || is_order(&findings->records[i]);
        is_ambiguous = is_ambiguous || code == GROUT_DIAG_SEMAPHORE_AMBIGUOUS;
    }
    return is_unobserved  ? "a barrier phase completed that a thread should have waited for"
           : is_ambiguous ? "a semaphore_wait can be served by other signals"
                          : "";
}

const char *grout_checker__find_doubt(const grout_checker *checker, bool was_cut) {
    const char *doubt = "";
    if (!checker->has_launch) {
        return "the checker has followed no launch";
    }
    if (checker->run.has_deadlock) {
        return "the run ended in a deadlock";
    }
    if (checker->run.has_step_limit || was_cut) {
        return "the run did not reach its end";
    }
    if (checker->has_failed || !checker->run.op_threads) {
        return "there was no memory to follow the run";
    }
    doubt = find_finding_doubt(checker);
    if (!*doubt) {
        doubt = find_semaphore_doubt(checker);
    }
    if (!*doubt) {
        doubt = find_value_doubt(checker);
    }
    if (!*doubt && checker->memory.protocol.held_up.op) {
        doubt = "set_max_registers: which thread gets registers first depends on the schedule";
    }
    return doubt;
}
