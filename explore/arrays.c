/* arrays.c - copies of a launch's arrays.
 * SPDX-License-Identifier: Apache-2.0 */
#include "arrays.h"

#include "alloc.h"

#include <string.h>

static bool is_kept(const grout_launch *launch, size_t index, bool has_out) {
    const grout_kernel *kernel = grout_module_get_kernel(launch->module, launch->kernel);
    uint8_t direction = grout_module_get_param(launch->module, kernel, (uint32_t)index)->direction;
    return direction == GROUT_DIRECTION_INOUT || (has_out && direction == GROUT_DIRECTION_OUT);
}

bool grout_saved_arrays__take(grout_saved_arrays *saved, const grout_launch *launch, bool has_out) {
    size_t size = 0;
    for (size_t i = 0; i < launch->argument_count; i++) {
        size += is_kept(launch, i, has_out) ? launch->arguments[i].size : 0;
    }
    *saved = (grout_saved_arrays){grout__resize(launch->allocator, NULL, size + 1), has_out};
    uint8_t *at = saved->bytes;
    for (size_t i = 0; at != NULL && i < launch->argument_count; i++) {
        if (is_kept(launch, i, has_out)) {
            memcpy(at, launch->arguments[i].data, launch->arguments[i].size);
            at += launch->arguments[i].size;
        }
    }
    return saved->bytes != NULL;
}

void grout_saved_arrays__restore(const grout_saved_arrays *saved, const grout_launch *launch) {
    const uint8_t *at = saved->bytes;
    for (size_t i = 0; i < launch->argument_count; i++) {
        if (is_kept(launch, i, saved->has_out)) {
            memcpy(launch->arguments[i].data, at, launch->arguments[i].size);
            at += launch->arguments[i].size;
        }
    }
}

bool grout_saved_arrays__are_equal(const grout_saved_arrays *saved, const grout_launch *launch) {
    const uint8_t *at = saved->bytes;
    for (size_t i = 0; i < launch->argument_count; i++) {
        if (is_kept(launch, i, saved->has_out)) {
            if (memcmp(launch->arguments[i].data, at, launch->arguments[i].size) != 0) {
                return false;
            }
            at += launch->arguments[i].size;
        }
    }
    return true;
}

void grout_saved_arrays__deinit(grout_saved_arrays *saved) {
    grout__free(saved->bytes);
    *saved = (grout_saved_arrays){0};
}
