/* asserted.h - what a run without the checker says of its values: debug_check and multiple_of. The
 * checker says it itself.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_CLI_ASSERTED_H
#define GROUT_CLI_ASSERTED_H

#include "load.h"

/* What was found of one operation. */
typedef struct grout_asserted_op {
    grout_origin origin; /* of the first in the order of the run */
    grout_fault fault;
    uint64_t count;
} grout_asserted_op;

typedef struct grout_asserted {
    grout_observer observer; /* to be put into a launch */
    const grout_module *module;
    grout_kernel_id kernel;
    struct {
        grout_asserted_op *items;
        size_t count, capacity;
    } ops;
} grout_asserted;

/* Whether the kernel asserts anything; else no launch needs the observer. */
bool grout_asserted__is_needed(const grout_module *module, grout_kernel_id kernel);
void grout_asserted__init(grout_asserted *asserted, const grout_module *module,
                          grout_kernel_id kernel);
void grout_asserted__deinit(grout_asserted *asserted);
/* Adds what was found to the diagnostics. */
void grout_asserted__report(const grout_asserted *asserted, grout_diags *diags);

#endif
