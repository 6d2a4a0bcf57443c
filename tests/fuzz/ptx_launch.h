/*
 * ptx_launch.h - an entry of any text of PTX runs, with arguments that are made for it and few
 * steps.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_TEST_PTX_LAUNCH_H
#define GROUT_TEST_PTX_LAUNCH_H

#include "grout/ptx.h"

/* Whether its variables and registers take little memory: others are not what is looked for. */
bool ptx_launch_is_small(const grout_ptx_module *module);

typedef enum ptx_launch_end {
    PTX_LAUNCH_NONE, /* none was made: parameters that are too large, or no memory */
    PTX_LAUNCH_DONE,
    PTX_LAUNCH_FAILED
} ptx_launch_end;

/*
 * Runs an entry. A parameter of 8 bytes gets the address of an array, one of 128 a tensor map, a
 * smaller one a number. What else a launch says is drawn from a number; each fourth of them asks
 * for sizes that no GPU has, and changes bytes of the arguments.
 */
ptx_launch_end ptx_launch_run(const grout_ptx_module *module, const char *name, uint64_t number,
                              grout_diags *diags);

#endif
