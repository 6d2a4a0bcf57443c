/* checking.h - a check, whatever its options ask for.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_CHECK_CHECKING_H
#define GROUT_CHECK_CHECKING_H

#include "session.h"

/* Checks the file that the options name, and reports. Returns the exit code. */
int grout_checking__run(grout_session *session);

#endif
