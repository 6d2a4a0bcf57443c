/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - what a check or a repair has found, in every form that the command has. */
#ifndef GROUT_REPORT_H
#define GROUT_REPORT_H

#include "grout/diag.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct grout_report grout_report;

typedef enum grout_report_form {
    GROUT_REPORT_TEXT,  /* as on a terminal, without colours */
    GROUT_REPORT_COLOR, /* the same with ANSI colours */
    GROUT_REPORT_JSON,  /* grout-report/1: docs/report_schema.md */
    GROUT_REPORT_SARIF, /* SARIF 2.1.0 */
    GROUT_REPORT_HTML,  /* a web page that needs nothing else */
    /* JSON with keys beside those of the schema, for who shows the report in another way: text and
     * colours of each finding; no schema promises them */
    GROUT_REPORT_FACTS
} grout_report_form;

/* NULL is allowed. */
GROUT_API void grout_report_free(grout_report *report);

/* "clean", "warning", "error", "incomplete" or "invalid": docs/report_schema.md. */
GROUT_API const char *grout_report_get_verdict(const grout_report *report);
/* What the command would exit with: docs/cli.md. */
GROUT_API int grout_report_get_exit_code(const grout_report *report);
/* Appends the report. False without memory, and for a form that is unknown. */
GROUT_API bool grout_report_print(grout_report *report, grout_report_form form, grout_text *out);
/* Remarks beside the report, as the command writes them to stderr: lines, or "". */
GROUT_API const char *grout_report_get_remarks(const grout_report *report);

/* The files that the options asked for, schedules: the name of one, with its bytes; NULL: there are
 * not that many. */
GROUT_API const char *grout_report_get_file(const grout_report *report, size_t index,
                                            const char **data_out, size_t *size_out);

/* ---- of a repair ------------------------------------------------------------------------------
 */

/* The text as the repair leaves it, with its size; NULL: it is no report of a repair. */
GROUT_API const char *grout_report_get_repaired(const grout_report *report, size_t *size_out);
/* What was changed as a unified diff, what each change is for (a line each), and what it came to in
 * one line. "": nothing was changed, or it is no report of a repair. */
GROUT_API const char *grout_report_get_diff(const grout_report *report);
GROUT_API const char *grout_report_get_steps(const grout_report *report);
GROUT_API const char *grout_report_get_outcome(const grout_report *report);

#ifdef __cplusplus
}
#endif
#endif
