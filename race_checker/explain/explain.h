/*
 * explain.h - findings in words, and what else is said of a run as a whole.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_RACE_CHECKER_EXPLAIN_H
#define GROUT_RACE_CHECKER_EXPLAIN_H

#include "checker.h"

/* ---- explained.c ---- */

typedef struct grout_explained grout_explained;

typedef struct grout_explained_totals {
    uint64_t error_count, warning_count, dropped_count; /* dropped: past max_findings */
} grout_explained_totals;

/* Words for every finding that is shown; NULL without memory. */
grout_explained *grout_explained__new(const grout_checker *checker);
void grout_explained__free(grout_explained *explained);
uint32_t grout_explained__get_count(const grout_explained *explained);
const grout_finding *grout_explained__get(const grout_explained *explained, uint32_t index);
/* The index of the record that a finding of the report is about; UINT32_MAX: it is another's. */
uint32_t grout_explained__find_record(const grout_explained *explained,
                                      const grout_finding *finding);
grout_explained_totals grout_explained__get_totals(const grout_explained *explained);

/* ---- the others ---- */

/* At the end of the run: findings that another one explains count as suppressed. False without
 * memory. */
bool grout_checker__withhold_follow_ons(grout_checker *checker);
/* After that: uses of undefined values that come of a division are findings about the division.
 * False without memory. */
bool grout_checker__name_divisions(grout_checker *checker);
/* Why the verdict is about this schedule only; "" if it is about all. well_synchronised.c */
const char *grout_checker__find_doubt(const grout_checker *checker, bool was_cut);
/* Whether a test, an atomic or an answer of launch control decides something of the run. */
bool grout_checker__goes_by_chance(const grout_checker *checker);

#endif
