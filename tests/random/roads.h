/* roads.h - the ways on which an array comes from memory into registers, and back: straight,
 * turned, a box of a larger array, through SMEM by plain stores, by TMA or by cp.async, in any
 * layout. SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_TESTS_RANDOM_ROADS_H
#define GROUT_TESTS_RANDOM_ROADS_H

#include "draw.h"

#define ROADS_RANK_MAX 3

typedef struct road_shape {
    uint32_t rank; /* 0: a scalar */
    uint32_t dims[ROADS_RANK_MAX];
} road_shape;

typedef struct roads {
    draw *d;
    grout_text scratch; /* objects of the kernel, which the caller puts in front of its body */
    uint32_t smem_bytes, object_count;
    bool has_barrier;
    bool wants_descriptor, wants_made, wants_prefetch; /* of the next copy by TMA */
} roads;

typedef enum road {
    ROAD_STRAIGHT,
    ROAD_TURNED,      /* .transpose in GMEM */
    ROAD_BOX,         /* of a larger array */
    ROAD_SMEM,        /* stored to SMEM and loaded */
    ROAD_TMA,         /* a copy whose box may lie past the ends of the array */
    ROAD_ASYNC_COPY,  /* inwards only */
    ROAD_ACCUMULATOR, /* f16, f32, i32 */
    ROAD_COUNT
} road;

uint32_t roads_get_count(const road_shape *shape);
/* "f32[64, 8]", or "f32" of rank 0. */
void roads_get_type(grout_dtype dtype, const road_shape *shape, char *text, size_t size);
/* Whether an array of the type and shape can go there. One of packed elements that ends inside a
 * byte goes straight: by a larger array, or in another type. */
bool roads_can_take(const roads *r, road way, grout_dtype dtype, const road_shape *shape);
/* One that can be taken. */
road roads_draw(const roads *r, grout_dtype dtype, const road_shape *shape);
/* Loads a new input, whose style is one of inputs.h; returns the number of the value, "%v<number>".
 */
uint32_t roads_come(roads *r, road way, grout_dtype dtype, const road_shape *shape, char style);
/* A copy by cp.async of what indices or a mask pick, of a matrix of whole pieces of 16 bytes: an
 * async_gather or async_masked_copy. Returns the number of the value that it becomes. */
uint32_t roads_come_picked(roads *r, bool has_indices, grout_dtype dtype, const road_shape *shape,
                           char style);
/* Stores a value to a new output. */
void roads_go(roads *r, road way, grout_dtype dtype, const road_shape *shape, uint32_t value);

#endif
