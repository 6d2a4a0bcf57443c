/* fuzz_npy.c - any bytes as a .npy file: read, converted to every type, written and read again.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/fuzz.h"

#include "cli/input/npy.h"

#include <stdlib.h>
#include <string.h>

/* Converts what was read; what is written from it reads back as the same bytes. */
static void convert(const grout_npy *npy, grout_dtype dtype) {
    size_t size = (size_t)npy->count * grout_dtype_get_info(dtype)->bytes;
    void *elements = malloc(size > 0 ? size : 1);
    grout_diags *diags = grout_diags_new();
    grout_text file = {0};
    grout_npy again;
    if (elements != NULL && diags != NULL) {
        grout_npy_convert(npy, dtype, elements);
        grout_npy_print_header(dtype, npy->rank, npy->dims, &file);
        grout_text_add_bytes(&file, elements, size);
        bool is_good = !file.failed &&
                       grout_npy_parse(file.data, file.size, "again", &again, diags) &&
                       grout_npy_is_plain(&again, dtype) && again.count == npy->count &&
                       (size == 0 || memcmp(again.data, elements, size) == 0);
        if (!is_good) {
            abort();
        }
    }
    grout_text_free(&file);
    grout_diags_free(diags);
    free(elements);
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
