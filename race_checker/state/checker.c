/*
 * checker.c - what every room of the checker does with it: findings into its table, out of memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "checker.h"

bool grout_checker__fail(grout_checker *checker) {
    checker->has_failed = true;
    return checker->diags ? grout_diags_add_oom(checker->diags) : false;
}

bool grout_checker__find(grout_checker *checker, const grout_finding_key *key,
                         const grout_facts *facts) {
    const grout_occurrence occurrence = {&facts->sides[0].origin, &facts->sides[1].origin, false};
    bool wants_facts = false;
    GROUT_ASSERT(facts->side_count <= 2 && key->primary != 0);
    grout_record *record =
        grout_findings__add(&checker->memory.findings, key, &occurrence, &wants_facts);
    if (!record) {
        return grout_checker__fail(checker);
    }
    if (wants_facts) {
        record->facts = *facts;
    }
    return true;
}
