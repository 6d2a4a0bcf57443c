/* registers.h - how many registers a lane has when a kernel begins.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_PTX_REGISTERS_H
#define GROUT_PTX_REGISTERS_H

#include "machine.h"

/* 0: the entry does not say. */
uint32_t grout_ptx__count_registers(const ptx_function *function, uint32_t threads);

#endif
