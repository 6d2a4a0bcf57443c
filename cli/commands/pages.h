/* pages.h - what the tables of grout say, written for other programs: the manual, shells, editors.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_CLI_PAGES_H
#define GROUT_CLI_PAGES_H

#include "options.h"

/* An example of a command: the words after "grout", and what they do. next: the first of them. */
typedef struct grout_example {
    const char *next, *words, *meaning;
    int size, meaning_size;
} grout_example;
/* The next one; false: there is none. */
bool grout_example__read(grout_example *example);

/* Parts of the help that other pages show too (cmd_help.c): the exit codes as lines of text, and
 * the chapters of docs/cli.md after its options, in Markdown. */
const char *grout_help__get_exit_codes(void);
void grout_help__add_chapters(grout_text *out);

/* The manual page of a command, or of grout (GROUT_COMMAND_NONE), in roff with the macros of
 * man(7). */
void grout_help__print_man(grout_command command, grout_text *out);
/* The script with which bash, zsh or fish completes words of the command line. */
void grout_help__print_completion(const char *shell, grout_text *out);
/* The file with which vim, or an editor that reads TextMate grammars, colours kernels. */
void grout_ops__print_syntax(const char *editor, grout_text *out);

#endif
