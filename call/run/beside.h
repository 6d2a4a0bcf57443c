/* beside.h - launches of a list whose grids may run beside each other.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_CALL_BESIDE_H
#define GROUT_CALL_BESIDE_H

#include "grout-internal/ir.h"
#include "lookup.h"

/* The atomics of a module's kernels on arrays that they are given. Zeroed: nothing is noted. */
typedef struct grout_beside {
    grout_lookup atomics; /* by kernel and name of the array */
    bool is_noted;
} grout_beside;

/* Looks at the module, if none has been looked at. False without memory. */
bool grout_beside__note(grout_beside *beside, const grout_module *bound);
void grout_beside__deinit(grout_beside *beside);
/* Why the schedules of a launch alone are not all there are: it and a launch beside it work on one
 * array with atomics, whose order is tried for no two grids. NULL: they do not. */
const char *grout_beside__find_open(const grout_beside *beside, const grout_module *bound,
                                    grout_launch_id launch);

#endif
