/* snippet.c - lines of a source with marks under them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "snippet.h"

#include "invariant.h"
#include "visible.h"
#include "wrap.h"

#include <string.h>

/* The bytes that are shown of a longer line, if the terminal's width says nothing else; and, where
 * the beginning is left out, those before the caret. */
enum { SHOWN_MAX = 160, SHOWN_MIN = 40, LEFT_MAX = 60 };

typedef struct line_window {
    const char *bytes;
    size_t size;        /* of the whole line */
    size_t from, to;    /* what is shown of it */
    size_t caret, span; /* first byte under the carets, bytes under them (inside the window) */
    uint32_t number;    /* 0: there is none */
} line_window;

const char *grout_severity__get_color(grout_severity severity) {
    switch (severity) {
    case GROUT_SEVERITY_ERROR:
        return "\033[1;31m";
    case GROUT_SEVERITY_WARNING:
        return "\033[1;35m";
    case GROUT_SEVERITY_ADVICE:
        return "\033[1;32m";
    case GROUT_SEVERITY_NOTE:
    case GROUT_SEVERITY_OFF:
        break;
    }
    return "\033[1;36m";
}

/* The size of a line without the comments that say what a test expects of it. They are for the
 * test, not for the reader of a report. */
static size_t measure(const char *bytes, size_t size) {
    static const char start[] = "// expect-";
    const size_t length = sizeof start - 1;
    size_t end = 0;
    while (end + length <= size && memcmp(bytes + end, start, length) != 0) {
        end++;
    }
    if (end + length > size) {
        return size;
    }
    while (end > 0 && bytes[end - 1] == ' ') {
        end--;
    }
    return end > 0 ? end : size;
}

/* The line that a place names, without its end. */
static bool find_line(const grout_diag_source *source, uint32_t line, line_window *out) {
    out->bytes = grout_line_starts__find(&source->text->lines, line, &out->size);
    if (out->bytes == NULL) {
        return false;
    }
    out->number = line;
    if (out->size > 0 && out->bytes[out->size - 1] == '\r') {
        out->size--;
    }
    out->size = measure(out->bytes, out->size);
    return true;
}

static bool is_continuation(char byte) {
    return ((unsigned char)byte & 0xc0) == 0x80;
}

/* A piece of a line: its bytes; what is shown, or "" for itself; its columns. */
typedef struct piece {
    size_t size, columns;
    char shown[GROUT_SHOWN_SIZE];
} piece;

static piece get_piece(const line_window *line, size_t at) {
    piece it;
    it.size = grout_visible__step(line->bytes, line->size, at, GROUT_KEEP_TABS, it.shown);
    it.columns = it.shown[0] == '\0' ? 1 : strlen(it.shown);
    return it;
}

static size_t count_columns(const line_window *line, size_t from, size_t to) {
    size_t columns = 0;
    for (size_t at = from; at < to;) {
        const piece it = get_piece(line, at);
        columns += it.columns;
        at += it.size;
    }
    return columns;
}

/* Cuts the window further where what is shown takes more columns than the line has bytes; the caret
 * stays in it. */
static void narrow_window(line_window *line, size_t most) {
    size_t columns = count_columns(line, line->from, line->caret);
    size_t left = most / 2 < LEFT_MAX ? most / 2 : LEFT_MAX;
    bool is_cut = columns + count_columns(line, line->caret, line->to) > most;
    while (is_cut && line->from < line->caret && columns > left) {
        const piece it = get_piece(line, line->from);
        line->from += it.size;
        columns -= it.columns;
    }
    columns = 0;
    for (size_t at = line->from; at < line->to;) {
        const piece it = get_piece(line, at);
        columns += it.columns;
        if (columns > most && at > line->caret) {
            line->to = at;
            break;
        }
        at += it.size;
    }
}

/* Cuts a line that is longer than 'most' bytes down to a window around the caret, at the bounds of
 * characters. */
static void choose_window(line_window *line, size_t most) {
    line->from = 0;
    line->to = line->size;
    if (line->size > most) {
        size_t left = most / 2 < LEFT_MAX ? most / 2 : LEFT_MAX;
        size_t last = line->size - most; /* where the end of the line is the end of what is shown */
        line->from = line->caret > left ? line->caret - left : 0;
        line->from = line->from > last ? last : line->from;
        line->to = line->size - line->from > most ? line->from + most : line->size;
    }
    while (line->from > 0 && line->from < line->size && is_continuation(line->bytes[line->from])) {
        line->from--;
    }
    while (line->to < line->size && is_continuation(line->bytes[line->to])) {
        line->to++;
    }
    narrow_window(line, most);
}

/* Whether the line holds the byte under the first caret. */
static bool find_caret(line_window *line, const grout_place *place) {
    line->caret = place->column > 0 ? place->column - 1 : 0;
    if (line->caret > line->size) {
        line->caret = line->size;
    }
    return line->caret >= line->from && line->caret <= line->to;
}

static void add_blanks(grout_text *out, size_t count) {
    while (count-- > 0) {
        grout_text_add_bytes(out, " ", 1);
    }
}

/* "   31 | "; line 0: without a number. */
static void add_gutter(grout_text *out, size_t gutter, uint32_t line) {
    size_t digits = 0;
    for (uint32_t rest = line; rest > 0; rest /= 10) {
        digits++;
    }
    add_blanks(out, 2 + gutter - digits);
    if (line > 0) {
        grout_text_add(out, "%u", (unsigned)line);
    }
    grout_text_add(out, " | ");
}

static void add_source_line(const line_window *line, grout_text *out) {
    grout_text_add(out, "%s", line->from > 0 ? "..." : "");
    for (size_t at = line->from; at < line->to;) {
        const piece it = get_piece(line, at);
        grout_text_add_bytes(out, it.shown[0] == '\0' ? line->bytes + at : it.shown,
                             it.shown[0] == '\0' ? it.size : it.columns);
        at += it.size;
    }
    grout_text_add(out, "%s\n", line->to < line->size ? "..." : "");
}

/* Blanks up to the caret, or something else as wide as the characters of the line. Tabs are
 * repeated, so the caret is right for any tab width. Returns the columns. */
static size_t add_lead(const line_window *line, grout_text *out) {
    size_t columns = line->from > 0 ? 3 : 0;
    add_blanks(out, columns);
    for (size_t at = line->from; at < line->caret;) {
        const piece it = get_piece(line, at);
        if (line->bytes[at] == '\t') {
            grout_text_add_bytes(out, "\t", 1);
        } else {
            add_blanks(out, it.columns);
        }
        columns += it.columns;
        at += it.size;
    }
    return columns;
}

/* The caret and the rest of what it marks; is_again: they stand one line above. Returns the
 * columns. */
static size_t add_carets(const line_window *line, bool is_again, grout_text *out) {
    size_t end = line->caret + line->span;
    size_t columns = line->span == 0 ? 1 : count_columns(line, line->caret, end);
    for (size_t i = 0; i < columns; i++) {
        grout_text_add(out, is_again ? " " : i == 0 ? "^" : "~");
    }
    return columns;
}

/* ---- marks ---- */

typedef struct snippet {
    const grout_diag_source *source;
    const grout_render_options *options;
    size_t gutter, width;
    grout_text *out;
} snippet;

static const char *get_color(const snippet *it, const char *code) {
    return it->options != NULL && it->options->color ? code : "";
}

enum { LABEL_MIN = 36 }; /* columns that a text has after the carets; else it stands below them */

/* What is said of the mark, from a column on. */
static void add_label(const snippet *it, const grout_mark *mark, size_t column) {
    grout_text indent = {.allocator = it->out->allocator};
    bool is_below = it->width > 0 && column + LABEL_MIN > it->width;
    add_blanks(&indent, it->gutter + 2);
    grout_text_add(&indent, " | ");
    add_blanks(&indent, is_below ? 4 : column - (it->gutter + 5));
    if (is_below) {
        grout_text_add(it->out, "\n%s", indent.data != NULL ? indent.data : "");
        column = it->gutter + 9;
    } else {
        grout_text_add(it->out, " ");
    }
    grout_text label = {.allocator = it->out->allocator};
    grout_visible__add_message(&label, mark->text);
    it->out->failed |= label.failed || indent.failed;
    if (!it->out->failed) {
        grout_wrap__add(it->out, label.data, column, indent.data, it->width);
    }
    grout_text_free(&label);
    grout_text_free(&indent);
}

/* Bytes of a line that there is room for: a terminal would break a longer one above its carets. */
static size_t get_shown_max(const snippet *it) {
    size_t taken = it->gutter + 5 + 6; /* what stands before it, and ... at both ends */
    size_t room = it->width > taken + SHOWN_MIN ? it->width - taken : SHOWN_MIN;
    return it->width == 0 || room > SHOWN_MAX ? SHOWN_MAX : room;
}

/* shown: the line that stands above; before: the mark under it, NULL: it is of another line. */
static void add_mark(const snippet *it, const grout_mark *mark, const grout_mark *before,
                     line_window *shown) {
    bool is_again = before != NULL && before->place->column == mark->place->column &&
                    before->place->length == mark->place->length;
    if (before == NULL || shown->number != mark->place->line || !find_caret(shown, mark->place)) {
        *shown = (line_window){0};
        if (!find_line(it->source, mark->place->line, shown)) {
            return;
        }
        (void)find_caret(shown, mark->place);
        choose_window(shown, get_shown_max(it));
        add_gutter(it->out, it->gutter, mark->place->line);
        add_source_line(shown, it->out);
    }
    size_t room = shown->to - shown->caret;
    shown->span = mark->place->length > room ? room : mark->place->length;
    add_gutter(it->out, it->gutter, 0);
    size_t column = it->gutter + 5 + add_lead(shown, it->out);
    grout_text_add(it->out, "%s", get_color(it, grout_severity__get_color(mark->severity)));
    column += add_carets(shown, is_again, it->out);
    grout_text_add(it->out, "%s", get_color(it, "\033[0m"));
    if (mark->text != NULL) {
        add_label(it, mark, column + 1);
    }
    grout_text_add(it->out, "\n");
}

static int compare_marks(const grout_mark *a, const grout_mark *b) {
    if (a->place->line != b->place->line) {
        return a->place->line < b->place->line ? -1 : 1;
    }
    return 0;
}

size_t grout_snippet__get_gutter(const grout_mark *marks, uint32_t count) {
    size_t gutter = 3;
    for (uint32_t i = 0; i < count; i++) {
        size_t digits = 0;
        for (uint32_t rest = marks[i].place->line; rest > 0; rest /= 10) {
            digits++;
        }
        gutter = digits > gutter ? digits : gutter;
    }
    return gutter;
}

void grout_snippet__render(const grout_diag_source *source, const grout_mark *marks, uint32_t count,
                           size_t gutter, const grout_render_options *options, grout_text *out) {
    const snippet it = {source, options, gutter, options != NULL ? options->width : 0, out};
    const grout_mark *order[GROUT_MARKS_MAX];
    line_window shown = {0};
    GROUT_ASSERT(count <= GROUT_MARKS_MAX);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = i;
        for (; at > 0 && compare_marks(order[at - 1], &marks[i]) > 0; at--) {
            order[at] = order[at - 1];
        }
        order[at] = &marks[i];
    }
    for (uint32_t i = 0; i < count; i++) {
        bool has_line = i > 0 && order[i - 1]->place->line == order[i]->place->line;
        if (i > 0 && !has_line && order[i - 1]->place->line + 1 < order[i]->place->line) {
            add_blanks(out, 2);
            grout_text_add(out, "...\n");
        }
        add_mark(&it, order[i], has_line ? order[i - 1] : NULL, &shown);
    }
}
