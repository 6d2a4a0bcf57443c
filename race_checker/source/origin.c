/*
 * origin.c - the place in the source that an origin names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "origin.h"

#include "statement.h"

#include <string.h>

grout_loc_id grout_origin__get_loc(const grout_module *module, const grout_origin *origin) {
    return origin->op ? grout_module_get_op(module, origin->op)->loc : 0;
}

int grout_loc__compare(const grout_module *module, grout_loc_id a, grout_loc_id b) {
    grout_place left = grout_module_get_place(module, a);
    grout_place right = grout_module_get_place(module, b);
    int files = 0;
    if (a == b) {
        return 0;
    }
    if (!left.file || !right.file) {
        return left.file ? 1 : (right.file ? -1 : 0);
    }
    files = strcmp(left.file, right.file);
    if (files != 0) {
        return files;
    }
    if (left.line != right.line) {
        return left.line < right.line ? -1 : 1;
    }
    return left.column < right.column ? -1 : left.column > right.column;
}

grout_object_id grout_origin__find_object(const grout_module *module, const grout_origin *origin) {
    return grout_op__find_object(module, grout_module_get_op(module, origin->op), origin->operand);
}

void grout_origin__keep(const grout_module *module, grout_origin *kept, const grout_origin *other,
                        int sign) {
    if (!kept->op || sign * grout_loc__compare(module, grout_origin__get_loc(module, other),
                                               grout_origin__get_loc(module, kept)) >
                         0) {
        *kept = *other;
    }
}
