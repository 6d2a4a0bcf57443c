/*
 * run_list.h - runs of bytes of many boxes of one object, as one list.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_RUN_LIST_H
#define GROUT_INTERP_RUN_LIST_H

#include "access.h"

/* Room for more entries after those that are used. */
bool grout_run_list__reserve(grout_machine *machine, grout_pool *pool, uint32_t used,
                             uint32_t more);
/* Adds runs, cut to what is contiguous, to those that there are; false without memory. */
bool grout_run_list__add(grout_machine *machine, const grout_run *runs, uint32_t count,
                         uint32_t *total);
/* The list, sorted and disjoint. Scratch: valid until the next list begins. */
grout_runs grout_run_list__join(grout_machine *machine, uint32_t total);

#endif
