/* other_runs.h - runs that nobody asked for, at other sizes and under other schedules, by which
 * repairs are compared: a right one is clean in more of them than one that is right by chance.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_REPAIR_OTHER_RUNS_H
#define GROUT_REPAIR_OTHER_RUNS_H

#include "trial.h"

#define GROUT_OTHER_RUNS_MAX    24u
#define GROUT_OTHER_DEFINES_MAX 4u

/* Consts with other values, or the own size under other schedules. */
typedef struct grout_other_run {
    char *defines[GROUT_OTHER_DEFINES_MAX]; /* "K=896", as -D takes it; owned */
    uint32_t define_count;                  /* 0: other schedules */
    uint32_t tried;                         /* texts */
    uint32_t clean;                         /* of these, without a finding */
} grout_other_run;

typedef struct grout_other_runs {
    grout_trial_task task; /* at one of them */
    grout_other_run items[GROUT_OTHER_RUNS_MAX];
    uint32_t count;
} grout_other_runs;

/*
 * Finds them for a text that is clean at the size of a task, whose runs took this many steps: each
 * const that a number gives, larger and smaller; sizes of the problem first, then rings and tiles.
 * If the call asks for several sizes itself, there are other schedules alone. False without
 * memory. Deinit even then.
 */
bool grout_other_runs__find(const grout_trial_task *task, const grout_text *text, uint64_t steps,
                            grout_other_runs *out);
/*
 * Runs a text, until more than 'most' runs are not clean. failed gets a bit for each that is not,
 * and for those that were not made any more. A run that was made with several texts and clean with
 * none is one that the kernel is not made for: it does not count. False without memory.
 */
bool grout_other_runs__try(grout_other_runs *runs, const grout_text *text, uint32_t most,
                           uint32_t *failed_out);
/* The failures of a text, of the runs that count by now. */
uint32_t grout_other_runs__count(const grout_other_runs *runs, uint32_t failed);
/* Appends "-D K=896, -D K=64": the sizes at which a text with these failures is not clean. */
void grout_other_runs__describe(const grout_other_runs *runs, uint32_t failed, grout_text *out);
void grout_other_runs__deinit(grout_other_runs *runs);

#endif
