/*
 * workers.h - the clusters of a launch run by several OS threads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_WORKERS_H
#define GROUT_INTERP_WORKERS_H

#include "machine.h"

/*
 * Runs a launch that has not begun with launch.workers OS threads. False: nothing has happened, and
 * the machine has to run it alone: several cannot, or it would not be the same. True: it is done,
 * or progress has interrupted it (*status_out); arrays, statistics and observers have what all
 * clusters did.
 */
bool grout_workers__run(grout_machine *machine, grout_run_status *status_out);

#endif
