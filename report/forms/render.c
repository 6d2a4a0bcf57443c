/* render.c - a diagnostic as a terminal shows it, or as an annotation of a workflow.
 * SPDX-License-Identifier: Apache-2.0 */
#include "summary.h"
#include "wrap.h"

#include <string.h>

/* Escapes a value of a workflow command: its data, or (is_property) one of its properties. */
static void add_escaped(grout_text *out, const char *text, bool is_property) {
    grout_text shown = {0};
    grout_text_add_visible(&shown, text, strlen(text),
                           is_property ? GROUT_KEEP_NOTHING : GROUT_KEEP_LINES | GROUT_KEEP_TABS);
    out->failed |= shown.failed;
    for (const char *c = shown.failed ? "" : shown.data; *c != '\0'; c++) {
        bool is_special =
            *c == '%' || *c == '\r' || *c == '\n' || (is_property && (*c == ':' || *c == ','));
        if (is_special) {
            grout_text_add(out, "%%%02X", (unsigned char)*c);
        } else {
            grout_text_add_bytes(out, c, 1);
        }
    }
    grout_text_free(&shown);
}

/* ::error file=..,line=..,col=..,title=..::message */
static void begin_annotation(const char *word, grout_place place, const char *title,
                             const char *message, grout_text *out) {
    grout_text_add(out, "::%s ", word);
    if (place.file != NULL) {
        grout_text_add(out, "file=");
        add_escaped(out, place.file, true);
        grout_text_add(out, ",line=%u,col=%u,endColumn=%u,", place.line, place.column,
                       place.column + place.length);
    }
    grout_text_add(out, "title=%s::", title);
    add_escaped(out, message, false);
}

void grout_reporter__annotate(grout_place place, const char *title, const char *message,
                              grout_text *out) {
    begin_annotation("error", place, title, message, out);
    grout_text_add(out, "\n");
}

static void add_annotation(const grout_diag *diag, grout_text *out) {
    begin_annotation(diag->severity == GROUT_SEVERITY_ERROR     ? "error"
                     : diag->severity == GROUT_SEVERITY_WARNING ? "warning"
                                                                : "notice",
                     diag->place, grout_diag_get(diag->code)->text, diag->message, out);
    for (uint32_t i = 0; i < diag->note_count; i++) {
        const grout_note *note = &diag->notes[i];
        grout_text_add(out, "%%0A");
        if (note->place.file != NULL) {
            add_escaped(out, note->place.file, false);
            grout_text_add(out, ":%u: ", note->place.line);
        }
        add_escaped(out, note->message, false);
    }
    grout_text_add(out, "\n");
}

void grout_reporter__render(const grout_session *session, const grout_diag *diag,
                            grout_stream stream, grout_text *out) {
    if (session->is_github) {
        add_annotation(diag, out);
    } else {
        grout_render_options options = grout_session__get_look(session, stream);
        grout_diag_render(diag, session->diags, &options, out);
    }
}

void grout_reporter__take_lines(const grout_render_options *look, grout_text *lines,
                                grout_text *out) {
    out->failed |= lines->failed;
    if (lines->data != NULL) {
        grout_wrap__add_lines(out, lines->data, 4, look == NULL ? 0 : look->width);
    }
    grout_text_free(lines);
}

void grout_reporter__add_line(const grout_session *session, const char *line, grout_text *out) {
    if (session->is_github && out->size > 0) {
        out->data[--out->size] = '\0'; /* an annotation is one line */
        grout_text_add(out, "%%0A");
        add_escaped(out, line, false);
        grout_text_add(out, "\n");
    } else {
        grout_text_add(out, "  ");
        grout_wrap__add(out, line, 2, "      ",
                        grout_session__get_look(session, GROUT_STREAM_OUT).width);
        grout_text_add(out, "\n");
    }
}
