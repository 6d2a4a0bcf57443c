/* varied.h - the arguments of a launch, copied, and with other contents.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_EXPLORE_VARIED_H
#define GROUT_EXPLORE_VARIED_H

#include "arrays.h"

typedef enum grout_variation {
    GROUT_VARIATION_NONE,
    GROUT_VARIATION_FLOATS, /* integers stay: they may be indices, or bounds */
    GROUT_VARIATION_ALL
} grout_variation;

typedef struct grout_varied {
    grout_argument *arguments;
    void **owned; /* by parameter: of its copy */
    size_t count;
} grout_varied;

/* Copies of the arguments as they were before the launch ran. False without memory; deinit it all
 * the same. */
bool grout_varied__take(grout_varied *varied, const grout_launch *launch,
                        const grout_saved_arrays *saved);
void grout_varied__deinit(grout_varied *varied);
/* Gives them other contents. Whether any was changed. */
bool grout_varied__change(grout_varied *varied, const grout_launch *launch, const bool *are_given,
                          grout_variation variation);

#endif
