/* homes.c - which plane of a shadow the bytes of an object belong to.
 * SPDX-License-Identifier: Apache-2.0 */
#include "checker.h"

#include "alloc.h"
#include "invariant.h"

#include <stdlib.h>
#include <string.h>

/* Bytes from one row of elements to the next; all bytes where there are no plain rows. */
static uint64_t get_pitch(const grout_module *module, grout_object_id object) {
    const grout_layout *layout = grout_object_get_layout(module, object);
    const grout_type *type = grout_object_get_type(module, object);
    uint64_t size = (uint64_t)layout->bytes;
    uint64_t pitch = size;
    if (type->rank >= 2 && grout_layout_is_plain(layout)) {
        pitch = (uint64_t)grout_object_get_extent(module, object, type->rank - 1u) *
                layout->element_bytes;
    }
    return pitch ? pitch : 1;
}

static bool is_in_kernel(const grout_module *module, grout_kernel_id kernel,
                         grout_object_id object) {
    const grout_object *it = grout_module_get_object(module, object);
    const grout_value *value = grout_module_get_value(module, it->value);
    const grout_op *op = value->op ? grout_module_get_op(module, value->op) : NULL;
    return op && grout_module_get_block(module, op->parent)->kernel == kernel;
}

static void place_in_gmem(grout_checker *checker, grout_object_id object) {
    const grout_module *module = checker->info.module;
    uint64_t size = (uint64_t)grout_object_get_layout(module, object)->bytes;
    uint32_t plane = checker->memory.gmem.plane_count++;
    grout_shadow__set_plane(&checker->memory.gmem, plane, size, get_pitch(module, object));
    checker->homes[object].plane = plane + 1;
}

/* The array parameters that the kernel may write, and its scratch: one plane each. */
static bool place_gmem(grout_checker *checker) {
    const grout_module *module = checker->info.module;
    const grout_kernel *kernel = grout_module_get_kernel(module, checker->info.kernel);
    if (!grout_shadow__init(&checker->memory.gmem, checker->allocator,
                            grout_module_get_object_count(module))) {
        return false;
    }
    checker->memory.gmem.plane_count = 0;
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        const grout_param *param = grout_module_get_param(module, kernel, i);
        if (param->direction == GROUT_DIRECTION_OUT || param->direction == GROUT_DIRECTION_INOUT) {
            place_in_gmem(checker, param->object);
        }
    }
    for (grout_object_id i = 1; i < grout_module_get_object_count(module); i++) {
        const grout_object *object = grout_module_get_object(module, i);
        if (object->kind == GROUT_OBJECT_ARRAY && grout_space_is_of_launch(object->space) &&
            !checker->homes[i].plane && is_in_kernel(module, checker->info.kernel, i)) {
            place_in_gmem(checker, i);
        }
    }
    return true;
}

/* An array, and where it lies in its space. */
typedef struct placed_object {
    int64_t offset;
    grout_object_id object;
} placed_object;

static int compare_places(const void *a, const void *b) {
    const placed_object *x = a, *y = b;
    return x->offset != y->offset ? (x->offset > y->offset) - (x->offset < y->offset)
                                  : (x->object > y->object) - (x->object < y->object);
}

/* The arrays of the kernel in a space, the lowest first; the caller frees them. NULL without
 * memory. */
static placed_object *list_objects(const grout_checker *checker, grout_space space,
                                   uint32_t *count_out) {
    const grout_module *module = checker->info.module;
    const uint32_t all = grout_module_get_object_count(module);
    placed_object *list = grout__new(checker->allocator, all, sizeof *list);
    *count_out = 0;
    for (grout_object_id i = 1; list != NULL && i < all; i++) {
        const grout_object *object = grout_module_get_object(module, i);
        if (object->kind == GROUT_OBJECT_ARRAY && object->space == space &&
            is_in_kernel(module, checker->info.kernel, i)) {
            list[(*count_out)++] = (placed_object){grout_object_get_offset(module, i), i};
        }
    }
    if (list != NULL) {
        qsort(list, *count_out, sizeof *list, compare_places);
    }
    return list;
}

/* An array in tensor memory has a plane of its own. Two that take the same columns have them one
 * after the other, and what the first leaves in flight is a finding when the second begins
 * (lifetime.c). Its aliases lie in its plane, at the bytes of their cells. */
static void place_tensor(grout_checker *checker, const placed_object *list, uint32_t list_count) {
    const grout_module *module = checker->info.module;
    for (uint32_t at = 0; at < list_count; at++) {
        const grout_object_id i = list[at].object;
        const grout_object_id root = grout_object_get_root(module, i);
        if (!checker->homes[root].plane) {
            const uint32_t plane = checker->local_plane_count++;
            checker->local_plane_sizes[plane] =
                (uint64_t)grout_object_get_layout(module, root)->bytes;
            checker->local_plane_pitches[plane] = get_pitch(module, root);
            checker->homes[root].plane = plane + 1;
        }
        checker->homes[i].plane = checker->homes[root].plane;
        checker->homes[i].offset =
            grout_object_get_offset(module, i) - grout_object_get_offset(module, root);
    }
}

/* A CTA's objects of a space that share bytes, also through others, lie in one plane. */
static void place_local(grout_checker *checker, const placed_object *list, uint32_t list_count) {
    const grout_module *module = checker->info.module;
    int64_t start = 0, end = 0;
    const uint32_t first = checker->local_plane_count;
    uint32_t count = first;
    for (uint32_t at = 0; at < list_count; at++) {
        const grout_object_id i = list[at].object;
        int64_t offset = list[at].offset;
        int64_t size = grout_object_get_layout(module, i)->bytes;
        uint64_t pitch = get_pitch(module, i);
        GROUT_ASSERT(pitch > 0);
        if (count == first || offset >= end) {
            start = offset;
            end = offset + size;
            checker->local_plane_pitches[count++] = pitch;
        } else {
            bool fits = checker->local_plane_pitches[count - 1] == pitch &&
                        (uint64_t)(offset - start) % pitch == 0;
            end = offset + size > end ? offset + size : end;
            if (!fits) {
                checker->local_plane_pitches[count - 1] = 0; /* no rows in common */
            }
        }
        checker->local_plane_sizes[count - 1] = (uint64_t)(end - start);
        checker->homes[i].plane = count;
        checker->homes[i].offset = offset - start;
    }
    checker->local_plane_count = count;
    for (uint32_t i = first; i < count; i++) {
        if (!checker->local_plane_pitches[i]) {
            checker->local_plane_pitches[i] = checker->local_plane_sizes[i];
        }
    }
}

/* Accumulators: a plane for each thread's. Registers are no bytes that two objects could share. */
static void place_accumulators(grout_checker *checker) {
    const grout_module *module = checker->info.module;
    for (grout_object_id i = 1; i < grout_module_get_object_count(module); i++) {
        if (!grout_space_is_of_thread(grout_module_get_object(module, i)->space) ||
            !is_in_kernel(module, checker->info.kernel, i)) {
            continue;
        }
        checker->homes[i].plane = checker->local_plane_count + 1;
        for (uint32_t t = 0; t < checker->shape.thread_count; t++) {
            uint32_t plane = checker->local_plane_count++;
            checker->local_plane_sizes[plane] = (uint64_t)grout_object_get_layout(module, i)->bytes;
            checker->local_plane_pitches[plane] = get_pitch(module, i);
        }
    }
}

static bool place_space(grout_checker *checker, grout_space space) {
    uint32_t count = 0;
    placed_object *list = list_objects(checker, space, &count);
    const bool has_memory = list != NULL;
    if (has_memory && grout_space_needs_tensor_order(space)) {
        place_tensor(checker, list, count);
    } else if (has_memory) {
        place_local(checker, list, count);
    }
    grout__free(list);
    return has_memory;
}

bool grout_checker__place_objects(grout_checker *checker) {
    uint32_t count = grout_module_get_object_count(checker->info.module);
    size_t planes = (size_t)count * checker->shape.thread_count;
    checker->homes = grout__new(checker->allocator, count, sizeof *checker->homes);
    checker->local_plane_sizes =
        grout__new(checker->allocator, planes, sizeof *checker->local_plane_sizes);
    checker->local_plane_pitches =
        grout__new(checker->allocator, planes, sizeof *checker->local_plane_pitches);
    if (!checker->homes || !checker->local_plane_sizes || !checker->local_plane_pitches) {
        return false;
    }
    for (uint32_t i = checker->local_elements; i > 0; i--) {
        checker->homes[checker->info.element_objects[i - 1]].first_element = i - 1;
    }
    for (int space = 1; space < GROUT_SPACE_COUNT; space++) {
        bool is_local = grout_space_needs_tensor_order((uint32_t)space) ||
                        grout_space_is_of_cta((uint32_t)space);
        if (is_local && !place_space(checker, (grout_space)space)) {
            return false;
        }
    }
    place_accumulators(checker);
    return place_gmem(checker);
}
