/* write.c - files, written as the command writes them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "grout/binding.h"

#include "output_file.h"

bool grout_write_file(const char *path, const void *data, size_t size, grout_diags *diags) {
    const grout_output_part part = {data, size};
    const grout_output_file file = {
        .folder = GROUT_OUTPUT_HERE, .path = path, .parts = &part, .count = 1};
    const grout_place nowhere = {.file = NULL};
    grout_text reason = {0};
    bool is_written = grout_output_file__write(&file, &reason);
    if (!is_written) {
        grout_diags_add(diags, GROUT_DIAG_FILE_UNWRITABLE, nowhere, "cannot write '%s': %s", path,
                        reason.failed || reason.data == NULL ? "?" : reason.data);
    }
    grout_text_free(&reason);
    return is_written;
}
