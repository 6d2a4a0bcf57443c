/*
 * describe.c - bytes and origins in the words of the text format, or of another surface.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "grout-internal/observe.h"

#include "grout-internal/text.h"

#include <inttypes.h>

/* The part of an object that some bytes touch. */
typedef struct grout_extent {
    int64_t low[GROUT_RANK_MAX], high[GROUT_RANK_MAX];
} grout_extent;

static void include_index(grout_extent *extent, const int64_t *index, uint32_t rank) {
    for (uint32_t dim = 0; dim < rank; dim++) {
        extent->low[dim] = index[dim] < extent->low[dim] ? index[dim] : extent->low[dim];
        extent->high[dim] = index[dim] > extent->high[dim] ? index[dim] : extent->high[dim];
    }
}

/*
 * The smallest box around a range of bytes. In a plain layout the first dimension in which the ends
 * differ says how far the inner ones reach; any other is small (SMEM): all elements are looked at.
 */
static grout_extent find_extent(const grout_layout *layout, const int64_t *dims, int64_t first,
                                int64_t last) {
    grout_extent extent;
    int64_t index[GROUT_RANK_MAX], end[GROUT_RANK_MAX];
    grout_layout_get_index(layout, first, index);
    for (uint32_t dim = 0; dim < layout->rank; dim++) {
        extent.low[dim] = extent.high[dim] = index[dim];
    }
    if (!grout_layout_is_plain(layout)) {
        for (int64_t at = first; at <= last; at += layout->element_bytes) {
            grout_layout_get_index(layout, at, index);
            include_index(&extent, index, layout->rank);
        }
        return extent;
    }
    bool differs = false;
    grout_layout_get_index(layout, last, end);
    for (uint32_t dim = 0; dim < layout->rank; dim++) {
        extent.low[dim] = differs ? 0 : index[dim];
        extent.high[dim] = differs ? dims[dim] - 1 : end[dim];
        differs |= index[dim] != end[dim];
    }
    return extent;
}

void grout_describe_bytes(const grout_module *bound, grout_object_id object, int64_t offset,
                          int64_t length, grout_text *out) {
    const grout_object *written = grout_module_get_object(bound, object);
    const grout_value *value = grout_module_get_value(bound, written->value);
    const grout_type *type = grout_object_get_type(bound, object);
    grout_name_print(bound, value->name, out);
    if (written->kind == GROUT_OBJECT_BARRIER) {
        grout_type_print_element(type, offset / 8, out);
        return;
    }
    const grout_layout *layout = grout_object_get_layout(bound, object);
    if (layout->rank == 0) {
        return;
    }
    int64_t first = offset / layout->element_bytes * layout->element_bytes;
    int64_t last =
        (offset + (length > 0 ? length : 1) - 1) / layout->element_bytes * layout->element_bytes;
    int64_t dims[GROUT_RANK_MAX] = {0};
    for (uint32_t dim = 0; dim < layout->rank; dim++) {
        dims[dim] = grout_object_get_extent(bound, object, dim);
    }
    grout_extent extent = find_extent(layout, dims, first, last);
    const uint8_t packed = grout_type_get_packed(type);
    extent.low[layout->rank - 1] *= packed; /* the elements in the bytes */
    extent.high[layout->rank - 1] = extent.high[layout->rank - 1] * packed + packed - 1;
    for (uint32_t dim = 0; dim < layout->rank; dim++) {
        grout_text_add(out, "%s%" PRId64, dim == 0 ? "[" : ", ", extent.low[dim]);
        if (extent.high[dim] > extent.low[dim]) {
            grout_text_add(out, ":%" PRId64, extent.high[dim] + 1);
        }
    }
    grout_text_add(out, "]");
}

/* The axes of one kind with the indices that a linear number means: "x=1, y=0". */
static uint32_t describe_axes(const grout_module *bound, grout_kernel_id id, grout_axis_kind kind,
                              int64_t linear, grout_text *out) {
    const grout_kernel *kernel = grout_module_get_kernel(bound, id);
    int64_t inner = 1;
    uint32_t count = 0;
    for (uint32_t i = 0; i < kernel->axis_count; i++) {
        inner *= kernel->axes[i].kind == kind ? grout_kernel_get_axis_size(bound, id, i) : 1;
    }
    for (uint32_t i = 0; i < kernel->axis_count; i++) {
        if (kernel->axes[i].kind == kind) {
            int64_t size = grout_kernel_get_axis_size(bound, id, i);
            inner /= size;
            grout_text_add(out, "%s%s=%" PRId64, count++ > 0 ? ", " : "",
                           grout_module_get_string(bound, kernel->axes[i].name),
                           linear / inner % size);
        }
    }
    return count;
}

static uint32_t count_axes(const grout_module *bound, grout_kernel_id id, grout_axis_kind kind) {
    const grout_kernel *kernel = grout_module_get_kernel(bound, id);
    uint32_t count = 0;
    for (uint32_t i = 0; i < kernel->axis_count; i++) {
        count += kernel->axes[i].kind == kind;
    }
    return count;
}

static bool is_loop(const grout_op *op) {
    return grout_op_get_region_kind(op) == GROUT_REGION_LOOP;
}

/* The index of a for; of a while, which has none, the turn, counted from 0 like one. In Python no
 * index has a name that its author would know. */
static void describe_turn(const grout_module *bound, const grout_op *loop, int32_t turn,
                          grout_text *out) {
    const grout_block *body = grout_module_get_block(bound, loop->first_block);
    const uint32_t line = grout_module_get_place(bound, loop->loc).line;
    if (grout_op_get_region((grout_opcode)loop->opcode)->lead_args == 0) {
        grout_text_add(out, ", turn %" PRId32 " of the while at line %" PRIu32, turn, line);
        return;
    }
    if (grout_module_get_surface(bound) == GROUT_SURFACE_PALLAS) {
        grout_text_add(out, ", index %" PRId32 " of the loop at line %" PRIu32, turn, line);
        return;
    }
    const grout_value *index = grout_module_get_value(bound, body->first_arg);
    grout_text_add(out, ", %%%s=%" PRId32, grout_module_get_string(bound, index->name), turn);
}

/* The loops around an op, outermost first, as far as the origin keeps their indices. */
static void describe_loops(const grout_module *bound, const grout_origin *origin, grout_text *out) {
    grout_op_id loops[GROUT_ORIGIN_LOOPS];
    uint32_t depth = origin->loop_depth;
    grout_op_id id = origin->op;
    while (id != 0 && depth > 0) {
        const grout_op *op = grout_module_get_op(bound, id);
        id = op->parent == 0 ? 0 : grout_module_get_block(bound, op->parent)->parent;
        if (id != 0 && is_loop(grout_module_get_op(bound, id)) && --depth < GROUT_ORIGIN_LOOPS) {
            loops[depth] = id;
        }
    }
    for (uint32_t i = 0; depth == 0 && i < origin->loop_depth && i < GROUT_ORIGIN_LOOPS; i++) {
        describe_turn(bound, grout_module_get_op(bound, loops[i]), origin->loops[i], out);
    }
}

void grout_describe_cta(const grout_module *bound, grout_kernel_id kernel, uint32_t cta,
                        grout_text *out) {
    uint32_t size = grout_kernel_get_cluster_size(bound, kernel);
    if (count_axes(bound, kernel, GROUT_AXIS_GRID) +
            count_axes(bound, kernel, GROUT_AXIS_CLUSTER) ==
        0) {
        grout_text_add(out, "CTA %" PRIu32, cta);
        return;
    }
    grout_text_add(out, "CTA (");
    if (describe_axes(bound, kernel, GROUT_AXIS_GRID, cta / size, out) > 0 &&
        count_axes(bound, kernel, GROUT_AXIS_CLUSTER) > 0) {
        grout_text_add(out, ", ");
    }
    describe_axes(bound, kernel, GROUT_AXIS_CLUSTER, cta % size, out);
    grout_text_add(out, ")");
}

static void describe_thread(const grout_module *bound, grout_kernel_id kernel, unsigned thread,
                            grout_text *out) {
    uint32_t axes = count_axes(bound, kernel, GROUT_AXIS_THREADS);
    if (axes == 0) {
        grout_text_add(out, "thread %u", thread);
    } else {
        grout_text_add(out, axes == 1 ? "thread " : "thread (");
        describe_axes(bound, kernel, GROUT_AXIS_THREADS, thread, out);
        grout_text_add(out, axes == 1 ? "" : ")");
    }
}

static void describe_warp(const grout_origin *origin, grout_text *out) {
    if (origin->warp > 0) {
        grout_text_add(out, "warp %u", origin->warp - 1u);
    }
}

/* The kernel that an origin is of: of another launch of a list it may be another one. */
static grout_kernel_id find_kernel(const grout_module *bound, grout_kernel_id kernel,
                                   const grout_origin *origin) {
    grout_block_id parent = origin->op == 0 ? 0 : grout_module_get_op(bound, origin->op)->parent;
    return parent == 0 ? kernel : grout_module_get_block(bound, parent)->kernel;
}

void grout_describe_origin(const grout_module *bound, grout_kernel_id kernel,
                           const grout_origin *origin, grout_text *out) {
    kernel = find_kernel(bound, kernel, origin);
    grout_describe_cta(bound, kernel, origin->cta, out);
    grout_text_add(out, ", ");
    describe_thread(bound, kernel, origin->thread, out);
    grout_text_add(out, origin->warp > 0 ? ", " : "");
    describe_warp(origin, out);
    describe_loops(bound, origin, out);
}

static bool has_several(const grout_module *bound, grout_kernel_id id, bool of_threads) {
    const grout_kernel *kernel = grout_module_get_kernel(bound, id);
    for (uint32_t i = 0; i < kernel->axis_count; i++) {
        if ((kernel->axes[i].kind == GROUT_AXIS_THREADS) == of_threads &&
            grout_kernel_get_axis_size(bound, id, i) > 1) {
            return true;
        }
    }
    return false;
}

void grout_describe_actor(const grout_module *bound, grout_kernel_id kernel,
                          const grout_origin *origin, grout_text *out) {
    kernel = find_kernel(bound, kernel, origin);
    bool has_ctas = has_several(bound, kernel, false),
         has_threads = has_several(bound, kernel, true);
    if (has_ctas) {
        grout_describe_cta(bound, kernel, origin->cta, out);
    }
    if (has_threads) {
        grout_text_add(out, has_ctas ? ", " : "");
        describe_thread(bound, kernel, origin->thread, out);
    }
    if (origin->warp > 0) {
        grout_text_add(out, has_ctas || has_threads ? ", " : "");
        describe_warp(origin, out);
    } else if (!has_ctas && !has_threads) {
        grout_text_add(out, "the thread");
    }
    describe_loops(bound, origin, out);
}
