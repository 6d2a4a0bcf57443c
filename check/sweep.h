/* sweep.h - check --sweep: the same check at several sizes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_CHECK_SWEEP_H
#define GROUT_CHECK_SWEEP_H

#include "session.h"

/* Checks the file at every size of --sweep, one after the other, and reports all as one. Returns
 * the exit code. */
int grout_sweep__run(grout_session *session, const char *path);

#endif
