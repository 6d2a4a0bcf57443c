/* cmd_explain.c - grout explain: what a code means, why it matters, a bad kernel and its repair.
 * SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"

#include "suggest.h"
#include "wrap.h"

#include <string.h>

typedef struct explain_text {
    const char *why, *repair;
} explain_text;

/* One variable for each entry, so that a code without one does not compile. */
#define GROUT_EXPLAIN(NAME, why_, repair_) \
    static const explain_text explain_##NAME = {.why = (why_), .repair = (repair_)};
#include "explain_texts.def"

static const explain_text *const texts[GROUT_DIAG_COUNT] = {
#define GROUT_DIAG(NAME, TEXT, SEVERITY, STAGE, DOC) [GROUT_DIAG_##NAME] = &explain_##NAME,
#include "grout/diag.def"
};

/* docs/explain/ as one text: cli/commands/examples.cmake puts a line '=== TOPIC/FILE' before each
 * file. */
extern const unsigned char grout_examples[];
extern const size_t grout_examples_size;

typedef struct kernel_example {
    const char *topic; /* its folder in docs/explain/ */
    const char *text;
    int topic_size;
    size_t text_size;
} kernel_example;

/* The kernel 'CODE-bad.grout' or 'CODE-fixed.grout'; false if there is none. */
static bool find_example(const char *code, const char *which, kernel_example *out) {
    static const char mark[] = "=== ";
    bool is_found = false;
    grout_text file = {0};
    grout_text_add(&file, "/%s-%s.grout\n", code, which);
    const char *at = file.data == NULL ? NULL : strstr((const char *)grout_examples, mark);
    while (at != NULL && !is_found) {
        const char *topic = at + sizeof mark - 1;
        const char *name = topic + strcspn(topic, "/");
        at = strstr(topic, mark);
        is_found = strncmp(name, file.data, file.size) == 0;
        if (is_found) {
            *out = (kernel_example){topic, name + file.size, (int)(name - topic), 0};
            out->text_size = at == NULL ? strlen(out->text) : (size_t)(at - out->text);
        }
    }
    grout_text_free(&file);
    return is_found;
}

static const char *get_stage_text(grout_diag_stage stage) {
    switch (stage) {
    case GROUT_STAGE_PARSE:
        return "the text is not a kernel";
    case GROUT_STAGE_VERIFY:
        return "a rule that is checked before anything runs";
    case GROUT_STAGE_RUN:
        return "found by running the kernel";
    case GROUT_STAGE_GPU:
        return "the GPU or its libraries";
    case GROUT_STAGE_USE:
        return "files, options, limits of the host";
    }
    return "";
}

static const char *get_severity_text(grout_severity severity) {
    return severity == GROUT_SEVERITY_WARNING  ? "warning"
           : severity == GROUT_SEVERITY_ADVICE ? "advice"
                                               : "error";
}

/* Columns of a paragraph, in docs/diagnostics.md and where there is no narrower terminal. */
enum { WIDTH = 95 };

static void add_paragraph(grout_text *out, const char *text, size_t width) {
    grout_wrap__add(out, text, 0, "", width);
    grout_text_add(out, "\n");
}

static void add_example(grout_text *out, const char *code, const char *which, const char *title) {
    kernel_example found;
    if (!find_example(code, which, &found)) {
        return;
    }
    grout_text_add(out, "\n%s\n\n", title);
    const char *example = found.text;
    size_t size = found.text_size;
    while (size > 0) {
        const char *end = memchr(example, '\n', size);
        size_t line = end == NULL ? size : (size_t)(end - example) + 1;
        grout_text_add(out, "%s", line > 1 ? "    " : "");
        grout_text_add_bytes(out, example, line);
        example += line;
        size -= line;
    }
}

static void explain(grout_diag_code code, size_t width, grout_text *out) {
    const grout_diag_info *info = grout_diag_get(code);
    grout_text_add(out, "%s (%s; %s)\n\n", info->text, get_severity_text(info->severity),
                   get_stage_text(info->stage));
    add_paragraph(out, info->doc, width);
    grout_text_add(out, "\n");
    add_paragraph(out, texts[code]->why, width);
    grout_text_add(out, "\nRepair:\n");
    add_paragraph(out, texts[code]->repair, width);
    add_example(out, info->text, "bad", "A kernel that has it:");
    add_example(out, info->text, "fixed", "Repaired:");
}

/* ---- docs/diagnostics.md --------------------------------------------------------------------- */

/* False if there is no such kernel: then it adds nothing. */
static bool add_example_link(grout_text *out, const char *code, const char *which,
                             const char *title) {
    kernel_example found;
    if (!find_example(code, which, &found)) {
        return false;
    }
    grout_text_add(out, "%s(explain/%.*s/%s-%s.grout)", title, found.topic_size, found.topic, code,
                   which);
    return true;
}

static void add_markdown_code(grout_diag_code code, grout_text *out) {
    const grout_diag_info *info = grout_diag_get(code);
    grout_text_add(out, "\n### %s\n\n%s: %s.\n\n", info->text,
                   info->severity == GROUT_SEVERITY_WARNING ? "Warning" : "Error", info->doc);
    add_paragraph(out, texts[code]->why, WIDTH);
    grout_text_add(out, "\nRepair: ");
    add_paragraph(out, texts[code]->repair, WIDTH);
    if (add_example_link(out, info->text, "bad", "\n[A kernel that has it]")) {
        (void)add_example_link(out, info->text, "fixed", "; [repaired]");
        grout_text_add(out, ".\n");
    }
}

static void add_markdown(grout_text *out) {
    static const char *const titles[] = {[GROUT_STAGE_PARSE] = "The text",
                                         [GROUT_STAGE_VERIFY] = "Rules of a kernel",
                                         [GROUT_STAGE_RUN] = "Found by running it",
                                         [GROUT_STAGE_GPU] = "The GPU",
                                         [GROUT_STAGE_USE] = "Files, options, limits"};
    grout_text_add(
        out,
        "<!-- Written by 'grout explain --markdown'; a test compares. Change "
        "include/grout/diag.def or cli/commands/explain_texts.def. -->\n# Diagnostics\n\n"
        "Everything grout can say is wrong, by its code. `grout explain CODE` shows "
        "the same with the kernels. Repairs are in the words of the text format; the help of a "
        "finding in a kernel that was imported from Pallas has those of Pallas "
        "([pallas.md](pallas.md#findings-in-the-words-of-pallas)).\n\n"
        "What a help has in single quotes is code, to be put where the help says: an operation "
        "with "
        "its operands is a line of its own, the rest a part of one. `..` and words in capitals are "
        "for you to fill in. An operation that is only named has no quotes.\n");
    for (int stage = GROUT_STAGE_PARSE; stage <= GROUT_STAGE_USE; stage++) {
        grout_text_add(out, "\n## %s\n", titles[stage]);
        for (int code = 1; code < GROUT_DIAG_COUNT; code++) {
            if ((int)grout_diag_get((grout_diag_code)code)->stage == stage) {
                add_markdown_code((grout_diag_code)code, out);
            }
        }
    }
}

/* ---- the command ----------------------------------------------------------------------------- */

static int fail_unknown(grout_session *session, const char *code) {
    grout_suggestion suggestion = grout_suggest__begin_command(code);
    for (int i = 1; i < GROUT_DIAG_COUNT; i++) {
        grout_suggest__offer(&suggestion, grout_diag_get((grout_diag_code)i)->text);
    }
    grout_diags_add(session->diags, GROUT_DIAG_BAD_OPTION, grout_nowhere,
                    "there is no code '%.200s'", code);
    grout_session__help_near(session, suggestion.best, "'grout explain' lists them");
    grout_session__print_diags(session, GROUT_STREAM_ERR);
    return GROUT_EXIT_USAGE;
}

int grout_cmd_explain(grout_session *session) {
    const grout_options *options = &session->options;
    grout_text text = {0};
    if (grout_options__has(options, GROUT_OPTION_MARKDOWN)) {
        add_markdown(&text);
    } else if (options->argument_count == 1) {
        grout_diag_code code = grout_diag_find(options->arguments[0]);
        if (code == GROUT_DIAG_NONE) {
            return fail_unknown(session, options->arguments[0]);
        }
        explain(code, grout_session__get_page_width(session, WIDTH), &text);
    } else {
        for (int i = 1; i < GROUT_DIAG_COUNT; i++) {
            const grout_diag_info *info = grout_diag_get((grout_diag_code)i);
            grout_text_add(&text, "%-26s %s\n", info->text, info->doc);
        }
        grout_session__flush_prose(session, GROUT_STREAM_OUT, &text, 27);
    }
    grout_session__flush_exact(session, GROUT_STREAM_OUT, &text);
    return GROUT_EXIT_OK;
}
