/* session.c - answering: streams, colours, files, and what diagnostics mean for the exit code.
 * SPDX-License-Identifier: Apache-2.0 */
#include "session.h"

#include "invariant.h"
#include "limited.h"
#include "stage.h"
#include "suggest.h"
#include "wrap.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const grout_place grout_nowhere = {0};

grout_diags *grout_session__new_diags(const grout_session *session) {
    grout_diags *diags = grout_diags_new();
    if (diags != NULL) {
        grout_diags_set_why_end(diags, grout_deadline__why_end, session->deadline);
    }
    return diags;
}

void grout_session__read_form(grout_session *session) {
    const char *format = grout_options__get(&session->options, GROUT_OPTION_FORMAT);
    session->is_sarif = format != NULL && strcmp(format, "sarif") == 0;
    session->is_json = session->is_sarif || (format != NULL && strcmp(format, "json") == 0);
    session->is_github = format != NULL && strcmp(format, "github") == 0;
    session->is_quiet = grout_options__has(&session->options, GROUT_OPTION_QUIET);
    session->is_verbose = grout_options__has(&session->options, GROUT_OPTION_VERBOSE);
}

void grout_session__begin_timeout(grout_session *session) {
    const double timeout = grout_options__get_number(&session->options, GROUT_OPTION_TIMEOUT, 0);
    session->deadline->timeout_end = timeout > 0 ? session->start + timeout : 0;
}

void grout_session__begin_memory(grout_session *session, grout_limited *memory) {
    if (grout_options__has(&session->options, GROUT_OPTION_MAX_MEMORY)) {
        grout_limited__init(
            memory, NULL, grout_options__get_count(&session->options, GROUT_OPTION_MAX_MEMORY, 0));
        session->memory = memory;
    }
}

const grout_allocator *grout_session__get_allocator(const grout_session *session) {
    return session->memory == NULL ? NULL : &session->memory->allocator;
}

uint64_t grout_session__get_used_memory(const grout_session *session) {
    return session->memory == NULL ? 0 : session->memory->used;
}

void grout_session__help_memory(grout_session *session) {
    if (session->memory != NULL && session->memory->is_reached) {
        grout_diags_help(session->diags,
                         "the kernel's own tables and text take more than --max-memory, which is "
                         "%llu bytes",
                         (unsigned long long)session->memory->limit);
    }
}

bool grout_session__is_over(const grout_session *session) {
    return grout_deadline__find_cut(session->deadline) != GROUT_CUT_NONE;
}

void grout_text__add_name(grout_text *text, const char *name) {
    grout_text_add_visible(text, name, strlen(name), GROUT_KEEP_NOTHING);
}

static void write_bytes(grout_session *session, grout_stream stream, const char *data,
                        size_t size) {
    grout_text reason = {0};
    grout_stage__wipe(session);
    if (size > 0 && !session->host->write(session->host->payload, stream, data, size, &reason) &&
        stream == GROUT_STREAM_OUT && !session->write_failed) {
        session->write_failed = true;
        session->write_reason = reason; /* the first one is the cause */
        reason = (grout_text){0};
    }
    grout_text_free(&reason);
}

/* The last look at what leaves: whatever a text was made of, nothing in it steers a terminal or the
 * log of a workflow but colours, and annotations where they are asked for. */
static void write_shown(grout_session *session, grout_stream stream, const char *data,
                        size_t size) {
    bool has_commands = session->is_github && stream == GROUT_STREAM_OUT;
    grout_text shown = {0};
    grout_text_add_visible(&shown, data, size,
                           GROUT_KEEP_TABS | GROUT_KEEP_LINES | GROUT_KEEP_COLORS |
                               (has_commands ? GROUT_KEEP_COMMANDS : 0u));
    if (shown.failed) {
        (void)grout_diags_add_oom(session->diags);
    }
    write_bytes(session, stream, shown.data, shown.failed ? 0 : shown.size);
    grout_text_free(&shown);
}

/* Formats into a text; one that is too long for a line of ours needs a second look at its
 * arguments. */
static void add_formatted(grout_text *out, const char *format, va_list arguments) {
    char line[1024];
    va_list again;
    va_copy(again, arguments);
    int size = vsnprintf(line, sizeof line, format, arguments);
    if (size >= 0 && (size_t)size < sizeof line) {
        grout_text_add_bytes(out, line, (size_t)size);
    } else if (size >= 0) {
        char *longer = malloc((size_t)size + 1);
        if (longer != NULL) {
            (void)vsnprintf(longer, (size_t)size + 1, format, again);
            grout_text_add_bytes(out, longer, (size_t)size);
            free(longer);
        }
    }
    va_end(again);
}

/* A text that is one line, whatever is in it. */
static grout_text make_line(const char *format, va_list arguments) {
    grout_text text = {0}, line = {0};
    add_formatted(&text, format, arguments);
    bool is_whole = text.size > 0 && text.data[text.size - 1] == '\n';
    grout_text_add_visible(&line, text.data, text.size - (is_whole ? 1u : 0u), GROUT_KEEP_TABS);
    grout_text_add(&line, "%s", is_whole ? "\n" : "");
    grout_text_free(&text);
    return line;
}

void grout_session__print(grout_session *session, grout_stream stream, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    grout_text line = make_line(format, arguments);
    va_end(arguments);
    write_bytes(session, stream, line.data, line.size);
    grout_text_free(&line);
}

void grout_session__draw(grout_session *session, grout_stream stream, const char *format, ...) {
    grout_text text = {0};
    va_list arguments;
    va_start(arguments, format);
    add_formatted(&text, format, arguments);
    va_end(arguments);
    write_bytes(session, stream, text.data, text.size);
    grout_text_free(&text);
}

void grout_session__flush(grout_session *session, grout_stream stream, grout_text *text) {
    GROUT_ASSERT(text->size == 0 || text->data != NULL);
    if (text->failed) {
        (void)grout_diags_add_oom(session->diags);
    }
    write_shown(session, stream, text->data, text->size);
    grout_text_free(text);
    *text = (grout_text){0};
}

void grout_session__flush_exact(grout_session *session, grout_stream stream, grout_text *text) {
    if (session->host->is_terminal(session->host->payload, stream)) {
        grout_session__flush(session, stream, text);
        return;
    }
    if (text->failed) {
        (void)grout_diags_add_oom(session->diags);
    }
    write_bytes(session, stream, text->data, text->size);
    grout_text_free(text);
}

static bool wants_color(const grout_session *session, grout_stream stream) {
    const grout_host *host = session->host;
    const char *choice = grout_options__get(&session->options, GROUT_OPTION_COLOR);
    if (choice != NULL && strcmp(choice, "auto") != 0) {
        return strcmp(choice, "always") == 0;
    }
    const char *no_color = host->get_env(host->payload, "NO_COLOR");
    return (no_color == NULL || no_color[0] == '\0') && host->is_terminal(host->payload, stream);
}

grout_render_options grout_session__get_look(const grout_session *session, grout_stream stream) {
    const grout_host *host = session->host;
    return (grout_render_options){.color = wants_color(session, stream),
                                  .width = host->get_columns(host->payload, stream)};
}

void grout_session__flush_prose(grout_session *session, grout_stream stream, grout_text *text,
                                size_t hang) {
    grout_text lines = {0};
    size_t width = grout_session__get_look(session, stream).width;
    if (width > 0 && text->data != NULL && !text->failed) {
        grout_wrap__add_lines(&lines, text->data, hang, width);
        grout_text_free(text);
        *text = lines;
    }
    grout_session__flush(session, stream, text);
}

void grout_session__note(grout_session *session, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    grout_text line = make_line(format, arguments);
    va_end(arguments);
    grout_session__flush_prose(session, GROUT_STREAM_ERR, &line, 4);
}

size_t grout_session__get_page_width(const grout_session *session, size_t most) {
    size_t width = grout_session__get_look(session, GROUT_STREAM_OUT).width;
    return width > 0 && width < most ? width : most;
}

void grout_session__print_diags(grout_session *session, grout_stream stream) {
    grout_text text = {0};
    grout_render_options render = grout_session__get_look(session, stream);
    grout_diags_render(session->diags, &render, &text);
    grout_session__flush(session, stream, &text);
}

int grout_exit_code_rank(int exit_code) {
    switch (exit_code) {
    case GROUT_EXIT_INTERNAL:
        return 5;
    case GROUT_EXIT_INTERRUPTED:
        return 4;
    case GROUT_EXIT_USAGE:
        return 3;
    case GROUT_EXIT_FINDING:
        return 2;
    case GROUT_EXIT_INCOMPLETE:
        return 1;
    default:
        GROUT_ASSERT(exit_code == GROUT_EXIT_OK);
        return 0;
    }
}

int grout_exit_code_of(grout_diag_code code) {
    GROUT_ASSERT(code > GROUT_DIAG_NONE && code < GROUT_DIAG_COUNT);
    if (code == GROUT_DIAG_INTERNAL_ERROR || code == GROUT_DIAG_GPU_DRIVER ||
        code == GROUT_DIAG_NVRTC_FAILED) {
        return GROUT_EXIT_INTERNAL;
    }
    if (code == GROUT_DIAG_INTERRUPTED) {
        return GROUT_EXIT_INTERRUPTED;
    }
    if (code == GROUT_DIAG_STEP_LIMIT || code == GROUT_DIAG_OUT_OF_MEMORY ||
        code == GROUT_DIAG_GPU_UNSUPPORTED || code == GROUT_DIAG_PTX_FUNCTION_MISSING ||
        code == GROUT_DIAG_LIMIT_REACHED || code == GROUT_DIAG_TIME_LIMIT ||
        code == GROUT_DIAG_REFERENCE_INCOMPLETE) {
        return GROUT_EXIT_INCOMPLETE;
    }
    if (code == GROUT_DIAG_GPU_FAULT || code == GROUT_DIAG_GPU_HANG ||
        code == GROUT_DIAG_COMPARE_MISMATCH || code == GROUT_DIAG_EXPECTATION ||
        grout_diag_get(code)->stage == GROUT_STAGE_RUN ||
        /* a warning that --werror made an error: the kernel is legal */
        grout_diag_get(code)->severity == GROUT_SEVERITY_WARNING) {
        return GROUT_EXIT_FINDING;
    }
    return GROUT_EXIT_USAGE;
}

int grout_session__get_exit_code(const grout_session *session) {
    int worst = GROUT_EXIT_OK;
    for (uint32_t i = 0; i < grout_diags_count(session->diags); i++) {
        const grout_diag *diag = grout_diags_get(session->diags, i);
        int code = diag->severity == GROUT_SEVERITY_ERROR ? grout_exit_code_of(diag->code) : 0;
        worst = grout_exit_code_rank(code) > grout_exit_code_rank(worst) ? code : worst;
    }
    return worst;
}

/* ---- severities ----------------------------------------------------------------------------- */

/* Splits 'CODE=LEVEL'. */
static bool read_severity(const char *value, grout_diag_code *code_out, grout_severity *level_out) {
    char code[64];
    size_t size = strcspn(value, "=");
    if (value[size] == '\0' || size >= sizeof code) {
        return false;
    }
    memcpy(code, value, size);
    code[size] = '\0';
    const char *level = value + size + 1;
    *code_out = grout_diag_find(code);
    if (strcmp(level, "error") == 0) {
        *level_out = GROUT_SEVERITY_ERROR;
    } else if (strcmp(level, "warning") == 0) {
        *level_out = GROUT_SEVERITY_WARNING;
    } else if (strcmp(level, "off") == 0) {
        *level_out = GROUT_SEVERITY_OFF;
    } else {
        return false;
    }
    return true;
}

/* Findings can be lowered; so can warnings. An invalid kernel stays invalid. */
static bool can_change(grout_diag_code code) {
    const grout_diag_info *info = grout_diag_get(code);
    return (info->stage == GROUT_STAGE_RUN && code != GROUT_DIAG_STEP_LIMIT) ||
           info->severity == GROUT_SEVERITY_WARNING;
}

void grout_session__help_near(grout_session *session, const char *near, const char *otherwise) {
    if (near != NULL) {
        grout_diags_help(session->diags, "did you mean '%s'?", near);
    } else {
        grout_diags_help(session->diags, "%s", otherwise);
    }
}

static bool add_unknown_code(grout_session *session, const char *value) {
    char code[64] = "";
    size_t size = strcspn(value, "=");
    grout_diags_add(session->diags, GROUT_DIAG_BAD_OPTION,
                    grout_options__get_place(&session->options, value),
                    "--severity: there is no code '%.*s'", (int)(size < 200 ? size : 200), value);
    if (size < sizeof code) {
        memcpy(code, value, size);
    }
    grout_suggestion suggestion = grout_suggest__begin_command(code);
    for (int i = 1; i < GROUT_DIAG_COUNT; i++) {
        grout_suggest__offer(&suggestion, grout_diag_get((grout_diag_code)i)->text);
    }
    if (suggestion.best != NULL) {
        grout_diags_help(session->diags, "did you mean '%s'?", suggestion.best);
    }
    return false;
}

bool grout_session__check_severities(grout_session *session) {
    bool is_good = true;
    const char *value;
    for (size_t i = 0;
         (value = grout_options__get_use(&session->options, GROUT_OPTION_SEVERITY, i)) != NULL;
         i++) {
        grout_diag_code code;
        grout_severity level;
        grout_place place = grout_options__get_place(&session->options, value);
        if (!read_severity(value, &code, &level)) {
            is_good = grout_diags_add(session->diags, GROUT_DIAG_BAD_OPTION, place,
                                      "the value of --severity is CODE=error, CODE=warning or "
                                      "CODE=off, not '%.200s'",
                                      value);
        } else if (code == GROUT_DIAG_NONE) {
            is_good = add_unknown_code(session, value);
        } else if (!can_change(code)) {
            is_good =
                grout_diags_add(session->diags, GROUT_DIAG_BAD_OPTION, place,
                                "--severity: '%s' is not a finding or warning, it stays an error",
                                grout_diag_get(code)->text);
        }
    }
    return is_good;
}

grout_severity grout_session__get_severity(const grout_session *session, grout_diag_code code,
                                           grout_severity severity) {
    const char *value;
    for (size_t i = 0;
         (value = grout_options__get_use(&session->options, GROUT_OPTION_SEVERITY, i)) != NULL;
         i++) {
        grout_diag_code named;
        grout_severity level;
        if (read_severity(value, &named, &level) && named == code) {
            severity = level;
        }
    }
    if (severity == GROUT_SEVERITY_WARNING &&
        grout_options__has(&session->options, GROUT_OPTION_WERROR)) {
        severity = GROUT_SEVERITY_ERROR;
    }
    return severity;
}

void grout_session__apply_severities(grout_session *session) {
    for (uint32_t i = 0; i < grout_diags_count(session->diags); i++) {
        const grout_diag *diag = grout_diags_get(session->diags, i);
        grout_severity to = grout_session__get_severity(session, diag->code, diag->severity);
        if (diag->severity == GROUT_SEVERITY_WARNING && to != diag->severity) {
            grout_diags_set_severity(session->diags, i, to);
        }
    }
}

/* ---- files ---------------------------------------------------------------------------------- */

bool grout_session__read_file(grout_session *session, const char *path, uint64_t size_max,
                              grout_bytes *out) {
    return grout_session__read_framed(session, path, size_max, NULL, out);
}

/* What was not read or written whole because the deadline came; false: it has not come. */
static bool report_ended(grout_session *session, const char *path, const char *done) {
    const grout_diag_code code = grout_deadline__why_end(session->deadline);
    if (code != GROUT_DIAG_NONE) {
        grout_diags_add(session->diags, code, grout_nowhere, "%s while '%s' was %s",
                        code == GROUT_DIAG_INTERRUPTED ? "interrupted" : "the time was over", path,
                        done);
    }
    return code != GROUT_DIAG_NONE;
}

bool grout_session__read_framed(grout_session *session, const char *path, uint64_t size_max,
                                grout_size_function *get_size, grout_bytes *out) {
    grout_text reason = {0};
    const grout_host *host = session->host;
    const grout_waiting waiting = grout_deadline__get_waiting(session->deadline);
    const grout_reading what = {size_max, get_size, &waiting};
    *out = (grout_bytes){0};
    bool is_read = host->read_file(host->payload, path, &what, out, &reason);
    if (!is_read && (reason.data != NULL || !report_ended(session, path, "read"))) {
        grout_diags_add(session->diags, GROUT_DIAG_FILE_UNREADABLE, grout_nowhere,
                        "cannot read '%s': %s", path, reason.data == NULL ? "?" : reason.data);
    }
    GROUT_ASSERT(!is_read || out->size <= size_max);
    GROUT_ASSERT(!is_read || out->size == 0 || out->data != NULL);
    grout_text_free(&reason);
    return is_read;
}

bool grout_session__read_named(grout_session *session, const grout_option_use *use,
                               const char *name, uint64_t size_max, grout_size_function *get_size,
                               grout_bytes *out) {
    grout_text reason = {0};
    const grout_host *host = session->host;
    const grout_option_line *line = use->line;
    *out = (grout_bytes){0};
    const grout_waiting waiting = grout_deadline__get_waiting(session->deadline);
    const grout_reading what = {size_max, get_size, &waiting};
    bool is_read = host->read_beside(host->payload, line->path, name, &what, out, &reason);
    if (!is_read && (reason.data != NULL || !report_ended(session, name, "read"))) {
        grout_diags_add(session->diags, GROUT_DIAG_FILE_UNREADABLE,
                        grout_option_line__get_place(line, use->value), "cannot read '%s': %s",
                        name, reason.data == NULL ? "?" : reason.data);
        grout_diags_help(session->diags,
                         "put it beside the kernel file, or give it in the call: --%s %s",
                         grout_option__get_info(use->id)->long_text, use->value);
    }
    grout_text_free(&reason);
    return is_read;
}

bool grout_session__write_file(grout_session *session, const char *path, const grout_chunk *chunks,
                               size_t count) {
    for (size_t i = 0; i < count; i++) {
        GROUT_ASSERT(chunks[i].size == 0 || chunks[i].data != NULL);
    }
    grout_text reason = {0};
    const grout_host *host = session->host;
    const grout_waiting waiting = grout_deadline__get_waiting(session->deadline);
    bool is_written = host->write_file(host->payload, path, chunks, count, &waiting, &reason);
    if (!is_written && (reason.data != NULL || !report_ended(session, path, "written"))) {
        grout_diags_add(session->diags, GROUT_DIAG_FILE_UNWRITABLE, grout_nowhere,
                        "cannot write '%s': %s", path, reason.data == NULL ? "?" : reason.data);
    }
    grout_text_free(&reason);
    return is_written;
}
