/* tensor_box.c - the walk over a box: rows of elements, cut at bounds and at chunks of a swizzle.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tensor_box.h"

#include <string.h>

enum {
    SHARED_ALIGN = 128,
    UNIT_BYTES = 16,
    UNIT_BITS = 128,
    GROUP = 16,
    GROUP_COORDINATE = 128,
    ROWS = 4
};
enum { WIDE_PIXELS = 128 };

/* A box as rows: how many, and what a row has. */
typedef struct shape {
    uint32_t rows, inner; /* elements of a row */
    uint32_t data_bytes;  /* of a row in global memory */
    uint32_t slot_bytes;  /* of a row in shared memory, with gaps */
    uint32_t pitch;       /* from a row to the next in shared memory */
} shape;

/* The walk: what it is over, and the run that grows. */
typedef struct walk {
    const grout_ptx_tensor_map *map;
    const grout_ptx_box *box;
    grout_ptx_run_taker take;
    void *to;
    shape size;
    grout_ptx_run run;
} walk;

static uint32_t div_up(uint32_t a, uint32_t b) {
    return (a + b - 1) / b;
}

/* Bytes that 16 packed elements take in shared memory; 0 for a type without gaps. */
static uint32_t get_slot(grout_ptx_elem elem) {
    return elem == GROUT_PTX_ELEM_B4X16_P64 || elem == GROUT_PTX_ELEM_B6X16_P32 ? UNIT_BYTES : 0;
}

static bool kind_fits(const grout_ptx_tensor_map *map, grout_ptx_box_kind kind) {
    switch (kind) {
    case GROUT_PTX_BOX_TILE:
    case GROUT_PTX_BOX_ROWS4:
        return map->mode == GROUT_PTX_MAP_TILED;
    case GROUT_PTX_BOX_IM2COL:
    case GROUT_PTX_BOX_IM2COL_NO_OFFSETS:
        return map->mode == GROUT_PTX_MAP_IM2COL;
    case GROUT_PTX_BOX_IM2COL_W:
        return map->mode == GROUT_PTX_MAP_IM2COL_W;
    case GROUT_PTX_BOX_IM2COL_W128:
        return map->mode == GROUT_PTX_MAP_IM2COL_W128;
    }
    return false;
}

static bool check_map(const grout_ptx_tensor_map *map, const grout_ptx_box *box,
                      grout_ptx_fault *fault) {
    if (!kind_fits(map, box->kind)) {
        return grout_ptx__fail(fault, "the tensor map is of another mode than the instruction "
                                      "(.tile, .im2col, ..)");
    }
    if (box->dims != map->rank) {
        return grout_ptx__fail(fault,
                               "an instruction of %u dimensions with a tensor map of rank %u",
                               box->dims, map->rank);
    }
    if (map->interleave != 0) {
        return grout_ptx__fail(fault, "interleaved tensors are not modelled");
    }
    if (box->kind == GROUT_PTX_BOX_ROWS4 && (map->rank != 2 || map->box[1] != 1)) {
        return grout_ptx__fail(fault,
                               "gather4 or scatter4 with a box of rank %u and %u rows: 2 and 1",
                               map->rank, map->rank < 2 ? 1 : map->box[1]);
    }
    if (box->transfer == GROUT_PTX_STORE && map->elem == GROUT_PTX_ELEM_B4X16_P64) {
        return grout_ptx__fail(fault, "a tensor of .b4x16_p64 can be loaded only");
    }
    if (box->transfer != GROUT_PTX_STORE && map->elem == GROUT_PTX_ELEM_B6X16_P32 &&
        map->swizzle == GROUT_PTX_SWIZZLE_128B_ATOM_64B) {
        return grout_ptx__fail(fault, "a tensor of .b6x16_p32 with swizzle atoms of 64 bytes can "
                                      "be stored only");
    }
    return true;
}

static bool check_operands(const grout_ptx_tensor_map *map, const grout_ptx_box *box,
                           grout_ptx_fault *fault) {
    const int64_t first = box->coordinates[0];
    const int64_t bits = first * grout_ptx__elem_bits(map->elem);
    const uint32_t listed = box->kind == GROUT_PTX_BOX_ROWS4 ? GROUT_PTX_RANK_MAX : map->rank;
    if (box->transfer != GROUT_PTX_PREFETCH && box->shared % SHARED_ALIGN != 0) {
        return grout_ptx__fail(fault, "a tensor copy at shared address 0x%x: a multiple of 128",
                               box->shared);
    }
    if (bits % UNIT_BITS != 0) {
        return grout_ptx__fail(fault,
                               "the first coordinate, %lld elements of %s, is not a multiple "
                               "of 16 bytes",
                               (long long)first, grout_ptx__elem_name(map->elem));
    }
    if (get_slot(map->elem) != 0 && first % GROUP_COORDINATE != 0) {
        return grout_ptx__fail(fault,
                               "the first coordinate, %lld elements of %s, is not a multiple "
                               "of 128",
                               (long long)first, grout_ptx__elem_name(map->elem));
    }
    for (uint32_t i = 0; i < listed && box->transfer == GROUT_PTX_STORE; i++) {
        if (box->coordinates[i] < 0) {
            return grout_ptx__fail(fault, "a tensor store begins at coordinate %d: 0 at least",
                                   box->coordinates[i]);
        }
    }
    return true;
}

/* Elements that a dimension of the box takes: one in this many, where it has an element stride.
 * That of dimension 0 does not count without interleave. */
static uint32_t get_taken(const grout_ptx_tensor_map *map, uint32_t dim) {
    return dim == 0 ? map->box[0] : div_up(map->box[dim], map->element_strides[dim]);
}

static shape get_shape(const grout_ptx_tensor_map *map, const grout_ptx_box *box) {
    const uint32_t span = grout_ptx__swizzle_span(map->swizzle), slot = get_slot(map->elem);
    shape it = {.rows = 1};
    if (map->mode == GROUT_PTX_MAP_TILED) {
        it.inner = get_taken(map, 0);
        for (uint32_t i = 1; i < map->rank; i++) {
            it.rows *= get_taken(map, i);
        }
        it.rows = box->kind == GROUT_PTX_BOX_ROWS4 ? ROWS : it.rows;
    } else {
        it.inner = map->channels;
        it.rows = map->mode == GROUT_PTX_MAP_IM2COL_W128 ? WIDE_PIXELS : map->pixels;
    }
    it.data_bytes = it.inner * grout_ptx__elem_bits(map->elem) / 8;
    it.slot_bytes = slot == 0 ? it.data_bytes : it.inner / GROUP * slot;
    it.pitch = span > it.slot_bytes ? span : it.slot_bytes;
    return it;
}

bool grout_ptx__box_bytes(const grout_ptx_tensor_map *map, const grout_ptx_box *box,
                          uint32_t *bytes, grout_ptx_fault *fault) {
    if (!check_map(map, box, fault)) {
        return false;
    }
    const shape it = get_shape(map, box);
    *bytes = it.rows * it.data_bytes;
    return true;
}

bool grout_ptx__box_extent(const grout_ptx_tensor_map *map, const grout_ptx_box *box,
                           uint32_t *bytes, grout_ptx_fault *fault) {
    if (!check_map(map, box, fault)) {
        return false;
    }
    const shape it = get_shape(map, box);
    *bytes = (it.rows - 1) * it.pitch + it.slot_bytes;
    return true;
}

/* Gives away the run that has grown. */
static bool flush(walk *it) {
    const grout_ptx_run run = it->run;
    it->run.bytes = 0;
    return run.bytes == 0 || it->take(it->to, &run);
}

/* Adds bytes that lie in one piece to the run, or begins another. */
static bool add(walk *it, const grout_ptx_run *piece) {
    grout_ptx_run *run = &it->run;
    const bool follows = run->bytes != 0 && run->is_fill == piece->is_fill &&
                         run->shared + run->bytes == piece->shared &&
                         (piece->is_fill || run->global + run->bytes == piece->global);
    if (follows) {
        run->bytes += piece->bytes;
        return true;
    }
    if (!flush(it)) {
        return false;
    }
    *run = *piece;
    return true;
}

/* Adds bytes at an address that is not swizzled yet, chunk by chunk. */
static bool add_chunks(walk *it, grout_ptx_run piece) {
    const bool is_load = it->box->transfer == GROUT_PTX_LOAD;
    const uint32_t chunk = grout_ptx__swizzle_chunk(it->map->swizzle);
    uint32_t left = piece.bytes, plain = piece.shared;
    if (piece.is_fill && !is_load) {
        return true;
    }
    if (it->box->transfer == GROUT_PTX_PREFETCH) {
        piece.shared = 0;
        return flush(it) && it->take(it->to, &piece);
    }
    while (left != 0) {
        const uint32_t room = chunk - plain % chunk;
        piece.bytes = left < room ? left : room;
        piece.shared = grout_ptx__swizzle(it->map->swizzle, plain);
        if (!add(it, &piece)) {
            return false;
        }
        plain += piece.bytes;
        piece.global += piece.bytes;
        left -= piece.bytes;
    }
    return true;
}

/* Elements [from, to) of a row, in whole bytes; those with gaps by groups of 16. */
static bool add_elements(walk *it, grout_ptx_run row, uint32_t from, uint32_t to) {
    const uint32_t bits = grout_ptx__elem_bits(it->map->elem), slot = get_slot(it->map->elem);
    if (slot == 0) {
        row.global += (uint64_t)from * bits / 8;
        row.shared += from * bits / 8;
        row.bytes = (to - from) * bits / 8;
        return row.bytes == 0 || add_chunks(it, row);
    }
    for (uint32_t at = from; at < to; at += GROUP) {
        grout_ptx_run piece = row;
        piece.global += (uint64_t)at * bits / 8;
        piece.shared += at / GROUP * slot;
        piece.bytes = GROUP * bits / 8;
        if (!add_chunks(it, piece)) {
            return false;
        }
    }
    return true;
}

/* How many elements of dimension 0 a transfer reaches. Loads are clipped by elements. Stores are
 * clipped by whole 16 bytes: the ISA does not say so, but an H100 does it (docs/hardware.md 2.2).
 */
static int64_t get_reach(const walk *it) {
    const grout_ptx_tensor_map *map = it->map;
    const uint32_t bits = grout_ptx__elem_bits(map->elem), per_unit = UNIT_BITS / bits;
    const int64_t dim = (int64_t)map->dims[0];
    if (it->box->transfer != GROUT_PTX_STORE || get_slot(map->elem) != 0) {
        return dim;
    }
    return (dim + per_unit - 1) / per_unit * per_unit;
}

/* One row: at the coordinates of its first element, and row number this many of shared memory. */
static bool add_row(walk *it, const int64_t at[GROUT_PTX_RANK_MAX], uint32_t number) {
    const grout_ptx_tensor_map *map = it->map;
    const shape size = it->size;
    const int64_t reach = get_reach(it);
    grout_ptx_run row = {.shared = it->box->shared + number * size.pitch};
    bool is_inside = true;
    row.global = map->address + (uint64_t)(at[0] * grout_ptx__elem_bits(map->elem) / 8);
    for (uint32_t i = 1; i < map->rank; i++) {
        is_inside = is_inside && at[i] >= 0 && at[i] < (int64_t)map->dims[i];
        row.global += (uint64_t)at[i] * map->strides[i - 1];
    }
    /* Elements [first, end) of the row are in the tensor. */
    const int64_t begin = at[0] < 0 ? -at[0] : 0, rest = reach - at[0];
    uint32_t first = begin < size.inner ? (uint32_t)begin : size.inner;
    uint32_t end = rest < 0 ? 0 : rest < size.inner ? (uint32_t)rest : size.inner;
    if (!is_inside || end < first) {
        first = size.inner;
        end = size.inner;
    }
    grout_ptx_run fill = row;
    fill.is_fill = true;
    return add_elements(it, fill, 0, first) && add_elements(it, row, first, end) &&
           add_elements(it, fill, end, size.inner);
}

static bool walk_tile(walk *it) {
    const grout_ptx_tensor_map *map = it->map;
    for (uint32_t number = 0; number < it->size.rows; number++) {
        int64_t at[GROUT_PTX_RANK_MAX] = {it->box->coordinates[0]};
        uint32_t rest = number;
        for (uint32_t i = 1; i < map->rank; i++) {
            const uint32_t taken = get_taken(map, i);
            at[i] = it->box->coordinates[i] + (int64_t)(rest % taken) * map->element_strides[i];
            rest /= taken;
        }
        if (!add_row(it, at, number)) {
            return false;
        }
    }
    return true;
}

static bool walk_rows4(walk *it) {
    for (uint32_t number = 0; number < ROWS; number++) {
        const int64_t at[GROUT_PTX_RANK_MAX] = {it->box->coordinates[0],
                                                it->box->coordinates[1 + number]};
        if (!add_row(it, at, number)) {
            return false;
        }
    }
    return true;
}

/* The next pixel of the box of pixels: along W, then H, D and at last N, which has no corners. */
static void next_pixel(const grout_ptx_tensor_map *map, int64_t at[GROUT_PTX_RANK_MAX]) {
    const uint32_t batch = map->rank - 1;
    for (uint32_t i = 1; i < batch; i++) {
        at[i] += map->element_strides[i];
        if (at[i] <= (int64_t)map->dims[i] - 1 + map->upper[i - 1]) {
            return;
        }
        at[i] = map->lower[i - 1];
    }
    at[batch] += map->element_strides[batch];
}

static bool check_first_pixel(const walk *it, grout_ptx_fault *fault) {
    const grout_ptx_tensor_map *map = it->map;
    for (uint32_t i = 1; i + 1 < map->rank; i++) {
        const int64_t at = it->box->coordinates[i];
        if (at < map->lower[i - 1] || at > (int64_t)map->dims[i] - 1 + map->upper[i - 1]) {
            return grout_ptx__fail(fault,
                                   "im2col begins at pixel %lld of dimension %u, out of its box of "
                                   "%d to %lld",
                                   (long long)at, i, map->lower[i - 1],
                                   (long long)map->dims[i] - 1 + map->upper[i - 1]);
        }
    }
    return true;
}

static bool walk_im2col(walk *it) {
    const grout_ptx_tensor_map *map = it->map;
    const bool has_offsets = it->box->kind == GROUT_PTX_BOX_IM2COL;
    int64_t pixel[GROUT_PTX_RANK_MAX] = {0};
    for (uint32_t i = 0; i < map->rank; i++) {
        pixel[i] = it->box->coordinates[i];
    }
    for (uint32_t number = 0; number < map->pixels; number++) {
        int64_t at[GROUT_PTX_RANK_MAX];
        memcpy(at, pixel, sizeof at);
        for (uint32_t i = 0; has_offsets && i < GROUT_PTX_RANK_MAX - 2 && i + 2 < map->rank; i++) {
            at[i + 1] += it->box->offsets[i]; /* of all dimensions between the first and the last */
        }
        if (!add_row(it, at, number)) {
            return false;
        }
        next_pixel(map, pixel);
    }
    return true;
}

bool grout_ptx__box_walk(const grout_ptx_tensor_map *map, const grout_ptx_box *box,
                         grout_ptx_run_taker take, void *to, grout_ptx_fault *fault) {
    walk it = {.map = map, .box = box, .take = take, .to = to};
    bool is_taken = false;
    if (!check_map(map, box, fault) || !check_operands(map, box, fault)) {
        return false;
    }
    it.size = get_shape(map, box);
    switch (box->kind) {
    case GROUT_PTX_BOX_TILE:
        is_taken = walk_tile(&it);
        break;
    case GROUT_PTX_BOX_ROWS4:
        is_taken = walk_rows4(&it);
        break;
    case GROUT_PTX_BOX_IM2COL:
    case GROUT_PTX_BOX_IM2COL_NO_OFFSETS:
        is_taken = check_first_pixel(&it, fault) && walk_im2col(&it);
        break;
    case GROUT_PTX_BOX_IM2COL_W:
    case GROUT_PTX_BOX_IM2COL_W128:
        return grout_ptx__fail(fault, "im2col along W is not modelled");
    }
    return is_taken && flush(&it);
}

bool grout_ptx__box_fill(const grout_ptx_tensor_map *map, uint64_t *element,
                         grout_ptx_fault *fault) {
    *element = map->elem == GROUT_PTX_ELEM_BF16 && map->fill == 1 ? 0x7ff7 : 0;
    if (map->fill == 1 && map->elem != GROUT_PTX_ELEM_BF16) {
        return grout_ptx__fail(fault, "the bits of the NaN that fills %s are not known",
                               grout_ptx__elem_name(map->elem));
    }
    return true;
}
