/* command.h - the whole command, in the process that calls it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_CLI_COMMAND_H
#define GROUT_CLI_COMMAND_H

#include "grout/diag.h"

/*
 * Runs 'grout ARGUMENTS' on this machine, with its files, streams and signals, and returns its exit
 * code: argv[0] is a name for messages, and argv[argc] NULL. For a process that does nothing else:
 * the signals that end a call stay caught afterwards, and a second one ends the process. The
 * program grout is this, and so is 'python -m grout'; no installed header declares it.
 */
GROUT_API int grout_command_main(int argc, char **argv);

#endif
