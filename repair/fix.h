/* fix.h - a file repaired: search, difference, question, new file.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_REPAIR_FIX_H
#define GROUT_REPAIR_FIX_H

#include "session.h"

/* Repairs the kernels of the file that the options name. Returns the exit code. */
int grout_fix__run(grout_session *session);

#endif
