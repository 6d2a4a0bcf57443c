/* mismatch.h - an array that is not as expected: how far it is off, where, and who wrote it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_REPORT_MISMATCH_H
#define GROUT_REPORT_MISMATCH_H

#include "report.h"
#include "writers.h"

#include "grout-internal/compare.h"

typedef struct grout_mismatch {
    grout_comparison comparison;
    grout_difference difference;
    const char *against;          /* the file of --expect-output, or "cpu" */
    const grout_writers *writers; /* of the run that is compared; NULL: they are not known */
} grout_mismatch;

/* A CTA of which elements differ. */
typedef struct grout_mismatch_cta {
    uint32_t cta;
    int64_t written, differing; /* elements that it wrote last, and those of them that differ */
} grout_mismatch_cta;

/* Who wrote the elements that differ. */
typedef struct grout_mismatch_ctas {
    grout_mismatch_cta *items; /* by CTA */
    size_t count;
    size_t writer_count; /* CTAs that wrote any element last */
    int64_t unwritten;   /* elements that differ and that nothing wrote */
} grout_mismatch_ctas;

/* Adds the diagnostic, and keeps its facts for the report's JSON. */
void grout_mismatch__report(grout_reporter *report, const grout_mismatch *mismatch);

/* mismatch_json.c: keeps the facts of a diagnostic, by its number, for the finding it becomes. */
void grout_mismatch__keep_facts(grout_reporter *report, const grout_mismatch *mismatch,
                                const grout_mismatch_ctas *ctas, uint64_t number);
/* Adds them to the finding, if the diagnostic has any. */
void grout_mismatch__add_facts(const grout_reporter *report, const grout_diag *diag,
                               struct json_t *finding);

#endif
