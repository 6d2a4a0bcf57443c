/* report.h - the answer of check and run: findings and verdict, as text or as JSON.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_REPORT_REPORT_H
#define GROUT_REPORT_REPORT_H

#include "followers.h"
#include "json.h"
#include "launch.h"
#include "not_begun.h"
#include "silence.h"

struct grout_joined;
struct json_t;

/* Facts of a diagnostic that are no words (mismatch.h). */
typedef struct grout_reporter_facts {
    const grout_diags *diags; /* whose diagnostic: each size of a sweep has a list */
    uint64_t number;          /* of the diagnostic in it */
    struct json_t *facts;
} grout_reporter_facts;

typedef struct grout_reporter {
    grout_session *session;
    const grout_load *load;
    struct grout_joined
        *joined; /* of a sweep: findings wait for those of other sizes; borrowed; NULL: none */
    grout_json
        *json; /* the facts, for an answer as JSON or for a page; NULL: neither is asked for */
    const grout_bytes *text; /* of the file; borrowed */
    grout_silencer silencer;
    uint64_t error_count, warning_count, silenced_count;
    uint64_t folded_errors, folded_warnings; /* of them: listed under what they follow from */
    uint64_t lowered_count;                  /* of the warnings: errors but for --severity */
    bool is_incomplete, is_invalid;
    bool is_run;      /* without the checker: warnings are notes, not the answer */
    bool has_outcome; /* of a kernel */
    grout_text held;  /* warnings of the text, until the findings of the first kernel are out */
    bool *has_begun;  /* by kernel, while the kernels of a load are run; borrowed; NULL: nobody asks
                       */
    grout_not_begun not_begun; /* without --sweep, where each size has its own */
    uint64_t total_shown;
    grout_lookup shown;        /* identities of the findings of the exploration that is reported */
    grout_followers followers; /* of the run that is reported */
    struct {
        grout_reporter_facts *items;
        size_t count, capacity;
    } differences;
    uint64_t before[6];                    /* these six, of its outcomes so far */
    uint32_t schedule_count;               /* schedules saved to files of one name */
    uint64_t listed_count, unlisted_count; /* of the kernel that is reported: --max-findings */
    uint64_t diags_seen;                   /* number of the session's newest diagnostic that
                                            * add_diags has seen */
} grout_reporter;

/* False without memory. Deinit after finish, or without it. */
bool grout_reporter__init(grout_reporter *report, grout_session *session, const grout_load *load,
                          const grout_bytes *text);
/* Reads the rules that silence findings, once the file's text is there. False: diagnostics. */
bool grout_reporter__read_rules(grout_reporter *report);
void grout_reporter__deinit(grout_reporter *report);
/* The findings and the summary of one kernel's run. */
void grout_reporter__add_outcome(grout_reporter *report, grout_kernel_id kernel,
                                 const grout_outcome *outcome);
/* The session's new diagnostics: why a kernel is invalid, or could not be run. */
void grout_reporter__add_diags(grout_reporter *report);
/* Notes that something is not known: of the size that runs now, if there are several. */
void grout_reporter__note_incomplete(grout_reporter *report);
/* Where the kernels are kept that were not begun: of the size that runs now, or of all. */
grout_not_begun *grout_reporter__get_not_begun(grout_reporter *report);
/* Prints what has been kept back: the JSON object. */
void grout_reporter__finish(grout_reporter *report);
/* "clean", "warning" (there is an error that --severity lowered), "error", "incomplete" or
 * "invalid". */
const char *grout_reporter__get_verdict(const grout_reporter *report);

/* Appends the command that shows the same again: "grout check FILE -D X=4 --schedule fair ...". */
void grout_reporter__print_command(const grout_reporter *report, grout_kernel_id kernel,
                                   const grout_outcome *outcome, grout_text *out);

/* Appends the command that tries repairs: "grout fix FILE -D X=4". */
void grout_reporter__print_fix(const grout_reporter *report, grout_kernel_id kernel,
                               const grout_outcome *outcome, grout_text *out);

#endif
