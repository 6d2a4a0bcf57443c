/* completion.c - grout help --completion: how bash, zsh and fish complete a command line of grout.
 * SPDX-License-Identifier: Apache-2.0 */
#include "pages.h"

#include "grout-internal/tables.h"

#include <ctype.h>
#include <string.h>

/* ---- what may come, from options.def ----------------------------------------------------------
 */

typedef enum value_kind {
    VALUE_NONE,           /* a flag */
    VALUE_FREE,           /* nothing to offer: a number, a name */
    VALUE_WORDS,          /* one of the words of its argument */
    VALUE_FILE,           /* a file */
    VALUE_PARAMETER_FILE, /* P=FILE */
    VALUE_CODE            /* CODE=LEVEL */
} value_kind;

static value_kind get_value_kind(const grout_option_info *info) {
    if (info->argument == NULL) {
        return VALUE_NONE;
    }
    if (strncmp(info->argument, "P=", 2) == 0) {
        return VALUE_PARAMETER_FILE;
    }
    if (strncmp(info->argument, "CODE=", 5) == 0) {
        return VALUE_CODE;
    }
    if (strstr(info->argument, "FILE") != NULL || strstr(info->argument, "PATH") != NULL) {
        return VALUE_FILE;
    }
    bool is_choice = info->kind == GROUT_OPTION_CHOICE || strchr(info->argument, '|') != NULL;
    return is_choice ? VALUE_WORDS : VALUE_FREE;
}

typedef enum argument_kind {
    ARGUMENT_NONE,
    ARGUMENT_KERNELS, /* files of kernels */
    ARGUMENT_OP,
    ARGUMENT_CODE,
    ARGUMENT_COMMAND,
    ARGUMENT_WORD, /* the word itself, in brackets */
    ARGUMENT_FILES
} argument_kind;

static argument_kind get_argument_kind(const grout_command_info *info) {
    const char *text = info->arguments;
    if (text[0] == '\0') {
        return ARGUMENT_NONE;
    }
    if (strncmp(text, "FILE", 4) == 0) {
        return ARGUMENT_KERNELS;
    }
    if (strcmp(text, "[NAME]") == 0) {
        return ARGUMENT_OP;
    }
    if (strcmp(text, "[CODE]") == 0) {
        return ARGUMENT_CODE;
    }
    if (strcmp(text, "[COMMAND]") == 0) {
        return ARGUMENT_COMMAND;
    }
    return text[0] == '[' && islower((unsigned char)text[1]) ? ARGUMENT_WORD : ARGUMENT_FILES;
}

/* ---- lists of words ---------------------------------------------------------------------------
 */

/* The words of "fair|random|pct:DEPTH": fair, random and 'pct:', which the user goes on with. */
static void add_choices(grout_text *out, const char *argument) {
    while (*argument != '\0') {
        size_t size = strcspn(argument, "|"), own = 0;
        while (own < size && argument[own] != '[' && !isupper((unsigned char)argument[own])) {
            own++;
        }
        grout_text_add_bytes(out, argument, own);
        argument += size;
        if (*argument == '|') {
            grout_text_add(out, " ");
            argument++;
        }
    }
}

static void add_ops(grout_text *out) {
    for (int i = 1; i < GROUT_OP_COUNT; i++) {
        grout_text_add(out, "%s%s", i == 1 ? "" : " ", grout_op_get_info((grout_opcode)i)->text);
    }
}

static void add_codes(grout_text *out) {
    for (int i = 1; i < GROUT_DIAG_COUNT; i++) {
        grout_text_add(out, "%s%s", i == 1 ? "" : " ", grout_diag_get((grout_diag_code)i)->text);
    }
}

static void add_commands(grout_text *out) {
    for (int i = 1; i < GROUT_COMMAND_COUNT; i++) {
        grout_text_add(out, "%s%s", i == 1 ? "" : " ",
                       grout_command__get_info((grout_command)i)->text);
    }
}

/* The words that an argument may be; none for files. */
static void add_argument_words(grout_text *out, const grout_command_info *info) {
    switch (get_argument_kind(info)) {
    case ARGUMENT_NONE:
    case ARGUMENT_KERNELS:
    case ARGUMENT_FILES:
        break;
    case ARGUMENT_OP:
        add_ops(out);
        break;
    case ARGUMENT_CODE:
        add_codes(out);
        break;
    case ARGUMENT_COMMAND:
        add_commands(out);
        break;
    case ARGUMENT_WORD:
        grout_text_add_bytes(out, info->arguments + 1, strlen(info->arguments) - 2);
        break;
    }
}

/* Text between single quotes of a shell; marks: characters that get a backslash, quote: how a
 * single quote is written there. */
static void add_quoted(grout_text *out, const char *text, size_t size, const char *marks,
                       const char *quote) {
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '\'') {
            grout_text_add(out, "%s", quote);
        } else {
            grout_text_add(out, "%s", strchr(marks, text[i]) != NULL ? "\\" : "");
            grout_text_add_bytes(out, text + i, 1);
        }
    }
}

/* ---- bash ---------------------------------------------------------------------------------------
 */

static void add_bash_names(grout_text *out, grout_option_id id) {
    const grout_option_info *info = grout_option__get_info(id);
    if (info->short_text != '\0') {
        grout_text_add(out, " -%c", info->short_text);
    }
    if (info->long_text != NULL) {
        grout_text_add(out, " --%s", info->long_text);
    }
}

/* The pattern 'check:--format|run:--format' of 'command:option', with what follows the option. */
static void add_bash_pattern(grout_text *out, grout_option_id id, const char *after) {
    const char *separator = "    ";
    for (int i = 1; i < GROUT_COMMAND_COUNT; i++) {
        if (grout_command__takes((grout_command)i, id)) {
            grout_text_add(out, "%s%s:", separator,
                           grout_command__get_info((grout_command)i)->text);
            grout_option__print_name(id, out);
            grout_text_add(out, "%s", after);
            separator = "|";
        }
    }
    grout_text_add(out, ")\n        ");
}

static void add_bash_value(grout_text *out, grout_option_id id) {
    const grout_option_info *info = grout_option__get_info(id);
    switch (get_value_kind(info)) {
    case VALUE_NONE:
        return;
    case VALUE_FREE:
        add_bash_pattern(out, id, "");
        break;
    case VALUE_WORDS:
        add_bash_pattern(out, id, "");
        grout_text_add(out, "_grout_words \"");
        add_choices(out, info->argument);
        grout_text_add(out, "\"\n        ");
        break;
    case VALUE_FILE:
        add_bash_pattern(out, id, "");
        grout_text_add(out, "_grout_files\n        ");
        break;
    case VALUE_PARAMETER_FILE:
        add_bash_pattern(out, id, "");
        grout_text_add(out, "return ;;\n");
        add_bash_pattern(out, id, "=");
        grout_text_add(out, "_grout_files\n        ");
        break;
    case VALUE_CODE:
        add_bash_pattern(out, id, "");
        grout_text_add(
            out,
            "_grout_words \"$codes\"\n        compopt -o nospace 2>/dev/null\n        return ;;\n");
        add_bash_pattern(out, id, "=");
        grout_text_add(out, "_grout_words \"error warning off\"\n        ");
        break;
    }
    grout_text_add(out, "return ;;\n");
}

static void add_bash_command(grout_text *out, grout_command command) {
    const grout_command_info *info = grout_command__get_info(command);
    grout_text_add(out, "    %s)\n        options=\"", info->text);
    for (int i = 1; i < GROUT_OPTION_COUNT; i++) {
        if (grout_command__takes(command, (grout_option_id)i)) {
            add_bash_names(out, (grout_option_id)i);
        }
    }
    grout_text_add(out, "\"\n");
    switch (get_argument_kind(info)) {
    case ARGUMENT_NONE:
        break;
    case ARGUMENT_KERNELS:
        grout_text_add(out, "        files='.grout'\n");
        break;
    case ARGUMENT_FILES:
        grout_text_add(out, "        files='*'\n");
        break;
    case ARGUMENT_CODE:
        grout_text_add(out, "        words=$codes\n");
        break;
    case ARGUMENT_OP:
    case ARGUMENT_COMMAND:
    case ARGUMENT_WORD:
        grout_text_add(out, "        words=\"");
        add_argument_words(out, info);
        grout_text_add(out, "\"\n");
        break;
    }
    grout_text_add(out, "        ;;\n");
}

static const char bash_head[] =
    "# bash completion of grout, written by 'grout help --completion bash'.\n\n"
    "# Offers those of the words in $1 that begin like the one at the cursor.\n"
    "_grout_words() {\n"
    "    mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$cur\")\n"
    "}\n\n"
    "# Offers folders and the files whose names end in $1.\n"
    "_grout_files() {\n"
    "    local IFS=$'\\n'\n"
    "    compopt -o filenames 2>/dev/null\n"
    "    if [[ -n ${1-} ]]; then\n"
    "        mapfile -t COMPREPLY < <(compgen -f -X \"!*$1\" -- \"$cur\"; compgen -d -- \"$cur\")\n"
    "    else\n"
    "        mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
    "    fi\n"
    "}\n\n"
    "_grout() {\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} "
    "option=${COMP_WORDS[COMP_CWORD - 1]}\n"
    "    local options='' words='' files='' codes\n"
    "    COMPREPLY=()\n";

/* readline cuts words at '=': '--input a=x' is four words. */
static const char bash_words[] = "    # readline cuts '--input a=x' into four words.\n"
                                 "    if [[ $cur == '=' ]]; then\n"
                                 "        cur='' option='='\n"
                                 "        set -- \"${COMP_WORDS[@]:0:COMP_CWORD}\"\n"
                                 "    else\n"
                                 "        set -- \"${COMP_WORDS[@]:0:COMP_CWORD - 1}\"\n"
                                 "    fi\n"
                                 "    if [[ $option == '=' ]]; then\n"
                                 "        option=${*: -1}\n"
                                 "        [[ $option == -* ]] || option=${*: -2:1}=\n"
                                 "    fi\n";

static void add_bash(grout_text *out) {
    grout_text_add(out, "%s    codes=\"", bash_head);
    add_codes(out);
    grout_text_add(out, "\"\n    if ((COMP_CWORD == 1)); then\n        _grout_words \"");
    add_commands(out);
    grout_text_add(out,
                   " --help --version\"\n        return\n    fi\n%s    case $command:$option in\n",
                   bash_words);
    for (int i = 1; i < GROUT_OPTION_COUNT; i++) {
        add_bash_value(out, (grout_option_id)i);
    }
    grout_text_add(out, "    esac\n    case $command in\n");
    for (int i = 1; i < GROUT_COMMAND_COUNT; i++) {
        add_bash_command(out, (grout_command)i);
    }
    grout_text_add(out,
                   "    esac\n"
                   "    if [[ $cur == -* ]]; then\n        _grout_words \"$options\"\n"
                   "    elif [[ $files == '*' ]]; then\n        _grout_files\n"
                   "    elif [[ -n $files ]]; then\n        _grout_files \"$files\"\n"
                   "    elif [[ -n $words ]]; then\n        _grout_words \"$words\"\n    fi\n}\n\n"
                   "complete -F _grout grout\n");
}

/* ---- zsh ----------------------------------------------------------------------------------------
 */

#define ZSH_MARKS "[]:\\"
#define ZSH_QUOTE "'\\''"

static void add_zsh_value(grout_text *out, const grout_option_info *info) {
    switch (get_value_kind(info)) {
    case VALUE_NONE:
        return;
    case VALUE_FREE:
    case VALUE_WORDS:
    case VALUE_FILE:
    case VALUE_PARAMETER_FILE:
    case VALUE_CODE:
        grout_text_add(out, ":");
        add_quoted(out, info->argument, strlen(info->argument), ZSH_MARKS, ZSH_QUOTE);
        grout_text_add(out, ":");
        break;
    }
    switch (get_value_kind(info)) {
    case VALUE_NONE:
        break;
    case VALUE_FREE:
        grout_text_add(out, " ");
        break;
    case VALUE_WORDS:
        grout_text_add(out, "(");
        add_choices(out, info->argument);
        grout_text_add(out, ")");
        break;
    case VALUE_FILE:
        grout_text_add(out, "_files");
        break;
    case VALUE_PARAMETER_FILE:
        grout_text_add(out, "_grout_parameter");
        break;
    case VALUE_CODE:
        grout_text_add(out, "_grout_code");
        break;
    }
}

static void add_zsh_option(grout_text *out, grout_option_id id) {
    const grout_option_info *info = grout_option__get_info(id);
    const char *repeat = info->is_repeatable ? "*" : "";
    for (int is_long = 0; is_long < 2; is_long++) {
        if (is_long != 0 ? info->long_text == NULL : info->short_text == '\0') {
            continue;
        }
        bool has_value = info->kind != GROUT_OPTION_FLAG;
        if (is_long != 0) {
            grout_text_add(out, "        '%s--%s%s[", repeat, info->long_text,
                           has_value ? "=" : "");
        } else {
            grout_text_add(out, "        '%s-%c%s[", repeat, info->short_text,
                           has_value ? "+" : "");
        }
        add_quoted(out, info->help, strlen(info->help), ZSH_MARKS, ZSH_QUOTE);
        grout_text_add(out, "]");
        add_zsh_value(out, info);
        grout_text_add(out, "' \\\n");
    }
}

static void add_zsh_argument(grout_text *out, const grout_command_info *info) {
    switch (get_argument_kind(info)) {
    case ARGUMENT_NONE:
        grout_text_add(out, "        ':: :'\n");
        break;
    case ARGUMENT_KERNELS:
        grout_text_add(out, "        '*:kernel:_files -g \"*.grout\"'\n");
        break;
    case ARGUMENT_FILES:
        grout_text_add(out, "        '*:file:_files'\n");
        break;
    case ARGUMENT_OP:
    case ARGUMENT_CODE:
    case ARGUMENT_COMMAND:
    case ARGUMENT_WORD:
        grout_text_add(out, "        '1:: :(");
        add_argument_words(out, info);
        grout_text_add(out, ")'\n");
        break;
    }
}

static const char zsh_head[] =
    "#compdef grout\n"
    "# zsh completion of grout, written by 'grout help --completion zsh'.\n\n"
    "_grout_parameter() {\n"
    "    if compset -P '*='; then\n        _files\n    else\n        _message 'parameter='\n    "
    "fi\n}\n\n"
    "_grout_code() {\n"
    "    if compset -P '*='; then\n        compadd error warning off\n    else\n        compadd -S "
    "= ";

static void add_zsh(grout_text *out) {
    grout_text_add(out, "%s", zsh_head);
    add_codes(out);
    grout_text_add(out, "\n    fi\n}\n\n");
    for (int i = 1; i < GROUT_COMMAND_COUNT; i++) {
        const grout_command_info *info = grout_command__get_info((grout_command)i);
        grout_text_add(out, "_grout_%s() {\n    _arguments -s -S : \\\n", info->text);
        for (int k = 1; k < GROUT_OPTION_COUNT; k++) {
            if (grout_command__takes((grout_command)i, (grout_option_id)k)) {
                add_zsh_option(out, (grout_option_id)k);
            }
        }
        add_zsh_argument(out, info);
        grout_text_add(out, "}\n\n");
    }
    grout_text_add(out, "_grout() {\n    local -a commands=(\n");
    for (int i = 1; i < GROUT_COMMAND_COUNT; i++) {
        const grout_command_info *info = grout_command__get_info((grout_command)i);
        grout_text_add(out, "        '%s:", info->text);
        add_quoted(out, info->summary, strlen(info->summary), ":\\", ZSH_QUOTE);
        grout_text_add(out, "'\n");
    }
    grout_text_add(
        out, "    )\n    if ((CURRENT == 2)); then\n"
             "        _describe -t commands command commands\n        return\n    fi\n"
             "    local command=$words[2]\n    shift words\n    ((CURRENT--))\n"
             "    if ((${+functions[_grout_$command]})); then\n        _grout_$command\n    fi\n"
             "}\n\n_grout \"$@\"\n");
}

/* ---- fish ---------------------------------------------------------------------------------------
 */

#define FISH_MARKS "\\"
#define FISH_QUOTE "\\'"

static void add_fish_value(grout_text *out, const grout_option_info *info) {
    switch (get_value_kind(info)) {
    case VALUE_NONE:
        break;
    case VALUE_FREE:
        grout_text_add(out, " -x");
        break;
    case VALUE_WORDS:
        grout_text_add(out, " -x -a '");
        add_choices(out, info->argument);
        grout_text_add(out, "'");
        break;
    case VALUE_FILE:
    case VALUE_PARAMETER_FILE: /* fish completes files after '=' by itself */
        grout_text_add(out, " -r -F");
        break;
    case VALUE_CODE:
        grout_text_add(out, " -x -a '(__grout_levels)'");
        break;
    }
}

static void add_fish_option(grout_text *out, grout_option_id id) {
    const grout_option_info *info = grout_option__get_info(id);
    grout_text_add(out, "complete -c grout -n '__grout_is");
    for (int i = 1; i < GROUT_COMMAND_COUNT; i++) {
        if (grout_command__takes((grout_command)i, id)) {
            grout_text_add(out, " %s", grout_command__get_info((grout_command)i)->text);
        }
    }
    grout_text_add(out, "'");
    if (info->short_text != '\0') {
        grout_text_add(out, " -s %c", info->short_text);
    }
    if (info->long_text != NULL) {
        grout_text_add(out, " -l %s", info->long_text);
    }
    add_fish_value(out, info);
    grout_text_add(out, " -d '");
    add_quoted(out, info->help, strlen(info->help), FISH_MARKS, FISH_QUOTE);
    grout_text_add(out, "'\n");
}

static void add_fish_argument(grout_text *out, const grout_command_info *info) {
    argument_kind kind = get_argument_kind(info);
    if (kind == ARGUMENT_NONE) {
        return;
    }
    grout_text_add(out, "complete -c grout -n '__grout_is %s' ", info->text);
    if (kind == ARGUMENT_KERNELS) {
        grout_text_add(out, "-k -a '(__fish_complete_suffix .grout)'\n");
    } else if (kind == ARGUMENT_FILES) {
        grout_text_add(out, "-F\n");
    } else {
        grout_text_add(out, "-a '");
        add_argument_words(out, info);
        grout_text_add(out, "'\n");
    }
}

static const char fish_head[] =
    "# fish completion of grout, written by 'grout help --completion fish'.\n\n"
    "# Whether the command line is one of these commands of grout.\n"
    "function __grout_is\n"
    "    set -l words (commandline -opc)\n"
    "    test (count $words) -gt 1; and contains -- $words[2] $argv\n"
    "end\n\n"
    "# Whether the command is still to come.\n"
    "function __grout_is_bare\n"
    "    test (count (commandline -opc)) -eq 1\n"
    "end\n\n"
    "# The values of --severity.\n"
    "function __grout_levels\n"
    "    for code in ";

static void add_fish(grout_text *out) {
    grout_text_add(out, "%s", fish_head);
    add_codes(out);
    grout_text_add(out,
                   "\n        printf '%%s\\n' $code=error $code=warning $code=off\n    end\nend\n\n"
                   "complete -c grout -f\n"
                   "complete -c grout -n __grout_is_bare -l help -d 'show the commands'\n"
                   "complete -c grout -n __grout_is_bare -l version -d 'show the version'\n");
    for (int i = 1; i < GROUT_COMMAND_COUNT; i++) {
        const grout_command_info *info = grout_command__get_info((grout_command)i);
        grout_text_add(out, "complete -c grout -n __grout_is_bare -a %s -d '", info->text);
        add_quoted(out, info->summary, strlen(info->summary), FISH_MARKS, FISH_QUOTE);
        grout_text_add(out, "'\n");
        add_fish_argument(out, info);
    }
    for (int i = 1; i < GROUT_OPTION_COUNT; i++) {
        add_fish_option(out, (grout_option_id)i);
    }
}

void grout_help__print_completion(const char *shell, grout_text *out) {
    if (strcmp(shell, "bash") == 0) {
        add_bash(out);
    } else if (strcmp(shell, "zsh") == 0) {
        add_zsh(out);
    } else {
        add_fish(out);
    }
}
