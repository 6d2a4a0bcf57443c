/* check_npy.c - .npy files in memory: what is read, what is refused, what is written.
 * SPDX-License-Identifier: Apache-2.0 */
#include "call/input/npy.h"
#include "tests/tests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A file with this header text, padded as numpy does, and data. */
static size_t make_file(uint8_t *file, int version, const char *header, const void *data,
                        size_t data_size) {
    size_t size = strlen(header), start = version == 1 ? 10 : 12;
    static const uint8_t magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
    memcpy(file, magic, sizeof magic);
    file[6] = (uint8_t)version;
    file[7] = 0;
    file[8] = (uint8_t)size;
    file[9] = (uint8_t)(size >> 8);
    file[10] = file[11] = 0;
    memcpy(file + start, header, size);
    if (data_size > 0) {
        memcpy(file + start + size, data, data_size);
    }
    return start + size + data_size;
}

/* Parses an exact allocation, so that ASan sees a read past the end. */
static bool parse(const uint8_t *file, size_t size, grout_npy *npy, grout_diags *diags,
                  uint8_t **copy) {
    *copy = malloc(size > 0 ? size : 1);
    ck_assert_ptr_nonnull(*copy);
    memcpy(*copy, file, size);
    return grout_npy_parse(*copy, size, "x.npy", npy, diags);
}

/* ---- files that are read -------------------------------------------------------------------- */

typedef struct read_case {
    const char *name;
    int version;
    const char *header;
    uint8_t data[16];
    size_t data_size;
    grout_dtype dtype;
    uint8_t expected[16];
    int expected_size;
} read_case;

static const read_case read_cases[] = {
    {"f4",
     1,
     "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n",
     {0, 0, 0x80, 0x3f, 0, 0, 0, 0x40},
     8,
     GROUT_DTYPE_F32,
     {0, 0, 0x80, 0x3f, 0, 0, 0, 0x40},
     8},
    {"big-endian f4, version 2",
     2,
     "{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }\n",
     {0x3f, 0x80, 0, 0},
     4,
     GROUT_DTYPE_F32,
     {0, 0, 0x80, 0x3f},
     4},
    {"f4 rounded to bf16, ties to even",
     3,
     "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n",
     {0, 0x80, 0x80, 0x3f, 0, 0x80, 0x81, 0x3f},
     8,
     GROUT_DTYPE_BF16,
     {0x80, 0x3f, 0x82, 0x3f},
     4},
    {"void as bf16",
     1,
     "{'descr': '<V2', 'fortran_order': False, 'shape': (2,), }\n",
     {1, 2, 3, 4},
     4,
     GROUT_DTYPE_BF16,
     {1, 2, 3, 4},
     4},
    {"u2 as bf16",
     1,
     "{'descr': '<u2', 'fortran_order': False, 'shape': (1,), }\n",
     {1, 2},
     2,
     GROUT_DTYPE_BF16,
     {1, 2},
     2},
    {"void as f8",
     1,
     "{'descr': '|V1', 'fortran_order': False, 'shape': (2,), }\n",
     {1, 2},
     2,
     GROUT_DTYPE_F8E4M3,
     {1, 2},
     2},
    {"Fortran order",
     1,
     "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }\n",
     {0, 3, 1, 4, 2, 5},
     6,
     GROUT_DTYPE_U8,
     {0, 1, 2, 3, 4, 5},
     6},
    {"Fortran order, three dimensions",
     1,
     "{'descr': '|i1', 'fortran_order': True, 'shape': (2, 2, 2), }\n",
     {0, 4, 2, 6, 1, 5, 3, 7},
     8,
     GROUT_DTYPE_I8,
     {0, 1, 2, 3, 4, 5, 6, 7},
     8},
    {"a scalar",
     1,
     "{'descr': '<i4', 'fortran_order': False, 'shape': (), }\n",
     {7, 0, 0, 0},
     4,
     GROUT_DTYPE_I32,
     {7, 0, 0, 0},
     4},
    {"no elements",
     1,
     "{'descr': '<i4', 'fortran_order': False, 'shape': (0, 5), }\n",
     {0},
     0,
     GROUT_DTYPE_I32,
     {0},
     0},
    /* Found by the fuzzer: the strides of a shape without elements may not fit 64 bits. */
    {"no elements, in Fortran order, beside a huge dimension",
     1,
     "{'descr': '<u1', 'fortran_order': True, 'shape': (0, 9223300001050036806, 2), }\n",
     {0},
     0,
     GROUT_DTYPE_U8,
     {0},
     0},
    {"keys in another order, double quotes, Python 2's sizes",
     1,
     "{\"shape\": (1L,), \"fortran_order\": False, \"descr\": \"|b1\"}",
     {1},
     1,
     GROUT_DTYPE_BOOL,
     {1},
     1},
    {"f2",
     1,
     "{'descr': '<f2', 'fortran_order': False, 'shape': (1,), }\n",
     {0, 0x3c},
     2,
     GROUT_DTYPE_F16,
     {0, 0x3c},
     2},
};

TEST_EACH(test_read, COUNT_OF(read_cases)) {
    const read_case *c = &read_cases[_i];
    uint8_t file[256], out[16] = {0}, *copy;
    grout_npy npy;
    grout_diags *diags = grout_diags_new();
    size_t size = make_file(file, c->version, c->header, c->data, c->data_size);
    ck_assert_msg(parse(file, size, &npy, diags, &copy), "%s: not read", c->name);
    ck_assert_msg(grout_npy_can_convert(&npy, c->dtype), "%s: not converted", c->name);
    grout_pulse pulse = {0};
    ck_assert(grout_npy_convert(&npy, c->dtype, out, &pulse));
    ck_assert_msg(memcmp(out, c->expected, (size_t)c->expected_size) == 0, "%s: other bytes",
                  c->name);
    /* Every shorter file is refused, and none is read past its end. */
    for (size_t cut = 0; cut < size; cut++) {
        uint8_t *part;
        ck_assert_msg(!parse(file, cut, &npy, diags, &part), "%s: cut at %zu is read", c->name,
                      cut);
        free(part);
    }
    free(copy);
    grout_diags_free(diags);
}

/* ---- files that are refused ----------------------------------------------------------------- */

typedef struct bad_case {
    const char *name;
    int version;
    const char *header;
    size_t data_size;
} bad_case;

static const bad_case bad_cases[] = {
    {"version 4", 4, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", 4},
    {"no dictionary", 1, "[]", 4},
    {"a key twice", 1, "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
     4},
    {"a key too many", 1, "{'x': '1', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", 4},
    {"a key too few", 1, "{'descr': '<f4', 'fortran_order': False}", 4},
    {"a structured type", 1, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", 4},
    {"complex numbers", 1, "{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", 8},
    {"objects", 1, "{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", 8},
    {"a float of 16 bytes", 1, "{'descr': '<f16', 'fortran_order': False, 'shape': (1,)}", 16},
    {"a negative size", 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", 4},
    {"a size that does not fit", 1,
     "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", 4},
    {"sizes whose product does not fit", 1,
     "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", 4},
    {"a product that wraps after a zero", 1,
     "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 4294967296, 4294967296)}", 4},
    {"nine dimensions", 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1)}",
     4},
    {"order 1", 1, "{'descr': '<f4', 'fortran_order': 1, 'shape': (1,)}", 4},
    {"text after it", 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x", 4},
    {"an open string", 1, "{'descr': '<f4", 4},
    {"data too short", 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 4},
    {"data too long", 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", 8},
    {"commas missing", 1, "{'descr': '<f4' 'fortran_order': False 'shape': (1,)}", 4},
    {"commas missing in the shape", 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1 1)}",
     4},
};

TEST_EACH(test_bad, COUNT_OF(bad_cases)) {
    const bad_case *c = &bad_cases[_i];
    uint8_t file[256] = {0}, data[16] = {0}, *copy;
    grout_npy npy;
    grout_diags *diags = grout_diags_new();
    size_t size = make_file(file, c->version, c->header, data, c->data_size);
    ck_assert_msg(!parse(file, size, &npy, diags, &copy), "%s: is read", c->name);
    ck_assert_uint_eq(grout_diags_count(diags), 1);
    ck_assert_int_eq(grout_diags_get(diags, 0)->code, GROUT_DIAG_BAD_NPY);
    free(copy);
    grout_diags_free(diags);
}

TEST(test_header_limit) {
    static const uint8_t start[12] = {0x93, 'N', 'U', 'M', 'P', 'Y', 2, 0, 0xff, 0xff, 0xff, 0x7f};
    grout_npy npy;
    grout_diags *diags = grout_diags_new();
    ck_assert(!grout_npy_parse(start, sizeof start, "x.npy", &npy, diags));
    ck_assert_ptr_nonnull(strstr(grout_diags_get(diags, 0)->message, "65536"));
    grout_diags_free(diags);
}

/* ---- files that are written ----------------------------------------------------------------- */

typedef struct write_case {
    grout_dtype dtype;
    uint8_t rank;
    int64_t dims[3];
    const char *header;
} write_case;

static const write_case write_cases[] = {
    {GROUT_DTYPE_F32,
     2,
     {4000, 120},
     "{'descr': '<f4', 'fortran_order': False, 'shape': (4000, 120), }"},
    {GROUT_DTYPE_BF16, 1, {3}, "{'descr': '<V2', 'fortran_order': False, 'shape': (3,), }"},
    {GROUT_DTYPE_F8E5M2, 1, {3}, "{'descr': '|V1', 'fortran_order': False, 'shape': (3,), }"},
    {GROUT_DTYPE_BOOL, 0, {0}, "{'descr': '|b1', 'fortran_order': False, 'shape': (), }"},
    {GROUT_DTYPE_U64,
     3,
     {1, 2, 3},
     "{'descr': '<u8', 'fortran_order': False, 'shape': (1, 2, 3), }"},
};

TEST_EACH(test_write, COUNT_OF(write_cases)) {
    const write_case *c = &write_cases[_i];
    grout_text header = {0};
    grout_npy npy;
    grout_diags *diags = grout_diags_new();
    grout_npy_print_header(c->dtype, c->rank, c->dims, &header);
    ck_assert(!header.failed);
    ck_assert_uint_eq(header.size % 64, 0);
    ck_assert_int_eq(header.data[header.size - 1], '\n');
    ck_assert_int_eq(memcmp(header.data + 10, c->header, strlen(c->header)), 0);
    int64_t count = 1;
    for (uint32_t d = 0; d < c->rank; d++) {
        count *= c->dims[d];
    }
    size_t bytes = (size_t)count * grout_dtype_get_info(c->dtype)->bytes;
    void *zeros = calloc(bytes, 1);
    grout_text_add_bytes(&header, zeros, bytes);
    ck_assert(grout_npy_parse(header.data, header.size, "x.npy", &npy, diags));
    ck_assert(grout_npy_is_plain(&npy, c->dtype));
    ck_assert_int_eq(npy.rank, c->rank);
    ck_assert_int_eq(npy.count, count);
    free(zeros);
    grout_text_free(&header);
    grout_diags_free(diags);
}

TEST(test_types) {
    static const struct {
        const char *descr;
        grout_dtype dtype;
        bool fits;
    } cases[] = {
        {"<f4", GROUT_DTYPE_F32, true},     {"<f4", GROUT_DTYPE_F16, true},
        {"<f4", GROUT_DTYPE_F8E4M3, true},  {"<f8", GROUT_DTYPE_F32, true},
        {"<f4", GROUT_DTYPE_F64, false},    {"<f2", GROUT_DTYPE_BF16, false},
        {"<i4", GROUT_DTYPE_F32, false},    {"<f4", GROUT_DTYPE_I32, false},
        {"<i4", GROUT_DTYPE_U32, false},    {"<i8", GROUT_DTYPE_I32, false},
        {"|u1", GROUT_DTYPE_BOOL, false},   {"|b1", GROUT_DTYPE_BOOL, true},
        {"<u2", GROUT_DTYPE_F16, false},    {"<f1", GROUT_DTYPE_F8E5M2, true},
        {"<f1", GROUT_DTYPE_F8E4M3, false}, {"<f2", GROUT_DTYPE_F16, true},
        {"|u1", GROUT_DTYPE_F8E5M2, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char header[128];
        uint8_t file[256], data[8] = {0}, *copy;
        grout_npy npy;
        grout_diags *diags = grout_diags_new();
        (void)snprintf(header, sizeof header,
                       "{'descr': '%s', 'fortran_order': False, 'shape': (1,)}", cases[i].descr);
        size_t size = make_file(file, 1, header, data, (size_t)(cases[i].descr[2] - '0'));
        ck_assert(parse(file, size, &npy, diags, &copy));
        ck_assert_msg(grout_npy_can_convert(&npy, cases[i].dtype) == cases[i].fits, "%s as %s",
                      cases[i].descr, grout_dtype_get_info(cases[i].dtype)->text);
        free(copy);
        grout_diags_free(diags);
    }
}
