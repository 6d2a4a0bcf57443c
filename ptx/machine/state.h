/* state.h - CTAs that begin and end, and how many there are at once.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_PTX_STATE_H
#define GROUT_PTX_STATE_H

#include "machine.h"

enum { PTX_RESIDENCY_SMS = 132 }; /* of an H100 SXM or H200 */

/* How many CTAs a GPU holds at once, by threads, shared memory and, where the text says how many a
 * lane has, registers. */
uint32_t grout_ptx__count_resident(const ptx_machine *machine);

void grout_ptx__deinit_ctas(ptx_machine *machine);
/* The next cluster begins; false without memory, with a diagnostic. There has to be one. */
bool grout_ptx__begin_cluster(ptx_machine *machine);
/* The memory of a cluster that has ended, the i-th resident one. */
void grout_ptx__end_cluster(ptx_machine *machine, size_t index);

#endif
