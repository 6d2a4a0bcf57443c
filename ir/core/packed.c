/* packed.c - element types of which several fill a byte of memory, and what such arrays take.
 * SPDX-License-Identifier: Apache-2.0 */
#include "bound.h"

#include <string.h>

int64_t grout_type_get_bytes(const grout_type *type) {
    const grout_dtype_info *info = grout_dtype_get_info((grout_dtype)type->dtype);
    const int64_t count = grout_type_get_count(type);
    if (type->is_expanded) {
        return grout_space_is_of_launch(type->space) ? count * info->bits / 8 : count;
    }
    return count / info->packed * info->bytes;
}

bool grout_object__is_expanded(const grout_object *object) {
    return object->kind == GROUT_OBJECT_ARRAY &&
           (object->is_padded || (object->is_packed && grout_space_is_of_launch(object->space)));
}

uint8_t grout_object__get_packed(const grout_object *object) {
    return grout_object__is_expanded(object)
               ? 1
               : grout_dtype_get_info((grout_dtype)object->type.dtype)->packed;
}

uint8_t grout_type_get_packed(const grout_type *type) {
    return type->is_expanded ? 1 : grout_dtype_get_info((grout_dtype)type->dtype)->packed;
}

uint64_t grout_dtype_get_pattern(grout_dtype dtype, uint64_t element) {
    return grout_dtype_get_info(dtype)->packed == 2 ? element | element << 4 : element;
}

void grout_element_put(grout_dtype dtype, void *memory, int64_t index, const void *element) {
    const grout_dtype_info *info = grout_dtype_get_info(dtype);
    uint8_t *to = memory;
    if (info->packed == 1) {
        memcpy(to + index * info->bytes, element, info->bytes);
        return;
    }
    const uint8_t low = *(const uint8_t *)element & 15u;
    to[index / 2] = index % 2 == 0 ? low : (uint8_t)(to[index / 2] | (unsigned)low << 4);
}

void grout_element_get(grout_dtype dtype, const void *memory, int64_t index, void *element_out) {
    const grout_dtype_info *info = grout_dtype_get_info(dtype);
    const uint8_t *from = memory;
    if (info->packed == 1) {
        memcpy(element_out, from + index * info->bytes, info->bytes);
        return;
    }
    *(uint8_t *)element_out = (uint8_t)(from[index / 2] >> (index % 2 == 0 ? 0 : 4)) & 15u;
}

void grout_elements_pack(grout_dtype dtype, const void *elements, void *memory, int64_t count) {
    const grout_dtype_info *info = grout_dtype_get_info(dtype);
    const uint8_t *from = elements;
    uint8_t *to = memory;
    if (info->packed == 1) {
        memmove(to, from, (size_t)count * info->bytes);
        return;
    }
    for (int64_t i = 0; i < count / 2; i++) {
        to[i] = (uint8_t)((from[2 * i] & 15u) | (unsigned)from[2 * i + 1] << 4);
    }
}

void grout_elements_unpack(grout_dtype dtype, const void *memory, void *elements, int64_t count) {
    const grout_dtype_info *info = grout_dtype_get_info(dtype);
    const uint8_t *from = memory;
    uint8_t *to = elements;
    if (info->packed == 1) {
        memmove(to, from, (size_t)count * info->bytes);
        return;
    }
    for (int64_t i = count / 2; i-- > 0;) { /* from the end: both may start at one place */
        const uint8_t byte = from[i];
        to[2 * i + 1] = (uint8_t)(byte >> 4);
        to[2 * i] = byte & 15u;
    }
}

/* Bits of neighbours follow each other, from the low bits of a byte on. */
static bool is_bit_after_bit(const grout_type *type) {
    return type->is_expanded && grout_space_is_of_launch(type->space);
}

void grout_type_put_element(const grout_type *type, void *memory, int64_t index,
                            const void *element) {
    if (!is_bit_after_bit(type)) {
        grout_element_put((grout_dtype)type->dtype, memory, index, element);
        return;
    }
    const uint8_t bits = grout_dtype_get_info((grout_dtype)type->dtype)->bits;
    const int64_t at = index * bits;
    const uint32_t shift = (uint32_t)(at % 8);
    const uint32_t value = (*(const uint8_t *)element & ((1u << bits) - 1)) << shift;
    uint8_t *to = (uint8_t *)memory + at / 8;
    to[0] = (uint8_t)(shift == 0 ? value : to[0] | value);
    if (shift + bits > 8) {
        to[1] = (uint8_t)(value >> 8);
    }
}

void grout_type_get_element(const grout_type *type, const void *memory, int64_t index,
                            void *element_out) {
    if (!is_bit_after_bit(type)) {
        grout_element_get((grout_dtype)type->dtype, memory, index, element_out);
        return;
    }
    const uint8_t bits = grout_dtype_get_info((grout_dtype)type->dtype)->bits;
    const int64_t at = index * bits;
    const uint32_t shift = (uint32_t)(at % 8);
    const uint8_t *from = (const uint8_t *)memory + at / 8;
    const uint32_t both = from[0] | (shift + bits > 8 ? (uint32_t)from[1] << 8 : 0);
    *(uint8_t *)element_out = (uint8_t)(both >> shift & ((1u << bits) - 1));
}

int64_t grout_object_get_extent(const grout_module *module, grout_object_id id, uint32_t dim) {
    const grout_type *type = grout_object_get_type(module, id);
    const uint8_t packed = grout_type_get_packed(type);
    const bool is_packed = packed > 1 && dim + 1u == type->rank && type->kind == GROUT_TYPE_REF;
    return is_packed ? type->dims[dim] / packed : type->dims[dim];
}

int64_t grout_view_get_term_divisor(const grout_view *view, uint32_t dim) {
    return dim + 1u == view->rank && view->packed > 1 ? view->packed : 1;
}

int64_t grout_view_get_count(const grout_view *view) {
    int64_t count = view->packed > 1 ? view->packed : 1;
    for (uint32_t dim = 0; dim < view->rank; dim++) {
        count *= view->extent[dim];
    }
    return count;
}

grout_view_fault grout_view__pack(const grout_module *module, grout_view *view) {
    const grout_type *type = &module->bound->object_types[view->object];
    const uint8_t packed = grout_type_get_packed(type);
    view->packed = 1;
    if (packed <= 1 || type->kind != GROUT_TYPE_REF) {
        return GROUT_VIEW_FINE;
    }
    const uint32_t last = view->rank - 1u;
    if (view->view_rank == 0 || view->is_squeezed[last]) {
        return GROUT_VIEW_PACKED_ONE;
    }
    if (view->extent[last] % packed != 0 || view->start_const[last] % packed != 0) {
        return GROUT_VIEW_PACKED_PART;
    }
    view->packed = packed;
    view->extent[last] /= packed;
    view->start_const[last] /= packed;
    return view->view_dim[view->view_rank - 1] == last ? GROUT_VIEW_FINE : GROUT_VIEW_PACKED_ORDER;
}
