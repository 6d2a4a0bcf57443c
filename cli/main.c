/* main.c - the program grout.
 * SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

int main(int argc, char **argv) {
    return grout_command_main(argc, argv);
}
