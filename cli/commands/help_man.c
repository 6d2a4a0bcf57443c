/* help_man.c - grout help --man: the manual pages, in roff. What docs/cli.md says in Markdown, the
 * page grout(1) says too. SPDX-License-Identifier: Apache-2.0 */
#include "pages.h"

#include "grout/grout.h"

#include <string.h>

enum { MAN_WIDTH = 76 };

/* A page as it is written. */
typedef struct page {
    grout_text *out;
    size_t column;   /* of the line of text that is being written; 0: at its start */
    bool is_open;    /* the next paragraph needs no mark: a heading or an item has just begun */
    bool is_literal; /* within backticks, whose text is bold */
} page;

/* ---- words and lines ------------------------------------------------------------------------ */

/* One character of text. roff reads a backslash as an escape, and may set a '-' as a hyphen, with
 * which nobody can search for an option. */
static void add_character(grout_text *out, char c, bool is_literal) {
    if (c == '\\') {
        grout_text_add(out, "\\e");
    } else if (c == '-' && is_literal) {
        grout_text_add(out, "\\-");
    } else {
        grout_text_add_bytes(out, &c, 1);
    }
}

/* A word of Markdown: backticks make bold. */
static void add_word(page *p, const char *word, size_t size) {
    grout_text text = {0};
    bool is_option = word[0] == '-' || strncmp(word, "'-", 2) == 0;
    for (size_t i = 0; i < size; i++) {
        if (word[i] == '`') {
            p->is_literal = !p->is_literal;
            grout_text_add(&text, "%s", p->is_literal ? "\\fB" : "\\fR");
        } else {
            add_character(&text, word[i], p->is_literal || is_option);
        }
    }
    if (p->column > 0 && p->column + 1 + text.size > MAN_WIDTH) {
        grout_text_add(p->out, "\n");
        p->column = 0;
    } else if (p->column > 0) {
        grout_text_add(p->out, " ");
        p->column++;
    }
    /* A line of text that begins like a request would be one. */
    if (p->column == 0 && text.size > 0 && strchr(".'", text.data[0]) != NULL) {
        grout_text_add(p->out, "\\&");
    }
    grout_text_add_bytes(p->out, text.data, text.size);
    p->column += text.size;
    grout_text_free(&text);
}

static void end_line(page *p) {
    if (p->column > 0) {
        grout_text_add(p->out, "\n");
    }
    p->column = 0;
}

/* Words, filled into lines. */
static void add_prose(page *p, const char *text, size_t size) {
    const char *end = text + size;
    while (text < end) {
        size_t word = 0;
        while (text + word < end && strchr(" \n", text[word]) == NULL) {
            word++;
        }
        if (word > 0) {
            add_word(p, text, word);
        }
        text += word + (text + word < end ? 1 : 0);
    }
    p->is_open = false;
}

static void add_paragraph(page *p, const char *text) {
    end_line(p);
    grout_text_add(p->out, "%s", p->is_open ? "" : ".PP\n");
    add_prose(p, text, strlen(text));
    end_line(p);
}

static void add_capitals(grout_text *out, const char *text, size_t size) {
    for (size_t i = 0; i < size; i++) {
        bool is_small = text[i] >= 'a' && text[i] <= 'z';
        char c = (char)(is_small ? text[i] - 'a' + 'A' : text[i]);
        grout_text_add_bytes(out, &c, 1);
    }
}

static void add_heading(page *p, const char *text, size_t size) {
    end_line(p);
    grout_text_add(p->out, ".SH \"");
    add_capitals(p->out, text, size);
    grout_text_add(p->out, "\"\n");
    p->is_open = true;
}

/* Begins an item of a list; its tag follows as a line. */
static void begin_item(page *p) {
    end_line(p);
    grout_text_add(p->out, ".TP\n");
}

/* ---- Markdown ------------------------------------------------------------------------------- */

/* The text without the targets of its links: a reader of a manual page cannot follow them. */
static void strip_links(const char *text, grout_text *out) {
    bool is_literal = false;
    for (; *text != '\0'; text++) {
        size_t size = strcspn(text, "]");
        const char *end = strchr(text + size, ')');
        is_literal = *text == '`' ? !is_literal : is_literal;
        if (!is_literal && *text == '[' && strncmp(text + size, "](", 2) == 0 && end != NULL) {
            grout_text_add_bytes(out, text + 1, size - 1);
            text = end;
        } else {
            grout_text_add_bytes(out, text, 1);
        }
    }
}

/* '| a | b |': a is the tag, b is what is said of it. */
static void add_row(page *p, const char *line, size_t size) {
    static const char bar[] = " | ";
    const char *text = line + 2;
    const char *middle = strstr(text, bar);
    const char *end = line + size - 2;
    begin_item(p);
    add_prose(p, text, (size_t)(middle - text));
    end_line(p);
    add_prose(p, middle + sizeof bar - 1, (size_t)(end - middle) - (sizeof bar - 1));
    end_line(p);
    p->is_open = false;
}

/* The chapters of docs/cli.md: headings, paragraphs, lists of '- ', tables of two columns. */
static void add_markdown(page *p, const char *text) {
    while (*text != '\0') {
        size_t size = strcspn(text, "\n");
        const char *next = text + size + (text[size] == '\n' ? 1 : 0);
        bool is_rule = strncmp(text, "|-", 2) == 0, is_head = strncmp(next, "|-", 2) == 0;
        if (size == 0) {
            end_line(p);
            grout_text_add(p->out, "%s",
                           p->is_open || *next == '#' || *next == '|' || *next == '-' ? ""
                                                                                      : ".PP\n");
        } else if (strncmp(text, "## ", 3) == 0) {
            add_heading(p, text + 3, size - 3);
        } else if (strncmp(text, "- ", 2) == 0) {
            end_line(p);
            grout_text_add(p->out, ".IP \\(bu 2\n");
            add_prose(p, text + 2, size - 2);
        } else if (strncmp(text, "| ", 2) == 0 && !is_head) {
            add_row(p, text, size);
        } else if (!is_rule && !is_head) {
            add_prose(p, text, size);
        }
        text = next;
    }
    end_line(p);
}

/* ---- the pages ------------------------------------------------------------------------------ */

/* "grout-check", with its hyphen as roff keeps it. */
static void add_name(grout_text *out, grout_command command) {
    grout_text_add(out, "grout");
    if (command != GROUT_COMMAND_NONE) {
        grout_text_add(out, "\\-%s", grout_command__get_info(command)->text);
    }
}

/* In capitals, as titles are; without a date, because a page is as new as its grout. */
static void add_title(grout_text *out, grout_command command) {
    grout_text name = {0};
    add_name(&name, command);
    grout_text_add(out, ".TH ");
    add_capitals(out, name.data == NULL ? "" : name.data, name.size);
    grout_text_add(out, " 1 \"\" \"grout %s\" \"User Commands\"\n", GROUT_VERSION);
    grout_text_free(&name);
}

static void begin_page(page *p, grout_command command) {
    grout_text_add(p->out, ".\\\" Written by 'grout help --man', from call/session/options.def and "
                           "cli/commands/cmd_help.c.\n");
    add_title(p->out, command);
    add_heading(p, "Name", strlen("Name"));
    add_name(p->out, command);
    grout_text_add(p->out, " \\- ");
}

static void add_see_also(page *p, grout_command own) {
    add_heading(p, "See also", strlen("See also"));
    const char *separator = "";
    for (int i = 0; i < GROUT_COMMAND_COUNT; i++) {
        if (i != (int)own) {
            grout_text_add(p->out, "%s.BR ", separator);
            add_name(p->out, (grout_command)i);
            grout_text_add(p->out, " (1)");
            separator = " ,\n";
        }
    }
    grout_text_add(p->out, "\n");
}

static void add_option(page *p, grout_option_id id) {
    const grout_option_info *info = grout_option__get_info(id);
    begin_item(p);
    if (info->long_text != NULL && info->short_text != '\0') {
        grout_text_add(p->out, "\\fB\\-%c\\fR, ", info->short_text);
    }
    grout_text name = {0}, meaning = {0};
    grout_option__print_name(id, &name);
    grout_text_add(p->out, "\\fB");
    for (size_t i = 0; i < name.size; i++) {
        add_character(p->out, name.data[i], true);
    }
    grout_text_add(p->out, "\\fR");
    if (info->argument != NULL) {
        grout_text_add(p->out, " \\fI%s\\fR", info->argument);
    }
    grout_text_add(p->out, "\n");
    grout_text_free(&name);
    grout_option__describe(id, &meaning);
    add_prose(p, meaning.data == NULL ? "" : meaning.data, meaning.size);
    grout_text_free(&meaning);
    end_line(p);
}

/* Its options, under the titles of their groups. */
static void add_options(page *p, grout_command command) {
    grout_option_group group = GROUT_GROUP_COUNT;
    for (int i = 1; i < GROUT_OPTION_COUNT; i++) {
        const grout_option_info *info = grout_option__get_info((grout_option_id)i);
        if (!grout_command__takes(command, (grout_option_id)i)) {
            continue;
        }
        if (info->group != group) {
            end_line(p);
            grout_text_add(p->out, ".SS \"%s\"\n", grout_option_group__get_title(info->group));
            group = info->group;
        }
        add_option(p, (grout_option_id)i);
    }
}

/* What each example does, and its words. */
static void add_examples(page *p, const grout_command_info *info) {
    grout_example at = {.next = info->examples};
    while (grout_example__read(&at)) {
        begin_item(p);
        grout_text_add(p->out, "\\fBgrout ");
        for (int i = 0; i < at.size; i++) {
            add_character(p->out, at.words[i], true);
        }
        grout_text_add(p->out, "\\fR\n");
        add_prose(p, at.meaning, (size_t)at.meaning_size);
        end_line(p);
    }
}

static void add_command_page(page *p, grout_command command) {
    const grout_command_info *info = grout_command__get_info(command);
    begin_page(p, command);
    grout_text_add(p->out, "%s\n", info->summary);
    add_heading(p, "Synopsis", strlen("Synopsis"));
    grout_text_add(p->out, "\\fBgrout %s\\fR [\\fIOPTION\\fR...]", info->text);
    if (info->arguments[0] != '\0') {
        grout_text_add(p->out, " \\fI%s\\fR", info->arguments);
    }
    grout_text_add(p->out, "\n");
    add_heading(p, "Description", strlen("Description"));
    add_paragraph(p, info->description);
    if (info->examples[0] != '\0') {
        add_heading(p, "Examples", strlen("Examples"));
        add_examples(p, info);
    }
    add_heading(p, "Options", strlen("Options"));
    add_options(p, command);
    add_heading(p, "Exit status", strlen("Exit status"));
    add_paragraph(p, grout_help__get_exit_codes());
    add_see_also(p, command);
}

static void add_main_page(page *p) {
    grout_text chapters = {0}, text = {0};
    begin_page(p, GROUT_COMMAND_NONE);
    grout_text_add(p->out, "asynchronous GPU kernels as text\n");
    add_heading(p, "Synopsis", strlen("Synopsis"));
    grout_text_add(p->out, "\\fBgrout\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR...] [\\fIFILE\\fR]\n");
    add_heading(p, "Description", strlen("Description"));
    add_paragraph(p, "Kernels are checked for races on the CPU, run there, and emitted as CUDA. "
                     "Each command has a "
                     "page of its own with its options.");
    for (int i = 1; i < GROUT_COMMAND_COUNT; i++) {
        const grout_command_info *info = grout_command__get_info((grout_command)i);
        begin_item(p);
        grout_text_add(p->out, "\\fB%s\\fR \\fI%s\\fR\n", info->text, info->arguments);
        add_prose(p, info->summary, strlen(info->summary));
        end_line(p);
    }
    grout_help__add_chapters(&chapters);
    strip_links(chapters.data == NULL ? "" : chapters.data, &text);
    add_markdown(p, text.data == NULL ? "" : text.data);
    grout_text_free(&chapters);
    grout_text_free(&text);
    add_see_also(p, GROUT_COMMAND_NONE);
}

void grout_help__print_man(grout_command command, grout_text *out) {
    page p = {.out = out};
    if (command == GROUT_COMMAND_NONE) {
        add_main_page(&p);
    } else {
        add_command_page(&p, command);
    }
}
