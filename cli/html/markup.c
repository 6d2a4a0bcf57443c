/* markup.c - text as HTML: the one place where a name of a kernel meets markup.
 * SPDX-License-Identifier: Apache-2.0 */
#include "markup.h"

#include "invariant.h"
#include "utf8.h"

#include <jansson.h>
#include <string.h>

static const char *get_entity(char c) {
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

/* Control characters are none of a page's, nor is DEL. */
static bool is_control(const char *at, size_t size) {
    unsigned char c = (unsigned char)at[0];
    bool is_c1 = size == 2 && c == 0xc2 && (unsigned char)at[1] < 0xa0;
    return (c < 0x20 && c != '\t' && c != '\n') || c == 0x7f || is_c1;
}

/* Appends a character; returns how many bytes it takes. */
static size_t add_character(grout_text *out, const char *at, size_t left) {
    size_t size = grout_utf8__get_size(at, left);
    const char *entity = get_entity(at[0]);
    if (size == 0 || is_control(at, size)) {
        grout_text_add(out, "%s", GROUT_UTF8_BAD);
    } else if (entity != NULL) {
        grout_text_add(out, "%s", entity);
    } else {
        grout_text_add_bytes(out, at, size);
    }
    return size == 0 ? 1 : size;
}

void grout_markup__add_bytes(grout_text *out, const char *bytes, size_t size) {
    for (size_t i = 0; i < size;) {
        i += add_character(out, bytes + i, size - i);
    }
}

void grout_markup__add_short(grout_text *out, const char *text, size_t max) {
    size_t left = strlen(text), count = 0;
    while (left > 0) {
        size_t size = grout_utf8__get_size(text, left);
        size = size == 0 ? 1 : size;
        if (++count == max && left > size) {
            grout_text_add(out, "\xe2\x80\xa6");
            return;
        }
        (void)add_character(out, text, left);
        text += size;
        left -= size;
    }
}

void grout_markup__add(grout_text *out, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    while (*format != '\0') {
        size_t plain = strcspn(format, "%");
        grout_text_add_bytes(out, format, plain);
        format += plain;
        if (*format == '\0') {
            break;
        }
        if (format[1] == 's') {
            const char *text = va_arg(arguments, const char *);
            grout_markup__add_bytes(out, text, strlen(text));
        } else if (format[1] == 'd') {
            grout_text_add(out, "%d", va_arg(arguments, int));
        } else {
            GROUT_ASSERT(format[1] == '%');
            grout_text_add(out, "%%");
        }
        format += 2;
    }
    va_end(arguments);
}

/* ---- facts ---------------------------------------------------------------------------------- */

const char *grout_facts__get_text(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text == NULL ? "" : text;
}

int grout_facts__get_number(const json_t *object, const char *key) {
    return (int)json_integer_value(json_object_get(object, key));
}

int grout_facts__get_line(const json_t *place, const char *file) {
    return strcmp(grout_facts__get_text(place, "file"), file) == 0
               ? grout_facts__get_number(place, "line")
               : 0;
}
