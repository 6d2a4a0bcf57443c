/* words.c - the words of a call, or of a line of a file, as options and arguments.
 *
 * Not getopt_long: it keeps where it is in variables of the process, asks the environment, and
 * takes the beginnings of names, which a new option would make ambiguous.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "options.h"

#include "grout-internal/tables.h"

#include "invariant.h"
#include "suggest.h"

#include <stdlib.h>
#include <string.h>

typedef struct parser {
    grout_options *options;
    grout_diags *diags;
    char **words;
    int count, at;
    bool is_good;
} parser;

static grout_place get_place(const grout_options *options, const char *word) {
    return grout_option_line__get_place(options->line, word);
}

static const grout_option_info *get_taken(const grout_options *options, int id) {
    return grout_command__takes(options->command, (grout_option_id)id)
               ? grout_option__get_info((grout_option_id)id)
               : NULL;
}

static grout_option_id find_short(const grout_options *options, char letter) {
    for (int i = 1; i < GROUT_OPTION_COUNT; i++) {
        const grout_option_info *info = get_taken(options, i);
        if (info != NULL && info->short_text == letter) {
            return (grout_option_id)i;
        }
    }
    return GROUT_OPTION_NONE;
}

static grout_option_id find_long(const grout_options *options, const char *name, size_t size) {
    for (int i = 1; i < GROUT_OPTION_COUNT; i++) {
        const grout_option_info *info = get_taken(options, i);
        if (info != NULL && info->long_text != NULL && strlen(info->long_text) == size &&
            strncmp(info->long_text, name, size) == 0) {
            return (grout_option_id)i;
        }
    }
    return GROUT_OPTION_NONE;
}

/* ---- what is wrong -------------------------------------------------------------------------- */

/* Names the commands that take an option of this name; false: there are none. */
static bool note_other_commands(grout_diags *diags, const char *word, size_t size) {
    grout_text text = {0};
    for (int c = 1; c < GROUT_COMMAND_COUNT; c++) {
        const grout_options other = {.command = (grout_command)c};
        const grout_option_id id = size > 3    ? find_long(&other, word + 2, size - 2)
                                   : size == 2 ? find_short(&other, word[1])
                                               : GROUT_OPTION_NONE;
        const bool is_short_only =
            id != GROUT_OPTION_NONE && grout_option__get_info(id)->long_text == NULL;
        if (id != GROUT_OPTION_NONE && (size > 3 || is_short_only)) {
            grout_text_add(&text, "%s'grout %s'", text.size == 0 ? "" : ", ",
                           grout_command__get_info(other.command)->text);
        }
    }
    const bool is_found = text.size > 0;
    if (is_found) {
        grout_diags_help(diags, "it is an option of %s", text.data);
    }
    grout_text_free(&text);
    return is_found;
}

/* The name of the nearest long option of the command; NULL: none is near. */
static const char *find_near(const grout_options *options, const char *word, size_t size) {
    char name[64] = "";
    if (size > 2 && size < sizeof name) {
        memcpy(name, word + 2, size - 2);
    }
    grout_suggestion suggestion = grout_suggest__begin_command(name);
    for (int i = 1; i < GROUT_OPTION_COUNT; i++) {
        const grout_option_info *info = get_taken(options, i);
        if (info != NULL && info->long_text != NULL) {
            grout_suggest__offer(&suggestion, info->long_text);
        }
    }
    return size > 3 ? suggestion.best : NULL;
}

/* The option as it is named here; of a letter among several in a word the place is the word's. */
static void add_unknown(parser *p, const char *name, const char *word) {
    const size_t size = strcspn(name, "=");
    grout_diags_add(p->diags, GROUT_DIAG_BAD_OPTION, get_place(p->options, word),
                    "'grout %s' has no option '%.*s'",
                    grout_command__get_info(p->options->command)->text,
                    (int)(size < 200 ? size : 200), name);
    const char *near = find_near(p->options, name, size);
    if (!note_other_commands(p->diags, name, size) && near != NULL) {
        grout_diags_help(p->diags, "did you mean '--%s'?", near);
    }
    p->is_good = false;
}

static void add_missing(parser *p, grout_option_id id, const char *word) {
    grout_text name = {0};
    grout_option__print_name(id, &name);
    grout_diags_add(p->diags, GROUT_DIAG_BAD_OPTION, get_place(p->options, word),
                    "%s needs a value: %s", name.data == NULL ? "" : name.data,
                    grout_option__get_info(id)->argument);
    grout_text_free(&name);
    p->is_good = false;
}

static void add_bad_value(const grout_options *options, grout_option_id id, const char *value,
                          grout_diags *diags) {
    grout_text name = {0};
    grout_option__print_name(id, &name);
    grout_diags_add(diags, GROUT_DIAG_BAD_OPTION, get_place(options, value),
                    "the value of %s is %s, not '%.200s'", name.data == NULL ? "" : name.data,
                    grout_option__get_wanted(id), value);
    grout_text_free(&name);
    if (id == GROUT_OPTION_ARCH && strncmp(value, "sm_12", 5) == 0) {
        grout_diags_help(diags, GROUT_ARCH_WITHOUT_TENSOR_MEMORY);
    }
}

/* ---- options -------------------------------------------------------------------------------- */

bool grout_options__add(grout_options *options, grout_option_id id, const char *word,
                        const char *value, grout_diags *diags) {
    GROUT_ASSERT(grout_command__takes(options->command, id));
    if (value != NULL && !grout_options__is_value_good(id, value)) {
        add_bad_value(options, id, value, diags);
        return false;
    }
    grout_option_use *uses =
        realloc(options->uses, (options->use_count + 1) * sizeof options->uses[0]);
    if (uses == NULL) {
        return grout_diags_add_oom(diags);
    }
    options->uses = uses;
    uses[options->use_count++] =
        (grout_option_use){.id = id, .value = value, .line = options->line, .word = word};
    return true;
}

static bool is_flag(grout_option_id id) {
    return grout_option__get_info(id)->kind == GROUT_OPTION_FLAG;
}

/* The value of an option that has none in its own word: the next word, whatever it is. */
static void add_with_next(parser *p, grout_option_id id, const char *word) {
    if (p->at == p->count) {
        add_missing(p, id, word);
        return;
    }
    const char *value = p->words[p->at++];
    p->is_good = grout_options__add(p->options, id, word, value, p->diags) && p->is_good;
}

/* "--name", "--name=value". */
static void add_long(parser *p, const char *word) {
    const size_t size = strcspn(word + 2, "=");
    const grout_option_id id = find_long(p->options, word + 2, size);
    const char *value = word[2 + size] == '=' ? word + 2 + size + 1 : NULL;
    if (id == GROUT_OPTION_NONE) {
        add_unknown(p, word, word);
    } else if (is_flag(id) && value != NULL) {
        p->is_good = grout_diags_add(p->diags, GROUT_DIAG_BAD_OPTION, get_place(p->options, word),
                                     "--%s takes no value", grout_option__get_info(id)->long_text);
    } else if (is_flag(id) || value != NULL) {
        p->is_good = grout_options__add(p->options, id, word, value, p->diags) && p->is_good;
    } else {
        add_with_next(p, id, word);
    }
}

/* "-q", "-qv", "-DX=1", "-D" "X=1". */
static void add_letters(parser *p, const char *word) {
    for (const char *letter = word + 1; *letter != '\0'; letter++) {
        const grout_option_id id = find_short(p->options, *letter);
        if (id == GROUT_OPTION_NONE) {
            const char name[3] = {'-', *letter, '\0'};
            add_unknown(p, name, word);
        } else if (is_flag(id)) {
            p->is_good = grout_options__add(p->options, id, word, NULL, p->diags) && p->is_good;
        } else if (letter[1] != '\0') {
            p->is_good =
                grout_options__add(p->options, id, word, letter + 1, p->diags) && p->is_good;
            return;
        } else {
            add_with_next(p, id, word);
            return;
        }
    }
}

static void add_argument(parser *p, const char *word) {
    grout_options *options = p->options;
    const char **arguments =
        realloc(options->arguments, (options->argument_count + 1) * sizeof options->arguments[0]);
    if (arguments == NULL) {
        p->is_good = grout_diags_add_oom(p->diags);
        return;
    }
    options->arguments = arguments;
    arguments[options->argument_count++] = word;
}

bool grout_options__parse(grout_options *options, int argc, char **argv, grout_diags *diags) {
    GROUT_ASSERT(options->command > GROUT_COMMAND_NONE && options->command < GROUT_COMMAND_COUNT);
    parser p = {
        .options = options, .diags = diags, .words = argv, .count = argc, .at = 1, .is_good = true};
    bool has_ended = false; /* the options, by '--' */
    while (p.at < p.count) {
        const char *word = p.words[p.at++];
        if (has_ended || word[0] != '-' || word[1] == '\0') {
            add_argument(&p, word);
        } else if (strcmp(word, "--") == 0) {
            has_ended = true;
        } else if (word[1] == '-') {
            add_long(&p, word);
        } else {
            add_letters(&p, word);
        }
    }
    return p.is_good;
}
