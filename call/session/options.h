/* options.h - commands and options, parsed by the table options.def.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_CALL_OPTIONS_H
#define GROUT_CALL_OPTIONS_H

#include "grout-internal/diagnose.h"

typedef enum grout_command {
    GROUT_COMMAND_NONE,
#define GROUT_COMMAND(NAME, text, least, most, arguments, summary, description, examples) \
    GROUT_COMMAND_##NAME,
#include "options.def"
    GROUT_COMMAND_COUNT
} grout_command;

/* Options that belong together, in the order of --help. */
typedef enum grout_option_group {
#define GROUT_GROUP(NAME, title) GROUT_GROUP_##NAME,
#include "options.def"
    GROUT_GROUP_COUNT
} grout_option_group;

typedef enum grout_option_id {
    GROUT_OPTION_NONE,
#define GROUT_OPTION(NAME, long, short, KIND, argument, COMMANDS, GROUP, TOUCHES, TIMES, help, \
                     more)                                                                     \
    GROUT_OPTION_##NAME,
#include "options.def"
    GROUT_OPTION_COUNT
} grout_option_id;

typedef enum grout_option_kind {
    GROUT_OPTION_FLAG,
    GROUT_OPTION_TEXT,
    GROUT_OPTION_COUNT_KIND,
    GROUT_OPTION_LIMIT,
    GROUT_OPTION_NUMBER,
    GROUT_OPTION_SECONDS,
    GROUT_OPTION_SIZE,
    GROUT_OPTION_CHOICE,
    GROUT_OPTION_SCHEDULE_KIND
} grout_option_kind;

/* What a value of an option can reach (options.def). */
typedef enum grout_option_touch {
    GROUT_TOUCHES_RUN,
    GROUT_TOUCHES_LESS,
    GROUT_TOUCHES_ARRAY,
    GROUT_TOUCHES_READS,
    GROUT_TOUCHES_WRITES,
    GROUT_TOUCHES_CODE,
    GROUT_TOUCHES_CALL
} grout_option_touch;

typedef struct grout_command_info {
    const char *text, *arguments, *summary, *description;
    const char *examples; /* lines: what follows "grout", a tab, what it does */
    uint32_t least, most;
} grout_command_info;

typedef struct grout_option_info {
    const char *long_text; /* NULL: it has the short form only; messages say the long one */
    const char *argument;
    const char *help;  /* in a line */
    const char *more;  /* what a manual says beside that; "": no more */
    uint32_t commands; /* that take it: bit 1 << grout_command */
    grout_option_group group;
    grout_option_kind kind;
    grout_option_touch touches;
    bool is_repeatable; /* each use counts, not the last one alone */
    char short_text;    /* 0: it has the long form only */
} grout_option_info;

/* A line of a file that gives options. The caller of grout may not know what is in it. */
typedef struct grout_option_line {
    const char *path; /* of the file, as it was read; what it names is looked for in its folder */
    const char *name; /* of the file, in places */
    uint32_t number, column; /* where the text begins */
    const char *text;        /* its words, with a NUL in place of each blank */
    size_t size;
} grout_option_line;

/* An option as given. value is borrowed from argv; NULL for flags. */
typedef struct grout_option_use {
    grout_option_id id;
    const char *value;
    const grout_option_line *line; /* borrowed; NULL: the caller of grout gave the option */
    const char *word;              /* of the line, with the option's name */
} grout_option_use;

/* What a command line says. Zero-initialise; free with grout_options__deinit. */
typedef struct grout_options {
    grout_command command;
    grout_option_use *uses; /* in the order given */
    size_t use_count;
    const char **arguments; /* that are no options; borrowed from argv */
    size_t argument_count;
    const grout_option_line *line; /* where the words to be parsed stand; NULL: in the call */
} grout_options;

const grout_command_info *grout_command__get_info(grout_command command);
const grout_option_info *grout_option__get_info(grout_option_id id);
grout_command grout_command__find(const char *text);
bool grout_command__takes(grout_command command, grout_option_id id);
/* Whether every command takes it. */
bool grout_option__is_common(grout_option_id id);
const char *grout_option_group__get_title(grout_option_group group);
/* Appends what a manual says of an option: its help, more, and whether it may be repeated. */
void grout_option__describe(grout_option_id id, grout_text *out);
/* "--seed", "-D". */
void grout_option__print_name(grout_option_id id, grout_text *out);

/* The place of a word, or of a part of one, of a line; no place for NULL. */
grout_place grout_option_line__get_place(const grout_option_line *line, const char *word);

/*
 * Parses the words after argv[0] and adds them to options (options->command is set): options in any
 * form of getopt_long(3) but shortened names, other words as arguments, and those after '--' too.
 * Checks the form of every value. False: bad-option diagnostics say why. words.c.
 */
bool grout_options__parse(grout_options *options, int argc, char **argv, grout_diags *diags);
/* Adds one option; value: NULL for a flag. word: its name, as it was given. False: a bad-option
 * says what is wrong with the value. words.c. */
bool grout_options__add(grout_options *options, grout_option_id id, const char *word,
                        const char *value, grout_diags *diags);
/* Whether an option takes a value of this form; the form in words. */
bool grout_options__is_value_good(grout_option_id id, const char *value);
const char *grout_option__get_wanted(grout_option_id id);
/* Whether the number of arguments fits the command; a bad-option if not. */
bool grout_options__check_arguments(const grout_options *options, grout_diags *diags);
void grout_options__deinit(grout_options *options);

/* The last value given, or NULL; for flags, whether it was given. */
const char *grout_options__get(const grout_options *options, grout_option_id id);
bool grout_options__has(const grout_options *options, grout_option_id id);
/* The i-th use (from 0) of a repeatable option, or NULL. */
const char *grout_options__get_use(const grout_options *options, grout_option_id id, size_t i);
/* The place of a value that the options hold: in the run line that gives it, or none. */
grout_place grout_options__get_place(const grout_options *options, const char *value);
/* Values of options whose form was checked by the parser. */
uint64_t grout_options__get_count(const grout_options *options, grout_option_id id,
                                  uint64_t fallback);
double grout_options__get_number(const grout_options *options, grout_option_id id, double fallback);

/* Whole-string readers, independent of the locale. */
bool grout_read_u64(const char *text, uint64_t *out);
bool grout_read_i64(const char *text, int64_t *out);
bool grout_read_number(const char *text, double *out);
bool grout_read_size(const char *text, uint64_t *out);

#endif
