/* size_roles.h - what a const of a file is the size of.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_CHECK_SIZE_ROLES_H
#define GROUT_CHECK_SIZE_ROLES_H

#include "grout-internal/ir.h"

/* In the order in which they are made smaller. */
typedef enum grout_size_role {
    GROUT_SIZE_PROBLEM, /* of arrays of the caller, or of the grid, alone */
    GROUT_SIZE_TILE,    /* of what a CTA holds, or of nothing that can be seen */
    GROUT_SIZE_RING     /* elements of barriers: how many slots are in use at once */
} grout_size_role;

/* The role of each const of a bound module, by id; NULL without memory. Free with grout__free. */
grout_size_role *grout_size_roles__find(const grout_module *bound);
/* Whether a const may be a size: an integer that a number gives, not another const. */
bool grout_size__is_given(const grout_module *bound, grout_const_id id, int64_t *value_out);

#endif
