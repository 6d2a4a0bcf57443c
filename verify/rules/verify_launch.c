/* verify_launch.c - axes, grid, threads, and the shared memory of a CTA.
 * SPDX-License-Identifier: Apache-2.0 */
#include "verifying.h"

#include "tmem.h"

#include <inttypes.h>

#define GRID_MAX INT32_MAX
/* More threads of a CTA, or CTAs of a cluster, than the author may have written who counts CUDA
 * lanes. */
#define COUNTED_MAX 1024
#define PARTS_MAX   6 /* objects that the budget's message lists */

/* The largest size that an axis can have by itself. */
static int get_axis_max(const grout_axis *axis) {
    return axis->kind == GROUT_AXIS_THREADS   ? GROUT_THREADS_MAX
           : axis->kind == GROUT_AXIS_CLUSTER ? GROUT_CLUSTER_MAX
                                              : GRID_MAX;
}

static bool check_axes(grout_verifying *verifying, const grout_kernel *kernel) {
    const grout_module *module = verifying->module;
    bool is_possible = true;
    for (uint32_t k = 0; k < kernel->axis_count; k++) {
        const grout_axis *axis = &kernel->axes[k];
        const char *name = grout_module_get_string(module, axis->name);
        int64_t size = grout_kernel_get_axis_size(module, verifying->kernel, k);
        if (size < 1 || size > GRID_MAX) {
            is_possible = false;
            grout_verifying__report(verifying, GROUT_DIAG_BAD_LAUNCH, axis->loc,
                                    "axis '%s' has size %" PRId64 ": it has to be 1 to %d", name,
                                    size, get_axis_max(axis));
        }
        for (uint32_t i = 0; i < k; i++) {
            if (kernel->axes[i].name == axis->name) {
                grout_verifying__report(verifying, GROUT_DIAG_BAD_LAUNCH, axis->loc,
                                        "two axes are called '%s'", name);
            }
        }
    }
    return is_possible;
}

/* Where the axes of a kind begin, or the kernel. */
static grout_loc_id find_axis_loc(const grout_kernel *kernel, grout_axis_kind kind) {
    for (uint32_t k = 0; k < kernel->axis_count; k++) {
        if (kernel->axes[k].kind == kind) {
            return kernel->axes[k].loc;
        }
    }
    return kernel->loc;
}

static bool check_counts(grout_verifying *verifying, const grout_kernel *kernel) {
    int64_t grid = grout_kernel_get_grid_size(verifying->module, verifying->kernel);
    uint32_t threads = grout_kernel_get_thread_count(verifying->module, verifying->kernel);
    if (grid > GRID_MAX) {
        grout_verifying__report(verifying, GROUT_DIAG_BAD_LAUNCH,
                                find_axis_loc(kernel, GROUT_AXIS_GRID),
                                "a grid of more than %d CTAs: no GPU launches it", GRID_MAX);
    }
    uint32_t cluster_size = grout_kernel_get_cluster_size(verifying->module, verifying->kernel);
    if (cluster_size > GROUT_CLUSTER_MAX) {
        grout_verifying__report(verifying, GROUT_DIAG_BAD_LAUNCH,
                                find_axis_loc(kernel, GROUT_AXIS_CLUSTER),
                                "%" PRIu32 " CTAs in a cluster: the hardware takes at most %d",
                                cluster_size, GROUT_CLUSTER_MAX);
        grout_diags_help(verifying->diags, "8 fit every GPU of the architecture, 16 the larger "
                                           "ones; the grid counts clusters");
    }
    if (threads > GROUT_THREADS_MAX) {
        grout_verifying__report(
            verifying, GROUT_DIAG_BAD_LAUNCH, find_axis_loc(kernel, GROUT_AXIS_THREADS),
            "%" PRIu32 " threads in a CTA: a thread is 128 CUDA lanes, and a CTA "
            "has at most %d of them",
            threads, GROUT_THREADS_MAX);
        grout_diags_help(verifying->diags, "a thread works on whole arrays: divide the work among "
                                           "the CTAs of the grid instead");
    }
    return cluster_size <= COUNTED_MAX && threads <= COUNTED_MAX;
}

/* Arrays and barriers of the kernel in a space, found through the ops that make them. */
typedef struct space_parts {
    grout_space space;
    grout_object_id largest[PARTS_MAX]; /* by size, largest first */
    uint32_t count, dropped;
    int64_t barrier_bytes;
} space_parts;

static void add_part(const grout_module *module, space_parts *parts, grout_object_id id) {
    int64_t bytes = grout_object_get_layout(module, id)->bytes;
    const grout_object *object = grout_module_get_object(module, id);
    if (object->space != parts->space || object->alias != 0) {
        return;
    }
    if (object->kind == GROUT_OBJECT_BARRIER) {
        parts->barrier_bytes += bytes;
        return;
    }
    if (parts->count == PARTS_MAX) {
        parts->dropped++;
        if (grout_object_get_layout(module, parts->largest[PARTS_MAX - 1])->bytes >= bytes) {
            return;
        }
        parts->count--;
    }
    uint32_t k = parts->count++;
    for (; k > 0 && grout_object_get_layout(module, parts->largest[k - 1])->bytes < bytes; k--) {
        parts->largest[k] = parts->largest[k - 1];
    }
    parts->largest[k] = id;
}

static space_parts find_parts(const grout_verifying *verifying, grout_space space) {
    const grout_module *module = verifying->module;
    space_parts parts = {.space = space};
    grout_op_id id = grout_kernel__get_first_op(module, verifying->kernel);
    for (; id != 0; id = grout_kernel__get_next_op(module, id)) {
        const grout_op *op = grout_module_get_op(module, id);
        grout_value_id first;
        uint32_t count = grout_op_get_made_objects(module, op, &first);
        for (uint32_t k = 0; k < count; k++) {
            add_part(module, &parts, grout_module_get_value(module, first + k)->object);
        }
    }
    return parts;
}

static void note_parts(grout_verifying *verifying, grout_space space) {
    const grout_module *module = verifying->module;
    space_parts parts = find_parts(verifying, space);
    for (uint32_t k = 0; k < parts.count; k++) {
        const grout_object *object = grout_module_get_object(module, parts.largest[k]);
        grout_diags_note(verifying->diags, grout_module_get_place(module, object->loc),
                         "%s takes %" PRId64 " bytes at offset %" PRId64,
                         grout_value__get_text(module, object->value, "an object").chars,
                         grout_object_get_layout(module, parts.largest[k])->bytes,
                         grout_object_get_offset(module, parts.largest[k]));
    }
    if (parts.dropped > 0) {
        grout_diags_note(verifying->diags, (grout_place){0}, "%" PRIu32 " smaller arrays",
                         parts.dropped);
    }
    if (parts.barrier_bytes > 0) {
        grout_diags_note(verifying->diags, (grout_place){0}, "barriers take %" PRId64 " bytes",
                         parts.barrier_bytes);
    }
}

static void report_budget(grout_verifying *verifying, const grout_kernel *kernel, grout_space space,
                          int64_t bytes) {
    int64_t budget = grout_space_get_info(space)->budget_bytes;
    const char *name = grout_module_get_string(verifying->module, kernel->name);
    const bool is_smem = space == GROUT_SPACE_SMEM;
    grout_verifying__report(verifying, GROUT_DIAG_SMEM_BUDGET, kernel->loc,
                            "kernel '@%s' needs %" PRId64 " bytes of %s, and a CTA has %" PRId64,
                            name, bytes, is_smem ? "shared memory" : grout_space_get_text(space),
                            budget);
}

/* Tensor memory is taken in columns of 512 bytes. */
static void report_columns(grout_verifying *verifying, const grout_kernel *kernel, int64_t bytes) {
    const grout_module *module = verifying->module;
    const space_parts parts = find_parts(verifying, GROUT_SPACE_TMEM);
    grout_verifying__report(
        verifying, GROUT_DIAG_TMEM_BUDGET, kernel->loc,
        "kernel '@%s' needs %" PRId64 " columns of tensor memory, and a CTA "
        "has %" PRId64,
        grout_module_get_string(module, kernel->name), bytes / GROUT_TMEM_COLUMN_BYTES,
        grout_space_get_info(GROUT_SPACE_TMEM)->budget_bytes / GROUT_TMEM_COLUMN_BYTES);
    for (uint32_t k = 0; k < parts.count; k++) {
        const grout_object *object = grout_module_get_object(module, parts.largest[k]);
        grout_diags_note(verifying->diags, grout_module_get_place(module, object->loc),
                         "%s takes %" PRId64 " columns from column %" PRId64 " on",
                         grout_value__get_text(module, object->value, "an object").chars,
                         grout_tmem__count_columns(module, parts.largest[k]),
                         grout_object_get_offset(module, parts.largest[k]) /
                             GROUT_TMEM_COLUMN_BYTES);
    }
    if (parts.dropped > 0) {
        grout_diags_note(verifying->diags, (grout_place){0}, "%" PRIu32 " smaller arrays",
                         parts.dropped);
    }
    grout_diags_help(verifying->diags,
                     "make tiles smaller, or buffer fewer of them; 16-bit elements that no "
                     "tcgen05_mma adds to may be 'packed', and scopes after each other share "
                     "columns");
}

static void check_space(grout_verifying *verifying, const grout_kernel *kernel, grout_space space) {
    int64_t bytes = grout_kernel_get_space_bytes(verifying->module, verifying->kernel, space);
    if (verifying->arch == GROUT_ARCH_ANY ||
        bytes <= grout_space_get_info(space)->budget_bytes) { /* always of what no CTA has */
        return;
    }
    if (space == GROUT_SPACE_TMEM) {
        report_columns(verifying, kernel, bytes);
        return;
    }
    report_budget(verifying, kernel, space, bytes);
    note_parts(verifying, space);
    grout_diags_help(verifying->diags,
                     "make tiles smaller, or buffer fewer of them; arrays start at "
                     "multiples of %" PRId32 ", and scopes after each other share bytes",
                     grout_space_get_info(space)->alignment_bytes);
}

bool grout_verify__launch(grout_verifying *verifying) {
    const grout_kernel *kernel = grout_module_get_kernel(verifying->module, verifying->kernel);
    const bool has_axes = check_axes(verifying, kernel);
    const bool has_counts = has_axes && check_counts(verifying, kernel);
    for (int space = 1; space < GROUT_SPACE_COUNT; space++) {
        check_space(verifying, kernel, (grout_space)space);
    }
    return has_counts;
}
