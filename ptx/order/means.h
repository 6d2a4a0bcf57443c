/* means.h - what the search for races takes: memory, and time.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_PTX_MEANS_H
#define GROUT_PTX_MEANS_H

#include "alloc.h"
#include "pulse.h"

typedef struct ptx_means {
    const grout_allocator *allocator; /* NULL: libc's */
    grout_pulse *pulse;               /* NULL: nobody ends it */
} ptx_means;

/* Counts work, as pulse.h does. False: the search is to end. */
static inline bool ptx_goes_on(const ptx_means *means, uint64_t work) {
    return means->pulse == NULL || grout_pulse__goes_on(means->pulse, work);
}

#endif
