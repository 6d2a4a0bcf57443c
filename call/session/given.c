/* given.c - see given.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "given.h"

#include <string.h>

bool grout_given__has_file(const grout_given *given) {
    return given == NULL || given->has_file;
}

const grout_given_array *grout_given__find_array(const grout_given *given, const char *param) {
    for (size_t i = 0; given != NULL && i < given->arrays.count; i++) {
        if (strcmp(given->arrays.items[i].param, param) == 0) {
            return &given->arrays.items[i];
        }
    }
    return NULL;
}
