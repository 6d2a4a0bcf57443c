/* render.c - diagnostics as a terminal shows them: the headline, the lines that it speaks of, the
 * rest. SPDX-License-Identifier: Apache-2.0 */
#include "grout-internal/diagnose.h"

#include "diag_list.h"
#include "snippet.h"
#include "visible.h"
#include "wrap.h"

#include <string.h>

static const char indent[] = "      ";

/* A diagnostic on its way to the text. */
typedef struct renderer {
    const grout_diags *diags; /* of the sources; may be NULL */
    const grout_render_options *options;
    grout_text *out;
} renderer;

static const char *get_color(const renderer *it, const char *code) {
    return it->options != NULL && it->options->color ? code : "";
}

static size_t get_width(const renderer *it) {
    return it->options != NULL ? it->options->width : 0;
}

static const char *get_severity_text(grout_severity severity) {
    switch (severity) {
    case GROUT_SEVERITY_ERROR:
        return "error";
    case GROUT_SEVERITY_WARNING:
        return "warning";
    case GROUT_SEVERITY_ADVICE:
        return "advice";
    case GROUT_SEVERITY_NOTE:
        return "note";
    case GROUT_SEVERITY_OFF:
        return "off";
    }
    return "";
}

static const grout_diag_source *find_source(const renderer *it, const grout_place *place) {
    return it->diags != NULL && place->file != NULL && place->line > 0
               ? grout_diags__find_source(it->diags, place->file)
               : NULL;
}

/* ---- lines of text ---- */

/* "FILE:LINE:COLUMN: "; returns its columns. */
static size_t add_place(const renderer *it, const grout_place *place) {
    if (place->file == NULL) {
        return 0;
    }
    grout_text text = {.allocator = it->out->allocator};
    grout_text_add_visible(&text, place->file, strlen(place->file), GROUT_KEEP_NOTHING);
    grout_text_add(&text, ":");
    if (place->line > 0) {
        grout_text_add(&text, "%u:", (unsigned)place->line);
    }
    if (place->line > 0 && place->column > 0) {
        grout_text_add(&text, "%u:", (unsigned)place->column);
    }
    const char *bytes = text.data != NULL ? text.data : "";
    size_t columns = grout_wrap__count_columns(bytes) + 1;
    grout_text_add(it->out, "%s%s%s ", get_color(it, "\033[1m"), bytes, get_color(it, "\033[0m"));
    grout_text_free(&text);
    return columns;
}

/* "error: " and the message, from a column on. */
static void add_message(const renderer *it, grout_severity severity, const char *word,
                        const char *message, size_t column) {
    grout_text_add(it->out, "%s%s:%s ", get_color(it, grout_severity__get_color(severity)), word,
                   get_color(it, "\033[0m"));
    grout_text shown = {.allocator = it->out->allocator};
    grout_visible__add_message(&shown, message);
    it->out->failed |= shown.failed;
    if (!shown.failed) {
        grout_wrap__add(it->out, shown.data, column + strlen(word) + 2, indent, get_width(it));
    }
    grout_text_free(&shown);
    grout_text_add(it->out, "\n");
}

/* ---- notes ---- */

/* A note that stands by itself: with its line, if it has a place. */
static void render_note(const renderer *it, const grout_note *note, const grout_place *primary,
                        size_t gutter) {
    const grout_diag_source *source = find_source(it, &note->place);
    bool is_elsewhere = note->place.file != NULL && (source == NULL || primary->file == NULL ||
                                                     strcmp(note->place.file, primary->file) != 0);
    size_t column = 2;
    grout_text_add(it->out, "  ");
    if (is_elsewhere) {
        column += add_place(it, &note->place);
    }
    bool is_help = note->severity == GROUT_SEVERITY_ADVICE;
    add_message(it, note->severity, is_help ? "help" : get_severity_text(note->severity),
                note->message, column);
    if (source != NULL) {
        const grout_mark mark = {&note->place, NULL, note->severity};
        grout_snippet__render(source, &mark, 1, gutter, it->options, it->out);
    }
}

/* Whether a note is shown beside the primary place: it has a place in the same source. */
static bool is_beside(const renderer *it, const grout_diag *diag, const grout_note *note) {
    return note->place.file != NULL && find_source(it, &note->place) != NULL &&
           find_source(it, &note->place) == find_source(it, &diag->place);
}

/* The primary place and the notes beside it; 1 if these are too many for one look. */
static uint32_t collect_marks(const renderer *it, const grout_diag *diag,
                              grout_mark marks[GROUT_MARKS_MAX]) {
    uint32_t count = 1;
    marks[0] = (grout_mark){&diag->place, NULL, diag->severity};
    for (uint32_t i = 0; i < diag->note_count; i++) {
        const grout_note *note = &diag->notes[i];
        if (!is_beside(it, diag, note)) {
            continue;
        }
        if (count == GROUT_MARKS_MAX) {
            marks[0].text = NULL;
            return 1;
        }
        bool is_primary = note->place.line == diag->place.line && marks[0].text == NULL &&
                          note->place.column == diag->place.column;
        if (is_primary) {
            marks[0].text = note->message;
        } else {
            marks[count++] = (grout_mark){&note->place, note->message, note->severity};
        }
    }
    return count;
}

static bool is_marked(const grout_mark *marks, uint32_t count, const grout_note *note) {
    for (uint32_t i = 0; i < count; i++) {
        if (marks[i].text == note->message) {
            return true;
        }
    }
    return false;
}

static size_t get_gutter(const grout_diag *diag) {
    const grout_mark primary = {&diag->place, NULL, diag->severity};
    size_t gutter = grout_snippet__get_gutter(&primary, 1);
    for (uint32_t i = 0; i < diag->note_count; i++) {
        const grout_mark mark = {&diag->notes[i].place, NULL, GROUT_SEVERITY_NOTE};
        size_t own = grout_snippet__get_gutter(&mark, 1);
        gutter = own > gutter ? own : gutter;
    }
    return gutter;
}

void grout_diag_render(const grout_diag *diag, const grout_diags *diags,
                       const grout_render_options *options, grout_text *out) {
    const renderer it = {diags, options, out};
    const grout_diag_source *source = find_source(&it, &diag->place);
    grout_mark marks[GROUT_MARKS_MAX];
    uint32_t count = collect_marks(&it, diag, marks);
    size_t gutter = get_gutter(diag);
    grout_text message = {.allocator = out->allocator};
    grout_text_add(&message, "%s [%s]", diag->message, grout_diag_get(diag->code)->text);
    size_t column = add_place(&it, &diag->place);
    add_message(&it, diag->severity, get_severity_text(diag->severity),
                message.data != NULL ? message.data : diag->message, column);
    grout_text_free(&message);
    if (source != NULL) {
        grout_snippet__render(source, marks, count, gutter, options, out);
    }
    for (uint32_t i = 0; i < diag->note_count; i++) {
        if (source == NULL || !is_marked(marks, count, &diag->notes[i])) {
            render_note(&it, &diag->notes[i], &diag->place, gutter);
        }
    }
}

void grout_diags_render(const grout_diags *diags, const grout_render_options *options,
                        grout_text *out) {
    for (uint32_t i = 0; i < diags->count; i++) {
        if (diags->items[i].severity != GROUT_SEVERITY_OFF) {
            grout_diag_render(&diags->items[i], diags, options, out);
            grout_text_add(out, "\n");
        }
    }
    uint64_t dropped = diags->total - diags->count;
    if (dropped > 0) {
        grout_text_add(out, "%llu more not shown (at most %d are)\n", (unsigned long long)dropped,
                       GROUT_DIAGS_MAX);
    }
}
