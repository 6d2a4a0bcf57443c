/* register_layout_access.c - how wide a reference may be read and written: its contiguous,
 * aligned runs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "bound.h"

#include "grout-internal/register_layout.h"

static int64_t min_i64(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* The divisor of where a view starts in one dimension of its object. */
static int64_t get_start_divisor(const grout_module *module, const grout_view *view, uint32_t dim) {
    const int64_t elements = grout_view_get_term_divisor(view, dim);
    int64_t divisor = grout_divisor__of_constant(view->start_const[dim]);
    for (uint32_t k = 0; k < view->start_term_count[dim]; k++) {
        divisor = min_i64(
            divisor, grout_value_get_known_divisor(module, view->start_terms[dim][k]) / elements);
    }
    return divisor;
}

/* Digits of a dimension, and the finest of them (divisor 1), or UINT32_MAX. */
static uint32_t count_digits(const grout_layout *layout, uint32_t dim, uint32_t *finest_out) {
    uint32_t count = 0;
    *finest_out = UINT32_MAX;
    for (uint32_t k = 0; k < layout->tiled_rank; k++) {
        if (layout->dim[k] == dim) {
            count++;
            *finest_out = layout->divisor[k] == 1 ? k : *finest_out;
        }
    }
    return count;
}

/* The contiguous run at the end of a view's row-major order. */
typedef struct run {
    int64_t length;               /* elements */
    bool has_dim[GROUT_RANK_MAX]; /* by dimension of the object */
    int64_t tile; /* elements that stay together if the run is one tiled dimension */
} run;

static run find_run(const grout_module *module, const grout_view *view,
                    const grout_layout *layout) {
    run found = {.length = 1};
    for (uint32_t k = view->view_rank; k-- > 0;) {
        const uint32_t dim = view->view_dim[k];
        uint32_t finest;
        const uint32_t digits = count_digits(layout, dim, &finest);
        if (view->extent[dim] == 1) {
            continue;
        }
        if (finest == UINT32_MAX ||
            layout->stride[finest] != found.length * layout->element_bytes ||
            (digits > 1 && found.length > 1)) {
            break;
        }
        found.length *= view->extent[dim];
        found.has_dim[dim] = true;
        if (digits > 1) {
            found.tile = layout->extent[finest];
            break;
        }
        if (view->extent[dim] != grout_object_get_extent(module, view->object, dim)) {
            break;
        }
    }
    return found;
}

/* Whether what a digit adds to the address is a multiple of the access's bytes. */
static bool is_digit_aligned(const grout_module *module, const grout_view *view, const run *found,
                             uint32_t digit, int64_t bytes) {
    const grout_layout *layout = grout_object_get_layout(module, view->object);
    const uint32_t dim = layout->dim[digit];
    uint32_t finest;
    const bool is_tiled = count_digits(layout, dim, &finest) > 1;
    /* A digit through which elements of the view count may take any value. The others add a
     * multiple of their stride that the start's divisor tells. */
    const bool moves_with_start =
        found->has_dim[dim] ? !is_tiled || digit == finest : view->extent[dim] == 1 && !is_tiled;
    const int64_t step = moves_with_start ? get_start_divisor(module, view, dim) : 1;
    return step * layout->stride[digit] % bytes == 0;
}

uint32_t grout_pick_get_access_width(const grout_module *module, const grout_pick *pick,
                                     const grout_view *view) {
    grout_view rest = *view;
    if (pick->lead == pick->type.rank) {
        return 1;
    }
    for (uint32_t k = 0; k < pick->lead; k++) {
        const uint32_t dim = view->view_dim[k];
        rest.extent[dim] = 1;
        rest.start_const[dim] = 1; /* any element of it */
        rest.start_term_count[dim] = 0;
    }
    return grout_view_get_access_width(module, &rest);
}

uint32_t grout_view_get_access_width(const grout_module *module, const grout_view *view) {
    const grout_layout *layout = grout_object_get_layout(module, view->object);
    const run found = find_run(module, view, layout);
    uint32_t width = GROUT_WIDE_BYTES_MAX / layout->element_bytes;
    for (; width > 1; width /= 2) {
        const int64_t bytes = (int64_t)width * layout->element_bytes;
        if (bytes > layout->chunk) {
            continue;
        }
        bool is_fine = found.length % width == 0 && (found.tile == 0 || found.tile % width == 0);
        for (uint32_t k = 0; k < layout->tiled_rank && is_fine; k++) {
            is_fine = is_digit_aligned(module, view, &found, k, bytes);
        }
        if (is_fine) {
            return width * view->packed;
        }
    }
    return view->packed;
}
