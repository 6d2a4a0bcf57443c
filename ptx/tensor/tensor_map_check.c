/* tensor_map_check.c - which fields of a tensor map are legal together.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The CUDA driver API, 'Tensor Map Object Management': the requirements of cuTensorMapEncodeTiled,
 * cuTensorMapEncodeIm2col and cuTensorMapEncodeIm2colWide. */
#include "tensor_map.h"

enum { BOX_MAX = 256, PIXELS_MAX = 1024, ELEMENT_STRIDE_MAX = 8, SHARED_BYTES = 227 * 1024 };
enum { PACKED_DIM = 128 }; /* what elements with gaps come in */
static const uint64_t DIM_MAX = (uint64_t)1 << 32, STRIDE_LIMIT = (uint64_t)1 << 40;

static bool has_gaps(const grout_ptx_tensor_map *map) {
    return map->elem == GROUT_PTX_ELEM_B4X16_P64 || map->elem == GROUT_PTX_ELEM_B6X16_P32;
}

static bool is_float(grout_ptx_elem elem) {
    return elem >= GROUT_PTX_ELEM_F16 && elem <= GROUT_PTX_ELEM_TF32_FTZ;
}

static bool check_words(const grout_ptx_tensor_map *map, uint32_t arch, grout_ptx_fault *fault) {
    if (map->mode >= GROUT_PTX_MAP_MODE_COUNT || map->elem >= GROUT_PTX_ELEM_COUNT ||
        map->swizzle >= GROUT_PTX_SWIZZLE_COUNT || map->interleave > 2 || map->promotion > 3 ||
        map->fill > 1) {
        return grout_ptx__fail(fault, "a tensor map with a type, mode, swizzle, interleave, "
                                      "promotion or fill that there is not");
    }
    if (arch < 100 && map->elem >= GROUT_PTX_ELEM_B4X16) {
        return grout_ptx__fail(fault, "a tensor map of %s needs sm_100a",
                               grout_ptx__elem_name(map->elem));
    }
    if (arch < 100 && map->swizzle > GROUT_PTX_SWIZZLE_128B) {
        return grout_ptx__fail(fault, "swizzle atoms of 32 or 64 bytes need sm_100a");
    }
    if (arch < 100 && map->mode > GROUT_PTX_MAP_IM2COL) {
        return grout_ptx__fail(fault, "im2col along W needs sm_100a");
    }
    if (map->fill == 1 && !is_float(map->elem)) {
        return grout_ptx__fail(fault, "a tensor map of %s filled with NaN: floats only",
                               grout_ptx__elem_name(map->elem));
    }
    return true;
}

static bool check_rank(const grout_ptx_tensor_map *map, grout_ptx_fault *fault) {
    const uint32_t least = map->mode != GROUT_PTX_MAP_TILED || map->interleave != 0 ? 3 : 1;
    if (map->rank < least || map->rank > GROUT_PTX_RANK_MAX) {
        return grout_ptx__fail(fault, "a tensor map of rank %u: %u to 5%s", map->rank, least,
                               least == 1 ? "" : " with im2col or interleave");
    }
    return true;
}

static bool check_global(const grout_ptx_tensor_map *map, grout_ptx_fault *fault) {
    const uint64_t unit = map->interleave == 2 || has_gaps(map) ? 32 : 16;
    if (map->address % unit != 0) {
        return grout_ptx__fail(fault, "a tensor at global address 0x%llx: a multiple of %u",
                               (unsigned long long)map->address, (unsigned)unit);
    }
    for (uint32_t i = 0; i < map->rank; i++) {
        if (map->dims[i] == 0 || map->dims[i] > DIM_MAX) {
            return grout_ptx__fail(fault, "dimension %u of a tensor has %llu elements: 1 to 2^32",
                                   i, (unsigned long long)map->dims[i]);
        }
        if (i > 0 && (map->strides[i - 1] % unit != 0 || map->strides[i - 1] >= STRIDE_LIMIT)) {
            return grout_ptx__fail(fault,
                                   "dimension %u of a tensor has a stride of %llu bytes: a "
                                   "multiple of %u below 2^40",
                                   i, (unsigned long long)map->strides[i - 1], (unsigned)unit);
        }
        if (map->element_strides[i] == 0 || map->element_strides[i] > ELEMENT_STRIDE_MAX) {
            return grout_ptx__fail(fault, "dimension %u has an element stride of %u: 1 to 8", i,
                                   map->element_strides[i]);
        }
    }
    if (map->elem == GROUT_PTX_ELEM_B4X16 && map->dims[0] % 2 != 0) {
        return grout_ptx__fail(fault, "an odd number of 4-bit elements in a row of a tensor");
    }
    if (has_gaps(map) && map->dims[0] % PACKED_DIM != 0) {
        return grout_ptx__fail(fault, "rows of %llu elements of %s: a multiple of 128",
                               (unsigned long long)map->dims[0], grout_ptx__elem_name(map->elem));
    }
    return true;
}

/* The types with gaps fill slots of 16 bytes, which few swizzles know. */
static bool check_gaps(const grout_ptx_tensor_map *map, uint32_t inner, grout_ptx_fault *fault) {
    const grout_ptx_swizzle mode = map->swizzle;
    const bool is_known =
        mode == GROUT_PTX_SWIZZLE_NONE || mode == GROUT_PTX_SWIZZLE_128B ||
        mode == GROUT_PTX_SWIZZLE_128B_ATOM_32B ||
        (mode == GROUT_PTX_SWIZZLE_128B_ATOM_64B && map->elem == GROUT_PTX_ELEM_B6X16_P32);
    if (inner != PACKED_DIM) {
        return grout_ptx__fail(fault, "a box of %u elements of %s in a row: 128", inner,
                               grout_ptx__elem_name(map->elem));
    }
    if (!is_known || map->interleave != 0) {
        return grout_ptx__fail(fault, "%s with this swizzle or interleave",
                               grout_ptx__elem_name(map->elem));
    }
    return true;
}

/* A row of a box: whole units of 16 bytes, no wider than the swizzle. */
static bool check_inner(const grout_ptx_tensor_map *map, uint32_t inner, grout_ptx_fault *fault) {
    const uint32_t bits = inner * grout_ptx__elem_bits(map->elem);
    const uint32_t span = grout_ptx__swizzle_span(map->swizzle);
    if (has_gaps(map)) {
        return check_gaps(map, inner, fault);
    }
    if (bits % 128 != 0) {
        return grout_ptx__fail(fault, "a row of a box has %u bits: a multiple of 16 bytes", bits);
    }
    if (map->interleave == 0 && span != 0 && bits / 8 > span) {
        return grout_ptx__fail(fault, "a row of a box has %u bytes: %u at most with this swizzle",
                               bits / 8, span);
    }
    if (map->interleave == 2 && map->swizzle != GROUT_PTX_SWIZZLE_32B) {
        return grout_ptx__fail(fault, "an interleave of 32 bytes without a swizzle of 32 bytes");
    }
    return true;
}

static bool check_tiled(const grout_ptx_tensor_map *map, grout_ptx_fault *fault) {
    uint64_t bits = grout_ptx__elem_bits(map->elem);
    for (uint32_t i = 0; i < map->rank; i++) {
        if (map->box[i] == 0 || map->box[i] > BOX_MAX) {
            return grout_ptx__fail(fault, "dimension %u of a box has %u elements: 1 to 256", i,
                                   map->box[i]);
        }
        bits *= map->box[i];
    }
    if (bits / 8 > SHARED_BYTES) {
        return grout_ptx__fail(fault, "a box of %llu bytes does not fit shared memory",
                               (unsigned long long)(bits / 8));
    }
    return check_inner(map, map->box[0], fault);
}

static bool check_im2col(const grout_ptx_tensor_map *map, grout_ptx_fault *fault) {
    const int32_t limit = map->rank == 3 ? 1 << 15 : map->rank == 4 ? 1 << 7 : 1 << 4;
    const uint32_t spatial = map->mode == GROUT_PTX_MAP_IM2COL ? map->rank - 2 : 1;
    if (map->channels == 0 || map->channels > BOX_MAX) {
        return grout_ptx__fail(fault, "%u channels per pixel: 1 to 256", map->channels);
    }
    if (map->pixels == 0 || map->pixels > PIXELS_MAX) {
        return grout_ptx__fail(fault, "%u pixels per column: 1 to 1024", map->pixels);
    }
    for (uint32_t i = 0; i < spatial; i++) {
        if (map->lower[i] < -limit || map->lower[i] >= limit || map->upper[i] < -limit ||
            map->upper[i] >= limit) {
            return grout_ptx__fail(fault,
                                   "corners %d and %d of the pixels' box in dimension %u: %d to %d",
                                   map->lower[i], map->upper[i], i + 1, -limit, limit - 1);
        }
        if ((int64_t)map->dims[i + 1] - 1 + map->upper[i] < map->lower[i]) {
            return grout_ptx__fail(fault, "the pixels' box is empty in dimension %u", i + 1);
        }
    }
    if (map->mode > GROUT_PTX_MAP_IM2COL &&
        (map->swizzle == GROUT_PTX_SWIZZLE_NONE ||
         map->swizzle == GROUT_PTX_SWIZZLE_128B_ATOM_32B_FLIP_8B)) {
        return grout_ptx__fail(fault, "im2col along W without a swizzle that it knows");
    }
    return check_inner(map, map->channels, fault);
}

bool grout_ptx__map_check(const grout_ptx_tensor_map *map, uint32_t arch, grout_ptx_fault *fault) {
    return check_words(map, arch, fault) && check_rank(map, fault) && check_global(map, fault) &&
           (map->mode == GROUT_PTX_MAP_TILED ? check_tiled(map, fault) : check_im2col(map, fault));
}
