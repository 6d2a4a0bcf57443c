/* page_facts.h - what the page of --html shows beyond a report: keys of the same JSON objects,
 * which are dropped before the report is printed. SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_REPORT_PAGE_FACTS_H
#define GROUT_REPORT_PAGE_FACTS_H

#include "report.h"

struct json_t;

/* Nothing is added without --html. object may be NULL: without memory.
 *
 * path: of a finding, as grout_finding_path has it. */
void grout_page_facts__add_path(const grout_reporter *report, struct json_t *object,
                                const grout_checker *checker, const grout_finding *finding);
/* words: the summary of a kernel, as text; it is emptied. */
void grout_page_facts__add_words(const grout_reporter *report, struct json_t *object,
                                 grout_text *words);
/* memory: the objects of a kernel in SMEM; banks: how the emitted code takes its banks, absent if
 * the kernel cannot be emitted. */
void grout_page_facts__add_memory(const grout_reporter *report, struct json_t *object,
                                  grout_kernel_id kernel);
/* Drops what the page does not show of a kernel, where nothing but the page is made of it: a tree
 * takes ten times what its text does. */
void grout_page_facts__keep_shown(const grout_reporter *report, struct json_t *object);
/* Nothing is added of what follows but to a report that is kept (kept.h).
 *
 * A finding gets text and colored, as a terminal shows it; short, "smem-race at lines 26 and 37";
 * is_lowered; is_unlisted, if it is past --max-findings, so that no form lists it. The other
 * diagnostics have text and colored alone. */
void grout_page_facts__add_finding(const grout_reporter *report, struct json_t *object,
                                   const grout_finding *finding, grout_severity severity,
                                   bool is_listed);
void grout_page_facts__add_diag(const grout_reporter *report, struct json_t *object,
                                const grout_diag *diag);
/* A kernel gets promise, for which schedules the verdict holds; stats. */
void grout_page_facts__add_promise(const grout_reporter *report, struct json_t *object,
                                   const grout_outcome *outcome, bool has_errors);
void grout_page_facts__add_stats(const grout_reporter *report, struct json_t *object,
                                 const grout_outcome *outcome);
/* memory and banks of a kernel, at once. */
void grout_page_facts__fill_memory(struct json_t *object, const grout_module *bound,
                                   grout_kernel_id kernel);
/* Drops the findings that are not listed. */
void grout_page_facts__drop_unlisted(struct json_t *facts);
/* Drops all keys of this page. */
void grout_page_facts__drop(struct json_t *facts);

#endif
