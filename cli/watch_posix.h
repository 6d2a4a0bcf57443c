/* watch_posix.h - waiting until files change, on a POSIX system.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_CLI_WATCH_POSIX_H
#define GROUT_CLI_WATCH_POSIX_H

#include "host.h"

/* The watch of a host (host.h). is_interrupted: whether the user has pressed Ctrl-C. */
grout_watch *grout_watch_posix__open(const char *const *paths, size_t count);
bool grout_watch_posix__wait(grout_watch *watch, bool (*is_interrupted)(void *payload));
void grout_watch_posix__close(grout_watch *watch);

#endif
