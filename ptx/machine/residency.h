/*
 * residency.h - how many CTAs a GPU holds at once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_PTX_RESIDENCY_H
#define GROUT_PTX_RESIDENCY_H

#include "machine.h"

enum { PTX_RESIDENCY_SMS = 132 }; /* of an H100 SXM or H200 */

/* By threads, shared memory and, where the text says how many a lane has, registers. */
uint32_t grout_ptx__count_resident(const ptx_machine *machine);

#endif
