/* change.c - applies a change, and says it in words.
 * SPDX-License-Identifier: Apache-2.0 */
#include "change.h"

#include "alloc.h"
#include "invariant.h"

#include <string.h>

bool grout_change__read(const grout_finding_edit *edit, grout_change *out) {
    *out = (grout_change){
        .kind = edit->is_replacement ? GROUT_CHANGE_REPLACE : GROUT_CHANGE_INSERT,
        .is_after = edit->is_after,
        .line = edit->place.line - 1,
        .column = edit->place.column > 0 ? edit->place.column - 1 : 0,
        .count = edit->place.length,
        .text = grout__copy(NULL, edit->text, strlen(edit->text)),
    };
    return out->text != NULL;
}

void grout_change__deinit(grout_change *change) {
    grout__free(change->text);
    change->text = NULL;
}

/* ---- the text ------------------------------------------------------------------------------- */

static void add_span(grout_span span, grout_text *out) {
    grout_text_add_bytes(out, span.data, span.size);
}

/* What is put beside a line is indented as it is; inside the block that a brace closes, a step
 * more. */
static void add_indent(const grout_line *beside, bool is_after, grout_text *out) {
    bool has_tabs = beside->indent > 0 && beside->whole.data[beside->indent - 1] == '\t';
    grout_text_add_bytes(out, beside->whole.data, beside->indent);
    if (!is_after && beside->code.size > 0 && beside->code.data[0] == '}') {
        grout_text_add(out, "%s", has_tabs ? "\t" : "  ");
    }
}

/* The last line of a file may have no end: then another line of the file says what an end is. */
static grout_span get_end(const grout_text_lines *lines, size_t line) {
    grout_span end = grout_line__get_end(&lines->items[line]);
    end = end.size == 0 ? grout_line__get_end(&lines->items[0]) : end;
    return end.size == 0 ? (grout_span){"\n", 1} : end;
}

static void add_lines(const grout_change *change, const grout_text_lines *lines, grout_text *out) {
    for (const char *text = change->text; text != NULL;) {
        const char *next = strchr(text, '\n');
        size_t size = next == NULL ? strlen(text) : (size_t)(next - text);
        add_indent(&lines->items[change->line], change->is_after, out);
        grout_text_add_bytes(out, text, size);
        add_span(get_end(lines, change->line), out);
        text = next == NULL ? NULL : next + 1;
    }
}

static void add_moved(const grout_change *change, const grout_text_lines *lines, grout_text *out) {
    grout_span whole = lines->items[change->from].whole;
    size_t indent = lines->items[change->from].indent;
    add_indent(&lines->items[change->line], false, out);
    grout_text_add_bytes(out, whole.data + indent, whole.size - indent);
}

static void add_replaced(const grout_change *change, grout_span whole, grout_text *out) {
    size_t rest = change->column + change->count;
    grout_text_add_bytes(out, whole.data, change->column);
    grout_text_add(out, "%s", change->text);
    grout_text_add_bytes(out, whole.data + rest, whole.size - rest);
}

bool grout_change__is_in(const grout_change *change, const grout_text_lines *lines) {
    if (change->line >= lines->count ||
        (change->kind == GROUT_CHANGE_MOVE && change->from >= lines->count)) {
        return false;
    }
    size_t size = lines->items[change->line].whole.size;
    return change->kind != GROUT_CHANGE_REPLACE ||
           (change->column <= size && change->count <= size - change->column);
}

/* A line with what the change makes of it, or puts beside it. */
static void add_line(const grout_change *change, const grout_text_lines *lines, size_t i,
                     grout_text *out) {
    const bool is_here = i == change->line;
    const grout_span whole = lines->items[i].whole;
    if (is_here && change->kind == GROUT_CHANGE_INSERT && !change->is_after) {
        add_lines(change, lines, out);
    }
    if (is_here && change->kind == GROUT_CHANGE_MOVE) {
        add_moved(change, lines, out);
    }
    if (is_here && change->kind == GROUT_CHANGE_REPLACE) {
        add_replaced(change, whole, out);
    } else if (!(is_here && change->kind == GROUT_CHANGE_REMOVE) &&
               !(i == change->from && change->kind == GROUT_CHANGE_MOVE)) {
        add_span(whole, out);
    }
    if (is_here && change->kind == GROUT_CHANGE_INSERT && change->is_after) {
        add_span(grout_line__get_end(&lines->items[i]).size == 0 ? get_end(lines, i)
                                                                 : (grout_span){"", 0},
                 out);
        add_lines(change, lines, out);
    }
}

bool grout_change__apply(const grout_change *change, const grout_text_lines *lines,
                         grout_text *out) {
    if (!grout_change__is_in(change, lines)) {
        return false;
    }
    for (size_t i = 0; i < lines->count; i++) {
        add_line(change, lines, i, out);
    }
    return !out->failed;
}

void grout_changes__apply(const grout_change *const *changes, size_t count,
                          const grout_text_lines *lines, grout_text *out) {
    for (size_t i = 0; i < lines->count; i++) {
        const grout_change *next = count > 0 ? changes[count - 1] : NULL;
        if (next != NULL && next->line == i) {
            GROUT_ASSERT(next->kind == GROUT_CHANGE_INSERT || next->kind == GROUT_CHANGE_REPLACE);
            add_line(next, lines, i, out);
            count--;
        } else {
            add_span(lines->items[i].whole, out);
        }
    }
    GROUT_ASSERT(count == 0);
}

static size_t count_lines(const char *text) {
    size_t count = 1;
    for (; *text != '\0'; text++) {
        count += *text == '\n' ? 1u : 0u;
    }
    return count;
}

size_t grout_change__map(const grout_change *change, size_t line) {
    switch (change->kind) {
    case GROUT_CHANGE_INSERT:
        return line + (line >= change->line + (change->is_after ? 1u : 0u)
                           ? count_lines(change->text)
                           : 0u);
    case GROUT_CHANGE_MOVE:
        if (line == change->from) {
            return change->line - (change->from < change->line ? 1u : 0u);
        }
        return line + (line >= change->line ? 1u : 0u) - (line > change->from ? 1u : 0u);
    case GROUT_CHANGE_REPLACE:
        return line;
    case GROUT_CHANGE_REMOVE:
        return line - (line > change->line ? 1u : 0u);
    }
    return line;
}

/* ---- words ---------------------------------------------------------------------------------- */

static void add_quoted_lines(const char *text, grout_text *out) {
    const char *separator = "'";
    while (text != NULL) {
        const char *next = strchr(text, '\n');
        grout_text_add(out, "%s", separator);
        grout_text_add_bytes(out, text, next == NULL ? strlen(text) : (size_t)(next - text));
        text = next == NULL ? NULL : next + 1;
        separator = "' and '";
    }
    grout_text_add(out, "'");
}

static void add_code(const grout_line *line, grout_text *out) {
    grout_text_add(out, "'");
    add_span(line->code, out);
    grout_text_add(out, "'");
}

void grout_change__describe(const grout_change *change, const grout_text_lines *lines,
                            grout_text *out) {
    if (!grout_change__is_in(change, lines)) {
        return;
    }
    const grout_line *line = &lines->items[change->line];
    switch (change->kind) {
    case GROUT_CHANGE_INSERT:
        grout_text_add(out, "insert ");
        add_quoted_lines(change->text, out);
        grout_text_add(out, " %s line %zu", change->is_after ? "after" : "before",
                       change->line + 1);
        break;
    case GROUT_CHANGE_MOVE:
        grout_text_add(out, "move ");
        add_code(&lines->items[change->from], out);
        grout_text_add(out, " from line %zu before line %zu", change->from + 1, change->line + 1);
        break;
    case GROUT_CHANGE_REPLACE:
        if (change->count == 0) { /* a word more, with the blank in front of it */
            grout_text_add(out, "add '%s' to line %zu", change->text + 1, change->line + 1);
            break;
        }
        grout_text_add(out,
                       change->text[0] == '\0' ? "in line %zu take out '%s"
                                               : "in line %zu write '%s' in the place of '",
                       change->line + 1, change->text);
        grout_text_add_bytes(out, line->whole.data + change->column, change->count);
        grout_text_add(out, "'");
        break;
    case GROUT_CHANGE_REMOVE:
        grout_text_add(out, "remove ");
        add_code(line, out);
        grout_text_add(out, " at line %zu", change->line + 1);
        break;
    }
}
