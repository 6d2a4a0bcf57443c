/*
 * npy.h - NumPy's .npy files in memory: versions 1 to 3, both byte orders, C and Fortran order.
 *
 * Pure functions over bytes: they open nothing and allocate nothing of a size that a file chooses.
 * Source of the format: numpy.lib.format's documentation (NEP 1).
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_CALL_NPY_H
#define GROUT_CALL_NPY_H

#include "pulse.h"

#include "grout-internal/interp.h"
#include "grout-internal/ir.h"

/* Bytes of a header that grout reads; numpy's own are below 200. */
#define GROUT_NPY_HEADER_MAX 65536
#define GROUT_NPY_RANK_MAX   GROUT_RANK_MAX

typedef struct grout_npy {
    char kind;       /* of the descr: b i u f V */
    uint8_t bytes;   /* of an element: 1, 2, 4 or 8 */
    bool is_swapped; /* big-endian */
    bool is_fortran;
    uint8_t rank;
    int64_t dims[GROUT_NPY_RANK_MAX];
    int64_t count;       /* of elements */
    const uint8_t *data; /* borrowed from the bytes parsed */
    size_t data_size;    /* count * bytes */
} grout_npy;

/*
 * Reads the header and finds the data; name is the file's, for messages. False: a bad-npy
 * diagnostic says what is wrong. Truncated files and bytes after the data are faults.
 */
bool grout_npy_parse(const void *bytes, size_t size, const char *name, grout_npy *npy_out,
                     grout_diags *diags);

/* The size of the whole file, as the header in its first bytes says; 0: it is no such header. */
uint64_t grout_npy_get_size(const char *head, size_t size);
/* Bytes that hold any header that grout reads. */
#define GROUT_NPY_HEAD_MAX (GROUT_NPY_HEADER_MAX + 12)

/*
 * Whether the file's elements can be read as dtype: the same type; raw bits as void or unsigned of
 * the same size for bf16 and the 8-bit floats; f4 (and f8 for f32) rounded to a narrower float.
 */
bool grout_npy_can_convert(const grout_npy *npy, grout_dtype dtype);
/* Whether the file's data are, byte for byte, a row-major array of dtype. */
bool grout_npy_is_plain(const grout_npy *npy, grout_dtype dtype);
/* The first element of a file of bytes that is none of a type of less than 8 bits; -1: all are. */
int64_t grout_npy_find_misfit(const grout_npy *npy, grout_dtype dtype);
/* Writes the elements, row-major, as dtype: out has count times its size. can_convert holds. False:
 * the pulse has ended it. */
bool grout_npy_convert(const grout_npy *npy, grout_dtype dtype, void *out, grout_pulse *pulse);
/* The same for an array of a type, which may be 'packed'. */
bool grout_npy_fill(const grout_npy *npy, const grout_type *type, void *out, grout_pulse *pulse);

/* Appends the header of a version 1 file of dtype in row-major order; the data follow it. */
void grout_npy_print_header(grout_dtype dtype, uint8_t rank, const int64_t *dims, grout_text *out);
/* Appends "float32 of 4000 x 120", for messages. */
void grout_npy_describe(const grout_npy *npy, grout_text *out);

#endif
