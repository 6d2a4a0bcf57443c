/*
 * well_synchronised.c - does the verdict hold for every schedule?
 *
 * A run without a finding of the ordering or barrier kind has every conflict and every pair of
 * phases in order by happens-before; no operation of this stage lets a value depend on the
 * schedule. Then every schedule has the same graph, and what was found is what any of them finds.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "checker.h"

static const grout_diag_code ORDER_CODES[] = {GROUT_DIAG_MISSING_COMMIT_SMEM,
                                              GROUT_DIAG_MISSING_COMMIT_SMEM_WAR,
                                              GROUT_DIAG_MISSING_COMMIT_GMEM,
                                              GROUT_DIAG_ASYNC_NOT_AWAITED,
                                              GROUT_DIAG_SMEM_RACE,
                                              GROUT_DIAG_GMEM_RACE,
                                              GROUT_DIAG_SMEM_SOURCE_REUSE,
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
    return "";
}
