/* npy.c - reads and writes .npy files in memory.
 * SPDX-License-Identifier: Apache-2.0 */
#include "npy.h"

#include "invariant.h"

#include <string.h>

static const grout_place nowhere = {0};

/* ---- the header: a Python literal ----------------------------------------------------------- */

typedef struct reader {
    const char *at, *end;
    const char *name; /* of the file */
    grout_diags *diags;
} reader;

enum { SEEN_DESCR = 1, SEEN_ORDER = 2, SEEN_SHAPE = 4, SEEN_ALL = 7 };

static bool fail(reader *r, const char *what) {
    return grout_diags_add(r->diags, GROUT_DIAG_BAD_NPY, nowhere, "'%s': %s", r->name, what);
}

static void skip_space(reader *r) {
    while (r->at < r->end &&
           (*r->at == ' ' || *r->at == '\n' || *r->at == '\t' || *r->at == '\r')) {
        r->at++;
    }
}

static bool take(reader *r, char c) {
    skip_space(r);
    if (r->at < r->end && *r->at == c) {
        r->at++;
        return true;
    }
    return false;
}

static bool take_word(reader *r, const char *word) {
    size_t size = strlen(word);
    skip_space(r);
    if ((size_t)(r->end - r->at) >= size && memcmp(r->at, word, size) == 0) {
        r->at += size;
        return true;
    }
    return false;
}

/* 'text' or "text" without escapes; at most 15 bytes are kept. */
static bool read_string(reader *r, char text[16]) {
    skip_space(r);
    if (r->at == r->end || (*r->at != '\'' && *r->at != '"')) {
        return false;
    }
    const char quote = *r->at++;
    const char *start = r->at;
    while (r->at < r->end && *r->at != quote && *r->at != '\\' && *r->at != '\n') {
        r->at++;
    }
    if (r->at == r->end || *r->at != quote) {
        return false;
    }
    size_t size = (size_t)(r->at++ - start);
    if (size > 15) {
        size = 15;
    }
    memcpy(text, start, size);
    text[size] = '\0';
    return true;
}

static bool read_dimension(reader *r, int64_t *out) {
    skip_space(r);
    int64_t value = 0;
    const char *start = r->at;
    while (r->at < r->end && *r->at >= '0' && *r->at <= '9') {
        int64_t digit = *r->at++ - '0';
        if (value > (INT64_MAX - digit) / 10) {
            return false;
        }
        value = value * 10 + digit;
    }
    bool has_digits = r->at > start;
    (void)take(r, 'L'); /* files written by Python 2 */
    *out = value;
    return has_digits;
}

/* (), (3,), (3, 4) */
static bool read_shape(reader *r, grout_npy *npy) {
    npy->rank = 0;
    npy->count = 1;
    if (!take(r, '(')) {
        return fail(r, "its shape is not a tuple of sizes");
    }
    while (!take(r, ')')) {
        int64_t size;
        if (!read_dimension(r, &size)) {
            return fail(r, "its shape is not a tuple of sizes of 63 bits");
        }
        if (npy->rank == GROUT_NPY_RANK_MAX) {
            return fail(r, "it has more than 8 dimensions");
        }
        if (size > 0 && npy->count > INT64_MAX / 8 / size) {
            return fail(r, "its size does not fit 63 bits");
        }
        npy->dims[npy->rank++] = size;
        npy->count *= size;
        if (!take(r, ',') && (r->at == r->end || *r->at != ')')) {
            return fail(r, "its shape is not a tuple of sizes");
        }
    }
    return true;
}

static bool is_known_element(char kind, uint8_t bytes) {
    bool is_power = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
    switch (kind) {
    case 'b':
        return bytes == 1;
    case 'i':
    case 'u':
    case 'f':
        return is_power;
    case 'V':
        return bytes <= 2;
    default:
        return false;
    }
}

/* <f4, |u1, >i8, <V2 */
static bool read_descr(reader *r, grout_npy *npy) {
    char text[16] = "";
    skip_space(r);
    if (r->at < r->end && *r->at == '[') {
        return fail(r, "it is a structured array; grout reads arrays of numbers");
    }
    if (!read_string(r, text)) {
        return fail(r, "its descr is not a string");
    }
    bool has_form =
        strlen(text) == 3 && strchr("<>|=", text[0]) != NULL && text[2] >= '1' && text[2] <= '8';
    if (!has_form || !is_known_element(text[1], (uint8_t)(text[2] - '0'))) {
        return grout_diags_add(r->diags, GROUT_DIAG_BAD_NPY, nowhere,
                               "'%s': grout does not read elements of type '%s'", r->name, text);
    }
    npy->kind = text[1];
    npy->bytes = (uint8_t)(text[2] - '0');
    npy->is_swapped = text[0] == '>' && npy->bytes > 1;
    return true;
}

static bool read_order(reader *r, grout_npy *npy) {
    if (take_word(r, "True")) {
        npy->is_fortran = true;
    } else if (take_word(r, "False")) {
        npy->is_fortran = false;
    } else {
        return fail(r, "its fortran_order is neither True nor False");
    }
    return true;
}

/* One 'key': value; *seen collects the keys. */
static bool read_entry(reader *r, grout_npy *npy, uint32_t *seen) {
    char key[16];
    if (!read_string(r, key) || !take(r, ':')) {
        return fail(r, "its header is not a dictionary of descr, fortran_order and shape");
    }
    uint32_t bit = strcmp(key, "descr") == 0           ? SEEN_DESCR
                   : strcmp(key, "fortran_order") == 0 ? SEEN_ORDER
                   : strcmp(key, "shape") == 0         ? SEEN_SHAPE
                                                       : 0;
    if (bit == 0 || (*seen & bit) != 0) {
        return grout_diags_add(r->diags, GROUT_DIAG_BAD_NPY, nowhere,
                               "'%s': its header has the key '%s' %s", r->name, key,
                               bit == 0 ? "that grout does not know" : "twice");
    }
    *seen |= bit;
    return bit == SEEN_DESCR   ? read_descr(r, npy)
           : bit == SEEN_ORDER ? read_order(r, npy)
                               : read_shape(r, npy);
}

static bool read_header(reader *r, grout_npy *npy) {
    uint32_t seen = 0;
    if (!take(r, '{')) {
        return fail(r, "its header is not a dictionary");
    }
    while (!take(r, '}')) {
        if (!read_entry(r, npy, &seen)) {
            return false;
        }
        if (!take(r, ',') && (r->at == r->end || *r->at != '}')) {
            return fail(r, "its header is not a dictionary of descr, fortran_order and shape");
        }
    }
    skip_space(r);
    if (r->at != r->end) {
        return fail(r, "there is text after its header's dictionary");
    }
    return seen == SEEN_ALL || fail(r, "its header lacks descr, fortran_order or shape");
}

/* Finds and reads the header; *size_out: of all that comes before the data. */
static bool read_head(reader *r, const void *bytes, size_t size, grout_npy *npy, size_t *size_out) {
    static const uint8_t magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
    const uint8_t *data = bytes;
    if (size < 10 || memcmp(data, magic, sizeof magic) != 0) {
        return fail(r, "it does not start as a .npy file does");
    }
    if (data[6] < 1 || data[6] > 3 || data[7] != 0) {
        return grout_diags_add(r->diags, GROUT_DIAG_BAD_NPY, nowhere,
                               "'%s': its version is %u.%u; grout reads 1.0, 2.0 and 3.0", r->name,
                               data[6], data[7]);
    }
    size_t start = data[6] == 1 ? 10 : 12;
    if (size < start) {
        return fail(r, "it ends within its header");
    }
    uint64_t header_size = data[8] | (uint64_t)data[9] << 8;
    if (start == 12) {
        header_size |= (uint64_t)data[10] << 16 | (uint64_t)data[11] << 24;
    }
    if (header_size > GROUT_NPY_HEADER_MAX) {
        return fail(r, "its header has more than 65536 bytes");
    }
    if (header_size > size - start) {
        return fail(r, "it ends within its header");
    }
    r->at = (const char *)data + start;
    r->end = r->at + header_size;
    *size_out = start + header_size;
    return read_header(r, npy);
}

uint64_t grout_npy_get_size(const char *head, size_t size) {
    reader r = {.name = "", .diags = NULL};
    grout_npy npy = {0};
    size_t start = 0;
    return read_head(&r, head, size, &npy, &start) ? start + (uint64_t)npy.count * npy.bytes : 0;
}

bool grout_npy_parse(const void *bytes, size_t size, const char *name, grout_npy *npy_out,
                     grout_diags *diags) {
    reader r = {.name = name, .diags = diags};
    grout_npy npy = {0};
    size_t start = 0;
    if (!read_head(&r, bytes, size, &npy, &start)) {
        return false;
    }
    uint64_t wanted = (uint64_t)npy.count * npy.bytes;
    uint64_t present = size - start;
    if (wanted != present) {
        return grout_diags_add(diags, GROUT_DIAG_BAD_NPY, nowhere,
                               "'%s': its header promises %llu bytes of data, there are %llu", name,
                               (unsigned long long)wanted, (unsigned long long)present);
    }
    npy.data = (const uint8_t *)bytes + start;
    npy.data_size = (size_t)wanted;
    *npy_out = npy;
    return true;
}

/* ---- elements ------------------------------------------------------------------------------- */

static const char *get_kind(grout_dtype dtype) {
    switch ((grout_dtype_class)grout_dtype_get_info(dtype)->class_) {
    case GROUT_CLASS_BOOL:
        return "b";
    case GROUT_CLASS_SINT:
        return "i";
    case GROUT_CLASS_UINT:
        return "u";
    case GROUT_CLASS_FLOAT:
        return "f";
    case GROUT_CLASS_NONE:
        break;
    }
    return "?";
}

/* bf16, the 8-bit floats and all narrower types have no type in numpy: files hold their bits, each
 * element in bytes of its own, as ml_dtypes writes them. */
static bool is_raw(grout_dtype dtype) {
    return dtype == GROUT_DTYPE_BF16 || grout_dtype_get_info(dtype)->bits < 8 ||
           dtype == GROUT_DTYPE_F8E4M3 || dtype == GROUT_DTYPE_F8E5M2 ||
           dtype == GROUT_DTYPE_F8E8M0;
}

/* Whether the file's elements are bits of dtype, byte order aside. */
static bool has_same_bits(const grout_npy *npy, grout_dtype dtype) {
    if (npy->bytes != grout_dtype_get_info(dtype)->bytes) {
        return false;
    }
    if (!is_raw(dtype)) {
        return npy->kind == get_kind(dtype)[0];
    }
    /* ml_dtypes writes float8_e5m2, and no other 8-bit float, as '<f1'. */
    bool is_e5m2 = npy->bytes == 1 && dtype == GROUT_DTYPE_F8E5M2;
    const bool is_i4 = dtype == GROUT_DTYPE_I4; /* the bits of an int8 in its range */
    return npy->kind == 'V' || npy->kind == 'u' || (npy->kind == 'f' && is_e5m2) ||
           (npy->kind == 'i' && is_i4);
}

bool grout_npy_can_convert(const grout_npy *npy, grout_dtype dtype) {
    if (has_same_bits(npy, dtype)) {
        return true;
    }
    const grout_dtype_info *info = grout_dtype_get_info(dtype);
    return npy->kind == 'f' && npy->bytes >= 4 && info->class_ == GROUT_CLASS_FLOAT &&
           info->bytes < npy->bytes;
}

bool grout_npy_is_plain(const grout_npy *npy, grout_dtype dtype) {
    return has_same_bits(npy, dtype) && grout_dtype_get_info(dtype)->bits >= 8 &&
           !npy->is_swapped && (!npy->is_fortran || npy->rank < 2);
}

static uint64_t read_element(const grout_npy *npy, int64_t index) {
    GROUT_ASSERT(index >= 0 && index < npy->count && npy->bytes <= sizeof(uint64_t));
    const uint8_t *at = npy->data + (size_t)index * npy->bytes;
    uint64_t bits = 0;
    for (uint32_t i = 0; i < npy->bytes; i++) {
        uint32_t shift = 8 * (npy->is_swapped ? npy->bytes - 1 - i : i);
        bits |= (uint64_t)at[i] << shift;
    }
    return bits;
}

static void write_element(uint8_t *out, uint64_t bits, uint32_t bytes) {
    for (uint32_t i = 0; i < bytes; i++) {
        out[i] = (uint8_t)(bits >> (8 * i));
    }
}

/* Value of an f4 or f8. */
static double get_number(uint64_t bits, uint32_t bytes) {
    double number;
    if (bytes == 4) {
        uint32_t low = (uint32_t)bits;
        float narrow;
        memcpy(&narrow, &low, sizeof narrow);
        return narrow;
    }
    memcpy(&number, &bits, sizeof number);
    return number;
}

static void convert_element(const grout_npy *npy, int64_t index, grout_dtype dtype, uint8_t *out) {
    uint64_t bits = read_element(npy, index);
    if (has_same_bits(npy, dtype)) {
        const uint32_t size = grout_dtype_get_info(dtype)->bits;
        write_element(out, size < 8 ? bits & ((1u << size) - 1) : bits, npy->bytes);
    } else {
        grout_element_from_double(dtype, get_number(bits, npy->bytes), out);
    }
}

int64_t grout_npy_find_misfit(const grout_npy *npy, grout_dtype dtype) {
    const uint32_t size = grout_dtype_get_info(dtype)->bits;
    for (int64_t i = 0; size < 8 && npy->bytes == 1 && i < npy->count; i++) {
        const uint8_t byte = npy->data[i];
        const bool is_negative = dtype == GROUT_DTYPE_I4 && byte >= 0xf8;
        const bool is_large = npy->kind == 'i' && byte >= 8;
        if (!is_negative && (byte >> size != 0 || is_large)) {
            return i;
        }
    }
    return -1;
}

/* Steps a row-major index and keeps the element's place in the file, which is in Fortran order. */
static int64_t step_index(const grout_npy *npy, int64_t *index, const int64_t *strides,
                          int64_t at) {
    for (uint32_t d = npy->rank; d-- > 0;) {
        at += strides[d];
        if (++index[d] < npy->dims[d]) {
            return at;
        }
        at -= strides[d] * npy->dims[d];
        index[d] = 0;
    }
    return at;
}

bool grout_npy_convert(const grout_npy *npy, grout_dtype dtype, void *out, grout_pulse *pulse) {
    const grout_type type = {.kind = GROUT_TYPE_REF, .dtype = (uint8_t)dtype};
    return grout_npy_fill(npy, &type, out, pulse);
}

bool grout_npy_fill(const grout_npy *npy, const grout_type *type, void *out, grout_pulse *pulse) {
    const grout_dtype dtype = (grout_dtype)type->dtype;
    GROUT_ASSERT(grout_npy_can_convert(npy, dtype));
    GROUT_ASSERT(npy->rank <= GROUT_NPY_RANK_MAX);
    GROUT_ASSERT(npy->data_size == (size_t)npy->count * npy->bytes);
    /* If one dimension is 0, the others may have any size, and strides would overflow. */
    if (npy->count == 0) {
        return true;
    }
    if (grout_npy_is_plain(npy, dtype)) {
        memcpy(out, npy->data, npy->data_size);
        return true;
    }
    int64_t index[GROUT_NPY_RANK_MAX] = {0}, strides[GROUT_NPY_RANK_MAX], at = 0;
    int64_t stride = 1;
    for (uint32_t d = 0; d < npy->rank; d++) {
        strides[d] = stride;
        stride *= npy->dims[d];
    }
    GROUT_ASSERT(stride == npy->count);
    for (int64_t i = 0; i < npy->count; i++) {
        uint8_t element[8] = {0};
        if (!grout_pulse__goes_on(pulse, 1)) {
            return false;
        }
        convert_element(npy, npy->is_fortran ? at : i, dtype, element);
        grout_type_put_element(type, out, i, element);
        if (npy->is_fortran) {
            at = step_index(npy, index, strides, at);
        }
    }
    return true;
}

/* ---- writing -------------------------------------------------------------------------------- */

void grout_npy_print_header(grout_dtype dtype, uint8_t rank, const int64_t *dims, grout_text *out) {
    uint32_t bytes = grout_dtype_get_info(dtype)->bytes;
    const char *kind = is_raw(dtype) ? "V" : get_kind(dtype);
    const char *order = bytes == 1 ? "|" : "<";
    grout_text shape = {0};
    for (uint32_t d = 0; d < rank; d++) {
        grout_text_add(&shape, "%s%lld", d > 0 ? ", " : "", (long long)dims[d]);
    }
    grout_text header = {0};
    grout_text_add(&header, "{'descr': '%s%s%u', 'fortran_order': False, 'shape': (%s%s), }", order,
                   kind, bytes, shape.data == NULL ? "" : shape.data, rank == 1 ? "," : "");
    grout_text_free(&shape);
    /* The data are to start at a multiple of 64 bytes: blanks, then a newline. */
    while ((10 + header.size + 1) % 64 != 0 && !header.failed) {
        grout_text_add_bytes(&header, " ", 1);
    }
    grout_text_add_bytes(&header, "\n", 1);
    GROUT_ASSERT(header.size <= UINT16_MAX);
    uint8_t lead[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
    lead[8] = (uint8_t)header.size;
    lead[9] = (uint8_t)(header.size >> 8);
    grout_text_add_bytes(out, (const char *)lead, sizeof lead);
    grout_text_add_bytes(out, header.data, header.size);
    out->failed = out->failed || header.failed;
    grout_text_free(&header);
}

void grout_npy_describe(const grout_npy *npy, grout_text *out) {
    const char *kind = npy->kind == 'b'   ? "bool"
                       : npy->kind == 'i' ? "int"
                       : npy->kind == 'u' ? "uint"
                       : npy->kind == 'f' ? "float"
                                          : "void";
    grout_text_add(out, "%s%u", kind, npy->bytes * 8u);
    grout_text_add(out, npy->rank == 0 ? ", a single one" : " of ");
    for (uint32_t d = 0; d < npy->rank; d++) {
        grout_text_add(out, "%s%lld", d > 0 ? " x " : "", (long long)npy->dims[d]);
    }
}
