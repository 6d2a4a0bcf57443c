/*
 * report.h - a finding being put into words; private to report.c, words.c and repair.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_RACE_CHECKER_REPORT_H
#define GROUT_RACE_CHECKER_REPORT_H

#include "checker.h"

#include "grout/text.h"

enum { GROUT_REPORT_NOTES_MAX = 64 };

/* One finding in the making. Strings are kept by the report. */
typedef struct grout_wording {
    const grout_checker *checker;
    const grout_module *module;
    const grout_record *record;
    const grout_facts *facts;
    grout_report *report;
    grout_finding *finding;
    grout_diag *diag;
    bool has_failed;
} grout_wording;

/* Takes the text over: a string that lives as long as the report. "" without memory. */
char *grout_wording__keep(grout_wording *wording, grout_text *text);
void grout_wording__note(grout_wording *wording, grout_severity severity, grout_place place,
                         const char *format, ...) GROUT_PRINTF(4, 5);

/* ---- parts of sentences (words.c) ---------------------------------------------------------------
 */

grout_place grout_wording__get_place(const grout_wording *wording, const grout_origin *origin);
uint32_t grout_wording__get_line(const grout_wording *wording, const grout_origin *origin);
/* "%as" */
void grout_wording__add_object(const grout_wording *wording, grout_object_id object,
                               grout_text *out);
/* "%as[1, 0:32, 0:64]"; "%as" if it is all of it. */
void grout_wording__add_box(const grout_wording *wording, const grout_box *box, grout_text *out);
/* "%bar[1]" */
void grout_wording__add_element(const grout_wording *wording, uint32_t element, grout_text *out);
/* "barrier_wait": the mnemonic of the op. */
const char *grout_wording__get_mnemonic(const grout_wording *wording, const grout_origin *origin);
/* The sentence that the finding opens with. */
void grout_wording__add_headline(const grout_wording *wording, grout_text *out);
/* What order exists, what is absent, what came close; nothing if there is nothing to say. */
void grout_wording__add_missing_edge(const grout_wording *wording, grout_text *out);

/* ---- wgmma_words.c -----------------------------------------------------------------------------
 */

/* Is the access one of a wgmma? */
bool grout_wording__is_wgmma(const grout_wording *wording, const grout_side *side);
void grout_wording__add_wgmma_headline(const grout_wording *wording, grout_text *out);
/* mma-operand-reuse, accumulator-in-flight, and async-at-exit of a wgmma. */
void grout_wording__add_wgmma_edge(const grout_wording *wording, grout_text *out);

/* ---- repair.c
 * ------------------------------------------------------------------------------------ */

/* The repair in words, and as an edit where there is only one. */
void grout_wording__add_repair(grout_wording *wording, grout_text *out);

#endif
