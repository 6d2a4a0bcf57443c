/* wider.h - larger sizes at which a repair has to hold too: where the kernel reaches what it does
 * not reach at the sizes that were asked for.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_REPAIR_WIDER_H
#define GROUT_REPAIR_WIDER_H

#include "trial.h"

typedef struct grout_wider {
    grout_trial_task task; /* the same kernel with other -D and --sweep */
    grout_text words;      /* " -D K=320", as the command takes them; empty: there are none */
    /* owned by it */
    grout_session session;
    grout_options proposed;
    grout_sizes sizes;
    char **arguments;
} grout_wider;

/*
 * Finds them for a text that is clean at the sizes of a task, as 'grout check' proposes sizes to
 * reach more; the search ends at 'end' (seconds of the host's clock) at the latest. words stay
 * empty if the kernel reaches all, or nothing larger was found. False without memory. Deinit even
 * then. It must not be moved afterwards.
 */
bool grout_wider__find(const grout_trial_task *task, const grout_text *text, double end,
                       grout_wider *out);
void grout_wider__deinit(grout_wider *wider);

#endif
