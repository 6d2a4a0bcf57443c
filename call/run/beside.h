/* beside.h - launches of a list whose grids may run beside each other.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_CALL_BESIDE_H
#define GROUT_CALL_BESIDE_H

#include "grout/ir.h"

/* Why the schedules of a launch alone are not all there are: it and a launch beside it work on one
 * array with atomics, whose order is tried for no two grids. NULL: they do not. */
const char *grout_beside__find_open(const grout_module *bound, grout_launch_id launch);

#endif
