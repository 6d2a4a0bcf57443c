/* run_line.c - reads the options of a '// run:' line, and refuses those that reach too far.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run_line.h"

#include "invariant.h"
#include "progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 128 };

/* Splits a text at blanks, in place; argv[0] is the command. Stops at the most words. */
static size_t split_words(char *text, char **argv, size_t most) {
    size_t count = 1;
    argv[0] = text;
    for (char *at = text; *at != '\0' && count < most;) {
        at += strspn(at, " \t");
        if (*at == '\0') {
            break;
        }
        argv[count++] = at;
        at += strcspn(at, " \t");
        if (*at != '\0') {
            *at++ = '\0';
        }
    }
    return count;
}

static grout_place get_place(const grout_option_use *use, const char *word) {
    return grout_option_line__get_place(use->line, word);
}

/* ---- what is refused ------------------------------------------------------------------------ */

static const char *get_cause(grout_option_touch touches) {
    switch (touches) {
    case GROUT_TOUCHES_READS:
        return "a kernel file reads no file but arrays beside it";
    case GROUT_TOUCHES_WRITES:
        return "a kernel file writes no file";
    case GROUT_TOUCHES_CODE:
        return "a kernel file runs no other code";
    case GROUT_TOUCHES_CALL:
        return "only the caller of grout decides that";
    case GROUT_TOUCHES_RUN:
    case GROUT_TOUCHES_LESS:
    case GROUT_TOUCHES_ARRAY:
        break;
    }
    return "";
}

static bool refuse(grout_session *session, const grout_option_use *use) {
    grout_text name = {0};
    grout_option__print_name(use->id, &name);
    const char *text = name.data == NULL ? "" : name.data;
    grout_diags_add(session->diags, GROUT_DIAG_BAD_OPTION, get_place(use, use->word),
                    "'// run:' does not take %s: %s", text,
                    get_cause(grout_option__get_info(use->id)->touches));
    if (use->id == GROUT_OPTION_SUPPRESS || use->id == GROUT_OPTION_BASELINE) {
        grout_diags_help(session->diags,
                         "silence a finding at its line, '// allow: CODE reason', "
                         "or give %s in the call",
                         text);
    } else {
        grout_diags_help(session->diags, "leave it out; give %s in the call if it is wanted", text);
    }
    grout_text_free(&name);
    return false;
}

/* The largest value of a limit that lowers what holds without it; infinite: each does. */
static double get_most(const grout_session *session, grout_option_id id) {
    const grout_host *host = session->host;
    uint64_t memory = 0;
    switch ((int)id) {
    case GROUT_OPTION_MAX_STEPS:
        return (double)GROUT_STEPS_DEFAULT;
    case GROUT_OPTION_BUDGET:
        return GROUT_BUDGET_DEFAULT;
    case GROUT_OPTION_MAX_MEMORY:
        memory = host->get_memory(host->payload);
        return memory > 0 ? (double)memory : HUGE_VAL;
    default:
        GROUT_ASSERT(id == GROUT_OPTION_TIMEOUT); /* without it there is no limit */
        return HUGE_VAL;
    }
}

static double get_value(const grout_option_use *use) {
    uint64_t count = 0;
    double number = 0;
    if (grout_option__get_info(use->id)->kind == GROUT_OPTION_SECONDS) {
        (void)grout_read_number(use->value, &number);
        return number;
    }
    (void)grout_read_size(use->value, &count);
    return (double)count;
}

static bool check_limit(grout_session *session, const grout_option_use *use) {
    double most = get_most(session, use->id);
    if (get_value(use) <= most) {
        return true;
    }
    const char *name = grout_option__get_info(use->id)->long_text;
    grout_diags_add(session->diags, GROUT_DIAG_BAD_OPTION, get_place(use, use->value),
                    "'// run:' lowers a limit and does not raise it: --%s is %.0f without it", name,
                    most);
    grout_diags_help(session->diags, "leave it out; give --%s in the call if more is wanted", name);
    return false;
}

static bool check_use(grout_session *session, const grout_option_use *use) {
    switch (grout_option__get_info(use->id)->touches) {
    case GROUT_TOUCHES_RUN:
    case GROUT_TOUCHES_ARRAY: /* a file is looked at when it is read */
        return true;
    case GROUT_TOUCHES_LESS:
        return check_limit(session, use);
    case GROUT_TOUCHES_READS:
    case GROUT_TOUCHES_WRITES:
    case GROUT_TOUCHES_CODE:
    case GROUT_TOUCHES_CALL:
        break;
    }
    return refuse(session, use);
}

static bool check_options(grout_session *session) {
    const grout_options *options = &session->options;
    bool is_good = true;
    for (size_t i = 0; i < options->use_count; i++) {
        is_good = check_use(session, &options->uses[i]) && is_good;
    }
    for (size_t i = 0; i < options->argument_count; i++) {
        grout_diags_add(session->diags, GROUT_DIAG_BAD_OPTION,
                        grout_option_line__get_place(options->line, options->arguments[i]),
                        "'// run:' takes options only, not '%.200s'", options->arguments[i]);
        grout_diags_help(session->diags, "the line is about the kernels of its file");
        is_good = false;
    }
    return is_good;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static bool add_call(grout_session *session, const grout_options *call) {
    grout_options *options = &session->options;
    grout_option_use *uses =
        realloc(options->uses, (options->use_count + call->use_count + 1) * sizeof uses[0]);
    if (uses == NULL) {
        return grout_diags_add_oom(session->diags);
    }
    options->uses = uses;
    if (call->use_count > 0) {
        memcpy(uses + options->use_count, call->uses, call->use_count * sizeof uses[0]);
        options->use_count += call->use_count;
    }
    return true;
}

bool grout_run_line__read(grout_run_line *line, grout_session *session, const grout_options *call) {
    char *argv[WORDS_MAX + 1] = {NULL};
    const char *text = line->line.text;
    size_t size = strlen(text) + 1;
    line->words = malloc(size);
    if (line->words == NULL) {
        return grout_diags_add_oom(session->diags);
    }
    memcpy(line->words, text, size);
    line->line.text = line->words;
    line->line.size = size;
    session->options.command = GROUT_COMMAND_CHECK;
    session->options.line = &line->line;
    size_t count = split_words(line->words, argv, WORDS_MAX);
    if (count == WORDS_MAX) {
        return grout_diags_add(session->diags, GROUT_DIAG_BAD_OPTION,
                               grout_option_line__get_place(&line->line, argv[count - 1]),
                               "'// run:' takes fewer than %d words", WORDS_MAX);
    }
    return grout_options__parse(&session->options, (int)count, argv, session->diags) &&
           check_options(session) && add_call(session, call);
}

void grout_run_line__deinit(grout_run_line *line) {
    free(line->words);
    *line = (grout_run_line){0};
}
