/* options.c - the command line, parsed with getopt_long from options.def.
 * SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include "grout/tables.h"

#include "invariant.h"
#include "suggest.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const grout_command_info commands[GROUT_COMMAND_COUNT] = {
#define GROUT_COMMAND(NAME, text_, letter_, least_, most_, arguments_, summary_, description_) \
    [GROUT_COMMAND_##NAME] = {.text = (text_),                                                 \
                              .arguments = (arguments_),                                       \
                              .summary = (summary_),                                           \
                              .description = (description_),                                   \
                              .letter = (letter_),                                             \
                              .least = (least_),                                               \
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

static const grout_option_info options_table[GROUT_OPTION_COUNT] = {
#define GROUT_OPTION(NAME, long_, short_, KIND, argument_, commands_, TOUCHES, help_) \
    [GROUT_OPTION_##NAME] = {.long_text = (long_),                                    \
                             .argument = (argument_),                                 \
                             .commands = (commands_),                                 \
                             .help = (help_),                                         \
                             .kind = KIND_##KIND,                                     \
                             .touches = GROUT_TOUCHES_##TOUCHES,                      \
                             .short_text = (short_)},
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

static const char *get_wanted(const grout_option_info *info) {
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

/* ---- parsing -------------------------------------------------------------------------------- */

typedef struct parser {
    grout_options *options;
    grout_diags *diags;
    struct option longs[GROUT_OPTION_COUNT + 1];
    char shorts[2 * GROUT_OPTION_COUNT + 3];
} parser;

/* Values that getopt_long returns for options without a short form. */
enum { LONG_BASE = 256 };

static bool takes(grout_command command, const grout_option_info *info) {
    return info->commands != NULL && strchr(info->commands, commands[command].letter) != NULL;
}

static void init_tables(parser *p) {
    size_t long_count = 0, size = 0;
    p->shorts[size++] = ':'; /* tell a missing argument from an unknown option */
    for (int i = 1; i < GROUT_OPTION_COUNT; i++) {
        const grout_option_info *info = &options_table[i];
        if (!takes(p->options->command, info)) {
            continue;
        }
        if (info->long_text != NULL) {
            p->longs[long_count++] = (struct option){
                .name = info->long_text,
                .has_arg = info->kind == GROUT_OPTION_FLAG ? no_argument : required_argument,
                .val = LONG_BASE + i,
            };
        }
        if (info->short_text != '\0') {
            p->shorts[size++] = info->short_text;
            if (info->kind != GROUT_OPTION_FLAG) {
                p->shorts[size++] = ':';
            }
        }
    }
    GROUT_ASSERT(size < sizeof p->shorts && long_count < sizeof p->longs / sizeof p->longs[0]);
    p->shorts[size] = '\0';
    p->longs[long_count] = (struct option){0};
}

static grout_option_id find_short(grout_command command, int letter) {
    for (int i = 1; i < GROUT_OPTION_COUNT; i++) {
        if (options_table[i].short_text == letter && takes(command, &options_table[i])) {
            return (grout_option_id)i;
        }
    }
    return GROUT_OPTION_NONE;
}

/* Names the commands that take an option of this name; false: there are none. */
static bool note_other_commands(parser *p, const char *word, size_t size) {
    grout_text text = {0};
    for (int c = 1; c < GROUT_COMMAND_COUNT; c++) {
        for (int i = 1; i < GROUT_OPTION_COUNT; i++) {
            const grout_option_info *info = &options_table[i];
            bool is_it = info->long_text != NULL
                             ? size > 3 && strlen(info->long_text) == size - 2 &&
                                   strncmp(info->long_text, word + 2, size - 2) == 0
                             : size == 2 && info->short_text == word[1];
            if (is_it && takes((grout_command)c, info)) {
                grout_text_add(&text, "%s'grout %s'", text.size == 0 ? "" : ", ", commands[c].text);
            }
        }
    }
    bool is_found = text.size > 0;
    if (is_found) {
        grout_diags_help(p->diags, "it is an option of %s", text.data);
    }
    grout_text_free(&text);
    return is_found;
}

static grout_place get_place(const parser *p, const char *word) {
    return grout_option_line__get_place(p->options->line, word);
}

static bool add_unknown(parser *p, const char *word, grout_place place) {
    const char *command = commands[p->options->command].text;
    size_t size = strcspn(word, "=");
    char name[64] = "";
    grout_diags_add(p->diags, GROUT_DIAG_BAD_OPTION, place, "'grout %s' has no option '%.*s'",
                    command, (int)(size < 200 ? size : 200), word);
    if (size > 2 && size < sizeof name) {
        memcpy(name, word + 2, size - 2);
    }
    grout_suggestion suggestion = grout_suggest__begin_command(name);
    for (const struct option *option = p->longs; option->name != NULL; option++) {
        grout_suggest__offer(&suggestion, option->name);
    }
    const char *near = size > 3 ? suggestion.best : NULL;
    if (!note_other_commands(p, word, size) && near != NULL) {
        grout_diags_help(p->diags, "did you mean '--%s'?", near);
    }
    return false;
}

static bool add_use(parser *p, grout_option_id id, const char *word, const char *value) {
    GROUT_ASSERT(id > GROUT_OPTION_NONE && id < GROUT_OPTION_COUNT &&
                 takes(p->options->command, &options_table[id]));
    grout_options *options = p->options;
    const grout_option_info *info = &options_table[id];
    if (!is_value_good(info, value)) {
        grout_text name = {0};
        grout_option__print_name(id, &name);
        grout_diags_add(p->diags, GROUT_DIAG_BAD_OPTION, get_place(p, value),
                        "the value of %s is %s, not '%.200s'", name.data == NULL ? "" : name.data,
                        get_wanted(info), value);
        grout_text_free(&name);
        if (id == GROUT_OPTION_ARCH && strncmp(value, "sm_12", 5) == 0) {
            grout_diags_help(p->diags, GROUT_ARCH_WITHOUT_TENSOR_MEMORY);
        }
        return false;
    }
    grout_option_use *uses =
        realloc(options->uses, (options->use_count + 1) * sizeof options->uses[0]);
    if (uses == NULL) {
        return grout_diags_add_oom(p->diags);
    }
    options->uses = uses;
    uses[options->use_count++] =
        (grout_option_use){.id = id, .value = value, .line = options->line, .word = word};
    return true;
}

/* getopt_long takes unique beginnings of names, which a new option would make ambiguous. */
static bool is_spelt_out(char **argv, const char *name, const char *value) {
    const char *word = argv[optind - 1];
    if (value != NULL && value == word) {
        word = argv[optind - 2];
    }
    size_t size = strlen(name);
    return strncmp(word, "--", 2) == 0 && strncmp(word + 2, name, size) == 0 &&
           (word[size + 2] == '\0' || word[size + 2] == '=');
}

/* The word with the name of the option that getopt_long has just found; of flags in one word,
 * such as -qv, all but the last leave optind at it. */
static const char *get_word(char **argv, int letter) {
    const char *last = argv[optind - 1];
    if (optarg != NULL && optarg == last) {
        return argv[optind - 2];
    }
    bool is_in_it = last[0] == '-' && (letter >= LONG_BASE || strchr(last, letter) != NULL);
    return is_in_it || argv[optind] == NULL ? last : argv[optind];
}

/* A fault that getopt_long found: optopt is the short option or LONG_BASE + id; 0 for a name that
 * is unknown or short for several. */
static bool add_fault(parser *p, char **argv, bool is_missing) {
    const char *word = argv[optind - 1];
    if (is_missing) {
        grout_option_id id = optopt >= LONG_BASE ? (grout_option_id)(optopt - LONG_BASE)
                                                 : find_short(p->options->command, optopt);
        grout_text name = {0};
        grout_option__print_name(id, &name);
        grout_diags_add(p->diags, GROUT_DIAG_BAD_OPTION, get_place(p, word), "%s needs a value: %s",
                        name.data == NULL ? "" : name.data, options_table[id].argument);
        grout_text_free(&name);
        return false;
    }
    if (optopt >= LONG_BASE) {
        return grout_diags_add(p->diags, GROUT_DIAG_BAD_OPTION, get_place(p, word),
                               "--%s takes no value", options_table[optopt - LONG_BASE].long_text);
    }
    if (optopt != 0) {
        char letter[3] = {'-', (char)optopt, '\0'};
        return add_unknown(p, letter, get_place(p, get_word(argv, optopt)));
    }
    return add_unknown(p, word, get_place(p, word));
}

static bool parse_words(parser *p, int argc, char **argv) {
    bool is_good = true;
    optind = 0; /* GNU and musl: start again */
    opterr = 0;
    for (;;) {
        optopt = 0;
        int found = getopt_long(argc, argv, p->shorts, p->longs, NULL);
        if (found == -1) {
            break;
        }
        if (found == '?' || found == ':') {
            is_good = add_fault(p, argv, found == ':') && is_good;
            continue;
        }
        grout_option_id id = found >= LONG_BASE ? (grout_option_id)(found - LONG_BASE)
                                                : find_short(p->options->command, found);
        const char *word = get_word(argv, found);
        if (found >= LONG_BASE && !is_spelt_out(argv, options_table[id].long_text, optarg)) {
            is_good = add_unknown(p, word, get_place(p, word));
            continue;
        }
        is_good = add_use(p, id, word, optarg) && is_good;
    }
    return is_good;
}

bool grout_options__parse(grout_options *options, int argc, char **argv, grout_diags *diags) {
    GROUT_ASSERT(options->command > GROUT_COMMAND_NONE && options->command < GROUT_COMMAND_COUNT);
    parser p = {.options = options, .diags = diags};
    init_tables(&p);
    bool is_good = parse_words(&p, argc, argv);
    for (int i = optind; i < argc; i++) {
        const char **arguments = realloc(options->arguments, (options->argument_count + 1) *
                                                                 sizeof options->arguments[0]);
        if (arguments == NULL) {
            return grout_diags_add_oom(diags);
        }
        options->arguments = arguments;
        arguments[options->argument_count++] = argv[i];
    }
    return is_good;
}

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
