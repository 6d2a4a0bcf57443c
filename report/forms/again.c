/* again.c - the commands that show a report again, and that repair what it found.
 * SPDX-License-Identifier: Apache-2.0 */
#include "listing.h"
#include "summary.h"
#include "wrap.h"

#include <string.h>

/* A word with characters that do not go to a terminal as they are: $'a\x0ab', for bash, ksh and
 * zsh. */
static void add_odd_word(grout_text *out, const char *word) {
    grout_text_add(out, " $'");
    for (const char *c = word; *c != '\0'; c++) {
        bool is_plain = *c >= ' ' && *c <= '~' && strchr("'\\:#", *c) == NULL;
        if (is_plain) {
            grout_text_add_bytes(out, c, 1);
        } else {
            grout_text_add(out, "\\x%02x", (unsigned)(unsigned char)*c);
        }
    }
    grout_text_add(out, "'");
}

static bool is_odd(const char *word) {
    grout_text shown = {0};
    grout_text_add_visible(&shown, word, strlen(word), GROUT_KEEP_NOTHING);
    bool is_same = !shown.failed && strcmp(shown.data, word) == 0;
    grout_text_free(&shown);
    return !is_same;
}

/* A word as a shell takes it. */
static void add_word(grout_text *out, const char *word) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_-./=:@%+,";
    size_t size = strlen(word);
    if (size > 0 && strspn(word, plain) == size && !is_odd(word)) {
        grout_text_add(out, " %s", word);
        return;
    }
    if (is_odd(word)) {
        add_odd_word(out, word);
        return;
    }
    grout_text_add(out, " '");
    for (const char *c = word; *c != '\0'; c++) {
        if (*c == '\'') {
            grout_text_add(out, "'\\''");
        } else {
            grout_text_add_bytes(out, c, 1);
        }
    }
    grout_text_add(out, "'");
}

/* Options that decide what is found. */
static bool is_kept(grout_option_id id) {
    return id == GROUT_OPTION_SMS || id == GROUT_OPTION_RESIDENT || id == GROUT_OPTION_DEFINE ||
           id == GROUT_OPTION_ARCH || id == GROUT_OPTION_INPUT || id == GROUT_OPTION_INOUT ||
           id == GROUT_OPTION_MAX_STEPS || id == GROUT_OPTION_SEVERITY ||
           id == GROUT_OPTION_EXPECT_OUTPUT || id == GROUT_OPTION_RTOL || id == GROUT_OPTION_ATOL ||
           id == GROUT_OPTION_STRICT_FENCES || id == GROUT_OPTION_NUMERICS ||
           id == GROUT_OPTION_NON_FINITE || id == GROUT_OPTION_REPEAT || id == GROUT_OPTION_EXTERN;
}

static void add_call(const grout_reporter *report, grout_command command, grout_kernel_id kernel,
                     grout_text *out) {
    grout_text_add(out, "grout %s", grout_command__get_info(command)->text);
    add_word(out, strcmp(report->load->name, "<stdin>") == 0 ? "-" : report->load->name);
    bool is_listed = grout_listing__is_wanted(report->session, report->load) &&
                     grout_listing__has_kernel(report->load, kernel);
    if (grout_load__has_several(report->load) && !is_listed) {
        grout_text_add(out, " --kernel @%s", grout_summary__get_kernel_name(report->load, kernel));
    }
}

void grout_reporter__add_call(const grout_reporter *report, grout_kernel_id kernel,
                              grout_text *out) {
    add_call(report, GROUT_COMMAND_CHECK, kernel, out);
}

static void add_kept_options(const grout_options *options, grout_text *out) {
    for (size_t i = 0; i < options->use_count; i++) {
        if (is_kept(options->uses[i].id)) {
            grout_text_add(out, " ");
            grout_option__print_name(options->uses[i].id, out);
            if (grout_option__get_info(options->uses[i].id)->kind != GROUT_OPTION_FLAG) {
                add_word(out, options->uses[i].value);
            }
        }
    }
}

/* Arrays in memory, as files to which they can be saved. */
static void add_given_arrays(const grout_given *given, grout_text *out) {
    for (size_t i = 0; given != NULL && i < given->arrays.count; i++) {
        const char *param = given->arrays.items[i].param;
        if (given->arrays.items[i].data != NULL) {
            grout_text_add(out, " --input %s=%s.npy", param, param);
        }
    }
}

/* How the settings of a run are drawn: the end of " --schedule pct:3 --timing random --seed 4". */
static void add_draws(const grout_launch_settings *settings, grout_text *out) {
    if (settings->schedule == GROUT_SCHEDULE_PCT) {
        grout_text_add(out, ":%u", settings->pct_depth);
    }
    grout_text_add(out, " --timing %s", grout_timing_get_text(settings->timing));
    if (grout_launch_settings__has_seed(settings)) {
        grout_text_add(out, " --seed %llu", (unsigned long long)settings->seed);
    }
}

void grout_reporter__print_command(const grout_reporter *report, grout_kernel_id kernel,
                                   const grout_outcome *outcome, grout_text *out) {
    const grout_options *options = &report->session->options;
    if (!grout_given__has_file(report->session->given)) {
        return;
    }
    const grout_launch_settings *settings = &outcome->settings;
    grout_reporter__add_call(report, kernel, out);
    add_kept_options(options, out);
    add_given_arrays(report->session->given, out);
    if (outcome->schedule_file != NULL) {
        grout_text_add(out, " --replay");
        add_word(out, outcome->schedule_file);
    } else if (settings->schedule == GROUT_SCHEDULE_REPLAY &&
               !grout_options__has(options, GROUT_OPTION_REPLAY)) {
        grout_text_add(out, " --explore"); /* which writes its file */
    } else if (settings->schedule == GROUT_SCHEDULE_REPLAY) {
        grout_text_add(out, " --replay");
        add_word(out, grout_options__get(options, GROUT_OPTION_REPLAY));
    } else {
        grout_text_add(out, " --schedule %s", grout_schedule_get_text(settings->schedule));
    }
    add_draws(settings, out);
}

void grout_reporter__print_fix(const grout_reporter *report, grout_kernel_id kernel,
                               const grout_outcome *outcome, grout_text *out) {
    const grout_launch_settings *settings = &outcome->settings;
    if (!grout_given__has_file(report->session->given)) {
        return;
    }
    add_call(report, GROUT_COMMAND_FIX, kernel, out);
    add_kept_options(&report->session->options, out);
    add_given_arrays(report->session->given, out);
    if (settings->schedule == GROUT_SCHEDULE_REPLAY) {
        grout_text_add(out, " --explore"); /* 'grout fix' replays no file */
    } else if (settings->schedule != GROUT_SCHEDULE_FAIR || settings->timing != GROUT_TIMING_LAZY) {
        grout_text_add(out, " --schedule %s", grout_schedule_get_text(settings->schedule));
        add_draws(settings, out);
    }
}

/* The next option or argument of a command with the blank before it; what is quoted is one. */
static size_t get_word_size(const char *command) {
    size_t size = strspn(command, " ");
    bool is_quoted = false;
    while (command[size] != '\0' && (is_quoted || command[size] != ' ')) {
        is_quoted = is_quoted != (command[size] == '\'');
        size += command[size] == '\\' && !is_quoted && command[size + 1] != '\0' ? 2u : 1u;
    }
    return size;
}

/* An option with its value: they stay together. */
static size_t get_part_size(const char *command) {
    size_t size = get_word_size(command);
    while (command[size] == ' ' && command[size + 1] != '-') {
        size += get_word_size(command + size);
    }
    return size;
}

void grout_reporter__add_command(const grout_render_options *look, const char *lead,
                                 const char *command, grout_text *out) {
    static const char indent[] = "      ";
    if (command[0] == '\0') {
        return;
    }
    size_t width = look == NULL ? 0 : look->width;
    size_t column = grout_wrap__count_columns(lead);
    bool is_whole = width == 0 || column + grout_wrap__count_columns(command) <= width;
    grout_text_add(out, "%s", lead);
    for (bool is_first = true; *command != '\0' && !is_whole; is_first = false) {
        size_t size = get_part_size(command);
        if (!is_first && column + size + 2 > width) { /* room for the \ at the end */
            grout_text_add(out, " \\\n%s", indent);
            column = sizeof indent - 1;
            command += strspn(command, " ");
            size = get_part_size(command);
        }
        grout_text_add_bytes(out, command, size);
        column += size;
        command += size;
    }
    grout_text_add(out, "%s\n", command);
}
