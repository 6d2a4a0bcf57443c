/*
 * fields.h - marks what emission gives to the hardware, field by field, and places fields of bits.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A mark adds nothing: FIELD(COPY_BYTES, bytes) is the number bytes. Its name is for the tests of
 * planted faults, which compile this folder with marks of their own
 * (tests/differential/planted/plant.h). They make the field one unit off, and ask who notices.
 */
#ifndef GROUT_GPU_FIELDS_H
#define GROUT_GPU_FIELDS_H

#include "invariant.h"

#include <stdint.h>

#ifndef FIELD
/* A number that is known when the CUDA is written. */
#define FIELD(NAME, value) ((int64_t)(value))
/* What the CUDA has for it: 'right', and 'wrong' if the field is off. */
#define FIELD_OR(NAME, right, wrong) (right)
/* After the CUDA of a number that is known only when the kernel runs; START: before a condition. */
#define FIELD_START(e, NAME) ((void)0)
#define FIELD_END(e, NAME)   ((void)0)
/* After the address of elements of this many bytes. */
#define FIELD_STEP(e, NAME, bytes) ((void)(bytes))
/* After the grid and the tensor maps of a launch, and after a text from a place on. */
#define FIELD_LAUNCH(plan)      ((void)0)
#define FIELD_TEXTS(text, from) ((void)(from))
#endif

/* The first bit and the width of each field of bits. */
enum {
#define GROUT_BITS(WORD, NAME, FIRST, WIDTH, SECTION, DOC) \
    GROUT_FIRST_##WORD##_##NAME = (FIRST), GROUT_WIDTH_##WORD##_##NAME = (WIDTH),
#include "bits.def"
};

static inline uint64_t grout_gpu__place_bits(uint32_t first, uint32_t width, int64_t value) {
    GROUT_ASSERT(value >= 0 && value >> width == 0);
    return (uint64_t)value << first;
}

/* A field of bits in its place. */
#define BITS(NAME, value) \
    grout_gpu__place_bits(GROUT_FIRST_##NAME, GROUT_WIDTH_##NAME, FIELD(NAME, value))

#endif
