/* type.c - bound types: count, equality, text.
 * SPDX-License-Identifier: Apache-2.0 */
#include "type.h"

#include <inttypes.h>
#include <stdio.h>

int64_t grout_type_get_count(const grout_type *type) {
    int64_t count = 1;
    for (uint32_t dim = 0; dim < type->rank; dim++) {
        count *= type->dims[dim];
    }
    return count;
}

bool grout_type__is_same_shape(const grout_type *a, const grout_type *b) {
    if (a->rank != b->rank) {
        return false;
    }
    for (uint32_t dim = 0; dim < a->rank; dim++) {
        if (a->dims[dim] != b->dims[dim]) {
            return false;
        }
    }
    return true;
}

bool grout_type_is_equal(const grout_type *a, const grout_type *b) {
    return a->kind == b->kind && a->dtype == b->dtype && a->space == b->space &&
           a->is_expanded == b->is_expanded && grout_type__is_same_shape(a, b);
}

/* Appends to a buffer that is large enough for every type. */
static void append(grout_type_text *text, size_t *size, const char *part) {
    while (*part != '\0' && *size + 1 < sizeof text->chars) {
        text->chars[(*size)++] = *part++;
    }
    text->chars[*size] = '\0';
}

static void append_dims(grout_type_text *text, size_t *size, const grout_type *type) {
    append(text, size, "[");
    for (uint32_t dim = 0; dim < type->rank; dim++) {
        char number[32];
        snprintf(number, sizeof number, "%s%" PRId64, dim == 0 ? "" : ", ", type->dims[dim]);
        append(text, size, number);
    }
    append(text, size, "]");
}

grout_type_text grout_type__get_text(const grout_type *type) {
    grout_type_text text = {{0}};
    size_t size = 0;
    switch ((grout_type_kind)type->kind) {
    case GROUT_TYPE_NONE:
        append(&text, &size, "unknown");
        break;
    case GROUT_TYPE_SCALAR:
        append(&text, &size, grout_dtype_get_info((grout_dtype)type->dtype)->text);
        break;
    case GROUT_TYPE_ARRAY:
        append(&text, &size, grout_dtype_get_info((grout_dtype)type->dtype)->text);
        append_dims(&text, &size, type);
        break;
    case GROUT_TYPE_REF:
        append(&text, &size, grout_space_get_text((grout_space)type->space));
        append(&text, &size, " ");
        append(&text, &size, grout_dtype_get_info((grout_dtype)type->dtype)->text);
        append_dims(&text, &size, type);
        append(&text, &size,
               !type->is_expanded                      ? ""
               : grout_space_is_of_launch(type->space) ? " packed"
                                                       : " padded");
        break;
    case GROUT_TYPE_BARRIER:
        append(&text, &size, "barrier");
        if (type->rank > 0) {
            append_dims(&text, &size, type);
        }
        break;
    case GROUT_TYPE_SEMAPHORE:
        append(&text, &size, "semaphore");
        if (type->rank > 0) {
            append_dims(&text, &size, type);
        }
        break;
    case GROUT_TYPE_DESCRIPTOR:
        append(&text, &size, "descriptor of ");
        append(&text, &size, grout_dtype_get_info((grout_dtype)type->dtype)->text);
        append_dims(&text, &size, type);
        break;
    }
    return text;
}

grout_type_text grout_type__get_shape_text(const grout_type *type) {
    grout_type_text text = {{0}};
    size_t size = 0;
    append_dims(&text, &size, type);
    return text;
}

void grout_type_print_element(const grout_type *type, int64_t element, grout_text *out) {
    int64_t index[GROUT_RANK_MAX] = {0};
    for (uint32_t dim = type->rank; dim-- > 0;) {
        index[dim] = element % type->dims[dim];
        element /= type->dims[dim];
    }
    for (uint32_t dim = 0; dim < type->rank; dim++) {
        grout_text_add(out, "%s%" PRId64, dim == 0 ? "[" : ", ", index[dim]);
    }
    grout_text_add(out, "%s", type->rank > 0 ? "]" : "");
}

void grout_type_print(const grout_type *type, grout_text *out) {
    grout_type_text text = grout_type__get_text(type);
    grout_text_add(out, "%s", text.chars);
}
