/* starts.h - the states in which a launch of a list may begin: all that the launches before it
 * leave under one schedule or another. They are looked for where it is a matter of chance what a
 * launch goes by. SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_CALL_STARTS_H
#define GROUT_CALL_STARTS_H

#include "launch.h"

/* Contents of all arrays of the list, as one schedule of the launches so far leaves them. */
typedef struct grout_start {
    void **contents; /* by array; NULL: no launch has named it yet */
    size_t count;
    grout_past *past;
    grout_decisions *path; /* by launch, from 1: the schedule */
} grout_start;

typedef struct grout_starts grout_starts;

/* NULL without memory. */
grout_starts *grout_starts__new(grout_session *session, const grout_load *load);
void grout_starts__free(grout_starts *it);
/* Another array of the list, as it is before any launch; its data stays where it is. */
bool grout_starts__add_array(grout_starts *it, void *data, size_t size);
/* The next launch, and what it is run with; arguments and settings are copied. False without
 * memory. */
bool grout_starts__begin(grout_starts *it, grout_kernel_id kernel,
                         const grout_argument_set *arguments,
                         const grout_launch_settings *settings);
/* Explores the launch from the other states in which it may begin, and adds what that finds;
 * explored is of the state that the arrays were in. False: diagnostics. */
bool grout_starts__explore(grout_starts *it, grout_explored *explored);
/* The schedule of a launch before, counted from 1, of a witness of the launch at hand. */
const grout_decisions *grout_starts__get_decisions(const grout_starts *it, uint32_t witness,
                                                   grout_launch_id launch);

#endif
