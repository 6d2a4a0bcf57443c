/* beside_posix.h - a file that another file names, on a POSIX system.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_CLI_BESIDE_POSIX_H
#define GROUT_CLI_BESIDE_POSIX_H

#include "host.h"

/*
 * Opens a regular file for reading that lies in the folder of its owner, or below it, once links
 * and '..' are resolved. Returns a descriptor, or -1 with a reason. What lies elsewhere is not
 * looked at, and the reason does not tell whether it is there.
 */
int grout_beside_posix__open(const char *owner, const char *name, grout_text *reason);

#endif
