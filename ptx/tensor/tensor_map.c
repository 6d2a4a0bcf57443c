/* tensor_map.c - a tensor map's fields to bytes and back, and one field at a time.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tensor_map.h"

#include <string.h>

/* Magic, fields, checksum: little-endian, one after another. */
enum { FIELDS_AT = 8, CHECKSUM_AT = GROUT_PTX_MAP_SIZE - 8 };
static const uint64_t MAGIC = 0x74756f7270616d54u; /* "Tmaprout" */

typedef struct elem_info {
    const char *name;
    uint32_t bits;
} elem_info;

static const elem_info ELEMS[GROUT_PTX_ELEM_COUNT] = {
    [GROUT_PTX_ELEM_U8] = {".u8", 8},
    [GROUT_PTX_ELEM_U16] = {".u16", 16},
    [GROUT_PTX_ELEM_U32] = {".u32", 32},
    [GROUT_PTX_ELEM_S32] = {".s32", 32},
    [GROUT_PTX_ELEM_U64] = {".u64", 64},
    [GROUT_PTX_ELEM_S64] = {".s64", 64},
    [GROUT_PTX_ELEM_F16] = {".f16", 16},
    [GROUT_PTX_ELEM_F32] = {".f32", 32},
    [GROUT_PTX_ELEM_F32_FTZ] = {".f32.ftz", 32},
    [GROUT_PTX_ELEM_F64] = {".f64", 64},
    [GROUT_PTX_ELEM_BF16] = {".bf16", 16},
    [GROUT_PTX_ELEM_TF32] = {".tf32", 32},
    [GROUT_PTX_ELEM_TF32_FTZ] = {".tf32.ftz", 32},
    [GROUT_PTX_ELEM_B4X16] = {".b4x16", 4},
    [GROUT_PTX_ELEM_B4X16_P64] = {".b4x16_p64", 4},
    [GROUT_PTX_ELEM_B6X16_P32] = {".b6x16_p32", 6},
};

/* By CUtensorMapDataType. */
static const grout_ptx_elem DRIVER_ELEMS[] = {
    GROUT_PTX_ELEM_U8,        GROUT_PTX_ELEM_U16,     GROUT_PTX_ELEM_U32,
    GROUT_PTX_ELEM_S32,       GROUT_PTX_ELEM_U64,     GROUT_PTX_ELEM_S64,
    GROUT_PTX_ELEM_F16,       GROUT_PTX_ELEM_F32,     GROUT_PTX_ELEM_F64,
    GROUT_PTX_ELEM_BF16,      GROUT_PTX_ELEM_F32_FTZ, GROUT_PTX_ELEM_TF32,
    GROUT_PTX_ELEM_TF32_FTZ,  GROUT_PTX_ELEM_B4X16,   GROUT_PTX_ELEM_B4X16_P64,
    GROUT_PTX_ELEM_B6X16_P32,
};

uint32_t grout_ptx__elem_bits(grout_ptx_elem elem) {
    return ELEMS[elem].bits;
}

const char *grout_ptx__elem_name(grout_ptx_elem elem) {
    return ELEMS[elem].name;
}

bool grout_ptx__elem_of_driver(uint32_t number, grout_ptx_elem *elem) {
    if (number >= sizeof DRIVER_ELEMS / sizeof *DRIVER_ELEMS) {
        return false;
    }
    *elem = DRIVER_ELEMS[number];
    return true;
}

/* The driver's order is that of the enumeration. */
bool grout_ptx__swizzle_of_driver(uint32_t number, grout_ptx_swizzle *swizzle) {
    if (number >= GROUT_PTX_SWIZZLE_COUNT) {
        return false;
    }
    *swizzle = (grout_ptx_swizzle)number;
    return true;
}

/* A place in the bytes, for writing or reading one number after another. */
typedef struct cursor {
    uint8_t *to;
    const uint8_t *from;
} cursor;

static void put(cursor *at, uint64_t number, unsigned size) {
    for (unsigned i = 0; i < size; i++) {
        *at->to++ = (uint8_t)(number >> 8 * i);
    }
}

static uint64_t get(cursor *at, unsigned size) {
    uint64_t number = 0;
    for (unsigned i = 0; i < size; i++) {
        number |= (uint64_t)*at->from++ << 8 * i;
    }
    return number;
}

static uint64_t sum_up(const uint8_t *bytes) {
    uint64_t sum = MAGIC;
    for (unsigned i = 0; i < CHECKSUM_AT; i++) {
        sum = (sum ^ bytes[i]) * 0x100000001b3u;
    }
    return sum;
}

static void write_map(const grout_ptx_tensor_map *map, uint8_t *bytes) {
    cursor at = {.to = bytes};
    memset(bytes, 0, GROUT_PTX_MAP_SIZE);
    put(&at, MAGIC, FIELDS_AT);
    put(&at, map->address, 8);
    put(&at, map->mode, 1);
    put(&at, map->elem, 1);
    put(&at, map->rank, 1);
    put(&at, map->interleave, 1);
    put(&at, map->swizzle, 1);
    put(&at, map->promotion, 1);
    put(&at, map->fill, 1);
    for (unsigned i = 0; i < GROUT_PTX_RANK_MAX; i++) {
        put(&at, map->dims[i], 5);
        put(&at, map->box[i], 2);
        put(&at, map->element_strides[i], 1);
    }
    for (unsigned i = 0; i < GROUT_PTX_RANK_MAX - 1; i++) {
        put(&at, map->strides[i], 6);
    }
    for (unsigned i = 0; i < GROUT_PTX_RANK_MAX - 2; i++) {
        put(&at, (uint32_t)map->lower[i], 3);
        put(&at, (uint32_t)map->upper[i], 3);
    }
    put(&at, map->channels, 2);
    put(&at, map->pixels, 2);
    at.to = bytes + CHECKSUM_AT;
    put(&at, sum_up(bytes), 8);
}

/* A number of 24 bits with its sign. */
static int32_t get_signed(cursor *at) {
    const int32_t number = (int32_t)get(at, 3);
    return number >= 1 << 23 ? number - (1 << 24) : number;
}

static bool read_map(const uint8_t *bytes, grout_ptx_tensor_map *map, grout_ptx_fault *fault) {
    cursor at = {.from = bytes};
    if (get(&at, FIELDS_AT) != MAGIC) {
        return grout_ptx__fail(fault, "no tensor map is at this address");
    }
    at.from = bytes + CHECKSUM_AT;
    if (get(&at, 8) != sum_up(bytes)) {
        return grout_ptx__fail(fault, "the tensor map was overwritten: only tensormap.replace and "
                                      "copies of all its 128 bytes may change it");
    }
    at.from = bytes + FIELDS_AT;
    map->address = get(&at, 8);
    map->mode = (grout_ptx_map_mode)get(&at, 1);
    map->elem = (grout_ptx_elem)get(&at, 1);
    map->rank = (uint32_t)get(&at, 1);
    map->interleave = (uint32_t)get(&at, 1);
    map->swizzle = (grout_ptx_swizzle)get(&at, 1);
    map->promotion = (uint32_t)get(&at, 1);
    map->fill = (uint32_t)get(&at, 1);
    for (unsigned i = 0; i < GROUT_PTX_RANK_MAX; i++) {
        map->dims[i] = get(&at, 5);
        map->box[i] = (uint32_t)get(&at, 2);
        map->element_strides[i] = (uint32_t)get(&at, 1);
    }
    for (unsigned i = 0; i < GROUT_PTX_RANK_MAX - 1; i++) {
        map->strides[i] = get(&at, 6);
    }
    for (unsigned i = 0; i < GROUT_PTX_RANK_MAX - 2; i++) {
        map->lower[i] = get_signed(&at);
        map->upper[i] = get_signed(&at);
    }
    map->channels = (uint32_t)get(&at, 2);
    map->pixels = (uint32_t)get(&at, 2);
    return true;
}

bool grout_ptx__map_encode(const grout_ptx_tensor_map *map, uint32_t arch,
                           uint8_t bytes[GROUT_PTX_MAP_SIZE], grout_ptx_fault *fault) {
    if (!grout_ptx__map_check(map, arch, fault)) {
        return false;
    }
    write_map(map, bytes);
    return true;
}

bool grout_ptx__map_decode(const uint8_t bytes[GROUT_PTX_MAP_SIZE], uint32_t arch,
                           grout_ptx_tensor_map *map, grout_ptx_fault *fault) {
    return read_map(bytes, map, fault) && grout_ptx__map_check(map, arch, fault);
}

/* A field of tensormap.replace: its name, the largest value that it takes, and how many there are.
 */
typedef struct field_info {
    const char *name;
    uint64_t value_max;
    uint32_t count;
} field_info;

static const field_info FIELDS[GROUT_PTX_FIELD_COUNT] = {
    [GROUT_PTX_FIELD_GLOBAL_ADDRESS] = {".global_address", UINT64_MAX, 1},
    [GROUT_PTX_FIELD_RANK] = {".rank", GROUT_PTX_RANK_MAX - 1, 1},
    [GROUT_PTX_FIELD_BOX_DIM] = {".box_dim", 256, GROUT_PTX_RANK_MAX},
    [GROUT_PTX_FIELD_GLOBAL_DIM] = {".global_dim", UINT32_MAX, GROUT_PTX_RANK_MAX},
    [GROUT_PTX_FIELD_GLOBAL_STRIDE] = {".global_stride", ((uint64_t)1 << 40) - 1,
                                       GROUT_PTX_RANK_MAX - 1},
    [GROUT_PTX_FIELD_ELEMENT_STRIDE] = {".element_stride", 8, GROUT_PTX_RANK_MAX},
    [GROUT_PTX_FIELD_ELEMTYPE] = {".elemtype", GROUT_PTX_ELEM_COUNT - 1, 1},
    [GROUT_PTX_FIELD_INTERLEAVE_LAYOUT] = {".interleave_layout", 2, 1},
    [GROUT_PTX_FIELD_SWIZZLE_MODE] = {".swizzle_mode", 3, 1},
    [GROUT_PTX_FIELD_SWIZZLE_ATOMICITY] = {".swizzle_atomicity", 3, 1},
    [GROUT_PTX_FIELD_FILL_MODE] = {".fill_mode", 1, 1},
};

/* By .swizzle_atomicity, of a span of 128 bytes. */
static const grout_ptx_swizzle ATOMS[] = {GROUT_PTX_SWIZZLE_128B, GROUT_PTX_SWIZZLE_128B_ATOM_32B,
                                          GROUT_PTX_SWIZZLE_128B_ATOM_32B_FLIP_8B,
                                          GROUT_PTX_SWIZZLE_128B_ATOM_64B};

static bool is_narrow_swizzle(grout_ptx_swizzle mode) {
    return mode < GROUT_PTX_SWIZZLE_128B;
}

/* The atom is kept with a span of 128 bytes; a narrower one has atoms of 16 bytes. */
static bool replace_atomicity(grout_ptx_tensor_map *map, uint64_t value, grout_ptx_fault *fault) {
    if (is_narrow_swizzle(map->swizzle) && value != 0) {
        return grout_ptx__fail(fault,
                               ".swizzle_atomicity %u without a .swizzle_mode of 128 bytes: "
                               "replace the mode first",
                               (unsigned)value);
    }
    map->swizzle = is_narrow_swizzle(map->swizzle) ? map->swizzle : ATOMS[value];
    return true;
}

bool grout_ptx__map_replace(uint8_t bytes[GROUT_PTX_MAP_SIZE], const grout_ptx_map_change *change,
                            uint32_t arch, grout_ptx_fault *fault) {
    const field_info *info = &FIELDS[change->field];
    const uint32_t at = change->ordinal;
    const uint64_t value = change->value;
    grout_ptx_tensor_map map;
    if (!read_map(bytes, &map, fault)) {
        return false;
    }
    if (at >= info->count) {
        return grout_ptx__fail(fault, "tensormap.replace%s of dimension %u: there are %u",
                               info->name, at, info->count);
    }
    if (value > info->value_max) {
        return grout_ptx__fail(fault, "tensormap.replace%s by %llu: %llu at most", info->name,
                               (unsigned long long)value, (unsigned long long)info->value_max);
    }
    switch (change->field) {
    case GROUT_PTX_FIELD_GLOBAL_ADDRESS:
        map.address = value;
        break;
    case GROUT_PTX_FIELD_RANK:
        map.rank = (uint32_t)value + 1;
        break;
    case GROUT_PTX_FIELD_BOX_DIM:
        map.box[at] = (uint32_t)value;
        break;
    case GROUT_PTX_FIELD_GLOBAL_DIM:
        map.dims[at] = value;
        break;
    case GROUT_PTX_FIELD_GLOBAL_STRIDE:
        map.strides[at] = value;
        break;
    case GROUT_PTX_FIELD_ELEMENT_STRIDE:
        map.element_strides[at] = (uint32_t)value;
        break;
    case GROUT_PTX_FIELD_ELEMTYPE:
        map.elem = (grout_ptx_elem)value;
        break;
    case GROUT_PTX_FIELD_INTERLEAVE_LAYOUT:
        map.interleave = (uint32_t)value;
        break;
    case GROUT_PTX_FIELD_SWIZZLE_MODE:
        map.swizzle = (grout_ptx_swizzle)value;
        break;
    case GROUT_PTX_FIELD_SWIZZLE_ATOMICITY:
        if (arch < 100) {
            return grout_ptx__fail(fault, ".swizzle_atomicity needs sm_100a");
        }
        if (!replace_atomicity(&map, value, fault)) {
            return false;
        }
        break;
    case GROUT_PTX_FIELD_FILL_MODE:
        map.fill = (uint32_t)value;
        break;
    case GROUT_PTX_FIELD_COUNT:
        break;
    }
    write_map(&map, bytes);
    return true;
}
