/* tma_loops.c - why a copy takes several boxes and not one: the first condition of split_tiles in
 * lowering/tma_plan.c that its outermost tiles do not meet. (Parts of CTAs always are whole tiles.)
 * SPDX-License-Identifier: Apache-2.0 */
#include "tma_loops.h"

#include "bound.h"
#include "view_digits.h"

#include <inttypes.h>

#define BOX_MAX      256
#define TMA_RANK_MAX 5

/* The tiles that a loop counts. */
typedef struct tiles {
    uint32_t dim; /* of the GMEM object */
    uint32_t count;
    int64_t elements; /* of a tile in that dimension */
} tiles;

static tiles get_tiles(const grout_tma *tma) {
    if (tma->panel_count > 1) {
        return (tiles){tma->object_dim[0], tma->panel_count, tma->panel_elements};
    }
    return (tiles){tma->object_dim[tma->band_dim], tma->band_count, tma->band_elements};
}

static void explain_size(const char *array, const tiles *it, int64_t size, grout_text *why,
                         grout_text *remedy) {
    int64_t whole = (size + it->elements - 1) / it->elements * it->elements;
    grout_text_add(why,
                   "dimension %" PRIu32 " of %s has %" PRId64
                   " elements, no whole number of tiles of %" PRId64,
                   it->dim, array, size, it->elements);
    grout_text_add(remedy,
                   "let %s have %" PRId64 " elements in dimension %" PRIu32
                   "; or give each column of tiles an smem array of its own",
                   array, whole, it->dim);
}

static void explain_start(const char *array, const tiles *it, grout_text *why, grout_text *remedy) {
    grout_text_add(
        why, "in dimension %" PRIu32 " of %s it may start inside a tile of %" PRId64 " elements",
        it->dim, array, it->elements);
    grout_text_add(remedy,
                   "write the start as a multiple of %" PRId64 ", as in ds(%%i * %" PRId64
                   ", ..); or give each column of tiles an smem array of its own",
                   it->elements, it->elements);
}

/* Where array and start are as they should be. */
static void explain_map(const grout_tma *tma, const tiles *it, bool is_made, grout_text *why,
                        grout_text *remedy) {
    const char *reason =
        is_made                  ? "a tensor map that the kernel makes ends anywhere, not at a tile"
        : tma->spatial_count > 0 ? "in im2col mode a box is one column of tiles"
        : tma->rank >= TMA_RANK_MAX ? "the box has 5 dimensions already, as many as TMA takes"
        : it->count > BOX_MAX ? "it has more tiles beside each other than the 256 that a box takes"
                              : "its tiles do not follow each other in shared memory";
    grout_text_add(why, "%s", reason);
    grout_text_add(remedy, "give each column of tiles an smem array of its own");
}

void grout_tma_loops__explain(const grout_module *module, const grout_op *op, const grout_tma *tma,
                              grout_text *why, grout_text *remedy) {
    const uint32_t letter = grout_op_find_letter((grout_opcode)op->opcode, 'G');
    const tiles it = get_tiles(tma);
    grout_view view;
    if (!grout_module_get_view(module, grout_module_get_operand(module, op, letter), &view)) {
        return;
    }
    const grout_value_text array = grout_value__get_text(module, view.base, "the array");
    const grout_view_start start = grout_view__get_start(module, &view, it.dim);
    const int64_t size = grout_object_get_extent(module, view.object, it.dim);
    const bool is_made = grout_view_find_made_descriptor(module, &view) != NULL;
    if (!is_made && tma->spatial_count == 0 && size % it.elements != 0) {
        explain_size(array.chars, &it, size, why, remedy);
    } else if (!is_made && tma->spatial_count == 0 &&
               !grout_view_start__is_multiple(&start, it.elements)) {
        explain_start(array.chars, &it, why, remedy);
    } else {
        explain_map(tma, &it, is_made, why, remedy);
    }
}
