/* minimise.h - check --minimise.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_CHECK_MINIMISE_H
#define GROUT_CHECK_MINIMISE_H

#include "work.h"

/* Shrinks a file's first finding and reports the smallest run that shows it. The exit code. */
int grout_minimise__run(grout_session *session, const char *path);

#endif
