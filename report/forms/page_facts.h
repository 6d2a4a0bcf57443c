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
/* Drops all of them. */
void grout_page_facts__drop(struct json_t *facts);

#endif
