/*
 * bulk_plan.c - copies between GMEM and SMEM that need no tensor map: one run of bytes on both
 * sides (PTX ISA 9.1 'cp.async.bulk').
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bulk_plan.h"

#include "bound.h"
#include "type.h"

#define UNIT 16 /* bytes: of starts and sizes */

/* Whether the dimensions of the reference that have a length follow each other as in the object. */
static bool is_in_order(const grout_view *view) {
    for (uint32_t k = 0, last = 0; k < view->view_rank; k++) {
        const uint32_t dim = view->view_dim[k];
        if (view->extent[dim] > 1 && dim < last) {
            return false;
        }
        last = view->extent[dim] > 1 ? dim : last;
    }
    return true;
}

/* Whether a box of a row-major array is one run, wherever it starts: inside the outermost dimension
 * of which it takes several elements, all are whole. */
static bool is_one_run(const grout_view *view, const grout_type *array) {
    bool is_whole = true;
    for (uint32_t dim = view->rank; dim-- > 0;) {
        if (!is_whole && view->extent[dim] > 1) {
            return false;
        }
        is_whole = is_whole && view->extent[dim] == array->dims[dim];
    }
    return is_in_order(view);
}

/* The same of SMEM, whose layout may be tiled. Starts that the run knows are whole tiles. */
static bool is_one_piece(const grout_bulk_sides *sides) {
    const grout_view *view = sides->smem;
    int64_t start[GROUT_RANK_MAX];
    for (uint32_t dim = 0; dim < view->rank; dim++) {
        const int64_t size = grout_object_get_type(sides->module, view->object)->dims[dim];
        start[dim] = view->start_term_count[dim] > 0 ? 0 : view->start_const[dim];
        if (start[dim] < 0 || start[dim] + view->extent[dim] > size) {
            return false; /* a fault, which others report */
        }
    }
    return sides->smem_layout->swizzle == 0 &&
           grout_layout_get_pieces(sides->smem_layout, start, view->extent, view->order, NULL, 0) ==
               1;
}

/* Whether elements outside the array may be left as they come: then the whole run is copied, or as
 * much of it as the array has. */
static bool leaves_outside(const grout_bulk_sides *sides, int64_t array_bytes) {
    if (sides->oob == GROUT_CHOICE_OOB_UNDEFINED) {
        return array_bytes % UNIT == 0 &&
               grout_op_get_axes(sides->module, sides->op, GROUT_ATTR_MULTICAST) == 0;
    }
    return sides->oob == GROUT_CHOICE_OOB_IN_BOUNDS;
}

bool grout_bulk__is_possible(const grout_bulk_sides *sides) {
    const grout_module *module = sides->module;
    const grout_type *array = grout_object_get_type(module, sides->gmem->object);
    const int64_t element_bytes = grout_dtype_get_info((grout_dtype)array->dtype)->bytes;
    const grout_type box = grout_view__get_type(module, sides->gmem);
    return leaves_outside(sides, grout_type_get_count(array) * element_bytes) &&
           grout_type_get_count(&box) * element_bytes % UNIT == 0 &&
           grout_op_get_choice(module, sides->op, GROUT_ATTR_REDUCE) == GROUT_CHOICE_NONE &&
           grout_op_get_axes(module, sides->op, GROUT_ATTR_COLLECTIVE_AXES) == 0 &&
           is_one_run(sides->gmem, array) && is_one_piece(sides);
}

int64_t grout_bulk__get_known_start(const grout_view *gmem, const int64_t *strides) {
    int64_t start = 0;
    for (uint32_t dim = 0; dim < gmem->rank; dim++) {
        if (gmem->start_term_count[dim] > 0 && strides[dim] % UNIT != 0) {
            return 0;
        }
        start += gmem->start_const[dim] * strides[dim];
    }
    return start;
}
