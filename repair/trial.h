/* trial.h - what the checker says of a text, kept as data: one try of a repair.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_REPAIR_TRIAL_H
#define GROUT_REPAIR_TRIAL_H

#include "change.h"
#include "sizes.h"

#define GROUT_TRIAL_NOTES_MAX 8

/* A finding that nobody has silenced; in a text that cannot be run, a diagnostic. */
typedef struct grout_trial_finding {
    grout_diag_code code;
    bool is_error;
    bool is_follow_on;            /* it follows from another one */
    grout_place primary, related; /* their file is NULL: none; else it is not to be read */
    grout_change edit;
    bool has_edit;
    char *words; /* headline, missing edge, repair and notes: what it is about */
    uint32_t note_lines[GROUT_TRIAL_NOTES_MAX]; /* where notes point to, from 1; 0: no more */
} grout_trial_finding;

typedef struct grout_trial {
    grout_trial_finding *items; /* errors first, causes before what follows from them */
    size_t count, capacity;
    uint32_t *table; /* of findings, by hash: their index plus 1 */
    size_t table_size;
    size_t found; /* findings, of each size and launch */
    bool *is_bad; /* by kernel: it has findings, or its check is not complete */
    size_t kernel_count;
    uint32_t error_count;
    uint32_t diag_count; /* errors and warnings of the file itself, "unused-result" */
    uint64_t steps;      /* of all its runs */
    uint32_t depth;      /* what a CTA has in flight at once (depth.h) */
    bool is_valid;       /* it was run */
    bool is_stuck;       /* a deadlock, or threads that part */
    bool is_incomplete;  /* a limit ended a run, or something is not modelled */
    bool is_compared;    /* results of a whole run are: with a reference, or --expect-output */
    bool is_different;   /* and one is not as expected */
    bool holds;          /* for every schedule */
    bool is_by_schedule; /* its findings are of other schedules than its own */
} grout_trial;

typedef struct grout_trial_task {
    grout_session *session; /* its options say how to run */
    const char *path;       /* of the file, for messages */
    const grout_sizes *sizes;
    bool is_try;        /* nobody asks which operation wrote what differs */
    bool looks_again;   /* tries other schedules where one is not like all, as 'grout check' does */
    const char *kernel; /* the only one to run; NULL: those that the options select */
    uint64_t steps_max; /* of a launch, but for its reference; 0: as the options say */
    /* what is clean has to be clean there too (wider.h); NULL: nowhere else */
    const struct grout_trial_task *wider;
    /* what references have left in earlier tries; NULL: each try runs them */
    struct grout_kept_references *kept;
} grout_trial_task;

/* Loads and runs the text at every size, and if it is clean there at those of 'wider'. False
 * without memory. Deinit even then. */
bool grout_trial__run(const grout_trial_task *task, const grout_text *text, grout_trial *out);
void grout_trial__deinit(grout_trial *trial);
/* Whether nothing is left to repair, and that is sure. */
bool grout_trial__is_clean(const grout_trial *trial);
/* Whether a kernel of the file has to be repaired, by its id in the text of a trial of all. */
bool grout_trial__is_bad(const grout_trial *trial, grout_kernel_id kernel);
/* Whether a finding of the text before the change is still there after it. */
bool grout_trial__has(const grout_trial *trial, const grout_trial_finding *finding,
                      const grout_change *change);

#endif
