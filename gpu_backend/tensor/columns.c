/* columns.c - the columns of tensor memory that a kernel allocates, and where its arrays are in
 * them. SPDX-License-Identifier: Apache-2.0
 *
 * A kernel allocates once, at its start, and gives all back at its end, when the tensor core is
 * done with everything that it was given: the columns belong to another CTA then.
 */
#include "tensor.h"

#include "invariant.h"
#include "places.h"
#include "tmem.h"

#include <inttypes.h>

enum { LANES = 128, LANE_BITS = 16, HALF_LANES = 16, COLUMN_BITS = 32 };

/* ---- the kernel's ---------------------------------------------------------------------------- */

void grout_tensor__init_drain(grout_emitter *e) {
    grout_emit__line(e, "grout_mbarrier_init(smem + %" PRId64 ", %" PRId64 "); // all warps' end",
                     e->plan->tensor_offset,
                     FIELD(MBARRIER_COUNT, e->plan->lane_count / GROUT_WARP_LANES));
}

static int64_t get_place_of_address(const grout_emitter *e) {
    return e->plan->tensor_offset + 8;
}

uint32_t grout_tensor__get_group(const grout_emitter *e) {
    return 1 + (uint32_t)FIELD(TMEM_GROUP, e->plan->tensor_group - 1);
}

void grout_tensor__allocate(grout_emitter *e) {
    grout_emit__begin(e);
    grout_emit__add(e, "if (warp == 0)");
    grout_emit__open(e);
    grout_emit__line(e, "grout_tensor_allocate<%" PRIu32 ">(smem + %" PRId64 ", %" PRId64 ");",
                     grout_tensor__get_group(e), FIELD(TMEM_PLACE, get_place_of_address(e)),
                     FIELD(TMEM_ALLOCATED, e->plan->tensor_columns));
    grout_emit__close(e, "");
    grout_emit__line(e, "grout_tensor_fence_before();");
    if (e->plan->cluster_size > 1) { /* the start of a cluster publishes mbarriers alone */
        grout_emit__line(e, "grout_block_barrier();");
    }
}

void grout_tensor__take_columns(grout_emitter *e) {
    grout_emit__line(e, "grout_tensor_fence_after();");
    grout_emit__line(e, "const grout_u32 tmem = grout_load_smem<grout_u32>(smem + %" PRId64 ");",
                     get_place_of_address(e));
}

void grout_tensor__drain(grout_emitter *e) {
    grout_emit__begin(e);
    grout_emit__add(
        e, "grout_tensor_drain<%" PRIu32 ">(smem + %" PRId64 ", dog, {%" PRIu32 ", 0, %" PRIu32,
        grout_tensor__get_group(e), e->plan->tensor_offset, e->plan->barrier_count,
        grout_emit__get_line(e, e->kernel->loc));
    grout_emit__actor(e, "");
    grout_emit__end(e, "});");
}

void grout_tensor__free_columns(grout_emitter *e) {
    grout_emit__begin(e);
    grout_emit__add(e, "if (warp == 0)");
    grout_emit__open(e);
    grout_emit__line(e, "grout_tensor_free<%" PRIu32 ">(tmem, %" PRId64 ");",
                     grout_tensor__get_group(e), FIELD(TMEM_FREED, e->plan->tensor_columns));
    grout_emit__close(e, "");
}

/* ---- an array's ------------------------------------------------------------------------------ */

void grout_tensor__object(grout_emitter *e, grout_value_id value) {
    const grout_object_id object = grout_module_get_value(e->module, value)->object;
    const int64_t column = grout_tmem__get_column(e->module, object);
    grout_emit__begin(e);
    grout_emit__add(e, "const grout_u32 %s = tmem", grout_emit__name(e, value));
    if (column != 0) {
        grout_emit__add(e, " + %" PRId64, column);
    }
    grout_emit__add(e, "; // ");
    grout_type_print(grout_object_get_type(e->module, object), e->out);
    grout_emit__end(e, "%s", "");
}

bool grout_tensor__has_halves(const grout_module *module, grout_object_id object) {
    const grout_type *type = grout_object_get_type(module, object);
    return type->dims[type->rank - 2] == LANES / 2;
}

uint32_t grout_tensor__get_packing(const grout_module *module, grout_object_id id) {
    const grout_object *object = grout_module_get_object(module, id);
    const grout_type *type = grout_object_get_type(module, id);
    return object->is_packed || object->is_metadata
               ? (uint32_t)COLUMN_BITS / grout_dtype_get_info((grout_dtype)type->dtype)->bits
               : 1;
}

int64_t grout_tensor__count_slot_columns(const grout_module *module, grout_object_id id) {
    const grout_type *type = grout_object_get_type(module, id);
    const int64_t rows = type->dims[type->rank - 2], columns = type->dims[type->rank - 1];
    if (grout_module_get_object(module, id)->is_scales) {
        return columns * grout_tmem__count_scale_blocks(module, id);
    }
    return columns / grout_tensor__get_packing(module, id) * rows / LANES;
}

/* " + 12", " + (slot) * 128": a start of this many columns each. */
static void add_start(grout_emitter *e, const grout_view *view, uint32_t dim, int64_t columns) {
    if (view->start_term_count[dim] == 0) {
        if (view->start_const[dim] != 0) {
            grout_emit__add(e, " + %" PRId64, view->start_const[dim] * columns);
        }
        return;
    }
    grout_emit__add(e, " + (grout_u32)(");
    grout_emit__start(e, view, dim);
    grout_emit__add(e, ")");
    if (columns != 1) {
        grout_emit__add(e, " * %" PRId64, columns);
    }
}

/* Where a column of elements lies: in one of the halves, if there are two. */
static int64_t place_column(const grout_emitter *e, grout_object_id object, int64_t column) {
    const grout_type *type = grout_object_get_type(e->module, object);
    const int64_t packing = grout_tensor__get_packing(e->module, object);
    const int64_t half = type->dims[type->rank - 1] / 2;
    if (grout_module_get_object(e->module, object)->is_scales) {
        return column * grout_tmem__count_scale_blocks(e->module, object);
    }
    if (!grout_tensor__has_halves(e->module, object)) {
        return column / packing;
    }
    return column % half / packing + (column / half * HALF_LANES << LANE_BITS);
}

static void add_packing(grout_emitter *e, uint32_t packing) {
    if (packing > 1) {
        grout_emit__add(e, " / %" PRIu32, packing);
    }
}

/* The same of one that is known at run time. */
static void add_column(grout_emitter *e, const grout_view *view, int64_t skip) {
    const uint32_t dim = view->rank - 1u, number = view->start_term_count[dim];
    const grout_type *type = grout_object_get_type(e->module, view->object);
    const uint32_t packing = grout_tensor__get_packing(e->module, view->object);
    if (number == 0) {
        const int64_t place = place_column(e, view->object, view->start_const[dim] + skip);
        if (place != 0) {
            grout_emit__add(e, " + %" PRId64, place);
        }
        return;
    }
    grout_emit__add(e, " + ((grout_u32)(");
    grout_emit__start(e, view, dim);
    if (skip != 0) {
        grout_emit__add(e, ") + %" PRId64 ")", skip);
    } else {
        grout_emit__add(e, "))");
    }
    if (grout_module_get_object(e->module, view->object)->is_scales) {
        const int64_t blocks = grout_tmem__count_scale_blocks(e->module, view->object);
        if (blocks > 1) {
            grout_emit__add(e, " * %" PRId64, blocks);
        }
        return;
    }
    if (!grout_tensor__has_halves(e->module, view->object)) {
        add_packing(e, packing);
        return;
    }
    const int64_t half = type->dims[type->rank - 1] / 2;
    grout_emit__add(e, " %% %" PRId64, half);
    add_packing(e, packing);
    grout_emit__add(e, " + ((grout_u32)(");
    grout_emit__start(e, view, dim);
    grout_emit__add(e, ") + %" PRId64 ") / %" PRId64 " * %d", skip, half, HALF_LANES << LANE_BITS);
}

void grout_tensor__address(grout_emitter *e, const grout_view *view, int64_t skip) {
    const grout_type *type = grout_object_get_type(e->module, view->object);
    int64_t columns = grout_tensor__count_slot_columns(e->module, view->object);
    GROUT_ASSERT(view->rank == type->rank && view->rank >= 2);
    grout_emit__add(e, "%s", grout_emit__name(e, view->base));
    for (uint32_t dim = view->rank - 2u; dim-- > 0;) {
        add_start(e, view, dim, columns);
        columns *= type->dims[dim];
    }
    add_column(e, view, skip);
}
