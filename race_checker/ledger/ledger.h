/*
 * ledger.h - what a launch has done to the arrays that it was given: for the launches after it in a
 * list, which may run beside it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_RACE_CHECKER_LEDGER_H
#define GROUT_RACE_CHECKER_LEDGER_H

#include "release.h"

#include "grout-internal/race.h"

struct grout_ledger {
    grout_observer observer;
    const grout_allocator *allocator;
    const grout_module *module;
    grout_kernel_id kernel;
    uint32_t *planes; /* by object: of a parameter, its index plus 1 */
    /* A plane for each parameter. A region's readers are its accesses, one for each op and kind,
     * and each actor where some may be released: nothing else in a grid ends what another grid may
     * still meet. */
    grout_shadow shadow;
    grout_releases releases;
    bool has_waited; /* some actor has run a griddepcontrol_wait */
};

/* Scope and width of an access, in one byte; 0: it is no atomic. */
uint8_t grout_access__get_atomicity(const grout_access *access);

/* Visits what is recorded for a run of bytes of a parameter. False without memory. */
bool grout_ledger__walk(grout_ledger *ledger, uint32_t param, const grout_run *run,
                        const grout_visitor *visitor);
/* Whether the access comes before the start of the next grid. To be asked when the launch is over,
 * and its releases are settled. */
bool grout_ledger__is_released(const grout_ledger *ledger, const grout_entry *entry);

#endif
