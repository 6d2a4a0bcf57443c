/* layout.c - where the elements of an object lie: digits of an address, runs and pieces of a box.
 * SPDX-License-Identifier: Apache-2.0 */
#include "layout.h"

#include "invariant.h"

#include <string.h>

#define CHUNK          16 /* bytes that a swizzle keeps together */
#define SWIZZLE_PERIOD 1024
#define DIGITS_MAX     (2 * GROUT_RANK_MAX)

static void add_digit(grout_layout *layout, uint8_t dim, int64_t divisor, int64_t extent) {
    uint32_t last = layout->tiled_rank;
    if (extent == 1) {
        return;
    }
    if (last > 0 && layout->dim[last - 1] == dim && layout->divisor[last - 1] == divisor * extent) {
        layout->divisor[last - 1] = divisor;
        layout->extent[last - 1] *= extent;
        return;
    }
    GROUT_ASSERT(last < DIGITS_MAX && extent > 1 && divisor >= 1);
    layout->dim[last] = dim;
    layout->divisor[last] = divisor;
    layout->extent[last] = extent;
    layout->tiled_rank++;
}

/* ---- layouts of the user's own ----------------------------------------------------------------
 */

/* Bytes left free before a byte of the array without them. */
static int64_t get_padding(const grout_layout_spec *spec, int64_t offset) {
    int64_t padding = 0;
    for (uint32_t k = 0; k < spec->pad_count; k++) {
        padding += offset / spec->pad_interval[k] * spec->pad_bytes[k];
    }
    return padding;
}

/* Ends a digit where an interval does. */
static void push_digit(grout_layout *layout, uint8_t dim, int64_t extent, int64_t stride,
                       int64_t divisor) {
    const uint32_t last = layout->tiled_rank++;
    GROUT_ASSERT(last < DIGITS_MAX);
    layout->dim[last] = dim;
    layout->extent[last] = extent;
    layout->stride[last] = stride;
    layout->divisor[last] = divisor;
}

/* The largest interval inside a digit, or 1. */
static int64_t find_cut(const grout_layout_spec *spec, int64_t stride, int64_t extent) {
    int64_t cut = 1;
    for (uint32_t k = 0; k < spec->pad_count; k++) {
        const int64_t interval = spec->pad_interval[k];
        if (interval > stride && interval < stride * extent && interval / stride > cut) {
            cut = interval / stride;
        }
    }
    return cut;
}

/* Cuts the digits at the intervals: then each digit's stride grows by the padding that it passes.
 */
static void pad(grout_layout *layout, const grout_layout_spec *spec) {
    const grout_layout dense = *layout;
    layout->tiled_rank = 0;
    int64_t last = 0;
    for (uint32_t k = 0; k < dense.tiled_rank; k++) {
        int64_t left = dense.extent[k];
        for (int64_t cut = 0; cut != 1;) {
            cut = find_cut(spec, dense.stride[k], left);
            const int64_t stride = dense.stride[k] * cut;
            push_digit(layout, dense.dim[k], left / cut, stride + get_padding(spec, stride),
                       dense.divisor[k] * cut);
            left = cut;
        }
    }
    for (uint32_t k = 0; k < layout->tiled_rank; k++) {
        last += (layout->extent[k] - 1) * layout->stride[k];
    }
    layout->bytes = last + layout->element_bytes;
}

bool grout_layout__invert(const uint32_t *images, uint32_t bits, uint32_t *origins_out,
                          uint32_t *problem_out) {
    uint32_t rows[GROUT_ADDRESS_BITS_MAX], from[GROUT_ADDRESS_BITS_MAX];
    GROUT_ASSERT(bits <= GROUT_ADDRESS_BITS_MAX);
    for (uint32_t k = 0; k < bits; k++) {
        rows[k] = images[k];
        from[k] = UINT32_C(1) << k;
    }
    for (uint32_t bit = 0; bit < bits; bit++) {
        uint32_t pivot = bit;
        while (pivot < bits && (rows[pivot] >> bit & 1u) == 0) {
            pivot++;
        }
        if (pivot == bits) {
            break;
        }
        const uint32_t row = rows[pivot], origin = from[pivot];
        rows[pivot] = rows[bit];
        from[pivot] = from[bit];
        rows[bit] = row;
        from[bit] = origin;
        for (uint32_t k = 0; k < bits; k++) {
            if (k != bit && (rows[k] >> bit & 1u) != 0) {
                rows[k] ^= row;
                from[k] ^= origin;
            }
        }
    }
    for (uint32_t k = 0; k < bits; k++) {
        if (rows[k] != UINT32_C(1) << k) {
            *problem_out = from[k];
            return false;
        }
        origins_out[k] = from[k];
    }
    return true;
}

static void set_images(grout_layout *layout, const grout_layout_spec *spec) {
    uint32_t problem, low = spec->address_bits, high = 0;
    layout->address_bits = spec->address_bits;
    memcpy(layout->images, spec->images, sizeof layout->images);
    const bool ok =
        grout_layout__invert(layout->images, layout->address_bits, layout->origins, &problem);
    GROUT_ASSERT(ok);
    (void)ok;
    for (uint32_t k = 0; k < layout->address_bits; k++) {
        const uint32_t moved = layout->images[k] ^ UINT32_C(1) << k;
        for (uint32_t bit = 0; bit < layout->address_bits && moved != 0; bit++) {
            if ((moved >> bit & 1u) != 0 || bit == k) {
                low = bit < low ? bit : low;
                high = bit + 1 > high ? bit + 1 : high;
            }
        }
    }
    if (high == 0) {
        layout->address_bits = 0;
        return;
    }
    layout->chunk = UINT32_C(1) << low;
    layout->period = UINT32_C(1) << high;
}

grout_layout grout_layout__make(const grout_layout_spec *spec) {
    grout_layout layout = {
        .rank = spec->rank, .element_bytes = spec->element_bytes, .swizzle = spec->swizzle};
    GROUT_ASSERT(spec->rank <= GROUT_RANK_MAX && spec->tile_rank <= spec->rank);
    GROUT_ASSERT(spec->swizzle == 0 || spec->swizzle == 32 || spec->swizzle == 64 ||
                 spec->swizzle == 128);
    uint32_t first_tiled = spec->rank - spec->tile_rank;
    for (uint32_t k = 0; k < spec->rank; k++) {
        uint8_t dim = spec->has_transpose ? spec->permutation[k] : (uint8_t)k;
        int64_t tile = k < first_tiled ? 1 : spec->tile[k - first_tiled];
        GROUT_ASSERT(dim < spec->rank && tile >= 1 && spec->dims[dim] % tile == 0);
        add_digit(&layout, dim, tile, spec->dims[dim] / tile);
    }
    for (uint32_t k = first_tiled; k < spec->rank; k++) {
        uint8_t dim = spec->has_transpose ? spec->permutation[k] : (uint8_t)k;
        add_digit(&layout, dim, 1, spec->tile[k - first_tiled]);
    }
    int64_t stride = spec->element_bytes;
    for (uint32_t k = layout.tiled_rank; k-- > 0;) {
        layout.stride[k] = stride;
        stride *= layout.extent[k];
    }
    layout.bytes = stride;
    layout.is_custom = spec->is_custom;
    layout.chunk = layout.swizzle != 0 ? CHUNK : UINT32_MAX;
    layout.period = layout.swizzle != 0 ? SWIZZLE_PERIOD : 1;
    if (spec->pad_count > 0) {
        pad(&layout, spec);
    }
    if (spec->address_bits > 0) {
        set_images(&layout, spec);
    }
    return layout;
}

bool grout_layout_is_plain(const grout_layout *layout) {
    for (uint32_t k = 1; k < layout->tiled_rank; k++) {
        if (layout->dim[k] <= layout->dim[k - 1]) {
            return false;
        }
    }
    for (uint32_t k = 1; k < layout->tiled_rank; k++) {
        if (layout->stride[k - 1] != layout->stride[k] * layout->extent[k]) {
            return false;
        }
    }
    return layout->swizzle == 0 && layout->address_bits == 0;
}

/* The address whose bits are those that the set bits of another one become. */
static int64_t map_bits(const uint32_t *images, uint32_t bits, int64_t offset) {
    int64_t mapped = offset >> bits << bits;
    for (uint32_t k = 0; k < bits; k++) {
        mapped ^= (offset >> k & 1) != 0 ? (int64_t)images[k] : 0;
    }
    return mapped;
}

/* PTX ISA 9.1 'Shared memory swizzle modes'; an involution that stays inside swizzle-aligned rows.
 */
static int64_t swizzle_offset(uint32_t swizzle, int64_t offset) {
    int64_t mask = (int64_t)swizzle / CHUNK - 1;
    return swizzle == 0 ? offset : offset ^ (offset >> 7 & mask) << 4;
}

/* The address of the sum of the digits. */
static int64_t permute(const grout_layout *layout, int64_t offset) {
    return layout->address_bits == 0 ? swizzle_offset(layout->swizzle, offset)
                                     : map_bits(layout->images, layout->address_bits, offset);
}

/* The digit with the largest stride below this one. Those of a table of scales are not sorted. */
static uint32_t find_next_digit(const grout_layout *layout, int64_t before) {
    uint32_t found = layout->tiled_rank;
    for (uint32_t k = 0; k < layout->tiled_rank; k++) {
        if (layout->stride[k] < before &&
            (found == layout->tiled_rank || layout->stride[k] > layout->stride[found])) {
            found = k;
        }
    }
    GROUT_ASSERT(found < layout->tiled_rank);
    return found;
}

void grout_layout_get_index(const grout_layout *layout, int64_t offset, int64_t *index) {
    offset = layout->address_bits == 0
                 ? swizzle_offset(layout->swizzle, offset) /* its own inverse */
                 : map_bits(layout->origins, layout->address_bits, offset);
    for (uint32_t dim = 0; dim < layout->rank; dim++) {
        index[dim] = 0;
    }
    int64_t before = INT64_MAX;
    for (uint32_t i = 0; i < layout->tiled_rank; i++) {
        const uint32_t k = find_next_digit(layout, before);
        const int64_t digit = offset / layout->stride[k];
        const int64_t last = layout->extent[k] - 1;
        index[layout->dim[k]] += (digit < last ? digit : last) * layout->divisor[k];
        offset -= (digit < last ? digit : last) * layout->stride[k];
        before = layout->stride[k];
    }
}

int64_t grout_layout_get_offset(const grout_layout *layout, const int64_t *index) {
    int64_t offset = 0;
    for (uint32_t k = 0; k < layout->tiled_rank; k++) {
        int64_t digit = index[layout->dim[k]] / layout->divisor[k] % layout->extent[k];
        offset += digit * layout->stride[k];
    }
    return permute(layout, offset);
}

/* A digit of the dimension that is counted up. */
typedef struct counted_digit {
    int64_t left; /* steps until it changes */
    int64_t value;
    uint32_t k;
} counted_digit;

/* One step along the dimension: how far the sum of its digits moves. */
static int64_t count_up(const grout_layout *layout, counted_digit *digits, uint32_t count) {
    int64_t moved = 0;
    for (uint32_t i = 0; i < count; i++) {
        counted_digit *digit = &digits[i];
        if (--digit->left > 0) {
            continue;
        }
        const int64_t before = digit->value;
        digit->left = layout->divisor[digit->k];
        digit->value = before + 1 == layout->extent[digit->k] ? 0 : before + 1;
        moved += (digit->value - before) * layout->stride[digit->k];
    }
    return moved;
}

void grout_layout_get_offsets(const grout_layout *layout, const int64_t *index, uint32_t dim,
                              int64_t *offsets, uint32_t count) {
    counted_digit digits[DIGITS_MAX];
    uint32_t digit_count = 0;
    int64_t sum = 0;
    for (uint32_t k = 0; k < layout->tiled_rank; k++) {
        const int64_t at = index[layout->dim[k]], divisor = layout->divisor[k];
        const int64_t value = at / divisor % layout->extent[k];
        sum += value * layout->stride[k];
        if (layout->dim[k] == dim) {
            digits[digit_count++] =
                (counted_digit){.left = divisor - at % divisor, .value = value, .k = k};
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        offsets[i] = permute(layout, sum);
        sum += count_up(layout, digits, digit_count);
    }
}

/*
 * The walk. A box is [low, high] in each dimension. Its elements are visited digit by digit, in an
 * order of digits in which each dimension's larger divisors come first: address order for runs,
 * logical order for pieces. Choosing the first or last value of a digit leaves part of the next
 * digits' range, any other value all of it. As soon as the digits that are left make one strided
 * run, it goes out whole. The simple model is a loop over all elements with
 * grout_layout_get_offset: tests/unit/lowering/check_layout.c compares the two.
 */
typedef struct box_walk {
    const grout_layout *layout;
    uint32_t digits[DIGITS_MAX]; /* in the order of the walk */
    int64_t low[GROUT_RANK_MAX], high[GROUT_RANK_MAX];
    grout_run *runs; /* the set of bytes, or NULL */
    grout_piece *pieces;
    bool is_ordered; /* pieces, not runs */
    int64_t max, count;
    int64_t element;    /* of the next piece */
    grout_run last_run; /* not written yet; count 0: none */
    grout_piece last_piece;
} box_walk;

static void flush_run(box_walk *walk) {
    if (walk->last_run.count > 0) {
        if (walk->count < walk->max) {
            walk->runs[walk->count] = walk->last_run;
        }
        walk->count++;
    }
    walk->last_run.count = 0;
}

/* Adds a run after the last one. The two become one if they are adjacent or equally spaced. */
static void add_run(box_walk *walk, grout_run run) {
    grout_run *last = &walk->last_run;
    int64_t last_piece = last->base + (last->count - 1) * last->stride;
    if (last->count > 0 && last_piece + last->length == run.base) {
        if (run.count > 1) {
            add_run(walk, (grout_run){.base = run.base, .count = 1, .length = run.length});
            run.base += run.stride;
            run.count--;
            run.stride = run.count == 1 ? 0 : run.stride;
            add_run(walk, run);
        } else if (last->count > 1) {
            run.base = last_piece;
            run.length += last->length;
            last->count--;
            last->stride = last->count == 1 ? 0 : last->stride;
            flush_run(walk);
            *last = run;
        } else {
            last->length += run.length;
        }
        return;
    }
    int64_t step = run.base - last_piece;
    if (last->count > 0 && last->length == run.length &&
        (last->count == 1 || last->stride == step) && (run.count == 1 || run.stride == step)) {
        last->stride = step;
        last->count += run.count;
        return;
    }
    flush_run(walk);
    *last = run;
}

static void flush_piece(box_walk *walk) {
    if (walk->last_piece.length > 0) {
        if (walk->count < walk->max) {
            walk->pieces[walk->count] = walk->last_piece;
        }
        walk->count++;
    }
    walk->last_piece.length = 0;
}

static void add_piece(box_walk *walk, int64_t offset, int64_t length) {
    grout_piece *last = &walk->last_piece;
    if (last->length > 0 && last->offset + last->length == offset) {
        last->length += length;
    } else {
        flush_piece(walk);
        *last = (grout_piece){.element = walk->element, .offset = offset, .length = length};
    }
    walk->element += length / walk->layout->element_bytes;
}

/* The part of a piece that lies in one swizzled row, as a set: its chunks sorted by address. */
static void add_row_part(box_walk *walk, int64_t first, int64_t end) {
    grout_run parts[8];
    uint32_t count = 0;
    for (int64_t at = first; at < end;) {
        int64_t next = (at / CHUNK + 1) * CHUNK < end ? (at / CHUNK + 1) * CHUNK : end;
        grout_run part = {.base = swizzle_offset(walk->layout->swizzle, at), .count = 1};
        part.length = next - at;
        GROUT_ASSERT(count < sizeof parts / sizeof parts[0]);
        uint32_t k = count++;
        for (; k > 0 && parts[k - 1].base > part.base; k--) {
            parts[k] = parts[k - 1];
        }
        parts[k] = part;
        at = next;
    }
    for (uint32_t k = 0; k < count; k++) {
        add_run(walk, parts[k]);
    }
}

/* One contiguous piece before the bits of its address are permuted, in its order. */
static void add_permuted(box_walk *walk, int64_t first, int64_t end) {
    const int64_t chunk = walk->layout->chunk;
    for (int64_t at = first; at < end;) {
        const int64_t next = (at / chunk + 1) * chunk < end ? (at / chunk + 1) * chunk : end;
        add_piece(walk, permute(walk->layout, at), next - at);
        at = next;
    }
}

/* One contiguous piece before swizzling, of a swizzled layout. */
static void add_swizzled(box_walk *walk, int64_t first, int64_t end) {
    int64_t row = walk->layout->swizzle;
    for (int64_t at = first; at < end;) {
        int64_t span = walk->is_ordered ? CHUNK : row;
        int64_t next = (at / span + 1) * span < end ? (at / span + 1) * span : end;
        if (walk->is_ordered) {
            add_piece(walk, swizzle_offset(walk->layout->swizzle, at), next - at);
        } else if (next - at == row) {
            next = end / row * row;
            add_run(walk, (grout_run){.base = at, .count = 1, .length = next - at});
        } else {
            add_row_part(walk, at, next);
        }
        at = next;
    }
}

/* A strided run of bytes before swizzling. */
static void add_strided(box_walk *walk, grout_run run) {
    int64_t row = walk->layout->swizzle;
    bool is_whole_rows =
        row == 0 || (run.base % row == 0 && run.length % row == 0 && run.stride % row == 0);
    if (!walk->is_ordered && is_whole_rows) {
        add_run(walk, run);
        return;
    }
    for (int64_t i = 0; i < run.count; i++) {
        int64_t first = run.base + i * run.stride;
        if (walk->layout->address_bits != 0) {
            add_permuted(walk, first, first + run.length);
        } else if (row == 0) {
            add_piece(walk, first, run.length);
        } else {
            add_swizzled(walk, first, first + run.length);
        }
    }
}

/* Takes the digits from first on as one run, if they make one: base is the offset chosen so far. */
static bool add_rest(box_walk *walk, uint32_t first, int64_t base) {
    const grout_layout *layout = walk->layout;
    int64_t low[GROUT_RANK_MAX], high[GROUT_RANK_MAX], counts[DIGITS_MAX];
    memcpy(low, walk->low, sizeof low);
    memcpy(high, walk->high, sizeof high);
    for (uint32_t k = first; k < layout->tiled_rank; k++) {
        uint32_t digit = walk->digits[k];
        uint32_t dim = layout->dim[digit];
        int64_t divisor = layout->divisor[digit];
        int64_t value = low[dim] / divisor;
        counts[k] = high[dim] / divisor - value + 1;
        if (counts[k] > 1 && (low[dim] % divisor != 0 || (high[dim] + 1) % divisor != 0)) {
            return false;
        }
        base += value * layout->stride[digit];
        high[dim] = counts[k] > 1 ? divisor - 1 : high[dim] - value * divisor;
        low[dim] -= value * divisor;
    }
    grout_run run = {.base = base, .count = 1, .length = layout->element_bytes};
    for (uint32_t k = layout->tiled_rank; k-- > first;) {
        int64_t stride = layout->stride[walk->digits[k]];
        if (counts[k] == 1) {
            continue;
        }
        if (run.count == 1 && stride == run.length) {
            run.length *= counts[k];
        } else if (run.count == 1) {
            run.stride = stride;
            run.count = counts[k];
        } else if (stride == run.stride * run.count) {
            run.count *= counts[k];
        } else {
            return false;
        }
    }
    add_strided(walk, run);
    return true;
}

static void walk_digits(box_walk *walk, uint32_t k, int64_t base) {
    if (add_rest(walk, k, base)) {
        return;
    }
    GROUT_ASSERT(k < walk->layout->tiled_rank);
    uint32_t digit = walk->digits[k];
    uint32_t dim = walk->layout->dim[digit];
    int64_t divisor = walk->layout->divisor[digit];
    int64_t low = walk->low[dim], high = walk->high[dim];
    for (int64_t value = low / divisor; value <= high / divisor; value++) {
        walk->low[dim] = value == low / divisor ? low % divisor : 0;
        walk->high[dim] = value == high / divisor ? high % divisor : divisor - 1;
        walk_digits(walk, k + 1, base + value * walk->layout->stride[digit]);
    }
    walk->low[dim] = low;
    walk->high[dim] = high;
}

static void begin_walk(box_walk *walk, const grout_layout *layout, const int64_t *start,
                       const int64_t *extent) {
    walk->layout = layout;
    for (uint32_t dim = 0; dim < layout->rank; dim++) {
        GROUT_ASSERT(start[dim] >= 0 && extent[dim] >= 1);
        walk->low[dim] = start[dim];
        walk->high[dim] = start[dim] + extent[dim] - 1;
    }
}

/* Runs where bits of the address are permuted: the box is asked for each element of the periods
 * that it reaches into. The periods lie in the order of the digits. */
static void walk_elements(box_walk *walk) {
    const grout_layout *layout = walk->layout;
    const int64_t period = layout->period;
    int64_t first = 0, last = 0, index[GROUT_RANK_MAX];
    for (uint32_t k = 0; k < layout->tiled_rank; k++) {
        const uint32_t dim = layout->dim[k];
        const int64_t low = walk->low[dim] / layout->divisor[k];
        const int64_t high = walk->high[dim] / layout->divisor[k];
        const bool is_whole = high / layout->extent[k] > low / layout->extent[k];
        first += is_whole ? 0 : low % layout->extent[k] * layout->stride[k];
        last += (is_whole ? layout->extent[k] - 1 : high % layout->extent[k]) * layout->stride[k];
    }
    for (int64_t at = first / period * period; at < (last / period + 1) * period;
         at += layout->element_bytes) {
        bool is_inside = at < layout->bytes;
        grout_layout_get_index(layout, at, index);
        for (uint32_t dim = 0; dim < layout->rank && is_inside; dim++) {
            is_inside = index[dim] >= walk->low[dim] && index[dim] <= walk->high[dim];
        }
        if (is_inside) {
            add_run(walk, (grout_run){.base = at, .count = 1, .length = layout->element_bytes});
        }
    }
}

int64_t grout_layout_get_runs(const grout_layout *layout, const int64_t *start,
                              const int64_t *extent, grout_run *runs, int64_t max) {
    box_walk walk = {.runs = runs, .max = max};
    begin_walk(&walk, layout, start, extent);
    for (uint32_t k = 0; k < layout->tiled_rank; k++) {
        walk.digits[k] = k;
    }
    if (layout->address_bits != 0) {
        walk_elements(&walk);
    } else {
        walk_digits(&walk, 0, 0);
    }
    flush_run(&walk);
    return walk.count;
}

int64_t grout_layout_get_pieces(const grout_layout *layout, const int64_t *start,
                                const int64_t *extent, const uint8_t *order, grout_piece *pieces,
                                int64_t max) {
    box_walk walk = {.pieces = pieces, .max = max, .is_ordered = true};
    begin_walk(&walk, layout, start, extent);
    uint32_t count = 0;
    for (uint32_t i = 0; i < layout->rank; i++) {
        uint32_t dim = order == NULL ? i : order[i];
        for (uint32_t k = 0; k < layout->tiled_rank; k++) {
            if (layout->dim[k] == dim) {
                walk.digits[count++] = k;
            }
        }
    }
    GROUT_ASSERT(count == layout->tiled_rank); /* order has each dimension once */
    walk_digits(&walk, 0, 0);
    flush_piece(&walk);
    return walk.count;
}
