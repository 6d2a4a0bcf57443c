/* SPDX-License-Identifier: Apache-2.0 */
/*
 * type.h - types of the values of a bound module, and their elements in memory.
 */
#ifndef GROUT_TYPE_H
#define GROUT_TYPE_H

#include "grout/diag.h"
#include "grout/layout.h"
#include "grout/tables.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Elements of a row that TMA spreads at once. */
#define GROUT_EXPANDED_ROW 128

typedef enum grout_type_kind {
    GROUT_TYPE_NONE,
    GROUT_TYPE_SCALAR,
    GROUT_TYPE_ARRAY,     /* register array */
    GROUT_TYPE_REF,       /* array in memory */
    GROUT_TYPE_BARRIER,   /* array of barriers; rank 0: one barrier */
    GROUT_TYPE_SEMAPHORE, /* array of semaphores; rank 0: one */
    GROUT_TYPE_DESCRIPTOR /* TMA descriptor; dims: of its boxes */
} grout_type_kind;

typedef struct grout_type {
    uint8_t kind;  /* grout_type_kind */
    uint8_t dtype; /* NONE for barriers */
    uint8_t space; /* REF and BARRIER */
    uint8_t rank;
    /* REF of less than 8 bits: 16 neighbours of a row are a unit that TMA spreads. In GMEM,
     * 'packed', it has no gaps; in SMEM, 'padded', it fills 16 bytes. All but the host's bytes
     * count one byte for each element. */
    bool is_expanded;
    int64_t dims[GROUT_RANK_MAX];
} grout_type;

/* Number of elements; 1 for rank 0. Types of a bound module never overflow. */
GROUT_API int64_t grout_type_get_count(const grout_type *type);
/* Bytes of an array in memory, where elements of 4 bits are packed, and those of a 'packed' array.
 */
GROUT_API int64_t grout_type_get_bytes(const grout_type *type);
/* Elements that lie in one byte as layouts and views count them: 2 of 4 bits, else 1. */
GROUT_API uint8_t grout_type_get_packed(const grout_type *type);
/* What memory is filled with, grout_dtype_info.bytes at a time, for each element to be this. */
GROUT_API uint64_t grout_dtype_get_pattern(grout_dtype dtype, uint64_t element);
/* One element, in grout_dtype_info.bytes as values in registers have it, to its place in an array
 * in memory, and back. Elements are put in ascending order: the first of a byte clears the rest. */
GROUT_API void grout_element_put(grout_dtype dtype, void *memory, int64_t index,
                                 const void *element);
GROUT_API void grout_element_get(grout_dtype dtype, const void *memory, int64_t index,
                                 void *element_out);
/* Elements as values in registers have them, each in grout_dtype_info.bytes, to memory, and back.
 * The count is a multiple of the packed elements of a byte. Both may start at one address. */
GROUT_API void grout_elements_pack(grout_dtype dtype, const void *elements, void *memory,
                                   int64_t count);
GROUT_API void grout_elements_unpack(grout_dtype dtype, const void *memory, void *elements,
                                     int64_t count);
/* The same of an array of the host: one that is 'packed' has its elements bit after bit. */
GROUT_API void grout_type_put_element(const grout_type *type, void *memory, int64_t index,
                                      const void *element);
GROUT_API void grout_type_get_element(const grout_type *type, const void *memory, int64_t index,
                                      void *element_out);
GROUT_API bool grout_type_is_equal(const grout_type *a, const grout_type *b);
/* Appends "[1, 2]", where the element of that number lies in row-major order; of a type without
 * dimensions nothing. */
GROUT_API void grout_type_print_element(const grout_type *type, int64_t element, grout_text *out);
/* Appends "f32[32, 64]", "i32", "smem f32[2, 64]" or "barrier[2]". */
GROUT_API void grout_type_print(const grout_type *type, grout_text *out);
/* Appends an element of some type, as its bits: "-3", "true", "0.1". */
GROUT_API void grout_element_print(grout_dtype dtype, uint64_t bits, grout_text *out);

#ifdef __cplusplus
}
#endif
#endif
