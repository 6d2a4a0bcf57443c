/* addresses.c - where elements of a reference lie, as index arithmetic with constants folded.
 * SPDX-License-Identifier: Apache-2.0 */
#include "places.h"

#include "invariant.h"

#include <inttypes.h>

/* A piece of a view's row-major index that maps to memory by one stride. */
typedef struct group {
    int64_t below;  /* elements of the view that vary faster */
    int64_t extent; /* of the group */
    int64_t stride; /* in the unit of the address */
    uint32_t dim;   /* of the object; the slowest one, if it holds several */
} group;

/* Everything an address is the sum of. SMEM counts in bytes, GMEM in elements. */
typedef struct address {
    grout_emit_at at;
    const char *join; /* what goes before the next term */
    const grout_view *view;
    const grout_layout *layout;
    bool is_gmem;
    int64_t unit; /* bytes */
    int64_t total;
    int64_t constant;
    uint32_t group_count;
    group groups[GROUT_RANK_MAX];
    bool is_tiled[GROUT_RANK_MAX];  /* by dimension: more than one digit */
    int64_t stride[GROUT_RANK_MAX]; /* of the others; 0 if they have a single element */
    int64_t below[GROUT_RANK_MAX];
} address;

static void find_strides(address *a) {
    for (uint32_t dim = 0; dim < a->view->rank; dim++) {
        uint32_t digits = 0;
        for (uint32_t k = 0; k < a->layout->tiled_rank; k++) {
            if (a->layout->dim[k] == dim) {
                GROUT_ASSERT(a->layout->stride[k] % a->unit == 0);
                digits++;
                a->stride[dim] = a->layout->stride[k] / a->unit;
                a->is_tiled[dim] = digits > 1 || a->layout->divisor[k] != 1;
            }
        }
        if (!a->is_tiled[dim]) {
            a->constant += a->view->start_const[dim] * a->stride[dim];
        }
    }
}

static void find_groups(address *a) {
    a->total = a->view->packed;
    for (uint32_t k = a->view->view_rank; k-- > 0;) {
        const uint32_t dim = a->view->view_dim[k];
        const int64_t extent = a->view->extent[dim];
        group *last = a->group_count == 0 ? NULL : &a->groups[a->group_count - 1];
        a->below[dim] = a->total;
        if (extent > 1 && !a->is_tiled[dim]) {
            if (a->at == GROUT_EMIT_AT_FLAT && last != NULL &&
                last->below * last->extent == a->total &&
                last->stride * last->extent == a->stride[dim]) {
                last->extent *= extent;
                last->dim = dim;
            } else {
                GROUT_ASSERT(a->group_count < GROUT_RANK_MAX);
                a->groups[a->group_count++] = (group){
                    .below = a->total, .extent = extent, .stride = a->stride[dim], .dim = dim};
            }
        }
        a->total *= extent;
    }
}

static address describe(const grout_emitter *e, const grout_view *view, grout_emit_at at) {
    address a = {.at = at,
                 .join = "",
                 .view = view,
                 .layout = grout_object_get_layout(e->module, view->object)};
    a.is_gmem = grout_space_is_of_launch(grout_module_get_object(e->module, view->object)->space);
    a.unit = a.is_gmem ? a.layout->element_bytes : 1;
    GROUT_ASSERT(a.unit > 0 && view->rank <= GROUT_RANK_MAX && view->view_rank <= view->rank);
    find_strides(&a);
    find_groups(&a);
    return a;
}

int64_t grout_emit__count_elements(const grout_view *view) {
    return grout_view_get_count(view);
}

/* A dynamic start, as start_const counts. */
static void add_start_term(grout_emitter *e, const grout_view *view, uint32_t dim, uint32_t term) {
    const int64_t divisor = grout_view_get_term_divisor(view, dim);
    grout_emit__add(e, "%s", grout_emit__name(e, view->start_terms[dim][term]));
    if (divisor > 1) {
        grout_emit__add(e, " / %" PRId64, divisor);
    }
}

void grout_emit__start(grout_emitter *e, const grout_view *view, uint32_t dim) {
    const uint32_t count = view->start_term_count[dim];
    GROUT_ASSERT(dim < view->rank && count <= GROUT_VIEW_TERMS_MAX);
    for (uint32_t k = 0; k < count; k++) {
        grout_emit__add(e, k == 0 ? "" : " + ");
        add_start_term(e, view, dim, k);
    }
    if (count == 0) {
        grout_emit__add(e, "%" PRId64, view->start_const[dim]);
    } else if (view->start_const[dim] != 0) {
        grout_emit__add(e, " %c %" PRId64, view->start_const[dim] < 0 ? '-' : '+',
                        view->start_const[dim] < 0 ? -view->start_const[dim]
                                                   : view->start_const[dim]);
    }
}

/* Whether no dimension of the view before this one is longer than 1. */
static bool is_outermost(const grout_view *view, uint32_t dim) {
    for (uint32_t k = 0; k < view->view_rank && view->view_dim[k] != dim; k++) {
        if (view->extent[view->view_dim[k]] > 1) {
            return false;
        }
    }
    return true;
}

/* "flat / 64 % 32": which of extent it is, of what varies slower than below elements; or at_row,
 * at_col. */
static void add_quotient(grout_emitter *e, const address *a, const group *g) {
    if (a->at != GROUT_EMIT_AT_FLAT) {
        const bool is_row = a->at == GROUT_EMIT_AT_ROW ||
                            (a->at == GROUT_EMIT_AT_MATRIX && is_outermost(a->view, g->dim));
        grout_emit__add(e, is_row ? "at_row" : "at_col");
        if (grout_view_get_term_divisor(a->view, g->dim) > 1) {
            grout_emit__add(e, " / %" PRId64, grout_view_get_term_divisor(a->view, g->dim));
        }
        return;
    }
    grout_emit__add(e, "flat");
    if (g->below > 1) {
        grout_emit__add(e, " / %" PRId64, g->below);
    }
    if (g->below * g->extent < a->total) {
        grout_emit__add(e, " %% %" PRId64, g->extent);
    }
}

/* Goes before each term of the sum. */
static void join_term(grout_emitter *e, address *a) {
    grout_emit__add(e, "%s", a->join);
    a->join = " + ";
}

static void add_group(grout_emitter *e, address *a, const group *g) {
    const bool is_wide = a->is_gmem && g->extent * g->stride > INT32_MAX;
    const bool is_part =
        a->at == GROUT_EMIT_AT_FLAT && (g->below > 1 || g->below * g->extent < a->total);
    join_term(e, a);
    grout_emit__add(e, "%s%s", is_wide ? "(grout_i64)" : "", is_wide && is_part ? "(" : "");
    add_quotient(e, a, g);
    grout_emit__add(e, "%s", is_wide && is_part ? ")" : "");
    if (g->stride != 1) {
        grout_emit__add(e, " * %" PRId64 "%s", g->stride, a->is_gmem ? "" : "u");
    }
}

/* The dynamic starts of a dimension with one stride. */
static void add_linear_starts(grout_emitter *e, address *a, uint32_t dim) {
    for (uint32_t k = 0; k < a->view->start_term_count[dim] && a->stride[dim] != 0; k++) {
        join_term(e, a);
        add_start_term(e, a->view, dim, k);
        if (a->stride[dim] != 1) {
            grout_emit__add(e, " * %" PRId64 "%s", a->stride[dim], a->is_gmem ? "ll" : "u");
        }
    }
}

/* Whether a tiled dimension's coordinate is a constant, which is part of the address's. */
static bool is_constant(const address *a, uint32_t dim) {
    return a->view->start_term_count[dim] == 0 &&
           (a->at == GROUT_EMIT_AT_FIRST || a->view->extent[dim] == 1);
}

/* One digit of a tiled dimension's coordinate, which is a name or stands in parentheses. */
static void add_digit(grout_emitter *e, address *a, uint32_t k, bool is_named) {
    const uint32_t dim = a->layout->dim[k];
    const int64_t size = grout_object_get_extent(e->module, a->view->object, dim);
    join_term(e, a);
    if (is_named) {
        grout_emit__add(e, "x%" PRIu32, e->coordinates[dim]);
    } else {
        grout_emit__add(e, "(grout_u32)(");
        grout_emit__start(e, a->view, dim);
        grout_emit__add(e, ")");
    }
    if (a->layout->divisor[k] > 1) {
        grout_emit__add(e, " / %" PRId64, a->layout->divisor[k]);
    }
    if (a->layout->divisor[k] * a->layout->extent[k] < size) {
        grout_emit__add(e, " %% %" PRId64, a->layout->extent[k]);
    }
    grout_emit__add(e, " * %" PRId64 "u", a->layout->stride[k] / a->unit);
}

/* The sum after the object's base: everything but the swizzle. */
static void add_terms(grout_emitter *e, address *a, bool is_named) {
    int64_t constant = a->constant;
    for (uint32_t dim = 0; dim < a->view->rank; dim++) {
        if (!a->is_tiled[dim]) {
            add_linear_starts(e, a, dim);
        }
    }
    for (uint32_t k = 0; k < a->layout->tiled_rank; k++) {
        const uint32_t dim = a->layout->dim[k];
        if (a->is_tiled[dim] && is_constant(a, dim)) {
            constant += a->view->start_const[dim] / a->layout->divisor[k] % a->layout->extent[k] *
                        (a->layout->stride[k] / a->unit);
        } else if (a->is_tiled[dim]) {
            add_digit(e, a, k, is_named);
        }
    }
    for (uint32_t k = a->group_count; a->at != GROUT_EMIT_AT_FIRST && k-- > 0;) {
        add_group(e, a, &a->groups[k]);
    }
    if (constant < 0) {
        grout_emit__add(e, " - %" PRId64 "%s", -constant, a->is_gmem ? "ll" : "u");
    } else if (constant > 0) {
        join_term(e, a);
        grout_emit__add(e, "%" PRId64 "%s", constant, a->is_gmem ? "ll" : "u");
    }
}

/* Whether the sum is not the address yet. */
static bool is_permuted(const address *a) {
    return a->layout->swizzle != 0 || a->layout->address_bits != 0;
}

/* The bits that a distance takes to their images, as a mask of these: distance is that of the image
 * below the bit, plus GROUT_ADDRESS_BITS_MAX. What lies above the permuted bits stays. */
static uint32_t get_image_mask(const grout_layout *layout, uint32_t distance) {
    uint32_t mask =
        distance == GROUT_ADDRESS_BITS_MAX ? ~((UINT32_C(1) << layout->address_bits) - 1) : 0;
    for (uint32_t bit = 0; bit < layout->address_bits; bit++) {
        const uint32_t image = bit + GROUT_ADDRESS_BITS_MAX - distance;
        if (image < layout->address_bits) {
            mask |= layout->images[bit] & UINT32_C(1) << image;
        }
    }
    return mask;
}

/* " + (x1 ^ (x1 >> 3 & 112u))": one term for each distance over which bits go. */
static void add_images(grout_emitter *e, const grout_layout *layout) {
    const char *join = " + (";
    for (uint32_t distance = 1; distance < 2 * GROUT_ADDRESS_BITS_MAX; distance++) {
        const uint32_t mask = get_image_mask(layout, distance);
        if (mask == 0) {
            continue;
        }
        grout_emit__add(e, "%s", join);
        join = " ^ ";
        if (mask == UINT32_MAX) {
            grout_emit__add(e, "x%" PRIu32, e->offset);
        } else if (distance == GROUT_ADDRESS_BITS_MAX) {
            grout_emit__add(e, "(x%" PRIu32 " & 0x%" PRIx32 "u)", e->offset, mask);
        } else {
            const bool is_down = distance > GROUT_ADDRESS_BITS_MAX;
            grout_emit__add(e, "(x%" PRIu32 " %s %" PRIu32 " & 0x%" PRIx32 "u)", e->offset,
                            is_down ? ">>" : "<<",
                            is_down ? distance - GROUT_ADDRESS_BITS_MAX
                                    : GROUT_ADDRESS_BITS_MAX - distance,
                            mask);
        }
    }
    grout_emit__add(e, ")");
}

void grout_emit__prepare_address(grout_emitter *e, const grout_view *view, grout_emit_at at) {
    address a = describe(e, view, at);
    if (grout_emit__is_peer(view)) {
        e->peer = e->temp_count++;
        grout_emit__begin(e);
        grout_emit__add(e, "const grout_u32 x%" PRIu32 " = grout_peer_address(%s, ", e->peer,
                        grout_emit__name(e, view->base));
        grout_emit__rank(e, view);
        grout_emit__end(e, ");");
    }
    for (uint32_t dim = 0; dim < view->rank; dim++) {
        if (!a.is_tiled[dim] || is_constant(&a, dim)) {
            continue;
        }
        e->coordinates[dim] = e->temp_count++;
        grout_emit__begin(e);
        grout_emit__add(e, "const grout_u32 x%" PRIu32 " = ", e->coordinates[dim]);
        const bool is_zero = view->start_term_count[dim] == 0 && view->start_const[dim] == 0;
        const bool has_index = at != GROUT_EMIT_AT_FIRST && view->extent[dim] > 1;
        if (!is_zero || !has_index) {
            grout_emit__start(e, view, dim);
        }
        if (has_index) {
            grout_emit__add(e, is_zero ? "" : " + ");
            add_quotient(e, &a,
                         &(group){.below = a.below[dim], .extent = view->extent[dim], .dim = dim});
        }
        grout_emit__end(e, ";");
    }
    if (is_permuted(&a)) {
        e->offset = e->temp_count++;
        grout_emit__begin(e);
        grout_emit__add(e, "const grout_u32 x%" PRIu32 " = ", e->offset);
        add_terms(e, &a, true);
        grout_emit__end(e, a.join[0] == '\0' ? "0;" : ";");
    }
}

void grout_emit__address(grout_emitter *e, const grout_view *view, grout_emit_at at) {
    address a = describe(e, view, at);
    if (grout_emit__is_peer(view)) {
        grout_emit__add(e, "x%" PRIu32, e->peer);
    } else {
        grout_emit__add(e, "%s", grout_emit__name(e, view->base));
    }
    a.join = " + ";
    if (a.layout->swizzle != 0) {
        grout_emit__add(e, " + (x%" PRIu32 " ^ ((x%" PRIu32 " >> 7 & %" PRIu32 "u) << 4))",
                        e->offset, e->offset, a.layout->swizzle / 16 - 1);
        return;
    }
    if (a.layout->address_bits != 0) {
        add_images(e, a.layout);
        return;
    }
    add_terms(e, &a, true);
}

void grout_emit__smem_start(grout_emitter *e, const grout_view *view) {
    address a = describe(e, view, GROUT_EMIT_AT_FIRST);
    GROUT_ASSERT(!a.is_gmem);
    grout_emit__add(e, "%s", grout_emit__name(e, view->base));
    a.join = " + ";
    add_terms(e, &a, false);
}
