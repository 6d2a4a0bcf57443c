/* cmd_check.c - grout check: the interpreter with the race checker.
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"

#include "checking.h"

int grout_cmd_check(grout_session *session) {
    return grout_checking__run(session);
}
