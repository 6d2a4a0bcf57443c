/* seen.h - a run that showed a finding, kept: its report stands in for a run of the same launch
 * that is cut before it shows the finding again.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_CHECK_SEEN_H
#define GROUT_CHECK_SEEN_H

#include "launch.h"

typedef struct grout_seen {
    uint64_t identity;       /* of the finding; 0: nothing is kept but the deadline */
    grout_kernel_id kernel;  /* its id in the whole file; 0: of none */
    grout_deadline deadline; /* of what else is in the file, when it is reported */
    grout_load load, alone;  /* of the file; of the run, if it is another. The checker reads them */
    grout_diags *diags;      /* of the same */
    grout_outcome outcome;   /* without its machine */
    grout_explored
        explored; /* whose witness it is; without witnesses: the outcome is a run's own */
} grout_seen;

void grout_seen__deinit(grout_seen *seen);
/* Whether it is of a kernel of a load. */
bool grout_seen__is_of(const grout_seen *seen, const grout_load *load, grout_kernel_id kernel);
/* What is to be reported of a run: the outcome itself, or in *stand_in the kept one, if the run was
 * cut and does not show the finding. */
const grout_outcome *grout_seen__get_reported(grout_session *session, const grout_load *load,
                                              grout_kernel_id kernel, const grout_outcome *outcome,
                                              grout_outcome *stand_in);

#endif
