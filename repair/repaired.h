/* repaired.h - what a repair came to, for a caller in the same process.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_REPAIR_REPAIRED_H
#define GROUT_REPAIR_REPAIRED_H

#include "host.h"

/* Zero-initialise; free with grout_repaired__deinit. */
typedef struct grout_repaired {
    grout_text text;    /* of the file, repaired as far as was found */
    grout_text diff;    /* unified; empty: nothing helps, or nothing is wrong */
    grout_text steps;   /* a line each */
    grout_text verdict; /* "k.grout: 2 changes, the result is clean" */
    uint32_t change_count;
    uint64_t tried;
} grout_repaired;

void grout_repaired__deinit(grout_repaired *repaired);

#endif
