/*
 * box.h - bytes of an object as a box of its elements.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_RACE_CHECKER_BOX_H
#define GROUT_RACE_CHECKER_BOX_H

#include "finding.h"

/* Runs of bytes of an object as the smallest box of elements that holds them. */
grout_box grout_box__from_runs(const grout_module *module, grout_object_id object,
                               const grout_run *runs, uint32_t run_count);

#endif
