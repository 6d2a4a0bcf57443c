/* summary.h - the parts of a report in words, for one launch and for several sizes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_REPORT_SUMMARY_H
#define GROUT_REPORT_SUMMARY_H

#include "report.h"

#include "grout-internal/words.h"

const char *grout_summary__get_kernel_name(const grout_load *load, grout_kernel_id kernel);
/* Whether the user ended the exploration, not the budget, which every exploration has. */
bool grout_summary__is_cut(const grout_outcome *outcome);
/* Whether something of the launch was not looked at: a limit, the time, Ctrl-C. */
bool grout_summary__is_open(const grout_outcome *outcome);
/* "error", "incomplete", "warning" or "clean". */
const char *grout_summary__get_word(const grout_outcome *outcome, uint64_t errors,
                                    uint64_t lowered);
/* Whether the word says that the run came to its end without an error. */
bool grout_summary__is_good(const char *word);
/* In what follows 'look' is the terminal that shows it; NULL: none, so no line is broken and
 * nothing has a colour. */
/* Appends the word and, not NULL, which results are not as expected: "clean of races, but %c
 * differs from 'c.npy'". No word alone may say "clean" then. */
void grout_summary__add_word(grout_text *out, const char *word, const char *differs);
/* Appends for which schedules the verdict holds, whether or not the summary says so. */
void grout_summary__describe_promise(const grout_outcome *outcome, bool has_errors,
                                     grout_text *out);
/* Appends "; inputs %x: ints; fair schedule, lazy timing". */
void grout_summary__add_conditions(grout_text *out, const grout_load *load, grout_kernel_id kernel,
                                   const grout_outcome *outcome);
/* Appends what the verdict does not speak of, and how to make it; nothing if there is none. The
 * proposal may be NULL. */
void grout_summary__add_reach(grout_text *out, const grout_reporter *report,
                              const grout_reach *reach, const char *proposal,
                              const grout_render_options *look);
/* Appends the summary of one kernel's run. */
void grout_summary__add(const grout_reporter *report, grout_kernel_id kernel,
                        const grout_outcome *outcome, const grout_finding_counts *counts,
                        const grout_render_options *look, grout_text *out);

/* again.c: appends "grout check FILE --kernel @k". */
void grout_reporter__add_call(const grout_reporter *report, grout_kernel_id kernel,
                              grout_text *out);
/* Appends a command after its lead ("see it again: "). A terminal that is too narrow for it gets it
 * in lines that a shell takes as one. */
void grout_reporter__add_command(const grout_render_options *look, const char *lead,
                                 const char *command, grout_text *out);

/* render.c: a diagnostic in the form of the session: as the terminal of a stream shows it, or as an
 * annotation. */
void grout_reporter__render(const grout_session *session, const grout_diag *diag,
                            grout_stream stream, grout_text *out);
/* Appends an annotation of the level error that is no diagnostic. */
void grout_reporter__annotate(grout_place place, const char *title, const char *message,
                              grout_text *out);
/* Appends a line to what was rendered last: to its annotation, if it is one. */
void grout_reporter__add_line(const grout_session *session, const char *line, grout_text *out);
/* Appends lines of the summary as the terminal has room for them, and frees them. */
void grout_reporter__take_lines(const grout_render_options *look, grout_text *lines,
                                grout_text *out);

/* What --severity, --werror and the rules that silence make of a finding. */
typedef struct grout_judgement {
    grout_severity severity;          /* OFF: it is silenced */
    const grout_allowance *allowance; /* by this rule; NULL: by --severity */
} grout_judgement;
grout_judgement grout_reporter__judge(grout_reporter *report, const grout_finding *finding);
/* Whether --severity made a warning of an error: no verdict is "clean" then. */
bool grout_reporter__is_lowered(const grout_finding *finding, grout_severity severity);
/* Verdict and exit code come from what is counted here, listed or not. */
void grout_reporter__count(grout_reporter *report, const grout_finding *finding,
                           grout_severity severity);

#endif
