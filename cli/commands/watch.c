/* watch.c - --watch: the same call again whenever one of its files changes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "watch.h"

#include "files.h"

#include <string.h>

static bool check_options(grout_session *session) {
    const grout_options *options = &session->options;
    bool is_good = true;
    if (session->is_json) {
        is_good = grout_diags_add(session->diags, GROUT_DIAG_BAD_OPTION, grout_nowhere,
                                  "--watch answers in text: a program reads one answer");
    }
    for (size_t i = 0; i < options->argument_count; i++) {
        if (strcmp(options->arguments[i], "-") == 0) {
            is_good = grout_diags_add(session->diags, GROUT_DIAG_BAD_OPTION, grout_nowhere,
                                      "--watch reads a file again, and stdin can be read once");
        }
    }
    return is_good;
}

static void clear_screen(grout_session *session) {
    if (session->host->is_terminal(session->host->payload, GROUT_STREAM_OUT)) {
        grout_session__draw(session, GROUT_STREAM_OUT, "\033[H\033[2J\033[3J");
    }
}

/* "waiting until k.grout or x.npy changes; Ctrl-C ends" */
static void say_waiting(grout_session *session, const grout_file_list *files) {
    grout_text names = {0};
    for (size_t i = 0; i < files->count; i++) {
        grout_text_add(&names, "%s%s",
                       i == 0                  ? ""
                       : i + 1 == files->count ? " or "
                                               : ", ",
                       files->paths[i]);
    }
    if (!session->is_quiet && names.data != NULL) {
        grout_session__note(session, "waiting until %s changes; Ctrl-C ends\n", names.data);
    }
    grout_text_free(&names);
}

static int repeat(grout_session *session, const grout_file_list *files, grout_watch *watch,
                  grout_watched_call *call, void *payload) {
    const grout_host *host = session->host;
    int exit_code = GROUT_EXIT_OK;
    bool goes_on = true;
    while (goes_on) {
        clear_screen(session);
        exit_code = call(payload);
        goes_on = !host->is_interrupted(host->payload);
        if (goes_on) {
            say_waiting(session, files);
            goes_on = host->wait_for_change(host->payload, watch);
        }
    }
    return exit_code;
}

int grout_watch__run(grout_session *session, grout_watched_call *call, void *payload) {
    const grout_host *host = session->host;
    grout_file_list files = {0};
    grout_watch *watch = NULL;
    int exit_code = GROUT_EXIT_USAGE;
    if (check_options(session) && grout_files__list_read(session, &files)) {
        watch = host->open_watch(host->payload, (const char *const *)files.paths, files.count);
        if (watch == NULL) {
            (void)grout_diags_add_oom(session->diags);
        }
    }
    if (watch == NULL) {
        grout_session__print_diags(session, GROUT_STREAM_ERR);
        exit_code = grout_session__get_exit_code(session);
    } else {
        exit_code = repeat(session, &files, watch, call, payload);
        host->close_watch(host->payload, watch);
    }
    grout_file_list__deinit(&files);
    return exit_code;
}
