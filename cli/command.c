/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

#include "commands.h"
#include "host_posix.h"
#include "signals_posix.h"

int grout_command_main(int argc, char **argv) {
    int exit_code = grout_cli_main(argc, argv, grout_host_posix_get());
    return grout_signals_posix__get_exit_code(exit_code);
}
