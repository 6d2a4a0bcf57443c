/* costs.h - what a kernel issues and moves, in words.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_CALL_COSTS_H
#define GROUT_CALL_COSTS_H

#include "load.h"

/* With --verbose: what each thread of the kernels to work on, each part and each turn of a loop
 * gives the engines to do, and where it waits. */
void grout_costs__note(grout_session *session, const grout_load *load);

#endif
