/* files.c - .npy files of version 1. SPDX-License-Identifier: Apache-2.0 */
#include "files.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_MAX_HERE = 512, HEADER_MAX = 256, ALIGNMENT = 64, PREFIX = 10 };

static FILE *open_file(const char *folder, const char *name, const char *end) {
    char path[PATH_MAX_HERE];
    (void)snprintf(path, sizeof path, "%s/%s%s", folder, name, end);
    FILE *file = fopen(path, "wb");
    if (file == NULL) {
        printf("%s cannot be written\n", path);
    }
    return file;
}

static bool close_file(FILE *file, bool is_written) {
    return fclose(file) == 0 && is_written;
}

bool files_write_text(const char *folder, const char *name, const grout_text *text) {
    FILE *file = open_file(folder, name, "");
    return file != NULL && close_file(file, fwrite(text->data, 1, text->size, file) == text->size);
}

static void get_descr(grout_dtype dtype, char *text, size_t size) {
    const grout_dtype_info *info = grout_dtype_get_info(dtype);
    const bool is_known = info->class_ != GROUT_CLASS_FLOAT || dtype == GROUT_DTYPE_F16 ||
                          dtype == GROUT_DTYPE_F32 || dtype == GROUT_DTYPE_F64;
    char letter = 'u';
    if (info->packed > 1) {
        letter = 'u'; /* the bits */
    } else if (info->class_ == GROUT_CLASS_BOOL) {
        letter = 'b';
    } else if (info->class_ == GROUT_CLASS_SINT) {
        letter = 'i';
    } else if (is_known && info->class_ == GROUT_CLASS_FLOAT) {
        letter = 'f';
    }
    (void)snprintf(text, size, "%c%c%d", info->bytes == 1 ? '|' : '<', letter, info->bytes);
}

static bool write_npy(FILE *file, const char *descr, const int64_t *dims, uint32_t rank,
                      const void *bytes, size_t size) {
    char header[HEADER_MAX];
    int at = snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (",
                      descr);
    for (uint32_t k = 0; k < rank; k++) {
        at += snprintf(header + at, sizeof header - (size_t)at, "%" PRId64 ",", dims[k]);
    }
    at += snprintf(header + at, sizeof header - (size_t)at, "), }");
    while ((at + 1 + PREFIX) % ALIGNMENT != 0) {
        header[at++] = ' ';
    }
    header[at++] = '\n';
    const unsigned char prefix[PREFIX] = {
        0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)(at & 255), (unsigned char)(at >> 8)};
    return fwrite(prefix, 1, PREFIX, file) == PREFIX &&
           fwrite(header, 1, (size_t)at, file) == (size_t)at &&
           fwrite(bytes, 1, size, file) == size;
}

bool files_write_array(const char *folder, const char *name, const grout_type *type,
                       const uint8_t *bytes) {
    const grout_dtype dtype = (grout_dtype)type->dtype;
    const size_t count = (size_t)grout_type_get_count(type);
    const size_t size = count * grout_dtype_get_info(dtype)->bytes;
    uint8_t *elements = malloc(size); /* a file has no two of them in a byte */
    FILE *file = open_file(folder, name, ".npy");
    char descr[8];
    int64_t dims[GROUT_RANK_MAX];
    get_descr(dtype, descr, sizeof descr);
    for (uint32_t k = 0; k < type->rank; k++) {
        dims[k] = type->dims[k];
    }
    bool is_written = elements != NULL;
    if (is_written) {
        for (size_t i = 0; i < count; i++) {
            grout_type_get_element(type, bytes, (int64_t)i,
                                   elements + i * grout_dtype_get_info(dtype)->bytes);
        }
        is_written = file != NULL && write_npy(file, descr, dims, type->rank, elements, size);
    }
    free(elements);
    return file != NULL && close_file(file, is_written);
}

bool files_write_bounds(const char *folder, const char *name, const reference_array *array) {
    const size_t count = (size_t)array->count;
    double *pairs = calloc(count, 2 * sizeof *pairs);
    bool is_exact = true;
    for (size_t i = 0; pairs != NULL && i < count; i++) {
        pairs[2 * i] = array->numbers[i].value;
        pairs[2 * i + 1] = array->is_written[i] ? array->numbers[i].bound : (double)INFINITY;
        is_exact = is_exact && pairs[2 * i + 1] == 0;
    }
    bool is_written = pairs != NULL;
    if (is_written && !is_exact) {
        const int64_t dims[2] = {array->count, 2};
        FILE *file = open_file(folder, name, ".npy");
        is_written = file != NULL && close_file(file, write_npy(file, "<f8", dims, 2, pairs,
                                                                2 * count * sizeof *pairs));
    }
    free(pairs);
    return is_written;
}
