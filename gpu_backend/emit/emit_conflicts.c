/* emit_conflicts.c - which accesses of SMEM take the banks more often than they have to.
 *
 * A warp's access of up to 4 bytes a lane is one pass (lowering/banks.h) if its words lie in
 * different banks (or are the same word), one of 8 bytes is two, of half a warp each, one of 16
 * bytes four; each 8 x 8 matrix is a pass of its own.
 * Starts that only the run knows count as 0: they move all lanes alike, but for swizzled objects at
 * odd rows.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit.h"

#include "banks.h"

#include <inttypes.h>
#include <string.h>

#define WARP_LANES 32

/* Keeps it if no part so far takes more passes: the words of its busiest bank. */
static void count_passes(const grout_bank_words *asked, grout_bank_use *worst) {
    uint8_t in_bank[GROUT_BANKS];
    const uint32_t most = grout_bank_words__count_passes(asked, in_bank);
    if (most > worst->passes) {
        worst->passes = most;
        memcpy(worst->words, in_bank, sizeof in_bank);
    }
}

/* Bytes from the start of the object to the element of a view with a row-major index. */
static int64_t get_offset(const grout_emitter *e, const grout_view *view, int64_t element) {
    const grout_layout *layout = grout_object_get_layout(e->module, view->object);
    int64_t index[GROUT_RANK_MAX] = {0};
    element /= view->packed;
    for (uint32_t dim = 0; dim < view->rank; dim++) {
        index[dim] = view->start_const[dim] < 0 ? 0 : view->start_const[dim];
    }
    for (uint32_t k = view->view_rank; k-- > 0;) {
        const uint32_t dim = view->view_dim[k];
        index[dim] += element % view->extent[dim];
        element /= view->extent[dim];
    }
    return grout_layout_get_offset(layout, index);
}

static bool is_smem(const grout_emitter *e, const grout_view *view) {
    return grout_module_get_object(e->module, view->object)->space == GROUT_SPACE_SMEM;
}

static void report(grout_emitter *e, const grout_op *op, const grout_view *view,
                   grout_bank_use *use) {
    const uint32_t passes = use->passes;
    const grout_bank_listener *banks = e->options.banks;
    if (banks != NULL) {
        use->place = grout_module_get_place(e->module, op->loc);
        use->object = view->object;
        banks->note(banks->payload, use);
    }
    if (passes <= 1) {
        return;
    }
    grout_emit__line(e, "// SMEM bank conflicts: accesses take up to %" PRIu32 " times as long",
                     passes);
    if (e->options.notes != NULL) {
        grout_text_add(e->options.notes,
                       "line %" PRIu32
                       ": '%s' has SMEM bank conflicts: accesses take up to %" PRIu32
                       " times as long\n",
                       grout_emit__get_line(e, op->loc),
                       grout_op_get_info((grout_opcode)op->opcode)->text, passes);
    }
}

/* One way to move a value: neighbours together, columns turned or not. */
typedef struct access {
    const grout_view *view;
    const grout_register_layout *layout;
    uint32_t width; /* elements */
    grout_emit_turn turn;
} access;

/* Bytes of one lane's access. */
static uint32_t get_bytes(const grout_emitter *e, const access *a) {
    const uint32_t packed = a->view->packed;
    return (a->width + packed - 1) / packed *
           grout_object_get_layout(e->module, a->view->object)->element_bytes;
}

/* Lanes first to first + lanes of a warp, at one register. */
static void count_lanes(const grout_emitter *e, const access *a, uint32_t first, uint32_t lanes,
                        uint32_t reg, grout_bank_use *worst) {
    const int64_t bytes = get_bytes(e, a);
    grout_bank_words asked = {.count = 0};
    for (uint32_t lane = first; lane < first + lanes; lane++) {
        int64_t element = grout_register_layout_get_element(a->layout, lane, reg);
        if (a->turn.cols != 0 && (lane >> a->turn.lane_bit & 1u) != 0) {
            element ^= a->turn.cols; /* rows are multiples of twice as many */
        }
        if (element >= 0) {
            grout_bank_words__add(&asked, get_offset(e, a->view, element), bytes);
        }
    }
    count_passes(&asked, worst);
}

/* The part of the access that takes the most passes. */
static grout_bank_use count_access(const grout_emitter *e, const access *a) {
    const uint32_t bytes = get_bytes(e, a);
    const uint32_t lanes =
        bytes <= GROUT_BANK_BYTES ? WARP_LANES : WARP_LANES * GROUT_BANK_BYTES / bytes;
    const uint32_t all = grout_register_layout_get_lanes(a->layout);
    grout_bank_use worst = {.passes = 0};
    for (uint32_t reg = 0; reg < a->layout->registers; reg += a->width) {
        for (uint32_t first = 0; first < all; first += lanes) {
            count_lanes(e, a, first, lanes, reg, &worst);
        }
    }
    return worst;
}

grout_emit_turn grout_emit__find_turn(const grout_emitter *e, const grout_view *view,
                                      const grout_register_layout *layout, uint32_t width) {
    access best = {.view = view, .layout = layout, .width = width};
    if (!is_smem(e, view) || layout->kind != GROUT_LAYOUT_WGMMA || width != 2 || view->packed > 1) {
        return best.turn;
    }
    uint32_t least = count_access(e, &best).passes;
    for (uint32_t k = 0; k < 9 && least > 1; k++) {
        access tried = best;
        tried.turn = (grout_emit_turn){.lane_bit = 2 + k % 3, .cols = 8u << k / 3};
        if (layout->cols % (2 * (int64_t)tried.turn.cols) != 0) {
            continue;
        }
        const uint32_t count = count_access(e, &tried).passes;
        if (count < least) {
            best = tried;
            least = count;
        }
    }
    return best.turn;
}

void grout_emit__report_passes(grout_emitter *e, const grout_op *op, const grout_view *view,
                               const grout_register_layout *layout, uint32_t width) {
    if (is_smem(e, view)) {
        const access a = {.view = view,
                          .layout = layout,
                          .width = width,
                          .turn = grout_emit__find_turn(e, view, layout, width)};
        grout_bank_use worst = count_access(e, &a);
        report(e, op, view, &worst);
    }
}

/* One 8 x 8 matrix: the block of rows and columns from an element on. */
static void count_matrix(const grout_emitter *e, const grout_view *view, int64_t cols,
                         int64_t element, bool is_transposed, grout_bank_use *worst) {
    grout_bank_words asked = {.count = 0};
    for (int64_t run = 0; run < 8; run++) {
        const int64_t start = element + (is_transposed ? run : run * cols);
        grout_bank_words__add(&asked, get_offset(e, view, start), 16);
    }
    count_passes(&asked, worst);
}

void grout_emit__report_matrix_passes(grout_emitter *e, const grout_op *op, const grout_view *view,
                                      const grout_register_layout *layout,
                                      const grout_emit_matrix *matrix) {
    grout_bank_use worst = {.passes = 0};
    for (int64_t row = 0; row < layout->rows; row += 8) {
        for (int64_t col = 0; col < layout->cols; col += 8) {
            count_matrix(e, view, layout->cols, row * layout->cols + col, matrix->is_transposed,
                         &worst);
        }
    }
    report(e, op, view, &worst);
}
