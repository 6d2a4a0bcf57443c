/* signals_posix.h - the signals that end a call, and those that do not.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_CLI_SIGNALS_POSIX_H
#define GROUT_CLI_SIGNALS_POSIX_H

#include <stdbool.h>

/*
 * Ctrl-C, SIGTERM and SIGHUP: the first is noted, and whatever runs comes to its end with what it
 * has; a second one ends the process. What the process was started to ignore (nohup) it ignores.
 */
void grout_signals_posix__install(void);

/* Whether the first has come. */
bool grout_signals_posix__is_caught(void);

/* The exit code of a call that an interrupt has ended, 130, for the signal that it was. */
int grout_signals_posix__get_exit_code(int exit_code);

/* For grout_output_file: the second signal removes this file, too. NULL: there is none. */
void grout_signals_posix__note_temporary(int folder, const char *name);

#endif
