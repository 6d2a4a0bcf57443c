/* commands.h - the command line as a function, and the commands that it calls.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_CLI_COMMANDS_H
#define GROUT_CLI_COMMANDS_H

#include "session.h"

/* The command: argv as main has it (argv[0] is ignored). Returns the exit code. */
int grout_cli_main(int argc, char **argv, const grout_host *host);

/* A command; each has a file of its own. Returns the exit code. */
typedef int grout_command_function(grout_session *session);
/* The same with these functions, by command. */
int grout_cli_call(int argc, char **argv, const grout_host *host,
                   grout_command_function *const *functions);
grout_command_function grout_cmd_check, grout_cmd_run, grout_cmd_fix, grout_cmd_emit, grout_cmd_fmt,
    grout_cmd_ops, grout_cmd_explain, grout_cmd_doctor, grout_cmd_cache, grout_cmd_help;

/* Says that there is no such command, and which one may be meant; false. */
bool grout_session__report_unknown_command(grout_session *session, const char *word);
/* Writes --help of one command, or of grout (GROUT_COMMAND_NONE), to stdout. */
void grout_help__print(grout_session *session, grout_command command);

/* Folders: of the cache (false: there is none; ignored: which variables are no paths), and where
 * NVRTC may lie. */
bool grout_cache__get_folder(const grout_session *session, grout_text *out, grout_text *ignored);
typedef struct grout_nvrtc_search {
    grout_nvrtc_options options;
    grout_text cache_dir, cuda_home;
    const char *dirs[1];
} grout_nvrtc_search;
void grout_nvrtc_search__init(grout_nvrtc_search *search, const grout_session *session);
void grout_nvrtc_search__deinit(grout_nvrtc_search *search);

#endif
