/* emit_matrix.c - stmatrix and ldmatrix: 16-bit values of the wgmma layout from and to SMEM, and
 * those of the b of an mma from there, in runs of 16 bytes. SPDX-License-Identifier: Apache-2.0 */
#include "emit.h"

#include <inttypes.h>

#define RUN 8 /* elements of a matrix row */

/* The view with its two dimensions exchanged; false if it has not exactly two longer than 1. */
static bool turn(const grout_view *view, grout_view *turned_out) {
    uint32_t found[2] = {0, 0}, count = 0;
    for (uint32_t k = 0; k < view->view_rank; k++) {
        if (view->extent[view->view_dim[k]] > 1) {
            if (count == 2) {
                return false;
            }
            found[count++] = k;
        }
    }
    *turned_out = *view;
    turned_out->view_dim[found[0]] = view->view_dim[found[1]];
    turned_out->view_dim[found[1]] = view->view_dim[found[0]];
    return count == 2;
}

static bool is_right(const grout_register_layout *layout) {
    return layout->kind == GROUT_LAYOUT_MMA_RHS_16BIT;
}

grout_emit_matrix grout_emit__find_matrix(const grout_emitter *e, const grout_view *view,
                                          const grout_register_layout *layout, bool is_load) {
    const grout_type *type = grout_object_get_type(e->module, view->object);
    grout_emit_matrix matrix = {.count = layout->cols % 16 == 0 ? 4 : 2};
    grout_view turned;
    /* The instructions reach the own CTA's SMEM only. */
    if (grout_module_get_object(e->module, view->object)->space != GROUT_SPACE_SMEM ||
        grout_emit__is_peer(view) ||
        (layout->kind != GROUT_LAYOUT_WGMMA && !(is_load && is_right(layout))) ||
        grout_dtype_get_info((grout_dtype)type->dtype)->bytes != 2 || !turn(view, &turned)) {
        return (grout_emit_matrix){0};
    }
    if (grout_view_get_access_width(e->module, view) < RUN) {
        matrix.is_transposed = true;
        if (grout_view_get_access_width(e->module, &turned) < RUN) {
            return (grout_emit_matrix){0};
        }
    }
    return matrix;
}

/* The loop over blocks of 16 x 16 or 16 x 8 elements, one instruction each, which turns what runs
 * across the neighbours that a lane has. */
static void move_matrices(grout_emitter *e, grout_value_id value, const grout_view *view,
                          const grout_emit_matrix *matrix, const char *verb) {
    const grout_register_layout *layout = grout_emit__layout(e, value);
    const char *runs = matrix->is_transposed ? "_trans" : "";
    const char *side = is_right(layout) ? "_rhs" : "";
    const bool turns = matrix->is_transposed != is_right(layout);
    grout_emit__open_registers(e, layout->registers, 2 * matrix->count);
    grout_emit__line(e, "const grout_u32 at_row = grout_matrix%s_row%s(lane, reg, %" PRId64 "%s);",
                     side, runs, layout->cols,
                     is_right(layout) ? "" : grout_emit__get_block(layout));
    grout_emit__line(e, "const grout_u32 at_col = grout_matrix%s_col%s(lane, reg, %" PRId64 ");",
                     side, runs, layout->cols);
    grout_emit__prepare_address(e, view, GROUT_EMIT_AT_MATRIX);
    grout_emit__begin(e);
    grout_emit__add(e, "grout_%s_matrix_x%" PRIu32 "%s(", verb, matrix->count,
                    turns ? "_trans" : "");
    grout_emit__address(e, view, GROUT_EMIT_AT_MATRIX);
    FIELD_END(e, ACCESS_MATRIX);
    grout_emit__end(e, ", %s + reg);", grout_emit__name(e, value));
    grout_emit__close(e, "");
}

void grout_emit__store_matrices(grout_emitter *e, grout_value_id from, const grout_view *view,
                                const grout_emit_matrix *matrix) {
    move_matrices(e, from, view, matrix, "store");
}

void grout_emit__load_matrices(grout_emitter *e, grout_value_id to, const grout_view *view,
                               const grout_emit_matrix *matrix) {
    grout_emit__declare_registers(e, to);
    move_matrices(e, to, view, matrix, "load");
}
