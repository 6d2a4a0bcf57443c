/*
 * follow_on.c - findings that another one explains.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Where a read and a write are in no order, the read may come first and find bytes that nobody has
 * written yet. That is the race again: it is not told as an uninitialised read, so that the
 * findings are the same whichever came first.
 */
#include "follow_on.h"

#include "taint.h"

static bool is_race(const grout_record *record) {
    return record->code == GROUT_DIAG_SMEM_RACE || record->code == GROUT_DIAG_GMEM_RACE ||
           record->code == GROUT_DIAG_CLUSTER_SMEM_REUSE;
}

/* Has the use its value from a read of a race that was found? */
static bool is_explained(const grout_checker *checker, grout_op_id use, bool *is_explained_out) {
    const grout_findings *findings = &checker->findings;
    *is_explained_out = false;
    for (uint32_t i = 0; i < findings->count && !*is_explained_out; i++) {
        const grout_facts *facts = &findings->records[i].facts;
        for (uint32_t k = 0; is_race(&findings->records[i]) && k < facts->side_count; k++) {
            if (!facts->sides[k].is_write && facts->sides[k].origin.op != 0 && !*is_explained_out &&
                !grout_checker__is_fed(checker, facts->sides[k].origin.op, use, is_explained_out)) {
                return false;
            }
        }
    }
    return true;
}

bool grout_checker__withhold_follow_ons(grout_checker *checker) {
    for (uint32_t i = 0; i < checker->findings.count; i++) {
        grout_record *record = &checker->findings.records[i];
        bool is_withheld = false;
        if (record->code != GROUT_DIAG_UNINITIALISED_READ || record->is_replaced) {
            continue;
        }
        if (!is_explained(checker, record->facts.sides[0].origin.op, &is_withheld)) {
            return grout_checker__fail(checker);
        }
        record->is_replaced = is_withheld;
        checker->suppressed += is_withheld ? 1 : 0;
    }
    return true;
}
