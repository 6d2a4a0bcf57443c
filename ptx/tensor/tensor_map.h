/* tensor_map.h - the 128 bytes that describe a tensor to TMA.
 * SPDX-License-Identifier: Apache-2.0
 *
 * PTX ISA 'Tensors' and 'Tensor-map': the object is opaque, so the encoding is our own: a magic
 * word, the fields, and a checksum, by which bytes that are no map, or no longer one, are noticed.
 * Which values a field may have is what the CUDA driver's cuTensorMapEncodeTiled and
 * cuTensorMapEncodeIm2col say.
 */
#ifndef GROUT_PTX_TENSOR_MAP_H
#define GROUT_PTX_TENSOR_MAP_H

#include "fault.h"
#include "swizzle.h"

#include <stdint.h>

enum {
    GROUT_PTX_MAP_SIZE = 128, /* bytes of the object */
    GROUT_PTX_MAP_ALIGN = 64, /* of its address */
    GROUT_PTX_RANK_MAX = 5
};

/* The numbers of tensormap.replace's .elemtype. The driver numbers them otherwise. */
typedef enum grout_ptx_elem {
    GROUT_PTX_ELEM_U8,
    GROUT_PTX_ELEM_U16,
    GROUT_PTX_ELEM_U32,
    GROUT_PTX_ELEM_S32,
    GROUT_PTX_ELEM_U64,
    GROUT_PTX_ELEM_S64,
    GROUT_PTX_ELEM_F16,
    GROUT_PTX_ELEM_F32,
    GROUT_PTX_ELEM_F32_FTZ,
    GROUT_PTX_ELEM_F64,
    GROUT_PTX_ELEM_BF16,
    GROUT_PTX_ELEM_TF32,
    GROUT_PTX_ELEM_TF32_FTZ,
    GROUT_PTX_ELEM_B4X16,     /* 16 of 4 bits in 8 bytes, in both memories */
    GROUT_PTX_ELEM_B4X16_P64, /* in shared memory 8 bytes and 8 more that hold nothing */
    GROUT_PTX_ELEM_B6X16_P32, /* 16 of 6 bits in 12 bytes, and 4 more that hold nothing */
    GROUT_PTX_ELEM_COUNT
} grout_ptx_elem;

typedef enum grout_ptx_map_mode {
    GROUT_PTX_MAP_TILED,
    GROUT_PTX_MAP_IM2COL,
    GROUT_PTX_MAP_IM2COL_W,    /* sm_100: pixels along W alone */
    GROUT_PTX_MAP_IM2COL_W128, /* the same, 128 of them */
    GROUT_PTX_MAP_MODE_COUNT
} grout_ptx_map_mode;

/* Dimension 0 is the innermost one everywhere. Packed elements count one by one, not by 16. */
typedef struct grout_ptx_tensor_map {
    grout_ptx_map_mode mode;
    grout_ptx_elem elem;
    uint32_t rank;       /* 1 to 5 */
    uint32_t interleave; /* 0 none, 1 of 16 bytes, 2 of 32 */
    grout_ptx_swizzle swizzle;
    uint32_t promotion; /* of L2: 0 none, 1 to 3 for 64, 128 and 256 bytes */
    uint32_t fill;      /* out of bounds: 0 zeros, 1 NaN */
    uint64_t address;
    uint64_t dims[GROUT_PTX_RANK_MAX];            /* elements, 1 to 2^32 */
    uint64_t strides[GROUT_PTX_RANK_MAX - 1];     /* bytes from one to the next of dims 1, 2, .. */
    uint32_t box[GROUT_PTX_RANK_MAX];             /* elements, 1 to 256; tiled */
    uint32_t element_strides[GROUT_PTX_RANK_MAX]; /* 1 to 8 */
    int32_t lower[GROUT_PTX_RANK_MAX - 2]; /* corners of the box of pixels: W, H, D; im2col */
    int32_t upper[GROUT_PTX_RANK_MAX - 2];
    uint32_t channels; /* per pixel */
    uint32_t pixels;   /* per column */
} grout_ptx_tensor_map;

/* Bits of an element in global memory: 4 to 64. */
uint32_t grout_ptx__elem_bits(grout_ptx_elem elem);

/* The name that the ISA gives the type. */
const char *grout_ptx__elem_name(grout_ptx_elem elem);

/* The driver's number of a type (CUtensorMapDataType), or of a swizzle (CUtensorMapSwizzle), as
 * ours. False if there is none. */
bool grout_ptx__elem_of_driver(uint32_t number, grout_ptx_elem *elem);
bool grout_ptx__swizzle_of_driver(uint32_t number, grout_ptx_swizzle *swizzle);

/* Whether the fields are legal together on a device of compute capability arch / 10 (90, 100, ..).
 */
bool grout_ptx__map_check(const grout_ptx_tensor_map *map, uint32_t arch, grout_ptx_fault *fault);

/* Checks and writes. */
bool grout_ptx__map_encode(const grout_ptx_tensor_map *map, uint32_t arch,
                           uint8_t bytes[GROUT_PTX_MAP_SIZE], grout_ptx_fault *fault);

/* Reads and checks, as each instruction does that uses a map. */
bool grout_ptx__map_decode(const uint8_t bytes[GROUT_PTX_MAP_SIZE], uint32_t arch,
                           grout_ptx_tensor_map *map, grout_ptx_fault *fault);

/* PTX ISA 'tensormap.replace': its fields. */
typedef enum grout_ptx_map_field {
    GROUT_PTX_FIELD_GLOBAL_ADDRESS,
    GROUT_PTX_FIELD_RANK, /* the value is one less */
    GROUT_PTX_FIELD_BOX_DIM,
    GROUT_PTX_FIELD_GLOBAL_DIM,
    GROUT_PTX_FIELD_GLOBAL_STRIDE,
    GROUT_PTX_FIELD_ELEMENT_STRIDE,
    GROUT_PTX_FIELD_ELEMTYPE,
    GROUT_PTX_FIELD_INTERLEAVE_LAYOUT,
    GROUT_PTX_FIELD_SWIZZLE_MODE,      /* 0 none, 1 32B, 2 64B, 3 128B */
    GROUT_PTX_FIELD_SWIZZLE_ATOMICITY, /* 0 16B, 1 32B, 2 32B with flip, 3 64B; sm_100 */
    GROUT_PTX_FIELD_FILL_MODE,
    GROUT_PTX_FIELD_COUNT
} grout_ptx_map_field;

/* One replacement: ordinal says which dimension, where the field has several. The bytes must be a
 * map; between replacements it may be an illegal one, which decode finds. Box, element strides and
 * the modes are of tiled maps. */
typedef struct grout_ptx_map_change {
    grout_ptx_map_field field;
    uint32_t ordinal;
    uint64_t value;
} grout_ptx_map_change;

bool grout_ptx__map_replace(uint8_t bytes[GROUT_PTX_MAP_SIZE], const grout_ptx_map_change *change,
                            uint32_t arch, grout_ptx_fault *fault);

#endif
