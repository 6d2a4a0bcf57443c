/* building.c - what the files of the builder share: its state, the first mistake, names and texts.
 * SPDX-License-Identifier: Apache-2.0 */
#include "builder.h"

#include "lexer.h"
#include "utf8.h"

#include <string.h>

bool grout_builder__is_ok(grout_builder *b) {
    if (b == NULL) {
        return false;
    }
    if (b->module == NULL) {
        return grout_builder__error(b, "the builder is used after its end");
    }
    b->has_failed = b->has_failed || b->module->failed;
    return !b->has_failed;
}

bool grout_builder__error(grout_builder *b, const char *format, ...) {
    if (b != NULL && !b->has_failed) {
        va_list arguments;
        va_start(arguments, format);
        const grout_place place = b->module != NULL ? grout_module_get_place(b->module, b->loc)
                                                    : (grout_place){.file = NULL};
        (void)grout_diags_add_list(b->diags, GROUT_DIAG_BUILDER, place, format, arguments);
        va_end(arguments);
        if (b->module != NULL) {
            grout_module_note_callers(b->module, b->loc, b->diags);
        }
        b->has_failed = true;
    }
    return false;
}

bool grout_builder__is_in_kernel(grout_builder *b) {
    return b->kernel != 0 || grout_builder__error(b, "this is for the inside of a kernel");
}

grout_string_id grout_builder__name(grout_builder *b, const char *name, const char *what) {
    size_t size = name != NULL ? strlen(name) : 0;
    bool is_number = size > 0 && size <= GROUT_NAME_MAX && strspn(name, "0123456789") == size;
    bool may_be_number = strcmp(what, "a value") == 0;
    if (!grout_lexer__is_name(name, size) && !(is_number && may_be_number)) {
        (void)grout_builder__error(b, "'%.64s' cannot name %s", size > 0 ? name : "", what);
        return 0;
    }
    return grout_module__intern(b->module, name, size);
}

grout_string_id grout_builder__string(grout_builder *b, const char *text) {
    size_t size = text != NULL ? strlen(text) : 0;
    for (size_t at = 0; at < size;) {
        size_t length = grout_utf8__length(text + at, size - at);
        bool is_control = ((unsigned char)text[at] < 0x20 && strchr("\n\t", text[at]) == NULL) ||
                          text[at] == 0x7f;
        if (length == 0 || is_control) {
            (void)grout_builder__error(b, "a text is not UTF-8, or has control characters");
            return 0;
        }
        at += length;
    }
    return grout_module__intern(b->module, text, size);
}

bool grout_builder__name_values(grout_builder *b, grout_value_id first, uint32_t count,
                                const char *const *names) {
    for (uint32_t i = 0; i < count; i++) {
        if (names == NULL || names[i] == NULL) {
            continue;
        }
        grout_string_id name = grout_builder__name(b, names[i], "a value");
        if (name == 0) {
            return false;
        }
        GROUT_TABLE_AT(b->module->values, grout_value, first + i)->name = name;
    }
    return true;
}
