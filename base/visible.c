/* visible.c - makes visible what would steer a terminal, a page or the log of a workflow.
 * SPDX-License-Identifier: Apache-2.0 */
#include "visible.h"

#include "invariant.h"
#include "utf8.h"

#include <stdio.h>
#include <string.h>

/* ---- characters ----------------------------------------------------------------------------- */

static uint32_t decode(const char *bytes, size_t size) {
    static const uint8_t first[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t code = (unsigned char)bytes[0] & first[size];
    for (size_t i = 1; i < size; i++) {
        code = code << 6 | ((unsigned char)bytes[i] & 0x3f);
    }
    return code;
}

/* Controls, what turns the direction of writing, and what other programs take for the end of a
 * line. */
static bool steers(uint32_t code) {
    static const uint32_t ranges[][2] = {
        {0x00, 0x1f},     {0x7f, 0x9f},     {0x61c, 0x61c},
        {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x2069},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        if (code >= ranges[i][0] && code <= ranges[i][1]) {
            return true;
        }
    }
    return false;
}

static void show_code(uint32_t code, char shown[GROUT_SHOWN_SIZE]) {
    switch (code) {
    case '\n':
        memcpy(shown, "\\n", sizeof "\\n");
        break;
    case '\r':
        memcpy(shown, "\\r", sizeof "\\r");
        break;
    case '\t':
        memcpy(shown, "\\t", sizeof "\\t");
        break;
    default:
        (void)snprintf(shown, GROUT_SHOWN_SIZE, code < 0x80 ? "\\x%02x" : "\\u%04x",
                       (unsigned)code);
    }
}

/* ---- what is more than one character -------------------------------------------------------- */

/* The bytes of the colour that begins here, ESC [ .. m, or 0. */
static size_t get_color_size(const char *bytes, size_t size) {
    size_t at = 2;
    if (size < 3 || bytes[0] != '\033' || bytes[1] != '[') {
        return 0;
    }
    while (at < size && (bytes[at] == ';' || (bytes[at] >= '0' && bytes[at] <= '9'))) {
        at++;
    }
    return at < size && bytes[at] == 'm' ? at + 1 : 0;
}

/* Whether the text may be read as a command with the byte at: '::' where a word begins, as the
 * runner of a workflow skips what is blank before it; '##[' and '##word[' anywhere. */
static bool completes_command(const char *text, size_t size, size_t at) {
    if (at == 0 || text[at] != text[at - 1]) {
        return false;
    }
    if (text[at] == ':') {
        return at == 1 || text[at - 2] <= ' ' || text[at - 2] > '~';
    }
    size_t end = at + 1;
    while (end < size && ((text[end] | 0x20) >= 'a' && (text[end] | 0x20) <= 'z')) {
        end++;
    }
    return end < size && text[end] == '[';
}

/* ---- pieces --------------------------------------------------------------------------------- */

size_t grout_visible__step(const char *text, size_t size, size_t at, uint32_t keep,
                           char shown[GROUT_SHOWN_SIZE]) {
    GROUT_ASSERT(at < size);
    unsigned char byte = (unsigned char)text[at];
    size_t length = grout_utf8__length(text + at, size - at);
    shown[0] = '\0';
    if (length == 0) {
        (void)snprintf(shown, GROUT_SHOWN_SIZE, "\\x%02x", byte);
        return 1;
    }
    if ((byte == '#' || byte == ':') && (keep & GROUT_KEEP_COMMANDS) == 0 &&
        completes_command(text, size, at)) {
        show_code(byte, shown);
        return 1;
    }
    bool ends_line = byte == '\n' || (byte == '\r' && at + 1 < size && text[at + 1] == '\n');
    if ((ends_line && (keep & GROUT_KEEP_LINES) != 0) ||
        (byte == '\t' && (keep & GROUT_KEEP_TABS) != 0)) {
        return 1;
    }
    size_t color = (keep & GROUT_KEEP_COLORS) != 0 ? get_color_size(text + at, size - at) : 0;
    uint32_t code = decode(text + at, length);
    if (color == 0 && steers(code)) {
        show_code(code, shown);
    }
    return color > 0 ? color : length;
}

void grout_text_add_visible(grout_text *text, const char *bytes, size_t size, uint32_t keep) {
    size_t plain = 0; /* from here on, bytes are as they were */
    for (size_t at = 0; at < size;) {
        char shown[GROUT_SHOWN_SIZE];
        size_t step = grout_visible__step(bytes, size, at, keep, shown);
        if (shown[0] != '\0') {
            grout_text_add_bytes(text, bytes + plain, at - plain);
            grout_text_add_bytes(text, shown, strlen(shown));
            plain = at + step;
        }
        at += step;
    }
    grout_text_add_bytes(text, size > 0 ? bytes + plain : "", size - plain);
}

/* Adds lines, all but the first with a mark. */
static void add_marked(grout_text *out, const char *text, size_t size, const char *mark) {
    for (size_t at = 0; at < size;) {
        const char *newline = memchr(text + at, '\n', size - at);
        size_t end = newline == NULL ? size : (size_t)(newline - text);
        grout_text_add_visible(out, text + at, end - at, GROUT_KEEP_TABS);
        if (newline != NULL) {
            grout_text_add(out, "\n%s", mark);
        }
        at = end + 1;
    }
    grout_text_add_bytes(out, "", 0);
}

void grout_visible__add_print(grout_text *out, const char *text, size_t size) {
    add_marked(out, text, size, "  | ");
}

void grout_visible__add_message(grout_text *out, const char *message) {
    add_marked(out, message, strlen(message), "| ");
}
