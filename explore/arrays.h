/* arrays.h - the arrays of a launch that a kernel may write: kept, restored, compared.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_EXPLORE_ARRAYS_H
#define GROUT_EXPLORE_ARRAYS_H

#include "grout-internal/interp.h"

/* A copy of the arrays of some directions, one after another. */
typedef struct grout_saved_arrays {
    uint8_t *bytes;
    bool has_out; /* 'out' arrays too, not just 'inout' */
} grout_saved_arrays;

/* False without memory. */
bool grout_saved_arrays__take(grout_saved_arrays *saved, const grout_launch *launch, bool has_out);
void grout_saved_arrays__restore(const grout_saved_arrays *saved, const grout_launch *launch);
bool grout_saved_arrays__are_equal(const grout_saved_arrays *saved, const grout_launch *launch);
void grout_saved_arrays__deinit(grout_saved_arrays *saved);

#endif
