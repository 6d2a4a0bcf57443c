/* read_posix.h - reading a file of the system, which may be a pipe that nobody writes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_CLI_READ_POSIX_H
#define GROUT_CLI_READ_POSIX_H

#include "host.h"

/* Waits until there is something to read, or the end of it. False: the waiting was ended. */
bool grout_read_posix__await(int file, const grout_waiting *waiting);

/* Opens a file, or stdin for "-". -1: a reason. A pipe without a writer is open at once. */
int grout_read_posix__open(const char *path, grout_text *reason);
/* Reads it as host.h says, and closes it. */
bool grout_read_posix__take(int file, const grout_reading *what, grout_bytes *out,
                            grout_text *reason);

#endif
