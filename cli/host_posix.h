/* host_posix.h - the host on a POSIX system: its files, environment, terminal and GPU.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_CLI_HOST_POSIX_H
#define GROUT_CLI_HOST_POSIX_H

#include "host.h"

/* One object, which lives as long as the process. Installs the handlers of signals. */
const grout_host *grout_host_posix_get(void);

#endif
