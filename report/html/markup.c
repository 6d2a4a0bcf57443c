/* markup.c - text as HTML: the one place where a name of a kernel meets markup.
 * SPDX-License-Identifier: Apache-2.0 */
#include "markup.h"

#include "invariant.h"

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

/* A copy of a text without what would steer a page. */
static grout_text make_visible(const char *bytes, size_t size) {
    grout_text text = {0};
    grout_text_add_visible(&text, bytes, size,
                           GROUT_KEEP_TABS | GROUT_KEEP_LINES | GROUT_KEEP_COMMANDS);
    return text;
}

static void add_characters(grout_text *out, const char *bytes, size_t size) {
    for (size_t i = 0; i < size; i++) {
        const char *entity = get_entity(bytes[i]);
        grout_text_add_bytes(out, entity == NULL ? bytes + i : entity,
                             entity == NULL ? 1 : strlen(entity));
    }
}

void grout_markup__add_bytes(grout_text *out, const char *bytes, size_t size) {
    grout_text text = make_visible(bytes, size);
    out->failed |= text.failed;
    add_characters(out, text.data, text.failed ? 0 : text.size);
    grout_text_free(&text);
}

/* The bytes of at most max characters. */
static size_t measure(const grout_text *text, size_t max) {
    size_t size = 0;
    for (size_t count = 0; size < text->size; size++) {
        bool begins = ((unsigned char)text->data[size] & 0xc0) != 0x80;
        if (begins && count++ == max) {
            break;
        }
    }
    return size;
}

void grout_markup__add_short(grout_text *out, const char *text, size_t max) {
    grout_text whole = make_visible(text, strlen(text));
    out->failed |= whole.failed;
    if (!whole.failed) {
        bool is_short = measure(&whole, max) == whole.size;
        add_characters(out, whole.data, is_short ? whole.size : measure(&whole, max - 1));
        grout_text_add(out, "%s", is_short ? "" : "\xe2\x80\xa6");
    }
    grout_text_free(&whole);
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
