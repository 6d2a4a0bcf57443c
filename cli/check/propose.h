/* propose.h - sizes with which a kernel reaches what it did not.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_CLI_PROPOSE_H
#define GROUT_CLI_PROPOSE_H

#include "launch.h"
#include "reach.h"

/*
 * Looks for the smallest value of one const with which the kernel reaches all, or else more than
 * reach; appends " -D STEPS=5", or nothing if none is found in time.
 */
void grout_propose__sizes(grout_session *session, const grout_load *load, const char *path,
                          const grout_bytes *text, const grout_reach *reach, grout_text *out);

#endif
