/* main.c - the command grout: grout_cli_main on the real host.
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"
#include "host_posix.h"

int main(int argc, char **argv) {
    return grout_cli_main(argc, argv, grout_host_posix_get());
}
