/* schedule.h - the run of all warps.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_PTX_SCHEDULE_H
#define GROUT_PTX_SCHEDULE_H

#include "machine.h"

/* Until all CTAs have ended: true; or with a diagnostic. */
bool grout_ptx__run_all(ptx_machine *machine);

#endif
