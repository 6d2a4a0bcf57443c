/* SPDX-License-Identifier: Apache-2.0 */
/* asserted.h - what a run without the checker says of its values. */
#ifndef GROUT_INTERNAL_ASSERTED_H
#define GROUT_INTERNAL_ASSERTED_H

#include "grout-internal/race.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a run without the checker says of its values: debug_check, multiple_of and, with
 * track_non_finite, NaN and infinity. The checker says it itself. */
typedef struct grout_asserted grout_asserted;

/* Whether the kernel asserts anything; else no launch needs the observer, unless it has
 * track_non_finite. */
bool grout_asserted_is_needed(const grout_module *bound, grout_kernel_id kernel);
/* For one launch; the module is borrowed. NULL without memory. */
grout_asserted *grout_asserted_new(const grout_module *bound, grout_kernel_id kernel);
void grout_asserted_free(grout_asserted *asserted);
/* To be put into grout_launch.observers; borrowed. */
const grout_observer *grout_asserted_get_observer(grout_asserted *asserted);
/* Adds what was found to the diagnostics. */
void grout_asserted_report(const grout_asserted *asserted, grout_diags *diags);

#ifdef __cplusplus
}
#endif
#endif
