/* view_digits.c - how one dimension of a view steps through memory.
 * SPDX-License-Identifier: Apache-2.0 */
#include "view_digits.h"

#include "grout-internal/register_layout.h"

static int64_t get_remainder(int64_t value, int64_t of) {
    int64_t remainder = value % of;
    return remainder < 0 ? remainder + of : remainder;
}

static int64_t get_common_divisor(int64_t a, int64_t b) {
    a = a < 0 ? -a : a;
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

grout_view_start grout_view__get_start(const grout_module *module, const grout_view *view,
                                       uint32_t dim) {
    grout_view_start start = {.known = view->start_const[dim]};
    for (uint32_t k = 0; k < view->start_term_count[dim]; k++) {
        int64_t divisor = grout_value_get_known_divisor(module, view->start_terms[dim][k]) /
                          grout_view_get_term_divisor(view, dim);
        start.divisor = k == 0 || divisor < start.divisor ? divisor : start.divisor;
    }
    return start;
}

int64_t grout_view_start__get_divisor(const grout_view_start *start) {
    return get_common_divisor(start->known, start->divisor);
}

bool grout_view_start__is_multiple(const grout_view_start *start, int64_t of) {
    return start->known % of == 0 && start->divisor % of == 0;
}

/* Whether the elements from start on all lie between two neighbouring multiples of tile. */
static bool stays_inside(const grout_view_start *start, int64_t count, int64_t tile) {
    if (start->divisor % tile == 0) {
        return get_remainder(start->known, tile) + count <= tile;
    }
    return tile % start->divisor == 0 &&
           get_remainder(start->known, start->divisor) + count <= start->divisor;
}

/* Adds a digit outside the others, or lengthens the outermost one. */
static void add_digit(grout_view_digits *digits, int64_t extent, int64_t stride) {
    if (extent == 1) {
        return;
    }
    uint32_t last = digits->count - 1;
    if (digits->count > 0 && digits->stride[last] * digits->extent[last] == stride) {
        digits->extent[last] *= extent;
        return;
    }
    digits->extent[digits->count] = extent;
    digits->stride[digits->count++] = stride;
}

bool grout_view__get_digits(const grout_module *module, const grout_view *view, uint32_t dim,
                            grout_view_digits *digits_out, int64_t *tile_out) {
    const grout_layout *layout = grout_object_get_layout(module, view->object);
    grout_view_start start = grout_view__get_start(module, view, dim);
    int64_t left = view->extent[dim]; /* groups that the digits so far do not count */
    digits_out->count = 0;
    for (uint32_t k = layout->tiled_rank; k-- > 0;) {
        int64_t divisor = layout->divisor[k];
        if (layout->dim[k] != dim) {
            continue;
        }
        if (divisor > 1 && stays_inside(&start, view->extent[dim], divisor)) {
            break;
        }
        if (divisor > 1 && !grout_view_start__is_multiple(&start, divisor)) {
            *tile_out = divisor;
            return false;
        }
        int64_t extent = layout->extent[k] < left ? layout->extent[k] : left;
        add_digit(digits_out, extent, layout->stride[k]);
        left = (left + extent - 1) / extent;
    }
    return true;
}

static void drop_first(grout_view_digits *digits) {
    digits->count--;
    for (uint32_t k = 0; k < digits->count; k++) {
        digits->extent[k] = digits->extent[k + 1];
        digits->stride[k] = digits->stride[k + 1];
    }
}

bool grout_view_digits__take(grout_view_digits *digits, int64_t size, int64_t *stride_out) {
    *stride_out = 0;
    if (size == 1 || digits->count == 0) {
        return true;
    }
    int64_t extent = digits->extent[0];
    bool is_last = digits->count == 1;
    if (!is_last && extent % size != 0) {
        return false;
    }
    *stride_out = digits->stride[0];
    if (extent <= size) {
        drop_first(digits);
        return true;
    }
    digits->extent[0] = (extent + size - 1) / size;
    digits->stride[0] *= size;
    return true;
}

bool grout_view_digits__take_rest(grout_view_digits *digits, int64_t *stride_out) {
    *stride_out = digits->count == 0 ? 0 : digits->stride[0];
    if (digits->count > 1) {
        return false;
    }
    digits->count = 0;
    return true;
}
