/* SPDX-License-Identifier: Apache-2.0 */
/*
 * type.h - types of the values of a bound module, and their elements in memory.
 */
#ifndef GROUT_INTERNAL_TYPE_H
#define GROUT_INTERNAL_TYPE_H

#include "grout-internal/layout.h"
#include "grout-internal/tables.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Elements of a row that TMA spreads at once. */
#define GROUT_EXPANDED_ROW 128

/* Number of elements; 1 for rank 0. Types of a bound module never overflow. */
int64_t grout_type_get_count(const grout_type *type);
/* Elements that lie in one byte as layouts and views count them: 2 of 4 bits, else 1. */
uint8_t grout_type_get_packed(const grout_type *type);
/* What memory is filled with, grout_dtype_info.bytes at a time, for each element to be this. */
uint64_t grout_dtype_get_pattern(grout_dtype dtype, uint64_t element);
/* One element, in grout_dtype_info.bytes as values in registers have it, to its place in an array
 * in memory, and back. Elements are put in ascending order: the first of a byte clears the rest. */
void grout_element_put(grout_dtype dtype, void *memory, int64_t index, const void *element);
void grout_element_get(grout_dtype dtype, const void *memory, int64_t index, void *element_out);
/* Elements as values in registers have them, each in grout_dtype_info.bytes, to memory, and back.
 * The count is a multiple of the packed elements of a byte. Both may start at one address. */
void grout_elements_pack(grout_dtype dtype, const void *elements, void *memory, int64_t count);
void grout_elements_unpack(grout_dtype dtype, const void *memory, void *elements, int64_t count);
/* The same of an array of the host: one that is 'packed' has its elements bit after bit. */
void grout_type_put_element(const grout_type *type, void *memory, int64_t index,
                            const void *element);
void grout_type_get_element(const grout_type *type, const void *memory, int64_t index,
                            void *element_out);
bool grout_type_is_equal(const grout_type *a, const grout_type *b);
/* Appends "[1, 2]", where the element of that number lies in row-major order; of a type without
 * dimensions nothing. */
void grout_type_print_element(const grout_type *type, int64_t element, grout_text *out);
/* Appends "f32[32, 64]", "i32", "smem f32[2, 64]" or "barrier[2]". */
void grout_type_print(const grout_type *type, grout_text *out);
/* Appends an element of some type, as its bits: "-3", "true", "0.1". */
void grout_element_print(grout_dtype dtype, uint64_t bits, grout_text *out);

#ifdef __cplusplus
}
#endif
#endif
