/* fuzz_npy.c - any bytes as a .npy file: read, converted to every type, written and read again.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/fuzz.h"

#include "call/input/npy.h"

#include <stdlib.h>
#include <string.h>

/* Whether a file of the elements, one after the other, reads back as what memory holds. */
static bool reads_back(const grout_npy *npy, grout_dtype dtype, const void *memory, size_t size) {
    const grout_dtype_info *info = grout_dtype_get_info(dtype);
    grout_diags *diags = grout_diags_new();
    grout_text file = {0};
    grout_npy again;
    grout_npy_print_header(dtype, npy->rank, npy->dims, &file);
    for (int64_t i = 0; i < npy->count; i++) {
        uint8_t element[8] = {0};
        grout_element_get(dtype, memory, i, element);
        grout_text_add_bytes(&file, (const char *)element, info->bytes);
    }
    bool is_good = !file.failed && diags != NULL &&
                   grout_npy_parse(file.data, file.size, "again", &again, diags) &&
                   again.count == npy->count && grout_npy_can_convert(&again, dtype);
    if (is_good && info->bits >= 8) {
        is_good = grout_npy_is_plain(&again, dtype) &&
                  (size == 0 || memcmp(again.data, memory, size) == 0);
    } else if (is_good) {
        void *back = calloc(1, size > 0 ? size : 1);
        if (back != NULL) {
            (void)grout_npy_convert(&again, dtype, back, &(grout_pulse){0});
            is_good = size == 0 || memcmp(back, memory, size) == 0;
        }
        free(back);
    }
    grout_text_free(&file);
    grout_diags_free(diags);
    return is_good;
}

/* Converts what was read; what is written from it reads back as the same bytes. */
static void convert(const grout_npy *npy, grout_dtype dtype) {
    size_t size = (size_t)npy->count * grout_dtype_get_info(dtype)->bytes;
    void *memory = calloc(1, size > 0 ? size : 1);
    if (memory != NULL) {
        (void)grout_npy_convert(npy, dtype, memory, &(grout_pulse){0});
        if (!reads_back(npy, dtype, memory, size)) {
            abort();
        }
    }
    free(memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    grout_diags *diags = grout_diags_new();
    grout_npy npy;
    if (diags != NULL && grout_npy_parse(data, size, "input", &npy, diags)) {
        grout_text text = {0};
        grout_npy_describe(&npy, &text);
        grout_text_free(&text);
        for (int dtype = 1; dtype < GROUT_DTYPE_COUNT; dtype++) {
            if (grout_npy_can_convert(&npy, (grout_dtype)dtype)) {
                convert(&npy, (grout_dtype)dtype);
            }
        }
    }
    grout_diags_free(diags);
    return 0;
}
