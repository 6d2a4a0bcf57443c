/* main.c - the command, with a field of the words of the hardware off:
 *     grout-planted [--plant FIELD[-]] COMMAND ...
 * One unit more, or with '-' one less, in the code of 'emit' and 'run' and in its launch.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/differential/planted/plant.h"

#include "commands.h"
#include "host_posix.h"
#include "signals_posix.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    const bool is_asked = argc > 2 && strcmp(argv[1], "--plant") == 0;
    const int words = is_asked ? 2 : 0;
    if (is_asked && !plant(argv[2])) {
        fprintf(stderr, "no field of fields.def or bits.def is '%s'\n", argv[2]);
        return 2;
    }
    int exit_code = grout_cli_main(argc - words, argv + words, grout_host_posix_get());
    return grout_signals_posix__get_exit_code(exit_code);
}
