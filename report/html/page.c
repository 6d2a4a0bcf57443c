/* page.c - the frame of a page: its head, the verdict of each kernel, what can be jumped to.
 * SPDX-License-Identifier: Apache-2.0 */
#include "html.h"
#include "markup.h"
#include "view.h"

#include "hash.h"
#include "lookup.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* page.css, embedded by cli/CMakeLists.txt. */
extern const unsigned char grout_page_style[];
extern const size_t grout_page_style_size;

/* ---- what the parts share ------------------------------------------------------------------- */

const char *grout_page__get_line(const grout_page *page, int line, size_t *size_out) {
    const bool is_there = line >= 1 && line <= page->line_count;
    return is_there ? grout_line_starts__find(&page->lines, (size_t)line, size_out) : NULL;
}

/* Once for all places, of which there may be as many as lines. What ends with a newline has no line
 * after it. False without memory. */
static bool find_lines(grout_page *page) {
    const bool is_good = grout_line_starts__init(&page->lines, NULL, page->text, page->size);
    const bool is_ended = page->size == 0 || page->text[page->size - 1] == '\n';
    page->line_count = (int)page->lines.count - (is_ended && page->lines.count > 0 ? 1 : 0);
    return is_good;
}

void grout_page__add_place(const grout_page *page, const json_t *place) {
    int line = grout_facts__get_line(place, page->file);
    size_t size = 0;
    if (line > 0 && grout_page__get_line(page, line, &size) != NULL) {
        grout_markup__add(page->out, "<a href=\"#L%d\">line %d</a>", line, line);
    } else if (json_is_object(place)) {
        grout_markup__add(page->out, "%s:%d", grout_facts__get_text(place, "file"),
                          grout_facts__get_number(place, "line"));
    }
}

const char *grout_page__get_class(const json_t *finding) {
    static const char *const words[] = {"error", "warning", "advice"};
    const char *severity = grout_facts__get_text(finding, "severity");
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(severity, words[i]) == 0) {
            return words[i];
        }
    }
    return "note";
}

/* A finding as those that follow from it name it: its identity and its kernel. */
static uint64_t make_key(const json_t *finding, const char *identity) {
    const json_t *kernel = json_object_get(finding, "kernel");
    const char *name = json_is_string(kernel) ? json_string_value(kernel) : "";
    return grout_hash__bytes(grout_hash__bytes(0, identity, strlen(identity)), name, strlen(name));
}

/* The finding that one follows from; itself if there is none. numbers: of findings by key. */
static size_t find_cause(const grout_page *page, const grout_lookup *numbers, size_t index) {
    const json_t *finding = json_array_get(page->findings, index);
    const char *identity = grout_facts__get_text(finding, "follows_from");
    const uint32_t number =
        identity[0] == '\0' ? 0 : grout_lookup__find(numbers, make_key(finding, identity));
    return number == 0 ? index : number - 1;
}

/* The first of a key counts. False without memory. */
static bool number_findings(const grout_page *page, grout_lookup *numbers) {
    size_t i;
    const json_t *finding;
    json_array_foreach(page->findings, i, finding) {
        uint32_t *number = grout_lookup__at(
            numbers, make_key(finding, grout_facts__get_text(finding, "identity")));
        if (number == NULL) {
            return false;
        }
        *number = *number == 0 ? (uint32_t)i + 1 : *number;
    }
    return true;
}

/* What follows from the same finding, in order. */
static void link_followers(const grout_page *page, size_t count) {
    for (size_t i = 0; i < count; i++) {
        page->next[i] = count;
    }
    for (size_t i = count; i > 0; i--) {
        const size_t head = page->heads[i - 1];
        if (head != i - 1) {
            page->next[i - 1] = page->next[head];
            page->next[head] = i - 1;
        }
    }
}

/* A cause may follow from another one: all stand with the first. False without memory. */
static bool find_heads(grout_page *page) {
    const size_t count = json_array_size(page->findings);
    grout_lookup numbers = {0};
    page->heads = calloc(count + 1, sizeof *page->heads);
    page->next = calloc(count + 1, sizeof *page->next);
    const bool is_good =
        page->heads != NULL && page->next != NULL && number_findings(page, &numbers);
    for (size_t i = 0; is_good && i < count; i++) {
        size_t cause = find_cause(page, &numbers, i);
        page->heads[i] = cause < i ? page->heads[cause] : i; /* causes come first */
    }
    if (is_good) {
        link_followers(page, count);
    }
    grout_lookup__deinit(&numbers);
    return is_good;
}

bool grout_page__is_follower(const grout_page *page, size_t finding) {
    return page->heads[finding] != finding;
}

/* ---- the verdict ---------------------------------------------------------------------------- */

/* The summary's lines: the first is the kernel's own, the others are what it covers. */
static void add_kernel(const grout_page *page, const json_t *kernel) {
    const char *words = grout_facts__get_text(kernel, "words");
    size_t size = strcspn(words, "\n");
    grout_text_add(page->out, "<section class=\"kernel\">\n<h3>");
    grout_markup__add_bytes(page->out, words, size);
    if (size == 0) {
        grout_markup__add(page->out, "@%s", grout_facts__get_text(kernel, "kernel"));
    }
    grout_text_add(page->out, "</h3>\n<ul>\n");
    for (words += size; *words != '\0'; words += size) {
        words += strspn(words, "\n ");
        size = strcspn(words, "\n");
        if (size > 0) {
            grout_text_add(page->out, "<li>");
            grout_markup__add_bytes(page->out, words, size);
            grout_text_add(page->out, "</li>\n");
        }
    }
    grout_text_add(page->out, "</ul>\n");
    const char *command = grout_facts__get_text(kernel, "see_it_again");
    if (command[0] != '\0') {
        grout_markup__add(page->out, "<p class=\"again\">See it again: <code>%s</code></p>\n",
                          command);
    }
    grout_text_add(page->out, "</section>\n");
}

/* The kernels that the end came before, by name. */
static void add_not_begun(const grout_page *page, const json_t *not_begun) {
    size_t i;
    const json_t *name, *kernels = json_object_get(not_begun, "kernels");
    const int count = (int)json_array_size(kernels);
    grout_markup__add(page->out,
                      "<section class=\"kernel\">\n<h3>%d kernel%s not begun</h3>\n<p>%s</p>\n"
                      "<details>\n<summary>Which</summary>\n<p>",
                      count, count == 1 ? " was" : "s were",
                      grout_facts__get_text(not_begun, "because"));
    json_array_foreach(kernels, i, name) {
        grout_markup__add(page->out, "%s@%s", i == 0 ? "" : ", ", json_string_value(name));
    }
    grout_text_add(page->out, "</p>\n</details>\n</section>\n");
}

static void add_verdict(const grout_page *page) {
    size_t i;
    const json_t *kernel;
    const json_t *not_begun =
        json_object_get(json_object_get(page->report, "coverage"), "not_begun");
    const char *verdict = grout_facts__get_text(page->report, "verdict");
    grout_markup__add(page->out,
                      "<section id=\"verdict\" aria-labelledby=\"verdict-title\">\n<h2 "
                      "id=\"verdict-title\">Verdict: <span class=\"badge %s\">%s</span></h2>\n",
                      verdict, verdict);
    json_array_foreach(page->kernels, i, kernel) {
        add_kernel(page, kernel);
    }
    if (not_begun != NULL) {
        add_not_begun(page, not_begun);
    } else if (json_array_size(page->kernels) == 0) {
        grout_text_add(page->out, "<p>No kernel was run: the diagnostics below say why.</p>\n");
    }
    grout_text_add(page->out, "</section>\n");
}

/* ---- the page ------------------------------------------------------------------------------- */

static void add_head(const grout_page *page) {
    const char *verdict = grout_facts__get_text(page->report, "verdict");
    grout_text_add(page->out,
                   "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                   "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                   "<meta name=\"color-scheme\" content=\"light dark\">\n"
                   "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                   "style-src 'unsafe-inline'\">\n");
    grout_markup__add(page->out, "<title>%s: %s</title>\n<style>\n", page->file, verdict);
    grout_text_add_bytes(page->out, (const char *)grout_page_style, grout_page_style_size);
    grout_text_add(page->out, "</style>\n</head>\n<body>\n");
}

static void add_header(const grout_page *page) {
    size_t count = json_array_size(page->findings);
    grout_markup__add(page->out, "<header>\n<p class=\"what\">grout check</p>\n<h1>%s</h1>\n",
                      page->file);
    grout_text_add(page->out, "<nav aria-label=\"Parts of the page\"><a href=\"#verdict\">verdict"
                              "</a> <a href=\"#findings\">");
    grout_markup__add(page->out, "%d finding%s</a> <a href=\"#source\">source</a>", (int)count,
                      count == 1 ? "" : "s");
    grout_text_add(page->out, " <a href=\"#memory\">shared memory</a></nav>\n</header>\n<main>\n");
}

static void add_parts(const grout_page *page) {
    add_head(page);
    add_header(page);
    add_verdict(page);
    grout_page__add_findings(page);
    grout_page__add_source(page);
    grout_page__add_memory(page);
    grout_markup__add(page->out,
                      "</main>\n<footer><p>Written by grout %s. Differences between the lanes of a "
                      "thread are not modelled.</p></footer>\n</body>\n</html>\n",
                      grout_facts__get_text(page->report, "grout"));
}

bool grout_html__print(const json_t *report, const grout_bytes *text, grout_text *out) {
    const json_t *coverage = json_object_get(report, "coverage");
    grout_page page = {
        .report = report,
        .findings = json_object_get(report, "findings"),
        .kernels = json_object_get(coverage, "kernels"),
        .file = grout_facts__get_text(coverage, "file"),
        .text = text->data,
        .size = text->data == NULL ? 0 : text->size,
        .out = out,
    };
    const bool is_ready = find_lines(&page) && find_heads(&page);
    if (is_ready) {
        add_parts(&page);
    }
    grout_line_starts__deinit(&page.lines);
    free(page.heads);
    free(page.next);
    return is_ready && !out->failed;
}
