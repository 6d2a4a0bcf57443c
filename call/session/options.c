/* options.c - the table of commands and options, their values, and what a call has given.
 * SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include "invariant.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const grout_command_info commands[GROUT_COMMAND_COUNT] = {
#define GROUT_COMMAND(NAME, text_, least_, most_, arguments_, summary_, description_, examples_) \
    [GROUT_COMMAND_##NAME] = {.text = (text_),                                                   \
                              .arguments = (arguments_),                                         \
                              .summary = (summary_),                                             \
                              .description = (description_),                                     \
                              .examples = (examples_),                                           \
                              .least = (least_),                                                 \
                              .most = (most_)},
#include "options.def"
};

/* The kind COUNT would share its name with the number of options. */
#define KIND_FLAG     GROUT_OPTION_FLAG
#define KIND_TEXT     GROUT_OPTION_TEXT
#define KIND_COUNT    GROUT_OPTION_COUNT_KIND
#define KIND_LIMIT    GROUT_OPTION_LIMIT
#define KIND_NUMBER   GROUT_OPTION_NUMBER
#define KIND_SECONDS  GROUT_OPTION_SECONDS
#define KIND_SIZE     GROUT_OPTION_SIZE
#define KIND_CHOICE   GROUT_OPTION_CHOICE
#define KIND_SCHEDULE GROUT_OPTION_SCHEDULE_KIND

/* The words of the column COMMANDS. */
enum {
#define GROUT_COMMAND(NAME, text, least, most, arguments, summary, description, examples) \
    NAME = 1u << GROUT_COMMAND_##NAME,
#include "options.def"
    ALL = (1u << GROUT_COMMAND_COUNT) - (1u << 1)
};

/* And of TIMES. */
enum { ONCE, EACH };

static const grout_option_info options_table[GROUT_OPTION_COUNT] = {
#define GROUT_OPTION(NAME, long_, short_, KIND, argument_, COMMANDS, GROUP, TOUCHES, TIMES, help_, \
                     more_)                                                                        \
    [GROUT_OPTION_##NAME] = {.long_text = (long_),                                                 \
                             .argument = (argument_),                                              \
                             .commands = (COMMANDS),                                               \
                             .group = GROUT_GROUP_##GROUP,                                         \
                             .help = (help_),                                                      \
                             .more = (more_),                                                      \
                             .kind = KIND_##KIND,                                                  \
                             .touches = GROUT_TOUCHES_##TOUCHES,                                   \
                             .is_repeatable = (TIMES) == EACH,                                     \
                             .short_text = (short_)},
#include "options.def"
};

static const char *const titles[GROUT_GROUP_COUNT] = {
#define GROUT_GROUP(NAME, title) [GROUT_GROUP_##NAME] = (title),
#include "options.def"
};

grout_place grout_option_line__get_place(const grout_option_line *line, const char *word) {
    if (line == NULL) {
        return (grout_place){0};
    }
    GROUT_ASSERT(word >= line->text && word < line->text + line->size);
    return (grout_place){.file = line->name,
                         .line = line->number,
                         .column = line->column + (uint32_t)(word - line->text),
                         .length = (uint32_t)strlen(word)};
}

const grout_command_info *grout_command__get_info(grout_command command) {
    GROUT_ASSERT(command > GROUT_COMMAND_NONE && command < GROUT_COMMAND_COUNT);
    return &commands[command];
}

const grout_option_info *grout_option__get_info(grout_option_id id) {
    GROUT_ASSERT(id > GROUT_OPTION_NONE && id < GROUT_OPTION_COUNT);
    return &options_table[id];
}

bool grout_command__takes(grout_command command, grout_option_id id) {
    GROUT_ASSERT(id > GROUT_OPTION_NONE && id < GROUT_OPTION_COUNT);
    GROUT_ASSERT(command > GROUT_COMMAND_NONE && command < GROUT_COMMAND_COUNT);
    return (options_table[id].commands >> command & 1u) != 0;
}

bool grout_option__is_common(grout_option_id id) {
    GROUT_ASSERT(id > GROUT_OPTION_NONE && id < GROUT_OPTION_COUNT);
    return options_table[id].commands == ALL;
}

const char *grout_option_group__get_title(grout_option_group group) {
    GROUT_ASSERT(group < GROUT_GROUP_COUNT);
    return titles[group];
}

void grout_option__describe(grout_option_id id, grout_text *out) {
    const grout_option_info *info = grout_option__get_info(id);
    const bool has_more = info->more[0] != '\0';
    grout_text_add(out, "%s%s%s%s", info->help, has_more ? ". " : "", info->more,
                   !info->is_repeatable ? ""
                   : has_more           ? " Repeatable."
                                        : ". Repeatable.");
}

grout_command grout_command__find(const char *text) {
    for (int i = 1; i < GROUT_COMMAND_COUNT; i++) {
        if (strcmp(commands[i].text, text) == 0) {
            return (grout_command)i;
        }
    }
    return GROUT_COMMAND_NONE;
}

void grout_option__print_name(grout_option_id id, grout_text *out) {
    GROUT_ASSERT(id > GROUT_OPTION_NONE && id < GROUT_OPTION_COUNT);
    const grout_option_info *info = &options_table[id];
    GROUT_ASSERT(info->long_text != NULL || info->short_text != '\0');
    if (info->long_text != NULL) {
        grout_text_add(out, "--%s", info->long_text);
    } else {
        grout_text_add(out, "-%c", info->short_text);
    }
}

/* ---- values --------------------------------------------------------------------------------- */

bool grout_read_u64(const char *text, uint64_t *out) {
    bool is_hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const char *digits = is_hex ? text + 2 : text;
    size_t size = strlen(digits);
    if (size == 0 || strspn(digits, is_hex ? "0123456789abcdefABCDEF" : "0123456789") != size) {
        return false;
    }
    errno = 0;
    unsigned long long value = strtoull(digits, NULL, is_hex ? 16 : 10);
    *out = value;
    return errno == 0;
}

bool grout_read_i64(const char *text, int64_t *out) {
    uint64_t magnitude;
    bool is_negative = text[0] == '-';
    if (!grout_read_u64(text + (is_negative ? 1 : 0), &magnitude)) {
        return false;
    }
    if (magnitude > (uint64_t)INT64_MAX + (is_negative ? 1u : 0u)) {
        return false;
    }
    *out = is_negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    return true;
}

bool grout_read_number(const char *text, double *out) {
    size_t size = strlen(text);
    char *end;
    /* strtod would skip blanks before the number. */
    if (size == 0 || strchr(" \t\n\v\f\r", text[0]) != NULL) {
        return false;
    }
    errno = 0;
    *out = strtod(text, &end);
    bool is_too_large = errno == ERANGE && isinf(*out);
    return *end == '\0' && !is_too_large;
}

bool grout_read_size(const char *text, uint64_t *out) {
    static const char units[] = "KkMmGg";
    char digits[32];
    size_t size = strlen(text);
    uint32_t shift = 0;
    if (size == 0 || size >= sizeof digits) {
        return false;
    }
    memcpy(digits, text, size + 1);
    const char *unit = strchr(units, digits[size - 1]);
    if (unit != NULL) {
        shift = 10 * (uint32_t)((unit - units) / 2 + 1);
        digits[size - 1] = '\0';
    }
    if (!grout_read_u64(digits, out) || *out > UINT64_MAX >> shift) {
        return false;
    }
    *out <<= shift;
    return true;
}

/* Whether value is one of the words of "fair|random". */
static bool is_choice(const char *choices, const char *value) {
    size_t size = strlen(value);
    for (const char *word = choices; word != NULL; word = strchr(word, '|')) {
        word += word == choices ? 0 : 1;
        if (strcspn(word, "|") == size && strncmp(word, value, size) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_value_good(const grout_option_info *info, const char *value) {
    uint64_t count;
    double number;
    switch (info->kind) {
    case GROUT_OPTION_FLAG:
        return true;
    case GROUT_OPTION_TEXT:
        return value[0] != '\0';
    case GROUT_OPTION_COUNT_KIND:
        return grout_read_u64(value, &count);
    case GROUT_OPTION_LIMIT:
        return grout_read_u64(value, &count) && count > 0;
    case GROUT_OPTION_NUMBER:
        return grout_read_number(value, &number) && number >= 0 && isfinite(number);
    case GROUT_OPTION_SECONDS:
        return grout_read_number(value, &number) && number > 0 && isfinite(number);
    case GROUT_OPTION_SIZE:
        return grout_read_size(value, &count) && count > 0;
    case GROUT_OPTION_CHOICE:
        return is_choice(info->argument, value);
    case GROUT_OPTION_SCHEDULE_KIND:
        return strcmp(value, "fair") == 0 || strcmp(value, "random") == 0 ||
               (strncmp(value, "pct:", 4) == 0 && grout_read_u64(value + 4, &count) && count > 0 &&
                count <= UINT32_MAX);
    }
    return false;
}

bool grout_options__is_value_good(grout_option_id id, const char *value) {
    GROUT_ASSERT(id > GROUT_OPTION_NONE && id < GROUT_OPTION_COUNT && value != NULL);
    return is_value_good(&options_table[id], value);
}

const char *grout_option__get_wanted(grout_option_id id) {
    const grout_option_info *info = grout_option__get_info(id);
    switch (info->kind) {
    case GROUT_OPTION_COUNT_KIND:
        return "a whole number from 0";
    case GROUT_OPTION_LIMIT:
        return "a whole number from 1";
    case GROUT_OPTION_NUMBER:
        return "a number from 0";
    case GROUT_OPTION_SECONDS:
        return "a number above 0";
    case GROUT_OPTION_SIZE:
        return "a number of bytes from 1, such as 4096 or 512M";
    case GROUT_OPTION_SCHEDULE_KIND:
    case GROUT_OPTION_CHOICE:
    case GROUT_OPTION_FLAG:
    case GROUT_OPTION_TEXT:
        return info->argument;
    }
    return info->argument;
}

/* ---- arguments ------------------------------------------------------------------------------ */

bool grout_options__check_arguments(const grout_options *options, grout_diags *diags) {
    const grout_command_info *info = &commands[options->command];
    bool is_without = info->arguments[0] == '\0';
    if (options->argument_count < info->least) {
        grout_diags_add(diags, GROUT_DIAG_BAD_OPTION, (grout_place){0}, "'grout %s' needs a %s",
                        info->text, info->arguments);
    } else if ((info->most > 0 && options->argument_count > info->most) ||
               (is_without && options->argument_count > 0)) {
        grout_diags_add(diags, GROUT_DIAG_BAD_OPTION, (grout_place){0},
                        "'grout %s' takes no argument '%.200s'", info->text,
                        options->arguments[info->most]);
    } else {
        return true;
    }
    grout_diags_help(diags, "usage: grout %s [OPTION...]%s%s", info->text, is_without ? "" : " ",
                     info->arguments);
    return false;
}

void grout_options__deinit(grout_options *options) {
    free(options->uses);
    free(options->arguments);
    *options = (grout_options){0};
}

/* ---- questions ------------------------------------------------------------------------------ */

const char *grout_options__get(const grout_options *options, grout_option_id id) {
    for (size_t i = options->use_count; i > 0; i--) {
        if (options->uses[i - 1].id == id) {
            return options->uses[i - 1].value;
        }
    }
    return NULL;
}

bool grout_options__has(const grout_options *options, grout_option_id id) {
    for (size_t i = 0; i < options->use_count; i++) {
        if (options->uses[i].id == id) {
            return true;
        }
    }
    return false;
}

const char *grout_options__get_use(const grout_options *options, grout_option_id id, size_t i) {
    for (size_t k = 0; k < options->use_count; k++) {
        if (options->uses[k].id == id && i-- == 0) {
            return options->uses[k].value;
        }
    }
    return NULL;
}

grout_place grout_options__get_place(const grout_options *options, const char *value) {
    for (size_t i = 0; i < options->use_count; i++) {
        if (options->uses[i].value == value && value != NULL) {
            return grout_option_line__get_place(options->uses[i].line, value);
        }
    }
    return (grout_place){0};
}

uint64_t grout_options__get_count(const grout_options *options, grout_option_id id,
                                  uint64_t fallback) {
    const char *value = grout_options__get(options, id);
    uint64_t count = fallback;
    if (value != NULL) {
        bool is_read = options_table[id].kind == GROUT_OPTION_SIZE ? grout_read_size(value, &count)
                                                                   : grout_read_u64(value, &count);
        GROUT_ASSERT(is_read);
        (void)is_read;
    }
    return count;
}

double grout_options__get_number(const grout_options *options, grout_option_id id,
                                 double fallback) {
    const char *value = grout_options__get(options, id);
    double number = fallback;
    if (value != NULL) {
        bool is_read = grout_read_number(value, &number);
        GROUT_ASSERT(is_read);
        (void)is_read;
    }
    return number;
}
