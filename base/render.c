/* render.c - diagnostics as a terminal shows them: the line, and carets under it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "grout/diag.h"

#include "diag_list.h"
#include "utf8.h"

#include <string.h>

/* The bytes that are shown of a longer line, LEFT_MAX of them before the caret. */
enum { SHOWN_MAX = 160, LEFT_MAX = 60 };

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD, for what no terminal should get */

typedef struct line_window {
    const char *bytes;
    size_t size;        /* of the whole line */
    size_t from, to;    /* what is shown of it */
    size_t caret, span; /* first byte under the carets, bytes under them (inside the window) */
} line_window;

static const char *get_color(const grout_render_options *options, const char *code) {
    return options != NULL && options->color ? code : "";
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

static const char *get_severity_color(grout_severity severity) {
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

/* The line that a place names, without its end. */
static bool find_line(const grout_diag_source *source, uint32_t line, line_window *out) {
    const char *at = source->text;
    const char *end = source->text + source->size;
    for (uint32_t n = 1; n < line; n++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        if (newline == NULL) {
            return false;
        }
        at = newline + 1;
    }
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    out->bytes = at;
    out->size = (size_t)((newline != NULL ? newline : end) - at);
    if (out->size > 0 && at[out->size - 1] == '\r') {
        out->size--;
    }
    return true;
}

static bool is_continuation(char byte) {
    return ((unsigned char)byte & 0xc0) == 0x80;
}

/* Cuts a long line down to a window around the caret, at the bounds of characters. */
static void choose_window(line_window *line, const grout_place *place) {
    line->caret = place->column > 0 ? place->column - 1 : 0;
    if (line->caret > line->size) {
        line->caret = line->size;
    }
    line->from = 0;
    line->to = line->size;
    if (line->size > SHOWN_MAX) {
        line->from = line->caret > LEFT_MAX ? line->caret - LEFT_MAX : 0;
        line->to = line->size - line->from > SHOWN_MAX ? line->from + SHOWN_MAX : line->size;
    }
    while (line->from > 0 && line->from < line->size && is_continuation(line->bytes[line->from])) {
        line->from--;
    }
    while (line->to < line->size && is_continuation(line->bytes[line->to])) {
        line->to++;
    }
    size_t room = line->to - line->caret;
    line->span = place->length > room ? room : place->length;
}

/* Bytes of the character at, which is not more than the line holds; 0: show a replacement. */
static size_t get_character_size(const line_window *line, size_t at) {
    size_t size = grout_utf8__length(line->bytes + at, line->size - at);
    unsigned char byte = (unsigned char)line->bytes[at];
    bool is_control = (byte < 0x20 && byte != '\t') || byte == 0x7f;
    return is_control ? 0 : size;
}

static void render_source_line(const line_window *line, grout_text *out) {
    grout_text_add(out, "  %s", line->from > 0 ? "..." : "");
    for (size_t at = line->from; at < line->to;) {
        size_t size = get_character_size(line, at);
        if (size > 0) {
            grout_text_add_bytes(out, line->bytes + at, size);
        } else {
            grout_text_add(out, "%s", replacement);
        }
        at += size > 0 ? size : 1;
    }
    grout_text_add(out, "%s\n", line->to < line->size ? "..." : "");
}

/* Blanks up to the caret, then carets. Tabs are repeated, so the caret is right for any tab width.
 */
static void render_carets(const line_window *line, const char *color, const char *reset,
                          grout_text *out) {
    grout_text_add(out, "  %s", line->from > 0 ? "   " : "");
    size_t at = line->from;
    while (at < line->caret) {
        size_t size = get_character_size(line, at);
        grout_text_add_bytes(out, line->bytes[at] == '\t' ? "\t" : " ", 1);
        at += size > 0 ? size : 1;
    }
    grout_text_add(out, "%s^", color);
    at = line->caret;
    for (bool is_first = true; at < line->caret + line->span; is_first = false) {
        size_t size = get_character_size(line, at);
        if (!is_first) {
            grout_text_add_bytes(out, "~", 1);
        }
        at += size > 0 ? size : 1;
    }
    grout_text_add(out, "%s\n", reset);
}

static void render_place_line(const grout_place *place, const grout_diags *diags,
                              const grout_render_options *options, grout_text *out) {
    const grout_diag_source *source =
        diags != NULL ? grout_diags__find_source(diags, place->file) : NULL;
    line_window line = {0};
    if (source == NULL || place->line == 0 || !find_line(source, place->line, &line)) {
        return;
    }
    choose_window(&line, place);
    render_source_line(&line, out);
    render_carets(&line, get_color(options, "\033[1;32m"), get_color(options, "\033[0m"), out);
}

static void render_place(const grout_place *place, const grout_render_options *options,
                         grout_text *out) {
    if (place->file == NULL) {
        return;
    }
    grout_text_add(out, "%s%s:", get_color(options, "\033[1m"), place->file);
    if (place->line > 0) {
        grout_text_add(out, "%u:", (unsigned)place->line);
    }
    if (place->line > 0 && place->column > 0) {
        grout_text_add(out, "%u:", (unsigned)place->column);
    }
    grout_text_add(out, "%s ", get_color(options, "\033[0m"));
}

static void render_note(const grout_note *note, const grout_diags *diags,
                        const grout_render_options *options, grout_text *out) {
    bool is_help = note->severity == GROUT_SEVERITY_ADVICE;
    render_place(&note->place, options, out);
    grout_text_add(out, "%s%s:%s %s\n", get_color(options, get_severity_color(note->severity)),
                   is_help ? "help" : get_severity_text(note->severity),
                   get_color(options, "\033[0m"), note->message);
    render_place_line(&note->place, diags, options, out);
}

void grout_diag_render(const grout_diag *diag, const grout_diags *diags,
                       const grout_render_options *options, grout_text *out) {
    render_place(&diag->place, options, out);
    grout_text_add(out, "%s%s:%s %s [%s]\n", get_color(options, get_severity_color(diag->severity)),
                   get_severity_text(diag->severity), get_color(options, "\033[0m"), diag->message,
                   grout_diag_get(diag->code)->text);
    render_place_line(&diag->place, diags, options, out);
    for (uint32_t i = 0; i < diag->note_count; i++) {
        render_note(&diag->notes[i], diags, options, out);
    }
}

void grout_diags_render(const grout_diags *diags, const grout_render_options *options,
                        grout_text *out) {
    for (uint32_t i = 0; i < diags->count; i++) {
        if (diags->items[i].severity != GROUT_SEVERITY_OFF) {
            grout_diag_render(&diags->items[i], diags, options, out);
        }
    }
    uint64_t dropped = diags->total - diags->count;
    if (dropped > 0) {
        grout_text_add(out, "%llu more not shown (at most %d are)\n", (unsigned long long)dropped,
                       GROUT_DIAGS_MAX);
    }
}
