/*
 * in_place_order.h - a checker's findings in the order of their places, errors first: what a script
 * expects is written in that order, whichever of them a report begins with.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_TESTS_IN_PLACE_ORDER_H
#define GROUT_TESTS_IN_PLACE_ORDER_H

#include "grout-internal/race.h"

/* By severity, place, code and related place. */
static inline int compare_findings(const grout_finding *a, const grout_finding *b) {
    const uint32_t keys[2][7] = {
        {a->severity != GROUT_SEVERITY_ERROR, a->primary.line, a->primary.column, a->code,
         a->related.file != NULL, a->related.line, a->related.column},
        {b->severity != GROUT_SEVERITY_ERROR, b->primary.line, b->primary.column, b->code,
         b->related.file != NULL, b->related.line, b->related.column}};
    for (uint32_t i = 0; i < 7; i++) {
        if (keys[0][i] != keys[1][i]) {
            return keys[0][i] < keys[1][i] ? -1 : 1;
        }
    }
    return 0;
}

/* Finding i of the checker in the order of places: the one that i others come before. */
static inline const grout_finding *get_in_place_order(const grout_checker *checker, uint32_t i) {
    uint32_t count = grout_checker_get_count(checker);
    for (uint32_t k = 0; k < count; k++) {
        const grout_finding *finding = grout_checker_get_finding(checker, k);
        uint32_t before = 0;
        for (uint32_t other = 0; other < count; other++) {
            int order = compare_findings(grout_checker_get_finding(checker, other), finding);
            before += order < 0 || (order == 0 && other < k) ? 1 : 0;
        }
        if (before == i) {
            return finding;
        }
    }
    return NULL;
}

#endif
