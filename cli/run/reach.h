/* reach.h - what the runs of a kernel came to, and what not: code that never ran, barriers whose
 * slots were never used again. An observer counts; the verdict says what it did not see.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_CLI_REACH_H
#define GROUT_CLI_REACH_H

#include "load.h"

typedef struct grout_lines {
    uint32_t first, last;
} grout_lines;

typedef struct grout_reach {
    grout_observer
        observer; /* to be put into a launch; of several runs it adds up what they reach */
    const grout_module *module;
    grout_kernel_id kernel;
    bool *op_has_run; /* by op; of ops with an effect */
    uint32_t *phases; /* by object: the most that an element of the barrier has completed */
    /* found by grout_reach__find */
    struct {
        grout_lines *items; /* of code that never ran, in order, apart from each other */
        size_t count, capacity;
    } lines;
    struct {
        grout_object_id *items; /* barriers in loops, none of whose slots came round again */
        size_t count, capacity;
    } barriers;
} grout_reach;

/* False without memory. Deinit even then. */
bool grout_reach__init(grout_reach *reach, const grout_load *load, grout_kernel_id kernel);
void grout_reach__deinit(grout_reach *reach);
/* After the runs: what they did not reach. False without memory. */
bool grout_reach__find(grout_reach *reach);
bool grout_reach__is_whole(const grout_reach *reach);
/* Whether a reach lacks less than another, of the same kernel with other sizes. */
bool grout_reach__is_better(const grout_reach *reach, const grout_reach *other);
/* Appends "lines 10-11; %full never came round"; nothing if it is whole. */
void grout_reach__describe(const grout_reach *reach, grout_text *out);

#endif
