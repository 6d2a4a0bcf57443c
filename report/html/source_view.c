/* source_view.c - the lines of the file. What a finding says of a line stands below it, and what
 * the run has not reached is marked beside it. SPDX-License-Identifier: Apache-2.0 */
#include "markup.h"
#include "view.h"

#include "grout-internal/tables.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* What is said of a byte; a higher one hides a lower one. */
typedef enum mark { MARK_NONE, MARK_RELATED, MARK_WARNING, MARK_ERROR } mark;

/* What the run did with a line, bits. */
enum { LINE_UNREACHED = 1, LINE_ONCE = 2, LINE_NEVER_ROUND = 4, LINE_NEVER_REFILLED = 8 };

/* What a finding says of a line; 0: the place is in no line of the file. */
typedef struct remark {
    int line;
    size_t order; /* among all that findings say */
    size_t finding;
    const char *class_name, *message;
} remark;

typedef struct source {
    const grout_page *page;
    uint8_t *marks; /* of each byte */
    uint8_t *flags; /* of each line, from 1 */
    int line_count;
    remark *remarks; /* by line */
    size_t remark_count;
    size_t next; /* the first that no line has had */
} source;

/* ---- what is known of bytes and lines ------------------------------------------------------- */

static void mark_place(source *it, const json_t *place, mark what) {
    int line = grout_facts__get_line(place, it->page->file);
    size_t first = (size_t)grout_facts__get_number(place, "column");
    size_t length = (size_t)grout_facts__get_number(place, "length"), size = 0;
    const char *at = grout_page__get_line(it->page, line, &size);
    for (size_t i = first; at != NULL && first > 0 && i < first + length && i <= size; i++) {
        uint8_t *byte = &it->marks[(size_t)(at - it->page->text) + i - 1];
        *byte = *byte > (uint8_t)what ? *byte : (uint8_t)what;
    }
}

static void mark_findings(source *it) {
    size_t i, k;
    const json_t *finding, *note;
    json_array_foreach(it->page->findings, i, finding) {
        bool is_error = strcmp(grout_page__get_class(finding), "error") == 0;
        mark_place(it, json_object_get(finding, "primary"), is_error ? MARK_ERROR : MARK_WARNING);
        mark_place(it, json_object_get(finding, "related"), MARK_RELATED);
        json_array_foreach(json_object_get(finding, "notes"), k, note) {
            mark_place(it, json_object_get(note, "place"), MARK_RELATED);
        }
    }
}

static void flag_line(source *it, json_int_t line, uint8_t flag) {
    if (line > 0 && line <= it->line_count) {
        it->flags[line] |= flag;
    }
}

/* The lines that declare the objects of these names. */
static void flag_objects(source *it, const json_t *kernel, const json_t *names, uint8_t flag) {
    const json_t *objects = json_object_get(json_object_get(kernel, "memory"), "objects");
    size_t i, k;
    const json_t *name, *object;
    json_array_foreach(names, i, name) {
        json_array_foreach(objects, k, object) {
            if (json_equal(json_object_get(object, "name"), name)) {
                const json_t *place = json_object_get(object, "place");
                flag_line(it, grout_facts__get_line(place, it->page->file), flag);
            }
        }
    }
}

static void flag_kernel(source *it, const json_t *kernel) {
    const json_t *reach = json_object_get(kernel, "not_reached");
    size_t i;
    const json_t *item;
    json_array_foreach(json_object_get(reach, "lines"), i, item) {
        json_int_t last = json_integer_value(json_array_get(item, 1));
        for (json_int_t line = json_integer_value(json_array_get(item, 0)); line <= last; line++) {
            flag_line(it, line, LINE_UNREACHED);
        }
    }
    json_array_foreach(json_object_get(reach, "loops_that_ran_once"), i, item) {
        flag_line(it, json_integer_value(item), LINE_ONCE);
    }
    flag_objects(it, kernel, json_object_get(reach, "barriers_that_never_came_round"),
                 LINE_NEVER_ROUND);
    flag_objects(it, kernel, json_object_get(reach, "buffers_never_filled_again"),
                 LINE_NEVER_REFILLED);
}

static bool init(source *it, const grout_page *page) {
    *it = (source){.page = page, .line_count = page->line_count};
    it->marks = calloc(page->size + 1, 1);
    it->flags = calloc((size_t)it->line_count + 2, 1);
    return it->marks != NULL && it->flags != NULL;
}

/* ---- a line --------------------------------------------------------------------------------- */

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The size of the token at text, and how it is shown; NULL: as it is. */
static size_t get_token(const char *text, size_t size, const char **class_out) {
    size_t length = 1;
    *class_out = NULL;
    if (size > 1 && text[0] == '/' && text[1] == '/') {
        *class_out = "comment";
        return size;
    }
    if (text[0] == '"') {
        while (length < size && text[length] != '"') {
            length++;
        }
        *class_out = "string";
        return length < size ? length + 1 : size;
    }
    if (!is_word(text[0]) && text[0] != '%' && text[0] != '@') {
        return 1;
    }
    while (length < size && is_word(text[length])) {
        length++;
    }
    *class_out = text[0] == '%'                                       ? "name"
                 : text[0] == '@'                                     ? "kernel-name"
                 : grout_op_find(text, length) != GROUT_OP_NONE       ? "op"
                 : grout_dtype_find(text, length) != GROUT_DTYPE_NONE ? "type"
                                                                      : NULL;
    return length;
}

/* A piece of a token that is marked alike. */
static void add_piece(const source *it, const char *text, size_t size, const char *class_name) {
    static const char *const opening[] = {
        [MARK_NONE] = "",
        [MARK_RELATED] = "<mark class=\"related\">",
        [MARK_WARNING] = "<mark class=\"warning\">",
        [MARK_ERROR] = "<mark class=\"error\">",
    };
    uint8_t what = it->marks[text - it->page->text];
    grout_text_add(it->page->out, "%s", opening[what]);
    if (class_name != NULL) {
        grout_text_add(it->page->out, "<span class=\"%s\">", class_name);
    }
    grout_markup__add_bytes(it->page->out, text, size);
    grout_text_add(it->page->out, "%s%s", class_name == NULL ? "" : "</span>",
                   what == MARK_NONE ? "" : "</mark>");
}

static void add_code(const source *it, const char *line, size_t size) {
    for (size_t i = 0; i < size;) {
        const char *class_name = NULL;
        const char *token = line + i;
        size_t length = get_token(token, size - i, &class_name), first = 0;
        const uint8_t *marks = it->marks + (token - it->page->text);
        for (size_t k = 1; k <= length; k++) {
            if (k == length || marks[k] != marks[first]) {
                add_piece(it, token + first, k - first, class_name);
                first = k;
            }
        }
        i += length;
    }
}

static void add_gutter(const source *it, int line) {
    static const struct {
        uint8_t flag;
        const char *sign, *words;
    } signs[] = {
        {LINE_UNREACHED, "\xe2\x97\x8b", "never ran"},
        {LINE_ONCE, "1\xc3\x97", "this loop ran once"},
        {LINE_NEVER_ROUND, "\xe2\x86\xba", "this barrier never came round again"},
        {LINE_NEVER_REFILLED, "\xe2\x86\xba", "this buffer was never filled again"},
    };
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        if ((it->flags[line] & signs[i].flag) != 0) {
            grout_markup__add(it->page->out,
                              "<span class=\"gutter\" role=\"img\" aria-label=\"%s\" "
                              "title=\"%s\">%s</span>",
                              signs[i].words, signs[i].words, signs[i].sign);
            return;
        }
    }
    grout_text_add(it->page->out, "<span class=\"gutter\"></span>");
}

/* ---- what findings say of a line ------------------------------------------------------------ */

static void add_remark(const source *it, const char *class_name, size_t finding,
                       const char *message) {
    grout_markup__add(it->page->out,
                      "<p class=\"remark %s\"><a href=\"#finding-%d\">%d</a> %s</p>\n", class_name,
                      (int)finding + 1, (int)finding + 1, message);
}

/* A line has those of one finding after those of an earlier one. */
static int compare_remarks(const void *a, const void *b) {
    const remark *x = a, *y = b;
    return x->line != y->line ? (x->line > y->line) - (x->line < y->line)
                              : (x->order > y->order) - (x->order < y->order);
}

static void note_remark(source *it, int line, size_t finding, const json_t *said,
                        const char *class_name) {
    it->remarks[it->remark_count] = (remark){.line = line,
                                             .order = it->remark_count,
                                             .finding = finding,
                                             .class_name = class_name,
                                             .message = grout_facts__get_text(said, "message")};
    it->remark_count++;
}

static void note_finding(source *it, size_t index, const json_t *finding) {
    int own = grout_facts__get_line(json_object_get(finding, "primary"), it->page->file);
    size_t i;
    const json_t *note;
    note_remark(it, own, index, finding, grout_page__get_class(finding));
    json_array_foreach(json_object_get(finding, "notes"), i, note) {
        int line = grout_facts__get_line(json_object_get(note, "place"), it->page->file);
        if (line != own) {
            note_remark(it, line, index, note, "related");
        }
    }
}

/* Once for all lines. False without memory. */
static bool note_remarks(source *it) {
    size_t i, count = 0;
    const json_t *finding;
    json_array_foreach(it->page->findings, i, finding) {
        count += 1 + json_array_size(json_object_get(finding, "notes"));
    }
    it->remarks = calloc(count + 1, sizeof *it->remarks);
    if (it->remarks == NULL) {
        return false;
    }
    json_array_foreach(it->page->findings, i, finding) {
        note_finding(it, i, finding);
    }
    qsort(it->remarks, it->remark_count, sizeof *it->remarks, compare_remarks);
    return true;
}

static void add_remarks(source *it, int line) {
    for (; it->next < it->remark_count && it->remarks[it->next].line <= line; it->next++) {
        const remark *own = &it->remarks[it->next];
        if (own->line == line) {
            add_remark(it, own->class_name, own->finding, own->message);
        }
    }
}

static void add_line(source *it, int line, const char *text, size_t size) {
    bool is_unreached = (it->flags[line] & LINE_UNREACHED) != 0;
    grout_markup__add(it->page->out, "<li id=\"L%d\" class=\"%s\"><div class=\"line\">", line,
                      is_unreached ? "unreached" : "reached");
    grout_markup__add(it->page->out, "<a class=\"number\" href=\"#L%d\">%d</a>", line, line);
    add_gutter(it, line);
    grout_text_add(it->page->out, "<code>");
    add_code(it, text, size);
    grout_text_add(it->page->out, "</code></div>\n");
    add_remarks(it, line);
    grout_text_add(it->page->out, "</li>\n");
}

/* ---- all lines ------------------------------------------------------------------------------ */

/* What the gutter says, and of which kernels nothing is known. */
static void add_legend(const source *it) {
    size_t i;
    const json_t *kernel;
    bool has_any = false;
    for (int line = 1; line <= it->line_count; line++) {
        has_any = has_any || it->flags[line] != 0;
    }
    if (has_any) {
        grout_text_add(
            it->page->out,
            "<p class=\"legend\">Beside the lines: \xe2\x97\x8b never ran; 1\xc3\x97 a loop "
            "that ran once; \xe2\x86\xba a barrier or a buffer that was used once.</p>\n");
    }
    json_array_foreach(it->page->kernels, i, kernel) {
        if (json_is_null(json_object_get(kernel, "not_reached"))) {
            grout_markup__add(
                it->page->out,
                "<p class=\"legend\">@%s: not known which lines ran, because %s.</p>\n",
                grout_facts__get_text(kernel, "kernel"),
                json_object_get(it->page->report, "sweep") == NULL
                    ? "the run did not come to its end"
                    : "not every size came to its end without an error");
        }
    }
}

static void add_lines(source *it) {
    const char *at = it->page->text, *end = at + it->page->size;
    grout_text_add(it->page->out, "<ol class=\"source\">\n");
    for (int line = 1; at < end; line++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop == NULL ? end : stop;
        add_line(it, line, at, (size_t)(stop - at));
        at = stop == end ? end : stop + 1;
    }
    grout_text_add(it->page->out, "</ol>\n");
}

void grout_page__add_source(const grout_page *page) {
    source it;
    size_t i;
    const json_t *kernel;
    grout_markup__add(page->out, "<section id=\"source\" aria-labelledby=\"source-title\">\n"
                                 "<h2 id=\"source-title\">Source</h2>\n");
    if (!init(&it, page) || !note_remarks(&it)) {
        page->out->failed = true;
    } else if (page->size > 0) {
        mark_findings(&it);
        json_array_foreach(page->kernels, i, kernel) {
            flag_kernel(&it, kernel);
        }
        add_legend(&it);
        add_lines(&it);
    } else {
        grout_text_add(page->out, "<p>There is no text.</p>\n");
    }
    free(it.marks);
    free(it.flags);
    free(it.remarks);
    grout_text_add(page->out, "</section>\n");
}
