/* cli.c - grout_cli_main: finds the command, parses its options, calls it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"

#include "files.h"
#include "limited.h"
#include "watch.h"

#include <string.h>

static grout_command_function *const own_functions[GROUT_COMMAND_COUNT] = {
    [GROUT_COMMAND_CHECK] = grout_cmd_check,     [GROUT_COMMAND_RUN] = grout_cmd_run,
    [GROUT_COMMAND_FIX] = grout_cmd_fix,         [GROUT_COMMAND_EMIT] = grout_cmd_emit,
    [GROUT_COMMAND_FMT] = grout_cmd_fmt,         [GROUT_COMMAND_OPS] = grout_cmd_ops,
    [GROUT_COMMAND_EXPLAIN] = grout_cmd_explain, [GROUT_COMMAND_DOCTOR] = grout_cmd_doctor,
    [GROUT_COMMAND_CACHE] = grout_cmd_cache,     [GROUT_COMMAND_HELP] = grout_cmd_help,
};

static void print_version(grout_session *session) {
    grout_session__print(session, GROUT_STREAM_OUT, "grout " GROUT_VERSION "\n");
}

/* The first word: a command, --help or --version. Returns whether there is more to do. */
static bool read_command(grout_session *session, int argc, char **argv) {
    const char *word = argc > 1 ? argv[1] : "";
    if (strcmp(word, "--version") == 0) {
        print_version(session);
        return false;
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        grout_help__print(session, GROUT_COMMAND_NONE);
        return false;
    }
    session->options.command = grout_command__find(word);
    if (session->options.command != GROUT_COMMAND_NONE) {
        return true;
    }
    if (word[0] != '\0') {
        return grout_session__report_unknown_command(session, word);
    }
    grout_diags_add(session->diags, GROUT_DIAG_BAD_OPTION, grout_nowhere,
                    "a command is needed: grout COMMAND [OPTION...] [FILE]");
    grout_diags_help(session->diags, "'grout help' lists the commands");
    return false;
}

/* A command line, the host that it is for, and what runs its command. */
typedef struct command_line {
    int argc;
    char **argv;
    const grout_host *host;
    grout_command_function *const *functions;
} command_line;

static int call(const command_line *line, bool is_watched);

static int call_watched(void *payload) {
    return call(payload, true);
}

/* is_watched: it is one of the calls that --watch makes. */
static int run_command(grout_session *session, const command_line *line, bool is_watched,
                       grout_limited *memory) {
    bool is_parsed =
        grout_options__parse(&session->options, line->argc - 1, line->argv + 1, session->diags);
    if (grout_options__has(&session->options, GROUT_OPTION_SHOW_HELP)) {
        grout_help__print(session, session->options.command);
        return GROUT_EXIT_OK;
    }
    if (grout_options__has(&session->options, GROUT_OPTION_SHOW_VERSION)) {
        print_version(session);
        return GROUT_EXIT_OK;
    }
    grout_session__read_form(session);
    grout_session__begin_timeout(session);
    grout_session__begin_memory(session, memory);
    if (!is_parsed || !grout_options__check_arguments(&session->options, session->diags) ||
        !grout_session__check_severities(session) || !grout_files__check(session)) {
        grout_session__print_diags(session, GROUT_STREAM_ERR);
        return GROUT_EXIT_USAGE;
    }
    if (!is_watched && grout_options__has(&session->options, GROUT_OPTION_WATCH)) {
        command_line again = *line; /* each call reads it anew */
        return grout_watch__run(session, call_watched, &again);
    }
    return line->functions[session->options.command](session);
}

/* What stdout has not taken is an output that is not written, as a file would be. */
static int report_lost_output(grout_session *session, int exit_code) {
    const char *reason = session->write_reason.data;
    grout_session__print(session, GROUT_STREAM_ERR,
                         "error: cannot write to stdout: %s [file-unwritable]\n",
                         reason == NULL ? "?" : reason);
    return grout_exit_code_rank(exit_code) > grout_exit_code_rank(GROUT_EXIT_USAGE)
               ? exit_code
               : GROUT_EXIT_USAGE;
}

/* One call, from its words to its exit code. */
static int call(const command_line *line, bool is_watched) {
    const grout_host *host = line->host;
    grout_deadline deadline = {.host = host};
    grout_session session = {
        .host = host, .deadline = &deadline, .start = host->get_seconds(host->payload)};
    int exit_code = GROUT_EXIT_OK;
    grout_limited memory; /* outlives all that is taken from it */
    session.diags = grout_session__new_diags(&session);
    if (session.diags == NULL) {
        grout_session__print(&session, GROUT_STREAM_ERR, "error: out of memory\n");
        return GROUT_EXIT_INCOMPLETE;
    }
    if (read_command(&session, line->argc, line->argv)) {
        exit_code = run_command(&session, line, is_watched, &memory);
    } else if (grout_diags_has_errors(session.diags)) {
        grout_session__print_diags(&session, GROUT_STREAM_ERR);
        exit_code = GROUT_EXIT_USAGE;
    }
    if (session.write_failed) {
        exit_code = report_lost_output(&session, exit_code);
    }
    grout_text_free(&session.write_reason);
    grout_options__deinit(&session.options);
    grout_diags_free(session.diags);
    return exit_code;
}

int grout_cli_call(int argc, char **argv, const grout_host *host,
                   grout_command_function *const *functions) {
    const command_line line = {argc, argv, host, functions};
    return call(&line, false);
}

int grout_cli_main(int argc, char **argv, const grout_host *host) {
    return grout_cli_call(argc, argv, host, own_functions);
}
