/* layout_words.c - reads the SMEM layout that a kernel spells out, as Gluon prints one.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Sources: Triton, python/triton/experimental/gluon/language/_layouts.py, SwizzledSharedLayout,
 * PaddedSharedLayout and SharedLinearLayout. All sizes are powers of two, so that an address is a
 * row-major one with bits exchanged, or with bytes left free.
 */
#include "layout.h"

#include "invariant.h"
#include "list_reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    ROWS_MAX = 20, /* of one list */
    NUMBER_MAX = 1 << 18
};

_Static_assert((int)ROWS_MAX <= (int)GROUT_LIST_ROWS &&
                   (int)GROUT_RANK_MAX <= (int)GROUT_LIST_COLUMNS,
               "a list has room for the most of each");

typedef enum key {
    VEC,
    PER_PHASE,
    MAX_PHASE,
    PADS,
    OFFSET_BASES,
    ORDER,
    BLOCK_BASES,
    CGA_LAYOUT,
    ALIGNMENT,
    SHAPE,
    KEY_COUNT
} key;

static const char *const names[KEY_COUNT] = {
    "vec",          "per_phase", "max_phase",   "interval_padding_pairs",
    "offset_bases", "order",     "block_bases", "cga_layout",
    "alignment",    "shape"};

typedef struct reader {
    grout_list_reader text;
    grout_list lists[KEY_COUNT];
    grout_layout_spec *spec;
    uint8_t rank;                  /* dimensions that the layout speaks of: the last ones */
    uint8_t bits;                  /* of their elements' row-major number */
    uint8_t shift[GROUT_RANK_MAX]; /* by dimension of the array: its first bit in that number */
} reader;

static bool read_key(reader *r) {
    for (uint32_t k = 0; k < KEY_COUNT; k++) {
        const char *before = r->text.at;
        if (grout_list__accept(&r->text, names[k]) && grout_list__accept(&r->text, "=")) {
            if (r->lists[k].is_there) {
                return grout_list__fail(&r->text, "%s stands twice", names[k]);
            }
            return grout_list__read(&r->text, &r->lists[k]) &&
                   (grout_list__accept(&r->text, ",") || true);
        }
        r->text.at = before;
    }
    return grout_list__fail(&r->text,
                            "'%.20s' is none of vec, per_phase, max_phase, interval_padding_pairs, "
                            "offset_bases, order, block_bases, cga_layout, alignment, shape",
                            r->text.at);
}

/* 'PaddedSharedLayout(..)', or what stands inside alone. */
static bool read_text(reader *r) {
    const bool is_named = grout_list__accept(&r->text, "SwizzledSharedLayout(") ||
                          grout_list__accept(&r->text, "PaddedSharedLayout(") ||
                          grout_list__accept(&r->text, "SharedLinearLayout(");
    while (r->text.ok && grout_list__accept(&r->text, "") && *r->text.at != '\0' &&
           *r->text.at != ')') {
        (void)read_key(r);
    }
    if (is_named && !grout_list__accept(&r->text, ")")) {
        return grout_list__fail(&r->text, "the layout lacks its closing bracket");
    }
    (void)grout_list__accept(&r->text, "");
    return r->text.ok &&
           (*r->text.at == '\0' ||
            grout_list__fail(&r->text, "'%.20s' stands after the layout", r->text.at));
}

/* ---- sizes ----------------------------------------------------------------------------------- */

/* The exponent of a power of two, or UINT32_MAX. */
static uint32_t get_bits(int64_t number) {
    uint32_t bits = 0;
    while (bits < 62 && number > INT64_C(1) << bits) {
        bits++;
    }
    return number == INT64_C(1) << bits ? bits : UINT32_MAX;
}

/* The first dimension of the array that the layout speaks of. */
static uint8_t get_first(const reader *r) {
    return (uint8_t)(r->spec->rank - r->rank);
}

/* The dimensions that it speaks of: all, or the last ones, before which slots stand. */
static bool find_rank(reader *r) {
    const grout_list *order = &r->lists[ORDER], *bases = &r->lists[OFFSET_BASES];
    const uint32_t rank = order->is_there    ? order->count
                          : bases->count > 0 ? bases->lengths[0]
                                             : r->spec->rank;
    if (rank < 1 || rank > r->spec->rank) {
        return grout_list__fail(&r->text, "it has %" PRIu32 " dimensions, and the array %d", rank,
                                r->spec->rank);
    }
    r->rank = (uint8_t)rank;
    uint32_t bits = 0;
    for (uint8_t dim = get_first(r); dim < r->spec->rank; dim++) {
        const uint32_t more = get_bits(r->spec->dims[dim]);
        if (more == UINT32_MAX) {
            return grout_list__fail(&r->text,
                                    "dimension %d has %" PRId64 " elements, and not a power of two",
                                    dim, r->spec->dims[dim]);
        }
        bits += more;
    }
    if (bits + get_bits(r->spec->element_bytes) > GROUT_ADDRESS_BITS_MAX) {
        return grout_list__fail(&r->text,
                                "it spans %" PRIu32 " bits of elements, more than SMEM has", bits);
    }
    r->bits = (uint8_t)bits;
    return true;
}

/* The dimensions from the fastest on: as stored ones, which the spec counts the other way. */
static void set_order(reader *r, const uint8_t *order) {
    grout_layout_spec *spec = r->spec;
    const uint8_t first = get_first(r);
    uint32_t shift = 0;
    spec->has_transpose = true;
    for (uint8_t k = 0; k < first; k++) {
        spec->permutation[k] = k;
    }
    for (uint8_t k = 0; k < r->rank; k++) {
        const uint8_t dim = (uint8_t)(first + order[k]);
        spec->permutation[spec->rank - 1u - k] = dim;
        r->shift[dim] = (uint8_t)shift;
        shift += get_bits(spec->dims[dim]);
    }
}

static bool read_order(reader *r) {
    const grout_list *l = &r->lists[ORDER];
    uint8_t order[GROUT_RANK_MAX] = {0};
    bool is_taken[GROUT_RANK_MAX] = {false};
    for (uint8_t k = 0; k < r->rank; k++) {
        const int32_t dim = l->is_there ? l->numbers[k][0] : r->rank - 1 - k;
        if (dim >= r->rank || is_taken[dim] || (l->is_there && l->lengths[k] > 0)) {
            return grout_list__fail(
                &r->text, "order takes each of the dimensions 0 to %d once, the fastest first",
                r->rank - 1);
        }
        is_taken[dim] = true;
        order[k] = (uint8_t)dim;
    }
    set_order(r, order);
    return true;
}

/* The images of the bits of bytes, from those of elements. */
static void set_images(reader *r, const uint32_t *images) {
    const uint32_t low = get_bits(r->spec->element_bytes);
    for (uint32_t k = 0; k < low; k++) {
        r->spec->images[k] = UINT32_C(1) << k;
    }
    for (uint32_t k = 0; k < r->bits; k++) {
        r->spec->images[low + k] = images[k] << low;
    }
    r->spec->address_bits = (uint8_t)(low + r->bits);
}

/* ---- the three kinds ---------------------------------------------------------------------------
 */

/* A number that is a power of two, of a key that has to be there. */
static bool take_power(reader *r, key which, int32_t *number_out) {
    const grout_list *l = &r->lists[which];
    if (!l->is_there || l->count != 1 || l->lengths[0] > 0) {
        return grout_list__fail(&r->text, "%s is missing, a number", names[which]);
    }
    *number_out = l->numbers[0][0];
    return get_bits(*number_out) != UINT32_MAX ||
           grout_list__fail(&r->text, "%s is %" PRId32 ", and not a power of two", names[which],
                            *number_out);
}

/* Runs of vec elements of a row are exchanged by the row's phase. */
static bool read_swizzled(reader *r) {
    int32_t vec = 1, per_phase = 1, max_phase = 1;
    uint32_t images[GROUT_ADDRESS_BITS_MAX];
    if (!take_power(r, VEC, &vec) || !take_power(r, PER_PHASE, &per_phase) ||
        !take_power(r, MAX_PHASE, &max_phase) || !read_order(r)) {
        return false;
    }
    if (r->rank < 2 && max_phase > 1) {
        return grout_list__fail(&r->text, "phases are those of rows, and it has one dimension");
    }
    const uint8_t *stored = r->spec->permutation + r->spec->rank - 1u; /* the fastest */
    const int64_t cols = r->spec->dims[stored[0]];
    const uint32_t col_bits = get_bits(cols);
    const uint32_t row_bits = r->rank < 2 ? 0 : get_bits(r->spec->dims[stored[-1]]);
    for (uint32_t k = 0; k < r->bits; k++) {
        images[k] = UINT32_C(1) << k;
        if (k >= col_bits && k < col_bits + row_bits) {
            const int64_t phase = (INT64_C(1) << (k - col_bits)) / per_phase % max_phase;
            images[k] |= (uint32_t)(phase * vec % cols);
        }
    }
    set_images(r, images);
    return true;
}

/* Elements left free after every so many. */
static bool read_padded(reader *r) {
    const grout_list *l = &r->lists[PADS];
    grout_layout_spec *spec = r->spec;
    if (l->count < 1 || l->count > GROUT_PADS_MAX) {
        return grout_list__fail(&r->text, "interval_padding_pairs has 1 to %d pairs",
                                GROUT_PADS_MAX);
    }
    if (!read_order(r)) {
        return false;
    }
    for (uint32_t k = 0; k < l->count; k++) {
        const int32_t interval = l->numbers[k][0], padding = l->numbers[k][1];
        if (l->lengths[k] != 2 || get_bits(interval) == UINT32_MAX ||
            get_bits(padding) == UINT32_MAX) {
            return grout_list__fail(
                &r->text, "pair %" PRIu32 " is not an interval and padding, powers of two", k);
        }
        if (interval > 1 << r->bits) {
            return grout_list__fail(&r->text, "an interval of %" PRId32 " elements, and it has %d",
                                    interval, 1 << r->bits);
        }
        for (uint32_t before = 0; before < k; before++) {
            if (l->numbers[before][0] == interval) {
                return grout_list__fail(&r->text, "the interval %" PRId32 " stands twice",
                                        interval);
            }
        }
        spec->pad_interval[k] = (int64_t)interval * spec->element_bytes;
        spec->pad_bytes[k] = (int64_t)padding * spec->element_bytes;
    }
    spec->pad_count = (uint8_t)l->count;
    return true;
}

/* The dimension that an earlier base leads along is the faster one: then more bytes stay together.
 */
static void order_by_bases(reader *r) {
    const grout_list *l = &r->lists[OFFSET_BASES];
    uint8_t order[GROUT_RANK_MAX] = {0}, count = 0;
    bool is_taken[GROUT_RANK_MAX] = {false};
    for (uint32_t k = 0; k < l->count; k++) {
        for (uint8_t dim = r->rank; dim-- > 0;) {
            if (l->numbers[k][dim] != 0 && !is_taken[dim]) {
                is_taken[dim] = true;
                order[count++] = dim;
            }
        }
    }
    for (uint8_t dim = r->rank; dim-- > 0;) {
        if (!is_taken[dim]) {
            order[count++] = dim;
        }
    }
    set_order(r, order);
}

/* The place that a base leads to, as the bits of a row-major number. */
static bool read_base(reader *r, uint32_t k, uint32_t *place_out) {
    const grout_list *l = &r->lists[OFFSET_BASES];
    const uint8_t first = get_first(r);
    *place_out = 0;
    if (l->lengths[k] != r->rank) {
        return grout_list__fail(&r->text, "offset_bases: base %" PRIu32 " has not %d numbers", k,
                                r->rank);
    }
    for (uint8_t dim = 0; dim < r->rank; dim++) {
        if (l->numbers[k][dim] >= r->spec->dims[first + dim]) {
            return grout_list__fail(&r->text,
                                    "offset_bases: base %" PRIu32 " leads to %" PRId32
                                    " in dimension %d, "
                                    "which has %" PRId64 " elements",
                                    k, l->numbers[k][dim], first + dim, r->spec->dims[first + dim]);
        }
        *place_out |= (uint32_t)l->numbers[k][dim] << r->shift[first + dim];
    }
    return true;
}

/* Names bases that cancel out: two sums of them lead to one element. */
static bool fail_doubled(reader *r, uint32_t which) {
    char text[100] = "";
    size_t size = 0;
    for (uint32_t k = 0; k < r->bits && size < sizeof text; k++) {
        if ((which >> k & 1u) != 0) {
            size += (size_t)snprintf(text + size, sizeof text - size, "%s%" PRIu32,
                                     size == 0 ? "" : ", ", k);
        }
    }
    return grout_list__fail(
        &r->text,
        "offset_bases: bases %s cancel out, so one element has several addresses and "
        "another none",
        text);
}

/* An address in elements leads to the sum of the bases of its bits; here the other way round. */
static bool read_linear(reader *r) {
    const grout_list *l = &r->lists[OFFSET_BASES];
    uint32_t places[GROUT_ADDRESS_BITS_MAX] = {0};
    uint32_t images[GROUT_ADDRESS_BITS_MAX], problem = 0;
    if (l->count != r->bits) {
        return grout_list__fail(
            &r->text, "offset_bases: %" PRIu32 " bases, and an array of %d elements has %d",
            l->count, 1 << r->bits, r->bits);
    }
    order_by_bases(r);
    for (uint32_t k = 0; k < l->count; k++) {
        if (!read_base(r, k, &places[k])) {
            return false;
        }
        if (places[k] == 0) {
            return grout_list__fail(&r->text,
                                    "offset_bases: base %" PRIu32
                                    " leads nowhere: an element would have "
                                    "two addresses",
                                    k);
        }
    }
    if (!grout_layout__invert(places, r->bits, images, &problem)) {
        return fail_doubled(r, problem);
    }
    set_images(r, images);
    return true;
}

/* What says nothing here: empty lists of CTAs, an alignment that arrays have anyway, the shape. */
static bool check_others(reader *r) {
    const grout_list *alignment = &r->lists[ALIGNMENT], *shape = &r->lists[SHAPE];
    for (uint32_t k = BLOCK_BASES; k <= CGA_LAYOUT; k++) {
        if (r->lists[k].count > 0) {
            return grout_list__fail(&r->text,
                                    "%s has bases, and an smem array is of one CTA: leave it empty",
                                    names[k]);
        }
    }
    if (alignment->is_there) {
        enum { ALIGNMENT_MAX = 1024 };
        int32_t bytes = 1;
        if (!take_power(r, ALIGNMENT, &bytes)) {
            return false;
        }
        if (bytes > ALIGNMENT_MAX) {
            return grout_list__fail(
                &r->text, "an alignment of %" PRId32 " bytes: arrays start at multiples of %d",
                bytes, ALIGNMENT_MAX);
        }
    }
    for (uint32_t k = 0; k < shape->count; k++) {
        if (shape->count != r->rank || shape->numbers[k][0] != r->spec->dims[get_first(r) + k]) {
            return grout_list__fail(&r->text, "shape is not that of the array");
        }
    }
    return true;
}

bool grout_layout__read(const char *text, grout_layout_spec *spec,
                        grout_layout_problem *problem_out) {
    reader r = {.text = {.at = text,
                         .rows = ROWS_MAX,
                         .columns = GROUT_RANK_MAX,
                         .number = NUMBER_MAX,
                         .problem = problem_out->text,
                         .problem_size = sizeof problem_out->text,
                         .ok = true},
                .spec = spec};
    spec->is_custom = true;
    if (!read_text(&r)) {
        return false;
    }
    const bool is_swizzled =
        r.lists[VEC].is_there || r.lists[PER_PHASE].is_there || r.lists[MAX_PHASE].is_there;
    const bool is_padded = r.lists[PADS].is_there, is_linear = r.lists[OFFSET_BASES].is_there;
    if (is_swizzled + is_padded + is_linear != 1) {
        return grout_list__fail(
            &r.text, "it is one of: vec, per_phase and max_phase; interval_padding_pairs; "
                     "offset_bases");
    }
    if (is_linear && r.lists[ORDER].is_there) {
        return grout_list__fail(&r.text, "offset_bases give the order");
    }
    return find_rank(&r) && check_others(&r) &&
           (is_swizzled ? read_swizzled(&r)
            : is_padded ? read_padded(&r)
                        : read_linear(&r));
}
