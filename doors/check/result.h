/* result.h - a report, with the call that made it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_DOORS_RESULT_H
#define GROUT_DOORS_RESULT_H

#include "grout/report.h"

#include "kept.h"
#include "limited.h"
#include "memory_host.h"
#include "repaired.h"

struct grout_report {
    grout_limited memory;   /* of the call; begun only where it is bounded */
    grout_memory_host host; /* what was written */
    grout_kept kept;
    grout_repaired repaired;
    grout_text plain, remarks; /* what stdout and stderr had, without colours */
    int exit_code;
};

/* A report that is to be made. NULL without memory. */
grout_report *grout_result__new(const grout_memory_files *given);
/* After the call: the report, or NULL where there is nothing to report; diags say why. */
grout_report *grout_result__finish(grout_report *report, grout_diags *diags);

#endif
