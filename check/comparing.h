/* comparing.h - results of a run against files, or against another run.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_CHECK_COMPARING_H
#define GROUT_CHECK_COMPARING_H

#include "mismatch.h"

#include "grout-internal/compare.h"

/* A kernel's run on the CPU, and what is called for its differences. */
typedef struct grout_comparing {
    grout_session *session;
    const grout_load *load;
    grout_kernel_id kernel;
    const grout_launch_settings *settings; /* that run it again, to find what wrote what differs */
    const grout_argument_set *inputs;      /* of that; NULL: what the bindings make */
    bool is_brief;                         /* nobody asks what wrote what differs */
    /* Called for each array that differs. */
    void (*found)(void *payload, const grout_mismatch *mismatch);
    void *payload;
} grout_comparing;

/* As 'found': it goes into the report that is the payload (a grout_reporter). */
void grout_comparing__report(void *payload, const grout_mismatch *mismatch);

/* Compares the results of the run with the --expect-output files. Appends "%c differs from 'c.npy'"
 * for what is not equal. */
void grout_comparing__with_files(const grout_comparing *it, const grout_argument_set *arguments,
                                 grout_text *differs);

/* What the arrays of a run are to hold. */
typedef struct grout_expected {
    const void *const *arrays; /* by parameter; NULL: it is not compared */
    const char *name;          /* "@reference", for messages */
    grout_compare_options options;
} grout_expected;

/* The same with arrays in memory. False: something has ended it. */
bool grout_comparing__with_arrays(const grout_comparing *it, const grout_argument_set *arguments,
                                  const grout_expected *expected, grout_text *differs);
/* Compares the results of a launch on a GPU with those of the run on the CPU; what differs is in
 * the session's diagnostics. Returns whether they are equal. count_out: arrays compared. */
bool grout_comparing__with_cpu(const grout_comparing *it, const grout_argument_set *cpu,
                               const grout_argument_set *gpu, const grout_compare_options *options,
                               uint32_t *count_out);

#endif
