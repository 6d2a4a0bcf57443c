/* signals_posix.c - see signals_posix.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "signals_posix.h"

#include "host.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* All that a signal handler touches. */
static volatile sig_atomic_t caught; /* number of the first signal; 0: none has come */
static volatile sig_atomic_t has_temporary;
static volatile int temporary_folder;
static char temporary_name[64];

void grout_signals_posix__note_temporary(int folder, const char *name) {
    has_temporary = 0;
    if (name != NULL && strlen(name) < sizeof temporary_name) {
        temporary_folder = folder;
        memcpy(temporary_name, name, strlen(name) + 1);
        has_temporary = 1;
    }
}

static void note_signal(int number) {
    if (caught == 0) {
        caught = number;
        return;
    }
    if (has_temporary) {
        (void)unlinkat(temporary_folder, temporary_name, 0);
    }
    /* It comes again once this function has returned. */
    struct sigaction action = {.sa_handler = SIG_DFL};
    (void)sigaction(number, &action, NULL);
    (void)raise(number);
}

void grout_signals_posix__install(void) {
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction note = {.sa_handler = note_signal}, ignore = {.sa_handler = SIG_IGN}, old;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        if (sigaction(ends[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN) {
            (void)sigaction(ends[i], &note, NULL);
        }
    }
    /* A reader that goes away ends no run: outputs are still to be written, and the exit code to
     * be given. */
    (void)sigaction(SIGPIPE, &ignore, NULL);
    /* So is a file that grows past the limit of the process: writing it fails, with a reason. */
    (void)sigaction(SIGXFSZ, &ignore, NULL);
}

bool grout_signals_posix__is_caught(void) {
    return caught != 0;
}

int grout_signals_posix__get_exit_code(int exit_code) {
    return exit_code == GROUT_EXIT_INTERRUPTED && caught != 0 ? 128 + caught : exit_code;
}
