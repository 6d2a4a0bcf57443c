/* cmd_fix.c - grout fix: a kernel file repaired.
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"

#include "fix.h"

int grout_cmd_fix(grout_session *session) {
    return grout_fix__run(session);
}
