/* one_process.c - the whole command, call after call in one process: for one_process.py.
 *
 * Each line of stdin is the words of a call, with tabs between them. What the call says goes where
 * stdout and stderr of the process go; its exit code is a line on descriptor 3. An empty line gives
 * what malloc keeps back to the system, so that the size of the process is what it uses.
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"
#include "host_posix.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 64 };

int main(void) {
    char *line = NULL;
    size_t capacity = 0;
    FILE *answers = fdopen(3, "w");
    if (answers == NULL) {
        (void)fprintf(stderr, "one_process: descriptor 3 is not open\n");
        return 2;
    }
    const grout_host *host = grout_host_posix_get();
    while (getline(&line, &capacity, stdin) > 0) {
        char *argv[WORDS_MAX + 1] = {NULL}, *rest = NULL;
        int argc = 0;
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '\0') {
            (void)malloc_trim(0);
        }
        argv[argc++] = line; /* the name of the program, which nobody reads */
        for (char *word = strtok_r(line, "\t", &rest); word != NULL && argc < WORDS_MAX;
             word = strtok_r(NULL, "\t", &rest)) {
            argv[argc++] = word;
        }
        (void)fprintf(answers, "%d\n", argc > 1 ? grout_cli_main(argc, argv, host) : 0);
        (void)fflush(answers);
    }
    free(line);
    (void)fclose(answers);
    return 0;
}
