/* cmd_fmt.c - grout fmt: the canonical text of kernels.
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"

#include "load.h"

#include <stdlib.h>
#include <string.h>

/* The result over all files. */
typedef struct fmt_work {
    grout_session *session;
    bool is_in_place, is_check;
    uint32_t different_count;
} fmt_work;

static bool check_options(fmt_work *work) {
    grout_session *session = work->session;
    const grout_options *options = &session->options;
    if (work->is_in_place && work->is_check) {
        return grout_diags_add(session->diags, GROUT_DIAG_BAD_OPTION, grout_nowhere,
                               "-i rewrites, --check does not: one of the two");
    }
    for (size_t i = 0; i < options->argument_count && work->is_in_place; i++) {
        if (strcmp(options->arguments[i], "-") == 0) {
            return grout_diags_add(session->diags, GROUT_DIAG_BAD_OPTION, grout_nowhere,
                                   "-i needs a file, stdin cannot be rewritten");
        }
    }
    return true;
}

static bool put_result(fmt_work *work, const char *path, const grout_bytes *before,
                       grout_text *after) {
    bool is_same = after->size == before->size &&
                   (after->size == 0 || memcmp(after->data, before->data, after->size) == 0);
    if (after->failed) {
        return grout_diags_add_oom(work->session->diags);
    }
    work->different_count += is_same ? 0u : 1u;
    if (work->is_check) {
        if (!is_same && !work->session->is_quiet) {
            grout_session__print(work->session, GROUT_STREAM_OUT, "%s\n",
                                 grout_load__get_name(path));
        }
        return true;
    }
    if (work->is_in_place) {
        grout_chunk chunk = {.data = after->data, .size = after->size};
        return is_same || grout_session__write_file(work->session, path, &chunk, 1);
    }
    grout_session__flush_exact(work->session, GROUT_STREAM_OUT, after);
    return true;
}

static bool format_file(fmt_work *work, const char *path) {
    grout_session *session = work->session;
    const char *name = grout_load__get_name(path);
    grout_bytes before = {0};
    grout_text after = {.allocator = grout_session__get_allocator(session)};
    if (!grout_session__read_file(session, path, GROUT_FILE_MAX, &before)) {
        return false;
    }
    grout_diags_add_source(session->diags, name, before.data, before.size);
    grout_module *module = grout_parse_in(grout_session__get_allocator(session), name, before.data,
                                          before.size, session->diags);
    bool is_good = module != NULL;
    if (is_good) {
        grout_module_print(module, &after);
        is_good = !after.failed ? put_result(work, path, &before, &after)
                                : grout_diags_add_oom(session->diags);
    }
    if (!is_good) {
        grout_session__help_memory(session);
    }
    grout_text_free(&after);
    grout_module_free(module);
    free(before.data);
    return is_good;
}

int grout_cmd_fmt(grout_session *session) {
    fmt_work work = {
        .session = session,
        .is_in_place = grout_options__has(&session->options, GROUT_OPTION_IN_PLACE),
        .is_check = grout_options__has(&session->options, GROUT_OPTION_FMT_CHECK),
    };
    if (check_options(&work)) {
        for (size_t i = 0; i < session->options.argument_count; i++) {
            (void)format_file(&work, session->options.arguments[i]);
        }
    }
    /* stdout is the kernel's text. */
    grout_session__print_diags(session, GROUT_STREAM_ERR);
    int exit_code = grout_session__get_exit_code(session);
    if (exit_code == GROUT_EXIT_OK && work.is_check && work.different_count > 0) {
        exit_code = GROUT_EXIT_FINDING;
    }
    return exit_code;
}
