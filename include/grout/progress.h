/* SPDX-License-Identifier: Apache-2.0 */
/* progress.h - how far something has come that takes its time: what may end it looks at that. */
#ifndef GROUT_PROGRESS_H
#define GROUT_PROGRESS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct grout_progress {
    int64_t ctas_done, ctas_total; /* of a launch; 0 of what has no CTAs */
    uint64_t steps;
} grout_progress;

#ifdef __cplusplus
}
#endif
#endif
