/*
 * fields.h - numbers and bits that the hardware is given, as fields.def lists them, and the one of
 * them that a test has made wrong.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_GPU_FIELDS_H
#define GROUT_GPU_FIELDS_H

#include "grout/gpu.h"

typedef enum grout_gpu_field {
#define GROUT_FIELD(WORD, NAME, FIRST, WIDTH, UNIT, SECTION, DOC) GROUT_FIELD_##WORD##_##NAME,
#include "fields.def"
    GROUT_FIELD_COUNT
} grout_gpu_field;

/* The number that is written: this one, or of the field that is planted one unit more or less. */
int64_t grout_gpu__plant(const grout_planted *planted, grout_gpu_field field, int64_t value);
/* The same of a number that is known at run time: "", or what follows it, e.g. " + 16". */
const char *grout_gpu__plant_text(const grout_planted *planted, grout_gpu_field field);
/* What an address of things of so many bytes gets: 0, or one of them more or less. */
int64_t grout_gpu__get_step(const grout_planted *planted, grout_gpu_field field, int64_t size);
/* Bytes of a line of CUDA, with the field that is planted where it stands in them as text. */
void grout_gpu__add_planted(const grout_planted *planted, const char *text, size_t size,
                            grout_text *out);
/* The word with a field of bits set, which was 0. */
uint64_t grout_gpu__put_field(const grout_planted *planted, uint64_t word, grout_gpu_field field,
                              uint64_t value);

#endif
