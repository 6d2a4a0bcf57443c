/* updates.h - what an atomic, or a copy that reduces, makes of one element.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_TESTS_RANDOM_UPDATES_H
#define GROUT_TESTS_RANDOM_UPDATES_H

#include "reference.h"

/* An element and what comes to it. */
typedef struct update {
    grout_dtype dtype;
    reference_number held, value;
    reference_number expected; /* of a compare and swap */
} update;

/* The element afterwards. False: no such atomic. */
bool update_by_op(grout_opcode opcode, const update *it, reference_number *out);
/* False: no such reduction. */
bool update_by_choice(grout_choice choice, const update *it, reference_number *out);

#endif
