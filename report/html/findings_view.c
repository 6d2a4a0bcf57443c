/* findings_view.c - a card for each finding: what it says, the picture of what is missing, the
 * repair. What follows from a finding stands in its card.
 * SPDX-License-Identifier: Apache-2.0 */
#include "markup.h"
#include "view.h"

#include <jansson.h>
#include <string.h>

/* ---- the repair ----------------------------------------------------------------------------- */

static void add_diff_line(const grout_page *page, const char *element, const char *sign,
                          const char *text, size_t size) {
    grout_markup__add(page->out, "<%s>%s ", element, sign);
    grout_markup__add_bytes(page->out, text, size);
    grout_markup__add(page->out, "\n</%s>", element);
}

/* A line of the file as context. */
static void add_context(const grout_page *page, int line) {
    size_t size = 0;
    const char *text = grout_page__get_line(page, line, &size);
    if (text != NULL) {
        add_diff_line(page, "span", " ", text, size);
    }
}

static void add_inserted(const grout_page *page, const char *line, size_t size, const char *text) {
    size_t indent = 0;
    while (indent < size && (line[indent] == ' ' || line[indent] == '\t')) {
        indent++;
    }
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        grout_text made = {0};
        grout_text_add_bytes(&made, line, indent);
        grout_text_add_bytes(&made, text, length);
        add_diff_line(page, "ins", "+", made.data == NULL ? "" : made.data, made.size);
        grout_text_free(&made);
        text += length + (text[length] == '\n' ? 1 : 0);
    }
}

static void add_replaced(const grout_page *page, const json_t *place, const char *line, size_t size,
                         const char *text) {
    size_t first = (size_t)grout_facts__get_number(place, "column");
    size_t length = (size_t)grout_facts__get_number(place, "length");
    grout_text made = {0};
    if (first == 0 || first - 1 > size || length > size - (first - 1)) {
        return;
    }
    grout_text_add_bytes(&made, line, first - 1);
    grout_text_add(&made, "%s", text);
    grout_text_add_bytes(&made, line + first - 1 + length, size - (first - 1) - length);
    add_diff_line(page, "del", "-", line, size);
    add_diff_line(page, "ins", "+", made.data == NULL ? "" : made.data, made.size);
    grout_text_free(&made);
}

static void add_edit(const grout_page *page, const json_t *finding) {
    const json_t *edit = json_object_get(finding, "edit");
    const json_t *place = json_object_get(edit, "place");
    const char *position = grout_facts__get_text(edit, "position");
    const char *text = grout_facts__get_text(edit, "text");
    int line = grout_facts__get_line(place, page->file);
    size_t size = 0;
    const char *at = grout_page__get_line(page, line, &size);
    if (at == NULL) {
        return;
    }
    grout_markup__add(page->out, "<pre class=\"diff\" aria-label=\"Repair at line %d\">", line);
    if (strcmp(position, "replace") == 0) {
        add_context(page, line - 1);
        add_replaced(page, place, at, size, text);
    } else if (strcmp(position, "after") == 0) {
        add_context(page, line);
        add_inserted(page, at, size, text);
    } else {
        add_context(page, line - 1);
        add_inserted(page, at, size, text);
        add_context(page, line);
    }
    grout_text_add(page->out, "</pre>\n");
}

/* ---- the words ------------------------------------------------------------------------------ */

static void add_notes(const grout_page *page, const json_t *finding) {
    size_t i;
    const json_t *note;
    const json_t *notes = json_object_get(finding, "notes");
    if (json_array_size(notes) == 0) {
        return;
    }
    grout_text_add(page->out, "<ul class=\"notes\">\n");
    json_array_foreach(notes, i, note) {
        const json_t *place = json_object_get(note, "place");
        bool is_help = strcmp(grout_facts__get_text(note, "severity"), "help") == 0;
        grout_markup__add(page->out, "<li class=\"%s\">", is_help ? "help" : "note");
        if (json_is_object(place)) {
            grout_page__add_place(page, place);
            grout_text_add(page->out, ": ");
        }
        grout_markup__add(page->out, "%s%s</li>\n", is_help ? "Repair: " : "",
                          grout_facts__get_text(note, "message"));
    }
    grout_text_add(page->out, "</ul>\n");
}

/* Where it is, how often it was seen, at which sizes. */
static void add_facts(const grout_page *page, const json_t *finding) {
    size_t i;
    const json_t *size;
    const char *opening = ", at ";
    const char *kernel = grout_facts__get_text(finding, "kernel");
    int count = grout_facts__get_number(finding, "count");
    grout_text_add(page->out, "<p class=\"facts\">");
    grout_page__add_place(page, json_object_get(finding, "primary"));
    if (json_is_object(json_object_get(finding, "related"))) {
        grout_text_add(page->out, " with ");
        grout_page__add_place(page, json_object_get(finding, "related"));
    }
    if (kernel[0] != '\0') {
        grout_markup__add(page->out, " of @%s", kernel);
    }
    if (count > 1) {
        grout_markup__add(page->out, ", seen %d times", count);
    }
    json_array_foreach(json_object_get(finding, "sizes"), i, size) {
        grout_markup__add(page->out, "%s%s", opening, json_string_value(size));
        opening = "; ";
    }
    grout_text_add(page->out, "</p>\n");
}

/* ---- cards ---------------------------------------------------------------------------------- */

static void open_card(const grout_page *page, const json_t *finding, int number, int level) {
    const char *word = grout_page__get_class(finding);
    grout_markup__add(page->out,
                      "<article class=\"finding %s\" id=\"finding-%d\" "
                      "aria-labelledby=\"title-%d\">\n<h%d id=\"title-%d\">",
                      word, number, number, level, number);
    grout_markup__add(page->out,
                      "<span class=\"number\">%d</span> <span class=\"badge %s\">%s</span> ",
                      number, word, word);
    grout_markup__add(page->out, "%s <code class=\"code\">%s</code></h%d>\n",
                      grout_facts__get_text(finding, "message"),
                      grout_facts__get_text(finding, "code"), level);
}

static void add_body(const grout_page *page, const json_t *finding, int number) {
    add_facts(page, finding);
    grout_page__add_path(page, finding, number);
    add_notes(page, finding);
    add_edit(page, finding);
}

/* What follows from it, each in a card of its own, closed at first. */
static void add_followers(const grout_page *page, size_t cause) {
    const size_t count = json_array_size(page->findings);
    bool has_any = false;
    for (size_t i = page->next[cause]; i < count; i = page->next[i]) {
        const json_t *finding = json_array_get(page->findings, i);
        grout_text_add(
            page->out, "%s",
            has_any ? ""
                    : "<details class=\"followers\">\n<summary>What follows from it</summary>\n");
        has_any = true;
        open_card(page, finding, (int)i + 1, 4);
        add_body(page, finding, (int)i + 1);
        grout_text_add(page->out, "</article>\n");
    }
    grout_text_add(page->out, "%s", has_any ? "</details>\n" : "");
}

static void add_silenced(const grout_page *page) {
    const json_t *silenced = json_object_get(page->report, "silenced");
    size_t i;
    const json_t *finding;
    if (json_array_size(silenced) == 0) {
        return;
    }
    grout_markup__add(page->out,
                      "<details class=\"silenced\">\n<summary>%d silenced</summary>\n<ul>\n",
                      (int)json_array_size(silenced));
    json_array_foreach(silenced, i, finding) {
        const char *reason = grout_facts__get_text(finding, "reason");
        grout_text_add(page->out, "<li>");
        grout_page__add_place(page, json_object_get(finding, "primary"));
        grout_markup__add(
            page->out, ": %s <code class=\"code\">%s</code>, silenced by %s%s%s</li>\n",
            grout_facts__get_text(finding, "message"),
            grout_facts__get_text(finding, "silenced_code"),
            grout_facts__get_text(finding, "silenced_by"), reason[0] == '\0' ? "" : ": ", reason);
    }
    grout_text_add(page->out, "</ul>\n</details>\n");
}

/* How many findings the kernels have past --max-findings. */
static int count_unlisted(const grout_page *page) {
    size_t i;
    const json_t *kernel;
    int count = 0;
    json_array_foreach(page->kernels, i, kernel) {
        count += grout_facts__get_number(kernel, "findings_not_listed");
    }
    return count;
}

void grout_page__add_findings(const grout_page *page) {
    size_t i;
    const json_t *finding;
    int unlisted = count_unlisted(page);
    grout_text_add(page->out, "<section id=\"findings\" aria-labelledby=\"findings-title\">\n"
                              "<h2 id=\"findings-title\">Findings</h2>\n");
    if (json_array_size(page->findings) == 0) {
        grout_text_add(page->out, "<p>None.</p>\n");
    }
    json_array_foreach(page->findings, i, finding) {
        if (!grout_page__is_follower(page, i)) {
            open_card(page, finding, (int)i + 1, 3);
            add_body(page, finding, (int)i + 1);
            add_followers(page, i);
            grout_text_add(page->out, "</article>\n");
        }
    }
    if (unlisted > 0) {
        grout_markup__add(page->out, "<p>%d more past --max-findings.</p>\n", unlisted);
    }
    add_silenced(page);
    grout_text_add(page->out, "</section>\n");
}
