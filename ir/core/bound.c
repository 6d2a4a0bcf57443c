/* bound.c - what a bound module answers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "bound.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool grout_module_is_bound(const grout_module *module) {
    return module->bound != NULL;
}

const grout_type *grout_module_get_type(const grout_module *module, grout_value_id id) {
    GROUT_ASSERT(module->bound != NULL && id < module->values.count);
    return &module->bound->value_types[id];
}

grout_dtype grout_module_get_operand_dtype(const grout_module *module,
                                           const grout_operand *operand) {
    return (grout_dtype)grout_module_get_operand_type(module, operand).dtype;
}

grout_type grout_module_get_operand_type(const grout_module *module, const grout_operand *operand) {
    grout_type none = {.kind = GROUT_TYPE_NONE};
    grout_view view;
    grout_view_problem problem;
    switch ((grout_operand_kind)operand->kind) {
    case GROUT_OPERAND_VALUE:
        return module->bound->value_types[operand->id];
    case GROUT_OPERAND_EXPR:
        return (grout_type){.kind = GROUT_TYPE_SCALAR,
                            .dtype = module->bound->expr_dtypes[operand->id]};
    case GROUT_OPERAND_REF:
        problem = grout_view__resolve(module, operand, &view);
        return grout_view_fault__has_view(problem.fault) ? grout_view__get_type(module, &view)
                                                         : none;
    case GROUT_OPERAND_NONE:
    case GROUT_OPERAND_STRING:
    case GROUT_OPERAND_AXIS:
        break;
    }
    return none;
}

grout_expr_value grout_module_get_expr_value(const grout_module *module, grout_expr_id id) {
    GROUT_ASSERT(module->bound != NULL && id < module->exprs.count);
    return module->bound->expr_values[id];
}

const grout_type *grout_object_get_type(const grout_module *module, grout_object_id id) {
    GROUT_ASSERT(module->bound != NULL && id < module->objects.count);
    return &module->bound->object_types[id];
}

const grout_layout *grout_object_get_layout(const grout_module *module, grout_object_id id) {
    GROUT_ASSERT(module->bound != NULL && id < module->objects.count);
    return &module->bound->object_layouts[id];
}

bool grout_object_get_inferred_tiling(const grout_module *module, grout_object_id id,
                                      grout_tiling *tiling_out) {
    GROUT_ASSERT(module->bound != NULL && id < module->objects.count);
    *tiling_out = module->bound->object_tilings[id];
    return grout_module_get_object(module, id)->infers_tile;
}

grout_tiling_text grout_tiling_get_text(const grout_tiling *tiling) {
    grout_tiling_text text = {.chars = "no tile"};
    const bool has_swizzle = tiling->swizzle != 0;
    size_t size = 0;
    for (uint32_t k = 0; k < tiling->rank && size < sizeof text.chars; k++) {
        size += (size_t)snprintf(text.chars + size, sizeof text.chars - size, "%s%" PRId64,
                                 k == 0 ? "tile(" : ", ", tiling->tile[k]);
    }
    if (tiling->rank > 0 && size < sizeof text.chars) {
        size += (size_t)snprintf(text.chars + size, sizeof text.chars - size, ")");
    }
    if (has_swizzle && size < sizeof text.chars) {
        (void)snprintf(text.chars + size, sizeof text.chars - size, "%sswizzle(%" PRIu32 ")",
                       tiling->rank > 0 ? " " : "", tiling->swizzle);
    }
    return text;
}

int64_t grout_object_get_offset(const grout_module *module, grout_object_id id) {
    GROUT_ASSERT(module->bound != NULL && id < module->objects.count);
    return module->bound->object_offsets[id];
}

grout_object_id grout_object_get_root(const grout_module *module, grout_object_id id) {
    const grout_object *object = grout_module_get_object(module, id);
    while (object->alias != 0) {
        id = grout_module_get_value(module, object->alias)->object;
        object = grout_module_get_object(module, id);
    }
    return id;
}

bool grout_object_is_declared(const grout_module *module, grout_object_id id) {
    return grout_module_get_value(module, grout_module_get_object(module, id)->value)->object == id;
}

/* Whether two arrays in the same columns of tensor memory have some in common. Their bytes go lane
 * by lane: those of the first lane say it. */
static bool share_columns(const grout_module *module, grout_object_id root, grout_object_id a,
                          grout_object_id b) {
    enum { LANES = 128 };
    const int64_t others = (LANES - 1) * (grout_object_get_layout(module, root)->bytes / LANES);
    const int64_t start_a = grout_object_get_offset(module, a);
    const int64_t start_b = grout_object_get_offset(module, b);
    return start_a < start_b + grout_object_get_layout(module, b)->bytes - others &&
           start_b < start_a + grout_object_get_layout(module, a)->bytes - others;
}

bool grout_objects_share_bytes(const grout_module *module, grout_object_id a, grout_object_id b) {
    if (a != b && grout_space_needs_tensor_order(grout_module_get_object(module, a)->space)) {
        const grout_object_id root = grout_object_get_root(module, a);
        const grout_object_id other = grout_object_get_root(module, b);
        if (root == other) {
            return share_columns(module, root, a, b);
        }
        a = root;
        b = other;
    }
    const int64_t start_a = grout_object_get_offset(module, a);
    const int64_t start_b = grout_object_get_offset(module, b);
    if (grout_module_get_object(module, a)->space != grout_module_get_object(module, b)->space ||
        start_a < 0 || start_b < 0) {
        return a == b;
    }
    return start_a < start_b + grout_object_get_layout(module, b)->bytes &&
           start_b < start_a + grout_object_get_layout(module, a)->bytes;
}

uint32_t grout_object_get_arrivals(const grout_module *module, grout_object_id id) {
    GROUT_ASSERT(module->bound != NULL && id < module->objects.count);
    return module->bound->object_arrivals[id];
}

int64_t grout_kernel_get_space_bytes(const grout_module *module, grout_kernel_id id,
                                     grout_space space) {
    GROUT_ASSERT(module->bound != NULL && id < module->kernels.count && space < GROUT_SPACE_COUNT);
    return module->bound->kernel_bytes[id][space];
}

int64_t grout_kernel_get_axis_size(const grout_module *module, grout_kernel_id id,
                                   uint32_t axis_index) {
    GROUT_ASSERT(id < module->kernels.count && axis_index < GROUT_AXES_MAX);
    return module->bound->kernels[id].axis_sizes[axis_index];
}

int64_t grout_kernel_get_grid_size(const grout_module *module, grout_kernel_id id) {
    GROUT_ASSERT(id > 0 && id < module->kernels.count);
    return module->bound->kernels[id].grid_size;
}

uint32_t grout_kernel_get_thread_count(const grout_module *module, grout_kernel_id id) {
    GROUT_ASSERT(id > 0 && id < module->kernels.count);
    return module->bound->kernels[id].thread_count;
}

uint32_t grout_kernel_get_thread_warps(const grout_module *module, grout_kernel_id id,
                                       uint32_t thread) {
    const grout_kernel *kernel = grout_module_get_kernel(module, id);
    return thread < kernel->partition_count ? kernel->partition_warps[thread] : GROUT_WARPS;
}

/* The kernel whose own block is this one; 0: there is none. */
static grout_kernel_id find_kernel_of(const grout_module *module, grout_block_id body) {
    for (grout_kernel_id id = 1; id < module->kernels.count; id++) {
        if (grout_module_get_kernel(module, id)->body == body) {
            return id;
        }
    }
    return 0;
}

uint32_t grout_op_get_warps(const grout_module *module, const grout_op *op) {
    grout_block_id block = 0;
    const grout_op *around = grout_op_find_around(module, op, GROUT_REGION_PARTITIONS, &block);
    const grout_kernel_id id = around == NULL ? 0 : find_kernel_of(module, around->parent);
    return id == 0 ? GROUT_WARPS
                   : grout_kernel_get_thread_warps(module, id, block - around->first_block);
}

/* Threads whose warps the kernel says; all others have four, however many there are. */
static uint32_t count_sized(const grout_module *module, grout_kernel_id id) {
    const uint32_t sized = grout_module_get_kernel(module, id)->partition_count;
    const uint32_t threads = grout_kernel_get_thread_count(module, id);
    return sized < threads ? sized : threads;
}

uint32_t grout_kernel_get_warp_count(const grout_module *module, grout_kernel_id id) {
    const uint32_t sized = count_sized(module, id);
    uint32_t warps = GROUT_WARPS * (grout_kernel_get_thread_count(module, id) - sized);
    for (uint32_t k = 0; k < sized; k++) {
        warps += grout_kernel_get_thread_warps(module, id, k);
    }
    return warps;
}

uint32_t grout_kernel_get_first_warp(const grout_module *module, grout_kernel_id id,
                                     uint32_t thread) {
    const uint32_t own = grout_kernel_get_thread_warps(module, id, thread);
    const uint32_t sized = count_sized(module, id);
    const uint32_t whole = own < GROUT_WARPS ? grout_kernel_get_thread_count(module, id) - sized
                           : thread > sized  ? thread - sized
                                             : 0;
    uint32_t first = GROUT_WARPS * whole;
    for (uint32_t k = 0; k < sized; k++) {
        const uint32_t warps = grout_kernel_get_thread_warps(module, id, k);
        first += warps > own || (warps == own && k < thread) ? warps : 0;
    }
    return first;
}

uint32_t grout_kernel_get_cluster_size(const grout_module *module, grout_kernel_id id) {
    GROUT_ASSERT(id > 0 && id < module->kernels.count);
    return module->bound->kernels[id].cluster_size;
}

int64_t grout_kernel__get_group_size(const grout_module *module, grout_kernel_id id,
                                     uint32_t axes) {
    int64_t product = 1;
    for (uint32_t i = 0; i < GROUT_AXES_MAX; i++) {
        int64_t size = (axes >> i & 1u) != 0 ? grout_kernel_get_axis_size(module, id, i) : 1;
        if (size < 1 || __builtin_mul_overflow(product, size, &product)) {
            return 0;
        }
    }
    return product;
}

int64_t grout_kernel_get_axis_index(const grout_module *module, grout_kernel_id id,
                                    uint32_t axis_index, int64_t cta, uint32_t thread) {
    const grout_kernel *kernel = grout_module_get_kernel(module, id);
    GROUT_ASSERT(axis_index < kernel->axis_count && cta >= 0);
    uint8_t kind = kernel->axes[axis_index].kind;
    uint32_t cluster_size = grout_kernel_get_cluster_size(module, id);
    int64_t index = kind == GROUT_AXIS_GRID      ? cta / cluster_size
                    : kind == GROUT_AXIS_CLUSTER ? cta % cluster_size
                                                 : thread;
    for (uint32_t i = axis_index + 1; i < kernel->axis_count; i++) {
        if (kernel->axes[i].kind == kind) {
            index /= grout_kernel_get_axis_size(module, id, i);
        }
    }
    return index % grout_kernel_get_axis_size(module, id, axis_index);
}

uint32_t grout_kernel_get_cluster_mask(const grout_module *module, grout_kernel_id id,
                                       uint32_t axes, uint32_t rank) {
    const grout_kernel *kernel = grout_module_get_kernel(module, id);
    const uint32_t size = grout_kernel_get_cluster_size(module, id);
    uint32_t mask = 0;
    for (uint32_t other = 0; other < size && other < GROUT_CLUSTER_MAX; other++) {
        bool is_alike = true;
        for (uint32_t i = 0; i < kernel->axis_count; i++) {
            if (kernel->axes[i].kind == GROUT_AXIS_CLUSTER && (axes >> i & 1u) == 0) {
                is_alike &= grout_kernel_get_axis_index(module, id, i, other, 0) ==
                            grout_kernel_get_axis_index(module, id, i, rank, 0);
            }
        }
        mask |= is_alike ? 1u << other : 0;
    }
    return mask;
}

/* Whether the kernel uses the explicit style: it has mbarriers. */
static bool has_mbarriers(const grout_module *module, grout_kernel_id id) {
    for (grout_object_id i = 1; i < grout_module_get_object_count(module); i++) {
        if (grout_module_get_object(module, i)->is_explicit &&
            grout_object__get_kernel(module, i) == id) {
            return true;
        }
    }
    return false;
}

bool grout_kernel_has_exit_sync(const grout_module *module, grout_kernel_id id) {
    uint8_t written = grout_module_get_kernel(module, id)->cluster_exit;
    return grout_kernel_get_cluster_size(module, id) > 1 &&
           (written == GROUT_CLUSTER_EXIT_SYNC ||
            (written == GROUT_CLUSTER_EXIT_UNWRITTEN && has_mbarriers(module, id)));
}

grout_choice grout_op_get_choice(const grout_module *module, const grout_op *op, grout_attr attr) {
    const grout_attr_value *value = grout_module_find_attr(module, op, attr);
    return value == NULL ? GROUT_CHOICE_NONE : (grout_choice)value->choice;
}

grout_update grout_op_get_update(const grout_module *module, const grout_op *op) {
    grout_update own = (grout_update)grout_op_get_info((grout_opcode)op->opcode)->update;
    return own != GROUT_UPDATE_NONE
               ? own
               : grout_update_from_choice(grout_op_get_choice(module, op, GROUT_ATTR_REDUCE));
}

uint32_t grout_op_get_axes(const grout_module *module, const grout_op *op, grout_attr attr) {
    const grout_attr_value *value = grout_module_find_attr(module, op, attr);
    return value == NULL ? 0 : value->axes;
}

uint32_t grout_op_get_dims(const grout_module *module, const grout_op *op, grout_attr attr) {
    const grout_attr_value *value = grout_module_find_attr(module, op, attr);
    return value == NULL ? 0 : value->dims;
}

uint32_t grout_op_get_ranges(const grout_module *module, const grout_op *op, grout_attr attr,
                             grout_range ranges_out[GROUT_RANGES_MAX]) {
    const grout_attr_value *value = grout_module_find_attr(module, op, attr);
    const uint32_t count = value == NULL ? 0 : value->range_count;
    for (uint32_t k = 0; k < count; k++) {
        const grout_written_range *range = &value->ranges[k];
        ranges_out[k] = (grout_range){.low = module->bound->expr_values[range->low].integer,
                                      .high = module->bound->expr_values[range->high].integer,
                                      .step = module->bound->expr_values[range->step].integer};
    }
    return count;
}

grout_choice grout_op_get_oob(const grout_module *module, const grout_op *op) {
    const uint32_t array = grout_op_find_letter((grout_opcode)op->opcode, 'G');
    grout_choice choice = grout_op_get_choice(module, op, GROUT_ATTR_OOB);
    if (choice == GROUT_CHOICE_NONE && array != UINT32_MAX) {
        const grout_operand *operand = grout_module_get_operand(module, op, array);
        const grout_effect *effect = grout_op_find_effect((grout_opcode)op->opcode, array);
        const bool is_written = effect != NULL && effect->access != GROUT_ACCESS_READ;
        grout_view view;
        if (!is_written && grout_module_get_view(module, operand, &view) && view.descriptor != 0) {
            choice = grout_op_get_choice(
                module, grout_value__get_descriptor(module, view.descriptor), GROUT_ATTR_OOB);
        }
    }
    return choice == GROUT_CHOICE_NONE ? GROUT_CHOICE_OOB_ZERO : choice;
}

int64_t grout_op_get_attr_integer(const grout_module *module, const grout_op *op, grout_attr attr,
                                  int64_t fallback) {
    const grout_attr_value *value = grout_module_find_attr(module, op, attr);
    return value == NULL || value->expr == 0 ? fallback
                                             : module->bound->expr_values[value->expr].integer;
}

void grout_object__get_tiles(const grout_module *module, grout_object_id id,
                             int64_t tiles_out[GROUT_RANK_MAX]) {
    memcpy(tiles_out, module->bound->object_tiles[id], GROUT_RANK_MAX * sizeof tiles_out[0]);
}

grout_value_text grout_value__get_text(const grout_module *module, grout_value_id id,
                                       const char *fallback) {
    grout_value_text text;
    const grout_value *value = grout_module_get_value(module, id);
    if (value->name == 0) {
        snprintf(text.chars, sizeof text.chars, "%s", fallback);
    } else {
        snprintf(text.chars, sizeof text.chars, "'%%%s'",
                 grout_module_get_string(module, value->name));
    }
    return text;
}

/* The first operation of the blocks first .. first+count-1 that has any. */
static grout_op_id find_first_op(const grout_module *module, grout_block_id first, uint32_t count) {
    for (uint32_t k = 0; k < count; k++) {
        grout_op_id op = grout_module_get_block(module, first + k)->first;
        if (op != 0) {
            return op;
        }
    }
    return 0;
}

grout_op_id grout_kernel__get_first_op(const grout_module *module, grout_kernel_id kernel) {
    return find_first_op(module, grout_module_get_kernel(module, kernel)->body, 1);
}

grout_op_id grout_kernel__get_next_op(const grout_module *module, grout_op_id id) {
    const grout_op *op = grout_module_get_op(module, id);
    grout_op_id next = find_first_op(module, op->first_block, op->block_count);
    while (next == 0) {
        if (op->next != 0) {
            return op->next;
        }
        const grout_block *block = grout_module_get_block(module, op->parent);
        if (block->parent == 0) {
            return 0;
        }
        const grout_op *around = grout_module_get_op(module, block->parent);
        uint32_t done = op->parent - around->first_block + 1;
        GROUT_ASSERT(done <= around->block_count);
        next = find_first_op(module, around->first_block + done, around->block_count - done);
        op = around;
    }
    return next;
}
